#include "tools/cli/hints.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gotrace/reader_limits.h"

namespace gotrace::internal {

std::string HintFor(CheckId check) {
  for (const LimitSpec& limit : AllLimits()) {
    if (check != CheckOf(limit.fault)) continue;
    return absl::StrCat("if you trust the trace, raise the limit with --limits=", limit.name, "=N");
  }
  // "Repairing or salvaging recovers ...", if it is shown.
  if (SpecOf(check).is_recoverable && ShowsRemedy(check)) {
    return "`gotrace-dump repair` and `--salvage` do that";
  }
  switch (check) {
    // "Assemble a trace ..."
    case CheckId::kInputTraceText:
      return "`gotrace-dump assemble` does that";
    // "Select one trace ..."
    case CheckId::kSecondTrace:
      return "--trace=N selects the Nth";
    case CheckId::kFrequencyUndivided:
      return "`gotrace-dump repair` divides it";
#define GOTRACE_TRANSPORT(id, name, noun, what, avoid) case CheckId::kTransport##id:
#include "gotrace/internal/transports.def"
      return "`gotrace-dump repair` writes the plain trace";
    default:
      return "";
  }
}

std::string WithHint(absl::string_view message, CheckId check) {
  const std::string hint = HintFor(check);
  if (hint.empty()) return std::string(message);
  return absl::StrCat(absl::StripSuffix(message, "."), "; ", hint);
}

}  // namespace gotrace::internal
