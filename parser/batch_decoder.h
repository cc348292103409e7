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

// The table that an argument is an id of.
enum class IdTableKind : uint8_t { kNone, kString, kStack };

// What decoding needs to know of a type.
struct alignas(8) TimedEventRow {
  uint8_t varints = 0;  // How many it has, the time difference included; 0 if it is not timed.
  IdTableKind tables[kMaxTimedArgs - 1] = {};  // Of each of TimedEvent::args.
};

// By type on the wire.
inline constexpr std::array<TimedEventRow, 256> kTimedEventRows = [] {
  std::array<TimedEventRow, 256> rows = {};
  const auto make_row = [](std::initializer_list<absl::string_view> names) {
    TimedEventRow row;
    for (const absl::string_view name : names) {
      const int arg = row.varints++ - 1;
      if (ArgTypeOf(name) == ArgType::kString) row.tables[arg] = IdTableKind::kString;
      if (ArgTypeOf(name) == ArgType::kStack) row.tables[arg] = IdTableKind::kStack;
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

// The same, which also calls take(index, value) for each of event->args that can be decoded.
template <class Take>
inline const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event,
                                    const Take& take);

// Does the same without regard to speed. Tests hold DecodeTimedEvent() against it.
const char* DecodeTimedEventPlainly(const char* pos, const char* end, TimedEvent* event);

// Why the event at `pos` cannot be decoded, and at `*fault_pos` the type or the argument that is
// wrong. Requires that decoding it failed.
DecodeFault DiagnoseTimedEvent(const char* pos, const char* end, const char** fault_pos);

// Implementation details follow.

// How many bytes the longest timed event has.
inline constexpr int kMaxTimedEventSize = 1 + kMaxTimedArgs * kMaxVarintSize;

inline const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event) {
  return DecodeTimedEvent(pos, end, event, [](int, uint64_t) {});
}

template <class Take>
inline const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event,
                                    const Take& take) {
  const uint8_t type = static_cast<uint8_t>(*pos);
  const uint8_t varints = kTimedEventRows[type].varints;
  if (end - pos < kMaxTimedEventSize) {
    pos = DecodeTimedEventPlainly(pos, end, event);
    for (int i = 0; pos != nullptr && i + 1 < varints; ++i) take(i, event->args[i]);
    return pos;
  }
  if (varints == 0) return nullptr;
  event->type = static_cast<EventType>(type);
  pos = ReadVarintUnchecked(pos + 1, &event->ticks);
#pragma GCC unroll 4
  for (int i = 0; i < kMaxTimedArgs - 1; ++i) {
    if (i + 1 == varints || pos == nullptr) return pos;
    uint64_t value;
    pos = ReadVarintUnchecked(pos, &value);
    if (pos == nullptr) return nullptr;
    event->args[i] = value;
    take(i, value);
  }
  return pos;
}

}  // namespace gotrace

#endif  // GOTRACE_PARSER_BATCH_DECODER_H_
