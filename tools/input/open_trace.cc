#include "tools/input/open_trace.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/byte_source.h"
#include "gotrace/check.h"
#include "gotrace/fault.h"
#include "gotrace/fxt_reader.h"
#include "parser/framing/batch_reader.h"
#include "parser/source/source_wrapper.h"
#include "tools/cli/file_list.h"
#include "tools/cli/hints.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "validator/foreign_input.h"

namespace gotrace::internal {

namespace {

// Ends an input of unknown size, such as a pipe, which may be endless, once almost nothing of a
// long part of it belongs to a batch. Some random bytes look like a batch.
class GuardedSource final : public SourceWrapper {
 public:
  // `has_ended` may be nullptr.
  GuardedSource(std::string file, std::unique_ptr<ByteSource> source, bool* has_ended)
      : SourceWrapper(std::move(source)), file_(std::move(file)), ended_out_(has_ended) {}

  absl::Status Fill(size_t size) override {
    return has_ended_ ? absl::OkStatus() : SourceWrapper::Fill(size);
  }
  void ReleaseSkipped(uint64_t begin, uint64_t end) override {
    SourceWrapper::ReleaseSkipped(begin, end);
    if (has_ended_ || end <= skipped_end_) return;
    skipped_ += end - std::max(begin, skipped_end_);
    skipped_end_ = end;
    const uint64_t in_batches = end - part_begin_ - skipped_;
    if (in_batches > skipped_ / 16) {
      part_begin_ = end;
      skipped_ = 0;
    }
    if (skipped_ < kMaxSkipped) return;
    has_ended_ = true;
    if (ended_out_ != nullptr) *ended_out_ = true;
    Note(file_, absl::StrCat("found almost no batches in the ", kMaxSkipped >> 20,
                             " MiB before byte ", end, "; the rest of the input is not read"));
  }

 private:
  static constexpr uint64_t kMaxSkipped = uint64_t{32} << 20;

  const std::string file_;
  bool* const ended_out_;
  uint64_t part_begin_ = 0;   // The beginning of the part that is being watched.
  uint64_t skipped_ = 0;      // Bytes of it that are not part of a batch.
  uint64_t skipped_end_ = 0;  // The end of the last of them.
  bool has_ended_ = false;
};

// Opens the input and undoes damage in transport.
absl::StatusOr<UndoneInput> OpenInputOf(const std::string& file, const ReaderLimits& limits) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenGuarded(file, limits);
  if (!source.ok()) return source.status();
  return UndoAndRecognise(*std::move(source), limits);
}

OpenTraces OpenerOf(const std::string& file, const ReaderLimits& limits) {
  return [=]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    absl::StatusOr<UndoneInput> input = OpenInputOf(file, limits);
    if (!input.ok()) return input.status();
    return std::move(input->source);
  };
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenGuarded(const std::string& file,
                                                        const ReaderLimits& limits) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(file, limits);
  if (!source.ok() || (*source)->input_size() > 0 || StartsFxt(source->get())) return source;
  return std::make_unique<GuardedSource>(file, *std::move(source), nullptr);
}

std::unique_ptr<ByteSource> GuardSource(const std::string& file, std::unique_ptr<ByteSource> source,
                                        bool* has_ended) {
  return std::make_unique<GuardedSource>(file, std::move(source), has_ended);
}

absl::StatusOr<UndoneInput> UndoAndRecognise(std::unique_ptr<ByteSource> source,
                                             const ReaderLimits& limits) {
  absl::StatusOr<UndoneInput> input = UndoTransport(std::move(source), limits);
  // Reading reports an empty input, or one that ends in the header.
  if (!input.ok() || input->source->window().empty()) return input;
  const std::optional<ForeignInput> foreign = RecogniseInput(input->source->window());
  if (!foreign.has_value()) return input;
  Fault fault;
  fault.id = FaultId::kNotATrace;
  fault.place.offset = 0;
  fault.message =
      WithHint(absl::StrCat(foreign->message,
                            StartsFxt(input->source.get())
                                ? ", which `gotrace-dump fxt` prints and ui.perfetto.dev opens. "
                                : ". ",
                            SpecOf(foreign->check).remedy),
               foreign->check);
  return FaultStatus(std::move(fault));
}

bool CanBeReadAgain(const std::string& file) {
  std::error_code ignored;
  return file != "-" && std::filesystem::is_regular_file(file, ignored);
}

absl::StatusOr<OpenedTrace> OpenTrace(const std::string& file, const ReaderLimits& limits,
                                      TraceNumber number) {
  const Trace2Region region(SelfTrace(), "trace", "open");
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenGuarded(file, limits);
  if (!source.ok()) return source.status();
  absl::StatusOr<UndoneInput> input = UndoAndRecognise(*std::move(source), limits);
  if (!input.ok()) return input.status();
  return OpenTrace(file, *std::move(input), limits, number);
}

absl::StatusOr<OpenedTrace> OpenTrace(const std::string& file, UndoneInput input,
                                      const ReaderLimits& limits, TraceNumber number) {
  if (number > 1) {
    const absl::StatusOr<uint64_t> count = SkipToTrace(input.source.get(), number);
    if (!count.ok()) return count.status();
    if (*count < number) return NoSuchTrace(file, *count, number);
  }
  OpenedTrace opened;
  opened.notes = std::move(input.notes);
  opened.end = std::make_unique<TraceEnd>();
  opened.source = OneTrace(std::move(input.source), opened.end.get());
  opened.number = number;
  opened.limits = limits;
  return opened;
}

absl::Status NoSuchTrace(const std::string& file, uint64_t count, TraceNumber number) {
  return absl::InvalidArgumentError(absl::StrCat(ShownNameOf(file), ": --trace=", number,
                                                 ": the input holds ", count,
                                                 count == 1 ? " trace" : " traces"));
}

std::string DescribeTraces(const std::vector<TraceSpan>& traces) {
  std::string text =
      absl::StrCat("holds ", traces.size(), " traces, at bytes ", traces.front().offset);
  for (size_t i = 1; i < traces.size(); ++i) {
    // There may be thousands.
    constexpr size_t kListed = 10;
    if (i == kListed && traces.size() > kListed + 1) {
      absl::StrAppend(&text, " and ", traces.size() - kListed, " more places");
      break;
    }
    absl::StrAppend(&text, i + 1 == traces.size() ? " and " : ", ", traces[i].offset);
  }
  return text;
}

std::string DescribeTrace(const TraceSpan& trace, TraceNumber number) {
  return absl::StrCat("trace ", number, ": ", trace.size, trace.size == 1 ? " byte" : " bytes",
                      " at byte ", trace.offset,
                      !trace.sound.has_value() ? ""
                      : *trace.sound           ? ", sound"
                                               : ", broken");
}

void WarnOfMoreTraces(const std::string& file, const OpenedTrace& trace,
                      const absl::Status& status) {
  if (trace.number != 0 || (!trace.end->next_trace.has_value() && status.ok())) return;
  if (CanBeReadAgain(file)) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenerOf(file, trace.limits)();
    if (!source.ok()) return;
    const absl::StatusOr<std::vector<TraceSpan>> traces = ListTraces(source->get());
    if (traces.ok() && traces->size() > 1) {
      Note(file, absl::StrCat(DescribeTraces(*traces), "; this is the first; ",
                              traces->size() == 2 ? "--trace=2 selects the other"
                                                  : "--trace=N selects another"));
    }
    if (traces.ok()) return;
  }
  if (!trace.end->next_trace.has_value()) return;
  Note(file, absl::StrCat("another trace begins at byte ", *trace.end->next_trace,
                          "; this is the first; --trace=2 selects the next"));
}

std::vector<ListedFile> ListAllTraces(const std::vector<ListedFile>& files,
                                      const ReaderLimits& limits) {
  std::vector<ListedFile> traces;
  for (const ListedFile& file : files) {
    size_t count = 1;
    if (CanBeReadAgain(file.path)) {
      absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenerOf(file.path, limits)();
      // Errors are reported when the file is read.
      if (source.ok()) count = ListTraces(source->get()).value_or(std::vector<TraceSpan>()).size();
    }
    if (count < 2) traces.push_back(file);
    for (TraceNumber number = 1; count >= 2 && number <= count; ++number) {
      traces.push_back({file.path, file.named, number});
    }
  }
  return traces;
}

std::vector<TraceSpan> TracesIn(const std::string& file, const ReaderLimits& limits) {
  if (!CanBeReadAgain(file)) return {};
  absl::StatusOr<std::vector<TraceSpan>> traces = CheckTraces(OpenerOf(file, limits), limits);
  if (!traces.ok() || traces->size() < 2) return {};
  return *std::move(traces);
}

void PrintTransportNotes(const std::string& file, const std::vector<TransportNote>& notes) {
  for (const TransportNote& note : notes) {
    Note(file, WithHint(absl::StrCat("note: ", FormatTransportNote(note)), CheckOf(note.kind)));
  }
}

}  // namespace gotrace::internal
