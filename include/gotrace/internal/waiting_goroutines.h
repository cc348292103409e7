// How many goroutines wait, and what for.
#ifndef GOTRACE_INTERNAL_WAITING_GOROUTINES_H_
#define GOTRACE_INTERNAL_WAITING_GOROUTINES_H_

#include <array>
#include <cstdint>

namespace gotrace::internal {

// How many goroutines wait for something, by the id of the string of the generation at hand that
// says what for. The first counts those of which that generation does not say it, as they waited
// before it began; the last all that are said to by higher ids, which programs do not have.
using WaitingGoroutines = std::array<uint64_t, 256>;

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_WAITING_GOROUTINES_H_
