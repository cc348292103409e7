// Starts the library's own threads.
#ifndef GOTRACE_UTIL_HELPER_THREAD_H_
#define GOTRACE_UTIL_HELPER_THREAD_H_

#include <functional>
#include <optional>
#include <thread>

namespace gotrace::internal {

// Starts a thread that calls `work`, which must not throw. All signals are blocked on the thread,
// except SIGPROF and those that its own instructions cause, such as SIGBUS. Returns nullopt if the
// system cannot create another thread.
std::optional<std::thread> StartHelper(std::function<void()> work);

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_HELPER_THREAD_H_
