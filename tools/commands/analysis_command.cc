#include "tools/commands/analysis_command.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "export/json/json_text.h"
#include "tools/cli/file_list.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/input/event_selection.h"
#include "tools/input/open_trace.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {
namespace {

// The default maximum number of rows of a table for people, and the width of its lines.
constexpr uint64_t kTextRows = 40;
constexpr size_t kTextWidth = 100;

}  // namespace

std::vector<Flag> AnalysisCommand::Flags() {
  std::vector<Flag> rows = OwnFlags();
  if (IsTable()) {
    AppendTableFlags(&rows);
  } else {
    rows.push_back(JsonFlag(&json_));
  }
  std::vector<Selection> selections = Selections();
  selections.insert(selections.end(), {{"from", ""}, {"to", ""}});
  for (Flag& flag : filter_.Rows()) {
    for (const auto& [name, help] : selections) {
      if (flag.name != name) continue;
      if (!help.empty()) flag.help = std::string(help);
      rows.push_back(flag);
    }
  }
  const auto traces =
      text().takes_several_files ? InputFlags::Traces::kOneOrAll : InputFlags::Traces::kOne;
  AppendRows(MakeAnalysis().read_parallel != nullptr
                 ? reading_.Rows(traces,
                                 "The parts of a large trace in a file are read at the same time, "
                                 "unless --from, --to or --salvage is given.")
                 : reading_.Rows(traces),
             &rows);
  return rows;
}

void AnalysisCommand::AppendTableFlags(std::vector<Flag>* rows) {
  const OwnFormat own = own_format();
  std::vector<absl::string_view> formats = {"text", "csv", "json", "jsonl"};
  if (!own.name.empty()) formats.push_back(own.name);
  AppendRows(
      {{.name = "format",
        .value = "FORMAT",
        .help = absl::StrCat("text (default), a table for people; csv; json, one object for each "
                             "file; or jsonl, one object on a line for each row. Only text rounds "
                             "numbers; the other formats have nanoseconds and bytes.",
                             own.help),
        .set = SetChoice(std::move(formats), &format_)},
       {.name = "sort",
        .value = "COLUMN",
        .help = "Sort by a column, the largest first; texts in alphabetical order. "
                "docs/analyses.md lists the columns.",
        // They depend on the flags that say what the rows are, which may follow this one.
        .set = {SetText(&sort_), MakeTable(nullptr, Interner()).Names()}},
       {.name = "top",
        .value = "N",
        .help = absl::StrCat("Print at most N rows; 0 for all. Default: ", kTextRows,
                             " as text, and all in other formats."),
        .set = SetNumber(0, &top_)}},
      rows);
}

absl::Status AnalysisCommand::Check() const {
  absl::Status status = CheckOwn();
  status.Update(filter_.Check());
  const bool prints_table = TargetPath().empty() && format_ != kOwnFormat;
  if (!prints_table && (!sort_.empty() || top_ != kDefaultTop)) {
    status.Update(absl::InvalidArgumentError("--sort and --top work only with tables"));
  }
  const Interner none;
  if (!sort_.empty()) {
    const absl::Status sorted = MakeTable(nullptr, none).Sort(sort_);
    if (!sorted.ok()) {
      status.Update(absl::InvalidArgumentError(absl::StrCat("--sort: ", sorted.message())));
    }
  }
  return status;
}

int AnalysisCommand::Run(const std::vector<std::string>& files, Output* out) {
  has_csv_names_ = false;
  return PerFileCommand::Run(files, out);
}

AnalysisCommand::ReadResult AnalysisCommand::Read(const std::string& file,
                                                  const FilterFlags& flags) const {
  const Trace2Region reading(SelfTrace(), "trace", "read");
  Progress progress(/*prints_along=*/false);
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, reading_.input.limits, reading_.input.trace);
  if (!input.ok()) return {.status = input.status()};
  PrintTransportNotes(file, input->notes);
  ReadResult result;
  AnalyzeOptions options;
  options.window = WindowOf(flags, &progress);
  options.window.to_end = reading_.salvage;
  options.window.from_beginning = NeedsBeginning();
  const bool is_whole = !options.window.has_times() && !reading_.salvage;
  options.reader = reading_.Options(&result.log);
  options.on_progress = options.window.on_progress;
  AnalysisRun run = RunAnalysis(std::move(input->source), options, MakeAnalysis());
  progress.Wipe();
  if (!is_whole && !run.is_open) {
    result.status = WithAdviceOnTimes(run.status, file, flags);
    return result;
  }
  WarnOfMoreTraces(file, *input, run.status);
  if (run.status.ok()) NoteEmptyWindow(file, flags, run.seen);
  if (!is_whole) NoteTimelessGeneration(file, run.seen);
  result.status = std::move(run.status);
  result.bytes = run.bytes;
  result.losses = run.losses;
  result.sink = std::move(run.sink);
  return result;
}

FileResult AnalysisCommand::Report(const std::string& file, const ReadResult& result) const {
  FileResult report = {.status = result.status, .can_salvage = !reading_.salvage};
  if (result.sink == nullptr) return report;
  report.events = result.sink->event_count();
  report.bytes = result.bytes;
  report.salvage_report = SalvageReport(ShownNameOf(file), result.log, result.losses);
  return report;
}

FileResult AnalysisCommand::RunFile(FileOutput* output) {
  const std::string& file = output->file();
  const ReadResult result = Read(file, filter_);
  if (result.sink == nullptr) {
    Print(result, output);
    return Report(output->name(), result);
  }
  if (absl::Status status = CheckFound(result.sink->analysis());
      result.status.ok() && !status.ok()) {
    return {.status = std::move(status), .is_trace = false};
  }
  for (const std::string& note : NotesOn(result.sink->analysis())) Note(file, note);
  if (TargetPath().empty()) {
    Print(result, output);
  } else {
    absl::Status written = WriteTarget(*result.sink, output);
    if (!written.ok()) return {.status = std::move(written)};
  }
  return Report(output->name(), result);
}

absl::Status AnalysisCommand::WriteTarget(const AnalysisSink& sink, FileOutput* output) const {
  const TraceTarget target(TargetPath(), &output->out());
  if (absl::Status status = target.Check(output->file()); !status.ok()) return status;
  return target.Write([&](Output* out) {
    out->bytes()->Append(TargetBytes(sink));
    return out->Finish();
  });
}

void AnalysisCommand::Print(const ReadResult& result, FileOutput* output) {
  if (result.sink == nullptr) {
    if (prints_json()) AppendUnreadJson(output->name(), result.status, {}, &output->buffer());
    return;
  }
  if (format_ == kOwnFormat) return PrintOwnFormat(*result.sink, &output->buffer());
  const std::string file = output->name();
  if (!IsTable() && !json_) {
    // An empty page would only hide the error.
    if (!result.status.ok() && result.sink->event_count() == 0) return;
    output->BeginText();
    return PrintPage(*result.sink, file, &output->buffer());
  }
  Table table = MakeTable(&result.sink->analysis(), result.sink->interner());
  const absl::string_view sort = sort_.empty() ? DefaultSort() : sort_;
  // Check() has found that the column exists.
  if (!sort.empty()) table.Sort(sort).IgnoreError();
  const size_t all = table.rows();
  const uint64_t top = top_ == kDefaultTop ? (format_ == kTable ? kTextRows : 0) : top_;
  if (top > 0) table.Truncate(top);
  const absl::string_view file_column = output->several() ? "file" : "";
  TextBuffer& out = output->buffer();
  const auto flush = [output] { output->out().MaybeFlush(); };
  switch (json_ ? kJson : format_) {
    case kTable:
      output->BeginText();
      table.AppendText(kTextWidth, &output->buffer());
      if (all == 0) output->buffer().Append("no ", RowsName(), "\n");
      if (table.rows() < all) {
        output->buffer().Append("(", uint64_t{all - table.rows()}, " more; --top=0 shows all)\n");
      }
      break;
    case kCsv:
      table.AppendCsv(!std::exchange(has_csv_names_, true), file_column, file, &out, flush);
      break;
    case kJson: {
      JsonWriter json(&out);
      json.BeginObject();
      AppendFileMembers(file, &json);
      AppendOwnMembers(&json);
      AppendCompleteness(result.status, result.losses, &json);
      if (IsTable()) {
        json.Key(RowsName());
        json.BeginArray();
        table.AppendJson(",", "", "", &out, flush);
        json.EndArray();
      } else {
        AppendMembers(*result.sink, file, &json);
      }
      json.EndObject();
      out.Append('\n');
      break;
    }
    default:
      table.AppendJson("\n", file_column, file, &out, flush);
      if (table.rows() > 0) out.Append('\n');
      break;
  }
}

}  // namespace gotrace::internal
