// The command `goroutines`: how goroutines spent their time.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "analysis/intervals/selected_names.h"
#include "analysis/intervals/stack_places.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/go_stats.h"
#include "gotrace/goroutine_snapshot.h"
#include "gotrace/goroutine_stats.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/stack_columns.h"
#include "tools/commands/table_command.h"
#include "tools/commands/time_columns.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "goroutines",
    .summary = "print where goroutines spent their time",
    .description =
        "Prints, for all goroutines that started in the same function, how many there were and how "
        "much time they spent running, waiting for a P to run on (runnable), in stops of the world "
        "that kept them from running or that they made (stopped), in syscalls, and blocked, with "
        "the reason that blocked them longest. CSV and JSON also have the times by reason, in GC "
        "assists and sweeps, and the distributions over the goroutines.\n\n"
        "With --at, prints instead what all goroutines were doing at one moment: how many were in "
        "the same state in the same place, and the longest time that one of them had been.\n\n"
        "With --each, prints a row for each goroutine instead. The numbers are those of `go tool "
        "trace`, except where the trace contradicts them, and except that Go counts stops of the "
        "world as running and runnable; --compat=go prints Go's numbers to the nanosecond.",
    .examples =
        "  gotrace-dump goroutines trace.out\n"
        "  gotrace-dump goroutines --sort=runnable --top=10 trace.out\n"
        "  gotrace-dump goroutines --at=1.5s trace.out\n"
        "  gotrace-dump goroutines --at=1.5s --state=runnable --func='main.*' trace.out\n"
        "  gotrace-dump goroutines --at=1.5s --by=task trace.out\n"
        "  gotrace-dump goroutines --each --from=1.5s --to=1.6s trace.out\n"
        "  gotrace-dump goroutines --each --format=jsonl trace.out | jq 'select(.g == 42)'\n"
        "  gotrace-dump goroutines --format=csv traces/ > goroutines.csv\n",
    .takes_several_files = true,
};

// Runs Go's statistics like an analysis.
class GoCompatibleAnalysis final : public Analysis {
 public:
  explicit GoCompatibleAnalysis(Interner* interner) : stats_(interner) {}

  void AddEvents(absl::Span<const Event> events) override { stats_.Add(events); }
  void Finish(int64_t /*end*/) override {
    stats_.Finish().IgnoreError();  // It is always OK.
    for (const GoroutineSpan& goroutine : stats_.goroutines()) {
      GoroutineGroup& group = by_name_[goroutine.name];
      group.name = goroutine.name;
      group.Add(goroutine.times);
    }
    for (auto& [name, group] : by_name_) groups_.push_back(std::move(group));
  }

  absl::Span<const GoroutineSpan> goroutines() const { return stats_.goroutines(); }
  absl::Span<const GoroutineGroup> groups() const { return groups_; }

 private:
  GoCompatibleStats stats_;
  std::map<StringId, GoroutineGroup> by_name_;
  std::vector<GoroutineGroup> groups_;
};

// Returns the place in which the goroutines of a group were created.
WaitPlace CreatorOf(const GoroutineGroup& group) {
  return {.function = group.creator, .file = group.creator_file, .line = group.creator_line};
}

Table GroupTable(absl::Span<const GoroutineGroup> groups, bool by_creator,
                 const Interner& interner) {
  using Group = GoroutineGroup;
  return ColumnList<Group>(groups)
      .Add("count", "COUNT", Unit::kNone, &Group::count)
      .Add(TimeColumns(interner, &Group::times))
      .Add(QuantileColumns("total", /*is_shown=*/false, &Group::total))
      .Add(QuantileColumns("running", /*is_shown=*/false, &Group::running))
      .Add(QuantileColumns("runnable", /*is_shown=*/false, &Group::runnable))
      .Add(QuantileColumns("blocked", /*is_shown=*/false, &Group::blocked))
      .Add(QuantileColumns("syscall", /*is_shown=*/false, &Group::syscall))
      .AddIf(!by_creator, "name", "STARTED IN", Unit::kNone,
             [&interner](const Group& g) { return interner.String(g.name); })
      .AddIf(by_creator, "creator", "", Unit::kNone,
             [&interner](const Group& g) { return interner.String(g.creator); })
      .AddIf(by_creator, "file", "", Unit::kNone,
             [&interner](const Group& g) { return interner.String(g.creator_file); })
      .AddIf(by_creator, "line", "", Unit::kNone,
             [](const Group& g) {
               return g.creator == StringId::kEmpty ? Cell() : CellOf(g.creator_line);
             })
      .AddIf(by_creator, "", "CREATED IN", Unit::kNone,
             [&interner](const Group& g) { return PlaceText(CreatorOf(g), interner); })
      .ToTable();
}

Table GoroutineTable(absl::Span<const GoroutineSpan> goroutines, const Interner& interner) {
  constexpr Unit kNone = Unit::kNone;
  return ColumnList<GoroutineSpan>(goroutines)
      .Add("g", "G", kNone, [](const GoroutineSpan& g) { return g.goroutine.value; })
      .AddLast("name", "STARTED IN", kNone,
               [&interner](const GoroutineSpan& g) { return interner.String(g.name); })
      .Add("creation_ns", "", kNone, &GoroutineSpan::creation)
      .Add("start_ns", "", kNone, &GoroutineSpan::start)
      .Add("end_ns", "", kNone, &GoroutineSpan::end)
      .Add(TimeColumns(interner, &GoroutineSpan::times))
      .ToTable();
}

// Returns the place in the program in which goroutines were created.
std::string CreatorText(StackId created_at, StackPlaces* places, const Interner& interner) {
  return PlaceText(places->Of(created_at).place, interner);
}

// What the rows of a table have in common, as --by says.
enum class By { kStart, kCreator, kTask, kRegion };

// Returns the columns of what goroutines do, which is equal for those of a group.
template <class Row>
auto ActivityColumns(absl::Span<const Row> rows, By by, const Interner& interner) {
  const auto key_of = [](const Row& row) { return ProfileKey{.stack = row.stack}; };
  const auto labels = LabelsOf(rows, key_of, interner);
  return [&interner, by, key_of, labels](ColumnList<Row>* columns) {
    const auto name = [&interner](StringId Row::*id) {
      return [&interner, id](const Row& row) { return interner.String(row.*id); };
    };
    columns
        ->Add("state", "STATE", Unit::kNone, [](const Row& row) { return GoStateName(row.state); })
        .AddReason("REASON", name(&Row::reason),
                   [](const Row& row) { return row.state == GoState::kWaiting; })
        .Add("start", by == By::kStart ? "STARTED IN" : "", Unit::kNone, name(&Row::start))
        .Add("task", by == By::kTask ? "IN TASK" : "", Unit::kNone, name(&Row::task))
        .Add("region", by == By::kRegion ? "IN REGION" : "", Unit::kNone, name(&Row::region))
        .AddIf(by == By::kCreator, "", "CREATED IN", Unit::kNone,
               [&interner, places = std::make_shared<StackPlaces>(&interner)](const Row& row) {
                 return CreatorText(row.created_at, places.get(), interner);
               })
        .Add("created_at", "", Unit::kNone,
             [&interner](const Row& row) { return StackText({.stack = row.created_at}, interner); })
        .Add(StackColumns("stack", "STACK", labels, interner, key_of))
        .Add(PlaceColumns("", interner, &Row::stack));
  };
}

Table MomentGroupTable(std::vector<GoroutineMomentGroup> groups, By by, const Interner& interner) {
  using Group = GoroutineMomentGroup;
  const auto activity = ActivityColumns<Group>(groups, by, interner);
  return ColumnList<Group>(std::move(groups))
      .Add("count", "COUNT", Unit::kNone, &Group::count)
      .Add("longest_ns", "LONGEST", Unit::kNanoseconds, &Group::longest)
      .Add("total_ns", "", Unit::kNanoseconds, &Group::total)
      .Add(activity)
      .ToTable();
}

Table MomentTable(std::vector<GoroutineMoment> goroutines, const Interner& interner) {
  using Row = GoroutineMoment;
  const auto activity = ActivityColumns<Row>(goroutines, By::kStart, interner);
  return ColumnList<Row>(std::move(goroutines))
      .Add("g", "G", Unit::kNone, &Row::goroutine)
      .Add("since_ns", "", Unit::kNone, &Row::since)
      .Add("length_ns", "FOR", Unit::kNanoseconds, &Row::length)
      .Add(activity)
      .ToTable();
}

class GoroutinesCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {
        {.name = "each",
         .value = "",
         .help = "Print a row for each goroutine.",
         .set = SetSwitch(&each_)},
        StartFlag("Only goroutines that started", &start_),
        {.name = "by",
         .value = "WHAT",
         .help =
             "Print a row for each function that goroutines started in (func, the default), "
             "or for each place in the program where they were created (creator). With --at, also "
             "for each state and stack, and also by the type of the task that they are in, or of "
             "their innermost region.",
         .set = SetChoice({"func", "creator", "task", "region"},
                          [this](size_t by) { by_ = static_cast<By>(by); }),
         .excludes = "each"},
        {.name = "state",
         .value = "STATE",
         .help = "With --at, only goroutines in this state: running, runnable, waiting or "
                 "syscall.",
         .set = SetChoice({"running", "runnable", "waiting", "syscall"},
                          [this](size_t state) { state_ = kStates[state]; }),
         .selects = true},
        CompatFlag(&is_compatible_)};
  }

  absl::Status CheckOwn() const override {
    if (!filter().has_at() && !filter().filter.stacks.MatchesAll()) {
      return absl::InvalidArgumentError(
          "--stack works only with --at; `latency` and `profile` have it for times");
    }
    if (!filter().has_at() && state_.has_value()) {
      return absl::InvalidArgumentError(
          "--state works only with --at; --sort=runnable and so on sort by the time in a state");
    }
    if (!filter().has_at() && by_ == By::kTask) {
      return absl::InvalidArgumentError("--by=task works only with --at; `tasks` has their times");
    }
    if (!filter().has_at() && by_ == By::kRegion) {
      return absl::InvalidArgumentError(
          "--by=region works only with --at; `regions` has their times");
    }
    if (is_compatible_ && (by_ != By::kStart || !start_.empty())) {
      return absl::InvalidArgumentError("--compat=go works only without --func and --by");
    }
    return CheckCompat(is_compatible_, filter());
  }

  absl::string_view MomentHelp() const override {
    return "Print what goroutines were doing at this moment, given as for --from. A state that "
           "begins at that very time does not count yet.";
  }

  std::vector<Selection> Selections() const override {
    return {{"g", ""}, {"stack", "With --at, only goroutines"}};
  }

  AnyAnalysis MakeAnalysis() const override {
    if (is_compatible_) {
      return AnalysisOf([](Interner* interner, const EventFilter& /*filter*/) {
        return std::make_unique<GoCompatibleAnalysis>(interner);
      });
    }
    if (filter().has_at()) {
      return AnalysisOf([](Interner* interner, const EventFilter& filter) {
        return std::make_unique<GoroutineSnapshot>(interner, filter);
      });
    }
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      GoroutineStats::Options options;
      options.keep_each = each_;
      options.by_creator = by_ == By::kCreator;
      options.start = start_;
      options.filter = filter;
      return std::make_unique<GoroutineStats>(interner, std::move(options));
    });
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    if (filter().has_at()) {
      return each_
                 ? MomentTable(Selected(RowsOf(analysis, &GoroutineSnapshot::goroutines), interner),
                               interner)
                 : MomentGroupTable(
                       Merged(Selected(RowsOf(analysis, &GoroutineSnapshot::groups), interner),
                              interner),
                       by_, interner);
    }
    if (each_) {
      return GoroutineTable(is_compatible_ ? RowsOf(analysis, &GoCompatibleAnalysis::goroutines)
                                           : RowsOf(analysis, &GoroutineStats::goroutines),
                            interner);
    }
    return GroupTable(is_compatible_ ? RowsOf(analysis, &GoCompatibleAnalysis::groups)
                                     : RowsOf(analysis, &GoroutineStats::groups),
                      by_ == By::kCreator, interner);
  }

  bool HasStacks() const override { return true; }

  absl::string_view RowsName() const override { return "goroutines"; }
  absl::string_view DefaultSort() const override { return filter().has_at() ? "" : "running_ns"; }

 private:
  static constexpr GoState kStates[] = {GoState::kRunning, GoState::kRunnable, GoState::kWaiting,
                                        GoState::kSyscall};

  // Returns what --func and --state select of the goroutines at a moment.
  template <class Row>
  std::vector<Row> Selected(absl::Span<const Row> rows, const Interner& interner) const {
    SelectedNames starts(&interner, start_, SelectedNames::Of::kWhole);
    std::vector<Row> selected;
    for (const Row& row : rows) {
      if (state_.value_or(row.state) == row.state && starts.Has(row.start)) selected.push_back(row);
    }
    return selected;
  }

  // Returns what --by says of a group.
  std::string ByText(const GoroutineMomentGroup& group, StackPlaces* places,
                     const Interner& interner) const {
    switch (by_) {
      case By::kStart:
        break;
      case By::kCreator:
        return CreatorText(group.created_at, places, interner);
      case By::kTask:
        return std::string(interner.String(group.task));
      case By::kRegion:
        return std::string(interner.String(group.region));
    }
    return std::string(interner.String(group.start));
  }

  // Returns the groups without what people do not see: the lines of their stacks, and all but one
  // of what --by can name.
  std::vector<GoroutineMomentGroup> Merged(std::vector<GoroutineMomentGroup> groups,
                                           const Interner& interner) const {
    if (!merges_lines()) return groups;
    StacksByFunctions stacks(&interner);
    StackPlaces places_of(&interner);
    std::vector<GoroutineMomentGroup> merged;
    std::map<std::tuple<GoState, StringId, StackId, std::string>, size_t> places;
    for (GoroutineMomentGroup& group : groups) {
      group.stack = stacks.Of(group.stack);
      const auto [it, is_new] = places.try_emplace(
          std::tuple(group.state, group.reason, group.stack, ByText(group, &places_of, interner)),
          merged.size());
      if (is_new) {
        merged.push_back(group);
        continue;
      }
      GoroutineMomentGroup& sum = merged[it->second];
      sum.count += group.count;
      sum.longest = std::max(sum.longest, group.longest);
      sum.total = TraceClock::Add(sum.total, group.total);
    }
    absl::c_stable_sort(merged, [](const auto& a, const auto& b) {
      return std::pair(a.count, a.total) > std::pair(b.count, b.total);
    });
    return merged;
  }

  bool each_ = false;
  By by_ = By::kStart;
  std::string start_;
  std::optional<GoState> state_;
  bool is_compatible_ = false;  // With Go.
};

}  // namespace

std::unique_ptr<Command> MakeGoroutinesCommand() { return std::make_unique<GoroutinesCommand>(); }

}  // namespace gotrace::internal
