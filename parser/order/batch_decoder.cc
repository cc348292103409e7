#include "parser/order/batch_decoder.h"

#include "tracev2/varint.h"

namespace gotrace::internal {
const char* DecodeTimedEventPlainly(const char* pos, const char* end, TimedEvent* event) {
  const EventSpec* spec = FindEventSpec(static_cast<EventType>(*pos++));
  if (spec == nullptr || !spec->timed()) return nullptr;
  event->type = spec->type;
  for (int i = 0; i < spec->arg_count; ++i) {
    pos = ReadVarint(pos, end, i == 0 ? &event->ticks : &event->args[i - 1]);
    if (pos == nullptr) return nullptr;
  }
  return pos;
}

DecodeFault DiagnoseTimedEvent(const char* pos, const char* end, const char** fault_pos) {
  *fault_pos = pos;
  const EventSpec* spec = FindEventSpec(static_cast<EventType>(*pos++));
  if (spec == nullptr) return DecodeFault::kUnknownType;
  if (!spec->timed()) return DecodeFault::kNotTimed;
  uint64_t value = 0;
  while (const char* next = ReadVarint(pos, end, &value)) pos = next;
  *fault_pos = pos;
  return DiagnoseVarint(pos, end) == VarintFault::kTruncated ? DecodeFault::kVarintTruncated
                                                             : DecodeFault::kVarintOverflow;
}

}  // namespace gotrace::internal
