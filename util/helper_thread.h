// Starts the library's own threads.
#ifndef GOTRACE_UTIL_HELPER_THREAD_H_
#define GOTRACE_UTIL_HELPER_THREAD_H_

#include <functional>
#include <optional>
#include <thread>

namespace gotrace::internal {

// Starts a thread that calls `work`, which must not throw. `name`, a literal, describes its work in
// a word or two. All signals are blocked on the thread, except SIGPROF and those that its own
// instructions cause, such as SIGBUS. Returns nullopt if the system cannot create another thread.
std::optional<std::thread> StartHelper(const char* name, std::function<void()> work);

// Functions that are called on each thread that StartHelper() starts, before and after the work.
struct HelperObserver {
  void (*begin)(const char* name) = nullptr;
  void (*end)() = nullptr;
};

// Sets the observer, or nullptr, of all threads that are started from now on. Not thread-safe.
void ObserveHelpers(const HelperObserver* observer);

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_HELPER_THREAD_H_
