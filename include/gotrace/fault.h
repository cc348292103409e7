// What can be wrong with a trace, and where.
#ifndef GOTRACE_FAULT_H_
#define GOTRACE_FAULT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"

namespace gotrace {

// Every fault that reading can meet, one row each in faults.def.
enum class FaultId : uint8_t {
#define GOTRACE_FAULT(id, name, code, effect, meaning) k##id,
#include "gotrace/internal/faults.def"
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

// One frame of a stack: a function, and a place in its source. A copy, since the trace's own tables
// are gone once its generation is.
struct FaultFrame {
  std::string func;  // "" if unknown.
  std::string file;  // "" if unknown.
  uint64_t line = 0;
};

// A region that is open on a goroutine.
struct FaultRegion {
  std::string type;  // The name given to StartRegion or WithRegion.
  TaskId task;
  // Where the event that began it stands, and its time in nanoseconds; nullopt for a region that is
  // only assumed to have begun.
  std::optional<uint64_t> offset;
  std::optional<int64_t> time;
  // The function that began it; nullopt if the trace does not say, or if that was in an earlier
  // generation, whose tables are gone.
  std::optional<FaultFrame> frame;
};

// What the program was doing at the event that shows a fault.
struct FaultContext {
  // The most that is listed of a stack and of the open regions: a damaged trace may have any
  // number.
  static constexpr size_t kMaxFrames = 32;
  static constexpr size_t kMaxRegions = 16;

  std::vector<FaultFrame> stack;  // Of the event, the innermost frame first. Empty if it has none.
  uint64_t more_frames = 0;       // How many frames the stack has besides.

  // For events about regions and tasks: the regions that are open on the goroutine that makes the
  // event, the innermost first, and how many there are besides.
  GoId goroutine = GoId::kNone;
  std::vector<FaultRegion> regions;
  uint64_t more_regions = 0;
};

// The context as lines for a person to read, without newlines. None if there is nothing in it.
std::vector<std::string> FormatContext(const FaultContext& context);

// One fault. `message` tells what was expected and what was found, and does not repeat the place.
struct Fault {
  FaultId id = FaultId::kNotATrace;
  Place place;
  std::string message;
  // More for a person to read, a line each, without newlines: for kNoAdvance, why each thread's
  // next event cannot come next.
  std::vector<std::string> details = {};
  // Of an event that could be decoded, for the first kMaxContexts faults that a Reader reports.
  FaultContext context = {};
  static constexpr uint64_t kMaxContexts = 1000;
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

// A status for the fault: the code of its row in faults.def, FormatFault() as its message, and the
// fault for FaultOf(), which has the lines of FormatContext() at the end of its details in place of
// the context.
absl::Status FaultStatus(Fault fault);

// The fault that FaultStatus() put into `status`, or nullopt for any other status, as one that
// tells of an I/O error.
std::optional<Fault> FaultOf(const absl::Status& status);

// Whether the fault is one of the file's compression, or of another encoding, and not of the trace
// in it.
inline bool IsOfCompression(FaultId id) {
  return id == FaultId::kCompressedCorrupt || id == FaultId::kCompressedTruncated ||
         id == FaultId::kTransportCorrupt;
}

}  // namespace gotrace

#endif  // GOTRACE_FAULT_H_
