// What can be wrong with a trace, and where.
#ifndef GOTRACE_PARSER_FAULT_H_
#define GOTRACE_PARSER_FAULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "parser/ids.h"
#include "tracev2/event_type.h"

namespace gotrace {

// Every fault that reading can meet, one row each in faults.def.
enum class FaultId : uint8_t {
#define GOTRACE_FAULT(id, name, code, effect, meaning) k##id,
#include "parser/faults.def"
  kEnd,  // No fault: one past the last.
};
inline constexpr int kFaultIdEnd = static_cast<int>(FaultId::kEnd);

// How reading goes on after a fault, in the modes that do. What is lost is at least the batch or
// the event that shows the fault, unless it can be told all the same.
enum class FaultEffect : uint8_t {
  kGoOn,            // Nothing else is lost.
  kDropThread,      // The rest of the thread's events up to the next generation.
  kDropGeneration,  // The rest of the generation.
  kStop,            // All that follows.
};

// The id as it is printed: "string-batch-event". Static lifetime, never changed once released.
absl::string_view FaultName(FaultId id);

// One sentence on what the fault means. Static lifetime.
absl::string_view FaultMeaning(FaultId id);

FaultEffect EffectOf(FaultId id);

// Where in a trace something stands. Fields are set as far as they are known.
struct Place {
  // Of the byte that shows the fault, or of the event's first byte, from the beginning of the
  // (decompressed) trace.
  std::optional<uint64_t> offset;
  std::optional<uint64_t> generation;
  std::optional<uint64_t> batch_offset;  // Of the batch's first byte.
  std::optional<ThreadId> thread;        // Of the batch.
  EventType event = EventType::kNone;    // The type of the event.
  std::optional<int64_t> time;           // Of the event, in nanoseconds.
};

// One fault. `message` tells what was expected and what was found, and does not repeat the place.
struct Fault {
  FaultId id = FaultId::kNotATrace;
  Place place;
  std::string message;
  // More for a person to read, a line each, without newlines. Only kNoAdvance has any: why each
  // thread's next event cannot come next.
  std::vector<std::string> details = {};
  // Whether the trace ends too early: the message then begins by saying so.
  bool cut_off = false;
};

// Says of the fault that it shows that the trace ends too early. `what` is how sure that is: the
// message becomes "the trace is WHAT: MESSAGE".
Fault CutOff(Fault fault, absl::string_view what = "cut off");

// The place as text: "byte 1234, generation 2, thread 77, event GoStart"; "" if nothing is known.
std::string FormatPlace(const Place& place);

// The fault as one line, without its details: "PLACE: MESSAGE [ID]".
std::string FormatFault(const Fault& fault);

// A status that tells of the fault: the code of its row in faults.def, FormatFault() as its
// message, and the whole fault for FaultOf().
absl::Status FaultStatus(Fault fault);

// The fault that FaultStatus() put into `status`, or nullopt for any other status, as one that
// tells of an I/O error.
std::optional<Fault> FaultOf(const absl::Status& status);

// Whether the fault is one of the file's compression, and not of the trace in it.
inline bool IsOfCompression(FaultId id) {
  return id == FaultId::kCompressedCorrupt || id == FaultId::kCompressedTruncated;
}

}  // namespace gotrace

#endif  // GOTRACE_PARSER_FAULT_H_
