#include "bench/hostile_traces.h"

#include <algorithm>

#include "bench/trace_builder.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {
namespace {

// The earliest event can never come next, so another has to be found for each event that does.
std::string TopNeverAdvances(uint64_t count, uint64_t threads) {
  TraceBuilder maker;
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
  TraceBuilder maker;
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
  TraceBuilder maker;
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
  TraceBuilder maker;
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
  TraceBuilder maker;
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
  TraceBuilder maker;
  maker.AddStrings(2);
  maker.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) maker.AddTimed(EventType::kUserTaskBegin, {i, i - 1, 1, 0});
  return maker.Finish();
}

// Nested regions that end from the inside or, if misnested, from the outside.
std::string Regions(uint64_t count, bool misnested) {
  TraceBuilder maker;
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
  TraceBuilder maker;
  maker.AddStrings(count);
  maker.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) maker.AddTimed(EventType::kSTWBegin, {i, 0});
  maker.AddTimed(EventType::kGCMarkAssistBegin, {0});
  for (uint64_t i = 0; i < count; ++i) maker.AddTimed(EventType::kSTWEnd);
  return maker.Finish();
}

// The same, while the goroutine stops and starts.
std::string StopsAroundStarts(uint64_t count) {
  TraceBuilder maker;
  maker.AddStrings(count);
  maker.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) maker.AddTimed(EventType::kSTWBegin, {i, 0});
  for (uint64_t i = 1; i <= count; ++i) {
    maker.AddTimed(EventType::kGoStop, {1, 0});
    maker.AddTimed(EventType::kGoStart, {kMainGoroutine, i});
  }
  return maker.Finish();
}

// Stop-the-world ranges that begin within a region and end after it, which other regions are
// around. They have as many reasons as those of Go's runtime, because each region has a time for
// each reason: the result would grow by more than the trace.
std::string StopsAcrossRegions(uint64_t count) {
  constexpr uint64_t kReasons = 20;
  TraceBuilder maker;
  maker.AddStrings(std::max(count, kReasons));
  maker.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) maker.AddTimed(EventType::kUserRegionBegin, {0, i, 0});
  for (uint64_t i = count; i >= 1; --i) {
    for (uint64_t reason = 1; reason <= kReasons; ++reason) {
      maker.AddTimed(EventType::kSTWBegin, {reason, 0});
    }
    maker.AddTimed(EventType::kUserRegionEnd, {0, i, 0});
    for (uint64_t reason = 0; reason < kReasons; ++reason) maker.AddTimed(EventType::kSTWEnd);
  }
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
      {"stops around starts", StopsAroundStarts},
      {"stops across regions", StopsAcrossRegions},
  };
  return kTraces;
}

}  // namespace gotrace::internal
