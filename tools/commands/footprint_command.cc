// The command `footprint`: prints how many bytes each kind of event takes.
#include <memory>
#include <utility>

#include "parser/framing/raw_reader.h"
#include "tools/cli/file_list.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/progress.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/commands/footprint.h"
#include "tools/input/open_trace.h"
#include "tools/input/salvage.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "footprint",
    .summary = "print the size of each event type and table",
    .description =
        "Prints how many events of each type there are and how many bytes they take, the largest "
        "first, and the same for strings, stacks and batch headers.",
    .examples =
        "  gotrace-dump footprint trace.out\n"
        "  gotrace-dump footprint --json traces/\n",
    .takes_several_files = true,
};

class FootprintCommand final : public PerFileCommand {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {JsonFlag(&json_), SalvageFlag(&salvage_)};
    AppendRows(input_.Rows(InputFlags::Kind::kRawEvents, InputFlags::Traces::kOneOrAll), &rows);
    return rows;
  }

 protected:
  FileResult RunFile(FileOutput* output) override {
    const std::string& file = output->file();
    absl::StatusOr<OpenedTrace> input = OpenTrace(file, input_.limits, input_.trace);
    if (!input.ok()) return Unread(input.status(), {}, output);
    PrintTransportNotes(file, input->notes);
    FaultLog log;
    Footprint footprint;
    const absl::Status status = Collect(std::move(input->source), &log, &footprint);
    WarnOfMoreTraces(file, *input, status);
    if (footprint.bytes == 0) return Unread(status, footprint.losses, output);
    if (json_) {
      AppendFootprintJson(output->name(), footprint, &output->buffer());
    } else {
      output->BeginText();
      AppendFootprint(footprint, &output->buffer());
    }
    return {.status = status,
            .events = footprint.events,
            .bytes = footprint.bytes,
            .can_salvage = !salvage_,
            .salvage_report = SalvageReport(ShownNameOf(output->name()), log, footprint.losses)};
  }

  InputFlags& input() override { return input_; }

 private:
  absl::Status Collect(std::unique_ptr<ByteSource> source, FaultLog* log,
                       Footprint* footprint) const {
    const Trace2Region reading(SelfTrace(), "trace", "read");
    Progress progress(/*prints_along=*/false);
    if (salvage_) {
      return SalvageFootprint(
          source.get(), [&](const Fault& fault) { log->Add(fault); }, &progress, footprint);
    }
    absl::StatusOr<RawReader> reader =
        RawReader::FromSource(std::move(source), RawReader::Types::kOfVersion);
    if (!reader.ok()) return reader.status();
    return CollectFootprint(&*reader, &progress, footprint);
  }

  FileResult Unread(absl::Status status, const Losses& losses, FileOutput* output) const {
    if (json_) AppendUnreadJson(output->name(), status, losses, &output->buffer());
    return {std::move(status)};
  }

  bool json_ = false;
  bool salvage_ = false;
  InputFlags input_;
};

}  // namespace

std::unique_ptr<Command> MakeFootprintCommand() { return std::make_unique<FootprintCommand>(); }

}  // namespace gotrace::internal
