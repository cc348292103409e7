// Runs handlers before a signal ends the program. The program ends immediately, whatever it is
// doing, so no command has to check whether to continue.
#ifndef GOTRACE_TOOLS_CLI_ENDING_SIGNALS_H_
#define GOTRACE_TOOLS_CLI_ENDING_SIGNALS_H_

#include <csignal>

namespace gotrace::internal {

// Calls `handler` before a signal ends the program, unless the program ignores the signal or
// handles it itself. This applies to all signals that end a program by default, except SIGKILL,
// which cannot be handled, and real-time signals. There may be up to four handlers, which are
// called in the order in which they were added; adding one again has no effect. They must be
// async-signal-safe.
void AtEndingSignals(void (*handler)(int signal_number));

// Holds these signals back while it exists, except faults of this thread itself, for work that must
// not be interrupted. Signals that arrive meanwhile, on any thread, end the program afterwards; on
// other threads, this requires a handler. A thread may have only one of these objects at a time.
class EndingSignalsHeld {
 public:
  EndingSignalsHeld();
  ~EndingSignalsHeld();
  EndingSignalsHeld(const EndingSignalsHeld&) = delete;
  EndingSignalsHeld& operator=(const EndingSignalsHeld&) = delete;

 private:
  sigset_t before_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_ENDING_SIGNALS_H_
