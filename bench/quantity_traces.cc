#include "bench/quantity_traces.h"

#include <cstdint>
#include <string>

#include "bench/trace_builder.h"
#include "gotrace/event_type.h"
#include "gotrace/version.h"

namespace gotrace::internal {
namespace {

// A thread that creates goroutines for others, and wakes them.
constexpr uint64_t kWorker = 2;

// A trace with so many strings, and stacks of one frame, and with its main thread.
class WithTables : public TraceBuilder {
 public:
  explicit WithTables(uint64_t strings, uint64_t stacks = 0) {
    AddStrings(strings);
    if (stacks > 0) AddStacks(stacks, 1);
    BeginMain(1);
  }
};

std::string Generations(uint64_t count) {
  TraceBuilder trace;
  for (uint64_t i = 1; i <= count; ++i) {
    if (i > 1) trace.BeginGeneration(i);
    trace.BeginMain(10 * i);
    trace.AddTimed(EventType::kHeapAlloc, {i});
  }
  return trace.Finish();
}

// Strings that nothing refers to.
std::string Strings(uint64_t count) {
  WithTables trace(count);
  trace.AddTimed(EventType::kHeapAlloc, {1});
  return trace.Finish();
}

// Goroutines that never run.
std::string Goroutines(uint64_t count) {
  WithTables trace(count, count);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGoCreate, {100 + i, i, 1});
  }
  return trace.Finish();
}

// Goroutines that start in different functions, run one after the other, and end or wait forever.
std::string ShortGoroutines(uint64_t count, bool end) {
  WithTables trace(count, count);
  for (uint64_t i = 1; i <= count; ++i) trace.AddTimed(EventType::kGoCreate, {100 + i, i, 1});
  trace.AddTimed(EventType::kGoStop, {1, 1});
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGoStart, {100 + i, 1});
    if (end) {
      trace.AddTimed(EventType::kGoDestroy);
    } else {
      trace.AddTimed(EventType::kGoBlock, {i, i});
    }
  }
  return trace.Finish();
}

// Each goroutine wakes the next one and waits.
std::string WakeUps(uint64_t count) {
  TraceBuilder trace;
  trace.AddStrings(count);
  trace.AddStacks(count, 1);
  trace.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGoStatus, {100 + i, kNoThread, ToWire(GoStatus::kWaiting)});
  }
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGoUnblock, {100 + i, 1, i});
    trace.AddTimed(EventType::kGoBlock, {i, i});
    trace.AddTimed(EventType::kGoStart, {100 + i, 2});
  }
  return trace.Finish();
}

std::string Procs(uint64_t count) {
  WithTables trace(0);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kProcStatus, {kProc + i, ToWire(ProcStatus::kIdle)});
  }
  return trace.Finish();
}

std::string Threads(uint64_t count) {
  TraceBuilder trace;
  trace.AddStrings(1);
  trace.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.Begin(100 + i, 10 + 4 * i);
    trace.AddTimed(EventType::kProcStatus, {kProc + i, ToWire(ProcStatus::kRunning)});
    trace.AddTimed(EventType::kGoStatus, {100 + i, 100 + i, ToWire(GoStatus::kRunning)});
    trace.AddTimed(EventType::kGoStop, {1, 0});
  }
  return trace.Finish();
}

std::string Labels(uint64_t count) {
  WithTables trace(count);
  for (uint64_t i = 1; i <= count; ++i) trace.AddTimed(EventType::kGoLabel, {i});
  return trace.Finish();
}

std::string Logs(uint64_t count) {
  WithTables trace(count);
  for (uint64_t i = 1; i <= count; ++i) trace.AddTimed(EventType::kUserLog, {i, i, i, 0});
  return trace.Finish();
}

// Stops with different stacks, of `frames` frames each.
std::string Stacks(uint64_t count, uint64_t frames) {
  TraceBuilder trace;
  trace.AddStrings(count + 1);
  trace.AddStacks(count, frames);
  trace.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGoStop, {1, i});
    trace.AddTimed(EventType::kGoStart, {kMainGoroutine, i});
  }
  return trace.Finish();
}

// Waits or stops for different reasons.
std::string Reasons(uint64_t count, EventType type) {
  WithTables trace(count);
  uint64_t number = 0;
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(type, {i, 0});
    if (type == EventType::kGoBlock) {
      trace.AddTimed(EventType::kGoUnblock, {kMainGoroutine, ++number, 0});
    }
    trace.AddTimed(EventType::kGoStart, {kMainGoroutine, ++number});
  }
  return trace.Finish();
}

std::string Syscalls(uint64_t count) {
  WithTables trace(count, count);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGoSyscallBegin, {i, i});
    trace.AddTimed(EventType::kGoSyscallEnd);
  }
  return trace.Finish();
}

std::string Tasks(uint64_t count) {
  WithTables trace(count);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kUserTaskBegin, {i, 0, i, 0});
    trace.AddTimed(EventType::kUserTaskEnd, {i, 0});
  }
  return trace.Finish();
}

// Regions of different types and tasks.
std::string RegionsInARow(uint64_t count) {
  WithTables trace(count);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kUserRegionBegin, {i, i, 0});
    trace.AddTimed(EventType::kUserRegionEnd, {i, i, 0});
  }
  return trace.Finish();
}

std::string NestedRegions(uint64_t count) {
  WithTables trace(count);
  for (uint64_t i = 1; i <= count; ++i) trace.AddTimed(EventType::kUserRegionBegin, {i, i, 0});
  for (uint64_t i = count; i >= 1; --i) trace.AddTimed(EventType::kUserRegionEnd, {i, i, 0});
  return trace.Finish();
}

// Regions of a goroutine that has waited for many reasons.
std::string RegionsAfterWaits(uint64_t count) {
  WithTables trace(count);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGoBlock, {i, 0});
    trace.AddTimed(EventType::kGoUnblock, {kMainGoroutine, 2 * i - 1, 0});
    trace.AddTimed(EventType::kGoStart, {kMainGoroutine, 2 * i});
  }
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kUserRegionBegin, {i, 1, 0});
    trace.AddTimed(EventType::kUserRegionEnd, {i, 1, 0});
  }
  return trace.Finish();
}

// Sweeps of different Ps, which are open to the end.
std::string OpenSweeps(uint64_t count) {
  TraceBuilder trace;
  trace.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.Begin(100 + i, 10 + 4 * i);
    trace.AddTimed(EventType::kProcStatus, {kProc + i, ToWire(ProcStatus::kRunning)});
    trace.AddTimed(EventType::kGoStatus, {100 + i, 100 + i, ToWire(GoStatus::kRunning)});
    trace.AddTimed(EventType::kGCSweepBegin, {0});
  }
  return trace.Finish();
}

std::string StopsInARow(uint64_t count) {
  WithTables trace(count);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kSTWBegin, {i, 0});
    trace.AddTimed(EventType::kSTWEnd);
  }
  return trace.Finish();
}

// Cycles of the garbage collector, each with an assist and a sweep.
std::string Collections(uint64_t count) {
  WithTables trace(0);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kGCBegin, {2 * i + 1, 0});
    trace.AddTimed(EventType::kGCMarkAssistBegin, {0});
    trace.AddTimed(EventType::kGCMarkAssistEnd);
    trace.AddTimed(EventType::kGCEnd, {2 * i + 2});
    trace.AddTimed(EventType::kGCSweepBegin, {0});
    trace.AddTimed(EventType::kGCSweepEnd, {1, 1});
    trace.AddTimed(EventType::kHeapAlloc, {i});
    trace.AddTimed(EventType::kHeapGoal, {i});
  }
  return trace.Finish();
}

// CPU samples with different stacks.
std::string Samples(uint64_t count) {
  WithTables trace(count, count);
  trace.AddTimedAfter(2 * count, EventType::kHeapAlloc, {1});
  trace.BeginSamples();
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddSample(10 + i, kMain, kProc, i % 2 == 0 ? 0 : kMainGoroutine, i);
  }
  return trace.Finish();
}

// Objects of different types that are allocated and, if `free`, freed.
std::string HeapObjects(uint64_t count, bool free) {
  TraceBuilder trace(Version::kGo123);
  trace.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) trace.AddTimed(EventType::kHeapObjectAlloc, {i, i});
  for (uint64_t i = 1; i <= count && free; ++i) trace.AddTimed(EventType::kHeapObjectFree, {i});
  return trace.Finish();
}

std::string SpansAndStacks(uint64_t count) {
  TraceBuilder trace(Version::kGo123);
  trace.BeginMain(1);
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kSpanAlloc, {i, 1, 4});
    trace.AddTimed(EventType::kGoroutineStackAlloc, {i, 12});
  }
  for (uint64_t i = 1; i <= count; ++i) {
    trace.AddTimed(EventType::kSpanFree, {i});
    trace.AddTimed(EventType::kGoroutineStackFree, {i});
  }
  return trace.Finish();
}

// Two threads whose events all have the same time.
std::string EqualTimes(uint64_t count) {
  WithTables trace(0);
  trace.AddTimedAfter(100, EventType::kHeapAlloc, {0});
  for (uint64_t i = 1; i <= count; ++i) trace.AddTimedAfter(0, EventType::kHeapAlloc, {i});
  trace.Begin(kWorker, 98);
  trace.AddTimed(EventType::kProcStatus, {kProc + 1, ToWire(ProcStatus::kRunning)});
  trace.AddTimed(EventType::kGoStatus, {2, kWorker, ToWire(GoStatus::kRunning)});
  for (uint64_t i = 1; i <= count; ++i) trace.AddTimedAfter(0, EventType::kHeapGoal, {i});
  return trace.Finish();
}

}  // namespace

absl::Span<const HostileTrace> QuantityTraces() {
  static constexpr HostileTrace kTraces[] = {
      {"generations", Generations},
      {"strings", Strings},
      {"goroutines that never run", Goroutines},
      {"goroutines that end", [](uint64_t count) { return ShortGoroutines(count, true); }},
      {"goroutines that wait", [](uint64_t count) { return ShortGoroutines(count, false); }},
      {"wake-ups", WakeUps},
      {"Ps", Procs},
      {"threads", Threads},
      {"labels", Labels},
      {"messages", Logs},
      {"stacks", [](uint64_t count) { return Stacks(count, 1); }},
      {"frames", [](uint64_t count) { return Stacks(count / 16 + 1, 64); }},
      {"reasons to wait", [](uint64_t count) { return Reasons(count, EventType::kGoBlock); }},
      {"reasons to stop", [](uint64_t count) { return Reasons(count, EventType::kGoStop); }},
      {"syscalls", Syscalls},
      {"tasks", Tasks},
      {"regions in a row", RegionsInARow},
      {"nested regions of tasks", NestedRegions},
      {"regions after waits", RegionsAfterWaits},
      {"stops in a row", StopsInARow},
      {"open sweeps", OpenSweeps},
      {"collections", Collections},
      {"samples", Samples},
      {"objects", [](uint64_t count) { return HeapObjects(count, false); }},
      {"freed objects", [](uint64_t count) { return HeapObjects(count, true); }},
      {"spans and stacks", SpansAndStacks},
      {"equal times", EqualTimes},
  };
  return kTraces;
}

}  // namespace gotrace::internal
