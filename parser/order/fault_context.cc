#include "parser/order/fault_context.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "parser/event/event_access.h"

namespace gotrace::internal {
namespace {

FaultFrame CopyFrame(const StackFrame& frame) {
  return {std::string(frame.func), std::string(frame.file), frame.line};
}

}  // namespace

void AddStack(const Stack& stack, FaultContext* context) {
  const size_t count = stack.none() ? 0 : stack.size();
  const size_t listed = std::min(count, FaultContext::kMaxFrames);
  context->stack.reserve(listed);
  for (size_t i = 0; i < listed; ++i) context->stack.push_back(CopyFrame(stack.frame(i)));
  context->more_frames = count - listed;
}

void AddRegions(GoId goroutine, absl::Span<const OpenRegion> regions,
                const GenerationTables& tables, uint32_t generation, FaultContext* context) {
  context->goroutine = goroutine;
  const size_t listed = std::min(regions.size(), FaultContext::kMaxRegions);
  context->more_regions = regions.size() - listed;
  for (size_t i = 0; i < listed; ++i) {
    const OpenRegion& open = regions[regions.size() - 1 - i];
    FaultRegion region = {std::string(open.name.view()), open.task, {}, {}, {}};
    if (open.begin.generation != 0) {
      region.offset = open.begin.offset;
      region.time = open.begin.time;
    }
    const Stack stack = EventAccess::MakeStack(&tables, open.begin.stack);
    if (open.begin.generation == generation && stack.size() > 0) {
      region.frame = CopyFrame(stack.frame(0));
    }
    context->regions.push_back(std::move(region));
  }
}

}  // namespace gotrace::internal
