#include "analysis/intervals/range_tracker.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "gotrace/internal/event_spec.h"

namespace gotrace::internal {

RangeTracker::RangeTracker(Interner* interner, Crossing crossing,
                           absl::Span<const EventType> begins, Take take, Details details)
    : interner_(interner), crossing_(crossing), details_(details), take_(std::move(take)) {
  for (const EventType type : begins) begins_ |= uint64_t{1} << static_cast<int>(type);
}

const RuntimeRange* RangeTracker::AddRange(const Event& event) {
  const EventKind kind = event.kind();
  const EventType begin =
      kind == EventKind::kRangeBegin ? event.type() : FindEventSpec(event.type())->start;
  if ((begins_ >> static_cast<int>(begin) & 1) == 0) return nullptr;

  const RangeParts parts = event.range_parts();
  RuntimeRange range;
  range.type = begin;
  range.what = parts.what;
  range.scope = parts.scope;
  const bool has_details = interner_ != nullptr && details_ == Details::kReasonAndStack;
  if (interner_ != nullptr) range.name = interner_->InternRange(parts);
  if (has_details) range.reason = interner_->InternString(parts.reason);
  const Key key = {parts.scope.kind, parts.scope.id, begin, range.name};
  const auto open = Find(key, kind == EventKind::kRangeEnd);

  if (kind == EventKind::kRangeEnd) {
    RuntimeRange& ended = open == open_.end() ? range : open->second.range;
    if (event.type() == EventType::kGCSweepEnd) {
      ended.swept_bytes = event.arg(0);
      ended.reclaimed_bytes = event.arg(1);
    }
    if (open != open_.end()) {
      End(open, event.time());
      return nullptr;
    }
    range.begin = range.end = event.time();
    range.begin_clipped = true;
    Give(key, range, IsFirst(key, First::kEnded, event.time()));
    return nullptr;
  }

  range.goroutine =
      parts.scope.kind == ResourceKind::kGoroutine ? GoId{parts.scope.id} : event.goroutine();
  if (kind == EventKind::kRangeActive) {
    if (open != open_.end()) return nullptr;
    range.begin = generation_begin();
    range.begin_clipped = true;
    return Begin(key, {range, IsFirst(key, First::kStated, range.begin)});
  }
  range.begin = event.time();
  range.proc = event.proc();
  range.thread = event.thread();
  if (has_details) range.stack = interner_->InternStack(event.stack());
  // In a sound trace the first generation mentions all ranges that are older than this part. To
  // remember later begins would take memory for each goroutine of the trace.
  if (generations_ <= 1) IsFirst(key, First::kLost, range.begin);
  return Begin(key, {range});
}

RangeTracker::OpenRanges::iterator RangeTracker::Find(const Key& key, bool is_end) {
  const auto open = open_.find(key);
  if (open != open_.end() || !is_end) return open;
  // The end of a stop has the reason from its begin, and a wrong one in a later generation.
  const auto& [kind, id, type, name] = key;
  if (type != EventType::kSTWBegin) return open;
  const GoId goroutine{id};
  const auto any = by_goroutine_.lower_bound({goroutine, {kind, id, type, StringId::kEmpty}});
  const bool is_stop = any != by_goroutine_.end() && any->first == goroutine &&
                       std::get<EventType>(any->second) == type;
  return is_stop ? open_.find(any->second) : open;
}

const RuntimeRange* RangeTracker::Begin(const Key& key, Open open) {
  if (const auto before = open_.find(key); before != open_.end()) Lose(before);
  by_goroutine_.emplace(open.range.goroutine, key);
  return &open_.emplace(key, std::move(open)).first->second.range;
}

RangeTracker::Open RangeTracker::Remove(OpenRanges::iterator open) {
  Open removed = std::move(open->second);
  by_goroutine_.erase({removed.range.goroutine, open->first});
  open_.erase(open);
  return removed;
}

// The end is missing, and nobody knows when that was.
void RangeTracker::Lose(OpenRanges::iterator open) {
  if (open->second.is_older) firsts_[open->first].kind = First::kLost;
  Remove(open);
}

void RangeTracker::End(OpenRanges::iterator open, int64_t end) {
  const Key key = open->first;
  Open ended = Remove(open);
  ended.range.end = std::max(end, ended.range.begin);
  Give(key, ended.range, ended.is_older);
}

void RangeTracker::Give(const Key& key, const RuntimeRange& range, bool is_older) {
  if (crossing_ == Crossing::kWhole && is_older) {
    held_.emplace(key, range);
  } else if (crossing_ == Crossing::kPieces || !range.HasOnlyEnd()) {
    take_(range);
  }
}

RangeTracker::Key RangeTracker::MapIds(const InternerMap& ids, Key key) {
  StringId& name = std::get<StringId>(key);
  name = ids(name);
  return key;
}

void RangeTracker::MapIds(const InternerMap& ids, RuntimeRange* range) {
  range->name = ids(range->name);
  range->reason = ids(range->reason);
  range->stack = ids(range->stack);
}

void RangeTracker::Merge(RangeTracker& next, const InternerMap& ids) {
  for (auto& [key, open] : next.open_) MapIds(ids, &open.range);
  for (auto& [key, range] : next.held_) MapIds(ids, &range);

  std::vector<std::pair<Key, First>> firsts(next.firsts_.begin(), next.firsts_.end());
  absl::c_sort(firsts,
               [](const auto& a, const auto& b) { return a.second.place < b.second.place; });
  for (const auto& [next_key, first] : firsts) {
    const Key key = MapIds(ids, next_key);
    const auto open = Find(key, first.kind == First::kEnded);
    const auto held = next.held_.find(next_key);
    const auto rest = next.open_.find(next_key);
    const bool goes_on = rest != next.open_.end() && rest->second.is_older;
    if (open == open_.end()) {
      // Unless this part mentions it, it may have begun before.
      const bool is_older =
          (first.kind != First::kLost || generations_ == 0) && IsFirst(key, first.kind, first.time);
      if (goes_on) rest->second.is_older = is_older;
      if (held != next.held_.end()) Give(key, held->second, is_older);
    } else if (first.kind == First::kLost) {
      Lose(open);
    } else if (crossing_ == Crossing::kPieces) {
      if (goes_on) rest->second.is_older = open->second.is_older;
      End(open, first.time);
    } else if (held != next.held_.end()) {
      open->second.range.swept_bytes = held->second.swept_bytes;
      open->second.range.reclaimed_bytes = held->second.reclaimed_bytes;
      End(open, held->second.end);
    } else if (goes_on) {
      rest->second = Remove(open);
    }
  }
  for (auto& [next_key, open] : next.open_) Begin(MapIds(ids, next_key), std::move(open));

  if (next.generation_begin_.has_value()) generation_begin_ = next.generation_begin_;
  generations_ += next.generations_;
}

void RangeTracker::Finish(int64_t end) {
  for (const auto& [key, range] : held_) {
    if (!range.HasOnlyEnd()) take_(range);
  }
  for (auto& [key, open] : std::map<Key, Open>(open_.begin(), open_.end())) {
    RuntimeRange range = open.range;
    range.end = std::max(end, range.begin);
    range.end_clipped = true;
    take_(range);
  }
  held_.clear();
  open_.clear();
  by_goroutine_.clear();
}

}  // namespace gotrace::internal
