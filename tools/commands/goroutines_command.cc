// The command `goroutines`: how goroutines spent their time.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/go_stats.h"
#include "gotrace/goroutine_snapshot.h"
#include "gotrace/goroutine_stats.h"
#include "tools/cli/registry.h"
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

Table GroupTable(absl::Span<const GoroutineGroup> groups, const Interner& interner) {
  using Group = GoroutineGroup;
  return ColumnList<Group>(groups)
      .Add("count", "COUNT", Unit::kNone, &Group::count)
      .Add(TimeColumns(interner, &Group::times))
      .Add(QuantileColumns("total", /*is_shown=*/false, &Group::total))
      .Add(QuantileColumns("running", /*is_shown=*/false, &Group::running))
      .Add(QuantileColumns("runnable", /*is_shown=*/false, &Group::runnable))
      .Add(QuantileColumns("blocked", /*is_shown=*/false, &Group::blocked))
      .Add(QuantileColumns("syscall", /*is_shown=*/false, &Group::syscall))
      .Add("name", "STARTED IN", Unit::kNone,
           [&interner](const Group& g) { return interner.String(g.name); })
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

// Returns the columns of what goroutines do, which is equal for those of a group.
template <class Row>
auto ActivityColumns(const Interner& interner) {
  return [&interner](ColumnList<Row>* columns) {
    const auto name = [&interner](StringId Row::*id) {
      return [&interner, id](const Row& row) { return interner.String(row.*id); };
    };
    const auto stack = [&interner](StackId Row::*id) {
      return [&interner, id](const Row& row) { return StackText({.stack = row.*id}, interner); };
    };
    columns
        ->Add("state", "STATE", Unit::kNone, [](const Row& row) { return GoStateName(row.state); })
        .AddReason("REASON", name(&Row::reason),
                   [](const Row& row) { return row.state == GoState::kWaiting; })
        .Add("start", "STARTED IN", Unit::kNone, name(&Row::start))
        .Add("created_at", "", Unit::kNone, stack(&Row::created_at))
        .Add("stack", "STACK", Unit::kNone, stack(&Row::stack));
  };
}

Table MomentGroupTable(absl::Span<const GoroutineMomentGroup> groups, const Interner& interner) {
  using Group = GoroutineMomentGroup;
  return ColumnList<Group>(groups)
      .Add("count", "COUNT", Unit::kNone, &Group::count)
      .Add("longest_ns", "LONGEST", Unit::kNanoseconds, &Group::longest)
      .Add("total_ns", "", Unit::kNanoseconds, &Group::total)
      .Add(ActivityColumns<Group>(interner))
      .ToTable();
}

Table MomentTable(absl::Span<const GoroutineMoment> goroutines, const Interner& interner) {
  using Row = GoroutineMoment;
  return ColumnList<Row>(goroutines)
      .Add("g", "G", Unit::kNone, &Row::goroutine)
      .Add("since_ns", "", Unit::kNone, &Row::since)
      .Add("length_ns", "FOR", Unit::kNanoseconds, &Row::length)
      .Add(ActivityColumns<Row>(interner))
      .ToTable();
}

class GoroutinesCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {{.name = "each",
             .value = "",
             .help = "Print a row for each goroutine.",
             .set = SetSwitch(&each_)},
            CompatFlag(&is_compatible_)};
  }

  absl::Status CheckOwn() const override { return CheckCompat(is_compatible_, filter()); }

  absl::string_view MomentHelp() const override {
    return "Print what goroutines were doing at this moment, given as for --from. A state that "
           "begins at that very time does not count yet.";
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
      options.filter = filter;
      return std::make_unique<GoroutineStats>(interner, std::move(options));
    });
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    if (filter().has_at()) {
      return each_ ? MomentTable(RowsOf(analysis, &GoroutineSnapshot::goroutines), interner)
                   : MomentGroupTable(RowsOf(analysis, &GoroutineSnapshot::groups), interner);
    }
    if (each_) {
      return GoroutineTable(is_compatible_ ? RowsOf(analysis, &GoCompatibleAnalysis::goroutines)
                                           : RowsOf(analysis, &GoroutineStats::goroutines),
                            interner);
    }
    return GroupTable(is_compatible_ ? RowsOf(analysis, &GoCompatibleAnalysis::groups)
                                     : RowsOf(analysis, &GoroutineStats::groups),
                      interner);
  }

  absl::string_view RowsName() const override { return "goroutines"; }
  absl::string_view DefaultSort() const override { return filter().has_at() ? "" : "running_ns"; }

 private:
  bool each_ = false;
  bool is_compatible_ = false;  // With Go.
};

}  // namespace

std::unique_ptr<Command> MakeGoroutinesCommand() { return std::make_unique<GoroutinesCommand>(); }

}  // namespace gotrace::internal
