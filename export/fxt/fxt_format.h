// Constants and helpers for FXT, the trace format of Fuchsia, that FxtWriter and FxtReader share.
// FORMAT.md describes how they are encoded.
#ifndef GOTRACE_EXPORT_FXT_FXT_FORMAT_H_
#define GOTRACE_EXPORT_FXT_FXT_FORMAT_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "gotrace/fxt_reader.h"

namespace gotrace::internal {

// The first word of a file.
inline constexpr uint64_t kFxtMagic = 0x0016547846040010;

// Limits of the format: the size of a record, and the highest indices of a provider's tables.
inline constexpr size_t kFxtMaxRecordWords = 0xfff;
inline constexpr size_t kFxtMaxStrings = 0x7fff;
inline constexpr size_t kFxtMaxThreads = 0xff;
inline constexpr size_t kFxtMaxArguments = 15;

// The length at which FxtWriter cuts strings off.
inline constexpr size_t kFxtMaxText = 32'000;

// The "weight" of the idle thread in scheduling records.
inline constexpr int32_t kFxtIdleWeight = INT32_MIN;

// The place of an argument's value.
enum class FxtPayload : uint8_t {
  kUnknown,  // The type is not known.
  kNone,     // There is no value.
  kHeader,   // In the upper half of its header.
  kWord,     // In a word of its own.
  kString,   // In the string table, or inline.
};
FxtPayload FxtPayloadOf(uint8_t type);

// Returns whether the event kind is known, and whether a word follows its arguments.
bool IsFxtEvent(uint8_t kind);
bool FxtEventHasWord(uint8_t kind);

// Return arguments of these types.
FxtArgument FxtInt32(absl::string_view name, int32_t value);
FxtArgument FxtInt64(absl::string_view name, int64_t value);
FxtArgument FxtUint64(absl::string_view name, uint64_t value);  // 32 bits wide if that is enough.
FxtArgument FxtKoid(absl::string_view name, uint64_t koid);
FxtArgument FxtString(absl::string_view name, absl::string_view text);

// Returns whether both have the same content; `offset` and `size` do not count.
bool SameContent(const FxtRecord& a, const FxtRecord& b);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_FORMAT_H_
