#include "export/fxt/fxt_text.h"

#include <bit>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

void AppendField(absl::string_view name, uint64_t value, TextBuffer* out) {
  out->Append(" ", name, "=", value);
}

void AppendField(absl::string_view name, absl::string_view text, TextBuffer* out) {
  out->Append(" ", name, "=");
  AppendQuoted(text, out);
}

void AppendThread(const FxtThread& thread, TextBuffer* out) {
  AppendField("process", thread.process, out);
  AppendField("thread", thread.thread, out);
}

// The kind, or its number if it has no name.
void AppendKind(absl::string_view name, uint8_t kind, TextBuffer* out) {
  out->Append(" ");
  name.empty() ? out->Append(uint64_t{kind}) : out->Append(name);
}

void AppendValue(const FxtArgument& argument, TextBuffer* out) {
  switch (argument.type) {
    case FxtArgumentType::kNull:
      return out->Append("null");
    case FxtArgumentType::kInt32:
      return out->Append(int64_t{static_cast<int32_t>(argument.value)});
    case FxtArgumentType::kInt64:
      return out->Append(static_cast<int64_t>(argument.value));
    case FxtArgumentType::kUint32:
    case FxtArgumentType::kUint64:
      return out->Append(argument.value);
    case FxtArgumentType::kDouble:
      return out->Append(absl::string_view(absl::StrCat(std::bit_cast<double>(argument.value))));
    case FxtArgumentType::kString:
      return AppendQuoted(argument.text, out);
    case FxtArgumentType::kPointer:
      out->Append("0x");
      return out->AppendHex(argument.value);
    case FxtArgumentType::kKoid:
      return out->Append("koid ", argument.value);
    case FxtArgumentType::kBool:
      return out->Append(argument.value == 0 ? "false" : "true");
  }
}

void AppendArguments(const FxtRecord& record, TextBuffer* out) {
  if (record.arguments.empty()) return;
  absl::string_view before = " {";
  for (const FxtArgument& argument : record.arguments) {
    out->Append(before);
    AppendQuoted(argument.name, out);
    out->Append(": ");
    AppendValue(argument, out);
    before = ", ";
  }
  out->Append("}");
}

void AppendMetadata(const FxtRecord& record, TextBuffer* out) {
  switch (static_cast<FxtMetadata>(record.kind)) {
    case FxtMetadata::kTraceInfo:
      return;
    case FxtMetadata::kProviderInfo:
      AppendField("provider", record.provider, out);
      return AppendField("name", record.name, out);
    case FxtMetadata::kProviderSection:
      return AppendField("provider", record.provider, out);
    case FxtMetadata::kProviderEvent:
      AppendField("provider", record.provider, out);
      out->Append(" buffer-full");
  }
}

void AppendScheduling(const FxtRecord& record, TextBuffer* out) {
  AppendField("time", record.ticks, out);
  AppendField("cpu", record.index, out);
  if (record.kind == static_cast<uint8_t>(FxtScheduling::kWakeup)) {
    return AppendField("thread", record.incoming.thread, out);
  }
  AppendField("outgoing", record.outgoing.thread, out);
  AppendField("incoming", record.incoming.thread, out);
  out->Append(" state=");
  const absl::string_view state = FxtStateName(record.outgoing_state);
  state.empty() ? out->Append(uint64_t{record.outgoing_state}) : out->Append(state);
  if (record.kind != static_cast<uint8_t>(FxtScheduling::kLegacySwitch)) return;
  AppendField("outgoing-priority", record.priorities & 0xff, out);
  AppendField("incoming-priority", record.priorities >> 8, out);
}

}  // namespace

void AppendFxtText(const FxtRecord& record, TextBuffer* out) {
  out->Append(record.offset);
  const uint8_t kind = record.kind;
  switch (record.type) {
    case FxtType::kMetadata:
      AppendKind(FxtMetadataName(kind), kind, out);
      break;
    case FxtType::kEvent:
      AppendKind(FxtEventName(kind), kind, out);
      break;
    case FxtType::kScheduling:
      AppendKind(FxtSchedulingName(kind), kind, out);
      break;
    default:
      AppendKind(FxtTypeName(static_cast<uint8_t>(record.type)), 0, out);
  }
  switch (record.type) {
    case FxtType::kMetadata:
      AppendMetadata(record, out);
      break;
    case FxtType::kInitialization:
      AppendField("ticks-per-second", record.ticks, out);
      break;
    case FxtType::kString:
      AppendField("index", record.index, out);
      AppendField("text", record.text, out);
      break;
    case FxtType::kThread:
      AppendField("index", record.index, out);
      AppendThread(record.thread, out);
      break;
    case FxtType::kEvent:
      AppendField("time", record.ticks, out);
      AppendThread(record.thread, out);
      AppendField("category", record.category, out);
      AppendField("name", record.name, out);
      if (FxtEventHasWord(kind)) AppendField(FxtEventWordName(kind), record.id, out);
      break;
    case FxtType::kBlob:
      AppendField("kind", kind, out);
      AppendField("name", record.name, out);
      AppendField("bytes", record.text.size(), out);
      break;
    case FxtType::kUserObject:
      out->Append(" pointer=0x");
      out->AppendHex(record.id);
      AppendField("process", record.thread.process, out);
      AppendField("name", record.name, out);
      break;
    case FxtType::kKernelObject:
      AppendField("kind", kind, out);
      AppendField("koid", record.id, out);
      AppendField("name", record.name, out);
      break;
    case FxtType::kScheduling:
      AppendScheduling(record, out);
      break;
    case FxtType::kLog:
      AppendField("time", record.ticks, out);
      AppendThread(record.thread, out);
      AppendField("text", record.text, out);
      break;
    case FxtType::kLarge:
      AppendField("format", kind, out);
      AppendField("category", record.category, out);
      AppendField("name", record.name, out);
      AppendField("bytes", record.id, out);
      break;
  }
  AppendArguments(record, out);
  out->Append("\n");
}

}  // namespace gotrace::internal

namespace gotrace {

std::string FormatFxtRecord(const FxtRecord& record) {
  internal::TextBuffer text;
  internal::AppendFxtText(record, &text);
  return std::string(absl::StripSuffix(text.view(), "\n"));
}

}  // namespace gotrace
