#include "parser/framing/batch_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "parser/framing/printed_text.h"
#include "tracev2/varint.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Reads numbers from the beginning of a source one at a time, so that it does not wait for a stream
// that pauses after an event.
class HeaderCursor {
 public:
  explicit HeaderCursor(ByteSource* source) : source_(source) {}

  // Makes `size` more bytes available. Returns false at the end of the input.
  absl::StatusOr<bool> Need(size_t size) {
    if (source_->window().size() >= pos_ + size) return true;
    if (absl::Status status = source_->Fill(pos_ + size); !status.ok()) return status;
    return source_->window().size() >= pos_ + size;
  }

  // Requires that Need(1) returned true.
  uint8_t TakeByte() { return static_cast<uint8_t>(source_->window()[pos_++]); }

  // Requires that Need(size) returned true.
  absl::string_view TakeBytes(size_t size) {
    pos_ += size;
    return source_->window().substr(pos_ - size, size);
  }

  // Reads a number, whose name in messages is `what`.
  absl::Status TakeVarint(absl::string_view what, uint64_t* value) {
    while (true) {
      const absl::string_view rest = source_->window().substr(pos_);
      const char* const end = rest.data() + rest.size();
      if (const char* next = ReadVarint(rest.data(), end, value)) {
        pos_ += next - rest.data();
        return absl::OkStatus();
      }
      if (DiagnoseVarint(rest.data(), end) == VarintFault::kOverflow) {
        return Fail(FaultId::kBatchHeaderVarint,
                    absl::StrCat("expected a batch's ", what,
                                 ", found a number that does not fit in 64 bits"));
      }
      const absl::StatusOr<bool> more = Need(rest.size() + 1);
      if (!more.ok()) return more.status();
      if (!*more) {
        return Fail(FaultId::kBatchHeaderTruncated,
                    absl::StrCat("expected a batch's ", what, ", found the end of the trace"));
      }
    }
  }

  absl::Status Fail(FaultId id, std::string message) const {
    Fault fault = {id, Place(), std::move(message)};
    fault.place.offset = offset();
    fault.place.batch_offset = source_->offset();
    const bool ends = id == FaultId::kBatchHeaderTruncated || id == FaultId::kBatchTruncated;
    return FaultStatus(ends ? CutOff(std::move(fault)) : std::move(fault));
  }

  uint64_t offset() const { return source_->offset() + pos_; }
  size_t size() const { return pos_; }

 private:
  ByteSource* const source_;
  size_t pos_ = 0;  // The position in the window.
};

bool IsBatchType(EventType type) {
  return type == EventType::kEventBatch || type == EventType::kExperimentalBatch ||
         type == EventType::kEndOfGeneration;
}

// Returns whether another trace begins where a batch should.
bool BeginsTrace(HeaderCursor* cursor, ByteSource* source, EventType type) {
  constexpr EventType kFirstOfHeader{'g'};
  if (type != kFirstOfHeader) return false;
  const absl::StatusOr<bool> is_there = cursor->Need(kHeaderSize);
  return is_there.ok() && *is_there && BeginsWithHeader(source->window());
}

// Returns the first line, or the beginning of it, of printed text in place of a batch; "" if there
// is none. Examines so few bytes that it seldom waits for a stream that pauses.
std::string PrintedText(HeaderCursor* cursor, ByteSource* source, EventType type) {
  constexpr size_t kMaxShown = 60;
  // Events whose type is also a character may look like a little text.
  const size_t min_text = FindEventSpec(type) != nullptr ? 8 : 4;
  // The reason for the end of the input does not matter here.
  cursor->Need(kMaxShown + 4).IgnoreError();
  const absl::string_view bytes = source->window().substr(0, kMaxShown + 4);
  size_t size = 0;
  size_t line_end = 0;
  while (size < kMaxShown && line_end == 0) {
    const size_t character = TextCharacterSize(bytes.substr(size));
    if (character == 0) break;
    size += character;
    if (bytes[size - 1] == '\n') line_end = size;
  }
  if (size < min_text && (line_end == 0 || line_end < bytes.size())) return "";
  const bool is_all = size == bytes.size() || TextCharacterSize(bytes.substr(size)) == 0;
  std::string text = Quoted(bytes.substr(0, size));
  if (!is_all) text.insert(text.size() - 1, "…");
  return text;
}

absl::Status UnexpectedType(HeaderCursor* cursor, ByteSource* source, EventType type) {
  std::string found;
  if (BeginsTrace(cursor, source, type)) {
    found =
        absl::StrCat("the header ", Quoted(source->window().substr(0, source->window().find('\0'))),
                     " of another trace");
  } else if (const std::string text = PrintedText(cursor, source, type); !text.empty()) {
    found = absl::StrCat("the text ", text);
  } else if (FindEventSpec(type) != nullptr) {
    found = absl::StrCat("byte ", static_cast<int>(type), " (", EventTypeName(type), ")");
  } else {
    found = absl::StrCat("byte ", static_cast<int>(type), ", which is not an event type");
  }
  // The input may have changed since the type was read.
  if (const absl::StatusOr<bool> is_there = cursor->Need(1); !is_there.ok()) {
    return is_there.status();
  }
  return cursor->Fail(FaultId::kBatchType,
                      absl::StrCat("expected a batch (byte 1, 49 or 52), found ", found));
}

absl::Status ReadNumbers(HeaderCursor* cursor, Batch* batch, uint64_t* size) {
  uint64_t thread = 0;
  if (absl::Status s = cursor->TakeVarint("generation", &batch->generation); !s.ok()) return s;
  if (absl::Status s = cursor->TakeVarint("thread id", &thread); !s.ok()) return s;
  if (absl::Status s = cursor->TakeVarint("time", &batch->time); !s.ok()) return s;
  if (absl::Status s = cursor->TakeVarint("size", size); !s.ok()) return s;
  batch->thread = ThreadId{static_cast<int64_t>(thread)};
  if (*size > kMaxBatchSize) {
    return cursor->Fail(FaultId::kBatchSize, absl::StrCat("expected a batch of at most ",
                                                          kMaxBatchSize, " bytes, found ", *size));
  }
  return absl::OkStatus();
}

// How far into the input to search for a header that is not at its beginning, in bytes. Input that
// is not a trace may come from a slow pipe, so this is small enough that it seldom has to wait.
constexpr size_t kHeaderSearched = 4096;

// Returns the offset of a trace header that follows other data, such as output of the program;
// nullopt if there is none nearby.
std::optional<size_t> FindOtherHeader(ByteSource* source) {
  // The reason for the end of the input does not matter here.
  source->Fill(kHeaderSearched).IgnoreError();
  const size_t pos = FindHeader(source->window().substr(0, kHeaderSearched));
  return pos == absl::string_view::npos ? std::nullopt : std::optional(pos);
}

// Describes why a trace of the v1 version 1.`minor` cannot be read, and which program can read it.
std::string DescribeV1(uint32_t minor) {
  const V1Version* const version = FindV1Version(minor);
  if (version == nullptr) {
    return absl::StrCat("found a v1 trace of version 1.", minor,
                        ", which no release of Go writes; gotrace reads traces of Go 1.22 and "
                        "later");
  }
  return absl::StrCat("found a v1 trace, written by ", version->written_by,
                      "; gotrace reads traces of Go 1.22 and later; the last release that reads "
                      "this one, with `",
                      version->command, "`, is ", version->last_reader);
}

// Returns the fault of the header at the position of `source`.
absl::Status HeaderFault(const Header& header, ByteSource* source) {
  const std::string bytes(source->window().substr(0, kHeaderSize));
  Fault fault;
  fault.place.offset = 0;
  switch (header.status) {
    case HeaderStatus::kTruncated:
      fault.id = FaultId::kHeaderTruncated;
      fault.message = absl::StrCat(
          "expected the 16-byte header of a trace, found ",
          bytes.empty() ? "an empty input" : absl::StrCat("only ", bytes.size(), " bytes"));
      break;
    case HeaderStatus::kV1:
      fault.id = FaultId::kV1Trace;
      fault.message = DescribeV1(header.minor);
      break;
    case HeaderStatus::kUnknown:
      fault.id = FaultId::kUnknownVersion;
      if (header.minor < static_cast<uint32_t>(kNewestVersion)) {
        fault.message =
            absl::StrCat("found trace version 1.", header.minor, ", which no release of Go writes");
        break;
      }
      fault.message = absl::StrCat("found trace version 1.", header.minor,
                                   "; the newest version that this gotrace supports is 1.",
                                   static_cast<uint32_t>(kNewestVersion), ", written by ",
                                   WrittenBy(kNewestVersion), "; a newer gotrace may read it");
      break;
    case HeaderStatus::kOk:
    case HeaderStatus::kNotATrace:
      fault.id = FaultId::kNotATrace;
      fault.message = absl::StrCat(
          "expected a header like \"go 1.22 trace\\x00\\x00\\x00\", found ", Quoted(bytes));
      if (const std::optional<size_t> offset = FindOtherHeader(source)) {
        fault = HeaderAt(std::move(fault), *offset);
      }
      break;
  }
  return FaultStatus(std::move(fault));
}

// Reads all of the batch except its payload.
absl::StatusOr<bool> TakeBatchHeader(HeaderCursor* cursor, ByteSource* source, Batch* batch,
                                     uint64_t* size) {
  *batch = Batch();
  batch->offset = cursor->offset();
  absl::StatusOr<bool> more = cursor->Need(1);
  if (!more.ok() || !*more) return more;
  const EventType type = static_cast<EventType>(source->window()[0]);
  if (!IsBatchType(type)) return UnexpectedType(cursor, source, type);
  if (type == EventType::kEndOfGeneration) {
    *size = 1;
    batch->payload_offset = cursor->offset();
    return true;
  }
  cursor->TakeByte();
  if (type == EventType::kExperimentalBatch) {
    more = cursor->Need(1);
    if (more.ok() && !*more) source->Skip(cursor->size());
    if (!more.ok() || !*more) return more;
    batch->experiment = cursor->TakeByte();
  }
  if (absl::Status s = ReadNumbers(cursor, batch, size); !s.ok()) return s;
  batch->payload_offset = cursor->offset();
  return true;
}

}  // namespace

Place Batch::place() const {
  Place place;
  place.offset = payload_offset;
  place.generation = generation;
  place.batch_offset = offset;
  place.thread = thread;
  return place;
}

uint64_t Batch::end_offset() const {
  uint64_t end = payload_offset + payload.size();
  for (const ByteRange& range : text) {
    if (range.begin >= payload_offset) end += range.size();
  }
  return end;
}

bool BeginsWithHeader(absl::string_view bytes) {
  const HeaderStatus status = ParseHeader(bytes).status;
  return status == HeaderStatus::kOk || status == HeaderStatus::kUnknown;
}

absl::StatusOr<Version> ReadHeader(ByteSource* source) {
  // An input that ends with an error may be short, but not too short for a header.
  const absl::Status status = source->Fill(kHeaderSize);
  const absl::string_view bytes = source->window().substr(0, kHeaderSize);
  if (bytes.size() < kHeaderSize && !status.ok()) return status;
  const Header header = ParseHeader(bytes);
  if (header.status != HeaderStatus::kOk) return HeaderFault(header, source);
  source->Skip(kHeaderSize);
  return header.version;
}

absl::StatusOr<bool> ReadBatch(ByteSource* source, Batch* batch) {
  HeaderCursor cursor(source);
  uint64_t size = 0;
  absl::StatusOr<bool> more = TakeBatchHeader(&cursor, source, batch, &size);
  if (!more.ok() || !*more) return more;
  more = cursor.Need(size);
  if (!more.ok()) return more;
  if (!*more) {
    return cursor.Fail(FaultId::kBatchTruncated,
                       absl::StrCat("expected ", size,
                                    " bytes of a batch's payload, found the end of the trace "
                                    "after ",
                                    source->window().size() - cursor.size()));
  }
  batch->payload = cursor.TakeBytes(size);
  source->Skip(cursor.size());
  return true;
}

absl::StatusOr<bool> ReadBatchHeader(ByteSource* source, Batch* batch, uint64_t* size) {
  HeaderCursor cursor(source);
  return TakeBatchHeader(&cursor, source, batch, size);
}

}  // namespace gotrace::internal
