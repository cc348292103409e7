// Splits a trace into pieces that can be read by themselves, and joins such pieces.
#ifndef GOTRACE_SPLIT_H_
#define GOTRACE_SPLIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_options.h"
#include "gotrace/trace_writer.h"

namespace gotrace {

// Where a piece ends. At least one must be set; a piece ends where the first of them is reached.
struct SplitOptions {
  absl::Duration every = absl::ZeroDuration();  // A piece lasts so long, from the start on.
  uint64_t generations = 0;                     // It has so many generations.
  uint64_t bytes = 0;  // It ends with the generation that reaches this size.
};

// The result of SplitTrace().
struct SplitTraceResult {
  uint64_t pieces = 0;
  WrittenTrace written;  // The sums over all pieces.
  uint64_t events_read = 0;

  // OK, or why the original could not be read to its end.
  absl::Status status;
  Losses losses;
};

// Opens the output of a piece; the first has the number 1. SplitTrace() finishes it.
using OpenPiece = std::function<absl::StatusOr<std::unique_ptr<ByteSink>>(uint64_t number)>;

// Writes consecutive pieces of the trace in `source`, each of which Go's reader accepts. Every
// event is in one of them, at the same time. A piece begins some nanoseconds earlier than its first
// event with what exists then, and lasts until just before the next one: see TrimTrace(). Memory is
// bounded by the largest generation and the state of the program.
absl::StatusOr<SplitTraceResult> SplitTrace(std::unique_ptr<ByteSource> source,
                                            const SplitOptions& options,
                                            const ReaderOptions& reader_options,
                                            const OpenPiece& open_piece);

// The result of JoinTraces().
struct JoinedTrace {
  WrittenTrace written;
  uint64_t events_read = 0;
  uint64_t events_twice = 0;  // How many were left out because an earlier piece lasts until them.

  // The times, longer than a millisecond, between two pieces of which no trace knows anything.
  struct Gap {
    int64_t begin = 0;
    int64_t end = 0;
  };
  std::vector<Gap> gaps;
};

// Writes consecutive pieces of the trace of one process, such as those of SplitTrace(), or windows
// of a flight recorder, as one trace to `*out`, which is not finished. Go's reader accepts the
// result. The pieces may be in any order and may overlap: what is in several of them is kept once.
// After a gap the writer adds events that lead from what was before to what a piece states.
//
// Each of `open` opens a piece at its beginning, and is called twice. Memory is bounded by the
// largest generation, the state of the program, and the number of goroutines.
//
// Returns the error of a piece that cannot be read to its end, and kFailedPrecondition if two
// pieces are of different versions, or of different processes, since a goroutine was created twice
// or existed before it was created.
absl::StatusOr<JoinedTrace> JoinTraces(
    absl::Span<const std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>> open,
    const ReaderOptions& options, ByteSink* out);

}  // namespace gotrace

#endif  // GOTRACE_SPLIT_H_
