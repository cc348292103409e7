#include "bench/hostile_traces.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/event_type.h"
#include "gotrace/version.h"
#include "tracev2/wire_status.h"
#include "tracev2/wire_writer.h"

namespace gotrace::internal {
namespace {

constexpr uint64_t kNoThread = ~uint64_t{0};
constexpr uint64_t kMain = 1;  // The thread that has the events that others wait for.
constexpr uint64_t kProc = 1;
constexpr uint64_t kMainGoroutine = 1;

uint64_t ToWire(GoStatus status) { return static_cast<uint64_t>(status); }
uint64_t ToWire(ProcStatus status) { return static_cast<uint64_t>(status); }

// Builds one generation of Go 1.22 whose ticks are nanoseconds.
class Maker {
 public:
  Maker() : writer_(Version::kGo122, BatchSizeForm::kShortest, &trace_) {
    Begin(kNoThread, 1);
    writer_.Write({EventType::kFrequency, {1'000'000'000}, {}});
  }

  // Begins a batch: further events are of `thread`, after `time`.
  void Begin(uint64_t thread, uint64_t time) {
    thread_ = thread;
    time_ = time;
    writer_.Write({EventType::kEventBatch, {1, thread, time, 0}, {}, /*auto_size=*/true});
    payload_begin_ = trace_.size();
  }

  // Adds an event, one nanosecond after the previous one of the batch.
  void AddTimed(EventType type, std::initializer_list<uint64_t> args = {}) {
    if (IsFull()) Begin(thread_, time_);
    ++time_;
    std::vector<uint64_t> all = {1};
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
    BeginStrings();
    for (uint64_t id = 1; id <= count; ++id) {
      if (IsFull()) BeginStrings();
      writer_.Write({EventType::kString, {id}, absl::StrCat(id)});
    }
  }

  std::string Finish() {
    writer_.Finish();
    return std::move(trace_);
  }

 private:
  void BeginStrings() {
    Begin(kNoThread, 1);
    writer_.Write({EventType::kStrings, {}, {}});
  }

  // Whether the batch is close to the maximum size.
  bool IsFull() const { return trace_.size() - payload_begin_ > 60'000; }

  std::string trace_;
  WireWriter writer_;
  uint64_t thread_ = kNoThread;
  uint64_t time_ = 1;
  size_t payload_begin_ = 0;
};

// The earliest event can never come next, so another has to be found for each event that does.
std::string TopNeverAdvances(uint64_t count, uint64_t threads) {
  Maker maker;
  for (uint64_t i = 0; i < threads; ++i) {
    maker.Begin(100 + i, 1 + i);
    maker.AddTimed(EventType::kGoStart, {9, 5 + i});
  }
  maker.BeginMain(1000);
  for (uint64_t i = 0; i < count; ++i) maker.AddTimed(EventType::kHeapAlloc, {i});
  return maker.Finish();
}

// Thousands of threads wait for one goroutine, and the latest event must come first.
std::string ThreadsInReverse(uint64_t count) {
  Maker maker;
  for (uint64_t i = 0; i < count; ++i) {
    maker.Begin(100 + i, 1 + count - i);
    maker.AddTimed(EventType::kGoUnblock, {2, 2 * i + 1, 0});
  }
  maker.BeginMainWithWaiting(10 * count);
  for (uint64_t i = 0; i < count; ++i) {
    maker.AddTimed(EventType::kGoStart, {2, 2 * i + 2});
    maker.AddTimed(EventType::kGoBlock, {0, 0});
  }
  return maker.Finish();
}

// Thousands of threads wait for the same number, which comes again and again.
std::string ThreadsForOneNumber(uint64_t count) {
  Maker maker;
  for (uint64_t i = 0; i < count; ++i) {
    maker.Begin(100 + i, 1 + i);
    maker.AddTimed(EventType::kGoUnblock, {2, 1, 0});
  }
  maker.BeginMainWithWaiting(10 * count);
  for (uint64_t i = 0; i < count; ++i) {
    maker.AddTimed(EventType::kGoStart, {2, 2});
    maker.AddTimed(EventType::kGoBlock, {0, 0});
    maker.AddTimed(EventType::kGoStatus, {2, kNoThread, ToWire(GoStatus::kWaiting)});
  }
  return maker.Finish();
}

// Thousands of threads must lose a P before they can continue, all of them the same P.
std::string ThreadsOnOneProc(uint64_t count) {
  Maker maker;
  for (uint64_t i = 0; i < count; ++i) {
    maker.Begin(100 + i, 2 + 10 * i);
    maker.AddTimed(EventType::kProcStatus, {kProc, ToWire(ProcStatus::kSyscall)});
    maker.AddTimed(EventType::kGoStatus, {100 + i, 100 + i, ToWire(GoStatus::kSyscall)});
    maker.AddTimed(EventType::kGoSyscallEndBlocked);
  }
  maker.Begin(kMain, 20 * count);
  for (uint64_t i = 0; i < count; ++i) {
    maker.AddTimed(EventType::kProcStatus, {kProc, ToWire(ProcStatus::kSyscallAbandoned)});
  }
  return maker.Finish();
}

// Thousands of threads steal one P, and the latest event must come first.
std::string Thieves(uint64_t count) {
  Maker maker;
  for (uint64_t i = 0; i < count; ++i) {
    maker.Begin(100 + i, 1 + count - i);
    maker.AddTimed(EventType::kProcSteal, {kProc, 3 * i + 2, kMain});
  }
  maker.BeginMain(10 * count);
  for (uint64_t i = 0; i < count; ++i) {
    maker.AddTimed(EventType::kGoSyscallBegin, {3 * i + 1, 0});
    maker.AddTimed(EventType::kGoSyscallEndBlocked);
    maker.AddTimed(EventType::kProcStart, {kProc, 3 * i + 3});
    maker.AddTimed(EventType::kGoStart, {kMainGoroutine, i + 1});
  }
  return maker.Finish();
}

std::string TasksThatNeverEnd(uint64_t count) {
  Maker maker;
  maker.AddStrings(2);
  maker.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) maker.AddTimed(EventType::kUserTaskBegin, {i, i - 1, 1, 0});
  return maker.Finish();
}

// Nested regions that end from the inside or, if misnested, from the outside.
std::string Regions(uint64_t count, bool misnested) {
  Maker maker;
  maker.AddStrings(count);
  maker.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) maker.AddTimed(EventType::kUserRegionBegin, {0, i, 0});
  for (uint64_t i = 1; i <= count; ++i) {
    maker.AddTimed(EventType::kUserRegionEnd, {0, misnested ? i : count + 1 - i, 0});
  }
  return maker.Finish();
}

// Many stop-the-world ranges that are open at once, each with a different reason.
std::string StopsOfTheWorld(uint64_t count) {
  Maker maker;
  maker.AddStrings(count);
  maker.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) maker.AddTimed(EventType::kSTWBegin, {i, 0});
  maker.AddTimed(EventType::kGCMarkAssistBegin, {0});
  for (uint64_t i = 0; i < count; ++i) maker.AddTimed(EventType::kSTWEnd);
  return maker.Finish();
}

}  // namespace

absl::Span<const HostileTrace> HostileTraces() {
  static constexpr HostileTrace kTraces[] = {
      {"top never advances", [](uint64_t count) { return TopNeverAdvances(count, 1); }},
      {"top 60 never advance", [](uint64_t count) { return TopNeverAdvances(count, 60); }},
      {"top half never advances", [](uint64_t count) { return TopNeverAdvances(count, count); }},
      {"threads in reverse", ThreadsInReverse},
      {"threads for one number", ThreadsForOneNumber},
      {"threads on one P", ThreadsOnOneProc},
      {"thieves", Thieves},
      {"tasks that never end", TasksThatNeverEnd},
      {"nested regions", [](uint64_t count) { return Regions(count, false); }},
      {"misnested regions", [](uint64_t count) { return Regions(count, true); }},
      {"stops of the world", StopsOfTheWorld},
  };
  return kTraces;
}

}  // namespace gotrace::internal
