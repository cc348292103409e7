// The states of goroutines, Ps and threads as intervals of time. Analyses and viewers are built on
// intervals rather than on single transitions.
#ifndef GOTRACE_STATE_TRACKER_H_
#define GOTRACE_STATE_TRACKER_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/states.h"

namespace gotrace {

// The cause of a goroutine's transition from one state to the next.
enum class CauseKind : uint8_t {
  kUnknown,    // The trace does not say.
  kItself,     // It blocked, stopped, ended, or entered or left a syscall.
  kScheduler,  // A P took it to run it.
  kGoroutine,  // Another goroutine created it, woke it, or switched to it.
  kNetwork,    // The network poller woke it, outside of any goroutine.
  kTimer,      // A timer woke it, outside of any goroutine.
  kGc,         // The garbage collector woke it, outside of any goroutine.
  kSyscall,    // It returned from a syscall in which it had lost its P.
};

// Returns the name of the kind: "goroutine", "network". Static lifetime.
absl::string_view CauseKindName(CauseKind kind);

// A transition of a goroutine, which ends one interval and begins the next.
struct Cause {
  CauseKind kind = CauseKind::kUnknown;
  StackId stack = StackId::kNone;     // kGoroutine: the stack of that goroutine; kNone if unknown.
  GoId goroutine = GoId::kNone;       // kGoroutine: the other goroutine.
  ProcId proc = ProcId::kNone;        // The P on which it happened; kNone if on none.
  ThreadId thread = ThreadId::kNone;  // The thread on which it happened; kNone if unknown.

  friend bool operator==(const Cause&, const Cause&) = default;
};

// The members that all intervals have. Times are in nanoseconds, as Event::time().
struct Interval {
  int64_t begin = 0;  // Inclusive.
  int64_t end = 0;    // Exclusive. Never before `begin`; equal to it only in a damaged trace.

  // Whether the state may have begun earlier, or lasted longer, because the trace begins or ends
  // there or because events are missing there.
  bool begin_clipped = false;
  bool end_clipped = false;

  // The time from `begin` to the first status after the start of the trace, or after a gap, in
  // which nothing was seen; 0 unless begin_clipped. Like Go's tools, this library assumes that the
  // states in the first statuses have lasted since the kSync event before them. But tracing may
  // have started later, since it stops the world first, and what the program did until then is
  // unknown.
  int64_t unseen = 0;

  // Returns the part of the interval that was seen, in which the state is certain. May be empty.
  Interval Seen() const {
    Interval seen = *this;
    seen.begin = std::min(begin + unseen, std::max(begin, end));
    seen.unseen = 0;
    return seen;
  }

  // Returns end - begin, in nanoseconds.
  uint64_t duration() const { return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin); }

  friend bool operator==(const Interval&, const Interval&) = default;
};

// A stop of the world: a goroutine asks all others to stop, and lets them continue later.
struct StopSpan {
  int64_t begin = 0;  // When the goroutine asked.
  int64_t end = 0;  // When the world had been started again; the largest number if it was not yet.
  GoId goroutine = GoId::kNone;        // That asked; kNone if unknown.
  StackId stack = StackId::kNone;      // Where it asked; kNone if unknown.
  StringId reason = StringId::kEmpty;  // "GC mark termination"; kEmpty if unknown.
  StringId name = StringId::kEmpty;    // As a state: "world stopped (GC mark termination)".
};

// The stops of the world at the time of an interval. It is a view, and valid only as long as the
// interval: during the call that passes it. So copies of intervals are compared without it.
class StopsView {
 public:
  StopsView() = default;
  // `stops` are in order of time.
  explicit StopsView(absl::Span<const StopSpan> stops) : stops_(stops) {}

  // Return whether there is no stop, and the stops, in order of time.
  bool empty() const { return stops_.empty(); }
  const StopSpan* begin() const { return stops_.data(); }
  const StopSpan* end() const { return stops_.data() + stops_.size(); }

  friend bool operator==(const StopsView&, const StopsView&) { return true; }

 private:
  absl::Span<const StopSpan> stops_;
};

// A time in which a goroutine is in one state.
//
// A goroutine's life in the trace begins when it is created or, if it existed before, with the
// first kSync event that was read. It ends when the goroutine ends, or with the last event that was
// read. The intervals of a goroutine partition its life: each begins where the previous one ends.
// Gaps occur only where events are missing; the interval before a gap has end_clipped.
struct GoInterval : Interval {
  GoState state = GoState::kUndetermined;  // kRunnable, kRunning, kWaiting or kSyscall.

  // Whether the goroutine was created at `begin`, and whether it ended at `end`. Ids may be used
  // again.
  bool starts_life = false;
  bool ends_life = false;

  // Why it blocked (kWaiting) or stopped (kRunnable): "chan receive", "preempted"; kEmpty if the
  // trace does not say, or for other states.
  StringId reason = StringId::kEmpty;

  // The goroutine's own stack, where it blocked, stopped, or entered the syscall. For a goroutine
  // that waits to run, the last such stack or, if it never ran, its start function. kNone if the
  // trace does not say.
  StackId stack = StackId::kNone;

  GoId goroutine = GoId::kNone;

  // kRunning and kSyscall: the P that it had at `begin`, and its thread; kNone if unknown or none.
  ProcId proc = ProcId::kNone;
  ThreadId thread = ThreadId::kNone;

  // The time until which it had `proc`: between `begin` and `end` if it lost its P in a syscall, or
  // `begin` if it had none.
  int64_t proc_until = 0;

  // The cause of the state; for a new goroutine, its creator. Unknown if begin_clipped.
  Cause begun_by;

  // The cause of the end of the state; for kWaiting, what woke it up. Unknown if end_clipped. Equal
  // to `begun_by` of the next interval.
  Cause ended_by;

  // kRunning and kRunnable: the stops of the world that overlap it, or overlapped it before it was
  // cut.
  StopsView stops;

  // Calls `use(begin, end, stop)`, in order of time, for each part of the interval, or of it from
  // `from` to `to`, in which the goroutine was in its state only for a stop of the world:
  //
  // - While it is ready, each stop counts from its begin to its end. The runtime gives no P to a
  //   goroutine from the begin on; what waits longer than others while Ps start again does so
  //   because of the stop, too.
  // - While it is running, only stops that the goroutine asked for count. It waits until the others
  //   have stopped, does what it stopped them for, and starts the world again. Any other goroutine
  //   makes progress as long as it is running: it stops running, in the trace as well, before its P
  //   stops.
  //
  // A goroutine that is blocked or in a syscall would be so without the stop, as far as the trace
  // shows. When it is woken up, or returns, it is ready.
  template <class Use>
  void ForEachStop(int64_t from, int64_t to, const Use& use) const {
    for (const StopSpan& stop : stops) {
      if (state == GoState::kRunning && stop.goroutine != goroutine) continue;
      const int64_t part_begin = std::max({begin, from, stop.begin});
      const int64_t part_end = std::min({end, to, stop.end});
      if (part_begin < part_end) use(part_begin, part_end, stop);
    }
  }
  template <class Use>
  void ForEachStop(const Use& use) const {
    ForEachStop(begin, end, use);
  }

  // Returns the sum of the lengths of these parts from `from` on, in nanoseconds.
  int64_t StoppedSince(int64_t from) const {
    uint64_t stopped = 0;
    ForEachStop(from, end, [&](int64_t part_begin, int64_t part_end, const StopSpan&) {
      stopped += static_cast<uint64_t>(part_end) - static_cast<uint64_t>(part_begin);
    });
    return static_cast<int64_t>(stopped);
  }

  friend bool operator==(const GoInterval&, const GoInterval&) = default;
};

// A time in which a P is in one state. A P's life begins with the trace's first kSync event, or
// with its first status in a later generation. It lasts until the trace's last event, since a trace
// does not state when a P ceases to exist.
struct ProcInterval : Interval {
  ProcState state = ProcState::kUndetermined;  // kRunning or kIdle.

  // kRunning: whether another thread took the P away, while its goroutine was in a syscall.
  bool stolen = false;

  ProcId proc = ProcId::kNone;
  ThreadId thread = ThreadId::kNone;  // kRunning: the thread that has it; kNone if unknown.

  friend bool operator==(const ProcInterval&, const ProcInterval&) = default;
};

// The state of a thread.
enum class ThreadState : uint8_t {
  kIdle,        // It has neither a P nor a goroutine.
  kScheduling,  // It has a P and no goroutine.
  kRunning,     // It runs a goroutine.
  kSyscall,     // Its goroutine is in a syscall, with a P or without.
};

// Returns the name of the state: "Idle", "Scheduling". Static lifetime.
absl::string_view ThreadStateName(ThreadState state);

// A time in which a thread has the same P and the same goroutine in the same state. A thread's life
// begins with the trace's first kSync event if a status states what the thread did there, and
// otherwise with its first transition. It lasts until the trace's last event, since a trace does
// not state when a thread ends.
struct ThreadInterval : Interval {
  ThreadState state = ThreadState::kIdle;
  ThreadId thread = ThreadId::kNone;
  ProcId proc = ProcId::kNone;
  GoId goroutine = GoId::kNone;

  friend bool operator==(const ThreadInterval&, const ThreadInterval&) = default;
};

// Receives the intervals of a StateTracker. The intervals of each goroutine, P or thread come in
// order of time. All intervals come in order of `end` if the events are from one Reader in strict
// mode, and nothing was held back for a merge (see StateTracker::StartInMiddle()). An interval is
// valid during the call.
class IntervalConsumer {
 public:
  virtual ~IntervalConsumer() = default;

  // Receive an interval of a goroutine, P or thread. Override the functions that are needed.
  virtual void AddGoroutine(const GoInterval& /*interval*/) {}
  virtual void AddProc(const ProcInterval& /*interval*/) {}
  virtual void AddThread(const ThreadInterval& /*interval*/) {}
};

// Turns the events of a trace, or of a run of its generations, into intervals.
//
// Merging the trackers of consecutive parts of a trace, cut anywhere between two generations, gives
// the same intervals as one tracker for all of it, if each generation states the status of every
// goroutine, P and thread in it, as in traces that Go writes. A caller that merges trackers must
// merge their consumers, too; an AnalysisSink does so for its analysis.
//
// In a damaged trace, intervals are as exact as the events that the Reader returns. Intervals of
// one goroutine, P or thread overlap only where the times of events go back. A state that does not
// fit the one before it shows that events are missing: the state before is known to have lasted
// until the event, or the status, that stated it last, and its interval ends there with
// end_clipped. Where a generation is missing, intervals end with the last event before, and begin
// with the kSync event after.
class StateTracker final : public EventSink {
 public:
  // Gives intervals to `*consumer`, with strings and stacks of `*interner`. Both must outlive this
  // object or, if it is merged into another tracker, that call of Merge().
  StateTracker(Interner* interner, IntervalConsumer* consumer);
  ~StateTracker() override;

  // Declares that this tracker will be merged into the tracker of the preceding part of the trace.
  // Intervals that begin before its first event are then held back until Merge(), which knows when
  // they began, or Finish(). Not for a part of a trace that is read by itself.
  void StartInMiddle();

  void Add(absl::Span<const Event> events) override;

  // Ends all open intervals at the last event. Returns OK, or kFailedPrecondition if a tracker was
  // merged without a call of its StartInMiddle(), so that intervals were cut at the border.
  absl::Status Finish() override;

  // Continues with the state of `next`, for which StartInMiddle() was called. Gives the intervals
  // that cross the border to this tracker's consumer, in one piece. Appends the interner of `next`
  // to this tracker's, unless they are the same. Returns the ids that the strings and stacks of
  // `next` have here; use them to merge the consumer of `next` into this tracker's consumer
  // afterwards.
  InternerMap Merge(StateTracker&& next);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_STATE_TRACKER_H_
