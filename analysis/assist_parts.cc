#include "analysis/assist_parts.h"

#include <algorithm>

#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

void AssistParts::Add(const Event& event) {
  const int64_t time = event.time();
  if (event.kind() == EventKind::kSync) is_first_generation_ = !sync_time_.has_value();
  if (!sync_time_.has_value() || event.kind() == EventKind::kSync) sync_time_ = time;
  last_event_ = std::max(last_event_, time);
  switch (event.type()) {
    case EventType::kGCMarkAssistBegin:
      Begin(GoId{event.range_parts().scope.id}, time);
      break;
    case EventType::kGCMarkAssistActive: {
      // It has been active since before the generation, unless its begin is known.
      const GoId goroutine{event.range_parts().scope.id};
      const auto known = spans_.find(goroutine);
      if (known != spans_.end() && known->second.back().end == kForever) break;
      Begin(goroutine, *sync_time_);
      if (is_first_generation_) older_.try_emplace(goroutine, *sync_time_);
      break;
    }
    case EventType::kGCMarkAssistEnd: {
      const GoId goroutine{event.range_parts().scope.id};
      const auto known = spans_.find(goroutine);
      if (known != spans_.end()) {
        known->second.back().end = time;
      } else {
        older_.try_emplace(goroutine, time);
      }
      break;
    }
    default:
      break;
  }
}

void AssistParts::AddGoroutine(const GoInterval& interval) {
  if (interval.end > last_event_) return crossing_.push_back(interval);
  const auto found = spans_.find(interval.goroutine);
  if (found == spans_.end()) return;
  std::vector<Span>& spans = found->second;
  for (Span& span : spans) {
    if (span.begin < interval.begin) {
      early_.emplace_back(interval.goroutine, Span{span.begin, std::min(span.end, interval.begin)});
    }
    const int64_t begin = std::max(span.begin, interval.begin);
    const int64_t end = std::min(span.end, interval.end);
    if (begin < end) take_(interval, begin, end);
    // Later intervals are after this one.
    span.begin = std::max(span.begin, interval.end);
  }
  const auto is_past = [&](const Span& span) { return span.end <= interval.end; };
  spans.erase(std::remove_if(spans.begin(), spans.end(), is_past), spans.end());
  if (spans.empty()) spans_.erase(found);
}

void AssistParts::Merge(const AssistParts& next) {
  // An assist that the next part states continues there.
  for (const auto& [goroutine, end] : next.older_) {
    const auto known = spans_.find(goroutine);
    if (known != spans_.end() && known->second.back().end == kForever) {
      known->second.back().end = end;
    }
  }
  for (const auto& [goroutine, span] : next.early_) spans_[goroutine].push_back(span);
  for (const auto& [goroutine, spans] : next.spans_) {
    std::vector<Span>& known = spans_[goroutine];
    known.insert(known.end(), spans.begin(), spans.end());
  }
  sync_time_ = next.sync_time_;
  last_event_ = std::max(last_event_, next.last_event_);
  for (const GoInterval& interval : std::exchange(crossing_, {})) AddGoroutine(interval);
}

}  // namespace gotrace::internal
