// What a check found.
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
  uint64_t offset = 0;  // Of its event.
  EventType event = EventType::kNone;
  uint8_t from = 0;  // A GoState or ProcState.
  uint8_t to = 0;

  friend bool operator==(const PastTransition&, const PastTransition&) = default;
};

struct Finding {
  CheckId check = CheckId::kEnd;
  Severity severity = Severity::kNote;  // As in the check's row.
  Place place;
  uint64_t event_number = 0;         // Of the event that shows it, from 1 on; 0 if no event does.
  ResourceId resource;               // The goroutine or P that it is about, if any.
  std::string message;               // What was expected and found, without the place.
  std::vector<std::string> details;  // More lines for a person to read, as in Fault.
  FaultContext context;              // What the program was doing, as in Fault.
  // The last transitions of `resource` before the finding, the earliest first.
  std::vector<PastTransition> history;
};

// The finding as text: "error: PLACE: MESSAGE [ID]", and indented lines for the details,
// the context and the history, each with a newline at its end but the last.
std::string FormatFinding(const Finding& finding);

// "goroutine 7", "P 0", "thread 12", or "" for none.
std::string FormatResource(const ResourceId& resource);

// The states' names, "Running -> Waiting", for a transition of a resource of `kind`.
std::string FormatTransition(ResourceKind kind, uint8_t from, uint8_t to);

}  // namespace gotrace

#endif  // GOTRACE_FINDING_H_
