#include "tools/cli/ending_signals.h"

#include <atomic>
#include <csignal>
#include <ctime>

namespace gotrace::internal {
namespace {

using Handler = void (*)(int signal_number);

std::atomic<Handler> handlers[4];

// Includes the signals of the program's own faults, since an unfinished file must be removed then,
// too.
constexpr int kEndingSignals[] = {SIGABRT, SIGALRM, SIGBUS,  SIGFPE,  SIGHUP,    SIGILL,  SIGINT,
                                  SIGIO,   SIGPIPE, SIGPROF, SIGPWR,  SIGQUIT,   SIGSEGV, SIGSYS,
                                  SIGTERM, SIGTRAP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};
constexpr int kFaults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};

// The number of threads that hold the signals back, and whether this one does.
std::atomic<int> holders = 0;
thread_local volatile std::sig_atomic_t is_holder = 0;

// Calls the handlers and ends the program. The handler of the signal was reset when it was called,
// so the signal now has its default effect.
void End(int signal_number) {
  // A thread that holds the signals back gets here only by a fault of its own. Other threads wait
  // for it.
  constexpr timespec kMillisecond = {.tv_sec = 0, .tv_nsec = 1'000'000};
  while (holders > 0 && is_holder == 0) nanosleep(&kMillisecond, nullptr);
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

EndingSignalsHeld::EndingSignalsHeld() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal_number : kEndingSignals) sigaddset(&ending, signal_number);
  for (const int signal_number : kFaults) sigdelset(&ending, signal_number);
  pthread_sigmask(SIG_BLOCK, &ending, &before_);
  is_holder = 1;
  ++holders;
}

EndingSignalsHeld::~EndingSignalsHeld() {
  --holders;
  is_holder = 0;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace gotrace::internal
