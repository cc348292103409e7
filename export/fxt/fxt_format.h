// The records of FXT, the trace format of Fuchsia, as FxtWriter takes and FxtReader returns them.
// FORMAT.md describes how they are encoded.
#ifndef GOTRACE_EXPORT_FXT_FXT_FORMAT_H_
#define GOTRACE_EXPORT_FXT_FXT_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

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

enum class FxtType : uint8_t {
#define FXT_RECORD(value, name, text) k##name = value,
#include "export/fxt/fxt.def"
};
enum class FxtMetadata : uint8_t {
#define FXT_METADATA(value, name, text) k##name = value,
#include "export/fxt/fxt.def"
};
enum class FxtEvent : uint8_t {
#define FXT_EVENT(value, name, text, word) k##name = value,
#include "export/fxt/fxt.def"
};
enum class FxtArgumentType : uint8_t {
#define FXT_ARGUMENT(value, name, text, payload) k##name = value,
#include "export/fxt/fxt.def"
};
enum class FxtScheduling : uint8_t {
#define FXT_SCHEDULING(value, name, text) k##name = value,
#include "export/fxt/fxt.def"
};
enum class FxtState : uint8_t {
#define FXT_STATE(value, name, text) k##name = value,
#include "export/fxt/fxt.def"
};

// The kinds of kernel objects that gotrace writes; there are others.
inline constexpr uint8_t kFxtProcessObject = 1;
inline constexpr uint8_t kFxtThreadObject = 2;

// The "weight" of the idle thread in scheduling records.
inline constexpr int32_t kFxtIdleWeight = INT32_MIN;

// Where the value of an argument is.
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

// Return names: "event", "instant", "koid"; "" if the value is not known. Static lifetime.
absl::string_view FxtTypeName(uint8_t type);
absl::string_view FxtMetadataName(uint8_t kind);
absl::string_view FxtEventName(uint8_t kind);
absl::string_view FxtEventWordName(uint8_t kind);
absl::string_view FxtArgumentName(uint8_t type);
absl::string_view FxtSchedulingName(uint8_t kind);
absl::string_view FxtStateName(uint8_t state);

// A thread, and the process that it belongs to, by their kernel object ids ("koids").
struct FxtThread {
  uint64_t process = 0;
  uint64_t thread = 0;

  friend bool operator==(const FxtThread&, const FxtThread&) = default;
  template <class H>
  friend H AbslHashValue(H h, const FxtThread& id) {
    return H::combine(std::move(h), id.process, id.thread);
  }
};

struct FxtArgument {
  FxtArgumentType type = FxtArgumentType::kNull;
  absl::string_view name;
  uint64_t value = 0;      // The bits of a number; 32-bit numbers in the lower half.
  absl::string_view text;  // kString.

  friend bool operator==(const FxtArgument&, const FxtArgument&) = default;
};

FxtArgument FxtInt32(absl::string_view name, int32_t value);
FxtArgument FxtInt64(absl::string_view name, int64_t value);
FxtArgument FxtUint64(absl::string_view name, uint64_t value);  // 32 bits wide if that is enough.
FxtArgument FxtKoid(absl::string_view name, uint64_t koid);
FxtArgument FxtString(absl::string_view name, absl::string_view text);

// One record. The comments say which records have a field; in others it has its default value.
struct FxtRecord {
  FxtType type = FxtType::kMetadata;

  // An FxtMetadata, an FxtEvent, an FxtScheduling, or the kind of a blob or of a kernel object.
  uint8_t kind = 0;

  // Records about a provider: its id.
  uint32_t provider = 0;

  // String and thread records: the index in the provider's table. Scheduling records: the CPU.
  // Provider events: the event.
  uint16_t index = 0;

  // Events, scheduling and log records: the time. Initialization: ticks per second.
  uint64_t ticks = 0;

  // Thread, event and log records: the thread. User objects: the process of `thread`.
  FxtThread thread;

  absl::string_view category;  // Events.
  absl::string_view name;      // Events, objects, blobs, providers.
  absl::string_view text;      // The content of a string, log record or blob.

  // Events: the word after the arguments. Objects: the koid or pointer. Large blobs: the size of
  // the payload, which is not kept.
  uint64_t id = 0;

  // Context switches: the threads that leave and take the CPU. Wake-ups: `incoming` is the thread
  // that was woken. Only legacy switches know the processes.
  FxtThread outgoing;
  FxtThread incoming;
  uint8_t outgoing_state = 0;  // An FxtState.
  uint16_t priorities = 0;     // Legacy switches: that of `outgoing` in the lower byte.

  std::vector<FxtArgument> arguments;

  // Set by the reader: where the record begins and its size, in bytes.
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Returns whether both have the same content; `offset` and `size` do not count.
bool SameContent(const FxtRecord& a, const FxtRecord& b);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_FORMAT_H_
