#include "analysis/summary/footprint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/version.h"
#include "parser/framing/batch_finder.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {
namespace {

// Determines whether a trace ends where it may end, which single events do not show.
class EndWatcher {
 public:
  explicit EndWatcher(Version version) : version_(version) {}

  // Adds the next event, which ends at `offset`.
  void Take(const RawEvent& event, uint64_t offset) {
    if (event.type == EventType::kEventBatch) {
      batch_end_ = offset + std::min<uint64_t>(event.args[3], kMaxBatchSize);
    }
    // A generation that has begun but has no events of threads needs no end.
    in_generation_ |= FindEventSpec(event.type)->timed() && event.type != EventType::kClockSnapshot;
    if (event.type == EventType::kEndOfGeneration) in_generation_ = false;
  }

  absl::Status Check(uint64_t end) const {
    if (end < batch_end_) {
      Fault fault;
      fault.id = FaultId::kBatchTruncated;
      fault.place.offset = end;
      fault.message = absl::StrCat("expected ", batch_end_ - end,
                                   " more bytes of the last batch, found the end of the trace");
      return FaultStatus(std::move(fault));
    }
    if (version_ < Version::kGo126 || !in_generation_) return absl::OkStatus();
    return FaultStatus(IncompleteGeneration(std::nullopt, end));
  }

 private:
  const Version version_;
  uint64_t batch_end_ = 0;      // Of the last batch, according to its header.
  bool in_generation_ = false;  // Whether an end of generation must follow.
};

}  // namespace

absl::Status CollectFootprint(RawReader* reader, FootprintProgress progress, Footprint* footprint) {
  EndWatcher watcher(reader->version());
  while (const RawEvent* event = reader->Next()) {
    watcher.Take(*event, reader->offset());
    Footprint::Share& share = footprint->by_type[static_cast<uint8_t>(event->type)];
    share.bytes += reader->event_size();
    ++share.count;
    ++footprint->events;
    progress(reader->source(), footprint->events);
  }
  footprint->bytes = reader->offset();
  footprint->status = reader->status();
  footprint->status.Update(watcher.Check(reader->offset()));
  return footprint->status;
}

namespace {

// Counts the batches of a trace, each as far as its bytes can be decoded.
class BatchCounter {
 public:
  BatchCounter(Version version, BatchFinder::Report report, Footprint* footprint)
      : version_(version), report_(std::move(report)), footprint_(*footprint) {}

  void Count(const Batch& batch) {
    const size_t header_size = batch.payload_offset - batch.offset;
    const EventType type = static_cast<EventType>(*(batch.payload.data() - header_size));
    // The data of an experiment counts as one event.
    if (type == EventType::kExperimentalBatch) return Add(type, header_size + batch.payload.size());
    if (header_size > 0) Add(type, header_size);
    CountPayload(batch);
  }

 private:
  void CountPayload(const Batch& batch) {
    absl::string_view rest = batch.payload;
    while (!rest.empty()) {
      const WireResult result = Decode(rest);
      if (result.status != WireStatus::kOk) return LeaveOut(batch, rest);
      Add(event_.type, result.size);
      rest.remove_prefix(result.size);
    }
  }

  WireResult Decode(absl::string_view bytes) {
    const EventSpec* const spec = FindEventSpec(static_cast<EventType>(bytes[0]));
    if (spec == nullptr || !VersionHas(version_, *spec)) return {WireStatus::kInvalidType, 0};
    return DecodeRawEvent(bytes, &event_);
  }

  void Add(EventType type, size_t size) {
    Footprint::Share& share = footprint_.by_type[static_cast<uint8_t>(type)];
    share.bytes += size;
    ++share.count;
    ++footprint_.events;
  }

  void LeaveOut(const Batch& batch, absl::string_view rest) {
    ++footprint_.losses.dropped_batches;
    footprint_.losses.dropped_bytes += rest.size();
    const EventType type = static_cast<EventType>(rest[0]);
    Fault fault = {FindEventSpec(type) == nullptr ? FaultId::kEventType : FaultId::kEventVarint,
                   batch.place(),
                   absl::StrCat("expected an event, found byte ", static_cast<int>(type), " (",
                                EventTypeName(type), "), which does not begin a valid event")};
    fault.place.offset = batch.payload_offset + (rest.data() - batch.payload.data());
    report_(std::move(fault));
  }

  const Version version_;
  const BatchFinder::Report report_;
  Footprint& footprint_;
  RawEvent event_;
};

}  // namespace

absl::Status SalvageFootprint(ByteSource* source, const std::function<void(const Fault&)>& on_fault,
                              FootprintProgress progress, Footprint* footprint) {
  const absl::StatusOr<Version> version = ReadHeader(source);
  if (!version.ok()) return version.status();
  const auto report = [&](Fault fault) {
    ++footprint->losses.faults;
    on_fault(fault);
  };
  BatchFinder finder(source, *version, report);
  BatchCounter counter(*version, report, footprint);
  Batch batch;
  bool in_generation = false;
  while (finder.Next(batch.generation, &batch)) {
    counter.Count(batch);
    in_generation |= IsEventBatch(batch, *version);
    if (batch.kind() == EventType::kEndOfGeneration) in_generation = false;
    source->Release(source->offset());
    progress(*source, footprint->events);
  }
  if (in_generation && *version >= Version::kGo126 && !finder.truncated()) {
    report(IncompleteGeneration(std::nullopt, source->offset()));
  }
  footprint->losses.skipped_bytes = finder.skipped_bytes();
  footprint->bytes = source->offset();
  // A fault was reported already.
  if (!FaultOf(finder.io_status()).has_value()) footprint->status = finder.io_status();
  return footprint->status;
}

}  // namespace gotrace::internal

namespace gotrace {

Footprint ReadFootprint(std::unique_ptr<ByteSource> source) {
  Footprint footprint;
  using internal::RawReader;
  absl::StatusOr<RawReader> reader =
      RawReader::FromSource(std::move(source), RawReader::Types::kOfVersion);
  if (reader.ok()) {
    internal::CollectFootprint(
        &*reader, [](const ByteSource&, uint64_t) {}, &footprint)
        .IgnoreError();  // It is in Footprint::status too.
  } else {
    footprint.status = reader.status();
  }
  return footprint;
}

}  // namespace gotrace
