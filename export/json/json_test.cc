#include "export/json/json.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "export/json/json_text.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace json_test {

// Returns the lines of all events of the trace `bytes`.
std::vector<std::string> JsonLines(absl::string_view bytes, bool stacks) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return {};
  JsonFormatter formatter(stacks);
  TextBuffer text;
  while (const Event* event = reader->Next()) formatter.Append(*event, &text);
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  std::vector<std::string> lines = absl::StrSplit(text.view(), '\n');
  EXPECT_EQ(lines.back(), "");  // A newline ends each line.
  lines.pop_back();
  return lines;
}

std::string Assemble(absl::string_view text) {
  absl::StatusOr<std::string> bytes = AssembleText(text);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : std::string();
}

// The trace without the thread's events: tables with one of each kind of entry.
constexpr char kTables[] = R"(Trace Go1.26
EventBatch gen=1 m=18446744073709551615 time=1000 size=auto
Sync
Frequency freq=1000000000
ClockSnapshot dt=0 mono=5000 sec=1700000000 nsec=123456000
EventBatch gen=1 m=0 time=0 size=auto
Strings
String id=1
	data="main.main"
String id=2
	data="main.go"
String id=3
	data="chan receive"
String id=4
	data="GC sweep \"quoted\""
String id=5
	data="a name"
String id=6
	data="a key"
String id=7
	data="a\tvalue\n"
EventBatch gen=1 m=0 time=0 size=auto
Stacks
Stack id=1 nframes=2
	pc=18446744073709551615 func=1 file=2 line=10
	pc=16 func=1 file=0 line=0
Stack id=2 nframes=1
	pc=32 func=0 file=2 line=11
EventBatch gen=1 m=0 time=0 size=auto
CPUSamples
CPUSample time=1002 m=7 p=0 g=1 stack=1
CPUSample time=1003 m=7 p=18446744073709551615 g=0 stack=0
ExperimentalBatch exp=1 gen=1 m=7 time=0
	data="\x00\xff>?"
ExperimentalBatch exp=1 gen=1 m=8 time=0
	data=""
EventBatch gen=1 m=7 time=1000 size=auto
)";

// The event before all events of the thread.
constexpr absl::string_view kFirstSync =
    R"({"time":1000,"kind":"Sync","m":-1,"p":-1,"g":-1,"offset":16,"sync":{"n":1,"clock_snapshot":{"trace_time":1000,"mono":5000,"wall":"2023-11-14T22:13:20.123456Z"},"experimental_batches":[{"experiment":1,"name":"AllocFree","m":7,"data":"AP8+Pw=="},{"experiment":1,"name":"AllocFree","m":8,"data":""}]}})";
constexpr absl::string_view kSamples[] = {
    R"({"time":1002,"kind":"StackSample","type":"CPUSample","m":7,"p":0,"g":1,"offset":181})",
    R"({"time":1003,"kind":"StackSample","type":"CPUSample","m":7,"p":-1,"g":-1,"offset":188})"};
constexpr absl::string_view kLastSync =
    R"({"time":1047,"kind":"Sync","m":-1,"p":-1,"g":-1,"offset":415,"sync":{"n":2}})";

struct EventCase {
  absl::string_view wire;
  absl::string_view json;
};

// The thread's events in order.
constexpr EventCase
    kEvents
        [] =
            {
                {"ProcStatus dt=1 p=0 pstatus=1",
                 R"json({"time":1001,"kind":"StateTransition","type":"ProcStatus","m":7,"p":-1,"g":-1,"offset":227,"state_transition":{"resource":{"kind":"Proc","id":0},"from":"Undetermined","to":"Running","reason":""}})json"},
                {"ProcStatus dt=9 p=1 pstatus=2",
                 R"json({"time":1010,"kind":"StateTransition","type":"ProcStatus","m":7,"p":0,"g":-1,"offset":231,"state_transition":{"resource":{"kind":"Proc","id":1},"from":"Undetermined","to":"Idle","reason":""}})json"},
                {"GoStatus dt=1 g=1 m=7 gstatus=2",
                 R"json({"time":1011,"kind":"StateTransition","type":"GoStatus","m":7,"p":0,"g":-1,"offset":235,"state_transition":{"resource":{"kind":"Goroutine","id":1},"from":"Undetermined","to":"Running","reason":""}})json"},
                {"GoStatusStack dt=1 g=2 m=18446744073709551615 gstatus=4 stack=2",
                 R"json({"time":1012,"kind":"StateTransition","type":"GoStatusStack","m":7,"p":0,"g":1,"offset":240,"state_transition":{"resource":{"kind":"Goroutine","id":2},"from":"Undetermined","to":"Waiting","reason":""}})json"},
                {"ProcsChange dt=1 procs_value=2 stack=1",
                 R"json({"time":1013,"kind":"Metric","type":"ProcsChange","m":7,"p":0,"g":1,"offset":255,"metric":{"name":"/sched/gomaxprocs:threads","value":2}})json"},
                {"HeapAlloc dt=1 heapalloc_value=18446744073709551615",
                 R"json({"time":1014,"kind":"Metric","type":"HeapAlloc","m":7,"p":0,"g":1,"offset":259,"metric":{"name":"/memory/classes/heap/objects:bytes","value":18446744073709551615}})json"},
                {"HeapGoal dt=1 heapgoal_value=0",
                 R"json({"time":1015,"kind":"Metric","type":"HeapGoal","m":7,"p":0,"g":1,"offset":271,"metric":{"name":"/gc/heap/goal:bytes","value":0}})json"},
                {"GoLabel dt=1 label_string=5",
                 R"json({"time":1016,"kind":"Label","type":"GoLabel","m":7,"p":0,"g":1,"offset":274,"label":{"label":"a name","resource":{"kind":"Goroutine","id":1}}})json"},
                {"STWBegin dt=1 kind_string=4 stack=1",
                 R"json({"time":1017,"kind":"RangeBegin","type":"STWBegin","m":7,"p":0,"g":1,"offset":277,"range":{"name":"stop-the-world (GC sweep \"quoted\")","scope":{"kind":"Goroutine","id":1}}})json"},
                {"STWEnd dt=1",
                 R"json({"time":1018,"kind":"RangeEnd","type":"STWEnd","m":7,"p":0,"g":1,"offset":281,"range":{"name":"stop-the-world (GC sweep \"quoted\")","scope":{"kind":"Goroutine","id":1},"attributes":{}}})json"},
                {"GCBegin dt=1 gc_seq=1 stack=1",
                 R"json({"time":1019,"kind":"RangeBegin","type":"GCBegin","m":7,"p":0,"g":1,"offset":283,"range":{"name":"GC concurrent mark phase","scope":{"kind":"None","id":-1}}})json"},
                {"GCEnd dt=1 gc_seq=2",
                 R"json({"time":1020,"kind":"RangeEnd","type":"GCEnd","m":7,"p":0,"g":1,"offset":287,"range":{"name":"GC concurrent mark phase","scope":{"kind":"None","id":-1},"attributes":{}}})json"},
                {"GCSweepActive dt=1 p=1",
                 R"json({"time":1021,"kind":"RangeActive","type":"GCSweepActive","m":7,"p":0,"g":1,"offset":290,"range":{"name":"GC incremental sweep","scope":{"kind":"Proc","id":1}}})json"},
                {"GCSweepBegin dt=1 stack=1",
                 R"json({"time":1022,"kind":"RangeBegin","type":"GCSweepBegin","m":7,"p":0,"g":1,"offset":293,"range":{"name":"GC incremental sweep","scope":{"kind":"Proc","id":0}}})json"},
                {"GCSweepEnd dt=1 swept_value=8192 reclaimed_value=4096",
                 R"json({"time":1023,"kind":"RangeEnd","type":"GCSweepEnd","m":7,"p":0,"g":1,"offset":296,"range":{"name":"GC incremental sweep","scope":{"kind":"Proc","id":0},"attributes":{"bytes swept":8192,"bytes reclaimed":4096}}})json"},
                {"GCMarkAssistActive dt=1 g=2",
                 R"json({"time":1024,"kind":"RangeActive","type":"GCMarkAssistActive","m":7,"p":0,"g":1,"offset":302,"range":{"name":"GC mark assist","scope":{"kind":"Goroutine","id":2}}})json"},
                {"GCMarkAssistBegin dt=1 stack=1",
                 R"json({"time":1025,"kind":"RangeBegin","type":"GCMarkAssistBegin","m":7,"p":0,"g":1,"offset":305,"range":{"name":"GC mark assist","scope":{"kind":"Goroutine","id":1}}})json"},
                {"GCMarkAssistEnd dt=1",
                 R"json({"time":1026,"kind":"RangeEnd","type":"GCMarkAssistEnd","m":7,"p":0,"g":1,"offset":308,"range":{"name":"GC mark assist","scope":{"kind":"Goroutine","id":1},"attributes":{}}})json"},
                {"UserTaskBegin dt=1 task=1 parent_task=0 name_string=5 stack=1",
                 R"json({"time":1027,"kind":"TaskBegin","type":"UserTaskBegin","m":7,"p":0,"g":1,"offset":310,"task":{"id":1,"parent":-1,"type":"a name"}})json"},
                {"UserTaskBegin dt=1 task=2 parent_task=1 name_string=0 stack=0",
                 R"json({"time":1028,"kind":"TaskBegin","type":"UserTaskBegin","m":7,"p":0,"g":1,"offset":316,"task":{"id":2,"parent":1,"type":""}})json"},
                {"UserTaskEnd dt=1 task=1 stack=1",
                 R"json({"time":1029,"kind":"TaskEnd","type":"UserTaskEnd","m":7,"p":0,"g":1,"offset":322,"task":{"id":1,"parent":-1,"type":"a name"}})json"},
                {"UserTaskEnd dt=1 task=9 stack=0",
                 R"json({"time":1030,"kind":"TaskEnd","type":"UserTaskEnd","m":7,"p":0,"g":1,"offset":326,"task":{"id":9,"parent":-1,"type":""}})json"},
                {"UserRegionBegin dt=1 task=2 name_string=5 stack=1",
                 R"json({"time":1031,"kind":"RegionBegin","type":"UserRegionBegin","m":7,"p":0,"g":1,"offset":330,"region":{"task":2,"type":"a name"}})json"},
                {"UserRegionEnd dt=1 task=2 name_string=5 stack=1",
                 R"json({"time":1032,"kind":"RegionEnd","type":"UserRegionEnd","m":7,"p":0,"g":1,"offset":335,"region":{"task":2,"type":"a name"}})json"},
                {"UserRegionEnd dt=1 task=0 name_string=0 stack=0",
                 R"json({"time":1033,"kind":"RegionEnd","type":"UserRegionEnd","m":7,"p":0,"g":1,"offset":340,"region":{"task":0,"type":""}})json"},
                {"UserLog dt=1 task=18446744073709551615 key_string=6 value_string=7 stack=1",
                 R"json({"time":1034,"kind":"Log","type":"UserLog","m":7,"p":0,"g":1,"offset":345,"log":{"task":-1,"category":"a key","message":"a\tvalue\n"}})json"},
                {"GoCreate dt=1 new_g=3 new_stack=2 stack=1",
                 R"json({"time":1035,"kind":"StateTransition","type":"GoCreate","m":7,"p":0,"g":1,"offset":360,"state_transition":{"resource":{"kind":"Goroutine","id":3},"from":"NotExist","to":"Runnable","reason":""}})json"},
                {"GoCreateBlocked dt=1 new_g=4 new_stack=0 stack=0",
                 R"json({"time":1036,"kind":"StateTransition","type":"GoCreateBlocked","m":7,"p":0,"g":1,"offset":365,"state_transition":{"resource":{"kind":"Goroutine","id":4},"from":"NotExist","to":"Waiting","reason":""}})json"},
                {"GoUnblock dt=1 g=2 g_seq=1 stack=1",
                 R"json({"time":1037,"kind":"StateTransition","type":"GoUnblock","m":7,"p":0,"g":1,"offset":370,"state_transition":{"resource":{"kind":"Goroutine","id":2},"from":"Waiting","to":"Runnable","reason":""}})json"},
                {"Span dt=1 id=1 npages_value=2 kindclass=3",
                 R"json({"time":1038,"kind":"Experimental","type":"Span","m":7,"p":0,"g":1,"offset":375,"experimental":{"name":"Span","experiment":"AllocFree","args":{"id":1,"npages_value":2,"kindclass":3}}})json"},
                {"SpanFree dt=1 id=18446744073709551615",
                 R"json({"time":1039,"kind":"Experimental","type":"SpanFree","m":7,"p":0,"g":1,"offset":380,"experimental":{"name":"SpanFree","experiment":"AllocFree","args":{"id":18446744073709551615}}})json"},
                {"GoSyscallBegin dt=1 p_seq=1 stack=1",
                 R"json({"time":1040,"kind":"StateTransition","type":"GoSyscallBegin","m":7,"p":0,"g":1,"offset":392,"state_transition":{"resource":{"kind":"Goroutine","id":1},"from":"Running","to":"Syscall","reason":""}})json"},
                {"GoSyscallEnd dt=1",
                 R"json({"time":1041,"kind":"StateTransition","type":"GoSyscallEnd","m":7,"p":0,"g":1,"offset":396,"state_transition":{"resource":{"kind":"Goroutine","id":1},"from":"Syscall","to":"Running","reason":""}})json"},
                {"GoBlock dt=1 reason_string=3 stack=1",
                 R"json({"time":1042,"kind":"StateTransition","type":"GoBlock","m":7,"p":0,"g":1,"offset":398,"state_transition":{"resource":{"kind":"Goroutine","id":1},"from":"Running","to":"Waiting","reason":"chan receive"}})json"},
                {"GoStart dt=1 g=3 g_seq=1",
                 R"json({"time":1043,"kind":"StateTransition","type":"GoStart","m":7,"p":0,"g":-1,"offset":402,"state_transition":{"resource":{"kind":"Goroutine","id":3},"from":"Runnable","to":"Running","reason":""}})json"},
                {"GoDestroy dt=1",
                 R"json({"time":1044,"kind":"StateTransition","type":"GoDestroy","m":7,"p":0,"g":3,"offset":406,"state_transition":{"resource":{"kind":"Goroutine","id":3},"from":"Running","to":"NotExist","reason":""}})json"},
                {"ProcStop dt=1",
                 R"json({"time":1045,"kind":"StateTransition","type":"ProcStop","m":7,"p":0,"g":-1,"offset":408,"state_transition":{"resource":{"kind":"Proc","id":0},"from":"Running","to":"Idle","reason":""}})json"},
                {"ProcStart dt=1 p=1 p_seq=1",
                 R"json({"time":1046,"kind":"StateTransition","type":"ProcStart","m":7,"p":-1,"g":-1,"offset":410,"state_transition":{"resource":{"kind":"Proc","id":1},"from":"Idle","to":"Running","reason":""}})json"},
};

std::string TraceOfAllEvents() {
  std::string text = kTables;
  for (const EventCase& event : kEvents) absl::StrAppend(&text, event.wire, "\n");
  absl::StrAppend(&text, "EndOfGeneration\n");
  return Assemble(text);
}

TEST(JsonFormatter, WritesEachEvent) {
  std::vector<std::string> expected = {std::string(kFirstSync)};
  for (const EventCase& event : kEvents) {
    expected.push_back(std::string(event.json));
    // The samples are of the two nanoseconds after the first event.
    if (expected.size() != 2) continue;
    for (const absl::string_view sample : kSamples) expected.push_back(std::string(sample));
  }
  expected.push_back(std::string(kLastSync));
  EXPECT_EQ(JsonLines(TraceOfAllEvents(), /*stacks=*/false), expected);
}

TEST(JsonFormatter, WasShownEveryKind) {
  std::set<std::string> seen;
  for (const std::string& line : JsonLines(TraceOfAllEvents(), /*stacks=*/false)) {
    const absl::string_view behind = absl::string_view(line).substr(line.find("\"kind\":\"") + 8);
    seen.insert(std::string(behind.substr(0, behind.find('"'))));
  }
  std::set<std::string> all;
  for (int kind = static_cast<int>(EventKind::kSync); kind < kEventKindEnd; ++kind) {
    all.insert(std::string(EventKindName(static_cast<EventKind>(kind))));
  }
  EXPECT_EQ(seen, all);
}

// The stacks of kTables in JSON.
constexpr absl::string_view kStack1 =
    R"("stack":[{"func":"main.main","file":"main.go","line":10,"pc":18446744073709551615},)"
    R"({"func":"main.main","file":"","line":0,"pc":16}])";
constexpr absl::string_view kStack2 = R"("stack":[{"func":"","file":"main.go","line":11,"pc":32}])";

// Adds stacks to `json`: that of the goroutine that changes state, and that of the context; "" for
// none.
std::string WithStacks(absl::string_view json, absl::string_view transition,
                       absl::string_view context) {
  absl::ConsumeSuffix(&json, "}");
  std::string text;
  if (transition.empty()) {
    text = std::string(json);
  } else {
    absl::ConsumeSuffix(&json, "}");
    text = absl::StrCat(json, ",", transition, "}");
  }
  if (!context.empty()) absl::StrAppend(&text, ",", context);
  return text + "}";
}

TEST(JsonFormatter, WritesStacksWhereEventsHaveThem) {
  std::vector<std::string> expected = {std::string(kFirstSync)};
  for (const EventCase& event : kEvents) {
    const bool has_stack = absl::EndsWith(event.wire, " stack=1");
    const bool is_transition_stack =
        absl::StartsWith(event.wire, "GoBlock ") || absl::StartsWith(event.wire, "GoSyscallBegin ");
    absl::string_view context = has_stack ? kStack1 : "";
    absl::string_view transition = is_transition_stack ? kStack1 : "";
    if (absl::StartsWith(event.wire, "GoStatusStack ")) context = transition = kStack2;
    if (absl::StartsWith(event.wire, "GoCreate ")) transition = kStack2;
    // The new goroutine's stack is known to be empty; its creator's stack is unknown.
    if (absl::StartsWith(event.wire, "GoCreateBlocked ")) transition = R"("stack":[])";
    expected.push_back(WithStacks(event.json, transition, context));
    if (expected.size() != 2) continue;
    expected.push_back(WithStacks(kSamples[0], "", kStack1));
    // A sample always has a stack.
    expected.push_back(WithStacks(kSamples[1], "", R"("stack":[])"));
  }
  expected.push_back(std::string(kLastSync));
  EXPECT_EQ(JsonLines(TraceOfAllEvents(), /*stacks=*/true), expected);
}

// Names of tasks and other strings may contain any bytes.
TEST(JsonFormatter, EscapesStringsOfTheTrace) {
  const std::string trace = Assemble(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="\"\\\x00\x1f\x7f\xff\u2028"
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
UserLog dt=1 task=0 key_string=1 value_string=1 stack=0
)");
  const std::vector<std::string> lines = JsonLines(trace, /*stacks=*/false);
  ASSERT_EQ(lines.size(), 5);
  const absl::string_view escaped = "\"\\\"\\\\\\u0000\\u001f\\u007f\xEF\xBF\xBD\xE2\x80\xA8\"";
  EXPECT_EQ(lines[3],
            absl::StrCat(R"({"time":103,"kind":"Log","type":"UserLog","m":1,"p":0,"g":1,)",
                         R"("offset":59,"log":{"task":0,"category":)", escaped, R"(,"message":)",
                         escaped, R"(,"message_hex":"225c001f7fffe280a8"}})"));
  EXPECT_EQ(CheckJson(lines[3]), "");
}

class EachTrace : public testing::TestWithParam<TestTrace> {};

TEST_P(EachTrace, IsJson) {
  const std::string bytes = ReadTestTrace(GetParam().name);
  for (const bool stacks : {false, true}) {
    const std::vector<std::string> lines = JsonLines(bytes, stacks);
    EXPECT_EQ(lines.size(), GetParam().events);
    for (const std::string& line : lines) ASSERT_EQ(CheckJson(line), "") << line;
  }
}

INSTANTIATE_TEST_SUITE_P(JsonFormatter, EachTrace, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = absl::ascii_isalnum(c) ? c : '_';
                           return name;
                         });

std::string JsonString(absl::string_view text) {
  TextBuffer out;
  AppendJsonString(text, &out);
  EXPECT_EQ(CheckJson(out.view()), "") << out.view();
  return std::string(out.view());
}

TEST(AppendJsonString, EscapesWhatJsonMust) {
  EXPECT_EQ(JsonString(""), R"("")");
  EXPECT_EQ(JsonString("plain /text"), R"("plain /text")");
  EXPECT_EQ(JsonString(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(JsonString("\n\t\r\b\f"), R"("\n\t\u000d\u0008\u000c")");
  EXPECT_EQ(JsonString("\x7f"), R"("\u007f")");
  EXPECT_EQ(JsonString(absl::string_view("\0", 1)), R"("\u0000")");
  for (char c = 0; c < ' '; ++c) {
    if (c == '\n' || c == '\t') continue;
    EXPECT_EQ(JsonString(absl::string_view(&c, 1)),
              absl::StrCat("\"\\u", absl::Hex(c, absl::kZeroPad4), "\""));
  }
}

TEST(AppendJsonString, KeepsUtf8) {
  for (const absl::string_view text :
       {"\xC2\x80", "h\xC3\xA9", "\xE2\x80\xA8\xE2\x80\xA9", "\xEF\xBF\xBD", "\xEF\xBF\xBF",
        "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(JsonString(text), absl::StrCat("\"", text, "\""));
  }
}

TEST(AppendJsonString, ReplacesEachByteThatIsNotUtf8) {
  struct Case {
    absl::string_view text;
    int replaced;
  };
  const Case kCases[] = {{"\x80", 1},         {"\xFF\xFE", 2},
                         {"\xC0\x80", 2},     {"\xC3", 1},
                         {"\xED\xA0\x80", 3}, {"\xF4\x90\x80\x80", 4},
                         {"\xE2\x80", 2},     {"\xF0\x9F\x98", 3},
                         {"\xE0\x80\xAF", 3}, {"\xF8\x88\x80\x80\x80", 5}};
  for (const Case& c : kCases) {
    std::string expected = "\"a";
    for (int i = 0; i < c.replaced; ++i) expected += "\xEF\xBF\xBD";
    EXPECT_EQ(JsonString(absl::StrCat("a", c.text, "b")), expected + "b\"");
  }
}

TEST(JsonWriter, PutsCommas) {
  TextBuffer out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("a", uint64_t{18446744073709551615U});
  json.Member("b", int64_t{-1});
  json.Key("c");
  json.BeginArray();
  json.Value("x");
  json.BeginObject();
  json.EndObject();
  json.BeginArray();
  json.EndArray();
  json.Null();
  json.EndArray();
  json.Key("d");
  json.Bool(true);
  json.Key("e");
  json.Bool(false);
  json.EndObject();
  EXPECT_EQ(out.view(),
            R"({"a":18446744073709551615,"b":-1,"c":["x",{},[],null],"d":true,"e":false})");
  EXPECT_EQ(CheckJson(out.view()), "");
}

TEST(FormatUtc, LeavesOutZerosAtTheEnd) {
  const absl::Time time = absl::FromUnixSeconds(1700000000);
  EXPECT_EQ(FormatUtc(time), "2023-11-14T22:13:20Z");
  EXPECT_EQ(FormatUtc(time + absl::Nanoseconds(1)), "2023-11-14T22:13:20.000000001Z");
  EXPECT_EQ(FormatUtc(time + absl::Milliseconds(250)), "2023-11-14T22:13:20.25Z");
  EXPECT_EQ(FormatUtc(absl::UnixEpoch() - absl::Seconds(1)), "1969-12-31T23:59:59Z");
}

TEST(FormatUtc, WritesYearsWithFourDigits) {
  const absl::Time time = absl::FromCivil(absl::CivilSecond(33, 4, 3, 15), absl::UTCTimeZone());
  EXPECT_EQ(FormatUtc(time), "0033-04-03T15:00:00Z");
  EXPECT_EQ(FormatUtcNanoseconds(time), "0033-04-03T15:00:00.000000000Z");
}

}  // namespace json_test
}  // namespace gotrace::internal
