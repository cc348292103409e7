#include "gotrace/trace2_exporter.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gotrace/event_builder.h"
#include "gotrace/goroutine_names.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "testing/trace2_checker.h"

namespace gotrace {
namespace trace2_exporter_test {

using internal::JsonValue;
using internal::ReadTestTrace;

// The lines of `out`, which must end with a line break.
std::vector<std::string> Lines(absl::string_view out) {
  EXPECT_TRUE(absl::ConsumeSuffix(&out, "\n"));
  return absl::StrSplit(out, '\n');
}

std::string Text(const JsonValue& line, absl::string_view key) {
  const JsonValue* const member = line.Find(key);
  return member == nullptr ? "" : member->text;
}

void CheckLines(absl::string_view out) {
  EXPECT_EQ(internal::CheckTrace2Events(out), absl::OkStatus());
}

// Checks that the timers of a thread add up to its life, up to the microseconds that are cut off.
void CheckTimers(absl::string_view out) {
  std::map<std::string, double> sums;
  for (const std::string& text : Lines(out)) {
    const absl::StatusOr<JsonValue> line = internal::ParseJson(text);
    const std::string event = Text(*line, "event");
    const std::string thread = Text(*line, "thread");
    double seconds = 0;
    if (event == "th_timer") {
      ASSERT_TRUE(absl::SimpleAtod(Text(*line, "t_total"), &seconds));
      sums[thread] += seconds;
    } else if (event == "thread_exit") {
      ASSERT_TRUE(absl::SimpleAtod(Text(*line, "t_rel"), &seconds));
      EXPECT_NEAR(sums[thread], seconds, 10e-6) << text;
      sums.erase(thread);
    }
  }
}

constexpr GoId kMain{1};
constexpr GoId kWorker{7};

// A trace of one generation that is built event by event, each 1 ms after the one before it.
class Built {
 public:
  Built() {
    EventBuilder sync = EventBuilder::MakeSync(1, tables_);
    // The wall clock showed 2023-11-14T22:13:20.5Z.
    Keep(
        sync.Clocks({.trace_time = 0, .mono = 0, .wall = absl::FromUnixMillis(1'700'000'000'500)}));
    Status(kMain, GoState::kRunning);
  }

  EventBuilder New(EventType type) { return EventBuilder(type, tables_); }

  EventBuilder NewSync() { return EventBuilder::MakeSync(2, tables_); }

  Built& Keep(EventBuilder& builder) {
    events_.push_back(builder.Time(time_).Proc(ProcId{0}).Thread(ThreadId{5}).Build());
    time_ += 1'000'000;
    return *this;
  }

  Built& Status(GoId id, GoState state) {
    EventBuilder event = New(EventType::kGoStatus);
    return Keep(event.Transition(id, GoState::kUndetermined, state));
  }

  Built& Create(GoId id, absl::string_view function) {
    EventBuilder event = New(EventType::kGoCreate);
    return Keep(event.Goroutine(kMain)
                    .Transition(id, GoState::kNotExist, GoState::kRunnable)
                    .TransitionStack({{1, function, "/src/work.go", 10}})
                    .Stack({{2, "main.main", "/src/main.go", 20}}));
  }

  Built& Change(EventType type, GoId by, GoId id, GoState from, GoState to,
                absl::string_view reason = "") {
    EventBuilder event = New(type);
    return Keep(event.Goroutine(by).Transition(id, from, to).Reason(reason));
  }

  Built& Start(GoId id) {
    return Change(EventType::kGoStart, GoId::kNone, id, GoState::kRunnable, GoState::kRunning);
  }
  Built& Block(GoId id, absl::string_view reason) {
    return Change(EventType::kGoBlock, id, id, GoState::kRunning, GoState::kWaiting, reason);
  }
  Built& Unblock(GoId by, GoId id) {
    return Change(EventType::kGoUnblock, by, id, GoState::kWaiting, GoState::kRunnable);
  }
  Built& Destroy(GoId id) {
    return Change(EventType::kGoDestroy, id, id, GoState::kRunning, GoState::kNotExist);
  }

  Built& Region(EventType type, GoId id, TaskId task, absl::string_view label) {
    EventBuilder event = New(type);
    return Keep(event.Goroutine(id).Task(task).RegionType(label).Stack(
        {{3, "main.part", "/src/a/long/path/to/part.go", 31},
         {1, "main.main", "/src/main.go", 9}}));
  }
  Built& Enter(GoId id, TaskId task, absl::string_view label) {
    return Region(EventType::kUserRegionBegin, id, task, label);
  }
  Built& Leave(GoId id, TaskId task, absl::string_view label) {
    return Region(EventType::kUserRegionEnd, id, task, label);
  }

  Built& Task(EventType type, GoId id, TaskId task, absl::string_view name) {
    EventBuilder event = New(type);
    return Keep(event.Goroutine(id).Task(task).TaskType(name).Stack(
        {{4, id == kMain ? "main.main" : "main.work", "/src/main.go", 40}}));
  }

  Built& Log(GoId id, absl::string_view category, absl::string_view message) {
    EventBuilder event = New(EventType::kUserLog);
    return Keep(event.Goroutine(id).Log(category, message));
  }

  std::string Convert(Trace2Options options) const {
    options.zone = absl::UTCTimeZone();
    options.version = "1.27";
    std::string out;
    const std::unique_ptr<ByteSink> sink = SinkToString(&out);
    Trace2Exporter exporter(sink.get(), std::move(options));
    exporter.Add(events_);
    EXPECT_TRUE(exporter.Finish().ok());
    EXPECT_TRUE(sink->Finish().ok());
    return out;
  }

  std::string Convert(Trace2Form form, bool brief = false, uint64_t nesting = 0) const {
    Trace2Options options;
    options.form = form;
    options.brief = brief;
    options.nesting = nesting;
    return Convert(std::move(options));
  }

  int64_t time() const { return time_; }

 private:
  BuiltTables tables_;
  int64_t time_ = 0;
  std::vector<Event> events_;
};

// A worker in a task, with a region in a region.
Built Example() {
  Built trace;
  trace.Task(EventType::kUserTaskBegin, kMain, TaskId{3}, "serve it");
  trace.Create(kWorker, "main.(*server).handleRequest");
  trace.Start(kWorker);
  trace.Enter(kWorker, TaskId{3}, "outer");
  trace.Enter(kWorker, kBackgroundTask, "inner");
  trace.Log(kWorker, "a category", "a\nmessage");
  trace.Block(kWorker, "chan receive");
  trace.Unblock(kMain, kWorker);
  trace.Start(kWorker);
  trace.Leave(kWorker, kBackgroundTask, "inner");
  trace.Task(EventType::kUserTaskEnd, kWorker, TaskId{3}, "serve it");
  trace.Destroy(kWorker);
  return trace;
}

TEST(Trace2Exporter, Normal) {
  EXPECT_EQ(Example().Convert(Trace2Form::kNormal),
            R"(22:13:20.500000                                   version 1.27
22:13:20.500000                                   start go-program
22:13:20.502000 /src/main.go:40                   child_start[3] 'serve it'
22:13:20.512000 /src/main.go:40                   child_exit[3] pid:0 code:0 elapsed:0.010000
22:13:20.513000                                   exit elapsed:0.013000 code:0
22:13:20.513000                                   timer goroutine/running intervals:3 total:0.020000 min:0.003000 max:0.013000
22:13:20.513000                                   timer goroutine/runnable intervals:2 total:0.002000 min:0.001000 max:0.001000
22:13:20.513000                                   timer block/chan receive intervals:1 total:0.001000 min:0.001000 max:0.001000
22:13:20.513000                                   counter goroutine/created value:1
22:13:20.513000                                   counter goroutine/unblocked value:1
22:13:20.513000                                   atexit elapsed:0.013000 code:0
)");
}

TEST(Trace2Exporter, Perf) {
  EXPECT_EQ(
      Example().Convert(Trace2Form::kPerf),
      R"(22:13:20.500000                              | d0 | main                     | version      |     |           |           |              | 1.27
22:13:20.500000                              | d0 | main                     | start        |     |  0.000000 |           |              | go-program
22:13:20.500000                              | d0 | th01:main.main           | thread_start |     |  0.000000 |           |              | 
22:13:20.502000 /src/main.go:40              | d0 | th01:main.main           | child_start  |     |  0.002000 |           |              | [ch3] class:serve it argv:['serve it']
22:13:20.503000 /src/main.go:20              | d0 | th07:main.(*server).hand | thread_start |     |  0.003000 |           |              | 
22:13:20.505000 ...a/long/path/to/part.go:31 | d0 | th07:main.(*server).hand | region_enter |     |  0.005000 |           | serve it     | label:outer task:3
22:13:20.506000 ...a/long/path/to/part.go:31 | d0 | th07:main.(*server).hand | region_enter |     |  0.006000 |           | background   | ..label:inner
22:13:20.507000                              | d0 | th07:main.(*server).hand | data         |     |  0.007000 |  0.001000 | a category   | ....log:a message
22:13:20.511000 ...a/long/path/to/part.go:31 | d0 | th07:main.(*server).hand | region_leave |     |  0.011000 |  0.005000 | background   | ..label:inner
22:13:20.512000 /src/main.go:40              | d0 | th07:main.(*server).hand | child_exit   |     |  0.012000 |  0.010000 |              | ..[ch3] pid:0 code:0
22:13:20.513000                              | d0 | th07:main.(*server).hand | region_leave |     |  0.013000 |  0.008000 | serve it     | label:outer task:3
22:13:20.513000                              | d0 | th07:main.(*server).hand | th_timer     |     |           |           | goroutine    | name:running intervals:2 total:0.007000 min:0.003000 max:0.004000
22:13:20.513000                              | d0 | th07:main.(*server).hand | th_timer     |     |           |           | goroutine    | name:runnable intervals:2 total:0.002000 min:0.001000 max:0.001000
22:13:20.513000                              | d0 | th07:main.(*server).hand | th_timer     |     |           |           | block        | name:chan receive intervals:1 total:0.001000 min:0.001000 max:0.001000
22:13:20.513000                              | d0 | th07:main.(*server).hand | thread_exit  |     |  0.013000 |  0.010000 |              | 
22:13:20.513000                              | d0 | th01:main.main           | th_timer     |     |           |           | goroutine    | name:running intervals:1 total:0.013000 min:0.013000 max:0.013000
22:13:20.513000                              | d0 | th01:main.main           | th_counter   |     |           |           | goroutine    | name:created value:1
22:13:20.513000                              | d0 | th01:main.main           | th_counter   |     |           |           | goroutine    | name:unblocked value:1
22:13:20.513000                              | d0 | th01:main.main           | thread_exit  |     |  0.013000 |  0.013000 |              | 
22:13:20.513000                              | d0 | main                     | exit         |     |  0.013000 |           |              | code:0
22:13:20.513000                              | d0 | main                     | timer        |     |           |           | goroutine    | name:running intervals:3 total:0.020000 min:0.003000 max:0.013000
22:13:20.513000                              | d0 | main                     | timer        |     |           |           | goroutine    | name:runnable intervals:2 total:0.002000 min:0.001000 max:0.001000
22:13:20.513000                              | d0 | main                     | timer        |     |           |           | block        | name:chan receive intervals:1 total:0.001000 min:0.001000 max:0.001000
22:13:20.513000                              | d0 | main                     | counter      |     |           |           | goroutine    | name:created value:1
22:13:20.513000                              | d0 | main                     | counter      |     |           |           | goroutine    | name:unblocked value:1
22:13:20.513000                              | d0 | main                     | atexit       |     |  0.013000 |           |              | code:0
)");
}

// Lines that git 2.39 wrote.
TEST(Trace2Exporter, HasTheColumnsOfGit) {
  constexpr absl::string_view kPerf =
      "03:05:25.379287 cache-tree.c:532             | d0 | main                     | region_enter "
      "| r1  |  0.001324 |           | cache_tree   | ..label:write";
  constexpr absl::string_view kNormal =
      "03:05:25.388295 run-command.c:722                 child_start[0] git maintenance run --auto";
  for (const std::string& line : Lines(Example().Convert(Trace2Form::kPerf))) {
    const std::vector<absl::string_view> columns = absl::StrSplit(line, '|');
    const std::vector<absl::string_view> expected = absl::StrSplit(kPerf, '|');
    ASSERT_EQ(columns.size(), expected.size()) << line;
    for (size_t i = 0; i + 1 < columns.size(); ++i) {
      EXPECT_EQ(columns[i].size(), expected[i].size()) << line;
    }
  }
  for (const std::string& line : Lines(Example().Convert(Trace2Form::kNormal))) {
    const size_t begin = kNormal.find("child_start");
    ASSERT_GT(line.size(), begin);
    EXPECT_EQ(line[begin - 1], ' ') << line;
    EXPECT_NE(line[begin], ' ') << line;
  }
}

TEST(Trace2Exporter, Event) {
  // All lines have the same id of the session.
  std::string out = Example().Convert(Trace2Form::kEvent);
  const absl::string_view id = R"("sid":"20231114T221320.500000Z-Localhost-P00000000",)";
  EXPECT_EQ(absl::StrReplaceAll({{id, ""}}, &out), 26);
  EXPECT_EQ(
      out,
      R"json({"event":"version","thread":"main","time":"2023-11-14T22:13:20.500000Z","evt":"4","exe":"1.27"}
{"event":"start","thread":"main","time":"2023-11-14T22:13:20.500000Z","t_abs":0.000000,"argv":["go-program"]}
{"event":"thread_start","thread":"th01:main.main","time":"2023-11-14T22:13:20.500000Z"}
{"event":"child_start","thread":"th01:main.main","time":"2023-11-14T22:13:20.502000Z","file":"/src/main.go","line":40,"child_id":3,"child_class":"serve it","use_shell":false,"argv":["serve it"]}
{"event":"thread_start","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.503000Z","file":"/src/main.go","line":20}
{"event":"region_enter","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.505000Z","file":"/src/a/long/path/to/part.go","line":31,"nesting":1,"category":"serve it","label":"outer","msg":"task:3"}
{"event":"region_enter","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.506000Z","file":"/src/a/long/path/to/part.go","line":31,"nesting":2,"category":"background","label":"inner"}
{"event":"data","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.507000Z","t_abs":0.007000,"t_rel":0.001000,"nesting":3,"category":"a category","key":"log","value":"a\nmessage"}
{"event":"region_leave","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.511000Z","file":"/src/a/long/path/to/part.go","line":31,"t_rel":0.005000,"nesting":2,"category":"background","label":"inner"}
{"event":"child_exit","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.512000Z","file":"/src/main.go","line":40,"child_id":3,"pid":0,"code":0,"t_rel":0.010000}
{"event":"region_leave","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.513000Z","t_rel":0.008000,"nesting":1,"category":"serve it","label":"outer","msg":"task:3"}
{"event":"th_timer","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"running","intervals":2,"t_total":0.007000,"t_min":0.003000,"t_max":0.004000}
{"event":"th_timer","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"runnable","intervals":2,"t_total":0.002000,"t_min":0.001000,"t_max":0.001000}
{"event":"th_timer","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.513000Z","category":"block","name":"chan receive","intervals":1,"t_total":0.001000,"t_min":0.001000,"t_max":0.001000}
{"event":"thread_exit","thread":"th07:main.(*server).handleRequest","time":"2023-11-14T22:13:20.513000Z","t_rel":0.010000}
{"event":"th_timer","thread":"th01:main.main","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"running","intervals":1,"t_total":0.013000,"t_min":0.013000,"t_max":0.013000}
{"event":"th_counter","thread":"th01:main.main","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"created","count":1}
{"event":"th_counter","thread":"th01:main.main","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"unblocked","count":1}
{"event":"thread_exit","thread":"th01:main.main","time":"2023-11-14T22:13:20.513000Z","t_rel":0.013000}
{"event":"exit","thread":"main","time":"2023-11-14T22:13:20.513000Z","t_abs":0.013000,"code":0}
{"event":"timer","thread":"main","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"running","intervals":3,"t_total":0.020000,"t_min":0.003000,"t_max":0.013000}
{"event":"timer","thread":"main","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"runnable","intervals":2,"t_total":0.002000,"t_min":0.001000,"t_max":0.001000}
{"event":"timer","thread":"main","time":"2023-11-14T22:13:20.513000Z","category":"block","name":"chan receive","intervals":1,"t_total":0.001000,"t_min":0.001000,"t_max":0.001000}
{"event":"counter","thread":"main","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"created","count":1}
{"event":"counter","thread":"main","time":"2023-11-14T22:13:20.513000Z","category":"goroutine","name":"unblocked","count":1}
{"event":"atexit","thread":"main","time":"2023-11-14T22:13:20.513000Z","t_abs":0.013000,"code":0}
)json");
}

// As git's: only version and atexit have a time.
TEST(Trace2Exporter, Brief) {
  EXPECT_EQ(Lines(Example().Convert(Trace2Form::kNormal, /*brief=*/true))[2],
            "child_start[3] 'serve it'");
  EXPECT_EQ(Lines(Example().Convert(Trace2Form::kPerf, /*brief=*/true))[4],
            "d0 | th07:main.(*server).hand | thread_start |     |  0.003000 |           |          "
            "    | ");
  const std::vector<std::string> lines =
      Lines(Example().Convert(Trace2Form::kEvent, /*brief=*/true));
  for (const std::string& line : lines) {
    EXPECT_EQ(absl::StrContains(line, "\"time\":"),
              &line == &lines.front() || &line == &lines.back());
    EXPECT_FALSE(absl::StrContains(line, "\"file\":"));
  }
}

TEST(Trace2Exporter, LeavesOutWhatIsNestedMoreDeeply) {
  for (const uint64_t nesting : {0, 1, 2, 3}) {
    const std::string out = Example().Convert(Trace2Form::kEvent, false, nesting);
    EXPECT_EQ(absl::StrContains(out, "\"label\":\"inner\""), nesting != 1) << nesting;
    EXPECT_EQ(absl::StrContains(out, "\"value\":\"a\\nmessage\""), nesting == 0 || nesting == 3);
    CheckLines(out);
  }
}

// Whatever a trace contains, an event is a line, and a column is a column.
TEST(Trace2Exporter, QuotesTheTextsOfTheTrace) {
  Built trace;
  trace.Task(EventType::kUserTaskBegin, kMain, TaskId{1}, "it's!\nx");
  trace.Log(kMain, "a|b\tc", "1|2\r\n3");
  trace.Log(kMain, "\u00e9\u00e9\u00e9\u00e9\u00e9 \u00e9\u00e9", "\xff");
  const std::vector<std::string> perf = Lines(trace.Convert(Trace2Form::kPerf, /*brief=*/true));
  EXPECT_TRUE(absl::EndsWith(perf[3], R"(| [ch1] class:it's! x argv:['it'\''s'\!' x'])"))
      << perf[3];
  EXPECT_TRUE(absl::EndsWith(perf[4], " | a b c        | log:1|2  3")) << perf[4];
  // A character is not cut in two.
  EXPECT_TRUE(absl::EndsWith(perf[5], " | \u00e9\u00e9\u00e9\u00e9\u00e9   | log:\xff")) << perf[5];
  EXPECT_EQ(Lines(trace.Convert(Trace2Form::kNormal, /*brief=*/true))[2],
            R"(child_start[1] 'it'\''s'\!' x')");
  CheckLines(trace.Convert(Trace2Form::kEvent));
}

TEST(Trace2Exporter, EndsWhatIsOpen) {
  Built trace;
  trace.Enter(kMain, kBackgroundTask, "outer").Enter(kMain, kBackgroundTask, "inner");
  trace.Task(EventType::kUserTaskBegin, kMain, TaskId{9}, "");
  const std::vector<std::string> lines = Lines(trace.Convert(Trace2Form::kPerf, /*brief=*/true));
  std::vector<std::string> texts;
  for (const std::string& line : lines) {
    const std::vector<std::string> columns = absl::StrSplit(line, " | ");
    texts.push_back(absl::StrCat(absl::StripAsciiWhitespace(columns[2]), " ", columns[7]));
  }
  EXPECT_EQ(absl::StrJoin(texts, "\n"),
            "version 1.27\n"
            "start go-program\n"
            "thread_start \n"
            "region_enter label:outer\n"
            "region_enter ..label:inner\n"
            "child_start ....[ch9] class:? argv:['']\n"
            "child_exit ....[ch9] pid:0 code:-1\n"
            "region_leave ..label:inner\n"
            "region_leave label:outer\n"
            "th_timer name:running intervals:1 total:0.004000 min:0.004000 max:0.004000\n"
            "thread_exit \n"
            "exit code:0\n"
            "timer name:running intervals:1 total:0.004000 min:0.004000 max:0.004000\n"
            "atexit code:0");
}

// They start with the trace.
TEST(Trace2Exporter, WhatIsOlderThanTheTrace) {
  Built trace;
  trace.Leave(kMain, TaskId{3}, "old").Task(EventType::kUserTaskEnd, kMain, TaskId{3}, "job");
  const std::string out = trace.Convert(Trace2Form::kEvent);
  CheckLines(out);
  EXPECT_TRUE(absl::StrContains(out, "\"time\":\"2023-11-14T22:13:20.500000Z\",\"child_id\":3,"));
  EXPECT_TRUE(absl::StrContains(out, "\"code\":0,\"t_rel\":0.003000"));
  EXPECT_TRUE(absl::StrContains(
      out, "\"t_rel\":0.002000,\"nesting\":1,\"category\":\"task\",\"label\":\"old\""))
      << out;
}

TEST(Trace2Exporter, AWindowStartsWithWhatIsOpen) {
  Trace2Options options;
  options.form = Trace2Form::kEvent;
  options.filter.times = {.from = 6'500'000, .to = 8'500'000};
  const std::string out = Example().Convert(options);
  CheckLines(out);
  CheckTimers(out);
  EXPECT_TRUE(absl::StrContains(out,
                                "\"time\":\"2023-11-14T22:13:20.506500Z\",\"nesting\":2,"
                                "\"category\":\"background\",\"label\":\"inner\""))
      << out;
  EXPECT_TRUE(absl::StrContains(out, "\"value\":\"a\\nmessage\""));
  // The wait is cut off at the end of the window.
  EXPECT_TRUE(
      absl::StrContains(out, "\"name\":\"chan receive\",\"intervals\":1,\"t_total\":0.000500"));
  EXPECT_TRUE(
      absl::StrContains(out, "\"time\":\"2023-11-14T22:13:20.508500Z\",\"t_rel\":0.002000"));
  EXPECT_FALSE(absl::StrContains(out, "unblocked"));
}

TEST(Trace2Exporter, TakesTimesSinceTheStart) {
  Trace2Options absolute;
  absolute.form = Trace2Form::kEvent;
  absolute.start = 1'000'000;
  Trace2Options since_start = absolute;
  absolute.filter.times = {.from = 6'500'000, .to = 8'500'000};
  since_start.filter.since_start = {.from = 5'500'000, .to = 7'500'000};
  const std::string out = Example().Convert(since_start);
  EXPECT_TRUE(absl::StrContains(out, "inner")) << out;
  EXPECT_EQ(out, Example().Convert(absolute));
}

// Go states at the end of a generation that a goroutine has done nothing in it.
TEST(Trace2Exporter, AWindowHasGoroutinesThatAreStatedAfterIt) {
  Built trace;
  const auto status = [&](GoId id, absl::string_view function) {
    EventBuilder event = trace.New(EventType::kGoStatusStack);
    trace.Keep(event.Transition(id, GoState::kUndetermined, GoState::kWaiting)
                   .Stack({{1, function, "/src/work.go", 10}}));
    EventBuilder active = trace.New(EventType::kGCMarkAssistActive);
    trace.Keep(active.Arg(0, static_cast<uint64_t>(id.value)));
  };
  for (int i = 0; i < 8; ++i) trace.Log(kMain, "a", "b");
  trace.Create(GoId{8}, "main.later").Start(GoId{8});
  trace.Block(GoId{8}, "sleep");
  status(kWorker, "main.idle");
  EventBuilder collector = trace.New(EventType::kGCActive);
  trace.Keep(collector);
  EventBuilder sync = trace.NewSync();
  trace.Keep(sync);
  status(GoId{9}, "main.next");

  Trace2Options options;
  options.form = Trace2Form::kEvent;
  options.filter.times = {.from = 3'500'000, .to = 5'500'000};
  const std::string out = trace.Convert(options);
  CheckLines(out);
  CheckTimers(out);
  const std::string id = R"("sid":"20231114T221320.500000Z-Localhost-P00000000",)";
  EXPECT_TRUE(absl::StrContains(
      out, absl::StrCat(R"({"event":"thread_start",)", id,
                        R"("thread":"th07:main.idle","time":"2023-11-14T22:13:20.503500Z"})")))
      << out;
  EXPECT_TRUE(absl::StrContains(
      out, absl::StrCat(R"({"event":"region_enter",)", id,
                        R"("thread":"th07:main.idle","time":"2023-11-14T22:13:20.503500Z",)"
                        R"("nesting":1,"category":"runtime","label":"GC mark assist"})")));
  EXPECT_TRUE(absl::StrContains(
      out, absl::StrCat(R"({"event":"region_enter",)", id,
                        R"("thread":"main","time":"2023-11-14T22:13:20.503500Z",)"
                        R"("nesting":1,"category":"runtime","label":"GC concurrent mark phase"})")))
      << out;
  EXPECT_TRUE(absl::StrContains(
      out, absl::StrCat(R"({"event":"th_timer",)", id,
                        R"("thread":"th07:main.idle","time":"2023-11-14T22:13:20.505500Z",)"
                        R"("category":"block","name":"unknown","intervals":1,"t_total":0.002000,)"
                        R"("t_min":0.002000,"t_max":0.002000})")));
  // These did not exist, or are known only from the next generation.
  EXPECT_FALSE(absl::StrContains(out, "th08"));
  EXPECT_FALSE(absl::StrContains(out, "th09"));
}

TEST(Trace2Exporter, ATaskEndsOnce) {
  Built trace = Example();
  trace.Task(EventType::kUserTaskEnd, kMain, TaskId{3}, "serve it");
  trace.Task(EventType::kUserTaskEnd, kMain, TaskId{2}, "old");
  trace.Task(EventType::kUserTaskEnd, kMain, TaskId{2}, "old");
  const std::string out = trace.Convert(Trace2Form::kEvent);
  CheckLines(out);
  for (const absl::string_view event : {"child_start", "child_exit"}) {
    for (const int id : {2, 3}) {
      int count = 0;
      for (const std::string& line : Lines(out)) {
        count += absl::StrContains(line, event) &&
                 absl::StrContains(line, absl::StrCat("\"child_id\":", id, ","));
      }
      EXPECT_EQ(count, 1) << event << id << out;
    }
  }
  // A damaged trace may begin one twice.
  trace.Task(EventType::kUserTaskBegin, kMain, TaskId{5}, "a");
  trace.Task(EventType::kUserTaskBegin, kMain, TaskId{5}, "a");
  CheckLines(trace.Convert(Trace2Form::kEvent));
}

TEST(Trace2Exporter, Filters) {
  Trace2Options options;
  options.form = Trace2Form::kEvent;
  options.filter.goroutines = {kMain};
  std::string out = Example().Convert(options);
  CheckLines(out);
  EXPECT_FALSE(absl::StrContains(out, "\"label\":"));
  EXPECT_FALSE(absl::StrContains(out, "chan receive"));
  EXPECT_TRUE(absl::StrContains(out, "\"thread\":\"th01:main.main\""));

  options.filter = {};
  options.filter.kinds = {EventKind::kLog};
  out = Example().Convert(options);
  CheckLines(out);
  EXPECT_EQ(Lines(out).size(), 7u) << out;  // With the thread of the message.

  options.filter.kinds = {EventKind::kRegionEnd};
  out = Example().Convert(options);
  CheckLines(out);
  EXPECT_EQ(Lines(out).size(), 10u) << out;  // Both ends of the regions.
}

TEST(Trace2Exporter, TakesTheWallClockFromTheOptions) {
  Trace2Options options;
  options.start = -2'000'000'000;
  options.epoch = absl::FromUnixSeconds(1'600'000'000);
  EXPECT_EQ(Lines(Example().Convert(options))[1],
            "12:26:42.000000                                   start go-program");
}

TEST(Trace2Exporter, RefusesATraceWithoutAWallClock) {
  BuiltTables tables;
  const Event sync = EventBuilder::MakeSync(1, tables).Build();
  for (const Trace2Form form : {Trace2Form::kNormal, Trace2Form::kPerf, Trace2Form::kEvent}) {
    for (const bool brief : {false, true}) {
      std::string out;
      const std::unique_ptr<ByteSink> sink = SinkToString(&out);
      Trace2Options options;
      options.form = form;
      options.brief = brief;
      Trace2Exporter exporter(sink.get(), options);
      exporter.Add({&sync, 1});
      EXPECT_EQ(exporter.Finish().ok(), brief && form != Trace2Form::kEvent);
    }
  }
}

// Long nesting must not make the output much larger than the trace.
TEST(Trace2Exporter, BoundsTheDots) {
  Built trace;
  for (int i = 0; i < 5000; ++i) trace.Enter(kMain, kBackgroundTask, "r");
  EXPECT_LT(trace.Convert(Trace2Form::kPerf, true).size(), 10'000u * 350);
}

// A goroutine that was there before may log something before an event has its stack.
TEST(Trace2Exporter, WaitsForTheNamesOfThreads) {
  for (const int logs : {1, 4000, 5000}) {
    Built trace;
    trace.Status(kWorker, GoState::kRunning);
    for (int i = 0; i < logs; ++i) trace.Log(kWorker, "a", absl::StrCat("message ", i));
    trace.Log(kMain, "a", "another goroutine's");
    trace.Enter(kWorker, kBackgroundTask, "region");
    const std::string out = trace.Convert(Trace2Form::kEvent);
    CheckLines(out);
    EXPECT_EQ(absl::StrContains(out, "\"th07\""), logs == 5000);
    EXPECT_EQ(absl::StrContains(out, "\"th07:main.main\""), logs != 5000);
    // In the order of the events.
    EXPECT_LT(out.find(absl::StrCat("message ", logs - 1)), out.find("another goroutine's"));
    EXPECT_LT(out.find("another goroutine's"), out.find("\"region\""));
  }
  Built unknown;
  unknown.Status(kWorker, GoState::kRunning).Log(kWorker, "a", "message").Destroy(kWorker);
  const std::string out = unknown.Convert(Trace2Form::kEvent);
  CheckLines(out);
  EXPECT_TRUE(absl::StrContains(out, "\"th07\""));
}

TEST(Trace2Exporter, TakesNamesFromAfterTheWindow) {
  Built trace;
  trace.Status(kWorker, GoState::kRunning).Log(kWorker, "a", "message");
  EventBuilder stop = trace.New(EventType::kGoStop);
  trace.Keep(stop.Goroutine(kWorker)
                 .Transition(kWorker, GoState::kRunning, GoState::kRunnable)
                 .Stack({{1, "main.late", "/src/work.go", 10}}));
  Trace2Options options;
  options.form = Trace2Form::kEvent;
  options.filter.times = {.from = 0, .to = 3'500'000};
  const std::string out = trace.Convert(options);
  CheckLines(out);
  EXPECT_TRUE(absl::StrContains(out, "\"th07:main.late\"")) << out;
}

TEST(Trace2Exporter, ThreadsHaveAllNamesThatAreKnown) {
  size_t named = 0;
  for (const internal::TestTrace& test : internal::TestTraces()) {
    if (test.events > 100'000) continue;
    SCOPED_TRACE(test.name);
    const std::string trace = ReadTestTrace(test.name);
    std::string out;
    const std::unique_ptr<ByteSink> sink = SinkToString(&out);
    Trace2Options options;
    options.form = Trace2Form::kEvent;
    options.epoch = absl::FromUnixSeconds(1'600'000'000);
    Trace2Exporter exporter(sink.get(), options);
    GoroutineNames names;
    absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
    ASSERT_TRUE(ReadInto(*reader, {&exporter, &names}).ok());
    ASSERT_TRUE(sink->Finish().ok());
    for (const std::string& text : Lines(out)) {
      if (!absl::StrContains(text, "\"thread_start\"")) continue;
      const std::string thread = Text(*internal::ParseJson(text), "thread");
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(thread, absl::MaxSplits(':', 1));
      int64_t id = 0;
      ASSERT_TRUE(absl::SimpleAtoi(parts.first.substr(2), &id)) << thread;
      const absl::string_view name = names.NameOf(GoId{id});
      if (name.empty()) continue;
      EXPECT_EQ(parts.second.empty(), false) << thread << " is " << name;
      ++named;
    }
  }
  EXPECT_GT(named, 500u);
}

TEST(Trace2Exporter, OfRealTraces) {
  for (const absl::string_view name :
       {"go1.22-annotations.trace", "go1.25-blocking.trace", "go1.27-annotations.trace",
        "go1.27-generations.trace", "go1.27-gc.trace", "go1.27-cgocallback.trace"}) {
    SCOPED_TRACE(name);
    const std::string trace = ReadTestTrace(name);
    std::string out;
    const std::unique_ptr<ByteSink> sink = SinkToString(&out);
    Trace2Options options;
    options.form = Trace2Form::kEvent;
    options.epoch = absl::FromUnixSeconds(1'600'000'000);
    Trace2Exporter exporter(sink.get(), options);
    absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
    ASSERT_TRUE(reader.ok());
    EventSink* const sinks[] = {&exporter};
    ASSERT_TRUE(ReadInto(*reader, sinks).ok());
    ASSERT_TRUE(sink->Finish().ok());
    CheckLines(out);
    CheckTimers(out);
    EXPECT_TRUE(absl::StrContains(out, "\"thread\":\"th01:main.main\"") ||
                absl::StrContains(out, "\"thread\":\"th01:runtime.main\""));
  }
}

}  // namespace trace2_exporter_test
}  // namespace gotrace
