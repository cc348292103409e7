// Makes a trace that can be read from any place, for viewers.
#ifndef GOTRACE_TOOLS_SERVE_SEEKABLE_TRACE_H_
#define GOTRACE_TOOLS_SERVE_SEEKABLE_TRACE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_limits.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {

// The trace, where it can be read from any place and any number of times.
struct SeekableTrace {
  std::unique_ptr<ByteSource> source;
  std::string path;    // For commands.
  std::string note;    // For the person who looks at it.
  int temporary = -1;  // The descriptor of a temporary file, which is open until the end.
};

// Returns the trace that OpenTrace() opened in `file`. If it can be read only once, is compressed,
// or is only a part of the file, it is copied to a temporary file, with a note on the standard
// error.
absl::StatusOr<SeekableTrace> MakeSeekable(const std::string& file, OpenedTrace* input,
                                           const ReaderLimits& limits);

// Repairs the trace in the file `path`, as the command `repair` does, into a temporary file. The
// note says what was changed. `keep_going` may be empty; the repair ends once it returns false.
absl::StatusOr<SeekableTrace> RepairTrace(const std::string& path, const ReaderLimits& limits,
                                          const std::function<bool()>& keep_going);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SERVE_SEEKABLE_TRACE_H_
