#include "tracev2/wire_reader.h"

#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace {

static_assert(kMaxRawEventSize >= 1 + 6 * kMaxVarintSize + kMaxBatchSize);
static_assert(kMaxRawEventSize >= 1 + (2 + kFrameFieldCount * kMaxFramesPerStack) * kMaxVarintSize);

// Walks over the bytes of one event and remembers the first fault.
class Cursor {
 public:
  explicit Cursor(absl::string_view bytes)
      : begin_(bytes.data()), pos_(begin_), end_(begin_ + bytes.size()) {}

  EventType PeekType() const { return static_cast<EventType>(*pos_); }
  void SkipType() { ++pos_; }

  bool TakeVarint(uint64_t* value) {
    const char* next = ReadVarint(pos_, end_, value);
    if (next == nullptr) {
      return Fail(DiagnoseVarint(pos_, end_) == VarintFault::kTruncated
                      ? WireStatus::kTruncated
                      : WireStatus::kVarintOverflow);
    }
    pos_ = next;
    return true;
  }

  bool TakeArgs(uint64_t count, RawEvent* event) {
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t value = 0;
      if (!TakeVarint(&value)) return false;
      event->args.push_back(value);
    }
    return true;
  }

  bool TakeData(absl::string_view* data) {
    uint64_t size = 0;
    if (!TakeVarint(&size)) return false;
    if (size > kMaxBatchSize) return Fail(WireStatus::kDataTooLong);
    if (size > static_cast<uint64_t>(end_ - pos_)) return Fail(WireStatus::kTruncated);
    *data = absl::string_view(pos_, size);
    pos_ += size;
    return true;
  }

  bool Fail(WireStatus status) {
    status_ = status;
    return false;
  }

  WireResult result() const { return {status_, static_cast<size_t>(pos_ - begin_)}; }

 private:
  const char* const begin_;
  const char* pos_;
  const char* const end_;
  WireStatus status_ = WireStatus::kOk;
};

bool TakeFrames(uint64_t count, Cursor* cursor, RawEvent* event) {
  if (count > kMaxFramesPerStack) return cursor->Fail(WireStatus::kStackTooDeep);
  return cursor->TakeArgs(count * kFrameFieldCount, event);
}

}  // namespace

WireResult DecodeRawEvent(absl::string_view bytes, RawEvent* event) {
  Cursor cursor(bytes);
  event->type = cursor.PeekType();
  event->args.clear();
  event->data = absl::string_view();
  event->auto_size = false;
  const EventSpec* spec = FindEventSpec(event->type);
  if (spec == nullptr) {
    cursor.Fail(WireStatus::kInvalidType);
    return cursor.result();
  }
  cursor.SkipType();
  if (!cursor.TakeArgs(spec->arg_count, event)) return cursor.result();
  if (spec->form == EventForm::kStack) TakeFrames(event->args[1], &cursor, event);
  if (spec->form == EventForm::kData) cursor.TakeData(&event->data);
  return cursor.result();
}

}  // namespace gotrace::internal
