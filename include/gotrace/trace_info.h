// The contents of a trace in numbers, as shown by `gotrace-dump info` and `gotrace-dump footprint`.
#ifndef GOTRACE_TRACE_INFO_H_
#define GOTRACE_TRACE_INFO_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_sink.h"
#include "gotrace/event_type.h"
#include "gotrace/reader.h"
#include "gotrace/reader_options.h"
#include "gotrace/trace_list.h"
#include "gotrace/version.h"

namespace gotrace {

// The contents of a trace in numbers.
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

  // The number of different goroutines, Ps and threads. Only Ps with a known state and threads with
  // events of their own count.
  uint64_t goroutines = 0;
  uint64_t procs = 0;
  uint64_t threads = 0;

  // The wall-clock time of `begin`; nullopt if the trace does not have it, as before Go 1.25.
  std::optional<absl::Time> wall_begin;

  absl::Status status;  // The status that reading ended with.
  Losses losses;        // The losses of reading.

  // All traces of an input that holds several, as ListTraces() finds them. Left empty by
  // TraceInfoCollector, which receives only one.
  std::vector<TraceSpan> traces;

  // Returns the first generation whose frequency of the trace clock is implausible, or nullptr if
  // there is none. If there is one, all times of the trace are meaningless.
  const Generation* TimelessGeneration() const;

  // Returns whether `begin` and `end` are meaningful. They are not if there is no generation, since
  // generations have the frequency of the clock.
  bool has_times() const { return !generations.empty() && TimelessGeneration() == nullptr; }
};

// Collects a TraceInfo from the events of a Reader.
class TraceInfoCollector : public EventSink {
 public:
  // Events that are added must come from `reader`, from its first on. It must outlive this object.
  explicit TraceInfoCollector(const Reader* reader);
  ~TraceInfoCollector() override;

  // Adds `events`, which must be the last ones that the reader returned.
  void Add(absl::Span<const Event> events) override;

  // Completes info() with the facts that are known only after the last event. Returns OK even if
  // reading failed: see TraceInfo::status.
  absl::Status Finish() override;

  // Returns the information collected so far.
  const TraceInfo& info() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Reads all events of `reader`, which must not have returned any yet. If reading fails, the error
// is in TraceInfo::status, and everything before it is counted.
TraceInfo ReadTraceInfo(Reader& reader);

// The number of bytes of each part of a trace.
struct Footprint {
  // A part of the trace.
  struct Share {
    uint64_t bytes = 0;
    uint64_t count = 0;  // Of events on the wire.
  };

  std::array<Share, 256> by_type;  // By EventType.
  uint64_t bytes = 0;              // Of the decompressed trace and its header, as far as read.
  uint64_t events = 0;
  absl::Status status;  // The status that reading ended with.
  Losses losses;        // The parts that were not counted.

  // Returns the share of the events of `type`.
  const Share& of(EventType type) const { return by_type[static_cast<uint8_t>(type)]; }
};

// Counts the bytes of `source`, which must be at the beginning of a trace, up to its end or to the
// first fault, which is then in Footprint::status.
Footprint ReadFootprint(std::unique_ptr<ByteSource> source);

}  // namespace gotrace

#endif  // GOTRACE_TRACE_INFO_H_
