// The command `latency`: how long goroutines waited, for what, and the worst cases.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/latency_stats.h"
#include "gotrace/profile.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/stack_columns.h"
#include "tools/commands/table_command.h"
#include "tools/commands/time_columns.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "latency",
    .summary = "print how long goroutines waited, and the worst cases",
    .description =
        "Prints the distribution of waits of each kind: ready to run but waiting for a P "
        "(scheduling), blocked for each reason (blocked), in syscalls (syscall), stopping the "
        "world (pause), and assisting the garbage collector (assist). --by=func prints a row for "
        "each function that goroutines started in, --by=stack for each stack in which they "
        "waited, and --by=g for each goroutine. Of waits for a P, STOPPED is the part in which the "
        "world was stopped.\n\n"
        "With --worst, prints a row for each of the longest waits instead: its time, goroutine and "
        "stack, and what ended it.\n\n"
        "Clipped waits began before the trace or the window, or had not ended when it did: they "
        "took at least the printed time.",
    .examples =
        "  gotrace-dump latency trace.out\n"
        "  gotrace-dump latency --kind=scheduling --by=func --sort=p99 trace.out\n"
        "  gotrace-dump latency --worst=5 --kind=scheduling,pause trace.out\n"
        "  gotrace-dump latency --format=jsonl traces/ > latency.jsonl\n",
    .takes_several_files = true,
};

constexpr uint64_t kMaxCases = 1'000'000;

uint64_t NanosecondsOf(absl::Duration duration) {
  return static_cast<uint64_t>(absl::ToInt64Nanoseconds(duration));
}

SetFlag SetKinds(std::array<bool, kLatencyKindEnd>* kinds) {
  std::vector<absl::string_view> names;
  for (size_t kind = 0; kind < kLatencyKindEnd; ++kind) {
    names.push_back(LatencyKindName(static_cast<LatencyKind>(kind)));
  }
  return SetChoices(names, [kinds](absl::Span<const size_t> positions) {
    kinds->fill(false);
    for (const size_t kind : positions) (*kinds)[kind] = true;
  });
}

// Returns the columns for the members of a key, for ColumnList::Add().
auto KeyColumns(const Interner& interner, absl::string_view start_title) {
  return [=, &interner](auto* columns) {
    columns
        ->Add("kind", "KIND", Unit::kNone,
              [](const auto& row) { return LatencyKindName(row.key.kind); })
        .AddReason(
            "REASON", [&interner](const auto& row) { return interner.String(row.key.reason); },
            [](const auto& row) { return row.key.kind == LatencyKind::kBlocked; })
        .Add("start", start_title, Unit::kNone,
             [&interner](const auto& row) { return interner.String(row.key.start); });
  };
}

// Returns the stack in which a wait began.
template <class Row>
ProfileKey StackOf(const Row& row) {
  return {.stack = row.key.stack, .start = row.key.start};
}

// Returns the groups without the lines of their stacks.
std::vector<LatencyGroup> MergedLines(absl::Span<const LatencyGroup> groups,
                                      const Interner& interner) {
  StacksByFunctions stacks(&interner);
  std::vector<LatencyGroup> merged;
  absl::flat_hash_map<LatencyKey, size_t> places;
  for (const LatencyGroup& group : groups) {
    LatencyKey key = group.key;
    key.stack = stacks.Of(key.stack);
    const auto [it, is_new] = places.try_emplace(key, merged.size());
    if (is_new) {
      merged.push_back(group);
      merged.back().key = key;
    } else {
      merged[it->second].durations.Merge(group.durations);
      merged[it->second].clipped += group.clipped;
      merged[it->second].stopped = TraceClock::Add(merged[it->second].stopped, group.stopped);
    }
  }
  return merged;
}

enum By : size_t { kWhat, kFunction, kStack, kGoroutine };

Table GroupTable(absl::Span<const LatencyGroup> all, By by, bool merges_lines,
                 const Interner& interner) {
  using Row = const LatencyGroup&;
  constexpr Unit kNone = Unit::kNone;
  std::vector<LatencyGroup> groups = merges_lines && by == kStack
                                         ? MergedLines(all, interner)
                                         : std::vector<LatencyGroup>(all.begin(), all.end());
  const auto labels = LabelsOf(absl::MakeConstSpan(groups), StackOf<LatencyGroup>, interner);
  return ColumnList<LatencyGroup>(std::move(groups))
      .Add("count", "COUNT", kNone, [](Row g) { return g.durations.count(); })
      .Add("clipped", "CLIPPED", kNone, &LatencyGroup::clipped)
      .Add("total_ns", "TOTAL", Unit::kNanoseconds, [](Row g) { return g.durations.sum(); })
      .Add("stopped_ns", "STOPPED", Unit::kNanoseconds, &LatencyGroup::stopped)
      .Add(QuantileColumns("", /*is_shown=*/true, &LatencyGroup::durations))
      .Add("histogram", "", kNone, [](Row g) { return JsonText{HistogramJson(g.durations)}; })
      .AddIf(by == kGoroutine, "g", "G", kNone, [](Row g) { return g.key.goroutine; })
      .Add(KeyColumns(interner, by == kFunction || by == kGoroutine ? "STARTED IN" : ""))
      .Add(StackColumns("stack", by == kStack ? "STACK" : "", labels, interner,
                        StackOf<LatencyGroup>))
      .Add(PlaceColumns("", interner, [](Row g) { return g.key.stack; }))
      .ToTable();
}

// "G 7", or the kind of source.
std::string EnderText(const LatencyCase& one) {
  const Cause& ender = one.ended_by;
  if (ender.kind == CauseKind::kUnknown) return "";
  if (ender.goroutine != GoId::kNone) return absl::StrCat("G ", ender.goroutine.value);
  return std::string(CauseKindName(ender.kind));
}

// Returns which ends of a wait were not seen.
absl::string_view ClippedAt(const Interval& wait) {
  if (wait.begin_clipped) return wait.end_clipped ? "begin, end" : "begin";
  return wait.end_clipped ? "end" : "";
}

Table CaseTable(absl::Span<const LatencyCase> cases, const Interner& interner) {
  using Row = const LatencyCase&;
  constexpr Unit kNone = Unit::kNone;
  const auto labels = LabelsOf(cases, StackOf<LatencyCase>, interner);
  return ColumnList<LatencyCase>(cases)
      .Add("begin_ns", "BEGIN", kNone, &LatencyCase::begin)
      .Add("length_ns", "LENGTH", Unit::kNanoseconds, &LatencyCase::duration)
      .Add("stopped_ns", "", Unit::kNanoseconds, &LatencyCase::stopped)
      .Add("clipped", "", kNone,
           [](Row c) { return JsonText{c.begin_clipped || c.end_clipped ? "true" : "false"}; })
      .Add("clipped_at", "CLIPPED", kNone, ClippedAt)
      .Add("g", "G", kNone, &LatencyCase::goroutine)
      .Add(KeyColumns(interner, ""))
      .Add("ended_by", "ENDED BY", kNone, EnderText)
      .Add("ended_by_g", "", kNone, [](Row c) { return c.ended_by.goroutine; })
      .Add(StackColumns("stack", "STACK", labels, interner, StackOf<LatencyCase>))
      .Add("ended_by_stack", "", kNone,
           [&interner](Row c) { return StackText({.stack = c.ended_by.stack}, interner); })
      .Add(PlaceColumns("", interner, [](Row c) { return c.key.stack; }))
      .Add(PlaceColumns("ended_by_", interner, [](Row c) { return c.ended_by.stack; }))
      .ToTable();
}

class LatencyCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    std::vector<Flag> rows = {
        {.name = "kind",
         .value = "KIND,...",
         .help = "Only waits of these kinds: scheduling, blocked, syscall, pause, assist.",
         .set = SetKinds(&options_.kinds),
         .selects = true},
        {.name = "reason",
         .value = "REGEX",
         .help = "Only waits for a reason of which this regular expression matches a part, as in "
                 "chan receive.",
         .set = SetPattern(&options_.reason),
         .selects = true},
        {.name = "by",
         .value = "WHAT",
         .help = "Print a row for each kind and reason (what, the default), or also for each "
                 "function that goroutines started in (func), each stack (stack) or each "
                 "goroutine (g).",
         .set = SetChoice({"what", "func", "stack", "g"}, &by_),
         .excludes = "worst"},
        {.name = "worst",
         .value = "N",
         .help = "Print the N longest waits of each kind and reason.",
         .set = SetNumber(1, &cases_)},
        StartFlag("Only goroutines that started", &options_.start),
    };
    AppendRows(length_.Rows("Only waits"), &rows);
    return rows;
  }

  absl::Status CheckOwn() const override { return length_.Check(); }

  std::vector<Selection> Selections() const override {
    return {{"g", ""}, {"stack", "Only waits"}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      LatencyStats::Options options = options_;
      options.by_start = by_ != kWhat;
      options.by_stack = by_ == kStack;
      options.by_goroutine = by_ == kGoroutine;
      options.min_duration = NanosecondsOf(length_.min.value_or(absl::ZeroDuration()));
      options.max_duration = NanosecondsOf(length_.max.value_or(absl::InfiniteDuration()));
      options.cases = std::min(cases_, kMaxCases);
      options.filter = filter;
      return std::make_unique<LatencyStats>(interner, std::move(options));
    });
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    return cases_ > 0 ? CaseTable(RowsOf(analysis, &LatencyStats::cases), interner)
                      : GroupTable(RowsOf(analysis, &LatencyStats::groups), static_cast<By>(by_),
                                   merges_lines(), interner);
  }

  bool HasStacks() const override { return true; }

  absl::string_view RowsName() const override { return cases_ > 0 ? "waits" : "latencies"; }
  absl::string_view DefaultSort() const override {
    return by_ == kWhat || cases_ > 0 ? "" : "total_ns";  // They are sorted.
  }

 private:
  size_t by_ = kWhat;
  LengthFlags length_;
  uint64_t cases_ = 0;
  LatencyStats::Options options_;
};

}  // namespace

std::unique_ptr<Command> MakeLatencyCommand() { return std::make_unique<LatencyCommand>(); }

}  // namespace gotrace::internal
