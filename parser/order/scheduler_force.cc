// Continuing after faults: the assumptions that allow an event to come next anyway.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/scheduler_model.h"

namespace gotrace::internal {

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

// Each case makes the event's rule find what it requires. If nothing identifies the goroutine or P,
// it does nothing, and the rule will refuse the event.
void SchedulerModel::MakeAdmissible(const TimedEvent& event, ThreadState* thread) {
  const GoId goroutine{static_cast<int64_t>(event.args[0])};
  const ProcId proc{static_cast<int64_t>(event.args[0])};
  switch (event.type) {
    case EventType::kProcStatus:
      if (ProcessorState* state = procs_.Find(proc)) {
        state->status = static_cast<ProcStatus>(static_cast<uint8_t>(event.args[1]));
      }
      break;
    case EventType::kProcStart:
      if (thread != nullptr) thread->Unbind();
      SetProcState(proc, ProcStatus::kIdle, event.args[1]);
      break;
    case EventType::kProcStop:
      if (thread != nullptr) SetCurrentProc(*thread, ProcStatus::kRunning);
      break;
    case EventType::kProcSteal:
      // Any thread may have the P by now.
      SetProcState(proc, ProcStatus::kSyscallAbandoned, event.args[1]);
      break;
    case EventType::kGoStatus:
    case EventType::kGoStatusStack:
      MakeAdmissibleStatus(event, goroutine);
      break;
    case EventType::kGoCreate:
    case EventType::kGoCreateBlocked:
    case EventType::kGoCreateSyscall:
      if (GoroutineState* state = goroutines_.Find(goroutine)) Erase(state);
      if (thread != nullptr && event.type != EventType::kGoCreateSyscall) {
        SetCurrentGoroutine(*thread, GoStatus::kRunning);
      }
      break;
    case EventType::kGoStart:
      SetGoroutineState(goroutine, GoStatus::kRunnable, event.args[1]);
      break;
    case EventType::kGoUnblock:
      SetGoroutineState(goroutine, GoStatus::kWaiting, event.args[1]);
      break;
    case EventType::kGoSwitch:
    case EventType::kGoSwitchDestroy:
      if (thread != nullptr) SetCurrentGoroutine(*thread, GoStatus::kRunning);
      SetGoroutineState(goroutine, GoStatus::kWaiting, event.args[1]);
      break;
    case EventType::kGCActive:
    case EventType::kGCEnd:
      gc_state_ = in_first_generation() && event.type == EventType::kGCActive
                      ? GcState::kUndetermined
                      : GcState::kRunning;
      gc_sequence_ = event.args[0] - 1;
      break;
    case EventType::kGCBegin:
      gc_state_ = GcState::kNotRunning;
      gc_sequence_ = event.args[0] - 1;
      break;
    case EventType::kUserTaskBegin:
      tasks_.erase(TaskId{event.args[0]});
      break;
    default:
      if (thread != nullptr) MakeAdmissibleContext(event, *thread);
      break;
  }
  MakeAdmissibleRange(event, thread);
}

void SchedulerModel::MakeAdmissibleStatus(const TimedEvent& event, GoId goroutine) {
  const GoStatus status = static_cast<GoStatus>(static_cast<uint8_t>(event.args[2]));
  if (GoroutineState* state = goroutines_.Find(goroutine)) state->status = status;
  const ThreadId thread{static_cast<int64_t>(event.args[1])};
  if (status == GoStatus::kSyscall && thread != ThreadId::kNone) {
    GetThread(thread)->goroutine = goroutine;
  }
}

// Does this for events about the goroutine or P of their own thread.
void SchedulerModel::MakeAdmissibleContext(const TimedEvent& event, ThreadState& thread) {
  switch (event.type) {
    case EventType::kGoDestroy:
    case EventType::kGoStop:
    case EventType::kGoBlock:
      SetCurrentGoroutine(thread, GoStatus::kRunning);
      break;
    case EventType::kGoSyscallBegin:
      SetCurrentGoroutine(thread, GoStatus::kRunning);
      if (ProcessorState* proc = SetCurrentProc(thread, ProcStatus::kRunning)) {
        proc->sequence = Sequence(event.args[0] - 1);
      }
      break;
    case EventType::kGoSyscallEnd:
    case EventType::kGoDestroySyscall:
      SetCurrentGoroutine(thread, GoStatus::kSyscall);
      SetCurrentProc(thread, ProcStatus::kSyscall);
      break;
    case EventType::kGoSyscallEndBlocked:
      SetCurrentGoroutine(thread, GoStatus::kSyscall);
      // The event waited for the P to be stolen.
      if (ProcessorState* proc = procs_.Find(thread.proc);
          proc != nullptr && proc->status == ProcStatus::kSyscall) {
        proc->status = ProcStatus::kIdle;
        thread.Unbind();
      }
      break;
    default:
      SetCurrentGoroutine(thread, GoStatus::kRunning);
      break;
  }
}

void SchedulerModel::MakeAdmissibleRange(const TimedEvent& event, ThreadState* thread) {
  const EventType start = FindEventSpec(event.type)->start;
  const auto fit = [&](auto* state, bool open, uint64_t kind) {
    if (state == nullptr) return;
    OpenRanges& ranges = state->open().ranges;
    const EventType begin = start == EventType::kNone ? event.type : start;
    const size_t place = open ? ranges.FindFirst(begin) : ranges.Find({begin, kind});
    const bool is_open = place != OpenRanges::kNone;
    if (open && !is_open) OpenRangeIn(ranges, {begin, 0});
    if (!open && is_open) CloseRangeIn(ranges, place);
  };
  const GoId current_goroutine = thread == nullptr ? GoId::kNone : thread->goroutine;
  const ProcId current_proc = thread == nullptr ? ProcId::kNone : thread->proc;
  switch (event.type) {
    case EventType::kSTWBegin:
    case EventType::kGCMarkAssistBegin:
      return fit(goroutines_.Find(current_goroutine), false,
                 event.type == EventType::kSTWBegin ? event.args[0] : 0);
    case EventType::kSTWEnd:
    case EventType::kGCMarkAssistEnd:
      return fit(goroutines_.Find(current_goroutine), true, 0);
    case EventType::kGCMarkAssistActive:
      return fit(goroutines_.Find(GoId{static_cast<int64_t>(event.args[0])}),
                 !in_first_generation(), 0);
    case EventType::kGCSweepBegin:
      return fit(procs_.Find(current_proc), false, 0);
    case EventType::kGCSweepEnd:
      return fit(procs_.Find(current_proc), true, 0);
    case EventType::kGCSweepActive:
      return fit(procs_.Find(ProcId{static_cast<int64_t>(event.args[0])}), !in_first_generation(),
                 0);
    case EventType::kUserRegionEnd:
      return MakeAdmissibleRegionEnd(event, goroutines_.Find(current_goroutine));
    default:
      return;
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
