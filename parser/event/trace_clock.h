// From ticks of the trace clock to nanoseconds, in the arithmetic that Go uses (FORMAT.md §7).
#ifndef GOTRACE_PARSER_EVENT_TRACE_CLOCK_H_
#define GOTRACE_PARSER_EVENT_TRACE_CLOCK_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace gotrace::internal {

// Whether a trace clock of so many ticks per second can exist. Go's runtime writes between a few
// hundred thousand and a few thousand million; with a frequency of 0 times mean nothing at all.
constexpr bool IsPlausibleFrequency(uint64_t ticks_per_second) {
  constexpr uint64_t kMin = 1000;
  constexpr uint64_t kMax = 100'000'000'000;
  return kMin <= ticks_per_second && ticks_per_second <= kMax;
}

// The clock of one generation.
class TraceClock {
 public:
  TraceClock() = default;

  // A clock of `ticks_per_second`, as a Frequency event tells it.
  explicit TraceClock(uint64_t ticks_per_second)
      : ns_per_tick_(1.0 / (static_cast<double>(ticks_per_second) / 1e9)) {
    constexpr double kMost = 1e18;  // Far below 2^63.
    // One that is longer, or infinite, leaves none.
    few_ticks_ = static_cast<uint64_t>(kMost / std::max(ns_per_tick_, 1.0));
  }

  // Whether a frequency was told. One of 2^64 - 1 or of 0 counts, as odd as its times are.
  bool known() const { return ns_per_tick_ != 0; }

  // `ticks` in nanoseconds. What does not fit becomes the least value, as the conversion
  // instruction of x86-64 makes it, so that every machine reads such a trace alike.
  int64_t ToNs(uint64_t ticks) const {
    if (ticks < few_ticks_) [[likely]] {
      return static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(ticks)) * ns_per_tick_);
    }
    const double ns = static_cast<double>(ticks) * ns_per_tick_;
    constexpr double kEnd = 9223372036854775808.0;  // 2^63
    return ns < kEnd ? static_cast<int64_t>(ns) : std::numeric_limits<int64_t>::min();
  }

  // The sum and the difference of two times, which wrap around: a damaged trace has any times.
  static int64_t Add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static int64_t Subtract(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }

 private:
  double ns_per_tick_ = 0;
  uint64_t few_ticks_ = 0;  // Fewer than that surely fit, in nanoseconds too.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_EVENT_TRACE_CLOCK_H_
