// The rules for ranges of time, the garbage collector's cycles, and metrics.
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/scheduler.h"
#include "parser/order/scheduler_inline.h"

namespace gotrace::internal {
namespace {

// The type of event that begins the ranges which events of `type` begin, confirm or end.
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

void Scheduler::OpenRangeIn(OpenRanges& ranges, const OpenRange& range) {
  ranges.Add(range);
  ++open_ranges_;
}

void Scheduler::CloseRangeIn(OpenRanges& ranges, size_t place) {
  ranges.Remove(place);
  --open_ranges_;
}

template <class State>
Scheduler::Outcome Scheduler::BeginRange(Step step, State* state, uint64_t kind) {
  const OpenRange range = {BeginOf(step.event.type), kind};
  OpenRanges& open = state->open().ranges;
  if (open.Find(range) != OpenRanges::kNone) {
    return Fail(FaultId::kRangeBegun,
                absl::StrCat("expected ", Describe(*state, range.begin),
                             " not to be open when it begins, found it open"));
  }
  const bool fits = MayOpen();
  if (!fits && !forcing_) return FailLimit(FaultId::kLimitNesting);
  if (MayAssume() && !AssumeBegun({kKindOf<State>, state->id.value, range})) {
    return FailToAssume("which ranges began");
  }
  if (fits) OpenRangeIn(open, range);
  Emit(step);
  return Outcome::kAdvanced;
}

template <class State>
Scheduler::Outcome Scheduler::ConfirmRange(Step step, State* state) {
  const OpenRange range = {BeginOf(step.event.type), 0};
  OpenRanges& open = state->open().ranges;
  const bool is_open = open.Find(range) != OpenRanges::kNone;
  if (in_first_generation() && is_open) {
    return Fail(FaultId::kRangeBegun,
                absl::StrCat("expected ", Describe(*state, range.begin),
                             " not to be open when it is first told to be, found it open"));
  }
  if (!in_first_generation() && !is_open &&
      !AssumeRange({kKindOf<State>, state->id.value, range})) {
    return Fail(FaultId::kRangeNotActive, absl::StrCat("expected ", Describe(*state, range.begin),
                                                       " to be open, found it closed"));
  }
  if (!is_open) OpenRangeIn(open, range);
  Emit(step);
  return Outcome::kAdvanced;
}

template <class State>
Scheduler::Outcome Scheduler::EndRange(Step step, State* state, uint64_t* kind) {
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
Scheduler::Outcome Scheduler::OrderGoRangeBegin(Step step) {
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  const bool has_kind = step.event.type == EventType::kSTWBegin;
  return BeginRange(step, goroutine, has_kind ? step.arg(0) : 0);
}

// GCMarkAssistActive: like a status, it may be about any goroutine.
Scheduler::Outcome Scheduler::OrderGoRangeActive(Step step) {
  const GoId id{static_cast<int64_t>(step.arg(0))};
  GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, id);
  return ConfirmRange(step, goroutine);
}

// STWEnd and GCMarkAssistEnd.
Scheduler::Outcome Scheduler::OrderGoRangeEnd(Step step) {
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  uint64_t kind = 0;
  if (Outcome outcome = EndRange(step, goroutine, &kind); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  Event& event = Emit(step);
  // The end says nothing of the reason; it is the begin's.
  if (step.event.type == EventType::kSTWEnd) event.args_[0] = kind;
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderGCSweepBegin(Step step) {
  if (Outcome outcome = Check(step, Need::kYes, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  return BeginRange(step, proc, 0);
}

Scheduler::Outcome Scheduler::OrderGCSweepActive(Step step) {
  const ProcId id{static_cast<int64_t>(step.arg(0))};
  ProcessorState* const proc = procs_.Find(id);
  if (proc == nullptr) return FailProcUnknown(step, id);
  return ConfirmRange(step, proc);
}

Scheduler::Outcome Scheduler::OrderGCSweepEnd(Step step) {
  if (Outcome outcome = Check(step, Need::kYes, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  ProcessorState* const proc = CurrentProc(step);
  if (proc == nullptr) return FailProcUnknown(step, step.proc());
  uint64_t kind = 0;
  if (Outcome outcome = EndRange(step, proc, &kind); outcome != Outcome::kAdvanced) return outcome;
  Emit(step);
  return Outcome::kAdvanced;
}

// Beginnings and ends of GC cycles are numbered in one sequence over the whole trace, since they
// happen on different threads.
Scheduler::Outcome Scheduler::OrderGCActive(Step step) {
  if (in_first_generation()) {
    if (gc_state_ != GcState::kUndetermined) {
      return Fail(FaultId::kGCActiveNotFirst,
                  "expected a GC that goes on to be the first GC event of the first generation, "
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
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  gc_sequence_ = step.arg(0);
  Emit(step);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderGCBegin(Step step) {
  AssumeGc(/*running=*/false, step.arg(0));
  if (gc_state_ != GcState::kUndetermined) {
    if (step.arg(0) != gc_sequence_ + 1) return Outcome::kWaits;
    if (gc_state_ == GcState::kRunning) {
      return Fail(FaultId::kGCRunning, "expected no GC to be running when one begins, found one");
    }
    if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  }
  gc_sequence_ = step.arg(0);
  gc_state_ = GcState::kRunning;
  Emit(step);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderGCEnd(Step step) {
  AssumeGc(/*running=*/true, step.arg(0));
  if (step.arg(0) != gc_sequence_ + 1) return Outcome::kWaits;
  if (gc_state_ != GcState::kRunning) {
    return Fail(FaultId::kGCNotRunning, "expected a GC to be running when it ends, found none");
  }
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  gc_sequence_ = step.arg(0);
  gc_state_ = GcState::kNotRunning;
  Emit(step);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderHeapMetric(Step step) {
  if (Outcome outcome = Check(step, Need::kYes, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  Emit(step);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderAllocFree(Step step) {
  if (Outcome outcome = Check(step, Need::kMaybe, Need::kMaybe); outcome != Outcome::kAdvanced) {
    return outcome;
  }
  Emit(step);
  return Outcome::kAdvanced;
}

}  // namespace gotrace::internal
