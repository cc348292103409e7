// What the model does not vouch for: events that it takes, as Go's reader does, though they make no
// sense; and what it knows, for those who judge such events.
#include "parser/scheduler.h"
#include "parser/scheduler_inline.h"

namespace gotrace {

void Scheduler::Vouch() {
  vouches_ = true;
  goroutines_.KeepHistories();
}

void Scheduler::StopVouching() {
  vouches_ = false;
  goroutines_.DropHistories();
}

// With any of these a thread that executes one thing is told to execute another, or something
// executes in two places or in none.
bool Scheduler::IsDoubtful(Step step, GoId goroutine, GoStatus status, bool is_known) const {
  if (status == GoStatus::kBad || AppearsLate(is_known)) return true;
  if (status != GoStatus::kRunning && status != GoStatus::kSyscall) return false;
  const ThreadId named{static_cast<int64_t>(step.arg(1))};
  if (status == GoStatus::kSyscall && named != step.thread_id()) {
    // One that is known executes something else, or is where the goroutine is; else that is a
    // fault.
    return is_known && !threads_.contains(named);
  }
  const bool is_free = !is_known && step.goroutine() == GoId::kNone;
  return !step.has_thread() || (step.goroutine() != goroutine && !is_free);
}

bool Scheduler::IsDoubtful(Step step, ProcId proc, ProcStatus status, bool is_known) const {
  if (status == ProcStatus::kBad || AppearsLate(is_known)) return true;
  if (status != ProcStatus::kRunning && status != ProcStatus::kSyscall) return false;
  const bool is_free = !is_known && step.proc() == ProcId::kNone;
  return !step.has_thread() || (step.proc() != proc && !is_free);
}

bool Scheduler::IsDoubtfulAnnotation(Step step) const {
  switch (step.type()) {
    case EventType::kGoLabel: {
      const absl::string_view* const label = tables_->FindString(step.arg(0));
      return label == nullptr || label->empty();
    }
    case EventType::kUserTaskBegin:
      return TaskId{step.arg(0)} == TaskId::kNone || TaskId{step.arg(0)} == kBackgroundTask;
    default:
      return false;
  }
}

void Scheduler::SeeKnown(const std::function<void(const KnownResource&)>& see) const {
  absl::flat_hash_map<GoId, ThreadId> goroutine_threads;
  absl::flat_hash_map<ProcId, ThreadId> proc_threads;
  for (const auto& [id, thread] : threads_) {
    if (thread.goroutine != GoId::kNone) goroutine_threads[thread.goroutine] = id;
    if (thread.proc != ProcId::kNone) proc_threads[thread.proc] = id;
  }
  const auto thread_of = [](const auto& threads, auto id) {
    const auto thread = threads.find(id);
    return thread == threads.end() ? ThreadId::kNone : thread->second;
  };
  goroutines_.ForEach([&](const GoroutineState& goroutine) {
    see({{ResourceKind::kGoroutine, goroutine.id.value},
         static_cast<uint8_t>(StateOf(goroutine.status)),
         goroutine.is_whole,
         goroutine.transitions,
         thread_of(goroutine_threads, goroutine.id),
         goroutines_.History(goroutine)});
  });
  procs_.ForEach([&](const ProcessorState& proc) {
    see({{ResourceKind::kProc, proc.id.value},
         static_cast<uint8_t>(StateOf(proc.status)),
         proc.is_whole,
         proc.transitions,
         thread_of(proc_threads, proc.id),
         proc.history});
  });
}

WaitingGoroutines Scheduler::CountWaiting() const {
  WaitingGoroutines waiting = {};
  goroutines_.ForEach([&](const GoroutineState& goroutine) {
    if (goroutine.status != GoStatus::kWaiting) return;
    ++waiting[goroutine.generation == generation_index_ ? goroutine.reason : 0];
  });
  return waiting;
}

bool Scheduler::Exists(const ResourceId& resource) const {
  switch (resource.kind) {
    case ResourceKind::kGoroutine:
      return goroutines_.Find(GoId{resource.id}) != nullptr;
    case ResourceKind::kProc:
      return procs_.Find(ProcId{resource.id}) != nullptr;
    default:
      return false;
  }
}

}  // namespace gotrace
