// Reads the segments of a trace on several cores, and combines the results.
#ifndef GOTRACE_PARSER_READER_READ_SEGMENTS_H_
#define GOTRACE_PARSER_READER_READ_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/trace_index.h"
#include "parser/reader/reader_access.h"
#include "parser/reader/segment.h"

namespace gotrace::internal {

// Consumes the events of one segment.
class SegmentConsumer {
 public:
  virtual ~SegmentConsumer() = default;

  // Return how to read the segment. Called once, on the thread that will read it,
  // except for the consumer of the first segment.
  virtual ReaderOptions MakeOptions() = 0;
  virtual ReaderHooks MakeHooks() { return {}; }
  virtual std::unique_ptr<ByteSource> Wrap(std::unique_ptr<ByteSource> source) { return source; }

  // Consumes all events that `reader` returns. Must call `stops` now and then, and may return early
  // once it returns true: the segment is no longer needed.
  virtual void Read(Reader& reader, absl::FunctionRef<bool()> stops) = 0;

  // Returns whether the consumer has a use for more events. If not, Read() may have returned early.
  virtual bool WantsMore() const { return true; }

  // Appends the results of `next`, which consumed the following segment. Returns false, and changes
  // nothing, if they do not fit. Called on the calling thread.
  virtual bool Append(SegmentConsumer& next) = 0;
};

// How a trace is read in segments.
struct SegmentPlan {
  std::unique_ptr<ByteSource> source;  // Only Fork() is called. Not used for a single segment.
  TraceIndex index;
  std::vector<Segment> segments = std::vector<Segment>(1);
  size_t jobs = 1;          // The maximum number of cores to use.
  bool finds_tasks = true;  // See SegmentReader::Start.
};

// Plans to read `source` on up to `jobs` cores, 0 for all, in segments of at least `min_bytes`.
// There is a single segment if the trace cannot be cut, or if `keep_going`, which may be empty,
// returns false; the reader of the segment will call it again.
SegmentPlan PlanSegments(const ByteSource& source, size_t jobs, uint64_t min_bytes,
                         const std::function<bool()>& keep_going);

// Reads a whole trace. The first segment is read with `reader`, which must be at the beginning of
// the trace, into `first`, on the calling thread. The others are read into consumers that `make`
// returns, on this thread and others, and are then appended to `first` in order. A segment that
// does not continue the one before it, whose results do not fit, or whose consumer wanted no more,
// is read again with `reader` into `first`. Reading ends once `first` wants no more. In the end,
// `first` and `*reader` are as if `first` had consumed all events of `*reader`. `make` and the
// consumers must not throw anything except std::bad_alloc.
void ReadSegments(const SegmentPlan& plan,
                  absl::FunctionRef<std::unique_ptr<SegmentConsumer>()> make, Reader* reader,
                  SegmentConsumer* first);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_READ_SEGMENTS_H_
