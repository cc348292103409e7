// Follows each goroutine through its transitions, as Go's Summarizer does. As there, a time of 0
// means "not now".
#include "gotrace/go_stats.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "analysis/core/named_times.h"
#include "analysis/core/time_sums.h"
#include "analysis/tasks/task_table.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/states.h"
#include "parser/event/event_access.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::SubtractTime;
namespace {

struct Goroutine {
  GoroutineSpan span;

  // The time since which it is in the state, or 0.
  int64_t running = 0;
  int64_t runnable = 0;
  int64_t blocked = 0;
  StringId blocked_on = StringId::kEmpty;
  int64_t syscall = 0;
  int64_t syscall_without_proc = 0;

  absl::flat_hash_map<StringId, int64_t> open_ranges;  // When they began.
  std::vector<RegionSpan> open_regions;  // Their times are those of the goroutine when they began.
  std::vector<RegionSpan> regions;       // The regions that ended.

  // Forgets everything that is open.
  void Close() {
    running = runnable = blocked = syscall = syscall_without_proc = 0;
    blocked_on = StringId::kEmpty;
    open_ranges.clear();
    open_regions.clear();
  }
};

// A P, and the name of a range.
using ProcRange = std::pair<ProcId, StringId>;

// Returns the times up to now, including the current states.
ExecutionTimes TimesAt(int64_t now, const Goroutine& goroutine) {
  ExecutionTimes times = goroutine.span.times;
  if (times.total == 0) times.total = Between(goroutine.span.creation, now);
  if (goroutine.running != 0) AddTime(Between(goroutine.running, now), &times.running);
  if (goroutine.runnable != 0) AddTime(Between(goroutine.runnable, now), &times.runnable);
  if (goroutine.blocked != 0) {
    times.blocked.Add(goroutine.blocked_on, Between(goroutine.blocked, now));
  }
  if (goroutine.syscall != 0) AddTime(Between(goroutine.syscall, now), &times.syscall);
  // See A1 in DIVERGENCES.md.
  if (goroutine.syscall_without_proc != 0) {
    AddTime(Between(goroutine.syscall_without_proc, now), &times.runnable);
  }
  for (const auto& [name, begin] : goroutine.open_ranges) {
    times.ranges.Add(name, Between(begin, now));
  }
  return times;
}

ExecutionTimes Difference(ExecutionTimes times, const ExecutionTimes& before) {
  SubtractTime(before.total, &times.total);
  SubtractTime(before.running, &times.running);
  SubtractTime(before.runnable, &times.runnable);
  SubtractTime(before.syscall, &times.syscall);
  SubtractTime(before.syscall_blocked, &times.syscall_blocked);
  internal::SubtractTimes(before.blocked, &times.blocked);
  internal::SubtractTimes(before.ranges, &times.ranges);
  return times;
}

// Returns whether this is a goroutine of the runtime, whose open regions are dropped.
bool IsOfRuntime(absl::string_view name) {
  return name.empty() || (name != "runtime.main" && absl::StartsWith(name, "runtime."));
}

}  // namespace

class GoCompatibleStats::Impl {
 public:
  explicit Impl(Interner* interner) : interner_(*interner), tasks_(interner) {}

  void Add(const Event& event);
  void Finish();

  std::vector<GoroutineSpan> spans;
  std::vector<RegionSpan> regions;
  std::vector<TaskSpan> tasks;

 private:
  void AddGoTransition(const Event& event);
  void AddProcTransition(const Event& event);
  void LeaveState(GoState state, int64_t now, Goroutine* goroutine);
  void EnterState(GoState state, const Event& event, Goroutine* goroutine);
  void BeginRange(const Event& event);
  void EndRange(const Event& event);
  void AddTask(const Event& event);
  void BeginRegion(const Event& event);
  void EndRegion(const Event& event);

  Goroutine* Find(GoId id) {
    const auto it = goroutines_.find(id);
    return it == goroutines_.end() ? nullptr : &it->second;
  }

  // Adds a goroutine, which replaces any with the same id.
  Goroutine& Make(GoId id, int64_t creation) {
    Goroutine& goroutine = goroutines_[id] = {};
    goroutine.span.goroutine = id;
    goroutine.span.creation = creation;
    return goroutine;
  }

  // Ends the goroutine at `now`, which is the end of the trace if `is_over`.
  void End(int64_t now, bool is_over, Goroutine* goroutine);

  void Sort(ExecutionTimes* times) const {
    internal::SortByName(interner_, &times->blocked);
    internal::SortByName(interner_, &times->ranges);
  }

  StringId ReasonOf(const Event& event) {
    return interner_.InternString(event, internal::EventAccess::ReasonId(event));
  }

  Interner& interner_;
  const StringId forever_ = interner_.InternString("forever");
  absl::flat_hash_map<GoId, Goroutine> goroutines_;
  internal::TaskTable tasks_;

  // The goroutine in a syscall that is assumed to have the P, and vice versa.
  absl::flat_hash_map<ProcId, GoId> in_syscall_;
  absl::flat_hash_map<GoId, ProcId> syscall_procs_;

  // The goroutine that was on the P when the range began.
  absl::flat_hash_map<ProcRange, GoId> proc_ranges_;

  int64_t now_ = 0;
  int64_t generation_begin_ = 0;
};

void GoCompatibleStats::Impl::Add(const Event& event) {
  now_ = event.time();
  if (generation_begin_ == 0) generation_begin_ = now_;
  switch (event.kind()) {
    case EventKind::kSync:
      generation_begin_ = now_;
      break;
    case EventKind::kStateTransition:
      if (event.transition_from() == event.transition_to()) break;
      if (event.transition_resource().kind == ResourceKind::kGoroutine) {
        AddGoTransition(event);
      } else {
        AddProcTransition(event);
      }
      break;
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
      BeginRange(event);
      break;
    case EventKind::kRangeEnd:
      EndRange(event);
      break;
    case EventKind::kRegionBegin:
      BeginRegion(event);
      break;
    case EventKind::kRegionEnd:
      EndRegion(event);
      break;
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      AddTask(event);
      break;
    case EventKind::kLog:
      tasks_.AddLog(event);
      break;
    default:
      break;
  }
}

void GoCompatibleStats::Impl::AddGoTransition(const Event& event) {
  const GoId id{event.transition_resource().id};
  const GoState from = static_cast<GoState>(event.transition_from());
  const GoState to = static_cast<GoState>(event.transition_to());
  Goroutine* goroutine = Find(id);
  if (from == GoState::kNotExist) {
    const Goroutine* const creator = Find(event.goroutine());
    std::vector<RegionSpan> inherited;
    if (creator != nullptr && !creator->open_regions.empty()) {
      inherited.push_back(
          {.goroutine = id, .task = creator->open_regions.back().task, .begin = event.time()});
    }
    goroutine = &Make(id, event.time());
    goroutine->open_regions = std::move(inherited);
  } else if (from == GoState::kUndetermined || goroutine == nullptr) {
    goroutine = &Make(id, generation_begin_);
    goroutine->span.is_older = true;
    // It has been in the state since the generation began.
    const int64_t before = Between(generation_begin_, event.time());
    ExecutionTimes& times = goroutine->span.times;
    switch (to) {
      case GoState::kRunning:
        AddTime(before, &times.running);
        break;
      case GoState::kWaiting:
        times.blocked.Add(ReasonOf(event), before);
        break;
      case GoState::kRunnable:
        AddTime(before, &times.runnable);
        break;
      case GoState::kSyscall:
        (event.proc() == ProcId::kNone ? times.syscall_blocked : times.syscall) += before;
        break;
      default:
        break;
    }
  } else {
    LeaveState(from, event.time(), goroutine);
  }
  if (goroutine->span.name == StringId::kEmpty) {
    goroutine->span.name =
        interner_.RootFunctionId(interner_.InternStack(event.transition_stack()));
  }
  EnterState(to, event, goroutine);
}

void GoCompatibleStats::Impl::LeaveState(GoState state, int64_t now, Goroutine* goroutine) {
  ExecutionTimes& times = goroutine->span.times;
  switch (state) {
    case GoState::kRunning:
      AddTime(Between(goroutine->running, now), &times.running);
      goroutine->running = 0;
      break;
    case GoState::kWaiting:
      if (goroutine->blocked == 0) break;
      times.blocked.Add(goroutine->blocked_on, Between(goroutine->blocked, now));
      goroutine->blocked = 0;
      break;
    case GoState::kRunnable:
      if (goroutine->runnable == 0) break;
      AddTime(Between(goroutine->runnable, now), &times.runnable);
      goroutine->runnable = 0;
      break;
    case GoState::kSyscall: {
      if (goroutine->syscall == 0) break;
      const int64_t lost = goroutine->syscall_without_proc;
      AddTime(Between(goroutine->syscall, lost == 0 ? now : lost), &times.syscall);
      if (lost != 0) AddTime(Between(lost, now), &times.syscall_blocked);
      goroutine->syscall = goroutine->syscall_without_proc = 0;
      const auto proc = syscall_procs_.find(goroutine->span.goroutine);
      if (proc == syscall_procs_.end()) break;
      in_syscall_.erase(proc->second);
      syscall_procs_.erase(proc);
      break;
    }
    default:
      break;
  }
}

void GoCompatibleStats::Impl::EnterState(GoState state, const Event& event, Goroutine* goroutine) {
  const int64_t now = event.time();
  switch (state) {
    case GoState::kRunning:
      goroutine->running = now;
      if (!goroutine->span.start.has_value()) goroutine->span.start = now;
      break;
    case GoState::kRunnable:
      goroutine->runnable = now;
      break;
    case GoState::kWaiting: {
      const StringId reason = ReasonOf(event);
      // See A3 in DIVERGENCES.md.
      if (reason == forever_) return End(now, /*is_over=*/false, goroutine);
      goroutine->blocked = now;
      goroutine->blocked_on = reason;
      break;
    }
    case GoState::kSyscall:
      in_syscall_[event.proc()] = goroutine->span.goroutine;
      syscall_procs_[goroutine->span.goroutine] = event.proc();
      goroutine->syscall = now;
      break;
    case GoState::kNotExist:
      End(now, /*is_over=*/false, goroutine);
      break;
    default:
      break;
  }
}

void GoCompatibleStats::Impl::AddProcTransition(const Event& event) {
  if (static_cast<ProcState>(event.transition_to()) != ProcState::kIdle) return;
  const auto in_syscall = in_syscall_.find(ProcId{event.transition_resource().id});
  if (in_syscall == in_syscall_.end()) return;
  Goroutine* const goroutine = Find(in_syscall->second);
  if (goroutine != nullptr) goroutine->syscall_without_proc = event.time();
  in_syscall_.erase(in_syscall);
}

void GoCompatibleStats::Impl::BeginRange(const Event& event) {
  const ResourceId scope = event.range_parts().scope;
  Goroutine* goroutine = nullptr;
  const StringId name = interner_.InternRange(event.range_parts());
  if (scope.kind == ResourceKind::kGoroutine) {
    goroutine = Find(GoId{scope.id});
  } else if (scope.kind == ResourceKind::kProc) {
    goroutine = Find(event.goroutine());
    if (goroutine != nullptr) proc_ranges_[{ProcId{scope.id}, name}] = event.goroutine();
  }
  if (goroutine == nullptr) return;
  const bool is_active = event.kind() == EventKind::kRangeActive;
  const int64_t begin = is_active ? generation_begin_ : event.time();
  const auto [open, is_new] = goroutine->open_ranges.try_emplace(name, begin);
  if (is_new) return;
  if (is_active) goroutine->span.times.ranges.Add(name, Between(open->second, begin));
  open->second = begin;
}

void GoCompatibleStats::Impl::EndRange(const Event& event) {
  const ResourceId scope = event.range_parts().scope;
  Goroutine* goroutine = nullptr;
  const StringId name = interner_.InternRange(event.range_parts());
  if (scope.kind == ResourceKind::kGoroutine) {
    goroutine = Find(GoId{scope.id});
  } else if (scope.kind == ResourceKind::kProc) {
    const auto began_on = proc_ranges_.find({ProcId{scope.id}, name});
    if (began_on == proc_ranges_.end()) return;
    // See A7 in DIVERGENCES.md.
    if (began_on->second == event.goroutine()) goroutine = Find(event.goroutine());
    proc_ranges_.erase(began_on);
  }
  if (goroutine == nullptr) return;
  const auto open = goroutine->open_ranges.find(name);
  if (open == goroutine->open_ranges.end()) return;
  goroutine->span.times.ranges.Add(name, Between(open->second, event.time()));
  goroutine->open_ranges.erase(open);
}

void GoCompatibleStats::Impl::AddTask(const Event& event) {
  TaskSpan& task = tasks_.AddTask(event);
  // See A12 in DIVERGENCES.md.
  if (event.task().type.empty()) task.type = StringId::kEmpty;
  if (const TaskId parent = task.parent; parent != TaskId::kNone) tasks_.Mention(parent);
}

void GoCompatibleStats::Impl::BeginRegion(const Event& event) {
  const Region region = event.region();
  tasks_.AddRegion(region.task);
  Goroutine* const goroutine = Find(event.goroutine());
  if (goroutine == nullptr) return;
  tasks_.AddGoroutine(region.task, event.goroutine());
  goroutine->open_regions.push_back({.goroutine = event.goroutine(),
                                     .task = region.task,
                                     .type = interner_.InternString(region.type),
                                     .begin = event.time(),
                                     .times = TimesAt(event.time(), *goroutine)});
}

void GoCompatibleStats::Impl::EndRegion(const Event& event) {
  Goroutine* const goroutine = Find(event.goroutine());
  if (goroutine == nullptr) return;
  RegionSpan ended;
  if (!goroutine->open_regions.empty()) {
    ended = std::move(goroutine->open_regions.back());
    goroutine->open_regions.pop_back();
  } else {
    const Region region = event.region();
    ended.goroutine = event.goroutine();
    ended.task = region.task;
    ended.type = interner_.InternString(region.type);
    tasks_.AddGoroutine(region.task, event.goroutine());
    tasks_.AddRegion(region.task);
  }
  ended.times = Difference(TimesAt(event.time(), *goroutine), ended.times);
  ended.end = event.time();
  goroutine->regions.push_back(std::move(ended));
}

void GoCompatibleStats::Impl::End(int64_t now, bool is_over, Goroutine* goroutine) {
  GoroutineSpan& span = goroutine->span;
  if (!is_over) span.end = now;
  span.times = TimesAt(now, *goroutine);
  if (!IsOfRuntime(interner_.String(span.name))) {
    for (RegionSpan& region : goroutine->open_regions) {
      region.times = Difference(span.times, region.times);
      if (!is_over) region.end = now;
      goroutine->regions.push_back(std::move(region));
    }
  }
  goroutine->Close();
}

void GoCompatibleStats::Impl::Finish() {
  std::vector<GoId> ids;
  for (auto& [id, goroutine] : goroutines_) ids.push_back(id);
  absl::c_sort(ids);
  for (const GoId id : ids) {
    Goroutine& goroutine = goroutines_[id];
    End(now_, /*is_over=*/true, &goroutine);
    Sort(&goroutine.span.times);
    spans.push_back(std::move(goroutine.span));
    absl::c_stable_sort(goroutine.regions,
                        [](const RegionSpan& a, const RegionSpan& b) { return a.begin < b.begin; });
    for (RegionSpan& region : goroutine.regions) {
      Sort(&region.times);
      regions.push_back(std::move(region));
    }
  }
  for (TaskSpan& task : tasks_.Take()) tasks.push_back(std::move(task));
}

GoCompatibleStats::GoCompatibleStats(Interner* interner)
    : impl_(std::make_unique<Impl>(interner)) {}
GoCompatibleStats::~GoCompatibleStats() = default;

void GoCompatibleStats::Add(absl::Span<const Event> events) {
  for (const Event& event : events) impl_->Add(event);
}

absl::Status GoCompatibleStats::Finish() {
  impl_->Finish();
  return absl::OkStatus();
}

absl::Span<const GoroutineSpan> GoCompatibleStats::goroutines() const { return impl_->spans; }
absl::Span<const RegionSpan> GoCompatibleStats::regions() const { return impl_->regions; }
absl::Span<const TaskSpan> GoCompatibleStats::tasks() const { return impl_->tasks; }

}  // namespace gotrace
