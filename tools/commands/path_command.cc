// The command `path`: why a task, a region or a goroutine took so long.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "export/json/json_text.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/critical_path.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/profile_table_command.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "path",
    .summary = "print the critical path of a task: why it took so long",
    .description =
        "Prints which goroutine a task was waiting for at each moment from its begin to its end, "
        "and whether that goroutine was running, waiting for a P (runnable), in a syscall, or "
        "blocked on something other than a goroutine. The path leads back from the goroutine that "
        "ended the task. While that goroutine was blocked until another one woke it up, the path "
        "is on the waker; before it was created, on its creator. The lengths of all pieces add up "
        "to the length of the task.\n\n"
        "With --type or --region, adds up the paths of all tasks or regions of a type, and prints "
        "where most of the time was spent, or with -o writes a profile for `go tool pprof`.",
    .examples =
        "  gotrace-dump path --task=282 trace.out\n"
        "  gotrace-dump path --g=7 --from=1s --to=1.5s trace.out\n"
        "  gotrace-dump path --type=request trace.out\n"
        "  gotrace-dump path --region=query --format=folded trace.out | flamegraph.pl > out.svg\n",
};

// The paths to find: one of the members is set.
struct PathChoice {
  std::optional<TaskId> task;
  std::optional<GoId> goroutine;
  std::string task_type;
  std::string region_type;

  bool is_single() const { return task.has_value() || goroutine.has_value(); }
};

class PathAnalysis final : public Analysis {
 public:
  PathAnalysis(Interner* interner, const PathChoice& choice, EventFilter::Times window)
      : interner_(*interner),
        choice_(choice),
        paths_(interner, {.window = window, .keep_procs = choice.is_single()}) {}

  void AddEvents(absl::Span<const Event> events) override { paths_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval) override { paths_.AddGoroutine(interval); }

  void Finish(int64_t end) override {
    paths_.Finish(end);
    const std::vector<PathSpan> spans = Spans();
    // This takes some seconds.
    constexpr uint64_t kMaxPieces = uint64_t{1} << 28;
    PathSum sum = paths_.Sum(spans, kMaxPieces);
    samples_ = std::move(sum.samples);
    if (sum.paths < spans.size()) {
      notes_.push_back(absl::StrCat("added up only the first ", sum.paths, " of ", spans.size(),
                                    " paths, which have too many pieces"));
    }
    found_ = !spans.empty();
    if (!choice_.is_single() || spans.empty()) return;
    pieces_ = paths_.Find(spans[0]);
    ran_ = paths_.HadProcsDuring(pieces_);
  }

  // Return the pieces of a single path, and for each piece the goroutines that had a P.
  absl::Span<const PathPiece> pieces() const { return pieces_; }
  absl::Span<const std::vector<GoroutineTime>> ran() const { return ran_; }

  // Returns whether there is anything whose path can be found.
  bool found() const { return found_; }

  absl::Span<const ProfileSample> samples() const { return samples_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<PathSpan> Spans() {
    std::vector<PathSpan> spans;
    if (choice_.goroutine.has_value()) {
      if (const auto span = paths_.SpanOf(*choice_.goroutine)) spans.push_back(*span);
      return spans;
    }
    const bool is_region = !choice_.region_type.empty();
    const std::string& type = is_region ? choice_.region_type : choice_.task_type;
    uint64_t clipped = 0;
    for (const PathSpan& span : is_region ? paths_.regions() : paths_.tasks()) {
      if (choice_.task.has_value()) {
        if (span.task != *choice_.task) continue;
        spans.push_back(span);
        NoteClips(span);
      } else if (!span.is_nested && interner_.String(span.type) == type) {
        if (span.begin_clipped || span.end_clipped) {
          ++clipped;
        } else {
          spans.push_back(span);
        }
      }
    }
    if (clipped > 0) {
      notes_.push_back(absl::StrCat("left out ", clipped, " of ", clipped + spans.size(),
                                    is_region ? " regions" : " tasks",
                                    ", whose begin or end was not read"));
    }
    return spans;
  }

  void NoteClips(const PathSpan& task) {
    if (task.begin_clipped) {
      notes_.emplace_back(
          "the task began before the first event that was read; its path is cut there");
    }
    if (task.end_clipped) {
      notes_.emplace_back(
          "the end of the task was not read; the path is that of the goroutine that began it");
    }
  }

  const Interner& interner_;
  const PathChoice choice_;
  CriticalPaths paths_;
  bool found_ = false;
  std::vector<PathPiece> pieces_;
  std::vector<std::vector<GoroutineTime>> ran_;
  std::vector<ProfileSample> samples_;
  std::vector<std::string> notes_;
};

absl::string_view StateText(GoState state) {
  return state == GoState::kUndetermined ? "" : GoStateName(state);
}

absl::string_view WokenByText(CauseKind kind) {
  return kind == CauseKind::kUnknown ? "" : CauseKindName(kind);
}

// Returns the times of the goroutines that had a P, by the function that they started in.
std::vector<NamedNumber> RanByFunction(absl::Span<const GoroutineTime> ran,
                                       const Interner& interner) {
  std::map<absl::string_view, int64_t> sums;
  for (const GoroutineTime& one : ran) {
    int64_t& sum = sums[interner.String(one.start)];
    sum = TraceClock::Add(sum, one.time);
  }
  std::vector<NamedNumber> numbers;
  for (const auto& [name, sum] : sums) numbers.push_back({name, sum});
  return numbers;
}

// Returns the goroutines that had a P for the longest time, as JSON.
std::string RanText(absl::Span<const GoroutineTime> ran, const Interner& interner) {
  constexpr size_t kGoroutines = 10;
  TextBuffer json;
  json.Append('[');
  for (const GoroutineTime& one : ran.first(std::min(ran.size(), kGoroutines))) {
    json.Append(json.view().size() > 1 ? "," : "", "{\"g\":", one.goroutine.value, ",\"name\":");
    AppendJsonString(interner.String(one.start), &json);
    json.Append(",\"time_ns\":", one.time, "}");
  }
  json.Append(']');
  return std::string(json.view());
}

// Returns why a goroutine does not run, for people. For a goroutine that waits for a P, this is
// what the Ps ran.
std::string WhyText(const PathPiece& piece, absl::Span<const NamedNumber> ran,
                    const Interner& interner) {
  if (piece.state == GoState::kUndetermined) return "not in the trace";
  if (piece.state == GoState::kWaiting && piece.reason == StringId::kEmpty) {
    return std::string(kUnknownName);
  }
  if (piece.state != GoState::kRunnable || piece.is_stopped) {
    return std::string(interner.String(piece.reason));
  }
  int64_t sum = 0;
  NamedNumber largest;
  for (const NamedNumber& one : ran) {
    sum = TraceClock::Add(sum, one.number);
    if (one.number > largest.number) largest = one;
  }
  if (sum <= 0) return "Ps: idle";
  return absl::StrFormat("Ps: %s %.0f%%", largest.name.empty() ? kUnknownName : largest.name,
                         100 * static_cast<double>(largest.number) / static_cast<double>(sum));
}

Table PieceTable(absl::Span<const PathPiece> pieces,
                 absl::Span<const std::vector<GoroutineTime>> ran, const Interner& interner) {
  using Row = const PathPiece&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kTime = Unit::kNanoseconds;
  // Returns the goroutines that ran during a piece.
  const auto ran_during = [pieces, ran](Row piece) -> absl::Span<const GoroutineTime> {
    return ran[static_cast<size_t>(&piece - pieces.data())];
  };
  return ColumnList<PathPiece>(pieces)
      .Add("begin_ns", "BEGIN", kNone, &PathPiece::begin)
      .Add("end_ns", "", kNone, &PathPiece::end)
      .Add("length_ns", "LENGTH", kTime, [](Row p) { return TraceClock::Subtract(p.end, p.begin); })
      .Add("depth", "DEPTH", kNone, &PathPiece::depth)
      .Add("g", "G", kNone, &PathPiece::goroutine)
      .Add("state", "STATE", kNone, [](Row p) { return StateText(p.state); })
      .Add("reason", "", kNone, [&interner](Row p) { return interner.String(p.reason); })
      .Add("", "REASON", kNone,
           [=, &interner](Row p) {
             return WhyText(p, RanByFunction(ran_during(p), interner), interner);
           })
      .Add("woken_by", "", kNone, [](Row p) { return WokenByText(p.woken_by); })
      .Add("ran_ns", "", kTime,
           [=, &interner](Row p) { return RanByFunction(ran_during(p), interner); })
      .Add("ran", "", kNone,
           [=, &interner](Row p) { return JsonText{RanText(ran_during(p), interner)}; })
      .Add("start", "", kNone, [&interner](Row p) { return interner.String(p.start); })
      .Add("stack", "STACK", kNone,
           [&interner](Row p) { return StackText({.stack = p.stack, .start = p.start}, interner); })
      .ToTable();
}

Table SampleTable(absl::Span<const ProfileSample> samples, const Interner& interner) {
  using Row = const ProfileSample&;
  constexpr Unit kNone = Unit::kNone;
  double sum = 0;
  for (Row sample : samples) sum += static_cast<double>(sample.value.time);
  return ColumnList<ProfileSample>(samples)
      .Add("time_ns", "TIME", Unit::kNanoseconds, [](Row s) { return s.value.time; })
      .Add("share", "SHARE", Unit::kShare,
           [=](Row s) { return static_cast<double>(s.value.time) / sum; })
      .Add("count", "COUNT", kNone, [](Row s) { return s.value.count; })
      .Add("state", "STATE", kNone, [](Row s) { return StateText(s.key.state); })
      .AddReason(
          "REASON", [&interner](Row s) { return interner.String(s.key.reason); },
          [](Row s) { return s.key.state == GoState::kWaiting; })
      .Add("woken_by", "", kNone, [](Row s) { return WokenByText(s.key.woken_by); })
      .Add("start", "", kNone, [&interner](Row s) { return interner.String(s.key.start); })
      .Add("stack", "STACK", kNone,
           [&interner](Row s) {
             return StackText({.stack = s.key.stack, .start = s.key.start}, interner);
           })
      .ToTable();
}

class PathCommand final : public ProfileTableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {
        {.name = "task",
         .value = "ID",
         .help = "The path of this task.",
         .set = SetId(&choice_.task)},
        {.name = "g",
         .value = "ID",
         .help = "The path of this goroutine, from its first to its last event in the trace, "
                 "or in the window.",
         .set = SetId(&choice_.goroutine)},
        {.name = "type",
         .value = "TYPE",
         .help = "The sum of the paths of all tasks of this type that begin and end in the trace.",
         .set = SetText(&choice_.task_type)},
        {.name = "region",
         .value = "TYPE",
         .help = "The sum of the paths of all regions of this type that begin and end in the "
                 "trace. Regions inside another region of the same type do not count.",
         .set = SetText(&choice_.region_type)},
        TargetFlag("a profile")};
  }

  absl::Status CheckOwn() const override {
    const int given = choice_.task.has_value() + choice_.goroutine.has_value() +
                      !choice_.task_type.empty() + !choice_.region_type.empty();
    if (given == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "give one of --task, --g, --type and --region to select the path");
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      return std::make_unique<PathAnalysis>(interner, choice_, filter.times);
    });
  }

  std::vector<Selection> Selections() const override { return {}; }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    return choice_.is_single() ? PieceTable(RowsOf(analysis, &PathAnalysis::pieces),
                                            RowsOf(analysis, &PathAnalysis::ran), interner)
                               : SampleTable(RowsOf(analysis, &PathAnalysis::samples), interner);
  }

  absl::string_view RowsName() const override { return choice_.is_single() ? "pieces" : "samples"; }

  absl::Span<const ProfileSample> SamplesOf(const Analysis& analysis) const override {
    return static_cast<const PathAnalysis&>(analysis).samples();
  }
  ProfileForm form() const override {
    return {.count_name = "pieces", .time_name = "time", .shows_states = true};
  }

  absl::Status CheckFound(const Analysis& analysis) const override {
    if (!choice_.is_single() || static_cast<const PathAnalysis&>(analysis).found()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        choice_.task.has_value() ? absl::StrCat("found no task ", choice_.task->value)
                                 : absl::StrCat("found no goroutine ", choice_.goroutine->value));
  }
  std::vector<std::string> NotesOn(const Analysis& analysis) const override {
    return static_cast<const PathAnalysis&>(analysis).notes();
  }

 private:
  PathChoice choice_;
};

}  // namespace

std::unique_ptr<Command> MakePathCommand() { return std::make_unique<PathCommand>(); }

}  // namespace gotrace::internal
