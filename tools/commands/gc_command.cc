// The command `gc`: the cycles of the garbage collector, the stops of the world, and how much of
// the processors the collector leaves to the program.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/gc_stats.h"
#include "gotrace/mutator_utilization.h"
#include "tools/cli/registry.h"
#include "tools/commands/table_command.h"
#include "tools/commands/time_columns.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "gc",
    .summary = "print the cycles and pauses of the garbage collector",
    .description =
        "Prints a row for each cycle of the garbage collector: what triggered it, how long it "
        "marked, how long it stopped the world, how long goroutines had to assist it, how long its "
        "workers ran, and how large the heap was. With --pauses, prints a row for each stop of the "
        "world instead, including stops that are not for the collector: how long it took until all "
        "Ps had stopped, until the first ran again, and until all were started, and what the P "
        "that "
        "stopped last was doing.\n\n"
        "With --mmu, prints a row for each length of window, with the minimum mutator utilization: "
        "the smallest share of the processors that the collector left to the program in any window "
        "of that length, and the time of that window. --compat=go prints the numbers of `go tool "
        "trace`, which are too low if mark workers run more than once.",
    .examples =
        "  gotrace-dump gc trace.out\n"
        "  gotrace-dump gc --pauses --sort=length --top=10 trace.out\n"
        "  gotrace-dump gc --mmu trace.out\n"
        "  gotrace-dump gc --mmu --flags=stw,background,assist,perproc --windows=1ms trace.out\n",
    .takes_several_files = true,
};

constexpr size_t kWorstWindows = 10;
constexpr int64_t kMillisecond = 1'000'000;

SetFlag SetUtilizationFlags(MutatorUtilization::Options* options) {
  struct Choice {
    absl::string_view name;
    bool MutatorUtilization::Options::*is_on;
  };
  static constexpr Choice kChoices[] = {
      {"stw", &MutatorUtilization::Options::stw},
      {"background", &MutatorUtilization::Options::background},
      {"assist", &MutatorUtilization::Options::assist},
      {"sweep", &MutatorUtilization::Options::sweep},
      {"perproc", &MutatorUtilization::Options::per_proc},
  };
  std::vector<absl::string_view> names;
  for (const Choice& choice : kChoices) names.push_back(choice.name);
  return SetChoices(names, [=](absl::Span<const size_t> positions) {
    for (const Choice& choice : kChoices) options->*choice.is_on = false;
    for (const size_t position : positions) options->*kChoices[position].is_on = true;
  });
}

SetFlag SetWindows(std::vector<int64_t>* windows) {
  return [=](absl::string_view text) {
    windows->clear();
    for (const absl::string_view length : absl::StrSplit(text, ',')) {
      absl::Duration window;
      if (!absl::ParseDuration(length, &window) || window < absl::Nanoseconds(1) ||
          window == absl::InfiniteDuration()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "expected a duration of at least 1ns, as in 100us or 10ms, found ", Quoted(length)));
      }
      windows->push_back(absl::ToInt64Nanoseconds(window));
    }
    return absl::OkStatus();
  };
}

// The utilization in the windows of one length.
struct MmuRow {
  int64_t window = 0;
  double mmu = 0;
  std::vector<UtilizationWindow> worst;
};

std::vector<MmuRow> MmuRows(absl::Span<const UtilizationSeries> series,
                            absl::Span<const int64_t> windows) {
  const MmuCurve curve(series);
  std::vector<MmuRow> rows;
  for (const int64_t window : windows) {
    std::vector<UtilizationWindow> worst = curve.Worst(window, kWorstWindows);
    // The first of them is that of the MMU, if the window is one.
    const double mmu = worst.empty() ? curve.Mmu(window) : worst.front().utilization;
    rows.push_back({window, mmu, std::move(worst)});
  }
  return rows;
}

std::string WorstText(absl::Span<const UtilizationWindow> worst) {
  std::string json = "[";
  for (const UtilizationWindow& window : worst) {
    absl::StrAppendFormat(&json, "%s{\"time_ns\":%d,\"utilization\":%.17g}",
                          json.size() > 1 ? "," : "", window.time, window.utilization);
  }
  return json + "]";
}

Table MmuTable(std::vector<MmuRow> rows) {
  using Row = const MmuRow&;
  return ColumnList<MmuRow>(std::move(rows))
      .Add("window_ns", "WINDOW", Unit::kNanoseconds, &MmuRow::window)
      .Add("mmu", "MMU", Unit::kShare, &MmuRow::mmu)
      .Add("worst_time_ns", "WORST AT", Unit::kNone,
           [](Row r) { return r.worst.empty() ? Cell() : Cell(r.worst.front().time); })
      .Add("worst", "", Unit::kNone, [](Row r) { return JsonText{WorstText(r.worst)}; })
      .ToTable();
}

std::string AssistsText(absl::Span<const GoroutineAssists> assists) {
  std::string json = "{";
  for (const GoroutineAssists& one : assists) {
    absl::StrAppend(&json, json.size() > 1 ? "," : "", "\"", one.goroutine.value,
                    "\":", one.assists.time);
  }
  return json + "}";
}

Table CycleTable(std::vector<GcCycle> cycles, const Interner& interner) {
  using Row = const GcCycle&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kTime = Unit::kNanoseconds;
  constexpr Unit kSize = Unit::kBytes;
  return ColumnList<GcCycle>(std::move(cycles))
      .Add("cycle", "CYCLE", kNone, &GcCycle::number)
      .Add("trigger", "TRIGGER", kNone, [](Row c) { return GcTriggerName(c.trigger); })
      .Add("g", "", kNone, &GcCycle::goroutine)
      .Add("begin_ns", "", kTime, &GcCycle::begin)
      .Add("end_ns", "", kTime, [](Row c) { return c.end_clipped ? Cell() : Cell(c.end); })
      .Add("length_ns", "MARK", kTime, &GcCycle::duration)
      .Add("pauses", "", kNone, [](Row c) { return c.pauses.count; })
      .Add("pauses_ns", "PAUSES", kTime, [](Row c) { return c.pauses.time; })
      .Add("longest_pause_ns", "LONGEST", kTime, &GcCycle::longest_pause)
      .Add("assists", "", kNone, [](Row c) { return c.assists.count; })
      .Add("assists_ns", "ASSISTS", kTime, [](Row c) { return c.assists.time; })
      .Add("assists_by_g_ns", "", kTime,
           [](Row c) { return JsonText{AssistsText(c.assists_by_goroutine)}; })
      .Add("workers_ns", "WORKERS", kTime,
           [](Row c) { return c.dedicated + c.fractional + c.idle; })
      .Add("dedicated_ns", "", kTime, &GcCycle::dedicated)
      .Add("fractional_ns", "", kTime, &GcCycle::fractional)
      .Add("idle_ns", "", kTime, &GcCycle::idle)
      .Add("sweeps", "", kNone, [](Row c) { return c.sweeps.count; })
      .Add("sweeps_ns", "SWEEPS", kTime, [](Row c) { return c.sweeps.time; })
      .Add("swept_bytes", "", kSize, &GcCycle::swept_bytes)
      .Add("reclaimed_bytes", "", kSize, &GcCycle::reclaimed_bytes)
      .Add("heap_begin_bytes", "HEAP", kSize, &GcCycle::heap_begin)
      .Add("goal_bytes", "GOAL", kSize, &GcCycle::goal)
      .Add("heap_end_bytes", "AT END", kSize, &GcCycle::heap_end)
      .Add("next_goal_bytes", "", kSize, &GcCycle::next_goal)
      .Add("stack", "", kNone,
           [&interner](Row c) { return StackText({.stack = c.stack}, interner); })
      .ToTable();
}

// Returns the innermost function of a stack; null if there is none.
Cell InnermostFunction(StackId stack, const Interner& interner) {
  const absl::Span<const FrameId> frames = interner.Frames(stack);
  return frames.empty() ? Cell() : Cell(interner.Frame(frames.front()).func);
}

Table StopTable(std::vector<WorldStop> stops, const Interner& interner) {
  using Row = const WorldStop&;
  constexpr Unit kNone = Unit::kNone;
  constexpr Unit kTime = Unit::kNanoseconds;
  return ColumnList<WorldStop>(std::move(stops))
      .Add("begin_ns", "BEGIN", kNone, &WorldStop::begin)
      .Add("end_ns", "", kTime, [](Row s) { return s.end_clipped ? Cell() : Cell(s.end); })
      .Add("length_ns", "LENGTH", kTime, &WorldStop::duration)
      .Add("stopping_ns", "STOPPING", kTime, &WorldStop::stopping)
      .Add("stopped_ns", "STOPPED", kTime, &WorldStop::stopped)
      .Add("restarting_ns", "RESTARTING", kTime, &WorldStop::restarting)
      .Add("g", "BY G", kNone, &WorldStop::goroutine)
      .Add("p", "", kNone, &WorldStop::proc)
      .Add("last_p", "LAST P", kNone, &WorldStop::last_proc)
      .Add("last_p_stop_ns", "", kTime,
           [](Row s) {
             return s.last_proc == ProcId::kNone ? Cell() : Cell(s.last_proc_stop - s.begin);
           })
      .Add("last_g", "LAST G", kNone, &WorldStop::last_goroutine)
      .Add("reason", "REASON", kNone, [&interner](Row s) { return interner.String(s.reason); })
      .Add("last_function", "LAST IN", kNone,
           [&interner](Row s) { return InnermostFunction(s.last_stack, interner); })
      .Add("stack", "", kNone,
           [&interner](Row s) { return StackText({.stack = s.stack}, interner); })
      .Minor({"STOPPED", "LAST P"})
      .ToTable();
}

class GcCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    Flag compat = CompatFlag(&is_compatible_);
    compat.needs = "mmu";
    std::vector<Flag> rows = {
        {.name = "pauses",
         .value = "",
         .help = "Print a row for each stop of the world.",
         .set = SetSwitch(&pauses_),
         .excludes = "mmu"},
        {.name = "mmu",
         .value = "",
         .help = "Print the minimum mutator utilization.",
         .set = SetSwitch(&mmu_)},
        {.name = "flags",
         .value = "FLAG,...",
         .help = "Processors that count as taken from the program. stw: all, while the world is "
                 "stopped for the collector; background: processors of mark workers; assist: "
                 "processors of goroutines that assist; sweep: processors of goroutines that "
                 "sweep. perproc: look at each P by itself. Default: stw,background,assist.",
         .set = SetUtilizationFlags(&options_),
         .needs = "mmu"},
        {.name = "windows",
         .value = "LENGTH,...",
         .help = "The lengths of windows. Default: from 100us to 1s.",
         .set = SetWindows(&windows_),
         .needs = "mmu"},
        compat,
    };
    AppendRows(length_.Rows("Only cycles, or stops,"), &rows);
    return rows;
  }

  absl::Status CheckOwn() const override {
    if (mmu_ && length_.is_set()) {
      return absl::InvalidArgumentError("--min and --max do not work with --mmu");
    }
    absl::Status status = length_.Check();
    status.Update(CheckCompat(is_compatible_, filter()));
    return status;
  }

  AnyAnalysis MakeAnalysis() const override {
    if (!mmu_) {
      return AnalysisOf([](Interner* interner, const EventFilter& filter) {
        return std::make_unique<GcStats>(interner, filter.times);
      });
    }
    const auto options = [this](const EventFilter& filter) {
      MutatorUtilization::Options options = options_;
      options.window = filter.times;
      return options;
    };
    if (is_compatible_) {
      return AnalysisOf([=](Interner* /*interner*/, const EventFilter& filter) {
        return std::make_unique<GoCompatibleUtilization>(options(filter));
      });
    }
    return AnalysisOf([=](Interner* /*interner*/, const EventFilter& filter) {
      return std::make_unique<MutatorUtilization>(options(filter));
    });
  }

  std::vector<Selection> Selections() const override { return {}; }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    if (mmu_) {
      if (analysis == nullptr) return MmuTable({});
      return MmuTable(MmuRows(is_compatible_ ? RowsOf(analysis, &GoCompatibleUtilization::series)
                                             : RowsOf(analysis, &MutatorUtilization::series),
                              windows_));
    }
    return pauses_ ? StopTable(Selected(RowsOf(analysis, &GcStats::stops)), interner)
                   : CycleTable(Selected(RowsOf(analysis, &GcStats::cycles)), interner);
  }

  absl::string_view RowsName() const override {
    return mmu_ ? "mmu" : pauses_ ? "pauses" : "cycles";
  }

 private:
  // Returns the cycles or stops of the lengths that the flags select.
  template <class Row>
  std::vector<Row> Selected(absl::Span<const Row> rows) const {
    std::vector<Row> selected;
    for (const Row& row : rows) {
      if (length_.Has(static_cast<int64_t>(row.duration()))) selected.push_back(row);
    }
    return selected;
  }

  LengthFlags length_;
  bool pauses_ = false;
  bool mmu_ = false;
  bool is_compatible_ = false;
  std::vector<int64_t> windows_ = {kMillisecond / 10,  kMillisecond / 5,   kMillisecond / 2,
                                   kMillisecond,       2 * kMillisecond,   5 * kMillisecond,
                                   10 * kMillisecond,  20 * kMillisecond,  50 * kMillisecond,
                                   100 * kMillisecond, 200 * kMillisecond, 500 * kMillisecond,
                                   1000 * kMillisecond};
  MutatorUtilization::Options options_ = {.stw = true, .background = true, .assist = true};
};

}  // namespace

std::unique_ptr<Command> MakeGcCommand() { return std::make_unique<GcCommand>(); }

}  // namespace gotrace::internal
