// Continuing after faults: the assumptions that allow an event to come next anyway.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/scheduler_model.h"

namespace gotrace::internal {
namespace {

GoId SubjectGo(const TimedEvent& event) { return GoId{static_cast<int64_t>(event.args[0])}; }
ProcId SubjectProc(const TimedEvent& event) { return ProcId{static_cast<int64_t>(event.args[0])}; }

}  // namespace

SchedulerModel::Outcome SchedulerModel::Force(ThreadCursor* cursor) {
  if (cursor->state == nullptr && cursor->thread() != ThreadId::kNone) {
    cursor->state = GetThread(cursor->thread());
  }
  MakeAdmissible(cursor->event(), cursor->state);
  forcing_ = true;
  const Outcome outcome = Advance(cursor);
  forcing_ = false;
  return outcome == Outcome::kWaits ? Outcome::kFault : outcome;
}

void SchedulerModel::Forget() {
  goroutines_.Clear();
  procs_.Clear();
  threads_.clear();
  no_thread_ = ThreadState();
  open_ranges_ = 0;
  gc_state_ = GcState::kUndetermined;
  first_generation_ = 0;
}

// Makes the event's rule find what event_rules.def requires. If nothing identifies the goroutine or
// P, it does nothing, and the rule will refuse the event.
void SchedulerModel::MakeAdmissible(const TimedEvent& event, ThreadState* thread) {
  const EventRule& rule = RuleOf(event.type);
  if (rule.subject == Subject::kGC) return MakeAdmissibleGc(event);
  if (event.type == EventType::kUserTaskBegin) {
    tasks_.erase(TaskId{event.args[0]});
    return;
  }
  if (rule.subject == Subject::kNewGoroutine) {
    if (GoroutineState* state = goroutines_.Find(SubjectGo(event))) Erase(state);
  }
  if (thread != nullptr) MakeAdmissibleContext(event, *thread);
  MakeAdmissibleSubject(event);
  MakeAdmissibleSpan(event, thread);
}

void SchedulerModel::MakeAdmissibleGc(const TimedEvent& event) {
  const bool is_first = in_first_generation() && event.type == EventType::kGCActive;
  const bool begins = event.type == EventType::kGCBegin;
  gc_state_ =
      is_first ? GcState::kUndetermined : (begins ? GcState::kNotRunning : GcState::kRunning);
  gc_sequence_ = event.args[0] - 1;
}

// Does this for what the event's own thread executes.
void SchedulerModel::MakeAdmissibleContext(const TimedEvent& event, ThreadState& thread) {
  const EventRule& rule = RuleOf(event.type);
  // Whatever is not a state transition is done by a goroutine that runs.
  const bool is_transition = rule.resource != ResourceKind::kNone;
  const bool runs = rule.goroutine == GoNeed::kRunning || rule.goroutine == GoNeed::kRunningIfAny;
  if (rule.goroutine == GoNeed::kSyscall) {
    SetCurrentGoroutine(thread, GoStatus::kSyscall);
  } else if (runs || !is_transition) {
    SetCurrentGoroutine(thread, GoStatus::kRunning);
  }
  switch (rule.proc) {
    case ProcNeed::kNone:
      return thread.Unbind();
    case ProcNeed::kNotSyscall:
      // The event waited for the P to be stolen.
      if (ProcessorState* proc = procs_.Find(thread.proc);
          proc != nullptr && proc->status == ProcStatus::kSyscall) {
        proc->status = ProcStatus::kIdle;
        thread.Unbind();
      }
      return;
    case ProcNeed::kInUse:
      SetCurrentProc(thread, ProcStatus::kRunning);
      return;
    case ProcNeed::kSyscall:
    case ProcNeed::kSyscallIfAny:
      SetCurrentProc(thread, ProcStatus::kSyscall);
      return;
    case ProcNeed::kNumbered:
      if (ProcessorState* proc = SetCurrentProc(thread, ProcStatus::kRunning)) {
        proc->sequence = Sequence(event.args[rule.number_arg] - 1);
      }
      return;
    case ProcNeed::kAny:
    case ProcNeed::kSome:
      return;
  }
}

void SchedulerModel::MakeAdmissibleSubject(const TimedEvent& event) {
  const EventRule& rule = RuleOf(event.type);
  const GoId goroutine = SubjectGo(event);
  const ProcId proc = SubjectProc(event);
  const uint64_t number = rule.AwaitsSubject() ? event.args[rule.number_arg] : 0;
  switch (rule.subject) {
    case Subject::kRunnableGoroutine:
      SetGoroutineState(goroutine, GoStatus::kRunnable, number);
      return;
    case Subject::kWaitingGoroutine:
      SetGoroutineState(goroutine, GoStatus::kWaiting, number);
      return;
    case Subject::kStatedGoroutine:
      return MakeAdmissibleStatus(event);
    case Subject::kIdleProc:
      SetProcState(proc, ProcStatus::kIdle, number);
      return;
    case Subject::kSyscallProc:
      // The P may be with any thread by now.
      SetProcState(proc, ProcStatus::kSyscallAbandoned, number);
      return;
    case Subject::kStatedProc:
      if (ProcessorState* state = procs_.Find(proc)) {
        state->status = static_cast<ProcStatus>(static_cast<uint8_t>(event.args[1]));
      }
      return;
    case Subject::kNone:
    case Subject::kNewGoroutine:
    case Subject::kKnownGoroutine:
    case Subject::kKnownProc:
    case Subject::kGC:
      return;
  }
}

void SchedulerModel::MakeAdmissibleStatus(const TimedEvent& event) {
  const GoId goroutine = SubjectGo(event);
  const GoStatus status = static_cast<GoStatus>(static_cast<uint8_t>(event.args[2]));
  if (GoroutineState* state = goroutines_.Find(goroutine)) state->status = status;
  const ThreadId thread{static_cast<int64_t>(event.args[1])};
  if (status == GoStatus::kSyscall && thread != ThreadId::kNone) {
    GetThread(thread)->goroutine = goroutine;
  }
}

// Does this for the range or region that the event begins, confirms or ends.
void SchedulerModel::MakeAdmissibleSpan(const TimedEvent& event, const ThreadState* thread) {
  const EventKind kind = kEventKinds[static_cast<uint8_t>(event.type)];
  const GoId own_goroutine = thread == nullptr ? GoId::kNone : thread->goroutine;
  const ProcId own_proc = thread == nullptr ? ProcId::kNone : thread->proc;
  if (kind == EventKind::kRegionEnd) {
    return MakeAdmissibleRegionEnd(event, goroutines_.Find(own_goroutine));
  }
  const bool begins = kind == EventKind::kRangeBegin;
  const bool is_active = kind == EventKind::kRangeActive;
  if (!begins && !is_active && kind != EventKind::kRangeEnd) return;
  const bool must_be_open = !begins && !(is_active && in_first_generation());
  const EventType begin = begins ? event.type : FindEventSpec(event.type)->start;
  const OpenRange range = {begin, event.type == EventType::kSTWBegin ? event.args[0] : 0};
  const auto fit = [&](auto* state) {
    if (state == nullptr) return;
    OpenRanges& ranges = state->open().ranges;
    const size_t place = must_be_open ? ranges.FindFirst(begin) : ranges.Find(range);
    const bool is_open = place != OpenRanges::kNone;
    if (must_be_open && !is_open) OpenRangeIn(ranges, {begin, 0});
    if (!must_be_open && is_open) CloseRangeIn(ranges, place);
  };
  const EventRule& rule = RuleOf(event.type);
  if (rule.IsAboutGoroutine()) {
    fit(goroutines_.Find(is_active ? SubjectGo(event) : own_goroutine));
  } else {
    fit(procs_.Find(is_active ? SubjectProc(event) : own_proc));
  }
}

// Assumes that the regions inside the ending one have ended. A region that never began ends alone.
void SchedulerModel::MakeAdmissibleRegionEnd(const TimedEvent& event, GoroutineState* goroutine) {
  const absl::string_view* const name = generation_->tables().FindString(event.args[1]);
  if (goroutine == nullptr || name == nullptr) return;
  std::vector<OpenRegion>& regions = goroutine->open().regions;
  // A broken trace may have a million open regions, so only the innermost are searched.
  constexpr size_t kSearched = 100;
  const auto end = regions.size() > kSearched ? regions.rbegin() + kSearched : regions.rend();
  const auto found = std::find_if(regions.rbegin(), end, [&](const OpenRegion& region) {
    return region.task.value == event.args[0] && region.name.view() == *name;
  });
  if (found == end) {
    regions.push_back({TaskId{event.args[0]}, names_.Get(*name)});
  } else {
    regions.erase(found.base(), regions.end());
  }
}

GoroutineState* SchedulerModel::SetGoroutineState(GoId id, GoStatus status, uint64_t next_number) {
  GoroutineState* const state = goroutines_.FindOrInsert(id);
  state->status = status;
  state->number = next_number - 1;
  state->generation = generation_index_;
  return state;
}

ProcessorState* SchedulerModel::SetProcState(ProcId id, ProcStatus status, uint64_t next_number) {
  ProcessorState* const state = procs_.FindOrInsert(id);
  state->status = status;
  state->sequence = Sequence(next_number - 1);
  return state;
}

void SchedulerModel::SetCurrentGoroutine(const ThreadState& thread, GoStatus status) {
  if (thread.goroutine == GoId::kNone) return;
  goroutines_.FindOrInsert(thread.goroutine)->status = status;
}

ProcessorState* SchedulerModel::SetCurrentProc(const ThreadState& thread, ProcStatus status) {
  if (thread.proc == ProcId::kNone) return nullptr;
  ProcessorState* const state = procs_.FindOrInsert(thread.proc);
  state->status = status;
  return state;
}

}  // namespace gotrace::internal
