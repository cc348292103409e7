#include "gotrace/trim.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gotrace/event_builder.h"
#include "gotrace/gc_stats.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/proc_stats.h"
#include "gotrace/reader.h"
#include "gotrace/run_analysis.h"
#include "gotrace/task_stats.h"
#include "gotrace/text_exporter.h"
#include "gotrace/trace_writer.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/golden_case.h"
#include "testing/test_util.h"
#include "testing/validated_cases.h"

namespace gotrace::internal {
namespace trim_test {

WindowOptions Window(int64_t from, int64_t to) {
  WindowOptions window;
  window.filter.times = {from, to};
  return window;
}

struct Trimmed {
  std::string bytes;
  TrimmedTrace result;
  absl::Status status;
};

Trimmed Trim(absl::string_view bytes, const WindowOptions& window) {
  Trimmed trimmed;
  const std::unique_ptr<ByteSink> out = SinkToString(&trimmed.bytes);
  absl::StatusOr<TrimmedTrace> result = TrimTrace(*SourceFromBytes(bytes), window, {}, out.get());
  trimmed.status = result.status();
  if (result.ok()) trimmed.result = *std::move(result);
  EXPECT_TRUE(out->Finish().ok());
  return trimmed;
}

void ExpectSound(const std::string& bytes) {
  ValidateOptions options;
  options.strictness = Strictness::kGo;
  const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), options);
  EXPECT_EQ(report.verdict(), Verdict::kSound) << ShowReport(report);
}

// The first and the last time of a trace, and the text of its events in a window without kSync
// events, and without statuses and ranges that repeat what is known.
struct Text {
  int64_t first = 0;
  int64_t last = 0;
  int64_t second = 0;  // When the second generation begins, or the trace ends.
  std::vector<std::string> events;
};

bool IsRepeated(const Event& event) {
  return event.kind() == EventKind::kRangeActive ||
         (event.kind() == EventKind::kStateTransition &&
          (event.type() == EventType::kGoStatus || event.type() == EventType::kGoStatusStack ||
           event.type() == EventType::kProcStatus));
}

Text TextOf(absl::string_view bytes, int64_t from, int64_t to) {
  Text text;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok()) << reader.status();
  bool is_first = true;
  int syncs = 0;
  EXPECT_TRUE(reader
                  ->ForEach([&](const Event& event) {
                    if (std::exchange(is_first, false)) text.first = event.time();
                    text.last = event.time();
                    const bool begins = event.kind() == EventKind::kSync;
                    if (begins && ++syncs == 2) text.second = event.time();
                    if (begins || IsRepeated(event)) return;
                    if (event.time() < from || event.time() > to) return;
                    text.events.push_back(FormatEvent(event));
                  })
                  .ok());
  return text;
}

// The numbers of a window. `name` and the reason of a wait are left out where the trimmed trace
// cannot have them.
std::vector<std::string> NumbersOf(absl::string_view bytes, int64_t from, int64_t to,
                                   int64_t second_generation) {
  std::vector<std::string> lines;
  AnalyzeOptions options;
  options.window = Window(from, to);
  EventFilter filter;
  filter.times = {from, to};
  const auto analyzed =
      Analyze(*SourceFromBytes(bytes), options,
              With<GoroutineStats>(GoroutineStats::Options{.keep_each = true, .filter = filter}),
              With<ProcStats>(filter), With<TaskStats>(filter),
              With<GcStats>(EventFilter::Times{from, to}));
  EXPECT_TRUE(analyzed.status().ok()) << analyzed.status();
  const Interner& interner = analyzed.interner();
  const auto inside = [&](const std::optional<int64_t>& time) {
    return time.has_value() && *time > from && *time < to ? absl::StrCat(*time) : "outside";
  };
  const auto first = [&](const Interval& interval) {
    return interval.begin_clipped ? "outside" : inside(interval.begin);
  };
  const auto last = [&](const Interval& interval) {
    return interval.end_clipped ? "outside" : inside(interval.end);
  };
  const auto show = [&](const ExecutionTimes& times) {
    std::vector<std::string> ranges;
    for (const NamedTime& range : times.ranges) {
      ranges.push_back(absl::StrCat(interner.String(range.name), "=", range.time));
    }
    std::sort(ranges.begin(), ranges.end());
    return absl::StrCat(times.total, " ", times.running, " ", times.runnable, " ", times.syscall,
                        " ", times.syscall_blocked, " ", times.BlockedTotal(), " ",
                        absl::StrJoin(ranges, ","));
  };
  for (const GoroutineSpan& one : analyzed.template get<GoroutineStats>().goroutines()) {
    lines.push_back(absl::StrCat("goroutine ", one.goroutine.value, " ", one.creation, " ",
                                 one.is_older, " ", inside(one.end), " ", show(one.times)));
  }
  const ProcStats& procs = analyzed.template get<ProcStats>();
  // The first label of a mark worker comes some time after it started.
  for (const ProcUse& use : procs.procs()) {
    if (use.times.Busy() == 0) continue;
    const ProcTimes& times = use.times;
    lines.push_back(absl::StrCat("P ", use.proc.value, " ", times.user + times.gc, " ",
                                 times.assist, " ", times.syscall, " ", times.scheduler, " ",
                                 times.idle + times.stopped, " ", use.runs, " ", use.steals));
  }
  // In the first generation, the original does not know what was before the first statuses.
  if (from >= second_generation) {
    const ProcSlice sum = procs.Sum();
    lines.push_back(absl::StrCat("Ps ", sum.begin, " ", sum.end, " ", sum.runnable));
  }
  for (const TaskSpan& task : analyzed.template get<TaskStats>().tasks()) {
    // Something of it is only after the window.
    if (task.times.total == 0 && inside(task.begin) == inside(task.end)) continue;
    lines.push_back(absl::StrCat("task ", task.task.value, " ", interner.String(task.type), " ",
                                 task.parent.value, " ", inside(task.begin), " ", inside(task.end),
                                 " ", show(task.times)));
  }
  std::vector<std::string> regions;
  for (const RegionSpan& region : analyzed.template get<TaskStats>().regions()) {
    // Of a goroutine that ended before the window, nothing is in it.
    if (region.times.total > 0 && region.times.Unknown() == region.times.total) continue;
    regions.push_back(absl::StrCat("region ", region.goroutine.value, " ",
                                   interner.String(region.type), " ", region.task.value, " ",
                                   inside(region.begin), " ", inside(region.end), " ",
                                   show(region.times)));
  }
  std::sort(regions.begin(), regions.end());
  lines.insert(lines.end(), regions.begin(), regions.end());
  for (const GcCycle& cycle : analyzed.template get<GcStats>().cycles()) {
    // The first generation may state only after the window that it is active.
    if (first(cycle) == last(cycle)) continue;
    lines.push_back(absl::StrCat("cycle ", first(cycle), " ", last(cycle), " ", cycle.dedicated,
                                 " ", cycle.fractional, " ", cycle.idle));
  }
  for (const WorldStop& stop : analyzed.template get<GcStats>().stops()) {
    lines.push_back(absl::StrCat("stop ", first(stop), " ", last(stop), " ",
                                 interner.String(stop.reason), " ", stop.goroutine.value));
  }
  return lines;
}

class TrimOfRealTraces : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Traces, TrimOfRealTraces, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.name, {{".", "_"}, {"-", "_"}});
                         });

TEST_P(TrimOfRealTraces, HasTheEventsAndNumbersOfTheWindow) {
  const std::string original = ReadTestTrace(GetParam().name);
  const Text whole = TextOf(original, 0, 0);
  std::mt19937_64 random(7);
  for (size_t i = 0; i < TestRounds(10); ++i) {
    std::uniform_int_distribution<int64_t> time(whole.first, whole.last);
    const int64_t a = time(random);
    // Half of the windows are short.
    const int64_t b = i % 2 == 0 ? time(random) : a + (whole.last - whole.first) / 50;
    const int64_t from = std::min(a, b);
    const int64_t to = std::max(a, b);
    SCOPED_TRACE(absl::StrCat("--from=@", from, " --to=@", to));
    const Trimmed trimmed = Trim(original, Window(from, to));
    ASSERT_TRUE(trimmed.status.ok()) << trimmed.status;
    EXPECT_TRUE(trimmed.result.status.ok()) << trimmed.result.status;
    EXPECT_EQ(trimmed.result.written.events_added, 0U);
    EXPECT_EQ(trimmed.result.written.events_left_out, 0U);
    ExpectSound(trimmed.bytes);
    const Text text = TextOf(trimmed.bytes, from, to);
    EXPECT_LT(text.first, from);
    EXPECT_GE(text.last, std::min(to, whole.last));
    ASSERT_EQ(absl::StrJoin(text.events, ""), absl::StrJoin(TextOf(original, from, to).events, ""));
    // There, all Ps are in syscalls, so that no region of a waiting goroutine can begin again.
    if (absl::StrContains(GetParam().name, "cgocallback")) continue;
    ASSERT_EQ(absl::StrJoin(NumbersOf(trimmed.bytes, from, to, whole.second), "\n"),
              absl::StrJoin(NumbersOf(original, from, to, whole.second), "\n"));
  }
}

TEST_P(TrimOfRealTraces, IsTheSameIfTheWindowIsTheWholeTrace) {
  const std::string original = ReadTestTrace(GetParam().name);
  const Trimmed trimmed = Trim(original, {});
  ASSERT_TRUE(trimmed.status.ok()) << trimmed.status;
  EXPECT_EQ(Sha256Hex(ReadTrace(SourceFromBytes(trimmed.bytes), ReadBy::kBlock).events),
            GetParam().parsed_sha256);
}

// Events that a program makes. --------------------------------------------------------------------

EventBuilder Of(EventType type, const BuiltTables& tables, int64_t time, int64_t goroutine) {
  EventBuilder builder(type, tables);
  builder.Time(time).Thread(ThreadId{7}).Proc(ProcId{3}).Goroutine(GoId{goroutine});
  return builder;
}

// A task and a region of a goroutine that waits when the window begins, in the second generation.
std::string OpenSpans() {
  const BuiltTables tables;
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer({}, out.get());
  const auto add = [&](const EventBuilder& builder) { writer.Add({builder.Build()}); };
  const TaskId task{5};
  add(EventBuilder::MakeSync(1, tables).Time(1000));
  add(Of(EventType::kUserTaskBegin, tables, 2000, 1).Task(task).TaskType("order"));
  add(Of(EventType::kUserRegionBegin, tables, 3000, 1).Task(task).RegionType("pay"));
  add(Of(EventType::kHeapAlloc, tables, 3500, 1).Arg(0, 77));
  add(Of(EventType::kGoBlock, tables, 4000, 1)
          .Reason("sync")
          .Stack({{0x1234, "main.work", "/src/main.go", 31}}));
  add(Of(EventType::kHeapAlloc, tables, 20'000, -1).Arg(0, 78));
  add(Of(EventType::kGoUnblock, tables, 30'000, -1)
          .Transition(GoId{1}, GoState::kWaiting, GoState::kRunnable));
  add(Of(EventType::kGoStart, tables, 31'000, -1)
          .Transition(GoId{1}, GoState::kRunnable, GoState::kRunning));
  add(Of(EventType::kUserRegionEnd, tables, 32'000, 1).Task(task).RegionType("pay"));
  add(Of(EventType::kUserTaskEnd, tables, 33'000, 1).Task(task));
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(out->Finish().ok());
  return bytes;
}

TEST(Trim, BeginsWhatIsOpenAgain) {
  const Trimmed trimmed = Trim(OpenSpans(), Window(10'000, 31'500));
  ASSERT_TRUE(trimmed.status.ok()) << trimmed.status;
  ExpectSound(trimmed.bytes);
  std::vector<std::string> before;
  std::vector<std::string> after;
  absl::StatusOr<Reader> reader = Reader::FromBytes(trimmed.bytes);
  EXPECT_TRUE(reader
                  ->ForEach([&](const Event& event) {
                    const std::string name(
                        event.kind() == EventKind::kSync ? "Sync" : EventTypeName(event.type()));
                    if (event.time() < 10'000) {
                      before.push_back(name);
                      if (event.type() == EventType::kGoBlock) {
                        EXPECT_EQ(event.transition_reason(), "sync");
                        EXPECT_EQ(event.stack().frame(0).func, "main.work");
                      }
                    } else {
                      after.push_back(absl::StrCat(name, " ", event.time()));
                    }
                  })
                  .ok());
  EXPECT_EQ(before, (std::vector<std::string>{"Sync", "ProcStatus", "HeapAlloc", "GoStatus",
                                              "UserTaskBegin", "UserRegionBegin", "GoBlock",
                                              "ProcStop", "ProcStart", "ProcStatus"}));
  EXPECT_EQ(after, (std::vector<std::string>{"HeapAlloc 20000", "GoUnblock 30000", "GoStart 31000",
                                             "ProcStatus 31500", "Sync 31501"}));
}

TEST(Trim, EndsInTheGapBetweenTwoEvents) {
  const Trimmed trimmed = Trim(OpenSpans(), Window(21'000, 22'000));
  ASSERT_TRUE(trimmed.status.ok()) << trimmed.status;
  ExpectSound(trimmed.bytes);
  EXPECT_EQ(TextOf(trimmed.bytes, 0, 21'999).last, 22'001);
}

TEST(Trim, RefusesAWindowWithoutEvents) {
  const std::string original = OpenSpans();
  EXPECT_TRUE(absl::IsNotFound(Trim(original, Window(90'000, 99'000)).status));
  EXPECT_TRUE(absl::IsNotFound(Trim(original, Window(10, 20)).status));
}

// A goroutine that loses its P while it stops the world, and another one that returns from a
// syscall, of which the P was taken, when the window begins at 10 us. The trace begins with
// `generations` kSync events.
std::string StatesBetween(int generations) {
  const BuiltTables tables;
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer({}, out.get());
  const auto add = [&](const EventBuilder& builder) { writer.Add({builder.Build()}); };
  const auto other = [&](EventType type, int64_t time, int64_t proc) {
    return Of(type, tables, time, 2).Thread(ThreadId{8}).Proc(ProcId{proc});
  };
  add(EventBuilder::MakeSync(1, tables).Time(1000));
  add(Of(EventType::kUserRegionBegin, tables, 1500, 1).RegionType("write"));
  add(other(EventType::kUserRegionBegin, 1600, 4).RegionType("read"));
  for (int i = 2; i <= generations; ++i) add(EventBuilder::MakeSync(i, tables).Time(1700 + i));
  add(other(EventType::kGoSyscallBegin, 2000, 4)
          .Transition(GoId{2}, GoState::kRunning, GoState::kSyscall));
  add(other(EventType::kProcStop, 2100, 4)
          .Transition(ProcId{4}, ProcState::kRunning, ProcState::kIdle));
  add(Of(EventType::kSTWBegin, tables, 3000, 1).Reason("GOMAXPROCS"));
  add(Of(EventType::kGoStop, tables, 4000, 1)
          .Transition(GoId{1}, GoState::kRunning, GoState::kRunnable)
          .Reason("runtime.Gosched"));
  add(Of(EventType::kProcStop, tables, 5000, -1)
          .Transition(ProcId{3}, ProcState::kRunning, ProcState::kIdle));
  add(other(EventType::kProcStart, 6000, -1)
          .Transition(ProcId{4}, ProcState::kIdle, ProcState::kRunning));
  add(other(EventType::kGoSyscallEndBlocked, 11'000, 4)
          .Transition(GoId{2}, GoState::kSyscall, GoState::kRunnable));
  add(Of(EventType::kProcStart, tables, 12'000, -1)
          .Proc(ProcId::kNone)
          .Transition(ProcId{3}, ProcState::kIdle, ProcState::kRunning));
  add(Of(EventType::kGoStart, tables, 13'000, -1)
          .Transition(GoId{1}, GoState::kRunnable, GoState::kRunning));
  add(Of(EventType::kSTWEnd, tables, 14'000, 1));
  EXPECT_TRUE(writer.Finish().ok()) << writer.Finish();
  EXPECT_TRUE(out->Finish().ok());
  return bytes;
}

TEST(Trim, KeepsStatesThatLastOnlyBetweenTwoEvents) {
  for (const int generations : {1, 2}) {
    SCOPED_TRACE(generations);
    const std::string original = StatesBetween(generations);
    const Trimmed trimmed = Trim(original, Window(10'000, 20'000));
    ASSERT_TRUE(trimmed.status.ok()) << trimmed.status;
    ExpectSound(trimmed.bytes);
    EXPECT_EQ(trimmed.result.written.events_added, 0U);
    const std::vector<std::string> events = TextOf(trimmed.bytes, 10'000, 20'000).events;
    EXPECT_EQ(events.size(), 4U);
    EXPECT_EQ(events, TextOf(original, 10'000, 20'000).events);
    EXPECT_TRUE(absl::StrContains(events.back(), "GOMAXPROCS")) << events.back();
  }
}

}  // namespace trim_test
}  // namespace gotrace::internal
