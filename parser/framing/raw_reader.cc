#include "parser/framing/raw_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/fault.h"
#include "parser/framing/batch_reader.h"

namespace gotrace::internal {

absl::StatusOr<RawReader> RawReader::FromSource(std::unique_ptr<ByteSource> source, Types types) {
  const absl::StatusOr<Version> version = ReadHeader(source.get());
  if (!version.ok()) return version.status();
  return RawReader(std::move(source), *version, types);
}

const RawEvent* RawReader::Next() {
  if (!status_.ok()) return nullptr;
  source_->Skip(std::exchange(event_size_, 0));
  source_->Release(source_->offset());
  if (source_->window().empty()) {
    if (status_ = source_->Fill(1); !status_.ok() || source_->window().empty()) return nullptr;
  }
  const WireResult result = Decode();
  if (!status_.ok()) return nullptr;
  if (result.status != WireStatus::kOk) return Fail(result);
  event_size_ = result.size;
  return &event_;
}

// Decodes the event at the window's beginning, and widens the window as far as it has to.
WireResult RawReader::Decode() {
  while (true) {
    const absl::string_view window = source_->window();
    const EventSpec* const spec = FindEventSpec(static_cast<EventType>(window[0]));
    if (spec != nullptr && !(types_ == Types::kOfGoTool ? GoToolPrints(version_, *spec)
                                                        : VersionHas(version_, *spec))) {
      event_.type = spec->type;
      return {WireStatus::kInvalidType, 0};
    }
    const WireResult result = DecodeRawEvent(window, &event_);
    if (result.status != WireStatus::kTruncated || window.size() >= kMaxRawEventSize) return result;
    status_ = source_->Fill(std::min(kMaxRawEventSize, window.size() + 1));
    if (!status_.ok() || source_->window().size() == window.size()) return result;
  }
}

const RawEvent* RawReader::Fail(const WireResult& result) {
  const EventType type = static_cast<EventType>(source_->window()[0]);
  const bool known = FindEventSpec(type) != nullptr;
  Fault fault;
  fault.place.offset = source_->offset() + result.size;
  fault.place.event = type;
  switch (result.status) {
    case WireStatus::kInvalidType:
      fault.id = known ? FaultId::kEventVersion : FaultId::kEventType;
      fault.message =
          absl::StrCat("expected an event of version 1.", static_cast<uint32_t>(version_),
                       ", found byte ", static_cast<int>(type), " (", EventTypeName(type), ")");
      fault.place.offset = source_->offset();
      break;
    case WireStatus::kVarintOverflow:
      fault.id = FaultId::kEventVarint;
      fault.message = "expected an argument, found a number that does not fit 64 bits";
      break;
    case WireStatus::kStackTooDeep:
      fault.id = FaultId::kStackDepth;
      fault.message =
          absl::StrCat("expected at most ", kMaxFramesPerStack, " frames, found ", event_.args[1]);
      break;
    case WireStatus::kDataTooLong:
      fault.id = FaultId::kEventDataSize;
      fault.message =
          absl::StrCat("expected at most ", kMaxBatchSize, " bytes of data, found more");
      break;
    case WireStatus::kTruncated:
    case WireStatus::kOk:
      fault.id = FaultId::kEventTruncated;
      fault.message = "expected the rest of an event, found the end of the trace";
      fault = CutOff(std::move(fault));
      break;
  }
  status_ = FaultStatus(std::move(fault));
  return nullptr;
}

}  // namespace gotrace::internal
