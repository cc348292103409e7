// Hand-written cases of how traces are read: the input and what the reader must make of it, in one
// readable file. testdata/cases/README.md describes the format.
#ifndef GOTRACE_TESTING_GOLDEN_CASE_H_
#define GOTRACE_TESTING_GOLDEN_CASE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/read_mode.h"

namespace gotrace::internal {

// A case as it stands in its file. Each text is whole lines, or empty.
struct GoldenCase {
  std::string comment;  // Which rule the case shows. Every line begins with '#'.
  std::string trace;    // The input in text form, or its first part.
  std::string bytes;    // The input, or what follows `trace`, as quoted strings.
  std::string outcome;  // As FormatOutcome() writes it.
  std::string events;   // The events before the outcome, as Go's tool prints them with TZ=UTC.
};

// The case that `text` describes. An error tells the line.
absl::StatusOr<GoldenCase> ParseGoldenCase(absl::string_view text);

// The inverse of ParseGoldenCase().
std::string FormatGoldenCase(const GoldenCase& golden);

// The bytes of the case's trace. An error tells the section and the line in it.
absl::StatusOr<std::string> GoldenInput(const GoldenCase& golden);

// What reading a trace gave.
struct Reading {
  std::string events;   // As in GoldenCase.
  absl::Status status;  // Reader::status(), or why there was no Reader.
};

// Reads a trace to its end or its first fault, by Reader::Next() or by Reader::NextBlock().
enum class ReadBy { kEvent, kBlock };
Reading ReadTrace(absl::StatusOr<std::unique_ptr<ByteSource>> source, ReadBy read_by,
                  const ReaderOptions& options = {});

// "ok", or two lines: "fault ID at PLACE", and the message.
std::string FormatOutcome(const absl::Status& status);

// Puts what reading `input` gives in the place of what the case expects.
void RebaseGoldenCase(absl::string_view input, GoldenCase* golden);

// The paths of all case files in `directory`, in order. Empty if it does not exist.
std::vector<std::string> ListGoldenCases(const std::string& directory);

// The content of the file at `path`.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_GOLDEN_CASE_H_
