#include "analysis/goroutine_ranges.h"

#include "gotrace/event_kind.h"

namespace gotrace::internal {

void GoroutineRanges::Add(const Event& event) {
  switch (event.kind()) {
    case EventKind::kSync:
      is_first_generation_ = !has_events_;
      has_events_ = true;
      generation_begin_ = event.time();
      break;
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      AddRange(event);
      break;
    default:
      break;
  }
}

void GoroutineRanges::AddRange(const Event& event) {
  const RangeParts range = event.range_parts();
  const bool is_goroutine = range.scope.kind == ResourceKind::kGoroutine;
  if (!is_goroutine && range.scope.kind != ResourceKind::kProc) return;
  const GoId goroutine = is_goroutine ? GoId{range.scope.id} : event.goroutine();
  const Key key = {range.scope.kind, range.scope.id, interner_.InternRange(range)};
  switch (event.kind()) {
    case EventKind::kRangeBegin:
      Begin(key, {event.time(), goroutine});
      break;
    case EventKind::kRangeActive:
      // It was open when the generation began.
      if (open_.contains(key)) break;
      if (is_first_generation_) continued_.emplace(key, Point{generation_begin_, goroutine});
      Begin(key, {generation_begin_, goroutine});
      break;
    default:
      if (open_.contains(key)) {
        End(key, event.time());
      } else {
        ended_.emplace(key, Point{event.time(), goroutine});
      }
      break;
  }
}

void GoroutineRanges::Begin(const Key& key, const Point& begin) {
  if (open_.contains(key)) Remove(key);  // The end of the previous one is missing.
  open_.emplace(key, begin);
  keys_[begin.goroutine].insert(key);
}

GoroutineRanges::Point GoroutineRanges::Remove(const Key& key) {
  const auto open = open_.find(key);
  const Point begin = open->second;
  open_.erase(open);
  const auto keys = keys_.find(begin.goroutine);
  keys->second.erase(key);
  if (keys->second.empty()) keys_.erase(keys);
  return begin;
}

void GoroutineRanges::End(const Key& key, int64_t end) {
  const Point begin = Remove(key);
  if (begin.goroutine != GoId::kNone) take_(begin.goroutine, key.name, begin.time, end);
}

GoroutineRanges::Points GoroutineRanges::MapIds(const InternerMap& ids, const Points& points) {
  Points mapped;
  for (const auto& [key, point] : points) {
    mapped.emplace(Key{key.kind, key.id, ids(key.name)}, point);
  }
  return mapped;
}

void GoroutineRanges::Merge(const GoroutineRanges& next, const InternerMap& ids) {
  const Points continued = MapIds(ids, next.continued_);
  const Points ended = MapIds(ids, next.ended_);
  for (const auto& [key, begin] : Points(open_)) {
    if (const auto rest = continued.find(key); rest != continued.end()) {
      End(key, rest->second.time);
    } else if (const auto end = ended.find(key); end != ended.end()) {
      End(key, end->second.time);
    }
  }
  for (const auto& [key, begin] : MapIds(ids, next.open_)) Begin(key, begin);
  if (!has_events_) continued_ = continued;
  for (const auto& [key, end] : ended) ended_.emplace(key, end);
  generation_begin_ = next.generation_begin_;
  has_events_ |= next.has_events_;
}

void GoroutineRanges::Finish(int64_t end) {
  for (const auto& [key, begin] : Points(open_)) End(key, end);
}

}  // namespace gotrace::internal
