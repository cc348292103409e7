// The event types of the v2 trace format, by their wire values (FORMAT.md §8).
#ifndef GOTRACE_INTERNAL_EVENT_TYPE_H_
#define GOTRACE_INTERNAL_EVENT_TYPE_H_

#include <cstdint>

#include "gotrace/internal/requires_cxx20.h"

namespace gotrace {

// The first byte of each event. Values 128 and above belong to experiments. A byte from a trace may
// have a value without an enumerator: check it with FindEventSpec() first.
enum class EventType : uint8_t {
  kNone = 0,  // Never in a trace.
#define GOTRACE_EVENT(value, name, ...) k##name = value,
#include "gotrace/internal/events.def"
};

// One past the highest wire value of any version.
inline constexpr int kEventTypeEnd = 137;

// The experiments that timed events and experimental batches may belong to.
enum class Experiment : uint8_t {
  kNone = 0,
  kAllocFree = 1,  // Since Go 1.23: spans, heap objects and goroutine stacks, allocated and freed.
};

// One past the highest experiment id known.
inline constexpr int kExperimentEnd = 2;

}  // namespace gotrace

#endif  // GOTRACE_INTERNAL_EVENT_TYPE_H_
