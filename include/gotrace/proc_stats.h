// How Ps spent their time: on the program, on the garbage collector, in syscalls, and idle although
// goroutines waited to run.
#ifndef GOTRACE_PROC_STATS_H_
#define GOTRACE_PROC_STATS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// How a P, or several, spent their time. In nanoseconds.
struct ProcTimes {
  int64_t user = 0;       // It ran goroutines other than mark workers, and not in mark assists.
  int64_t gc = 0;         // It ran mark workers of the garbage collector.
  int64_t assist = 0;     // It ran goroutines in mark assists.
  int64_t syscall = 0;    // Its goroutine was in a syscall.
  int64_t scheduler = 0;  // It was running without a goroutine: it looked for one, or was stopping.
  int64_t idle = 0;       // It ran nothing, although GOMAXPROCS allowed it to.

  // Return the sum of all times, and of all times but `idle`.
  int64_t Total() const;
  int64_t Busy() const;

  // Adds each time of `other`.
  void Add(const ProcTimes& other);

  friend bool operator==(const ProcTimes&, const ProcTimes&) = default;
};

// The use of one P.
struct ProcUse {
  ProcId proc;
  ProcTimes times;
  uint64_t runs = 0;        // How often it began to run a goroutine.
  uint64_t migrations = 0;  // How many of these goroutines had run on another P before.
  uint64_t steals = 0;      // How often it was taken away from a thread in a syscall.
};

// The use of all Ps in a slice of time.
struct ProcSlice {
  int64_t begin = 0;
  int64_t end = 0;
  ProcTimes times;  // Of all Ps.

  // The total time that goroutines waited to run. Divided by the length of the slice, it is the
  // average number of waiting goroutines.
  int64_t runnable = 0;

  // The idle time of Ps for which there were goroutines waiting to run: at each moment, the number
  // of idle Ps below GOMAXPROCS or the number of waiting goroutines counts, whichever is smaller.
  int64_t idle_while_runnable = 0;
};

// How many goroutines may run at once from a time on.
struct ProcLimit {
  int64_t time = 0;
  uint64_t procs = 0;  // GOMAXPROCS.

  friend bool operator==(const ProcLimit&, const ProcLimit&) = default;
};

// Collects the activity of Ps. Memory is in proportion to the Ps, to the goroutines that exist at a
// time, and to the events of a generation that change states.
class ProcStats final : public MergeableAnalysis<ProcStats> {
 public:
  // Counts only Ps that `filter` selects, and only times within its `times`. The numbers of waiting
  // goroutines always include the whole program.
  explicit ProcStats(EventFilter filter);
  ~ProcStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void Merge(ProcStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the use of each P, in order of Ps, after Finish(), as for the functions below.
  absl::Span<const ProcUse> procs() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the values of GOMAXPROCS that the trace states, in order of time: the first value, and
  // then each change.
  absl::Span<const ProcLimit> limits() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Cuts the time into slices of a round length (1, 2 or 5 times a power of ten, in nanoseconds, of
  // at least a microsecond), as many as possible up to `most`, which must be at least 2. Slices
  // begin at multiples of their length, except that the first begins, and the last ends, with the
  // trace or window.
  std::vector<ProcSlice> Slices(size_t most) const;

  // Returns everything as one slice.
  ProcSlice Sum() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_PROC_STATS_H_
