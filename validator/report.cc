#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/validate.h"
#include "validator/trace_validator.h"

namespace gotrace {

Verdict ValidationReport::verdict() const {
  if (!status.ok()) return Verdict::kUnjudged;
  return errors > 0 ? Verdict::kBroken : Verdict::kSound;
}

std::string ValidationReport::WhySkipped() const {
  if (!foreign.empty()) return absl::StrCat("not a trace: ", foreign);
  return v1;
}

ValidationReport ValidateTrace(std::unique_ptr<ByteSource> source, const ValidateOptions& options) {
  ValidationReport report;
  internal::TraceValidator(options, &report).Run(std::move(source));
  return report;
}

namespace {

// Validates a source that could be opened, and otherwise reports why it could not.
ValidationReport ValidateOpened(absl::StatusOr<std::unique_ptr<ByteSource>> source,
                                const ValidateOptions& options) {
  if (source.ok()) return ValidateTrace(*std::move(source), options);
  ValidationReport report;
  internal::TraceValidator(options, &report).Stop(source.status());
  return report;
}

}  // namespace

ValidationReport ValidateFile(const std::string& path, const ValidateOptions& options) {
  return ValidateOpened(OpenSource(path, options.limits), options);
}

ValidationReport ValidateBytes(absl::string_view bytes, const ValidateOptions& options) {
  return ValidateOpened(SourceFromBytes(bytes, options.limits), options);
}

std::string FormatVerdict(const ValidationReport& report) {
  switch (report.verdict()) {
    case Verdict::kBroken:
      return "broken";
    case Verdict::kUnjudged:
      return "cannot be read";
    case Verdict::kSound:
      break;
  }
  if (report.warnings == 0) return "sound";
  return absl::StrCat("sound with ", report.warnings,
                      report.warnings == 1 ? " warning" : " warnings");
}

}  // namespace gotrace
