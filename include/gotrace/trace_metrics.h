// Metrics of a program, by function, by which two traces can be compared.
#ifndef GOTRACE_TRACE_METRICS_H_
#define GOTRACE_TRACE_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// The metrics. Times are in nanoseconds.
enum class TraceMetric : uint8_t {
  // Sums over goroutines, in proportion to the length of the trace.
  kRunning,   // The time on a P.
  kRunnable,  // The time waiting for a P.
  kBlocked,
  kSyscall,  // With a P or without.
  kCreated,  // How many goroutines were created.
  kAllocatedObjects,
  kAllocatedBytes,

  // Sums for the whole program only.
  kGcCycles,
  kGcPauses,  // The time for which the world was stopped for the garbage collector.

  // The median and the 99th percentile of the single waits of goroutines for a P. For the whole
  // program, only goroutines of the program count, and not those of the runtime.
  kLatencyP50,
  kLatencyP99,

  // Sums over goroutines of the program by place, and for the whole program: waits for a Mutex or
  // RWMutex, all other waits, and syscalls. Waits of which the trace does not say where they are
  // are not included.
  kLockWaits,
  kOtherWaits,
  kCalls,

  // The median and the 99th percentile of the durations of tasks, and of regions, by type.
  kTaskP50,
  kTaskP99,
  kRegionP50,
  kRegionP99,
};

// Returns the name of the metric: "running", "latency p99". Static lifetime.
absl::string_view TraceMetricName(TraceMetric metric);

// Returns whether the metric is a sum, which can be divided by a time or by a number of tasks.
bool IsSum(TraceMetric metric);

// The value of a metric.
struct TraceMetricValue {
  TraceMetric metric = TraceMetric::kRunning;

  // Whether this is the value for the whole program. Otherwise it is for the goroutines that
  // started in `function`, "" if unknown; for a place, the members of which are those of WaitPlace,
  // and the reason of the waits; or for tasks or regions of a type.
  bool of_all = false;
  StringId function = StringId::kEmpty;
  StringId library = StringId::kEmpty;
  StringId reason = StringId::kEmpty;
  StringId type = StringId::kEmpty;

  uint64_t value = 0;  // In the window.
  uint64_t count = 0;  // For a percentile: the number of waits, tasks or regions.

  // The standard deviation among the generations of the trace: of the value per second (of a
  // percentile, of the value itself), and of the value per task that ended. Generations are
  // weighted by their length, or by their number of tasks. nullopt if there is only one generation,
  // or if it was not measured.
  std::optional<double> deviation;
  std::optional<double> deviation_per_task;
};

// Computes the metrics. Memory is in proportion to the goroutines that exist at a time, to tasks
// and regions, and to functions, places and generations. It cannot be merged, since HeapStats
// cannot.
class TraceMetrics final : public Analysis {
 public:
  // All generations after this many count as one.
  static constexpr size_t kMaxGenerations = 1000;

  // `*interner` must outlive this object.
  TraceMetrics(Interner* interner, EventFilter::Times window);
  ~TraceMetrics() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // The results, after Finish().

  // Return the length of the part of the window that is in the trace, in nanoseconds, and the
  // number of tasks that ended in it.
  uint64_t duration() const;
  uint64_t tasks() const;

  // Returns the values that are not 0, in order of metrics: the value for the whole program, then
  // those of functions, in order of their names. Allocations are included only if the trace has the
  // events that HeapStats needs, from its beginning on.
  absl::Span<const TraceMetricValue> values() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// The divisor of values, so that traces of different lengths can be compared.
enum class MetricBase : uint8_t {
  kSecond,
  kTask,  // Tasks that ended.
};

// A metric that differs between two traces, A and B.
struct MetricChange {
  TraceMetric metric = TraceMetric::kRunning;
  bool of_all = false;  // See TraceMetricValue for this and the next four.
  std::string function;
  std::string library;
  std::string reason;
  std::string type;

  // The values, divided by the base unless they are percentiles.
  double a = 0;
  double b = 0;

  // The size of a change that the variation among generations explains: twice the standard
  // deviation of the difference, assuming that the traces vary like their generations. nullopt if
  // it is unknown for both traces.
  std::optional<double> spread;

  // From 0 to 1: the change relative to the value for the whole program in the trace where that is
  // larger; for a percentile, multiplied by its share of all waits, tasks or regions. Waits of
  // goroutines of the program are compared with each other only. Makes changes of different metrics
  // comparable.
  double weight = 0;
};

// Returns the differences, largest weight first. Percentiles are compared only where both traces
// have some. The analyses must be finished, and `a_names` and `b_names` must be their interners.
// Returns nothing if the base is 0 in one of the traces.
std::vector<MetricChange> CompareTraces(const TraceMetrics& a, const Interner& a_names,
                                        const TraceMetrics& b, const Interner& b_names,
                                        MetricBase base);

}  // namespace gotrace

#endif  // GOTRACE_TRACE_METRICS_H_
