// Decodes the timed events of a batch's payload (FORMAT.md §7), driven by events.def.
#ifndef GOTRACE_PARSER_BATCH_DECODER_H_
#define GOTRACE_PARSER_BATCH_DECODER_H_

#include <array>
#include <cstdint>

#include "tracev2/event_spec.h"
#include "tracev2/event_type.h"
#include "tracev2/limits.h"

namespace gotrace {

// A timed event, decoded but not yet in order.
struct TimedEvent {
  EventType type = EventType::kNone;
  uint64_t ticks = 0;                     // Since the thread's previous event.
  uint64_t args[kMaxTimedArgs - 1] = {};  // Without the time difference. Those that the type does
                                          // not have are 0 or left from the event before.
};

enum class DecodeFault : uint8_t {
  kUnknownType,      // No version has events of this type.
  kNotTimed,         // The type is one of framing or of tables.
  kVarintTruncated,  // The payload ends inside an argument.
  kVarintOverflow,   // An argument does not fit 64 bits.
};

// Decodes the event at `pos`, which must be before `end`, and returns the position after it.
// Returns nullptr on a fault, with `*event` unspecified: DiagnoseTimedEvent() tells which.
const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event);

// Does the same without regard to speed. Tests hold DecodeTimedEvent() against it.
const char* DecodeTimedEventPlainly(const char* pos, const char* end, TimedEvent* event);

// Why the event at `pos` cannot be decoded, and at `*fault_pos` the type or the argument that is
// wrong. Requires that decoding it failed.
DecodeFault DiagnoseTimedEvent(const char* pos, const char* end, const char** fault_pos);

}  // namespace gotrace

#endif  // GOTRACE_PARSER_BATCH_DECODER_H_
