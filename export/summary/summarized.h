// Summaries of traces, and of programs that tests make up.
#ifndef GOTRACE_EXPORT_SUMMARY_SUMMARIZED_H_
#define GOTRACE_EXPORT_SUMMARY_SUMMARIZED_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "analysis/core/built_events.h"
#include "export/summary/summary_page.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {

inline std::unique_ptr<MergeableAnalysisSink<SummaryStats>> MakeSink(
    AnalysisSink::Options options = {}) {
  return std::make_unique<MergeableAnalysisSink<SummaryStats>>(
      [&](Interner* interner) { return std::make_unique<SummaryStats>(interner, options.window); },
      options);
}

inline const TraceSummary& SummaryOf(const AnalysisSink& sink) {
  return static_cast<const SummaryStats&>(sink.analysis()).summary();
}

inline TraceSummary Summarize(const std::string& name) {
  const std::string bytes = ReadTestTrace(name);
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok());
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  EXPECT_TRUE(ReadInto(*reader, {sink.get()}).ok());
  TraceSummary summary = SummaryOf(*sink);
  summary.SetFile(name);
  return summary;
}

constexpr int64_t kMillisecond = 1'000'000;

// A trace of a second, unless a test says otherwise, in which goroutines do what the test says.
// Goroutine 1 takes no time, and two Ps are idle. Times are in milliseconds.
class Program {
 public:
  using Stack = std::vector<StackFrame>;

  // Goroutine `g` waits for `reason` from `begin` to `end`, when goroutine `by` wakes it, or a
  // timer if it is -1.
  void Wait(int64_t g, int64_t begin, int64_t end, absl::string_view reason, const Stack& stack,
            int64_t by = -1, const Stack& waker = {}) {
    Block(g, begin, reason, stack);
    At(end, events_.Builder(EventType::kGoUnblock, 0, 0, by)
                .Transition(GoId{g}, GoState::kWaiting, GoState::kRunnable)
                .Stack(waker));
    Run(g, end);
  }
  // The same without an end.
  void Block(int64_t g, int64_t begin, absl::string_view reason, const Stack& stack) {
    Know(g);
    At(begin, events_.Builder(EventType::kGoBlock, 0, 1, g)
                  .Transition(GoId{g}, GoState::kRunning, GoState::kWaiting)
                  .Reason(reason)
                  .Stack(stack));
  }
  // Goroutine `g` is in a syscall from `begin` to `end`.
  void Call(int64_t g, int64_t begin, int64_t end, const Stack& stack) {
    Know(g);
    At(begin, events_.Builder(EventType::kGoSyscallBegin, 0, 1, g)
                  .Transition(GoId{g}, GoState::kRunning, GoState::kSyscall)
                  .Stack(stack));
    At(end, events_.Builder(EventType::kGoSyscallEnd, 0, 1, g)
                .Transition(GoId{g}, GoState::kSyscall, GoState::kRunning));
  }
  // Goroutine `g` is in a mark assist from `begin` to `end`.
  void Assist(int64_t g, int64_t begin, int64_t end) {
    Know(g);
    At(begin, events_.Builder(EventType::kGCMarkAssistBegin, 0, 1, g));
    At(end, events_.Builder(EventType::kGCMarkAssistEnd, 0, 1, g));
  }
  // Goroutine `g` has a task, and a region that is all of it.
  void Task(int64_t g, int64_t begin, int64_t end, uint64_t id, const Stack& stack) {
    Know(g);
    const auto at = [&](int64_t time, EventType type) {
      EventBuilder builder = events_.Builder(type, 0, 1, g);
      builder.Task(TaskId{id}).Stack(stack);
      if (type == EventType::kUserTaskBegin) builder.TaskType("request");
      if (type == EventType::kUserRegionBegin || type == EventType::kUserRegionEnd) {
        builder.RegionType("all of it");
      }
      At(time, builder);
    };
    at(begin, EventType::kUserTaskBegin);
    at(begin, EventType::kUserRegionBegin);
    at(end, EventType::kUserRegionEnd);
    at(end, EventType::kUserTaskEnd);
  }
  // Goroutine `by` creates goroutine `g`.
  void Create(int64_t g, int64_t time, const Stack& start, int64_t by = 1,
              const Stack& creation = {}) {
    known_.insert(g);
    At(time, events_.Builder(EventType::kGoCreate, 0, 0, by)
                 .Transition(GoId{g}, GoState::kNotExist, GoState::kRunnable)
                 .TransitionStack(start)
                 .Stack(creation));
    Run(g, time);
  }
  void End(int64_t g, int64_t time) {
    At(time, events_.Builder(EventType::kGoDestroy, 0, 1, g)
                 .Transition(GoId{g}, GoState::kRunning, GoState::kNotExist));
  }

  TraceSummary Summarize(int64_t length = 1000) {
    absl::c_stable_sort(steps_, [](const auto& a, const auto& b) { return a.first < b.first; });
    events_.Sync(0, 1);
    events_.Number(EventType::kProcsChange, 0, 4);
    for (const int64_t p : {2, 3}) {
      events_.Proc(EventType::kProcStatus, 0, p, ProcState::kUndetermined, ProcState::kIdle);
    }
    events_.Go(EventType::kGoStatus, 0, 0, 1, GoState::kUndetermined, GoState::kWaiting);
    for (auto& [time, builder] : steps_) events_.Push(builder.Time(time));
    events_.Sync(length * kMillisecond, 2);
    const std::unique_ptr<AnalysisSink> sink = MakeSink();
    sink->Add(events_.events());
    EXPECT_TRUE(sink->Finish().ok());
    return SummaryOf(*sink);
  }

 private:
  void At(int64_t time, const EventBuilder& builder) {
    steps_.emplace_back(time * kMillisecond, builder);
  }
  void Run(int64_t g, int64_t time) {
    At(time, events_.Builder(EventType::kGoStart, 0, 1, g)
                 .Transition(GoId{g}, GoState::kRunnable, GoState::kRunning));
  }
  // A goroutine that was not created is blocked from the beginning until it does something.
  void Know(int64_t g) {
    if (g == 1 || !known_.insert(g).second) return;
    At(0, events_.Builder(EventType::kGoStatus, 0, 1, g)
              .Transition(GoId{g}, GoState::kUndetermined, GoState::kRunning));
  }

  BuiltEvents events_;
  std::vector<std::pair<int64_t, EventBuilder>> steps_;
  std::set<int64_t> known_;
};

inline std::string SuspicionsOf(const TraceSummary& summary) {
  std::string text;
  for (const TraceSummary::Suspicion& s : summary.Suspicions()) {
    absl::StrAppend(&text, SuspicionId(s.kind), ": ", SuspicionText(s, summary), "\n");
  }
  return text;
}

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SUMMARY_SUMMARIZED_H_
