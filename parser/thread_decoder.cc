#include "parser/thread_decoder.h"

#include "absl/numeric/bits.h"

namespace gotrace {

ThreadDecoder::ThreadDecoder(const Generation& generation, const ThreadBatches& thread,
                             bool check_ids)
    : generation_(generation),
      clock_(generation.tables().clock()),
      check_ids_(check_ids),
      batch_(thread.first),
      next_batch_(thread.first) {}

bool ThreadDecoder::EnterNextBatch() {
  while (pos_ == end_) {
    if (next_batch_ == EventBatch::kLast) return false;
    batch_ = next_batch_;
    const EventBatch& entered = batch();
    next_batch_ = entered.next;
    pos_ = entered.payload;
    end_ = pos_ + entered.size;
    time_ = 0;
  }
  return true;
}

inline bool ThreadDecoder::FindIds(const TimedEvent& event, TimedEventRow row) const {
  const GenerationTables& tables = generation_.tables();
  for (unsigned left = row.stack_args | row.string_args; left != 0; left &= left - 1) {
    const int index = absl::countr_zero(left);
    const uint64_t id = event.args[index];
    const bool is_stack = (row.stack_args >> index & 1) != 0;
    if (!(is_stack ? tables.HasStack(id) : tables.HasString(id))) return false;
  }
  return true;
}

size_t ThreadDecoder::Decode(absl::Span<DecodedEvent> events) {
  if (!EnterNextBatch()) return 0;
  const char* const begin = batch().payload;
  const char* const end = end_;
  const char* pos = pos_;
  int64_t time = time_;
  size_t count = 0;
  for (; count < events.size() && pos != end; ++count) {
    DecodedEvent& decoded = events[count];
    if (time == 0) time = clock_.ToNs(batch().time);
    const char* const next = DecodeTimedEvent(pos, end, &decoded.event);
    if (next == nullptr) break;
    time = TraceClock::Add(clock_.ToNs(decoded.event.ticks), time);
    decoded.time = time;
    decoded.position = static_cast<uint32_t>(pos - begin);
    const TimedEventRow row = kTimedEventRows[static_cast<uint8_t>(decoded.event.type)];
    decoded.ids_found = check_ids_ && FindIds(decoded.event, row);
    pos = next;
  }
  time_ = time;
  pos_ = pos;
  return count;
}

void ThreadDecoder::Seek(uint32_t index, uint32_t position, int64_t time) {
  batch_ = index;
  next_batch_ = batch().next;
  pos_ = batch().payload + position;
  end_ = batch().payload + batch().size;
  time_ = time;
}

size_t ThreadDecoder::SkipBatch() {
  const size_t left = end_ - pos_;
  pos_ = end_;
  return left;
}

}  // namespace gotrace
