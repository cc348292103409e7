// Reads the segments of a trace on several cores, and puts the results together.
#ifndef GOTRACE_PARSER_READER_READ_SEGMENTS_H_
#define GOTRACE_PARSER_READER_READ_SEGMENTS_H_

#include <cstddef>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/trace_index.h"
#include "parser/reader/segment.h"

namespace gotrace::internal {

// Consumes the events of one segment.
class SegmentConsumer {
 public:
  virtual ~SegmentConsumer() = default;

  // How the segment is read: called once, on the thread that will read it. The first segment's
  // consumer is not asked.
  virtual ReaderOptions MakeOptions() = 0;
  virtual std::unique_ptr<ByteSource> Wrap(std::unique_ptr<ByteSource> source) { return source; }

  // Takes all events that `reader` returns. May return early once `stops`, which must be asked now
  // and then, returns true: the segment is not needed.
  virtual void Read(Reader& reader, absl::FunctionRef<bool()> stops) = 0;

  // Appends the results of `next`, which consumed the following segment. Returns false, and changes
  // nothing, if they do not fit. Called on the calling thread.
  virtual bool Append(SegmentConsumer& next) = 0;
};

struct SegmentPlan {
  const ByteSource& source;  // Only forked.
  const TraceIndex& index;
  absl::Span<const Segment> segments;
  size_t jobs;       // How many cores may be used.
  bool finds_tasks;  // See SegmentReader::Start.
};

// Reads all of a trace: the first segment with `reader`, which is at the beginning of the trace,
// into `first`, on the calling thread; the others into consumers that `make` returns, on other
// threads and this one. Then appends them to `first`, in order. A segment that does not continue
// the one before it, or whose results do not fit, is read again with `reader` into `first`. In the
// end `first` and `*reader` are as if one had read everything with the other. Nothing that `make`
// and the consumers do may throw anything but std::bad_alloc.
void ReadSegments(const SegmentPlan& plan,
                  absl::FunctionRef<std::unique_ptr<SegmentConsumer>()> make, Reader* reader,
                  SegmentConsumer* first);

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_READ_SEGMENTS_H_
