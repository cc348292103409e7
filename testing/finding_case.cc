#include "testing/finding_case.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_validator.h"
#include "export/report/report_text.h"
#include "gotrace/byte_source.h"
#include "gotrace/fxt_reader.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

absl::StatusOr<FindingCase> LoadFindingCase(const std::string& path) {
  FindingCase loaded;
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return text.status();
  loaded.text = *std::move(text);
  absl::StatusOr<GoldenCase> golden = ParseGoldenCase(loaded.text);
  if (!golden.ok()) return golden.status();
  loaded.golden = *std::move(golden);
  absl::StatusOr<std::string> input = GoldenInput(loaded.golden);
  if (!input.ok()) return input.status();
  loaded.input = *std::move(input);
  return loaded;
}

ValidationReport ValidateInput(absl::string_view input) {
  if (IsFxt(input)) return ValidateFxt(*SourceFromBytes(input), ValidateOptions());
  return ValidateTrace(*SourceFromBytes(input), ValidateOptions());
}

std::string FormatReportOutcome(const ValidationReport& report) {
  TextBuffer text;
  AppendReport("trace", report, /*with_notes=*/true, &text);
  return std::string(text.view());
}

}  // namespace gotrace::internal
