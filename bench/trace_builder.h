// Builds traces for benchmarks, event by event.
#ifndef GOTRACE_BENCH_TRACE_BUILDER_H_
#define GOTRACE_BENCH_TRACE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/event_type.h"
#include "gotrace/version.h"
#include "tracev2/wire_status.h"
#include "tracev2/wire_writer.h"

namespace gotrace::internal {

inline constexpr uint64_t kNoThread = ~uint64_t{0};
inline constexpr uint64_t kMain = 1;  // The thread that has the events that others wait for.
inline constexpr uint64_t kProc = 1;
inline constexpr uint64_t kMainGoroutine = 1;

inline uint64_t ToWire(GoStatus status) { return static_cast<uint64_t>(status); }
inline uint64_t ToWire(ProcStatus status) { return static_cast<uint64_t>(status); }

// Builds a trace whose ticks are nanoseconds.
class TraceBuilder {
 public:
  explicit TraceBuilder(Version version = Version::kGo122)
      : writer_(version, BatchSizeForm::kShortest, &trace_) {
    BeginGeneration(1);
  }

  TraceBuilder(const TraceBuilder&) = delete;  // The writer refers to the trace.
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  // Begins a generation. Requires that the number is the next one.
  void BeginGeneration(uint64_t number) {
    generation_ = number;
    Begin(kNoThread, 1);
    writer_.Write({EventType::kFrequency, {1'000'000'000}, {}});
  }

  // Begins a batch: further events are of `thread`, after `time`.
  void Begin(uint64_t thread, uint64_t time) {
    thread_ = thread;
    time_ = time;
    writer_.Write({EventType::kEventBatch, {generation_, thread, time, 0}, {}, /*auto_size=*/true});
    payload_begin_ = trace_.size();
  }

  // Adds an event, one nanosecond after the previous one of the batch.
  void AddTimed(EventType type, std::initializer_list<uint64_t> args = {}) {
    AddTimedAfter(1, type, args);
  }

  // The same after `ticks` instead.
  void AddTimedAfter(uint64_t ticks, EventType type, std::initializer_list<uint64_t> args) {
    if (IsFull()) Begin(thread_, time_);
    time_ += ticks;
    std::vector<uint64_t> all = {ticks};
    all.insert(all.end(), args);
    writer_.Write({type, std::move(all), {}});
  }

  // Begins the main thread, with a P and a running goroutine.
  void BeginMain(uint64_t time) {
    Begin(kMain, time);
    AddTimed(EventType::kProcStatus, {kProc, ToWire(ProcStatus::kRunning)});
    AddTimed(EventType::kGoStatus, {kMainGoroutine, kMain, ToWire(GoStatus::kRunning)});
  }

  // The same, and goroutine 2, which waits.
  void BeginMainWithWaiting(uint64_t time) {
    Begin(kMain, time);
    AddTimed(EventType::kProcStatus, {kProc, ToWire(ProcStatus::kRunning)});
    AddTimed(EventType::kGoStatus, {2, kNoThread, ToWire(GoStatus::kWaiting)});
  }

  // Adds a batch of `count` strings, "1", "2" and so on, with these ids.
  void AddStrings(uint64_t count) {
    BeginTable(EventType::kStrings);
    for (uint64_t id = 1; id <= count; ++id) {
      if (IsFull()) BeginTable(EventType::kStrings);
      writer_.Write({EventType::kString, {id}, absl::StrCat(id)});
    }
  }

  // Adds batches of `count` stacks with the ids from 1 on, each of `frames` frames. No two frames
  // are the same. The frames have the function with the id of their stack.
  void AddStacks(uint64_t count, uint64_t frames) {
    BeginTable(EventType::kStacks);
    for (uint64_t id = 1; id <= count; ++id) {
      if (IsFull()) BeginTable(EventType::kStacks);
      std::vector<uint64_t> args = {id, frames};
      for (uint64_t i = 0; i < frames; ++i) {
        args.insert(args.end(), {id * frames + i, id, 1, i + 1});
      }
      writer_.Write({EventType::kStack, std::move(args), {}});
    }
  }

  // Begins a batch of CPU samples, and adds one.
  void BeginSamples() { BeginTable(EventType::kCPUSamples); }
  void AddSample(uint64_t time, uint64_t thread, uint64_t proc, uint64_t goroutine,
                 uint64_t stack) {
    if (IsFull()) BeginSamples();
    writer_.Write({EventType::kCPUSample, {time, thread, proc, goroutine, stack}, {}});
  }

  std::string Finish() {
    writer_.Finish();
    return std::move(trace_);
  }

 private:
  void BeginTable(EventType type) {
    Begin(kNoThread, 1);
    writer_.Write({type, {}, {}});
  }

  // Whether the batch is close to the maximum size.
  bool IsFull() const { return trace_.size() - payload_begin_ > 60'000; }

  std::string trace_;
  WireWriter writer_;
  uint64_t generation_ = 1;
  uint64_t thread_ = kNoThread;
  uint64_t time_ = 1;
  size_t payload_begin_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_BENCH_TRACE_BUILDER_H_
