#include "tools/commands/events_command.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "gotrace/json_exporter.h"
#include "gotrace/text_exporter.h"
#include "tools/cli/file_list.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/self_trace.h"

namespace gotrace::internal {
namespace {

std::unique_ptr<EventSink> MakeExporter(const EventsOptions& options, const EventTimes& times,
                                        FileOutput* output) {
  ByteSink* const out = output->out().bytes();
  if (!options.json) return std::make_unique<TextExporter>(out);
  JsonOptions json;
  json.stacks = options.stacks;
  json.times = options.wall ? &times : nullptr;
  json.file = output->several() ? output->name() : "";
  return std::make_unique<JsonExporter>(out, json);
}

}  // namespace

EventsResult DumpEvents(const EventsOptions& options, ReaderOptions reader_options,
                        Progress* progress, FileOutput* output) {
  SelectionOptions selected;
  selected.filter = options.filter;
  selected.trace = options.trace;
  selected.to_end = options.to_end;
  EventsResult result;
  absl::StatusOr<std::unique_ptr<EventSelection>> selection =
      EventSelection::Open(output->file(), selected, std::move(reader_options), progress);
  if (!selection.ok()) {
    result.status = selection.status();
    return result;
  }
  const std::unique_ptr<EventSink> exporter = MakeExporter(options, (*selection)->times(), output);
  Trace2Region reading(SelfTrace(), "trace", "read");
  const Output& out = output->out();
  while (result.printed < options.limit && out.usable()) {
    const Event* const event = (*selection)->Next();
    if (event == nullptr) break;
    if (++result.printed == 1 && !options.json) output->BeginText();
    exporter->Add(absl::MakeConstSpan(event, 1));
  }
  // An error of writing is in the Output, too.
  exporter->Finish().IgnoreError();
  reading.Leave();
  static_cast<SelectionResult&>(result) = (*selection)->Finish();
  return result;
}

namespace {

constexpr CommandText kText = {
    .name = "events",
    .summary = "print the events in order",
    .description =
        "Prints the events of a trace in order. Without flags the text is that of `go tool trace "
        "-d=parsed`, byte for byte.\n\n"
        "Filters combine: an event is printed if it passes all of them. Reading stops once no "
        "later event can match (except with --salvage). Generations that end before --from are not "
        "read, unless the input is compressed or a pipe. If several files are given, each file "
        "with events to print has a heading, and in JSON each event has the name of its "
        "\"file\".\n\n"
        "Wall-clock times (RFC 3339: a date, a time and a zone) need a trace of Go 1.25 or later, "
        "in which every generation records the wall clock.\n\n"
        "With --salvage a broken trace is read to its end. An event that contradicts an earlier "
        "one is printed with Fault=ID at the end of its line, or \"fault\" in JSON; lost strings "
        "and stacks are printed as ?string#12 and ?stack#7. An event that waits for a lost one is "
        "printed last in its generation; it keeps its time, so times may go backwards there.",
    .examples =
        "  gotrace-dump events trace.out | less\n"
        "  gotrace-dump events --kind=StateTransition --g=42 trace.out\n"
        "  gotrace-dump events --from=1.5s --to=1500.2ms --format=json --stacks trace.out\n"
        "  gotrace-dump events --kind=Log --format=json traces/ | jq -r .file | uniq -c\n"
        "  gotrace-dump events --salvage broken.out > events.txt\n"
        "  curl -s localhost:6060/debug/pprof/trace?seconds=5 | gotrace-dump events --limit=100 "
        "-\n",
    .takes_several_files = true,
};

class EventsCommand final : public PerFileCommand {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {
        {.name = "format",
         .value = "go|json",
         .help = "The text of Go's tool (default), or one JSON object on a line for each event.",
         .set = SetChoice({"go", "json"}, &format_),
         .instead = "other commands have --json"},
        {.name = "stacks",
         .value = "",
         .help = "Write stacks in JSON, too; Go's text always has them.",
         .set = SetSwitch(&options_.stacks),
         .needs = "format=json"},
        {.name = "wall",
         .value = "",
         .help = "Write wall-clock times in JSON, too, if the trace has them (since Go 1.25).",
         .set = SetSwitch(&options_.wall),
         .needs = "format=json"},
    };
    AppendRows(options_.filter.Rows(), &rows);
    rows.push_back(options_.filter.StackRow("Only events"));
    rows.push_back({.name = "limit",
                    .value = "N",
                    .help = "Print at most N events of each file.",
                    .set = SetNumber(0, &options_.limit)});
    AppendRows(reading_.Rows(InputFlags::Traces::kOneOrAll), &rows);
    return rows;
  }

  absl::Status Check() const override { return options_.filter.Check(); }

  int Run(const std::vector<std::string>& files, Output* out) override {
    options_.json = format_ == 1;
    options_.to_end = reading_.salvage;
    const int exit_code = PerFileCommand::Run(files, out);
    if (is_several_ && exit_code == kSuccess && printed_ == 0 && options_.limit > 0) {
      absl::FPrintF(stderr, "gotrace-dump: no event of any file matches\n");
    }
    return exit_code;
  }

 protected:
  FileResult RunFile(FileOutput* output) override {
    const std::string& file = output->file();
    FaultLog log;
    Progress progress(/*prints_along=*/true);
    options_.trace = reading_.input.trace;
    const EventsResult result = DumpEvents(options_, reading_.Options(&log), &progress, output);
    progress.Wipe();
    printed_ += result.printed;
    is_several_ = output->several();
    if (result.status.ok() && result.printed == 0 && !is_several_) ExplainNothing(file, result);
    NoteTimelessGeneration(file, result);
    return reading_.Complete(
        {.status = result.status, .events = result.events, .bytes = result.bytes}, output->name(),
        log, result.losses);
  }

  InputFlags& input() override { return reading_.input; }

 private:
  // Explains why no event of a single file was printed.
  void ExplainNothing(const std::string& file, const EventsResult& result) const {
    if (options_.limit == 0) return;
    if (NoteEmptyWindow(file, options_.filter, result)) return;
    Note(file, absl::StrCat("no event matches; ", result.events,
                            result.events == 1 ? " event was read" : " events were read"));
  }

  size_t format_ = 0;
  EventsOptions options_;
  ReadingFlags reading_;
  uint64_t printed_ = 0;  // Events of all files.
  bool is_several_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeEventsCommand() { return std::make_unique<EventsCommand>(); }

}  // namespace gotrace::internal
