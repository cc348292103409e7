// What a model of the scheduler knows of a goroutine or P.
#ifndef GOTRACE_PARSER_KNOWN_RESOURCE_H_
#define GOTRACE_PARSER_KNOWN_RESOURCE_H_

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

}  // namespace gotrace

#endif  // GOTRACE_PARSER_KNOWN_RESOURCE_H_
