// Encodes the timed events of one generation so that a reader returns them in the order in which
// they were added.
#ifndef GOTRACE_REWRITE_EVENT_ENCODER_H_
#define GOTRACE_REWRITE_EVENT_ENCODER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "parser/event/trace_clock.h"

namespace gotrace::internal {

// A reader orders events by time as far as the scheduler's rules allow. To fix the order, each
// event gets a time that is not earlier than that of the event before it and, if the two are on
// different threads, later. Otherwise times do not change.
class EventEncoder {
 public:
  // Appends batches of generation `generation` to `*out`, which must outlive the encoder.
  // `ticks_per_second` is the frequency of the trace clock, from kMinFrequency to kMaxFrequency.
  EventEncoder(uint64_t generation, uint64_t ticks_per_second, std::string* out);

  // At the highest frequency, the ticks of kMaxTime still fit into 64 bits.
  static constexpr uint64_t kMinFrequency = 1'000;
  static constexpr uint64_t kMaxFrequency = 3'000'000'000;

  // The frequency of a clock that ticks each nanosecond.
  static constexpr uint64_t kNanoseconds = 1'000'000'000;

  // Adds an event of `thread`, or of no thread (kNone), that happened at `time`, in nanoseconds.
  // Times are clamped to 0 and kMaxTime.
  void Add(ThreadId thread, EventType type, absl::Span<const uint64_t> args, int64_t time);

  static constexpr int64_t kMaxTime = int64_t{1} << 62;

  // Writes the remaining batches. Call it after the last event.
  void Finish();

  // Returns the time of the last event, as a reader computes it; -1 if there is none.
  int64_t last_time() const { return last_time_; }

  // Returns the last tick that is not after `time`, which is in nanoseconds and at most kMaxTime.
  uint64_t TicksAt(int64_t time) const;

 private:
  struct Thread {
    ThreadId id;
    uint64_t base = 0;  // The time of its batch, in ticks.
    int64_t time = 0;   // The time of its last event, in nanoseconds, as a reader computes it.
    std::string payload;
  };

  // Returns the first tick at `time` or later.
  uint64_t TicksFrom(int64_t time) const { return time <= 0 ? 0 : TicksAt(time - 1) + 1; }

  void Flush(Thread* thread);

  const uint64_t generation_;
  const TraceClock clock_;
  const double ns_per_tick_;
  std::string& out_;
  std::vector<Thread> threads_;  // In order of their first events.
  absl::flat_hash_map<ThreadId, size_t> index_;
  size_t last_thread_ = 0;  // The thread of the last event.
  int64_t last_time_ = -1;  // The time of the last event.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_EVENT_ENCODER_H_
