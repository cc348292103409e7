#include "parser/frontier.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracev2/event_spec.h"

namespace gotrace {

ThreadCursor::ThreadCursor(const Generation& generation, const ThreadBatches& thread)
    : generation_(generation),
      thread_(thread.thread),
      batch_(thread.first),
      next_batch_(thread.first) {}

bool ThreadCursor::EnterNextBatch() {
  while (pos_ == end_) {
    if (next_batch_ == EventBatch::kLast) return false;
    batch_ = next_batch_;
    const EventBatch& batch = generation_.event_batches()[batch_];
    next_batch_ = batch.next;
    pos_ = batch.payload;
    end_ = pos_ + batch.size;
    time_ = 0;
  }
  return true;
}

ThreadCursor::Step ThreadCursor::Advance() {
  if (pos_ == end_ && !EnterNextBatch()) return Step::kEnd;
  const TraceClock& clock = generation_.tables().clock();
  if (time_ == 0) time_ = clock.ToNs(generation_.event_batches()[batch_].time);
  event_pos_ = pos_;
  const char* const next = DecodeTimedEvent(pos_, end_, &event_);
  if (next == nullptr) return Step::kFault;
  pos_ = next;
  time_ = TraceClock::Add(clock.ToNs(event_.ticks), time_);
  return Step::kEvent;
}

size_t ThreadCursor::SkipBatch() {
  const size_t left = end_ - pos_;
  pos_ = end_;
  return left;
}

ThreadCursor::Rest ThreadCursor::SkipAll() {
  Rest rest;
  pos_ = event_pos_;
  do {
    ++rest.batches;
    rest.bytes += end_ - pos_;
    while (pos_ != end_ && (pos_ = DecodeTimedEvent(pos_, end_, &event_)) != nullptr) ++rest.events;
    pos_ = end_;
  } while (EnterNextBatch());
  return rest;
}

uint64_t ThreadCursor::offset() const {
  const EventBatch& batch = generation_.event_batches()[batch_];
  return batch.payload_offset + (event_pos_ - batch.payload);
}

Place ThreadCursor::place() const {
  Place place;
  place.offset = offset();
  place.generation = generation_.number();
  place.batch_offset = generation_.event_batches()[batch_].offset;
  place.thread = thread_;
  place.event = event_.type;
  place.time = time_;
  return place;
}

Fault ThreadCursor::fault() const {
  const char* fault_pos = nullptr;
  const DecodeFault decode_fault = DiagnoseTimedEvent(event_pos_, end_, &fault_pos);
  const EventType type = static_cast<EventType>(*event_pos_);
  Fault fault;
  fault.place = place();
  fault.place.event = FindEventSpec(type) == nullptr ? EventType::kNone : type;
  fault.place.time.reset();
  *fault.place.offset += fault_pos - event_pos_;
  switch (decode_fault) {
    case DecodeFault::kUnknownType:
      fault.id = FaultId::kEventType;
      fault.message = absl::StrCat("expected an event, found byte ", static_cast<int>(type),
                                   ", which is no event's type");
      break;
    case DecodeFault::kNotTimed:
      fault.id = FaultId::kEventNotTimed;
      fault.message = absl::StrCat("expected a timed event, found byte ", static_cast<int>(type),
                                   " (", EventTypeName(type), ")");
      break;
    case DecodeFault::kVarintTruncated:
      fault.id = FaultId::kEventVarint;
      fault.message = "expected an argument, found the end of the batch";
      break;
    case DecodeFault::kVarintOverflow:
      fault.id = FaultId::kEventVarint;
      fault.message = "expected an argument, found a number that does not fit 64 bits";
      break;
  }
  return fault;
}

void Frontier::Insert(std::unique_ptr<ThreadCursor> cursor) {
  Push(cursor.get());
  cursors_.push_back(std::move(cursor));
}

void Frontier::Push(ThreadCursor* cursor) {
  heap_.push_back({cursor->time(), cursor});
  SiftUp(heap_.size() - 1);
}

void Frontier::Update(size_t index) {
  heap_[index].time = heap_[index].cursor->time();
  if (SiftUp(index) == index) SiftDown(index);
}

void Frontier::Remove(size_t index) {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    std::swap(heap_[parent], heap_[index]);
    index = parent;
  }
  std::swap(heap_.front(), heap_.back());
  heap_.pop_back();
  SiftDown(0);
}

void Frontier::Sort() {
  std::stable_sort(heap_.begin(), heap_.end(),
                   [](const Entry& a, const Entry& b) { return a.time < b.time; });
}

std::optional<WaitCondition> Frontier::Park(absl::Span<const WaitCondition> conditions) {
  ThreadCursor* const cursor = heap_[0].cursor;
  Remove(0);
  parked_.Park(cursor, conditions);
  return parked_.TakeReason(cursor);
}

void Frontier::Wake(const WaitCondition& condition) {
  if (ThreadCursor* const cursor = parked_.Wake(condition)) Push(cursor);
}

void Frontier::WakeEarliest() { Push(parked_.TakeEarliest()); }

void Frontier::WakeAll() {
  while (!parked_.empty()) WakeEarliest();
}

void Frontier::Clear() {
  heap_.clear();
  parked_.Clear();
  cursors_.clear();
}

size_t Frontier::SiftUp(size_t index) {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (heap_[parent].time <= heap_[index].time) break;
    std::swap(heap_[parent], heap_[index]);
    index = parent;
  }
  return index;
}

void Frontier::SiftDown(size_t index) {
  while (true) {
    size_t least = index;
    for (const size_t child : {2 * index + 1, 2 * index + 2}) {
      if (child < heap_.size() && heap_[child].time < heap_[least].time) least = child;
    }
    if (least == index) return;
    std::swap(heap_[index], heap_[least]);
    index = least;
  }
}

}  // namespace gotrace
