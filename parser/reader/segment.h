// Segments: runs of whole generations, each of which is read by a reader of its own.
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
#include "parser/reader/reader_access.h"

namespace gotrace::internal {

struct Segment {
  static constexpr uint64_t kToEnd = std::numeric_limits<uint64_t>::max();

  size_t first = 0;       // The index of its first generation.
  uint64_t end = kToEnd;  // The offset of the next segment in the trace.
};

// Divides a trace into at most `count` segments of about the same size, each of at least
// `min_bytes`, and returns them in order. The first one begins with the trace, and the last one
// ends with it. Returns one segment if the trace cannot be divided.
std::vector<Segment> CutIntoSegments(const TraceIndex& index, size_t count, uint64_t min_bytes);

// Opens and joins readers of segments. The reader of a later segment assumes that the segment
// before it ended with the goroutines, Ps, threads and ranges that its first generation states.
class SegmentReader {
 public:
  struct Start {
    size_t generation = 0;  // The index of the first generation, not 0.

    // Whether ends of tasks that began earlier have a parent and a type. If so, earlier generations
    // are searched for them, the latest one first.
    bool finds_tasks = true;

    // Whether the reader may use only half of the limits, so that it can be appended to the reader
    // of the earlier generations with Append().
    bool has_half_of_limits = false;
  };

  // Opens a reader of the generation `start.generation` and all later ones. `source` must be at the
  // beginning of that generation. `whole` is a source of the same bytes, which is only forked and
  // need not outlive the call. Reads the end of the generation before, for the time of its last
  // event, and returns an error if that cannot be read.
  static absl::StatusOr<Reader> Open(std::unique_ptr<ByteSource> source, const ByteSource& whole,
                                     const TraceIndex& index, const Start& start,
                                     ReaderOptions options, ReaderHooks hooks = {});

  // Makes `reader` stop before the generation at the offset `end`, as at the end of a trace, or
  // continue up to there, with at most `jobs` cores.
  static void ReadTo(Reader* reader, uint64_t end, size_t jobs);

  // Whether `next`, which has returned all of its events, continues where `before` stopped, so that
  // both together returned what one reader would have. False if either had a fault.
  static bool Follows(const Reader& next, const Reader& before);

  // If `next` follows `*before`, replaces `*before` with one reader that has read both segments,
  // with the options of `*before`, and returns true. Otherwise returns false.
  static bool Append(Reader* before, Reader next);
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_SEGMENT_H_
