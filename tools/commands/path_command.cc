// The command `path`: why a task, a region or a goroutine took so long.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "analysis/intervals/selected_names.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/intervals/stack_places.h"
#include "export/json/json_text.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/critical_path.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/profile_table_command.h"
#include "tools/commands/stack_columns.h"
#include "util/quote.h"

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
        "to the length of the task. Without a flag that says whose path it is, it is that of the "
        "slowest task, or of main if there are no tasks.\n\n"
        "With --type, --region or --func, adds up the paths of all tasks, regions or goroutines of "
        "a kind, and prints where most of the time was spent, or with -o writes a profile for `go "
        "tool pprof`. --min, --max and --worst select the long ones; --by says what to add up, "
        "also of a single path.",
    .examples =
        "  gotrace-dump path trace.out\n"
        "  gotrace-dump path --task=282 trace.out\n"
        "  gotrace-dump path --g=7 --from=1s --to=1.5s trace.out\n"
        "  gotrace-dump path --type=request --min=100ms --by=func trace.out\n"
        "  gotrace-dump path --func='main.handle.*' --worst=10 trace.out\n"
        "  gotrace-dump path --region=query --format=folded trace.out | flamegraph.pl > out.svg\n",
};

// The paths to find. At most one of the first five members is set.
struct PathChoice {
  std::optional<TaskId> task;
  std::optional<GoId> goroutine;
  std::string task_type;
  std::string region_type;
  std::string start;  // A pattern for the functions in which goroutines started.

  // Which of several paths to add up: by their length, and the longest of these.
  LengthFlags length;
  uint64_t worst = 0;  // 0 for all.

  bool has_limits() const { return length.is_set() || worst > 0; }
  bool names_nothing() const {
    return !task.has_value() && !goroutine.has_value() && task_type.empty() &&
           region_type.empty() && start.empty();
  }
  // Whether it is the path of the slowest task, or of main.
  bool is_slowest() const { return names_nothing() && !has_limits(); }
  bool is_single() const { return task.has_value() || goroutine.has_value() || is_slowest(); }
};

int64_t LengthOf(const PathSpan& span) { return TraceClock::Subtract(span.end, span.begin); }

class PathAnalysis final : public Analysis {
 public:
  // `keeps_pieces` says whether pieces() and ran() are needed.
  PathAnalysis(Interner* interner, const PathChoice& choice, bool keeps_pieces,
               const EventFilter& filter)
      : interner_(*interner),
        choice_(choice),
        keeps_pieces_(keeps_pieces),
        paths_(interner, {.window = filter.times, .keep_procs = keeps_pieces, .by_region = true}),
        stacks_(interner, filter.stacks) {}

  void AddEvents(absl::Span<const Event> events) override { paths_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval) override { paths_.AddGoroutine(interval); }

  void Finish(int64_t end) override {
    paths_.Finish(end);
    const std::vector<PathSpan> spans = choice_.is_single() ? SingleSpan() : Spans();
    // This takes some seconds.
    constexpr uint64_t kMaxPieces = uint64_t{1} << 28;
    PathSum sum = paths_.Sum(spans, kMaxPieces);
    for (const ProfileSample& sample : sum.samples) {
      if (stacks_.Has(sample.key.stack)) samples_.push_back(sample);
    }
    if (sum.paths < spans.size()) {
      notes_.push_back(absl::StrCat("added up only the first ", sum.paths, " of ", spans.size(),
                                    " paths, which have too many pieces"));
    }
    found_ = !spans.empty();
    if (!keeps_pieces_ || spans.empty()) return;
    for (const PathPiece& piece : paths_.Find(spans[0])) {
      if (stacks_.Has(piece.stack)) pieces_.push_back(piece);
    }
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
  std::vector<PathSpan> SingleSpan() {
    if (choice_.is_slowest()) return SlowestSpan();
    std::vector<PathSpan> spans;
    if (choice_.goroutine.has_value()) {
      if (const auto span = paths_.SpanOf(*choice_.goroutine)) spans.push_back(*span);
      return spans;
    }
    for (const PathSpan& span : paths_.tasks()) {
      if (span.task != *choice_.task) continue;
      spans.push_back(span);
      NoteClips(span);
    }
    return spans;
  }

  // Returns the slowest of the tasks that are complete, else of all tasks, else main.
  std::vector<PathSpan> SlowestSpan() {
    const auto is_slower = [](const PathSpan& a, const PathSpan& b) {
      const auto is_complete = [](const PathSpan& span) {
        return !span.begin_clipped && !span.end_clipped;
      };
      return std::pair(is_complete(a), LengthOf(a)) > std::pair(is_complete(b), LengthOf(b));
    };
    const absl::Span<const PathSpan> tasks = paths_.tasks();
    if (!tasks.empty()) {
      const PathSpan& slowest = *absl::c_min_element(tasks, is_slower);
      notes_.push_back(absl::StrCat("this is the slowest task, ", slowest.task.value, " (",
                                    interner_.String(slowest.type), ", ",
                                    FormatNanoseconds(LengthOf(slowest)), "), of ", tasks.size(),
                                    "; --task=ID selects another"));
      NoteClips(slowest);
      return {slowest};
    }
    // The runtime starts it as the first goroutine.
    const auto main = paths_.SpanOf(GoId{1});
    if (!main.has_value()) return {};
    notes_.emplace_back("there are no tasks, so this is main, goroutine 1; --g=ID selects another");
    return {*main};
  }

  // What the spans of Spans() are, for people.
  absl::string_view noun() const {
    return !choice_.start.empty()         ? "goroutines"
           : !choice_.region_type.empty() ? "regions"
                                          : "tasks";
  }

  std::vector<PathSpan> Spans() {
    const bool has_goroutines = !choice_.start.empty();
    std::vector<PathSpan> all;
    if (has_goroutines) {
      all = paths_.goroutines();
    } else {
      const absl::Span<const PathSpan> some =
          choice_.region_type.empty() ? paths_.tasks() : paths_.regions();
      all.assign(some.begin(), some.end());
    }
    SelectedNames starts(&interner_, choice_.start, SelectedNames::Of::kWhole);
    const std::string& type = choice_.region_type.empty() ? choice_.task_type : choice_.region_type;
    std::vector<PathSpan> spans;
    uint64_t clipped = 0;
    size_t other_lengths = 0;
    for (const PathSpan& span : all) {
      if (!starts.Has(span.type) || span.is_nested) continue;
      if (!type.empty() && interner_.String(span.type) != type) continue;
      // Most goroutines that last are older than the trace.
      if (!has_goroutines && (span.begin_clipped || span.end_clipped)) {
        ++clipped;
        continue;
      }
      if (choice_.length.Has(LengthOf(span))) {
        spans.push_back(span);
      } else {
        ++other_lengths;
      }
    }
    if (clipped > 0) {
      notes_.push_back(absl::StrCat("left out ", clipped, " of ",
                                    clipped + other_lengths + spans.size(), " ", noun(),
                                    ", whose begin or end was not read"));
    }
    if (spans.empty() && other_lengths > 0) {
      notes_.push_back(
          absl::StrCat("all ", other_lengths, " ", noun(), " are shorter or longer than that"));
    }
    KeepWorst(&spans);
    return spans;
  }

  void KeepWorst(std::vector<PathSpan>* spans) {
    if (choice_.worst == 0) return;
    absl::c_stable_sort(
        *spans, [](const PathSpan& a, const PathSpan& b) { return LengthOf(a) > LengthOf(b); });
    if (spans->size() > choice_.worst) spans->resize(choice_.worst);
    if (spans->empty()) return;
    constexpr size_t kNamed = 5;
    std::vector<std::string> names;
    for (const PathSpan& span : *spans) {
      const bool is_task = choice_.start.empty() && choice_.region_type.empty();
      names.push_back(
          absl::StrCat(is_task ? "" : "G ",
                       is_task ? absl::StrCat(span.task.value) : absl::StrCat(span.goroutine.value),
                       " (", FormatNanoseconds(LengthOf(span)), ")"));
      if (names.size() == kNamed) break;
    }
    if (spans->size() > kNamed) names.push_back("and so on");
    notes_.push_back(absl::StrCat("the slowest ", noun(), " are ", absl::StrJoin(names, ", ")));
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
  const bool keeps_pieces_;
  CriticalPaths paths_;
  SelectedStacks stacks_;
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

// "region query"; "" outside of regions.
std::string RegionText(StringId region, const Interner& interner) {
  return region == StringId::kEmpty ? "" : absl::StrCat("region ", interner.String(region));
}

// Returns why a goroutine does not run, for people. For a goroutine that waits for a P, this is
// what the Ps ran, and for one that runs the region that it is in.
std::string WhyText(const PathPiece& piece, absl::Span<const NamedNumber> ran,
                    const Interner& interner) {
  if (piece.state == GoState::kUndetermined) return "not in the trace";
  if (piece.state == GoState::kWaiting && piece.reason == StringId::kEmpty) {
    return std::string(kUnknownName);
  }
  if (piece.state == GoState::kRunning && piece.reason == StringId::kEmpty) {
    return RegionText(piece.region, interner);
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

// Returns what text has before a stack, which is that at the end of a time in which a goroutine
// ran.
absl::string_view UpTo(GoState state, const ProfileKey& key) {
  const bool is_known = key.stack != StackId::kNone || key.start != StringId::kEmpty;
  return state == GoState::kRunning && is_known ? "up to " : "";
}

Table PieceTable(absl::Span<const PathPiece> pieces,
                 absl::Span<const std::vector<GoroutineTime>> ran, const Interner& interner) {
  using Row = const PathPiece&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kTime = Unit::kNanoseconds;
  const auto key_of = [](Row p) { return ProfileKey{.stack = p.stack, .start = p.start}; };
  const auto labels = LabelsOf(pieces, key_of, interner);
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
      .Add(StackColumns("stack", "STACK", labels, interner, key_of,
                        [key_of](Row p) { return p.is_stopped ? "" : UpTo(p.state, key_of(p)); }))
      .Add("region", "", kNone, [&interner](Row p) { return interner.String(p.region); })
      .Add(PlaceColumns("", interner, &PathPiece::stack))
      .Minor({"DEPTH"})
      .ToTable();
}

// What --by adds up. The names are in the order of the flag.
enum By : size_t { kState, kReason, kFunction, kStack };

// The sum of pieces of which everything that --by asks for is equal. The rest of the key and of the
// place is empty.
struct PathSumRow {
  ProfileKey key;
  WaitPlace place;
  ProfileValue value;
};

std::vector<PathSumRow> SumsBy(By by, bool merges_lines, absl::Span<const ProfileSample> samples,
                               const Interner& interner) {
  std::vector<PathSumRow> rows;
  absl::flat_hash_map<std::pair<ProfileKey, WaitPlace>, size_t> places;
  StackPlaces stacks(&interner);
  StacksByFunctions functions(&interner);
  for (const ProfileSample& sample : samples) {
    PathSumRow row;
    row.key = sample.key;
    if (by == kStack) {
      if (merges_lines) row.key.stack = functions.Of(row.key.stack);
    } else {
      row.key = {.state = sample.key.state};
      if (by != kState) {
        row.key.reason = sample.key.reason;
        row.key.region = sample.key.region;
      }
      if (by == kFunction) {
        const WaitPlace& place = stacks.Of(sample.key.stack).place;
        row.place.function = place.function;
        row.place.library = place.library;
        if (place.function == StringId::kEmpty) row.place.function = sample.key.start;
      }
    }
    const auto [it, is_new] = places.try_emplace(std::pair(row.key, row.place), rows.size());
    if (is_new) rows.push_back(row);
    ProfileValue& value = rows[it->second].value;
    value.count += sample.value.count;
    value.time = TraceClock::Add(value.time, sample.value.time);
  }
  // Those with the most time come first. Samples are in an order of their own, which decides
  // otherwise.
  absl::c_stable_sort(rows, [](const PathSumRow& a, const PathSumRow& b) {
    return std::pair(a.value.time, a.value.count) > std::pair(b.value.time, b.value.count);
  });
  return rows;
}

// Returns whether these are stops of the world, in which a goroutine was where it is said to be.
bool IsStop(const ProfileKey& key, const Interner& interner) {
  return absl::StartsWith(interner.String(key.reason), "world stopped (");
}

// Returns where the goroutine was, for people.
std::string WhereText(const PathSumRow& row, const Interner& interner) {
  if (row.place.function == StringId::kEmpty) return "";
  const bool is_end = row.key.state == GoState::kRunning && !IsStop(row.key, interner);
  return absl::StrCat(is_end ? "up to " : "", FunctionText(row.place, interner));
}

Table SumTable(By by, bool merges_lines, absl::Span<const ProfileSample> samples,
               const Interner& interner) {
  using Row = const PathSumRow&;
  constexpr Unit kNone = Unit::kNone;
  double sum = 0;
  for (const ProfileSample& sample : samples) sum += static_cast<double>(sample.value.time);
  const auto text = [&interner](StringId ProfileKey::*id) {
    return [&interner, id](Row r) { return interner.String(r.key.*id); };
  };
  const auto key_of = [](Row r) { return ProfileKey{.stack = r.key.stack, .start = r.key.start}; };
  std::vector<PathSumRow> rows = SumsBy(by, merges_lines, samples, interner);
  const auto labels = LabelsOf(absl::MakeConstSpan(rows), key_of, interner);
  ColumnList<PathSumRow> columns(std::move(rows));
  columns.Add("time_ns", "TIME", Unit::kNanoseconds, [](Row r) { return r.value.time; })
      .Add("share", "SHARE", Unit::kShare,
           [=](Row r) { return sum > 0 ? static_cast<double>(r.value.time) / sum : 0; })
      .Add("count", "COUNT", kNone, [](Row r) { return r.value.count; })
      .Add("state", "STATE", kNone, [](Row r) { return StateText(r.key.state); })
      .AddIf(by != kState, "reason", "", kNone, text(&ProfileKey::reason))
      .AddIf(by != kState, "", "REASON", kNone,
             [&interner](Row r) {
               const absl::string_view reason = interner.String(r.key.reason);
               if (!reason.empty()) return std::string(reason);
               if (r.key.state == GoState::kWaiting) return std::string(kUnknownName);
               return RegionText(r.key.region, interner);
             })
      .AddIf(by == kStack, "woken_by", "", kNone, [](Row r) { return WokenByText(r.key.woken_by); })
      .AddIf(by == kStack, "start", "", kNone, text(&ProfileKey::start))
      .AddIf(by != kState, "region", "", kNone, text(&ProfileKey::region))
      .AddIf(by == kFunction, "function", "", kNone,
             [&interner](Row r) { return interner.String(r.place.function); })
      .AddIf(by == kFunction, "library", "", kNone,
             [&interner](Row r) { return interner.String(r.place.library); })
      .AddIf(by == kFunction, "", "WHERE", kNone,
             [&interner](Row r) { return WhereText(r, interner); });
  if (by == kStack) {
    columns
        .Add(StackColumns("stack", "STACK", labels, interner, key_of,
                          [key_of, &interner](Row r) {
                            return IsStop(r.key, interner) ? "" : UpTo(r.key.state, key_of(r));
                          }))
        .Add(PlaceColumns("", interner, [](Row r) { return r.key.stack; }));
  }
  return columns.ToTable();
}

class PathCommand final : public ProfileTableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    std::vector<Flag> rows = {
        {.name = "task",
         .value = "ID",
         .help = "The path of this task.",
         .set =
             [this](absl::string_view text) {
               if (!text.empty() && absl::ascii_isalpha(text[0])) {
                 return absl::InvalidArgumentError(
                     absl::StrCat("expected the id of a task, found ", Quoted(text),
                                  "; --type takes the type of tasks"));
               }
               return SetId(&choice_.task)(text);
             }},
        {.name = "g",
         .value = "ID",
         .help = "The path of this goroutine, from its first to its last event in the trace, "
                 "or in the window.",
         .set = SetId(&choice_.goroutine)},
        {.name = "type",
         .value = "TYPE",
         .help = "The sum of the paths of all tasks of this type that begin and end in the trace.",
         .set = SetText(&choice_.task_type),
         .selects = true},
        {.name = "region",
         .value = "TYPE",
         .help = "The sum of the paths of all regions of this type that begin and end in the "
                 "trace. Regions inside another region of the same type do not count.",
         .set = SetText(&choice_.region_type),
         .selects = true},
        StartFlag("The sum of the paths of all goroutines that started", &choice_.start),
        {.name = "worst",
         .value = "N",
         .help =
             "Only the N longest paths. It, --min and --max are about all tasks without --type, "
             "--region and --func.",
         .set = SetNumber(1, &choice_.worst)},
        {.name = "by",
         .value = "WHAT",
         .help = "Add up the pieces by the state of the goroutine (state); also by what it waited "
                 "for, or the region that it ran in (reason); also by the function of the program "
                 "that it was in, or up to which it ran (func); or by its stack (stack, the "
                 "default for several paths).",
         .set = SetChoice({"state", "reason", "func", "stack"},
                          [this](size_t by) { by_ = static_cast<By>(by); })},
        TargetFlag("a profile")};
    AppendRows(choice_.length.Rows("Only paths"), &rows);
    return rows;
  }

  absl::Status CheckOwn() const override {
    const int given = choice_.task.has_value() + choice_.goroutine.has_value() +
                      !choice_.task_type.empty() + !choice_.region_type.empty() +
                      !choice_.start.empty();
    if (given > 1) {
      return absl::InvalidArgumentError(
          "give only one of --task, --g, --type, --region and --func to select the path");
    }
    if (choice_.is_single() && choice_.has_limits()) {
      return absl::InvalidArgumentError(
          "--min, --max and --worst work only without --task and --g");
    }
    return choice_.length.Check();
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      return std::make_unique<PathAnalysis>(interner, choice_, HasPieces(), filter);
    });
  }

  std::vector<Selection> Selections() const override {
    return {{"stack", "Only pieces of the path"}};
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    if (HasPieces()) {
      return PieceTable(RowsOf(analysis, &PathAnalysis::pieces),
                        RowsOf(analysis, &PathAnalysis::ran), interner);
    }
    return SumTable(by(), merges_lines(), RowsOf(analysis, &PathAnalysis::samples), interner);
  }

  absl::string_view RowsName() const override {
    return HasPieces() ? "pieces" : by() == kStack ? "samples" : "sums";
  }

  absl::Span<const ProfileSample> SamplesOf(const Analysis& analysis) const override {
    return static_cast<const PathAnalysis&>(analysis).samples();
  }
  ProfileForm OwnForm() const override {
    return {.count_name = "pieces", .time_name = "time", .shows_states = true};
  }

  absl::Status CheckFound(const Analysis& analysis) const override {
    if (!choice_.is_single() || static_cast<const PathAnalysis&>(analysis).found()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        choice_.task.has_value() ? absl::StrCat("found no task ", choice_.task->value)
        : choice_.goroutine.has_value()
            ? absl::StrCat("found no goroutine ", choice_.goroutine->value)
            : "found no task and no goroutine 1; give --g or --func");
  }
  std::vector<std::string> NotesOn(const Analysis& analysis) const override {
    return static_cast<const PathAnalysis&>(analysis).notes();
  }

 private:
  // Whether the pieces of one path are printed, rather than sums.
  bool HasPieces() const { return choice_.is_single() && !by_.has_value(); }
  By by() const { return by_.value_or(kStack); }

  PathChoice choice_;
  std::optional<By> by_;
};

}  // namespace

std::unique_ptr<Command> MakePathCommand() { return std::make_unique<PathCommand>(); }

}  // namespace gotrace::internal
