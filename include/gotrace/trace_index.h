// Where the generations of a trace are, so that reading can start at any of them.
#ifndef GOTRACE_TRACE_INDEX_H_
#define GOTRACE_TRACE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/version.h"

namespace gotrace {

// An index of the generations of one trace, for Reader::OpenAt() and ReadParallel(). A value type.
class TraceIndex {
 public:
  // What is known of a generation without reading its events.
  struct Generation {
    uint64_t number = 0;     // As the trace numbers it; usually 1 for the first one.
    uint64_t offset = 0;     // Of its first batch, in bytes from the start of the trace.
    uint64_t size = 0;       // In bytes.
    int64_t first_time = 0;  // Of its earliest batch, in nanoseconds as Event::time().
    uint64_t batches = 0;    // Of all kinds.
    std::optional<ClockSnapshot> clock_snapshot;  // Since Go 1.25.
  };

  // Reads the headers of all batches of `source`, wherever it is positioned, and little else.
  // Returns kUnavailable if the bytes can be read only once (a pipe, compressed data: see
  // ByteSource::Fork()), kDataLoss if they are not a trace or the batches do not fill it to its
  // end, and kInvalidArgument if the numbers or times of its generations do not follow each other.
  // Whether a generation can be read is not known before it is.
  static absl::StatusOr<TraceIndex> Build(const ByteSource& source);

  // The version of the trace's format.
  Version version() const { return version_; }

  // In the order of the trace.
  absl::Span<const Generation> generations() const { return generations_; }

  // The index of the first generation that may contain events at or after `time`; 0 if there are
  // no generations. Generations overlap by the time it takes all threads to notice a new one, so
  // this is the generation before the one that `time` falls into.
  size_t FindTime(int64_t time) const;

 private:
  Version version_ = {};
  std::vector<Generation> generations_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE_INDEX_H_
