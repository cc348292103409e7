// Recognises traces whose clock seems to be many times as fast as it was.
#ifndef GOTRACE_PARSER_EVENT_UNDIVIDED_CLOCK_H_
#define GOTRACE_PARSER_EVENT_UNDIVIDED_CLOCK_H_

#include <cstdint>
#include <optional>

#include "parser/event/trace_clock.h"

namespace gotrace::internal {

// On Windows, the trace clock is the processor's counter, divided by 256. Go 1.22.0 writes the
// frequency of the counter, which it forgets to divide (golang/go#65997), so that all times seem
// 256 times too short; Go 1.22.1 divides it.
//
// This is certain for traces of version 1.22 of which both holds:
// - The frequencies of all generations are above 1 GHz. The clock of Go on other systems ticks at
//   15.625 MHz, and a counter that was divided at less than 50 MHz.
// - There are at least two generations, and all but the last last for 1/256 of about a second:
//   between 0.5 and 4 s. Go begins a new generation each second.
class UndividedClock {
 public:
  static constexpr uint64_t kDivisor = 256;

  // Adds the next generation of the trace, which begins at `begin`.
  void AddGeneration(uint64_t ticks_per_second, int64_t begin) {
    constexpr uint64_t kMinFrequency = 1'000'000'000;
    is_possible_ &= ticks_per_second > kMinFrequency && IsPlausibleFrequency(ticks_per_second);
    if (last_.has_value()) AddLength(TraceClock::Subtract(begin, *last_));
    if (!first_.has_value()) first_ = begin;
    last_ = begin;
  }

  // Appends the generations of `next`, which follow.
  void Append(const UndividedClock& next) {
    is_possible_ &= next.is_possible_;
    if (!next.first_.has_value()) return;
    if (last_.has_value()) AddLength(TraceClock::Subtract(*next.first_, *last_));
    has_length_ |= next.has_length_;
    if (!first_.has_value()) first_ = next.first_;
    last_ = next.last_;
  }

  // Returns whether the frequency of all generations has to be divided by kDivisor.
  bool IsFound() const { return is_possible_ && has_length_; }

 private:
  void AddLength(int64_t length) {
    constexpr int64_t kMin = 500'000'000 / int64_t{kDivisor};
    constexpr int64_t kMax = 4'000'000'000 / int64_t{kDivisor};
    has_length_ = true;
    is_possible_ &= kMin <= length && length <= kMax;
  }

  bool is_possible_ = true;
  bool has_length_ = false;
  std::optional<int64_t> first_;
  std::optional<int64_t> last_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_EVENT_UNDIVIDED_CLOCK_H_
