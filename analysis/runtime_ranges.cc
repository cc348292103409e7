#include "analysis/runtime_ranges.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "gotrace/event_kind.h"

namespace gotrace::internal {
namespace {

// Returns the entries in order of goroutines, which is the same on every machine.
template <class Entries>
std::vector<typename Entries::mapped_type> Sorted(const Entries& entries) {
  std::vector<typename Entries::mapped_type> sorted;
  for (const auto& [key, entry] : entries) sorted.push_back(entry);
  absl::c_sort(sorted, [](const auto& a, const auto& b) {
    return std::pair(a.range.goroutine, a.range.what) < std::pair(b.range.goroutine, b.range.what);
  });
  return sorted;
}

}  // namespace

void RuntimeRanges::Add(const Event& event) {
  if (event.kind() == EventKind::kSync) {
    is_first_generation_ = !has_events_;
    has_events_ = true;
    generation_begin_ = event.time();
    return;
  }
  const RangeParts parts = event.range_parts();
  const Key key = {GoId{parts.scope.id}, parts.what};
  RuntimeRange range;
  range.what = parts.what;
  range.goroutine = key.goroutine;
  switch (event.kind()) {
    case EventKind::kRangeBegin:
      range.begin = event.time();
      range.reason = interner_.InternString(parts.reason);
      range.stack = interner_.InternStack(event.stack());
      open_[key] = {.range = range};
      break;
    case EventKind::kRangeActive:
      // It was open when the generation began.
      range.begin = generation_begin_;
      range.begin_clipped = true;
      open_.emplace(key, Entry{.range = range, .is_older = is_first_generation_});
      break;
    default: {
      const auto open = open_.find(key);
      if (open != open_.end()) {
        End(open->second, event.time());
        open_.erase(open);
        break;
      }
      range.begin = range.end = event.time();
      range.begin_clipped = true;
      ended_.emplace(key, Entry{.range = range, .is_older = true});
      break;
    }
  }
}

void RuntimeRanges::End(Entry entry, int64_t end) {
  entry.range.end = std::max(end, entry.range.begin);
  if (!entry.is_older) return take_(entry.range);
  ended_.emplace(Key{entry.range.goroutine, entry.range.what}, entry);
}

void RuntimeRanges::Merge(RuntimeRanges& next, const InternerMap& ids) {
  for (const Entry& ended : Sorted(next.ended_)) {
    const auto open = open_.find({ended.range.goroutine, ended.range.what});
    if (open == open_.end()) {
      Entry older = ended;
      older.range.reason = ids(older.range.reason);
      older.range.stack = ids(older.range.stack);
      ended_.emplace(Key{older.range.goroutine, older.range.what}, older);
      continue;
    }
    End(open->second, ended.range.end);
    open_.erase(open);
  }
  for (auto& [key, open] : next.open_) {
    if (open.is_older && open_.contains(key)) continue;
    open.range.reason = ids(open.range.reason);
    open.range.stack = ids(open.range.stack);
    open_.insert_or_assign(key, open);
  }
  generation_begin_ = next.generation_begin_;
  has_events_ |= next.has_events_;
}

void RuntimeRanges::Finish(int64_t end) {
  for (const Entry& ended : Sorted(ended_)) {
    if (ended.range.begin < ended.range.end) take_(ended.range);
  }
  for (Entry& open : Sorted(open_)) {
    open.range.end = std::max(end, open.range.begin);
    open.range.end_clipped = true;
    take_(open.range);
  }
  ended_.clear();
  open_.clear();
}

}  // namespace gotrace::internal
