// The commands `tasks` and `regions`: how long the tasks and regions of runtime/trace took, and how
// the time in them was spent; or the history of one task.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/tasks/owner_times.h"
#include "gotrace/event_kind.h"
#include "gotrace/go_stats.h"
#include "gotrace/task_stats.h"
#include "gotrace/task_story.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/stack_columns.h"
#include "tools/commands/table_command.h"
#include "tools/commands/time_columns.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kRegionsText = {
    .name = "regions",
    .summary = "print how long regions took, and where their time went",
    .description =
        "Prints, for all regions of runtime/trace with the same type, how many there were, how "
        "long they took, and how much of that time their goroutines spent running, waiting for a P "
        "(runnable), in stops of the world, in syscalls, and blocked. Regions that lack their "
        "begin or their end in the trace are counted in columns of their own, and are in no "
        "percentile.\n\n"
        "With --each, prints a row for each region instead.",
    .examples =
        "  gotrace-dump regions trace.out\n"
        "  gotrace-dump regions --each --type=query --min=10ms trace.out\n"
        "  gotrace-dump regions --each --format=jsonl trace.out | jq .blocked_ns\n",
    .takes_several_files = true,
};

constexpr CommandText kTasksText = {
    .name = "tasks",
    .summary = "print how long tasks took, and where their time went",
    .description =
        "Prints, for all tasks of runtime/trace with the same type, how many there were, how long "
        "they took, and how much of the time in their regions was spent running, waiting for a P "
        "(runnable), in stops of the world, in syscalls, and blocked. Of a task without regions, "
        "the time of the goroutine that began it counts, until the task ends. Tasks that lack "
        "their begin or their end in the trace are counted in columns of their own, and are in no "
        "percentile.\n\n"
        "With --each, prints a row for each task instead. With --id, prints everything that "
        "happened in one task, in order: the begin and end of the task, its regions and its "
        "children, its messages, and the states of its goroutines, with the reasons and what woke "
        "them up.",
    .examples =
        "  gotrace-dump tasks trace.out\n"
        "  gotrace-dump tasks --each --type=request --min=100ms trace.out\n"
        "  gotrace-dump tasks --worst=5 trace.out\n"
        "  gotrace-dump tasks --each --log=timeout trace.out\n"
        "  gotrace-dump tasks --id=282 trace.out\n",
    .takes_several_files = true,
};

// Finds the tasks in which a message that contains a text was logged.
class LogSearch {
 public:
  explicit LogSearch(std::string text) : text_(std::move(text)) {}

  void Add(absl::Span<const Event> events) {
    if (text_.empty()) return;
    for (const Event& event : events) {
      if (event.kind() != EventKind::kLog) continue;
      const Log log = event.log();
      if (absl::StrContains(log.message, text_)) tasks_.insert(log.task);
    }
  }

  void Merge(const LogSearch& next) { tasks_.insert(next.tasks_.begin(), next.tasks_.end()); }

  bool Selects(TaskId task) const { return text_.empty() || tasks_.contains(task); }

 private:
  const std::string text_;
  std::set<TaskId> tasks_;
};

// Accepts a text, or bytes as in hex:1a2b.
SetFlag SetLogText(std::string* log) {
  return [log](absl::string_view text) {
    absl::string_view digits = text;
    if (!absl::ConsumePrefix(&digits, "hex:")) {
      *log = std::string(text);
      return absl::OkStatus();
    }
    const bool is_hex = absl::c_all_of(
        digits, [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); });
    if (digits.empty() || digits.size() % 2 != 0 || !is_hex) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected bytes in hexadecimal, as in hex:1a2b, found ", Quoted(text)));
    }
    *log = absl::HexStringToBytes(digits);
    return absl::OkStatus();
  };
}

// Selects the tasks or regions to print.
struct SpanFilter {
  std::string type;
  LengthFlags length;
  std::string log;
  uint64_t worst = 0;  // How many of the longest; 0 for all.

  bool is_set() const { return !type.empty() || length.is_set() || !log.empty() || worst > 0; }

  template <class Span>
  bool Selects(const Span& span, const Interner& interner, const LogSearch& search) const {
    if (!type.empty() && interner.String(span.type) != type) return false;
    if (!search.Selects(span.task)) return false;
    if (!length.is_set() && worst == 0) return true;
    // The duration of an open task or region is not known.
    if (!span.begin.has_value() || !span.end.has_value()) return false;
    return length.Has(TraceClock::Subtract(*span.end, *span.begin));
  }
};

// The tasks, or regions, that a filter selects.
template <class Span>
class SelectedSpans {
 public:
  SelectedSpans(const Interner* interner, const SpanFilter& spans)
      : interner_(*interner), spans_(spans), search_(spans.log) {}

  void AddEvents(absl::Span<const Event> events) { search_.Add(events); }
  void Merge(const SelectedSpans& next) { search_.Merge(next.search_); }

  // Takes all of them from the statistics, after `complete` has completed each.
  template <class Stats, class Complete>
  void Finish(const Stats& stats, const Complete& complete) {
    absl::Span<const Span> all;
    if constexpr (std::is_same_v<Span, RegionSpan>) {
      all = stats.regions();
    } else {
      all = stats.tasks();
    }
    for (const Span& span : all) {
      if (!spans_.Selects(span, interner_, search_)) continue;
      selected_.push_back(span);
      complete(&selected_.back());
    }
    if (spans_.worst > 0) {
      absl::c_stable_sort(selected_, [](const Span& a, const Span& b) {
        const auto length = [](const Span& span) {
          return TraceClock::Subtract(*span.end, *span.begin);
        };
        return length(a) > length(b);
      });
      if (selected_.size() > spans_.worst) selected_.resize(spans_.worst);
    }
    groups_ = GroupByType(selected_, interner_);
  }

  absl::Span<const Span> selected() const { return selected_; }
  absl::Span<const SpanGroup> groups() const { return groups_; }

 private:
  const Interner& interner_;
  const SpanFilter spans_;
  LogSearch search_;
  std::vector<Span> selected_;
  std::vector<SpanGroup> groups_;
};

// Runs the statistics of regions, and keeps what the filter selects.
class RegionAnalysis final : public MergeableAnalysis<RegionAnalysis> {
 public:
  RegionAnalysis(Interner* interner, const EventFilter& filter, const SpanFilter& spans)
      : stats_(interner, filter), selected_(interner, spans) {}

  void AddEvents(absl::Span<const Event> events) override {
    selected_.AddEvents(events);
    stats_.AddEvents(events);
  }
  void AddGoroutine(const GoInterval& interval) override { stats_.AddGoroutine(interval); }
  void Merge(RegionAnalysis&& next, const InternerMap& ids) override {
    selected_.Merge(next.selected_);
    stats_.Merge(std::move(next.stats_), ids);
  }
  void Finish(int64_t end) override {
    stats_.Finish(end);
    selected_.Finish(stats_, [](RegionSpan*) {});
  }

  absl::Span<const RegionSpan> selected() const { return selected_.selected(); }
  absl::Span<const SpanGroup> groups() const { return selected_.groups(); }

 private:
  TaskStats stats_;
  SelectedSpans<RegionSpan> selected_;
};

// The same for tasks. A task without regions has the times of the goroutine that began it, which
// parts of a trace cannot know.
class TaskAnalysis final : public Analysis {
 public:
  TaskAnalysis(Interner* interner, const EventFilter& filter, const SpanFilter& spans)
      : stats_(interner, filter), owners_(filter), selected_(interner, spans) {}

  void AddEvents(absl::Span<const Event> events) override {
    selected_.AddEvents(events);
    stats_.AddEvents(events);
    owners_.AddEvents(events);
  }
  void AddGoroutine(const GoInterval& interval) override {
    stats_.AddGoroutine(interval);
    owners_.AddGoroutine(interval);
  }
  void Finish(int64_t end) override {
    stats_.Finish(end);
    owners_.Finish();
    selected_.Finish(stats_, [this](TaskSpan* task) {
      const ExecutionTimes* const times = owners_.Find(task->task);
      if (task->regions == 0 && times != nullptr) task->times = *times;
    });
  }

  absl::Span<const TaskSpan> selected() const { return selected_.selected(); }
  absl::Span<const SpanGroup> groups() const { return selected_.groups(); }

 private:
  TaskStats stats_;
  OwnerTimes owners_;
  SelectedSpans<TaskSpan> selected_;
};

template <class Span>
using SpanAnalysis =
    std::conditional_t<std::is_same_v<Span, TaskSpan>, TaskAnalysis, RegionAnalysis>;

// The same with Go's statistics.
template <class Span>
class GoSpanAnalysis final : public Analysis {
 public:
  GoSpanAnalysis(Interner* interner, const SpanFilter& spans)
      : stats_(interner), selected_(interner, spans) {}

  void AddEvents(absl::Span<const Event> events) override {
    selected_.AddEvents(events);
    stats_.Add(events);
  }
  void Finish(int64_t /*end*/) override {
    stats_.Finish().IgnoreError();  // It is always OK.
    selected_.Finish(stats_, [](Span*) {});
  }

  absl::Span<const Span> selected() const { return selected_.selected(); }
  absl::Span<const SpanGroup> groups() const { return selected_.groups(); }

 private:
  GoCompatibleStats stats_;
  SelectedSpans<Span> selected_;
};

Table GroupTable(absl::Span<const SpanGroup> groups, const Interner& interner) {
  constexpr Unit kNone = Unit::kNone;
  return ColumnList<SpanGroup>(groups)
      .Add("count", "COUNT", kNone, &SpanGroup::count)
      .Add("open", "", kNone, &SpanGroup::open)
      .Add("no_begin", "NO BEGIN", kNone, &SpanGroup::no_begin)
      .Add("no_end", "NO END", kNone, &SpanGroup::no_end)
      .Add(QuantileColumns("duration", /*is_shown=*/true, &SpanGroup::duration))
      .Add(TimeColumns(interner, &SpanGroup::times))
      .Add("type", "TYPE", kNone,
           [&interner](const SpanGroup& g) { return interner.String(g.type); })
      .Minor({"NO BEGIN", "NO END", "P99"})
      .ToTable();
}

// Returns the duration, or the part of it that is known.
template <class Span>
Cell DurationOf(const Span& span) {
  if (!span.begin.has_value() || !span.end.has_value()) return Cell();
  return Cell(TraceClock::Subtract(*span.end, *span.begin));
}

// Returns the goroutine of a region, or the one on which a task began.
GoId GoroutineOf(const RegionSpan& region) { return region.goroutine; }
GoId GoroutineOf(const TaskSpan& task) { return task.begin_goroutine; }

// Returns whose time a task has: that in its regions, or that of the goroutine that began it.
absl::string_view CountedIn(const TaskSpan& task, bool is_compatible) {
  if (task.regions > 0 || is_compatible) return "regions";
  return task.begin_goroutine == GoId::kNone ? "" : "g";
}

// Appends the columns that only tasks have.
void AddOwnColumns(bool is_compatible, ColumnList<TaskSpan>* columns) {
  constexpr Unit kNone = Unit::kNone;
  columns->Add("parent", "PARENT", kNone, &TaskSpan::parent)
      .Add("end_g", "", kNone, &TaskSpan::end_goroutine)
      .Add("goroutines", "GS", kNone, &TaskSpan::goroutines)
      .Add("regions", "REGIONS", kNone, &TaskSpan::regions)
      .Add("logs", "LOGS", kNone, &TaskSpan::logs)
      .Add("counted", "", kNone,
           [=](const TaskSpan& task) { return CountedIn(task, is_compatible); });
}
void AddOwnColumns(bool /*is_compatible*/, ColumnList<RegionSpan>* /*columns*/) {}

template <class Span>
Table EachTable(absl::Span<const Span> spans, bool is_compatible, const Interner& interner) {
  using Row = const Span&;
  constexpr Unit kNone = Unit::kNone;
  return ColumnList<Span>(spans)
      .Add("g", "G", kNone, [](Row span) { return GoroutineOf(span); })
      .Add("task", "TASK", kNone, &Span::task)
      .Add("begin_ns", "", kNone, &Span::begin)
      .Add("end_ns", "", kNone, &Span::end)
      .Add("duration_ns", "DURATION", Unit::kNanoseconds, [](Row span) { return DurationOf(span); })
      .Add([=](ColumnList<Span>* columns) { AddOwnColumns(is_compatible, columns); })
      .Add(TimeColumns(interner, &Span::times))
      .Add("type", "TYPE", kNone, [&interner](Row span) { return interner.String(span.type); })
      .Minor({"PARENT", "GS", "REGIONS", "LOGS"})
      .ToTable();
}

absl::string_view StoryKindName(const StoryRow& row) {
  switch (row.kind) {
    case StoryKind::kTaskBegin:
      return "task begins";
    case StoryKind::kTaskEnd:
      return "task ends";
    case StoryKind::kChildBegin:
      return "child begins";
    case StoryKind::kChildEnd:
      return "child ends";
    case StoryKind::kRegionBegin:
      return "region begins";
    case StoryKind::kRegionEnd:
      return "region ends";
    case StoryKind::kLog:
      return "message";
    case StoryKind::kState:
      break;
  }
  switch (row.state) {
    case GoState::kRunnable:
      return "runnable";
    case GoState::kRunning:
      return "running";
    case GoState::kWaiting:
      return "blocked";
    case GoState::kSyscall:
      return "syscall";
    default:
      return "";
  }
}

// Returns the innermost function of the stack, where the goroutine was or was woken up.
absl::string_view LeafFunction(StackId stack, const Interner& interner) {
  const absl::Span<const FrameId> frames = interner.Frames(stack);
  return frames.empty() ? "" : interner.Frame(frames.front()).func;
}

// Returns the details of the row, for people.
std::string DetailText(const StoryRow& row, const Interner& interner) {
  const absl::string_view text = interner.String(row.text);
  if (row.kind == StoryKind::kLog) return absl::StrCat(interner.String(row.category), ": ", text);
  if (row.child != TaskId::kNone) return absl::StrCat(row.child.value, " ", text);
  if (row.kind != StoryKind::kState) return std::string(text);
  const bool is_unknown = row.state == GoState::kWaiting && row.reason == StringId::kEmpty;
  std::string detail(is_unknown ? kUnknownName : interner.String(row.reason));
  if (row.woken_by.kind == CauseKind::kGoroutine) {
    absl::StrAppend(&detail, detail.empty() ? "" : ", ", "until G ", row.woken_by.goroutine.value);
  } else if (row.woken_by.kind != CauseKind::kUnknown) {
    absl::StrAppend(&detail, detail.empty() ? "" : ", ", "until ",
                    CauseKindName(row.woken_by.kind));
  }
  return detail;
}

Table StoryTable(absl::Span<const StoryRow> rows, const Interner& interner) {
  using Row = const StoryRow&;
  constexpr Unit kNone = Unit::kNone;
  const auto place_of = [places = std::make_shared<StackPlaces>(&interner)](Row r) {
    return places->Of(r.stack).place;
  };
  return ColumnList<StoryRow>(rows)
      .Add("begin_ns", "TIME", kNone, &StoryRow::begin)
      .Add("end_ns", "", kNone, &StoryRow::end)
      .Add("length_ns", "LENGTH", Unit::kNanoseconds,
           [](Row r) {
             return r.kind == StoryKind::kState ? Cell(TraceClock::Subtract(r.end, r.begin))
                                                : Cell();
           })
      .Add("g", "G", kNone, &StoryRow::goroutine)
      .Add("what", "WHAT", kNone, StoryKindName)
      .Add("child", "", kNone, &StoryRow::child)
      .Add("text", "", kNone, [&interner](Row r) { return interner.String(r.text); })
      .Add("category", "", kNone, [&interner](Row r) { return interner.String(r.category); })
      .Add("reason", "", kNone, [&interner](Row r) { return interner.String(r.reason); })
      .Add("woken_by", "", kNone,
           [](Row r) {
             return r.woken_by.kind == CauseKind::kUnknown ? "" : CauseKindName(r.woken_by.kind);
           })
      .Add("waker", "", kNone, [](Row r) { return r.woken_by.goroutine; })
      .Add("waker_function", "", kNone,
           [&interner](Row r) { return LeafFunction(r.woken_by.stack, interner); })
      .Add("", "DETAIL", kNone, [&interner](Row r) { return DetailText(r, interner); })
      .Add("function", "", kNone, [&interner](Row r) { return LeafFunction(r.stack, interner); })
      .Add(PlaceColumns("place_", interner, &StoryRow::stack))
      .AddFitted(
          "IN",
          [place_of, &interner](Row r) {
            return r.stack == StackId::kNone ? "" : PlaceText(place_of(r), interner);
          },
          [place_of, &interner](Row r, size_t /*width*/) {
            // The function that the program called says less than the line.
            WaitPlace place = place_of(r);
            place.library = StringId::kEmpty;
            return PlaceText(place, interner);
          })
      .Add("text_hex", "", kNone,
           [&interner](Row r) {
             const absl::string_view text = interner.String(r.text);
             return IsUtf8(text) ? std::string() : absl::BytesToHexString(text);
           })
      .ToTable();
}

// The command for tasks, or for regions.
template <class Span>
class SpansCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kIsTask ? kTasksText : kRegionsText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    std::vector<Flag> flags = {
        {.name = "each",
         .value = "",
         .help = kIsTask ? "Print a row for each task." : "Print a row for each region.",
         .set = SetSwitch(&each_)},
        {.name = "worst",
         .value = "N",
         .help = kIsTask ? "Print a row for each of the N longest tasks."
                         : "Print a row for each of the N longest regions.",
         .set =
             [this](absl::string_view text) {
               each_ = true;
               return SetNumber(1, &spans_.worst)(text);
             }},
        {.name = "type",
         .value = "TYPE",
         .help = "Only this type.",
         .set = SetText(&spans_.type),
         .selects = true}};
    AppendRows(spans_.length.Rows(kIsTask ? "Only tasks" : "Only regions"), &flags);
    if (kIsTask) {
      flags.push_back({.name = "log",
                       .value = "TEXT",
                       .help = "Only tasks with a log message that contains the text; hex:1a2b for "
                               "bytes in hexadecimal.",
                       .set = SetLogText(&spans_.log),
                       .selects = true});
      flags.push_back({.name = "id",
                       .value = "ID",
                       .help = "Print what happened in this task, in order.",
                       .set = SetId(&story_of_),
                       .excludes = "each"});
    }
    flags.push_back(CompatFlag(&is_compatible_));
    return flags;
  }

  absl::Status CheckOwn() const override {
    if (absl::Status status = spans_.length.Check(); !status.ok()) return status;
    if (story_of_.has_value() &&
        (spans_.is_set() || is_compatible_ || !filter().filter.goroutines.empty())) {
      return absl::InvalidArgumentError(
          "--id works only without --type, --min, --max, --worst, --log, --g and --compat");
    }
    return CheckCompat(is_compatible_, filter());
  }

  AnyAnalysis MakeAnalysis() const override {
    if (story_of_.has_value()) {
      return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
        return std::make_unique<TaskStory>(interner, *story_of_, filter.times);
      });
    }
    if (is_compatible_) {
      return AnalysisOf([this](Interner* interner, const EventFilter& /*filter*/) {
        return std::make_unique<GoSpanAnalysis<Span>>(interner, spans_);
      });
    }
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      return std::make_unique<SpanAnalysis<Span>>(interner, filter, spans_);
    });
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    if (story_of_.has_value()) return StoryTable(RowsOf(analysis, &TaskStory::rows), interner);
    if (each_) {
      return EachTable(is_compatible_ ? RowsOf(analysis, &GoSpanAnalysis<Span>::selected)
                                      : RowsOf(analysis, &SpanAnalysis<Span>::selected),
                       is_compatible_, interner);
    }
    return GroupTable(is_compatible_ ? RowsOf(analysis, &GoSpanAnalysis<Span>::groups)
                                     : RowsOf(analysis, &SpanAnalysis<Span>::groups),
                      interner);
  }

  absl::string_view RowsName() const override {
    return story_of_.has_value() ? "story" : kIsTask ? "tasks" : "regions";
  }
  absl::string_view DefaultSort() const override {
    return story_of_.has_value() ? "" : each_ ? "duration_ns" : "total_ns";
  }

 private:
  static constexpr bool kIsTask = std::is_same_v<Span, TaskSpan>;

  std::optional<TaskId> story_of_;
  bool each_ = false;
  SpanFilter spans_;
  bool is_compatible_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTasksCommand() { return std::make_unique<SpansCommand<TaskSpan>>(); }
std::unique_ptr<Command> MakeRegionsCommand() {
  return std::make_unique<SpansCommand<RegionSpan>>();
}

}  // namespace gotrace::internal
