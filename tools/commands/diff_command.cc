// The command `diff`: the differences between two traces, or two windows of one.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/trace_metrics.h"
#include "parser/source/file_state.h"
#include "tools/cli/file_list.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/commands/table_command.h"
#include "tools/input/open_trace.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "diff",
    .summary = "print the differences between two traces",
    .description =
        "Compares trace A, the first FILE, with trace B, the second: the time that goroutines "
        "spent in each state, how many were created, how long they waited for a P, the work of the "
        "garbage collector and, if both traces record them, allocations; for the whole program and "
        "by the function that goroutines started in. Times, counts and bytes are per second of the "
        "trace or, with --per=task, per task that ended. With one FILE, --a and --b are two "
        "windows of it.\n\n"
        "The largest change, compared to the value for the whole program, comes first. The spread "
        "is the change that the variation between generations, which Go begins about every second, "
        "can explain: a change that does not exceed it may be chance.",
    .examples =
        "  gotrace-dump diff before.out after.out\n"
        "  gotrace-dump diff --per=task --top=10 before.out after.out\n"
        "  gotrace-dump diff --a=0s,10s --b=50s,60s trace.out\n"
        "  gotrace-dump diff --format=csv before.out after.out > changes.csv\n",
    .takes_two_files = true,
};

// Accepts two times with a comma between them, as of the flags --from and --to. Either may be
// missing.
SetFlag SetWindow(FilterFlags* window) {
  return [=](absl::string_view text) {
    const size_t comma = text.find(',');
    if (comma == text.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected two times, as in 1s,2.5s, found ", Quoted(text)));
    }
    *window = {};
    const std::vector<Flag> rows = window->Rows();
    const std::pair<absl::string_view, absl::string_view> times[] = {
        {"from", text.substr(0, comma)}, {"to", text.substr(comma + 1)}};
    for (const auto& [name, time] : times) {
      if (time.empty()) continue;
      if (absl::Status status = FindFlag(rows, name)->set(time); !status.ok()) return status;
    }
    return window->Check();
  };
}

Unit UnitOf(const MetricChange& change) {
  switch (change.metric) {
    case TraceMetric::kCreated:
    case TraceMetric::kAllocatedObjects:
    case TraceMetric::kGcCycles:
      return Unit::kNone;
    case TraceMetric::kAllocatedBytes:
      return Unit::kBytes;
    default:
      return Unit::kNanoseconds;
  }
}

class DiffCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file_a = files.front();
    const std::string& file_b = files.back();
    if (absl::Status status = CheckFiles(files); !status.ok()) {
      return Conclude(file_a, {.status = std::move(status), .is_trace = false}, out);
    }
    const FileState state = StateOf(file_a);
    ReadResult a = Read(file_a, has_a_ ? a_ : filter());
    const ReadResult b = Read(file_b, has_b_ ? b_ : filter());
    if (absl::Status status = CheckUnchanged(file_a, state); files.size() == 1 && !status.ok()) {
      return Conclude(file_a, {.status = std::move(status)}, out);
    }
    const FileResult report_a = Report(file_a, a);
    const FileResult report_b = Report(file_b, b);
    // The output is about A, unless only B cannot be opened.
    const bool is_about_b = a.sink != nullptr && b.sink == nullptr;
    bool is_first = true;
    FileOutput output({is_about_b ? file_b : file_a}, /*has_heading=*/false, &is_first, out);
    if (a.sink != nullptr && b.sink != nullptr) {
      Compare(file_a, *a.sink, file_b, *b.sink);
      a.status.Update(b.status);
      if (!a.losses.any()) a.losses = b.losses;
      file_b_ = NameOf(file_b);
    }
    Print(is_about_b ? b : a, &output).IgnoreError();  // A table goes to no file of its own.
    const int exit_code = Conclude(file_a, report_a, out);
    // Both have the same output, and so the same error.
    if (!out->usable()) return exit_code;
    return std::max(exit_code, Conclude(file_b, report_b, out));
  }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {
        {.name = "per",
         .value = "BASE",
         .help = "Divide times, counts and bytes by the length of the trace or window in seconds "
                 "(second, the default), or by the number of tasks that ended in it (task).",
         .set = SetChoice({"second", "task"}, &base_)},
        {.name = "a",
         .value = "FROM,TO",
         .help = "Read only a window of trace A. Times have the form of --from and --to, which "
                 "apply to both traces; an empty FROM or TO means no limit.",
         .set = SetWindowOf(&a_, &has_a_)},
        {.name = "b",
         .value = "FROM,TO",
         .help = "Read only a window of trace B, which is the same trace if there is one FILE.",
         .set = SetWindowOf(&b_, &has_b_)}};
  }

  absl::Status CheckOwn() const override {
    if ((has_a_ || has_b_) && (!filter().from.empty() || !filter().to.empty())) {
      return absl::InvalidArgumentError("--a and --b cannot be used together with --from and --to");
    }
    return absl::OkStatus();
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([](Interner* interner, const EventFilter& filter) {
      return std::make_unique<TraceMetrics>(interner, filter.times);
    });
  }

  std::vector<Selection> Selections() const override { return {}; }

  // Returns the table of the last comparison.
  Table MakeTable(const Analysis* /*analysis*/, const Interner& /*interner*/) const override {
    using Row = const MetricChange&;
    constexpr Unit kNone = Unit::kNone;
    return ColumnList<MetricChange>(absl::Span<const MetricChange>(changes_))
        .Add("metric", "METRIC", kNone, [](Row c) { return TraceMetricName(c.metric); })
        .Add("a", "A", UnitOf, &MetricChange::a)
        .Add("b", "B", UnitOf, &MetricChange::b)
        .Add("change", "CHANGE", UnitOf, [](Row c) { return c.b - c.a; })
        .Add("factor", "FACTOR", kNone, [](Row c) { return c.a == 0 ? Cell() : Cell(c.b / c.a); })
        .Add("spread", "SPREAD", UnitOf, &MetricChange::spread)
        .Add("exceeds_spread", "EXCEEDED", kNone,
             [](Row c) {
               if (!c.spread.has_value()) return Cell();
               const bool exceeds = std::abs(c.b - c.a) > *c.spread;
               return Cell(absl::string_view(exceeds ? "yes" : "no"));
             })
        .Add("weight", "", Unit::kShare, &MetricChange::weight)
        .Add("function", "FUNCTION", kNone,
             [](Row c) -> absl::string_view {
               if (c.of_all) return "(all)";
               return c.function;
             })
        .ToTable();
  }

  void AppendOwnMembers(JsonWriter* json) const override {
    json->Member("file_b", file_b_);
    json->Member("per", base_ == 0 ? "second" : "task");
  }

  absl::string_view RowsName() const override { return "changes"; }

 private:
  static SetFlag SetWindowOf(FilterFlags* window, bool* is_given) {
    return [=](absl::string_view text) {
      *is_given = true;
      return SetWindow(window)(text);
    };
  }

  absl::Status CheckFiles(const std::vector<std::string>& files) const {
    if (files.size() == 2) return absl::OkStatus();
    if (!has_a_ || !has_b_) {
      return absl::InvalidArgumentError(
          "`diff` takes two FILEs, or one with the windows --a=FROM,TO and --b=FROM,TO");
    }
    if (files[0] == "-") {
      return absl::InvalidArgumentError(
          "the standard input can be read only once; `diff` reads a trace twice to compare windows "
          "of it");
    }
    return absl::OkStatus();
  }

  // Sets changes_.
  void Compare(const std::string& file_a, const AnalysisSink& a, const std::string& file_b,
               const AnalysisSink& b) {
    const auto& metrics_a = static_cast<const TraceMetrics&>(a.analysis());
    const auto& metrics_b = static_cast<const TraceMetrics&>(b.analysis());
    changes_ = CompareTraces(metrics_a, a.interner(), metrics_b, b.interner(), base());
    if (base() != MetricBase::kTask) return;
    for (const auto& [file, metrics] :
         {std::pair(&file_a, &metrics_a), std::pair(&file_b, &metrics_b)}) {
      if (metrics->tasks() > 0) continue;
      Note(*file, "no task ends in the trace or window, so nothing can be given per task");
    }
  }

  MetricBase base() const { return base_ == 0 ? MetricBase::kSecond : MetricBase::kTask; }

  size_t base_ = 0;
  FilterFlags a_;
  FilterFlags b_;
  bool has_a_ = false;
  bool has_b_ = false;
  std::vector<MetricChange> changes_;
  std::string file_b_;
};

}  // namespace

std::unique_ptr<Command> MakeDiffCommand() { return std::make_unique<DiffCommand>(); }

}  // namespace gotrace::internal
