// What a model of the scheduler knows of a goroutine or P.
#ifndef GOTRACE_PARSER_KNOWN_RESOURCE_H_
#define GOTRACE_PARSER_KNOWN_RESOURCE_H_

#include <array>
#include <cstdint>

#include "parser/event.h"
#include "parser/ids.h"
#include "parser/transition_history.h"

namespace gotrace {

struct KnownResource {
  ResourceId id;
  uint8_t state = 0;        // A GoState or ProcState.
  bool is_whole = false;    // Whether all of its life was seen, from its creation on.
  uint8_t transitions = 0;  // For `history`.
  ThreadId thread;          // That executes it; kNone if none does.
  TransitionHistory history;
};

// How many goroutines wait for something, by the id of the string of the generation at hand that
// says what for. The first counts those of which that generation does not say it, as they waited
// before it began; the last all that are said to by higher ids, which programs do not have.
using WaitingGoroutines = std::array<uint64_t, 256>;

}  // namespace gotrace

#endif  // GOTRACE_PARSER_KNOWN_RESOURCE_H_
