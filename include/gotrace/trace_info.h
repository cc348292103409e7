// What a trace holds, in numbers: those of `gotrace-dump info` and `gotrace-dump footprint`.
#ifndef GOTRACE_TRACE_INFO_H_
#define GOTRACE_TRACE_INFO_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_sink.h"
#include "gotrace/event_type.h"
#include "gotrace/read_mode.h"
#include "gotrace/reader.h"
#include "gotrace/trace_list.h"
#include "gotrace/version.h"

namespace gotrace {

// What a trace holds.
struct TraceInfo {
  // One generation. Times are in nanoseconds, as Event::time().
  struct Generation {
    GenerationInfo info;
    int64_t begin = 0;    // Of its first event.
    int64_t end = 0;      // Of its last event.
    uint64_t events = 0;  // Includes its kSync event, but not the one at the end of the trace.
  };

  Version version = kNewestVersion;
  std::vector<Generation> generations;  // In the order of the trace.
  int64_t begin = 0;                    // Of the first event.
  int64_t end = 0;                      // Of the last event.
  uint64_t events = 0;
  uint64_t bytes = 0;  // Of the decompressed trace, as far as it was read.
  std::array<uint64_t, kEventKindEnd> by_kind = {};  // Events, by EventKind.

  // How many different goroutines, Ps and threads there are. Ps are those with a known state, and
  // threads those with events of their own.
  uint64_t goroutines = 0;
  uint64_t procs = 0;
  uint64_t threads = 0;

  // The wall-clock time of `begin`; nullopt if the trace does not have it, as before Go 1.25.
  std::optional<absl::Time> wall_begin;

  absl::Status status;  // The status that reading ended with.
  Losses losses;        // What reading left out.

  // All traces of an input that holds several, as ListTraces() finds them. Left empty by
  // TraceInfoCollector, which sees one.
  std::vector<TraceSpan> traces;

  // The first generation with a frequency of the trace clock that is not plausible, or nullptr if
  // there is none. In such a trace no time means anything.
  const Generation* TimelessGeneration() const;

  // Whether `begin` and `end` mean anything. They do not without a generation, which has the clock.
  bool has_times() const { return !generations.empty() && TimelessGeneration() == nullptr; }
};

// Collects the TraceInfo of a Reader's events.
class TraceInfoCollector : public EventSink {
 public:
  // `reader` gives the events that are added, from its first on. It must outlive this object.
  explicit TraceInfoCollector(const Reader* reader);
  ~TraceInfoCollector() override;

  // `events` must be the last ones that the reader gave.
  void Add(absl::Span<const Event> events) override;

  // Completes info() with what is known only after the last event. Returns OK, also if reading
  // failed: see TraceInfo::status.
  absl::Status Finish() override;

  // What was collected so far.
  const TraceInfo& info() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Reads all of `reader`, which gave no event yet. A failure of reading is in TraceInfo::status, and
// what came before it is counted.
TraceInfo ReadTraceInfo(Reader& reader);

// What takes how many bytes of a trace.
struct Footprint {
  // A part of the trace.
  struct Share {
    uint64_t bytes = 0;
    uint64_t count = 0;  // Of events, in the sense of the wire format.
  };

  std::array<Share, 256> by_type;  // By EventType.
  uint64_t bytes = 0;              // Of the decompressed trace and its header, as far as read.
  uint64_t events = 0;
  absl::Status status;  // The status that reading ended with.
  Losses losses;        // What was not counted.

  // The share of the events of `type`.
  const Share& of(EventType type) const { return by_type[static_cast<uint8_t>(type)]; }
};

// Adds up all of `source`, which must be at the beginning of a trace, up to its end or to the first
// fault, which is then in Footprint::status.
Footprint ReadFootprint(std::unique_ptr<ByteSource> source);

}  // namespace gotrace

#endif  // GOTRACE_TRACE_INFO_H_
