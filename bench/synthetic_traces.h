// Generates traces of programs that never ran, as large and as interleaved as a measurement needs.
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
  // The number of threads, at least 1. Each has a P and is always busy. The thread of each event is
  // chosen at random, so that successive events are usually of different threads.
  int threads = 2;

  // The number of live goroutines; raised to two for each thread if it is less.
  uint64_t goroutines = 100;

  uint64_t generations = 1;

  // The number of events in each generation, in addition to the statuses of all Ps and goroutines,
  // which each generation states.
  uint64_t events = 100'000;

  // How far the clocks of every other thread are ahead, in ticks of 64 ns. If it is not 0, the
  // order of times contradicts the order of events, and events have to wait for others. Must be odd
  // or 0, so that no two events have the same time.
  uint64_t skew = 0;
};

// Simulates a scheduler and writes what it does in the way of the runtime of Go 1.27. Goroutines
// start, enter syscalls, wake one another and block, and now and then one ends and another begins.
// The same options always give the same bytes. Not thread-safe.
class TraceMaker {
 public:
  explicit TraceMaker(const SyntheticTraceOptions& options);
  TraceMaker(const TraceMaker&) = delete;
  TraceMaker& operator=(const TraceMaker&) = delete;

  // Returns the bytes of the next generation, or "" after the last one. The first one includes the
  // header of the trace. The bytes are valid until the next call. Memory is bounded by the live
  // goroutines and one generation.
  absl::string_view NextGeneration();

 private:
  static constexpr uint32_t kNone = static_cast<uint32_t>(-1);

  struct Goroutine {
    uint64_t id = 0;
    GoStatus status = GoStatus::kWaiting;
    uint64_t generation = 0;  // The generation in which its status was written last.
    uint64_t sequence = 0;    // In that generation.
  };

  // A batch that is being filled.
  struct OpenBatch {
    uint64_t thread = 0;
    uint64_t clock_ahead = 0;  // In ticks.
    uint64_t begin_time = 0;   // In ticks, like all times.
    uint64_t last_time = 0;
    std::string payload;
  };

  // What a thread does next.
  enum class Step : uint8_t { kStart, kMeasure, kEnterSyscall, kLeaveSyscall, kWake, kStop };

  struct Thread {
    OpenBatch batch;
    Step step = Step::kStart;
    uint32_t goroutine = kNone;  // The index of the goroutine that it is running.
    uint64_t proc = 0;
    uint64_t proc_sequence = 0;
    uint64_t turns = 0;  // The number of goroutines that it has run.
  };

  // Make the tables, which are the same in each generation.
  void MakeStrings();
  void MakeStacks();

  void WriteSync();
  void WriteTables();
  void WriteBatch(uint64_t thread, uint64_t time, const std::string& payload);

  // Writes the statuses of all Ps, and of the goroutines on threads.
  void BeginThreads();
  // Writes the statuses of the goroutines that had no event in the generation.
  void WriteOtherStatuses();

  void TakeStep(Thread* thread);
  void MeasureHeap(Thread* thread);
  void StartGoroutine(Thread* thread);
  void WakeGoroutine(Thread* thread);
  void CreateGoroutine(Thread* thread);
  void StopGoroutine(Thread* thread);

  // Writes the status of a goroutine, unless the generation already has it. `thread` is the thread
  // that it runs on, or all ones.
  void WriteStatus(Goroutine* goroutine, uint64_t thread, OpenBatch* batch);

  // Adds a timed event; its time difference comes before `args`.
  void Emit(EventType type, std::initializer_list<uint64_t> args, OpenBatch* batch);
  void Flush(OpenBatch* batch);

  uint64_t SomeStack();

  SyntheticTraceOptions options_;
  std::minstd_rand random_;          // The standard defines its sequence of numbers.
  std::vector<std::string> tables_;  // The payloads of the batches of tables.
  uint64_t generation_ = 0;          // The current generation; the first is 1.
  uint64_t now_;                     // In ticks.
  uint64_t next_id_ = 1;             // The id of the next goroutine.
  std::vector<Thread> threads_;
  OpenBatch no_thread_;  // The batch of events that no thread has.
  std::vector<Goroutine> goroutines_;
  std::deque<uint32_t> runnable_;  // Indices in goroutines_.
  std::deque<uint32_t> waiting_;   // Indices in goroutines_.
  std::vector<uint32_t> ended_;    // Indices in goroutines_ that can be used again.
  std::string bytes_;
  WireWriter writer_;
};

// Returns the whole trace with these options.
std::string MakeTrace(const SyntheticTraceOptions& options);

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_SYNTHETIC_TRACES_H_
