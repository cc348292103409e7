// The numbers of waiting goroutines, by what they are waiting for.
#ifndef GOTRACE_PARSER_ORDER_WAITING_GOROUTINES_H_
#define GOTRACE_PARSER_ORDER_WAITING_GOROUTINES_H_

#include <array>
#include <cstdint>

namespace gotrace::internal {

// The number of waiting goroutines for each reason, indexed by the id of the reason's string in the
// current generation. The first element counts goroutines whose reason is not in this generation,
// because they were waiting before it began. The last element counts all goroutines whose reason
// has a higher id, which does not happen in practice.
using WaitingGoroutines = std::array<uint64_t, 256>;

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_WAITING_GOROUTINES_H_
