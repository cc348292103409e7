// The command `info`: prints the contents of a trace in numbers.
#include <memory>
#include <utility>

#include "gotrace/reader.h"
#include "tools/cli/file_list.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/progress.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/commands/info.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "info",
    .summary = "print what a trace contains",
    .description =
        "Prints a trace's version; its duration, and the wall-clock time of its start (since Go "
        "1.25); how many events, goroutines, Ps and threads it has; the number of events of each "
        "kind; and a table of its generations with their times and sizes.",
    .examples =
        "  gotrace-dump info trace.out\n"
        "  gotrace-dump info --json traces/ | jq -r 'select(.duration > 1e9).file'\n",
    .takes_several_files = true,
};

class InfoCommand final : public PerFileCommand {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {JsonFlag(&json_)};
    AppendRows(reading_.Rows(InputFlags::Traces::kOneOrAll), &rows);
    return rows;
  }

 protected:
  FileResult RunFile(FileOutput* output) override {
    const std::string& file = output->file();
    const ReaderLimits& limits = reading_.input.limits;
    absl::StatusOr<OpenedTrace> input = OpenTrace(file, limits, reading_.input.trace);
    if (!input.ok()) return Unread(input.status(), output);
    PrintTransportNotes(file, input->notes);
    FaultLog log;
    absl::StatusOr<Reader> reader =
        Reader::FromSource(std::move(input->source), reading_.Options(&log));
    if (!reader.ok()) return Unread(reader.status(), output);
    TraceInfo info;
    absl::Status status;
    {
      const Trace2Region reading(SelfTrace(), "trace", "read");
      Progress progress(/*prints_along=*/false);
      status = CollectInfo(&*reader, &progress, &info);
    }
    if (input->end->next_trace.has_value() || !status.ok() || reader->losses().faults > 0) {
      info.traces = TracesIn(file, limits);
    }
    if (json_) {
      AppendInfoJson(output->name(), info, &output->buffer());
    } else {
      output->BeginText();
      AppendInfo(info, &output->buffer());
    }
    WarnOfMoreTraces(file, *input, status);
    return reading_.Complete(
        {.status = std::move(status), .events = info.events, .bytes = reader->input_read()},
        output->name(), log, reader->losses());
  }

  InputFlags& input() override { return reading_.input; }

 private:
  FileResult Unread(absl::Status status, FileOutput* output) const {
    if (json_) AppendUnreadJson(output->name(), status, {}, &output->buffer());
    return {std::move(status)};
  }

  bool json_ = false;
  ReadingFlags reading_;
};

}  // namespace

std::unique_ptr<Command> MakeInfoCommand() { return std::make_unique<InfoCommand>(); }

}  // namespace gotrace::internal
