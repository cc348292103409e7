#include "tools/self_trace.h"

#include <string>
#include <utility>
#include <vector>

#include "tools/ending_signals.h"
#include "tools/version.h"
#include "util/helper_thread.h"

namespace gotrace::internal {
namespace {

Trace2* self_trace = nullptr;

// For the library's own threads. They end before the trace does.
constexpr HelperObserver kObserver = {
    .begin = [](const char* name) { self_trace->StartThread(name); },
    .end = [] { self_trace->ExitThread(); },
};

}  // namespace

Trace2* SelfTrace() { return self_trace; }

void TraceInput(uint64_t bytes, uint64_t events) {
  if (self_trace == nullptr || (bytes == 0 && events == 0)) return;
  self_trace->WriteData("trace", "read/bytes", bytes);
  self_trace->WriteData("trace", "read/events", events);
  self_trace->AddCount("trace", "files", 1);
  self_trace->AddCount("trace", "bytes", bytes);
  self_trace->AddCount("trace", "events", events);
}

SelfTraceSession::SelfTraceSession(absl::Span<char* const> arguments) {
  Trace2Settings settings;
  settings.program = "gotrace-dump";
  settings.version = kGotraceVersion;
  settings.variables = "GOTRACE_TRACE2";
  trace_ = Trace2::Start(std::move(settings));
  if (trace_ == nullptr) return;
  self_trace = trace_.get();
  ObserveHelpers(&kObserver);
  AtEndingSignals([](int signal_number) {
    if (self_trace != nullptr) self_trace->WriteSignal(signal_number);
  });
  trace_->WriteStart(std::vector<std::string>(arguments.begin(), arguments.end()));
}

SelfTraceSession::~SelfTraceSession() {
  ObserveHelpers(nullptr);
  trace_.reset();
  self_trace = nullptr;
}

}  // namespace gotrace::internal
