// The rules of the scheduler model, in the order of the groups in events.def. Many are templates,
// so that their rows of event_rules.def are known at compile time. Most events are of a few types,
// whose rules are inlined where events are dispatched.
#include "parser/order/scheduler_model.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"
#include "parser/event/event_writer.h"
#include "parser/order/batch_decoder.h"
#include "parser/order/frontier.h"
#include "util/prefetch.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// How many places ahead to prefetch events that are handed to another core. Without it, each such
// event takes twice as long.
constexpr size_t kRoomAhead = 16;

// Prefetches the event kRoomAhead places after `event`.
void PrefetchAfter(const Event* event) {
  constexpr size_t kCacheLine = 64;
  static_assert(sizeof(Event) <= 2 * kCacheLine);
  PrefetchForWrite(event, kRoomAhead * sizeof(Event));
  PrefetchForWrite(event, kRoomAhead * sizeof(Event) + kCacheLine);
}

// Returns the type of event that begins the ranges that events of `type` begin, confirm or end.
EventType BeginOf(EventType type) {
  const EventType start = FindEventSpec(type)->start;
  return start == EventType::kNone ? type : start;
}

template <class State>
constexpr ResourceKind kKindOf =
    std::is_same_v<State, ProcessorState> ? ResourceKind::kProc : ResourceKind::kGoroutine;

template <class State>
std::string Describe(const State& state, EventType begin) {
  constexpr bool kIsProc = kKindOf<State> == ResourceKind::kProc;
  return absl::StrCat("the range of ", EventTypeName(begin), " on ", kIsProc ? "P " : "goroutine ",
                      state.id.value);
}

}  // namespace

// What the rules share. ---------------------------------------------------------------------------

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::Check(AnyStep step) {
  const EventRule& rule = RuleOf(step.type());
  const bool has_proc = !rule.NeedsProc() || step.proc() != ProcId::kNone;
  const bool has_goroutine =
      rule.NeedsGoroutine() ? step.goroutine() != GoId::kNone
                            : rule.goroutine != GoNeed::kNone || step.goroutine() == GoId::kNone;
  if (step.has_thread() && has_proc && has_goroutine) [[likely]]
    return Outcome::kAdvanced;
  if (forcing_) return Outcome::kAdvanced;
  if (!step.has_thread()) return FailNeedsThread();
  if (!has_proc) return FailNeedsProc(step);
  return rule.NeedsGoroutine() ? FailNeedsGoroutine() : FailHasGoroutine(step);
}

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::CheckStatus(
    AnyStep step, GoroutineState** state) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  const bool in_syscall = RuleOf(step.type()).goroutine == GoNeed::kSyscall;
  const GoStatus status = in_syscall ? GoStatus::kSyscall : GoStatus::kRunning;
  GoroutineState* const current = CurrentGoroutine(step);
  if (current == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  if (current->status != status) return FailGoroutineStatus(*current, status);
  *state = current;
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline GoroutineState* SchedulerModel::FindAwaited(AnyStep step) {
  const EventRule& rule = RuleOf(step.type());
  const bool is_waiting = rule.subject == Subject::kWaitingGoroutine;
  GoroutineState* const goroutine = goroutines_.Find(GoId{static_cast<int64_t>(step.arg(0))});
  const bool is_there =
      goroutine != nullptr &&
      goroutine->status == (is_waiting ? GoStatus::kWaiting : GoStatus::kRunnable) &&
      goroutine->IsFollowedBy(step.arg(rule.number_arg), generation_index_);
  return is_there ? goroutine : nullptr;
}

[[gnu::always_inline]] inline GoroutineState* SchedulerModel::CurrentGoroutine(Step step) {
  return goroutines_.Find(step.goroutine());
}

[[gnu::always_inline]] inline ProcessorState* SchedulerModel::CurrentProc(Step step) {
  return procs_.Find(step.proc(), &step.thread->proc_state);
}

inline void SchedulerModel::SetGoroutine(Step step, GoId id) {
  if (step.has_thread()) step.thread->goroutine = id;
}

inline void SchedulerModel::SetProc(Step step, ProcId id, ProcessorState* state) {
  if (!step.has_thread()) return;
  step.thread->Bind(id, state);
  if (state != nullptr) step.thread->proc_state = state;
}

[[gnu::always_inline]] inline Event& SchedulerModel::EmitBare(Step step, const Context& context,
                                                              EventTags tags) {
  Event& event = *events_end_++;
  EventWriter(&event)
      .Time(step.event.time)
      .Goroutine(context.goroutine)
      .Proc(context.proc)
      .Thread(context.thread)
      .Tables(tables_)
      .Offset(step.event.offset)
      .Tags(tags);
  return event;
}

[[gnu::always_inline]] inline Event& SchedulerModel::Emit(Step step, const Context& context) {
  Event& event = EmitBare(step, context, TagsOf(step.type()));
  EventWriter(&event).Args(step.event.args);
  return event;
}

template <class AnyStep, class Subject, class State>
[[gnu::always_inline]] inline void SchedulerModel::EmitTransition(AnyStep step,
                                                                  const Context& context,
                                                                  Subject* subject, State from,
                                                                  State to) {
  const EventTags tags = TagsOf(step.type()).WithTransition(from, to);
  Event& event = EmitBare(step, context, tags);
  EventWriter(&event).Subject(subject->id.value).Args(step.event.args);
}

template <class Subject, class State>
void SchedulerModel::EmitExtra(Step step, const Context& context, EventType type, Subject* subject,
                               State from, State to) {
  const EventTags tags = TagsOf(type).WithTransition(from, to);
  Event& event = EmitBare(step, context, tags);
  EventWriter(&event).Subject(subject->id.value).NoArgs();
}

template <class AnyStep>
[[gnu::always_inline]] inline void SchedulerModel::EmitEnd(AnyStep step, const Context& context,
                                                           GoroutineState* goroutine,
                                                           GoState from) {
  const int64_t id = goroutine->id.value;
  Erase(goroutine);
  Event& event =
      EmitBare(step, context, TagsOf(step.type()).WithTransition(from, GoState::kNotExist));
  EventWriter(&event).Subject(id).Args(step.event.args);
}

// Rules for goroutines. ---------------------------------------------------------------------------

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::CreateGoroutine(
    AnyStep step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  if (goroutines_.Find(id) != nullptr) return FailGoroutineExists(id);
  if (HasAllGoroutines()) return FailLimit(FaultId::kLimitGoroutines);
  if (preconditions_ != nullptr && !MayCreate(id)) [[unlikely]]
    return FailPrecondition("whether the goroutine is new");
  const GoStatus status = GoStatusAfter(RuleOf(step.type()).subject_becomes);
  GoroutineState* const created = goroutines_.Insert(id);
  created->status = status;
  created->generation = generation_index_;
  EmitTransition(step, created, GoState::kNotExist, StateOf(status));
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::OrderGoCreate(AnyStep step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  const GoroutineState* const creator = CurrentGoroutine(step);
  if (creator != nullptr && creator->status != GoStatus::kRunning) {
    return FailGoroutineStatus(*creator, GoStatus::kRunning);
  }
  return CreateGoroutine(step);
}

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::OrderGoStart(AnyStep step) {
  GoroutineState* const goroutine = FindAwaited(step);
  if (goroutine == nullptr) return Outcome::kWaits;
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  goroutine->status = GoStatus::kRunning;
  goroutine->number = step.arg(1);
  EmitTransition(step, goroutine, GoState::kRunnable, GoState::kRunning);
  SetGoroutine(step, GoId{static_cast<int64_t>(step.arg(0))});
  return Outcome::kAdvanced;
}

// GoDestroy, GoStop and GoBlock, by which the current goroutine leaves its thread.
template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::OrderGoStopExecuting(
    AnyStep step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, &goroutine); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const Becomes becomes = RuleOf(step.type()).goroutine_becomes;
  if (becomes == Becomes::kGone) {
    EmitEnd(step, step.context(), goroutine, GoState::kRunning);
  } else {
    goroutine->status = GoStatusAfter(becomes);
    if (becomes == Becomes::kWaiting) {
      const int8_t reason_arg = kReasonArgs[static_cast<uint8_t>(step.type())];
      const uint64_t reason = reason_arg < 0 ? 0 : step.arg(reason_arg);
      goroutine->reason = static_cast<uint8_t>(std::min(reason, GoroutineState::kHighReason));
    }
    EmitTransition(step, goroutine, GoState::kRunning, StateOf(goroutine->status));
  }
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::OrderGoUnblock(AnyStep step) {
  GoroutineState* const goroutine = FindAwaited(step);
  if (goroutine == nullptr) return Outcome::kWaits;
  // Even a thread without a P may unblock a goroutine, so there is no context to check.
  goroutine->status = GoStatus::kRunnable;
  goroutine->number = step.arg(1);
  EmitTransition(step, goroutine, GoState::kWaiting, GoState::kRunnable);
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::OrderGoSyscallBegin(
    AnyStep step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, &goroutine); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  // The number identifies the syscall that a later ProcSteal refers to. The P is running here, so
  // no event of another thread can supply a missing number.
  const SequenceNumber sequence = Sequence(step.arg(0));
  if (!sequence.Follows(proc->sequence)) {
    return FailProcSequence(*proc, sequence);
  }
  goroutine->status = GoStatus::kSyscall;
  proc->status = ProcStatus::kSyscall;
  proc->sequence = sequence;
  EmitTransition(step, goroutine, GoState::kRunning, GoState::kSyscall);
  return Outcome::kAdvanced;
}

template <class AnyStep>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::OrderGoSyscallEnd(
    AnyStep step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, &goroutine); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  if (proc->status != ProcStatus::kSyscall) return FailProcStatus(*proc, "Syscall");
  goroutine->status = GoStatus::kRunning;
  proc->status = ProcStatus::kRunning;
  EmitTransition(step, goroutine, GoState::kSyscall, GoState::kRunning);
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::OrderGoStatus(Step step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  const uint8_t value = static_cast<uint8_t>(step.arg(2));
  if (value >= kGoStatusEnd) {
    return Fail(FaultId::kGoStatusValue,
                absl::StrCat("expected a goroutine's status of 0 to ", kGoStatusEnd - 1, ", found ",
                             value, " for goroutine ", id.value));
  }
  const GoStatus status = static_cast<GoStatus>(value);
  GoState from = StateOf(status);
  GoroutineState* goroutine = goroutines_.Find(id);
  if (goroutine == nullptr) {
    const std::optional<GoState> known = AssumeGoroutine(id, status);
    if (!known.has_value()) {
      return Fail(
          FaultId::kGoStatusNew,
          absl::StrCat("expected a goroutine that was created or had a status in an earlier "
                       "generation, found goroutine ",
                       id.value));
    }
    if (HasAllGoroutines()) return FailLimit(FaultId::kLimitGoroutines);
    from = *known;
  } else if (goroutine->status != status) {
    return Fail(
        FaultId::kGoStatusConflict,
        absl::StrCat("expected goroutine ", id.value, " to be ", GoStatusName(goroutine->status),
                     ", found its status reported as ", GoStatusName(status)));
  }
  Context context = step.context();
  if (status == GoStatus::kSyscall) {
    if (Outcome outcome = BindSyscall(step, id, &context); outcome != Outcome::kAdvanced) {
      return outcome;
    }
  }
  if (goroutine == nullptr) goroutine = goroutines_.Insert(id);
  goroutine->status = status;
  goroutine->number = 0;
  goroutine->generation = generation_index_;
  goroutine->reason = 0;
  EmitTransition(step, context, goroutine, from, StateOf(status));
  if (status == GoStatus::kRunning) SetGoroutine(step, id);
  return Outcome::kAdvanced;
}

// Binds a goroutine in a syscall to the thread that the status names, which need not be the thread
// that wrote the event. Sets `*context` to the context in which the event is seen.
SchedulerModel::Outcome SchedulerModel::BindSyscall(Step step, GoId goroutine, Context* context) {
  const ThreadId id{static_cast<int64_t>(step.arg(1))};
  if (id == ThreadId::kNone) {
    return Fail(FaultId::kGoSyscallThread, absl::StrCat("expected goroutine ", goroutine.value,
                                                        ", in a syscall, on a thread"));
  }
  if (id == step.thread_id()) {
    // After the first generation, an earlier event must have put the goroutine on that thread.
    if (!in_first_generation() && !forcing_ && step.goroutine() != goroutine) {
      return FailSyscallThread(goroutine, id, step.goroutine());
    }
    SetGoroutine(step, goroutine);
    return Outcome::kAdvanced;
  }
  const auto it = threads_.find(id);
  if (it == threads_.end()) {
    if (!forcing_ && threads_.size() >= AllowedBy(FaultId::kLimitThreads)) {
      return FailLimit(FaultId::kLimitThreads);
    }
    return AssumeSyscallThread(id, goroutine, context);
  }
  if (it->second.goroutine != goroutine) {
    return FailSyscallThread(goroutine, id, it->second.goroutine);
  }
  context->goroutine = goroutine;
  context->thread = id;
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::FailSyscallThread(GoId expected, ThreadId thread,
                                                          GoId found) {
  return Fail(FaultId::kGoSyscallThread,
              absl::StrCat(
                  "expected goroutine ", expected.value, ", in a syscall, on thread ", thread.value,
                  ", found ",
                  found == GoId::kNone ? "no goroutine" : absl::StrCat("goroutine ", found.value)));
}

SchedulerModel::Outcome SchedulerModel::OrderGoCreateSyscall(Step step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  const Outcome outcome = CreateGoroutine(step);
  if (outcome == Outcome::kAdvanced) {
    SetGoroutine(step, GoId{static_cast<int64_t>(step.arg(0))});
  }
  return outcome;
}

SchedulerModel::Outcome SchedulerModel::FailGoroutineExists(GoId goroutine) {
  return Fail(FaultId::kGoExists, absl::StrCat("expected a new goroutine, found goroutine ",
                                               goroutine.value, ", which exists"));
}

void SchedulerModel::EmitExtraEnd(Step step, GoroutineState* goroutine, GoState from) {
  const int64_t id = goroutine->id.value;
  Erase(goroutine);
  Event& event = EmitBare(step, step.context(),
                          TagsOf(EventType::kGoDestroy).WithTransition(from, GoState::kNotExist));
  EventWriter(&event).Subject(id).NoArgs();
}

// GoSwitch and GoSwitchDestroy make three transitions: the next goroutine is unblocked, the current
// one blocks or ends, and the next one starts.
SchedulerModel::Outcome SchedulerModel::OrderGoSwitch(Step step) {
  GoroutineState* current = nullptr;
  if (Outcome outcome = CheckStatus(step, &current); outcome != Outcome::kAdvanced) return outcome;
  GoroutineState* const next = FindAwaited(step);
  if (next == nullptr) return Outcome::kWaits;
  const GoId next_id = next->id;
  const bool ends = RuleOf(step.type()).goroutine_becomes == Becomes::kGone;
  EmitTransition(step, next, GoState::kWaiting, GoState::kRunnable);

  if (ends) {
    EmitExtraEnd(step, current, GoState::kRunning);
  } else {
    current->status = GoStatus::kWaiting;
    current->reason = 0;
    EmitExtra(step, step.context(), EventType::kGoBlock, current, GoState::kRunning,
              GoState::kWaiting);
  }

  next->status = GoStatus::kRunning;
  next->number = step.arg(1);
  Context start = step.context();
  start.goroutine = GoId::kNone;
  EmitExtra(step, start, EventType::kGoStart, next, GoState::kRunnable, GoState::kRunning);
  SetGoroutine(step, next_id);
  return Outcome::kAdvanced;
}

// The goroutine lost its P during the syscall, so the event comes only after that loss.
SchedulerModel::Outcome SchedulerModel::OrderGoSyscallEndBlocked(Step step) {
  if (step.proc() != ProcId::kNone) {
    const ProcessorState* const proc = CurrentProc(step);
    if (proc == nullptr) return FailProcUnknown(step, step.proc());
    if (proc->status == ProcStatus::kSyscall) return Outcome::kWaits;
  }
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, &goroutine); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  goroutine->status = GoStatus::kRunnable;
  EmitTransition(step, goroutine, GoState::kSyscall, GoState::kRunnable);
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

// The end of a goroutine that was created for a call from a C thread. If the thread still has its
// P, it loses the P here. Its id may be used again for another thread, which may even steal this P
// back.
SchedulerModel::Outcome SchedulerModel::OrderGoDestroySyscall(Step step) {
  GoroutineState* goroutine = nullptr;
  if (Outcome outcome = CheckStatus(step, &goroutine); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  const Context context = step.context();  // Both events are seen in the context before the first.
  if (step.proc() != ProcId::kNone) {
    ProcessorState* const proc = CurrentProc(step);
    if (proc == nullptr) return FailProcUnknown(step, step.proc());
    if (proc->status != ProcStatus::kSyscall) return FailProcStatus(*proc, "Syscall");
    proc->status = ProcStatus::kSyscallAbandoned;
    EmitExtra(step, context, EventType::kProcSteal, proc, ProcState::kRunning, ProcState::kIdle);
    SetProc(step, ProcId::kNone);
  }
  EmitEnd(step, context, goroutine, GoState::kSyscall);
  SetGoroutine(step, GoId::kNone);
  return Outcome::kAdvanced;
}

// Rules for Ps. -----------------------------------------------------------------------------------

SchedulerModel::Outcome SchedulerModel::OrderProcStatus(Step step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  const uint8_t value = static_cast<uint8_t>(step.arg(1));
  if (value >= kProcStatusEnd) {
    return Fail(FaultId::kProcStatusValue,
                absl::StrCat("expected a P's status of 0 to ", kProcStatusEnd - 1, ", found ",
                             value, " for P ", id.value));
  }
  const ProcStatus status = static_cast<ProcStatus>(value);
  ProcState from = StateOf(status);
  ProcessorState* proc = procs_.Find(id);
  if (proc != nullptr) {
    if (status == ProcStatus::kSyscallAbandoned && proc->status == ProcStatus::kSyscall) {
      return ConfirmAbandonedProc(step, proc);
    }
    if (proc->status != status) {
      return Fail(FaultId::kProcStatusConflict,
                  absl::StrCat("expected P ", id.value, " to be ", ProcStatusName(proc->status),
                               ", found its status reported as ", ProcStatusName(status)));
    }
  } else {
    if (!forcing_ && procs_.size() >= limits_.procs) return FailLimit(FaultId::kLimitProcs);
    if (MayAssume() && status == ProcStatus::kSyscallAbandoned) {
      return AssumeAbandonedProc(step, id);
    }
    from = AssumeProc(id, status);
    proc = procs_.Insert(id);
    proc->status = status;
  }
  proc->sequence = Sequence(0);
  EmitTransition(step, proc, from, StateOf(status));
  if (status == ProcStatus::kRunning || status == ProcStatus::kSyscall) SetProc(step, id, proc);
  return Outcome::kAdvanced;
}

// Handles the status of an abandoned syscall although the model still knows the syscall of the P.
// The P is still on the thread where the syscall began, and the event belongs to that thread.
SchedulerModel::Outcome SchedulerModel::ConfirmAbandonedProc(Step step, ProcessorState* proc) {
  const ThreadState* const owner = proc->thread;
  if (owner == nullptr) {
    return Fail(FaultId::kProcThreadUnknown,
                absl::StrCat("expected P ", proc->id.value,
                             ", in a syscall, to be on a thread, found it on none"));
  }
  proc->sequence = Sequence(0);
  EmitTransition(step, {owner->id, proc->id, owner->goroutine}, proc, ProcState::kRunning,
                 ProcState::kRunning);
  return Outcome::kAdvanced;
}

template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderProcStart(AnyStep step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  const SequenceNumber sequence = Sequence(step.arg(1));
  ProcessorState* const proc = procs_.Find(id);
  // If the thread still has a P, the thread is in a syscall, from which the P must be stolen first.
  if (proc == nullptr || proc->status != ProcStatus::kIdle || !sequence.Follows(proc->sequence) ||
      step.proc() != ProcId::kNone) {
    return Outcome::kWaits;
  }
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  proc->status = ProcStatus::kRunning;
  proc->sequence = sequence;
  EmitTransition(step, proc, ProcState::kIdle, ProcState::kRunning);
  SetProc(step, id, proc);
  return Outcome::kAdvanced;
}

template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderProcStop(AnyStep step) {
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  if (proc->status != ProcStatus::kRunning && proc->status != ProcStatus::kSyscall) {
    return FailProcStatus(*proc, "Running or Syscall");
  }
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  proc->status = ProcStatus::kIdle;
  EmitTransition(step, proc, ProcState::kRunning, ProcState::kIdle);
  SetProc(step, ProcId::kNone);
  return Outcome::kAdvanced;
}

template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderProcSteal(AnyStep step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  const SequenceNumber sequence = Sequence(step.arg(1));
  ProcessorState* const proc = procs_.Find(id);
  if (proc == nullptr || !InSyscall(proc->status) || !sequence.Follows(proc->sequence)) {
    return Outcome::kWaits;
  }
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  const Context context = step.context();  // The thief may steal from itself.
  // If the syscall was abandoned, the thread may have moved on, so it does not change.
  const bool abandoned = proc->status == ProcStatus::kSyscallAbandoned;
  const ThreadId victim{static_cast<int64_t>(step.arg(2))};
  if (!abandoned) {
    if (Outcome outcome = CheckSteal(step, id, victim); outcome != Outcome::kAdvanced) {
      return outcome;
    }
    // The victim's syscall can end only after it has lost its P.
    GetThread(victim)->Unbind();
  }
  proc->status = ProcStatus::kIdle;
  proc->sequence = sequence;
  EmitTransition(step, context, proc, abandoned ? ProcState::kIdle : ProcState::kRunning,
                 ProcState::kIdle);
  return Outcome::kAdvanced;
}

// Checks that `victim`, which may be the thief itself, has the P.
SchedulerModel::Outcome SchedulerModel::CheckSteal(Step step, ProcId proc, ThreadId victim) {
  ProcId found = step.proc();
  if (victim != step.thread_id()) {
    const auto it = threads_.find(victim);
    if (it == threads_.end()) {
      return Fail(FaultId::kProcStealThread,
                  absl::StrCat("expected P ", proc.value, " on thread ", victim.value,
                               ", which does not appear before"));
    }
    found = it->second.proc;
  }
  if (found == proc) return Outcome::kAdvanced;
  return Fail(FaultId::kProcStealProc,
              absl::StrCat("expected P ", proc.value, " on thread ", victim.value, ", found ",
                           found == ProcId::kNone ? "no P" : absl::StrCat("P ", found.value)));
}

// Rules for ranges, GC cycles and metrics. --------------------------------------------------------

void SchedulerModel::OpenRangeIn(OpenRanges& ranges, const OpenRange& range) {
  ranges.Add(range);
  ++open_ranges_;
}

void SchedulerModel::CloseRangeIn(OpenRanges& ranges, size_t place) {
  ranges.Remove(place);
  --open_ranges_;
}

template <class State>
SchedulerModel::Outcome SchedulerModel::BeginRange(Step step, State* state, uint64_t kind) {
  const OpenRange range = {BeginOf(step.event.type), kind};
  OpenRanges& open = state->open().ranges;
  if (open.Find(range) != OpenRanges::kNone) {
    return Fail(FaultId::kRangeBegun,
                absl::StrCat("expected ", Describe(*state, range.begin),
                             " not to be open when it begins, found it open"));
  }
  const bool fits = MayOpen();
  if (!fits && !forcing_) return FailLimit(FaultId::kLimitNesting);
  if (!MayBegin({kKindOf<State>, state->id.value, range})) {
    return FailPrecondition("which ranges began");
  }
  if (fits) OpenRangeIn(open, range);
  Emit(step);
  return Outcome::kAdvanced;
}

template <class State>
SchedulerModel::Outcome SchedulerModel::ConfirmRange(Step step, State* state) {
  const OpenRange range = {BeginOf(step.event.type), 0};
  OpenRanges& open = state->open().ranges;
  const bool is_open = open.Find(range) != OpenRanges::kNone;
  if (in_first_generation() && is_open) {
    return Fail(FaultId::kRangeBegun,
                absl::StrCat("expected ", Describe(*state, range.begin),
                             " not to be open when it is first reported active, found it open"));
  }
  if (!is_open && !AssumeActiveRange({kKindOf<State>, state->id.value, range})) {
    return Fail(FaultId::kRangeNotActive, absl::StrCat("expected ", Describe(*state, range.begin),
                                                       " to be open, found it closed"));
  }
  if (!is_open) OpenRangeIn(open, range);
  Emit(step);
  return Outcome::kAdvanced;
}

template <class State>
SchedulerModel::Outcome SchedulerModel::EndRange(Step step, State* state, uint64_t* kind) {
  const EventType begin = BeginOf(step.event.type);
  OpenRanges& open = state->open().ranges;
  const size_t place = open.FindFirst(begin);
  if (place == OpenRanges::kNone) {
    return Fail(FaultId::kRangeNotBegun, absl::StrCat("expected ", Describe(*state, begin),
                                                      " to be open when it ends, found it closed"));
  }
  *kind = open.at(place).kind;
  CloseRangeIn(open, place);
  return Outcome::kAdvanced;
}

// STWBegin and GCMarkAssistBegin.
template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderGoRangeBegin(AnyStep step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  const bool has_kind = step.event.type == EventType::kSTWBegin;
  return BeginRange(step, goroutine, has_kind ? step.arg(0) : 0);
}

// GCMarkAssistActive. Like a status, it may be about any goroutine.
SchedulerModel::Outcome SchedulerModel::OrderGoRangeActive(Step step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, id);
  return ConfirmRange(step, goroutine);
}

// STWEnd and GCMarkAssistEnd.
template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderGoRangeEnd(AnyStep step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  uint64_t kind = 0;
  if (Outcome outcome = EndRange(step, goroutine, &kind); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  Event& event = Emit(step);
  // The end does not state the reason, so it is taken from the begin.
  if (step.event.type == EventType::kSTWEnd) EventWriter(&event).Arg(0, kind);
  return Outcome::kAdvanced;
}

template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderGCSweepBegin(AnyStep step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  return BeginRange(step, proc, 0);
}

SchedulerModel::Outcome SchedulerModel::OrderGCSweepActive(Step step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  ProcessorState* const proc = procs_.Find(id);
  if (proc == nullptr) return FailProcUnknown(step, id);
  return ConfirmRange(step, proc);
}

template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderGCSweepEnd(AnyStep step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  uint64_t kind = 0;
  if (Outcome outcome = EndRange(step, proc, &kind); outcome != Outcome::kAdvanced) return outcome;
  Emit(step);
  return Outcome::kAdvanced;
}

// The beginnings and ends of GC cycles are numbered in one sequence over the whole trace, because
// they happen on different threads.
SchedulerModel::Outcome SchedulerModel::OrderGCActive(Step step) {
  if (in_first_generation()) {
    if (gc_state_ != GcState::kUndetermined) {
      return Fail(FaultId::kGCActiveNotFirst,
                  "expected an active GC to be the first GC event of the first generation, "
                  "found one before it");
    }
    gc_sequence_ = step.arg(0);
    gc_state_ = GcState::kRunning;
    Emit(step);
    return Outcome::kAdvanced;
  }
  AssumeGc(/*running=*/true, step.arg(0));
  if (step.arg(0) != gc_sequence_ + 1) return Outcome::kWaits;
  if (gc_state_ != GcState::kRunning) {
    return Fail(FaultId::kGCNotRunning, "expected a GC to be running, found none");
  }
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  gc_sequence_ = step.arg(0);
  Emit(step);
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::OrderGCBegin(Step step) {
  AssumeGc(/*running=*/false, step.arg(0));
  if (gc_state_ != GcState::kUndetermined) {
    if (step.arg(0) != gc_sequence_ + 1) return Outcome::kWaits;
    if (gc_state_ == GcState::kRunning) {
      return Fail(FaultId::kGCRunning, "expected no GC to be running when one begins, found one");
    }
    if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  }
  gc_sequence_ = step.arg(0);
  gc_state_ = GcState::kRunning;
  Emit(step);
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::OrderGCEnd(Step step) {
  AssumeGc(/*running=*/true, step.arg(0));
  if (step.arg(0) != gc_sequence_ + 1) return Outcome::kWaits;
  if (gc_state_ != GcState::kRunning) {
    return Fail(FaultId::kGCNotRunning, "expected a GC to be running when it ends, found none");
  }
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  gc_sequence_ = step.arg(0);
  gc_state_ = GcState::kNotRunning;
  Emit(step);
  return Outcome::kAdvanced;
}

template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderHeapMetric(AnyStep step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  Emit(step);
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::OrderAllocFree(Step step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  Emit(step);
  return Outcome::kAdvanced;
}

// Rules for tasks, regions, logs and labels. ------------------------------------------------------

template <class AnyStep>
SchedulerModel::Outcome SchedulerModel::OrderAnnotation(AnyStep step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  Emit(step);
  return Outcome::kAdvanced;
}

// Only a second beginning of a task is a fault. A task may end several times or be referred to
// without a beginning, and its id may be used again after its end.
SchedulerModel::Outcome SchedulerModel::OrderUserTaskBegin(Step step) {
  const TaskId id{step.arg(0)};
  if (tasks_.contains(id)) {
    return Fail(FaultId::kTaskExists, absl::StrCat("expected a new task, found task ", id.value,
                                                   ", which has not ended"));
  }
  // 0 means no parent here. Only regions are put into the background task.
  const TaskId parent = step.arg(1) == 0 ? TaskId::kNone : TaskId{step.arg(1)};
  NamePool::Text* const name = FindName(step.arg(2));
  if (name == nullptr) return FailString(step.arg(2));
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  if (!MayBeginTask(id)) return FailPrecondition("whether the task is new");
  const bool fits = MayOpen();
  if (!fits && !forcing_) return FailLimit(FaultId::kLimitNesting);
  if (fits) tasks_.emplace(id, TaskState{names_.Hold(name), parent});
  EventWriter(&Emit(step)).Arg(1, parent.value);
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::OrderUserTaskEnd(Step step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  EventWriter event(&Emit(step));
  event.Arg(2, TaskId::kNone.value).TaskType(nullptr);
  const TaskId id{step.arg(0)};
  std::optional<TaskState> task;
  if (const auto open = tasks_.find(id); open != tasks_.end()) {
    task = std::move(open->second);
    tasks_.erase(open);
  } else {
    task = AssumeTaskEnd(id);
  }
  if (!task.has_value()) return Outcome::kAdvanced;
  // The string table of this generation may lack the type of the task. The name pool keeps the text
  // until the next generation.
  event.Arg(2, task->parent.value).TaskType(&task->name.text()->first);
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::OrderUserRegionBegin(Step step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  NamePool::Text* const name = FindName(step.arg(1));
  if (name == nullptr) return FailString(step.arg(1));
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  const bool fits = MayOpen();
  if (!fits && !forcing_) return FailLimit(FaultId::kLimitNesting);
  if (fits) {
    const RegionBegin begin = {step.event.offset, step.event.time, step.arg(2), generation_index_};
    goroutine->open().regions.push_back({TaskId{step.arg(0)}, names_.Hold(name), begin});
  }
  Emit(step);
  return Outcome::kAdvanced;
}

SchedulerModel::Outcome SchedulerModel::OrderUserRegionEnd(Step step) {
  if (Outcome outcome = Check(step); outcome != Outcome::kAdvanced) return outcome;
  NamePool::Text* const name = FindName(step.arg(1));
  if (name == nullptr) return FailString(step.arg(1));
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  std::vector<OpenRegion>& open = goroutine->open().regions;
  // A region without a beginning began before the trace.
  if (!open.empty()) {
    const OpenRegion& innermost = open.back();
    // A name that is missing in a damaged trace matches any region.
    const bool is_name = innermost.name.text() == name || tables_->IsMissingString(step.arg(1));
    if (innermost.task.value != step.arg(0) || !is_name) {
      return Fail(FaultId::kRegionNesting,
                  absl::StrCat("expected the end of goroutine ", goroutine->id.value,
                               "'s innermost region, ", Quoted(innermost.name.view()), " of task ",
                               innermost.task.value, ", found the end of ", Quoted(name->first),
                               " of task ", step.arg(0)));
    }
    open.pop_back();
  } else if (!AssumeRegionEnd(goroutine->id, TaskId{step.arg(0)}, name)) {
    return FailPrecondition("which regions are open");
  }
  Emit(step);
  return Outcome::kAdvanced;
}

NamePool::Text* SchedulerModel::FindName(uint64_t id) {
  if (id == 0) return names_.Keep("");
  const uint32_t index = tables_->StringIndex(id);
  if (index == GenerationTables::kNoString) return nullptr;
  if (index >= names_of_strings_.size()) names_of_strings_.resize(tables_->string_count());
  NamePool::Text*& name = names_of_strings_[index];
  if (name == nullptr) name = names_.Keep(tables_->StringAt(index));
  return name;
}

SchedulerModel::Outcome SchedulerModel::FailString(uint64_t id) {
  return Fail(FaultId::kEventStringId,
              absl::StrCat("expected string ", id, " in the table, found none"));
}

// Dispatch. ---------------------------------------------------------------------------------------

SchedulerModel::Outcome SchedulerModel::OrderNone(Step step) {
  return Fail(
      FaultId::kEventWithoutRule,
      absl::StrCat("expected an event that threads make, found ", EventTypeName(step.event.type)));
}

template <EventType kType>
[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::Order(Step step) {
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...) \
  if constexpr (kType == EventType::k##name) {                                      \
    return Order##rule(KnownStep<kType>{step});                                     \
  }
#include "gotrace/internal/events.def"
}

[[gnu::always_inline]] inline SchedulerModel::Outcome SchedulerModel::Dispatch(Step step) {
  // The most common types are tested for before the jump, because a processor predicts a branch
  // better than the target of a jump (bench/README.md).
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

inline ThreadState* SchedulerModel::StateOfThread(ThreadId thread, ThreadState** state) {
  if (*state == nullptr) {
    if (thread == ThreadId::kNone) return &no_thread_;
    *state = ThreadWithEvents(thread);
  }
  return *state;
}

inline void SchedulerModel::BeginEvents() {
  // A generation without timed events states nothing about the past, so the first generation that
  // has some counts as the first.
  if (first_generation_ == 0) first_generation_ = generation_->number();
}

SchedulerModel::Outcome SchedulerModel::Advance(ThreadCursor* cursor) {
  BeginEvents();
  DropEvents();
  cursor_ = cursor;
  const Outcome outcome = Dispatch({cursor->event(), StateOfThread(cursor)});
  cursor_ = nullptr;
  return outcome;
}

[[gnu::always_inline]] inline bool SchedulerModel::AdvancePlain(Step step, Run* run) {
  ++run->attempts;
  if (Dispatch(step) != Outcome::kAdvanced) [[unlikely]] {
    events_end_ = run->room;
    return false;
  }
  const auto take = [&] {
    EventWriter(run->room).MakeLaterThan(&run->last_time, step.event.time);
    ++run->room;
  };
  take();
  // Few events become more than one. A loop over all of them would be compiled for many.
  while (run->room != events_end_) [[unlikely]] take();
  return true;
}

[[gnu::always_inline]] inline bool SchedulerModel::AdvanceRun(ThreadCursor* cursor,
                                                              int64_t run_until, Run* run) {
  ThreadState* const thread = StateOfThread(cursor);
  const Event* const begin = run->room;
  while (cursor->time() <= run_until && run->HasRoom()) {
    if (!cursor->IsKnownPlain() && !cursor->IsPlain(run->watches_time)) [[unlikely]]
      break;
    if (run->hands_over) PrefetchAfter(run->room);
    if (!AdvancePlain({cursor->event(), thread}, run)) break;
    cursor->Advance();
  }
  return run->room != begin;
}

SchedulerModel::Run SchedulerModel::AdvanceRuns(Frontier* frontier, Run run) {
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

// State. ------------------------------------------------------------------------------------------

void SchedulerModel::BeginGeneration(Generation* generation) {
  generation_ = generation;
  ++generation_index_;
  names_.Sweep();
  names_of_strings_.clear();
  tables_ = &generation->tables();
  const uint64_t by_size = generation->bytes() / ReaderLimits::kBytesPerGoroutine;
  const uint64_t most = limits_.goroutines + std::min(by_size, ~limits_.goroutines);
  max_goroutines_ = std::max(max_goroutines_, most);
  if (threads_.size() <= limits_.threads) return;
  if (preconditions_ != nullptr) preconditions_->forgot_threads = true;
  ForgetThreads();
}

WaitingGoroutines SchedulerModel::CountWaiting() const {
  WaitingGoroutines waiting = {};
  goroutines_.ForEach([&](const GoroutineState& goroutine) {
    if (goroutine.status != GoStatus::kWaiting) return;
    ++waiting[goroutine.generation == generation_index_ ? goroutine.reason : 0];
  });
  return waiting;
}

// Forgets threads that have no events in this generation, since the trace does not say when a
// thread ends. Only one such thread for each P can still matter: the one that may lose the P to a
// thief.
void SchedulerModel::ForgetThreads() {
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

std::optional<FaultId> SchedulerModel::PassedLimit() const {
  if (goroutines_.size() > max_goroutines_) return FaultId::kLimitGoroutines;
  if (procs_.size() > limits_.procs) return FaultId::kLimitProcs;
  if (threads_.size() > AllowedBy(FaultId::kLimitThreads)) return FaultId::kLimitThreads;
  return std::nullopt;
}

uint64_t SchedulerModel::AllowedBy(FaultId limit) const {
  const uint64_t most = LimitOf(limit, limits_);
  switch (limit) {
    case FaultId::kLimitGoroutines:
      return max_goroutines_;
    case FaultId::kLimitThreads:
      // Allows as many threads of earlier generations as of this one.
      return most + std::min(most, ~most);
    default:
      return most;
  }
}

std::string SchedulerModel::MessageOf(FaultId limit) const {
  return LimitMessage(limit, LimitOf(limit, limits_), AllowedBy(limit));
}

void SchedulerModel::Erase(GoroutineState* goroutine) {
  if (goroutine->spans != nullptr) open_ranges_ -= goroutine->spans->ranges.size();
  goroutines_.Erase(goroutine);
}

SchedulerModel::Outcome SchedulerModel::FailLimit(FaultId id) { return Fail(id, MessageOf(id)); }

ThreadState* SchedulerModel::GetThread(ThreadId id) {
  const auto [it, is_new] = threads_.try_emplace(id);
  ThreadState& thread = it->second;
  thread.id = id;
  if (is_new && preconditions_ != nullptr) AssumeThread(&thread);
  return &thread;
}

ThreadState* SchedulerModel::ThreadWithEvents(ThreadId id) {
  if (MayAssume()) preconditions_->tried_threads.insert(id);
  return GetThread(id);
}

SchedulerModel::Outcome SchedulerModel::Fail(FaultId id, std::string message) {
  fault_id_ = id;
  fault_message_ = std::move(message);
  return Outcome::kFault;
}

SchedulerModel::Outcome SchedulerModel::FailNeedsProc(Step step) {
  if (!step.has_thread()) return FailNeedsThread();
  return Fail(FaultId::kNeedsProc, "expected the thread to have a P, found none");
}

SchedulerModel::Outcome SchedulerModel::FailNeedsGoroutine() {
  return Fail(FaultId::kNeedsGoroutine, "expected the thread to run a goroutine, found none");
}

SchedulerModel::Outcome SchedulerModel::FailHasGoroutine(Step step) {
  return Fail(FaultId::kHasGoroutine,
              absl::StrCat("expected the thread to run no goroutine, found goroutine ",
                           step.goroutine().value));
}

SchedulerModel::Outcome SchedulerModel::FailNeedsThread() {
  return Fail(FaultId::kNeedsThread, "expected a thread that made the event, found none");
}

SchedulerModel::Outcome SchedulerModel::FailProcUnknown(Step step, ProcId proc) {
  if (proc == ProcId::kNone) return FailNeedsProc(step);
  return Fail(FaultId::kProcUnknown, absl::StrCat("expected a known P, found P ", proc.value));
}

SchedulerModel::Outcome SchedulerModel::FailProcStatus(const ProcessorState& proc,
                                                       absl::string_view expected) {
  return Fail(FaultId::kProcWrongStatus,
              absl::StrCat("expected P ", proc.id.value, " to be ", expected, ", found it ",
                           ProcStatusName(proc.status)));
}

SchedulerModel::Outcome SchedulerModel::FailProcSequence(const ProcessorState& proc,
                                                         SequenceNumber found) {
  return Fail(FaultId::kProcSequence,
              absl::StrCat("expected sequence number ", proc.sequence.number + 1, " of generation ",
                           proc.sequence.generation, " for P ", proc.id.value, ", found ",
                           found.number, " of generation ", found.generation));
}

SchedulerModel::Outcome SchedulerModel::FailGoroutineUnknown(Step step, GoId goroutine) {
  return Fail(FaultId::kGoUnknown,
              absl::StrCat("expected a goroutine that exists for ", EventTypeName(step.event.type),
                           ", found goroutine ", goroutine.value));
}

SchedulerModel::Outcome SchedulerModel::FailGoroutineStatus(const GoroutineState& goroutine,
                                                            GoStatus expected) {
  return Fail(FaultId::kGoWrongStatus,
              absl::StrCat("expected goroutine ", goroutine.id.value, " to be ",
                           GoStatusName(expected), ", found it ", GoStatusName(goroutine.status)));
}

}  // namespace gotrace::internal
