// How every command opens the trace that it reads.
#ifndef GOTRACE_TOOLS_OPEN_TRACE_H_
#define GOTRACE_TOOLS_OPEN_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_limits.h"
#include "gotrace/trace_list.h"
#include "gotrace/transport.h"

namespace gotrace::internal {

// Which trace of an input that holds several is meant, counted from 1 on: the N of --trace=N. 0 is
// the first too, but as what nobody asked for, so that commands warn of the others.
using TraceNumber = uint64_t;

struct OpenedTrace {
  std::unique_ptr<ByteSource> source;  // At the trace's header, its offsets counted from there.
  std::vector<TransportNote> notes;    // As in UndoneInput.
  std::unique_ptr<TraceEnd> end;       // Whether another trace was met behind it. Outlives source.
  TraceNumber number = 0;
  ReaderLimits limits;
};

// Opens a trace in `file`, a path or "-" for the standard input, and undoes what happened to it on
// its way (see UndoTransport()). Fails if the file cannot be read, if its bytes were replaced, with
// the fault not-a-trace if it is something else that is known, as a page of HTML, and if it does
// not hold so many traces.
absl::StatusOr<OpenedTrace> OpenTrace(const std::string& file, const ReaderLimits& limits,
                                      TraceNumber number);

// The error of a file that holds `count` traces and thus no `number`th.
absl::Status NoSuchTrace(const std::string& file, uint64_t count, TraceNumber number);

// Prints the notes on the standard error, a line each.
void PrintTransportNotes(const std::string& file, const std::vector<TransportNote>& notes);

// Warns on the standard error if `file` holds more traces than `trace`, unless that was asked for.
// To be called once it was read, with the `status` that reading ended with: then another trace was
// met, or it is looked for in a file that can be opened again.
void WarnOfMoreTraces(const std::string& file, const OpenedTrace& trace,
                      const absl::Status& status);

// "holds 2 traces, at bytes 0 and 9018". Requires that there are some.
std::string DescribeTraces(const std::vector<TraceSpan>& traces);

// "trace 2: 9018 bytes at byte 8875, sound".
std::string DescribeTrace(const TraceSpan& trace, TraceNumber number);

// The traces in a regular file and whether they are sound, if there are more than one; none if
// there is one, or it cannot be read so often.
std::vector<TraceSpan> TracesIn(const std::string& file, const ReaderLimits& limits);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_OPEN_TRACE_H_
