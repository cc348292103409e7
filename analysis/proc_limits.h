// How far Ps are followed that come and go with GOMAXPROCS, so that a damaged trace, which may
// state any number as often as it likes, does not make billions of them.
#ifndef GOTRACE_ANALYSIS_PROC_LIMITS_H_
#define GOTRACE_ANALYSIS_PROC_LIMITS_H_

#include <cstdint>

namespace gotrace::internal {

// How often the idle time of a P is cut at most where GOMAXPROCS changes.
inline constexpr int kMaxProcCuts = 100;

// Ps that no event names count up to this id.
inline constexpr uint64_t kMaxUnnamedProcs = 1024;

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_PROC_LIMITS_H_
