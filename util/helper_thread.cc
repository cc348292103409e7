#include "util/helper_thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace gotrace::internal {
namespace {

// Blocks signals for threads that are started while this object exists, except SIGPROF and those
// that a thread's own instructions cause: the caller's signal handlers expect to run on the
// caller's threads.
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

const HelperObserver* helper_observer = nullptr;

}  // namespace

void ObserveHelpers(const HelperObserver* observer) { helper_observer = observer; }

std::optional<std::thread> StartHelper(const char* name, std::function<void()> work) {
  const SignalsBlocked signals_blocked;
  if (const HelperObserver* const observer = helper_observer; observer != nullptr) {
    work = [observer, name, work = std::move(work)] {
      observer->begin(name);
      work();
      observer->end();
    };
  }
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    // There are too many threads.
    return std::nullopt;
  }
}

}  // namespace gotrace::internal
