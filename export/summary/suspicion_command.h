// The command that shows more of a suspicion.
#ifndef GOTRACE_EXPORT_SUMMARY_SUSPICION_COMMAND_H_
#define GOTRACE_EXPORT_SUMMARY_SUSPICION_COMMAND_H_

#include <string>

#include "gotrace/trace_summary.h"

namespace gotrace::internal {

// Returns the command that shows more of one suspicion, for a shell and without the names of the
// program and the file: that of its kind, with flags that select its place or type, "locks
// --kind=mutex,rwmutex --stack=main.save".
std::string CommandFor(const TraceSummary::Suspicion& suspicion);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SUMMARY_SUSPICION_COMMAND_H_
