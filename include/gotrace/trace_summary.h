// A summary of one trace, or of a thousand, that fits on one page.
#ifndef GOTRACE_TRACE_SUMMARY_H_
#define GOTRACE_TRACE_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/histogram.h"
#include "gotrace/interner.h"
#include "gotrace/latency_stats.h"
#include "gotrace/proc_stats.h"

namespace gotrace {

// A kind of TraceSummary::Suspicion.
enum class SuspicionKind : uint8_t {
#define GOTRACE_SUSPICION(name, id, share, count, command, meaning) k##name,
#include "gotrace/internal/suspicions.def"
};
inline constexpr size_t kSuspicionKindEnd = 0
#define GOTRACE_SUSPICION(name, id, share, count, command, meaning) +1
#include "gotrace/internal/suspicions.def"
    ;

// Return the id of the kind, "lock"; what it means, as a sentence; and the command that shows more
// of this kind, without the names of the program and the file: "locks --kind=mutex,rwmutex". Static
// lifetime.
absl::string_view SuspicionId(SuspicionKind kind);
absl::string_view SuspicionMeaning(SuspicionKind kind);
absl::string_view SuspicionCommand(SuspicionKind kind);

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

    // The same without goroutines of the runtime and those that record the trace.
    Histogram of_program;
    uint64_t clipped_of_program = 0;
  };

  // Tasks or regions of a type, or HTTP requests, whose begin and end are in the trace or window.
  struct Span {
    std::string kind = {};  // "task", "region" or "request".
    std::string type = {};  // "" for requests.
    Histogram lengths;
  };

  // Goroutines that started in a function.
  struct Function {
    std::string name = {};
    uint64_t count = 0;
    int64_t running = 0;
    int64_t runnable = 0;
    int64_t stopped = 0;  // See ExecutionTimes::stopped.
    int64_t syscall = 0;  // With a P and without.
    int64_t blocked = 0;
  };

  // Where goroutines, except those of the runtime and those that record the trace, were blocked or
  // in syscalls.
  struct Place {
    LatencyKind kind = LatencyKind::kBlocked;  // kBlocked or kSyscall.
    std::string reason = {};
    std::string function = {};  // As WaitPlace::function.
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

  // Something that may make the program slow. All members until `lost` are its key.
  struct Suspicion {
    // A part of the cost: in a line of the program, or of goroutines that started in a function.
    // Lists of these are sorted by time, most first.
    struct Part {
      std::string function = {};  // For places, the members of WaitPlace.
      std::string library = {};
      std::string file = {};
      uint64_t line = 0;
      uint64_t count = 0;  // Waits, calls, runs, stops; 0 if they are not counted.
      int64_t time = 0;

      // Culprits of kLock, kPool and kIo, places of kSlowTasks and kStage: what goroutines did:
      // "Running", "sleep". The `function` of a culprit is WaitHolder::holder, and `library` the
      // innermost function. Culprits of kSlowTasks have only this: "lock", "ready", "assists",
      // "stopped".
      std::string reason = {};
    };

    SuspicionKind kind = SuspicionKind::kLock;

    // As GoInterval::reason; "" for syscalls. kSlowTasks: "task", "region" or "request". kIo:
    // "network", or "network, of this program" for waits for what this program answers itself.
    std::string reason = {};

    // kPool, kLeak, kHog, kPolling, kYields, kImbalance, kStraggler, kStage: the function that the
    // goroutines started in. A kPool without a `function` is about workers that others wait for,
    // and has the members of a kStage.
    std::string start = {};

    // These are the members of WaitPlace, if there is one place for each. A candidate for kLock or
    // kSyscalls is in all lines of a function, and has no `line`. kSlowTasks: `function` is the
    // type of the tasks or regions.
    std::string function = {};
    std::string library = {};
    uint64_t line = 0;

    // What it costs: waits, calls, stops. Of kYields: until they ran again. Of kLeak: the
    // goroutines' last waits. Of kPolling: half of each sleep after which there was something to
    // do. Of kImbalance: for each batch of goroutines, how much longer one of them was busy than
    // they were on average. Of kStraggler: how much longer one of them lived than half of them.
    Histogram lost;

    // kTimeouts, kPool: the other waits in the same place. kIo: those that another peer ended.
    // kPolling: half of each other sleep. kImbalance: how long each of the goroutines was busy.
    // kStraggler: how long each of them lived. kSlowTasks: lengths.
    Histogram others;

    // What it costs besides `lost`: kFewProcs, kIdleProcs, kHog: the time in which goroutines were
    // ready; kAssists, kGc, kStopped: the same, and time in assists, of mark workers that took a P
    // from the program, and in waits for GC cycles, or to stop the world; kSlowTasks: the time
    // above the median of those that take more than four times as long; kStage: in which others
    // waited to send to the goroutines, or to receive from them.
    int64_t charged = 0;

    // kLock: the longest wait that had not ended. kHog: the longest run. kImbalance: how long the
    // goroutine was busy that was it longest. kStraggler: the longest life.
    int64_t longest = 0;
    int64_t goroutine = -1;  // kHog, kImbalance, kStraggler: whose that was; -1 if unknown.

    uint64_t deadlines = 0;   // kTimeouts: how many of `lost` a context's deadline ended.
    uint64_t asked = 0;       // kTimeouts: in how many of `lost` it waited for an answer.
    uint64_t answered = 0;    // kTimeouts: the same of `others`; see WaitGroup::asked.
    uint64_t goroutines = 0;  // kPool: how many goroutines waited, up to 3.

    // kLeak: how many blocked after half of the trace. kSlowTasks: how many take more than four
    // times the median. kStage: the pieces of the waits to send.
    uint64_t grown = 0;
    uint64_t empty = 0;  // kPolling: how many of `others` ended with nothing to do.
    uint64_t runs = 0;   // kHog: the most long runs that one goroutine had.

    // Parts of the cost: kFewProcs: without the time for which goroutines waited that live long and
    // need little time; kAssists: in assists; kGc: in waits for cycles to begin or to end;
    // kStopped: in waits to stop the world while others did; kLock:
    // in waits that a reader of an RWMutex ended; kStage: in waits to send. kSlowTasks: the part of
    // `peers` that other suspicions are about. kIo: the part of `peers` in which those that answer
    // slept, were in syscalls, or waited for the network themselves.
    int64_t own = 0;

    // kHog: what goroutines that started there waited, which is in kFewProcs. kLock: waits that a
    // writer of an RWMutex ended. kSlowTasks: how long the slowest took, as far as is known. kIo:
    // the waits in which it is known what those did that answered.
    // kStage: how long the goroutines waited for channels themselves. kStraggler: how long it took
    // until the last goroutine of each batch ended.
    int64_t peers = 0;

    // kGc: how long all mark workers ran, also on Ps that were idle otherwise. kStage: how long the
    // goroutines lived.
    int64_t workers = 0;

    // Where it is: what allocates, stops the world, or keeps a P; what slow tasks waited for; what
    // the goroutines of kStage did meanwhile.
    std::vector<Part> places;

    // kLock, kPool: who held it. kStraggler: what those did that others waited for. kIo: who
    // answered in this program. kFewProcs: what ran. kStopped: what ran until the world stopped.
    std::vector<Part> culprits;
    std::vector<Part> victims;  // Whose goroutines lost the time, as far as it is known.

    // kLock: the types of tasks that lost the time, as far as that is known: see WaitTask.
    std::vector<Part> tasks;

    // Returns the time that goroutines lost, in nanoseconds.
    int64_t Cost() const {
      return static_cast<int64_t>(lost.sum() + static_cast<uint64_t>(charged));
    }

    // Adds another one with the same key.
    void Merge(const Suspicion& other);
  };

  // When a generation of the trace began. The same generation in two traces is in windows of the
  // flight recorder that overlap: both have its events.
  struct Generation {
    int64_t begin = 0;  // A value of Event::time().
    int64_t wall = 0;   // By the wall clock, in nanoseconds since 1970 UTC; 0 if not in the trace.

    friend auto operator<=>(const Generation&, const Generation&) = default;
  };

  uint64_t traces = 0;
  uint64_t events = 0;
  int64_t duration = 0;     // From the first event to the last; the sum for several traces.
  uint64_t gomaxprocs = 0;  // The largest.

  // The times of all Ps, and the waits for Ps. See ProcSlice.
  ProcTimes procs;
  int64_t runnable = 0;
  int64_t idle_while_runnable = 0;
  ReadyTimes ready;  // Of the program's goroutines. See ProcStats::ready().

  uint64_t gc_cycles = 0;  // GC cycles, also those of which only a part is in the trace.
  uint64_t max_heap = 0;  // The largest size of the heap's objects that the trace states, in bytes.

  // How much larger than the heap at the end of a cycle the goal of the next one was, in percent of
  // that heap, for each cycle of which the trace has both. It follows from GOGC, or from a limit of
  // the memory.
  Histogram heap_room;

  std::vector<Latency> latencies;   // By kind, then by time, most first.
  std::vector<Function> functions;  // By running time, longest first.
  std::vector<Place> places;        // By time, most first.
  std::vector<Leak> leaks;          // By number of goroutines, most first.
  std::vector<Span> spans;          // By kind, then by time, most first.

  // The longest uninterrupted run on a P of a goroutine of the program.
  Longest longest_run;

  // Of one trace, the first and the last generations that begin in the window, at most
  // kGenerations of each. Empty for several traces.
  static constexpr size_t kGenerations = 16;
  std::vector<Generation> generations;

  // Everything that may be suspected, by cost, most first. What is suspected depends on the sums of
  // all traces: see Suspicions(). Places that lost less than 1 % of the length of a trace are left
  // out there, except for leaks.
  std::vector<Suspicion> candidates;

  // Returns the candidates that are above the thresholds of their kind, which docs/diagnosis.md
  // lists, in the same order.
  std::vector<Suspicion> Suspicions() const;

  // Adds another summary to this one: sums are added, and of maxima the larger is kept. The result
  // does not depend on the order in which summaries are merged.
  void Merge(const TraceSummary& other);

  // Sets every member `file`.
  void SetFile(const std::string& file);
};

// Returns the suspicions of `after` that `before` does not have, also not in another line of the
// same function.
std::vector<TraceSummary::Suspicion> NewSuspicions(const TraceSummary& before,
                                                   const TraceSummary& after);

// Summarises a trace. Memory is in proportion to the distinct stacks in which goroutines wait, to
// the goroutines that exist at a time, to the events of a generation, to the cycles of the garbage
// collector, and to the stops of the world. Some 12 MB more hold the last states of goroutines.
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
