// How a Reader goes about faults.
#ifndef GOTRACE_READ_MODE_H_
#define GOTRACE_READ_MODE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "gotrace/fault.h"
#include "gotrace/reader_limits.h"

namespace gotrace::internal {
class GenerationTables;
class TableUse;
struct Batch;
}  // namespace gotrace::internal

namespace gotrace {

// The modes that go on after faults look at half a megabyte of what follows each batch: of a pipe
// that pauses they give a generation only once as much was written behind it, or the pipe is
// closed.
enum class ReadMode : uint8_t {
  // Stops at the first fault, where Go's reader stops.
  kStrict,
  // Goes on after each fault as the effect in its row of faults.def allows, so that all faults of a
  // trace are found and none is only the echo of another.
  kCollect,
  // Gives as many events as can be trusted: an event that has to wait for one that is lost is given
  // where nothing else of its generation can come next. From there to the generation's end events
  // have the times that their threads' clocks told, which go back and may be equal; else each is
  // later than the one before, as in the other modes. Only here it is a fault, too, that a
  // generation does not follow the one before it, which Go's reader does not mind since Go 1.26.
  kSalvage,
};

// The default of ReaderOptions::exact_ties_threads.
inline constexpr size_t kExactTiesThreads = 64;

// The default of ReaderOptions::jobs_from_bytes.
inline constexpr uint64_t kJobsFromBytes = 1 << 20;

struct ReaderOptions {
  ReadMode mode = ReadMode::kStrict;

  // Up to this many threads in a generation, events of different threads at the same time come in
  // the very order in which Go's reader gives them (FORMAT.md §9). That takes time in proportion to
  // the threads for each event that has to wait. With more threads it is so as long as few events
  // have to, as in the traces that programs write; in others, or where this is 0, their order is
  // another, that is as right.
  size_t exact_ties_threads = kExactTiesThreads;

  // How many cores may be used, at most; 0 for all that there are. That changes nothing but the
  // time, and Reader::attempts(): with two or more, a thread of the Reader's own works ahead, where
  // the trace is large enough. What is wrong with a trace is met, and told, on the caller's thread.
  // What is gained is a tenth to half of the time (bench/README.md). Such a Reader can be neither
  // used nor destroyed in a child process that was forked without its thread, so that it has to be
  // asked for. To read the two halves of a trace at once, each on a core, see read_halves.h.
  size_t jobs = 1;

  // Generations of fewer bytes are read on one core, whatever `jobs` is. By default so few that
  // another core's help takes longer than it saves.
  uint64_t jobs_from_bytes = kJobsFromBytes;

  // What the trace may ask of memory and time. In strict mode reading stops where it passes a
  // limit. The other modes keep what they have of the generation and go on as the effect in the
  // limit's row of faults.def tells. A source that was opened before has its own limit of
  // decompressed bytes.
  ReaderLimits limits;

  // Told each fault that reading goes on after, in order, before the events that follow it. In
  // strict mode it is never called: status() tells the fault.
  std::function<void(const Fault&)> on_fault;

  // In the modes that go on after faults, called with each batch of a generation, in the order of
  // the trace, before the generation's kSync event is given, and with the fault that its tables
  // have, if any. Batches that belong to no generation are left out, and an end of generation is
  // no batch. The batch's bytes stay valid until the next generation is begun.
  std::function<void(const internal::Batch&, const std::optional<Fault>&)> on_batch;

  // In the modes that go on after faults, told each event that is earlier than the one before it of
  // the same thread, and that one's time in nanoseconds. It is no fault: Go's reader orders such
  // events like others. Told when the event is decoded, a little before it is given.
  std::function<void(const Place& event, int64_t last_time)> on_time_back;

  // Shown the tables of each generation after its last event was given, and before they go away:
  // not of one in which strict reading stops; and what its events and samples referred to. Where
  // there were faults that is not all.
  std::function<void(const internal::GenerationTables&, const internal::TableUse&)>
      on_generation_end;
};

// What reading left out, in the modes that go on after faults.
struct Losses {
  uint64_t faults = 0;           // After which reading went on.
  uint64_t skipped_bytes = 0;    // That belong to no batch.
  uint64_t dropped_batches = 0;  // That could not be used, or only in part.
  uint64_t dropped_bytes = 0;    // Of those batches' payloads: the part that could not be used.
  // As they stand in the trace, that can be decoded and were not given: they contradict everything,
  // or in kCollect belong to the rest of a thread or of a generation that a fault takes with it.
  uint64_t dropped_events = 0;
  uint64_t marked_events = 0;  // That were given with Event::fault() set.
  uint64_t unresolved = 0;     // Strings and stacks that events name and no table has.
  // Text that was printed into the trace and is no part of it: how many pieces, and their bytes.
  uint64_t text_pieces = 0;
  uint64_t text_bytes = 0;

  // Whether anything is missing from the events that were given.
  bool any() const { return skipped_bytes + dropped_batches + dropped_events + unresolved > 0; }
};

}  // namespace gotrace

#endif  // GOTRACE_READ_MODE_H_
