#include "export/go_text.h"

#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "parser/generation_tables.h"
#include "tracev2/quote.h"

namespace gotrace {
namespace {

void AppendResource(const ResourceId& resource, TextBuffer* out) {
  out->Append(ResourceKindName(resource.kind));
  if (resource.kind == ResourceKind::kNone) return;
  out->Append('(');
  out->Append(resource.id);
  out->Append(')');
}

void AppendValue(uint64_t value, TextBuffer* out) {
  out->Append("Value{Uint64(");
  out->Append(value);
  out->Append(")}");
}

void AppendQuotedField(absl::string_view name, absl::string_view value, TextBuffer* out) {
  out->Append(name);
  AppendQuoted(value, out);
}

void AppendNumberField(absl::string_view name, uint64_t value, TextBuffer* out) {
  out->Append(name);
  out->Append(value);
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
    out->Append('\t');
    out->Append(frame.func);
    out->Append(" @ 0x");
    out->AppendHex(frame.pc);
    out->Append("\n\t\t");
    out->Append(frame.file);
    out->Append(':');
    out->Append(frame.line);
    out->Append('\n');
  }
}

}  // namespace

void GoTextFormatter::Append(const Event& event, TextBuffer* out) {
  out->Append("M=");
  out->Append(event.thread().value);
  out->Append(" P=");
  out->Append(event.proc().value);
  out->Append(" G=");
  out->Append(event.goroutine().value);
  out->Append(' ');
  out->Append(EventKindName(event.kind()));
  out->Append(" Time=");
  out->Append(event.time());
  const Stack transition_stack = AppendDetails(event, out);
  if (event.fault().has_value()) {
    out->Append(" Fault=");
    out->Append(FaultName(*event.fault()));
  }
  if (!transition_stack.none()) AppendStack("\nTransitionStack=\n", transition_stack, out);
  const Stack stack = event.stack();
  if (!stack.none()) AppendStack("\nStack=\n", stack, out);
  out->Append('\n');
}

Stack GoTextFormatter::AppendDetails(const Event& event, TextBuffer* out) {
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
      AppendNumberField(" ID=", task.id.value, out);
      AppendNumberField(" Parent=", task.parent.value, out);
      AppendQuotedField(" Type=", task.type, out);
      break;
    }
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd: {
      const Region region = event.region();
      AppendNumberField(" Task=", region.task.value, out);
      AppendQuotedField(" Type=", region.type, out);
      break;
    }
    case EventKind::kLog: {
      const Log log = event.log();
      AppendNumberField(" Task=", log.task.value, out);
      AppendQuotedField(" Category=", log.category, out);
      AppendQuotedField(" Message=", log.message, out);
      break;
    }
    case EventKind::kStateTransition:
      return AppendTransition(event, out);
    case EventKind::kExperimental: {
      const ExperimentalEvent experimental = event.experimental();
      out->Append(" Name=");
      out->Append(experimental.name);
      out->Append(" Args=[");
      absl::string_view separator;
      for (const ExperimentalArg& arg : experimental.args) {
        out->Append(separator);
        out->Append(arg.name);
        out->Append('=');
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
  return Stack();
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

Stack GoTextFormatter::AppendTransition(const Event& event, TextBuffer* out) {
  const StateTransition transition = event.state_transition();
  const bool is_proc = transition.resource.kind == ResourceKind::kProc;
  out->Append(is_proc ? " ProcID=" : " GoID=");
  out->Append(transition.resource.id);
  out->Append(' ');
  out->Append(is_proc ? ProcStateName(transition.proc_from) : GoStateName(transition.go_from));
  out->Append("->");
  out->Append(is_proc ? ProcStateName(transition.proc_to) : GoStateName(transition.go_to));
  AppendQuotedField(" Reason=", transition.reason, out);
  return transition.stack;
}

void GoTextFormatter::AppendSync(const Event& event, TextBuffer* out) {
  const Sync sync = event.sync();
  AppendNumberField(" N=", sync.n, out);
  if (!sync.clock_snapshot.has_value()) return;
  out->Append(" Trace=");
  out->Append(sync.clock_snapshot->trace_time);
  AppendNumberField(" Mono=", sync.clock_snapshot->mono, out);
  out->Append(" Wall=");
  AppendWallTime(sync.clock_snapshot->wall, zone_, out);
}

void GoTextFormatter::AppendStack(absl::string_view title, const Stack& stack, TextBuffer* out) {
  out->Append(title);
  const GenerationTables& tables = *stack.tables();
  const uint32_t index = tables.StackIndex(stack.id());
  if (index == GenerationTables::kNoStack) return;
  if (tables_serial_ != tables.serial()) {
    tables_serial_ = tables.serial();
    stack_texts_.clear();
    stack_buffer_.clear();
  }
  // Tables grow where a Reader goes on after an event that names a stack they lack.
  if (index >= stack_texts_.size()) stack_texts_.resize(tables.stack_count());
  StackText& text = stack_texts_[index];
  if (!text.made) {
    text.made = true;
    text.begin = stack_buffer_.size();
    AppendStackFrames(stack, &stack_buffer_);
    text.size = stack_buffer_.size() - text.begin;
  }
  out->Append(stack_buffer_.view().substr(text.begin, text.size));
}

}  // namespace gotrace
