// The number of available cores.
#ifndef GOTRACE_UTIL_CORES_H_
#define GOTRACE_UTIL_CORES_H_

#include <cstddef>

namespace gotrace::internal {

// Returns the number of cores that this process may use, at least 1. This can be less than the
// machine has, because of `taskset` or a container.
size_t AvailableCores();

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_CORES_H_
