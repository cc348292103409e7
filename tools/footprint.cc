#include "tools/footprint.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "export/json/json_text.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/version.h"
#include "parser/framing/batch_finder.h"
#include "parser/framing/batch_reader.h"
#include "parser/generation/generation.h"
#include "tools/salvage.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {
namespace {

// What a trace consists of, besides the types of its events.
struct Part {
  absl::string_view name;
  bool (*has)(const EventSpec& spec);
};

template <EventType... kTypes>
bool IsAnyOf(const EventSpec& spec) {
  return ((spec.type == kTypes) || ...);
}

constexpr Part kParts[] = {
    {"timed events",
     [](const EventSpec& spec) { return spec.timed() && spec.type != EventType::kClockSnapshot; }},
    {"strings", IsAnyOf<EventType::kStrings, EventType::kString>},
    {"stacks", IsAnyOf<EventType::kStacks, EventType::kStack>},
    {"CPU samples", IsAnyOf<EventType::kCPUSamples, EventType::kCPUSample>},
    {"batch headers", IsAnyOf<EventType::kEventBatch>},
    {"experimental batches", IsAnyOf<EventType::kExperimentalBatch>},
    {"frequency and ends", IsAnyOf<EventType::kFrequency, EventType::kClockSnapshot,
                                   EventType::kSync, EventType::kEndOfGeneration>},
};

struct Row {
  absl::string_view name;
  Footprint::Share share;
};

void SortBySize(std::vector<Row>* rows) {
  std::stable_sort(rows->begin(), rows->end(),
                   [](const Row& a, const Row& b) { return a.share.bytes > b.share.bytes; });
}

std::vector<Row> RowsByType(const Footprint& footprint) {
  std::vector<Row> rows;
  for (const EventSpec& spec : AllEventSpecs()) {
    const Footprint::Share& share = footprint.by_type[static_cast<uint8_t>(spec.type)];
    if (share.count > 0) rows.push_back({spec.name, share});
  }
  SortBySize(&rows);
  return rows;
}

std::vector<Row> RowsByPart(const Footprint& footprint) {
  // The header is no event.
  std::vector<Row> rows = {{"header", {kHeaderSize, 0}}};
  for (const Part& part : kParts) {
    Row row = {part.name, {}};
    for (const EventSpec& spec : AllEventSpecs()) {
      if (!part.has(spec)) continue;
      row.share.bytes += footprint.by_type[static_cast<uint8_t>(spec.type)].bytes;
      row.share.count += footprint.by_type[static_cast<uint8_t>(spec.type)].count;
    }
    if (row.share.count > 0) rows.push_back(row);
  }
  SortBySize(&rows);
  return rows;
}

double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void AppendRows(const Footprint& footprint, const std::vector<Row>& rows, TextBuffer* out) {
  for (const Row& row : rows) {
    out->Append(absl::StrFormat("%-22s %14d %6.2f%% %12d %6.2f%%\n", row.name, row.share.bytes,
                                Percent(row.share.bytes, footprint.bytes), row.share.count,
                                Percent(row.share.count, footprint.events)));
  }
}

void AppendRowsJson(absl::string_view key, const std::vector<Row>& rows, JsonWriter* json) {
  json->Key(key);
  json->BeginArray();
  for (const Row& row : rows) {
    json->BeginObject();
    json->Member("name", row.name);
    json->Member("bytes", row.share.bytes);
    json->Member("count", row.share.count);
    json->EndObject();
  }
  json->EndArray();
}

// Tells whether a trace ends where it may, which its single events do not show.
class EndWatcher {
 public:
  explicit EndWatcher(Version version) : version_(version) {}

  // Takes the next event, which ends at `offset`.
  void Take(const RawEvent& event, uint64_t offset) {
    if (event.type == EventType::kEventBatch) {
      batch_end_ = offset + std::min<uint64_t>(event.args[3], kMaxBatchSize);
    }
    // A generation that was begun but has no events of threads needs no end.
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
  uint64_t batch_end_ = 0;      // Of the last batch, as its header tells.
  bool in_generation_ = false;  // Whether an end of generation must follow.
};

}  // namespace

absl::Status CollectFootprint(RawReader* reader, Progress* progress, Footprint* footprint) {
  EndWatcher watcher(reader->version());
  while (const RawEvent* event = reader->Next()) {
    watcher.Take(*event, reader->offset());
    Footprint::Share& share = footprint->by_type[static_cast<uint8_t>(event->type)];
    share.bytes += reader->event_size();
    ++share.count;
    ++footprint->events;
    if (progress->Due()) {
      progress->Show(
          {reader->source().input_read(), reader->source().input_size(), footprint->events});
    }
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
    // What an experiment wrote is data of one event.
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
                                EventTypeName(type), ") and what cannot be read as one")};
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
                              Progress* progress, Footprint* footprint) {
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
    if (progress->Due()) {
      progress->Show({source->input_read(), source->input_size(), footprint->events});
    }
  }
  if (in_generation && *version >= Version::kGo126 && !finder.truncated()) {
    report(IncompleteGeneration(std::nullopt, source->offset()));
  }
  footprint->losses.skipped_bytes = finder.skipped_bytes();
  footprint->bytes = source->offset();
  // A fault was told already.
  if (!FaultOf(finder.io_status()).has_value()) footprint->status = finder.io_status();
  return footprint->status;
}

void AppendFootprint(const Footprint& footprint, TextBuffer* out) {
  out->Append(
      absl::StrFormat("%-22s %14s %7s %12s %7s\n", "Event", "Bytes", "Share", "Count", "Share"));
  AppendRows(footprint, RowsByType(footprint), out);
  out->Append(
      absl::StrFormat("\n%-22s %14s %7s %12s %7s\n", "Part", "Bytes", "Share", "Count", "Share"));
  AppendRows(footprint, RowsByPart(footprint), out);
  out->Append('\n');
  AppendRows(footprint, {{"total", {footprint.bytes, footprint.events}}}, out);
  if (const absl::string_view why = WhyIncomplete(footprint.status, footprint.losses);
      !why.empty()) {
    out->Append("\nNot complete: ", why, '\n');
  }
}

void AppendFootprintJson(absl::string_view file, const Footprint& footprint, TextBuffer* out) {
  JsonWriter json(out);
  json.BeginObject();
  AppendFileMembers(file, &json);
  AppendCompleteness(footprint.status, footprint.losses, &json);
  json.Member("bytes", footprint.bytes);
  json.Member("count", footprint.events);
  AppendRowsJson("events", RowsByType(footprint), &json);
  AppendRowsJson("parts", RowsByPart(footprint), &json);
  json.EndObject();
  out->Append('\n');
}

}  // namespace gotrace::internal
