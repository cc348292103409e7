// Tasks and their regions.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "gotrace/fault.h"
#include "gotrace/run_analysis.h"
#include "view/answers.h"

namespace gotrace::internal::view {

absl::Status Answers::AnswerTaskLanes(const ViewRequest& request, JsonWriter* json) const {
  const absl::StatusOr<Window> window = WindowOf(request);
  if (!window.ok()) return window.status();
  const absl::StatusOr<int64_t> offset = request.Number("offset", 0, kMaxViewTime, 0);
  if (!offset.ok()) return offset.status();
  constexpr int64_t kMaxTasks = 200;
  const absl::StatusOr<int64_t> limit = request.Number("limit", 1, kMaxTasks, 20);
  if (!limit.ok()) return limit.status();
  const std::string* const type = request.Find("type");
  std::vector<const TaskSpan*> tasks;
  for (const TaskSpan& task : overview().tasks()) {
    if (BeginOf(task) >= window->to || EndOf(task) <= window->from) continue;
    if (type != nullptr && interner().String(task.type) != *type) continue;
    tasks.push_back(&task);
  }
  absl::c_stable_sort(tasks, [&](const TaskSpan* a, const TaskSpan* b) {
    return EndOf(*a) - BeginOf(*a) > EndOf(*b) - BeginOf(*b);
  });
  json->Member("total", uint64_t{tasks.size()});
  tasks.erase(tasks.begin(),
              tasks.begin() + std::min<ptrdiff_t>(*offset, static_cast<ptrdiff_t>(tasks.size())));
  if (tasks.size() > static_cast<size_t>(*limit)) tasks.resize(static_cast<size_t>(*limit));

  // The regions are those of the generations from where the first of the tasks begins, to where the
  // last one ends, unless that is too much.
  Window all = *window;
  for (const TaskSpan* const task : tasks) {
    all.from = std::min(all.from, BeginOf(*task));
    all.to = std::max(all.to, EndOf(*task));
  }
  if (!CanDecode(all)) all = *window;
  absl::flat_hash_map<TaskId, std::vector<RegionSpan>> regions;
  std::unique_ptr<AnalysisSink> sink;
  if (!tasks.empty() && CanDecode(all)) {
    AnalyzeOptions options;
    options.reader = options_.reader;
    options.reader.keep_going = keep_going_;
    options.window.filter.times = {overview().begin() + all.from, overview().begin() + all.to};
    AnalysisRun run = RunAnalysis(source_->Fork(0), options,
                                  AnalysisOf([](Interner* interner, const EventFilter& filter) {
                                    return std::make_unique<TaskStats>(interner, filter);
                                  }));
    if (!run.status.ok() && !FaultOf(run.status).has_value()) return run.status;
    sink = std::move(run.sink);
    for (const TaskSpan* const task : tasks) regions[task->task];
    for (const RegionSpan& region : static_cast<const TaskStats&>(sink->analysis()).regions()) {
      const auto found = regions.find(region.task);
      if (found != regions.end()) found->second.push_back(region);
    }
  }
  Names names;
  json->Key("tasks");
  json->BeginArray();
  for (const TaskSpan* const task : tasks) {
    json->BeginObject();
    json->Member("task", task->task.value);
    json->Member("type", names.IndexOf(interner().String(task->type)));
    json->Key("parent");
    if (task->parent == TaskId::kNone) {
      json->Null();
    } else {
      json->Value(task->parent.value);
    }
    json->Member("begin", BeginOf(*task));
    json->Member("duration", EndOf(*task) - BeginOf(*task));
    json->Key("begins");
    json->Bool(task->begin.has_value());
    json->Key("ends");
    json->Bool(task->end.has_value());
    AppendId("goroutine", task->begin_goroutine.value, json);
    json->Key("regions");
    json->BeginArray();
    if (sink != nullptr)
      AppendRegions(std::move(regions[task->task]), sink->interner(), &names, json);
    json->EndArray();
    json->EndObject();
  }
  json->EndArray();
  names.Append(json);
  return absl::OkStatus();
}

void Answers::AppendRegions(std::vector<RegionSpan> regions, const Interner& types, Names* names,
                            JsonWriter* json) const {
  constexpr size_t kMaxRegions = 1000;
  if (regions.size() > kMaxRegions) {
    absl::c_stable_sort(regions, [&](const RegionSpan& a, const RegionSpan& b) {
      return EndOf(a) - BeginOf(a) > EndOf(b) - BeginOf(b);
    });
    regions.erase(regions.begin() + kMaxRegions, regions.end());
  }
  absl::c_stable_sort(regions, [&](const RegionSpan& a, const RegionSpan& b) {
    return std::pair(BeginOf(a), -EndOf(a)) < std::pair(BeginOf(b), -EndOf(b));
  });
  // The ends of the regions that are open, by goroutine: those around the next one.
  absl::flat_hash_map<GoId, std::vector<int64_t>> open;
  for (const RegionSpan& region : regions) {
    std::vector<int64_t>& around = open[region.goroutine];
    while (!around.empty() && around.back() <= BeginOf(region)) around.pop_back();
    json->BeginArray();
    json->Value(BeginOf(region));
    json->Value(EndOf(region) - BeginOf(region));
    json->Value(names->IndexOf(types.String(region.type)));
    json->Value(region.goroutine.value);
    json->Value(uint64_t{around.size()});
    json->EndArray();
    around.push_back(EndOf(region));
  }
}

}  // namespace gotrace::internal::view
