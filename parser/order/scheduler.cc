#include "parser/order/scheduler.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/frontier.h"
#include "parser/order/scheduler_common_rules.h"
#include "parser/order/scheduler_inline.h"
#include "util/prefetch.h"

namespace gotrace::internal {
namespace {

// Where events are handed to another core, each takes half the time if the lines of the one this
// many places on are on their way.
constexpr size_t kRoomAhead = 16;

// Fetches the event kRoomAhead places behind `event`.
void PrefetchBehind(const Event* event) {
  constexpr size_t kCacheLine = 64;
  static_assert(sizeof(Event) <= 2 * kCacheLine);
  PrefetchForWrite(event, kRoomAhead * sizeof(Event));
  PrefetchForWrite(event, kRoomAhead * sizeof(Event) + kCacheLine);
}

}  // namespace

void Scheduler::BeginGeneration(Generation* generation) {
  generation_ = generation;
  ++generation_index_;
  names_.Sweep();
  names_of_strings_.clear();
  tables_ = &generation->tables();
  const uint64_t told = generation->bytes() / ReaderLimits::kBytesPerGoroutine;
  const uint64_t most = limits_.goroutines + std::min(told, ~limits_.goroutines);
  most_goroutines_ = std::max(most_goroutines_, most);
  if (threads_.size() <= limits_.threads) return;
  if (assumptions_ != nullptr) assumptions_->forgot_threads = true;
  ForgetThreads();
}

WaitingGoroutines Scheduler::CountWaiting() const {
  WaitingGoroutines waiting = {};
  goroutines_.ForEach([&](const GoroutineState& goroutine) {
    if (goroutine.status != GoStatus::kWaiting) return;
    ++waiting[goroutine.generation == generation_index_ ? goroutine.reason : 0];
  });
  return waiting;
}

// Threads come and go, and nothing tells that one is gone. Of those that this generation has
// nothing of, only one for each P can matter: it may lose the P to a thief.
void Scheduler::ForgetThreads() {
  absl::flat_hash_set<ThreadId> here;
  for (const ThreadBatches& thread : generation_->threads()) here.insert(thread.thread);
  absl::erase_if(threads_, [&](auto& entry) {
    ThreadState& thread = entry.second;
    const bool has_proc = thread.bound != nullptr && thread.bound->thread == &thread;
    if (has_proc || here.contains(thread.id)) return false;
    thread.Unbind();
    return true;
  });
}

std::optional<FaultId> Scheduler::PassedLimit() const {
  if (goroutines_.size() > most_goroutines_) return FaultId::kLimitGoroutines;
  if (procs_.size() > limits_.procs) return FaultId::kLimitProcs;
  if (threads_.size() > AllowedBy(FaultId::kLimitThreads)) return FaultId::kLimitThreads;
  return std::nullopt;
}

uint64_t Scheduler::AllowedBy(FaultId limit) const {
  const uint64_t most = LimitOf(limit, limits_);
  switch (limit) {
    case FaultId::kLimitGoroutines:
      return most_goroutines_;
    case FaultId::kLimitThreads:
      // Those of the generation, and as many of earlier ones.
      return most + std::min(most, ~most);
    default:
      return most;
  }
}

std::string Scheduler::MessageOf(FaultId limit) const {
  return LimitMessage(limit, LimitOf(limit, limits_), AllowedBy(limit));
}

void Scheduler::Erase(GoroutineState* goroutine) {
  if (goroutine->spans != nullptr) open_ranges_ -= goroutine->spans->ranges.size();
  goroutines_.Erase(goroutine);
}

Scheduler::Outcome Scheduler::FailLimit(FaultId id) { return Fail(id, MessageOf(id)); }

template <EventType kType>
[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::Order(Step step) {
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...) \
  if constexpr (kType == EventType::k##name) {                                      \
    return Order##rule(KnownStep<kType>{step});                                     \
  }
#include "gotrace/internal/events.def"
}

[[gnu::always_inline]] inline Scheduler::Outcome Scheduler::Dispatch(Step step) {
  // The types of most events are asked for before the jump: a processor guesses better whether a
  // branch is taken than where a jump goes (bench/README.md).
#define GOTRACE_FIRST(name) \
  if (step.type() == EventType::k##name) return Order<EventType::k##name>(step)
  GOTRACE_FIRST(GoStart);
  GOTRACE_FIRST(GoStop);
  GOTRACE_FIRST(GoDestroy);
  GOTRACE_FIRST(GoCreate);
  GOTRACE_FIRST(GoUnblock);
#undef GOTRACE_FIRST
  switch (step.type()) {
#define GOTRACE_EVENT(value, name, ...) \
  case EventType::k##name:              \
    return Order<EventType::k##name>(step);
#include "gotrace/internal/events.def"
    case EventType::kNone:
      break;
  }
  return OrderNone(step);
}

inline ThreadState* Scheduler::StateOfThread(ThreadId thread, ThreadState** state) {
  if (*state == nullptr) {
    if (thread == ThreadId::kNone) return &no_thread_;
    *state = MeetThread(thread);
  }
  return *state;
}

inline void Scheduler::BeginEvents() {
  // A generation without timed events says nothing of anyone's state: the first is the first that
  // has some.
  if (first_generation_ == 0) first_generation_ = generation_->number();
}

Scheduler::Outcome Scheduler::Advance(ThreadCursor* cursor) {
  BeginEvents();
  DropEvents();
  cursor_ = cursor;
  const Outcome outcome = Dispatch({cursor->event(), StateOfThread(cursor)});
  cursor_ = nullptr;
  return outcome;
}

[[gnu::always_inline]] inline bool Scheduler::AdvancePlain(Step step, Run* run) {
  ++run->attempts;
  if (Dispatch(step) != Outcome::kAdvanced) [[unlikely]] {
    events_end_ = run->room;
    return false;
  }
  const auto take = [&] {
    run->room->MakeLaterThan(&run->last_time, step.event.time);
    ++run->room;
  };
  take();
  // Few events stand for more than one. A loop that does all would be made for many.
  while (run->room != events_end_) [[unlikely]] take();
  return true;
}

[[gnu::always_inline]] inline bool Scheduler::AdvanceRun(ThreadCursor* cursor, int64_t run_until,
                                                         Run* run) {
  ThreadState* const thread = StateOfThread(cursor);
  const Event* const begin = run->room;
  while (cursor->time() <= run_until && run->HasRoom()) {
    if (!cursor->IsKnownPlain() && !cursor->IsPlain(run->watches_time)) [[unlikely]]
      break;
    if (run->hands_over) PrefetchBehind(run->room);
    if (!AdvancePlain({cursor->event(), thread}, run)) break;
    cursor->Advance();
  }
  return run->room != begin;
}

Scheduler::Run Scheduler::AdvanceRuns(Frontier* frontier, Run run) {
  BeginEvents();
  EmitTo(run.room);
  while (run.HasRoom() && frontier->time(0) <= run.until) {
    const int64_t run_until = std::min(frontier->FirstUntil(), run.until);
    ThreadCursor& cursor = frontier->cursor(0);
    if (!AdvanceRun(&cursor, run_until, &run)) break;
    frontier->UpdateFirst(cursor.time());
  }
  DropEvents();
  return run;
}

Scheduler::Outcome Scheduler::OrderNone(Step step) {
  return Fail(
      FaultId::kEventWithoutRule,
      absl::StrCat("expected an event that threads make, found ", EventTypeName(step.event.type)));
}

ThreadState* Scheduler::GetThread(ThreadId id) {
  const auto [it, is_new] = threads_.try_emplace(id);
  ThreadState& thread = it->second;
  thread.id = id;
  if (is_new && assumptions_ != nullptr) AssumeThread(&thread);
  return &thread;
}

ThreadState* Scheduler::MeetThread(ThreadId id) {
  if (MayAssume()) assumptions_->tried_threads.insert(id);
  return GetThread(id);
}

Scheduler::Outcome Scheduler::Fail(FaultId id, std::string message) {
  fault_id_ = id;
  fault_message_ = std::move(message);
  return Outcome::kFault;
}

Scheduler::Outcome Scheduler::FailNeedsProc(Step step) {
  if (!step.has_thread()) return FailNeedsThread();
  return Fail(FaultId::kNeedsProc, "expected the thread to have a P, found none");
}

Scheduler::Outcome Scheduler::FailNeedsGoroutine() {
  return Fail(FaultId::kNeedsGoroutine, "expected the thread to run a goroutine, found none");
}

Scheduler::Outcome Scheduler::FailHasGoroutine(Step step) {
  return Fail(FaultId::kHasGoroutine,
              absl::StrCat("expected the thread to run no goroutine, found goroutine ",
                           step.goroutine().value));
}

Scheduler::Outcome Scheduler::FailNeedsThread() {
  return Fail(FaultId::kNeedsThread, "expected a thread that made the event, found none");
}

Scheduler::Outcome Scheduler::FailProcUnknown(Step step, ProcId proc) {
  if (proc == ProcId::kNone) return FailNeedsProc(step);
  return Fail(FaultId::kProcUnknown,
              absl::StrCat("expected a P that was mentioned before, found P ", proc.value));
}

Scheduler::Outcome Scheduler::FailProcStatus(const ProcessorState& proc,
                                             absl::string_view expected) {
  return Fail(FaultId::kProcWrongStatus,
              absl::StrCat("expected P ", proc.id.value, " to be ", expected, ", found it ",
                           ProcStatusName(proc.status)));
}

Scheduler::Outcome Scheduler::FailProcSequence(const ProcessorState& proc, SequenceNumber found) {
  return Fail(FaultId::kProcSequence,
              absl::StrCat("expected sequence number ", proc.sequence.number + 1, " of generation ",
                           proc.sequence.generation, " for P ", proc.id.value, ", found ",
                           found.number, " of generation ", found.generation));
}

Scheduler::Outcome Scheduler::FailGoroutineUnknown(Step step, GoId goroutine) {
  return Fail(FaultId::kGoUnknown,
              absl::StrCat("expected a goroutine that exists for ", EventTypeName(step.event.type),
                           ", found goroutine ", goroutine.value));
}

Scheduler::Outcome Scheduler::FailGoroutineStatus(const GoroutineState& goroutine,
                                                  GoStatus expected) {
  return Fail(FaultId::kGoWrongStatus,
              absl::StrCat("expected goroutine ", goroutine.id.value, " to be ",
                           GoStatusName(expected), ", found it ", GoStatusName(goroutine.status)));
}

}  // namespace gotrace::internal
