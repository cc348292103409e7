// Explains a stall, where no thread's next event can come next: why each of them waits, and which
// event is likely to be missing.
#ifndef GOTRACE_PARSER_ORDER_STALL_H_
#define GOTRACE_PARSER_ORDER_STALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/order/frontier.h"
#include "parser/order/obstacle.h"
#include "parser/order/scheduler_model.h"

namespace gotrace::internal {

struct Stall {
  // For example "a GoUnblock of goroutine 7 with sequence number 4", or "" if nothing seems to be
  // missing.
  std::string missing;

  // One line for each waiting thread, sorted by time, without newlines. After kMaxThreads lines,
  // one more line gives the number of the others.
  std::vector<std::string> details;

  static constexpr size_t kMaxThreads = 20;
};

// Explains why none of the events that `frontier` is at can advance in `scheduler`, which must have
// tried all of them. Decodes the rest of the generation, and takes time in proportion to it.
//
// Each waiting event awaits another event. If that event is in the rest of some thread, the waiting
// event waits for that thread, and so for the event that that thread awaits in turn. At the end of
// such a chain is an awaited event that no thread has: it is missing. The likeliest missing event
// is the one that most chains end at, and if there are several, the one that the earliest event
// awaits. A chain that is a cycle has no end and is ignored.
Stall ExplainStall(const Frontier& frontier, const SchedulerModel& scheduler);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_STALL_H_
