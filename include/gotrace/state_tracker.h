// The states of goroutines, Ps and threads as intervals of time. Analyses and viewers are built on
// these rather than on single transitions.
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

// Why a goroutine went from one state into the next.
enum class CauseKind : uint8_t {
  kUnknown,    // The trace does not say.
  kItself,     // It blocked, stopped, ended, or entered or left a syscall.
  kScheduler,  // A P took it to run it.
  kGoroutine,  // Another goroutine created it, woke it, or switched to it.
  kNetwork,    // The network poller woke it, outside of any goroutine.
  kTimer,      // A timer woke it, outside of any goroutine.
  kGc,         // The garbage collector woke it, outside of any goroutine.
  kSyscall,    // It came back from a syscall in which it had lost its P.
};

// The name of the kind: "goroutine", "network". Static lifetime.
absl::string_view CauseKindName(CauseKind kind);

// A transition of a goroutine, which ends one interval and begins the next.
struct Cause {
  CauseKind kind = CauseKind::kUnknown;
  StackId stack = StackId::kNone;     // kGoroutine: where that goroutine was; kNone if unknown.
  GoId goroutine = GoId::kNone;       // kGoroutine: which one.
  ProcId proc = ProcId::kNone;        // Where it happened; kNone if that was on no P.
  ThreadId thread = ThreadId::kNone;  // The same; kNone if unknown.

  friend bool operator==(const Cause&, const Cause&) = default;
};

// What all intervals have. Times are in nanoseconds, as Event::time().
struct Interval {
  int64_t begin = 0;  // Inclusive.
  int64_t end = 0;    // Exclusive. Never before `begin`; equal to it only in a damaged trace.

  // Whether the state may have begun earlier, or lasted longer: because the trace begins or ends
  // there, or because events are missing there.
  bool begin_clipped = false;
  bool end_clipped = false;

  // For how long after `begin` the state is only stated: 0, unless begin_clipped. What the first
  // statuses state has been so since the kSync event before them, as Go's tools assume; but tracing
  // may have started later, since the world has to stop for it, and what the program did until then
  // nobody saw.
  int64_t unseen = 0;

  // What was seen of it: the state lasted at least as long. May be empty.
  Interval Seen() const {
    Interval seen = *this;
    seen.begin = std::min(begin + unseen, std::max(begin, end));
    seen.unseen = 0;
    return seen;
  }

  // end - begin, in nanoseconds.
  uint64_t duration() const { return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin); }

  friend bool operator==(const Interval&, const Interval&) = default;
};

// A goroutine's stay in one state.
//
// Life in the trace begins when the goroutine is created, or for one that existed before with the
// first kSync event of what was read; it ends when the goroutine does, or with the last event that
// was read. The intervals of a goroutine partition its life: each begins where the one before it
// ends. Only where events are missing there is a gap, before which an interval has end_clipped.
struct GoInterval : Interval {
  GoState state = GoState::kUndetermined;  // kRunnable, kRunning, kWaiting or kSyscall.

  // Whether the goroutine was created at `begin`, and whether it ended at `end`. Ids may be used
  // again.
  bool starts_life = false;
  bool ends_life = false;

  // Why it blocked (kWaiting) or stopped (kRunnable): "chan receive", "preempted"; kEmpty if the
  // trace does not say, or if that does not apply.
  StringId reason = StringId::kEmpty;

  // The goroutine's own stack: where it blocked, stopped, or entered the syscall. For one that
  // waits to run, that is where it did so last, and for one that never ran its start function.
  // kNone if the trace does not say.
  StackId stack = StackId::kNone;

  GoId goroutine = GoId::kNone;

  // kRunning and kSyscall: the thread that it is on, and the P that it had at `begin`; kNone if
  // unknown or none.
  ProcId proc = ProcId::kNone;
  ThreadId thread = ThreadId::kNone;

  // Until when it had `proc`. A goroutine may lose its P in a syscall: then that is between `begin`
  // and `end`. If it never had one, this is `begin`.
  int64_t proc_until = 0;

  // What put it into the state: for a new goroutine that is its creator. Unknown if begin_clipped.
  Cause begun_by;

  // What ended the state: for kWaiting that is what woke it up. Unknown if end_clipped. The next
  // interval has the same as its `begun_by`.
  Cause ended_by;

  friend bool operator==(const GoInterval&, const GoInterval&) = default;
};

// A P's stay in one state. A P's life begins with the trace's first kSync event, or with its first
// status in a later generation; it lasts until the trace's last event, since the trace does not say
// when a P goes away.
struct ProcInterval : Interval {
  ProcState state = ProcState::kUndetermined;  // kRunning or kIdle.

  // kRunning: whether another thread took the P away, while its goroutine was in a syscall.
  bool stolen = false;

  ProcId proc = ProcId::kNone;
  ThreadId thread = ThreadId::kNone;  // kRunning: which has it; kNone if unknown.

  friend bool operator==(const ProcInterval&, const ProcInterval&) = default;
};

// What a thread does.
enum class ThreadState : uint8_t {
  kIdle,        // It has neither a P nor a goroutine.
  kScheduling,  // It has a P and no goroutine.
  kRunning,     // It runs a goroutine.
  kSyscall,     // Its goroutine is in a syscall, with a P or without.
};

// The name of the state: "Idle", "Scheduling". Static lifetime.
absl::string_view ThreadStateName(ThreadState state);

// A time in which a thread has the same P and the same goroutine in the same state. A thread's life
// begins with the trace's first kSync event if a status says what it did there, and otherwise with
// its first transition; it lasts until the trace's last event, since the trace does not say when a
// thread ends.
struct ThreadInterval : Interval {
  ThreadState state = ThreadState::kIdle;
  ThreadId thread = ThreadId::kNone;
  ProcId proc = ProcId::kNone;
  GoId goroutine = GoId::kNone;

  friend bool operator==(const ThreadInterval&, const ThreadInterval&) = default;
};

// Takes the intervals of a StateTracker. Those of one goroutine, P or thread come in order of time.
// If the events came from one Reader in strict mode, and nothing was held back for a merge (see
// StateTracker::StartInMiddle()), all intervals come in order of `end`. An interval is valid during
// the call.
class IntervalConsumer {
 public:
  virtual ~IntervalConsumer() = default;

  // Override what is of interest.
  virtual void AddGoroutine(const GoInterval& /*interval*/) {}
  virtual void AddProc(const ProcInterval& /*interval*/) {}
  virtual void AddThread(const ThreadInterval& /*interval*/) {}
};

// Turns the events of a trace, or of a run of its generations, into intervals.
//
// Merging the trackers of consecutive parts of a trace, cut anywhere between two generations, gives
// the same intervals as one tracker for all of it, if each generation states the status of what it
// is about, as those that Go writes do. Whoever merges trackers merges their consumers, too; an
// AnalysisSink does that for an analysis.
//
// In a damaged trace, of which a Reader gives what it can, intervals are exact as far as the events
// are, and those of a resource overlap only where the times of the events go back. A state that
// does not fit the one before it shows that events are missing: the state before is known to have
// lasted until the event, or the status, that stated it last, and its interval ends there with
// end_clipped. Where a generation is missing, intervals end with the last event before, and begin
// with the kSync event after.
class StateTracker final : public EventSink {
 public:
  // Gives intervals to `*consumer`, with strings and stacks of `*interner`. Both must outlive this
  // object, or the call of Merge() that it is the argument of.
  StateTracker(Interner* interner, IntervalConsumer* consumer);
  ~StateTracker() override;

  // The tracker will be merged into one that takes the events before its own. What begins before
  // the first of its events is then given to the consumer only by Merge(), which knows since when
  // the state lasts, or by Finish(). Not for a part of a trace that is read by itself.
  void StartInMiddle();

  void Add(absl::Span<const Event> events) override;

  // Ends what is open, with the last event. Returns OK, or kFailedPrecondition if a tracker was
  // merged for which StartInMiddle() was not called: then intervals were cut at the border.
  absl::Status Finish() override;

  // Continues with what `next` knows, for which StartInMiddle() was called: gives the intervals
  // that cross the border to this tracker's consumer, in one piece. Appends the interners, too,
  // unless they are the same one. Returns the ids that the strings and stacks of `next` have here:
  // append what the consumer of `next` has to this tracker's consumer afterwards, with these ids.
  InternerMap Merge(StateTracker&& next);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_STATE_TRACKER_H_
