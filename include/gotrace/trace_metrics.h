// Numbers that say what a program did, by function, such that two traces can be compared.
#ifndef GOTRACE_TRACE_METRICS_H_
#define GOTRACE_TRACE_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// What is measured. Times are in nanoseconds.
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
  kGcPauses,  // The time in which the world was stopped for the garbage collector.

  // How long goroutines waited for a P at a time: the median, and the 99th percentile.
  kLatencyP50,
  kLatencyP99,
};

// The name of the metric: "running", "latency p99". Static lifetime.
absl::string_view TraceMetricName(TraceMetric metric);

// Whether the metric is a sum, which can be divided by a time or by a number of tasks.
bool IsSum(TraceMetric metric);

// The value of a metric.
struct TraceMetricValue {
  TraceMetric metric = TraceMetric::kRunning;

  // Of the goroutines that started in `function`, "" if unknown, or of the whole program.
  bool of_all = false;
  StringId function = StringId::kEmpty;

  uint64_t value = 0;  // In the window.
  uint64_t waits = 0;  // Of a latency: how many waits it is of.

  // How much the generations of the trace differ: the standard deviation of the value per second,
  // or of a latency, and of the value per task that ended. Longer generations, or those with more
  // tasks, have more weight. Nothing if there is one generation only, or if it was not measured.
  std::optional<double> deviation;
  std::optional<double> deviation_per_task;
};

// Measures all of the above. Memory is in proportion to the goroutines that are there at a time,
// and to functions and generations. It cannot be merged, since HeapStats cannot.
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

  // The length of the window in nanoseconds, as far as the trace reaches, and how many tasks ended
  // in it.
  uint64_t duration() const;
  uint64_t tasks() const;

  // Those that are not 0. In order of metrics, then those of the whole program, then in order of
  // functions. Allocations are among them only if the trace has the events that HeapStats needs,
  // and from its beginning.
  absl::Span<const TraceMetricValue> values() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// What values are divided by, so that traces of different lengths can be compared.
enum class MetricBase : uint8_t {
  kSecond,
  kTask,  // That ended.
};

// A metric that differs between two traces, A and B.
struct MetricChange {
  TraceMetric metric = TraceMetric::kRunning;
  bool of_all = false;   // See TraceMetricValue.
  std::string function;  // See TraceMetricValue.

  // The values, divided by the base unless they are latencies.
  double a = 0;
  double b = 0;

  // How much of a change the generations of the traces explain: twice the standard deviation of the
  // difference, if the two are like their generations. Nothing if that is unknown of both.
  std::optional<double> spread;

  // From 0 to 1: how large the change is compared to the value for the whole program, in the trace
  // that has more of it; for a latency, times the share of all waits that it is of. Changes of
  // different metrics can be compared by this.
  double weight = 0;
};

// Returns what differs, the largest weight first. Latencies are compared only where both traces
// have some. The analyses must be finished, and `a_names` and `b_names` be their interners. Returns
// nothing if the base is 0 in one of the traces.
std::vector<MetricChange> CompareTraces(const TraceMetrics& a, const Interner& a_names,
                                        const TraceMetrics& b, const Interner& b_names,
                                        MetricBase base);

}  // namespace gotrace

#endif  // GOTRACE_TRACE_METRICS_H_
