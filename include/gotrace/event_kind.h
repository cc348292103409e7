// The kinds of events that a Reader returns.
#ifndef GOTRACE_EVENT_KIND_H_
#define GOTRACE_EVENT_KIND_H_

#include <array>
#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"
#include "gotrace/internal/event_spec.h"

namespace gotrace {

// The kind of an event. The comments name the accessor of Event that returns its details.
enum class EventKind : uint8_t {
  kNone,             // Never returned by a Reader.
  kSync,             // sync(): a new generation begins, or the trace ends.
  kMetric,           // metric()
  kLabel,            // label()
  kStackSample,      // A CPU profiling sample; its stack is stack().
  kRangeBegin,       // range()
  kRangeActive,      // range(): it began before this generation.
  kRangeEnd,         // range() and range_attributes()
  kTaskBegin,        // task()
  kTaskEnd,          // task()
  kRegionBegin,      // region()
  kRegionEnd,        // region()
  kLog,              // log()
  kStateTransition,  // state_transition()
  kExperimental,     // experimental()
};
inline constexpr int kEventKindEnd = 15;

// Returns the name that Go prints: "StateTransition". Static lifetime.
constexpr absl::string_view EventKindName(EventKind kind) {
  constexpr absl::string_view kNames[kEventKindEnd] = {
      "Bad",         "Sync",        "Metric",   "Label",           "StackSample",
      "RangeBegin",  "RangeActive", "RangeEnd", "TaskBegin",       "TaskEnd",
      "RegionBegin", "RegionEnd",   "Log",      "StateTransition", "Experimental"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace gotrace

namespace gotrace::internal {

// Maps each wire type to the kind of its events.
inline constexpr std::array<EventKind, 256> kEventKinds = [] {
  std::array<EventKind, 256> kinds = {};
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, ...) \
  kinds[value] = EventKind::k##kind;
#include "gotrace/internal/events.def"
  return kinds;
}();

// Returns for each type on the wire the index of the first timed argument for which `is_it` returns
// true, not counting the time difference; -1 if it has none.
template <class IsIt>
constexpr std::array<int8_t, 256> FindArgs(const IsIt& is_it) {
  std::array<int8_t, 256> places = {};
  for (int8_t& place : places) place = -1;
  const auto find = [&](bool is_timed, std::initializer_list<absl::string_view> names) {
    int8_t place = -1;
    for (const absl::string_view name : names) {
      if (is_timed && is_it(name)) return place;
      ++place;
    }
    return int8_t{-1};
  };
#define GOTRACE_EVENT(value, name, since, form, experiment, start, kind, rule, ...) \
  places[value] = find(EventForm::k##form == EventForm::kTimed, {__VA_ARGS__});
#include "gotrace/internal/events.def"
  return places;
}

// The argument "stack", the stack of the executing context. A CPU sample has its stack as its only
// argument, since the reader stores it that way.
inline constexpr std::array<int8_t, 256> kStackArgs = [] {
  std::array<int8_t, 256> places = FindArgs([](absl::string_view name) { return name == "stack"; });
  places[static_cast<uint8_t>(EventType::kCPUSample)] = 0;
  return places;
}();

// The argument "new_stack", where a new goroutine will start.
inline constexpr std::array<int8_t, 256> kNewStackArgs =
    FindArgs([](absl::string_view name) { return name == "new_stack"; });

// The string id of the reason why a goroutine stops or blocks.
inline constexpr std::array<int8_t, 256> kReasonArgs =
    FindArgs([](absl::string_view name) { return name == "reason_string"; });

// The sequence number.
inline constexpr std::array<int8_t, 256> kNumberArgs =
    FindArgs([](absl::string_view name) { return ArgTypeOf(name) == ArgType::kSequenceNumber; });

}  // namespace gotrace::internal

#endif  // GOTRACE_EVENT_KIND_H_
