// What to tell where none of the threads' next events can come next: why each of them waits, and
// which event is likely to be missing.
#ifndef GOTRACE_PARSER_ORDER_STALL_H_
#define GOTRACE_PARSER_ORDER_STALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/order/frontier.h"
#include "parser/order/obstacle.h"
#include "parser/order/scheduler.h"

namespace gotrace::internal {

struct Stall {
  // "a GoUnblock of goroutine 7 with sequence number 4", or "" where nothing seems to be missing.
  std::string missing;

  // A line for each waiting thread in order of time, without newlines; beyond kMaxThreads one that
  // tells how many more there are.
  std::vector<std::string> details;

  static constexpr size_t kMaxThreads = 20;
};

// Explains why none of the events that `frontier` stands at can advance in `scheduler`, which must
// have tried them all. Decodes what is left of the generation, in time proportional to that.
//
// Each waiting event awaits one other. If that one still stands in the rest of some thread, it
// waits for that thread, and so for what that thread awaits in turn. At the end of each such chain
// is an awaited event that no thread has: it is missing. The one that most chains end at is called
// the likeliest, and among several the one that the earliest event awaits. Chains that run in a
// circle have no end and tell nothing.
Stall ExplainStall(const Frontier& frontier, const Scheduler& scheduler);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_STALL_H_
