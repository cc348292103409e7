// Repairs a broken trace so that Go's reader accepts it.
//
//   gotrace::RepairPlan plan;
//   absl::Status status = gotrace::Repair([] { return gotrace::OpenSource("broken.out"); },
//                                         [&](absl::string_view bytes) { return Write(bytes); },
//                                         &plan);
//   for (const std::string& line : gotrace::DescribeRepair(plan)) std::puts(line.c_str());
#ifndef GOTRACE_REPAIR_H_
#define GOTRACE_REPAIR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "gotrace/fault.h"
#include "gotrace/reader_limits.h"
#include "gotrace/transport.h"
#include "gotrace/version.h"

namespace gotrace {

// How far into the input to search for the trace header, in bytes: a program may print something
// before it starts tracing.
inline constexpr size_t kMaxBytesBeforeHeader = 1 << 16;

// How a generation is treated.
enum class GenerationFate : uint8_t {
  kKept,       // Its batches are unchanged. Anything between them is removed.
  kRewritten,  // It is rewritten from its events, some of which cannot stay as they are.
  kBroken,     // Dropped: nothing of it can be saved.
  kApart,      // Dropped: it does not follow the generations that are kept.
  kEmpty,      // Dropped: it begins at the end of the trace and has no events.
};

// The changes to regions that do not nest (see rewrite/region_planner.h).
struct RegionChanges {
  uint64_t ends_delayed = 0;
  int64_t max_delay_ns = 0;       // The largest delay, in nanoseconds.
  uint64_t regions_moved = 0;     // Regions moved to goroutines that are added for them.
  uint64_t goroutines_added = 0;  // Goroutines added for regions.
  uint64_t ends_dropped = 0;      // Repeated ends of regions that had ended.

  // Adds the numbers of `other`, and takes the larger of the delays.
  RegionChanges& operator+=(const RegionChanges& other);
  friend bool operator==(const RegionChanges&, const RegionChanges&) = default;
};

// The changes to one generation.
struct RepairedGeneration {
  uint64_t number = 0;
  uint64_t begin_offset = 0;  // The offset of its first batch in the (decompressed) input.
  uint64_t end_offset = 0;    // The offset after its last batch.
  uint64_t events = 0;        // The number of its events in the output. 0 if it is dropped.
  GenerationFate fate = GenerationFate::kBroken;
  std::optional<Fault> fault;  // The first fault in it.

  // The changes if it is rewritten.
  uint64_t events_left_out = 0;  // Events that were decoded but cannot be ordered.
  uint64_t events_added = 0;     // Events added to connect others between which some are lost.
  uint64_t statuses_added = 0;   // Statuses of goroutines and Ps added for lost ones.
  uint64_t entries_added = 0;    // Table entries added for lost ones.
  RegionChanges regions;         // The changes to regions that do not nest.
  std::optional<uint64_t> new_number;  // Its new number, if that had to change.

  // What replaces the frequency of its clock, or the clock snapshot that traces have since version
  // 1.25, if either is lost.
  enum class Clock : uint8_t {
    kOwn,       // Nothing is lost.
    kBorrowed,  // The clock of the generation before.
    kAssumed,   // None: a tick is treated as a nanosecond, and the wall time is unknown.
  };
  Clock clock = Clock::kOwn;

  uint64_t output_end = 0;  // The offset of its end in the output. 0 if it is dropped.
};

// A part of the output: either bytes of the input or new bytes.
struct RepairPiece {
  uint64_t offset = 0;  // In the (decompressed) input.
  uint64_t size = 0;
  std::string bytes;  // The new bytes; "" for bytes of the input.
};

// The changes of a repair, and its output.
struct RepairPlan {
  Version version = kNewestVersion;
  // The damage of the input in transport, which the repair undoes. All other members are about the
  // trace inside.
  std::vector<TransportNote> notes;
  // Whether Go's reader accepts the trace inside as it is, once the damage in transport is undone.
  bool trace_is_sound = false;
  std::vector<RepairedGeneration> generations;  // All generations, in order; none if it is sound.
  std::vector<RepairPiece> pieces;              // The output. None if nothing can be saved.
  uint64_t events = 0;                          // Events of the output, without kSync events.
  uint64_t events_with_syncs = 0;               // Events that a Reader returns for the output.
  RegionChanges regions;                        // The changes in all generations.
  uint64_t input_bytes = 0;                     // The size of the (decompressed) input.
  uint64_t input_hash = 0;                      // A hash of its bytes, for OpenRepaired().
  uint64_t output_bytes = 0;                    // The size of the output.
  uint64_t header_offset = 0;                   // The number of bytes before the trace header.
  std::optional<Fault> cut_off;  // The fault at which the trace is cut off, if it is.
  std::vector<Fault> stray;      // The first few framing faults.
  uint64_t stray_bytes = 0;      // The bytes skipped for all framing faults.
  // The number of damaged batches, and the bytes of them that cannot be decoded. An unknown number
  // of events in those bytes is lost.
  uint64_t damaged_batches = 0;
  uint64_t unreadable_bytes = 0;
  // Text that was printed into the trace and is removed: the number of pieces, the number of bytes,
  // and the first piece.
  uint64_t text_pieces = 0;
  uint64_t text_bytes = 0;
  std::optional<Fault> first_text;
  // If the input cannot be decompressed completely, the fault. Everything before it is used.
  std::optional<Fault> input_fault;
  // The number by which the frequency of the trace clock is divided in the output: 256 if Go 1.22.0
  // wrote the trace on Windows, with times that are 256 times too short. Otherwise 1.
  uint64_t clock_divisor = 1;

  // Returns whether Go's reader accepts the input as it is, with the right times, so that nothing
  // needs to be repaired.
  bool InputIsSound() const { return trace_is_sound && notes.empty() && clock_divisor == 1; }
};

// Opens the input at its beginning. Called several times. All sources must have the same bytes:
// data that is appended to a file after the first read is ignored, and any other change causes the
// error kAborted.
using OpenInput = std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>;

// Receives the repaired trace: a part of its bytes at each call, in order. An error ends the
// repair.
using RepairSink = absl::FunctionRef<absl::Status(absl::string_view bytes)>;

// The options of Repair() and PlanRepair().
struct RepairOptions {
  ReaderLimits limits;  // Limits on the memory and time that the trace can take.

  // Called often while the input is read, to ask whether to continue. Once it returns false, the
  // repair ends with the status kCancelled; it must not return true again.
  std::function<bool()> keep_going;
};

// Repairs the trace that `open` opens, and passes the result to `sink`. Go 1.27's reader accepts
// the result; this is verified before `sink` is called. A sound trace is passed on unchanged,
// except for a wrong frequency (RepairPlan::clock_divisor), but decompressed. If `plan` is not
// nullptr, stores the changes there: see DescribeRepair().
//
// Returns an error, without having called `sink`, where PlanRepair() does, and kDataLoss without a
// fault if nothing of the trace can be saved; `*plan` then says why. Otherwise returns the first
// error of the sink or of reading the input. If the input changes while it is read for the output,
// the error kAborted comes only after everything was passed on, and the output must be discarded.
//
// PlanRepair() and OpenRepaired() are the two halves of this, for programs that show the plan
// before they write, or that want a stream.
absl::Status Repair(const OpenInput& open, RepairSink sink, RepairPlan* plan = nullptr,
                    const RepairOptions& options = {});

// Like Repair(), for `bytes`, compressed or not. Returns the repaired trace.
absl::StatusOr<std::string> RepairBytes(absl::string_view bytes, RepairPlan* plan = nullptr,
                                        const RepairOptions& options = {});

// Plans the changes after which Go 1.27's reader accepts the trace, and verifies that it would.
//
// A sound trace stays unchanged, except for a wrong frequency (RepairPlan::clock_divisor).
// Otherwise, sound generations that follow their predecessors keep
// their batches. Other generations are rewritten from the events that ReadMode::kSalvage returns,
// with events added where some are lost, and with regions that nest (see rewrite/region_planner.h).
// If the input has several traces, or several runs of generations that do not follow each other,
// the one with the most events is kept.
//
// Memory is bounded by the largest generation, by the size of everything that is rewritten, and by
// the number of regions if they do not nest. Returns an error if the input cannot be read, changes
// (kAborted), has no supported trace header, or exceeds one of the limits; FaultOf() distinguishes
// these.
absl::StatusOr<RepairPlan> PlanRepair(const OpenInput& open, const RepairOptions& options = {});

// Returns the repaired trace. Requires that the plan has pieces, and that `open` opens the input
// for which it was made: if that has changed, the stream ends with the error kAborted.
absl::StatusOr<std::unique_ptr<ByteStream>> OpenRepaired(const RepairPlan& plan,
                                                         const OpenInput& open);

// Describes the repair in sentences, one for each generation that changes and for each other
// change. Returns none if the input is sound.
std::vector<std::string> DescribeRepair(const RepairPlan& plan);

}  // namespace gotrace

#endif  // GOTRACE_REPAIR_H_
