// Makes a trace that Go's reader accepts out of one that is broken.
//
//   const auto open = [] { return gotrace::OpenSource("broken.out"); };
//   absl::StatusOr<gotrace::RepairPlan> plan = gotrace::PlanRepair(open);
//   if (!plan.ok()) return plan.status();
//   absl::StatusOr<std::unique_ptr<gotrace::ByteStream>> repaired =
//       gotrace::OpenRepaired(*plan, open);
#ifndef GOTRACE_VALIDATOR_REPAIR_H_
#define GOTRACE_VALIDATOR_REPAIR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "parser/byte_source.h"
#include "parser/byte_stream.h"
#include "parser/fault.h"
#include "parser/reader_limits.h"
#include "parser/transport.h"
#include "tracev2/version.h"

namespace gotrace {

// How far into the input its header is looked for, in bytes: a program may print before it traces.
inline constexpr size_t kMostBeforeHeader = 1 << 16;

// What becomes of a generation.
enum class GenerationFate : uint8_t {
  kKept,      // Its batches are as they were. What stood between them is not.
  kMended,    // Events that change no goroutine's or P's state go, or table entries are added.
  kCutShort,  // Besides, threads end where they cannot go on: it is the last one.
  kBroken,    // It goes: Go's reader does not take it.
  kApart,     // It goes: it is sound, but does not follow those that are kept.
  kEmpty,     // It goes: it was begun at the trace's end, and has no events.
};

struct RepairedGeneration {
  uint64_t number = 0;
  uint64_t begin_offset = 0;  // Of its first batch in the (decompressed) input.
  uint64_t end_offset = 0;    // Behind its last batch.
  uint64_t events = 0;        // That it gives as it is in the output. 0 if it goes.
  GenerationFate fate = GenerationFate::kBroken;
  std::optional<Fault> fault;    // Why it is not kept: the first one.
  uint64_t events_left_out = 0;  // Single events, where it was mended.
  uint64_t entries_added = 0;    // Of tables.
  uint64_t threads_cut = 0;      // That end early,
  uint64_t events_cut = 0;       // and the events that are lost with that.
};

// A part of the output: bytes of the input, or others.
struct RepairPiece {
  uint64_t offset = 0;  // In the (decompressed) input.
  uint64_t size = 0;
  std::string bytes;  // If not "", these instead.
};

struct RepairPlan {
  Version version = kNewestVersion;
  // What happened to the input on its way. It is undone in the output, and everything else here is
  // about the trace without it.
  std::vector<TransportNote> notes;
  bool sound = false;                           // Whether Go's reader accepts the trace as it is.
  std::vector<RepairedGeneration> generations;  // All that were found, in order; none if sound.
  std::vector<RepairPiece> pieces;  // Of the output. None if there is nothing to be saved.
  uint64_t events = 0;              // Of the output, without its kSync events.
  uint64_t input_bytes = 0;         // Of the (decompressed) input.
  uint64_t output_bytes = 0;
  uint64_t header_offset = 0;  // How much stands before the trace's header.
  std::vector<Fault> stray;    // The first few faults of framing.
  uint64_t stray_bytes = 0;    // Of all such places.
  // Why the input cannot be decompressed further, where that is so: what could be is used.
  std::optional<Fault> input_fault;
};

// Opens the input, from its beginning. Called several times.
using OpenInput = std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>;

// Finds out what must change for Go 1.27's reader to accept the trace, and verifies that it would.
// Kept is the run of generations that follow each other with the most events. Sound generations
// stay as they are. The last one may be closed where the trace was cut off. If no generation is
// sound, that broken one is cut short which then has the most events. Memory is bounded by the
// largest generation, and by what is mended. Fails if the input cannot be read or has no header of
// a trace that the library knows, or if it passes one of `limits`: FaultOf() tells these apart.
absl::StatusOr<RepairPlan> PlanRepair(const OpenInput& open, const ReaderLimits& limits = {});

// The repaired trace. Requires that the plan has pieces and that `open` gives what it was made of.
absl::StatusOr<std::unique_ptr<ByteStream>> OpenRepaired(const RepairPlan& plan,
                                                         const OpenInput& open);

// What is done, in sentences: what is undone, one for each generation that is not kept as it is,
// and others for what else goes. Empty if the input is sound.
std::vector<std::string> DescribeRepair(const RepairPlan& plan);

}  // namespace gotrace

#endif  // GOTRACE_VALIDATOR_REPAIR_H_
