// The cycles of the garbage collector, and the stops of the world.
#ifndef GOTRACE_GC_STATS_H_
#define GOTRACE_GC_STATS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// A stop of the world, for the GC or for something else.
struct WorldStop : Interval {
  StringId reason = StringId::kEmpty;  // "GC mark termination", "start trace".
  GoId goroutine = GoId::kNone;        // The goroutine that stopped the world; kNone if unknown.
  StackId stack = StackId::kNone;      // Where it did; kNone if unknown.
  ProcId proc = ProcId::kNone;         // The P that it ran on; kNone if unknown.

  // The last of the other Ps to stop; kNone if none was running, or if the trace does not show it.
  ProcId last_proc = ProcId::kNone;
  int64_t last_proc_stop = 0;  // When it stopped, if there is one.

  // The goroutine that last_proc ran when it stopped, and where it stopped that goroutine; kNone if
  // it ran none, or if the trace does not show it.
  GoId last_goroutine = GoId::kNone;
  StackId last_stack = StackId::kNone;

  // When the first P ran again; `end` if none did before that.
  int64_t restart = 0;

  // Return the three parts of the stop, in nanoseconds: until all Ps had stopped, until the first P
  // ran again, and until the world had been started.
  int64_t stopping() const;
  int64_t stopped() const;
  int64_t restarting() const;
};

// What started a GC cycle.
enum class GcTrigger : uint8_t {
  kUnknown,  // The trace does not show it.
  kHeap,     // The heap reached its goal.
  kTime,     // There was no cycle for two minutes.
  kProgram,  // runtime.GC(), or a function that calls it, such as debug.FreeOSMemory().
};

// Returns the name of the trigger: "heap". Static lifetime.
absl::string_view GcTriggerName(GcTrigger trigger);

// Spans of time of the same kind.
struct SpanSum {
  uint64_t count = 0;
  int64_t time = 0;  // The sum of their lengths, in nanoseconds.
};

// The mark assists of a goroutine.
struct GoroutineAssists {
  GoId goroutine;
  SpanSum assists;
};

// The mark assists that began in one place.
struct AssistsInPlace {
  StackId stack = StackId::kNone;  // kNone if the trace does not say.
  SpanSum assists;
};

// A GC cycle. The interval is the runtime's range of the concurrent mark phase, which begins with
// the request to stop the world and ends during the last stop.
struct GcCycle : Interval {
  uint64_t number = 0;  // In the trace, from 1.
  GcTrigger trigger = GcTrigger::kUnknown;
  GoId goroutine = GoId::kNone;    // The starter; kNone if the cycle began before the trace.
  StackId stack = StackId::kNone;  // Where it started the cycle.

  // The stops of the world for the GC that begin in the cycle. The first is for sweep termination,
  // the last for mark termination.
  SpanSum pauses;
  int64_t longest_pause = 0;

  // The mark assists that begin in the cycle: in total, and by goroutine, longest first.
  SpanSum assists;
  std::vector<GoroutineAssists> assists_by_goroutine;

  // How long mark workers ran whose runs began in the cycle, by the kind of the worker. In
  // nanoseconds. The worker that ends the mark phase runs on after it, to start the world and to
  // prepare the sweep, which counts, too.
  int64_t dedicated = 0;
  int64_t fractional = 0;
  int64_t idle = 0;

  // The sweeps that end between the end of this cycle and the end of the next one: they sweep after
  // this cycle's marking.
  SpanSum sweeps;
  uint64_t swept_bytes = 0;
  uint64_t reclaimed_bytes = 0;

  // The heap in bytes: its objects when the cycle began and when it ended, the goal when it began,
  // and the next goal. nullopt where the trace does not say.
  std::optional<uint64_t> heap_begin;
  std::optional<uint64_t> heap_end;
  std::optional<uint64_t> goal;
  std::optional<uint64_t> next_goal;
};

// Collects the cycles of the garbage collector, and the stops of the world. Memory is in proportion
// to these, and to the mark assists.
class GcStats final : public MergeableAnalysis<GcStats> {
 public:
  // Collects only cycles and stops that are at least partly in `window`. They are not cut to it,
  // except for the times of mark workers. `*interner` must outlive this object.
  GcStats(Interner* interner, EventFilter::Times window);
  ~GcStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(GcStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Return the results, in order of time. Valid after Finish().
  absl::Span<const GcCycle> cycles() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  absl::Span<const WorldStop> stops() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the mark assists in all cycles of the trace by where they began: what allocates. Those
  // with the longest time are first. Only what is in the window counts. Valid after Finish().
  absl::Span<const AssistsInPlace> assist_places() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_GC_STATS_H_
