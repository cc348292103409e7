// Lists the conditions for which events wait, in a form that is cheap to look up: for each rule
// that can return kWaits, the requirement that is not met.
#include <algorithm>

#include "parser/order/scheduler_model.h"

namespace gotrace::internal {
namespace {

using Kind = WaitCondition::Kind;

}  // namespace

void SchedulerModel::ListAwaited(const ThreadCursor& cursor, WaitConditions* conditions) const {
  const ThreadState* const thread = cursor.state;
  const uint64_t* const args = cursor.event().args;
  const int64_t id = static_cast<int64_t>(args[0]);
  const uint64_t previous = args[1] - 1;
  // Rules that check their own thread first may wait or fail for another reason once it changes.
  const auto add_thread = [&] { conditions->push_back({Kind::kThread, cursor.thread().value}); };
  conditions->clear();
  switch (cursor.event().type) {
    case EventType::kGoStart:
      conditions->push_back({Kind::kGoRunnable, id, previous});
      break;
    case EventType::kGoUnblock:
      conditions->push_back({Kind::kGoWaiting, id, previous});
      break;
    case EventType::kGoSwitch:
    case EventType::kGoSwitchDestroy:
      add_thread();
      conditions->push_back({Kind::kGoNotRunning, thread->goroutine.value});
      conditions->push_back({Kind::kGoWaiting, id, previous});
      break;
    case EventType::kGoSyscallEndBlocked:
      add_thread();
      conditions->push_back({Kind::kProcNoSyscall, thread->proc.value});
      break;
    case EventType::kProcStart:
      if (thread != nullptr && thread->proc != ProcId::kNone) {
        add_thread();
      } else {
        conditions->push_back({Kind::kProcIdle, id, previous});
      }
      break;
    case EventType::kProcSteal:
      conditions->push_back({Kind::kProcSyscall, id, previous});
      break;
    case EventType::kGCActive:
    case EventType::kGCBegin:
    case EventType::kGCEnd:
      conditions->push_back({Kind::kGC, 0, args[0] - 1});
      break;
    default:
      break;  // Events of other types never wait.
  }
}

void SchedulerModel::ListMet(WaitConditions* conditions) const {
  conditions->clear();
  for (const Event* event = events_; event != events_end_; ++event) ListMetBy(*event, conditions);
}

void SchedulerModel::ListMetBy(const Event& event, WaitConditions* conditions) const {
  switch (event.type()) {
    case EventType::kGCActive:
    case EventType::kGCBegin:
    case EventType::kGCEnd:
      conditions->push_back({Kind::kGC, 0, gc_sequence_});
      return;
    case EventType::kProcSteal:  // It takes the P from this thread.
      conditions->push_back({Kind::kThread, static_cast<int64_t>(event.arg(2))});
      break;
    case EventType::kGoStatus:
    case EventType::kGoStatusStack:  // It may give this thread a goroutine.
      conditions->push_back({Kind::kThread, event.thread().value});
      break;
    default:
      break;
  }
  if (event.kind() != EventKind::kStateTransition) return;
  // An event changes its subject, and the goroutine and P of its thread.
  const ResourceId subject = event.transition_resource();
  ListMetOfGoroutine(event.goroutine(), conditions);
  ListMetOfProc(event.proc(), conditions);
  if (subject.kind == ResourceKind::kProc) {
    if (subject.id != event.proc().value) ListMetOfProc(ProcId{subject.id}, conditions);
  } else if (subject.id != event.goroutine().value) {
    ListMetOfGoroutine(GoId{subject.id}, conditions);
  }
}

void SchedulerModel::ListMetOfGoroutine(GoId id, WaitConditions* conditions) const {
  if (id == GoId::kNone) return;
  const GoroutineState* const goroutine = goroutines_.Find(id);
  if (goroutine == nullptr || goroutine->status != GoStatus::kRunning) {
    conditions->push_back({Kind::kGoNotRunning, id.value});
  }
  if (goroutine == nullptr || goroutine->generation != generation_index_) return;
  if (goroutine->status == GoStatus::kRunnable) {
    conditions->push_back({Kind::kGoRunnable, id.value, goroutine->number});
  } else if (goroutine->status == GoStatus::kWaiting) {
    conditions->push_back({Kind::kGoWaiting, id.value, goroutine->number});
  }
}

void SchedulerModel::ListMetOfProc(ProcId id, WaitConditions* conditions) const {
  const ProcessorState* const proc = procs_.Find(id);
  if (proc == nullptr) return;
  if (proc->status != ProcStatus::kSyscall) {
    conditions->push_back({Kind::kProcNoSyscall, id.value});
  }
  if (proc->sequence.generation != generation_->number()) return;
  if (proc->status == ProcStatus::kIdle) {
    conditions->push_back({Kind::kProcIdle, id.value, proc->sequence.number});
  } else if (InSyscall(proc->status)) {
    conditions->push_back({Kind::kProcSyscall, id.value, proc->sequence.number});
  }
}

bool SchedulerModel::Holds(const WaitCondition& condition) const {
  WaitConditions met;
  switch (condition.kind) {
    case Kind::kGoRunnable:
    case Kind::kGoWaiting:
    case Kind::kGoNotRunning:
      ListMetOfGoroutine(GoId{condition.id}, &met);
      break;
    case Kind::kProcIdle:
    case Kind::kProcSyscall:
    case Kind::kProcNoSyscall:
      ListMetOfProc(ProcId{condition.id}, &met);
      break;
    case Kind::kThread:
      return false;
    case Kind::kGC:
      return gc_sequence_ == condition.number;
  }
  return std::find(met.begin(), met.end(), condition) != met.end();
}

}  // namespace gotrace::internal
