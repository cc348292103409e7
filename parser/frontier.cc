#include "parser/frontier.h"

#include <algorithm>
#include <utility>

namespace gotrace {

void Frontier::Insert(std::unique_ptr<ThreadCursor> cursor) {
  Push(cursor.get());
  cursors_.push_back(std::move(cursor));
}

void Frontier::Push(ThreadCursor* cursor) {
  heap_.push_back({cursor->time(), cursor});
  SiftUp(heap_.size() - 1);
}

void Frontier::Remove(size_t index) {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    std::swap(heap_[parent], heap_[index]);
    index = parent;
  }
  std::swap(heap_.front(), heap_.back());
  heap_.pop_back();
  if (!heap_.empty()) SiftDown(0, heap_[0]);
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

}  // namespace gotrace
