// The command `procs`: how Ps spent their time.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "gotrace/proc_stats.h"
#include "gotrace/profile.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/stack_columns.h"
#include "tools/commands/table_command.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "procs",
    .summary = "print how busy Ps were, and whether there were enough of them",
    .description =
        "Prints a row for each P: how much of its time it ran the program's goroutines, mark "
        "workers of the garbage collector, goroutines that had to assist it, and syscalls, looked "
        "for work (sched), and was idle; how often it began to run a goroutine, how many of these "
        "goroutines had run on another P before, and how often it was taken away from a thread in "
        "a syscall.\n\n"
        "With --slices, prints a row for each slice of time instead, with the sums over all Ps, "
        "the time that goroutines waited to run (runnable), and how much of that time Ps were idle "
        "(wasted). While the world is stopped, idle Ps are stopped instead, and nothing is "
        "wasted.\n\n"
        "With --ready, prints a row for each function in which goroutines started instead: how "
        "long they were ready to run, and what the Ps did meanwhile. The world was stopped, also "
        "by the tracer; a P was idle; or Ps ran the program, the part beyond 10 ms of a run of at "
        "least 20 ms, mark assists, mark workers, or something else.\n\n"
        "With --long-runs, prints a row for each goroutine of the program that kept a P for at "
        "least 20 ms: how often, for how long at most, where that ended, and how long others were "
        "ready meanwhile.",
    .examples =
        "  gotrace-dump procs trace.out\n"
        "  gotrace-dump procs --slices=20 trace.out\n"
        "  gotrace-dump procs --ready trace.out\n"
        "  gotrace-dump procs --long-runs trace.out\n"
        "  gotrace-dump procs --slices=1000 --format=csv trace.out > utilization.csv\n",
    .takes_several_files = true,
};

// Computes the rows once everything is read.
class ProcAnalysis final : public MergeableAnalysis<ProcAnalysis> {
 public:
  struct Slice {
    ProcSlice slice;
    uint64_t procs = 0;  // GOMAXPROCS at its end; 0 if unknown.
  };

  ProcAnalysis(Interner* interner, const EventFilter& filter, size_t slices)
      : stats_(interner, filter), slice_count_(slices) {}

  void AddEvents(absl::Span<const Event> events) override { stats_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval) override { stats_.AddGoroutine(interval); }
  void AddProc(const ProcInterval& interval) override { stats_.AddProc(interval); }
  void Merge(ProcAnalysis&& next, const InternerMap& ids) override {
    stats_.Merge(std::move(next.stats_), ids);
  }
  void Finish(int64_t end) override {
    stats_.Finish(end);
    for (const ReadyFunction& function : stats_.ready_functions()) {
      if (function.waited.Total() > 0) ready_.push_back(function);
    }
    absl::c_stable_sort(ready_, [](const ReadyFunction& a, const ReadyFunction& b) {
      return a.waited.Total() > b.waited.Total();
    });
    if (slice_count_ == 0) return;
    const absl::Span<const ProcLimit> limits = stats_.limits();
    for (const ProcSlice& slice : stats_.Slices(slice_count_)) {
      const auto after = absl::c_upper_bound(
          limits, slice.end,
          [](int64_t time, const ProcLimit& limit) { return time < limit.time; });
      slices_.push_back({slice, after == limits.begin() ? 0 : std::prev(after)->procs});
    }
  }

  absl::Span<const ProcUse> procs() const { return stats_.procs(); }
  absl::Span<const ReadyFunction> ready() const { return ready_; }
  absl::Span<const LongRunner> long_runs() const { return stats_.long_runners(); }
  absl::Span<const Slice> slices() const { return slices_; }

 private:
  ProcStats stats_;
  const size_t slice_count_;
  std::vector<Slice> slices_;
  std::vector<ReadyFunction> ready_;  // Those that waited, longest first.
};

// Returns the columns of times, for ColumnList::Add(): nanoseconds for programs, and shares of the
// total for people. `times` is the member of a row, or a function of it, with its ProcTimes.
template <class Times>
auto ProcTimeColumns(Times times) {
  return [times](auto* columns) {
    const auto add = [&](absl::string_view name, absl::string_view title, int64_t ProcTimes::*one) {
      columns->Add(std::string(name), "", Unit::kNanoseconds,
                   [=](const auto& row) { return std::invoke(times, row).*one; });
      columns->Add("", title, Unit::kShare, [=](const auto& row) {
        const ProcTimes& all = std::invoke(times, row);
        const int64_t total = all.Total();
        return total == 0 ? Cell()
                          : Cell(static_cast<double>(all.*one) / static_cast<double>(total));
      });
    };
    add("user_ns", "USER", &ProcTimes::user);
    add("gc_ns", "GC", &ProcTimes::gc);
    add("assist_ns", "ASSIST", &ProcTimes::assist);
    add("syscall_ns", "CALLS", &ProcTimes::syscall);
    add("scheduler_ns", "SCHED", &ProcTimes::scheduler);
    add("idle_ns", "IDLE", &ProcTimes::idle);
    add("stopped_ns", "STOP", &ProcTimes::stopped);
  };
}

Table ProcTable(absl::Span<const ProcUse> procs) {
  using Row = const ProcUse&;
  constexpr Unit kNone = Unit::kNone;
  return ColumnList<ProcUse>(procs)
      .Add("p", "P", kNone, [](Row p) { return p.proc.value; })
      .Add("total_ns", "TIME", Unit::kNanoseconds, [](Row p) { return p.times.Total(); })
      .Add(ProcTimeColumns(&ProcUse::times))
      .Add("runs", "RUNS", kNone, &ProcUse::runs)
      .Add("migrations", "MIGRATIONS", kNone, &ProcUse::migrations)
      .Add("steals", "STEALS", kNone, &ProcUse::steals)
      .ToTable();
}

Table ReadyTable(absl::Span<const ReadyFunction> functions, const Interner& interner) {
  using Row = const ReadyFunction&;
  ColumnList<ReadyFunction> columns(functions);
  columns.Add("ready_ns", "READY", Unit::kNanoseconds, [](Row f) { return f.waited.Total(); });
  constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"stopped_ns", "STOPPED"}, {"tracer_ns", ""},        {"idle_ps_ns", "IDLE PS"},
      {"program_ns", "PROGRAM"}, {"long_runs_ns", "LONG"}, {"assists_ns", "ASSISTS"},
      {"gc_ns", "GC"},           {"other_ns", "OTHER"}};
  static_assert(std::size(kNames) == kReadyCauseEnd);
  for (size_t i = 0; i < kReadyCauseEnd; ++i) {
    const auto [name, title] = kNames[i];
    columns.Add(std::string(name), title, Unit::kNanoseconds,
                [i](Row f) { return f.waited.by_cause[i]; });
  }
  return std::move(columns)
      .Add("system", "", Unit::kNone,
           [](Row f) { return JsonText{f.is_system ? "true" : "false"}; })
      .Add("start", "FUNCTION", Unit::kNone,
           [&interner](Row f) { return interner.String(f.start); })
      .ToTable();
}

Table SliceTable(absl::Span<const ProcAnalysis::Slice> slices) {
  using Row = const ProcAnalysis::Slice&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kTime = Unit::kNanoseconds;
  return ColumnList<ProcAnalysis::Slice>(slices)
      .Add("begin_ns", "BEGIN", kNone, [](Row s) { return s.slice.begin; })
      .Add("length_ns", "LENGTH", kTime,
           [](Row s) { return TraceClock::Subtract(s.slice.end, s.slice.begin); })
      .Add(ProcTimeColumns([](Row s) -> const ProcTimes& { return s.slice.times; }))
      .Add("runnable_ns", "READY", kTime, [](Row s) { return s.slice.runnable; })
      .Add("wasted_ns", "WASTED", kTime, [](Row s) { return s.slice.idle_while_runnable; })
      .Add("gomaxprocs", "PROCS", kNone,
           [](Row s) { return s.procs == 0 ? Cell() : CellOf(s.procs); })
      .ToTable();
}

Table LongRunTable(absl::Span<const LongRunner> runners, const Interner& interner) {
  using Row = const LongRunner&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kTime = Unit::kNanoseconds;
  const auto key_of = [](Row r) { return ProfileKey{.stack = r.stack}; };
  const auto labels = LabelsOf(runners, key_of, interner);
  return ColumnList<LongRunner>(runners)
      .Add("g", "G", kNone, &LongRunner::goroutine)
      .Add("runs", "RUNS", kNone, &LongRunner::runs)
      .Add("longest_ns", "LONGEST", kTime, &LongRunner::longest)
      .Add("longest_begin_ns", "", kNone, &LongRunner::longest_begin)
      .Add("waited_ns", "WAITED", kTime, &LongRunner::waited)
      .Add("peers_waited_ns", "PEERS", kTime, &LongRunner::peers_waited)
      .Add("start", "STARTED IN", kNone, [&interner](Row r) { return interner.String(r.start); })
      .Add(StackColumns("stack", "UNTIL", labels, interner, key_of))
      .ToTable();
}

class ProcsCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {
        {.name = "slices",
         .value = "N",
         .help = "Print a row for each slice of time, at most N. Slices have a round length, "
                 "so there are often fewer.",
         .set = SetNumber(2, &slices_),
         .excludes = "long-runs"},
        {.name = "ready",
         .value = "",
         .help = "Print what kept goroutines that were ready from running, by the function that "
                 "they started in.",
         .set = SetSwitch(&ready_),
         .excludes = "slices"},
        {.name = "long-runs",
         .value = "",
         .help = "Print the goroutines that kept a P for at least 20 ms, and how long others were "
                 "ready meanwhile.",
         .set = SetSwitch(&long_runs_),
         .excludes = "ready"}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      return std::make_unique<ProcAnalysis>(interner, filter, slices_);
    });
  }

  std::vector<Selection> Selections() const override { return {{"p", "Only these Ps."}}; }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    if (ready_) return ReadyTable(RowsOf(analysis, &ProcAnalysis::ready), interner);
    if (long_runs_) return LongRunTable(RowsOf(analysis, &ProcAnalysis::long_runs), interner);
    return slices_ > 0 ? SliceTable(RowsOf(analysis, &ProcAnalysis::slices))
                       : ProcTable(RowsOf(analysis, &ProcAnalysis::procs));
  }

  absl::string_view RowsName() const override {
    if (ready_) return "ready";
    if (long_runs_) return "long_runs";
    return slices_ > 0 ? "slices" : "procs";
  }

 private:
  uint64_t slices_ = 0;
  bool ready_ = false;
  bool long_runs_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeProcsCommand() { return std::make_unique<ProcsCommand>(); }

}  // namespace gotrace::internal
