// A summary of one trace, or of a thousand, that fits on one page.
#ifndef GOTRACE_TRACE_SUMMARY_H_
#define GOTRACE_TRACE_SUMMARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/histogram.h"
#include "gotrace/interner.h"
#include "gotrace/latency_stats.h"
#include "gotrace/proc_stats.h"

namespace gotrace {

// The results of several analyses, with texts instead of ids, so that summaries of different traces
// can be merged. Times are in nanoseconds.
struct TraceSummary {
  // The longest wait or run of some kind, and where it is.
  struct Longest {
    int64_t length = 0;
    bool is_clipped = false;    // Whether it may have lasted longer than was seen.
    std::string file = {};      // The name given to SetFile(); "" if none was.
    int64_t begin = 0;          // A value of Event::time().
    int64_t goroutine = -1;     // -1 if unknown.
    std::string function = {};  // The function that the goroutine started in; "" if unknown.

    // Keeps the longer of the two or, if they are equal, the one with the smaller file, begin and
    // goroutine.
    void Merge(const Longest& other);
  };

  // Waits of a kind and reason. See LatencyKey and LatencyGroup.
  struct Latency {
    LatencyKind kind = LatencyKind::kScheduling;
    std::string reason = {};
    Histogram durations;
    uint64_t clipped = 0;
    Longest longest;
  };

  // Goroutines that started in a function.
  struct Function {
    std::string name = {};
    uint64_t count = 0;
    int64_t running = 0;
    int64_t runnable = 0;
    int64_t syscall = 0;  // With a P and without.
    int64_t blocked = 0;
  };

  // Where goroutines, except those of the runtime, were blocked or in syscalls: the innermost
  // function that does not belong to the runtime, or to packages sync and internal/.
  struct Place {
    LatencyKind kind = LatencyKind::kBlocked;  // kBlocked or kSyscall.
    std::string reason = {};
    std::string function = {};
    uint64_t count = 0;
    int64_t time = 0;
    int64_t longest = 0;
  };

  // Goroutines that have been blocked for at least a second at the end. See LeakGroup.
  struct Leak {
    std::string start = {};
    std::string reason = {};
    std::string function = {};  // As Place::function.
    uint64_t count = 0;
    uint64_t grown = 0;  // How many of them were not yet blocked at half of the trace.
    int64_t longest = 0;
  };

  uint64_t traces = 0;
  uint64_t events = 0;
  int64_t duration = 0;     // From the first event to the last; the sum for several traces.
  uint64_t gomaxprocs = 0;  // The largest.

  // The times of all Ps, and the waits for Ps. See ProcSlice.
  ProcTimes procs;
  int64_t runnable = 0;
  int64_t idle_while_runnable = 0;

  uint64_t gc_cycles = 0;  // GC cycles that began in the trace.
  uint64_t max_heap = 0;  // The largest size of the heap's objects that the trace states, in bytes.

  std::vector<Latency> latencies;   // By kind, then by time, most first.
  std::vector<Function> functions;  // By running time, longest first.
  std::vector<Place> places;        // By time, most first.
  std::vector<Leak> leaks;          // By number of goroutines, most first.

  // The longest uninterrupted run on a P of a goroutine of the program.
  Longest longest_run;

  // Adds another summary to this one: sums are added, and of maxima the larger is kept. The result
  // does not depend on the order in which summaries are merged.
  void Merge(const TraceSummary& other);

  // Sets every member `file`.
  void SetFile(const std::string& file);
};

// Summarises a trace. Memory is in proportion to the distinct stacks in which goroutines wait, to
// the goroutines that exist at a time, and to the events of a generation.
class SummaryStats final : public MergeableAnalysis<SummaryStats> {
 public:
  // Counts only times within `window`. `*interner` must outlive this object.
  SummaryStats(Interner* interner, EventFilter::Times window);
  ~SummaryStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void Merge(SummaryStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the result, after Finish().
  const TraceSummary& summary() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE_SUMMARY_H_
