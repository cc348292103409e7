#include "tools/commands/footprint.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "analysis/summary/footprint.h"
#include "export/json/json_text.h"
#include "gotrace/internal/event_spec.h"
#include "tools/input/salvage.h"

namespace gotrace::internal {
namespace {

// The parts of a trace, other than types of events.
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
  // The header is not an event.
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

// Returns a function that shows the progress from time to time.
auto ShowIn(Progress* progress) {
  return [progress](const ByteSource& source, uint64_t events) {
    if (progress->Due()) progress->Show({source.input_read(), source.input_size(), events});
  };
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

}  // namespace

absl::Status CollectFootprint(RawReader* reader, Progress* progress, Footprint* footprint) {
  return CollectFootprint(reader, ShowIn(progress), footprint);
}

absl::Status SalvageFootprint(ByteSource* source, const std::function<void(const Fault&)>& on_fault,
                              Progress* progress, Footprint* footprint) {
  return SalvageFootprint(source, on_fault, ShowIn(progress), footprint);
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
