// A goroutine that polls looks again and again whether there is something to do, and mostly there
// is nothing, which takes a moment, or there is something, which takes long or is visible to
// others. Loops that pace what they do, as load generators, or that compute for a while in between,
// do the same each time.
#include "analysis/summary/sleep_loops.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/summary/suspicion_place.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// To look for something takes as long as the shortest runs, of which a few may be shorter by
// chance; and no more than this time, or this part of the sleep.
constexpr double kShortest = 0.05;
constexpr uint64_t kLongestLook = 50'000;
constexpr uint64_t kLooksPerSleep = 50;

// Nothing was found if a run took at most 4 times as long, and something if it took at least 10
// times as long, in buckets of histograms, of which each power of two has 16.
constexpr int kEmptyBuckets = 2 << Histogram::kScale;
constexpr int kFoundBuckets = 53;

// Of the sleeps, these shares are about as long as the shortest ones, have a run between the two
// times above, and end with nothing, and with something.
constexpr double kAlikeShare = 0.7;
constexpr double kUnclearShare = 0.02;
constexpr double kEachShare = 0.05;
constexpr uint64_t kMinEach = 5;
constexpr uint64_t kAlikeMargin = 500'000;  // Of half a sleep.

// Returns how many durations are not longer.
uint64_t CountUpTo(uint64_t limit, const Histogram& durations) {
  uint64_t count = 0;
  for (size_t i = 0; i < durations.counts().size(); ++i) {
    const int bucket = durations.first_bucket() + static_cast<int>(i);
    if (Histogram::MiddleOf(bucket) <= limit) count += durations.counts()[i];
  }
  return count;
}

// Removes times that are not later. Returns whether there were any.
bool TakeUntil(int64_t time, std::vector<int64_t>* times) {
  const auto past = absl::c_upper_bound(*times, time);
  if (past == times->begin()) return false;
  times->erase(times->begin(), past);
  return true;
}

bool IsShare(uint64_t part, double share, uint64_t whole) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

}  // namespace

void SleepLoops::AddEvents(absl::Span<const Event> events) {
  goroutines_.AddEvents(events);
  for (const Event& event : events) {
    const EventType type = event.type();
    const bool is_assist =
        type == EventType::kGCMarkAssistBegin || type == EventType::kGCMarkAssistActive;
    const bool has_effect = type == EventType::kGoUnblock || type == EventType::kGoCreate;
    const GoId id = is_assist ? GoId{event.range_parts().scope.id} : event.goroutine();
    if (!(has_effect || is_assist) || id == GoId::kNone) continue;
    if (has_effect && !IsForOthers(event)) continue;
    Goroutine& goroutine = goroutines_.Of(id).data;
    (is_assist ? goroutine.assists : goroutine.effects).push_back(event.time());
  }
}

// Returns whether the event does something for another goroutine. Whoever releases a lock, or stops
// the world and starts it again, also wakes whoever waits to do the same.
bool SleepLoops::IsForOthers(const Event& event) {
  const StackPlace& at = places_.Of(interner_.InternStack(event.stack()));
  const absl::string_view by = interner_.String(at.place.library);
  return !StartsWithAny(by, {"sync.(*Mutex).", "sync.(*RWMutex)."}) && !IsOfRuntime(by);
}

void SleepLoops::AddGoroutine(const GoInterval& interval) {
  auto& entry = goroutines_.Begin(interval);
  Goroutine& goroutine = entry.data;
  // A goroutine that waits has no effects on others.
  const int64_t until = interval.state == GoState::kWaiting ? interval.begin : interval.end;
  goroutine.since.is_active |= TakeUntil(until, &goroutine.effects);
  goroutine.since.has_assist |= TakeUntil(until, &goroutine.assists);
  const uint64_t length = interval.Seen().duration();
  if (interval.state == GoState::kRunning) {
    goroutine.since.run += length;
  } else if (interval.state == GoState::kSyscall) {
    goroutine.since.is_active = true;
  } else if (interval.state == GoState::kWaiting) {
    const absl::string_view reason = interner_.String(interval.reason);
    if (reason == "sleep") {
      AddSleep({interval.stack, length}, &goroutine);
    } else if (reason != "sync") {
      goroutine.since.is_active = true;
    }
  }
  goroutines_.End(interval, entry);
}

void SleepLoops::AddSleep(const Sleep& sleep, Goroutine* goroutine) {
  if (goroutine->first == StackId::kNone) {
    goroutine->head = goroutine->since;
    goroutine->first = sleep.stack;
  } else if (goroutine->last.stack == sleep.stack) {
    Count(goroutine->last, goroutine->since);
  }
  goroutine->last = sleep;
  goroutine->since = {};
}

void SleepLoops::Count(const Sleep& sleep, const Gap& gap) {
  if (gap.has_assist) return;
  const StackPlace& stack = places_.Of(sleep.stack);
  if (stack.is_system || stack.place.function == StringId::kEmpty) return;
  Loop& loop = loops_[{stack.start, stack.place}];
  Histogram& sleeps = gap.is_active ? loop.active : loop.idle[Histogram::BucketOf(gap.run)];
  sleeps.Add(sleep.length / 2);
}

// Adds the rest of a goroutine, from the part of the trace that follows.
void SleepLoops::Continue(const Goroutine& rest, Goroutine* goroutine) {
  const bool has_sleep = rest.first != StackId::kNone;
  goroutine->since.Add(has_sleep ? rest.head : rest.since);
  if (has_sleep) {
    if (goroutine->first == StackId::kNone) {
      goroutine->head = goroutine->since;
      goroutine->first = rest.first;
    } else if (goroutine->last.stack == rest.first) {
      Count(goroutine->last, goroutine->since);
    }
    goroutine->last = rest.last;
    goroutine->since = rest.since;
  }
  goroutine->effects.insert(goroutine->effects.end(), rest.effects.begin(), rest.effects.end());
  goroutine->assists.insert(goroutine->assists.end(), rest.assists.begin(), rest.assists.end());
}

void SleepLoops::Merge(SleepLoops& next, const InternerMap& ids) {
  for (const auto& [key, more] : next.loops_) {
    const Key mapped = {
        ids(key.start),
        {ids(key.place.function), ids(key.place.file), key.place.line, ids(key.place.library)}};
    Loop& loop = loops_[mapped];
    loop.active.Merge(more.active);
    for (const auto& [bucket, sleeps] : more.idle) loop.idle[bucket].Merge(sleeps);
  }
  goroutines_.Merge(next.goroutines_, [&](Goroutine* goroutine) {
    goroutine->first = ids(goroutine->first);
    goroutine->last.stack = ids(goroutine->last.stack);
  });
}

std::vector<Suspicion> SleepLoops::FindCandidates(int64_t duration) const {
  std::vector<Suspicion> candidates;
  for (const auto& [key, loop] : loops_) {
    Histogram sleeps = loop.active;
    uint64_t idle = 0;
    for (const auto& [bucket, some] : loop.idle) {
      sleeps.Merge(some);
      idle += some.count();
    }
    if (idle == 0) continue;
    const auto rank = static_cast<uint64_t>(std::ceil(kShortest * static_cast<double>(idle)));
    auto shortest = loop.idle.begin();
    for (uint64_t seen = shortest->second.count(); seen < rank;)
      seen += (++shortest)->second.count();
    const uint64_t look = Histogram::MiddleOf(shortest->first);
    if (look > kLongestLook || look * kLooksPerSleep > 2 * sleeps.Quantile(0.5)) continue;

    Suspicion polling;
    polling.kind = SuspicionKind::kPolling;
    polling.lost = loop.active;
    for (const auto& [bucket, some] : loop.idle) {
      const bool has_found = bucket >= shortest->first + kFoundBuckets;
      (has_found ? polling.lost : polling.others).Merge(some);
      if (bucket <= shortest->first + kEmptyBuckets) polling.empty += some.count();
    }
    if (polling.lost.count() == 0 || polling.Cost() < duration / 100) continue;
    polling.start = std::string(interner_.String(key.start));
    SetPlace(key.place, interner_, &polling);
    polling.victims.push_back(
        {.function = polling.start, .count = polling.lost.count(), .time = polling.Cost()});
    candidates.push_back(std::move(polling));
  }
  return candidates;
}

bool IsPolling(const Suspicion& s) {
  Histogram sleeps = s.lost;
  sleeps.Merge(s.others);
  const uint64_t count = sleeps.count();
  const uint64_t found = s.lost.count();
  const uint64_t unclear = s.others.count() - s.empty;
  const uint64_t alike = CountUpTo(2 * sleeps.Quantile(0.1) + kAlikeMargin, sleeps);
  return IsShare(alike, kAlikeShare, count) &&
         static_cast<double>(unclear) <= kUnclearShare * static_cast<double>(count) &&
         std::min(found, s.empty) >= kMinEach &&
         IsShare(std::min(found, s.empty), kEachShare, count);
}

}  // namespace gotrace::internal
