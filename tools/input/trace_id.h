// The ids that traces have in tables.
#ifndef GOTRACE_TOOLS_INPUT_TRACE_ID_H_
#define GOTRACE_TOOLS_INPUT_TRACE_ID_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gotrace/reader_limits.h"
#include "gotrace/trace_list.h"
#include "gotrace/transport.h"
#include "parser/source/file_state.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {

// A trace whose id is known.
struct IdentifiedTrace {
  // A hash of the input as it is stored, compressed or not. If it holds several traces, the second
  // and later ones have other ids.
  int64_t id = 0;
  std::string file;  // A path, or "-" for the standard input.
  // All bytes of an input that can be read only once, such as a pipe; otherwise nullptr.
  std::shared_ptr<const std::string> bytes;
  FileState state;  // Of the file, before it was read for the id.
  // The number of the trace in the file, from 1, and its place if there are several.
  TraceNumber number = 1;
  std::optional<TraceSpan> span;

  // Returns its name in messages: the file, and the number of the trace in it.
  std::string label() const;
};

// Reads the input `file` to find its traces and their ids. Returns all of its traces, at least one,
// or only the `number`th one; if that does not exist, OpenTrace() fails. Fails if the file cannot
// be read, or if it can be read only once and has more than 4 GiB. If it can be read only once, and
// is not a trace, it is not read to its end.
absl::StatusOr<std::vector<IdentifiedTrace>> IdentifyTraces(const std::string& file,
                                                            const ReaderLimits& limits,
                                                            TraceNumber number);

// Detects traces that are given more than once.
class DifferentTraces {
 public:
  // Returns true if no trace with the same id was added before. Otherwise prints a note that this
  // one is left out.
  bool Add(const IdentifiedTrace& trace);

 private:
  std::map<int64_t, std::string> files_;  // By the ids of their traces.
};

// Opens the input of the trace at the header of its first trace, and undoes damage in transport.
// Fails with kAborted if the file has changed since IdentifyTraces() read it.
absl::StatusOr<UndoneInput> OpenInput(const IdentifiedTrace& trace, const ReaderLimits& limits);

// Like OpenTrace() for a file name, but fails with kAborted if the file has changed since
// IdentifyTraces() read it.
absl::StatusOr<OpenedTrace> OpenTrace(const IdentifiedTrace& trace, const ReaderLimits& limits);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_INPUT_TRACE_ID_H_
