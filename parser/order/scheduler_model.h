// A model of Go's scheduler that orders events and checks them (FORMAT.md §9).
#ifndef GOTRACE_PARSER_ORDER_SCHEDULER_MODEL_H_
#define GOTRACE_PARSER_ORDER_SCHEDULER_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/fault.h"
#include "gotrace/ids.h"
#include "gotrace/internal/transition_history.h"
#include "gotrace/reader_limits.h"
#include "parser/generation/generation.h"
#include "parser/order/frontier.h"
#include "parser/order/goroutine_table.h"
#include "parser/order/obstacle.h"
#include "parser/order/preconditions.h"
#include "parser/order/scheduler_state.h"
#include "parser/order/thread_decoder.h"
#include "parser/order/wait_list.h"
#include "parser/order/waiting_goroutines.h"
#include "util/name_pool.h"

namespace gotrace::internal {

// Holds the conditions of one event without an allocation.
using WaitConditions = absl::InlinedVector<WaitCondition, 16>;

// Takes events in the order in which the threads' clocks suggest them, and advances those that the
// state of the program allows. An event that must wait for an event of another thread has to be
// tried again later.
//
// The method OrderX implements the rule X of events.def.
class SchedulerModel {
 public:
  enum class Outcome : uint8_t {
    kAdvanced,  // The event comes next; events() returns what it became.
    kWaits,     // It cannot come next, but may after events of other threads.
    kFault,     // It can never come next; see fault_id() and fault_message().
  };

  explicit SchedulerModel(const ReaderLimits& limits = {}) : limits_(limits) {}
  SchedulerModel(const SchedulerModel&) = delete;
  SchedulerModel& operator=(const SchedulerModel&) = delete;

  // Starts with `generation` as if the model knew the earlier ones: it assumes that the statements
  // of the generation about the past are true. Anything that it cannot assume is a fault. Must be
  // called before the first BeginGeneration().
  void StartInMiddle(const Generation& generation, const SegmentStart& start);

  // Whether the assumptions of StartInMiddle() hold after `before`, the model of all earlier
  // generations, and both models together are within the limits. Requires
  // SegmentStart::has_half_of_limits.
  bool Follows(const SchedulerModel& before) const;

  // Gives this model the state that it would have if it had started at the beginning of the trace.
  // Requires Follows().
  void ContinueFrom(const SchedulerModel& before);

  // Sets the generation of the following events. It must outlive them.
  void BeginGeneration(Generation* generation);

  // Returns the number of goroutines that wait, by reason; see WaitingGoroutines.
  WaitingGoroutines CountWaiting() const;

  // Tries the event that `cursor` is at. After kFault the event can only be forced or dropped;
  // trying it again before anything else changes gives the same result.
  Outcome Advance(ThreadCursor* cursor);

  // The arguments and the results of AdvanceRuns().
  struct Run {
    int64_t until;            // The latest time of an event to advance, in nanoseconds.
    bool watches_time;        // Whether to stop at an event that is followed by an earlier one.
    bool hands_over;          // Whether another core uses the events.
    int64_t last_time;        // The time of the event before, then of the last one that advanced.
    Event* room;              // Where the next events are put.
    const Event* last_begin;  // The last place for an event to begin; kMaxEvents - 1 fit after it.
    uint64_t attempts = 0;    // The number of events that were tried.

    bool HasRoom() const { return room < last_begin; }
  };

  // Advances the first events of `frontier` for as long as Advance() would return kAdvanced and
  // they need no other attention: everything that they refer to exists, and the thread has a next
  // event, which is not earlier if run.watches_time is set. Moves their threads on, and sets the
  // final times of the events. The events are put at run.room, not in events(). Requires that
  // `frontier` has threads and that none is parked.
  Run AdvanceRuns(Frontier* frontier, Run run);

  // Advances the event that `cursor` is at in any case, by changing the model so that the event is
  // admissible. Returns kAdvanced, or kFault if the event does not identify its goroutine or P. The
  // model can be used further in both cases.
  Outcome Force(ThreadCursor* cursor);

  // Returns the fault of a limit that the goroutines, Ps and threads of the model have passed, if
  // any. Unlike Advance(), Force() does not check limits.
  std::optional<FaultId> PassedLimit() const;

  // Returns the message of such a fault.
  std::string MessageOf(FaultId limit) const;

  // Returns for each cursor why its event must wait. Requires that Advance() returned kWaits for
  // all of them, and that nothing advanced since. Takes time in proportion to all threads.
  std::vector<Obstacle> Explain(absl::Span<const ThreadCursor* const> waiting) const;

  // Returns the context of a fault at the event that `cursor` is at. Requires that Advance() was
  // last called with `cursor`.
  FaultContext ContextOf(const ThreadCursor& cursor) const;

  // Lists what must change before the event that `cursor` is at can come next. Requires that
  // Advance() returned kWaits for it, and that nothing advanced since.
  void ListAwaited(const ThreadCursor& cursor, WaitConditions* conditions) const;

  // Lists the conditions that events() may have met: the conditions on everything that events()
  // changed that hold now.
  void ListMet(WaitConditions* conditions) const;

  // Whether `condition` holds. One of kind kThread never does, since it stands for a change.
  bool Holds(const WaitCondition& condition) const;

  // Forgets everything except tasks, so that the next generation is treated as the first.
  void Forget();

  // Returns the events that the last advanced event became: usually one, at most kMaxEvents. The
  // next event that advances overwrites them.
  absl::Span<Event> events() { return absl::MakeSpan(events_, events_end_); }
  static constexpr int kMaxEvents = 3;

  // Sets where the following events() are put. `room` must have room for kMaxEvents.
  void EmitTo(Event* room) { events_ = events_end_ = room; }

  // Empties events().
  void DropEvents() { events_end_ = events_; }

  FaultId fault_id() const { return fault_id_; }
  const std::string& fault_message() const { return fault_message_; }

 private:
  // The goroutine and P of an event's thread.
  struct Context {
    ThreadId thread;
    ProcId proc;
    GoId goroutine;
  };

  // An event being tried. Its context is the one before the event until the rule changes the
  // thread.
  struct Step {
    const DecodedEvent& event;
    ThreadState* thread;  // no_thread_ if no thread wrote the event.

    EventType type() const { return event.type; }
    uint64_t arg(int index) const { return event.args[index]; }
    bool has_thread() const { return thread_id() != ThreadId::kNone; }
    ThreadId thread_id() const { return thread->id; }
    ProcId proc() const { return thread->proc; }
    GoId goroutine() const { return thread->goroutine; }
    Context context() const { return {thread_id(), proc(), goroutine()}; }
  };

  // The same with a type that is known at compile time.
  template <EventType kType>
  struct KnownStep : Step {
    static constexpr EventType type() { return kType; }
  };

  enum class GcState : uint8_t { kUndetermined, kNotRunning, kRunning };

  struct TaskState {
    NamePool::Name name;
    TaskId parent;
  };

  // Dispatch. ------------------------------------------------------------------------------------
  Outcome Dispatch(Step step);

  // Tries an event whose type is known at compile time.
  template <EventType kType>
  Outcome Order(Step step);

  // Ps. ------------------------------------------------------------------------------------------
  Outcome OrderProcStatus(Step step);
  template <class AnyStep>
  Outcome OrderProcStart(AnyStep step);
  template <class AnyStep>
  Outcome OrderProcStop(AnyStep step);
  template <class AnyStep>
  Outcome OrderProcSteal(AnyStep step);
  Outcome ConfirmAbandonedProc(Step step, ProcessorState* proc);
  Outcome CheckSteal(Step step, ProcId proc, ThreadId victim);

  // Goroutines. ----------------------------------------------------------------------------------
  Outcome OrderGoStatus(Step step);
  Outcome BindSyscall(Step step, GoId goroutine, Context* context);
  Outcome FailSyscallThread(GoId expected, ThreadId thread, GoId found);
  Outcome FailGoroutineExists(GoId goroutine);
  template <class AnyStep>
  Outcome OrderGoCreate(AnyStep step);
  Outcome OrderGoCreateSyscall(Step step);
  // Adds the goroutine that the step creates, and its transition.
  template <class AnyStep>
  Outcome CreateGoroutine(AnyStep step);
  template <class AnyStep>
  Outcome OrderGoStart(AnyStep step);
  template <class AnyStep>
  Outcome OrderGoStopExecuting(AnyStep step);
  template <class AnyStep>
  Outcome OrderGoUnblock(AnyStep step);
  Outcome OrderGoSwitch(Step step);
  template <class AnyStep>
  Outcome OrderGoSyscallBegin(AnyStep step);
  template <class AnyStep>
  Outcome OrderGoSyscallEnd(AnyStep step);
  Outcome OrderGoSyscallEndBlocked(Step step);
  Outcome OrderGoDestroySyscall(Step step);

  // Ranges, GC cycles and metrics. ---------------------------------------------------------------
  template <class AnyStep>
  Outcome OrderGoRangeBegin(AnyStep step);
  Outcome OrderGoRangeActive(Step step);
  template <class AnyStep>
  Outcome OrderGoRangeEnd(AnyStep step);
  Outcome OrderGCActive(Step step);
  Outcome OrderGCBegin(Step step);
  Outcome OrderGCEnd(Step step);
  Outcome OrderGCSweepActive(Step step);
  template <class AnyStep>
  Outcome OrderGCSweepBegin(AnyStep step);
  template <class AnyStep>
  Outcome OrderGCSweepEnd(AnyStep step);
  template <class AnyStep>
  Outcome OrderHeapMetric(AnyStep step);
  Outcome OrderAllocFree(Step step);
  template <class State>
  Outcome BeginRange(Step step, State* state, uint64_t kind);
  template <class State>
  Outcome ConfirmRange(Step step, State* state);
  template <class State>
  Outcome EndRange(Step step, State* state, uint64_t* kind);

  // Open a range, and close the one at `place`, in the ranges of a goroutine or P.
  void OpenRangeIn(OpenRanges& ranges, const OpenRange& range);
  void CloseRangeIn(OpenRanges& ranges, size_t place);

  // Tasks, regions, logs and labels. -------------------------------------------------------------
  template <class AnyStep>
  Outcome OrderAnnotation(AnyStep step);
  Outcome OrderUserTaskBegin(Step step);
  Outcome OrderUserTaskEnd(Step step);
  Outcome OrderUserRegionBegin(Step step);
  Outcome OrderUserRegionEnd(Step step);
  Outcome FailString(uint64_t id);
  // Returns the text of the string `id`, valid until the end of the generation; nullptr if there is
  // none.
  NamePool::Text* FindName(uint64_t id);

  // The rule of types that are not ordered.
  Outcome OrderNone(Step step);

  // Starting in the middle: scheduler_preconditions.cc. -----------------------------------------

  // Whether something that appears for the first time may be assumed to have existed before.
  bool MayAssume() const {
    return preconditions_ != nullptr && generation_->number() == preconditions_->generation;
  }

  // Each is called when the model looks up state that it does not have. It adds the state that can
  // be assumed, and returns the result.
  [[gnu::cold]] void AssumeThread(ThreadState* thread);
  [[gnu::cold]] Outcome AssumeSyscallThread(ThreadId id, GoId goroutine, Context* context);
  [[gnu::cold]] Outcome AssumeAbandonedProc(Step step, ProcId proc);
  // Returns the earlier state of the goroutine or P; nullopt if the model should have known it.
  [[gnu::cold]] std::optional<GoState> AssumeGoroutine(GoId id, GoStatus status);
  [[gnu::cold]] ProcState AssumeProc(ProcId id, ProcStatus status);
  [[gnu::cold]] void AssumeGc(bool running, uint64_t next_sequence);
  [[gnu::cold]] bool AssumeActiveRange(const SegmentPreconditions::ActiveRange& range);
  [[gnu::cold]] bool AssumeRegionEnd(GoId goroutine, TaskId task, NamePool::Text* name);
  [[gnu::cold]] std::optional<TaskState> AssumeTaskEnd(TaskId id);

  // Each records something new, and returns false if it cannot be known to be new.
  [[gnu::noinline]] bool MayCreate(GoId id);
  bool MayBegin(const SegmentPreconditions::ActiveRange& range);
  bool MayBeginTask(TaskId task);

  bool IsWithin(const ReaderLimits& half) const;
  bool HoldsOfGoroutines(const SchedulerModel& before) const;
  bool HoldsOfProcs(const SchedulerModel& before) const;
  bool HoldsOfThreads(const SchedulerModel& before) const;
  bool HoldsOfRanges(const SchedulerModel& before) const;
  bool HoldsOfTasks(const SchedulerModel& before) const;
  bool HoldsOfGc(const SchedulerModel& before) const;

  // The number of a goroutine's earlier regions that have ended; nullopt if others should have
  // ended.
  using EndedRegions = absl::flat_hash_map<GoId, size_t>;
  std::optional<EndedRegions> EndRegions(const SchedulerModel& before) const;
  void TakeRegions(const GoroutineState& before, const EndedRegions& ended);

  // Continuing after faults: scheduler_force.cc. ------------------------------------------------
  void MakeAdmissible(const TimedEvent& event, ThreadState* thread);
  void MakeAdmissibleGc(const TimedEvent& event);
  void MakeAdmissibleContext(const TimedEvent& event, ThreadState& thread);
  void MakeAdmissibleSubject(const TimedEvent& event);
  void MakeAdmissibleStatus(const TimedEvent& event);
  void MakeAdmissibleSpan(const TimedEvent& event, const ThreadState* thread);
  void MakeAdmissibleRegionEnd(const TimedEvent& event, GoroutineState* goroutine);

  // Set the status of a goroutine or P, which is added if it does not exist, and a sequence number
  // that `next_number` follows.
  GoroutineState* SetGoroutineState(GoId id, GoStatus status, uint64_t next_number);
  ProcessorState* SetProcState(ProcId id, ProcStatus status, uint64_t next_number);
  void SetCurrentGoroutine(const ThreadState& thread, GoStatus status);
  ProcessorState* SetCurrentProc(const ThreadState& thread, ProcStatus status);

  // Explaining why events wait: scheduler_explain.cc.
  class Explainer;

  // Listing the conditions for which they wait: scheduler_waits.cc.
  void ListMetBy(const Event& event, WaitConditions* conditions) const;
  void ListMetOfGoroutine(GoId id, WaitConditions* conditions) const;
  void ListMetOfProc(ProcId id, WaitConditions* conditions) const;

  // Shared by the rules. -------------------------------------------------------------------------

  // Adds an event without arguments.
  Event& EmitBare(Step step, const Context& context, EventTags tags);

  // Adds the event that `step` becomes, as seen from `context`.
  Event& Emit(Step step, const Context& context);
  Event& Emit(Step step) { return Emit(step, step.context()); }

  // Adds the event as a change of state of the goroutine or P `subject`, unless the event is
  // dropped.
  template <class AnyStep, class Subject, class State>
  void EmitTransition(AnyStep step, const Context& context, Subject* subject, State from, State to);
  template <class AnyStep, class Subject, class State>
  void EmitTransition(AnyStep step, Subject* subject, State from, State to) {
    EmitTransition(step, step.context(), subject, from, to);
  }

  // Adds a transition as an additional event of `type`, without arguments.
  template <class Subject, class State>
  void EmitExtra(Step step, const Context& context, EventType type, Subject* subject, State from,
                 State to);

  // Removes the goroutine, whose state is `from`, and its open spans. Adds the transition as the
  // event itself or as an additional one, unless the event is dropped.
  template <class AnyStep>
  void EmitEnd(AnyStep step, const Context& context, GoroutineState* goroutine, GoState from);
  void EmitExtraEnd(Step step, GoroutineState* goroutine, GoState from);

  // Returns a fault unless the context has a thread, and a goroutine and a P as the event's row in
  // event_rules.def requires, or the event is forced. Does not check their statuses. kAdvanced
  // means that the rule may continue.
  template <class AnyStep>
  Outcome Check(AnyStep step);

  // The same, and also checks the status of the goroutine and sets `*state` to it. Requires that
  // the row has a status.
  template <class AnyStep>
  Outcome CheckStatus(AnyStep step, GoroutineState** state);

  // Returns the goroutine that the event is about if it has the status and the number that the row
  // requires, or nullptr.
  template <class AnyStep>
  GoroutineState* FindAwaited(AnyStep step);

  // Returns the state of the context's goroutine or P, or nullptr if it is not known.
  GoroutineState* CurrentGoroutine(Step step);
  ProcessorState* CurrentProc(Step step);

  // Binds the step's thread to a goroutine or a P, or to none.
  static void SetGoroutine(Step step, GoId id);
  static void SetProc(Step step, ProcId id, ProcessorState* state = nullptr);

  // Does AdvanceRuns() for one thread, up to the time `run_until`. Requires that the next event is
  // put at run->room. Returns whether any event advanced.
  bool AdvanceRun(ThreadCursor* cursor, int64_t run_until, Run* run);

  // Advances a plain event, puts it at run->room, and moves run->room on. Returns false if the
  // event cannot come next.
  bool AdvancePlain(Step step, Run* run);

  // Returns the state of thread `id`, which is added if it does not exist.
  [[gnu::noinline]] ThreadState* GetThread(ThreadId id);

  // The same for a thread that has events in the generation.
  [[gnu::noinline]] ThreadState* ThreadWithEvents(ThreadId id);

  // Must be called before events of a generation are tried.
  void BeginEvents();

  // Returns the state of `thread`, which is looked up once and then kept in `*state`.
  ThreadState* StateOfThread(ThreadId thread, ThreadState** state);
  ThreadState* StateOfThread(ThreadCursor* cursor) {
    return StateOfThread(cursor->thread(), &cursor->state);
  }

  SequenceNumber Sequence(uint64_t number) const { return {generation_->number(), number}; }
  bool HasAllGoroutines() const { return !forcing_ && goroutines_.size() >= max_goroutines_; }
  bool in_first_generation() const { return generation_->number() == first_generation_; }

  // Returns the number of goroutines, Ps, threads or spans that `limit` currently allows.
  uint64_t AllowedBy(FaultId limit) const;

  // Forgets threads of earlier generations that are unlikely to matter any more.
  void ForgetThreads();

  // Removes the goroutine from goroutines_, and its open spans.
  void Erase(GoroutineState* goroutine);

  // Whether one more task, region or range may be open.
  bool MayOpen() const { return names_.held() + open_ranges_ < limits_.nesting; }

  // Store the fault for fault_id() and fault_message() and return kFault.
  [[gnu::cold]] Outcome Fail(FaultId id, std::string message);
  [[gnu::cold]] Outcome FailLimit(FaultId id);
  [[gnu::cold]] Outcome FailNeedsThread();
  [[gnu::cold]] Outcome FailNeedsProc(Step step);
  [[gnu::cold]] Outcome FailNeedsGoroutine();
  [[gnu::cold]] Outcome FailHasGoroutine(Step step);
  [[gnu::cold]] Outcome FailPrecondition(absl::string_view what);
  [[gnu::cold]] Outcome FailProcUnknown(Step step, ProcId proc);
  [[gnu::cold]] Outcome FailProcStatus(const ProcessorState& proc, absl::string_view expected);
  [[gnu::cold]] Outcome FailProcSequence(const ProcessorState& proc, SequenceNumber found);
  [[gnu::cold]] Outcome FailGoroutineUnknown(Step step, GoId goroutine);
  [[gnu::cold]] Outcome FailGoroutineStatus(const GoroutineState& goroutine, GoStatus expected);

  ReaderLimits limits_;
  Generation* generation_ = nullptr;
  uint32_t generation_index_ = 0;             // The number of generations that began.
  const GenerationTables* tables_ = nullptr;  // The tables of generation_.
  uint64_t max_goroutines_ = 0;    // The limit on live goroutines, from the generations so far.
  uint64_t first_generation_ = 0;  // The first one that has timed events; 0 before it.

  uint64_t open_ranges_ = 0;  // The number of open ranges of all goroutines and Ps.
  NamePool names_;            // The names of regions_ and tasks_, so declared before them.
  std::vector<NamePool::Text*>
      names_of_strings_;  // By StringIndex(); nullptr if not looked up yet.
  GoroutineTable goroutines_;
  ProcTable procs_;
  absl::node_hash_map<ThreadId, ThreadState> threads_;
  ThreadState no_thread_;  // Never bound to a goroutine or a P.
  absl::flat_hash_map<TaskId, TaskState> tasks_;
  GcState gc_state_ = GcState::kUndetermined;
  uint64_t gc_sequence_ = 0;

  // nullptr unless the model started in the middle.
  std::unique_ptr<SegmentPreconditions> preconditions_;
  ThreadCursor* cursor_ = nullptr;  // The cursor whose event Advance() is trying.

  bool forcing_ = false;  // Whether Force() is running. If so, contexts have no requirements.

  Event own_events_[kMaxEvents];
  Event* events_ = own_events_;
  Event* events_end_ = own_events_;

  FaultId fault_id_ = {};
  std::string fault_message_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_SCHEDULER_MODEL_H_
