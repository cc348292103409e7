// Judging a trace from its middle on, and putting that together with what came before.
#include <algorithm>
#include <utility>

#include "gotrace/event_kind.h"
#include "validator/validator.h"
#include "validator/validator_inline.h"

namespace gotrace::internal {

void Validator::Assume() { assumed_ = std::make_unique<Assumed>(); }

void Validator::AssumeSync(const Event& event, uint64_t sync) {
  assumed_->first_sync = sync;
  assumed_->first_time = event.time();
  assumed_->first_generation = generation_;
  last_sync_ = sync - 1;
}

bool Validator::AssumeStatus(const Event& event) {
  const uint8_t state = event.transition_to();
  if (!InFirstGeneration() || event.transition_from() != state) return false;
  assumed_->statuses.push_back({event.transition_resource(), state, event.thread()});
  return true;
}

void Validator::AssumeRange(const RangeParts& range) {
  if (!InFirstGeneration()) return;
  assumed_->ranges.push_back({range.scope, range.what, std::string(range.reason)});
}

void Validator::AssumeRegionEnd(const ResourceId& resource, const Region& region) {
  if (assumed_->regions.size() >= Assumed::kMostRegions) assumed_->fails = true;
  if (!assumed_->fails) {
    assumed_->regions.push_back({resource, std::string(region.type), region.task});
  }
}

bool Validator::AssumeTask(TaskId task) {
  if (assumed_->ended_tasks.contains(task)) return false;
  const size_t count = assumed_->known_tasks.size() + assumed_->open_tasks.size();
  if (count >= Assumed::kMostTasks) assumed_->fails = true;
  if (assumed_->fails) return true;
  (InFirstGeneration() ? assumed_->known_tasks : assumed_->open_tasks).insert(task);
  return true;
}

bool Validator::AssumeTaskEnd(TaskId task) {
  if (assumed_->ended_tasks.size() >= Assumed::kMostTasks) assumed_->fails = true;
  if (assumed_->fails) return true;
  if (!assumed_->ended_tasks.insert(task).second) return false;
  ended_.insert(task);
  return true;
}

bool Validator::Append(const Validator& second) {
  const Assumed& assumed = *second.assumed_;
  const auto has_loss = [](const Validator& validator) {
    return validator.lost_ || validator.doubtful_ || validator.has_resumed_;
  };
  if (assumed.fails || has_loss(*this) || has_loss(second) ||
      threads_.size() + second.threads_.size() > kMostThreads || !HasTime(assumed) ||
      !HasStatuses(assumed) || !HasTasks(assumed) || !HasRanges(assumed)) {
    return false;
  }
  std::optional<RegionsLeft> regions = EndRegions(second);
  if (!regions.has_value()) return false;
  TakeRanges(second);
  TakeRegions(second, *std::move(regions));
  TakeTasks(second);
  event_count_ += second.event_count_;
  generation_ = second.generation_;
  return true;
}

bool Validator::HasTime(const Assumed& assumed) const {
  const uint64_t gap =
      static_cast<uint64_t>(assumed.first_time) - static_cast<uint64_t>(last_time_);
  const bool has_clocks = last_clocks_.has_value() && assumed.first_clocks.has_value();
  return assumed.first_sync == last_sync_ + 1 && generation_ != 0 &&
         assumed.first_generation == generation_ + 1 && has_time_ &&
         assumed.first_time > last_time_ && gap <= static_cast<uint64_t>(options_.time_gap) &&
         (!has_clocks || ClocksAgree(*last_clocks_, *assumed.first_clocks));
}

bool Validator::HasStatuses(const Assumed& assumed) const {
  return std::all_of(
      assumed.statuses.begin(), assumed.statuses.end(), [&](const Assumed::Status& status) {
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

bool Validator::HasTasks(const Assumed& assumed) const {
  const auto is_open = [this](TaskId task) { return tasks_.contains(task); };
  return std::all_of(assumed.ended_tasks.begin(), assumed.ended_tasks.end(), is_open) &&
         std::all_of(assumed.open_tasks.begin(), assumed.open_tasks.end(), is_open) &&
         std::all_of(assumed.known_tasks.begin(), assumed.known_tasks.end(),
                     [&](TaskId task) { return is_open(task) || ended_.contains(task); });
}

// A generation tells all ranges that are active.
bool Validator::HasRanges(const Assumed& assumed) const {
  size_t count = 0;
  opens_.ForEach(
      [&](const ResourceId&, const Opens& opens) { count += opens.ranges.all().size(); });
  return count == assumed.ranges.size() &&
         std::all_of(assumed.ranges.begin(), assumed.ranges.end(),
                     [&](const Assumed::Active& range) {
                       const Opens* const opens = opens_.Find(range.scope);
                       return opens != nullptr &&
                              opens->ranges.Find(range.what, range.reason) != OpenedRanges::kNone;
                     });
}

std::optional<Validator::RegionsLeft> Validator::EndRegions(const Validator& second) const {
  RegionsLeft left;
  opens_.ForEach([&](const ResourceId& resource, const Opens& opens) {
    if (!opens.regions.empty()) left[{resource.kind, resource.id}] = opens.regions;
  });
  for (const Assumed::Region& region : second.assumed_->regions) {
    std::vector<Open>& open = left[{region.resource.kind, region.resource.id}];
    // That it is the innermost was asked when the events were read.
    if (open.empty() || open.back().name != region.name || open.back().task != region.task) {
      return std::nullopt;
    }
    open.pop_back();
  }
  for (const auto& [key, open] : left) {
    const bool is_gone =
        key.first != ResourceKind::kNone && !second.Exists({key.first, key.second});
    if (is_gone && !open.empty()) return std::nullopt;
  }
  return left;
}

void Validator::TakeRanges(const Validator& second) {
  const auto is_known = [](const Open& range) {
    return kEventKinds[static_cast<uint8_t>(range.begin.type)] == EventKind::kRangeActive;
  };
  for (const Assumed::Active& range : second.assumed_->ranges) {
    OpenedRanges& ranges = opens_.Get(range.scope).ranges;
    if (const Opens* const there = second.opens_.Find(range.scope)) {
      const size_t place = there->ranges.Find(range.what, range.reason);
      if (place != OpenedRanges::kNone && is_known(there->ranges.all()[place])) continue;
    }
    ranges.Remove(ranges.Find(range.what, range.reason));
  }
  second.opens_.ForEach([&](const ResourceId& resource, const Opens& opens) {
    for (const Open& range : opens.ranges.all()) {
      OpenedRanges& ranges = opens_.Get(resource).ranges;
      if (ranges.Find(range.what, range.name) == OpenedRanges::kNone) {
        ranges.Add(Renumbered(range));
      }
    }
  });
}

void Validator::TakeRegions(const Validator& second, RegionsLeft left) {
  for (auto& [key, open] : left) opens_.Get({key.first, key.second}).regions = std::move(open);
  second.opens_.ForEach([&](const ResourceId& resource, const Opens& opens) {
    std::vector<Open>& regions = opens_.Get(resource).regions;
    for (const Open& region : opens.regions) regions.push_back(Renumbered(region));
  });
}

void Validator::TakeTasks(const Validator& second) {
  for (const TaskId task : second.assumed_->ended_tasks) tasks_.erase(task);
  for (const auto& [id, task] : second.tasks_) tasks_[id] = Renumbered(task);
}

}  // namespace gotrace::internal
