// The number of available cores.
#ifndef GOTRACE_UTIL_CORES_H_
#define GOTRACE_UTIL_CORES_H_

#include <cstddef>
#include <cstdint>

namespace gotrace::internal {

// Returns the number of cores that this process may use, at least 1. This can be less than the
// machine has, because of `taskset` or a container.
size_t AvailableCores();

// Returns the number of cores to use if `jobs` were requested; 0 requests all.
inline size_t CoresFor(uint64_t jobs) {
  return jobs == 0 ? AvailableCores() : static_cast<size_t>(jobs);
}

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_CORES_H_
