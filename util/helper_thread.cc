#include "util/helper_thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace gotrace::internal {
namespace {

// The caller's handlers of signals expect to run on its own threads: one that starts while this
// lives gets none but those that its own instructions cause.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
      sigdelset(&blocked, own);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::optional<std::thread> StartHelper(std::function<void()> work) {
  const SignalsBlocked signals_blocked;
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    // That is how std::thread tells that there are too many.
    return std::nullopt;
  }
}

}  // namespace gotrace::internal
