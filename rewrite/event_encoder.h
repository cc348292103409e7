// Encodes the timed events of one generation so that a reader gives them in the order in which they
// were added.
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

// A reader orders events by time as far as the scheduler's rules allow. Here each event gets a time
// at which it is the only one that can come next: that of the event before or later if that is of
// the same thread, and later if it is of another. Apart from that times stay as they are.
class EventEncoder {
 public:
  // Appends batches of generation `generation` to `*out`, which must outlive the encoder. Times are
  // encoded in ticks of which there are `ticks_per_second`, from kMinFrequency to kMaxFrequency.
  EventEncoder(uint64_t generation, uint64_t ticks_per_second, std::string* out);

  static constexpr uint64_t kMinFrequency = 1'000;
  static constexpr uint64_t kMaxFrequency = 1'000'000'000'000;

  // Adds an event of `thread`, or of no thread (kNone), which happened at `time`, in nanoseconds.
  // Times below 0 and above kMaxTime count as these.
  void Add(ThreadId thread, EventType type, absl::Span<const uint64_t> args, int64_t time);

  static constexpr int64_t kMaxTime = int64_t{1} << 62;

  // Writes what is left. Call it after the last event.
  void Finish();

  // The last tick that is not after `time`, which is in nanoseconds.
  uint64_t TicksAt(int64_t time) const;

 private:
  struct Thread {
    ThreadId id;
    uint64_t base = 0;  // The time of its batch, in ticks,
    int64_t time = 0;   // and that of its last event, in nanoseconds as a reader adds them up.
    std::string payload;
  };

  // The first tick at `time` or later.
  uint64_t TicksFrom(int64_t time) const { return time <= 0 ? 0 : TicksAt(time - 1) + 1; }

  void Flush(Thread* thread);

  const uint64_t generation_;
  const TraceClock clock_;
  const double ns_per_tick_;
  std::string& out_;
  std::vector<Thread> threads_;  // In order of their first events.
  absl::flat_hash_map<ThreadId, size_t> index_;
  size_t last_thread_ = 0;  // Of the last event,
  int64_t last_time_ = -1;  // and its time.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_EVENT_ENCODER_H_
