// Findings: the results of checks.
#ifndef GOTRACE_FINDING_H_
#define GOTRACE_FINDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gotrace/check.h"
#include "gotrace/event.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"

namespace gotrace {

// A transition of a goroutine or P.
struct PastTransition {
  uint64_t offset = 0;  // The offset of its event; 0 if the event has none.
  EventType event = EventType::kNone;
  uint8_t from = 0;  // A GoState or ProcState.
  uint8_t to = 0;    // A GoState or ProcState.

  friend bool operator==(const PastTransition&, const PastTransition&) = default;
};

// One problem that a check found.
struct Finding {
  CheckId check = CheckId::kEnd;
  Severity severity = Severity::kNote;  // As in the check's row.
  Place place;
  uint64_t event_number = 0;         // The number of the event, from 1; 0 if not about an event.
  ResourceId resource;               // The goroutine or P concerned, if any.
  std::string message;               // What was expected and found, without the place.
  std::vector<std::string> details;  // More lines for a person to read, as in Fault.
  FaultContext context;              // What the program was doing, as in Fault.
  // The last transitions of `resource` before the finding, the earliest first.
  std::vector<PastTransition> history;
};

// Formats the finding as "error: PLACE: MESSAGE [ID]" and indented lines for the details, the
// context and the history. The last line has no newline. PLACE begins with the offset or, for an
// event without one, such as some from EventBuilder, with its number: "event 3".
std::string FormatFinding(const Finding& finding);

// Formats the resource: "goroutine 7", "P 0", "thread 12", or "" for none.
std::string FormatResource(const ResourceId& resource);

// Formats a transition of a resource of `kind`: "Running -> Waiting".
std::string FormatTransition(ResourceKind kind, uint8_t from, uint8_t to);

}  // namespace gotrace

#endif  // GOTRACE_FINDING_H_
