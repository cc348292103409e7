// How every command opens the trace that it reads.
#ifndef GOTRACE_TOOLS_OPEN_TRACE_H_
#define GOTRACE_TOOLS_OPEN_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "parser/reader_limits.h"
#include "parser/transport.h"

namespace gotrace {

// Opens the trace in `file`, a path or "-" for the standard input, and undoes what happened to it
// on its way (see UndoTransport()). Fails if the file cannot be read, if its bytes were replaced,
// and with the fault not-a-trace if it is something else that is known, as a page of HTML.
absl::StatusOr<UndoneInput> OpenTrace(const std::string& file, const ReaderLimits& limits);

// Prints the notes on the standard error, a line each.
void PrintTransportNotes(const std::string& file, const std::vector<TransportNote>& notes);

}  // namespace gotrace

#endif  // GOTRACE_TOOLS_OPEN_TRACE_H_
