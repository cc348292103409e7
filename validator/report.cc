#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/validate.h"
#include "validator/judge.h"

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
  internal::Judge(options, &report).Run(std::move(source));
  return report;
}

ValidationReport ValidateFile(const std::string& path, const ValidateOptions& options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path, options.limits);
  if (source.ok()) return ValidateTrace(*std::move(source), options);
  ValidationReport report;
  internal::Judge(options, &report).Stop(source.status());
  return report;
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
