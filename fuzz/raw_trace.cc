#include "fuzz/raw_trace.h"

#include <algorithm>

#include "gotrace/internal/limits.h"
#include "tracev2/wire_reader.h"
#include "tracev2/wire_writer.h"

namespace gotrace::internal {
namespace {

constexpr size_t kSizeArg = 3;        // The index of this argument of EventBatch.
constexpr size_t kFrameCountArg = 1;  // The index of this argument of Stack.

// Removes an event from the front of `*bytes` and returns it.
std::optional<OwnedEvent> TakeEvent(absl::string_view* bytes) {
  RawEvent event;
  if (bytes->empty()) return std::nullopt;
  const WireResult result = DecodeRawEvent(*bytes, &event);
  if (result.status != WireStatus::kOk) return std::nullopt;
  OwnedEvent owned{event.type, std::move(event.args), std::string(event.data)};
  bytes->remove_prefix(result.size);
  return owned;
}

bool BeginsBatch(EventType type) {
  return type == EventType::kEventBatch || type == EventType::kExperimentalBatch ||
         type == EventType::kEndOfGeneration;
}

// Parses the events of a payload. The type of a batch is not parsed as an event, because it would
// end the batch when the trace is assembled.
void TakeEvents(absl::string_view payload, RawBatch* batch) {
  while (true) {
    absl::string_view after = payload;
    std::optional<OwnedEvent> event = TakeEvent(&after);
    if (!event.has_value() || BeginsBatch(event->type)) break;
    batch->events.push_back(*std::move(event));
    payload = after;
  }
  batch->rest = std::string(payload);
}

// Removes a batch from the front of `*bytes` and returns it. A batch that is cut off extends to
// their end.
std::optional<RawBatch> TakeBatch(absl::string_view* bytes) {
  absl::string_view after = *bytes;
  std::optional<OwnedEvent> head = TakeEvent(&after);
  if (!head.has_value() || !BeginsBatch(head->type)) return std::nullopt;
  RawBatch batch;
  batch.head = *std::move(head);
  if (batch.head.type == EventType::kEventBatch) {
    const absl::string_view payload = after.substr(0, batch.head.args[kSizeArg]);
    TakeEvents(payload, &batch);
    after.remove_prefix(payload.size());
  }
  *bytes = after;
  return batch;
}

RawEvent View(const OwnedEvent& event) {
  RawEvent view;
  view.type = event.type;
  view.args = event.args;
  view.data = event.data;
  view.auto_size = event.type == EventType::kEventBatch;
  return view;
}

}  // namespace

std::optional<RawTrace> TakeApart(absl::string_view bytes) {
  const Header header = ParseHeader(bytes);
  if (header.status != HeaderStatus::kOk) return std::nullopt;
  RawTrace trace;
  trace.version = header.version;
  bytes.remove_prefix(kHeaderSize);
  while (std::optional<RawBatch> batch = TakeBatch(&bytes)) {
    trace.batches.push_back(*std::move(batch));
  }
  trace.rest = std::string(bytes);
  return trace;
}

std::string PutTogether(const RawTrace& trace) {
  std::string bytes;
  WireWriter writer(trace.version, BatchSizeForm::kShortest, &bytes);
  for (const RawBatch& batch : trace.batches) {
    writer.Write(View(batch.head));
    for (const OwnedEvent& event : batch.events) writer.Write(View(event));
    bytes += batch.rest;
  }
  writer.Finish();
  return bytes + trace.rest;
}

void FitArguments(OwnedEvent* event) {
  const EventSpec& spec = *FindEventSpec(event->type);
  size_t count = spec.arg_count;
  if (spec.form == EventForm::kStack) {
    event->args.resize(std::max(event->args.size(), count));
    uint64_t& frames = event->args[kFrameCountArg];
    frames = std::min(frames, kMaxFramesPerStack);
    count += frames * kFrameFieldCount;
  }
  event->args.resize(count);
}

}  // namespace gotrace::internal
