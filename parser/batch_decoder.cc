#include "parser/batch_decoder.h"

#include "tracev2/varint.h"

namespace gotrace {
namespace {

// For each type the number of its varints, the time difference included; 0 if it is not timed.
constexpr std::array<uint8_t, 256> CountVarints() {
  std::array<uint8_t, 256> counts = {};
  const auto count = [](std::initializer_list<const char*> args) {
    return static_cast<uint8_t>(args.size());
  };
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...) \
  if (EventForm::k##form == EventForm::kTimed) counts[value] = count({__VA_ARGS__});
#include "tracev2/events.def"
  return counts;
}
constexpr std::array<uint8_t, 256> kVarintCounts = CountVarints();

// How many bytes the longest timed event has.
constexpr int kMaxTimedEventSize = 1 + kMaxTimedArgs * kMaxVarintSize;

}  // namespace

const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event) {
  if (end - pos < kMaxTimedEventSize) return DecodeTimedEventPlainly(pos, end, event);
  const uint8_t type = static_cast<uint8_t>(*pos++);
  const int count = kVarintCounts[type];
  if (count == 0) return nullptr;
  event->type = static_cast<EventType>(type);
  pos = ReadVarintUnchecked(pos, &event->ticks);
  if (pos == nullptr) return nullptr;
  for (int i = 0; i < count - 1; ++i) {
    pos = ReadVarintUnchecked(pos, &event->args[i]);
    if (pos == nullptr) return nullptr;
  }
  return pos;
}

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

}  // namespace gotrace
