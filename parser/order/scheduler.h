// The model of Go's scheduler that puts events in order and judges them (FORMAT.md §9).
#ifndef GOTRACE_PARSER_ORDER_SCHEDULER_H_
#define GOTRACE_PARSER_ORDER_SCHEDULER_H_

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
#include "gotrace/internal/waiting_goroutines.h"
#include "gotrace/reader_limits.h"
#include "parser/generation/generation.h"
#include "parser/order/assumptions.h"
#include "parser/order/frontier.h"
#include "parser/order/goroutine_table.h"
#include "parser/order/obstacle.h"
#include "parser/order/scheduler_state.h"
#include "parser/order/thread_decoder.h"
#include "parser/order/wait_list.h"
#include "util/name_pool.h"

namespace gotrace::internal {

// Few enough for one event to need no allocation.
using WaitConditions = absl::InlinedVector<WaitCondition, 16>;

// What the threads that have events in `generation` had before it, as far as they tell the statuses
// of their own goroutine and P before anything else. For Scheduler::Assume().
absl::flat_hash_map<ThreadId, Assumptions::Context> ToldContexts(const Generation& generation);

// Takes events in the order in which the threads' clocks suggest them, and advances those that the
// state of the program allows. An event that must wait for another thread's is left for later.
//
// The rule X of events.def is the method OrderX.
class Scheduler {
 public:
  enum class Outcome : uint8_t {
    kAdvanced,  // The event comes next: events() gives what it became.
    kWaits,     // It cannot come next, but may after events of other threads.
    kFault,     // It can never come: fault_id() and fault_message() tell why.
  };

  explicit Scheduler(const ReaderLimits& limits = {}) : limits_(limits) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Lets the model begin with generation `number`, which is not the trace's first, as if it knew
  // what came before. `told` is what the threads' own first events tell, see ToldContexts().
  // Whatever it cannot assume is a fault. To be called before BeginGeneration().
  void Assume(uint64_t number, absl::flat_hash_map<ThreadId, Assumptions::Context> told);

  // Whether all that was assumed holds of `before`, the model of all generations before, which has
  // twice the limits of this one, and neither knows of more than this one's.
  bool Continues(const Scheduler& before) const;

  // Tells which generation the following events belong to. It must outlive them.
  void BeginGeneration(Generation* generation);

  // How many goroutines wait for something: see WaitingGoroutines.
  WaitingGoroutines CountWaiting() const;

  // Tries the event that `cursor` stands at. After kFault it can only be forced or left out; tried
  // again before anything else changes, it gives the same.
  Outcome Advance(ThreadCursor* cursor);

  // What AdvanceRuns() goes by, and how far it came.
  struct Run {
    int64_t until;            // In nanoseconds: the latest time of an event that is taken.
    bool watches_time;        // Whether an event is left that is followed by an earlier one.
    bool hands_over;          // Whether another core takes the events.
    int64_t last_time;        // Of the event before, and then of the last one that was taken.
    Event* room;              // Where the next events are put.
    const Event* last_begin;  // Where no event begins any more: kMaxEvents - 1 may stand behind it.
    uint64_t attempts = 0;    // How many events were tried.

    bool HasRoom() const { return room < last_begin; }
  };

  // Requires that `frontier` has threads and none is parked. Advances its first events as long as
  // Advance() gives kAdvanced and nothing else about them needs attention: all that they refer to
  // is found, and the thread has a next event, one that is not earlier if run.watches_time. Moves
  // their threads on, and gives the events their final times. events() gives nothing of them.
  Run AdvanceRuns(Frontier* frontier, Run run);

  // Advances the event that `cursor` stands at whatever came before: the model believes of others
  // what the event asks of them. Returns kAdvanced, or kFault where nothing tells what it is about;
  // the model can be used further in both cases.
  Outcome Force(ThreadCursor* cursor);

  // The fault of the limit that the goroutines, Ps and threads of the model pass by now, if any: a
  // limit that Advance() refuses to pass does not hold Force() back.
  std::optional<FaultId> PassedLimit() const;

  // The message of such a fault.
  std::string MessageOf(FaultId limit) const;

  // Tells for each cursor why its event must wait: Advance() gave kWaits for all of them, and
  // nothing advanced since. Costs time in proportion to all threads.
  std::vector<Obstacle> Explain(absl::Span<const ThreadCursor* const> waiting) const;

  // What a fault at the event that `cursor` stands at, which Advance() was tried with last, shows
  // besides its place.
  FaultContext ContextOf(const ThreadCursor& cursor) const;

  // Lists what must change before the event that `cursor` stands at can come next: Advance() gave
  // kWaits for it, and nothing advanced since.
  void ListAwaited(const ThreadCursor& cursor, WaitConditions* conditions) const;

  // Lists the conditions that events() may have met: those of what they changed that hold now.
  void ListMet(WaitConditions* conditions) const;

  // Whether `condition` is met. One of kind kThread never is: it tells of a change.
  bool Holds(const WaitCondition& condition) const;

  // Forgets all but tasks, so that the next generation is taken for the first.
  void Forget();

  // What the last event that was advanced became: mostly one event, at most kMaxEvents. They are
  // overwritten by the next one that advances.
  absl::Span<Event> events() { return absl::MakeSpan(events_, events_end_); }
  static constexpr int kMaxEvents = 3;

  // Lets the following events() stand at `room`, which has room for kMaxEvents.
  void EmitTo(Event* room) { events_ = events_end_ = room; }

  // Empties events().
  void DropEvents() { events_end_ = events_; }

  FaultId fault_id() const { return fault_id_; }
  const std::string& fault_message() const { return fault_message_; }

 private:
  // What an event's thread is executing.
  struct Context {
    ThreadId thread;
    ProcId proc;
    GoId goroutine;
  };

  // One event being tried. The context is that before the event until its rule changes the thread.
  struct Step {
    const DecodedEvent& event;
    ThreadState* thread;  // no_thread_ where none made the event.

    EventType type() const { return event.type; }
    uint64_t arg(int index) const { return event.args[index]; }
    bool has_thread() const { return thread_id() != ThreadId::kNone; }
    ThreadId thread_id() const { return thread->id; }
    ProcId proc() const { return thread->proc; }
    GoId goroutine() const { return thread->goroutine; }
    Context context() const { return {thread_id(), proc(), goroutine()}; }
  };

  // The same where the type is known when compiling.
  template <EventType kType>
  struct KnownStep : Step {
    static constexpr EventType type() { return kType; }
  };

  enum class Need : uint8_t { kNo, kMaybe, kYes };
  enum class GcState : uint8_t { kUndetermined, kNotRunning, kRunning };

  struct TaskState {
    NamePool::Name name;
    TaskId parent;
  };

  // Dispatch. ------------------------------------------------------------------------------------
  Outcome Dispatch(Step step);

  // Tries an event whose type is known when compiling.
  template <EventType kType>
  Outcome Order(Step step);

  // Ps: scheduler_procs.cc. ----------------------------------------------------------------------
  Outcome OrderProcStatus(Step step);
  Outcome OrderProcStart(Step step);
  Outcome OrderProcStop(Step step);
  Outcome OrderProcSteal(Step step);
  Outcome ConfirmAbandonedProc(Step step, ProcessorState* proc);
  Outcome CheckSteal(Step step, ProcId proc, ThreadId victim);

  // Goroutines: scheduler_goroutines.cc, and the templates in scheduler_common_rules.h. ----------
  Outcome OrderGoStatus(Step step);
  Outcome BindSyscall(Step step, GoId goroutine, Context* context);
  Outcome FailSyscallThread(GoId expected, ThreadId thread, GoId found);
  Outcome FailGoroutineExists(GoId goroutine);
  template <class AnyStep>
  Outcome OrderGoCreate(AnyStep step);
  Outcome OrderGoCreateSyscall(Step step);
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

  // Ranges and metrics: scheduler_ranges.cc. -----------------------------------------------------
  Outcome OrderGoRangeBegin(Step step);
  Outcome OrderGoRangeActive(Step step);
  Outcome OrderGoRangeEnd(Step step);
  Outcome OrderGCActive(Step step);
  Outcome OrderGCBegin(Step step);
  Outcome OrderGCEnd(Step step);
  Outcome OrderGCSweepActive(Step step);
  Outcome OrderGCSweepBegin(Step step);
  Outcome OrderGCSweepEnd(Step step);
  Outcome OrderHeapMetric(Step step);
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

  // Tasks, regions, logs: scheduler_annotations.cc. ----------------------------------------------
  Outcome OrderAnnotation(Step step);
  Outcome OrderUserTaskBegin(Step step);
  Outcome OrderUserTaskEnd(Step step);
  Outcome OrderUserRegionBegin(Step step);
  Outcome OrderUserRegionEnd(Step step);
  Outcome FailString(uint64_t id);
  // What the string `id` is, kept as long as the generation; nullptr if there is none.
  NamePool::Text* FindName(uint64_t id);

  // For events that have no place in the order.
  Outcome OrderNone(Step step);

  // Beginning in the middle: scheduler_assume.cc. ------------------------------------------------
  // What is not known yet can be assumed.
  bool MayAssume() const {
    return assumptions_ != nullptr && generation_->number() == assumptions_->generation;
  }
  [[gnu::cold]] void AssumeThread(ThreadState* thread);
  [[gnu::cold]] Outcome AssumeSyscall(ThreadId thread, GoId goroutine, Context* context);
  [[gnu::cold]] Outcome AssumeAbandonedProc(Step step, ProcId proc);
  // Each returns false if it cannot be.
  [[gnu::cold]] bool AssumeGoroutine(GoId goroutine, GoStatus status);
  [[gnu::noinline]] bool AssumeNew(GoId goroutine);
  [[gnu::cold]] bool AssumeBegun(const Assumptions::ActiveRange& range);
  [[gnu::cold]] bool AssumeProc(ProcId proc, ProcStatus status);
  [[gnu::cold]] void AssumeGc(bool running, uint64_t next_sequence);
  [[gnu::cold]] bool AssumeRange(const Assumptions::ActiveRange& range);
  bool IsWithinHalf(const ReaderLimits& half) const;
  bool ContinuesGoroutines(const Scheduler& before) const;
  bool ContinuesProcs(const Scheduler& before) const;
  bool ContinuesThreads(const Scheduler& before) const;
  bool ContinuesRanges(const Scheduler& before) const;
  bool ContinuesRegions(const Scheduler& before) const;
  bool ContinuesTasks(const Scheduler& before) const;
  bool ContinuesGc(const Scheduler& before) const;

  // Going on after faults: scheduler_force.cc. ---------------------------------------------------
  void Accommodate(const TimedEvent& event, ThreadState* thread);
  void AccommodateStatus(const TimedEvent& event, GoId goroutine);
  void AccommodateContext(const TimedEvent& event, ThreadState& thread);
  void AccommodateRange(const TimedEvent& event, ThreadState* thread);
  void AccommodateRegionEnd(const TimedEvent& event, GoroutineState* goroutine);

  // Make the state of a goroutine or P, if there is none, and give it a status; and a sequence
  // number that `next_number` follows.
  GoroutineState* BelieveGoroutine(GoId id, GoStatus status, uint64_t next_number);
  ProcessorState* BelieveProc(ProcId id, ProcStatus status, uint64_t next_number);
  void BelieveCurrentGoroutine(const ThreadState& thread, GoStatus status);
  ProcessorState* BelieveCurrentProc(const ThreadState& thread, ProcStatus status);

  // Telling why events wait: scheduler_explain.cc.
  class Explainer;

  // Telling what they wait for: scheduler_waits.cc.
  void ListMetBy(const Event& event, WaitConditions* conditions) const;
  void ListMetOfGoroutine(GoId id, WaitConditions* conditions) const;
  void ListMetOfProc(ProcId id, WaitConditions* conditions) const;

  // Shared by the rules. -------------------------------------------------------------------------

  // Adds an event without arguments.
  Event& EmitBare(Step step, const Context& context, EventTags tags);

  // Adds the event that `step` becomes, as seen from `context`.
  Event& Emit(Step step, const Context& context);
  Event& Emit(Step step) { return Emit(step, step.context()); }

  // The same for a change of state of the goroutine or P `subject`, unless it is left out.
  template <class AnyStep, class Subject, class State>
  void EmitTransition(AnyStep step, const Context& context, Subject* subject, State from, State to);
  template <class AnyStep, class Subject, class State>
  void EmitTransition(AnyStep step, Subject* subject, State from, State to) {
    EmitTransition(step, step.context(), subject, from, to);
  }

  // Adds a transition by an event of `type`, without arguments, that the step stands for besides
  // its own.
  template <class Subject, class State>
  void EmitExtra(Step step, const Context& context, EventType type, Subject* subject, State from,
                 State to);

  // Takes the goroutine, which is `from`, out of goroutines_, and what is open on it with it. Adds
  // the transition, by an event of its own or by an extra one, unless it is left out.
  template <class AnyStep>
  void EmitEnd(AnyStep step, const Context& context, GoroutineState* goroutine, GoState from);
  void EmitExtraEnd(Step step, GoroutineState* goroutine, GoState from);

  // Faults unless the context has a thread and what else is needed, or the event is forced.
  // kAdvanced means that it may go on.
  Outcome Check(Step step, Need proc, Need goroutine);
  Outcome CheckExecuting(Step step) { return Check(step, Need::kYes, Need::kYes); }

  // Checks that the context has a goroutine of `status`, and a P as `proc` says, and stores the
  // goroutine.
  Outcome CheckStatus(Step step, Need proc, GoStatus status, GoroutineState** state);

  // The state of the context's goroutine or P, or nullptr if it is not known.
  GoroutineState* CurrentGoroutine(Step step);
  ProcessorState* CurrentProc(Step step);

  // Binds the step's thread to a goroutine or a P, or to none.
  static void SetGoroutine(Step step, GoId id);
  static void SetProc(Step step, ProcId id, ProcessorState* state = nullptr);

  // Does AdvanceRuns() with one thread, up to the time `run_until`. Requires that the next event is
  // put at run->room. Returns whether any event advanced.
  bool AdvanceRun(ThreadCursor* cursor, int64_t run_until, Run* run);

  // Advances an event that is plain, puts it at run->room, and moves that on. Returns false if it
  // cannot come next.
  bool AdvancePlain(Step step, Run* run);

  // The state of thread `id`, made if there is none.
  [[gnu::noinline]] ThreadState* GetThread(ThreadId id);

  // The same for a thread that has events in the generation.
  [[gnu::noinline]] ThreadState* MeetThread(ThreadId id);

  // Must be called before events of a generation are tried.
  void BeginEvents();

  // The state of `thread`, which is looked up once and kept at `*state`.
  ThreadState* StateOfThread(ThreadId thread, ThreadState** state);
  ThreadState* StateOfThread(ThreadCursor* cursor) {
    return StateOfThread(cursor->thread(), &cursor->state);
  }

  SequenceNumber Sequence(uint64_t number) const { return {generation_->number(), number}; }
  bool HasAllGoroutines() const { return !forcing_ && goroutines_.size() >= most_goroutines_; }
  bool in_first_generation() const { return generation_->number() == first_generation_; }

  // How many of what the fault of a limit counts there may be by now.
  uint64_t AllowedBy(FaultId limit) const;

  // Forgets threads of earlier generations that can hardly matter any more.
  void ForgetThreads();

  // Takes the goroutine out of goroutines_, and what is open on it with it.
  void Erase(GoroutineState* goroutine);

  // Whether one more task, region or range may be open.
  bool MayOpen() const { return names_.held() + open_ranges_ < limits_.nesting; }

  // Keep the fault for fault_id() and fault_message() and return kFault.
  [[gnu::cold]] Outcome Fail(FaultId id, std::string message);
  [[gnu::cold]] Outcome FailLimit(FaultId id);
  [[gnu::cold]] Outcome FailNeedsThread();
  [[gnu::cold]] Outcome FailNeedsProc(Step step);
  [[gnu::cold]] Outcome FailNeedsGoroutine();
  [[gnu::cold]] Outcome FailHasGoroutine(Step step);
  [[gnu::cold]] Outcome FailToAssume(absl::string_view what);
  [[gnu::cold]] Outcome FailProcUnknown(Step step, ProcId proc);
  [[gnu::cold]] Outcome FailProcStatus(const ProcessorState& proc, absl::string_view expected);
  [[gnu::cold]] Outcome FailProcSequence(const ProcessorState& proc, SequenceNumber found);
  [[gnu::cold]] Outcome FailGoroutineUnknown(Step step, GoId goroutine);
  [[gnu::cold]] Outcome FailGoroutineStatus(const GoroutineState& goroutine, GoStatus expected);

  const ReaderLimits limits_;
  Generation* generation_ = nullptr;
  uint32_t generation_index_ = 0;             // That counts those that began.
  const GenerationTables* tables_ = nullptr;  // Of generation_.
  uint64_t most_goroutines_ = 0;              // That may be alive, by the generations so far.
  uint64_t first_generation_ = 0;             // The first that has timed events; 0 before it.

  uint64_t open_ranges_ = 0;  // Of all goroutines and Ps.
  NamePool names_;            // Of open regions and tasks, and so before them.
  std::vector<NamePool::Text*>
      names_of_strings_;  // By StringIndex(); nullptr if not looked for yet.
  GoroutineTable goroutines_;
  ProcTable procs_;
  absl::node_hash_map<ThreadId, ThreadState> threads_;
  ThreadState no_thread_;  // Which is bound to no goroutine and no P, ever.
  absl::flat_hash_map<TaskId, TaskState> tasks_;
  GcState gc_state_ = GcState::kUndetermined;
  uint64_t gc_sequence_ = 0;

  std::unique_ptr<Assumptions> assumptions_;  // nullptr unless it begins in the middle.
  ThreadCursor* cursor_ = nullptr;            // While Advance() tries where that stands.

  bool forcing_ = false;  // Whether Force() is at work: contexts need nothing then.

  Event own_events_[kMaxEvents];
  Event* events_ = own_events_;
  Event* events_end_ = own_events_;

  FaultId fault_id_ = {};
  std::string fault_message_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_SCHEDULER_H_
