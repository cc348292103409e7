// One span of a lane, with what began and ended it, and the arrows between goroutines.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "analysis/intervals/waker.h"
#include "gotrace/fault.h"
#include "view/answers.h"

namespace gotrace::internal::view {
namespace {

// The most goroutines that a span names as woken.
constexpr size_t kMaxWakes = 100;

// The ids of the collector's lanes, which no other request has.
constexpr absl::string_view kStopsLane = "stops";
constexpr absl::string_view kCyclesLane = "cycles";

// Returns who ended a wait for `reason`, of whose begin the generation in which it ended says
// nothing.
Cause WithWaker(Cause cause, absl::string_view reason) {
  if (cause.kind == CauseKind::kUnknown) cause.kind = WakerOf(reason);
  return cause;
}

}  // namespace

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
  overview().crossing().ForEach(give);
  const auto generation = generations_->Get(n);
  if (!generation.ok()) return generation.status();
  (*generation)->pieces.ForEach(give);
  return absl::OkStatus();
}

absl::StatusOr<GoroutineIntervals> Answers::IntervalsOf(GoId goroutine, size_t n) const {
  GoroutineIntervals result;
  result.sink = std::make_unique<AnalysisSink>(
      [&](Interner* /*interner*/) { return std::make_unique<IntervalsOfGoroutine>(goroutine); },
      AnalysisSink::Options());
  ReaderOptions options = options_.reader;
  options.keep_going = keep_going_;
  const absl::Status status = ReadGeneration(*source_, index_, n, options, result.sink.get());
  if (!status.ok() && !FaultOf(status).has_value()) return status;
  return result;
}

absl::StatusOr<Answers::WaitBefore> Answers::FindWaitBefore(GoId goroutine,
                                                            const LanePiece& piece) const {
  WaitBefore result;
  std::optional<int64_t> begin;
  overview().crossing().ForEach([&](const LanePiece& one) {
    if (one.goroutine == goroutine && one.end == piece.begin) begin = one.begin;
  });
  if (!begin.has_value()) return result;
  absl::StatusOr<GoroutineIntervals> there = IntervalsOf(goroutine, GenerationAt(*begin));
  if (!there.ok()) return there.status();
  for (const GoInterval& interval : there->intervals().own()) {
    if (SinceBegin(interval.begin) != *begin) continue;
    result.reason = there->interner().String(interval.reason);
    result.stack = interval.stack;
  }
  result.intervals = *std::move(there);
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

void Answers::AppendPlace(absl::string_view key, absl::string_view lane, std::optional<int64_t> at,
                          JsonWriter* json) const {
  json->Key(key);
  if (!at.has_value()) return json->Null();
  json->BeginObject();
  json->Member("lane", lane);
  json->Member("at", *at);
  json->EndObject();
}

void Answers::AppendCause(absl::string_view key, const std::optional<Cause>& cause, int64_t time,
                          const Interner& interner, JsonWriter* json) const {
  json->Key(key);
  if (!cause.has_value()) return json->Null();
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

absl::StatusOr<Answers::FoundSpan> Answers::FindSpan(const LaneId& lane, int64_t at) const {
  FoundSpan found;
  const size_t n = GenerationAt(at);
  std::optional<LanePiece> piece;
  absl::Status status = ForEachPiece(lane, n, [&](const LanePiece& one) {
    if (one.begin <= at && at < one.end) piece = one;
  });
  if (!status.ok()) return status;
  if (!piece.has_value()) {
    const bool is_known =
        (lane.kind == LaneKind::kProc && overview().procs().contains(ProcId{lane.number})) ||
        (lane.kind == LaneKind::kThread && overview().threads().contains(ThreadId{lane.number}));
    if (!is_known || at >= overview().duration()) {
      return absl::NotFoundError("the lane has nothing at this time");
    }
  }
  // An idle span lasts from the piece before to the piece after it.
  found.piece = piece.value_or(LanePiece{.begin = at, .end = at, .proc_until = at});

  // The neighbours are where the piece begins and ends, or near that. Pieces that cross between
  // generations are found from all of them, so one that is not in the generation may be too far.
  constexpr size_t kGenerations = 4;
  const std::vector<int64_t>& syncs = overview().syncs();
  std::optional<int64_t>& previous = found.previous;
  std::optional<int64_t>& next = found.next;
  const auto look_before = [&](const LanePiece& one) {
    if (one.end <= found.piece.begin) previous = std::max(previous.value_or(0), one.end - 1);
  };
  const auto look_after = [&](const LanePiece& one) {
    if (one.begin >= found.piece.end) next = std::min(next.value_or(kMaxViewTime), one.begin);
  };
  const size_t begin_generation = GenerationAt(found.piece.begin);
  const size_t end_generation = GenerationAt(found.piece.end);
  int64_t earliest = at;
  int64_t latest = at + 1;
  for (size_t i = 0; i < kGenerations && i <= begin_generation && status.ok(); ++i) {
    status = ForEachPiece(lane, begin_generation - i, look_before);
    earliest = i == begin_generation ? 0 : std::min(earliest, syncs[begin_generation - i]);
    if (previous.has_value() && *previous >= syncs[begin_generation - i]) break;
  }
  // One that was found in no generation that was looked at may not be the nearest.
  if (previous.has_value() && *previous < earliest) previous.reset();
  for (size_t i = end_generation;
       i < end_generation + kGenerations && i < index_.generations().size() && status.ok(); ++i) {
    status = ForEachPiece(lane, i, look_after);
    const bool is_last = i + 1 >= index_.generations().size() || i + 1 >= syncs.size();
    latest = is_last ? overview().duration() : std::max(latest, syncs[i + 1]);
    if (next.has_value() && (is_last || *next < latest)) break;
  }
  if (next.has_value() && *next > latest) next.reset();
  if (!status.ok()) return status;
  if (!piece.has_value()) {
    found.piece.begin = previous.has_value() ? *previous + 1 : earliest;
    found.piece.end = next.value_or(latest);
  }
  return found;
}

absl::Status Answers::AnswerSpan(const ViewRequest& request, JsonWriter* json) const {
  const std::string* const text = request.Find("lane");
  if (text == nullptr) return absl::InvalidArgumentError("lane is missing");
  const absl::StatusOr<int64_t> at = request.Number("at", 0, kMaxViewTime, -1);
  if (!at.ok()) return at.status();
  if (*at < 0) return absl::InvalidArgumentError("at is missing");
  if (*text == kStopsLane || *text == kCyclesLane) return AnswerMark(*text, *at, json);
  const std::optional<LaneId> lane = ReadLaneId(*text);
  if (!lane.has_value() || lane->kind == LaneKind::kGroup) {
    return absl::InvalidArgumentError(
        "lane must be that of a P, a thread or a goroutine, stops or cycles");
  }
  const absl::StatusOr<FoundSpan> found = FindSpan(*lane, *at);
  if (!found.ok()) return found.status();
  const LanePiece& piece = found->piece;
  const Overview::Goroutine* const goroutine =
      piece.goroutine == GoId::kNone ? nullptr : overview().Find(piece.goroutine, piece.begin);
  json->Member("lane", absl::string_view(*text));
  json->Member("name", goroutine == nullptr ? absl::string_view() : NameOfGroup(goroutine->group));
  json->Member("begin", piece.begin);
  json->Member("end", piece.end);
  json->Member("state", LaneStateName(piece.state));
  AppendId("goroutine", piece.goroutine.value, json);
  AppendId("p", piece.proc.value, json);
  AppendId("m", piece.thread.value, json);
  AppendPlace("previous", *text, found->previous, json);
  AppendPlace("next", *text, found->next, json);
  return goroutine == nullptr ? absl::OkStatus() : AppendInterval(piece, *goroutine, json);
}

absl::Status Answers::AppendInterval(const LanePiece& piece, const Overview::Goroutine& goroutine,
                                     JsonWriter* json) const {
  json->Key("begin_clipped");
  json->Bool(piece.begin == goroutine.begin && !goroutine.begins);
  json->Key("end_clipped");
  json->Bool(piece.end == goroutine.end && !goroutine.ends);
  json->Key("created");
  if (goroutine.begins) {
    json->Value(goroutine.begin);
  } else {
    json->Null();
  }
  // Of the generations in which it begins and ends, which may be one.
  std::vector<GoroutineIntervals> parts;
  for (const size_t n : std::set<size_t>{GenerationAt(piece.begin), GenerationAt(piece.end)}) {
    absl::StatusOr<GoroutineIntervals> part = IntervalsOf(goroutine.id, n);
    if (!part.ok()) return part.status();
    parts.push_back(*std::move(part));
  }
  const GoroutineIntervals& beginning = parts.front();
  const GoroutineIntervals& ending = parts.back();

  const GoInterval* begun = nullptr;
  for (const GoInterval& interval : beginning.intervals().own()) {
    if (SinceBegin(interval.begin) <= piece.begin && piece.begin < SinceBegin(interval.end)) {
      begun = &interval;
    }
  }
  const GoInterval* ended = nullptr;
  for (const GoInterval& interval : ending.intervals().own()) {
    if (SinceBegin(interval.end) == piece.end && !interval.end_clipped) ended = &interval;
  }
  const absl::string_view reason =
      begun == nullptr ? absl::string_view() : beginning.interner().String(begun->reason);
  json->Member("go_state", GoStateName(begun == nullptr ? GoState::kUndetermined : begun->state));
  json->Member("reason", reason);
  // A run is without a stack, but what follows has the one with which it ended.
  const GoInterval* described = begun;
  const Interner* interner = &beginning.interner();
  if (begun != nullptr && begun->state == GoState::kRunning) {
    for (const GoInterval& interval : ending.intervals().own()) {
      if (ended == nullptr || interval.begin != ended->end) continue;
      described = &interval;
      interner = &ending.interner();
    }
  }
  StackId stack = described == nullptr ? StackId::kNone : described->stack;
  // A goroutine that was woken has the stack of its wait, which may have begun in an earlier
  // generation.
  WaitBefore before;
  if (begun != nullptr && begun->state == GoState::kRunnable && stack == StackId::kNone) {
    absl::StatusOr<WaitBefore> found = FindWaitBefore(goroutine.id, piece);
    if (!found.ok()) return found.status();
    before = *std::move(found);
    if (before.intervals.sink != nullptr) {
      stack = before.stack;
      interner = &before.intervals.interner();
    }
  }
  AppendStack(*interner, stack, json);
  const bool begins =
      begun != nullptr && SinceBegin(begun->begin) == piece.begin && !begun->begin_clipped;
  std::optional<Cause> begun_by;
  std::optional<Cause> ended_by;
  if (begins) begun_by = WithWaker(begun->begun_by, before.reason);
  if (ended != nullptr) ended_by = WithWaker(ended->ended_by, reason);
  AppendCause("begun_by", begun_by, piece.begin, beginning.interner(), json);
  AppendCause("ended_by", ended_by, piece.end, ending.interner(), json);
  AppendWakes(piece, parts, json);
  return absl::OkStatus();
}

void Answers::AppendWakes(const LanePiece& piece, absl::Span<const GoroutineIntervals> parts,
                          JsonWriter* json) const {
  json->Key("wakes");
  json->BeginArray();
  size_t count = 0;
  for (const GoroutineIntervals& part : parts) {
    for (const GoInterval& woken : part.intervals().woken()) {
      const int64_t time = SinceBegin(woken.begin);
      if (time < piece.begin || time > piece.end || ++count > kMaxWakes) continue;
      json->BeginObject();
      json->Member("lane", absl::string_view(absl::StrCat("g:", woken.goroutine.value)));
      json->Member("at", time);
      json->Member("name", NameOfGoroutine(woken.goroutine, time));
      json->EndObject();
    }
  }
  json->EndArray();
}

absl::Status Answers::AnswerMark(absl::string_view lane, int64_t at, JsonWriter* json) const {
  const bool is_stop = lane == kStopsLane;
  const std::vector<Overview::Mark>& marks = is_stop ? overview().stops() : overview().cycles();
  const auto after = absl::c_upper_bound(
      marks, at, [](int64_t time, const Overview::Mark& mark) { return time < mark.begin; });
  const auto begin_of = [&](auto mark) {
    return mark == marks.end() ? std::nullopt : std::optional<int64_t>(mark->begin);
  };
  const auto mark = after == marks.begin() ? marks.end() : after - 1;
  if (mark == marks.end() || (mark->begin != at && mark->end <= at)) {
    return absl::NotFoundError("the lane has nothing at this time");
  }
  json->Member("lane", lane);
  json->Member("name", interner().String(mark->name));
  json->Member("begin", mark->begin);
  json->Member("end", mark->end);
  json->Member("state", LaneStateName(is_stop ? LaneState::kStopped : LaneState::kGc));
  AppendId("goroutine", mark->goroutine.value, json);
  AppendId("p", mark->proc.value, json);
  AppendPlace("previous", lane, begin_of(mark == marks.begin() ? marks.end() : mark - 1), json);
  AppendPlace("next", lane, begin_of(after), json);
  AppendStack(interner(), mark->stack, json);
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
      const Arrow arrow = {SinceBegin(interval.begin), interval.begun_by.goroutine.value,
                           interval.goroutine.value,
                           interval.end_clipped ? -1 : SinceBegin(interval.end)};
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

}  // namespace gotrace::internal::view
