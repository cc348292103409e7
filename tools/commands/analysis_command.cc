#include "tools/commands/analysis_command.h"

#include <utility>

#include "tools/cli/file_list.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/input/event_selection.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {

std::vector<Flag> AnalysisCommand::Flags() {
  std::vector<Flag> rows = OwnFlags();
  AppendRows(OutputFlags(), &rows);
  std::vector<Selection> selections = Selections();
  selections.insert(selections.end(), {{"from", ""}, {"to", ""}});
  for (const auto& [name, help] : selections) {
    if (name == "stack") rows.push_back(filter_.StackRow(help));
  }
  for (Flag& flag : filter_.Rows()) {
    for (const auto& [name, help] : selections) {
      if (flag.name != name) continue;
      if (!help.empty()) flag.help = std::string(help);
      rows.push_back(flag);
    }
  }
  if (!MomentHelp().empty()) rows.push_back(filter_.AtRow(MomentHelp()));
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

absl::Status AnalysisCommand::Check() const {
  absl::Status status = CheckOwn();
  status.Update(filter_.Check());
  return status;
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
  report.above_limit = AboveLimit(result.sink->analysis());
  return report;
}

absl::Status AnalysisCommand::Print(const ReadResult& result, FileOutput* output) {
  if (result.sink != nullptr) return PrintResult(result, output);
  if (prints_json()) AppendUnreadJson(output->name(), result.status, {}, &output->buffer());
  return absl::OkStatus();
}

FileResult AnalysisCommand::RunFile(FileOutput* output) {
  const std::string& file = output->file();
  const ReadResult result = Read(file, filter_);
  if (result.sink != nullptr) {
    const Analysis& analysis = result.sink->analysis();
    if (absl::Status found = CheckFound(analysis); result.status.ok() && !found.ok()) {
      return {.status = std::move(found), .is_trace = false};
    }
    for (const std::string& note : NotesOn(analysis)) Note(file, note);
  }
  if (absl::Status printed = Print(result, output); !printed.ok()) {
    return {.status = std::move(printed)};
  }
  return Report(output->name(), result);
}

}  // namespace gotrace::internal
