// The event types of the v2 trace format, by their wire values (FORMAT.md §8).
#ifndef GOTRACE_EVENT_TYPE_H_
#define GOTRACE_EVENT_TYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace gotrace {

// The first byte of each event. Values 128 and above belong to experiments. A byte read from a
// trace may hold a value that has no enumerator: its EventTypeName() is "Invalid".
enum class EventType : uint8_t {
  kNone = 0,  // Stands nowhere in a trace.
#define GOTRACE_EVENT(value, name, ...) k##name = value,
#include "gotrace/internal/events.def"
#include "gotrace/internal/requires_cxx20.h"
};

// The name of `type`, or "Invalid" if it has none. Static lifetime.
absl::string_view EventTypeName(EventType type);

// The experiments that timed events and experimental batches may belong to.
enum class Experiment : uint8_t {
  kNone = 0,
  kAllocFree = 1,  // Since Go 1.23: spans, heap objects and goroutine stacks, allocated and freed.
};

// The name of `experiment` as Go spells it, or "" if it is not known. Static lifetime.
absl::string_view ExperimentName(uint64_t experiment);

}  // namespace gotrace

#endif  // GOTRACE_EVENT_TYPE_H_
