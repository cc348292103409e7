// Makes a trace that Go's reader accepts out of one that is broken.
//
//   const auto open = [] { return gotrace::OpenSource("broken.out"); };
//   absl::StatusOr<gotrace::RepairPlan> plan = gotrace::PlanRepair(open);
//   if (!plan.ok()) return plan.status();
//   absl::StatusOr<std::unique_ptr<gotrace::ByteStream>> repaired =
//       gotrace::OpenRepaired(*plan, open);
#ifndef GOTRACE_REPAIR_H_
#define GOTRACE_REPAIR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/byte_stream.h"
#include "gotrace/fault.h"
#include "gotrace/reader_limits.h"
#include "gotrace/transport.h"
#include "gotrace/version.h"

namespace gotrace {

// How far into the input its header is looked for, in bytes: a program may print before it traces.
inline constexpr size_t kMostBeforeHeader = 1 << 16;

// What becomes of a generation.
enum class GenerationFate : uint8_t {
  kKept,       // Its batches are as they were. Whatever is between them is removed.
  kRewritten,  // Its events are written anew: some cannot follow the others as they were.
  kBroken,     // Left out: nothing can be made of it.
  kApart,      // Left out: it does not follow the generations that are kept.
  kEmpty,      // Left out: it was begun at the trace's end, and has no events.
};

// What became of regions that do not nest (see region_planner.h).
struct RegionChanges {
  uint64_t ends_delayed = 0;
  int64_t max_delay_ns = 0;       // The largest change of a region's duration.
  uint64_t regions_moved = 0;     // To goroutines that are added for them.
  uint64_t goroutines_added = 0;  // For regions.
  uint64_t ends_dropped = 0;      // Second ends of regions that had ended.

  RegionChanges& operator+=(const RegionChanges& other);
  friend bool operator==(const RegionChanges&, const RegionChanges&) = default;
};

struct RepairedGeneration {
  uint64_t number = 0;
  uint64_t begin_offset = 0;  // Of its first batch in the (decompressed) input.
  uint64_t end_offset = 0;    // After its last batch.
  uint64_t events = 0;        // That the output has of it. 0 if it is left out.
  GenerationFate fate = GenerationFate::kBroken;
  std::optional<Fault> fault;  // The first fault in it.

  // What was changed where it was rewritten.
  uint64_t events_left_out = 0;        // That can be decoded, but cannot be put in order.
  uint64_t events_added = 0;           // That lead from one event to the next, where some are lost.
  uint64_t statuses_added = 0;         // Of goroutines and Ps whose status is lost.
  uint64_t entries_added = 0;          // Of tables.
  RegionChanges regions;               // Where the regions of the trace do not nest.
  std::optional<uint64_t> new_number;  // Where its number had to change.

  // Where the frequency of its clock, or the clock snapshot that traces have since version 1.25,
  // is lost, and what was put in its place.
  enum class Clock : uint8_t {
    kOwn,       // Nothing is lost.
    kBorrowed,  // That of the generation before.
    kAssumed,   // There is none before: a tick is taken for a nanosecond, the wall time is unknown.
  };
  Clock clock = Clock::kOwn;

  uint64_t output_end = 0;  // Where it ends in the output, in bytes. 0 if it is left out.
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
  uint64_t events_with_syncs = 0;   // Of the output, as a Reader gives them.
  RegionChanges regions;            // Of all generations.
  uint64_t input_bytes = 0;         // Of the (decompressed) input.
  uint64_t output_bytes = 0;
  uint64_t header_offset = 0;    // How much stands before the trace's header.
  std::optional<Fault> cut_off;  // That the trace ends too early, where it does.
  std::vector<Fault> stray;      // The first few faults of framing.
  uint64_t stray_bytes = 0;      // Of all such places.
  // How many batches are damaged, and how many bytes of them cannot be read: events among these are
  // lost, and nobody knows how many.
  uint64_t damaged_batches = 0;
  uint64_t unreadable_bytes = 0;
  // Text that was printed into the trace and is removed: how many pieces, how many bytes they have,
  // and the first one.
  uint64_t text_pieces = 0;
  uint64_t text_bytes = 0;
  std::optional<Fault> first_text;
  // Why the input cannot be decompressed further, where that is so: what could be is used.
  std::optional<Fault> input_fault;
};

// Opens the input, from its beginning. Called several times.
using OpenInput = std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>;

// Finds out what must change for Go 1.27's reader to accept the trace, and verifies that it would.
// A sound trace stays as it is. Otherwise generations that are sound and follow those before keep
// their batches. The others are written anew from the events that ReadMode::kSalvage gives, with
// what leads from one to the next where some are lost, and with regions that nest (region_planner.h
// documents how). Of several traces in the input, or runs of
// generations that do not follow each other, the one with the most events is kept. Memory is
// bounded by the largest generation and by what is rewritten, and by the number of regions where
// they do not nest. Fails if the input cannot be read or
// has no header of a trace that the library knows, or if it passes one of `limits`: FaultOf() tells
// these apart.
absl::StatusOr<RepairPlan> PlanRepair(const OpenInput& open, const ReaderLimits& limits = {});

// The repaired trace. Requires that the plan has pieces and that `open` gives what it was made of.
absl::StatusOr<std::unique_ptr<ByteStream>> OpenRepaired(const RepairPlan& plan,
                                                         const OpenInput& open);

// What is done, in sentences: what is undone, one for each generation that is not kept as it is,
// and others for what else goes. Empty if the input is sound.
std::vector<std::string> DescribeRepair(const RepairPlan& plan);

}  // namespace gotrace

#endif  // GOTRACE_REPAIR_H_
