#include "export/fxt/fxt_format.h"

#include <tuple>

namespace gotrace {

#define TEXT_CASE(value, name, text, ...) \
  case value:                             \
    return text;

absl::string_view FxtTypeName(uint8_t type) {
  switch (type) {
#define FXT_RECORD TEXT_CASE
#include "gotrace/internal/fxt.def"
  }
  return "";
}

absl::string_view FxtMetadataName(uint8_t kind) {
  switch (kind) {
#define FXT_METADATA TEXT_CASE
#include "gotrace/internal/fxt.def"
  }
  return "";
}

absl::string_view FxtEventName(uint8_t kind) {
  switch (kind) {
#define FXT_EVENT TEXT_CASE
#include "gotrace/internal/fxt.def"
  }
  return "";
}

absl::string_view FxtArgumentName(uint8_t type) {
  switch (type) {
#define FXT_ARGUMENT TEXT_CASE
#include "gotrace/internal/fxt.def"
  }
  return "";
}

absl::string_view FxtSchedulingName(uint8_t kind) {
  switch (kind) {
#define FXT_SCHEDULING TEXT_CASE
#include "gotrace/internal/fxt.def"
  }
  return "";
}

absl::string_view FxtStateName(uint8_t state) {
  switch (state) {
#define FXT_STATE TEXT_CASE
#include "gotrace/internal/fxt.def"
  }
  return "";
}
#undef TEXT_CASE

absl::string_view FxtEventWordName(uint8_t kind) {
  switch (kind) {
#define FXT_EVENT(value, name, text, word) \
  case value:                              \
    return word;
#include "gotrace/internal/fxt.def"
  }
  return "";
}

namespace internal {

FxtPayload FxtPayloadOf(uint8_t type) {
  switch (type) {
#define FXT_ARGUMENT(value, name, text, payload) \
  case value:                                    \
    return FxtPayload::k##payload;
#include "gotrace/internal/fxt.def"
  }
  return FxtPayload::kUnknown;
}

bool IsFxtEvent(uint8_t kind) { return !FxtEventName(kind).empty(); }
bool FxtEventHasWord(uint8_t kind) { return !FxtEventWordName(kind).empty(); }

FxtArgument FxtInt32(absl::string_view name, int32_t value) {
  return {FxtArgumentType::kInt32, name, static_cast<uint32_t>(value), ""};
}

FxtArgument FxtInt64(absl::string_view name, int64_t value) {
  return {FxtArgumentType::kInt64, name, static_cast<uint64_t>(value), ""};
}

FxtArgument FxtUint64(absl::string_view name, uint64_t value) {
  const bool is_short = value <= UINT32_MAX;
  return {is_short ? FxtArgumentType::kUint32 : FxtArgumentType::kUint64, name, value, ""};
}

FxtArgument FxtKoid(absl::string_view name, uint64_t koid) {
  return {FxtArgumentType::kKoid, name, koid, ""};
}

FxtArgument FxtString(absl::string_view name, absl::string_view text) {
  return {FxtArgumentType::kString, name, 0, text};
}

bool SameContent(const FxtRecord& a, const FxtRecord& b) {
  const auto content = [](const FxtRecord& record) {
    return std::tie(record.type, record.kind, record.provider, record.index, record.ticks,
                    record.thread, record.category, record.name, record.text, record.id,
                    record.outgoing, record.incoming, record.outgoing_state, record.priorities,
                    record.arguments);
  };
  return content(a) == content(b);
}

}  // namespace internal
}  // namespace gotrace
