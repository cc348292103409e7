// Fuzzes the text form: printing and parsing it again must give the same, and so must converting it
// to the bytes of a trace and back.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fuzz/event_check.h"
#include "fuzz/target.h"
#include "parser/framing/raw_reader.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace {

// Parses `text` and prints all events before the first error.
absl::Status Reprint(absl::string_view text, TextBuffer* out) {
  TextParser parser;
  const auto print = [&](const RawEvent& event) { AppendEventText(event, out); };
  bool has_header = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    if (absl::Status status = parser.ParseLine(line, print); !status.ok()) return status;
    if (!has_header && parser.has_version()) AppendHeaderText(parser.version(), out);
    has_header = parser.has_version();
  }
  return parser.Finish(print);
}

// Prints the bytes of a trace in text form, up to a size that is larger than that of any trace.
std::string PrintTrace(absl::string_view bytes, absl::Status* status) {
  absl::StatusOr<RawReader> reader =
      RawReader::FromSource(*SourceFromBytes(bytes), RawReader::Types::kOfVersion);
  FUZZ_CHECK(reader.ok(), reader.status().ToString());
  TextBuffer text;
  AppendHeaderText(reader->version(), &text);
  while (const RawEvent* event = reader->Next()) AppendEventText(*event, &text);
  *status = reader->status();
  CheckStatus(*status, bytes.size());
  return std::string(text.view());
}

}  // namespace

void RunTarget(absl::string_view input) {
  TextBuffer once, twice;
  const absl::Status status = Reprint(input, &once);
  const absl::StatusOr<std::string> bytes = AssembleText(input);
  FUZZ_CHECK(status.ok() == bytes.ok(), bytes.status().ToString());
  if (!status.ok()) {
    FUZZ_CHECK(!status.message().empty(), "an error without a message");
    return;
  }
  FUZZ_CHECK(Reprint(once.view(), &twice).ok(), once.view());
  FUZZ_CHECK(once.view() == twice.view(), twice.view());

  absl::Status trace_status;
  const std::string text = PrintTrace(*bytes, &trace_status);
  const absl::StatusOr<std::string> again = AssembleText(text);
  FUZZ_CHECK(again.ok(), again.status().ToString());
  // Only data that does not fit in a batch cannot be read again.
  const std::optional<Fault> fault = FaultOf(trace_status);
  if (fault.has_value()) {
    FUZZ_CHECK(fault->id == FaultId::kEventDataSize, FormatFault(*fault));
    FUZZ_CHECK(absl::StartsWith(*bytes, *again), text);
  } else {
    FUZZ_CHECK(*again == *bytes, text);
  }
}

}  // namespace gotrace::internal
