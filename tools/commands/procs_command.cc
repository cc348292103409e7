// The command `procs`: how Ps spent their time.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "gotrace/proc_stats.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/analysis_command.h"
#include "tools/commands/time_columns.h"

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
        "(wasted).",
    .examples =
        "  gotrace-dump procs trace.out\n"
        "  gotrace-dump procs --slices=20 trace.out\n"
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

  ProcAnalysis(const EventFilter& filter, size_t slices) : stats_(filter), slice_count_(slices) {}

  void AddEvents(absl::Span<const Event> events) override { stats_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval) override { stats_.AddGoroutine(interval); }
  void AddProc(const ProcInterval& interval) override { stats_.AddProc(interval); }
  void Merge(ProcAnalysis&& next, const InternerMap& ids) override {
    stats_.Merge(std::move(next.stats_), ids);
  }
  void Finish(int64_t end) override {
    stats_.Finish(end);
    if (slice_count_ == 0) return;
    const absl::Span<const ProcLimit> limits = stats_.limits();
    for (const ProcSlice& slice : stats_.Slices(slice_count_)) {
      const auto after = absl::c_upper_bound(
          limits, slice.end,
          [](int64_t time, const ProcLimit& limit) { return time < limit.time; });
      slices_.push_back({slice, after == limits.begin() ? 0 : std::prev(after)->procs});
    }
  }

  const ProcStats& stats() const { return stats_; }
  absl::Span<const Slice> slices() const { return slices_; }

 private:
  ProcStats stats_;
  const size_t slice_count_;
  std::vector<Slice> slices_;
};

// Columns of times: nanoseconds for programs, and shares of the total for people.
template <class Row, class TimesOf>
void AddTimes(const TimesOf& times_of, ColumnList<Row>* columns) {
  struct Kind {
    absl::string_view name;
    absl::string_view title;
    int64_t ProcTimes::*time;
  };
  constexpr Kind kKinds[] = {
      {"user_ns", "USER", &ProcTimes::user},
      {"gc_ns", "GC", &ProcTimes::gc},
      {"assist_ns", "ASSIST", &ProcTimes::assist},
      {"syscall_ns", "SYSCALL", &ProcTimes::syscall},
      {"scheduler_ns", "SCHED", &ProcTimes::scheduler},
      {"idle_ns", "IDLE", &ProcTimes::idle},
  };
  for (const Kind& kind : kKinds) {
    columns->Add(std::string(kind.name), "", Unit::kNanoseconds,
                 [=](const Row& row) { return times_of(row).*kind.time; });
    columns->Add("", kind.title, Unit::kShare, [=](const Row& row) {
      const int64_t total = times_of(row).Total();
      return total == 0
                 ? Cell()
                 : Cell(static_cast<double>(times_of(row).*kind.time) / static_cast<double>(total));
    });
  }
}

std::vector<Column> ProcColumns(absl::Span<const ProcUse> procs) {
  using Row = const ProcUse&;
  const auto count = [](uint64_t number) { return static_cast<int64_t>(number); };
  ColumnList<ProcUse> columns(procs);
  columns.Add("p", "P", Unit::kNone, [](Row p) { return p.proc.value; })
      .Add("total_ns", "TIME", Unit::kNanoseconds, [](Row p) { return p.times.Total(); });
  AddTimes([](Row p) -> const ProcTimes& { return p.times; }, &columns);
  return columns.Add("runs", "RUNS", Unit::kNone, [=](Row p) { return count(p.runs); })
      .Add("migrations", "MIGRATIONS", Unit::kNone, [=](Row p) { return count(p.migrations); })
      .Add("steals", "STEALS", Unit::kNone, [=](Row p) { return count(p.steals); })
      .Take();
}

std::vector<Column> SliceColumns(absl::Span<const ProcAnalysis::Slice> slices) {
  using Row = const ProcAnalysis::Slice&;
  ColumnList<ProcAnalysis::Slice> columns(slices);
  columns.Add("begin_ns", "BEGIN", Unit::kNone, [](Row s) { return s.slice.begin; })
      .Add("length_ns", "LENGTH", Unit::kNanoseconds,
           [](Row s) { return TraceClock::Subtract(s.slice.end, s.slice.begin); });
  AddTimes([](Row s) -> const ProcTimes& { return s.slice.times; }, &columns);
  return columns
      .Add("runnable_ns", "RUNNABLE", Unit::kNanoseconds, [](Row s) { return s.slice.runnable; })
      .Add("wasted_ns", "WASTED", Unit::kNanoseconds,
           [](Row s) { return s.slice.idle_while_runnable; })
      .Add("gomaxprocs", "GOMAXPROCS", Unit::kNone,
           [](Row s) { return s.procs == 0 ? Cell() : Cell(static_cast<int64_t>(s.procs)); })
      .Take();
}

class ProcsCommand final : public AnalysisCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {{.name = "slices",
             .value = "N",
             .help = "Print a row for each slice of time, at most N. Slices have a round length, "
                     "so there are often fewer.",
             .set = SetNumber(2, &slices_)}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([this](Interner* /*interner*/, const EventFilter& filter) {
      return std::make_unique<ProcAnalysis>(filter, slices_);
    });
  }

  std::vector<Selection> Selections() const override { return {{"p", "Only these Ps."}}; }

  Table MakeTable(const Analysis* analysis, const Interner& /*interner*/) const override {
    absl::Span<const ProcUse> procs;
    absl::Span<const ProcAnalysis::Slice> slices;
    if (analysis != nullptr) {
      const auto& result = static_cast<const ProcAnalysis&>(*analysis);
      procs = result.stats().procs();
      slices = result.slices();
    }
    return slices_ > 0 ? Table(slices.size(), SliceColumns(slices))
                       : Table(procs.size(), ProcColumns(procs));
  }

  absl::string_view RowsName() const override { return slices_ > 0 ? "slices" : "procs"; }
  absl::string_view DefaultSort() const override { return ""; }  // In order of Ps, or of time.

 private:
  uint64_t slices_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeProcsCommand() { return std::make_unique<ProcsCommand>(); }

}  // namespace gotrace::internal
