// Requests are rows of one table, kRequests. Lanes come from one of two places. If the columns that
// are asked for are at least as wide as those of the overview, which the pass over the trace made,
// they follow from it. Otherwise the generations of the window are decoded; what crosses from one
// to another was kept by the pass. Both give the same lanes. While the pass runs, what it has is
// copied now and then, and lanes come from such a copy alone.
#include "gotrace/trace_view.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "export/json/json_text.h"
#include "gotrace/analysis.h"
#include "gotrace/fault.h"
#include "gotrace/read_parallel.h"
#include "gotrace/run_analysis.h"
#include "gotrace/task_stats.h"
#include "gotrace/trace_index.h"
#include "gotrace/version.h"
#include "util/text_buffer.h"
#include "view/decoded_generations.h"
#include "view/lane_columns.h"
#include "view/overview.h"
#include "view/parameters.h"
#include "view/previews.h"
#include "view/span_details.h"

namespace gotrace {

using internal::ColumnRange;
using internal::ColumnValues;
using internal::DecodedGeneration;
using internal::DecodedGenerations;
using internal::GoroutineIntervals;
using internal::IntervalsOfGoroutine;
using internal::JsonWriter;
using internal::kLaneStates;
using internal::kMaxViewTime;
using internal::LaneColumns;
using internal::LanePiece;
using internal::LaneSpan;
using internal::LaneState;
using internal::LaneStateName;
using internal::Overview;
using internal::Preview;
using internal::Previews;
using internal::ReadGeneration;
using internal::TextBuffer;
using internal::ViewRequest;

namespace {

// The most columns of an answer, lanes of a request, and rows of a list.
constexpr int64_t kMaxColumns = 8192;
constexpr size_t kMaxLanes = 256;
constexpr int64_t kMaxRows = 1000;
constexpr int64_t kRows = 100;
constexpr size_t kMaxWakes = 100;

// The number of columns of an answer whose request does not say how wide they are.
constexpr int64_t kUsualColumns = 1024;

// Up to how many bytes of a trace are decoded for an answer if they are more than two generations.
constexpr uint64_t kMaxDecodedBytes = uint64_t{32} << 20;

using Sink = MergeableAnalysisSink<Overview>;

// A part of a trace, since its begin.
struct Window {
  int64_t from = 0;
  int64_t to = 0;
};

// Returns the byte of an answer for a value of which `full` is 255.
char ByteOf(int64_t value, int64_t full) {
  if (value <= 0) return 0;
  return static_cast<char>(
      std::clamp<int64_t>((value * 255 + full / 2) / std::max<int64_t>(full, 1), 1, 255));
}

void AppendBytes(absl::string_view key, const std::string& bytes, JsonWriter* json) {
  json->Member(key, absl::string_view(absl::Base64Escape(bytes)));
}

void AppendColumns(absl::string_view key, const ColumnValues& values, size_t count, int64_t full,
                   JsonWriter* json) {
  std::string bytes(count, '\0');
  values.ForEach([&](size_t i, int64_t value) { bytes[i] = ByteOf(value, full); });
  AppendBytes(key, bytes, json);
}

// Returns the largest value of a column.
template <class Columns>
int64_t LargestColumn(size_t count, const Columns& columns) {
  std::vector<int64_t> sums(count + 1);
  for (const ColumnValues* values : columns) {
    values->ForEach([&](size_t i, int64_t value) { sums[i] += value; });
  }
  return *absl::c_max_element(sums);
}

void AppendTotals(const std::array<int64_t, kLaneStates>& totals, JsonWriter* json) {
  json->Key("totals");
  json->BeginObject();
  for (size_t i = 0; i < kLaneStates; ++i) {
    if (totals[i] != 0) json->Member(internal::kLaneStateNames[i], totals[i]);
  }
  json->EndObject();
}

// Whether a goroutine in this state is at work, or wants to be.
bool IsActive(LaneState state) {
  return state != LaneState::kBlocked && state != LaneState::kNetwork;
}

// `is_group` leaves out the states that would hide all others where there are many goroutines.
void AppendStates(const LaneColumns& lane, int64_t full, bool is_group, JsonWriter* json) {
  json->Key("columns");
  json->BeginObject();
  for (size_t i = 0; i < kLaneStates; ++i) {
    const auto state = static_cast<LaneState>(i);
    if (lane.columns(state).empty() || (is_group && !IsActive(state))) continue;
    AppendColumns(LaneStateName(state), lane.columns(state), lane.range().count, full, json);
  }
  json->EndObject();
}

void AppendRange(const ColumnRange& range, JsonWriter* json) {
  json->Member("begin", range.begin);
  json->Member("step", range.step);
  json->Member("count", uint64_t{range.count});
}

// Returns the columns of a window; they become wider than `step` if there would be too many.
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

// Names of an answer, which rows refer to.
class Names {
 public:
  uint64_t IndexOf(absl::string_view name) {
    const auto [known, is_new] = places_.try_emplace(std::string(name), names_.size());
    if (is_new) names_.emplace_back(name);
    return known->second;
  }
  void Append(JsonWriter* json) const {
    json->Key("names");
    json->BeginArray();
    for (const std::string& name : names_) json->Value(absl::string_view(name));
    json->EndArray();
  }

 private:
  std::vector<std::string> names_ = {""};
  absl::flat_hash_map<std::string, uint64_t> places_ = {{"", 0}};
};

// The kinds of lanes, by what their ids begin with.
enum class LaneKind : uint8_t { kProc, kThread, kGoroutine, kGroup };

struct LaneId {
  LaneKind kind = LaneKind::kProc;
  int64_t number = 0;

  friend bool operator==(const LaneId&, const LaneId&) = default;
  template <class H>
  friend H AbslHashValue(H h, const LaneId& id) {
    return H::combine(std::move(h), id.kind, id.number);
  }
};

constexpr std::pair<absl::string_view, LaneKind> kLanePrefixes[] = {{"p:", LaneKind::kProc},
                                                                    {"m:", LaneKind::kThread},
                                                                    {"g:", LaneKind::kGoroutine},
                                                                    {"group:", LaneKind::kGroup}};

std::optional<LaneId> ReadLaneId(absl::string_view text) {
  for (const auto& [prefix, kind] : kLanePrefixes) {
    int64_t number = 0;
    if (absl::StartsWith(text, prefix) && absl::SimpleAtoi(text.substr(prefix.size()), &number)) {
      return LaneId{kind, number};
    }
  }
  return std::nullopt;
}

std::string TextOf(const LaneId& id) {
  for (const auto& [prefix, kind] : kLanePrefixes) {
    if (kind == id.kind) return absl::StrCat(prefix, id.number);
  }
  return "";
}

// A lane that is asked for.
struct Lane {
  LaneId id;
  LaneColumns columns;
  bool is_skipped = false;
};

// Adds pieces to the lanes that they belong to.
class PieceSorter {
 public:
  PieceSorter(const Overview& overview, absl::Span<Lane* const> lanes) : overview_(overview) {
    for (Lane* const lane : lanes) {
      lanes_[lane->id] = &lane->columns;
      has_kind_[static_cast<size_t>(lane->id.kind)] = true;
    }
  }

  // `reason` is an index of reasons().
  void Add(const LanePiece& piece, uint32_t reason) {
    LaneSpan span;
    span.begin = piece.begin;
    span.end = piece.end;
    span.state = piece.state;
    if (Has(LaneKind::kGoroutine) && piece.goroutine != GoId::kNone) {
      LaneSpan own = span;
      own.name = reason;
      own.subject = piece.proc.value;
      AddTo({LaneKind::kGoroutine, piece.goroutine.value}, own);
    }
    if (Has(LaneKind::kGroup) && piece.goroutine != GoId::kNone) {
      const Overview::Goroutine* const goroutine = overview_.Find(piece.goroutine, piece.begin);
      if (goroutine != nullptr) {
        AddTo({LaneKind::kGroup, static_cast<int64_t>(goroutine->group)}, span);
      }
    }
    span.subject = piece.goroutine.value;
    if (Has(LaneKind::kThread) && piece.thread != ThreadId::kNone) {
      AddTo({LaneKind::kThread, piece.thread.value}, span);
    }
    if (Has(LaneKind::kProc) && piece.proc != ProcId::kNone && piece.begin < piece.proc_until) {
      span.end = piece.proc_until;
      AddTo({LaneKind::kProc, piece.proc.value}, span);
    }
  }

  // Returns the index of a reason, which stays valid as long as this object.
  uint32_t ReasonOf(absl::string_view reason) {
    const auto [known, is_new] =
        places_.try_emplace(std::string(reason), static_cast<uint32_t>(reasons_.size()));
    if (is_new) reasons_.emplace_back(reason);
    return known->second;
  }
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  bool Has(LaneKind kind) const { return has_kind_[static_cast<size_t>(kind)]; }
  void AddTo(const LaneId& id, const LaneSpan& span) {
    const auto lane = lanes_.find(id);
    if (lane != lanes_.end()) lane->second->Add(span);
  }

  const Overview& overview_;
  absl::flat_hash_map<LaneId, LaneColumns*> lanes_;
  bool has_kind_[std::size(kLanePrefixes)] = {};
  std::vector<std::string> reasons_;
  absl::flat_hash_map<std::string, uint32_t> places_;
};

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

ViewAnswer ErrorAnswer(int status, absl::string_view message) {
  TextBuffer out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("error", message);
  json.EndObject();
  return {status, "application/json", std::string(out.view())};
}

bool ContainsIgnoringCase(absl::string_view text, absl::string_view piece) {
  return absl::StrContains(absl::AsciiStrToLower(text), absl::AsciiStrToLower(piece));
}

// A trace, and the places of its generations.
struct OpenedTrace {
  OpenedTrace(std::unique_ptr<ByteSource> its_source, TraceIndex its_index)
      : source(std::move(its_source)), index(std::move(its_index)) {}

  const std::unique_ptr<ByteSource> source;
  const TraceIndex index;
};

// What is known of a trace at some time. Nothing in it changes any more, so a request is answered
// from one of these, whatever is read meanwhile.
struct Known {
  std::shared_ptr<const OpenedTrace> trace;
  std::shared_ptr<const Preview> preview;           // While the trace is read.
  std::unique_ptr<Sink> sink;                       // Once it is read.
  std::unique_ptr<DecodedGenerations> generations;  // The same.
  std::string fault;

  bool is_complete() const { return sink != nullptr; }
  const Overview& overview() const { return is_complete() ? sink->analysis() : preview->overview; }
  const Interner& interner() const { return is_complete() ? sink->interner() : preview->interner; }
};

// Answers a request from what is known of the trace.
class Answers {
 public:
  // All must outlive this object.
  Answers(const TraceViewOptions& options, const Known& known, const ReadProgress& progress,
          const std::function<bool()>& keep_going)
      : options_(options),
        known_(known),
        progress_(progress),
        keep_going_(keep_going),
        source_(known.trace->source.get()),
        index_(known.trace->index),
        generations_(known.generations.get()) {}

  ViewAnswer Answer(absl::string_view text) const;

  using Handler = absl::Status (Answers::*)(const ViewRequest& request, JsonWriter* json) const;
  struct Row {
    absl::string_view path;
    absl::string_view parameters;  // Separated by spaces.
    Handler handler;               // nullptr if options_.answer_more answers it.
    bool is_early = false;         // Whether it is answered while the trace is read.
  };
  static absl::Span<const Row> Rows();

 private:
  const Overview& overview() const { return known_.overview(); }
  const Interner& interner() const { return known_.interner(); }
  absl::string_view NameOfGroup(size_t group) const {
    return interner().String(overview().groups()[group].start);
  }
  absl::string_view NameOfGoroutine(GoId id, int64_t time) const {
    const Overview::Goroutine* const goroutine = overview().Find(id, time);
    return goroutine == nullptr ? absl::string_view() : NameOfGroup(goroutine->group);
  }

  ViewAnswer AnswerMore(const ViewRequest& request) const;

  absl::StatusOr<Window> WindowOf(const ViewRequest& request) const;
  absl::StatusOr<int64_t> StepOf(const ViewRequest& request, const Window& window) const;
  absl::StatusOr<std::vector<Lane>> LanesOf(const ViewRequest& request,
                                            const ColumnRange& range) const;

  // Returns the generations that overlap a part of the trace: the first one, and the one after the
  // last.
  std::pair<size_t, size_t> GenerationsOf(const Window& window) const;
  bool CanDecode(const Window& window) const;
  // Adds what the overview has of a lane. Returns whether it has such lanes.
  bool AddKnown(Lane* lane) const;
  absl::Status Decode(const Window& window, PieceSorter* sorter) const;
  void AppendGroup(size_t index, JsonWriter* json) const;
  void AppendLane(Lane* lane, const std::vector<std::string>& reasons, Names* names,
                  JsonWriter* json) const;
  // Calls `use` with each piece of a lane in the generation at place `n`, and with all pieces that
  // cross between generations.
  absl::Status ForEachPiece(const LaneId& lane, size_t n,
                            const std::function<void(const LanePiece& piece)>& use) const;
  absl::StatusOr<GoroutineIntervals> IntervalsOf(GoId goroutine, size_t n) const;
  void AppendStack(const Interner& interner, StackId stack, JsonWriter* json) const;
  void AppendPlace(absl::string_view key, const LaneId& lane, std::optional<int64_t> at,
                   JsonWriter* json) const;
  void AppendCause(absl::string_view key, const Cause* cause, int64_t time,
                   const Interner& interner, JsonWriter* json) const;
  void AppendRegions(std::vector<RegionSpan> regions, const Interner& types, Names* names,
                     JsonWriter* json) const;
  void AppendId(absl::string_view key, int64_t id, JsonWriter* json) const;

  absl::Status AnswerTrace(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerStrip(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerLanes(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerGroups(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerMembers(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerSpan(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerArrows(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerMarks(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerTaskLanes(const ViewRequest& request, JsonWriter* json) const;
  absl::Status AnswerSearch(const ViewRequest& request, JsonWriter* json) const;

  const TraceViewOptions& options_;
  const Known& known_;
  const ReadProgress& progress_;
  const std::function<bool()>& keep_going_;
  const ByteSource* const source_;
  const TraceIndex& index_;
  DecodedGenerations* const generations_;  // nullptr while the trace is read.
};

}  // namespace

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
      {"path", "from to task g type region func sort top", nullptr},
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
  const auto overlaps = [&](const LanePiece& piece) {
    return piece.begin < window.to && piece.end > window.from;
  };
  for (const LanePiece& piece : overview().crossing()) {
    if (piece.begin >= window.to) break;
    if (overlaps(piece)) sorter->Add(piece, sorter->ReasonOf(interner().String(piece.reason)));
  }
  const auto [first, last] = GenerationsOf(window);
  for (size_t n = first; n < last; ++n) {
    if (keep_going_ != nullptr && !keep_going_()) return absl::CancelledError("given up");
    const auto generation = generations_->Get(n);
    if (!generation.ok()) return generation.status();
    std::vector<uint32_t> reasons;
    for (const std::string& reason : (*generation)->reasons) {
      reasons.push_back(sorter->ReasonOf(reason));
    }
    for (const LanePiece& piece : (*generation)->pieces) {
      if (overlaps(piece)) sorter->Add(piece, reasons[static_cast<size_t>(piece.reason)]);
    }
  }
  return absl::OkStatus();
}

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
  for (const absl::string_view state : internal::kLaneStateNames) json->Value(state);
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

absl::Status Answers::ForEachPiece(const LaneId& lane, size_t n,
                                   const std::function<void(const LanePiece& piece)>& use) const {
  const auto is_in_lane = [&](const LanePiece& piece) {
    switch (lane.kind) {
      case LaneKind::kProc:
        return piece.proc.value == lane.number && piece.begin < piece.proc_until;
      case LaneKind::kThread:
        return piece.thread.value == lane.number;
      case LaneKind::kGoroutine:
        return piece.goroutine.value == lane.number;
      case LaneKind::kGroup:
        return false;
    }
    return false;
  };
  // In the lane of a P, a piece ends when the goroutine loses the P.
  const auto give = [&](LanePiece piece) {
    if (!is_in_lane(piece)) return;
    if (lane.kind == LaneKind::kProc) piece.end = piece.proc_until;
    use(piece);
  };
  for (const LanePiece& piece : overview().crossing()) give(piece);
  const auto generation = generations_->Get(n);
  if (!generation.ok()) return generation.status();
  for (const LanePiece& piece : (*generation)->pieces) give(piece);
  return absl::OkStatus();
}

absl::StatusOr<GoroutineIntervals> Answers::IntervalsOf(GoId goroutine, size_t n) const {
  GoroutineIntervals result;
  result.sink = std::make_unique<AnalysisSink>(
      [&](Interner* /*interner*/) { return std::make_unique<IntervalsOfGoroutine>(goroutine); },
      AnalysisSink::Options());
  ReaderOptions options = options_.reader;
  options.keep_going = keep_going_;
  options.jobs = 1;
  const absl::Status status = ReadGeneration(*source_, index_, n, options, result.sink.get());
  if (!status.ok() && !FaultOf(status).has_value()) return status;
  return result;
}

void Answers::AppendStack(const Interner& interner, StackId stack, JsonWriter* json) const {
  json->Key("stack");
  json->BeginArray();
  for (const FrameId id : interner.Frames(stack)) {
    const StackFrame frame = interner.Frame(id);
    json->BeginObject();
    json->Member("func", frame.func);
    json->Member("file", frame.file);
    json->Member("line", frame.line);
    json->EndObject();
  }
  json->EndArray();
}

void Answers::AppendPlace(absl::string_view key, const LaneId& lane, std::optional<int64_t> at,
                          JsonWriter* json) const {
  json->Key(key);
  if (!at.has_value()) return json->Null();
  json->BeginObject();
  json->Member("lane", absl::string_view(TextOf(lane)));
  json->Member("at", *at);
  json->EndObject();
}

void Answers::AppendCause(absl::string_view key, const Cause* cause, int64_t time,
                          const Interner& interner, JsonWriter* json) const {
  json->Key(key);
  if (cause == nullptr) return json->Null();
  json->BeginObject();
  json->Member("kind", CauseKindName(cause->kind));
  if (cause->kind == CauseKind::kGoroutine) {
    json->Member("lane", absl::string_view(absl::StrCat("g:", cause->goroutine.value)));
    json->Member("at", time);
    json->Member("name", NameOfGoroutine(cause->goroutine, time));
  }
  AppendId("p", cause->proc.value, json);
  AppendId("m", cause->thread.value, json);
  AppendStack(interner, cause->stack, json);
  json->EndObject();
}

void Answers::AppendId(absl::string_view key, int64_t id, JsonWriter* json) const {
  json->Key(key);
  if (id == -1) return json->Null();
  json->Value(id);
}

absl::Status Answers::AnswerSpan(const ViewRequest& request, JsonWriter* json) const {
  const std::string* const text = request.Find("lane");
  if (text == nullptr) return absl::InvalidArgumentError("lane is missing");
  const std::optional<LaneId> lane = ReadLaneId(*text);
  if (!lane.has_value() || lane->kind == LaneKind::kGroup) {
    return absl::InvalidArgumentError("lane must be that of a P, a thread or a goroutine");
  }
  const absl::StatusOr<int64_t> at = request.Number("at", 0, kMaxViewTime, -1);
  if (!at.ok()) return at.status();
  if (*at < 0) return absl::InvalidArgumentError("at is missing");
  const auto generation_of = [&](int64_t time) { return GenerationsOf({time, time + 1}).first; };
  const size_t n = generation_of(*at);

  std::optional<LanePiece> piece;
  absl::Status status = ForEachPiece(*lane, n, [&](const LanePiece& one) {
    if (one.begin <= *at && *at < one.end) piece = one;
  });
  if (!status.ok()) return status;
  const bool is_idle = !piece.has_value();
  if (is_idle) {
    const bool is_known =
        (lane->kind == LaneKind::kProc && overview().procs().contains(ProcId{lane->number})) ||
        (lane->kind == LaneKind::kThread && overview().threads().contains(ThreadId{lane->number}));
    if (!is_known || *at >= overview().duration()) {
      return absl::NotFoundError("the lane has nothing at this time");
    }
    // From the piece before to the piece after it.
    piece = LanePiece{.begin = *at, .end = *at, .proc_until = *at};
  }

  // The neighbours are where the piece begins and ends, or near that. Pieces that cross between
  // generations are found from all of them, so one that is not in the generation may be too far.
  constexpr size_t kGenerations = 4;
  const std::vector<int64_t>& syncs = overview().syncs();
  std::optional<int64_t> previous;
  std::optional<int64_t> following;
  const auto look = [&](size_t generation) {
    return ForEachPiece(*lane, generation, [&](const LanePiece& one) {
      if (one.end <= piece->begin) previous = std::max(previous.value_or(0), one.end - 1);
      if (one.begin >= piece->end) {
        following = std::min(following.value_or(kMaxViewTime), one.begin);
      }
    });
  };
  const size_t begin_generation = generation_of(piece->begin);
  const size_t end_generation = generation_of(piece->end);
  int64_t earliest = *at;
  int64_t latest = *at + 1;
  for (size_t i = 0; i < kGenerations && i <= begin_generation && status.ok(); ++i) {
    status = look(begin_generation - i);
    earliest = i == begin_generation ? 0 : std::min(earliest, syncs[begin_generation - i]);
    if (previous.has_value() && *previous >= syncs[begin_generation - i]) break;
  }
  for (size_t i = end_generation;
       i < end_generation + kGenerations && i < index_.generations().size() && status.ok(); ++i) {
    status = look(i);
    const bool is_last = i + 1 >= index_.generations().size() || i + 1 >= syncs.size();
    latest = is_last ? overview().duration() : std::max(latest, syncs[i + 1]);
    if (following.has_value() && (is_last || *following < latest)) break;
  }
  if (!status.ok()) return status;
  if (is_idle) {
    piece->begin = previous.has_value() ? *previous + 1 : earliest;
    piece->end = following.value_or(latest);
  }

  const GoId id = piece->goroutine;
  const Overview::Goroutine* const goroutine =
      id == GoId::kNone ? nullptr : overview().Find(id, piece->begin);
  json->Member("lane", absl::string_view(TextOf(*lane)));
  json->Member("name", goroutine == nullptr ? absl::string_view() : NameOfGroup(goroutine->group));
  json->Member("begin", piece->begin);
  json->Member("end", piece->end);
  json->Member("state", LaneStateName(piece->state));
  AppendId("goroutine", id.value, json);
  AppendId("p", piece->proc.value, json);
  AppendId("m", piece->thread.value, json);
  AppendPlace("previous", *lane, previous, json);
  AppendPlace("next", *lane, following, json);
  if (goroutine == nullptr) return absl::OkStatus();

  json->Key("begin_clipped");
  json->Bool(piece->begin == goroutine->begin && !goroutine->begins);
  json->Key("end_clipped");
  json->Bool(piece->end == goroutine->end && !goroutine->ends);
  const absl::StatusOr<GoroutineIntervals> first = IntervalsOf(id, begin_generation);
  if (!first.ok()) return first.status();
  const absl::StatusOr<GoroutineIntervals> last =
      end_generation == begin_generation ? absl::StatusOr<GoroutineIntervals>(GoroutineIntervals())
                                         : IntervalsOf(id, end_generation);
  if (!last.ok()) return last.status();
  const GoroutineIntervals& ending = last->sink == nullptr ? *first : *last;

  const auto since_begin = [&](int64_t time) { return time - overview().begin(); };
  const GoInterval* begun = nullptr;
  for (const GoInterval& interval : first->intervals().own()) {
    if (since_begin(interval.begin) <= piece->begin && piece->begin < since_begin(interval.end)) {
      begun = &interval;
    }
  }
  const GoInterval* ended = nullptr;
  for (const GoInterval& interval : ending.intervals().own()) {
    if (since_begin(interval.end) == piece->end && !interval.end_clipped) ended = &interval;
  }
  json->Member("go_state", GoStateName(begun == nullptr ? GoState::kUndetermined : begun->state));
  json->Member("reason",
               begun == nullptr ? absl::string_view() : first->interner().String(begun->reason));
  AppendStack(first->interner(), begun == nullptr ? StackId::kNone : begun->stack, json);
  const bool begins = begun != nullptr && since_begin(begun->begin) == piece->begin;
  AppendCause("begun_by", begins ? &begun->begun_by : nullptr, piece->begin, first->interner(),
              json);
  AppendCause("ended_by", ended == nullptr ? nullptr : &ended->ended_by, piece->end,
              ending.interner(), json);
  json->Key("wakes");
  json->BeginArray();
  size_t count = 0;
  for (const GoroutineIntervals* const part : {&*first, &ending}) {
    for (const GoInterval& woken : part->intervals().woken()) {
      const int64_t time = since_begin(woken.begin);
      if (time < piece->begin || time > piece->end || ++count > kMaxWakes) continue;
      json->BeginObject();
      json->Member("lane", absl::string_view(absl::StrCat("g:", woken.goroutine.value)));
      json->Member("at", time);
      json->Member("name", NameOfGoroutine(woken.goroutine, time));
      json->EndObject();
    }
    if (part == &ending) break;
  }
  json->EndArray();
  return absl::OkStatus();
}

absl::Status Answers::AnswerArrows(const ViewRequest& request, JsonWriter* json) const {
  const std::string* const text = request.Find("lane");
  const std::optional<LaneId> lane = text == nullptr ? std::nullopt : ReadLaneId(*text);
  if (!lane.has_value() || lane->kind != LaneKind::kGoroutine) {
    return absl::InvalidArgumentError("lane must be that of a goroutine");
  }
  const absl::StatusOr<Window> window = WindowOf(request);
  if (!window.ok()) return window.status();
  constexpr int64_t kArrows = 500;
  const absl::StatusOr<int64_t> limit = request.Number("limit", 1, 10 * kArrows, kArrows);
  if (!limit.ok()) return limit.status();
  if (!CanDecode(*window)) return absl::InvalidArgumentError("the window is too long");
  struct Arrow {
    int64_t time = 0;
    int64_t from = 0;
    int64_t to = 0;
    int64_t runs = 0;
  };
  std::vector<Arrow> arrows;
  const auto [begin, end] = GenerationsOf(*window);
  for (size_t n = begin; n < end; ++n) {
    const absl::StatusOr<GoroutineIntervals> part = IntervalsOf(GoId{lane->number}, n);
    if (!part.ok()) return part.status();
    const auto add = [&](const GoInterval& interval) {
      const Arrow arrow = {interval.begin - overview().begin(), interval.begun_by.goroutine.value,
                           interval.goroutine.value,
                           interval.end_clipped ? -1 : interval.end - overview().begin()};
      if (window->from <= arrow.time && arrow.time < window->to) arrows.push_back(arrow);
    };
    for (const GoInterval& interval : part->intervals().own()) {
      if (interval.state == GoState::kRunnable && !interval.begin_clipped &&
          interval.begun_by.kind == CauseKind::kGoroutine &&
          interval.begun_by.goroutine.value != lane->number) {
        add(interval);
      }
    }
    for (const GoInterval& interval : part->intervals().woken()) add(interval);
  }
  absl::c_stable_sort(arrows, [](const Arrow& a, const Arrow& b) { return a.time < b.time; });
  json->Member("total", uint64_t{arrows.size()});
  if (arrows.size() > static_cast<size_t>(*limit)) arrows.resize(static_cast<size_t>(*limit));
  json->Key("arrows");
  json->BeginArray();
  for (const Arrow& arrow : arrows) {
    json->BeginArray();
    for (const int64_t value : {arrow.time, arrow.from, arrow.to, arrow.runs}) json->Value(value);
    json->EndArray();
  }
  json->EndArray();
  return absl::OkStatus();
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

  const auto begin_of = [&](const TaskSpan& task) {
    return task.begin.value_or(overview().begin()) - overview().begin();
  };
  const auto end_of = [&](const TaskSpan& task) {
    return task.end.has_value() ? *task.end - overview().begin() : overview().duration();
  };
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
    return end_of(*a) - begin_of(*a) > end_of(*b) - begin_of(*b);
  });
  if (tasks.size() > most) tasks.resize(most);
  json->Key("tasks");
  json->BeginArray();
  for (const TaskSpan* const task : tasks) {
    json->BeginObject();
    json->Member("task", task->task.value);
    json->Member("type", interner().String(task->type));
    json->Member("at", begin_of(*task));
    json->Member("duration", end_of(*task) - begin_of(*task));
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

absl::Status Answers::AnswerTaskLanes(const ViewRequest& request, JsonWriter* json) const {
  const absl::StatusOr<Window> window = WindowOf(request);
  if (!window.ok()) return window.status();
  const absl::StatusOr<int64_t> offset = request.Number("offset", 0, kMaxViewTime, 0);
  if (!offset.ok()) return offset.status();
  constexpr int64_t kMaxTasks = 200;
  const absl::StatusOr<int64_t> limit = request.Number("limit", 1, kMaxTasks, 20);
  if (!limit.ok()) return limit.status();
  const std::string* const type = request.Find("type");
  const auto since_begin = [&](int64_t time) { return time - overview().begin(); };
  const auto begin_of = [&](const auto& span) { return span.begin ? since_begin(*span.begin) : 0; };
  const auto end_of = [&](const auto& span) {
    return span.end ? since_begin(*span.end) : overview().duration();
  };
  std::vector<const TaskSpan*> tasks;
  for (const TaskSpan& task : overview().tasks()) {
    if (begin_of(task) >= window->to || end_of(task) <= window->from) continue;
    if (type != nullptr && interner().String(task.type) != *type) continue;
    tasks.push_back(&task);
  }
  absl::c_stable_sort(tasks, [&](const TaskSpan* a, const TaskSpan* b) {
    return end_of(*a) - begin_of(*a) > end_of(*b) - begin_of(*b);
  });
  json->Member("total", uint64_t{tasks.size()});
  tasks.erase(tasks.begin(),
              tasks.begin() + std::min<ptrdiff_t>(*offset, static_cast<ptrdiff_t>(tasks.size())));
  if (tasks.size() > static_cast<size_t>(*limit)) tasks.resize(static_cast<size_t>(*limit));

  // The regions are those of the generations from where the first of the tasks begins, to where the
  // last one ends, unless that is too much.
  Window all = *window;
  for (const TaskSpan* const task : tasks) {
    all.from = std::min(all.from, begin_of(*task));
    all.to = std::max(all.to, end_of(*task));
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
    json->Member("begin", begin_of(*task));
    json->Member("duration", end_of(*task) - begin_of(*task));
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
  const auto begin_of = [&](const RegionSpan& region) {
    return region.begin ? *region.begin - overview().begin() : 0;
  };
  const auto end_of = [&](const RegionSpan& region) {
    return region.end ? *region.end - overview().begin() : overview().duration();
  };
  constexpr size_t kMaxRegions = 1000;
  if (regions.size() > kMaxRegions) {
    absl::c_stable_sort(regions, [&](const RegionSpan& a, const RegionSpan& b) {
      return end_of(a) - begin_of(a) > end_of(b) - begin_of(b);
    });
    regions.erase(regions.begin() + kMaxRegions, regions.end());
  }
  absl::c_stable_sort(regions, [&](const RegionSpan& a, const RegionSpan& b) {
    return std::pair(begin_of(a), -end_of(a)) < std::pair(begin_of(b), -end_of(b));
  });
  // The ends of the regions that are open, by goroutine: those around the next one.
  absl::flat_hash_map<GoId, std::vector<int64_t>> open;
  for (const RegionSpan& region : regions) {
    std::vector<int64_t>& around = open[region.goroutine];
    while (!around.empty() && around.back() <= begin_of(region)) around.pop_back();
    json->BeginArray();
    json->Value(begin_of(region));
    json->Value(end_of(region) - begin_of(region));
    json->Value(names->IndexOf(types.String(region.type)));
    json->Value(region.goroutine.value);
    json->Value(uint64_t{around.size()});
    json->EndArray();
    around.push_back(end_of(region));
  }
}

class TraceView::Impl {
 public:
  Impl(std::unique_ptr<ByteSource> source, TraceIndex index, TraceViewOptions options)
      : options_(std::move(options)),
        trace_(std::make_shared<OpenedTrace>(std::move(source), std::move(index))) {}

  absl::Status Read();
  ViewAnswer Answer(absl::string_view request, const std::function<bool()>& keep_going) const;

 private:
  // Reads the trace of `known` once.
  absl::Status ReadInto(Known* known);

  const TraceViewOptions options_;
  std::atomic<uint64_t> bytes_read_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<uint64_t> events_ = 0;
  mutable Previews previews_;
  const std::shared_ptr<const OpenedTrace> trace_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Known> known_;  // Once the trace is read.
};

absl::Status TraceView::Impl::ReadInto(Known* known) {
  const auto make_sink = [this] {
    return std::make_unique<Sink>(
        [this](Interner* interner) {
          return std::make_unique<Overview>(interner, previews_.MakeWatch());
        },
        AnalysisSink::Options());
  };
  const auto on_progress = [this](const ReadProgress& progress) {
    bytes_read_ = progress.bytes;
    bytes_ = progress.total;
    events_ = progress.events;
  };
  const ByteSource& source = *known->trace->source;
  return ReadParallel(source.Fork(0), options_.reader, make_sink, &known->sink, on_progress);
}

absl::Status TraceView::Impl::Read() {
  auto known = std::make_shared<Known>();
  known->trace = trace_;
  absl::Status status = ReadInto(known.get());
  const std::optional<Fault> fault = FaultOf(status);
  if (fault.has_value()) {
    known->fault = FormatFault(*fault);
    absl::string_view shown = "everything before that is shown";
    absl::StatusOr<RepairedTrace> repaired = absl::UnavailableError("");
    if (options_.repair != nullptr) repaired = options_.repair();
    if (repaired.ok()) {
      absl::StatusOr<TraceIndex> index =
          TraceIndex::Build(*repaired->source, options_.reader.keep_going);
      auto sound = std::make_shared<Known>();
      if (index.ok()) {
        sound->trace =
            std::make_shared<OpenedTrace>(std::move(repaired->source), *std::move(index));
        if (ReadInto(sound.get()).ok()) {
          sound->fault = std::move(known->fault);
          known = std::move(sound);
          shown = repaired->remark;
        }
      }
    }
    absl::StrAppend(&known->fault, "; ", shown);
  } else if (!status.ok()) {
    known->fault = std::string(status.message());
  }
  ReaderOptions reader = options_.reader;
  reader.keep_going = nullptr;
  reader.jobs = 1;
  known->generations = std::make_unique<DecodedGenerations>(
      known->trace->source.get(), &known->trace->index, std::move(reader),
      known->sink->analysis().begin(), options_.cache_bytes);
  {
    const std::lock_guard lock(mutex_);
    known_ = std::move(known);
  }
  previews_.Clear();
  return status;
}

ViewAnswer TraceView::Impl::Answer(absl::string_view request,
                                   const std::function<bool()>& keep_going) const {
  std::shared_ptr<const Known> known;
  {
    const std::lock_guard lock(mutex_);
    known = known_;
  }
  if (known == nullptr) {
    const auto generations = trace_->index.generations();
    auto so_far = std::make_shared<Known>();
    so_far->trace = trace_;
    so_far->preview = previews_.Get(
        generations.empty() ? 0 : generations.back().first_time - trace_->index.start_time());
    known = std::move(so_far);
  }
  const ReadProgress progress = {bytes_read_, bytes_, events_};
  return Answers(options_, *known, progress, keep_going).Answer(request);
}

TraceView::TraceView(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceView::~TraceView() = default;

absl::StatusOr<std::unique_ptr<TraceView>> TraceView::Open(std::unique_ptr<ByteSource> source,
                                                           TraceViewOptions options) {
  absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source, options.reader.keep_going);
  if (!index.ok()) return index.status();
  return std::unique_ptr<TraceView>(new TraceView(
      std::make_unique<Impl>(std::move(source), *std::move(index), std::move(options))));
}

absl::Status TraceView::Read() { return impl_->Read(); }

ViewAnswer TraceView::Answer(absl::string_view request,
                             const std::function<bool()>& keep_going) const {
  return impl_->Answer(request, keep_going);
}

std::vector<TraceView::Request> TraceView::Requests() {
  std::vector<Request> requests;
  for (const Answers::Row& row : Answers::Rows()) {
    requests.push_back(
        {row.path, absl::StrSplit(row.parameters, ' ', absl::SkipEmpty()), row.handler == nullptr});
  }
  return requests;
}

}  // namespace gotrace
