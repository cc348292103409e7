#include "gotrace/finding.h"

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"

namespace gotrace {

std::string FormatResource(const ResourceId& resource) {
  switch (resource.kind) {
    case ResourceKind::kNone:
      break;
    case ResourceKind::kGoroutine:
      return absl::StrCat("goroutine ", resource.id);
    case ResourceKind::kProc:
      return absl::StrCat("P ", resource.id);
    case ResourceKind::kThread:
      return absl::StrCat("thread ", resource.id);
  }
  return "";
}

std::string FormatTransition(ResourceKind kind, uint8_t from, uint8_t to) {
  const auto name = [kind](uint8_t state) {
    return kind == ResourceKind::kProc ? ProcStateName(static_cast<ProcState>(state))
                                       : GoStateName(static_cast<GoState>(state));
  };
  return absl::StrCat(name(from), " -> ", name(to));
}

std::string FormatFinding(const Finding& finding) {
  std::string text = absl::StrCat(SeverityName(finding.severity), ": ");
  std::string place = FormatPlace(finding.place);
  // An event that was not read from a trace has no offset, so its number is used as its place.
  if (!finding.place.offset.has_value() && finding.event_number != 0) {
    place = absl::StrCat("event ", finding.event_number, place.empty() ? "" : ", ", place);
  }
  if (!place.empty()) absl::StrAppend(&text, place, ": ");
  absl::StrAppend(&text, finding.message, " [", SpecOf(finding.check).name, "]");
  for (const std::string& line : finding.details) absl::StrAppend(&text, "\n    ", line);
  for (const std::string& line : FormatContext(finding.context)) {
    absl::StrAppend(&text, "\n    ", line);
  }
  if (finding.history.empty()) return text;
  absl::StrAppend(&text, "\n    ", FormatResource(finding.resource), " before that:");
  for (const PastTransition& past : finding.history) {
    const std::string offset = past.offset == 0 ? "" : absl::StrCat("byte ", past.offset, ": ");
    absl::StrAppend(&text, "\n      ", offset, EventTypeName(past.event), ", ",
                    FormatTransition(finding.resource.kind, past.from, past.to));
  }
  return text;
}

}  // namespace gotrace
