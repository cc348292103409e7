// The command `select`: keeps goroutines or kinds of events of a trace.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/select.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/repair_input.h"
#include "tools/input/salvage.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "select",
    .summary = "keep goroutines or kinds of events, as a smaller trace",
    .description =
        "Writes a trace with some of the goroutines, or with some kinds of events, which Go's "
        "tools open. A goroutine is kept if one of --g, --func, --task and --region selects it; "
        "with --with-wakers, so are those that created or woke one of these.\n\n"
        "Events keep their times, Ps and threads. Of a goroutine that is left out nothing remains: "
        "its P runs no goroutine meanwhile, and what it did to others happens without a goroutine. "
        "Cycles of the garbage collector are kept only if all goroutines are. State transitions "
        "are kept whatever --kind says, since they say who ran where, and begins are kept with "
        "their "
        "ends: --kind=TaskBegin keeps TaskEnd, too.\n\n"
        "The result is read again before it gets its name.",
    .examples =
        "  gotrace-dump select --task=7 --with-wakers -o task.trace trace.out\n"
        "  gotrace-dump select --func=main.worker -o workers.trace trace.out\n"
        "  gotrace-dump select --drop --kind=Log,StackSample -o quiet.trace trace.out\n",
};

class SelectCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {OutputFlag(&target_)};
    for (Flag& row : filter_.Rows()) {
      if (row.name == "g") row.help = "Select these goroutines.";
      if (row.name == "kind") {
        row.help = absl::StrCat("Keep only these kinds of events, and state transitions: ",
                                row.help.substr(row.help.find(':') + 2));
      }
      if (row.name == "g" || row.name == "kind") rows.push_back(std::move(row));
    }
    AppendRows(
        {{.name = "func",
          .value = "FUNCTION,...",
          .help =
              "Select the goroutines that started in one of these functions, as in main.worker.",
          .set = SetList(SetFlag([this](absl::string_view text) {
            selection_.functions.emplace(text);
            return absl::OkStatus();
          }))},
         {.name = "task",
          .value = "ID,...",
          .help =
              "Select the goroutines that began, ended or logged in one of these tasks or their "
              "descendants, or had a region of one.",
          .set = SetTaskIds(&selection_.tasks)},
         {.name = "region",
          .value = "TYPE",
          .help = "Select the goroutines that had a region of this type.",
          .set = SetText(&region_)},
         {.name = "with-wakers",
          .value = "",
          .help = "Select also the goroutines that created or woke one that is selected.",
          .set = SetSwitch(&selection_.with_wakers)},
         {.name = "drop",
          .value = "",
          .help = "Leave out the goroutines and kinds that are selected, and keep the others.",
          .set = SetSwitch(&selection_.drops)}},
        &rows);
    AppendRows(reading_.Rows(InputFlags::Traces::kOne), &rows);
    return rows;
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    const Trace2Region region(SelfTrace(), "file", kText.name, file);
    const ReaderLimits& limits = reading_.input.limits;
    if (absl::Status status = SetSelection(); !status.ok()) return ReportError(file, {status});
    const TraceTarget target(target_, out);
    if (absl::Status status = target.Check(file); !status.ok()) return ReportError(file, {status});
    Progress progress(/*prints_along=*/false);
    const absl::StatusOr<RepeatableInput> input = RepeatableInput::Create(file, limits, &progress);
    if (!input.ok()) return ReportError(file, {input.status()});
    const absl::StatusOr<ChosenTrace> chosen =
        ChooseTrace(file, *input, limits, reading_.input.trace);
    if (!chosen.ok()) return ReportError(file, {chosen.status()});
    FaultLog log;
    SelectedTrace selected;
    const absl::Status status = target.WriteTrace([&](Output* to) -> absl::Status {
      absl::StatusOr<SelectedTrace> result =
          SelectEvents(chosen->open, selection_, reading_.Options(&log), to->bytes());
      if (!result.ok()) return result.status();
      selected = *std::move(result);
      return absl::OkStatus();
    });
    progress.Wipe();
    if (!status.ok()) return ReportError(file, {status});
    for (const std::string& line : chosen->report) Note(file, line);
    const int code =
        Conclude(file,
                 reading_.Complete({.status = selected.status, .events = selected.events_read},
                                   file, log, selected.losses),
                 out);
    if (!out->closed()) Note(file, Report(selected, target));
    return code;
  }

 private:
  absl::Status SetSelection() {
    selection_.goroutines = filter_.filter.goroutines;
    selection_.kinds = filter_.filter.kinds;
    if (!region_.empty()) selection_.regions = {region_};
    if (selection_.with_wakers && !selection_.has_goroutines()) {
      return absl::InvalidArgumentError("--with-wakers needs --g, --func, --task or --region");
    }
    if (selection_.has_goroutines() || !selection_.kinds.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("give --g, --func, --task, --region or --kind");
  }

  std::string Report(const SelectedTrace& selected, const TraceTarget& target) const {
    const WrittenTrace& written = selected.written;
    const uint64_t stated = written.statuses_added;
    std::string line = absl::StrCat("kept ", written.events - stated - written.events_added, " of ",
                                    selected.events_read, " events");
    if (selection_.has_goroutines()) {
      absl::StrAppend(&line, "; ", selected.goroutines,
                      selected.goroutines == 1 ? " goroutine is" : " goroutines are",
                      selection_.drops ? " left out" : " selected");
    }
    if (stated > 0) absl::StrAppend(&line, "; added ", stated, " that the others need");
    return absl::StrCat(line, ShowContradictions(written), "; wrote ", target.Shown());
  }

  std::string target_;
  std::string region_;
  FilterFlags filter_;
  Selection selection_;
  ReadingFlags reading_;
};

}  // namespace

std::unique_ptr<Command> MakeSelectCommand() { return std::make_unique<SelectCommand>(); }

}  // namespace gotrace::internal
