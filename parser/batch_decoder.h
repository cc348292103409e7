// Decodes the timed events of a batch's payload (FORMAT.md §7), driven by events.def.
#ifndef GOTRACE_PARSER_BATCH_DECODER_H_
#define GOTRACE_PARSER_BATCH_DECODER_H_

#include <array>
#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "tracev2/event_spec.h"
#include "tracev2/event_type.h"
#include "tracev2/limits.h"
#include "tracev2/varint.h"

namespace gotrace {

// A timed event, decoded but not yet in order.
struct TimedEvent {
  EventType type = EventType::kNone;
  uint64_t ticks = 0;                     // Since the thread's previous event.
  uint64_t args[kMaxTimedArgs - 1] = {};  // Without the time difference. Those that the type does
                                          // not have are 0 or left from another event.
};

// What decoding needs to know of a type.
struct TimedEventRow {
  uint8_t varints = 0;      // How many it has, the time difference included; 0 if it is not timed.
  uint8_t string_args = 0;  // Which of TimedEvent::args are ids of strings, as bits.
  uint8_t stack_args = 0;   // Which are ids of stacks.
};

// By type on the wire.
inline constexpr std::array<TimedEventRow, 256> kTimedEventRows = [] {
  std::array<TimedEventRow, 256> rows = {};
  const auto make_row = [](std::initializer_list<absl::string_view> names) {
    TimedEventRow row;
    for (const absl::string_view name : names) {
      const uint8_t bit = static_cast<uint8_t>(1u << row.varints++ >> 1);
      if (ArgTypeOf(name) == ArgType::kString) row.string_args |= bit;
      if (ArgTypeOf(name) == ArgType::kStack) row.stack_args |= bit;
    }
    return row;
  };
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...) \
  if (EventForm::k##form == EventForm::kTimed) rows[value] = make_row({__VA_ARGS__});
#include "tracev2/events.def"
  return rows;
}();

enum class DecodeFault : uint8_t {
  kUnknownType,      // No version has events of this type.
  kNotTimed,         // The type is one of framing or of tables.
  kVarintTruncated,  // The payload ends inside an argument.
  kVarintOverflow,   // An argument does not fit 64 bits.
};

// Decodes the event at `pos`, which must be before `end`, and returns the position after it.
// Returns nullptr on a fault, with `*event` unspecified: DiagnoseTimedEvent() tells which.
inline const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event);

// Does the same without regard to speed. Tests hold DecodeTimedEvent() against it.
const char* DecodeTimedEventPlainly(const char* pos, const char* end, TimedEvent* event);

// Why the event at `pos` cannot be decoded, and at `*fault_pos` the type or the argument that is
// wrong. Requires that decoding it failed.
DecodeFault DiagnoseTimedEvent(const char* pos, const char* end, const char** fault_pos);

// Implementation details follow.

// How many bytes the longest timed event has.
inline constexpr int kMaxTimedEventSize = 1 + kMaxTimedArgs * kMaxVarintSize;

inline const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event) {
  if (end - pos < kMaxTimedEventSize) return DecodeTimedEventPlainly(pos, end, event);
  const uint8_t type = static_cast<uint8_t>(*pos++);
  const int count = kTimedEventRows[type].varints;
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

}  // namespace gotrace

#endif  // GOTRACE_PARSER_BATCH_DECODER_H_
