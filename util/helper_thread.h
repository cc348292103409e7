// Starts the threads that the library has of its own.
#ifndef GOTRACE_UTIL_HELPER_THREAD_H_
#define GOTRACE_UTIL_HELPER_THREAD_H_

#include <functional>
#include <optional>
#include <thread>

namespace gotrace::internal {

// Starts a thread that calls `work`, which must not throw. All signals are blocked there but those
// that its own instructions cause, such as SIGBUS, and SIGPROF. Returns nullopt if there can be no
// further one.
std::optional<std::thread> StartHelper(std::function<void()> work);

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_HELPER_THREAD_H_
