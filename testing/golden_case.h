// Hand-written cases of how traces are read: the input and the expected result of reading it, in
// one readable file. testdata/cases/README.md describes the format.
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
#include "gotrace/reader_options.h"

namespace gotrace::internal {

// The sections of a case file. Each text consists of whole lines, or is empty.
struct GoldenCase {
  std::string comment;  // The rule that the case shows. Every line begins with '#'.
  std::string trace;    // The input in text form, or its first part.
  std::string bytes;    // The input, or the part after `trace`, as quoted strings.
  std::string outcome;  // As written by FormatOutcome().
  std::string events;   // The events before the outcome, as Go's tool prints them with TZ=UTC.
};

// Parses a case. An error says which line is wrong.
absl::StatusOr<GoldenCase> ParseGoldenCase(absl::string_view text);

// The inverse of ParseGoldenCase().
std::string FormatGoldenCase(const GoldenCase& golden);

// Returns the bytes of the case's trace. An error names the section and the line in it.
absl::StatusOr<std::string> GoldenInput(const GoldenCase& golden);

// The result of reading a trace.
struct Reading {
  std::string events;   // In the form of GoldenCase::events.
  absl::Status status;  // Reader::status(), or why there was no Reader.
};

// Reads a trace to its end or its first fault, with Reader::Next() or with Reader::NextBlock().
enum class ReadBy { kEvent, kBlock };
Reading ReadTrace(absl::StatusOr<std::unique_ptr<ByteSource>> source, ReadBy read_by,
                  const ReaderOptions& options = {});

// Returns "ok", or two lines: "fault ID at PLACE", and the message.
std::string FormatOutcome(const absl::Status& status);

// Replaces what the case expects with the result of reading `input`.
void RebaseGoldenCase(absl::string_view input, GoldenCase* golden);

// Returns the sorted paths of all case files in `directory`; none if it does not exist.
std::vector<std::string> ListGoldenCases(const std::string& directory);

// Returns the content of the file at `path`.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_GOLDEN_CASE_H_
