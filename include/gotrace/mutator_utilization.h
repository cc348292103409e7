// How much of the processors the garbage collector leaves to the program, and the minimum mutator
// utilization (MMU): the lowest share that it leaves in any window of a given length.
#ifndef GOTRACE_MUTATOR_UTILIZATION_H_
#define GOTRACE_MUTATOR_UTILIZATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// A change of the mutator utilization.
struct UtilizationPoint {
  int64_t time = 0;  // In nanoseconds, as Event::time().

  // The share of the processors that the program can use from `time` to the next point: from 0 to
  // 1. Meaningless for the last point.
  double utilization = 0;

  friend bool operator==(const UtilizationPoint&, const UtilizationPoint&) = default;
};

// A utilization over time, as a step function from its first point to its last. Times increase.
using UtilizationSeries = std::vector<UtilizationPoint>;

// Computes the mutator utilization of a trace. Memory is in proportion to the spans of time in
// which Ps work for the garbage collector.
class MutatorUtilization final : public MergeableAnalysis<MutatorUtilization> {
 public:
  // What to compute.
  struct Options {
    // Which times count as unavailable to the program:
    bool stw = false;         // All Ps while the world is stopped for the GC.
    bool background = false;  // Ps that run a mark worker, unless it only uses an idle P.
    bool assist = false;      // Ps that run a goroutine in a mark assist.
    bool sweep = false;       // Ps that sweep.

    // Whether each P has a series of its own. Then dedicated mark workers do not count, since the
    // goroutines of their P can run on other Ps.
    bool per_proc = false;

    // Series are cut to this time.
    EventFilter::Times window = {};
  };

  // Computes the utilization with `options`.
  explicit MutatorUtilization(Options options);
  ~MutatorUtilization() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Merge(MutatorUtilization&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the result, after Finish(): one series, which begins when the trace first states
  // GOMAXPROCS; with per_proc, one for each time in which a P existed. None if the trace does not
  // state GOMAXPROCS.
  absl::Span<const UtilizationSeries> series() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Computes the same numbers as internal/trace of Go 1.27, even where the trace contradicts it: see
// analysis/DIVERGENCES.md. Where Go fails, the result is that of MutatorUtilization. For comparison
// with Go's tools; windows have no effect.
class GoCompatibleUtilization final : public Analysis {
 public:
  // Computes the series that `options` select.
  explicit GoCompatibleUtilization(MutatorUtilization::Options options);
  ~GoCompatibleUtilization() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // As MutatorUtilization::series().
  absl::Span<const UtilizationSeries> series() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// A window of time, and the mean utilization in it.
struct UtilizationWindow {
  int64_t time = 0;  // The beginning, in nanoseconds.
  double utilization = 0;

  friend bool operator==(const UtilizationWindow&, const UtilizationWindow&) = default;
};

// Finds the windows with the lowest utilization in utilization series.
class MmuCurve {
 public:
  // Copies the series.
  explicit MmuCurve(absl::Span<const UtilizationSeries> series);
  ~MmuCurve();

  // Returns the lowest mean utilization of all windows of `window` nanoseconds: from 0 to 1. If a
  // series is shorter, all of it is one window. Returns 0 if `window` is not positive, and 1 if
  // there is no series. Takes time in proportion to the points of the series.
  double Mmu(int64_t window) const;

  // Returns up to `count` windows that do not overlap, lowest first: the lowest of all, whose
  // utilization is Mmu(window), then the lowest that does not overlap it, and so on. Of equal
  // windows the earliest is chosen. Returns none if `window` is not positive.
  std::vector<UtilizationWindow> Worst(int64_t window, size_t count) const;

 private:
  class Impl;
  const std::unique_ptr<const Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_MUTATOR_UTILIZATION_H_
