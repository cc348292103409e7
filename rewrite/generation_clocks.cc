#include "rewrite/generation_clocks.h"

#include "absl/time/time.h"
#include "parser/event/trace_clock.h"
#include "rewrite/event_encoder.h"

namespace gotrace::internal {

RepairedGeneration::Clock GenerationClocks::Set(std::optional<uint64_t> frequency,
                                                const std::optional<ClockSnapshot>& snapshot,
                                                GenerationContent* content) {
  using Clock = RepairedGeneration::Clock;
  const auto replaced = [](bool borrows) { return borrows ? Clock::kBorrowed : Clock::kAssumed; };
  Clock clock = frequency.has_value() ? Clock::kOwn : replaced(frequency_.has_value());
  if (frequency.has_value()) frequency_ = frequency;
  content->frequency = frequency_.value_or(EventEncoder::kNanoseconds);
  if (version_ < Version::kGo125) return clock;
  if (snapshot.has_value()) {
    content->clock_snapshot = *snapshot;
    snapshot_ = snapshot;
    return clock;
  }
  clock = replaced(snapshot_.has_value());
  ClockSnapshot& made = content->clock_snapshot;
  made.trace_time = content->begin;
  made.mono = static_cast<uint64_t>(content->begin);
  made.wall = absl::UnixEpoch();
  if (snapshot_.has_value()) {
    const int64_t since = TraceClock::Subtract(content->begin, snapshot_->trace_time);
    made.mono = snapshot_->mono + static_cast<uint64_t>(since);
    made.wall = snapshot_->wall + absl::Nanoseconds(since);
  }
  return clock;
}

}  // namespace gotrace::internal
