// The command `goroutines`: how goroutines spent their time.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/go_stats.h"
#include "gotrace/goroutine_stats.h"
#include "tools/cli/registry.h"
#include "tools/commands/analysis_command.h"
#include "tools/commands/time_columns.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "goroutines",
    .summary = "print where goroutines spent their time",
    .description =
        "Prints, for all goroutines that started in the same function, how many there were and how "
        "much time they spent running, waiting for a P to run on (runnable), in syscalls, and "
        "blocked, with the reason that blocked them longest. CSV and JSON also have the times by "
        "reason, in GC assists and sweeps, and the distributions over the goroutines.\n\n"
        "With --each, prints a row for each goroutine instead. The numbers are those of `go tool "
        "trace`, except where the trace contradicts them; --compat=go prints Go's numbers to the "
        "nanosecond.",
    .examples =
        "  gotrace-dump goroutines trace.out\n"
        "  gotrace-dump goroutines --sort=runnable --top=10 trace.out\n"
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
    for (const GoroutineLife& life : stats_.goroutines()) {
      GoroutineGroup& group = by_name_[life.name];
      group.name = life.name;
      group.Add(life.times);
    }
    for (auto& [name, group] : by_name_) groups_.push_back(std::move(group));
  }

  const GoCompatibleStats& stats() const { return stats_; }
  absl::Span<const GoroutineGroup> groups() const { return groups_; }

 private:
  GoCompatibleStats stats_;
  std::map<StringId, GoroutineGroup> by_name_;
  std::vector<GoroutineGroup> groups_;
};

std::vector<Column> GroupColumns(absl::Span<const GoroutineGroup> groups,
                                 const Interner& interner) {
  std::vector<Column> columns = {{.name = "count", .title = "COUNT", .value = [=](size_t row) {
                                    return Cell(static_cast<int64_t>(groups[row].count));
                                  }}};
  AppendTimeColumns(
      interner, [=](size_t row) -> const ExecutionTimes& { return groups[row].times; }, &columns);
  const std::pair<absl::string_view, Histogram GoroutineGroup::*> distributions[] = {
      {"total", &GoroutineGroup::total},       {"running", &GoroutineGroup::running},
      {"runnable", &GoroutineGroup::runnable}, {"blocked", &GoroutineGroup::blocked},
      {"syscall", &GoroutineGroup::syscall},
  };
  for (const auto& [name, histogram] : distributions) {
    AppendQuantileColumns(
        name, /*is_shown=*/false,
        [=, histogram = histogram](size_t row) -> const Histogram& {
          return groups[row].*histogram;
        },
        &columns);
  }
  columns.push_back({.name = "name", .title = "STARTED IN", .value = [=, &interner](size_t row) {
                       return Cell(interner.String(groups[row].name));
                     }});
  return columns;
}

std::vector<Column> LifeColumns(absl::Span<const GoroutineLife> lives, const Interner& interner) {
  std::vector<Column> columns = {
      {.name = "g",
       .title = "G",
       .value = [=](size_t row) { return Cell(lives[row].goroutine.value); }},
      {.name = "name",
       .title = "STARTED IN",
       .value = [=, &interner](size_t row) { return Cell(interner.String(lives[row].name)); },
       .is_last_in_text = true},
      {.name = "creation_ns",
       .title = "",
       .value = [=](size_t row) { return Cell(lives[row].creation); }},
      {.name = "start_ns",
       .title = "",
       .value = [=](size_t row) { return CellOf(lives[row].start); }},
      {.name = "end_ns", .title = "", .value = [=](size_t row) { return CellOf(lives[row].end); }},
  };
  AppendTimeColumns(
      interner, [=](size_t row) -> const ExecutionTimes& { return lives[row].times; }, &columns);
  return columns;
}

class GoroutinesCommand final : public AnalysisCommand {
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

  AnyAnalysis MakeAnalysis() const override {
    if (is_compatible_) {
      return AnalysisOf([](Interner* interner, const EventFilter& /*filter*/) {
        return std::make_unique<GoCompatibleAnalysis>(interner);
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
    absl::Span<const GoroutineLife> lives;
    absl::Span<const GoroutineGroup> groups;
    if (analysis != nullptr && is_compatible_) {
      const auto& go = static_cast<const GoCompatibleAnalysis&>(*analysis);
      lives = go.stats().goroutines();
      groups = go.groups();
    } else if (analysis != nullptr) {
      const auto& stats = static_cast<const GoroutineStats&>(*analysis);
      lives = stats.lives();
      groups = stats.groups();
    }
    return each_ ? Table(lives.size(), LifeColumns(lives, interner))
                 : Table(groups.size(), GroupColumns(groups, interner));
  }

  absl::string_view RowsName() const override { return "goroutines"; }
  absl::string_view DefaultSort() const override { return "running_ns"; }

 private:
  bool each_ = false;
  bool is_compatible_ = false;  // With Go.
};

}  // namespace

std::unique_ptr<Command> MakeGoroutinesCommand() { return std::make_unique<GoroutinesCommand>(); }

}  // namespace gotrace::internal
