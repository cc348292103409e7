// How Ps spent their time: on the program, on the garbage collector, in syscalls, and idle although
// goroutines waited to run.
#ifndef GOTRACE_PROC_STATS_H_
#define GOTRACE_PROC_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// How a P, or several, spent their time. In nanoseconds.
struct ProcTimes {
  int64_t user = 0;       // It ran goroutines other than mark workers, and not in mark assists.
  int64_t gc = 0;         // It ran mark workers of the garbage collector.
  int64_t assist = 0;     // It ran goroutines in mark assists.
  int64_t syscall = 0;    // Its goroutine was in a syscall.
  int64_t scheduler = 0;  // It was running without a goroutine: it looked for one, or was stopping.
  int64_t idle = 0;       // It ran nothing, although GOMAXPROCS allowed it to.
  int64_t stopped = 0;    // It was idle, and the world was stopped.

  // Return the sum of all times; of all times but `idle` and `stopped`; and of those in which it
  // ran goroutines: `user`, `gc` and `assist`.
  int64_t Total() const;
  int64_t Busy() const;
  int64_t Running() const;

  // Adds each time of `other`.
  void Add(const ProcTimes& other);

  friend bool operator==(const ProcTimes&, const ProcTimes&) = default;
};

// The use of one P.
struct ProcUse {
  ProcId proc;
  ProcTimes times;
  uint64_t runs = 0;        // How often it began to run a goroutine.
  uint64_t migrations = 0;  // How many of these goroutines had run on another P before.
  uint64_t steals = 0;      // How often it was taken away from a thread in a syscall.
};

// The use of all Ps in a slice of time.
struct ProcSlice {
  int64_t begin = 0;
  int64_t end = 0;
  ProcTimes times;  // Of all Ps.

  // The total time that goroutines waited to run. Divided by the length of the slice, it is the
  // average number of waiting goroutines.
  int64_t runnable = 0;

  // The idle time of Ps for which there were goroutines waiting to run: at each moment, the number
  // of idle Ps below GOMAXPROCS or the number of waiting goroutines counts, whichever is smaller.
  // Without the times in which the world was stopped.
  int64_t idle_while_runnable = 0;
};

// Why a goroutine that was ready did not run: what the Ps did meanwhile.
enum class ReadyCause : uint8_t {
  kStopped,    // The world was stopped.
  kTracer,     // The world was stopped by the tracer, to begin or end the trace.
  kIdleProcs,  // A P was idle.
  kProgram,    // A P ran the program's own code.
  kLongRun,    // The same, for more than 10 ms in a run of at least 20 ms.
  kAssist,     // A P ran a goroutine of the program in a mark assist.
  kGc,         // A P ran a mark worker of the garbage collector.
  kOther,  // A P did something else: it ran another goroutine of the runtime or of the tracer, or
           // none.
};
inline constexpr size_t kReadyCauseEnd = 8;

// Returns the name of the cause: "stopped", "idle Ps". Static lifetime.
absl::string_view ReadyCauseName(ReadyCause cause);

// Times in which goroutines were ready, by their cause, in nanoseconds.
struct ReadyTimes {
  std::array<int64_t, kReadyCauseEnd> by_cause{};

  int64_t Of(ReadyCause cause) const { return by_cause[static_cast<size_t>(cause)]; }

  // Returns the sum.
  int64_t Total() const;

  // Adds each time of `other`.
  void Add(const ReadyTimes& other);

  friend bool operator==(const ReadyTimes&, const ReadyTimes&) = default;
};

// The times of goroutines that started in the same function.
struct ReadyFunction {
  StringId start = StringId::kEmpty;  // kEmpty if unknown.
  bool is_system = false;  // Whether these are goroutines of the runtime or of the tracer.
  ReadyTimes waited;       // While they were ready themselves, why they did not run.
  ReadyTimes ran;  // What goroutines of the program are charged for what these did while running.
};

// A goroutine of the program that ran for at least 20 ms at a time.
struct LongRunner {
  GoId goroutine;
  StringId start = StringId::kEmpty;
  uint64_t runs = 0;               // How many such runs it had.
  int64_t longest = 0;             // The longest of them, in nanoseconds.
  int64_t longest_begin = 0;       // When that began, as far as the trace shows.
  StackId stack = StackId::kNone;  // Where that ended; kNone if the trace does not say.

  // The time of ready goroutines that is charged to its long runs, and the part of it that is of
  // goroutines that started in the same function. Part of ReadyCause::kLongRun.
  int64_t waited = 0;
  int64_t peers_waited = 0;
};

// The time that goroutines of the program spent in mark assists. In nanoseconds.
struct AssistTimes {
  int64_t running = 0;
  int64_t waiting = 0;  // For more marking to be done, or for the lock of the collector.
};

// Waits in one place for the runtime: see ProcStats::gc_waits() and ProcStats::stop_waits().
struct RuntimeWaits {
  StackId stack = StackId::kNone;
  int64_t time = 0;  // In nanoseconds.
};

// How many goroutines may run at once from a time on.
struct ProcLimit {
  int64_t time = 0;
  uint64_t procs = 0;  // GOMAXPROCS.

  friend bool operator==(const ProcLimit&, const ProcLimit&) = default;
};

// Collects the activity of Ps. Memory is in proportion to the Ps, to the goroutines that exist at a
// time, and to the events of a generation that change states.
class ProcStats final : public MergeableAnalysis<ProcStats> {
 public:
  // Counts only Ps that `filter` selects, and only times within its `times`. The numbers of waiting
  // goroutines always include the whole program. `*interner` must outlive this object.
  ProcStats(Interner* interner, EventFilter filter);
  ~ProcStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void Merge(ProcStats&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Returns the use of each P, in order of Ps, after Finish(), as for the functions below.
  absl::Span<const ProcUse> procs() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the values of GOMAXPROCS that the trace states, in order of time: the first value, and
  // then each change.
  absl::Span<const ProcLimit> limits() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Cuts the time into slices of a round length (1, 2 or 5 times a power of ten, in nanoseconds, of
  // at least a microsecond), as many as possible up to `most`, which must be at least 2. Slices
  // begin at multiples of their length, except that the first begins, and the last ends, with the
  // trace or window.
  std::vector<ProcSlice> Slices(size_t most) const;

  // Returns everything as one slice.
  ProcSlice Sum() const;

  // Returns why the program's goroutines did not run while they were ready. Each moment of the
  // trace is charged to the ready goroutines in equal parts: to a stop of the world if there is
  // one; or for as many of them as there are idle Ps to these, and for the rest in equal parts to
  // the other Ps. The sum is the time in which goroutines of the program were ready, as far as it
  // was seen.
  const ReadyTimes& ready() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the same by the function in which goroutines started, also for goroutines of the
  // runtime, in order of the functions' names. Only functions with times.
  absl::Span<const ReadyFunction> ready_functions() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the time in mark assists, as far as it was seen.
  const AssistTimes& assists() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the part of ProcTimes::gc, of all Ps, by mark workers that ran only since their P had
  // nothing else to do.
  int64_t idle_workers() const;

  // Returns the waits of the program's goroutines for GC cycles to begin or to end, outside of mark
  // assists, longest time first.
  absl::Span<const RuntimeWaits> gc_waits() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns their waits until they may stop the world, as only one goroutine may at a time, longest
  // time first.
  absl::Span<const RuntimeWaits> stop_waits() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the goroutines with long runs, those with the most `waited` first.
  absl::Span<const LongRunner> long_runners() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_PROC_STATS_H_
