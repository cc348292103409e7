// Validates a segment that starts in the middle of a trace, and appends it to the validator of the
// earlier part.
#include <algorithm>
#include <utility>

#include "gotrace/event_kind.h"
#include "validator/event_validator.h"

namespace gotrace::internal {

void EventValidator::StartInMiddle() {
  preconditions_ = std::make_unique<ValidatorPreconditions>();
}

void EventValidator::AssumeFirstSync(const Event& event, uint64_t sync) {
  preconditions_->first_sync = sync;
  preconditions_->first_time = event.time();
  preconditions_->first_generation = generation_;
  last_sync_ = sync - 1;
}

bool EventValidator::AssumeStatus(const Event& event) {
  const uint8_t state = event.transition_to();
  if (!InFirstGeneration() || event.transition_from() != state) return false;
  preconditions_->statuses.push_back({event.transition_resource(), state, event.thread()});
  return true;
}

void EventValidator::AssumeActiveRange(const RangeParts& range) {
  if (!InFirstGeneration()) return;
  preconditions_->ranges.push_back({range.scope, range.what, std::string(range.reason)});
}

void EventValidator::AssumeRegionEnd(const ResourceId& resource, const Region& region) {
  if (preconditions_->regions.size() >= ValidatorPreconditions::kMaxRegions)
    preconditions_->fails = true;
  if (!preconditions_->fails) {
    preconditions_->regions.push_back({resource, std::string(region.type), region.task});
  }
}

bool EventValidator::AssumeTask(TaskId task) {
  if (preconditions_->ended_tasks.contains(task)) return false;
  const size_t count = preconditions_->known_tasks.size() + preconditions_->open_tasks.size();
  if (count >= ValidatorPreconditions::kMaxTasks) preconditions_->fails = true;
  if (preconditions_->fails) return true;
  (InFirstGeneration() ? preconditions_->known_tasks : preconditions_->open_tasks).insert(task);
  return true;
}

bool EventValidator::AssumeTaskEnd(TaskId task) {
  if (preconditions_->ended_tasks.size() >= ValidatorPreconditions::kMaxTasks)
    preconditions_->fails = true;
  if (preconditions_->fails) return true;
  if (!preconditions_->ended_tasks.insert(task).second) return false;
  ended_.insert(task);
  return true;
}

bool EventValidator::Append(EventValidator&& next) {
  const ValidatorPreconditions& preconditions = *next.preconditions_;
  const auto has_loss = [](const EventValidator& validator) {
    return validator.lost_ || validator.has_unknown_state_ || validator.has_resumed_;
  };
  if (preconditions.fails || has_loss(*this) || has_loss(next) ||
      threads_.size() + next.threads_.size() > kMaxThreads || !HoldsOfTime(preconditions) ||
      !HoldsOfStatuses(preconditions) || !HoldsOfTasks(preconditions) ||
      !HoldsOfRanges(preconditions)) {
    return false;
  }
  std::optional<RegionsLeft> regions = EndRegions(next);
  if (!regions.has_value()) return false;
  TakeRanges(next);
  TakeRegions(next, *std::move(regions));
  TakeTasks(next);
  TakeResources(next);
  event_count_ += next.event_count_;
  generation_before_ = next.generation_before_;
  generation_ = next.generation_;
  last_time_ = next.last_time_;
  last_sync_ = next.last_sync_;
  if (next.last_clocks_.has_value()) last_clocks_ = next.last_clocks_;
  unchecked_stacks_ = std::move(next.unchecked_stacks_);
  checked_stacks_ = std::move(next.checked_stacks_);
  return true;
}

bool EventValidator::HoldsOfTime(const ValidatorPreconditions& preconditions) const {
  const uint64_t gap =
      static_cast<uint64_t>(preconditions.first_time) - static_cast<uint64_t>(last_time_);
  const bool has_clocks = last_clocks_.has_value() && preconditions.first_clocks.has_value();
  return preconditions.first_sync == last_sync_ + 1 && generation_ != 0 &&
         preconditions.first_generation == generation_ + 1 && has_time_ &&
         preconditions.first_time > last_time_ && gap <= static_cast<uint64_t>(options_.time_gap) &&
         (!has_clocks || ClocksAgree(*last_clocks_, *preconditions.first_clocks));
}

bool EventValidator::HoldsOfStatuses(const ValidatorPreconditions& preconditions) const {
  return std::all_of(
      preconditions.statuses.begin(), preconditions.statuses.end(),
      [&](const ValidatorPreconditions::Status& status) {
        const ResourceId& id = status.resource;
        const Resource* const known = FindResource(id);
        if (known == nullptr || known->state != status.state) return false;
        const bool is_executing = id.kind == ResourceKind::kProc
                                      ? IsExecuting<ResourceKind::kProc>(status.state)
                                      : IsExecuting<ResourceKind::kGoroutine>(status.state);
        if (!is_executing) return true;
        return known->binding != nullptr && known->binding->id == status.thread.value &&
               known->binding->executed(id.kind) == id.id;
      });
}

bool EventValidator::HoldsOfTasks(const ValidatorPreconditions& preconditions) const {
  const auto is_open = [this](TaskId task) { return tasks_.contains(task); };
  return std::all_of(preconditions.ended_tasks.begin(), preconditions.ended_tasks.end(), is_open) &&
         std::all_of(preconditions.open_tasks.begin(), preconditions.open_tasks.end(), is_open) &&
         std::all_of(preconditions.known_tasks.begin(), preconditions.known_tasks.end(),
                     [&](TaskId task) { return is_open(task) || ended_.contains(task); });
}

// A generation states all ranges that are active.
bool EventValidator::HoldsOfRanges(const ValidatorPreconditions& preconditions) const {
  size_t count = 0;
  spans_.ForEach(
      [&](const ResourceId&, const SpansOf& spans) { count += spans.ranges.all().size(); });
  return count == preconditions.ranges.size() &&
         std::all_of(preconditions.ranges.begin(), preconditions.ranges.end(),
                     [&](const ValidatorPreconditions::Active& range) {
                       const SpansOf* const spans = spans_.Find(range.scope);
                       return spans != nullptr &&
                              spans->ranges.Find(range.what, range.reason) != RangeSpans::kNone;
                     });
}

std::optional<EventValidator::RegionsLeft> EventValidator::EndRegions(
    const EventValidator& next) const {
  RegionsLeft left;
  spans_.ForEach([&](const ResourceId& resource, const SpansOf& spans) {
    if (!spans.regions.empty()) left[{resource.kind, resource.id}] = spans.regions;
  });
  for (const ValidatorPreconditions::Region& region : next.preconditions_->regions) {
    std::vector<OpenSpan>& open = left[{region.resource.kind, region.resource.id}];
    // The reader has checked that it is the innermost one.
    if (open.empty() || open.back().name != region.name || open.back().task != region.task) {
      return std::nullopt;
    }
    open.pop_back();
  }
  for (const auto& [key, open] : left) {
    const bool is_gone = key.first != ResourceKind::kNone && !next.Exists({key.first, key.second});
    if (is_gone && !open.empty()) return std::nullopt;
  }
  return left;
}

void EventValidator::TakeRanges(const EventValidator& next) {
  const auto is_known = [](const OpenSpan& range) {
    return kEventKinds[static_cast<uint8_t>(range.begin.type)] == EventKind::kRangeActive;
  };
  for (const ValidatorPreconditions::Active& range : next.preconditions_->ranges) {
    RangeSpans& ranges = spans_.Get(range.scope).ranges;
    if (const SpansOf* const there = next.spans_.Find(range.scope)) {
      const size_t place = there->ranges.Find(range.what, range.reason);
      if (place != RangeSpans::kNone && is_known(there->ranges.all()[place])) continue;
    }
    ranges.Remove(ranges.Find(range.what, range.reason));
  }
  next.spans_.ForEach([&](const ResourceId& resource, const SpansOf& spans) {
    for (const OpenSpan& range : spans.ranges.all()) {
      RangeSpans& ranges = spans_.Get(resource).ranges;
      if (ranges.Find(range.what, range.name) == RangeSpans::kNone) {
        ranges.Add(Renumbered(range));
      }
    }
  });
}

void EventValidator::TakeRegions(const EventValidator& next, RegionsLeft left) {
  for (auto& [key, open] : left) spans_.Get({key.first, key.second}).regions = std::move(open);
  next.spans_.ForEach([&](const ResourceId& resource, const SpansOf& spans) {
    std::vector<OpenSpan>& regions = spans_.Get(resource).regions;
    for (const OpenSpan& region : spans.regions) regions.push_back(Renumbered(region));
  });
}

void EventValidator::TakeTasks(const EventValidator& next) {
  for (const TaskId task : next.preconditions_->ended_tasks) tasks_.erase(task);
  for (const auto& [id, task] : next.tasks_) tasks_[id] = Renumbered(task);
  const bool has_one_sync = next.last_sync_ == next.preconditions_->first_sync;
  ended_before_ = has_one_sync ? std::move(ended_) : next.ended_before_;
  ended_ = next.ended_;
}

void EventValidator::TakeResources(EventValidator& next) {
  for (const ValidatorPreconditions::Status& status : next.preconditions_->statuses) {
    Resource* const resource = next.FindResource(status.resource);
    if (resource == nullptr) continue;
    const Resource& earlier = *FindResource(status.resource);
    resource->history.Prepend(earlier.history, earlier.transitions, &resource->transitions);
  }
  // A generation need not mention idle Ps.
  procs_.ForEach([&](const Resource& proc) {
    if (next.procs_.Find(proc.id) != nullptr) return;
    Resource* const copy = next.procs_.Insert(proc.id);
    copy->history = proc.history;
    copy->transitions = proc.transitions;
    copy->state = proc.state;
  });
  goroutines_ = std::move(next.goroutines_);
  procs_ = std::move(next.procs_);
  threads_ = std::move(next.threads_);
}

}  // namespace gotrace::internal
