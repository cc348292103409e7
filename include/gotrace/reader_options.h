// The options of a Reader, and the losses and the progress that it reports.
#ifndef GOTRACE_READER_OPTIONS_H_
#define GOTRACE_READER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "gotrace/fault.h"
#include "gotrace/reader_limits.h"
#include "gotrace/tuning.h"

namespace gotrace {

// How a Reader handles faults.
//
// The modes that continue after faults look half a megabyte ahead of each batch. If a pipe pauses,
// they return a generation only once that much more was written, or the pipe was closed.
enum class ReadMode : uint8_t {
  // Stops at the first fault, where Go's reader stops.
  kStrict,
  // Continues after each fault as the effect in its row of faults.def allows, so that all faults of
  // a trace are reported, except faults that are only consequences of others.
  kCollect,
  // Continues after each fault, and returns as many events as can be trusted. An event that waits
  // for a lost one is returned once nothing else of its generation can come next. From there to the
  // end of the generation, events have their original times, which may be equal or go backwards;
  // otherwise each event is later than the one before, as in the other modes. Only this mode
  // reports a fault if a generation does not follow the one before it, which Go's reader accepts
  // since Go 1.26.
  kSalvage,
};

// The options of a Reader. The defaults suit most programs.
struct ReaderOptions {
  ReadMode mode = ReadMode::kStrict;

  // The maximum number of cores to use; 0 for all. ReadParallel() and Analyze() divide the trace
  // between them. A Reader alone uses one unless decodes_ahead is set.
  size_t jobs = 0;

  // Whether a thread of the Reader decodes and orders events ahead, if the trace is large enough
  // and `jobs` allows two cores. This affects only speed: faults are still found, and callbacks
  // called, on the caller's thread. It saves a tenth to half of the time (bench/README.md) if a
  // second core is idle, and takes up to twice the processor time. A forked child process does not
  // have the thread, so that such a Reader can be neither used nor destroyed there.
  bool decodes_ahead = false;

  // Limits on the memory and time that the trace can take. In strict mode, reading stops where a
  // limit is exceeded. The other modes keep the generation up to that point, and continue as the
  // effect in the limit's row of faults.def says. For a source that is already open, its own limit
  // of decompressed bytes applies.
  ReaderLimits limits;

  // Called often while the trace is read, to ask whether to continue: at least for each block of
  // events and each batch. Once it returns false, reading ends with the status kCancelled; it must
  // not return true again. ReadParallel() calls it on several threads. Waiting for input is not
  // interrupted.
  std::function<bool()> keep_going;

  // Called for each fault after which reading continues, in order, before the events that follow
  // it. Never called in strict mode, where Reader::status() has the fault.
  std::function<void(const Fault&)> on_fault;

  // In the modes that continue after faults, called for each event that is earlier than the
  // previous event on the same thread. `last_time` is the time of the previous event, in
  // nanoseconds. This is not a fault: Go's reader orders such events like any other. Called when
  // the event is decoded, shortly before it is returned.
  std::function<void(const Place& event, int64_t last_time)> on_time_back;

  // For benchmarks and tests. Unstable.
  Tuning tuning;
};

// The losses of reading in the modes that continue after faults.
struct Losses {
  uint64_t faults = 0;           // Faults after which reading continued.
  uint64_t skipped_bytes = 0;    // Bytes outside any batch.
  uint64_t dropped_batches = 0;  // Batches that could not be used, or only in part.
  uint64_t dropped_bytes = 0;    // The unusable bytes of those batches' payloads.
  // Events on the wire that were decoded but not returned: they contradict all other events or, in
  // kCollect, belong to the rest of a thread or generation that a fault drops.
  uint64_t dropped_events = 0;
  uint64_t marked_events = 0;  // Events that were returned with Event::fault() set.
  uint64_t unresolved = 0;     // Strings and stacks that events refer to and no table has.
  // Text that was printed into the trace and removed: the number of pieces and of bytes.
  uint64_t text_pieces = 0;
  uint64_t text_bytes = 0;

  // Returns whether anything is missing from the events that were returned.
  bool any() const { return skipped_bytes + dropped_batches + dropped_events + unresolved > 0; }
};

// How far reading a trace has come.
struct ReadProgress {
  uint64_t bytes = 0;   // How many bytes of the input were read.
  uint64_t total = 0;   // The size of the input, or 0 if it is not known.
  uint64_t events = 0;  // How many events were returned.
};

}  // namespace gotrace

#endif  // GOTRACE_READER_OPTIONS_H_
