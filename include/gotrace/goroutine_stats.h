// How goroutines spent their time: by state, by what they were blocked on, and by phase of the
// garbage collector.
#ifndef GOTRACE_GOROUTINE_STATS_H_
#define GOTRACE_GOROUTINE_STATS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

class NestedTimes;

}  // namespace gotrace::internal

namespace gotrace {

// A time in nanoseconds with a name: the reason of a wait, or the name of a range.
struct NamedTime {
  StringId name = StringId::kEmpty;
  int64_t time = 0;

  friend bool operator==(const NamedTime&, const NamedTime&) = default;
};

// Times with different names, in the order in which the names were added.
class NamedTimes {
 public:
  NamedTimes();
  // Requires that all names are different.
  explicit NamedTimes(std::vector<NamedTime> times);
  NamedTimes(const NamedTimes& other);
  NamedTimes& operator=(const NamedTimes& other);
  NamedTimes(NamedTimes&&) noexcept;
  NamedTimes& operator=(NamedTimes&&) noexcept;
  ~NamedTimes();

  // Adds `time` to the time of `name`, which is initially 0. Takes constant time on average.
  void Add(StringId name, int64_t time);

  // Return the number of names, and the names with their times. A pointer is valid until the next
  // Add().
  size_t size() const { return times_.size(); }
  bool empty() const { return times_.empty(); }
  const NamedTime* begin() const { return times_.data(); }
  const NamedTime* end() const { return times_.data() + times_.size(); }

 private:
  friend class internal::NestedTimes;
  struct Index;

  // Returns the index of `name` in `times_`, or times_.size().
  size_t Find(StringId name);

  std::vector<NamedTime> times_;
  std::unique_ptr<Index> index_;  // Only for many names. Copies make their own when they need it.
};

// How a goroutine spent its time, or the time of a part of its life. In nanoseconds. Go's times of
// running and ready goroutines include stops of the world; here these are apart.
struct ExecutionTimes {
  int64_t total = 0;            // From its beginning to its end.
  int64_t running = 0;          // On a P, but for `stopped_running`.
  int64_t runnable = 0;         // Ready to run, but waiting for a P: the scheduling latency.
  int64_t syscall = 0;          // In a syscall, with a P.
  int64_t syscall_blocked = 0;  // In a syscall, after it had lost its P.
  NamedTimes blocked;           // By reason: "chan receive". "" if unknown.

  // In stops of the world, as GoInterval::ForEachStop() defines it: on a P, while it had stopped
  // the world itself, and ready to run; and the sum of both by reason: "GC mark termination".
  int64_t stopped_running = 0;
  int64_t stopped_runnable = 0;
  NamedTimes stopped;

  // In ranges of the runtime: "GC mark assist", "GC incremental sweep", "stop-the-world (...)".
  // This time is part of the times above.
  NamedTimes ranges;

  // Return the sum of `blocked`, and the sum of `stopped`.
  int64_t BlockedTotal() const;
  int64_t StoppedTotal() const;

  // Return `running` and `runnable` as Go counts them: with stops of the world.
  int64_t RunningWithStops() const;
  int64_t RunnableWithStops() const;

  // Returns the time in none of the states above, where events are missing. Never negative.
  int64_t Unknown() const;

  // Adds all times of `other`.
  void Add(const ExecutionTimes& other);
};

// A goroutine's life in the trace, or in the window that was analysed.
struct GoroutineSpan {
  GoId goroutine;
  StringId name = StringId::kEmpty;  // The function that it started in; "" if unknown.

  // Where it was created; kNone if the trace does not say, as for a goroutine that is older.
  StackId created_at = StackId::kNone;

  // The time when it was created or, if `is_older`, when it first appears in the trace or window.
  int64_t creation = 0;
  bool is_older = false;

  std::optional<int64_t> start;  // When it ran first.
  std::optional<int64_t> end;    // When it ended; nullopt if it still existed at the end.

  ExecutionTimes times;
};

// The goroutines that started in one function, or that were created in one place.
struct GoroutineGroup {
  StringId name = StringId::kEmpty;  // The function that they started in.

  // With Options::by_creator, `name` is empty, and this is the place in the program in which they
  // were created: the innermost frame of the program, as WaitPlace has it.
  StringId creator = StringId::kEmpty;
  StringId creator_file = StringId::kEmpty;
  uint64_t creator_line = 0;

  uint64_t count = 0;
  ExecutionTimes times;  // Their sums.

  // The distributions over the goroutines.
  Histogram total;
  Histogram running;
  Histogram runnable;
  Histogram blocked;
  Histogram syscall;  // With a P and without.

  // Adds one goroutine.
  void Add(const ExecutionTimes& one);

  // Adds the goroutines of another group, whose name does not matter.
  void Merge(const GoroutineGroup& other);
};

// Computes where the time of goroutines went. The numbers equal those of Go's own internal/trace to
// the nanosecond, except for the entries of analysis/DIVERGENCES.md, for which GoCompatibleStats
// exists.
class GoroutineStats final : public MergeableAnalysis<GoroutineStats> {
 public:
  // The goroutines to count, and the results to keep.
  struct Options {
    // Whether to keep each goroutine, for goroutines(), in addition to groups(). Otherwise memory
    // is in proportion to the goroutines that exist at a time.
    bool keep_each = false;

    // Whether to group by the place in which goroutines were created, rather than by the function
    // that they started in.
    bool by_creator = false;

    // Only goroutines that started in a function whose whole name this matches: an extended regular
    // expression of POSIX, or the name itself; "" for all.
    std::string start = {};

    // Only goroutines that the filter selects are counted, and only ranges within its `times`.
    EventFilter filter = {};
  };

  // `*interner` must outlive this object.
  GoroutineStats(Interner* interner, Options options);
  ~GoroutineStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(GoroutineStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the goroutines in order of creation, and then of ids, after Finish(). Empty unless
  // Options::keep_each is set.
  absl::Span<const GoroutineSpan> goroutines() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Returns the groups in order of names, or of places, after Finish().
  absl::Span<const GoroutineGroup> groups() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_GOROUTINE_STATS_H_
