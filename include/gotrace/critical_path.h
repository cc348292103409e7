// Critical paths: why a task, a region or a goroutine took as long as it did.
#ifndef GOTRACE_CRITICAL_PATH_H_
#define GOTRACE_CRITICAL_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/profile.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"

namespace gotrace {

// The span of time of a task, a region or a goroutine, whose critical path can be found.
struct PathSpan {
  // The goroutine from which the path leads back, at `end`. For a task, the goroutine that ended
  // it.
  GoId goroutine;

  int64_t begin = 0;
  int64_t end = 0;  // Exclusive.

  // Whether it began before, or ended after, the part of the trace that was read.
  // The span is then cut to that part, and the path of a task without an end leads back from the
  // goroutine that began it.
  bool begin_clipped = false;
  bool end_clipped = false;

  TaskId task = TaskId::kNone;         // The task, or the task of the region.
  StringId type = StringId::kEmpty;    // Of the task or region; where the goroutine started.
  StackId end_stack = StackId::kNone;  // Where `goroutine` was at `end`; kNone if unknown.

  // Regions: whether it is inside another region of the same type on the same goroutine.
  bool is_nested = false;
};

// A part of a critical path. Times are in nanoseconds, as Event::time().
struct PathPiece {
  int64_t begin = 0;  // Inclusive.
  int64_t end = 0;    // Exclusive, and after `begin`.

  // The goroutine that the path is on; kNone if none is known.
  GoId goroutine = GoId::kNone;

  // The state of the goroutine. kUndetermined if the trace does not say, usually because the piece
  // is before the trace. A goroutine on a critical path is kWaiting only if no other goroutine woke
  // it up, or if it was woken up after the end of the path.
  GoState state = GoState::kUndetermined;

  // kWaiting and kRunnable: as GoInterval::reason. kRunning: "GC mark assist" if it was in one, and
  // otherwise kEmpty. If `is_stopped`: as StopSpan::name.
  StringId reason = StringId::kEmpty;

  // kRunnable and kRunning: whether it was ready or running only for a stop of the world, as
  // GoInterval::ForEachStop() defines it.
  bool is_stopped = false;

  // kWaiting: the kind of its waker; kUnknown if it was not woken up at `end`.
  CauseKind woken_by = CauseKind::kUnknown;

  // The goroutine's own stack, as GoInterval::stack. For kRunning, since a trace does not have the
  // stacks in which a goroutine ran, it is the stack at the end of the piece: where the goroutine
  // woke the next goroutine of the path, blocked, stopped, entered a syscall, or ended the task or
  // region. While it has stopped the world, it is where it did so.
  StackId stack = StackId::kNone;

  StringId start = StringId::kEmpty;  // The function that the goroutine started in.

  // kRunning, with Options::by_region: the type of the innermost region that the goroutine was in;
  // kEmpty if it was in none.
  StringId region = StringId::kEmpty;

  // The number of times that the path went from a goroutine to its waker or creator between the end
  // of the span and this piece, and has not returned. A path returns from a waker to the goroutine
  // that it woke up once it reaches the time at which that goroutine blocked.
  uint64_t depth = 0;

  friend bool operator==(const PathPiece&, const PathPiece&) = default;
};

// The sum of many critical paths.
struct PathSum {
  // The key of a sample has a stack, a state, a reason, the function that the goroutine started in,
  // a region, and the kind of its waker; its count is the number of pieces. In the order of
  // Profile::samples().
  std::vector<ProfileSample> samples;

  size_t paths = 0;  // How many paths were added up.
};

// How long a goroutine had a P during a span of time.
struct GoroutineTime {
  GoId goroutine;
  StringId start = StringId::kEmpty;  // The function that it started in.
  int64_t time = 0;                   // In nanoseconds.
};

// Finds critical paths. A path leads back in time from the end of a span. It stays on its goroutine
// while that runs, is in a syscall, or waits for a P. Where the goroutine waited until another one
// woke it up, the path follows the waker back to the time at which the wait began, and then returns
// to the goroutine that waited. Where a goroutine was created, the path continues with its creator.
// So a path is on exactly one goroutine at each time, and its pieces partition the span.
//
// Memory is in proportion to the intervals of all goroutines, some 40 bytes each, and to the tasks,
// regions and mark assists, and to the stops of the world, for each goroutine that is then ready.
// CriticalPaths cannot be merged: intervals, tasks, regions and assists would each need rules of
// their own for the borders between parts of a trace.
class CriticalPaths final : public Analysis {
 public:
  // The spans to collect, and the data to keep.
  struct Options {
    // The window to which spans are cut.
    EventFilter::Times window = {};

    // Whether HadProcsDuring() will be called. It needs 24 more bytes for each time that a
    // goroutine had a P.
    bool keep_procs = false;

    // Whether pieces in which goroutines run are cut where their innermost region changes.
    bool by_region = false;
  };

  // `*interner` must outlive this object.
  CriticalPaths(Interner* interner, const Options& options);
  ~CriticalPaths() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // The functions below may be called after Finish().

  // Return the tasks whose begin or end is in the window, in order of their ids; and the regions,
  // in order of their ends, with regions without an end last.
  absl::Span<const PathSpan> tasks() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  absl::Span<const PathSpan> regions() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the spans of all goroutines, cut to the window, in order of their ends; for each life
  // of an id one. `type` is the function in which it started.
  std::vector<PathSpan> goroutines() const;

  // Returns the span of a goroutine, cut to the window, or nullopt if it is outside. If several
  // goroutines had the id, returns the span of the last one.
  std::optional<PathSpan> SpanOf(GoId goroutine) const;

  // Returns the critical path of `span`, in order of time: each piece begins where the previous one
  // ends. Takes time in proportion to the number of pieces. Intervals are cut only at assists, at
  // stops of the world and, with Options::by_region, where regions change.
  std::vector<PathPiece> Find(const PathSpan& span) const;

  // Returns the sum of the paths of `spans`. Stops early once there are more than `max_pieces`
  // pieces, since many spans can have the same long path; see PathSum::paths.
  PathSum Sum(absl::Span<const PathSpan> spans, uint64_t max_pieces) const;

  // Returns a list for each of `pieces`, which must be in order of time and not overlap. For a
  // kRunnable piece, it lists the goroutines that had a P meanwhile, running or in a syscall,
  // longest time first; for any other piece it is empty. Only the first 4096 Ps count.
  std::vector<std::vector<GoroutineTime>> HadProcsDuring(absl::Span<const PathPiece> pieces) const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_CRITICAL_PATH_H_
