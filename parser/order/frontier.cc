#include "parser/order/frontier.h"

#include <utility>

namespace gotrace::internal {

void Frontier::Insert(std::unique_ptr<ThreadCursor> cursor) {
  Push(cursor.get());
  cursors_.push_back(std::move(cursor));
}

void Frontier::Push(ThreadCursor* cursor) {
  const size_t index = size_++;
  if (heap_.size() < RoomFor(size_)) heap_.resize(RoomFor(2 * size_), kNone);
  heap_[index] = {cursor->time(), cursor};
  SiftUp(index);
}

void Frontier::Remove(size_t index) {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    std::swap(heap_[parent], heap_[index]);
    index = parent;
  }
  const Entry last = std::exchange(heap_[--size_], kNone);
  if (size_ > 0) SiftDown(0, last);
}

void Frontier::Sort() {
  std::stable_sort(heap_.begin(), heap_.begin() + size_,
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
  heap_.assign(RoomFor(1), kNone);
  size_ = 0;
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

}  // namespace gotrace::internal
