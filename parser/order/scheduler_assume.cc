// Beginning in the middle of a trace: what is assumed of the model at its beginning, and whether
// that holds.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/order/scheduler.h"
#include "parser/order/thread_decoder.h"

namespace gotrace::internal {

namespace {

// Adds what the thread's own status in `event` tells. Returns false if it is something else.
bool TakeStatus(ThreadId thread, const TimedEvent& event, Assumptions::Context* context) {
  switch (event.type) {
    case EventType::kProcStatus: {
      const auto status = static_cast<ProcStatus>(event.args[1]);
      const bool is_own = status == ProcStatus::kRunning || status == ProcStatus::kSyscall;
      if (is_own) context->proc = ProcId{static_cast<int64_t>(event.args[0])};
      return true;
    }
    case EventType::kGoStatus:
    case EventType::kGoStatusStack: {
      const auto status = static_cast<GoStatus>(event.args[2]);
      const bool is_own = (status == GoStatus::kRunning || status == GoStatus::kSyscall) &&
                          ThreadId{static_cast<int64_t>(event.args[1])} == thread;
      if (is_own) context->goroutine = GoId{static_cast<int64_t>(event.args[0])};
      return true;
    }
    default:
      return false;
  }
}

// How many events of a thread are looked at.
constexpr size_t kMostStatuses = 16;

}  // namespace

absl::flat_hash_map<ThreadId, Assumptions::Context> ToldContexts(const Generation& generation) {
  absl::flat_hash_map<ThreadId, Assumptions::Context> told;
  for (const ThreadBatches& thread : generation.threads()) {
    DecodedEvent events[kMostStatuses];
    const size_t count = ThreadDecoder(generation, thread, /*check_ids=*/false).Decode(events);
    Assumptions::Context& context = told[thread.thread];
    for (size_t i = 0; i < count && TakeStatus(thread.thread, events[i], &context); ++i) continue;
  }
  return told;
}

void Scheduler::Assume(uint64_t number, absl::flat_hash_map<ThreadId, Assumptions::Context> told) {
  assumptions_ = std::make_unique<Assumptions>();
  assumptions_->generation = number;
  assumptions_->told = std::move(told);
  first_generation_ = number - 1;
}

void Scheduler::AssumeThread(ThreadState* thread) {
  const auto told = assumptions_->told.find(thread->id);
  Assumptions::Context context;
  if (MayAssume() && told != assumptions_->told.end()) context = told->second;
  thread->goroutine = context.goroutine;
  thread->proc = context.proc;
  assumptions_->contexts[thread->id] = context;
}

// Another thread tells that this one, of which nothing was seen, is in a syscall.
Scheduler::Outcome Scheduler::AssumeSyscall(ThreadId thread, GoId goroutine, Context* context) {
  ThreadState* const state = GetThread(thread);
  if (state->goroutine != GoId::kNone && state->goroutine != goroutine) {
    return FailSyscallThread(goroutine, thread, state->goroutine);
  }
  state->goroutine = goroutine;
  assumptions_->contexts[thread].goroutine = goroutine;
  context->thread = thread;
  context->goroutine = goroutine;
  return Outcome::kAdvanced;
}

// Who tells this status steals the P next, and tells from which thread. That the P was there all
// the time makes no difference to a thread of which no event was tried yet.
Scheduler::Outcome Scheduler::AssumeAbandonedProc(Step step, ProcId proc) {
  const DecodedEvent* const next = cursor_ == nullptr ? nullptr : cursor_->Peek();
  const bool is_stolen = next != nullptr && next->type == EventType::kProcSteal &&
                         ProcId{static_cast<int64_t>(next->args[0])} == proc;
  const ThreadId victim =
      is_stolen ? ThreadId{static_cast<int64_t>(next->args[2])} : ThreadId::kNone;
  if (victim == ThreadId::kNone || assumptions_->tried_threads.contains(victim) ||
      threads_.size() >= limits_.threads) {
    return FailToAssume("on which thread the P is");
  }
  ThreadState* const owner = GetThread(victim);
  if (owner->goroutine == GoId::kNone || owner->proc != ProcId::kNone) {
    return FailToAssume("what the thread with the P executes");
  }
  assumptions_->contexts[victim].proc = proc;
  AssumeProc(proc, ProcStatus::kSyscall);
  ProcessorState* const state = procs_.Insert(proc);
  state->status = ProcStatus::kSyscall;
  owner->Bind(proc, state);
  return ConfirmAbandonedProc(step, state);
}

bool Scheduler::AssumeGoroutine(GoId goroutine, GoStatus status) {
  if (assumptions_->created.Has(goroutine)) return false;
  assumptions_->highest_goroutine = std::max(assumptions_->highest_goroutine, goroutine);
  return assumptions_->goroutines.emplace(goroutine, status).second;
}

// An id that names one goroutine after another would mix up what they had open.
bool Scheduler::AssumeNew(GoId goroutine) {
  const bool may_be_known = !(assumptions_->highest_goroutine < goroutine);
  if (may_be_known && assumptions_->goroutines.contains(goroutine)) return false;
  return !MayAssume() || assumptions_->created.Note(goroutine);
}

bool Scheduler::AssumeBegun(const Assumptions::ActiveRange& range) {
  if (assumptions_->begun.size() >= limits_.nesting) return false;
  assumptions_->begun.insert(range);
  return true;
}

bool Scheduler::AssumeProc(ProcId proc, ProcStatus status) {
  if (assumptions_ == nullptr) return false;
  if (MayAssume()) return assumptions_->procs.emplace(proc, status).second;
  assumptions_->new_procs.emplace_back(proc, status);
  return false;
}

// Whether the sequence is right shows where the events before this one are known.
void Scheduler::AssumeGc(bool running, uint64_t next_sequence) {
  if (assumptions_ == nullptr || gc_state_ != GcState::kUndetermined) return;
  gc_state_ = running ? GcState::kRunning : GcState::kNotRunning;
  gc_sequence_ = next_sequence - 1;
  assumptions_->gc = {running, gc_sequence_};
}

bool Scheduler::AssumeRange(const Assumptions::ActiveRange& range) {
  return MayAssume() && !assumptions_->begun.contains(range) &&
         assumptions_->ranges.insert(range).second;
}

Scheduler::Outcome Scheduler::FailToAssume(absl::string_view what) {
  return Fail(FaultId::kProcThreadUnknown,
              absl::StrCat("expected that it can be told ", what, ", found no sign of it"));
}

// Each may have half of what is allowed, so that both together keep to it.
bool Scheduler::IsWithinHalf(const ReaderLimits& half) const {
  return threads_.size() <= half.threads && procs_.size() <= half.procs &&
         goroutines_.size() <= half.goroutines && names_.held() + open_ranges_ <= half.nesting;
}

bool Scheduler::Continues(const Scheduler& before) const {
  return assumptions_ != nullptr && !assumptions_->forgot_threads && IsWithinHalf(limits_) &&
         before.IsWithinHalf(limits_) && before.first_generation_ != 0 &&
         before.generation_->number() + 1 == assumptions_->generation &&
         ContinuesGoroutines(before) && ContinuesProcs(before) && ContinuesThreads(before) &&
         ContinuesRanges(before) && ContinuesRegions(before) && ContinuesTasks(before) &&
         ContinuesGc(before);
}

bool Scheduler::ContinuesGoroutines(const Scheduler& before) const {
  if (assumptions_->goroutines.size() != before.goroutines_.size()) return false;
  for (const auto& [id, status] : assumptions_->goroutines) {
    const GoroutineState* const known = before.goroutines_.Find(id);
    if (known == nullptr || known->status != status) return false;
  }
  return true;
}

// Ps that a program does not use any more are not told, nor are idle ones in each generation. To
// one that is idle it makes no difference whether it was told before.
bool Scheduler::ContinuesProcs(const Scheduler& before) const {
  const auto is_right = [&](ProcId id, ProcStatus status, bool should_be_known) {
    const ProcessorState* const known = before.procs_.Find(id);
    if (known != nullptr && known->status != status) return false;
    return status == ProcStatus::kIdle || (known != nullptr) == should_be_known;
  };
  return std::all_of(assumptions_->procs.begin(), assumptions_->procs.end(),
                     [&](const auto& proc) { return is_right(proc.first, proc.second, true); }) &&
         std::all_of(assumptions_->new_procs.begin(), assumptions_->new_procs.end(),
                     [&](const auto& proc) { return is_right(proc.first, proc.second, false); });
}

bool Scheduler::ContinuesThreads(const Scheduler& before) const {
  for (const auto& [id, context] : assumptions_->contexts) {
    const auto known = before.threads_.find(id);
    if (known == before.threads_.end()) {
      if (context.goroutine != GoId::kNone || context.proc != ProcId::kNone) return false;
    } else if (known->second.goroutine != context.goroutine || known->second.proc != context.proc) {
      return false;
    }
  }
  return true;
}

bool Scheduler::ContinuesRanges(const Scheduler& before) const {
  if (assumptions_->ranges.size() != before.open_ranges_) return false;
  const auto is_open = [](const auto* known, const OpenRange& range) {
    return known != nullptr && known->spans != nullptr &&
           known->spans->ranges.Find(range) != OpenRanges::kNone;
  };
  return std::all_of(assumptions_->ranges.begin(), assumptions_->ranges.end(),
                     [&](const Assumptions::ActiveRange& range) {
                       return range.kind == ResourceKind::kProc
                                  ? is_open(before.procs_.Find(ProcId{range.id}), range.range)
                                  : is_open(before.goroutines_.Find(GoId{range.id}), range.range);
                     });
}

// Ends those that were open, the innermost first.
bool Scheduler::ContinuesRegions(const Scheduler& before) const {
  absl::flat_hash_map<GoId, size_t> ended;
  for (const Assumptions::EndedRegion& region : assumptions_->regions) {
    const GoroutineState* const known = before.goroutines_.Find(region.goroutine);
    const size_t open =
        known == nullptr || known->spans == nullptr ? 0 : known->spans->regions.size();
    size_t& count = ended[region.goroutine];
    if (count == open) continue;  // It began before the trace did.
    const OpenRegion& innermost = known->spans->regions[open - ++count];
    if (innermost.task != region.task || innermost.name.view() != region.name.view()) return false;
  }
  return true;
}

// A task that began again before it ended would be a fault.
bool Scheduler::ContinuesTasks(const Scheduler& before) const {
  return std::all_of(before.tasks_.begin(), before.tasks_.end(),
                     [&](const auto& task) { return task.first < assumptions_->lowest_task; });
}

bool Scheduler::ContinuesGc(const Scheduler& before) const {
  if (!assumptions_->gc.has_value()) return true;
  // A cycle that is the first of all may have any number.
  if (before.gc_state_ == GcState::kUndetermined) return !assumptions_->gc->running;
  return before.gc_sequence_ == assumptions_->gc->sequence &&
         (before.gc_state_ == GcState::kRunning) == assumptions_->gc->running;
}

}  // namespace gotrace::internal
