// Lists what events wait for, as conditions that are cheap to look up.
#include <algorithm>

#include "gotrace/internal/event_rules.h"
#include "parser/order/scheduler_model.h"

namespace gotrace::internal {
namespace {

using Kind = WaitCondition::Kind;

}  // namespace

void SchedulerModel::ListAwaited(const ThreadCursor& cursor, WaitConditions* conditions) const {
  const EventRule& rule = RuleOf(cursor.event().type);
  const ThreadState* const thread = cursor.state;
  const int64_t id = static_cast<int64_t>(cursor.event().args[0]);
  const uint64_t previous = rule.AwaitsSubject() ? cursor.event().args[rule.number_arg] - 1 : 0;
  // Rules that check their own thread first may wait or fail for another reason once it changes.
  const auto add_thread = [&] { conditions->push_back({Kind::kThread, cursor.thread().value}); };
  conditions->clear();
  if (rule.proc == ProcNeed::kNone && thread != nullptr && thread->proc != ProcId::kNone) {
    return add_thread();
  }
  if (rule.proc == ProcNeed::kNotSyscall) {
    add_thread();
    conditions->push_back({Kind::kProcNoSyscall, thread->proc.value});
  }
  if (rule.IsSwitch()) {
    add_thread();
    conditions->push_back({Kind::kGoNotRunning, thread->goroutine.value});
  }
  switch (rule.subject) {
    case Subject::kRunnableGoroutine:
      return conditions->push_back({Kind::kGoRunnable, id, previous});
    case Subject::kWaitingGoroutine:
      return conditions->push_back({Kind::kGoWaiting, id, previous});
    case Subject::kIdleProc:
      return conditions->push_back({Kind::kProcIdle, id, previous});
    case Subject::kSyscallProc:
      return conditions->push_back({Kind::kProcSyscall, id, previous});
    case Subject::kGC:
      return conditions->push_back({Kind::kGC, 0, previous});
    case Subject::kNone:
    case Subject::kNewGoroutine:
    case Subject::kStatedGoroutine:
    case Subject::kKnownGoroutine:
    case Subject::kStatedProc:
    case Subject::kKnownProc:
      return;
  }
}

void SchedulerModel::ListMet(WaitConditions* conditions) const {
  conditions->clear();
  for (const Event* event = events_; event != events_end_; ++event) ListMetBy(*event, conditions);
}

void SchedulerModel::ListMetBy(const Event& event, WaitConditions* conditions) const {
  const Subject about = RuleOf(event.type()).subject;
  if (about == Subject::kGC) return conditions->push_back({Kind::kGC, 0, gc_sequence_});
  if (event.kind() != EventKind::kStateTransition) return;
  if (event.type() == EventType::kProcSteal) {  // It takes the P from this thread.
    conditions->push_back({Kind::kThread, static_cast<int64_t>(event.arg(2))});
  } else if (about == Subject::kStatedGoroutine) {  // It may give this one a goroutine.
    conditions->push_back({Kind::kThread, event.thread().value});
  }
  // An event changes its subject, and what its thread executes.
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
