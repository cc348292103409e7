#include "tools/cli/self_trace.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/library_version.h"
#include "tools/cli/ending_signals.h"
#include "util/helper_thread.h"

namespace gotrace::internal {
namespace {

// Atomic because a signal handler reads it.
std::atomic<Trace2*> self_trace = nullptr;

// For the library's own threads. They end before the trace does.
constexpr HelperObserver kObserver = {
    .begin = [](const char* name) { SelfTrace()->StartThread(name); },
    .end = [] { SelfTrace()->ExitThread(); },
};

}  // namespace

Trace2* SelfTrace() { return self_trace.load(std::memory_order_relaxed); }

void TraceInput(uint64_t bytes, uint64_t events) {
  Trace2* const trace = SelfTrace();
  if (trace == nullptr || (bytes == 0 && events == 0)) return;
  trace->WriteData("trace", "read/bytes", bytes);
  trace->WriteData("trace", "read/events", events);
  trace->AddCount("trace", "files", 1);
  trace->AddCount("trace", "bytes", bytes);
  trace->AddCount("trace", "events", events);
}

SelfTraceSession::SelfTraceSession(absl::Span<char* const> arguments) {
  Trace2Settings settings;
  settings.program = "gotrace-dump";
  settings.version = GOTRACE_VERSION;
  settings.variables = "GOTRACE_TRACE2";
  trace_ = Trace2::Start(std::move(settings));
  if (trace_ == nullptr) return;
  self_trace = trace_.get();
  ObserveHelpers(&kObserver);
  AtEndingSignals([](int signal_number) {
    if (Trace2* const trace = SelfTrace(); trace != nullptr) trace->WriteSignal(signal_number);
  });
  trace_->WriteStart(std::vector<std::string>(arguments.begin(), arguments.end()));
}

SelfTraceSession::~SelfTraceSession() {
  ObserveHelpers(nullptr);
  self_trace = nullptr;
}

}  // namespace gotrace::internal
