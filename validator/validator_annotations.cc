// The checks of what lasts and is named: ranges, tasks and regions.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "util/quote.h"
#include "validator/validator.h"

namespace gotrace::internal {
namespace {

// How many regions are looked through for the one that ends: a broken trace may open any number,
// and end others.
constexpr size_t kMostLookedThrough = 100;

}  // namespace

void Validator::CheckRange(const Event& event) {
  const RangeParts range = event.range_parts();
  OpenedRanges& open = opens_.Get(range.scope).ranges;
  const size_t found = open.Find(range.what, range.reason);
  const auto named = [&range] {
    const std::string scope = FormatResource(range.scope);
    return absl::StrCat("the range ", Quoted(range.name()), scope.empty() ? "" : " of ", scope);
  };
  if (event.kind() == EventKind::kRangeEnd) {
    if (found != OpenedRanges::kNone) {
      open.Remove(found);
    } else if (event.type() != EventType::kSTWEnd || !MayPredateLoss(range.scope)) {
      // A generation tells anew which ranges are active, but for those that stop the world.
      ReportUnlessLost(CheckId::kRangeUnopened, event, range.scope,
                       absl::StrCat("expected ", named(), " to be open, found its end"));
    }
    return;
  }
  if (found == OpenedRanges::kNone) {
    if (assumed_ != nullptr && event.kind() == EventKind::kRangeActive) AssumeRange(range);
    Open begun = MakeOpen(event, range.reason, TaskId::kNone);
    begun.what = range.what;
    begun.has_reason = range.has_reason;
    open.Add(std::move(begun));
  } else if (event.kind() == EventKind::kRangeBegin) {
    ReportUnlessLost(
        CheckId::kRangeReopened, event, range.scope,
        absl::StrCat("expected ", named(), " to end first, found that it begins again"));
  }
}

void Validator::CheckTaskBegin(const Event& event) {
  const Task task = event.task();
  const ResourceId about = AboutWhat(event);
  if (task.id == TaskId::kNone || task.id == kBackgroundTask) {
    Report(CheckId::kTaskIdReserved, event, about,
           absl::StrCat("expected the id of a new task, found ", task.id.value));
  }
  if (task.parent == kBackgroundTask) {
    Report(CheckId::kTaskParent, event, about,
           absl::StrCat("expected a parent or none of task ", task.id.value,
                        ", found the background task"));
  }
  CheckTaskReference(event, task.parent);
  // Reading did not keep it either: there are too many.
  if (event.fault() == FaultId::kLimitNesting) return;
  // If it stands among those that ended, what is open counts.
  tasks_[task.id] = MakeOpen(event, task.type, task.id);
}

void Validator::CheckTaskEnd(const Event& event) {
  const Task task = event.task();
  const ResourceId about = AboutWhat(event);
  const auto found = tasks_.find(task.id);
  if (found == tasks_.end()) {
    const bool is_second = ended_.count(task.id) > 0 || ended_before_.count(task.id) > 0;
    if (!is_second && has_resumed_) return;
    if (assumed_ != nullptr && !is_second && AssumeTaskEnd(task.id)) return;
    ReportUnlessLost(is_second ? CheckId::kTaskEndedTwice : CheckId::kTaskEndUnknown, event, about,
                     absl::StrCat("expected an open task, found the end of task ", task.id.value,
                                  is_second ? ", which has ended" : ", which never began"));
    return;
  }
  if (found->second.name != task.type) {
    ReportUnlessLost(CheckId::kTaskType, event, about,
                     absl::StrCat("expected the type ", Quoted(found->second.name), " of task ",
                                  task.id.value, ", found ", Quoted(task.type)));
  }
  tasks_.erase(found);
  ended_.insert(task.id);
}

void Validator::CheckRegion(const Event& event) {
  const Region region = event.region();
  CheckTaskReference(event, region.task);
  const ResourceId about = AboutWhat(event);
  std::vector<Open>& open = opens_.Get(about).regions;
  if (event.kind() == EventKind::kRegionBegin) {
    if (event.fault() == FaultId::kLimitNesting) return;
    open.push_back(MakeOpen(event, region.type, region.task));
    return;
  }
  const auto outermost = open.rbegin() + std::min(open.size(), kMostLookedThrough);
  const auto found = std::find_if(open.rbegin(), outermost, [&](const Open& other) {
    return other.name == region.type && other.task == region.task;
  });
  if (found == outermost) {
    if (MayPredateLoss(about)) return;
    if (assumed_ != nullptr && open.empty()) {
      AssumeRegionEnd(about, region);
      return;
    }
    ReportUnlessLost(CheckId::kRegionEndUnknown, event, about,
                     absl::StrCat("expected an open region, found the end of ", Quoted(region.type),
                                  ", which never began"));
    return;
  }
  // One that is not the innermost is a fault of reading.
  open.erase(std::next(found).base());
}

void Validator::CheckTaskReference(const Event& event, TaskId task) {
  if (task == TaskId::kNone || task == kBackgroundTask || tasks_.count(task) > 0) return;
  // What ends after its task did is no rare thing.
  if (ended_.count(task) > 0 || ended_before_.count(task) > 0) return;
  // A task lasts over generations, and none tells again which are open.
  if (has_resumed_) return;
  if (assumed_ != nullptr && AssumeTask(task)) return;
  ReportUnlessLost(CheckId::kTaskUnknown, event, AboutWhat(event),
                   absl::StrCat("expected a task that began, found task ", task.value));
}

Validator::Open Validator::MakeOpen(const Event& event, absl::string_view name, TaskId task) const {
  return Open(name, task, MarkOf(event));
}

std::string Validator::NameOf(const Open& open) {
  if (open.what.empty()) return open.name;
  return RangeParts{open.what, open.has_reason, open.name, {}}.name();
}

void Validator::ReportOpen(CheckId id, const Open& open, const ResourceId& resource,
                           std::string message) {
  if (assumed_ != nullptr) assumed_->fails = true;
  sink_(MakeFinding(id, open.begin, resource, std::move(message)));
}

void Validator::ReportOpens() {
  // Their ends may be among what is missing.
  if (lost_) return;
  struct Item {
    CheckId id;
    const Open* open;
    ResourceId resource;
    std::string what;
  };
  std::vector<Item> items;
  opens_.ForEach([&](const ResourceId& resource, const Opens& opens) {
    for (const Open& range : opens.ranges.all()) {
      items.push_back({CheckId::kRangeOpen, &range, resource, "range"});
    }
    for (const Open& region : opens.regions) {
      items.push_back({CheckId::kRegionOpen, &region, resource, "region"});
    }
  });
  for (const auto& [id, task] : tasks_) {
    items.push_back({CheckId::kTaskOpen, &task, {}, absl::StrCat("task ", id.value)});
  }
  // The maps have no order of their own.
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::pair(a.open->begin.event_number, a.id) <
           std::pair(b.open->begin.event_number, b.id);
  });
  for (const Item& item : items) {
    ReportOpen(item.id, *item.open, item.resource,
               absl::StrCat("expected the ", item.what, " ", Quoted(NameOf(*item.open)),
                            " to end, found the end of the trace"));
  }
}

}  // namespace gotrace::internal
