// Reads files of any program in FXT, the trace format of Fuchsia, record by record.
// gotrace-dump prints and validates such files, and FxtExporter writes them.
//
//   absl::StatusOr<std::unique_ptr<gotrace::ByteSource>> source = gotrace::OpenSource("trace.fxt");
//   if (!source.ok()) return source.status();
//   gotrace::FxtReader reader(std::move(source).value());
//   while (const gotrace::FxtRecord* record = reader.Next()) {
//     if (record->type == gotrace::FxtType::kEvent) Use(record->name, record->ticks);
//   }
//   return reader.status();
//
// export/fxt/FORMAT.md describes the format.
#ifndef GOTRACE_FXT_READER_H_
#define GOTRACE_FXT_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/check.h"

namespace gotrace {

// The type of a record, such as kEvent.
enum class FxtType : uint8_t {
#define FXT_RECORD(value, name, text) k##name = value,
#include "gotrace/internal/fxt.def"
};

// The kind of a metadata record, such as kProviderInfo.
enum class FxtMetadata : uint8_t {
#define FXT_METADATA(value, name, text) k##name = value,
#include "gotrace/internal/fxt.def"
};

// The kind of an event, such as kDurationBegin.
enum class FxtEvent : uint8_t {
#define FXT_EVENT(value, name, text, word) k##name = value,
#include "gotrace/internal/fxt.def"
};

// The type of an argument, such as kInt64.
enum class FxtArgumentType : uint8_t {
#define FXT_ARGUMENT(value, name, text, payload) k##name = value,
#include "gotrace/internal/fxt.def"
};

// The kind of a scheduling record, such as kContextSwitch.
enum class FxtScheduling : uint8_t {
#define FXT_SCHEDULING(value, name, text) k##name = value,
#include "gotrace/internal/fxt.def"
};

// The state in which a thread leaves a CPU, such as kBlocked.
enum class FxtState : uint8_t {
#define FXT_STATE(value, name, text) k##name = value,
#include "gotrace/internal/fxt.def"
};

// Two kinds of kernel objects; there are others.
inline constexpr uint8_t kFxtProcessObject = 1;
inline constexpr uint8_t kFxtThreadObject = 2;

// Return the name of a value of these types: "event", "instant", "koid". Return "" if the value is
// not known. Static lifetime.
absl::string_view FxtTypeName(uint8_t type);
absl::string_view FxtMetadataName(uint8_t kind);
absl::string_view FxtEventName(uint8_t kind);
absl::string_view FxtArgumentName(uint8_t type);
absl::string_view FxtSchedulingName(uint8_t kind);
absl::string_view FxtStateName(uint8_t state);

// Returns the meaning of FxtRecord::id for events of this kind: "id" or "end"; "" if they have no
// id. Static lifetime.
absl::string_view FxtEventWordName(uint8_t kind);

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

// An argument of a record.
struct FxtArgument {
  FxtArgumentType type = FxtArgumentType::kNull;
  absl::string_view name;

  // The bits of a number: of a double, for std::bit_cast; a number of 32 bits is in the lower half.
  uint64_t value = 0;

  absl::string_view text;  // Of kString.

  friend bool operator==(const FxtArgument&, const FxtArgument&) = default;
};

// A record. The comments say which records have a member; in others it has its default value.
struct FxtRecord {
  FxtType type = FxtType::kMetadata;

  // An FxtMetadata, an FxtEvent, an FxtScheduling, or the kind of a blob or of a kernel object.
  uint8_t kind = 0;

  // Records about a provider: its id.
  uint32_t provider = 0;

  // String and thread records: the index in the provider's table. Scheduling records: the CPU.
  // Provider events: the event.
  uint16_t index = 0;

  // Events, scheduling and log records: the time, see FxtReader::ToNanoseconds(). Initialization:
  // ticks per second.
  uint64_t ticks = 0;

  // Thread, event and log records: the thread. User objects: the process of `thread`.
  FxtThread thread;

  absl::string_view category;  // Events.
  absl::string_view name;      // Events, objects, blobs, providers.
  absl::string_view text;      // The content of a string, log record or blob.

  // Events: the word after the arguments, see FxtEventWordName(). Objects: the koid or pointer.
  // Large blobs: the size of the payload, which is not kept.
  uint64_t id = 0;

  // Context switches: the threads that leave and take the CPU. Wake-ups: `incoming` is the thread
  // that was woken. Only legacy switches know the processes.
  FxtThread outgoing;
  FxtThread incoming;
  uint8_t outgoing_state = 0;  // An FxtState.
  uint16_t priorities = 0;     // Legacy switches: that of `outgoing` in the lower byte.

  std::vector<FxtArgument> arguments;

  // Where the record begins, and its size, in bytes.
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Returns `record` as text without a line break: its offset, what it is, and its members, as
// `gotrace-dump fxt` prints it.
std::string FormatFxtRecord(const FxtRecord& record);

// Returns whether `begin`, the first bytes of a file, are those of an FXT file.
bool IsFxt(absl::string_view begin);

// Returns whether `source`, at its beginning, has an FXT file. Reads no more than necessary; an
// error of the source is not reported here, and occurs again when the source is read.
bool StartsFxt(ByteSource* source);

// A violation of the format, or a kind of data that this reader does not know.
struct FxtProblem {
  CheckId check = CheckId::kEnd;  // See SpecOf().
  uint64_t offset = 0;            // Of the record, in bytes.
  std::string message;            // What was expected and found.
};

// How reading ended.
enum class FxtEnd : uint8_t {
  kNotYet,
  kComplete,  // After the last byte.
  kCut,       // Within a record: the file is cut off there.
  kDamaged,   // Before a record whose size is wrong, so that the next one cannot be found.
  kError,     // The source could not be read; see FxtReader::status().
};

// Returns the records of a file in order. Every complete record before the place where the file is
// cut off or damaged is returned. Records of unknown kinds, and unknown arguments of known ones,
// are skipped and counted. Records may come in any order of time. Not thread-safe.
class FxtReader {
 public:
  // Reads `source` from its current position on. Calls `on_problem` for each problem in a record,
  // before the record is returned.
  explicit FxtReader(std::unique_ptr<ByteSource> source,
                     std::function<void(const FxtProblem&)> on_problem = nullptr);
  ~FxtReader();
  FxtReader(const FxtReader&) = delete;
  FxtReader& operator=(const FxtReader&) = delete;

  // Returns the next record, or nullptr at the end; see end(). The record and its views are valid
  // until the next call. Strings and threads have been looked up in the tables of their provider.
  const FxtRecord* Next() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns how reading ended.
  FxtEnd end() const;

  // Returns the offset after the last complete record. If the file is damaged, this is the offset
  // of the record with the wrong size.
  uint64_t offset() const;

  // Returns the error of the source, if there was one.
  const absl::Status& status() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns `ticks` of the current provider's clock in nanoseconds, rounded down.
  uint64_t ToNanoseconds(uint64_t ticks) const;

  // The data that was skipped because this reader does not know its kind.
  struct Skipped {
    uint64_t records = 0;    // Of unknown types; and metadata, events and so on of unknown kinds.
    uint64_t arguments = 0;  // Of unknown types.
    uint64_t extended = 0;   // Records that are longer than this reader knows. They are returned.
  };
  const Skipped& skipped() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the source, for reports of progress.
  const ByteSource& source() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace gotrace

#endif  // GOTRACE_FXT_READER_H_
