#include "export/text/go_text.h"

#include <array>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "parser/generation/generation_tables.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr int kGoStateEnd = static_cast<int>(GoState::kSyscall) + 1;
constexpr int kProcStateEnd = static_cast<int>(ProcState::kIdle) + 1;

// What stands between the context and the time of an event, by its kind.
constexpr auto kKindTexts = [] {
  std::array<ShortText<32>, kEventKindEnd> texts;
  for (int i = 0; i < kEventKindEnd; ++i) {
    texts[i] = {" ", EventKindName(static_cast<EventKind>(i)), " Time="};
  }
  return texts;
}();

// What stands behind the id in a transition, by the states before and after it.
template <class State, int kEnd>
constexpr auto MakeTransitionTexts(absl::string_view (*name)(State)) {
  std::array<std::array<ShortText<48>, kEnd>, kEnd> texts;
  for (int from = 0; from < kEnd; ++from) {
    for (int to = 0; to < kEnd; ++to) {
      texts[from][to] = {" ", name(static_cast<State>(from)), "->", name(static_cast<State>(to)),
                         " Reason="};
    }
  }
  return texts;
}
constexpr auto kGoTransitionTexts = MakeTransitionTexts<GoState, kGoStateEnd>(GoStateName);
constexpr auto kProcTransitionTexts = MakeTransitionTexts<ProcState, kProcStateEnd>(ProcStateName);

void AppendResource(const ResourceId& resource, TextBuffer* out) {
  out->Append(ResourceKindName(resource.kind));
  if (resource.kind != ResourceKind::kNone) out->Append('(', resource.id, ')');
}

void AppendValue(uint64_t value, TextBuffer* out) { out->Append("Value{Uint64(", value, ")}"); }

void AppendQuotedField(absl::string_view name, absl::string_view value, TextBuffer* out) {
  out->Append(name);
  AppendQuoted(value, out);
}

// As Go does: at least four digits, and a sign before them.
void AppendYear(absl::civil_year_t year, TextBuffer* out) {
  if (year < 0) out->Append('-');
  out->Append(absl::StrFormat("%04d", year < 0 ? -year : year));
}

// As Go's time.RFC3339Nano: no zeros at the end of the fraction, and Z where the offset is zero.
void AppendWallTime(absl::Time time, const absl::TimeZone& zone, TextBuffer* out) {
  AppendYear(zone.At(time).cs.year(), out);
  out->Append(absl::FormatTime("-%m-%d%ET%H:%M:%E*S", time, zone));
  const std::string offset = absl::FormatTime("%Ez", time, zone);
  out->Append(offset == "+00:00" ? "Z" : offset);
}

void AppendStackFrames(const Stack& stack, TextBuffer* out) {
  const size_t size = stack.size();
  for (size_t i = 0; i < size; ++i) {
    const StackFrame frame = stack.frame(i);
    out->Append('\t', frame.func, " @ 0x");
    out->AppendHex(frame.pc);
    out->Append("\n\t\t", frame.file, ':', frame.line, '\n');
  }
}

}  // namespace

GoTextFormatter::GoTextFormatter(absl::TimeZone zone)
    : zone_(zone), stack_texts_(AppendStackFrames) {}

inline const ShortText<64>& GoTextFormatter::ThreadTextOf(ThreadId thread, ProcId proc) {
  ThreadText& kept = thread_texts_[static_cast<uint64_t>(thread.value) % thread_texts_.size()];
  if (kept.thread != thread || kept.proc != proc || kept.text.view().empty()) [[unlikely]] {
    thread_text_.clear();
    thread_text_.Append("M=", thread.value, " P=", proc.value, " G=");
    kept = {thread, proc, {thread_text_.view()}};
  }
  return kept.text;
}

void GoTextFormatter::Append(const Event& event, TextBuffer* out) {
  out->Append(ThreadTextOf(event.thread(), event.proc()), event.goroutine().value,
              kKindTexts[static_cast<int>(event.kind())], event.time());
  AppendDetails(event, out);
  if (event.fault().has_value()) out->Append(" Fault=", FaultName(*event.fault()));
  if (event.kind() == EventKind::kStateTransition) {
    const Stack stack = event.transition_stack();
    if (!stack.none()) AppendStack("\nTransitionStack=\n", stack, out);
  }
  const Stack stack = event.stack();
  if (!stack.none()) AppendStack("\nStack=\n", stack, out);
  out->Append('\n');
}

void GoTextFormatter::AppendDetails(const Event& event, TextBuffer* out) {
  switch (event.kind()) {
    case EventKind::kMetric: {
      const Metric metric = event.metric();
      AppendQuotedField(" Name=", metric.name, out);
      out->Append(" Value=");
      AppendValue(metric.value, out);
      break;
    }
    case EventKind::kLabel: {
      const Label label = event.label();
      AppendQuotedField(" Label=", label.label, out);
      out->Append(" Resource=");
      AppendResource(label.resource, out);
      break;
    }
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      AppendRange(event, out);
      break;
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd: {
      const Task task = event.task();
      out->Append(" ID=", task.id.value, " Parent=", task.parent.value, " Type=");
      AppendQuoted(task.type, out);
      break;
    }
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd: {
      const Region region = event.region();
      out->Append(" Task=", region.task.value, " Type=");
      AppendQuoted(region.type, out);
      break;
    }
    case EventKind::kLog: {
      const Log log = event.log();
      out->Append(" Task=", log.task.value, " Category=");
      AppendQuoted(log.category, out);
      AppendQuotedField(" Message=", log.message, out);
      break;
    }
    case EventKind::kStateTransition:
      AppendTransition(event, out);
      break;
    case EventKind::kExperimental: {
      const ExperimentalEvent experimental = event.experimental();
      out->Append(" Name=", experimental.name, " Args=[");
      absl::string_view separator;
      for (const ExperimentalArg& arg : experimental.args) {
        out->Append(separator, arg.name, '=');
        AppendValue(arg.value, out);
        separator = ", ";
      }
      out->Append(']');
      break;
    }
    case EventKind::kSync:
      AppendSync(event, out);
      break;
    case EventKind::kStackSample:
    case EventKind::kNone:
      break;
  }
}

void GoTextFormatter::AppendRange(const Event& event, TextBuffer* out) {
  const Range range = event.range();
  AppendQuotedField(" Name=", range.name, out);
  out->Append(" Scope=");
  AppendResource(range.scope, out);
  if (event.kind() != EventKind::kRangeEnd) return;
  out->Append(" Attributes=[");
  absl::string_view separator;
  for (const RangeAttribute& attribute : event.range_attributes()) {
    out->Append(separator);
    AppendQuoted(attribute.name, out);
    out->Append('=');
    AppendValue(attribute.value, out);
    separator = " ";
  }
  out->Append(']');
}

void GoTextFormatter::AppendTransition(const Event& event, TextBuffer* out) {
  const ResourceId resource = event.transition_resource();
  const bool is_proc = resource.kind == ResourceKind::kProc;
  const uint8_t from = event.transition_from();
  const uint8_t to = event.transition_to();
  if (is_proc) {
    out->Append(" ProcID=", resource.id, kProcTransitionTexts[from][to], "\"\"");
    return;
  }
  out->Append(" GoID=", resource.id, kGoTransitionTexts[from][to]);
  const absl::string_view reason = event.transition_reason();
  if (reason.empty()) {
    out->Append("\"\"");
  } else {
    AppendQuoted(reason, out);
  }
}

void GoTextFormatter::AppendSync(const Event& event, TextBuffer* out) {
  const Sync sync = event.sync();
  out->Append(" N=", sync.n);
  if (!sync.clock_snapshot.has_value()) return;
  out->Append(" Trace=", sync.clock_snapshot->trace_time, " Mono=", sync.clock_snapshot->mono,
              " Wall=");
  AppendWallTime(sync.clock_snapshot->wall, zone_, out);
}

void GoTextFormatter::AppendStack(absl::string_view title, const Stack& stack, TextBuffer* out) {
  const absl::string_view text = stack_texts_.Find(stack);
  out->Append(title, text);
  if (text.empty()) AppendStackFrames(stack, out);
}

}  // namespace gotrace::internal
