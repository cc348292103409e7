#include "parser/thread_decoder.h"

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

bool ThreadDecoder::FindIds(const TimedEvent& event) const {
  if (!check_ids_) return false;
  const GenerationTables& tables = generation_.tables();
  const TimedEventRow& row = kTimedEventRows[static_cast<uint8_t>(event.type)];
  for (int i = 0; i + 1 < row.varints; ++i) {
    const uint64_t id = event.args[i];
    if (row.tables[i] == IdTableKind::kStack && !tables.HasStack(id)) return false;
    if (row.tables[i] == IdTableKind::kString && !tables.HasString(id)) return false;
  }
  return true;
}

size_t ThreadDecoder::Decode(absl::Span<DecodedEvent> events) {
  if (!EnterNextBatch()) return 0;
  const GenerationTables& tables = generation_.tables();
  // Up to these ids all are there, by IdTableKind.
  const uint64_t gapless[] = {~uint64_t{0}, tables.gapless_strings(), tables.gapless_stacks()};
  const EventBatch& batch = this->batch();
  const char* const begin = batch.payload;
  const char* const end = end_;
  const TraceClock clock = clock_;
  const char* pos = pos_;
  int64_t time = time_;
  DecodedEvent* decoded = events.data();
  for (; decoded != events.end() && pos != end; ++decoded) {
    if (time == 0) [[unlikely]]
      time = clock.ToNs(batch.time);
    bool found = check_ids_;
    const TimedEventRow& row = kTimedEventRows[static_cast<uint8_t>(*pos)];
    const char* const next =
        DecodeTimedEvent(pos, end, &decoded->event, [&](int index, uint64_t value) {
          found &= value <= gapless[static_cast<int>(row.tables[index])];
        });
    if (next == nullptr) break;
    time = TraceClock::Add(clock.ToNs(decoded->event.ticks), time);
    decoded->time = time;
    decoded->position = static_cast<uint32_t>(pos - begin);
    decoded->ids_found = found || FindIds(decoded->event);
    pos = next;
  }
  time_ = time;
  pos_ = pos;
  return decoded - events.data();
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
