#include "analysis/goroutines/asked_waits.h"

#include <algorithm>

#include "gotrace/states.h"

namespace gotrace::internal {

void AskedWaits::Asking::Add(const Asking& later) {
  wait_end = std::max(wait_end, later.wait_end);
  if (later.asks >= asks) {
    asks = later.asks;
    asked = later.asked;
    asks_at = later.asks_at;
  }
  if (later.is_asked == kNever) return;
  is_asked = later.is_asked;
  asker = later.asker;
}

AskedWaits::Answer AskedWaits::Add(const GoInterval& interval) {
  const bool is_wait = interval.state == GoState::kWaiting &&
                       (interval.reason == receive_ || interval.reason == select_);
  if (!is_wait && !interval.starts_life && !interval.ends_life) return Answer::kNone;
  auto& entry = goroutines_.Begin(interval);
  if (interval.ends_life) {
    goroutines_.End(interval, entry);
    return Answer::kNone;
  }
  if (is_wait) return AddWait(interval);
  if (generations_.HasWhole(interval)) Ask(interval.begun_by, interval, interval.begin);
  return Answer::kNone;
}

AskedWaits::Answer AskedWaits::AddWait(const GoInterval& interval) {
  const Asking waiter = goroutines_.Of(interval.goroutine).data;
  const int64_t since = std::max({waiter.wait_end, generations_.At(interval.begin), kNever + 1});
  const bool is_whole = generations_.HasWhole(interval);
  Answer answer = Answer::kNone;
  if (waiter.asks >= since && IsBefore(waiter.asks_at, interval.stack)) {
    answer = Answer::kAwaited;
    if (is_whole && interval.ended_by.kind == CauseKind::kGoroutine) {
      // Of several that it asked, or that asked one, only the last is known.
      const GoId by = interval.ended_by.goroutine;
      const Asking& other = goroutines_.Of(by).data;
      const bool was_asked = other.asker == interval.goroutine && other.is_asked >= since;
      if (waiter.asked == by || was_asked) answer = Answer::kGiven;
    }
  }
  if (is_whole) Ask(interval.ended_by, interval, interval.end);
  goroutines_.Of(interval.goroutine).data.wait_end = interval.end;
  return answer;
}

void AskedWaits::Ask(const Cause& asker, const GoInterval& asked, int64_t time) {
  if (asker.kind != CauseKind::kGoroutine) return;
  Asking& one = goroutines_.Of(asked.goroutine).data;
  one.is_asked = time;
  one.asker = asker.goroutine;
  Asking& other = goroutines_.Of(asker.goroutine).data;
  if (time < other.asks) return;
  other.asks = time;
  other.asked = asked.goroutine;
  other.asks_at = asker.stack;
}

bool AskedWaits::IsBefore(StackId first, StackId second) const {
  const absl::Span<const FrameId> a = interner_.Frames(first);
  const absl::Span<const FrameId> b = interner_.Frames(second);
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const InternedFrame one = interner_.FrameWithIds(a[a.size() - i]);
    const InternedFrame other = interner_.FrameWithIds(b[b.size() - i]);
    if (one.func != other.func) return true;
    if (one.line != other.line) return one.line < other.line;
  }
  return true;
}

void AskedWaits::Merge(AskedWaits& next, const InternerMap& ids) {
  generations_.Merge(next.generations_);
  goroutines_.Merge(next.goroutines_, [&](Asking* data) { data->asks_at = ids(data->asks_at); });
}

}  // namespace gotrace::internal
