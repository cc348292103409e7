// Starting in the middle of a trace: the assumptions of the model when something appears for the
// first time, and the check whether they hold.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_rules.h"
#include "parser/order/preconditions.h"
#include "parser/order/scheduler_model.h"
#include "parser/order/thread_decoder.h"

namespace gotrace::internal {

namespace {

// Adds the thread's own status in `event` to `*context`. Returns false if `event` is not a status.
bool TakeStatus(ThreadId thread, const TimedEvent& event, InitialContext* context) {
  const Subject stated = RuleOf(event.type).subject;
  if (stated == Subject::kStatedProc) {
    const auto status = static_cast<ProcStatus>(event.args[1]);
    const bool is_own = status == ProcStatus::kRunning || status == ProcStatus::kSyscall;
    if (is_own) context->proc = ProcId{static_cast<int64_t>(event.args[0])};
    return true;
  }
  if (stated != Subject::kStatedGoroutine) return false;
  const auto status = static_cast<GoStatus>(event.args[2]);
  const bool is_own = (status == GoStatus::kRunning || status == GoStatus::kSyscall) &&
                      ThreadId{static_cast<int64_t>(event.args[1])} == thread;
  if (is_own) context->goroutine = GoId{static_cast<int64_t>(event.args[0])};
  return true;
}

// The maximum number of events of a thread to look at.
constexpr size_t kMaxStatuses = 16;

}  // namespace

InitialContexts FindInitialContexts(const Generation& generation) {
  InitialContexts contexts;
  for (const ThreadBatches& thread : generation.threads()) {
    DecodedEvent events[kMaxStatuses];
    const size_t count = ThreadDecoder(generation, thread, /*check_ids=*/false).Decode(events);
    InitialContext& context = contexts[thread.thread];
    for (size_t i = 0; i < count && TakeStatus(thread.thread, events[i], &context); ++i) continue;
  }
  return contexts;
}

void SchedulerModel::StartInMiddle(const Generation& generation, const SegmentStart& start) {
  preconditions_ = std::make_unique<SegmentPreconditions>();
  preconditions_->generation = generation.number();
  preconditions_->stated = FindInitialContexts(generation);
  preconditions_->find_task = start.find_task;
  first_generation_ = generation.number() - 1;
  generation_index_ = static_cast<uint32_t>(start.earlier_generations);
  if (!start.has_half_of_limits) return;
  limits_.threads /= 2;
  limits_.procs /= 2;
  limits_.goroutines /= 2;
  limits_.nesting /= 2;
}

// What appears for the first time. --------------------------------------------------------------

void SchedulerModel::AssumeThread(ThreadState* thread) {
  const auto stated = preconditions_->stated.find(thread->id);
  InitialContext context;
  if (MayAssume() && stated != preconditions_->stated.end()) context = stated->second;
  thread->goroutine = context.goroutine;
  thread->proc = context.proc;
  preconditions_->contexts[thread->id] = context;
}

SchedulerModel::Outcome SchedulerModel::AssumeSyscallThread(ThreadId id, GoId goroutine,
                                                            Context* context) {
  if (preconditions_ != nullptr && !MayAssume()) {
    return FailPrecondition("what the thread executes");
  }
  ThreadState* const thread = GetThread(id);
  if (preconditions_ != nullptr) {
    if (thread->goroutine != GoId::kNone && thread->goroutine != goroutine) {
      return FailSyscallThread(goroutine, id, thread->goroutine);
    }
    preconditions_->contexts[id].goroutine = goroutine;
    context->goroutine = goroutine;
  }
  // The goroutine has been in the syscall since before the trace began.
  thread->goroutine = goroutine;
  context->thread = id;
  return Outcome::kAdvanced;
}

// The thread that states this status steals the P next, and names the thread that it steals from.
// For a thread of which no event was tried yet, it makes no difference that the P was there all the
// time.
SchedulerModel::Outcome SchedulerModel::AssumeAbandonedProc(Step step, ProcId proc) {
  const DecodedEvent* const next = cursor_ == nullptr ? nullptr : cursor_->Peek();
  const bool is_stolen = next != nullptr && next->type == EventType::kProcSteal &&
                         ProcId{static_cast<int64_t>(next->args[0])} == proc;
  const ThreadId victim =
      is_stolen ? ThreadId{static_cast<int64_t>(next->args[2])} : ThreadId::kNone;
  if (victim == ThreadId::kNone || preconditions_->tried_threads.contains(victim) ||
      threads_.size() >= limits_.threads) {
    return FailPrecondition("on which thread the P is");
  }
  ThreadState* const owner = GetThread(victim);
  if (owner->goroutine == GoId::kNone || owner->proc != ProcId::kNone) {
    return FailPrecondition("what the thread with the P executes");
  }
  preconditions_->contexts[victim].proc = proc;
  preconditions_->procs.emplace(proc, ProcStatus::kSyscall);
  ProcessorState* const state = procs_.Insert(proc);
  state->status = ProcStatus::kSyscall;
  owner->Bind(proc, state);
  return ConfirmAbandonedProc(step, state);
}

std::optional<GoState> SchedulerModel::AssumeGoroutine(GoId id, GoStatus status) {
  if (MayAssume() && !preconditions_->created_goroutines.Has(static_cast<uint64_t>(id.value)) &&
      preconditions_->goroutines.emplace(id, status).second) {
    preconditions_->highest_goroutine = std::max(preconditions_->highest_goroutine, id);
    return StateOf(status);
  }
  if (in_first_generation() || forcing_) return GoState::kUndetermined;
  return std::nullopt;
}

// An id that is used for several goroutines would mix up their open spans.
bool SchedulerModel::MayCreate(GoId id) {
  const bool may_be_known = !(preconditions_->highest_goroutine < id);
  if (may_be_known && preconditions_->goroutines.contains(id)) return false;
  return !MayAssume() || preconditions_->created_goroutines.Add(static_cast<uint64_t>(id.value));
}

// A P that a generation does not mention was idle before, and is still idle when a later generation
// mentions it first.
ProcState SchedulerModel::AssumeProc(ProcId id, ProcStatus status) {
  if (preconditions_ == nullptr) {
    return in_first_generation() ? ProcState::kUndetermined : ProcState::kNotExist;
  }
  if (MayAssume() || status == ProcStatus::kIdle) {
    preconditions_->procs.emplace(id, status);
    return StateOf(status);
  }
  preconditions_->new_procs.insert(id);
  return ProcState::kNotExist;
}

// Whether the sequence number is right is not known before Follows().
void SchedulerModel::AssumeGc(bool running, uint64_t next_sequence) {
  if (preconditions_ == nullptr || gc_state_ != GcState::kUndetermined) return;
  gc_state_ = running ? GcState::kRunning : GcState::kNotRunning;
  gc_sequence_ = next_sequence - 1;
  preconditions_->gc = {running, gc_sequence_};
}

bool SchedulerModel::MayBegin(const SegmentPreconditions::ActiveRange& range) {
  if (!MayAssume()) return true;
  if (preconditions_->begun_ranges.size() >= limits_.nesting) return false;
  preconditions_->begun_ranges.insert(range);
  return true;
}

bool SchedulerModel::AssumeActiveRange(const SegmentPreconditions::ActiveRange& range) {
  return in_first_generation() || (MayAssume() && !preconditions_->begun_ranges.contains(range) &&
                                   preconditions_->ranges.insert(range).second);
}

bool SchedulerModel::AssumeRegionEnd(GoId goroutine, TaskId task, NamePool::Text* name) {
  if (preconditions_ == nullptr) return true;
  if (!MayOpen()) return false;
  preconditions_->regions.push_back({goroutine, task, names_.Hold(name)});
  return true;
}

bool SchedulerModel::MayBeginTask(TaskId task) {
  return preconditions_ == nullptr || preconditions_->begun_tasks.Add(task.value);
}

std::optional<SchedulerModel::TaskState> SchedulerModel::AssumeTaskEnd(TaskId id) {
  if (preconditions_ == nullptr || preconditions_->begun_tasks.Has(id.value)) return std::nullopt;
  if (!MayOpen()) {
    // Without a record of the task, the assumptions about it cannot be checked.
    preconditions_->forgot_tasks = true;
    return std::nullopt;
  }
  const auto [ended, is_first] = preconditions_->ended_tasks.try_emplace(id);
  if (!is_first || !preconditions_->find_task) return std::nullopt;
  const std::optional<EarlierTask> task = preconditions_->find_task(id);
  if (!task.has_value()) return std::nullopt;
  ended->second = {true, task->parent, names_.Get(task->type)};
  return TaskState{names_.Get(task->type), task->parent};
}

SchedulerModel::Outcome SchedulerModel::FailPrecondition(absl::string_view what) {
  return Fail(FaultId::kProcThreadUnknown,
              absl::StrCat("expected the generation to state ", what, ", found nothing that does"));
}

// Whether the preconditions hold. ---------------------------------------------------------------

void SchedulerModel::ContinueFrom(const SchedulerModel& before) {
  const EndedRegions ended = *EndRegions(before);
  const ReaderLimits half = std::exchange(limits_, before.limits_);
  const uint64_t increase = max_goroutines_ - half.goroutines;
  max_goroutines_ = std::max(before.max_goroutines_,
                             limits_.goroutines + std::min(increase, ~limits_.goroutines));
  first_generation_ = before.first_generation_;
  for (const auto& [id, thread] : before.threads_) threads_[id].id = id;
  before.procs_.ForEach([&](const ProcessorState& proc) {
    if (procs_.Find(proc.id) != nullptr) return;
    ProcessorState* const state = procs_.Insert(proc.id);
    state->status = proc.status;
    state->sequence = proc.sequence;
  });
  before.goroutines_.ForEach([&](const GoroutineState& goroutine) {
    if (goroutine.spans != nullptr) TakeRegions(goroutine, ended);
  });
  for (const auto& [id, task] : before.tasks_) {
    if (preconditions_->ended_tasks.contains(id)) continue;
    tasks_.emplace(id, TaskState{names_.Get(task.name.view()), task.parent});
  }
  if (!preconditions_->gc.has_value()) {
    gc_state_ = before.gc_state_;
    gc_sequence_ = before.gc_sequence_;
  }
  preconditions_.reset();
}

bool SchedulerModel::Follows(const SchedulerModel& before) const {
  return preconditions_ != nullptr && before.preconditions_ == nullptr &&
         !preconditions_->forgot_threads && !preconditions_->forgot_tasks && IsWithin(limits_) &&
         before.IsWithin(limits_) && before.first_generation_ != 0 &&
         before.generation_->number() + 1 == preconditions_->generation &&
         HoldsOfGoroutines(before) && HoldsOfProcs(before) && HoldsOfThreads(before) &&
         HoldsOfRanges(before) && HoldsOfTasks(before) && HoldsOfGc(before) &&
         EndRegions(before).has_value();
}

// Each model may use half of the limits, so that both together stay within them.
bool SchedulerModel::IsWithin(const ReaderLimits& half) const {
  return threads_.size() <= half.threads && procs_.size() <= half.procs &&
         goroutines_.size() <= half.goroutines && names_.held() + open_ranges_ <= half.nesting;
}

bool SchedulerModel::HoldsOfGoroutines(const SchedulerModel& before) const {
  return preconditions_->goroutines.size() == before.goroutines_.size() &&
         std::all_of(preconditions_->goroutines.begin(), preconditions_->goroutines.end(),
                     [&](const auto& goroutine) {
                       const GoroutineState* const known = before.goroutines_.Find(goroutine.first);
                       return known != nullptr && known->status == goroutine.second;
                     });
}

bool SchedulerModel::HoldsOfProcs(const SchedulerModel& before) const {
  return std::all_of(preconditions_->procs.begin(), preconditions_->procs.end(),
                     [&](const auto& proc) {
                       const ProcessorState* const known = before.procs_.Find(proc.first);
                       return known != nullptr && known->status == proc.second;
                     }) &&
         std::none_of(preconditions_->new_procs.begin(), preconditions_->new_procs.end(),
                      [&](ProcId id) { return before.procs_.Find(id) != nullptr; });
}

bool SchedulerModel::HoldsOfThreads(const SchedulerModel& before) const {
  const auto executes = [](const ThreadState& thread, const InitialContext& context) {
    return thread.goroutine == context.goroutine && thread.proc == context.proc;
  };
  for (const auto& [id, context] : preconditions_->contexts) {
    const auto known = before.threads_.find(id);
    if (!executes(known == before.threads_.end() ? before.no_thread_ : known->second, context)) {
      return false;
    }
  }
  return std::all_of(before.threads_.begin(), before.threads_.end(), [&](const auto& thread) {
    return preconditions_->contexts.contains(thread.first) || executes(thread.second, {});
  });
}

bool SchedulerModel::HoldsOfRanges(const SchedulerModel& before) const {
  if (preconditions_->ranges.size() != before.open_ranges_) return false;
  const auto is_open = [](const auto* known, const OpenRange& range) {
    return known != nullptr && known->spans != nullptr &&
           known->spans->ranges.Find(range) != OpenRanges::kNone;
  };
  return std::all_of(preconditions_->ranges.begin(), preconditions_->ranges.end(),
                     [&](const SegmentPreconditions::ActiveRange& range) {
                       return range.kind == ResourceKind::kProc
                                  ? is_open(before.procs_.Find(ProcId{range.id}), range.range)
                                  : is_open(before.goroutines_.Find(GoId{range.id}), range.range);
                     });
}

std::optional<SchedulerModel::EndedRegions> SchedulerModel::EndRegions(
    const SchedulerModel& before) const {
  EndedRegions ended;
  for (const SegmentPreconditions::EndedRegion& region : preconditions_->regions) {
    const GoroutineState* const known = before.goroutines_.Find(region.goroutine);
    const size_t open =
        known == nullptr || known->spans == nullptr ? 0 : known->spans->regions.size();
    size_t& count = ended[region.goroutine];
    if (count == open) continue;  // The region began before the trace.
    const OpenRegion& innermost = known->spans->regions[open - ++count];
    if (innermost.task != region.task || innermost.name.view() != region.name.view()) {
      return std::nullopt;
    }
  }
  return ended;
}

void SchedulerModel::TakeRegions(const GoroutineState& before, const EndedRegions& ended) {
  GoroutineState* const goroutine = goroutines_.Find(before.id);
  if (goroutine == nullptr) return;  // The goroutine has ended.
  const auto found = ended.find(before.id);
  const size_t open = before.spans->regions.size() - (found == ended.end() ? 0 : found->second);
  std::vector<OpenRegion> regions;
  for (size_t i = 0; i < open; ++i) {
    const OpenRegion& region = before.spans->regions[i];
    regions.push_back({region.task, names_.Get(region.name.view()), region.begin});
  }
  std::vector<OpenRegion>& inner = goroutine->open().regions;
  std::move(inner.begin(), inner.end(), std::back_inserter(regions));
  inner = std::move(regions);
}

bool SchedulerModel::HoldsOfTasks(const SchedulerModel& before) const {
  // A task that begins again before it ended is a fault.
  for (const auto& [id, task] : before.tasks_) {
    if (preconditions_->begun_tasks.Has(id.value)) return false;
  }
  if (!preconditions_->find_task) return true;
  for (const auto& [id, task] : preconditions_->ended_tasks) {
    const auto known = before.tasks_.find(id);
    if ((known != before.tasks_.end()) != task.found) return false;
    if (task.found &&
        (known->second.parent != task.parent || known->second.name.view() != task.type.view())) {
      return false;
    }
  }
  return true;
}

bool SchedulerModel::HoldsOfGc(const SchedulerModel& before) const {
  const std::optional<SegmentPreconditions::Gc>& gc = preconditions_->gc;
  if (!gc.has_value()) return true;
  // The first cycle may have any number.
  if (before.gc_state_ == GcState::kUndetermined) return !gc->running;
  return before.gc_state_ == (gc->running ? GcState::kRunning : GcState::kNotRunning) &&
         before.gc_sequence_ == gc->sequence;
}

}  // namespace gotrace::internal
