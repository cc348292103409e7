// The places of the generations of a trace, so that reading can start at any of them.
#ifndef GOTRACE_TRACE_INDEX_H_
#define GOTRACE_TRACE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/version.h"

namespace gotrace {

// An index of the generations of one trace, for Reader::OpenAt() and ReadParallel(). A value type.
class TraceIndex {
 public:
  // The facts about a generation that are known without reading its events.
  struct Generation {
    uint64_t number = 0;     // As the trace numbers it; usually 1 for the first one.
    uint64_t offset = 0;     // Of its first batch, in bytes from the start of the trace.
    uint64_t size = 0;       // In bytes.
    int64_t first_time = 0;  // Of its earliest batch, in nanoseconds as Event::time().
    uint64_t batches = 0;    // Of all kinds.
    std::optional<ClockSnapshot> clock_snapshot;  // Since Go 1.25.
  };

  // Builds the index of `source`, wherever it is positioned, from little more than the headers of
  // its batches. Ends before the first generation that is not whole, which is read completely for
  // status(). Returns an error if the bytes can be read only once (kUnavailable; a pipe, compressed
  // data: see ByteSource::Fork()), or do not begin with the header of a supported trace (FaultOf()
  // has the fault). Does not check whether the events of the generations can be read.
  //
  // If `keep_going` is not empty, it is called often; once it returns false, Build() fails with
  // kCancelled.
  static absl::StatusOr<TraceIndex> Build(const ByteSource& source,
                                          const std::function<bool()>& keep_going = nullptr);

  // Returns the version of the trace's format.
  Version version() const { return version_; }

  // Returns the generations in the order of the trace, up to the first one that is not whole.
  absl::Span<const Generation> generations() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return generations_;
  }

  // Returns the time of the trace's first event, in nanoseconds as Event::time(): the time from
  // which EventFilter::since_start counts. Returns 0 if there are no generations.
  int64_t start_time() const { return generations_.empty() ? 0 : generations_.front().first_time; }

  // Returns OK if the whole trace is in the index, and otherwise the reason why the index ends
  // early: the fault that a Reader in strict mode has there, which FaultOf() returns, or
  // kInvalidArgument if the numbers or times of two generations do not follow each other.
  const absl::Status& status() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return status_; }

  // Returns the index of the first generation that may contain events at or after `time`; 0 if
  // there are no generations. Generations overlap by the time it takes all threads to notice a new
  // one, so this is the generation before the one in which `time` lies.
  size_t FindTime(int64_t time) const;

 private:
  Version version_ = {};
  std::vector<Generation> generations_;
  absl::Status status_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE_INDEX_H_
