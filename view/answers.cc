#include "view/answers.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "util/text_buffer.h"

namespace gotrace::internal::view {
namespace {

// The most columns of an answer, and the number of those of an answer whose request does not say
// how wide they are.
constexpr int64_t kMaxColumns = 8192;
constexpr int64_t kUsualColumns = 1024;

// Up to how many bytes of a trace are decoded for an answer if they are more than two generations.
constexpr uint64_t kMaxDecodedBytes = uint64_t{32} << 20;

int StatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kCancelled:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

ColumnRange ColumnsOf(const Window& window, int64_t step) {
  ColumnRange range;
  for (range.step = step;; range.step *= 2) {
    range.begin = window.from / range.step * range.step;
    const int64_t count = (window.to - range.begin + range.step - 1) / range.step;
    if (count > kMaxColumns) continue;
    range.count = static_cast<size_t>(count);
    return range;
  }
}

bool ContainsIgnoringCase(absl::string_view text, absl::string_view piece) {
  return absl::StrContains(absl::AsciiStrToLower(text), absl::AsciiStrToLower(piece));
}

absl::Span<const Answers::Row> Answers::Rows() {
  using I = Answers;
  static constexpr Row kRequests[] = {
      {"trace", "", &I::AnswerTrace, true},
      {"strip", "from to step", &I::AnswerStrip, true},
      {"lanes", "ids from to step", &I::AnswerLanes, true},
      {"groups", "offset limit text", &I::AnswerGroups, true},
      {"members", "group from to offset limit", &I::AnswerMembers},
      {"span", "lane at", &I::AnswerSpan},
      {"arrows", "lane from to limit", &I::AnswerArrows},
      {"marks", "from to step", &I::AnswerMarks, true},
      {"tasklanes", "from to type offset limit", &I::AnswerTaskLanes},
      {"search", "text limit", &I::AnswerSearch},
      {"time", "text", nullptr},
      {"goroutines", "from to each g stack sort top at", nullptr},
      {"tasks", "from to each type min max log id g sort top", nullptr},
      {"regions", "from to each type min max g sort top", nullptr},
      {"locks", "from to kind func g stack sort top", nullptr},
      {"latency", "from to kind reason by worst func g stack sort top", nullptr},
      {"gc", "from to pauses mmu flags windows sort top", nullptr},
      {"procs", "from to slices ready long-runs p sort top", nullptr},
      {"heap", "from to by sort top", nullptr},
      {"leaks", "from to longer g stack sort top", nullptr},
      {"path", "from to task g type region func worst by min max sort top", nullptr},
      {"profile",
       "from to type func by-g by-p task region by-task by-region by-label g p m sort top",
       nullptr},
      {"summary", "from to", nullptr},
      {"info", "", nullptr},
      {"flame",
       "from to type func by-g by-p task region by-task by-region by-label g p m inverted limit",
       nullptr},
      {"events", "from to kind g p m format limit", nullptr},
      {"sql", "query limit", nullptr},
      {"save", "from to format type func task region g p m", nullptr},
  };
  return kRequests;
}

ViewAnswer Answers::Answer(absl::string_view text) const {
  const ViewRequest request(text);
  const absl::Span<const Row> rows = Rows();
  const auto row =
      absl::c_find_if(rows, [&](const Row& row) { return row.path == request.path(); });
  if (row == rows.end()) return ErrorAnswer(404, "no such request");
  const std::vector<absl::string_view> names =
      absl::StrSplit(row->parameters, ' ', absl::SkipEmpty());
  absl::Status status = request.CheckNames(names);
  if (status.ok() && !known_.is_complete() && !row->is_early) {
    status = absl::UnavailableError("the trace is still being read");
  }
  TextBuffer out;
  if (status.ok()) {
    if (row->handler == nullptr) return AnswerMore(request);
    JsonWriter json(&out);
    json.BeginObject();
    status = (this->*row->handler)(request, &json);
    json.EndObject();
  }
  if (!status.ok()) return ErrorAnswer(StatusOf(status), status.message());
  return {200, "application/json", std::string(out.view())};
}

ViewAnswer Answers::AnswerMore(const ViewRequest& request) const {
  if (options_.answer_more == nullptr) return ErrorAnswer(404, "not available here");
  std::vector<ViewParameter> parameters;
  for (const auto& [name, value] : request.parameters()) {
    ViewParameter parameter = {name, value};
    if (name == "from" || name == "to" || name == "at") {
      const absl::StatusOr<int64_t> time = request.Number(name, 0, kMaxViewTime, 0);
      if (!time.ok()) return ErrorAnswer(400, time.status().message());
      parameter.second = absl::StrCat("@", overview().begin() + *time);
    }
    parameters.push_back(std::move(parameter));
  }
  return options_.answer_more(request.path(), parameters, keep_going_);
}

absl::StatusOr<Window> Answers::WindowOf(const ViewRequest& request) const {
  const int64_t end = overview().duration();
  const absl::StatusOr<int64_t> from = request.Number("from", 0, kMaxViewTime, 0);
  if (!from.ok()) return from.status();
  const absl::StatusOr<int64_t> to = request.Number("to", 0, kMaxViewTime, std::max(*from, end));
  if (!to.ok()) return to.status();
  if (*from > *to) return absl::InvalidArgumentError("from is later than to");
  return Window{std::min(*from, end), std::min(*to, end)};
}

absl::StatusOr<int64_t> Answers::StepOf(const ViewRequest& request, const Window& window) const {
  int64_t usual = 1;
  while (usual * 2 * kUsualColumns <= window.to - window.from) usual *= 2;
  const absl::StatusOr<int64_t> step = request.Number("step", 1, kMaxViewTime, usual);
  if (step.ok() && (*step & (*step - 1)) != 0) {
    return absl::InvalidArgumentError("step must be a power of two");
  }
  return step;
}

std::pair<size_t, size_t> Answers::GenerationsOf(const Window& window) const {
  const std::vector<int64_t>& syncs = overview().syncs();
  const size_t count = std::min(index_.generations().size(), syncs.size());
  const auto end = syncs.begin() + static_cast<ptrdiff_t>(count);
  // The last one that begins before or at a time.
  const auto after = std::upper_bound(syncs.begin(), end, window.from);
  const size_t first = after == syncs.begin() ? 0 : static_cast<size_t>(after - syncs.begin()) - 1;
  const auto last = std::lower_bound(syncs.begin(), end, window.to);
  return {first, std::max(first, static_cast<size_t>(last - syncs.begin()))};
}

bool Answers::CanDecode(const Window& window) const {
  if (generations_ == nullptr) return false;
  const auto [first, last] = GenerationsOf(window);
  if (last - first <= 2) return true;
  uint64_t bytes = 0;
  for (size_t n = first; n < last; ++n) bytes += index_.generations()[n].size;
  return bytes <= kMaxDecodedBytes;
}

absl::Status Answers::Decode(const Window& window, PieceSorter* sorter) const {
  overview().crossing().ForEachIn(window.from, window.to, [&](const LanePiece& piece) {
    sorter->Add(piece, sorter->ReasonOf(interner().String(piece.reason)));
  });
  const auto [first, last] = GenerationsOf(window);
  for (size_t n = first; n < last;) {
    if (keep_going_ != nullptr && !keep_going_()) return absl::CancelledError("given up");
    const auto generations = generations_->GetSome(n, last);
    if (!generations.ok()) return generations.status();
    for (const auto& generation : *generations) {
      std::vector<uint32_t> reasons;
      for (const std::string& reason : generation->reasons) {
        reasons.push_back(sorter->ReasonOf(reason));
      }
      generation->pieces.ForEachIn(window.from, window.to, [&](const LanePiece& piece) {
        sorter->Add(piece, reasons[static_cast<size_t>(piece.reason)]);
      });
    }
    n += generations->size();
  }
  return absl::OkStatus();
}

absl::Status Answers::AnswerTrace(const ViewRequest& /*request*/, JsonWriter* json) const {
  const bool is_complete = known_.is_complete();
  json->Member("name", absl::string_view(options_.name));
  const auto& generations = index_.generations();
  const int64_t begin = is_complete ? overview().begin() : index_.start_time();
  const int64_t duration = overview().duration();
  uint64_t goroutines = 0;
  for (const Overview::Group& group : overview().groups()) goroutines += group.goroutines;
  json->Member("begin_ns", begin);
  json->Member("end_ns", begin + duration);
  json->Member("duration", duration);
  json->Member("events", is_complete ? known_.sink->event_count() : progress_.events);
  json->Member("goroutines", goroutines);
  double progress = 1;
  if (!is_complete) {
    progress =
        progress_.total == 0
            ? 0
            : std::min(static_cast<double>(progress_.bytes) / static_cast<double>(progress_.total),
                       1.0);
  }
  json->Members("\"progress\":", absl::StrFormat("%.3f", progress));
  json->Key("complete");
  json->Bool(is_complete);
  json->Member("version",
               absl::string_view(absl::StrFormat("1.%d", static_cast<uint32_t>(index_.version()))));
  json->Key("procs");
  json->BeginArray();
  for (const auto& [proc, lane] : overview().procs()) json->Value(proc.value);
  json->EndArray();
  json->Key("threads");
  json->BeginArray();
  for (const ThreadId thread : overview().threads()) json->Value(thread.value);
  json->EndArray();
  json->Key("wall_begin");
  if (!generations.empty() && generations[0].clock_snapshot.has_value()) {
    const ClockSnapshot& clocks = *generations[0].clock_snapshot;
    const absl::Time wall = clocks.wall + absl::Nanoseconds(begin - clocks.trace_time);
    json->Value(
        absl::string_view(absl::FormatTime("%Y-%m-%d%ET%H:%M:%E9SZ", wall, absl::UTCTimeZone())));
  } else {
    json->Null();
  }
  json->Member("groups", uint64_t{overview().groups().size()});
  json->Member("tasks", uint64_t{overview().tasks().size()});
  json->Key("states");
  json->BeginArray();
  for (const absl::string_view state : kLaneStateNames) json->Value(state);
  json->EndArray();
  const std::pair<absl::string_view, absl::string_view> remarks[] = {{"fault", known_.fault},
                                                                     {"note", options_.note}};
  for (const auto& [key, text] : remarks) {
    json->Key(key);
    if (text.empty()) {
      json->Null();
    } else {
      json->Value(text);
    }
  }
  return absl::OkStatus();
}

absl::Status Answers::AnswerStrip(const ViewRequest& request, JsonWriter* json) const {
  const absl::StatusOr<Window> window = WindowOf(request);
  if (!window.ok()) return window.status();
  const absl::StatusOr<int64_t> step = StepOf(request, *window);
  if (!step.ok()) return step.status();
  const ColumnRange range = ColumnsOf(*window, std::max(*step, overview().step()));
  LaneColumns procs(range, LaneColumns::Spans::kNone);
  for (const auto& [proc, lane] : overview().procs()) procs.Add(lane.lane());
  LaneColumns goroutines(range, LaneColumns::Spans::kNone);
  for (const Overview::Group& group : overview().groups()) goroutines.Add(group.lane.lane());
  const auto full =
      range.step * std::max<int64_t>(static_cast<int64_t>(overview().procs().size()), 1);
  AppendRange(range, json);
  json->Member("full", full);
  AppendTotals(procs.totals(), json);
  AppendStates(procs, full, /*is_group=*/false, json);
  const ColumnValues& runnable = goroutines.columns(LaneState::kRunnable);
  const int64_t most =
      std::max<int64_t>(LargestColumn(range.count, std::vector<const ColumnValues*>{&runnable}), 1);
  json->Key("runnable");
  json->BeginObject();
  json->Member("total", goroutines.totals()[static_cast<size_t>(LaneState::kRunnable)]);
  json->Member("full", most);
  AppendColumns("mean", runnable, range.count, most, json);
  const std::vector<int64_t> counts = overview().runnable().MaxIn(range);
  const int64_t largest_count = counts.empty() ? 0 : *absl::c_max_element(counts);
  std::string count_bytes;
  for (const int64_t count : counts) count_bytes.push_back(ByteOf(count, largest_count));
  AppendBytes("max", count_bytes, json);
  json->Member("most", largest_count);
  json->EndObject();
  json->Key("metrics");
  json->BeginObject();
  constexpr std::pair<absl::string_view, Overview::Metric> kMetrics[] = {
      {"heap", Overview::kHeap}, {"goal", Overview::kGoal}, {"gomaxprocs", Overview::kMaxProcs}};
  for (const auto& [name, metric] : kMetrics) {
    const std::vector<int64_t> values = overview().metric(metric).MaxIn(range);
    const int64_t largest = values.empty() ? 0 : *absl::c_max_element(values);
    if (largest == 0) continue;
    std::string bytes;
    for (const int64_t value : values) bytes.push_back(ByteOf(value, largest));
    json->Key(name);
    json->BeginObject();
    json->Member("full", largest);
    AppendBytes("max", bytes, json);
    json->EndObject();
  }
  json->EndObject();
  return absl::OkStatus();
}

absl::Status Answers::AnswerMarks(const ViewRequest& request, JsonWriter* json) const {
  const absl::StatusOr<Window> window = WindowOf(request);
  if (!window.ok()) return window.status();
  const absl::StatusOr<int64_t> step = StepOf(request, *window);
  if (!step.ok()) return step.status();
  // So that there are no more rows than columns.
  const int64_t width = ColumnsOf(*window, *step).step;
  Names names;
  const auto append = [&](absl::string_view key, const std::vector<Overview::Mark>& marks) {
    json->Key(key);
    json->BeginArray();
    for (size_t i = 0; i < marks.size();) {
      Overview::Mark mark = marks[i];
      uint64_t count = 1;
      for (++i;
           i < marks.size() && mark.end - mark.begin < width &&
           marks[i].end - marks[i].begin < width && marks[i].begin / width == mark.begin / width;
           ++i) {
        mark.end = std::max(mark.end, marks[i].end);
        ++count;
      }
      if (mark.end <= window->from || mark.begin >= window->to) continue;
      json->BeginArray();
      json->Value(mark.begin);
      json->Value(mark.end - mark.begin);
      json->Value(names.IndexOf(interner().String(mark.name)));
      json->Value(count);
      json->EndArray();
    }
    json->EndArray();
  };
  append("cycles", overview().cycles());
  append("stops", overview().stops());
  names.Append(json);
  return absl::OkStatus();
}

}  // namespace gotrace::internal::view
