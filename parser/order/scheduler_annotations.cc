// The rules for what user code and the runtime note down: tasks, regions, logs, labels.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "parser/order/scheduler.h"
#include "parser/order/scheduler_inline.h"
#include "util/quote.h"

namespace gotrace::internal {

Scheduler::Outcome Scheduler::OrderAnnotation(Step step) {
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  Emit(step);
  return Outcome::kAdvanced;
}

// A task may end several times, or be referred to without a beginning, and its id may be used again
// after its end: only a second beginning is a fault.
Scheduler::Outcome Scheduler::OrderUserTaskBegin(Step step) {
  const TaskId id{step.arg(0)};
  if (tasks_.contains(id)) {
    return Fail(FaultId::kTaskExists, absl::StrCat("expected a new task, found task ", id.value,
                                                   ", which has not ended"));
  }
  // Here 0 means no parent: only regions are put into the background task.
  const TaskId parent = step.arg(1) == 0 ? TaskId::kNone : TaskId{step.arg(1)};
  NamePool::Text* const name = FindName(step.arg(2));
  if (name == nullptr) return FailString(step.arg(2));
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  if (assumptions_ != nullptr) {
    assumptions_->lowest_task = std::min(assumptions_->lowest_task, id);
  }
  const bool fits = MayOpen();
  if (!fits && !forcing_) return FailLimit(FaultId::kLimitNesting);
  if (fits) tasks_.emplace(id, TaskState{names_.Hold(name), parent});
  Emit(step).args_[1] = parent.value;
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderUserTaskEnd(Step step) {
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  Event& event = Emit(step);
  const auto task = tasks_.find(TaskId{step.arg(0)});
  if (task == tasks_.end()) {
    event.args_[2] = TaskId::kNone.value;
    event.args_[3] = 0;
    return Outcome::kAdvanced;
  }
  // The generation in which the task ends may not have its name in the string table. It is kept as
  // long as that.
  event.args_[2] = task->second.parent.value;
  event.args_[3] = Event::AddressOf(task->second.name.text()->first);
  tasks_.erase(task);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderUserRegionBegin(Step step) {
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  NamePool::Text* const name = FindName(step.arg(1));
  if (name == nullptr) return FailString(step.arg(1));
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  const bool fits = MayOpen();
  if (!fits && !forcing_) return FailLimit(FaultId::kLimitNesting);
  if (fits) {
    const RegionBegin begin = {step.event.offset, step.event.time, step.arg(2), generation_index_};
    goroutine->open().regions.push_back({TaskId{step.arg(0)}, names_.Hold(name), begin});
  }
  Emit(step);
  return Outcome::kAdvanced;
}

Scheduler::Outcome Scheduler::OrderUserRegionEnd(Step step) {
  if (Outcome outcome = CheckExecuting(step); outcome != Outcome::kAdvanced) return outcome;
  NamePool::Text* const name = FindName(step.arg(1));
  if (name == nullptr) return FailString(step.arg(1));
  GoroutineState* const goroutine = CurrentGoroutine(step);
  if (goroutine == nullptr) return FailGoroutineUnknown(step, step.goroutine());
  std::vector<OpenRegion>& open = goroutine->open().regions;
  // A region without a beginning began before the trace did.
  if (!open.empty()) {
    const OpenRegion& innermost = open.back();
    if (innermost.task.value != step.arg(0) || innermost.name.text() != name) {
      return Fail(FaultId::kRegionNesting,
                  absl::StrCat("expected the end of goroutine ", goroutine->id.value,
                               "'s innermost region, ", Quoted(innermost.name.view()), " of task ",
                               innermost.task.value, ", found the end of ", Quoted(name->first),
                               " of task ", step.arg(0)));
    }
    open.pop_back();
  } else if (assumptions_ != nullptr) {
    if (!MayOpen()) return FailToAssume("which regions are open");
    assumptions_->regions.push_back({goroutine->id, TaskId{step.arg(0)}, names_.Hold(name)});
  }
  Emit(step);
  return Outcome::kAdvanced;
}

NamePool::Text* Scheduler::FindName(uint64_t id) {
  if (id == 0) return names_.Keep("");
  const uint32_t index = tables_->StringIndex(id);
  if (index == GenerationTables::kNoString) return nullptr;
  if (index >= names_of_strings_.size()) names_of_strings_.resize(tables_->string_count());
  NamePool::Text*& name = names_of_strings_[index];
  if (name == nullptr) name = names_.Keep(tables_->StringAt(index));
  return name;
}

Scheduler::Outcome Scheduler::FailString(uint64_t id) {
  return Fail(FaultId::kEventStringId,
              absl::StrCat("expected string ", id, " in the table, found none"));
}

}  // namespace gotrace::internal
