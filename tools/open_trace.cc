#include "tools/open_trace.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gotrace/byte_source.h"
#include "gotrace/check.h"
#include "gotrace/fault.h"
#include "parser/framing/batch_reader.h"
#include "tools/file_list.h"
#include "validator/foreign_input.h"

namespace gotrace::internal {

namespace {

// Opens the input, with what happened to it on its way undone.
absl::StatusOr<UndoneInput> OpenInputOf(const std::string& file, const ReaderLimits& limits) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(file, limits);
  if (!source.ok()) return source.status();
  absl::StatusOr<UndoneInput> input = UndoTransport(*std::move(source), limits);
  // An empty input, or one that ends in its header, is the reader's to refuse.
  if (!input.ok() || input->source->window().empty()) return input;
  const std::optional<ForeignInput> foreign = RecogniseInput(input->source->window());
  if (!foreign.has_value()) return input;
  Fault fault;
  fault.id = FaultId::kNotATrace;
  fault.place.offset = 0;
  fault.message = absl::StrCat(foreign->message, ". ", SpecOf(foreign->check).remedy);
  return FaultStatus(std::move(fault));
}

OpenTraces OpenerOf(const std::string& file, const ReaderLimits& limits) {
  return [=]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    absl::StatusOr<UndoneInput> input = OpenInputOf(file, limits);
    if (!input.ok()) return input.status();
    return std::move(input->source);
  };
}

bool CanBeReadAgain(const std::string& file) {
  std::error_code ignored;
  return file != "-" && std::filesystem::is_regular_file(file, ignored);
}

}  // namespace

absl::StatusOr<OpenedTrace> OpenTrace(const std::string& file, const ReaderLimits& limits,
                                      TraceNumber number) {
  absl::StatusOr<UndoneInput> input = OpenInputOf(file, limits);
  if (!input.ok()) return input.status();
  if (number > 1) {
    const absl::StatusOr<uint64_t> count = SkipToTrace(input->source.get(), number);
    if (!count.ok()) return count.status();
    if (*count < number) return NoSuchTrace(file, *count, number);
  }
  OpenedTrace opened;
  opened.notes = std::move(input->notes);
  opened.end = std::make_unique<TraceEnd>();
  opened.source = OneTrace(std::move(input->source), opened.end.get());
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
    // Of thousands the first few will do.
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
  return absl::StrCat("trace ", number, ": ", trace.size, " bytes at byte ", trace.offset,
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
      absl::FPrintF(
          stderr, "gotrace-dump: %s: %s; this is the first; %s\n", ShownNameOf(file),
          DescribeTraces(*traces),
          traces->size() == 2 ? "--trace=2 selects the other" : "--trace=N selects another");
    }
    if (traces.ok()) return;
  }
  if (!trace.end->next_trace.has_value()) return;
  absl::FPrintF(stderr,
                "gotrace-dump: %s: another trace begins at byte %d; this is the first; --trace=2 "
                "selects the next\n",
                ShownNameOf(file), *trace.end->next_trace);
}

std::vector<TraceSpan> TracesIn(const std::string& file, const ReaderLimits& limits) {
  if (!CanBeReadAgain(file)) return {};
  absl::StatusOr<std::vector<TraceSpan>> traces = CheckTraces(OpenerOf(file, limits), limits);
  if (!traces.ok() || traces->size() < 2) return {};
  return *std::move(traces);
}

void PrintTransportNotes(const std::string& file, const std::vector<TransportNote>& notes) {
  for (const TransportNote& note : notes) {
    absl::FPrintF(stderr, "gotrace-dump: %s: note: %s\n", ShownNameOf(file),
                  FormatTransportNote(note));
  }
}

}  // namespace gotrace::internal
