#include "gotrace/perfetto_exporter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/perfetto/packet_text.h"
#include "export/perfetto/read_back.h"
#include "gmock/gmock.h"
#include "gotrace/event_builder.h"
#include "gotrace/reader.h"
#include "gotrace/state_tracker.h"
#include "gtest/gtest.h"
#include "protozero/pbf_reader.hpp"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace perfetto_exporter_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Runs the trace `bytes` through an exporter, and through `other` if it is not nullptr.
std::string Convert(const std::string& bytes, PerfettoOptions options = {},
                    EventSink* other = nullptr) {
  std::string file;
  const std::unique_ptr<ByteSink> out = SinkToString(&file);
  PerfettoExporter exporter(out.get(), std::move(options));
  absl::StatusOr<Reader> reader = Reader::FromSource(*SourceFromBytes(bytes));
  EXPECT_TRUE(reader.ok());
  std::vector<EventSink*> sinks = {&exporter};
  if (other != nullptr) sinks.push_back(other);
  EXPECT_TRUE(ReadInto(*reader, sinks).ok());
  EXPECT_TRUE(out->Finish().ok());
  return file;
}

std::vector<std::string> Lines(const std::string& bytes, PerfettoOptions options = {}) {
  return DescribePackets(Convert(bytes, std::move(options)));
}

// Goroutine 1 creates goroutine 2 and waits for it.
constexpr absl::string_view kTrace = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="main.main"
String id=2
	data="main.go"
String id=3
	data="main.worker"
String id=4
	data="chan receive"
String id=5
	data="job"
String id=6
	data="step"
String id=7
	data="color"
String id=8
	data="blue"
EventBatch gen=1 m=0 time=1 size=auto
Stacks
Stack id=1 nframes=1
	pc=16 func=1 file=2 line=10
Stack id=2 nframes=1
	pc=32 func=3 file=2 line=20
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
UserTaskBegin dt=8 task=5 parent_task=0 name_string=5 stack=1
GoCreate dt=10 new_g=2 new_stack=2 stack=1
GoBlock dt=10 reason_string=4 stack=1
GoStart dt=10 g=2 g_seq=1
UserRegionBegin dt=10 task=5 name_string=6 stack=2
HeapAlloc dt=5 heapalloc_value=4096
UserLog dt=5 task=5 key_string=7 value_string=8 stack=2
UserRegionEnd dt=10 task=5 name_string=6 stack=2
GoUnblock dt=10 g=1 g_seq=1 stack=2
GoDestroy dt=10
GoStart dt=10 g=1 g_seq=2
GoSyscallBegin dt=10 p_seq=1 stack=1
GoSyscallEnd dt=10
UserTaskEnd dt=10 task=5 stack=1
)";

TEST(PerfettoExporterTest, WritesStatesSlicesAndFlows) {
  EXPECT_EQ(absl::StrJoin(Lines(Assemble(kTrace)), "\n"), R"(clocks 6=1 64=1, primary 6
track 1 process 1 "Go program"
track 2 in 1 "GC"
track 10 in 1 "Tasks"
track 3 in 1 "heap" counter
track 11 in 1 "heap goal" counter
track 19 in 1 "GOMAXPROCS" counter
track 43 in 1 "runnable goroutines" counter
track 51 in 1 "running goroutines" counter
track 59 in 1 "waiting goroutines" counter
track 67 in 1 "goroutines in syscalls" counter
track 75 in 1 "busy Ps" counter
track 12 thread 1
1 state "goroutine" thread 1 is 2
track 47 in 10 "job"
110 begin 47 "job" task task=5
track 20 thread 2
120 instant 12 "create" goroutine flow out 1
120 instant 20 "created" flow in 1
130 begin 12 "chan receive" wait
150 begin 20 "step" region task=5
155 counter 3 4096
160 instant 20 "color" log message="blue" task=5
170 end 20
180 instant 20 "unblock" goroutine flow out 2
180 end 12
180 instant 12 "unblocked" flow in 2
210 begin 12 "syscall" syscall
220 end 12
230 end 47
1 counter 43 0
1 counter 51 1
1 counter 59 0
1 counter 67 0
1 counter 75 1
231 counter 43 0
231 counter 51 1
231 counter 59 0
231 counter 67 0
231 counter 75 1
131 blocked thread 1 for chan receive
1 switch cpu 0 to 0 "", prev state 0
1 switch cpu 0 to 1 "goroutine", prev state 0
130 switch cpu 0 to 0 "", prev state 1
140 switch cpu 0 to 2 "main.worker", prev state 0
190 switch cpu 0 to 0 "", prev state 16
200 switch cpu 0 to 1 "main.main", prev state 0
210 switch cpu 0 to 0 "", prev state 2
220 switch cpu 0 to 1 "main.main", prev state 0
231 switch cpu 0 to 0 "", prev state 0
231 switch cpu 0 to 1 "main.main", prev state 0
120 wake cpu 0 thread 2 "main.worker"
180 wake cpu 0 thread 1 "main.main")");
}

TEST(PerfettoExporterTest, WritesStacks) {
  PerfettoOptions options;
  options.stacks = true;
  const std::vector<std::string> lines = Lines(Assemble(kTrace), options);
  EXPECT_THAT(lines, Contains(HasSubstr("\"chan receive\" wait at main.main@main.go:10")));
  EXPECT_THAT(lines, Contains(HasSubstr("\"create\" goroutine at main.main@main.go:10")));
  EXPECT_THAT(lines, Contains(HasSubstr("\"unblock\" goroutine at main.worker@main.go:20")));
  EXPECT_THAT(lines, Contains(HasSubstr("\"step\" region at main.worker@main.go:20")));
  EXPECT_THAT(lines, Contains(HasSubstr("\"syscall\" syscall at main.main@main.go:10")));
  EXPECT_THAT(lines, Contains(HasSubstr("\"job\" task at main.main@main.go:10")));
}

// The sync of the next generation comes after the window, but then a damaged trace goes back.
TEST(PerfettoExporterTest, TimesMayGoBackIntoTheWindow) {
  std::string file;
  const std::unique_ptr<ByteSink> out = SinkToString(&file);
  PerfettoOptions options;
  options.filter.times = {0, 300};
  PerfettoExporter exporter(out.get(), options);
  const BuiltTables tables;
  const auto add = [&](EventBuilder builder) {
    exporter.Add(absl::MakeConstSpan(&builder.Build(), 1));
  };
  add(EventBuilder::MakeSync(1, tables).Time(10));
  add(EventBuilder::MakeSync(2, tables).Time(500));
  add(EventBuilder(EventType::kGCActive, tables).Time(200));
  ASSERT_TRUE(exporter.Finish().ok());
  ASSERT_TRUE(out->Finish().ok());
  EXPECT_THAT(DescribePackets(file),
              Contains(HasSubstr("10 begin 2 \"GC concurrent mark phase\" range")));
}

// Returns the fields of a message, each as its number and its value. Whether bytes are a message
// depends on `path`, the numbers of the fields around it.
std::string DumpFields(protozero::pbf_reader message, const std::string& path, bool with_values) {
  static const auto& messages = *new std::set<std::string>{
      "/1",     "/1/2", "/1/2/4", "/1/2/18", "/1/2/20", "/1/4",  "/6",    "/6/1",  "/11",
      "/11/4",  "/12",  "/12/1",  "/12/2",   "/12/3",   "/12/5", "/12/6", "/12/7", "/12/18",
      "/12/26", "/59",  "/60",    "/60/3",   "/60/4",   "/60/8", "/66",   "/117"};
  std::string out;
  while (message.next()) {
    const protozero::pbf_tag_type tag =
        message.tag();  // Gone once the value is read, without NDEBUG.
    const std::string field = absl::StrCat(path, "/", tag);
    std::string value;
    switch (message.wire_type()) {
      case protozero::pbf_wire_type::varint:
        value = absl::StrCat(message.get_uint64());
        break;
      case protozero::pbf_wire_type::fixed64:
        value = absl::StrCat("fixed ", message.get_fixed64());
        break;
      default: {
        const protozero::data_view bytes = message.get_view();
        const absl::string_view text(bytes.data(), bytes.size());
        if (messages.contains(field)) {
          value =
              absl::StrCat("{", DumpFields(protozero::pbf_reader(bytes), field, with_values), "}");
        } else {
          const bool is_text = path != "/1/4" || tag == 5;
          value = is_text ? absl::StrCat("\"", text, "\"") : absl::BytesToHexString(text);
        }
        if (!with_values && value[0] != '{') value.clear();
      }
    }
    const bool has_value = with_values || absl::StartsWith(value, "{");
    absl::StrAppend(&out, out.empty() ? "" : " ", tag, ":", has_value ? value : "");
  }
  return out;
}

constexpr absl::string_view kPackets = R"(
98:3 10:3 13:3 59:{58:64} 6:{1:{1:6 2:1} 1:{1:64 2:1 3:1} 2:6} 12:{1:{1:1 2:"wait"} 1:{1:2 2:"syscall"} 1:{1:3 2:"region"} 1:{1:4 2:"task"} 1:{1:5 2:"log"} 1:{1:6 2:"range"} 1:{1:7 2:"goroutine"} 1:{1:8 2:"label"} 1:{1:9 2:"thread"} 1:{1:10 2:"alloc"}}
98:3 10:3 60:{1:4611686018427387905 3:{1:3 6:"Go program"}}
98:3 10:3 60:{1:4611686018427387906 5:4611686018427387905 2:"GC" 15:2}
98:3 10:3 60:{1:4611686018427387907 5:4611686018427387905 2:"heap" 8:{3:3}}
98:3 10:3 60:{1:4611686018427387916 4:{1:3 2:1}}
98:3 8:1 117:{2:"goroutine" 3:1 4:2}
98:3 8:109 10:3 11:{9:1 11:4611686018427387951 10:16 3:4 56:1 4:{1:11 3:5}} 12:{2:{1:16 2:"job"} 5:{1:17 2:"main.main"} 18:{1:18 2:"main.go"} 6:{1:1 2:17 5:18 6:10} 7:{1:1 2:1} 3:{1:11 2:"task"}}
98:3 8:1 10:3 11:{9:4 11:4611686018427387915 44:fixed 4895412794951729152}
98:3 8:9 10:3 11:{9:3 11:4611686018427387916 10:5 3:7 56:1 47:fixed 4611686018427387905} 12:{2:{1:5 2:"create"}}
98:3 8:0 10:3 11:{9:3 11:4611686018427387924 10:6 48:fixed 4611686018427387905} 12:{2:{1:6 2:"created"}}
98:3 8:10 10:3 11:{9:1 11:4611686018427387916 10:9 3:1 56:1} 12:{26:{1:9 2:"network"} 2:{1:9 2:"network"}}
98:3 10:3 60:{1:4611686035607257082 4:{1:3 2:2147483647 5:"M7"}}
98:3 8:15 10:3 66:{1:0 2:3 3:2147483647 4:2} 12:{5:{1:19 2:"main.worker"} 6:{1:2 2:19 5:18 6:20} 7:{1:2 2:2}}
98:3 8:1 10:3 66:{1:0 2:3 3:2 4:2}
98:3 8:4 10:3 11:{9:1 11:4611686018427387924 10:20 3:3 56:2 4:{1:11 3:5}} 12:{2:{1:20 2:"step"}}
98:3 8:5 10:3 11:{9:4 11:4611686018427387907 30:4096}
98:3 8:5 10:3 11:{9:3 11:4611686018427387924 10:21 3:5 56:2 4:{1:13 6:"blue"} 4:{1:11 3:5}} 12:{2:{1:21 2:"color"} 3:{1:13 2:"message"}}
98:3 8:10 10:3 11:{9:2 11:4611686018427387924}
98:3 8:30 10:3 11:{9:1 11:4611686018427387916 10:4 3:2 56:1} 12:{2:{1:4 2:"syscall"}}
98:3 8:1 58:6 10:3 11:{9:4 11:4611686018427387947 30:0}
98:3 10:3 1:{1:0 2:{1:131 2:0 18:{1:1 2:9 3:1}}}
98:3 10:3 1:{1:0 4:{5:"" 5:"goroutine" 5:"main.worker" 5:"main.main" 1:010081010a320a0a0a0b00 2:00000100100002000000 3:00010002000100010001 4:00000000000000000000 6:00010002000300030003 7:783c 8:0201 9:0000 10:0000 11:0203 12:0000}}
98:3 8:20 10:3 11:{9:1 11:4611686018427387924 10:3 3:1} 12:{2:{1:3 2:"waiting"}}
98:3 8:40 117:{1:4095 3:3 4:3}
98:3 8:20 10:3 11:{9:1 11:4611686018427387932 10:3 3:1}
98:3 10:3 1:{1:0 2:{1:80 2:0 20:{1:"goroutine" 2:2 5:0}}}
98:3 10:3 1:{1:1 4:{5:"" 5:"goroutine" 1:14000a280a0000 2:00000101000101 3:00020000010300 4:00000000000000 6:00010000010100} 2:{1:10 2:0 4:{5:"goroutine" 6:1}}}
98:3 6:{1:{1:6 2:1000} 1:{1:3 2:5000} 1:{1:1 2:1700000000000000007} 2:6}
)";

// Each kind of packet that the exporter writes, in the numbers of Perfetto's .proto files, of which
// neither the reader here nor the expectation uses a constant of the exporter.
TEST(PerfettoExporterTest, PacketsHavePerfettosNumbers) {
  std::string text(kTrace);
  text.replace(text.find("chan receive"), 12, "network");
  text.insert(text.find("GoCreate "), "HeapGoal dt=0 heapgoal_value=18446744073709551615\n");
  text += R"(EventBatch gen=1 m=18446744073709551615 time=1 size=auto
CPUSamples
CPUSample time=145 m=7 p=0 g=0 stack=2
CPUSample time=146 m=1 p=0 g=2 stack=2
)";
  PerfettoOptions options;
  options.stacks = true;
  options.pid = 3;
  std::string file = Convert(Assemble(text), options);

  // What is written in another form: what a goroutine did before it became known, a wake-up by no
  // P, and what runs on a P that is no CPU.
  const std::unique_ptr<ByteSink> out = SinkToString(&file);
  PerfettoExporter exporter(out.get(), options);
  const BuiltTables tables;
  int64_t time = 0;
  const auto change = [&](EventType type, int64_t go, GoState from, GoState to, int64_t proc) {
    EventBuilder builder(type, tables);
    builder.Time(time += 10).Thread(ThreadId{5}).Proc(ProcId{proc});
    builder.Transition(GoId{go}, from, to);
    exporter.Add(absl::MakeConstSpan(&builder.Build(), 1));
  };
  exporter.Add(absl::MakeConstSpan(&EventBuilder::MakeSync(1, tables).Time(time += 10).Build(), 1));
  for (const auto& [go, proc] : {std::pair(2, 1), std::pair(3, 5000)}) {
    change(EventType::kGoStart, go, GoState::kRunnable, GoState::kRunning, proc);
    change(EventType::kGoBlock, go, GoState::kRunning, GoState::kWaiting, proc);
  }
  change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning, -1);
  change(EventType::kGoBlock, 1, GoState::kRunning, GoState::kWaiting, 1);
  change(EventType::kGoUnblock, 2, GoState::kWaiting, GoState::kRunnable, -1);
  ASSERT_TRUE(exporter.Finish().ok() && out->Finish().ok());

  file += Convert(Assemble(R"(Trace Go1.25
EventBatch gen=1 m=0 time=1000 size=auto
Sync
Frequency freq=1000000000
ClockSnapshot dt=0 mono=5000 sec=1700000000 nsec=7
)"),
                  options);

  std::set<std::string> shapes;
  std::string found;
  protozero::pbf_reader packets(file);
  while (packets.next(1)) {
    const protozero::data_view packet = packets.get_view();
    if (!shapes.insert(DumpFields(protozero::pbf_reader(packet), "", false)).second) continue;
    absl::StrAppend(&found, DumpFields(protozero::pbf_reader(packet), "", true), "\n");
  }
  EXPECT_EQ(absl::StrCat("\n", found), kPackets);
}

TEST(PerfettoExporterTest, WritesTheSamePacketsCompressed) {
  PerfettoOptions options;
  options.compress = true;
  EXPECT_EQ(Lines(Assemble(kTrace), options), Lines(Assemble(kTrace)));
}

TEST(PerfettoExporterTest, WritesOnlySelectedGoroutines) {
  PerfettoOptions options;
  options.filter.goroutines = {GoId{2}};
  for (const std::string& line : Lines(Assemble(kTrace), options)) {
    EXPECT_THAT(line, Not(HasSubstr("main.main")));
    EXPECT_THAT(line, Not(HasSubstr("chan receive")));
  }
  // The event that creates a goroutine is also about its creator.
  options.filter.goroutines = {GoId{1}};
  for (const std::string& line : Lines(Assemble(kTrace), options)) {
    EXPECT_THAT(line, Not(HasSubstr("main.worker")));
  }
}

// Slices of a track that was not declared would belong to no goroutine.
TEST(PerfettoExporterTest, WritesNoSlicesOfGoroutinesThatAreNotSelected) {
  std::string text(kTrace);
  text.replace(text.find("Go1.22"), 6, "Go1.23");
  text += "GoCreateBlocked dt=10 new_g=9 new_stack=2 stack=1\n";
  PerfettoOptions options;
  options.filter.goroutines = {GoId{1}};
  for (const std::string& line : Lines(Assemble(text), options)) {
    EXPECT_THAT(line, Not(HasSubstr("begin 76 ")));
  }
  options.filter.goroutines = {GoId{9}};
  EXPECT_THAT(Lines(Assemble(text), options), Contains("240 begin 76 \"waiting\" wait"));
}

TEST(PerfettoExporterTest, WritesOnlySelectedKinds) {
  PerfettoOptions options;
  options.filter.kinds = {EventKind::kRegionBegin, EventKind::kRegionEnd};
  std::vector<std::string> events;
  for (const std::string& line : Lines(Assemble(kTrace), options)) {
    if (!absl::StartsWith(line, "track") && !absl::StartsWith(line, "clocks")) {
      events.push_back(line);
    }
  }
  EXPECT_THAT(events, ElementsAre("150 begin 20 \"step\" region task=5", "170 end 20"));
}

TEST(PerfettoExporterTest, TakesTimesSinceTheStart) {
  PerfettoOptions absolute;
  absolute.filter.times = {155, 175};
  PerfettoOptions since_start;
  since_start.filter.since_start = {154, 174};  // The first event is at 1.
  EXPECT_EQ(Lines(Assemble(kTrace), since_start), Lines(Assemble(kTrace), absolute));
}

TEST(PerfettoExporterTest, StartsAWindowWithWhatIsCurrent) {
  PerfettoOptions options;
  options.filter.times = {155, 175};
  EXPECT_EQ(absl::StrJoin(Lines(Assemble(kTrace), options), "\n"), R"(clocks 6=155 64=155, primary 6
track 1 process 1 "Go program"
track 2 in 1 "GC"
track 10 in 1 "Tasks"
track 3 in 1 "heap" counter
track 11 in 1 "heap goal" counter
track 19 in 1 "GOMAXPROCS" counter
track 43 in 1 "runnable goroutines" counter
track 51 in 1 "running goroutines" counter
track 59 in 1 "waiting goroutines" counter
track 67 in 1 "goroutines in syscalls" counter
track 75 in 1 "busy Ps" counter
track 12 thread 1 "main.main"
155 begin 12 "chan receive" wait
track 20 thread 2
155 state "main.worker" thread 2 is 2
155 begin 20 "step" region task=5
track 47 in 10 "job"
155 begin 47 "job" task task=5
155 counter 3 4096
160 instant 20 "color" log message="blue" task=5
170 end 20
155 counter 43 0
155 counter 51 1
155 counter 59 1
155 counter 67 0
155 counter 75 1
175 counter 43 0
175 counter 51 1
175 counter 59 1
175 counter 67 0
175 counter 75 1
track 20 thread 2 "main.worker"
155 state "main.main" thread 1 is 2
155 switch cpu 0 to 0 "", prev state 0
155 switch cpu 0 to 2 "main.worker", prev state 0
175 switch cpu 0 to 0 "", prev state 0
175 switch cpu 0 to 2 "main.worker", prev state 0
175 switch cpu 0 to 1 "main.main", prev state 0
175 switch cpu 0 to 2 "main.worker", prev state 1
156 blocked thread 1 for chan receive
155 switch cpu 0 to 1 "main.main", prev state 0
155 switch cpu 0 to 2 "main.worker", prev state 1)");
}

// What waits at the begin of a window runs for no time first, on a P that is idle then.
TEST(PerfettoExporterTest, StartsAWindowOnAnIdleP) {
  PerfettoOptions options;
  for (const int64_t end : {138, 175}) {  // P 0 runs nothing before 140.
    options.filter.times = {132, end};
    const std::vector<std::string> lines = Lines(Assemble(kTrace), options);
    EXPECT_THAT(lines, Contains("132 switch cpu 0 to 1 \"main.main\", prev state 0"));
    EXPECT_THAT(lines, Contains("132 switch cpu 0 to 0 \"\", prev state 1"));
    EXPECT_THAT(lines, Contains("133 blocked thread 1 for chan receive"));
    for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("cpu 1")));
  }
}

// What happens at the very begin of a window is a part of it.
TEST(PerfettoExporterTest, StartsAWindowWithAnEvent) {
  PerfettoOptions options;
  options.filter.times = {180, 231};
  const std::vector<std::string> lines = Lines(Assemble(kTrace), options);
  EXPECT_THAT(lines, Contains("180 wake cpu 0 thread 1 \"main.main\""));
  EXPECT_THAT(lines, Contains("180 counter 43 1"));
  EXPECT_THAT(lines, Contains("180 counter 59 0"));
  // It would be runnable before it is woken.
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("thread 1 is")));
  // Goroutine 2 stops then, so that P 0 must not run it again.
  options.filter.times = {190, 231};
  int switches = 0;
  for (const std::string& line : Lines(Assemble(kTrace), options)) {
    switches += absl::StartsWith(line, "190 switch cpu 0 to 2");
  }
  EXPECT_EQ(switches, 1);
}

// The first status of a goroutine in a generation also says what it did before.
TEST(PerfettoExporterTest, TakesStatusesFromAfterTheWindow) {
  constexpr absl::string_view kStatuses = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=0
)";
  PerfettoOptions options;
  options.filter.times = {50, 100};
  const std::vector<std::string> lines = Lines(Assemble(kStatuses), options);
  EXPECT_THAT(lines, Contains("50 switch cpu 0 to 1 \"goroutine\", prev state 0"));
  EXPECT_THAT(lines, Contains("50 counter 75 1"));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("thread 2")));
}

// So do the events of ranges that are active. Goroutine 2 waits in its mark assist.
TEST(PerfettoExporterTest, TakesRangesFromAfterTheWindow) {
  constexpr absl::string_view kStatuses = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GCSweepActive dt=1 p=0
GoStatus dt=1 g=1 m=1 gstatus=2
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4
GCMarkAssistActive dt=1 g=2
GCActive dt=1 gc_seq=1
)";
  PerfettoOptions options;
  options.filter.times = {50, 100};
  const std::vector<std::string> lines = Lines(Assemble(kStatuses), options);
  EXPECT_THAT(lines, Contains("50 begin 20 \"waiting\" wait"));
  EXPECT_THAT(lines, Contains("50 begin 20 \"GC mark assist\" range"));
  EXPECT_THAT(lines, Contains("50 begin 2 \"GC concurrent mark phase\" range"));
  EXPECT_THAT(lines, Contains(HasSubstr("\"GC incremental sweep\" range")));
}

TEST(PerfettoExporterTest, StartsAWindowBetweenGenerations) {
  const std::string next_generation = R"(EventBatch gen=2 m=0 time=300 size=auto
Frequency freq=1000000000
EventBatch gen=2 m=1 time=310 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";
  PerfettoOptions options;
  options.filter.times.from = 250;
  EXPECT_THAT(Lines(Assemble(absl::StrCat(kTrace, next_generation)), options),
              Contains("250 switch cpu 0 to 1 \"main.main\", prev state 0"));
}

TEST(PerfettoExporterTest, WritesGaugesBeforeALongPause) {
  std::string text(kTrace);
  text.insert(text.find("GoSyscallEnd "), "HeapAlloc dt=1000000 heapalloc_value=1\n");
  EXPECT_THAT(Lines(Assemble(text)), Contains("210 counter 67 1"));
}

TEST(PerfettoExporterTest, RunsOnSelectedPsOnly) {
  // Goroutine 1 runs on P 0 until 200, and later on P 1.
  std::string text(kTrace);
  text += R"(GoStop dt=10 reason_string=4 stack=1
EventBatch gen=1 m=2 time=250 size=auto
ProcStatus dt=1 p=1 pstatus=1
GoStart dt=9 g=1 g_seq=3
GoStop dt=10 reason_string=4 stack=1
)";
  PerfettoOptions options;
  options.filter.procs = {ProcId{0}};
  const std::vector<std::string> lines = Lines(Assemble(text), options);
  EXPECT_THAT(lines, Contains("240 switch cpu 0 to 0 \"\", prev state 0"));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("cpu 1")));
}

// Perfetto refuses files with more CPUs.
TEST(PerfettoExporterTest, WritesPsThatAreNoCpusAsGenericEvents) {
  std::string text(kTrace);
  text.replace(text.find("p=0"), 3, "p=5000");
  const std::vector<std::string> lines = Lines(Assemble(text));
  EXPECT_THAT(lines, Contains("140 state cpu 4095 \"main.worker\" thread 2 is 3"));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("cpu 5000")));
}

// Perfetto would show larger tids as two threads.
TEST(PerfettoExporterTest, LargeIdsHaveOtherTids) {
  std::string text(kTrace);
  for (size_t at = 0; (at = text.find("g=2 ", at)) != std::string::npos;) {
    text.replace(at, 4, "g=5000000000 ");
  }
  std::vector<std::string> notes;
  PerfettoOptions options;
  options.on_note = [&](absl::string_view note) { notes.emplace_back(note); };
  const std::vector<std::string> lines = Lines(Assemble(text), options);
  EXPECT_THAT(lines, Contains("track 40000000004 thread 2147483647"));
  EXPECT_THAT(lines, Contains("120 wake cpu 0 thread 2147483647 \"main.worker\""));
  EXPECT_THAT(lines, Contains("140 switch cpu 0 to 2147483647 \"main.worker\", prev state 0"));
  EXPECT_THAT(lines, Contains("190 switch cpu 0 to 0 \"\", prev state 16"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("need more than 31 bits")));
  options.scheduling = PerfettoScheduling::kGeneric;
  EXPECT_THAT(Lines(Assemble(text), options), Contains("140 state cpu 0 thread 2147483647 is 3"));
}

// Idle CPUs would run a thread of the program otherwise.
TEST(PerfettoExporterTest, GivesSamplesWithoutGoroutinesAThread) {
  std::string text(kTrace);
  text += R"(EventBatch gen=1 m=18446744073709551615 time=1 size=auto
CPUSamples
CPUSample time=145 m=7 p=0 g=0 stack=2
CPUSample time=146 m=1 p=0 g=2 stack=2
)";
  const std::vector<std::string> lines = Lines(Assemble(text));
  EXPECT_THAT(lines, Contains("track 17179869178 thread 2147483647 \"M7\""));
  EXPECT_THAT(lines, Contains(HasSubstr("145 sample cpu 0 thread 2147483647 at main.worker")));
  EXPECT_THAT(lines, Contains(HasSubstr("146 sample cpu 0 thread 2 at main.worker")));
}

// A status says what a goroutine has done since the generation began, but may come at its end.
TEST(PerfettoExporterTest, CountsGoroutinesSinceTheirGenerationBegan) {
  constexpr absl::string_view kStatuses = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
HeapAlloc dt=1000000 heapalloc_value=1
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4
ProcStatus dt=1 p=1 pstatus=2
)";
  const std::vector<std::string> lines = Lines(Assemble(kStatuses));
  EXPECT_THAT(lines, Contains("1 counter 51 1"));
  EXPECT_THAT(lines, Contains("1 counter 59 1"));
  EXPECT_THAT(lines, Contains("1 counter 75 1"));
}

TEST(PerfettoExporterTest, CountsPsThatAreBusy) {
  std::string text(kTrace);
  text += "GoBlock dt=10 reason_string=4 stack=1\nProcStop dt=10\n";
  EXPECT_THAT(Lines(Assemble(text)), Contains("251 counter 75 0"));
}

TEST(PerfettoExporterTest, RangesBeginWithTheirEvent) {
  std::string text(kTrace);
  text += "GCBegin dt=10 gc_seq=1 stack=1\nGCEnd dt=10 gc_seq=2\n";
  const std::vector<std::string> lines = Lines(Assemble(text));
  EXPECT_THAT(lines, Contains(HasSubstr("240 begin 2 \"GC concurrent mark phase\" range")));
  EXPECT_THAT(lines, Contains("250 end 2"));
}

// The times are those of the other clock, also where they select events.
TEST(PerfettoExporterTest, AddsAnOffsetToAllTimes) {
  PerfettoOptions options;
  options.time_offset = 1000;
  options.filter.times = {155, 175};
  const std::vector<std::string> lines = Lines(Assemble(kTrace), options);
  EXPECT_THAT(lines, Contains("clocks 6=1155 64=1155, primary 6"));
  EXPECT_THAT(lines, Contains("1170 end 20"));
  EXPECT_THAT(lines, Contains("1155 switch cpu 0 to 2 \"main.worker\", prev state 0"));
  EXPECT_THAT(lines, Contains("1175 counter 51 1"));
}

// In the numbers of the format itself, which nothing else here depends on.
TEST(PerfettoExporterTest, MarksPacketsOfOtherProcesses) {
  PerfettoOptions options;
  options.pid = 2;
  const std::string file = Convert(Assemble(kTrace), options);
  protozero::pbf_reader packets(file);
  std::set<uint64_t> tracks;
  while (packets.next(1)) {
    protozero::pbf_reader packet = packets.get_message();
    uint32_t machine = 0;
    uint32_t sequence = 2;
    while (packet.next()) {
      if (packet.tag() == 98) {
        machine = packet.get_uint32();
      } else if (packet.tag() == 10) {
        sequence = packet.get_uint32();
      } else if (packet.tag() == 60) {
        protozero::pbf_reader track = packet.get_message();
        ASSERT_TRUE(track.next(1));
        tracks.insert(track.get_uint64());
      } else {
        packet.skip();
      }
    }
    EXPECT_EQ(machine, 2u);
    EXPECT_EQ(sequence, 2u);
  }
  EXPECT_TRUE(tracks.contains(uint64_t{1} << 63 | 12));
  EXPECT_FALSE(tracks.contains(12));
}

// In the numbers of the format itself: in an event, sched_blocked_reason is 18, with the thread 1,
// the symbol 2, and io_wait 3.
TEST(PerfettoExporterTest, WritesReasonsWithPerfettosNumbers) {
  std::string text(kTrace);
  text.replace(text.find("chan receive"), 12, "network");
  const std::string file = Convert(Assemble(text));
  const std::string event("\x08\x83\x01\x10\x00\x92\x01\x06\x08\x01\x10", 11);
  const size_t found = file.find(event);
  ASSERT_NE(found, std::string::npos);
  EXPECT_EQ(file.substr(found + event.size() + 1, 2), "\x18\x01");
}

TEST(PerfettoExporterTest, WritesTracksOfThreads) {
  PerfettoOptions options;
  options.threads = true;
  const std::vector<std::string> lines = Lines(Assemble(kTrace), options);
  EXPECT_THAT(lines, Contains("track 14 in 1 \"M1\""));
  EXPECT_THAT(lines, Contains("140 begin 14 \"main.worker\" thread goroutine=2 P=0"));
}

TEST(PerfettoExporterTest, WritesClockSnapshots) {
  const std::string text = R"(Trace Go1.25
EventBatch gen=1 m=0 time=1000 size=auto
Sync
Frequency freq=1000000000
ClockSnapshot dt=0 mono=5000 sec=1700000000 nsec=7
EventBatch gen=1 m=1 time=1000 size=auto
ProcStatus dt=1 p=0 pstatus=1
)";
  EXPECT_THAT(Lines(Assemble(text)),
              Contains("clocks 6=1000 3=5000 1=1700000000000000007, primary 6"));
}

using StateTimes = std::map<int64_t, std::array<uint64_t, 6>>;

// Adds up the intervals of goroutines, as far as they are in a window.
class IntervalTimes final : public IntervalConsumer {
 public:
  explicit IntervalTimes(EventFilter::Times window) : window_(window) {}

  void AddGoroutine(const GoInterval& interval) override {
    last = std::max(last, interval.end);
    const int64_t begin = std::max(interval.begin, window_.from);
    const int64_t end = std::min(interval.end, window_.to);
    if (begin >= end) return;
    times[interval.goroutine.value][static_cast<size_t>(interval.state)] +=
        static_cast<uint64_t>(end - begin);
  }

  StateTimes times;
  int64_t last = 0;

 private:
  const EventFilter::Times window_;
};

// States that lasted for no time need not be there.
std::vector<std::string> Describe(const StateTimes& times) {
  std::vector<std::string> lines;
  for (const auto& [id, states] : times) {
    if (std::any_of(states.begin(), states.end(), [](uint64_t time) { return time != 0; })) {
      lines.push_back(absl::StrCat(id, ": ", absl::StrJoin(states, " ")));
    }
  }
  return lines;
}

// Calls `check` with each of the traces that a range of Go versions wrote.
template <class Check>
void ForTraces(Check check) {
  for (const TestTrace& trace : TestTraces()) {
    if (!absl::StartsWith(trace.name, "go1.22") && !absl::StartsWith(trace.name, "go1.27")) {
      continue;
    }
    SCOPED_TRACE(trace.name);
    check(ReadTestTrace(trace.name));
  }
}

TEST(PerfettoStatesTest, LastAsLongAsStateTrackerSays) {
  ForTraces([](const std::string& bytes) {
    Interner interner;
    IntervalTimes expected({});
    StateTracker tracker(&interner, &expected);
    const std::string file = Convert(bytes, {}, &tracker);
    const PerfettoReadBack back = ReadPerfettoBack(file, expected.last);
    EXPECT_EQ(back.problems + back.disorder, "");
    EXPECT_EQ(Describe(back.sums), Describe(expected.times));
  });
}

TEST(PerfettoStatesTest, AreThoseOfTheWindow) {
  ForTraces([](const std::string& bytes) {
    Reader events = Reader::FromSource(*SourceFromBytes(bytes)).value();
    const int64_t first = events.Next()->time();
    int64_t last = first;
    while (const Event* const event = events.Next()) last = event->time();
    PerfettoOptions options;
    options.filter.times = {first + (last - first) / 3, first + (last - first) / 2};
    Interner interner;
    IntervalTimes expected(options.filter.times);
    StateTracker tracker(&interner, &expected);
    const std::string file = Convert(bytes, options, &tracker);
    const PerfettoReadBack back = ReadPerfettoBack(file, options.filter.times.to);
    EXPECT_EQ(back.problems + back.disorder, "");
    EXPECT_EQ(Describe(back.sums), Describe(expected.times));
  });
}

}  // namespace perfetto_exporter_test
}  // namespace gotrace::internal
