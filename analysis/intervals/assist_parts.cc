#include "analysis/intervals/assist_parts.h"

#include <algorithm>

namespace gotrace::internal {

void AssistParts::Add(const Event& event) {
  last_event_ = std::max(last_event_, event.time());
  const RuntimeRange* const begun = assists_.Add(event);
  if (begun == nullptr) return;
  std::vector<Span>& spans = spans_[begun->goroutine];
  // The end of the one before is missing.
  if (!spans.empty() && spans.back().end == kForever) spans.pop_back();
  spans.push_back({.begin = begun->begin});
}

void AssistParts::End(const RuntimeRange& assist) {
  const auto known = spans_.find(assist.goroutine);
  if (known == spans_.end() || known->second.back().end != kForever) return;
  known->second.back().end = assist.end;
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

void AssistParts::Merge(AssistParts& next) {
  assists_.Merge(next.assists_, InternerMap());
  for (const auto& [goroutine, span] : next.early_) spans_[goroutine].push_back(span);
  for (const auto& [goroutine, spans] : next.spans_) {
    std::vector<Span>& known = spans_[goroutine];
    known.insert(known.end(), spans.begin(), spans.end());
  }
  last_event_ = std::max(last_event_, next.last_event_);
  for (const GoInterval& interval : std::exchange(crossing_, {})) AddGoroutine(interval);
}

}  // namespace gotrace::internal
