// The command `leaks`: goroutines that are blocked at the end, and have been for long.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/leak_stats.h"
#include "tools/cli/registry.h"
#include "tools/commands/analysis_command.h"
#include "tools/commands/time_columns.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "leaks",
    .summary = "print goroutines that have been blocked for a long time at the end",
    .description =
        "Prints, for all goroutines that were created in the same place and have been blocked in "
        "the same place for at least a second when the trace ends, how many there are, for how "
        "long they have been blocked, and how many of them were blocked at its beginning, after a "
        "quarter of it, and so on. Where that number grows, goroutines leak. Goroutines of the "
        "runtime are left out.",
    .examples =
        "  gotrace-dump leaks trace.out\n"
        "  gotrace-dump leaks --longer=100ms trace.out\n"
        "  gotrace-dump leaks --longer=10s --format=json trace.out | jq '.leaks[].blocked_at'\n",
    .takes_several_files = true,
};

class LeaksCommand final : public AnalysisCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {{.name = "longer",
             .value = "DURATION",
             .help = "How long a goroutine must have been blocked. Default: 1s.",
             .set = SetDuration(&longer_)}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      LeakStats::Options options;
      options.longer = absl::ToInt64Nanoseconds(longer_.value_or(absl::Seconds(1)));
      options.filter = filter;
      return std::make_unique<LeakStats>(interner, std::move(options));
    });
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    absl::Span<const LeakGroup> groups;
    if (analysis != nullptr) groups = static_cast<const LeakStats&>(*analysis).groups();
    using Row = const LeakGroup&;
    ColumnList<LeakGroup> columns(groups);
    columns.Add("count", "COUNT", Unit::kNone, [](Row g) { return static_cast<int64_t>(g.count); })
        .Add("longest_ns", "LONGEST", Unit::kNanoseconds, [](Row g) { return g.longest; })
        .Add("total_ns", "", Unit::kNanoseconds, [](Row g) { return g.total; })
        .Add("counts", "", Unit::kNone,
             [](Row g) { return JsonText{absl::StrCat("[", absl::StrJoin(g.counts, ","), "]")}; });
    columns.columns().push_back(
        TextColumn("", "OVER TIME", groups, [](Row g) { return absl::StrJoin(g.counts, " "); }));
    columns
        .AddReason(
            "REASON", [&interner](Row g) { return interner.String(g.reason); },
            [](Row) { return true; })
        .Add("start", "STARTED IN", Unit::kNone,
             [&interner](Row g) { return interner.String(g.start); });
    const auto stack = [&](std::string name, absl::string_view title, StackId LeakGroup::*id) {
      columns.columns().push_back(
          TextColumn(std::move(name), title, groups,
                     [&interner, id](Row g) { return StackText({.stack = g.*id}, interner); }));
    };
    stack("created_at", "", &LeakGroup::created_at);
    stack("blocked_at", "BLOCKED AT", &LeakGroup::blocked_at);
    return Table(groups.size(), columns.Take());
  }

  absl::string_view RowsName() const override { return "leaks"; }
  absl::string_view DefaultSort() const override { return ""; }  // They are sorted.

 private:
  std::optional<absl::Duration> longer_;
};

}  // namespace

std::unique_ptr<Command> MakeLeaksCommand() { return std::make_unique<LeaksCommand>(); }

}  // namespace gotrace::internal
