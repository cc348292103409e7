#include "rewrite/program_model.h"

#include <algorithm>

namespace gotrace::internal {

uint64_t ProgramModel::Count(Goroutine* goroutine) { return ++goroutine->number; }
uint64_t ProgramModel::Count(Proc* proc) { return ++proc->number; }

ProgramModel::Goroutine& ProgramModel::State(GoId id, GoStatus status) {
  Goroutine& goroutine = goroutines_[id];
  goroutine.status = status;
  goroutine.generation = generation_;
  goroutine.number = 0;
  return goroutine;
}

void ProgramModel::SetProcStatus(ProcId id, Proc* proc, ProcStatus status) {
  proc->status = status;
  if (status == ProcStatus::kIdle) {
    idle_procs_.insert(id);
  } else {
    idle_procs_.erase(id);
  }
  last_proc_ = std::max(last_proc_, id.value);
}

void ProgramModel::Unbind(ThreadId thread_id) {
  Thread& thread = threads_[thread_id];
  if (thread.proc == ProcId::kNone) return;
  thread.last_proc = thread.proc;
  if (Proc* const proc = FindProc(thread.proc); proc != nullptr && proc->thread == thread_id) {
    proc->thread = ThreadId::kNone;
    bound_procs_.erase(thread.proc);
  }
  thread.proc = ProcId::kNone;
}

void ProgramModel::Bind(ThreadId thread_id, ProcId id) {
  if (thread_id == ThreadId::kNone) return;
  Unbind(thread_id);
  Proc& proc = procs_[id];
  if (proc.thread != ThreadId::kNone) Unbind(proc.thread);
  proc.thread = thread_id;
  threads_[thread_id].proc = id;
  bound_procs_.insert(id);
}

void ProgramModel::Leave(ThreadId thread_id) {
  if (thread_id == ThreadId::kNone) return;
  Thread& thread = threads_[thread_id];
  if (Goroutine* const goroutine = FindGoroutine(thread.goroutine);
      goroutine != nullptr && goroutine->thread == thread_id) {
    goroutine->thread = ThreadId::kNone;
  }
  thread.goroutine = GoId::kNone;
}

void ProgramModel::Enter(ThreadId thread_id, GoId id) {
  if (thread_id == ThreadId::kNone) return;
  Leave(thread_id);
  Goroutine& goroutine = goroutines_[id];
  if (goroutine.thread != ThreadId::kNone) Leave(goroutine.thread);
  goroutine.thread = thread_id;
  threads_[thread_id].goroutine = id;
}

int ProgramModel::Apply(WriterEvent* event, absl::string_view name) {
  has_events_ = true;
  const ThreadId thread = event->thread;
  const GoId goroutine{static_cast<int64_t>(event->args[0])};
  const ProcId proc{static_cast<int64_t>(event->args[0])};
  const Thread context = thread == ThreadId::kNone ? Thread() : threads_[thread];
  // A status may be about the id that means no goroutine, which no thread executes.
  Goroutine* const own =
      context.goroutine == GoId::kNone ? nullptr : FindGoroutine(context.goroutine);
  Proc* const own_proc = context.proc == ProcId::kNone ? nullptr : FindProc(context.proc);
  switch (event->type) {
    case EventType::kProcStatus: {
      const ProcStatus status = static_cast<ProcStatus>(event->args[1]);
      Proc& state = procs_[proc];
      const bool keeps =
          state.status == ProcStatus::kSyscall && status == ProcStatus::kSyscallAbandoned;
      if (!keeps) SetProcStatus(proc, &state, status);
      state.generation = generation_;
      state.number = 0;
      if (status == ProcStatus::kRunning || status == ProcStatus::kSyscall) Bind(thread, proc);
      break;
    }
    case EventType::kProcStart: {
      Proc& state = procs_[proc];
      event->args[1] = Count(&state);
      SetProcStatus(proc, &state, ProcStatus::kRunning);
      Bind(thread, proc);
      break;
    }
    case EventType::kProcStop:
      Unbind(thread);
      if (own_proc != nullptr) SetProcStatus(context.proc, own_proc, ProcStatus::kIdle);
      break;
    case EventType::kProcSteal: {
      Proc& state = procs_[proc];
      event->args[1] = Count(&state);
      if (state.status != ProcStatus::kSyscallAbandoned && state.thread != ThreadId::kNone) {
        Unbind(state.thread);
      }
      SetProcStatus(proc, &state, ProcStatus::kIdle);
      break;
    }
    case EventType::kGoCreate:
      State(goroutine, GoStatus::kRunnable);
      break;
    case EventType::kGoCreateBlocked:
      State(goroutine, GoStatus::kWaiting);
      break;
    case EventType::kGoCreateSyscall:
      State(goroutine, GoStatus::kSyscall);
      Enter(thread, goroutine);
      break;
    case EventType::kGoStart:
    case EventType::kGoSwitch:
    case EventType::kGoSwitchDestroy: {
      const bool switches = event->type != EventType::kGoStart;
      Leave(thread);
      if (switches && own != nullptr) own->status = GoStatus::kWaiting;
      if (event->type == EventType::kGoSwitchDestroy) goroutines_.erase(context.goroutine);
      Goroutine& state = goroutines_[goroutine];
      event->args[1] = Count(&state);
      state.status = GoStatus::kRunning;
      Enter(thread, goroutine);
      return switches ? 3 : 1;
    }
    case EventType::kGoDestroy:
      Leave(thread);
      goroutines_.erase(context.goroutine);
      break;
    case EventType::kGoStop:
    case EventType::kGoBlock:
      Leave(thread);
      if (own != nullptr) {
        own->status = event->type == EventType::kGoStop ? GoStatus::kRunnable : GoStatus::kWaiting;
      }
      break;
    case EventType::kGoUnblock: {
      Goroutine& state = goroutines_[goroutine];
      event->args[1] = Count(&state);
      state.status = GoStatus::kRunnable;
      break;
    }
    case EventType::kGoSyscallBegin:
      if (own != nullptr) own->status = GoStatus::kSyscall;
      if (own_proc != nullptr) {
        event->args[0] = Count(own_proc);
        own_proc->status = ProcStatus::kSyscall;
      }
      break;
    case EventType::kGoSyscallEnd:
      if (own != nullptr) own->status = GoStatus::kRunning;
      if (own_proc != nullptr) own_proc->status = ProcStatus::kRunning;
      break;
    case EventType::kGoSyscallEndBlocked:
      Leave(thread);
      if (own != nullptr) own->status = GoStatus::kRunnable;
      break;
    case EventType::kGoDestroySyscall: {
      const bool has_proc = own_proc != nullptr;
      if (has_proc) {
        Unbind(thread);
        SetProcStatus(context.proc, own_proc, ProcStatus::kSyscallAbandoned);
      }
      Leave(thread);
      goroutines_.erase(context.goroutine);
      return has_proc ? 2 : 1;
    }
    case EventType::kGoStatus:
    case EventType::kGoStatusStack: {
      const GoStatus status = static_cast<GoStatus>(event->args[2]);
      State(goroutine, status);
      if (status == GoStatus::kRunning) Enter(thread, goroutine);
      if (status == GoStatus::kSyscall) {
        Enter(ThreadId{static_cast<int64_t>(event->args[1])}, goroutine);
      }
      break;
    }
    case EventType::kSTWBegin:
      if (own != nullptr) own->open().ranges.Add({EventType::kSTWBegin, event->args[0]});
      break;
    case EventType::kGCMarkAssistBegin:
      if (own != nullptr) own->open().ranges.Add({EventType::kGCMarkAssistBegin, 0});
      break;
    case EventType::kSTWEnd:
    case EventType::kGCMarkAssistEnd: {
      if (own == nullptr) break;
      OpenRanges& ranges = own->open().ranges;
      const size_t place = ranges.FindFirst(
          event->type == EventType::kSTWEnd ? EventType::kSTWBegin : EventType::kGCMarkAssistBegin);
      if (place != OpenRanges::kNone) ranges.Remove(place);
      break;
    }
    case EventType::kGCMarkAssistActive:
      if (Goroutine* const state = FindGoroutine(goroutine); state != nullptr && first_) {
        state->open().ranges.Add({EventType::kGCMarkAssistBegin, 0});
      }
      break;
    case EventType::kGCSweepBegin:
    case EventType::kGCSweepEnd:
      if (own_proc != nullptr) own_proc->sweeping = event->type == EventType::kGCSweepBegin;
      break;
    case EventType::kGCSweepActive:
      if (Proc* const state = FindProc(proc)) state->sweeping = true;
      break;
    case EventType::kGCActive:
    case EventType::kGCBegin:
      if (gc_ == Gc::kUndetermined) {
        gc_number_ = event->args[0];
      } else {
        event->args[0] = ++gc_number_;
      }
      gc_ = Gc::kRunning;
      break;
    case EventType::kGCEnd:
      event->args[0] = ++gc_number_;
      gc_ = Gc::kNotRunning;
      break;
    case EventType::kUserTaskBegin:
      tasks_.insert(event->args[0]);
      break;
    case EventType::kUserTaskEnd:
      tasks_.erase(event->args[0]);
      break;
    case EventType::kUserRegionBegin:
      if (own != nullptr) own->open().regions.push_back({event->args[0], std::string(name), false});
      break;
    case EventType::kUserRegionEnd:
      if (own != nullptr && own->spans != nullptr && !own->spans->regions.empty()) {
        own->spans->regions.pop_back();
      }
      break;
    default:
      break;
  }
  return 1;
}

}  // namespace gotrace::internal
