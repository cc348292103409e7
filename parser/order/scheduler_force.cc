// Going on after faults: what the model must believe so that an event can come next after all.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/order/scheduler.h"
#include "parser/order/scheduler_inline.h"

namespace gotrace::internal {

Scheduler::Outcome Scheduler::Force(ThreadCursor* cursor) {
  if (cursor->state == nullptr && cursor->thread() != ThreadId::kNone) {
    cursor->state = GetThread(cursor->thread());
  }
  Accommodate(cursor->event(), cursor->state);
  forcing_ = true;
  const Outcome outcome = Advance(cursor);
  forcing_ = false;
  return outcome == Outcome::kWaits ? Outcome::kFault : outcome;
}

void Scheduler::Forget() {
  goroutines_.Clear();
  procs_.Clear();
  threads_.clear();
  no_thread_ = ThreadState();
  open_ranges_ = 0;
  gc_state_ = GcState::kUndetermined;
  first_generation_ = 0;
}

// The effect of each case is that the event's rule finds what it asks for. Where nothing tells
// which goroutine or P that would be, nothing is done, and the rule will refuse the event.
void Scheduler::Accommodate(const TimedEvent& event, ThreadState* thread) {
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
      BelieveProc(proc, ProcStatus::kIdle, event.args[1]);
      break;
    case EventType::kProcStop:
      if (thread != nullptr) BelieveCurrentProc(*thread, ProcStatus::kRunning);
      break;
    case EventType::kProcSteal:
      // It may be on any thread by now.
      BelieveProc(proc, ProcStatus::kSyscallAbandoned, event.args[1]);
      break;
    case EventType::kGoStatus:
    case EventType::kGoStatusStack:
      AccommodateStatus(event, goroutine);
      break;
    case EventType::kGoCreate:
    case EventType::kGoCreateBlocked:
    case EventType::kGoCreateSyscall:
      if (GoroutineState* state = goroutines_.Find(goroutine)) Erase(state);
      if (thread != nullptr && event.type != EventType::kGoCreateSyscall) {
        BelieveCurrentGoroutine(*thread, GoStatus::kRunning);
      }
      break;
    case EventType::kGoStart:
      BelieveGoroutine(goroutine, GoStatus::kRunnable, event.args[1]);
      break;
    case EventType::kGoUnblock:
      BelieveGoroutine(goroutine, GoStatus::kWaiting, event.args[1]);
      break;
    case EventType::kGoSwitch:
    case EventType::kGoSwitchDestroy:
      if (thread != nullptr) BelieveCurrentGoroutine(*thread, GoStatus::kRunning);
      BelieveGoroutine(goroutine, GoStatus::kWaiting, event.args[1]);
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
      if (thread != nullptr) AccommodateContext(event, *thread);
      break;
  }
  AccommodateRange(event, thread);
}

void Scheduler::AccommodateStatus(const TimedEvent& event, GoId goroutine) {
  const GoStatus status = static_cast<GoStatus>(static_cast<uint8_t>(event.args[2]));
  if (GoroutineState* state = goroutines_.Find(goroutine)) state->status = status;
  const ThreadId thread{static_cast<int64_t>(event.args[1])};
  if (status == GoStatus::kSyscall && thread != ThreadId::kNone) {
    GetThread(thread)->goroutine = goroutine;
  }
}

// For events that are about what their own thread executes.
void Scheduler::AccommodateContext(const TimedEvent& event, ThreadState& thread) {
  switch (event.type) {
    case EventType::kGoDestroy:
    case EventType::kGoStop:
    case EventType::kGoBlock:
      BelieveCurrentGoroutine(thread, GoStatus::kRunning);
      break;
    case EventType::kGoSyscallBegin:
      BelieveCurrentGoroutine(thread, GoStatus::kRunning);
      if (ProcessorState* proc = BelieveCurrentProc(thread, ProcStatus::kRunning)) {
        proc->sequence = Sequence(event.args[0] - 1);
      }
      break;
    case EventType::kGoSyscallEnd:
    case EventType::kGoDestroySyscall:
      BelieveCurrentGoroutine(thread, GoStatus::kSyscall);
      BelieveCurrentProc(thread, ProcStatus::kSyscall);
      break;
    case EventType::kGoSyscallEndBlocked:
      BelieveCurrentGoroutine(thread, GoStatus::kSyscall);
      // That the P was stolen is what it waited for.
      if (ProcessorState* proc = procs_.Find(thread.proc);
          proc != nullptr && proc->status == ProcStatus::kSyscall) {
        proc->status = ProcStatus::kIdle;
        thread.Unbind();
      }
      break;
    default:
      BelieveCurrentGoroutine(thread, GoStatus::kRunning);
      break;
  }
}

void Scheduler::AccommodateRange(const TimedEvent& event, ThreadState* thread) {
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
      return AccommodateRegionEnd(event, goroutines_.Find(current_goroutine));
    default:
      return;
  }
}

// Regions inside of the one that ends are taken for ended. One that never began ends alone.
void Scheduler::AccommodateRegionEnd(const TimedEvent& event, GoroutineState* goroutine) {
  const absl::string_view* const name = generation_->tables().FindString(event.args[1]);
  if (goroutine == nullptr || name == nullptr) return;
  std::vector<OpenRegion>& regions = goroutine->open().regions;
  // A broken trace may have a million regions open; its beginning is sought among the innermost.
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

GoroutineState* Scheduler::BelieveGoroutine(GoId id, GoStatus status, uint64_t next_number) {
  GoroutineState* const state = goroutines_.FindOrInsert(id);
  state->status = status;
  state->number = next_number - 1;
  state->generation = generation_index_;
  return state;
}

ProcessorState* Scheduler::BelieveProc(ProcId id, ProcStatus status, uint64_t next_number) {
  ProcessorState* const state = procs_.FindOrInsert(id);
  state->status = status;
  state->sequence = Sequence(next_number - 1);
  return state;
}

void Scheduler::BelieveCurrentGoroutine(const ThreadState& thread, GoStatus status) {
  if (thread.goroutine == GoId::kNone) return;
  goroutines_.FindOrInsert(thread.goroutine)->status = status;
}

ProcessorState* Scheduler::BelieveCurrentProc(const ThreadState& thread, ProcStatus status) {
  if (thread.proc == ProcId::kNone) return nullptr;
  ProcessorState* const state = procs_.FindOrInsert(thread.proc);
  state->status = status;
  return state;
}

}  // namespace gotrace::internal
