#include "parser/order/wait_list.h"

#include <algorithm>

#include "parser/order/frontier.h"

namespace gotrace::internal {
namespace {

// With fewer entries, removing stale ones is not worth the time.
constexpr size_t kFewEntries = 1024;

}  // namespace

void WaitList::Park(ThreadCursor* cursor, absl::Span<const WaitCondition> conditions) {
  cursor->ticket = ++last_ticket_;
  ++parked_;
  const Entry entry = {cursor->time(), cursor->ticket, cursor};
  Push(entry, &all_);
  for (const WaitCondition& condition : conditions) Push(entry, &by_condition_[condition]);
  if (entries_ > kFewEntries + 8 * parked_) DropStale();
}

ThreadCursor* WaitList::Wake(const WaitCondition& condition) {
  const auto it = by_condition_.find(condition);
  if (it == by_condition_.end()) return nullptr;
  PopStale(&it->second);
  ThreadCursor* cursor = nullptr;
  if (!it->second.empty()) {
    cursor = Take(it->second.front());
    reasons_.insert_or_assign(cursor, condition);
    Pop(&it->second);
  }
  if (it->second.empty()) by_condition_.erase(it);
  return cursor;
}

std::optional<WaitCondition> WaitList::TakeReason(const ThreadCursor* cursor) {
  const auto it = reasons_.find(cursor);
  if (it == reasons_.end()) return std::nullopt;
  const WaitCondition reason = it->second;
  reasons_.erase(it);
  return reason;
}

ThreadCursor* WaitList::Earliest() {
  PopStale(&all_);
  return all_.front().cursor;
}

ThreadCursor* WaitList::TakeEarliest() {
  ThreadCursor* const cursor = Earliest();
  Take(all_.front());
  Pop(&all_);
  return cursor;
}

void WaitList::Clear() {
  by_condition_.clear();
  all_.clear();
  reasons_.clear();
  parked_ = 0;
  entries_ = 0;
}

void WaitList::Push(const Entry& entry, Heap* heap) {
  heap->push_back(entry);
  std::push_heap(heap->begin(), heap->end());
  ++entries_;
}

void WaitList::Pop(Heap* heap) {
  std::pop_heap(heap->begin(), heap->end());
  heap->pop_back();
  --entries_;
}

void WaitList::PopStale(Heap* heap) {
  while (!heap->empty() && heap->front().cursor->ticket != heap->front().ticket) Pop(heap);
}

ThreadCursor* WaitList::Take(const Entry& entry) {
  entry.cursor->ticket = 0;
  --parked_;
  return entry.cursor;
}

// Removes stale entries. A cursor that waits for several conditions leaves some, and a cursor that
// is parked often may leave many.
void WaitList::DropStale() {
  const auto drop = [this](Heap* heap) {
    const size_t size = heap->size();
    const auto is_stale = [](const Entry& entry) { return entry.cursor->ticket != entry.ticket; };
    heap->erase(std::remove_if(heap->begin(), heap->end(), is_stale), heap->end());
    std::make_heap(heap->begin(), heap->end());
    entries_ -= size - heap->size();
  };
  drop(&all_);
  for (auto it = by_condition_.begin(); it != by_condition_.end();) {
    drop(&it->second);
    const auto current = it++;
    if (current->second.empty()) by_condition_.erase(current);
  }
}

}  // namespace gotrace::internal
