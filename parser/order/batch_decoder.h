// Decodes the timed events of a batch's payload (FORMAT.md §7), driven by events.def.
#ifndef GOTRACE_PARSER_ORDER_BATCH_DECODER_H_
#define GOTRACE_PARSER_ORDER_BATCH_DECODER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "tracev2/varint.h"

namespace gotrace::internal {

// A timed event, decoded but not yet in order.
struct TimedEvent {
  uint64_t ticks = 0;  // The difference from the thread's previous event.
  // Excludes the time difference. Arguments that the type does not have are unspecified.
  uint64_t args[kMaxTimedArgs - 1] = {};
  EventType type = EventType::kNone;  // The last member: DecodedEvent uses the padding after it.
};

// The table that an argument's id refers to.
enum class IdTableKind : uint8_t { kNone, kString, kStack };

// How the events of a type are laid out.
struct TimedEventRow {
  // The number of varints, including the time difference; 0 if the type is not timed.
  uint8_t varints = 0;
  IdTableKind tables[kMaxTimedArgs - 1] = {};  // One for each element of TimedEvent::args.

  friend constexpr bool operator==(const TimedEventRow&, const TimedEventRow&) = default;
};

// Indexed by the type on the wire.
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
#include "gotrace/internal/events.def"
  return rows;
}();

// The distinct rows of kTimedEventRows, and which type has which of them. Many types share a row.
// Shape 0 is that of types that are not timed.
struct TimedEventShapes {
  static constexpr size_t kMaxRows = 20;
  std::array<TimedEventRow, kMaxRows> rows = {};
  std::array<uint8_t, 256> of_type = {};
};

inline constexpr TimedEventShapes kTimedEventShapes = [] {
  TimedEventShapes shapes;
  size_t count = 1;
  for (size_t type = 0; type < kTimedEventRows.size(); ++type) {
    size_t shape = 0;
    while (shape < count && !(shapes.rows[shape] == kTimedEventRows[type])) ++shape;
    // Fails to compile if there are more than kMaxRows.
    if (shape == count) shapes.rows[count++] = kTimedEventRows[type];
    shapes.of_type[type] = static_cast<uint8_t>(shape);
  }
  return shapes;
}();

enum class DecodeFault : uint8_t {
  kUnknownType,      // No version has events of this type.
  kNotTimed,         // The type belongs to framing or to a table.
  kVarintTruncated,  // The payload ends inside an argument.
  kVarintOverflow,   // The argument does not fit in 64 bits.
};

// The size of the longest timed event in bytes.
inline constexpr int kMaxTimedEventSize = 1 + kMaxTimedArgs * kMaxVarintSize;

// Decodes the event at `pos`, which must be before `end`, and returns the position after it.
// Returns nullptr on a fault, which DiagnoseTimedEvent() identifies; `*event` is then unspecified.
inline const char* DecodeTimedEvent(const char* pos, const char* end, TimedEvent* event);

// Like DecodeTimedEvent(), but requires at least kMaxTimedEventSize readable bytes at `pos`, so
// that no bounds need to be checked. Calls take(table, value) for each of event->args that can be
// decoded, where `table` is the table that the argument is an id of.
template <class Take>
inline const char* DecodeTimedEventUnchecked(const char* pos, TimedEvent* event, const Take& take);

// Like DecodeTimedEvent(), but written for simplicity instead of speed. It decodes the last bytes
// of a payload, and is the reference that tests compare the other functions with.
const char* DecodeTimedEventPlainly(const char* pos, const char* end, TimedEvent* event);

// Returns why the event at `pos` cannot be decoded, and sets `*fault_pos` to the position of the
// type or argument that is wrong. Requires that decoding it failed.
DecodeFault DiagnoseTimedEvent(const char* pos, const char* end, const char** fault_pos);

// Implementation details follow.

// Decodes the varints of an event of shape kShape.
template <size_t kShape, class Take>
[[gnu::always_inline]] inline const char* DecodeVarints(const char* pos, TimedEvent* event,
                                                        const Take& take) {
  constexpr TimedEventRow kRow = kTimedEventShapes.rows[kShape];
  if (kRow.varints == 0) return nullptr;
  pos = ReadVarintUnchecked(pos, &event->ticks);
#pragma GCC unroll 4
  for (int i = 0; i + 1 < kRow.varints; ++i) {
    if (pos == nullptr) return nullptr;
    uint64_t value;
    pos = ReadVarintUnchecked(pos, &value);
    event->args[i] = value;
    take(kRow.tables[i], value);
  }
  return pos;
}

template <class Take>
[[gnu::always_inline]] inline const char* DecodeTimedEventUnchecked(const char* pos,
                                                                    TimedEvent* event,
                                                                    const Take& take) {
  const uint8_t type = static_cast<uint8_t>(*pos);
  const uint8_t shape = kTimedEventShapes.of_type[type];
  event->type = static_cast<EventType>(type);
  // The most common shapes are tested for before the jump, because a processor predicts a branch
  // better than the target of a jump (bench/README.md).
#define GOTRACE_FIRST(name)                                                    \
  if (constexpr uint8_t kShape =                                               \
          kTimedEventShapes.of_type[static_cast<uint8_t>(EventType::k##name)]; \
      shape == kShape)                                                         \
  return DecodeVarints<kShape>(pos + 1, event, take)
  GOTRACE_FIRST(GoStart);
  GOTRACE_FIRST(GoStop);
  GOTRACE_FIRST(GoDestroy);
  GOTRACE_FIRST(GoCreate);
#undef GOTRACE_FIRST
  switch (shape) {
#define GOTRACE_SHAPE(shape) \
  case shape:                \
    return DecodeVarints<shape>(pos + 1, event, take)
    GOTRACE_SHAPE(1);
    GOTRACE_SHAPE(2);
    GOTRACE_SHAPE(3);
    GOTRACE_SHAPE(4);
    GOTRACE_SHAPE(5);
    GOTRACE_SHAPE(6);
    GOTRACE_SHAPE(7);
    GOTRACE_SHAPE(8);
    GOTRACE_SHAPE(9);
    GOTRACE_SHAPE(10);
    GOTRACE_SHAPE(11);
    GOTRACE_SHAPE(12);
    GOTRACE_SHAPE(13);
    GOTRACE_SHAPE(14);
    GOTRACE_SHAPE(15);
    GOTRACE_SHAPE(16);
    GOTRACE_SHAPE(17);
    GOTRACE_SHAPE(18);
    GOTRACE_SHAPE(19);
#undef GOTRACE_SHAPE
  }
  static_assert(TimedEventShapes::kMaxRows == 20);
  return nullptr;
}

// Inlined because a call for each event would take a quarter as long as decoding it
// (bench/README.md).
[[gnu::always_inline]] inline const char* DecodeTimedEvent(const char* pos, const char* end,
                                                           TimedEvent* event) {
  if (end - pos < kMaxTimedEventSize) [[unlikely]] {
    return DecodeTimedEventPlainly(pos, end, event);
  }
  return DecodeTimedEventUnchecked(pos, event, [](IdTableKind, uint64_t) {});
}

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_BATCH_DECODER_H_
