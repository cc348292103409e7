// The command `convert`: writes a trace in a format of other tools.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tools/command.h"
#include "tools/convert_formats.h"
#include "tools/event_selection.h"
#include "tools/file_list.h"
#include "tools/open_trace.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/self_trace.h"
#include "tools/shared_flags.h"
#include "tools/trace_target.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "convert",
    .summary = "write the trace in a format of other tools",
    .description =
        "Writes a trace in the format that --to names. The last time of a window is --until here.\n"
        "\n"
        "Filters combine, as for `events`, but the last time is --until, since --to is the format. "
        "With --from and --until only what is between them is "
        "written, with the state that was current at --from: what began earlier is written too. "
        "Generations that end before --from are not read, unless the input is compressed or a "
        "pipe.\n"
        "\n"
        "If the trace is broken, everything before the fault is written; with --salvage, "
        "everything that can still be read.",
    .examples =
        "  gotrace-dump convert --to=perfetto -o trace.pftrace trace.out\n"
        "  gotrace-dump convert --to=chrome -o trace.json trace.out\n"
        "  gotrace-dump convert --to=chrome --view=goroutine --from=1.5s --until=1.6s trace.out\n"
        "  gotrace-dump convert --to=trace2-perf --kind=RegionBegin,Log trace.out\n",
};

// For those who know --to as the last time from `events`.
SetFlag SetFormat(const std::vector<absl::string_view>& names, size_t* format) {
  const SetFlag choice = SetChoice(names, format);
  return {[choice](absl::string_view value) {
            absl::Status status = choice(value);
            const bool is_time = absl::ascii_isdigit(value.front()) || value.front() == '@';
            if (status.ok() || !is_time) return status;
            return absl::InvalidArgumentError(
                absl::StrCat(status.message(), "; the last time is --until"));
          },
          choice.choices()};
}

class ConvertCommand final : public Command {
 public:
  ConvertCommand() { filter_.to_name = "until"; }

  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<absl::string_view> names;
    std::string help = "The format to write:";
    for (const ConvertFormat& format : ConvertFormats()) {
      names.push_back(format.name);
      absl::StrAppend(&help, "\n  ", format.name, ": ", format.help);
    }
    std::vector<Flag> rows = {{.name = "to",
                               .value = "FORMAT",
                               .help = std::move(help),
                               .set = SetFormat(names, &format_)},
                              OutputFlag(&target_)};
    AppendRows(FormatFlags(&options_), &rows);
    AppendRows(filter_.Rows(), &rows);
    AppendRows(reading_.Rows(), &rows);
    return rows;
  }

  absl::Status Check() const override {
    if (format_ < ConvertFormats().size()) {
      absl::Status status = CheckFormatFlags(options_, filter_.filter);
      status.Update(filter_.Check());
      return status;
    }
    const auto append_name = [](std::string* list, const ConvertFormat& format) {
      absl::StrAppend(list, format.name);
    };
    return absl::InvalidArgumentError(absl::StrCat(
        "--to=FORMAT is missing; the formats are ",
        absl::StrJoin(ConvertFormats(), ", ", append_name), " (--until is the last time)"));
  }

  absl::string_view mode() const override { return ConvertFormats()[format_].name; }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const Trace2Region region(SelfTrace(), "file", kText.name, files[0]);
    FaultLog log;
    FileResult result = Convert(files[0], &log, out);
    return Conclude(files[0], result, out);
  }

 private:
  FileResult Convert(const std::string& file, FaultLog* log, Output* out) {
    const ConvertFormat& format = ConvertFormats()[format_];
    const TraceTarget target(target_, out);
    if (absl::Status status = target.Check(file, format.is_binary); !status.ok()) return {status};
    Progress progress(/*prints_along=*/target.is_standard_output());
    const FileState state = StateOf(file);
    absl::StatusOr<std::unique_ptr<EventSelection>> selection =
        Open(file, log, /*quiet=*/false, &progress);
    if (!selection.ok()) {
      return {.status = selection.status(), .can_salvage = !reading_.salvage};
    }
    const Event* first = (*selection)->Next();
    absl::Status written;
    // Of a trace without a single event nothing is written.
    if (first != nullptr) {
      absl::StatusOr<EventFilter> filter = (*selection)->AbsoluteFilter();
      if (!filter.ok()) return {filter.status()};
      options_.filter = filter->WithWholeSpans();
      options_.trace_start = (*selection)->trace_start();
      options_.on_note = [&](absl::string_view note) { Note(file, absl::StrCat("note: ", note)); };
      const std::unique_ptr<EventSink> survey =
          format.make_survey == nullptr ? nullptr : format.make_survey(&options_);
      if (survey != nullptr) {
        if (!CanBeReadAgain(file)) {
          return {absl::FailedPreconditionError(
              absl::StrCat(ShownNameOf(file),
                           ": with these flags the trace is read twice, which "
                           "works only with a file"))};
        }
        const Trace2Region surveying(SelfTrace(), "trace", "survey");
        for (; first != nullptr; first = (*selection)->Next()) {
          survey->Add(absl::MakeConstSpan(first, 1));
        }
        if (absl::Status status = survey->Finish(); !status.ok()) return {status};
        *log = FaultLog();
        selection = Open(file, log, /*quiet=*/true, &progress);
        if (!selection.ok()) return {selection.status()};
        first = (*selection)->Next();
      }
      const Trace2Region writing(SelfTrace(), "trace", "write");
      written = target.Write([&](Output* to) {
        absl::Status status = Export(format, first, selection->get(), to);
        if (survey != nullptr) status.Update(CheckUnchanged(file, state));
        return status;
      });
    }
    const SelectionResult result = (*selection)->Finish();
    progress.Wipe();
    // An exporter may lack what a broken trace would have had.
    if (absl::IsFailedPrecondition(written) && result.status.ok()) {
      return {
          absl::FailedPreconditionError(absl::StrCat(ShownNameOf(file), ": ", written.message()))};
    }
    if (!written.ok() && !absl::IsFailedPrecondition(written) && !out->closed()) return {written};
    if (result.status.ok() && !NoteEmptyWindow(file, filter_, result) && !result.any_matches &&
        !filter_.filter.MatchesAll()) {
      Note(file, absl::StrCat("no event has what --kind, --g, --p and --m ask for; ", result.events,
                              " events were read"));
    }
    NoteTimelessGeneration(file, result);
    return {.status = result.status,
            .events = result.events,
            .bytes = result.bytes,
            .can_salvage = !reading_.salvage,
            .salvage_report = SalvageReport(ShownNameOf(file), *log, result.losses)};
  }

  absl::StatusOr<std::unique_ptr<EventSelection>> Open(const std::string& file, FaultLog* log,
                                                       bool quiet, Progress* progress) const {
    SelectionOptions selected;
    selected.filter = filter_;
    selected.trace = reading_.input.trace;
    selected.to_end = reading_.salvage;
    selected.whole_window = true;
    selected.quiet = quiet;
    return EventSelection::Open(file, selected, reading_.Options(log), progress);
  }

  // Writes `first` and all events of `selection` that follow. Returns an error if they cannot be
  // written.
  absl::Status Export(const ConvertFormat& format, const Event* first, EventSelection* selection,
                      Output* to) const {
    const std::unique_ptr<EventSink> exporter = format.make_exporter(to->bytes(), options_);
    for (const Event* event = first; event != nullptr && to->usable(); event = selection->Next()) {
      exporter->Add(absl::MakeConstSpan(event, 1));
    }
    absl::Status status = exporter->Finish();
    status.Update(to->Finish());
    return status;
  }

  size_t format_ = ConvertFormats().size();  // None.
  std::string target_;
  ConvertOptions options_;
  FilterFlags filter_;
  ReadingFlags reading_;
};

}  // namespace

std::unique_ptr<Command> MakeConvertCommand() { return std::make_unique<ConvertCommand>(); }

}  // namespace gotrace::internal
