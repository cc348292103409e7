// Critical paths: why a task, a region or a goroutine took as long as it did.
#ifndef GOTRACE_CRITICAL_PATH_H_
#define GOTRACE_CRITICAL_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

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

// A span of time whose critical path can be found: that of a task, a region, or a goroutine.
struct PathSpan {
  // The path leads back from this goroutine at `end`. For a task that is the one that ended it.
  GoId goroutine;

  int64_t begin = 0;
  int64_t end = 0;  // Exclusive.

  // Whether the task or region began before, or ended after, what was read. The span is cut to that
  // then, and a task that does not end leads back from the goroutine that began it.
  bool begin_clipped = false;
  bool end_clipped = false;

  TaskId task = TaskId::kNone;         // The task, or that of the region.
  StringId type = StringId::kEmpty;    // Of the task or region.
  StackId end_stack = StackId::kNone;  // Where `goroutine` was at `end`; kNone if unknown.

  // Regions: whether it is inside of another one of the same type, on the same goroutine.
  bool is_nested = false;
};

// A part of a critical path. Times are in nanoseconds, as Event::time().
struct PathPiece {
  int64_t begin = 0;  // Inclusive.
  int64_t end = 0;    // Exclusive, and after `begin`.

  // The goroutine that the path is on; kNone if none is known.
  GoId goroutine = GoId::kNone;

  // What it does. kUndetermined if the trace does not say, most often because the piece is before
  // the trace. A goroutine waits on a critical path only if no other goroutine woke it up, or if
  // what woke it up came after the end of the path.
  GoState state = GoState::kUndetermined;

  // kWaiting and kRunnable: as GoInterval::reason. kRunning: "GC mark assist" if it was in one, and
  // otherwise kEmpty.
  StringId reason = StringId::kEmpty;

  // kWaiting: what woke the goroutine up; kUnknown if it was not woken up at `end`.
  CauseKind woken_by = CauseKind::kUnknown;

  // The goroutine's own stack, as GoInterval::stack. A trace does not have the stacks in which a
  // goroutine ran. For kRunning this is the stack at the end of the piece: where it woke the next
  // goroutine of the path, blocked, stopped, entered a syscall, or ended the task or region.
  StackId stack = StackId::kNone;

  StringId start = StringId::kEmpty;  // The function that the goroutine started in.

  // How many goroutines the path was handed over to between the end of the span and this piece,
  // from one that was woken up to its waker, or from a new one to its creator. Once it gets back to
  // the time at which the one that was woken up blocked, it returns to that one.
  uint64_t depth = 0;

  friend bool operator==(const PathPiece&, const PathPiece&) = default;
};

// What many critical paths consist of.
struct PathSum {
  // A sample has a stack, a state, a reason, the function that the goroutine started in, and what
  // woke it up; its count is that of pieces. In the order of Profile::samples().
  std::vector<ProfileSample> samples;

  size_t paths = 0;  // How many paths were added up.
};

// How long a goroutine had a P during a span of time.
struct GoroutineTime {
  GoId goroutine;
  StringId start = StringId::kEmpty;  // The function that it started in.
  int64_t time = 0;                   // In nanoseconds.
};

// Finds critical paths. A path leads back in time from the end of a span. While its goroutine runs,
// is in a syscall, or waits for a P, it stays there. Where the goroutine waited until another one
// woke it up, it follows that one back to the time at which the wait began, and then returns to the
// goroutine that waited. Where a goroutine was created, it continues with its creator. So at each
// time a path is on exactly one goroutine, and its pieces partition the span.
//
// Memory is in proportion to the intervals of all goroutines, some 40 bytes each, and to the tasks,
// regions and mark assists. It cannot be merged: each of these would need rules of its own for what
// crosses from one part of a trace into the next.
class CriticalPaths final : public Analysis {
 public:
  // What to collect.
  struct Options {
    // The window that is read: spans are cut to it.
    EventFilter::Times window = {};

    // Whether HadProcsDuring() will be called. That takes 24 bytes more for each time that a
    // goroutine had a P.
    bool keep_procs = false;
  };

  // `*interner` must outlive this object.
  CriticalPaths(Interner* interner, const Options& options);
  ~CriticalPaths() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // All that follows may be called after Finish().

  // The tasks whose begin or end is in the window, in order of their ids; and the regions, in order
  // of their ends, those without one last.
  absl::Span<const PathSpan> tasks() const;
  absl::Span<const PathSpan> regions() const;

  // The life of a goroutine, as far as it is in the window; nothing if it is not. If the id was
  // used several times, the last life.
  std::optional<PathSpan> LifeOf(GoId goroutine) const;

  // Returns the critical path of `span`, in order of time: one piece begins where the one before it
  // ends. Takes time in proportion to the number of pieces, which is at most the number of
  // intervals that overlap the span, and of assists, plus one.
  std::vector<PathPiece> Find(const PathSpan& span) const;

  // Returns the sum of the paths of `spans`: of the first ones until there are more than
  // `max_pieces` pieces, since many spans can have the same long path.
  PathSum Sum(absl::Span<const PathSpan> spans, uint64_t max_pieces) const;

  // Returns for each of `pieces` that is kRunnable which goroutines had the Ps meanwhile, running
  // or in a syscall, those that had one for the longest time first; and nothing for other pieces.
  // These must be in order of time and not overlap. Only the first 4096 Ps count.
  std::vector<std::vector<GoroutineTime>> HadProcsDuring(absl::Span<const PathPiece> pieces) const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_CRITICAL_PATH_H_
