// Searches for a text in names and messages.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "view/answers.h"

namespace gotrace::internal::view {

void Answers::AppendFunctions(absl::string_view text, size_t most, JsonWriter* json) const {
  std::vector<bool> is_known(interner().string_count());
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < interner().frame_count(); ++i) {
    const StringId function = interner().FrameWithIds(static_cast<FrameId>(i)).func;
    if (is_known[static_cast<size_t>(function)]) continue;
    is_known[static_cast<size_t>(function)] = true;
    const absl::string_view name = interner().String(function);
    if (!name.empty() && ContainsIgnoringCase(name, text)) names.push_back(name);
  }
  const size_t count = std::min(most, names.size());
  std::partial_sort(names.begin(), names.begin() + static_cast<ptrdiff_t>(count), names.end(),
                    [](absl::string_view a, absl::string_view b) {
                      return std::pair(a.size(), a) < std::pair(b.size(), b);
                    });
  json->Key("functions");
  json->BeginArray();
  for (size_t i = 0; i < count; ++i) json->Value(names[i]);
  json->EndArray();
}

absl::Status Answers::AnswerSearch(const ViewRequest& request, JsonWriter* json) const {
  const std::string* const text = request.Find("text");
  if (text == nullptr || text->empty()) return absl::InvalidArgumentError("text is missing");
  constexpr int64_t kMaxFound = 100;
  const absl::StatusOr<int64_t> limit = request.Number("limit", 1, kMaxFound, 20);
  if (!limit.ok()) return limit.status();
  const auto most = static_cast<size_t>(*limit);

  json->Key("groups");
  json->BeginArray();
  size_t count = 0;
  for (size_t i = 0; i < overview().groups().size() && count < most; ++i) {
    if (!ContainsIgnoringCase(NameOfGroup(i), *text)) continue;
    AppendGroup(i, json);
    ++count;
  }
  json->EndArray();

  const std::optional<LaneId> lane = ReadLaneId(*text);
  AppendFunctions(*text, most, json);

  json->Key("goroutines");
  json->BeginArray();
  if (lane.has_value()) {
    std::optional<int64_t> at;
    absl::string_view name;
    if (lane->kind == LaneKind::kGoroutine) {
      const Overview::Goroutine* const found = overview().Find(GoId{lane->number}, 0);
      if (found != nullptr) {
        at = found->begin;
        name = NameOfGroup(found->group);
      }
    } else if (lane->kind == LaneKind::kProc) {
      if (overview().procs().contains(ProcId{lane->number})) at = 0;
    } else if (lane->kind == LaneKind::kThread) {
      if (overview().threads().contains(ThreadId{lane->number})) at = 0;
    }
    if (at.has_value()) {
      json->BeginObject();
      json->Member("id", absl::string_view(TextOf(*lane)));
      json->Member("name", name);
      json->Member("at", *at);
      json->EndObject();
    }
  }
  json->EndArray();

  uint64_t number = 0;
  const bool is_id = absl::StartsWith(*text, "task:") &&
                     absl::SimpleAtoi(absl::string_view(*text).substr(5), &number);
  std::vector<const TaskSpan*> tasks;
  for (const TaskSpan& task : overview().tasks()) {
    if (is_id ? task.task.value == number
              : ContainsIgnoringCase(interner().String(task.type), *text)) {
      tasks.push_back(&task);
    }
  }
  absl::c_stable_sort(tasks, [&](const TaskSpan* a, const TaskSpan* b) {
    return EndOf(*a) - BeginOf(*a) > EndOf(*b) - BeginOf(*b);
  });
  if (tasks.size() > most) tasks.resize(most);
  json->Key("tasks");
  json->BeginArray();
  for (const TaskSpan* const task : tasks) {
    json->BeginObject();
    json->Member("task", task->task.value);
    json->Member("type", interner().String(task->type));
    json->Member("at", BeginOf(*task));
    json->Member("duration", EndOf(*task) - BeginOf(*task));
    json->EndObject();
  }
  json->EndArray();

  json->Key("regions");
  json->BeginArray();
  count = 0;
  for (const Overview::RegionType& regions : overview().regions()) {
    const absl::string_view type = interner().String(regions.type);
    if (!ContainsIgnoringCase(type, *text) || ++count > most) continue;
    json->BeginObject();
    json->Member("type", type);
    json->Member("count", regions.count);
    json->Member("lane", absl::string_view(absl::StrCat("g:", regions.goroutine.value)));
    json->Member("at", regions.begin);
    json->EndObject();
  }
  json->EndArray();

  json->Key("logs");
  json->BeginArray();
  count = 0;
  for (const Overview::LogMessage& log : overview().logs()) {
    const std::string message =
        absl::StrCat(interner().String(log.category), ": ", interner().String(log.message));
    if (!ContainsIgnoringCase(message, *text) || ++count > most) continue;
    json->BeginObject();
    json->Member("lane", absl::string_view(absl::StrCat("g:", log.goroutine.value)));
    json->Member("at", log.time);
    json->Key("task");
    if (log.task == kBackgroundTask) {
      json->Null();
    } else {
      json->Value(log.task.value);
    }
    json->Member("text", absl::string_view(message));
    json->EndObject();
  }
  json->EndArray();
  return absl::OkStatus();
}

}  // namespace gotrace::internal::view
