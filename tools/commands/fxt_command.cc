// The command `fxt`: prints the records of an FXT file.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_text.h"
#include "gotrace/byte_source.h"
#include "gotrace/fxt_reader.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "fxt",
    .summary = "print the records of an FXT file",
    .description =
        "Prints the records of a file in FXT, the trace format of Fuchsia, one per line, in the "
        "order of the file: the offset, the type of the record, and its fields, with the names "
        "that it refers to. Times are in ticks of the provider's clock. The file may be compressed "
        "with zstd or gzip.\n\n"
        "Records of unknown kinds are left out. If the file is cut off or damaged, all records "
        "before the damage are printed. `gotrace-dump validate` reports what is wrong with the "
        "file.",
    .examples =
        "  gotrace-dump fxt trace.fxt | grep ' wake-up '\n"
        "  gotrace-dump fxt trace.fxt.zst | less\n",
    .exit_codes =
        "  0  the file was read to its end\n"
        "  1  the file is cut off or damaged, or is not an FXT file\n"
        "  2  wrong usage, or a file cannot be read or written, which includes a pipe that was "
        "closed, as by `head`",
};

class FxtCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override { return {}; }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const Trace2Region region(SelfTrace(), "file", kText.name, files[0]);
    return Conclude(files[0], Print(files[0], out), out);
  }

 private:
  static FileResult Print(const std::string& file, Output* out) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(file, ReaderLimits());
    FileResult result;
    result.is_trace = false;
    result.status = source.status();
    if (!result.status.ok()) return result;
    if (!StartsFxt(source->get())) {
      result.status = absl::DataLossError("the file is not an FXT file");
      result.hint = "`gotrace-dump events` prints the events of a trace";
      return result;
    }
    std::optional<FxtProblem> last;
    FxtReader reader(*std::move(source), [&](const FxtProblem& problem) { last = problem; });
    const Trace2Region reading(SelfTrace(), "trace", "read");
    Progress progress(/*prints_along=*/true);
    while (out->usable()) {
      const FxtRecord* const record = reader.Next();
      if (record == nullptr) break;
      AppendFxtText(*record, &out->buffer());
      out->MaybeFlush();
      if (progress.Due()) {
        progress.Show({reader.source().input_read(), reader.source().input_size()});
      }
    }
    result.status = reader.status();
    result.bytes = reader.source().input_read();
    if (reader.end() == FxtEnd::kCut || reader.end() == FxtEnd::kDamaged) {
      result.status = absl::DataLossError(absl::StrCat("byte ", last->offset, ": ", last->message,
                                                       " [", SpecOf(last->check).name, "]"));
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<Command> MakeFxtCommand() { return std::make_unique<FxtCommand>(); }

}  // namespace gotrace::internal
