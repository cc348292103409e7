// The command `diff`: the differences between two traces, or two windows of one.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "export/summary/summary_json.h"
#include "export/summary/summary_page.h"
#include "gotrace/run_analysis.h"
#include "gotrace/trace_metrics.h"
#include "gotrace/trace_summary.h"
#include "parser/source/file_state.h"
#include "tools/cli/file_list.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/terminal.h"
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
        "by the function that goroutines started in. Also where goroutines of the program waited, "
        "locks apart from all else, and how long tasks and regions took. Times, counts and bytes "
        "are per second of the trace or, with --per=task, per task that ended. Suspicions (see "
        "`summary`) that are new in B, or gone, follow.\n\n"
        "With one FILE, --a and --b are two windows of it. --base compares each of several FILEs "
        "with one trace.\n\n"
        "The largest change, compared to the value for the whole program, comes first. The spread "
        "is the change that the variation between generations, which Go begins about every second, "
        "can explain: a change that does not exceed it may be chance.",
    .examples =
        "  gotrace-dump diff before.out after.out\n"
        "  gotrace-dump diff --per=task --top=10 before.out after.out\n"
        "  gotrace-dump diff --a=0s,10s --b=50s,60s trace.out\n"
        "  gotrace-dump diff --base=before.out try1.out try2.out try3.out\n"
        "  gotrace-dump diff --format=csv before.out after.out > changes.csv\n",
    .compares_files = true,
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

constexpr absl::string_view kAll = "(all)";

// Returns what a metric is of, for people: "(all)", "main.work", "main.(*Cache).Get ->
// sync.(*Mutex).Lock (sync)", or the type of tasks or regions.
std::string SubjectOf(const MetricChange& change) {
  if (change.of_all) return std::string(kAll);
  std::string text = absl::StrCat(change.function, change.type);
  if (!change.library.empty()) absl::StrAppend(&text, " -> ", change.library);
  if (!change.reason.empty()) absl::StrAppend(&text, " (", change.reason, ")");
  return text;
}

class DiffCommand final : public TableCommand {
 public:
  const CommandText& text() const override { return kText; }

  int Run(const std::vector<std::string>& files, Output* out) override {
    file_a_ = base_file_.empty() ? files.front() : base_file_;
    if (absl::Status status = CheckFiles(files); !status.ok()) {
      return Conclude(file_a_, {.status = std::move(status), .is_trace = false}, out);
    }
    const FileState state = StateOf(file_a_);
    ReadResult a = Read(file_a_, has_a_ ? a_ : filter());
    const FileResult report_a = Report(file_a_, a);
    const absl::Status status_a = a.status;
    const Losses losses_a = a.losses;
    NoteTasks(file_a_, a);
    const std::vector<std::string> others =
        base_file_.empty() ? std::vector<std::string>{files.back()} : files;
    bool is_first = true;
    int exit_code = kSuccess;
    for (const std::string& file_b : others) {
      const ReadResult b = Read(file_b, has_b_ ? b_ : filter());
      if (absl::Status status = CheckUnchanged(file_a_, state); file_b == file_a_ && !status.ok()) {
        return Conclude(file_a_, {.status = std::move(status)}, out);
      }
      // The output is about A, unless only B cannot be opened.
      const bool is_about_b = a.sink != nullptr && b.sink == nullptr;
      const std::string& shown = is_about_b || !base_file_.empty() ? file_b : file_a_;
      FileOutput output({shown}, /*has_heading=*/others.size() > 1, &is_first, out);
      if (a.sink != nullptr && b.sink != nullptr) {
        NoteTasks(file_b, b);
        Compare(*a.sink, *b.sink);
        a.status = status_a;
        a.status.Update(b.status);
        a.losses = losses_a.any() ? losses_a : b.losses;
        file_b_ = NameOf(file_b);
      }
      Print(is_about_b ? b : a, &output).IgnoreError();  // A table goes to no file of its own.
      if (&file_b == &others.front()) exit_code = Conclude(file_a_, report_a, out);
      // All have the same output, and so the same error.
      if (!out->usable()) return exit_code;
      exit_code = std::max(exit_code, Conclude(file_b, Report(file_b, b), out));
      if (!out->usable()) return exit_code;
    }
    return exit_code;
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
         .set = SetWindowOf(&b_, &has_b_)},
        {.name = "base",
         .value = "FILE",
         .help = "Trace A; each other FILE is a trace B.",
         .set = SetText(&base_file_)}};
  }

  absl::Status CheckOwn() const override {
    if ((has_a_ || has_b_) && (!filter().from.empty() || !filter().to.empty())) {
      return absl::InvalidArgumentError("--a and --b cannot be used together with --from and --to");
    }
    return absl::OkStatus();
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([](Interner* interner, const EventFilter& filter) {
      return std::make_unique<Analyses>(std::make_unique<TraceMetrics>(interner, filter.times),
                                        std::make_unique<SummaryStats>(interner, filter.times));
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
        .Add("function", "", kNone,
             [](Row c) -> absl::string_view {
               if (c.of_all) return kAll;
               return c.function;
             })
        .Add("library", "", kNone, [](Row c) { return absl::string_view(c.library); })
        .Add("reason", "", kNone, [](Row c) { return absl::string_view(c.reason); })
        .Add("type", "", kNone, [](Row c) { return absl::string_view(c.type); })
        .Add("", "OF", kNone, SubjectOf)
        .ToTable();
  }

  void AppendOwnMembers(JsonWriter* json) const override {
    json->Member("file_b", file_b_);
    json->Member("per", base_ == 0 ? "second" : "task");
    json->Key("new_suspicions");
    AppendSuspicions(new_, *summary_b_, json);
    json->Key("gone_suspicions");
    AppendSuspicions(gone_, *summary_a_, json);
  }

  absl::string_view RowsName() const override { return "changes"; }

  // With --base, rows and headings name trace B, and an object both.
  absl::string_view file_column() const override { return "file_b"; }
  std::string ObjectName(const FileOutput& /*output*/) const override { return NameOf(file_a_); }

  absl::Status PrintResult(const ReadResult& result, FileOutput* output) override {
    absl::Status status = TableCommand::PrintResult(result, output);
    if (!prints_text()) return status;
    TextBuffer& out = output->buffer();
    if (!new_.empty()) {
      out.Append(
          "\nNew suspicions (time that goroutines lost; 1.0 is one goroutine, all the time)\n");
      AppendSuspicionRows(new_, *summary_b_, TableWidth(), &out);
    }
    if (!gone_.empty()) {
      out.Append("\nSuspicions that are gone\n");
      AppendSuspicionRows(gone_, *summary_a_, TableWidth(), &out);
    }
    return status;
  }

 private:
  static SetFlag SetWindowOf(FilterFlags* window, bool* is_given) {
    return [=](absl::string_view text) {
      *is_given = true;
      return SetWindow(window)(text);
    };
  }

  absl::Status CheckFiles(const std::vector<std::string>& files) const {
    const bool has_base = !base_file_.empty();
    if (!has_base && files.size() > 2) {
      return absl::InvalidArgumentError(
          "`diff` takes one or two FILEs; --base=FILE compares each of several with that one");
    }
    if (!has_base && files.size() == 1 && (!has_a_ || !has_b_)) {
      return absl::InvalidArgumentError(
          "`diff` takes two FILEs, or one with the windows --a=FROM,TO and --b=FROM,TO");
    }
    const bool is_read_twice = has_base || files.size() == 1;
    if (is_read_twice && file_a_ == "-" && absl::c_linear_search(files, "-")) {
      return absl::InvalidArgumentError(
          "the standard input can be read only once; `diff` reads a trace twice to compare windows "
          "of it");
    }
    return absl::OkStatus();
  }

  using Analyses = AnalysisGroup<TraceMetrics, SummaryStats>;

  template <class A>
  static const A& Get(const AnalysisSink& sink) {
    return static_cast<const Analyses&>(sink.analysis()).get<A>();
  }

  void NoteTasks(const std::string& file, const ReadResult& result) const {
    if (base() != MetricBase::kTask || result.sink == nullptr) return;
    if (Get<TraceMetrics>(*result.sink).tasks() > 0) return;
    Note(file, "no task ends in the trace or window, so nothing can be given per task");
  }

  // Sets the results.
  void Compare(const AnalysisSink& a, const AnalysisSink& b) {
    changes_ = CompareTraces(Get<TraceMetrics>(a), a.interner(), Get<TraceMetrics>(b), b.interner(),
                             base());
    summary_a_ = &Get<SummaryStats>(a).summary();
    summary_b_ = &Get<SummaryStats>(b).summary();
    new_ = NewSuspicions(*summary_a_, *summary_b_);
    gone_ = NewSuspicions(*summary_b_, *summary_a_);
  }

  MetricBase base() const { return base_ == 0 ? MetricBase::kSecond : MetricBase::kTask; }

  size_t base_ = 0;
  FilterFlags a_;
  FilterFlags b_;
  bool has_a_ = false;
  bool has_b_ = false;
  std::string base_file_;  // "" without --base.

  // The results of the last comparison.
  std::string file_a_;
  std::string file_b_;
  std::vector<MetricChange> changes_;
  const TraceSummary* summary_a_ = nullptr;
  const TraceSummary* summary_b_ = nullptr;
  std::vector<TraceSummary::Suspicion> new_;
  std::vector<TraceSummary::Suspicion> gone_;
};

}  // namespace

std::unique_ptr<Command> MakeDiffCommand() { return std::make_unique<DiffCommand>(); }

}  // namespace gotrace::internal
