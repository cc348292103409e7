// The command `wire`: prints the raw contents of a file.
#include <memory>
#include <optional>
#include <utility>

#include "gotrace/fault.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/version.h"
#include "parser/framing/raw_reader.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/progress.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "wire",
    .summary = "print the raw contents of the file",
    .description =
        "Prints every event, batch and table entry in file order, not decoded any further: the "
        "text of `go tool trace -d=wire`. Like that tool, it stops at experimental events in "
        "traces of version 1.25 and earlier; with --header it prints them.\n"
        "\n"
        "It does not notice that a trace was cut off between two events; `events` and `validate` "
        "do.",
    .examples =
        "  gotrace-dump wire trace.out | grep -c ^GoCreate\n"
        "  gotrace-dump wire --header trace.out > trace.txt\n",
    .takes_several_files = true,
};

class WireCommand final : public PerFileCommand {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {{.name = "header",
                               .value = "",
                               .help = "Print text that `assemble` can read: with a first line "
                                       "\"Trace Go1.NN\", and with all experimental events.",
                               .set = SetSwitch(&header_)}};
    AppendRows(input_.Rows(InputFlags::Kind::kRawEvents, InputFlags::Traces::kOneOrAll), &rows);
    return rows;
  }

 protected:
  FileResult RunFile(FileOutput* output) override {
    absl::StatusOr<OpenedTrace> input = OpenTrace(output->file(), input_.limits, input_.trace);
    if (!input.ok()) return {input.status()};
    PrintTransportNotes(output->file(), input->notes);
    absl::StatusOr<RawReader> reader =
        RawReader::FromSource(std::move(input->source),
                              header_ ? RawReader::Types::kOfVersion : RawReader::Types::kOfGoTool);
    if (!reader.ok()) return {reader.status()};
    output->BeginText();
    FileResult result;
    Print(&*reader, &output->out(), &result);
    WarnOfMoreTraces(output->file(), *input, result.status);
    const std::optional<Fault> fault = FaultOf(result.status);
    if (!header_ && fault.has_value() && fault->id == FaultId::kEventVersion &&
        VersionHas(reader->version(), *FindEventSpec(fault->place.event))) {
      result.hint = "Go's tool stops at such an experimental event too; --header prints them all";
    }
    return result;
  }

  InputFlags& input() override { return input_; }

 private:
  void Print(RawReader* reader, Output* out, FileResult* result) const {
    const Trace2Region reading(SelfTrace(), "trace", "read");
    Progress progress(/*prints_along=*/true);
    if (header_) AppendHeaderText(reader->version(), &out->buffer());
    uint64_t events = 0;
    while (out->usable()) {
      const RawEvent* const event = reader->Next();
      if (event == nullptr) break;
      AppendEventText(*event, &out->buffer());
      out->MaybeFlush();
      ++events;
      if (progress.Due()) {
        progress.Show({reader->source().input_read(), reader->source().input_size(), events});
      }
    }
    result->status = reader->status();
    result->bytes = reader->source().input_read();
  }

  bool header_ = false;
  InputFlags input_;
};

}  // namespace

std::unique_ptr<Command> MakeWireCommand() { return std::make_unique<WireCommand>(); }

}  // namespace gotrace::internal
