#include "validator/check_docs.h"

#include "absl/strings/str_cat.h"
#include "validator/check.h"

namespace gotrace {
namespace {

constexpr const char kBegin[] =
    "# Checks\n"
    "\n"
    "What `gotrace-dump validate` looks for. This file is made from the tables `parser/faults.def` "
    "and\n"
    "`validator/checks.def` by `bazel run //validator:write_checks`.\n"
    "\n"
    "- An **error** is what Go's own reader or validator refuses: the trace is broken.\n"
    "- A **warning** is odd, or tells that something is missing; what there is can be trusted.\n"
    "- A **note** is worth knowing; sound traces have such things.\n"
    "\n"
    "The effect tells what is lost of the trace where reading goes on after a finding.\n"
    "\n";

void AppendTable(bool faults, std::string* out) {
  absl::StrAppend(out,
                  "| id | severity | effect | meaning | what to do |\n|---|---|---|---|---|\n");
  for (int i = 0; i < kCheckIdEnd; ++i) {
    const CheckId id = static_cast<CheckId>(i);
    if (IsFault(id) != faults) continue;
    const CheckSpec& spec = SpecOf(id);
    absl::StrAppend(out, "| `", spec.name, "` | ", SeverityName(spec.severity), " | ",
                    EffectName(spec.effect), " | ", spec.meaning, " | ", spec.remedy, " |\n");
  }
}

}  // namespace

std::string CheckDocs() {
  std::string out = kBegin;
  absl::StrAppend(&out, "## Faults of reading\n\n");
  AppendTable(/*faults=*/true, &out);
  absl::StrAppend(&out, "\n## Checks of the input and of events\n\n");
  AppendTable(/*faults=*/false, &out);
  return out;
}

}  // namespace gotrace
