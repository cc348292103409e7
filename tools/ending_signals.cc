#include "tools/ending_signals.h"

#include <atomic>
#include <csignal>
#include <ctime>

namespace gotrace::internal {
namespace {

using Handler = void (*)(int signal_number);

constexpr int kEndingSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};

std::atomic<Handler> handlers[4];

// How many threads hold the signals back.
std::atomic<int> holders = 0;

// Calls the handlers and ends the program. The handler of the signal was reset when it was called,
// so the signal now has its default effect.
void End(int signal_number) {
  // A thread that holds the signals back does not run this, so others wait for it.
  constexpr timespec kMillisecond = {.tv_sec = 0, .tv_nsec = 1'000'000};
  while (holders > 0) nanosleep(&kMillisecond, nullptr);
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
  pthread_sigmask(SIG_BLOCK, &ending, &before_);
  ++holders;
}

EndingSignalsHeld::~EndingSignalsHeld() {
  --holders;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace gotrace::internal
