#include "parser/merger.h"

#include <cassert>

#include "parser/prefetch.h"

namespace gotrace {
namespace {

// What the other core read last is fetched for writing this many places ahead.
constexpr size_t kRoomAhead = 16;

}  // namespace

size_t Merger::Merge(absl::Span<DecodedEvent> room, size_t place) {
  frontier_.Remember(&marks_[place]);
  return MergeSome(room);
}

void Merger::GoBack(size_t place, absl::Span<DecodedEvent> scratch) {
  frontier_.GoBack(marks_[place]);
  [[maybe_unused]] const size_t merged = MergeSome(scratch);
  assert(merged == scratch.size());
}

size_t Merger::MergeSome(absl::Span<DecodedEvent> room) {
  DecodedEvent* next = room.begin();
  while (next != room.end() && frontier_.size() > 0) {
    DecodedEvent* const end = MergeRun(absl::MakeSpan(next, room.end()));
    if (end == next) break;
    next = end;
  }
  return next - room.begin();
}

DecodedEvent* Merger::MergeRun(absl::Span<DecodedEvent> room) {
  const int64_t until = frontier_.FirstUntil();
  ThreadCursor& cursor = frontier_.cursor(0);
  DecodedEvent* next = room.begin();
  while (cursor.time() <= until && next != room.end()) {
    if (!cursor.IsKnownPlain() && !cursor.IsPlain(watches_time_)) [[unlikely]] {
      if (!cursor.ids_found() || cursor.Peek() != nullptr || !cursor.EndsNext()) break;
      *next++ = cursor.event();
      frontier_.Remove(0);
      return next;
    }
    PrefetchForWrite(next, kRoomAhead * sizeof(DecodedEvent));
    *next++ = cursor.event();
    cursor.Advance();
  }
  frontier_.UpdateFirst(cursor.time());
  return next;
}

}  // namespace gotrace
