#include "util/cores.h"

#include <algorithm>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace gotrace::internal {

size_t AvailableCores() {
#ifdef __linux__
  // The standard library counts those that the process may not use too.
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return CPU_COUNT(&cores);
#endif
  return std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace gotrace::internal
