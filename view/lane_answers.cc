// Lanes, groups of goroutines, and the goroutines in these.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "view/answers.h"

namespace gotrace::internal::view {
namespace {

// The most lanes of a request.
constexpr size_t kMaxLanes = 256;

}  // namespace

absl::StatusOr<std::vector<Lane>> Answers::LanesOf(const ViewRequest& request,
                                                   const ColumnRange& range) const {
  const std::string* const ids = request.Find("ids");
  if (ids == nullptr) return absl::InvalidArgumentError("ids is missing");
  std::vector<Lane> lanes;
  absl::flat_hash_map<LaneId, bool> known;
  const auto add = [&](const LaneId& id) {
    if (!known.try_emplace(id, true).second) return;
    const auto spans =
        id.kind == LaneKind::kGroup ? LaneColumns::Spans::kNone : LaneColumns::Spans::kKept;
    lanes.push_back({id, LaneColumns(range, spans)});
  };
  for (const absl::string_view text : absl::StrSplit(*ids, ',', absl::SkipEmpty())) {
    if (text == "p:*") {
      for (const auto& [proc, lane] : overview().procs()) add({LaneKind::kProc, proc.value});
    } else if (text == "m:*") {
      for (const ThreadId thread : overview().threads()) add({LaneKind::kThread, thread.value});
    } else {
      const std::optional<LaneId> id = ReadLaneId(text);
      if (!id.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(text, " is not the id of a lane"));
      }
      if (id->kind == LaneKind::kGroup &&
          static_cast<uint64_t>(id->number) >= overview().groups().size()) {
        return absl::NotFoundError(absl::StrCat("there is no ", text));
      }
      add(*id);
    }
    if (lanes.size() > kMaxLanes) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxLanes, " lanes"));
    }
  }
  return lanes;
}

bool Answers::AddKnown(Lane* lane) const {
  if (lane->id.kind == LaneKind::kProc) {
    const auto found = overview().procs().find(ProcId{lane->id.number});
    if (found != overview().procs().end()) lane->columns.Add(found->second.lane());
    return true;
  }
  if (lane->id.kind == LaneKind::kGroup) {
    lane->columns.Add(overview().groups()[static_cast<size_t>(lane->id.number)].lane.lane());
    return true;
  }
  return false;
}

absl::Status Answers::AnswerLanes(const ViewRequest& request, JsonWriter* json) const {
  const absl::StatusOr<Window> window = WindowOf(request);
  if (!window.ok()) return window.status();
  const absl::StatusOr<int64_t> step = StepOf(request, *window);
  if (!step.ok()) return step.status();
  ColumnRange range = ColumnsOf(*window, *step);
  // Of the whole columns.
  const auto whole = [](const ColumnRange& range) { return Window{range.begin, range.end()}; };
  const bool can_decode = CanDecode(whole(range));
  if (!can_decode && range.step < overview().step()) range = ColumnsOf(*window, overview().step());
  absl::StatusOr<std::vector<Lane>> lanes = LanesOf(request, range);
  if (!lanes.ok()) return lanes.status();
  std::vector<Lane*> decoded;
  for (Lane& lane : *lanes) {
    if (range.step >= overview().step() && AddKnown(&lane)) continue;
    lane.is_skipped = !can_decode;
    if (can_decode) decoded.push_back(&lane);
  }
  PieceSorter sorter(overview(), decoded);
  if (!decoded.empty()) {
    const absl::Status status = Decode(whole(range), &sorter);
    if (!status.ok()) return status;
  }
  Names names;
  AppendRange(range, json);
  json->Key("lanes");
  json->BeginArray();
  for (Lane& lane : *lanes) {
    if (!lane.is_skipped) AppendLane(&lane, sorter.reasons(), &names, json);
  }
  json->EndArray();
  names.Append(json);
  json->Key("skipped");
  json->BeginArray();
  for (const Lane& lane : *lanes) {
    if (lane.is_skipped) json->Value(absl::string_view(TextOf(lane.id)));
  }
  json->EndArray();
  return absl::OkStatus();
}

void Answers::AppendLane(Lane* lane, const std::vector<std::string>& reasons, Names* names,
                         JsonWriter* json) const {
  LaneColumns& columns = lane->columns;
  const ColumnRange& range = columns.range();
  const bool is_group = lane->id.kind == LaneKind::kGroup;
  int64_t full = range.step;
  if (is_group) {
    std::vector<const ColumnValues*> all;
    for (size_t i = 0; i < kLaneStates; ++i) {
      const auto state = static_cast<LaneState>(i);
      if (IsActive(state)) all.push_back(&columns.columns(state));
    }
    full = std::max<int64_t>(LargestColumn(range.count, all), 1);
  }
  std::string name;
  switch (lane->id.kind) {
    case LaneKind::kProc:
      name = absl::StrCat("P ", lane->id.number);
      break;
    case LaneKind::kThread:
      name = absl::StrCat("M ", lane->id.number);
      break;
    case LaneKind::kGoroutine:
      name = std::string(NameOfGoroutine(GoId{lane->id.number}, range.begin));
      break;
    case LaneKind::kGroup:
      name = std::string(NameOfGroup(static_cast<size_t>(lane->id.number)));
      break;
  }
  json->BeginObject();
  json->Member("id", absl::string_view(TextOf(lane->id)));
  json->Member("name", absl::string_view(name));
  AppendTotals(columns.totals(), json);
  json->Member("full", full);
  AppendStates(columns, full, is_group, json);
  if (!is_group) {
    if (!columns.longest().empty()) {
      std::string lengths(range.count, '\0');
      std::string states(range.count, '\0');
      for (size_t i = 0; i < columns.longest().size(); ++i) {
        const LaneColumns::Longest& longest = columns.longest()[i];
        if (longest.length == 0) continue;
        lengths[i] = ByteOf(std::min(longest.length, range.step), range.step);
        states[i] = static_cast<char>(longest.state);
      }
      AppendBytes("longest", lengths, json);
      AppendBytes("longest_states", states, json);
    }
    json->Key("spans");
    json->BeginArray();
    for (const LaneSpan& span : columns.SortedSpans()) {
      absl::string_view text;
      if (lane->id.kind == LaneKind::kGoroutine) {
        if (span.state == LaneState::kBlocked || span.state == LaneState::kNetwork) {
          text = reasons[span.name];
        }
      } else {
        text = NameOfGoroutine(GoId{span.subject}, span.begin);
      }
      json->BeginArray();
      json->Value(span.begin);
      json->Value(span.end - span.begin);
      json->Value(static_cast<uint64_t>(span.state));
      json->Value(span.subject);
      json->Value(names->IndexOf(text));
      json->Value(uint64_t{(span.cut_begin ? 1u : 0u) + (span.cut_end ? 2u : 0u)});
      json->EndArray();
    }
    json->EndArray();
  }
  json->EndObject();
}

absl::Status Answers::AnswerGroups(const ViewRequest& request, JsonWriter* json) const {
  const absl::StatusOr<int64_t> offset = request.Number("offset", 0, kMaxViewTime, 0);
  if (!offset.ok()) return offset.status();
  const absl::StatusOr<int64_t> limit = request.Number("limit", 1, kMaxRows, kRows);
  if (!limit.ok()) return limit.status();
  const std::string* const text = request.Find("text");
  std::vector<size_t> found;
  for (size_t i = 0; i < overview().groups().size(); ++i) {
    if (text == nullptr || ContainsIgnoringCase(NameOfGroup(i), *text)) found.push_back(i);
  }
  json->Member("total", uint64_t{found.size()});
  json->Key("groups");
  json->BeginArray();
  const size_t end = std::min(found.size(), static_cast<size_t>(*offset + *limit));
  for (size_t i = static_cast<size_t>(*offset); i < end; ++i) AppendGroup(found[i], json);
  json->EndArray();
  return absl::OkStatus();
}

void Answers::AppendGroup(size_t index, JsonWriter* json) const {
  const Overview::Group& group = overview().groups()[index];
  json->BeginObject();
  json->Member("id", absl::string_view(absl::StrCat("group:", index)));
  json->Member("name", NameOfGroup(index));
  json->Member("goroutines", group.goroutines);
  AppendTotals(group.lane.lane().totals(), json);
  json->EndObject();
}

absl::Status Answers::AnswerMembers(const ViewRequest& request, JsonWriter* json) const {
  const absl::StatusOr<Window> window = WindowOf(request);
  if (!window.ok()) return window.status();
  const absl::StatusOr<int64_t> group = request.Number("group", 0, kMaxViewTime, -1);
  if (!group.ok()) return group.status();
  const absl::StatusOr<int64_t> offset = request.Number("offset", 0, kMaxViewTime, 0);
  if (!offset.ok()) return offset.status();
  const absl::StatusOr<int64_t> limit = request.Number("limit", 1, kMaxRows, kRows);
  if (!limit.ok()) return limit.status();
  if (*group < 0) return absl::InvalidArgumentError("group is missing");
  if (static_cast<uint64_t>(*group) >= overview().groups().size()) {
    return absl::NotFoundError("there is no such group");
  }
  std::vector<const Overview::Goroutine*> found;
  for (const Overview::Goroutine& goroutine : overview().goroutines()) {
    if (goroutine.group == static_cast<size_t>(*group) && goroutine.begin < window->to &&
        goroutine.end > window->from) {
      found.push_back(&goroutine);
    }
  }
  // Goroutines are in the order of their ids already.
  absl::c_stable_sort(found, [](const Overview::Goroutine* a, const Overview::Goroutine* b) {
    return a->begin < b->begin;
  });
  json->Member("total", uint64_t{found.size()});
  json->Key("members");
  json->BeginArray();
  const size_t end = std::min(found.size(), static_cast<size_t>(*offset + *limit));
  for (size_t i = static_cast<size_t>(*offset); i < end; ++i) {
    const Overview::Goroutine& goroutine = *found[i];
    json->BeginObject();
    json->Member("id", absl::string_view(absl::StrCat("g:", goroutine.id.value)));
    json->Member("begin", goroutine.begin);
    json->Member("end", goroutine.end);
    json->Key("begins");
    json->Bool(goroutine.begins);
    json->Key("ends");
    json->Bool(goroutine.ends);
    json->EndObject();
  }
  json->EndArray();
  return absl::OkStatus();
}

}  // namespace gotrace::internal::view
