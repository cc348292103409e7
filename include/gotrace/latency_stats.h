// How long goroutines waited, for what, and the worst cases.
#ifndef GOTRACE_LATENCY_STATS_H_
#define GOTRACE_LATENCY_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// The kind of a wait.
enum class LatencyKind : uint8_t {
  kScheduling,  // The goroutine was ready to run, but waited for a P.
  kBlocked,     // It was blocked.
  kSyscall,     // It was in a syscall, with a P or without.
  kPause,       // It stopped the world: from the request until the world was restarted.
  kAssist,      // It assisted the garbage collector. It may have been blocked meanwhile.
};
inline constexpr size_t kLatencyKindEnd = 5;

// Returns the name of the kind: "scheduling", "blocked". Static lifetime.
absl::string_view LatencyKindName(LatencyKind kind);

// The key by which durations are grouped.
struct LatencyKey {
  LatencyKind kind = LatencyKind::kScheduling;

  // kBlocked: what it was blocked on, such as "chan receive"; "" if it blocked before the trace.
  // kPause: why the world was stopped.
  StringId reason = StringId::kEmpty;

  StringId start = StringId::kEmpty;  // The function that the goroutine started in.
  StackId stack = StackId::kNone;     // As GoInterval::stack, or where the pause or assist began.
  GoId goroutine = GoId::kNone;       // kNone unless asked for.

  friend bool operator==(const LatencyKey&, const LatencyKey&) = default;

  template <class H>
  friend H AbslHashValue(H h, const LatencyKey& key) {
    return H::combine(std::move(h), key.kind, key.reason, key.start, key.stack, key.goroutine);
  }
};

// The durations of all waits with one key.
struct LatencyGroup {
  LatencyKey key;
  Histogram durations;

  // How many of them began before the trace or window, or ended after it. They count with the part
  // that was seen: see Interval::Seen().
  uint64_t clipped = 0;

  // kScheduling: the part of the sum of durations in which the world was stopped, in nanoseconds.
  int64_t stopped = 0;
};

// A single wait, as far as it was seen. Its `key` is always complete, except for a `start` that the
// trace does not state.
struct LatencyCase : Interval {
  LatencyKey key;
  GoId goroutine = GoId::kNone;
  Cause ended_by;       // What ended it; unknown for pauses and assists.
  int64_t stopped = 0;  // kScheduling: how long the world was stopped meanwhile, in nanoseconds.
};

// Counts how long goroutines waited, and keeps the worst cases. Memory is in proportion to the
// distinct keys, and to the goroutines that exist at a time.
class LatencyStats final : public MergeableAnalysis<LatencyStats> {
 public:
  // The latencies to count.
  struct Options {
    // Which kinds to count, by their number.
    std::array<bool, kLatencyKindEnd> kinds = {true, true, true, true, true};

    // Whether to group by the function that goroutines started in, by stack, and by goroutine. If
    // not, the keys of groups do not have them. By goroutine, memory is in proportion to all
    // goroutines of the trace.
    bool by_start = false;
    bool by_stack = false;
    bool by_goroutine = false;

    // How many cases to keep of each kind and reason. The longest ones are kept.
    size_t cases = 0;

    // Only goroutines that started in a function whose whole name this matches: an extended
    // regular expression of POSIX, or the name itself; "" for all.
    std::string start = {};

    // Only waits of which a part of LatencyKey::reason matches this, a pattern as `start`; "" for
    // all.
    std::string reason = {};

    // Only waits that were seen for at least, and at most, this long, in nanoseconds.
    uint64_t min_duration = 0;
    uint64_t max_duration = std::numeric_limits<uint64_t>::max();

    // Only goroutines that the filter selects are counted, only times within its `times`, and only
    // waits whose LatencyKey::stack its `stacks` select.
    EventFilter filter = {};
  };

  // `*interner` must outlive this object.
  LatencyStats(Interner* interner, Options options);
  ~LatencyStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(LatencyStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the groups in order of kinds, and within a kind by time, most first, after Finish().
  absl::Span<const LatencyGroup> groups() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Returns the worst cases in order of kinds and reasons, longest first, after Finish().
  absl::Span<const LatencyCase> cases() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_LATENCY_STATS_H_
