#include "rewrite/mended_batch.h"

#include <algorithm>

#include "parser/batch_decoder.h"
#include "parser/generation.h"
#include "tracev2/event_type.h"
#include "tracev2/limits.h"
#include "tracev2/raw_event.h"
#include "tracev2/varint.h"
#include "tracev2/wire_reader.h"

namespace gotrace {
namespace {

// Where the batch's events are cut off in its payload; its size if they are not.
size_t CutOf(Version version, const Batch& batch, const Mending& mending) {
  const auto cut = mending.cuts.find(batch.thread);
  if (cut == mending.cuts.end() || !IsEventBatch(batch, version)) return batch.payload.size();
  if (batch.offset < cut->second.batch_offset) return batch.payload.size();
  if (batch.offset > cut->second.batch_offset) return 0;
  return cut->second.event_offset - batch.payload_offset;
}

// Collects entries of a table in batches of no more than kMaxBatchSize.
class TableWriter {
 public:
  TableWriter(const Batch& beside, EventType kind, std::string* out)
      : beside_(beside), kind_(kind), out_(*out) {}

  void Add(const std::string& entry) {
    if (payload_.size() + entry.size() > kMaxBatchSize) Flush();
    if (payload_.empty()) payload_.push_back(static_cast<char>(kind_));
    payload_.append(entry);
  }

  void Flush() {
    if (!payload_.empty()) out_.append(EncodeBatchBeside(beside_, payload_));
    payload_.clear();
  }

 private:
  const Batch& beside_;
  const EventType kind_;
  std::string& out_;
  std::string payload_;
};

}  // namespace

Batch SoundPart(const Batch& batch, uint64_t fault_offset) {
  Batch part = batch;
  part.payload = batch.payload.substr(0, 0);
  part.shortened = true;
  if (batch.kind() != EventType::kStrings && batch.kind() != EventType::kStacks) return part;
  RawEvent entry;
  size_t end = 1;
  while (end < batch.payload.size()) {
    const WireResult result = DecodeRawEvent(batch.payload.substr(end), &entry);
    end += result.size;
    if (result.status != WireStatus::kOk || batch.payload_offset + end > fault_offset) break;
    part.payload = batch.payload.substr(0, end);
  }
  return part;
}

std::string EncodeBatch(const Batch& batch) {
  std::string out;
  if (batch.experiment == 0) {
    out.push_back(static_cast<char>(EventType::kEventBatch));
  } else {
    out.push_back(static_cast<char>(EventType::kExperimentalBatch));
    out.push_back(static_cast<char>(batch.experiment));
  }
  for (const uint64_t number : {batch.generation, static_cast<uint64_t>(batch.thread.value),
                                batch.time, uint64_t{batch.payload.size()}}) {
    AppendVarint(number, &out);
  }
  out.append(batch.payload.data(), batch.payload.size());
  return out;
}

bool ChangesBatch(Version version, const Batch& batch, const Mending& mending) {
  if (CutOf(version, batch, mending) < batch.payload.size()) return true;
  const auto first = mending.left_out.lower_bound(batch.payload_offset);
  return first != mending.left_out.end() && *first < batch.payload_offset + batch.payload.size();
}

std::string EncodeMendedBatch(Version version, const Batch& batch, const Mending& mending) {
  const char* const begin = batch.payload.data();
  const char* const end = begin + CutOf(version, batch, mending);
  std::string payload;
  uint64_t ticks_of_left_out = 0;
  TimedEvent event;
  for (const char* pos = begin; pos < end;) {
    const char* const next = DecodeTimedEvent(pos, end, &event);
    if (mending.left_out.contains(batch.payload_offset + (pos - begin))) {
      ticks_of_left_out += event.ticks;
    } else {
      uint64_t ticks = 0;
      const char* const arguments = ReadVarint(pos + 1, end, &ticks);
      payload.push_back(*pos);
      AppendVarint(ticks + ticks_of_left_out, &payload);
      payload.append(arguments, next);
      ticks_of_left_out = 0;
    }
    pos = next;
  }
  if (payload.empty()) return "";
  Batch mended = batch;
  mended.payload = payload;
  return EncodeBatch(mended);
}

std::string EncodeBatchBeside(const Batch& beside, absl::string_view payload) {
  Batch batch = beside;
  batch.thread = ThreadId::kNone;
  batch.experiment = 0;
  batch.payload = payload;
  return EncodeBatch(batch);
}

std::string EncodeTables(const Batch& beside, const Mending& mending) {
  std::string out;
  TableWriter strings(beside, EventType::kStrings, &out);
  for (const auto& [id, text] : mending.strings) {
    std::string entry(1, static_cast<char>(EventType::kString));
    AppendVarint(id, &entry);
    AppendVarint(text.size(), &entry);
    strings.Add(entry.append(text));
  }
  strings.Flush();
  TableWriter stacks(beside, EventType::kStacks, &out);
  uint64_t pc = 0;
  for (const Mending::Stack& stack : mending.stacks) {
    std::string entry(1, static_cast<char>(EventType::kStack));
    // Readers take frames at the same PC for the same one. No program has code up there.
    --pc;
    for (const uint64_t number : {stack.id, /*nframes=*/uint64_t{1}, pc, stack.func,
                                  /*file=*/uint64_t{0}, /*line=*/uint64_t{0}}) {
      AppendVarint(number, &entry);
    }
    stacks.Add(entry);
  }
  stacks.Flush();
  return out;
}

}  // namespace gotrace
