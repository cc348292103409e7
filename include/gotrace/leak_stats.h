// Goroutines that may be blocked forever: at the end of a trace, they have been blocked for long.
#ifndef GOTRACE_LEAK_STATS_H_
#define GOTRACE_LEAK_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"

namespace gotrace {

// Goroutines that were created in the same place and are blocked in the same place. If a goroutine
// was created or blocked before the trace, the missing facts are taken from other goroutines that
// are blocked in the same place, provided that these agree.
struct LeakGroup {
  StringId start = StringId::kEmpty;    // The function that they started in; "" if unknown.
  StackId created_at = StackId::kNone;  // kNone for goroutines that are older than what was read.
  StackId blocked_at = StackId::kNone;  // kNone if the trace does not say.
  StringId reason = StringId::kEmpty;   // As GoInterval::reason.

  uint64_t count = 0;
  int64_t longest = 0;  // The longest time blocked in the trace, in nanoseconds.
  int64_t total = 0;    // The sum over all of them.

  // How many of them were already blocked at the beginning of the trace or window, after a quarter
  // of it, and so on, to its end. The numbers of a leak grow.
  static constexpr size_t kPoints = 5;
  std::array<uint64_t, kPoints> counts = {};
};

// A goroutine that is blocked at the end, for whatever time.
struct BlockedGoroutine {
  StringId start = StringId::kEmpty;  // The function that it started in; "" if unknown.

  // Whether it was created in the trace or window, and where it was created; kNone if that was
  // before what was read, but see LeakGroup.
  bool is_new = false;
  StackId created_at = StackId::kNone;

  StackId blocked_at = StackId::kNone;  // kNone if the trace does not say.
  StringId reason = StringId::kEmpty;   // As GoInterval::reason.
  int64_t begin = 0;                    // When it blocked.
  int64_t length = 0;                   // How long it has been seen to be blocked.
};

// Finds goroutines that are blocked at the end of the trace or window, and have been for long.
// Goroutines of the runtime, which started in a function of package runtime or of a package below
// it, are left out, and those that wait for signals or record the trace. Memory is in proportion to
// the goroutines that exist at a time.
class LeakStats final : public MergeableAnalysis<LeakStats> {
 public:
  // The goroutines to count.
  struct Options {
    // How long a goroutine must have been blocked, in nanoseconds.
    int64_t longer = 1'000'000'000;

    // Only goroutines that the filter selects, and that are blocked in stacks which its `stacks`
    // select. Its `times` are the window.
    EventFilter filter = {};
  };

  // `*interner` must outlive this object.
  LeakStats(Interner* interner, Options options);
  ~LeakStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(LeakStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the groups, largest first, after Finish().
  absl::Span<const LeakGroup> groups() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Returns all goroutines of the program that are blocked at the end, whatever Options::longer, in
  // no particular order, after Finish().
  absl::Span<const BlockedGoroutine> blocked() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_LEAK_STATS_H_
