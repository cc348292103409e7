#include "tools/commands/analysis_command.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/selected_names.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/intervals/start_function.h"
#include "gotrace/stack_filter.h"
#include "tools/cli/file_list.h"
#include "tools/cli/nearest_name.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/input/event_selection.h"
#include "tools/input/open_trace.h"
#include "util/quote.h"

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
  for (Flag& flag : rows) {
    if (!flag.selects) continue;
    const std::string name(flag.name);
    flag.set = {[this, name, set = flag.set](absl::string_view value) {
                  absl::Status status = set(value);
                  if (!status.ok()) return status;
                  // The last one counts.
                  std::erase_if(selected_, [&](const Selected& one) { return one.name == name; });
                  selected_.push_back({name, std::string(value)});
                  return status;
                },
                flag.set.choices()};
  }
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
  if (run.status.ok()) result.is_noted = NoteEmptyWindow(file, flags, run.seen);
  if (!is_whole) NoteTimelessGeneration(file, run.seen);
  result.status = std::move(run.status);
  result.bytes = run.bytes;
  result.losses = run.losses;
  result.sink = std::move(run.sink);
  return result;
}

std::string AnalysisCommand::WhyNothing(const Selected& flag, const Interner& interner) {
  const bool is_start = flag.name == "func";
  if (is_start || flag.name == "stack") {
    std::set<absl::string_view> starts;
    SelectedNames functions(&interner, flag.value, SelectedNames::Of::kWhole);
    bool is_there = false;
    SelectedStacks stacks(&interner, StackFilter::Parse(flag.value).value_or(StackFilter()));
    for (size_t i = 0; i < interner.stack_count(); ++i) {
      const StackId stack{static_cast<uint32_t>(i)};
      const StringId start = StartOf(interner, stack);
      is_there |= is_start ? functions.Has(start) : stacks.Has(stack);
      if (!IsOfSystem(interner.String(start))) starts.insert(interner.String(start));
    }
    if (is_there) return "";
    if (!is_start) return absl::StrCat("no stack has ", QuotedUnlessPlain(flag.value));
    starts.erase("");
    const std::vector<absl::string_view> names(starts.begin(), starts.end());
    const absl::string_view nearest = NearestName(flag.value, names);
    constexpr size_t kNamed = 5;
    const absl::Span<const absl::string_view> first =
        absl::MakeConstSpan(names).first(std::min(names.size(), kNamed));
    return absl::StrCat("no goroutine started in ", QuotedUnlessPlain(flag.value),
                        !nearest.empty() ? absl::StrCat("; did you mean ", nearest, "?")
                        : names.empty()
                            ? ""
                            : absl::StrCat("; goroutines started in ", absl::StrJoin(first, ", "),
                                           names.size() > kNamed ? " and more" : ""));
  }
  if (flag.name != "type" && flag.name != "region") return "";
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < interner.string_count(); ++i) {
    names.push_back(interner.String(StringId{static_cast<uint32_t>(i)}));
  }
  if (absl::c_linear_search(names, flag.value)) return "";
  const absl::string_view nearest = NearestName(flag.value, names);
  return absl::StrCat("there is no type ", QuotedUnlessPlain(flag.value),
                      nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?"));
}

void AnalysisCommand::NoteNothing(const ReadResult& result, const std::string& file) const {
  if (result.is_noted || !result.status.ok() || selected_.empty()) return;
  std::vector<std::string> flags;
  for (const Selected& flag : selected_) {
    const std::string why = WhyNothing(flag, result.sink->interner());
    if (!why.empty()) return Note(file, absl::StrCat("--", flag.name, ": ", why));
    flags.push_back(absl::StrCat("--", flag.name, "=", QuotedUnlessPlain(flag.value)));
  }
  Note(file, absl::StrCat("nothing is left with ", absl::StrJoin(flags, " and ")));
}

FileResult AnalysisCommand::Report(const std::string& file, const ReadResult& result) const {
  if (result.sink == nullptr) {
    return {.status = result.status, .can_salvage = !reading_.salvage};
  }
  FileResult report = reading_.Complete(
      {.status = result.status, .events = result.sink->event_count(), .bytes = result.bytes}, file,
      result.log, result.losses);
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
