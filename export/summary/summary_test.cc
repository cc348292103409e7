#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "export/summary/summarized.h"
#include "export/summary/summary_page.h"
#include "gotrace/summary_writer.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace summary_test {

TEST(SummaryStats, AreTheSameHoweverTheTraceIsCut) {
  std::vector<std::string> names = {"../diagnosis/polling.trace", "../diagnosis/imbalance.trace",
                                    "../diagnosis/straggler.trace", "../diagnosis/answers.trace"};
  for (const TestTrace& test : TestTraces()) names.emplace_back(test.name);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
        ReadTestTrace(name), [](AnalysisSink::Options options) { return MakeSink(options); },
        [](const AnalysisSink& sink) { return FormatSummaryJson(SummaryOf(sink)); });
    // It is one page.
    const std::string page = FormatSummary(SummaryOf(*whole));
    EXPECT_LE(std::vector<std::string>(absl::StrSplit(page, '\n')).size(), 60) << page;
  }
}

// To start tracing, the world had to stop, which took 63 ms. What the first statuses state was not
// seen before them, whatever it was.
TEST(SummaryStats, ConcludesNothingFromWhatNobodySaw) {
  using enum EventType;
  constexpr int64_t kStart = 63'000'000;
  constexpr int64_t kEnd = kStart + 100'000'000;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Proc(kProcStatus, kStart, 0, ProcState::kUndetermined, ProcState::kRunning);
  events.Go(kGoStatus, kStart, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Number(kProcsChange, kStart, 1);
  events.Go(kGoStatus, kStart + 50'000, 0, 8, GoState::kUndetermined, GoState::kRunnable);
  events.Go(kGoBlock, kStart + 56'000, 0, 1, GoState::kRunning, GoState::kWaiting, "sync");
  events.Go(kGoStart, kStart + 60'000, 0, 8, GoState::kRunnable, GoState::kRunning);
  events.Go(kGoBlock, kStart + 70'000, 0, 8, GoState::kRunning, GoState::kWaiting, "sleep");
  events.Proc(kProcStop, kStart + 75'000, 0, ProcState::kRunning, ProcState::kIdle);
  events.Sync(kEnd, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  const TraceSummary& summary = SummaryOf(*sink);
  EXPECT_EQ(summary.gomaxprocs, 1u);
  EXPECT_EQ(summary.longest_run.length, 56'000);
  EXPECT_EQ(summary.longest_run.begin, kStart);
  EXPECT_TRUE(summary.longest_run.is_clipped);
  ASSERT_FALSE(summary.latencies.empty());
  EXPECT_EQ(summary.latencies[0].kind, LatencyKind::kScheduling);
  EXPECT_EQ(summary.latencies[0].longest.length, 60'000);
  EXPECT_EQ(summary.latencies[0].longest.begin, kStart);
  EXPECT_TRUE(summary.latencies[0].longest.is_clipped);
  EXPECT_EQ(summary.latencies[0].clipped, 1);
  EXPECT_EQ(summary.procs.user, 66'000);
  EXPECT_EQ(summary.procs.Total(), kEnd - kStart);
  EXPECT_EQ(summary.runnable, 60'000);
  EXPECT_TRUE(absl::StrContains(FormatSummary(summary), "Nothing suspicious was found"))
      << FormatSummary(summary);
}

TEST(SummaryStats, SaysWhatLeaksAreBlockedOn) {
  using enum EventType;
  constexpr int64_t kSecond = 1'000'000'000;
  const StackFrame leak[] = {{2, "main.leak", "", 2}};
  const StackFrame send[] = {{3, "main.send", "", 3}, {2, "main.leak", "", 2}};
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kGoCreate, 100, 0, 1)
                  .Transition(GoId{11}, GoState::kNotExist, GoState::kRunnable)
                  .TransitionStack(leak));
  events.Go(kGoStart, 102, 1, 11, GoState::kRunnable, GoState::kRunning);
  events.Push(events.Builder(kGoBlock, 105, 1, 11)
                  .Transition(GoId{11}, GoState::kRunning, GoState::kWaiting)
                  .Reason("chan send")
                  .Stack(send)
                  .TransitionStack(send));
  events.Sync(3 * kSecond, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink();
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_EQ(SummaryOf(*sink).leaks.size(), 1u);
  const TraceSummary::Leak& found = SummaryOf(*sink).leaks[0];
  EXPECT_EQ(found.start, "main.leak");
  EXPECT_EQ(found.reason, "chan send");
  EXPECT_EQ(found.function, "main.send");
  EXPECT_EQ(found.count, 1u);
  EXPECT_EQ(found.grown, 0u);
  EXPECT_EQ(found.longest, 3 * kSecond - 105);
  ASSERT_EQ(SummaryOf(*sink).places.size(), 1u);
  const TraceSummary::Place& place = SummaryOf(*sink).places[0];
  EXPECT_EQ(place.kind, LatencyKind::kBlocked);
  EXPECT_EQ(place.reason, "chan send");
  EXPECT_EQ(place.function, "main.send");
  EXPECT_EQ(place.count, 1u);
  EXPECT_EQ(place.time, 3 * kSecond - 105);
  EXPECT_EQ(place.longest, 3 * kSecond - 105);
}

TEST(SummaryJson, CanBeReadAgain) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string json = FormatSummaryJson(Summarize(std::string(test.name)));
    const absl::StatusOr<TraceSummary> read = ParseSummary(json);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(FormatSummaryJson(*read), json);
  }
}

TEST(TraceSummary, MergesInAnyOrder) {
  const TraceSummary a = Summarize("go1.27-gc.trace");
  const TraceSummary b = Summarize("go1.25-blocking.trace");
  const TraceSummary c = Summarize("go1.26-syscalls.trace");
  TraceSummary abc;
  for (const TraceSummary* one : {&a, &b, &c}) abc.Merge(*one);
  TraceSummary cba;
  for (const TraceSummary* one : {&c, &b, &a}) cba.Merge(*one);
  TraceSummary bc = b;
  bc.Merge(c);
  TraceSummary a_bc = a;
  a_bc.Merge(bc);
  EXPECT_EQ(FormatSummaryJson(abc), FormatSummaryJson(cba));
  EXPECT_EQ(FormatSummaryJson(abc), FormatSummaryJson(a_bc));
  EXPECT_EQ(abc.traces, 3);
  EXPECT_EQ(abc.events, a.events + b.events + c.events);
  EXPECT_EQ(abc.procs.Total(), a.procs.Total() + b.procs.Total() + c.procs.Total());
  EXPECT_TRUE(absl::StrContains(FormatSummary(abc), "3 traces: ")) << FormatSummary(abc);
  // Which of them has the longest wait.
  EXPECT_TRUE(absl::StrContains(FormatSummaryJson(abc), "\"file\":\"go1.27-gc.trace\""));
}

TEST(SummaryJson, ExplainsWhatIsWrong) {
  const std::string json = FormatSummaryJson(Summarize("go1.27-gc.trace"));
  const auto error = [&](const std::string& text) {
    const absl::StatusOr<TraceSummary> read = ParseSummary(text);
    EXPECT_FALSE(read.ok()) << text;
    return std::string(read.status().message());
  };
  EXPECT_EQ(error("{"), "it is not JSON");
  EXPECT_EQ(error(std::string(100'000, '[')), "it is not JSON");
  EXPECT_EQ(error("[]"), "it is not an object");
  EXPECT_EQ(error("{}"), "the member \"traces\" is missing");
  const auto changed = [&](const std::string& from, const std::string& to) {
    EXPECT_TRUE(absl::StrContains(json, from)) << from;
    return error(absl::StrReplaceAll(json, {{from, to}}));
  };
  EXPECT_EQ(changed("\"traces\":1", "\"traces\":-1"), "\"traces\" is not a number from 0 on");
  EXPECT_EQ(changed("\"gc_ns\":", "\"gc_ns\":0."), "\"procs.gc_ns\" is not an integer");
  EXPECT_EQ(changed("\"kind\":\"scheduling\"", "\"kind\":\"other\""),
            "\"latencies[0].kind\" is not the name of a kind");
  EXPECT_EQ(changed("\"scale\":4", "\"scale\":5"), "\"heap_room_percent\" is not a histogram");
  EXPECT_EQ(changed("\"offset\":", "\"offset\":9"), "\"heap_room_percent\" is not a histogram");
  EXPECT_EQ(changed("\"leaks\":[", "\"leaks\":[7"), "\"leaks[0]\" is not an object");
  EXPECT_TRUE(absl::IsNotFound(
      ParseSummary("{\"file\":\"x\",\"complete\":false,\"error\":\"why\"}").status()));
}

TEST(SummaryStats, NamesTheProgramsFunctionForAPlace) {
  Program program;
  program.Wait(7, 10, 60, "sleep", {{1, "time.Sleep", "", 1}, {2, "main.poll", "", 2}});
  const TraceSummary summary = program.Summarize();
  ASSERT_EQ(summary.places.size(), 1u);
  EXPECT_EQ(summary.places[0].function, "main.poll");
  EXPECT_EQ(summary.places[0].time, 50 * kMillisecond);
}

}  // namespace summary_test
}  // namespace gotrace::internal
