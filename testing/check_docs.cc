#include "testing/check_docs.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gotrace/check.h"
#include "testing/finding_case.h"
#include "testing/synthetic_case.h"

namespace gotrace::internal {
namespace {

constexpr const char kBegin[] =
    "# Checks\n"
    "\n"
    "This page lists what `gotrace-dump validate` checks. It is generated from the tables\n"
    "`include/gotrace/internal/faults.def`, `include/gotrace/internal/transports.def` and\n"
    "`include/gotrace/internal/checks.def` by `bazel run //testing:write_checks`. `gotrace-dump`\n"
    "adds which of its commands and flags help; [damaged-traces.md](damaged-traces.md) has more.\n"
    "\n"
    "- An **error** is something that Go's own reader or validator rejects: the trace is broken.\n"
    "- A **warning** is something unusual or missing; the rest of the trace can be trusted.\n"
    "- A **note** is worth knowing, and is found in sound traces too.\n"
    "\n"
    "The effect says how much of the trace is lost when reading continues after a finding: `go "
    "on` means\n"
    "only the bytes or events in question. The examples are the output for the cases of\n"
    "`testdata/findings`, each named after its check. Examples of checks that no trace can trigger "
    "come\n"
    "from synthetic events.\n"
    "\n";

// Returns the lines of `outcome` that report `check`: the finding and its history.
std::string LinesOf(absl::string_view outcome, CheckId check) {
  const std::string tag = absl::StrCat("[", SpecOf(check).name, "]");
  std::string lines;
  for (absl::string_view line : absl::StrSplit(outcome, '\n')) {
    const bool is_history = absl::StartsWith(line, " ");
    if (lines.empty() ? absl::EndsWith(line, tag) : is_history) {
      absl::StrAppend(&lines, lines.empty() ? "" : "\n", absl::StripPrefix(line, "trace: "));
    } else if (!lines.empty()) {
      break;
    }
  }
  return lines;
}

absl::StatusOr<std::string> ExampleOf(CheckId check, const std::string& findings) {
  for (const SyntheticCase& made : AllSyntheticCases()) {
    if (made.check != check) continue;
    for (const Finding& finding : FindingsOfLast(made)) {
      if (finding.check == check) return FormatFinding(finding);
    }
  }
  for (const RawCase& raw : AllRawCases()) {
    if (CheckOf(raw.fault) == check) return absl::StrCat("error: ", FormatFault(FaultOfRaw(raw)));
  }
  for (const LimitCase& limit : AllLimitCases()) {
    if (CheckOf(limit.fault) != check) continue;
    return absl::StrCat("error: ", FormatFault(FaultOfLimit(limit)));
  }
  const std::string path = absl::StrCat(findings, "/", SpecOf(check).name, ".case");
  const absl::StatusOr<FindingCase> loaded = LoadFindingCase(path);
  if (!loaded.ok()) return loaded.status();
  std::string lines = LinesOf(loaded->golden.outcome, check);
  if (lines.empty()) return absl::NotFoundError(absl::StrCat(path, " does not show its check"));
  return lines;
}

void AppendTable(bool faults, std::string* out) {
  absl::StrAppend(out, "| id | severity | effect | meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < kCheckIdEnd; ++i) {
    const CheckId id = static_cast<CheckId>(i);
    if (IsFault(id) != faults) continue;
    const CheckSpec& spec = SpecOf(id);
    absl::StrAppend(out, "| [`", spec.name, "`](#", spec.name, ") | ", SeverityName(spec.severity),
                    " | ", EffectName(spec.effect), " | ", spec.meaning, " |\n");
  }
}

absl::Status AppendSections(bool faults, const std::string& findings, std::string* out) {
  for (int i = 0; i < kCheckIdEnd; ++i) {
    const CheckId id = static_cast<CheckId>(i);
    if (IsFault(id) != faults) continue;
    const CheckSpec& spec = SpecOf(id);
    const absl::StatusOr<std::string> example = ExampleOf(id, findings);
    if (!example.ok()) return example.status();
    absl::StrAppend(out, "\n### ", spec.name, "\n\n", spec.meaning, " ", spec.remedy, "\n\n```\n",
                    *example, "\n```\n");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> CheckDocs(const std::string& findings) {
  std::string out = kBegin;
  for (const bool faults : {true, false}) {
    absl::StrAppend(
        &out, faults ? "## Faults of reading\n\n" : "\n## Checks of the input and of events\n\n");
    AppendTable(faults, &out);
    if (absl::Status status = AppendSections(faults, findings, &out); !status.ok()) return status;
  }
  return out;
}

}  // namespace gotrace::internal
