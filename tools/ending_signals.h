// What happens before a signal ends the program. It ends at once, wherever it is, so no command has
// to ask whether to continue.
#ifndef GOTRACE_TOOLS_ENDING_SIGNALS_H_
#define GOTRACE_TOOLS_ENDING_SIGNALS_H_

#include <csignal>

namespace gotrace::internal {

// Calls `handler` before a signal ends the program, unless it ignores the signal or handles it
// itself. These are all signals that end a program by default, but for SIGKILL, which nothing can
// handle, and real-time signals. There may be up to four handlers, which are called in the order in
// which they were added; adding one again has no effect. They may do only what signal handlers may.
void AtEndingSignals(void (*handler)(int signal_number));

// Holds these signals back while it exists, for what must not be interrupted, but for faults of
// this thread itself. Those that arrive meanwhile, on any thread, end the program afterwards. Other
// threads need a handler for that. A thread has one of these at a time.
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

#endif  // GOTRACE_TOOLS_ENDING_SIGNALS_H_
