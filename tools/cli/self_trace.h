// Traces the runs of gotrace-dump itself, in the formats of Git's Trace2: docs/trace2.md.
#ifndef GOTRACE_TOOLS_CLI_SELF_TRACE_H_
#define GOTRACE_TOOLS_CLI_SELF_TRACE_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "gotrace/trace2.h"

namespace gotrace::internal {

// Returns the trace of this run, or nullptr unless an environment variable requests one.
Trace2* SelfTrace();

// Writes the numbers of bytes and events read from the current file, if any.
void TraceInput(uint64_t bytes, uint64_t events);

// Begins the trace of this run, with its arguments, and ends it.
class SelfTraceSession {
 public:
  explicit SelfTraceSession(absl::Span<char* const> arguments);
  SelfTraceSession(const SelfTraceSession&) = delete;
  SelfTraceSession& operator=(const SelfTraceSession&) = delete;
  ~SelfTraceSession();

 private:
  std::unique_ptr<Trace2> trace_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_SELF_TRACE_H_
