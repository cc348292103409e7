#include "tools/ending_signals.h"

#include <atomic>
#include <csignal>

namespace gotrace::internal {
namespace {

using Handler = void (*)(int signal_number);

std::atomic<Handler> handlers[4];

// Those of the program's own faults are among them: then, too, an unfinished file is removed.
constexpr int kEndingSignals[] = {SIGABRT, SIGALRM, SIGBUS,  SIGFPE,  SIGHUP,    SIGILL,  SIGINT,
                                  SIGIO,   SIGPIPE, SIGPROF, SIGPWR,  SIGQUIT,   SIGSEGV, SIGSYS,
                                  SIGTERM, SIGTRAP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};

// Calls the handlers and ends the program. The handler of the signal was reset when it was called,
// so the signal now has its default effect.
void End(int signal_number) {
  for (const std::atomic<Handler>& handler : handlers) {
    if (const Handler call = handler; call != nullptr) call(signal_number);
  }
  raise(signal_number);
}

void Add(Handler added) {
  for (std::atomic<Handler>& handler : handlers) {
    if (handler == nullptr) handler = added;
    if (handler == added) return;
  }
}

}  // namespace

void AtEndingSignals(Handler handler) {
  Add(handler);
  for (const int signal_number : kEndingSignals) {
    struct sigaction action;
    // Signals that are ignored, as under nohup, stay ignored.
    if (sigaction(signal_number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = End;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace gotrace::internal
