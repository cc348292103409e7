// Limits on tracking the Ps that GOMAXPROCS creates and removes. A damaged trace may state any
// number any number of times, which would make billions of Ps.
#ifndef GOTRACE_ANALYSIS_GC_PROC_LIMITS_H_
#define GOTRACE_ANALYSIS_GC_PROC_LIMITS_H_

#include <cstdint>

namespace gotrace::internal {

// The maximum number of times that the idle time of a P is cut at changes of GOMAXPROCS.
inline constexpr int kMaxProcCuts = 100;

// Ps that no event names are counted up to this id.
inline constexpr uint64_t kMaxUnnamedProcs = 1024;

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_GC_PROC_LIMITS_H_
