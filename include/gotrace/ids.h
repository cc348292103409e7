// The ids of goroutines, Ps, threads and tasks, each with its own type.
#ifndef GOTRACE_IDS_H_
#define GOTRACE_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <utility>

#include "gotrace/internal/requires_cxx20.h"

namespace gotrace {

// An id that the Go runtime assigned. Ids with different `Tag`s are different types.
template <class Tag, class Rep>
struct Id {
  Rep value = static_cast<Rep>(-1);

  // No such resource: printed as -1, or as 18446744073709551615 for tasks.
  static const Id kNone;

  friend constexpr bool operator==(Id a, Id b) = default;
  friend constexpr auto operator<=>(Id a, Id b) = default;

  // Prints the number.
  friend std::ostream& operator<<(std::ostream& out, Id id) { return out << id.value; }

  // For Abseil's hash tables; std::hash is below.
  template <class H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.value);
  }
};
template <class Tag, class Rep>
inline constexpr Id<Tag, Rep> Id<Tag, Rep>::kNone{static_cast<Rep>(-1)};

using GoId = Id<struct GoTag, int64_t>;          // A goroutine.
using ProcId = Id<struct ProcTag, int64_t>;      // A P.
using ThreadId = Id<struct ThreadTag, int64_t>;  // A thread, which the runtime calls M.
using TaskId = Id<struct TaskTag, uint64_t>;     // A task of runtime/trace.

// The task of everything that belongs to no other task.
inline constexpr TaskId kBackgroundTask{0};

}  // namespace gotrace

template <class Tag, class Rep>
struct std::hash<gotrace::Id<Tag, Rep>> {
  size_t operator()(gotrace::Id<Tag, Rep> id) const { return std::hash<Rep>()(id.value); }
};

#endif  // GOTRACE_IDS_H_
