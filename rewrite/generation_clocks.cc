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
  // Go's validator refuses clocks at zero, which damage may leave.
  if (snapshot.has_value() && snapshot->mono != 0 && snapshot->trace_time != 0) {
    has_snapshot_ = true;
    last_ = snapshot;
  } else {
    clock = replaced(has_snapshot_);
    const int64_t begin = content->begin;
    // 1970 says that the wall time is not known, and Go's validator accepts it. Later generations
    // have later times, since it refuses the same time again.
    if (!last_.has_value()) last_ = {begin, static_cast<uint64_t>(begin), absl::UnixEpoch()};
    const int64_t since = TraceClock::Subtract(begin, last_->trace_time);
    last_ = {begin, last_->mono + static_cast<uint64_t>(since),
             last_->wall + absl::Nanoseconds(since)};
  }
  content->clock_snapshot = *last_;
  return clock;
}

}  // namespace gotrace::internal
