#include "rewrite/past_events.h"

#include "gotrace/event_kind.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/states.h"
#include "parser/event/event_access.h"

namespace gotrace::internal {

const PastEvents::Goroutine* PastEvents::Find(GoId id) const {
  const auto it = goroutines_.find(id);
  return it == goroutines_.end() ? nullptr : &it->second;
}

bool IsStatus(const Event& event) {
  if (event.kind() != EventKind::kStateTransition) return false;
  const Subject subject = RuleOf(event.type()).subject;
  return subject == Subject::kStatedGoroutine || subject == Subject::kStatedProc;
}

void EarlierSpanFinder::Add(const Event& event) {
  if (event.kind() == EventKind::kSync) ++generations_;
  const GoId own = event.goroutine();
  if (event.kind() == EventKind::kTaskBegin) begun_.insert(event.arg(0));
  if (event.kind() == EventKind::kTaskEnd && begun_.insert(event.arg(0)).second) {
    const Task task = event.task();
    found_.tasks.push_back({task.id, task.parent, std::string(task.type)});
  }
  if (event.kind() == EventKind::kRegionBegin) ++depths_[own];
  if (event.kind() == EventKind::kRegionEnd) {
    uint64_t& depth = depths_[own];
    if (depth > 0) {
      --depth;
    } else if (!created_.contains(own)) {
      const Region region = event.region();
      found_.regions[own].push_back({region.task.value, std::string(region.type)});
    }
  }
  const ResourceId resource = event.transition_resource();
  // Later generations state only what is known.
  const bool is_proc = resource.kind == ResourceKind::kProc;
  const bool is_new = is_proc || !created_.contains(GoId{resource.id});
  if (generations_ == 1 && IsStatus(event) && is_new) {
    WriterEvent status;
    status.type = is_proc ? EventType::kProcStatus : EventType::kGoStatus;
    status.thread = event.thread();
    for (size_t i = 0; i < 3; ++i) status.args[i] = event.arg(i);
    const auto [it, is_first] = found_.statuses.try_emplace({resource.kind, resource.id});
    if (is_first) {
      it->second.event = status;
      const Stack stack = event.transition_stack();
      for (size_t i = 0; i < stack.size(); ++i) {
        const StackFrame frame = stack.frame(i);
        it->second.stack.push_back(
            {frame.pc, std::string(frame.func), std::string(frame.file), frame.line});
      }
    }
  }
  if (resource.kind != ResourceKind::kGoroutine) return;
  const bool is_created = static_cast<GoState>(event.transition_from()) == GoState::kNotExist;
  const bool has_ended = static_cast<GoState>(event.transition_to()) == GoState::kNotExist;
  if (is_created || has_ended) {
    created_.insert(GoId{resource.id});
    depths_.erase(GoId{resource.id});
  }
}

void PastEvents::AddEarlier(const EarlierSpans& spans) {
  for (const EarlierSpans::EarlierTask& task : spans.tasks) {
    tasks_[task.id.value] = {task.parent, tables_.AddString(task.type), GoId::kNone};
  }
  earlier_statuses_ = spans.statuses;
  for (const auto& [resource, status] : spans.statuses) {
    if (status.stack.empty()) continue;
    std::vector<TableSource::Frame> frames;
    for (const EarlierSpans::EarlierFrame& frame : status.stack) {
      frames.push_back(
          {frame.pc, tables_.AddString(frame.func), tables_.AddString(frame.file), frame.line});
    }
    goroutines_[GoId{resource.second}].stack = tables_.AddStack(std::move(frames));
  }
  for (const auto& [id, regions] : spans.regions) {
    for (const EarlierSpans::EarlierRegion& region : regions) {
      earlier_regions_[id].push_back({region.task, tables_.AddString(region.type)});
    }
  }
}

std::vector<WriterEvent> PastEvents::EarlierStatuses() const {
  std::vector<WriterEvent> statuses;
  for (const auto& [resource, status] : earlier_statuses_) statuses.push_back(status.event);
  return statuses;
}

bool PastEvents::IsEarlierStatus(const Event& event) const {
  const ResourceId resource = event.transition_resource();
  return IsStatus(event) && earlier_statuses_.contains({resource.kind, resource.id});
}

std::vector<PastEvents::Region> PastEvents::EarlierRegions(GoId id) const {
  const auto it = earlier_regions_.find(id);
  return it == earlier_regions_.end() ? std::vector<Region>() : it->second;
}

void PastEvents::AddRegionEnd(GoId id) {
  if (uint64_t& depth = depths_[id]; depth > 0) {
    --depth;
    return;
  }
  const auto it = earlier_regions_.find(id);
  if (it != earlier_regions_.end() && !it->second.empty()) it->second.erase(it->second.begin());
}

void PastEvents::Add(const Event& event) {
  const GoId own = event.goroutine();
  switch (event.kind()) {
    case EventKind::kStateTransition:
      return AddTransition(event);
    case EventKind::kTaskBegin: {
      const uint64_t type = translator_.PartOf(event).StringId(event.arg(2)).value_or(0);
      tasks_[event.arg(0)] = {event.task().parent, type, own};
      break;
    }
    case EventKind::kTaskEnd:
      tasks_.erase(event.arg(0));
      break;
    case EventKind::kLabel:
      if (own == GoId::kNone) break;
      goroutines_[own].label = translator_.PartOf(event).StringId(event.arg(0)).value_or(0);
      break;
    case EventKind::kMetric:
      if (event.type() == EventType::kProcsChange) procs_ = event.arg(0);
      if (event.type() == EventType::kHeapAlloc) heap_ = event.arg(0);
      if (event.type() == EventType::kHeapGoal) heap_goal_ = event.arg(0);
      break;
    case EventKind::kRangeBegin:
      if (event.type() != EventType::kSTWBegin || own == GoId::kNone) break;
      goroutines_[own].stop = translator_.PartOf(event).StringId(event.arg(0)).value_or(0);
      break;
    case EventKind::kRangeEnd:
      if (event.type() == EventType::kSTWEnd && own != GoId::kNone) goroutines_[own].stop.reset();
      break;
    case EventKind::kRegionBegin:
      ++depths_[own];
      break;
    case EventKind::kRegionEnd:
      AddRegionEnd(own);
      break;
    case EventKind::kNone:
    case EventKind::kSync:
    case EventKind::kRangeActive:
    case EventKind::kLog:
    case EventKind::kStackSample:
    case EventKind::kExperimental:
      break;
  }
  // A sample may have a stack of the scheduler.
  if (event.kind() == EventKind::kStackSample || own == GoId::kNone) return;
  if (const uint64_t stack = event.stack_id(); stack != 0) {
    Goroutine& goroutine = goroutines_[own];
    if (goroutine.has_own_stack) return;
    goroutine.stack = translator_.PartOf(event).StackId(stack).value_or(0);
  }
}

void PastEvents::AddTransition(const Event& event) {
  const ResourceId resource = event.transition_resource();
  if (IsStatus(event)) earlier_statuses_.erase({resource.kind, resource.id});
  if (resource.kind != ResourceKind::kGoroutine) return;
  const GoId id{resource.id};
  if (static_cast<GoState>(event.transition_to()) == GoState::kNotExist) {
    goroutines_.erase(id);
    depths_.erase(id);
    earlier_regions_.erase(id);
    return;
  }
  Goroutine& goroutine = goroutines_[id];
  if (static_cast<GoState>(event.transition_from()) == GoState::kRunning) goroutine.reason = 0;
  if (const uint64_t reason = EventAccess::ReasonId(event); reason != 0) {
    goroutine.reason = translator_.PartOf(event).StringId(reason).value_or(0);
  }
  if (const uint64_t stack = event.transition_stack().id(); stack != 0) {
    goroutine.stack = translator_.PartOf(event).StackId(stack).value_or(0);
    goroutine.has_own_stack = true;
  }
}

}  // namespace gotrace::internal
