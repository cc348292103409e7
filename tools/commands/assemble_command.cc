// The command `assemble`: makes a trace from its text form.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gotrace/byte_source.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"
#include "tools/input/trace_target.h"
#include "tracev2/text_form.h"
#include "validator/foreign_input.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "assemble",
    .summary = "make a trace from its text form",
    .description =
        "Reads the text form of a trace, as `wire --header` prints it, and writes the trace. The "
        "text may be compressed with zstd or gzip. A batch with size=auto has its size computed.",
    .examples =
        "  gotrace-dump assemble -o edited.out trace.txt\n"
        "  gotrace-dump wire --header a.out | gotrace-dump assemble --padded -o b.out -\n",
    .exit_codes =
        "  0  the trace was written\n"
        "  1  the text is not that of a trace; nothing was written to a FILE\n"
        "  2  wrong usage, or a file cannot be read or written",
};

// Splits a text into lines, however it is divided into reads.
class LineSplitter {
 public:
  explicit LineSplitter(ByteSource* text) : text_(*text) {}

  // Reads the next line without its end into `*line`. Returns false at the end of the text.
  absl::StatusOr<bool> Next(absl::string_view* line) {
    while (true) {
      const size_t end = buffer_.find('\n', searched_);
      if (std::min(end, buffer_.size()) - pos_ > kMaxLine) {
        return absl::DataLossError(absl::StrCat("line ", lines_ + 1, ": expected at most ",
                                                kMaxLine, " bytes, found more"));
      }
      if (end != std::string::npos) {
        *line = Take(end - pos_, 1);
        return true;
      }
      if (at_end_) {
        if (pos_ == buffer_.size()) return false;
        *line = Take(buffer_.size() - pos_, 0);
        return true;
      }
      if (absl::Status status = Refill(); !status.ok()) return status;
    }
  }

 private:
  // More than any event of a trace takes, even with all of its data as escapes.
  static constexpr size_t kMaxLine = 1 << 20;

  absl::string_view Take(size_t size, size_t newline) {
    ++lines_;
    absl::string_view line = absl::string_view(buffer_).substr(pos_, size);
    pos_ += size + newline;
    searched_ = pos_;
    absl::ConsumeSuffix(&line, "\r");
    return line;
  }

  absl::Status Refill() {
    buffer_.erase(0, pos_);
    pos_ = 0;
    searched_ = buffer_.size();
    absl::Status status = text_.Fill(1);
    const absl::string_view window = text_.window();
    at_end_ = window.empty();
    buffer_.append(window.data(), window.size());
    text_.Skip(window.size());
    text_.Release(text_.offset());
    return status;
  }

  ByteSource& text_;
  std::string buffer_;
  size_t pos_ = 0;       // The beginning of the next line.
  size_t searched_ = 0;  // The end of the part that was searched for its end.
  uint64_t lines_ = 0;   // Lines that were returned.
  bool at_end_ = false;
};

void MoveFinalBytes(TextAssembler* assembler, std::string* bytes, Output* out) {
  const size_t size = assembler->final_size();
  if (size == 0) return;
  out->buffer().Append(absl::string_view(*bytes).substr(0, size));
  assembler->Taken(size);
  out->MaybeFlush();
}

// Returns the kind of the input if it is known not to be a text form.
std::optional<std::string> WhatInsteadOfText(absl::string_view begin) {
  if (absl::StartsWith(begin, "go 1.")) return "a trace";
  const std::optional<ForeignInput> foreign = RecogniseInput(begin);
  // For text, errors in its lines are more helpful.
  if (!foreign.has_value() || foreign->what.empty() || foreign->check == CheckId::kInputText ||
      foreign->check == CheckId::kInputTraceText) {
    return std::nullopt;
  }
  return foreign->what;
}

absl::Status TextError(const absl::Status& status, const TextAssembler& assembler) {
  constexpr absl::string_view kHint =
      "; `gotrace-dump wire --header` prints a trace as such a text";
  return absl::DataLossError(absl::StrCat(status.message(), assembler.has_version() ? "" : kHint));
}

std::string WarnOfSizes(const TextAssembler& assembler) {
  const auto& wrong = assembler.first_wrong_size();
  if (!wrong.has_value()) return "";
  const uint64_t more = assembler.wrong_sizes() - 1;
  return absl::StrCat(
      "line ", wrong->line, ": the batch states size=", wrong->stated, ", but its events take ",
      wrong->found, wrong->found == 1 ? " byte" : " bytes",
      more == 0 ? ""
                : absl::StrCat(", and ", more, more == 1 ? " more batch has" : " more batches have",
                               " a wrong size"),
      "; the trace cannot be read like this; size=auto is always right");
}

class AssembleCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    return {OutputFlag(&target_),
            {.name = "padded",
             .value = "",
             .help = "Write batch sizes in ten bytes, as Go's runtime does.",
             .set = SetSwitch(&padded_)}};
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const Trace2Region region(SelfTrace(), "file", kText.name, files[0]);
    FileResult result;
    result.status = AssembleFile(files[0], out);
    // Here a fault of decompression is in the text, not in a trace.
    result.is_trace = false;
    return Conclude(files[0], result, out);
  }

 private:
  absl::Status AssembleFile(const std::string& file, Output* standard_output) const {
    const TraceTarget target(target_, standard_output);
    if (absl::Status status = target.Check(file); !status.ok()) return status;
    absl::StatusOr<std::unique_ptr<ByteSource>> text = OpenSource(file);
    if (!text.ok()) return text.status();
    return target.Write([&](Output* out) {
      std::string warning;
      absl::Status status = Assemble(text->get(), out, &warning);
      status.Update(out->Finish());
      if (!warning.empty()) Note(file, warning);
      return status;
    });
  }

  // Writes the trace that `text` describes. A DataLossError says what is wrong with the text. Sets
  // `*warning` if the trace cannot be read although its text is correct.
  absl::Status Assemble(ByteSource* text, Output* out, std::string* warning) const {
    Progress progress(/*prints_along=*/false);
    if (absl::Status status = text->Fill(kRecognisedBytes); !status.ok()) return status;
    if (const auto what = WhatInsteadOfText(text->window().substr(0, kRecognisedBytes))) {
      return absl::DataLossError(
          absl::StrCat("expected the text form of a trace, found ", *what,
                       "; `gotrace-dump wire --header` prints a trace as such a text"));
    }
    LineSplitter lines(text);
    std::string bytes;
    TextAssembler assembler(padded_ ? BatchSizeForm::kPadded : BatchSizeForm::kShortest, &bytes);
    absl::string_view line;
    while (out->usable()) {
      const absl::StatusOr<bool> more = lines.Next(&line);
      if (!more.ok()) return more.status();
      if (!*more) break;
      if (absl::Status status = assembler.AddLine(line); !status.ok()) {
        return TextError(status, assembler);
      }
      MoveFinalBytes(&assembler, &bytes, out);
      if (progress.Due()) {
        progress.Show({text->input_read(), text->input_size(), assembler.event_count()});
      }
    }
    if (!out->usable()) return absl::OkStatus();
    if (absl::Status status = assembler.Finish(); !status.ok()) {
      return TextError(status, assembler);
    }
    *warning = WarnOfSizes(assembler);
    MoveFinalBytes(&assembler, &bytes, out);
    return absl::OkStatus();
  }

  bool padded_ = false;
  std::string target_;
};

}  // namespace

std::unique_ptr<Command> MakeAssembleCommand() { return std::make_unique<AssembleCommand>(); }

}  // namespace gotrace::internal
