// Collects the context that a fault reports besides its place: stacks and open regions.
#ifndef GOTRACE_PARSER_ORDER_FAULT_CONTEXT_H_
#define GOTRACE_PARSER_ORDER_FAULT_CONTEXT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/fault.h"
#include "gotrace/ids.h"
#include "parser/generation/generation_tables.h"
#include "parser/order/scheduler_state.h"

namespace gotrace::internal {

// Adds the frames of `stack` to the context of a fault.
void AddStack(const Stack& stack, FaultContext* context);

// Adds the regions that are open on `goroutine`, with the innermost last. `tables` are those of the
// generation with the index `generation`, counted as in RegionBegin. The place where a region of
// another generation began is no longer known.
void AddRegions(GoId goroutine, absl::Span<const OpenRegion> regions,
                const GenerationTables& tables, uint32_t generation, FaultContext* context);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_FAULT_CONTEXT_H_
