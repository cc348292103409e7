#include "gotrace/chrome_exporter.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace chrome_exporter_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using View = ChromeOptions::View;

std::string Convert(absl::string_view trace, const ChromeOptions& options = {},
                    ReadMode mode = ReadMode::kStrict) {
  std::string json;
  const std::unique_ptr<ByteSink> out = SinkToString(&json);
  ChromeExporter exporter(out.get(), options);
  ReaderOptions reader_options;
  reader_options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace, reader_options);
  if (!reader.ok()) return "";
  const bool is_read = ReadInto(*reader, {&exporter}).ok();
  EXPECT_TRUE(is_read || mode != ReadMode::kStrict) << reader->status();
  EXPECT_TRUE(out->Finish().ok());
  absl::string_view value = json;
  EXPECT_EQ(CheckJson(absl::StripSuffix(value, "\n")), "");
  return json;
}

std::string Assemble(absl::string_view text) {
  const absl::StatusOr<std::string> bytes = AssembleText(text);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

// The events with `part` in them, without the parts of JSON that all have.
std::vector<std::string> Find(absl::string_view json, absl::string_view part) {
  std::vector<std::string> found;
  for (absl::string_view line : absl::StrSplit(json, '\n')) {
    if (!absl::StartsWith(line, "{\"ph\"") || !absl::StrContains(line, part)) continue;
    absl::ConsumeSuffix(&line, "],");
    absl::ConsumeSuffix(&line, ",");
    absl::ConsumeSuffix(&line, "]");
    found.emplace_back(line);
  }
  return found;
}

constexpr absl::string_view kSlice = "\"ph\":\"X\"";
constexpr absl::string_view kArrow = "\"ph\":\"s\"";

// Goroutine 1 runs on P 0 of thread 7, creates goroutine 3, and unblocks goroutine 2. That runs on
// P 1 of thread 8, enters a syscall, loses the P, and returns. A task, which ends twice, and a
// region of goroutine 1. Something without a P unblocks goroutine 4, which then runs on P 1 of
// thread 9.
constexpr char kTrace[] = R"(Trace Go1.23
EventBatch gen=1 m=0 time=1000 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1000 size=auto
Strings
String id=1
	data="a \"task\""
String id=2
	data="a region"
String id=3
	data="chan receive"
String id=4
	data="main.f"
String id=5
	data="main.go"
EventBatch gen=1 m=0 time=1000 size=auto
Stacks
Stack id=1 nframes=1
	pc=100 func=4 file=5 line=12
EventBatch gen=1 m=7 time=1000 size=auto
ProcStatus dt=0 p=0 pstatus=1
GoStatus dt=1 g=1 m=7 gstatus=2
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4
GoStatus dt=1 g=4 m=18446744073709551615 gstatus=4
ProcStatus dt=1 p=1 pstatus=2
GoCreate dt=1 new_g=3 new_stack=1 stack=0
UserTaskBegin dt=1 task=5 parent_task=0 name_string=1 stack=1
UserRegionBegin dt=1 task=5 name_string=2 stack=1
GoUnblock dt=1 g=2 g_seq=1 stack=1
UserRegionEnd dt=1000 task=5 name_string=2 stack=0
UserTaskEnd dt=1 task=5 stack=0
UserTaskEnd dt=1 task=5 stack=0
ProcSteal dt=2000 p=1 p_seq=3 m=8
EventBatch gen=1 m=8 time=1100 size=auto
ProcStart dt=0 p=1 p_seq=1
GoStart dt=1 g=2 g_seq=2
GoSyscallBegin dt=1 p_seq=2 stack=1
GoSyscallEndBlocked dt=5000
EventBatch gen=1 m=9 time=5000 size=auto
GoUnblock dt=1 g=4 g_seq=1 stack=0
ProcStart dt=1 p=1 p_seq=4
GoStart dt=1 g=4 g_seq=2
GoStop dt=2000 reason_string=3 stack=1
)";

TEST(ChromeExporter, ShowsGoroutinesOnPs) {
  const std::string json = Convert(Assemble(kTrace));
  EXPECT_TRUE(absl::StartsWith(json, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{"));
  EXPECT_TRUE(absl::EndsWith(json, "}],\n\"stackFrames\":{\n\"1\":{\"name\":\"main.f:12\"}}}\n"));
  EXPECT_THAT(
      Find(json, R"("ph":"X","pid":0)"),
      ElementsAre(
          R"({"ph":"X","pid":0,"tid":1,"ts":0.101,"dur":2.909,"name":"G2 main.f"})",
          R"({"ph":"X","pid":0,"tid":1,"ts":0.102,"dur":2.908,"name":"syscall","sf":1,"args":{"blocked":"yes"}})",
          R"({"ph":"X","pid":0,"tid":1,"ts":4.003,"dur":2,"name":"G4 main.f","esf":1})",
          R"({"ph":"X","pid":0,"tid":0,"ts":0,"dur":6.004,"name":"G1"})"));
  EXPECT_THAT(
      Find(json, R"("ph":"I")"),
      ElementsAre(
          R"({"ph":"I","pid":0,"tid":0,"ts":0,"name":"proc start","s":"t","args":{"thread":7,"proc":0}})",
          R"({"ph":"I","pid":0,"tid":1,"ts":0.1,"name":"proc start","s":"t","args":{"thread":8,"proc":1}})",
          R"({"ph":"I","pid":0,"tid":1,"ts":3.01,"name":"proc stop","s":"t","args":{"thread":7,"proc":1}})",
          R"({"ph":"I","pid":0,"tid":1,"ts":4.002,"name":"proc start","s":"t","args":{"thread":9,"proc":1}})",
          R"({"ph":"I","pid":0,"tid":1000003,"ts":5.102,"name":"exit blocked syscall","s":"t"})"));
  EXPECT_THAT(Find(json, R"("Goroutines")").back(),
              HasSubstr(R"("args":{"Running":1,"Runnable":3,"GCWaiting":0})"));
  EXPECT_THAT(Find(json, R"("Threads")").back(), HasSubstr(R"("args":{"Running":2,)"));
  EXPECT_THAT(Find(json, R"("name":"thread_name")"), Contains(HasSubstr(R"("Proc 1")")));
}

// The unblock of goroutine 2 is by P 0. That of goroutine 4 has no P to begin at.
TEST(ChromeExporter, DrawsArrowsFromEveryPButNotFromNone) {
  const std::string json = Convert(Assemble(kTrace));
  EXPECT_THAT(
      Find(json, kArrow),
      ElementsAre(R"({"ph":"s","pid":0,"tid":0,"ts":0.009,"name":"unblock","id":1,"sf":1})"));
  EXPECT_THAT(Find(json, R"("ph":"t")"),
              ElementsAre(R"({"ph":"t","pid":0,"tid":1,"ts":0.101,"name":"unblock","id":1})"));
}

TEST(ChromeExporter, ShowsGoroutinesOnThreads) {
  ChromeOptions options;
  options.view = View::kThread;
  const std::string json = Convert(Assemble(kTrace), options);
  // The syscall is on its own thread, and reaches to its end although the P is gone.
  EXPECT_THAT(
      Find(json, R"("ph":"X","pid":0)"),
      ElementsAre(
          R"({"ph":"X","pid":0,"tid":8,"ts":0.101,"dur":5.001,"name":"G2 main.f"})",
          R"({"ph":"X","pid":0,"tid":8,"ts":0.102,"dur":5,"name":"syscall","sf":1,"args":{"blocked":"yes"}})",
          R"({"ph":"X","pid":0,"tid":9,"ts":4.003,"dur":2,"name":"G4 main.f","esf":1})",
          R"({"ph":"X","pid":0,"tid":7,"ts":0,"dur":6.004,"name":"G1"})"));
  EXPECT_EQ(Find(json, kArrow).size(), 2u);
  EXPECT_THAT(Find(json, R"("name":"thread_name")"), Contains(HasSubstr(R"("Thread 8")")));
}

TEST(ChromeExporter, ShowsGoroutines) {
  ChromeOptions options;
  options.view = View::kGoroutine;
  const std::string json = Convert(Assemble(kTrace), options);
  EXPECT_THAT(Find(json, R"("ph":"X","pid":0)"), Contains(HasSubstr(R"("tid":2,"ts":0.101)")));
  EXPECT_THAT(Find(json, R"("name":"thread_name")"), Contains(HasSubstr(R"("G3 main.f")")));
  EXPECT_THAT(Find(json, R"("proc start")"), IsEmpty());
}

// The second end is not that of a task from before the trace.
TEST(ChromeExporter, ShowsTasksAndRegions) {
  const std::string json = Convert(Assemble(kTrace));
  const std::vector<std::string> tasks = Find(json, R"("ph":"X","pid":2)");
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_THAT(tasks[0], HasSubstr(R"("tid":5,"ts":0.007,"dur":1.002,"name":"a \"task\"","sf":1,)"));
  EXPECT_THAT(tasks[0], HasSubstr(R"("args":{"id":5,"start_g":1,"end_g":1}})"));
  const std::vector<std::string> region = Find(json, R"("cat":"Region")");
  ASSERT_EQ(region.size(), 2u);
  EXPECT_THAT(region[0], HasSubstr(R"({"ph":"b","pid":0,"tid":0,"ts":0.008,"name":"a region")"));
  EXPECT_THAT(region[1], HasSubstr(R"({"ph":"e","pid":0,"tid":0,"ts":1.008,"name":"a region")"));
  ChromeOptions other;
  other.tasks = {TaskId{6}};
  EXPECT_THAT(Find(Convert(Assemble(kTrace), other), R"("pid":2)"), IsEmpty());
  EXPECT_THAT(Find(Convert(Assemble(kTrace), other), "Region"), IsEmpty());
}

TEST(ChromeExporter, ShowsWhatTheFilterSelects) {
  const auto slices = [](const ChromeOptions& options) {
    std::vector<std::string> lanes;
    for (const std::string& slice : Find(Convert(Assemble(kTrace), options), kSlice)) {
      const size_t begin = slice.find("\"name\":");
      lanes.push_back(slice.substr(begin + 7, slice.find_first_of(",}", begin) - begin - 7));
    }
    return lanes;
  };
  ChromeOptions goroutine;
  goroutine.filter.goroutines = {GoId{2}};
  EXPECT_THAT(slices(goroutine), ElementsAre(R"("G2 main.f")", R"("syscall")"));
  ChromeOptions proc;
  proc.filter.procs = {ProcId{0}};
  EXPECT_THAT(slices(proc), ElementsAre(R"("a \"task\"")", R"("G1")"));
  ChromeOptions thread;
  thread.filter.threads = {ThreadId{9}};
  EXPECT_THAT(slices(thread), ElementsAre(R"("G4 main.f")"));
  ChromeOptions kind;
  kind.filter.kinds = {EventKind::kTaskEnd};
  EXPECT_THAT(slices(kind), ElementsAre(R"("a \"task\"")"));
  // Both ends of an arrow must be shown.
  EXPECT_THAT(Find(Convert(Assemble(kTrace), goroutine), kArrow), IsEmpty());
  goroutine.filter.goroutines = {GoId{1}, GoId{2}};
  EXPECT_EQ(Find(Convert(Assemble(kTrace), goroutine), kArrow).size(), 1u);
}

TEST(ChromeExporter, ShowsSlicesThatOverlapTheTimes) {
  ChromeOptions options;
  options.filter.times = {1000 + 4100, 1000 + 5000};
  options.start = 900;
  const std::string json = Convert(Assemble(kTrace), options);
  // That of goroutine 2 is over. Times count from the start.
  EXPECT_THAT(
      Find(json, kSlice),
      ElementsAre(R"({"ph":"X","pid":0,"tid":1,"ts":4.103,"dur":2,"name":"G4 main.f","esf":1})",
                  R"({"ph":"X","pid":0,"tid":0,"ts":0.1,"dur":6.004,"name":"G1"})"));
  EXPECT_THAT(Find(json, kArrow), IsEmpty());
  EXPECT_THAT(json, HasSubstr("main.f:12"));
  ChromeOptions since_start;
  since_start.filter.since_start = {4200, 5100};
  since_start.start = 900;
  EXPECT_EQ(Convert(Assemble(kTrace), since_start), json);
  // Frames that nothing shows are left out.
  options.filter.times = {1000 + 6200, 1000 + 6300};
  EXPECT_THAT(Convert(Assemble(kTrace), options), Not(HasSubstr("main.f:12")));
  EXPECT_THAT(Find(json, R"("ph":"I")"), IsEmpty());
  EXPECT_THAT(Find(json, R"("ph":"C")"), IsEmpty());
}

// However a trace is damaged, the output is JSON.
TEST(ChromeExporter, WritesJsonOfEveryPrefix) {
  const std::string trace = Assemble(kTrace);
  for (size_t size = 0; size <= trace.size(); ++size) {
    for (const View view : {View::kProc, View::kThread, View::kGoroutine}) {
      ChromeOptions options;
      options.view = view;
      Convert(absl::string_view(trace).substr(0, size), options, ReadMode::kSalvage);
    }
  }
}

TEST(ChromeExporter, WritesJsonOfOddStrings) {
  for (const TestTrace& trace : TestTraces()) {
    if (absl::StrContains(trace.name, "oddstrings")) Convert(ReadTestTrace(trace.name));
  }
}

// A stack of another program, of whose code the same PC is in another function.
TEST(ChromeExporter, WritesSeveralTraces) {
  std::string other(kTrace);
  other.replace(other.find("main.f"), 6, "main.g");
  std::string json;
  const std::unique_ptr<ByteSink> out = SinkToString(&json);
  ChromeFile file(out.get());
  for (const std::string& text : {std::string(kTrace), other}) {
    ChromeOptions options;
    options.process_name = text == other ? "two" : "one";
    options.start = text == other ? 500 : 1000;
    ChromeExporter exporter(&file, options);
    const std::string trace = Assemble(text);
    Reader reader = *Reader::FromBytes(trace);
    EXPECT_TRUE(ReadInto(reader, {&exporter}).ok());
  }
  EXPECT_TRUE(file.Finish().ok());
  EXPECT_TRUE(out->Finish().ok());
  EXPECT_EQ(CheckJson(absl::StripSuffix(absl::string_view(json), "\n")), "");
  const std::vector<std::string> slices = Find(json, kSlice);
  // The second trace began 500 ns later.
  EXPECT_THAT(slices,
              Contains(R"({"ph":"X","pid":0,"tid":1,"ts":0.101,"dur":2.909,"name":"G2 main.f"})"));
  EXPECT_THAT(slices,
              Contains(R"({"ph":"X","pid":3,"tid":1,"ts":0.601,"dur":2.909,"name":"G2 main.g"})"));
  EXPECT_THAT(json, HasSubstr(R"({"name":"main.f:12"})"));
  EXPECT_THAT(json, HasSubstr(R"({"name":"main.g:12"})"));
  EXPECT_THAT(Find(json, kArrow), ElementsAre(HasSubstr(R"("id":1)"), HasSubstr(R"("id":2)")));
  EXPECT_THAT(Find(json, R"("ph":"b")"),
              ElementsAre(HasSubstr(R"("id":1)"), HasSubstr(R"("id":2)")));
  const std::vector<std::string> names = Find(json, R"("process_name")");
  EXPECT_THAT(names,
              Contains(HasSubstr(
                  R"("pid":2,"tid":0,"ts":0,"name":"process_name","args":{"name":"one: TASKS"})")));
  EXPECT_THAT(names,
              Contains(HasSubstr(
                  R"("pid":5,"tid":0,"ts":0,"name":"process_name","args":{"name":"two: TASKS"})")));
}

// Viewers look for a slice in which an arrow begins.
TEST(ChromeExporter, MarksWhereArrowsBeginWithoutASlice) {
  ChromeOptions options;
  options.view = View::kThread;
  EXPECT_THAT(
      Find(Convert(Assemble(kTrace), options), "arrow"),
      ElementsAre(
          R"({"ph":"I","pid":0,"tid":9,"ts":4.001,"name":"unblock","cat":"arrow","s":"t"})"));
  // The parent has ended.
  std::string text(kTrace);
  text.insert(text.find("ProcSteal"),
              "UserTaskBegin dt=0 task=6 parent_task=5 name_string=1 stack=1\n");
  EXPECT_THAT(
      Find(Convert(Assemble(text)), "arrow"),
      ElementsAre(
          R"({"ph":"I","pid":2,"tid":5,"ts":1.011,"name":"newTask","cat":"arrow","s":"t"})"));
}

TEST(ChromeExporter, NamesRegionsWithoutAName) {
  std::string text(kTrace);
  text.replace(text.find("a region"), 8, "");
  EXPECT_THAT(Find(Convert(Assemble(text)), R"("cat":"Region")"),
              ElementsAre(HasSubstr(R"("name":"region")"), HasSubstr(R"("name":"region")")));
}

// Each time that the goroutine stops would show all of them.
TEST(ChromeExporter, ManyOpenRangesCostLittle) {
  const auto slices = [](int ranges) {
    std::string text(kTrace, kTrace + absl::string_view(kTrace).find("UserTaskBegin"));
    for (int i = 0; i < ranges; ++i) {
      text.insert(text.find("EventBatch gen=1 m=0 time=1000 size=auto\nStacks"),
                  absl::StrCat("String id=", 100 + i, "\n\tdata=\"", i, "\"\n"));
      absl::StrAppend(&text, "STWBegin dt=1 kind_string=", 100 + i, " stack=0\n");
    }
    for (int i = 0; i < ranges; ++i) {
      absl::StrAppend(&text, "GoStop dt=1 reason_string=3 stack=0\nGoStart dt=1 g=1 g_seq=", i + 1,
                      "\n");
    }
    return Find(Convert(Assemble(text)), "stop-the-world").size();
  };
  // In each slice that the goroutine has, and only in the first one.
  EXPECT_EQ(slices(16), 16u * 17);
  EXPECT_EQ(slices(17), 17u);
  EXPECT_EQ(slices(500), 500u);
}

ChromeOptions FocusOn(ChromeFocus::On on, ChromeOptions options) {
  ChromeFocus focus(on, &options.filter, &options.tasks);
  const std::string trace = Assemble(kTrace);
  Reader reader = *Reader::FromBytes(trace);
  EXPECT_TRUE(ReadInto(reader, {&focus}).ok());
  return options;
}

TEST(ChromeFocus, AddsTheGoroutinesThatUnblocked) {
  ChromeOptions options;
  options.filter.goroutines = {GoId{2}};
  EXPECT_THAT(FocusOn(ChromeFocus::On::kRelatedGoroutines, options).filter.goroutines,
              UnorderedElementsAre(GoId{1}, GoId{2}));
  options.filter.goroutines = {GoId{1}};
  EXPECT_THAT(FocusOn(ChromeFocus::On::kRelatedGoroutines, options).filter.goroutines,
              UnorderedElementsAre(GoId{1}));
}

TEST(ChromeFocus, SelectsTheGoroutinesAndTimesOfTasks) {
  ChromeOptions options;
  const ChromeOptions all = FocusOn(ChromeFocus::On::kTasks, options);
  EXPECT_TRUE(all.filter.goroutines.contains(GoId{1}));
  EXPECT_FALSE(all.filter.goroutines.contains(GoId{2}));
  EXPECT_TRUE(all.filter.times.MatchesAll());
  options.tasks = {TaskId{5}};
  const ChromeOptions one = FocusOn(ChromeFocus::On::kTasks, options);
  EXPECT_TRUE(one.filter.goroutines.contains(GoId{1}));
  EXPECT_EQ(one.filter.times.from, 1007);
  EXPECT_EQ(one.filter.times.to, 2010);
  const ChromeOptions times = FocusOn(ChromeFocus::On::kTaskTimes, options);
  EXPECT_TRUE(times.filter.goroutines.empty());
  EXPECT_EQ(times.filter.times.from, 1007);
}

TEST(ChromeFocus, NeedsTheTasks) {
  for (const ChromeFocus::On on : {ChromeFocus::On::kTasks, ChromeFocus::On::kTaskTimes}) {
    ChromeOptions options;
    options.tasks = {TaskId{5}, TaskId{6}};
    ChromeFocus focus(on, &options.filter, &options.tasks);
    const std::string trace = Assemble(kTrace);
    Reader reader = *Reader::FromBytes(trace);
    while (const Event* const event = reader.Next()) focus.Add(absl::MakeConstSpan(event, 1));
    EXPECT_EQ(focus.Finish(), absl::InvalidArgumentError("there is no task 6 in this trace"));
  }
}

}  // namespace chrome_exporter_test
}  // namespace gotrace::internal
