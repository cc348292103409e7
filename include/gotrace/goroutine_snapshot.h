// What every goroutine was doing at one moment, as in a dump of all goroutines.
#ifndef GOTRACE_GOROUTINE_SNAPSHOT_H_
#define GOTRACE_GOROUTINE_SNAPSHOT_H_

#include <cstdint>
#include <memory>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/states.h"

namespace gotrace {

// What one goroutine was doing. If it was created or blocked before the trace, the missing facts
// are those of other goroutines that are blocked in the same place, provided that these agree.
struct GoroutineMoment {
  GoId goroutine = GoId::kNone;
  GoState state = GoState::kUndetermined;
  int64_t since = 0;   // When the state began, or was seen first.
  int64_t length = 0;  // For how long it had lasted, in nanoseconds.

  // As those of GoInterval. While it is ready or running only for a stop of the world, `reason` is
  // as StopSpan::name, and the stack of a running goroutine is where it stopped the world.
  StringId reason = StringId::kEmpty;
  StackId stack = StackId::kNone;

  StringId start = StringId::kEmpty;    // The function that it started in; kEmpty if unknown.
  StackId created_at = StackId::kNone;  // kNone for goroutines that are older than the trace.

  // The types of the task and of the innermost region that it is in; "" if it is in none, or in one
  // that is older than the trace. It is in the task of its innermost region with one or, if there
  // is none, in the last task that it began; only tasks that have not ended count.
  StringId task = StringId::kEmpty;
  StringId region = StringId::kEmpty;
};

// Goroutines of which all but the times is equal.
struct GoroutineMomentGroup {
  GoState state = GoState::kUndetermined;
  StringId reason = StringId::kEmpty;
  StackId stack = StackId::kNone;
  StringId start = StringId::kEmpty;
  StackId created_at = StackId::kNone;
  StringId task = StringId::kEmpty;
  StringId region = StringId::kEmpty;

  uint64_t count = 0;
  int64_t longest = 0;  // The longest GoroutineMoment::length, in nanoseconds.
  int64_t total = 0;    // The sum over all of them.
};

// Finds the state of each goroutine that exists at the end of the trace or window: for a moment,
// analyse the window that ends there. A state that begins at that very time does not count yet.
// Memory is in proportion to the goroutines that exist at a time.
class GoroutineSnapshot final : public MergeableAnalysis<GoroutineSnapshot> {
 public:
  // `*interner` must outlive this object. Only goroutines that `filter` selects are included, and
  // whose stack its `stacks` select.
  GoroutineSnapshot(Interner* interner, EventFilter filter);
  ~GoroutineSnapshot() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(GoroutineSnapshot&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the goroutines, in order of their ids, after Finish().
  absl::Span<const GoroutineMoment> goroutines() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the groups, largest first, after Finish().
  absl::Span<const GoroutineMomentGroup> groups() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_GOROUTINE_SNAPSHOT_H_
