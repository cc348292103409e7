// Traces of programs that never ran, as large and as interleaved as a measurement asks for.
#ifndef GOTRACE_BENCH_SYNTHETIC_TRACES_H_
#define GOTRACE_BENCH_SYNTHETIC_TRACES_H_

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/event_type.h"
#include "tracev2/wire_status.h"
#include "tracev2/wire_writer.h"

namespace gotrace::internal {

struct SyntheticTraceOptions {
  // Threads, each with a P and always at work. Each event is of a thread drawn by lot, so that
  // mostly no two events in a row are of the same one. At least 1.
  int threads = 2;

  // How many goroutines live at any time; raised to two for each thread if it is less.
  uint64_t goroutines = 100;

  uint64_t generations = 1;

  // How many events the program makes in each generation. The statuses of all Ps and goroutines,
  // which each generation tells, come on top.
  uint64_t events = 100'000;

  // How far the clocks of every other thread are ahead, in ticks of 64 ns. Where it is not 0, the
  // order of times contradicts that of the program, and events have to wait for others. Must be
  // odd or 0, so that no two events have the same time.
  uint64_t skew = 0;
};

// Plays a scheduler and writes down what it does, as the runtime of Go 1.27 would. Goroutines
// start, enter syscalls, wake one another, block, and now and then one ends and another begins. The
// same options always make the same bytes. Not thread-safe.
class TraceMaker {
 public:
  explicit TraceMaker(const SyntheticTraceOptions& options);
  TraceMaker(const TraceMaker&) = delete;
  TraceMaker& operator=(const TraceMaker&) = delete;

  // The bytes of the next generation, those of the first one behind the trace's header; "" when all
  // were made. They are valid until the next call. Memory is bounded by the live goroutines and one
  // generation.
  absl::string_view NextGeneration();

 private:
  static constexpr uint32_t kNone = static_cast<uint32_t>(-1);

  struct Goroutine {
    uint64_t id = 0;
    GoStatus status = GoStatus::kWaiting;
    uint64_t generation = 0;  // In which its status was told last.
    uint64_t sequence = 0;    // In that generation.
  };

  // Events on their way into the trace.
  struct OpenBatch {
    uint64_t thread = 0;
    uint64_t clock_ahead = 0;  // In ticks.
    uint64_t begin_time = 0;   // In ticks, as all times.
    uint64_t last_time = 0;
    std::string payload;
  };

  // What a thread does next.
  enum class Step : uint8_t { kStart, kMeasure, kEnterSyscall, kLeaveSyscall, kWake, kStop };

  struct Thread {
    OpenBatch batch;
    Step step = Step::kStart;
    uint32_t goroutine = kNone;  // That runs on it, as an index.
    uint64_t proc = 0;
    uint64_t proc_sequence = 0;
    uint64_t turns = 0;  // How many goroutines ran on it.
  };

  // The tables, which are the same in each generation.
  void MakeStrings();
  void MakeStacks();

  void WriteSync();
  void WriteTables();
  void WriteBatch(uint64_t thread, uint64_t time, const std::string& payload);

  // Tells the status of all Ps, and of the goroutines on threads.
  void BeginThreads();
  // Tells the status of the goroutines that did nothing in the generation.
  void WriteOtherStatuses();

  void TakeStep(Thread* thread);
  void MeasureHeap(Thread* thread);
  void StartGoroutine(Thread* thread);
  void WakeGoroutine(Thread* thread);
  void CreateGoroutine(Thread* thread);
  void StopGoroutine(Thread* thread);

  // Tells a goroutine's status, unless that was done in the generation. `thread` is the one that it
  // runs on, or all ones.
  void WriteStatus(Goroutine* goroutine, uint64_t thread, OpenBatch* batch);

  // Adds a timed event; its time difference comes before `args`.
  void Emit(EventType type, std::initializer_list<uint64_t> args, OpenBatch* batch);
  void Flush(OpenBatch* batch);

  uint64_t SomeStack();

  SyntheticTraceOptions options_;
  std::minstd_rand random_;          // The standard says which numbers it gives.
  std::vector<std::string> tables_;  // The payloads of their batches.
  uint64_t generation_ = 0;          // The last one begun; the first is 1.
  uint64_t now_;                     // In ticks.
  uint64_t next_id_ = 1;             // Of a goroutine.
  std::vector<Thread> threads_;
  OpenBatch no_thread_;  // For events that no thread made.
  std::vector<Goroutine> goroutines_;
  std::deque<uint32_t> runnable_;  // Indices in goroutines_.
  std::deque<uint32_t> waiting_;   // The same.
  std::vector<uint32_t> ended_;    // The same: to be used for others.
  std::string bytes_;
  WireWriter writer_;
};

// All of the trace that `options` ask for.
std::string MakeTrace(const SyntheticTraceOptions& options);

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_SYNTHETIC_TRACES_H_
