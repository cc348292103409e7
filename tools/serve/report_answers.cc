// The texts of requests have to be those that the page makes, which web/README.md lists.
#include "tools/serve/report_answers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "export/json/json_text.h"
#include "export/pprof/gzip.h"
#include "gotrace/profile.h"
#include "nlohmann/json.hpp"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

using Json = nlohmann::json;

// The columns of a tile of the timeline, and the groups or goroutines in one request.
constexpr int64_t kTileColumns = 1024;
constexpr int64_t kLanesOfUnit = 16;

// The page shows no more groups, and no more lanes in one request.
constexpr int64_t kMaxGroups = 100;
constexpr size_t kMaxLanes = 256;

// How many places, long waits among them, spans of Ps, marks of the collector, and types of tasks
// and of regions have their details in a report.
constexpr size_t kPlaces = 8;
constexpr size_t kWaits = 5;
constexpr size_t kSpans = 12;
constexpr size_t kMarks = 50;
constexpr size_t kTypes = 8;

// How many goroutines of these places have their critical paths, which may be long.
constexpr size_t kPaths = 4;

// The number of groups that can be opened in a report; of each, the first goroutines have lanes.
constexpr int64_t kOpenGroups = 8;

// The number of tiles of the whole trace that are there before anything else of the timeline.
constexpr int64_t kFirstTiles = 4;

int64_t NumberOf(const Json& object, const char* key, int64_t otherwise = 0) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<int64_t>() : otherwise;
}

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const Json& MemberOf(const Json& object, const char* key) {
  static const Json* const nothing = new Json(Json::array());
  const auto found = object.find(key);
  return found != object.end() ? *found : *nothing;
}

// Encodes the value of a parameter as the page does, so that no request has a "<".
std::string Encoded(absl::string_view value) {
  std::string text;
  for (const char c : value) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
        absl::StrContains("-_.!~*'():,", absl::string_view(&c, 1))) {
      text.push_back(c);
    } else {
      absl::StrAppendFormat(&text, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return text;
}

class Collector {
 public:
  Collector(const std::function<ViewAnswer(absl::string_view request)>& ask,
            const ReportOptions& options)
      : ask_(ask), options_(options), json_(&out_) {
    json_.BeginObject();
    if (!options.is_whole) window_ = absl::StrCat("from=", options.from, "&to=", options.to);
  }

  void AddTables();
  void AddWholeTimeline();
  void AddTasks();
  void AddPlaces();
  void AddTimeline();

  std::string Finish() {
    json_.EndObject();
    return std::string(out_.view());
  }

 private:
  struct Place {
    int64_t goroutine = -1;
    int64_t begin = 0;
    int64_t end = 0;
  };

  // Adds the answer to a request, unless there is none, or it is too large. Returns the answer.
  Json Add(const std::string& request);

  // The same for a request in the window.
  Json AddInWindow(absl::string_view path, absl::string_view more = "");

  // Adds to the lanes the unit of the goroutines that began the longest tasks.
  void AddTaskUnit(const Json& longest);

  // Adds everything that the page shows of a span, and returns the answer that has it.
  Json AddSpan(const std::string& lane, int64_t at);
  void AddPlace(const Place& place);

  // Adds a tile of the timeline: lanes, the strip and the marks. Returns the lanes of which finer
  // tiles have more: spans that are too short for this one.
  std::vector<std::string> AddTile(int64_t begin, int64_t step,
                                   absl::Span<const std::string> lanes);

  // Adds the answer to a request for lanes. Returns whether some lane has columns, whose spans are
  // too short for it.
  bool HasColumns(const std::string& request);

  const std::function<ViewAnswer(absl::string_view request)>& ask_;
  const ReportOptions& options_;
  TextBuffer out_;
  JsonWriter json_;
  bool is_full_ = false;  // Whether something was too large.
  std::set<std::string> known_;
  std::map<std::string, bool> has_columns_;  // Of requests for lanes.

  std::string window_;  // As parameters; "" for the whole trace.
  Json trace_;
  int64_t duration_ = 0;
  Json summary_;
  Json waits_;
  Json longest_;                    // The longest tasks of the window.
  std::vector<std::string> lanes_;  // In the units that the page asks for.
  int64_t step_ = 1;                // Of the tile that is the whole trace.
  size_t paths_ = 0;                // Of goroutines that were added.
};

Json Collector::Add(const std::string& request) {
  const ViewAnswer answer = ask_(request);
  if (answer.status != 200) return Json();
  if (known_.insert(request).second) {
    const std::string packed = absl::Base64Escape(CompressWithGzip(answer.body));
    constexpr size_t kSyntax = 6;  // Quotes, a colon and a comma; and the braces.
    if (out_.size() + request.size() + packed.size() + kSyntax > options_.max_size) {
      is_full_ = true;
    } else {
      json_.Key(request);
      json_.Value(absl::string_view(packed));
    }
  }
  return Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
}

Json Collector::AddInWindow(absl::string_view path, absl::string_view more) {
  std::vector<absl::string_view> parameters;
  for (const absl::string_view part : {absl::string_view(window_), more}) {
    if (!part.empty()) parameters.push_back(part);
  }
  return Add(absl::StrCat(path, parameters.empty() ? "" : "?", absl::StrJoin(parameters, "&")));
}

// What the page asks for at its start, and every table and profile of the window.
void Collector::AddTables() {
  trace_ = Add("trace");
  duration_ = NumberOf(trace_, "duration");
  while (step_ * kTileColumns < duration_) step_ *= 2;
  for (const char* const request : {"strip", "marks", "groups?limit=100"}) {
    Add(request);
  }
  summary_ = AddInWindow("summary");
  for (const char* const path : {"goroutines", "tasks", "regions"}) {
    AddInWindow(path);
    AddInWindow(path, "each");
  }
  AddInWindow("tasks", "each&sort=duration&top=1");
  AddInWindow("locks");
  for (const char* const more : {"", "by=func", "by=stack"}) AddInWindow("latency", more);
  waits_ = AddInWindow("latency", "worst=100");
  for (const char* const more : {"", "pauses", "mmu"}) AddInWindow("gc", more);
  for (const char* const more : {"", "slices=200", "ready", "long-runs"}) {
    AddInWindow("procs", more);
  }
  for (const char* const more : {"", "by=func", "by=time", "by=age", "by=span"}) {
    AddInWindow("heap", more);
  }
  for (const char* const more : {"", "longer=10ms"}) AddInWindow("leaks", more);
  for (const ProfileTypeInfo& info : ProfileTypes()) {
    AddInWindow("flame", absl::StrCat("type=", info.name));
    AddInWindow("flame", absl::StrCat("type=", info.name, "&inverted"));
  }
  Add(absl::StrCat("events?from=", options_.from, "&limit=300"));
}

// The longest tasks, and what the critical paths of each type add up to.
void Collector::AddTasks() {
  const std::pair<const char*, const char*> kKinds[] = {{"tasks", "type"}, {"regions", "region"}};
  for (const auto& [path, parameter] : kKinds) {
    const Json types = Add(path);
    size_t count = 0;
    for (const Json& row : MemberOf(types, path)) {
      if (is_full_ || ++count > kTypes) break;
      const std::string type = Encoded(TextOf(row, "type"));
      if (type.empty()) continue;
      AddInWindow(path, absl::StrCat("each&type=", type));
      Add(absl::StrCat("path?", parameter, "=", type));
    }
  }
  for (const Json& task : MemberOf(longest_, "tasks")) {
    if (is_full_) return;
    const int64_t id = NumberOf(task, "task");
    Add(absl::StrCat("search?text=task:", id));
    Add(absl::StrCat("path?task=", id));
    // What its own goroutine waited for.
    const int64_t begin = NumberOf(task, "begin");
    const int64_t goroutine = NumberOf(task, "goroutine", -1);
    if (goroutine >= 0) {
      Add(absl::StrCat("latency?from=", begin, "&to=", begin + NumberOf(task, "duration"),
                       "&g=", goroutine, "&worst=4"));
    }
    const Json& names = MemberOf(longest_, "names");
    const auto type = static_cast<size_t>(NumberOf(task, "type"));
    if (type < names.size() && names[type].is_string()) {
      // A type without a name cannot be asked for.
      const std::string name = Encoded(names[type].get<std::string>());
      Add(absl::StrCat("tasks?each", name.empty() ? "" : "&type=", name, "&sort=duration&top=500"));
    }
  }
}

std::vector<std::string> Collector::AddTile(int64_t begin, int64_t step,
                                            absl::Span<const std::string> lanes) {
  const std::string part =
      absl::StrCat("from=", begin, "&to=", begin + step * kTileColumns, "&step=", step);
  Add(absl::StrCat("strip?", part));
  Add(absl::StrCat("marks?", part));
  std::vector<std::string> finer;
  bool has_spans = false;
  for (const std::string& ids : lanes) {
    if (!HasColumns(absl::StrCat("lanes?ids=", ids, "&", part))) continue;
    finer.push_back(ids);
    has_spans = has_spans || !absl::StartsWith(ids, "group:");
  }
  // Groups have no spans, so they would never end.
  if (!has_spans) finer.clear();
  return finer;
}

bool Collector::HasColumns(const std::string& request) {
  const auto [known, is_new] = has_columns_.try_emplace(request, false);
  if (!is_new) return known->second;
  const Json answer = Add(request);
  known->second = absl::c_any_of(MemberOf(answer, "lanes"), [](const Json& lane) {
    return !MemberOf(lane, "columns").empty();
  });
  return known->second;
}

void Collector::AddTaskUnit(const Json& longest) {
  std::set<int64_t> goroutines;
  for (const Json& task : MemberOf(longest, "tasks")) {
    const int64_t id = NumberOf(task, "goroutine", -1);
    if (id >= 0) goroutines.insert(id);
  }
  if (goroutines.empty()) return;
  const std::string unit = absl::StrCat("g:", absl::StrJoin(goroutines, ",g:"));
  if (!absl::c_linear_search(lanes_, unit)) lanes_.push_back(unit);
}

// The first levels of the timeline.
void Collector::AddWholeTimeline() {
  const auto add_units = [&](char kind, const char* member) {
    const Json& ids = MemberOf(trace_, member);
    if (ids.empty()) return;
    if (ids.size() <= kMaxLanes) return lanes_.push_back({kind, ':', '*'});
    for (size_t first = 0; first < ids.size(); first += kLanesOfUnit) {
      std::vector<std::string> unit;
      for (size_t i = first; i < std::min(ids.size(), first + kLanesOfUnit); ++i) {
        unit.push_back(absl::StrCat(std::string(1, kind), ":", ids[i].get<int64_t>()));
      }
      lanes_.push_back(absl::StrJoin(unit, ","));
    }
  };
  add_units('p', "procs");
  const int64_t groups = std::min(NumberOf(trace_, "groups"), kMaxGroups);
  for (int64_t first = 0; first < groups; first += kLanesOfUnit) {
    std::vector<std::string> unit;
    for (int64_t i = first; i < std::min(groups, first + kLanesOfUnit); ++i) {
      unit.push_back(absl::StrCat("group:", i));
    }
    lanes_.push_back(absl::StrJoin(unit, ","));
  }
  add_units('m', "threads");
  // The goroutines of the first groups, which open.
  for (int64_t group = 0; group < std::min(groups, kOpenGroups); ++group) {
    const Json answer =
        Add(absl::StrCat("members?group=", group, "&from=0&to=", duration_, "&offset=0&limit=100"));
    std::vector<std::string> unit;
    for (const Json& member : MemberOf(answer, "members")) {
      unit.push_back(TextOf(member, "id"));
      if (unit.size() == kLanesOfUnit) break;
    }
    if (!unit.empty()) lanes_.push_back(absl::StrJoin(unit, ","));
  }
  longest_ = AddInWindow("tasklanes", "limit=6");
  AddTaskUnit(window_.empty() ? longest_ : Add("tasklanes?limit=6"));
  AddTaskUnit(longest_);
  for (int64_t step = step_; step > 0 && !is_full_; step /= 2) {
    const int64_t length = step * kTileColumns;
    if (duration_ / length >= kFirstTiles) break;
    for (int64_t begin = 0; begin < duration_; begin += length) AddTile(begin, step, lanes_);
  }
}

Json Collector::AddSpan(const std::string& lane, int64_t at) {
  Json span = Add(absl::StrCat("span?lane=", lane, "&at=", at));
  const int64_t goroutine = NumberOf(span, "goroutine", -1);
  if (goroutine >= 0) {
    constexpr int64_t kAround = 1'000'000;
    Add(absl::StrCat("arrows?lane=g:", goroutine,
                     "&from=", std::max<int64_t>(0, NumberOf(span, "begin") - kAround),
                     "&to=", NumberOf(span, "end") + kAround, "&limit=300"));
  }
  return span;
}

void Collector::AddPlace(const Place& place) {
  const std::string lane = absl::StrCat("g:", place.goroutine);
  const Json span = AddSpan(lane, place.begin);
  // Where one goes from there: to the spans before and after it, to who began and who ended it, and
  // whom it woke.
  for (const char* const key : {"previous", "next", "begun_by", "ended_by"}) {
    const Json& other = MemberOf(span, key);
    const std::string id = TextOf(other, "lane");
    if (!id.empty()) AddSpan(id, NumberOf(other, "at"));
  }
  Add(absl::StrCat("events?from=", place.begin, "&limit=300"));
  Add(absl::StrCat("events?from=", place.begin, "&g=", place.goroutine, "&limit=300"));
  if (paths_++ < kPaths) Add(absl::StrCat("path?g=", place.goroutine));

  // The page shows the place with as much as its length before and after it, in columns of about
  // half a pixel.
  std::vector<std::string> lanes = {lane};
  AddTile(0, step_, lanes);
  if (!lanes_.empty()) lanes.push_back(lanes_[0]);
  const int64_t length = std::max<int64_t>(place.end - place.begin, 100);
  int64_t step = step_;
  while (step > 1 && step * kTileColumns > length) step /= 2;
  for (int level = 0; level < 3 && step > 0 && !is_full_; ++level, step /= 2) {
    const int64_t tile = step * kTileColumns;
    const int64_t first = std::max<int64_t>(0, place.begin - length);
    for (int64_t begin = first / tile * tile; begin < std::min(duration_, place.end + length);
         begin += tile) {
      AddTile(begin, step, lanes);
    }
  }
}

// The places that the summary names, the longest waits, and what Ps did for the longest time.
void Collector::AddPlaces() {
  const int64_t begin = NumberOf(trace_, "begin_ns");
  std::vector<Place> places;
  std::set<std::pair<int64_t, int64_t>> known;
  const auto add = [&](const Json& row) {
    const int64_t goroutine = NumberOf(row, "g", -1);
    const int64_t from = std::max<int64_t>(0, NumberOf(row, "begin_ns") - begin);
    if (goroutine < 0 || !row.contains("begin_ns") || places.size() >= kPlaces) return;
    if (!known.insert({goroutine, from}).second) return;
    places.push_back({goroutine, from, from + NumberOf(row, "length_ns")});
  };
  add(MemberOf(summary_, "longest_run"));
  const Json& waits = MemberOf(waits_, "waits");
  for (size_t i = 0; i < std::min(waits.size(), kWaits); ++i) add(waits[i]);
  for (const Json& latency : MemberOf(summary_, "latencies")) add(MemberOf(latency, "longest"));
  for (const Place& place : places) {
    if (is_full_) return;
    AddPlace(place);
  }

  const Json tile =
      Json::parse(ask_(absl::StrCat("lanes?ids=p:*", window_.empty() ? "" : "&", window_)).body,
                  nullptr, /*allow_exceptions=*/false);
  struct Span {
    int64_t length = 0;
    std::string lane;
    int64_t begin = 0;
  };
  std::vector<Span> spans;
  for (const Json& lane : MemberOf(tile, "lanes")) {
    for (const Json& span : MemberOf(lane, "spans")) {
      // Begin, duration, state, subject, name, cut.
      if (span.size() == 6 && span[5].get<int64_t>() % 2 == 0) {
        spans.push_back({span[1].get<int64_t>(), TextOf(lane, "id"), span[0].get<int64_t>()});
      }
    }
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.length > b.length; });
  for (size_t i = 0; i < std::min(spans.size(), kSpans) && !is_full_; ++i) {
    AddSpan(spans[i].lane, spans[i].begin);
  }
  const Json marks = AddInWindow("marks");
  for (const char* const kind : {"stops", "cycles"}) {
    const Json& rows = MemberOf(marks, kind);
    for (size_t i = 0; i < std::min(rows.size(), kMarks) && !is_full_; ++i) {
      Add(absl::StrCat("span?lane=", kind, "&at=", rows[i][0].get<int64_t>()));
    }
  }
}

// The window, in as much detail as there is, or as there is room for.
void Collector::AddTimeline() {
  struct Tile {
    int64_t begin = 0;
    std::vector<std::string> lanes;
  };
  int64_t length = step_ * kTileColumns;
  std::vector<Tile> tiles = {{0, lanes_}};
  for (int64_t step = step_; step > 0; step /= 2, length /= 2) {
    std::vector<Tile> next;
    for (const auto& [begin, lanes] : tiles) {
      if (begin >= options_.to || begin + length <= options_.from) continue;
      const std::vector<std::string> finer = AddTile(begin, step, lanes);
      if (is_full_) return;
      if (finer.empty()) continue;
      next.push_back({begin, finer});
      next.push_back({begin + length / 2, finer});
    }
    tiles = std::move(next);
  }
}

}  // namespace

std::string ReportAnswers(const std::function<ViewAnswer(absl::string_view request)>& ask,
                          const ReportOptions& options) {
  Collector collector(ask, options);
  collector.AddTables();
  collector.AddWholeTimeline();
  collector.AddTasks();
  collector.AddPlaces();
  collector.AddTimeline();
  return collector.Finish();
}

}  // namespace gotrace::internal
