// Helpers for the tests of the modes that continue after faults.
#ifndef GOTRACE_TESTING_SALVAGE_UTIL_H_
#define GOTRACE_TESTING_SALVAGE_UTIL_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/fault.h"
#include "gotrace/reader_options.h"

namespace gotrace::internal {

inline constexpr ReadMode kTolerantModes[] = {ReadMode::kCollect, ReadMode::kSalvage};

// An event as a few values, which are faster to compare than all of its details.
struct EventRecord {
  uint64_t offset;
  EventKind kind;
  EventType type;
  int64_t time;
  int64_t thread, proc, goroutine;
  bool marked;

  auto id() const { return std::make_tuple(offset, kind, type); }
  friend bool operator==(const EventRecord&, const EventRecord&) = default;
};

struct ReadResult {
  std::vector<EventRecord> events;  // Excludes kSync events.
  std::vector<std::string> texts;   // Descriptions of all events, if requested.
  std::vector<Fault> faults;
  Losses losses;
  absl::Status status;
};

// Reads a whole trace.
ReadResult ReadIn(absl::string_view bytes, ReadMode mode, bool describe = false);

// Returns the text form of two generations, a second apart, of two threads. Each has its tables
// last, as in traces of Go. With `has_ends`, the version is one in which events end generations.
// `extra_events` of a generation follow the first events of thread 300.
std::string TwoGenerations(bool has_ends, const std::map<int, std::string>& extra_events = {});

// The offsets of a batch in a trace, and its generation.
struct BatchExtent {
  uint64_t begin, end, generation;
};

// Returns the extents of all batches of a sound trace.
std::vector<BatchExtent> ExtentsOf(absl::string_view bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_SALVAGE_UTIL_H_
