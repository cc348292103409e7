#include "parser/framing/batch_head.h"

#include "gotrace/internal/limits.h"
#include "tracev2/varint.h"

namespace gotrace::internal {

HeadStatus ParseBatchHead(absl::string_view bytes, BatchHead* head) {
  if (bytes.empty()) return HeadStatus::kCut;
  const EventType type = static_cast<EventType>(bytes[0]);
  const bool experimental = type == EventType::kExperimentalBatch;
  const bool ends_generation = type == EventType::kEndOfGeneration;
  if (!ends_generation && !experimental && type != EventType::kEventBatch) return HeadStatus::kBad;
  *head = BatchHead();
  head->type = type;
  head->size = 1;
  if (ends_generation) return HeadStatus::kOk;
  const char* const end = bytes.data() + bytes.size();
  const char* pos = bytes.data() + 1;
  if (experimental) {
    if (pos == end) return HeadStatus::kCut;
    head->experiment = static_cast<uint8_t>(*pos++);
  }
  uint64_t size = 0;
  for (uint64_t* const number : {&head->generation, &head->thread, &head->time, &size}) {
    const char* const next = ReadVarint(pos, end, number);
    if (next == nullptr) {
      return DiagnoseVarint(pos, end) == VarintFault::kTruncated ? HeadStatus::kCut
                                                                 : HeadStatus::kBad;
    }
    head->payload_size_bytes = next - pos;
    pos = next;
  }
  if (size > kMaxBatchSize) return HeadStatus::kBad;
  head->size = pos - bytes.data();
  head->payload_size = size;
  return HeadStatus::kOk;
}

}  // namespace gotrace::internal
