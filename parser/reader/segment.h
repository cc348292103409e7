// Segments: runs of whole generations, each read by a reader of its own.
#ifndef GOTRACE_PARSER_READER_SEGMENT_H_
#define GOTRACE_PARSER_READER_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/trace_index.h"

namespace gotrace::internal {

struct Segment {
  static constexpr uint64_t kToEnd = std::numeric_limits<uint64_t>::max();

  size_t first = 0;       // The index of its first generation.
  uint64_t end = kToEnd;  // Where the next segment begins, in bytes from the start of the trace.
};

// Cuts a trace into at most `count` segments of about the same size, each of at least `min_bytes`.
// In order; the first one begins with the trace, and the last one ends with it. Returns one segment
// where it cannot be cut.
std::vector<Segment> CutIntoSegments(const TraceIndex& index, size_t count, uint64_t min_bytes);

// Readers of segments. A reader of a later segment assumes that what its first generation states of
// the goroutines, Ps, threads and ranges is how the segment before it ended.
class SegmentReader {
 public:
  struct Start {
    size_t generation = 0;  // The index of the first generation, not 0.

    // Whether the end of a task that began earlier has its parent and type. They are searched for
    // in earlier generations, the latest first.
    bool finds_tasks = true;

    // Whether the reader leaves half of what the limits allow to the reader of what comes before,
    // so that ContinueFrom() may follow.
    bool has_half_of_limits = false;
  };

  // Opens a reader of the generation and all that follow. `source` must be positioned where the
  // generation begins, and `whole` is a source of the same bytes, which is only forked and need not
  // outlive the call. Reads the end of the generation before, for the time of its last event.
  // Returns an error if that generation cannot be read.
  static absl::StatusOr<Reader> Open(std::unique_ptr<ByteSource> source, const ByteSource& whole,
                                     const TraceIndex& index, const Start& start,
                                     ReaderOptions options);

  // Makes `reader` stop before the generation at byte `end`, as at the end of a trace, or continue
  // up to there, with at most `jobs` cores.
  static void ReadTo(Reader* reader, uint64_t end, size_t jobs);

  // Whether `next`, all of whose events were read, continues where `before` was made to stop, so
  // that both together returned what one reader would have. False if either had a fault.
  static bool Follows(const Reader& next, const Reader& before);

  // If `next` follows `*before`, replaces `*before` by one reader that has read both segments, with
  // the options of `*before`, and returns true.
  static bool Append(Reader* before, Reader next);
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_SEGMENT_H_
