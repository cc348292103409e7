// Each goroutine, P and thread has a track with its open interval. A transition closes the
// interval, passes it to the consumer, and opens the next one in its place.
//
// A tracker whose events begin in the middle of a trace takes the state of each resource from its
// status, which repeats the state at the end of an earlier generation. Since the begin of this
// state is unknown, the track is held: when its first interval closes, it goes to a list rather
// than to the consumer. Merge() joins it with the open interval of the previous tracker, and
// Finish() passes it to the consumer with a clipped begin.
//
// Stops of the world are kept as long as an interval is open that one of them may overlap. Nothing
// can begin a generation while the world is stopped. So a stop whose end is missing ends with its
// generation, and an end without a begin means nothing. That way each part of a trace knows all of
// its stops.
#include "gotrace/state_tracker.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/core/interner_impl.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/stop_name.h"
#include "analysis/intervals/waker.h"
#include "gotrace/event_type.h"
#include "gotrace/internal/event_rules.h"
#include "parser/event/event_access.h"
#include "util/dense_table.h"

namespace gotrace {
namespace {

using internal::Between;
using internal::DenseTable;
using internal::kSlotsForGoroutines;
using internal::TransitionType;

// GoInterval::proc_until of an open interval: the goroutine still has a P, or has none. Both are
// clamped to begin and end when the interval is closed.
constexpr int64_t kStillHasProc = std::numeric_limits<int64_t>::max();
constexpr int64_t kHasNoProc = std::numeric_limits<int64_t>::min();

// StopSpan::end while the world is stopped.
constexpr int64_t kStillStopped = std::numeric_limits<int64_t>::max();

// How many stops are kept in any case.
constexpr size_t kFewestStops = 1024;

// An open interval, or a closed one that is held.
template <class IdType, class IntervalType>
struct Track {
  IdType id;
  IntervalType now;

  // The time until which the state is known to have lasted.
  int64_t known = 0;

  // The time when the resource was first seen.
  int64_t first = 0;

  // Whether the interval began before the first event of this tracker. If no earlier tracker knows
  // the resource, it begins at now.begin or, if `is_new`, at `first`.
  bool is_held = false;
  bool is_new = false;

  // Goroutines: whether the interval after this held one is held too, since it takes its stack and
  // cause from this one.
  bool has_successor = false;

  // Threads: whether its state comes only from statuses. Each status may add to the others.
  bool is_from_statuses = false;
};

using GoTrack = Track<GoId, GoInterval>;
using ProcTrack = Track<ProcId, ProcInterval>;
using ThreadTrack = Track<ThreadId, ThreadInterval>;

// All tracks of one kind.
template <class TrackType>
struct Tracks {
  explicit Tracks(size_t slots) : open(slots) {}

  DenseTable<TrackType> open;
  std::vector<TrackType> held;  // Closed tracks, in order of time.
};

void SetId(GoId id, GoInterval* interval) { interval->goroutine = id; }
void SetId(ProcId id, ProcInterval* interval) { interval->proc = id; }
void SetId(ThreadId id, ThreadInterval* interval) { interval->thread = id; }

// Returns whether `after`, which was held, may be the rest of `before`.
bool MayContinue(const GoInterval& before, const GoInterval& after) {
  return before.state == after.state;
}
bool MayContinue(const ProcInterval& before, const ProcInterval& after) {
  return before.state == after.state;
}
// Fields that no status set match anything.
bool MayContinue(const ThreadInterval& before, const ThreadInterval& after) {
  if (after.goroutine != GoId::kNone &&
      (after.goroutine != before.goroutine || after.state != before.state)) {
    return false;
  }
  return after.proc == ProcId::kNone || after.proc == before.proc;
}

// Returns `before` extended to the end of `after`, which is its rest.
GoInterval Join(GoInterval before, const GoInterval& after) {
  before.end = std::max(before.begin, after.end);
  before.end_clipped = after.end_clipped;
  before.ends_life = after.ends_life;
  before.ended_by = after.ended_by;
  if (before.proc_until == kStillHasProc && after.proc_until != kHasNoProc) {
    before.proc_until = after.proc_until;
  }
  return before;
}
ProcInterval Join(ProcInterval before, const ProcInterval& after) {
  before.end = std::max(before.begin, after.end);
  before.end_clipped = after.end_clipped;
  before.stolen = after.stolen;
  return before;
}
ThreadInterval Join(ThreadInterval before, const ThreadInterval& after) {
  before.end = std::max(before.begin, after.end);
  before.end_clipped = after.end_clipped;
  return before;
}

void MapIds(const InternerMap& ids, StopSpan* stop) {
  stop->stack = ids(stop->stack);
  stop->reason = ids(stop->reason);
  stop->name = ids(stop->name);
}
void MapIds(const InternerMap& ids, GoInterval* interval) {
  interval->reason = ids(interval->reason);
  interval->stack = ids(interval->stack);
  interval->begun_by.stack = ids(interval->begun_by.stack);
  interval->ended_by.stack = ids(interval->ended_by.stack);
}
void MapIds(const InternerMap&, ProcInterval*) {}
void MapIds(const InternerMap&, ThreadInterval*) {}

ThreadState StateOf(ProcId proc, GoId goroutine, ThreadState with_goroutine) {
  if (goroutine != GoId::kNone) return with_goroutine;
  return proc == ProcId::kNone ? ThreadState::kIdle : ThreadState::kScheduling;
}

GoId SubjectGo(const Event& event) { return GoId{event.transition_resource().id}; }
ProcId SubjectProc(const Event& event) { return ProcId{event.transition_resource().id}; }
GoState GoTo(const Event& event) { return static_cast<GoState>(event.transition_to()); }
ProcState ProcTo(const Event& event) { return static_cast<ProcState>(event.transition_to()); }

bool IsUndetermined(const Event& event) {
  static_assert(static_cast<int>(GoState::kUndetermined) ==
                static_cast<int>(ProcState::kUndetermined));
  return event.transition_from() == static_cast<uint8_t>(GoState::kUndetermined);
}

}  // namespace

absl::string_view CauseKindName(CauseKind kind) {
  constexpr absl::string_view kNames[] = {"unknown", "itself", "scheduler",         "goroutine",
                                          "network", "timer",  "garbage collector", "syscall"};
  return kNames[static_cast<int>(kind)];
}

absl::string_view ThreadStateName(ThreadState state) {
  constexpr absl::string_view kNames[] = {"Idle", "Scheduling", "Running", "Syscall"};
  return kNames[static_cast<int>(state)];
}

class StateTracker::Impl {
 public:
  Impl(Interner* interner, IntervalConsumer* consumer)
      : interner_(*interner), ids_(*interner->impl_), consumer_(*consumer) {}

  void StartInMiddle() { is_later_ = true; }
  void Add(absl::Span<const Event> events);
  absl::Status Finish();
  InternerMap Merge(Impl& next);

 private:
  void BeginGeneration(int64_t time);
  void TakeTransition(const Event& event);
  void TakeStatus(const Event& event);
  void TakeGoStatus(const Event& event);
  void TakeProcStatus(const Event& event);

  // The place of a goroutine after a transition: still on no thread, no longer on a thread, or on
  // the thread of the event.
  enum class Place : uint8_t { kNowhere, kOff, kRunning, kInSyscall };

  // The effects of a transition of a goroutine.
  struct Change {
    CauseKind cause;  // kGoroutine: the goroutine of the event, if it has one.
    bool has_reason;
    bool has_own_stack;  // If not, it keeps the stack of the previous interval.
    Place place;
  };
  static constexpr Change kStarts = {CauseKind::kScheduler, false, true, Place::kRunning};
  static constexpr Change kStops = {CauseKind::kItself, true, true, Place::kOff};
  static constexpr Change kIsWoken = {CauseKind::kGoroutine, false, false, Place::kNowhere};
  static constexpr Change kEntersSyscall = {CauseKind::kItself, false, true, Place::kInSyscall};
  static constexpr Change kLeavesSyscall = {CauseKind::kItself, false, true, Place::kRunning};
  static constexpr Change kLeavesBlockedSyscall = {CauseKind::kSyscall, false, false, Place::kOff};

  // Process transitions of the goroutine that `event` is about.
  void CreateGo(const Event& event);
  template <const Change& kChange>
  void ChangeGo(const Event& event);
  void EndGo(const Event& event);

  // Returns whether a goroutine `id` has ended in this generation. The trace of a program does not
  // state its status after that.
  bool HasEnded(GoId id);

  // Sets the thread and P of a goroutine that runs or is in a syscall.
  static void PutOn(ThreadId thread, ProcId proc, GoInterval* interval);

  // Process an event by which a P begins to run, or stops.
  void StartProc(const Event& event);
  void StopProc(const Event& event);
  ProcInterval& ChangeProc(const Event& event);

  // Takes the P from the goroutine of `thread`, which is in a syscall.
  void LoseProc(const ThreadInterval& thread, int64_t time);

  // Changes the P and goroutine of a thread. `state` is its state if it has a goroutine.
  void SetThread(const Event& event, ThreadId id, ProcId proc, GoId goroutine,
                 ThreadState state = ThreadState::kRunning);

  // Sets the P and goroutine of a thread from a status, `event`. kNone means unknown.
  void TakeThreadStatus(const Event& event, ThreadId id, ProcId proc, GoId goroutine,
                        ThreadState state);

  Cause CauseOf(const Event& event, CauseKind kind) const {
    return {kind, StackId::kNone, GoId::kNone, event.proc(), event.thread()};
  }
  // Returns the goroutine that emits `event` as the cause, if there is one.
  Cause CauseByGoroutine(const Event& event) const;
  // Returns what wakes a goroutine that waits for `reason`, if no other goroutine does.
  CauseKind WakerByReason(StringId reason);

  // Closes the open interval as lost, and opens an unrelated one in its place.
  template <class TrackType>
  TrackType& Replace(Tracks<TrackType>& tracks, TrackType* track, const Event& event);

  // Adds the track of a goroutine without a status. `event`, its first event, is not a status
  // either.
  GoTrack& OpenUnseenGo(const Event& event);

  // Adds a track whose interval begins at `begin`.
  template <class TrackType>
  TrackType& Open(Tracks<TrackType>& tracks, decltype(TrackType::id) id, int64_t begin,
                  const Event& event);

  // The same for a resource that existed before `event`, which names it. If `event` is a status,
  // the resource has been in its state since the generation began.
  template <class TrackType>
  TrackType& OpenOld(Tracks<TrackType>& tracks, decltype(TrackType::id) id, bool is_status,
                     const Event& event);

  // Closes the interval, and passes it to the consumer or holds it.
  template <class TrackType>
  void Close(Tracks<TrackType>& tracks, TrackType& track, int64_t end, bool clipped);

  template <class TrackType>
  static void Hold(Tracks<TrackType>& tracks, TrackType& track);

  // Closes the interval where the state is last known, because events are missing after that.
  template <class TrackType>
  void Lose(Tracks<TrackType>& tracks, TrackType& track) {
    Close(tracks, track, track.known, /*clipped=*/true);
  }

  // Closes all intervals whose state is not known at `since`, at `end`.
  void LoseAll(int64_t end, int64_t since);
  template <class TrackType>
  void LoseAllOf(Tracks<TrackType>& tracks, int64_t end, int64_t since);

  template <class TrackType>
  void FinishAllOf(Tracks<TrackType>& tracks);

  template <class TrackType>
  void MergeAllOf(Tracks<TrackType>& tracks, Tracks<TrackType>& next, bool had_gap,
                  const InternerMap& ids);
  // If `track` of the next tracker is held, joins it with the open interval of the same resource.
  template <class TrackType>
  void JoinHeld(Tracks<TrackType>& tracks, TrackType& track);
  // Makes `*open` the beginning of the runnable interval that follows `joined`.
  void LeaveToSuccessor(GoInterval& joined, GoInterval* open);
  // Closes the open interval of the same resource, if there is one.
  template <class TrackType>
  void CloseBefore(Tracks<TrackType>& tracks, TrackType& track);

  // Sets the begin of a held interval of which no earlier tracker knows.
  template <class TrackType>
  static void Release(TrackType& track);

  // Begin and end a stop of the world.
  void BeginStop(const Event& event);
  void EndStop(int64_t time);
  void AddStop(StopSpan stop);

  // Returns the stops that overlap the interval.
  StopsView StopsIn(const GoInterval& interval) const;

  // Removes stops that no later interval can overlap, once they are many.
  void ForgetStops();
  void MergeStops(Impl& next, const InternerMap& ids);

  void Give(GoInterval& interval) {
    interval.proc_until = std::clamp(interval.proc_until, interval.begin, interval.end);
    const bool may_be_stopped =
        interval.state == GoState::kRunning || interval.state == GoState::kRunnable;
    interval.stops =
        may_be_stopped && interval.begin < stopped_until_ ? StopsIn(interval) : StopsView();
    consumer_.AddGoroutine(interval);
  }
  void Give(ProcInterval& interval) { consumer_.AddProc(interval); }
  void Give(ThreadInterval& interval) { consumer_.AddThread(interval); }

  // Returns whether no earlier part of the trace can have stated the state of a resource.
  bool IsAtStart() const { return !is_later_ || starts_anew_; }

  Interner& interner_;
  Interner::Impl& ids_;  // Of interner_.
  IntervalConsumer& consumer_;
  bool is_later_ = false;           // Whether StartInMiddle() was called.
  bool has_cut_intervals_ = false;  // Whether a tracker that held nothing back was merged.

  Tracks<GoTrack> goroutines_{kSlotsForGoroutines};
  Tracks<ProcTrack> procs_{64};
  Tracks<ThreadTrack> threads_{64};

  // The latest time of an event.
  int64_t last_time_ = std::numeric_limits<int64_t>::min();
  uint64_t generations_ = 0;
  int64_t generation_begin_ = 0;        // Of the last one.
  int64_t first_generation_begin_ = 0;  // Of the first one.
  // Its first status of a resource that no generation stated before.
  std::optional<int64_t> first_statement_;
  int64_t last_generation_end_ = 0;
  bool starts_anew_ = false;  // Whether the first generation states that nothing precedes it.
  bool had_gap_ = false;      // Whether any later generation follows a gap.
  bool has_gap_ = false;      // Whether the last generation follows a gap.

  // Goroutines that ended in this generation: since the last call of HasEnded(), and before it.
  std::vector<GoId> ended_;
  absl::flat_hash_set<GoId> ended_ids_;

  // In order of time. They do not overlap.
  std::vector<StopSpan> stops_;
  // The end of the last one; kStillStopped while the world is stopped.
  int64_t stopped_until_ = std::numeric_limits<int64_t>::min();
  size_t most_stops_ = kFewestStops;  // If there are more, some may be removed.

  // By StringId: the CauseKind that wakes a goroutine that waits for this reason.
  std::vector<uint8_t> wakers_;
};

void StateTracker::Impl::BeginGeneration(int64_t time) {
  if (generations_ == 0) first_generation_begin_ = time;
  EndStop(time);
  ForgetStops();
  ++generations_;
  generation_begin_ = time;
  first_statement_.reset();
  last_generation_end_ = last_time_;
  has_gap_ = false;
  ended_.clear();
  ended_ids_.clear();
}

void StateTracker::Impl::BeginStop(const Event& event) {
  EndStop(event.time());
  const absl::string_view reason = event.range_parts().reason;
  AddStop({.begin = event.time(),
           .end = kStillStopped,
           .goroutine = event.goroutine(),
           .stack = interner_.InternStack(event.stack()),
           .reason = interner_.InternString(reason),
           .name = interner_.InternString(internal::StopName(reason))});
}

void StateTracker::Impl::EndStop(int64_t time) {
  if (stopped_until_ != kStillStopped) return;
  StopSpan& stop = stops_.back();
  stopped_until_ = stop.end = std::max(time, stop.begin);
}

void StateTracker::Impl::AddStop(StopSpan stop) {
  if (!stops_.empty()) stop.begin = std::max(stop.begin, stops_.back().end);
  stopped_until_ = stop.end = std::max(stop.end, stop.begin);
  stops_.push_back(stop);
}

StopsView StateTracker::Impl::StopsIn(const GoInterval& interval) const {
  const auto first = std::partition_point(stops_.begin(), stops_.end(), [&](const StopSpan& stop) {
    return stop.end <= interval.begin;
  });
  const auto last = std::partition_point(
      first, stops_.end(), [&](const StopSpan& stop) { return stop.begin < interval.end; });
  return StopsView(absl::MakeConstSpan(stops_).subspan(static_cast<size_t>(first - stops_.begin()),
                                                       static_cast<size_t>(last - first)));
}

void StateTracker::Impl::ForgetStops() {
  // Another tracker may have the begins of held intervals.
  if (stops_.size() <= most_stops_ || is_later_) return;
  int64_t oldest = last_time_;
  goroutines_.open.ForEach([&](const GoTrack& track) {
    const GoState state = track.now.state;
    if (state != GoState::kRunning && state != GoState::kRunnable) return;
    oldest = std::min(oldest, track.now.begin);
  });
  const auto is_needed = [&](const StopSpan& stop) { return stop.end > oldest; };
  stops_.erase(stops_.begin(), absl::c_find_if(stops_, is_needed));
  most_stops_ = std::max(kFewestStops, 2 * stops_.size());
}

void StateTracker::Impl::MergeStops(Impl& next, const InternerMap& ids) {
  if (next.generations_ > 0) EndStop(next.first_generation_begin_);
  for (StopSpan& stop : next.stops_) {
    MapIds(ids, &stop);
    AddStop(stop);
  }
}

template <class TrackType>
[[gnu::always_inline]] inline void StateTracker::Impl::Close(Tracks<TrackType>& tracks,
                                                             TrackType& track, int64_t end,
                                                             bool clipped) {
  track.now.end = std::max(end, track.now.begin);
  track.now.end_clipped = clipped;
  if constexpr (std::is_same_v<TrackType, GoTrack>) {
    if (clipped) track.now.ended_by = {};
  }
  if (track.is_held) [[unlikely]] {
    Hold(tracks, track);
  } else {
    Give(track.now);
  }
}

[[gnu::always_inline]] inline void StateTracker::Impl::SetThread(const Event& event, ThreadId id,
                                                                 ProcId proc, GoId goroutine,
                                                                 ThreadState state) {
  if (id == ThreadId::kNone) return;
  ThreadTrack* track = threads_.open.Find(id);
  state = StateOf(proc, goroutine, state);
  if (track == nullptr) [[unlikely]] {
    track = &Open(threads_, id, event.time(), event);
  } else {
    ThreadInterval& now = track->now;
    if (now.proc == proc && now.goroutine == goroutine && now.state == state) return;
    const int64_t time = std::max(event.time(), now.begin);
    Close(threads_, *track, time, /*clipped=*/false);
    now.begin = track->known = time;
    now.unseen = 0;
    now.begin_clipped = now.end_clipped = false;
    track->is_from_statuses = false;
  }
  track->now.state = state;
  track->now.proc = proc;
  track->now.goroutine = goroutine;
}

template <const StateTracker::Impl::Change& kChange>
[[gnu::always_inline]] inline void StateTracker::Impl::ChangeGo(const Event& event) {
  const GoId id = SubjectGo(event);
  GoTrack* track = goroutines_.open.Find(id);
  const GoState from = static_cast<GoState>(event.transition_from());
  if (track == nullptr) [[unlikely]]
    track = &OpenUnseenGo(event);
  GoInterval& now = track->now;
  int64_t time = std::max(event.time(), now.begin);
  const bool is_held = track->is_held;
  Cause cause = CauseOf(event, kChange.cause);
  if (kChange.cause == CauseKind::kGoroutine) {
    cause = event.goroutine() == GoId::kNone ? CauseOf(event, WakerByReason(now.reason))
                                             : CauseByGoroutine(event);
  }
  if (now.state != from) [[unlikely]] {
    Lose(goroutines_, *track);
    time = std::max(time, now.end);
  } else {
    now.ended_by = cause;
    Close(goroutines_, *track, time, /*clipped=*/false);
    if (!kChange.has_own_stack && is_held) [[unlikely]] {
      goroutines_.held.back().has_successor = true;
      track->is_held = true;
    }
  }
  now.begin = track->known = time;
  now.unseen = 0;
  now.begin_clipped = now.end_clipped = now.starts_life = false;
  now.state = GoTo(event);
  now.begun_by = cause;
  now.reason = kChange.has_reason ? ids_.FindString(internal::EventAccess::Tables(event),
                                                    internal::EventAccess::ReasonId(event))
                                  : StringId::kEmpty;
  if (kChange.has_own_stack) {
    now.stack = ids_.FindStack(internal::EventAccess::Tables(event), event.stack_id());
  }
  if (kChange.place == Place::kNowhere || kChange.place == Place::kOff) {
    PutOn(ThreadId::kNone, ProcId::kNone, &now);
    if (kChange.place == Place::kNowhere) return;
    return SetThread(event, event.thread(), event.proc(), GoId::kNone);
  }
  PutOn(event.thread(), event.proc(), &now);
  SetThread(event, event.thread(), event.proc(), id,
            kChange.place == Place::kInSyscall ? ThreadState::kSyscall : ThreadState::kRunning);
}

[[gnu::always_inline]] inline void StateTracker::Impl::TakeTransition(const Event& event) {
  // Only a status repeats a state that is known.
  if (event.transition_from() == event.transition_to()) return TakeStatus(event);
  switch (internal::TransitionTypeOf(event.type())) {
    case TransitionType::kGoStart:
      return ChangeGo<kStarts>(event);
    case TransitionType::kGoStop:
    case TransitionType::kGoBlock:
      return ChangeGo<kStops>(event);
    case TransitionType::kGoUnblock:
    case TransitionType::kGoSwitch:
    case TransitionType::kGoSwitchDestroy:
      return ChangeGo<kIsWoken>(event);
    case TransitionType::kGoSyscallBegin:
      return ChangeGo<kEntersSyscall>(event);
    case TransitionType::kGoSyscallEnd:
      return ChangeGo<kLeavesSyscall>(event);
    case TransitionType::kGoSyscallEndBlocked:
      return ChangeGo<kLeavesBlockedSyscall>(event);
    case TransitionType::kGoCreate:
    case TransitionType::kGoCreateBlocked:
    case TransitionType::kGoCreateSyscall:
      return CreateGo(event);
    case TransitionType::kGoDestroy:
      EndGo(event);
      return SetThread(event, event.thread(), event.proc(), GoId::kNone);
    case TransitionType::kGoDestroySyscall:
      EndGo(event);
      // The previous event took the P away, although this event still shows it.
      return SetThread(event, event.thread(), ProcId::kNone, GoId::kNone);
    case TransitionType::kProcStart:
      return StartProc(event);
    case TransitionType::kProcStop:
    case TransitionType::kProcSteal:
      return StopProc(event);
    case TransitionType::kProcStatus:
    case TransitionType::kGoStatus:
    case TransitionType::kGoStatusStack:
      return TakeStatus(event);
  }
}

void StateTracker::Impl::Add(absl::Span<const Event> events) {
  if (generations_ == 0 && !events.empty() && events.front().kind() != EventKind::kSync) {
    BeginGeneration(events.front().time());
  }
  for (const Event& event : events) {
    if (event.kind() == EventKind::kStateTransition) {
      TakeTransition(event);
    } else if (event.kind() == EventKind::kSync) {
      BeginGeneration(event.time());
    } else if (event.type() == EventType::kSTWBegin) {
      BeginStop(event);
    } else if (event.type() == EventType::kSTWEnd) {
      EndStop(event.time());
    }
    last_time_ = std::max(last_time_, event.time());
  }
}

void StateTracker::Impl::TakeStatus(const Event& event) {
  if (event.transition_to() == static_cast<uint8_t>(GoState::kUndetermined)) return;
  // No generation stated this before: it is at the beginning of the trace, or after a gap. If
  // salvaging assumes a state, the event is marked with a fault.
  if (IsUndetermined(event) && !event.fault().has_value()) {
    if (!first_statement_.has_value()) first_statement_ = event.time();
    if (generations_ == 1) {
      starts_anew_ = true;
    } else if (!has_gap_) {
      had_gap_ = has_gap_ = true;
      LoseAll(last_generation_end_, generation_begin_);
    }
  }
  if (event.transition_resource().kind == ResourceKind::kGoroutine) {
    TakeGoStatus(event);
  } else {
    TakeProcStatus(event);
  }
}

void StateTracker::Impl::TakeGoStatus(const Event& event) {
  const GoId id = SubjectGo(event);
  const GoState state = GoTo(event);
  const bool is_on_thread = state == GoState::kRunning || state == GoState::kSyscall;
  if (is_on_thread) {
    TakeThreadStatus(event, event.thread(), ProcId::kNone, id,
                     state == GoState::kSyscall ? ThreadState::kSyscall : ThreadState::kRunning);
  }
  GoTrack* track = goroutines_.open.Find(id);
  if (track != nullptr && track->now.state != state) {
    track = &Replace(goroutines_, track, event);
    track->now.begin_clipped = true;
  } else if (track == nullptr) {
    track = &OpenOld(goroutines_, id, /*is_status=*/!HasEnded(id), event);
  } else {
    track->known = std::max(track->known, event.time());
    return;
  }
  track->now.state = state;
  track->now.stack = interner_.InternStack(event.transition_stack());
  if (!is_on_thread) return;
  // Another thread, which has a P of its own, may report the status.
  const ThreadTrack* const thread = threads_.open.Find(event.thread());
  PutOn(event.thread(), thread == nullptr ? ProcId::kNone : thread->now.proc, &track->now);
}

void StateTracker::Impl::TakeProcStatus(const Event& event) {
  const ProcId id = SubjectProc(event);
  const ProcState state = ProcTo(event);
  if (state == ProcState::kRunning) {
    // Such a P is in a syscall, with the goroutine that its thread has.
    const bool in_syscall = event.type() == EventType::kProcStatus && event.arg(1) >= 3;
    TakeThreadStatus(event, event.thread(), id, event.goroutine(),
                     in_syscall ? ThreadState::kSyscall : ThreadState::kRunning);
  }
  ProcTrack* track = procs_.open.Find(id);
  if (track != nullptr && track->now.state != state) {
    track = &Replace(procs_, track, event);
    track->now.begin_clipped = true;
  } else if (track == nullptr) {
    const bool is_new = event.transition_from() == static_cast<uint8_t>(ProcState::kNotExist);
    track = &OpenOld(procs_, id, /*is_status=*/true, event);
    track->is_new = is_new;
    if (is_new && !track->is_held) Release(*track);
  } else {
    track->known = std::max(track->known, event.time());
    return;
  }
  track->now.state = state;
  track->now.thread = state == ProcState::kRunning ? event.thread() : ThreadId::kNone;
}

void StateTracker::Impl::CreateGo(const Event& event) {
  const GoId id = SubjectGo(event);
  GoTrack* const old = goroutines_.open.Find(id);
  GoInterval& created = (old == nullptr ? Open(goroutines_, id, event.time(), event)
                                        : Replace(goroutines_, old, event))
                            .now;
  created.state = GoTo(event);
  created.starts_life = true;
  created.proc_until = kHasNoProc;
  created.begun_by = CauseByGoroutine(event);
  if (event.type() != EventType::kGoCreateSyscall) {
    created.stack = interner_.InternStack(event.transition_stack());
    return;
  }
  PutOn(event.thread(), event.proc(), &created);
  SetThread(event, event.thread(), event.proc(), id, ThreadState::kSyscall);
}

[[gnu::noinline]] GoTrack& StateTracker::Impl::OpenUnseenGo(const Event& event) {
  GoTrack& track = OpenOld(goroutines_, SubjectGo(event), /*is_status=*/false, event);
  track.now.state = static_cast<GoState>(event.transition_from());
  track.now.proc_until = kHasNoProc;
  return track;
}

void StateTracker::Impl::EndGo(const Event& event) {
  const GoId id = SubjectGo(event);
  GoTrack* track = goroutines_.open.Find(id);
  const GoState from = static_cast<GoState>(event.transition_from());
  if (track == nullptr) [[unlikely]]
    track = &OpenUnseenGo(event);
  if (track->now.state != from) [[unlikely]] {
    Lose(goroutines_, *track);
  } else {
    track->now.ends_life = true;
    track->now.ended_by = CauseOf(event, CauseKind::kItself);
    Close(goroutines_, *track, event.time(), /*clipped=*/false);
  }
  goroutines_.open.Erase(track);
  ended_.push_back(id);
}

bool StateTracker::Impl::HasEnded(GoId id) {
  ended_ids_.insert(ended_.begin(), ended_.end());
  ended_.clear();
  return ended_ids_.contains(id);
}

void StateTracker::Impl::PutOn(ThreadId thread, ProcId proc, GoInterval* interval) {
  interval->thread = thread;
  interval->proc = proc;
  interval->proc_until = proc == ProcId::kNone ? kHasNoProc : kStillHasProc;
}

void StateTracker::Impl::StartProc(const Event& event) {
  ChangeProc(event).thread = event.thread();
  // A goroutine that the thread has is about to leave its syscall.
  const GoTrack* const track = goroutines_.open.Find(event.goroutine());
  const bool in_syscall = track != nullptr && track->now.state == GoState::kSyscall;
  SetThread(event, event.thread(), SubjectProc(event), event.goroutine(),
            in_syscall ? ThreadState::kSyscall : ThreadState::kRunning);
}

void StateTracker::Impl::StopProc(const Event& event) {
  const ProcId id = SubjectProc(event);
  const ProcTrack* const running = procs_.open.Find(id);
  // The thread that had the P. A thief names it too, unless the event stands for the end of a
  // goroutine in its syscall.
  ThreadId thread = running == nullptr ? ThreadId::kNone : running->now.thread;
  if (thread == ThreadId::kNone) {
    const bool is_own = event.type() == EventType::kProcStop || event.proc() == id;
    thread = is_own ? event.thread() : ThreadId{static_cast<int64_t>(event.arg(2))};
  }
  ChangeProc(event);
  ThreadTrack* const track = threads_.open.Find(thread);
  if (track == nullptr) return SetThread(event, thread, ProcId::kNone, GoId::kNone);
  if (track->is_from_statuses && track->now.proc == ProcId::kNone) track->now.proc = id;
  // In a damaged trace the thread may have another P by now.
  if (track->now.proc != id) return;
  const ThreadInterval has = track->now;
  if (has.state == ThreadState::kSyscall) LoseProc(has, event.time());
  SetThread(event, thread, ProcId::kNone, has.goroutine, has.state);
}

ProcInterval& StateTracker::Impl::ChangeProc(const Event& event) {
  const ProcId id = SubjectProc(event);
  ProcTrack* track = procs_.open.Find(id);
  const ProcState from = static_cast<ProcState>(event.transition_from());
  if (track == nullptr) [[unlikely]] {
    track = &OpenOld(procs_, id, /*is_status=*/false, event);
    track->now.state = from;
  }
  ProcInterval& now = track->now;
  int64_t time = std::max(event.time(), now.begin);
  if (now.state != from) [[unlikely]] {
    Lose(procs_, *track);
    time = std::max(time, now.end);
  } else {
    now.stolen = event.type() == EventType::kProcSteal;
    Close(procs_, *track, time, /*clipped=*/false);
  }
  now.begin = track->known = time;
  now.unseen = 0;
  now.begin_clipped = now.end_clipped = false;
  now.state = ProcTo(event);
  now.stolen = false;
  now.thread = ThreadId::kNone;
  return now;
}

void StateTracker::Impl::LoseProc(const ThreadInterval& thread, int64_t time) {
  GoTrack* const track = goroutines_.open.Find(thread.goroutine);
  if (track == nullptr || track->now.state != GoState::kSyscall) return;
  GoInterval& syscall = track->now;
  if (syscall.proc_until != kStillHasProc && syscall.proc_until != kHasNoProc) return;
  // It has the P now, even if this was not known before.
  syscall.proc = thread.proc;
  syscall.proc_until = time;
}

void StateTracker::Impl::TakeThreadStatus(const Event& event, ThreadId id, ProcId proc,
                                          GoId goroutine, ThreadState state) {
  if (id == ThreadId::kNone) return;
  ThreadTrack* track = threads_.open.Find(id);
  if (track == nullptr) {
    track = &OpenOld(threads_, id, /*is_status=*/true, event);
    track->is_from_statuses = true;
  }
  ThreadInterval& now = track->now;
  if (proc == ProcId::kNone) proc = now.proc;
  if (goroutine == GoId::kNone) {
    goroutine = now.goroutine;
    state = now.state;
  }
  if (!track->is_from_statuses) return SetThread(event, id, proc, goroutine, state);
  now.proc = proc;
  now.goroutine = goroutine;
  now.state = StateOf(proc, goroutine, state);
  track->known = std::max(track->known, event.time());
}

Cause StateTracker::Impl::CauseByGoroutine(const Event& event) const {
  if (event.goroutine() == GoId::kNone) return CauseOf(event, CauseKind::kUnknown);
  Cause cause = CauseOf(event, CauseKind::kGoroutine);
  cause.goroutine = event.goroutine();
  cause.stack = ids_.FindStack(internal::EventAccess::Tables(event), event.stack_id());
  return cause;
}

CauseKind StateTracker::Impl::WakerByReason(StringId reason) {
  constexpr uint8_t kUnknownYet = 0xff;
  const size_t index = static_cast<size_t>(reason);
  if (index >= wakers_.size()) wakers_.resize(index + 1, kUnknownYet);
  if (wakers_[index] == kUnknownYet) {
    wakers_[index] = static_cast<uint8_t>(internal::WakerOf(interner_.String(reason)));
  }
  return static_cast<CauseKind>(wakers_[index]);
}

template <class TrackType>
TrackType& StateTracker::Impl::Open(Tracks<TrackType>& tracks, decltype(TrackType::id) id,
                                    int64_t begin, const Event& event) {
  TrackType& track = *tracks.open.Insert(id);
  SetId(id, &track.now);
  track.now.begin = begin;
  track.known = track.first = event.time();
  return track;
}

template <class TrackType>
TrackType& StateTracker::Impl::Replace(Tracks<TrackType>& tracks, TrackType* track,
                                       const Event& event) {
  Lose(tracks, *track);
  const decltype(TrackType::id) id = track->id;
  const int64_t end = track->now.end;
  tracks.open.Erase(track);
  return Open(tracks, id, std::max(event.time(), end), event);
}

template <class TrackType>
TrackType& StateTracker::Impl::OpenOld(Tracks<TrackType>& tracks, decltype(TrackType::id) id,
                                       bool is_status, const Event& event) {
  TrackType& track = Open(tracks, id, is_status ? generation_begin_ : event.time(), event);
  track.now.begin_clipped = true;
  if (is_status && first_statement_.value_or(generation_begin_) > generation_begin_) {
    track.now.unseen = std::max<int64_t>(Between(generation_begin_, *first_statement_), 0);
  }
  track.is_held = !IsAtStart() && !IsUndetermined(event);
  return track;
}

template <class TrackType>
[[gnu::noinline]] void StateTracker::Impl::Hold(Tracks<TrackType>& tracks, TrackType& track) {
  tracks.held.push_back(track);
  track.is_held = false;
}

template <class TrackType>
void StateTracker::Impl::LoseAllOf(Tracks<TrackType>& tracks, int64_t end, int64_t since) {
  for (TrackType* const track : tracks.open.Sorted()) {
    if (track->known >= since) continue;
    // If a generation begins before the previous one ends, some of its times are wrong.
    Close(tracks, *track, std::min(std::max(end, track->known), since), /*clipped=*/true);
    tracks.open.Erase(track);
  }
}

void StateTracker::Impl::LoseAll(int64_t end, int64_t since) {
  LoseAllOf(goroutines_, end, since);
  LoseAllOf(procs_, end, since);
  LoseAllOf(threads_, end, since);
}

template <class TrackType>
void StateTracker::Impl::Release(TrackType& track) {
  track.is_held = false;
  if (!track.is_new) return;
  track.now.begin = track.first;
  track.now.unseen = 0;
  track.now.begin_clipped = false;
}

template <class TrackType>
void StateTracker::Impl::FinishAllOf(Tracks<TrackType>& tracks) {
  for (TrackType& track : tracks.held) {
    Release(track);
    Give(track.now);
  }
  tracks.held.clear();
  for (TrackType* const track : tracks.open.Sorted()) {
    if (track->is_held) Release(*track);
    Close(tracks, *track, last_time_, /*clipped=*/true);
  }
  tracks.open.Clear();
}

absl::Status StateTracker::Impl::Finish() {
  FinishAllOf(goroutines_);
  FinishAllOf(procs_);
  FinishAllOf(threads_);
  return has_cut_intervals_
             ? absl::FailedPreconditionError("StartInMiddle() was not called for a part of a trace")
             : absl::OkStatus();
}

template <class TrackType>
void StateTracker::Impl::JoinHeld(Tracks<TrackType>& tracks, TrackType& track) {
  TrackType* const before = tracks.open.Find(track.id);
  if (before != nullptr && MayContinue(before->now, track.now)) {
    track.now = Join(before->now, track.now);
    track.is_held = before->is_held;
    track.is_new = before->is_new;
    track.is_from_statuses &= before->is_from_statuses;
    track.first = before->first;
    if constexpr (std::is_same_v<TrackType, GoTrack>) {
      if (track.has_successor) return LeaveToSuccessor(track.now, &before->now);
    }
    tracks.open.Erase(before);
  } else if (before != nullptr) {
    Lose(tracks, *before);
    tracks.open.Erase(before);
    track.is_held = false;
  } else if (IsAtStart()) {
    // A P without a status in the previous generation is new.
    track.is_new |= std::is_same_v<TrackType, ProcTrack>;
    Release(track);
  }
}

void StateTracker::Impl::LeaveToSuccessor(GoInterval& joined, GoInterval* open) {
  if (joined.state == GoState::kWaiting && joined.ended_by.kind == CauseKind::kUnknown) {
    joined.ended_by.kind = WakerByReason(joined.reason);
  }
  open->begin = joined.end;
  open->unseen = 0;
  open->begin_clipped = false;
  open->state = GoState::kRunnable;
  open->starts_life = false;
  open->reason = StringId::kEmpty;
  open->proc = ProcId::kNone;
  open->thread = ThreadId::kNone;
  open->proc_until = kHasNoProc;
  open->begun_by = joined.ended_by;
}

template <class TrackType>
void StateTracker::Impl::CloseBefore(Tracks<TrackType>& tracks, TrackType& track) {
  TrackType* const before = tracks.open.Find(track.id);
  if (before == nullptr) return;
  // Threads do not end. The previous interval of a thread is over once another is seen.
  if constexpr (std::is_same_v<TrackType, ThreadTrack>) {
    Close(tracks, *before, track.first, /*clipped=*/false);
  } else {
    Lose(tracks, *before);
  }
  track.first = before->first;
  tracks.open.Erase(before);
}

template <class TrackType>
void StateTracker::Impl::MergeAllOf(Tracks<TrackType>& tracks, Tracks<TrackType>& next,
                                    bool had_gap, const InternerMap& ids) {
  for (TrackType& track : next.held) {
    MapIds(ids, &track.now);
    JoinHeld(tracks, track);
    if (TrackType* const rest = next.open.Find(track.id)) rest->first = track.first;
    if (track.is_held) {
      tracks.held.push_back(track);
    } else {
      Give(track.now);
    }
  }
  next.held.clear();
  const std::vector<TrackType*> open = next.open.Sorted();
  for (TrackType* const track : open) {
    MapIds(ids, &track->now);
    if (track->is_held) {
      JoinHeld(tracks, *track);
    } else {
      CloseBefore(tracks, *track);
    }
  }
  if (had_gap) LoseAllOf(tracks, last_time_, std::numeric_limits<int64_t>::max());
  for (const TrackType* const track : open) *tracks.open.Insert(track->id) = *track;
  next.open.Clear();
}

InternerMap StateTracker::Impl::Merge(Impl& next) {
  InternerMap ids = interner_.Merge(next.interner_);
  has_cut_intervals_ |= next.has_cut_intervals_ || (!next.is_later_ && next.generations_ > 0);
  if (next.starts_anew_) LoseAll(last_time_, std::numeric_limits<int64_t>::max());
  if (generations_ == 0) {
    starts_anew_ = next.starts_anew_;
    first_generation_begin_ = next.first_generation_begin_;
  }
  MergeStops(next, ids);
  MergeAllOf(goroutines_, next.goroutines_, next.had_gap_, ids);
  MergeAllOf(procs_, next.procs_, next.had_gap_, ids);
  MergeAllOf(threads_, next.threads_, next.had_gap_, ids);
  if (next.generations_ > 0) {
    generation_begin_ = next.generation_begin_;
    last_generation_end_ = std::max(last_time_, next.last_generation_end_);
    has_gap_ = next.has_gap_;
  }
  generations_ += next.generations_;
  had_gap_ |= next.had_gap_ || next.starts_anew_;
  last_time_ = std::max(last_time_, next.last_time_);
  ForgetStops();
  return ids;
}

StateTracker::StateTracker(Interner* interner, IntervalConsumer* consumer)
    : impl_(std::make_unique<Impl>(interner, consumer)) {}
StateTracker::~StateTracker() = default;

void StateTracker::Add(absl::Span<const Event> events) { impl_->Add(events); }

void StateTracker::StartInMiddle() { impl_->StartInMiddle(); }

absl::Status StateTracker::Finish() { return impl_->Finish(); }

InternerMap StateTracker::Merge(StateTracker&& next) { return impl_->Merge(*next.impl_); }

}  // namespace gotrace
