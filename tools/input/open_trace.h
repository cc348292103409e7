// Opens the trace that a command reads.
#ifndef GOTRACE_TOOLS_INPUT_OPEN_TRACE_H_
#define GOTRACE_TOOLS_INPUT_OPEN_TRACE_H_

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
#include "tools/cli/file_list.h"

namespace gotrace::internal {

// The number of the trace to read in an input that holds several, from 1: the N of --trace=N. 0
// means the first one by default, so that commands warn of the others.
using TraceNumber = uint64_t;

struct OpenedTrace {
  std::unique_ptr<ByteSource> source;  // At the trace's header; offsets count from there.
  std::vector<TransportNote> notes;    // As in UndoneInput.
  std::unique_ptr<TraceEnd> end;       // Whether another trace follows. Outlives `source`.
  TraceNumber number = 0;
  ReaderLimits limits;
};

// Opens the trace in `file`, a path or "-" for the standard input, and undoes damage in transport
// (see UndoTransport()). Fails if the file cannot be read, if its bytes were replaced, if it is
// known not to be a trace (see UndoAndRecognise()), or if it holds fewer than `number` traces.
absl::StatusOr<OpenedTrace> OpenTrace(const std::string& file, const ReaderLimits& limits,
                                      TraceNumber number);

// The same for the input that UndoAndRecognise() made of the bytes of `file`.
absl::StatusOr<OpenedTrace> OpenTrace(const std::string& file, UndoneInput input,
                                      const ReaderLimits& limits, TraceNumber number);

// Opens `file` as OpenSource() does. An input of unknown size, such as a pipe, may be endless:
// unless it is an FXT file, it ends with a note on the standard error after 32 MiB of which almost
// nothing belongs to a batch.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenGuarded(const std::string& file,
                                                        const ReaderLimits& limits);

// Returns a source of the same bytes that ends in this way, and then sets `*has_ended`, which must
// outlive it.
std::unique_ptr<ByteSource> GuardSource(const std::string& file, std::unique_ptr<ByteSource> source,
                                        bool* has_ended);

// Undoes damage in transport (see UndoTransport()). Fails with the fault not-a-trace if the
// beginning of the result is recognised as something else, such as a web page or an archive.
absl::StatusOr<UndoneInput> UndoAndRecognise(std::unique_ptr<ByteSource> source,
                                             const ReaderLimits& limits);

// Returns whether `file` is a regular file, which can be opened several times.
bool CanBeReadAgain(const std::string& file);

// Returns the error of a file that holds only `count` traces and so has no `number`th one.
absl::Status NoSuchTrace(const std::string& file, uint64_t count, TraceNumber number);

// Prints the notes on the standard error, a line each.
void PrintTransportNotes(const std::string& file, const std::vector<TransportNote>& notes);

// Warns on the standard error if `file` holds more traces than `trace`, unless `trace` was selected
// by its number. Call it after reading, with the `status` that reading ended with. After an error
// the other traces are searched for, if the file can be opened again.
void WarnOfMoreTraces(const std::string& file, const OpenedTrace& trace,
                      const absl::Status& status);

// "holds 2 traces, at bytes 0 and 9018". `traces` must not be empty.
std::string DescribeTraces(const std::vector<TraceSpan>& traces);

// "trace 2: 9018 bytes at byte 8875, sound".
std::string DescribeTrace(const TraceSpan& trace, TraceNumber number);

// Returns the files, with each file that holds several traces repeated for each trace. An input
// that can be read only once is listed once, since its contents are not known before it is read.
std::vector<ListedFile> ListAllTraces(const std::vector<ListedFile>& files,
                                      const ReaderLimits& limits);

// Returns the traces in a regular file and whether they are sound. Returns none if there is only
// one, or if the file cannot be read again.
std::vector<TraceSpan> TracesIn(const std::string& file, const ReaderLimits& limits);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_INPUT_OPEN_TRACE_H_
