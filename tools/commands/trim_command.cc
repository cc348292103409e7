// The command `trim`: cuts a window of time out of a trace.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/trim.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/event_selection.h"
#include "tools/input/open_trace.h"
#include "tools/input/salvage.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "trim",
    .summary = "cut a window of time out of a trace, as a smaller trace",
    .description =
        "Writes the events from --from to --to as a trace of their own, which Go's tools open. The "
        "events keep their times, so that the same window of both traces has the same events and "
        "the same numbers. Of a large file that is not compressed, only the part that the window "
        "needs is read.\n\n"
        "If the window begins inside the trace, the new trace begins some nanoseconds earlier, "
        "with the status of every goroutine and P, and with what is in progress: GC cycles, "
        "sweeps, mark assists, stops of the world, tasks and regions, which begin there again. "
        "The trace does not say why goroutines wait that waited already then. To begin the region "
        "of a goroutine that waits, the goroutine runs for a moment on thread 0. What is open at "
        "the end of the window stays open.\n\n"
        "The result is read again before it gets its name.",
    .examples =
        "  gotrace-dump trim --from=1.5s --to=1510ms -o second.trace large.trace\n"
        "  gotrace-dump trim --from=@2078707244416 -o end.trace trace.out && go tool trace "
        "end.trace\n",
};

class TrimCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {OutputFlag(&target_)};
    for (Flag& row : filter_.Rows()) {
      if (row.name == "from" || row.name == "to") rows.push_back(std::move(row));
    }
    AppendRows(reading_.Rows(InputFlags::Traces::kOne), &rows);
    return rows;
  }

  absl::Status Check() const override { return filter_.Check(); }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    const Trace2Region region(SelfTrace(), "file", kText.name, file);
    if (filter_.from.empty() && filter_.to.empty()) {
      return ReportError(file, {absl::InvalidArgumentError("give --from, --to, or both")});
    }
    const TraceTarget target(target_, out);
    if (absl::Status status = target.Check(file); !status.ok()) return ReportError(file, {status});
    absl::StatusOr<OpenedTrace> input =
        OpenTrace(file, reading_.input.limits, reading_.input.trace);
    if (!input.ok()) return ReportError(file, {input.status()});
    PrintTransportNotes(file, input->notes);
    FaultLog log;
    Progress progress(/*prints_along=*/false);
    TrimmedTrace trimmed;
    const absl::Status status = target.WriteTrace([&](Output* to) -> absl::Status {
      absl::StatusOr<TrimmedTrace> result =
          TrimTrace(std::move(input->source), WindowOf(filter_, &progress), reading_.Options(&log),
                    to->bytes());
      if (!result.ok()) return result.status();
      trimmed = *std::move(result);
      return absl::OkStatus();
    });
    progress.Wipe();
    if (absl::IsNotFound(status)) {
      return ReportError(file, {absl::NotFoundError("no event is between --from and --to")});
    }
    if (!status.ok()) return ReportError(file, {WithAdviceOnTimes(status, file, filter_)});
    WarnOfMoreTraces(file, *input, trimmed.status);
    NoteTimelessGeneration(file, trimmed.seen);
    const int code = Conclude(
        file,
        reading_.Complete(
            {.status = trimmed.status, .events = trimmed.events_read, .bytes = trimmed.bytes_read},
            file, log, trimmed.losses),
        out);
    if (!out->closed()) Note(file, Report(trimmed.written, target));
    return code;
  }

 private:
  static std::string Report(const WrittenTrace& written, const TraceTarget& target) {
    const uint64_t stated = written.statuses_added;
    std::string line =
        absl::StrCat("kept ", written.events - stated - written.events_added, " events");
    if (stated > 0) absl::StrAppend(&line, "; added ", stated, " that state what already existed");
    return absl::StrCat(line, ShowContradictions(written), "; wrote ", target.Shown());
  }

  std::string target_;
  FilterFlags filter_;
  ReadingFlags reading_;
};

}  // namespace

std::unique_ptr<Command> MakeTrimCommand() { return std::make_unique<TrimCommand>(); }

}  // namespace gotrace::internal
