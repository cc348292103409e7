#include "tools/open_trace.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "parser/batch_reader.h"
#include "parser/byte_source.h"
#include "parser/fault.h"
#include "tools/file_list.h"
#include "validator/check.h"
#include "validator/foreign_input.h"

namespace gotrace {

absl::StatusOr<UndoneInput> OpenTrace(const std::string& file, const ReaderLimits& limits) {
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

void PrintTransportNotes(const std::string& file, const std::vector<TransportNote>& notes) {
  for (const TransportNote& note : notes) {
    absl::FPrintF(stderr, "gotrace-dump: %s: note: %s\n", ShownNameOf(file),
                  FormatTransportNote(note));
  }
}

}  // namespace gotrace
