#include "export/report/report_text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "export/json/json_text.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/trace_list.h"
#include "gotrace/version.h"

namespace gotrace::internal {
namespace {

constexpr absl::string_view kVerdicts[] = {"sound", "broken", "unjudged"};

// Returns the number of findings of `check` beyond those kept in the report.
uint64_t Folded(const ValidationReport& report, CheckId check) {
  uint64_t kept = 0;
  for (const Finding& finding : report.findings) kept += finding.check == check ? 1 : 0;
  return report.counts[static_cast<int>(check)] - kept;
}

template <class Function>
void ForEachFolded(const ValidationReport& report, Function function) {
  for (int i = 0; i < kCheckIdEnd; ++i) {
    const CheckId check = static_cast<CheckId>(i);
    if (report.counts[i] == 0) continue;
    if (const uint64_t folded = Folded(report, check); folded > 0) function(check, folded);
  }
}

// Formats a share as "99.95 %"; never 100 % unless everything is good.
std::string Share(uint64_t good, uint64_t all) {
  if (good == all) return "100 %";
  const double share = 100.0 * static_cast<double>(good) / static_cast<double>(all);
  return absl::StrFormat("%.2f %%", share > 99.99 ? 99.99 : share);
}

// "3 notes: 2 region-open, 1 task-open"
std::string CountNotes(const ValidationReport& report) {
  std::vector<std::string> counts;
  for (int i = 0; i < kCheckIdEnd; ++i) {
    const CheckSpec& spec = SpecOf(static_cast<CheckId>(i));
    if (spec.severity != Severity::kNote || report.counts[i] == 0) continue;
    counts.push_back(absl::StrCat(report.counts[i], " ", spec.name));
  }
  return absl::StrCat(report.notes,
                      report.notes == 1 ? " note: " : " notes: ", absl::StrJoin(counts, ", "));
}

void AppendPlaceJson(const Place& place, JsonWriter* json) {
  if (place.offset.has_value()) json->Member("offset", *place.offset);
  if (place.generation.has_value()) json->Member("generation", *place.generation);
  if (place.batch_offset.has_value()) json->Member("batch_offset", *place.batch_offset);
  if (place.thread.has_value()) json->Member("thread", place.thread->value);
  if (place.event != EventType::kNone) json->Member("event", EventTypeName(place.event));
  if (place.time.has_value()) json->Member("time", *place.time);
}

absl::string_view StateName(ResourceKind kind, uint8_t state) {
  return kind == ResourceKind::kProc ? ProcStateName(static_cast<ProcState>(state))
                                     : GoStateName(static_cast<GoState>(state));
}

void AppendFrameJson(const FaultFrame& frame, JsonWriter* json) {
  json->BeginObject();
  json->Member("func", absl::string_view(frame.func));
  json->Member("file", absl::string_view(frame.file));
  json->Member("line", frame.line);
  json->EndObject();
}

void AppendRegionJson(const FaultRegion& region, JsonWriter* json) {
  json->BeginObject();
  json->Member("type", absl::string_view(region.type));
  json->Member("task", region.task.value);
  if (region.offset.has_value()) json->Member("offset", *region.offset);
  if (region.time.has_value()) json->Member("time", *region.time);
  if (region.frame.has_value()) {
    json->Key("frame");
    AppendFrameJson(*region.frame, json);
  }
  json->EndObject();
}

void AppendContextJson(const FaultContext& context, JsonWriter* json) {
  if (!context.stack.empty()) {
    json->Key("stack");
    json->BeginArray();
    for (const FaultFrame& frame : context.stack) AppendFrameJson(frame, json);
    json->EndArray();
  }
  if (context.more_frames > 0) json->Member("more_frames", context.more_frames);
  if (!context.regions.empty()) {
    json->Key("open_regions");
    json->BeginArray();
    for (const FaultRegion& region : context.regions) AppendRegionJson(region, json);
    json->EndArray();
  }
  if (context.more_regions > 0) json->Member("more_open_regions", context.more_regions);
}

void AppendFindingJson(const Finding& finding, JsonWriter* json) {
  json->BeginObject();
  json->Member("id", SpecOf(finding.check).name);
  json->Member("severity", SeverityName(finding.severity));
  json->Member("effect", EffectName(SpecOf(finding.check).effect));
  AppendPlaceJson(finding.place, json);
  if (finding.event_number > 0) json->Member("event_number", finding.event_number);
  if (finding.resource.kind != ResourceKind::kNone) {
    json->Key("resource");
    json->BeginObject();
    json->Member("kind", ResourceKindName(finding.resource.kind));
    json->Member("id", finding.resource.id);
    json->EndObject();
  }
  json->Member("message", absl::string_view(finding.message));
  json->Key("details");
  json->BeginArray();
  for (const std::string& line : finding.details) json->Value(absl::string_view(line));
  json->EndArray();
  AppendContextJson(finding.context, json);
  json->Key("history");
  json->BeginArray();
  for (const PastTransition& past : finding.history) {
    json->BeginObject();
    json->Member("offset", past.offset);
    json->Member("event", EventTypeName(past.event));
    json->Member("from", StateName(finding.resource.kind, past.from));
    json->Member("to", StateName(finding.resource.kind, past.to));
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

}  // namespace

void AppendReport(absl::string_view name, const ValidationReport& report, bool with_notes,
                  TextBuffer* out) {
  for (const Finding& finding : report.findings) {
    if (!with_notes && finding.severity == Severity::kNote) continue;
    out->Append(absl::StrCat(name, ": ", FormatFinding(finding), "\n"));
  }
  if (!with_notes && report.notes > 0) {
    out->Append(absl::StrCat(name, ": ", CountNotes(report), "; --notes prints them\n"));
  }
  ForEachFolded(report, [&](CheckId check, uint64_t folded) {
    if (!with_notes && SpecOf(check).severity == Severity::kNote) return;
    out->Append(absl::StrCat(name, ": ", SeverityName(SpecOf(check).severity), ": ", folded,
                             " more [", SpecOf(check).name, "]\n"));
  });
  out->Append(absl::StrCat(name, ": ", FormatVerdict(report)));
  if (!report.status.ok()) out->Append(absl::StrCat(": ", report.status.message()));
  if (report.version.has_value()) {
    out->Append(absl::StrCat("; ", Share(report.good_events, report.events), " of ", report.events,
                             report.events == 1 ? " event and " : " events and ",
                             Share(report.good_bytes, report.bytes), " of ", report.bytes,
                             report.bytes == 1 ? " byte" : " bytes", " are good"));
    if (report.lost_events > 0) {
      out->Append(absl::StrCat("; ", report.lost_events,
                               report.lost_events == 1 ? " event was" : " events were",
                               " lost to errors"));
    }
  }
  out->Append('\n');
  const size_t listed = std::min(report.traces.size(), kMaxListedTraces);
  for (size_t i = 0; i < listed; ++i) {
    const TraceSpan& trace = report.traces[i];
    out->Append(absl::StrCat(name, ": trace ", i + 1, " of ", report.traces.size(), ": ",
                             trace.size, trace.size == 1 ? " byte" : " bytes", " at byte ",
                             trace.offset,
                             trace.sound.value_or(false) ? ", sound\n" : ", broken\n"));
  }
  if (const size_t more = report.traces.size() - listed; more > 0) {
    out->Append(absl::StrCat(name, ": and ", more, more == 1 ? " more trace\n" : " more traces\n"));
  }
}

void AppendTracesJson(const std::vector<TraceSpan>& traces, JsonWriter* json) {
  if (traces.empty()) return;
  json->Key("traces");
  json->BeginArray();
  for (const TraceSpan& trace : traces) {
    json->BeginObject();
    json->Member("offset", trace.offset);
    json->Member("bytes", trace.size);
    if (trace.sound.has_value()) {
      json->Key("sound");
      json->Bool(*trace.sound);
    }
    json->EndObject();
  }
  json->EndArray();
}

void AppendSkipped(absl::string_view name, const ValidationReport& report, TextBuffer* out) {
  out->Append(absl::StrCat(name, ": ", report.WhySkipped(), ", skipped\n"));
}

namespace {

void AppendJson(absl::string_view name, absl::string_view verdict, const ValidationReport& report,
                TextBuffer* out) {
  JsonWriter json(out);
  json.BeginObject();
  AppendFileMembers(name, &json);
  json.Member("verdict", verdict);
  if (!report.status.ok()) {
    json.Member(absl::IsInvalidArgument(report.status) ? "error" : "io_error",
                absl::string_view(report.status.message()));
  }
  if (report.version.has_value()) {
    json.Member("version",
                absl::string_view(absl::StrCat("1.", static_cast<uint32_t>(*report.version))));
  }
  json.Member("errors", report.errors);
  json.Member("warnings", report.warnings);
  json.Member("notes", report.notes);
  json.Member("events", report.events);
  json.Member("good_events", report.good_events);
  json.Member("lost_events", report.lost_events);
  json.Member("bytes", report.bytes);
  json.Member("good_bytes", report.good_bytes);
  AppendTracesJson(report.traces, &json);
  json.Key("findings");
  json.BeginArray();
  for (const Finding& finding : report.findings) AppendFindingJson(finding, &json);
  json.EndArray();
  json.Key("folded");
  json.BeginObject();
  ForEachFolded(report,
                [&](CheckId check, uint64_t folded) { json.Member(SpecOf(check).name, folded); });
  json.EndObject();
  json.EndObject();
  out->Append('\n');
}

}  // namespace

void AppendReportJson(absl::string_view name, const ValidationReport& report, TextBuffer* out) {
  AppendJson(name, kVerdicts[static_cast<int>(report.verdict())], report, out);
}

void AppendSkippedJson(absl::string_view name, const ValidationReport& report, TextBuffer* out) {
  AppendJson(name, "skipped", report, out);
}

void AppendNoSuchTraceJson(absl::string_view name, const ValidationReport& report,
                           TextBuffer* out) {
  AppendJson(name, "no-such-trace", report, out);
}

}  // namespace gotrace::internal

namespace gotrace {

std::string FormatReport(absl::string_view name, const ValidationReport& report) {
  internal::TextBuffer text;
  internal::AppendReport(name, report, /*with_notes=*/true, &text);
  return std::string(text.view());
}

std::string FormatReportJson(absl::string_view name, const ValidationReport& report) {
  internal::TextBuffer text;
  internal::AppendReportJson(name, report, &text);
  return std::string(text.view());
}

}  // namespace gotrace
