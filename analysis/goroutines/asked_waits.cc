#include "analysis/goroutines/asked_waits.h"

#include <algorithm>

#include "gotrace/states.h"

namespace gotrace::internal {

void AskedWaits::Asking::Add(const Asking& later) {
  asks = std::max(asks, later.asks);
  wait_end = std::max(wait_end, later.wait_end);
  known = std::max(known, later.known);
  if (later.is_asked == kNever) return;
  is_asked = later.is_asked;
  asker = later.asker;
}

bool AskedWaits::Add(const GoInterval& interval) {
  const bool is_wait = interval.state == GoState::kWaiting &&
                       (interval.reason == receive_ || interval.reason == select_);
  if (!is_wait && !interval.starts_life && !interval.ends_life) return false;
  auto& entry = goroutines_.Begin(interval);
  if (interval.ends_life) {
    goroutines_.End(interval, entry);
    return false;
  }
  if (is_wait) return AddWait(interval);
  const Cause& creation = interval.begun_by;
  if (creation.kind != CauseKind::kGoroutine || !generations_.HasWhole(interval)) return false;
  entry.data.known = interval.begin;
  entry.data.is_asked = interval.begin;
  entry.data.asker = creation.goroutine;
  int64_t& asks = goroutines_.Of(creation.goroutine).data.asks;
  asks = std::max(asks, interval.begin);
  return false;
}

bool AskedWaits::AddWait(const GoInterval& interval) {
  Asking& waiter = goroutines_.Of(interval.goroutine).data;
  const int64_t since = std::max({waiter.wait_end, generations_.At(interval.begin), kNever + 1});
  const bool is_whole = generations_.HasWhole(interval);
  waiter.wait_end = interval.end;
  if (is_whole) waiter.known = interval.end;
  if (interval.ended_by.kind == CauseKind::kTimer) return waiter.asks >= since;
  if (!is_whole || interval.ended_by.kind != CauseKind::kGoroutine) return false;
  const GoId waker = interval.ended_by.goroutine;
  const int64_t generation = std::max(generations_.At(interval.end), kNever + 1);
  Asking& other = goroutines_.Of(waker).data;
  const bool answers = other.asker == interval.goroutine && other.is_asked >= generation;
  // Otherwise it may answer a question of an earlier generation.
  if (!answers && other.known >= generation) {
    other.asks = interval.end;
    waiter.is_asked = interval.end;
    waiter.asker = waker;
  }
  return answers && other.is_asked >= since;
}

void AskedWaits::Merge(AskedWaits& next) {
  generations_.Merge(next.generations_);
  goroutines_.Merge(next.goroutines_, [](Asking*) {});
}

}  // namespace gotrace::internal
