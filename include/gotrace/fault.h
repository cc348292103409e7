// Faults: everything that can be wrong with a trace, and where.
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

// The id of a fault. faults.def has one row for each.
enum class FaultId : uint8_t {
#define GOTRACE_FAULT(id, name, stage, code, effect, meaning) k##id,
#include "gotrace/internal/faults.def"
  kEnd,  // Not a fault: one past the last.
};
inline constexpr int kFaultIdEnd = static_cast<int>(FaultId::kEnd);

// How much a fault makes the Reader skip, in the modes that continue after faults. The batch or
// event with the fault is lost in any case, unless it can be used despite the fault.
enum class FaultEffect : uint8_t {
  kContinue,        // Nothing else.
  kDropThread,      // The rest of the thread's events in this generation.
  kDropGeneration,  // The rest of the generation.
  kStop,            // Everything that follows.
};

// The part of the input that was being read when a fault was found.
enum class FaultStage : uint8_t {
  kInput,       // The input as a whole.
  kTransport,   // The compression or another encoding around the trace.
  kFraming,     // The batches.
  kGeneration,  // The order of batches.
  kTable,       // Strings, stacks, CPU samples and clocks.
  kEvent,       // An event, by itself.
  kLimit,       // The memory and time that the trace may take: see ReaderLimits.
  kOrder,       // An event, after those before it.
};

// Returns the printed form of `id`: "string-batch-event". Static lifetime; never changes once
// released.
absl::string_view FaultName(FaultId id);

// Returns one sentence that describes the fault. Static lifetime.
absl::string_view FaultMeaning(FaultId id);

// Returns how much the fault makes the Reader skip.
FaultEffect EffectOf(FaultId id);

// Returns the part of the input that was being read when the fault was found.
FaultStage StageOf(FaultId id);

// A place in a trace. Unknown fields are not set.
struct Place {
  // The offset in the (decompressed) trace of the byte that shows the fault, or of the event's
  // first byte.
  std::optional<uint64_t> offset;
  std::optional<uint64_t> generation;
  std::optional<uint64_t> batch_offset;  // The offset of the batch's first byte.
  std::optional<ThreadId> thread;        // The thread of the batch.
  EventType event = EventType::kNone;    // The type of the event.
  std::optional<int64_t> time;           // The time of the event, in nanoseconds.
};

// One frame of a stack: a function and a place in its source. It owns its strings, since a trace's
// tables are valid only during their generation.
struct FaultFrame {
  std::string func;  // "" if unknown.
  std::string file;  // "" if unknown.
  uint64_t line = 0;
};

// A region that is open on a goroutine.
struct FaultRegion {
  std::string type;  // The name given to StartRegion or WithRegion.
  TaskId task;
  // The offset of the event that began it; nullopt for a region that is only assumed to have begun.
  std::optional<uint64_t> offset;
  // The time at which it began, in nanoseconds; nullopt like `offset`.
  std::optional<int64_t> time;
  // The function that began it; nullopt if the trace does not say, or if it began in an earlier
  // generation, whose tables are gone.
  std::optional<FaultFrame> frame;
};

// What the program was doing at the event that shows a fault.
struct FaultContext {
  // The maximum numbers of frames and of open regions that are listed: a damaged trace may have any
  // number.
  static constexpr size_t kMaxFrames = 32;
  static constexpr size_t kMaxRegions = 16;

  std::vector<FaultFrame> stack;  // The event's stack, innermost frame first; empty if none.
  uint64_t more_frames = 0;       // The number of frames that are not listed.

  // For events of regions and tasks: the goroutine of the event, the regions that are open on it,
  // innermost first, and the number of regions that are not listed.
  GoId goroutine = GoId::kNone;
  std::vector<FaultRegion> regions;
  uint64_t more_regions = 0;
};

// Formats the context as lines for a person to read, without newlines. Returns no lines for an
// empty context.
std::vector<std::string> FormatContext(const FaultContext& context);

// One fault.
struct Fault {
  FaultId id = FaultId::kNotATrace;
  Place place;
  // What was expected and what was found, without the place.
  std::string message;
  // More lines for a person to read, without newlines: for kNoAdvance, why each thread's next event
  // cannot be ordered.
  std::vector<std::string> details = {};
  // What the program was doing at the event, if it could be decoded. Only the first kMaxContexts
  // faults that a Reader reports have one.
  FaultContext context = {};
  static constexpr uint64_t kMaxContexts = 1000;
  // Whether the trace ends too early. The message then begins by saying so.
  bool cut_off = false;
  // For kNotATrace: the offset of a trace header that follows other data. The message then ends by
  // saying so.
  std::optional<uint64_t> header_offset = std::nullopt;
};

// Marks the fault as a sign that the trace ends too early. `what`, which must contain "cut off" and
// no colon, says how certain this is: the message becomes "the trace is WHAT: MESSAGE".
Fault CutOff(Fault fault, absl::string_view what = "cut off");

// Marks the fault as one of input in which a trace header is at `offset`, after other data. The
// message becomes "MESSAGE; a trace header is at byte OFFSET".
Fault HeaderAt(Fault fault, uint64_t offset);

// Formats the place: "byte 1234, generation 2, thread 77, event GoStart"; "" if nothing is known.
std::string FormatPlace(const Place& place);

// Formats the fault as one line, without its details: "PLACE: MESSAGE [ID]".
std::string FormatFault(const Fault& fault);

// Returns a status for the fault. Its code is that of the fault's row in faults.def. The first line
// of its message is FormatFault(); the time and the details follow, each on its own line, and after
// them the lines of FormatContext(). The status has no payload, so that printing it shows the
// message and nothing else. Newlines in the message of the fault become spaces.
absl::Status FaultStatus(Fault fault);

// Returns the fault from which FaultStatus() made `status`, or nullopt for any other status, such
// as an I/O error. The lines of its context are at the end of its details. The fault is parsed from
// the code and the message alone, so FaultOf() works for copies of a status and for a status that
// was transmitted as code and message, but not if the message was changed.
std::optional<Fault> FaultOf(const absl::Status& status);

// Returns whether the fault means that the input ends too early.
inline bool IsCutOff(const Fault& fault) {
  return fault.cut_off || fault.id == FaultId::kCompressedTruncated;
}

}  // namespace gotrace

#endif  // GOTRACE_FAULT_H_
