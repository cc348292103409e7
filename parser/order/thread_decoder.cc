#include "parser/order/thread_decoder.h"

#include <algorithm>
#include <limits>

#include "parser/event/trace_clock.h"

namespace gotrace::internal {
namespace {

bool HasGaps(const GenerationTables& tables) {
  return tables.gapless_strings() < tables.last_near_string() ||
         tables.gapless_stacks() < tables.last_near_stack();
}

}  // namespace

ThreadDecoder::ThreadDecoder(const Generation& generation, const ThreadBatches& thread,
                             bool check_ids, TableUse* use)
    : generation_(generation),
      use_(use),
      check_ids_(check_ids),
      has_gaps_(HasGaps(generation.tables())),
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
    if (row.tables[i] == IdTableKind::kStack) {
      if (!tables.HasStack(id)) return false;
      if (use_ != nullptr) use_->stacks().NoteFar(id, tables.StackIndex(id));
    } else if (row.tables[i] == IdTableKind::kString) {
      if (!tables.HasString(id)) return false;
      if (use_ != nullptr) use_->strings().NoteFar(id, tables.StringIndex(id));
    }
  }
  return true;
}

bool ThreadDecoder::FindAllIds(absl::Span<DecodedEvent> events) const {
  bool all_found = true;
  for (DecodedEvent& event : events) {
    event.ids_found = FindIds(event);
    all_found &= event.ids_found;
  }
  return all_found;
}

size_t ThreadDecoder::Decode(absl::Span<DecodedEvent> events) {
  if (!EnterNextBatch()) return 0;
  if (use_ == nullptr) {
    return has_gaps_ ? DecodeSome<false, true>(events) : DecodeSome<false, false>(events);
  }
  return has_gaps_ ? DecodeSome<true, true>(events) : DecodeSome<true, false>(events);
}

template <bool kNotes, bool kGaps>
size_t ThreadDecoder::DecodeSome(absl::Span<DecodedEvent> events) {
  const EventBatch& batch = this->batch();
  const char* const end = end_;
  const char* const unchecked_end =
      batch.size < kMaxTimedEventSize ? batch.payload : end - (kMaxTimedEventSize - 1);
  const TraceClock clock = generation_.tables().clock();
  const bool check_ids = check_ids_;
  const uint32_t batch_index = batch_;
  const char* pos = pos_;
  int64_t time = time_;
  uint64_t steps = 0;  // The bits of all time differences.
  const GenerationTables& tables = generation_.tables();
  const NearIds near_strings = tables.near_strings();
  const NearIds near_stacks = tables.near_stacks();
  // If the tables have no gaps, it is enough to check the largest ids.
  uint64_t last_string = 0;
  uint64_t last_stack = 0;
  bool all_near = true;
  TableUse::Ids* const strings = kNotes ? &use_->strings() : nullptr;
  TableUse::Ids* const stacks = kNotes ? &use_->stacks() : nullptr;
  const auto take = [&](IdTableKind table, uint64_t id) {
    if (table == IdTableKind::kString) {
      if (kGaps) {
        all_near &= near_strings.Has(id);
      } else {
        last_string = std::max(last_string, id);
      }
      if (kNotes) strings->Note(id);
    }
    if (table == IdTableKind::kStack) {
      if (kGaps) {
        all_near &= near_stacks.Has(id);
      } else {
        last_stack = std::max(last_stack, id);
      }
      if (kNotes) stacks->Note(id);
    }
  };
  DecodedEvent* decoded = events.data();
  for (; decoded != events.end() && pos != end; ++decoded) {
    if (time == 0) [[unlikely]]
      time = clock.ToNs(batch.time);
    const char* next;
    if (pos < unchecked_end) [[likely]] {
      next = DecodeTimedEventUnchecked(pos, decoded, take);
    } else {
      next = DecodeTimedEventPlainly(pos, end, decoded);
      // The ids of this event are not checked here.
      all_near = false;
    }
    if (next == nullptr) [[unlikely]]
      break;
    const int64_t step = clock.ToNs(decoded->ticks);
    steps |= static_cast<uint64_t>(step);
    time = TraceClock::Add(step, time);
    decoded->time = time;
    decoded->batch = batch_index;
    decoded->offset = batch.payload_offset + (pos - batch.payload);
    decoded->ids_found = check_ids;
    pos = next;
  }
  time_ = time;
  pos_ = pos;
  const absl::Span<DecodedEvent> found = events.first(decoded - events.data());
  all_near &= last_string <= tables.gapless_strings() && last_stack <= tables.gapless_stacks();
  const bool all_found = all_near ? check_ids : FindAllIds(found);
  // If no difference is longer than this, their sum fits in 64 bits. If times that start above 0
  // wrapped around, the last event would be earlier than the first.
  const uint64_t longest_step = std::numeric_limits<int64_t>::max() / events.size();
  plain_ = all_found && steps <= longest_step && 0 < events[0].time && events[0].time <= time;
  return found.size();
}

void ThreadDecoder::Seek(uint32_t index, uint64_t offset, int64_t time) {
  batch_ = index;
  next_batch_ = batch().next;
  pos_ = batch().payload + (offset - batch().payload_offset);
  end_ = batch().payload + batch().size;
  time_ = time;
}

size_t ThreadDecoder::SkipBatch() {
  const size_t left = end_ - pos_;
  pos_ = end_;
  return left;
}

}  // namespace gotrace::internal
