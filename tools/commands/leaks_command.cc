// The command `leaks`: goroutines that are blocked at the end, and have been for long.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/leak_stats.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/stack_columns.h"
#include "tools/commands/table_command.h"

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
        "  go test -trace=trace.out && gotrace-dump leaks --longer=100ms --fail-above=0 trace.out\n"
        "  gotrace-dump leaks --longer=10s --format=json trace.out | jq '.leaks[].blocked_at'\n",
    .exit_codes =
        "  0  the input was read to its end, or as far as was asked for\n"
        "  1  the trace is broken; the output has everything before the fault\n"
        "  2  wrong usage, or a file cannot be read or written, which includes a pipe that was "
        "closed, as by `head`\n"
        "  3  there are more goroutines than --fail-above allows",
    .takes_several_files = true,
};

// Returns the groups without the lines of their stacks, the largest first.
std::vector<LeakGroup> MergedLines(absl::Span<const LeakGroup> groups, const Interner& interner) {
  StacksByFunctions stacks(&interner);
  std::vector<LeakGroup> merged;
  absl::flat_hash_map<std::tuple<StringId, StackId, StackId, StringId>, size_t> places;
  for (LeakGroup group : groups) {
    group.created_at = stacks.Of(group.created_at);
    group.blocked_at = stacks.Of(group.blocked_at);
    const auto [it, is_new] = places.try_emplace(
        {group.start, group.created_at, group.blocked_at, group.reason}, merged.size());
    if (is_new) {
      merged.push_back(group);
      continue;
    }
    LeakGroup& sum = merged[it->second];
    sum.count += group.count;
    sum.longest = std::max(sum.longest, group.longest);
    sum.total = TraceClock::Add(sum.total, group.total);
    for (size_t i = 0; i < LeakGroup::kPoints; ++i) sum.counts[i] += group.counts[i];
  }
  absl::c_stable_sort(merged, [](const LeakGroup& a, const LeakGroup& b) {
    return std::pair(a.count, a.total) > std::pair(b.count, b.total);
  });
  return merged;
}

// Returns whether there are groups that differ only in where they were created.
bool DifferInCreator(absl::Span<const LeakGroup> groups) {
  absl::flat_hash_set<std::tuple<StringId, StackId, StringId>> seen;
  return absl::c_any_of(groups, [&](const LeakGroup& group) {
    return !seen.insert({group.start, group.blocked_at, group.reason}).second;
  });
}

class LeaksCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {{.name = "longer",
             .value = "DURATION",
             .help = "How long a goroutine must have been blocked. Default: 1s.",
             .set = SetDuration(&longer_)},
            {.name = "fail-above",
             .value = "N",
             .help = "End with exit code 3 if a trace has more than N such goroutines, for checks "
                     "in CI.",
             .set = [this](absl::string_view text) {
               return SetNumber(0, &fail_above_.emplace())(text);
             }}};
  }

  std::vector<Selection> Selections() const override {
    return {{"g", ""}, {"stack", "Only goroutines"}};
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
    using Row = const LeakGroup&;
    constexpr Unit kNone = Unit::kNone;
    constexpr Unit kTime = Unit::kNanoseconds;
    const absl::Span<const LeakGroup> all = RowsOf(analysis, &LeakStats::groups);
    std::vector<LeakGroup> groups = merges_lines() ? MergedLines(all, interner)
                                                   : std::vector<LeakGroup>(all.begin(), all.end());
    const auto key_of = [](StackId LeakGroup::*id) {
      return [id](Row g) { return ProfileKey{.stack = g.*id}; };
    };
    const auto creators =
        LabelsOf(absl::MakeConstSpan(groups), key_of(&LeakGroup::created_at), interner);
    const auto labels =
        LabelsOf(absl::MakeConstSpan(groups), key_of(&LeakGroup::blocked_at), interner);
    const absl::string_view created_title = DifferInCreator(groups) ? "CREATED AT" : "";
    return ColumnList<LeakGroup>(std::move(groups))
        .Add("count", "COUNT", kNone, &LeakGroup::count)
        .Add("longest_ns", "LONGEST", kTime, &LeakGroup::longest)
        .Add("total_ns", "", kTime, &LeakGroup::total)
        .Add("counts", "", kNone,
             [](Row g) { return JsonText{absl::StrCat("[", absl::StrJoin(g.counts, ","), "]")}; })
        .Add("", "OVER TIME", kNone, [](Row g) { return absl::StrJoin(g.counts, " "); })
        .AddReason(
            "REASON", [&interner](Row g) { return interner.String(g.reason); },
            [](Row) { return true; })
        .Add("start", "STARTED IN", kNone, [&interner](Row g) { return interner.String(g.start); })
        .Add(StackColumns("created_at", created_title, creators, interner,
                          key_of(&LeakGroup::created_at)))
        .Add(StackColumns("blocked_at", "BLOCKED AT", labels, interner,
                          key_of(&LeakGroup::blocked_at)))
        .Add(PlaceColumns("created_", interner, &LeakGroup::created_at))
        .Add(PlaceColumns("blocked_", interner, &LeakGroup::blocked_at))
        .ToTable();
  }

  bool HasStacks() const override { return true; }

  // Where goroutines were created that are older than the window is only there.
  bool NeedsBeginning() const override { return true; }

  absl::string_view RowsName() const override { return "leaks"; }

  std::string AboveLimit(const Analysis& analysis) const override {
    if (!fail_above_.has_value()) return "";
    uint64_t count = 0;
    for (const LeakGroup& group : static_cast<const LeakStats&>(analysis).groups()) {
      count += group.count;
    }
    if (count <= *fail_above_) return "";
    return absl::StrFormat("%d goroutines have been blocked for long at the end, --fail-above=%d",
                           count, *fail_above_);
  }

 private:
  std::optional<absl::Duration> longer_;
  std::optional<uint64_t> fail_above_;
};

}  // namespace

std::unique_ptr<Command> MakeLeaksCommand() { return std::make_unique<LeaksCommand>(); }

}  // namespace gotrace::internal
