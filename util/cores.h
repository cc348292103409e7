// How much can be done at once.
#ifndef GOTRACE_UTIL_CORES_H_
#define GOTRACE_UTIL_CORES_H_

#include <cstddef>

namespace gotrace::internal {

// How many cores this process may use, at least 1: what `taskset` or a container's set of cores
// leaves of the machine's.
size_t AvailableCores();

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_CORES_H_
