// What one trace, or a thousand of them, shows on one page.
#ifndef GOTRACE_TRACE_SUMMARY_H_
#define GOTRACE_TRACE_SUMMARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/histogram.h"
#include "gotrace/interner.h"
#include "gotrace/latency_stats.h"
#include "gotrace/proc_stats.h"

namespace gotrace {

// The results of several analyses, without ids: texts are their own copies, so that summaries of
// different traces can be merged. Times are in nanoseconds.
struct TraceSummary {
  // The longest of something, and where it is.
  struct Longest {
    int64_t length = 0;
    bool is_clipped = false;    // Whether it may have lasted longer than was seen.
    std::string file = {};      // The name that was given to Merge(); "" if none was.
    int64_t begin = 0;          // A value of Event::time().
    int64_t goroutine = -1;     // -1 if unknown.
    std::string function = {};  // In which the goroutine started; "" if unknown.

    // Keeps the longer of the two, and of equal ones that whose file, begin and goroutine are
    // first.
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

  // Where goroutines other than those of the runtime were blocked, or in syscalls: the innermost
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
    uint64_t grown = 0;  // How many of them were not blocked yet when half of the trace was over.
    int64_t longest = 0;
  };

  uint64_t traces = 0;
  uint64_t events = 0;
  int64_t duration = 0;     // From the first event to the last; of several traces the sum.
  uint64_t gomaxprocs = 0;  // The largest.

  // Of all Ps, and what waited for them. See ProcSlice.
  ProcTimes procs;
  int64_t runnable = 0;
  int64_t idle_while_runnable = 0;

  uint64_t gc_cycles = 0;  // That began in the trace.
  uint64_t max_heap = 0;  // The largest size of the heap's objects that the trace states, in bytes.

  std::vector<Latency> latencies;   // By kind, and then those with the most time first.
  std::vector<Function> functions;  // Those that ran longest first.
  std::vector<Place> places;        // Those with the most time first.
  std::vector<Leak> leaks;          // Those with the most goroutines first.

  // The longest time that a goroutine of the program ran on a P in one go.
  Longest longest_run;

  // Adds another summary, in place: sums are added up, and the largest is kept of what is a
  // maximum. The result does not depend on the order in which summaries are merged.
  void Merge(const TraceSummary& other);

  // Sets the name of the file in everything that has one.
  void SetFile(const std::string& file);
};

// Summarises a trace. Memory is in proportion to the distinct stacks in which goroutines wait, to
// the goroutines that exist at a time, and to the events of a generation.
class SummaryStats final : public MergeableAnalysis<SummaryStats> {
 public:
  // Counts only what is in `window`. `*interner` must outlive this object.
  SummaryStats(Interner* interner, EventFilter::Times window);
  ~SummaryStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void Merge(SummaryStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // The result, after Finish().
  const TraceSummary& summary() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE_SUMMARY_H_
