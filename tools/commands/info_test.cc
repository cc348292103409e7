#include "tools/commands/info.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "export/text/go_text.h"
#include "gotrace/byte_source.h"
#include "gtest/gtest.h"
#include "parser/framing/raw_reader.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace info_test {

absl::Status Collect(absl::string_view bytes, TraceInfo* info) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  if (!reader.ok()) return reader.status();
  Progress progress(/*prints_along=*/false);
  return CollectInfo(&*reader, &progress, info);
}

std::string Text(const TraceInfo& info) {
  TextBuffer out;
  AppendInfo(info, &out);
  return std::string(out.view());
}

std::string Json(const TraceInfo& info) {
  TextBuffer out;
  AppendInfoJson("a.trace", info, &out);
  const std::string json(out.view());
  EXPECT_EQ(CheckJson(absl::string_view(json).substr(0, json.size() - 1)), "");
  return json;
}

constexpr char kTrace[] = R"(Trace Go1.25
EventBatch gen=1 m=0 time=1000 size=auto
Sync
Frequency freq=1000000000
ClockSnapshot dt=500 mono=7 sec=1700000000 nsec=1500
EventBatch gen=1 m=0 time=1000 size=auto
Strings
String id=1
	data="ab"
EventBatch gen=1 m=1 time=1500000 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GoCreate dt=1 new_g=2 new_stack=0 stack=0
GoLabel dt=1 label_string=1
EventBatch gen=2 m=0 time=2000000000 size=auto
Sync
Frequency freq=1000000000
ClockSnapshot dt=0 mono=8 sec=1700000002 nsec=0
EventBatch gen=2 m=1 time=2000000000 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";

TEST(Info, TellsWhatATraceHolds) {
  TraceInfo info;
  ASSERT_TRUE(Collect(*AssembleText(kTrace), &info).ok());
  EXPECT_EQ(Text(info),
            R"(version      1.25 (Go 1.25)
wall clock   2023-11-14T22:13:20.000001Z
duration     1.999999 s
bytes        119
events       9
goroutines   2
Ps           1
threads      1

Events by kind:
  Sync                        3
  Label                       1
  StateTransition             5

Generations:
      number       from s         to s        bytes       events  batches  threads  strings   stacks
           1     0.000000     0.001499           60            5        3        1        1        0
           2     1.999999     1.999999           43            3        2        1        0        0
)");
  EXPECT_EQ(
      Json(info),
      R"({"file":"a.trace","version":"1.25","complete":true,"wall_begin":"2023-11-14T22:13:20.000001Z","begin":1000,)"
      R"("end":2000000003,"duration":1999999003,"bytes":119,"events":9,"goroutines":2,"procs":1,)"
      R"("threads":1,"events_by_kind":{"Sync":3,"Label":1,"StateTransition":5},)"
      R"("generations":[{"number":1,"begin":1000,"end":1500004,"offset":16,"bytes":60,"events":5,)"
      R"("batches":3,"threads":1,"strings":1,"stacks":0},)"
      R"({"number":2,"begin":2000000000,"end":2000000002,"offset":76,"bytes":43,"events":3,)"
      R"("batches":2,"threads":1,"strings":0,"stacks":0}]})"
      "\n");
}

TEST(Info, OfATraceWithoutEvents) {
  TraceInfo info;
  ASSERT_TRUE(Collect(MakeHeader(Version::kGo126), &info).ok());
  EXPECT_EQ(Text(info),
            R"(version      1.26 (Go 1.26 and 1.27)
wall clock   unknown
duration     unknown
bytes        16
events       1
goroutines   0
Ps           0
threads      0

Events by kind:
  Sync                        1
)");
  EXPECT_FALSE(absl::StrContains(Json(info), "begin"));
}

TEST(Info, TellsWhatStandsBeforeAFault) {
  const std::string bytes = *AssembleText(kTrace);
  TraceInfo info;
  // The second generation's last batch is cut off; its first one is whole.
  const absl::Status status = Collect(bytes.substr(0, bytes.size() - 1), &info);
  EXPECT_EQ(std::string(status.message()),
            "byte 110, batch at byte 101: the trace is cut off: expected 9 bytes of a batch's "
            "payload, found the end of "
            "the trace after 8 [batch-truncated]");
  EXPECT_EQ(info.generations.size(), 2);
  EXPECT_EQ(info.generations[1].info.batches, 1);
  EXPECT_EQ(info.generations[1].events, 1);
  EXPECT_EQ(info.events, 7);
  EXPECT_EQ(info.goroutines, 2);
  EXPECT_EQ(info.bytes, 101);

  TraceInfo nothing;
  EXPECT_FALSE(Collect(bytes.substr(0, 30), &nothing).ok());
  EXPECT_TRUE(absl::StrContains(Text(nothing), "\nwall clock   unknown\n"));
  EXPECT_FALSE(absl::StrContains(Text(nothing), "Generations"));
}

TEST(Info, OfAVersionWithoutWallClock) {
  TraceInfo info;
  EXPECT_FALSE(Collect(MakeHeader(Version::kGo123), &info).ok());
  EXPECT_TRUE(absl::StartsWith(Text(info),
                               "version      1.23 (Go 1.23 and 1.24)\n"
                               "complete     no, only the part before the first fault\n"
                               "wall clock   not in the trace (since Go 1.25)\n"));
}

// A goroutine of C's calls of Go ends with the call, and comes again with the next under its id.
TEST(Info, CountsAGoroutineOfCOnce) {
  const std::string bytes = *AssembleText(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
GoCreateSyscall dt=1 new_g=17
GoDestroySyscall dt=1
GoCreateSyscall dt=1 new_g=17
GoDestroySyscall dt=1
GoCreateSyscall dt=1 new_g=18
GoDestroySyscall dt=1
)");
  TraceInfo info;
  ASSERT_TRUE(Collect(bytes, &info).ok());
  EXPECT_EQ(info.goroutines, 2);
}

// The status of a P may be lost.
TEST(Info, CountsPsWhoseStatusIsLost) {
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  const std::string bytes = *AssembleText(R"(Trace Go1.23
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=1 time=100 size=auto
ProcStart dt=1 p=3 p_seq=5
ProcStop dt=1
ProcStart dt=1 p=4 p_seq=7
)");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  TraceInfo info;
  Progress progress(/*prints_along=*/false);
  ASSERT_TRUE(CollectInfo(&*reader, &progress, &info).ok());
  EXPECT_EQ(info.procs, 2u);
}

// The numbers that follow from the text of a trace's events and of its wire format.
struct TextCount {
  std::map<std::string, uint64_t> kinds;
  std::set<std::string> goroutines;
  std::set<std::string> procs;
  std::set<std::string> threads;
  std::vector<int64_t> times;
  std::map<std::string, uint64_t> wire;
};

// Returns the part of `line` between `name` and the next space.
std::string Field(absl::string_view line, absl::string_view name) {
  const size_t at = line.find(name);
  if (at == absl::string_view::npos) return "";
  line.remove_prefix(at + name.size());
  return std::string(line.substr(0, line.find(' ')));
}

void CountEvents(absl::string_view bytes, TextCount* count) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  GoTextFormatter formatter;
  TextBuffer text;
  while (const Event* event = reader->Next()) formatter.Append(*event, &text);
  for (const absl::string_view line : absl::StrSplit(text.view(), '\n')) {
    if (!absl::StartsWith(line, "M=")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    ++count->kinds[words[3]];
    if (words[0] != "M=-1") count->threads.insert(words[0]);
    int64_t time = 0;
    EXPECT_TRUE(absl::SimpleAtoi(Field(line, " Time="), &time));
    count->times.push_back(time);
    if (words[3] != "StateTransition") continue;
    const std::string goroutine = Field(line, " GoID=");
    const std::string proc = Field(line, " ProcID=");
    if (!goroutine.empty()) count->goroutines.insert(goroutine);
    if (!proc.empty()) count->procs.insert(proc);
  }
}

void CountWire(absl::string_view bytes, TextCount* count) {
  absl::StatusOr<RawReader> reader =
      RawReader::FromSource(*SourceFromBytes(bytes), RawReader::Types::kOfVersion);
  TextBuffer text;
  while (const RawEvent* event = reader->Next()) AppendEventText(*event, &text);
  for (const absl::string_view line : absl::StrSplit(text.view(), '\n')) {
    if (!absl::StartsWith(line, "\t")) ++count->wire[std::string(line.substr(0, line.find(' ')))];
  }
}

class EachTrace : public testing::TestWithParam<TestTrace> {};

TEST_P(EachTrace, AgreesWithTheTexts) {
  const std::string bytes = ReadTestTrace(GetParam().name);
  TraceInfo info;
  ASSERT_TRUE(Collect(bytes, &info).ok());
  TextCount expected;
  CountEvents(bytes, &expected);
  CountWire(bytes, &expected);

  std::map<std::string, uint64_t> kinds;
  for (int kind = 0; kind < kEventKindEnd; ++kind) {
    if (info.by_kind[kind] == 0) continue;
    kinds[std::string(EventKindName(static_cast<EventKind>(kind)))] = info.by_kind[kind];
  }
  EXPECT_EQ(kinds, expected.kinds);
  EXPECT_EQ(info.events, GetParam().events);
  EXPECT_EQ(info.bytes, GetParam().size);
  EXPECT_EQ(info.goroutines, expected.goroutines.size());
  EXPECT_EQ(info.procs, expected.procs.size());
  EXPECT_EQ(info.threads, expected.threads.size());
  EXPECT_EQ(info.begin, expected.times.front());
  EXPECT_EQ(info.end, expected.times.back());

  GenerationInfo sum;
  uint64_t events = 1;  // The last kSync.
  uint64_t most_threads = 0;
  for (const TraceInfo::Generation& generation : info.generations) {
    sum.batches += generation.info.batches;
    sum.strings += generation.info.strings;
    sum.stacks += generation.info.stacks;
    events += generation.events;
    most_threads = std::max(most_threads, generation.info.threads);
  }
  EXPECT_EQ(info.generations.size(), expected.kinds["Sync"] - 1);
  EXPECT_EQ(sum.batches, expected.wire["EventBatch"] + expected.wire["ExperimentalBatch"]);
  EXPECT_EQ(sum.strings, expected.wire["String"]);
  EXPECT_EQ(sum.stacks, expected.wire["Stack"]);
  EXPECT_EQ(events, info.events);
  EXPECT_LE(most_threads, info.threads);
  if (info.generations.size() == 1) {
    EXPECT_EQ(most_threads, info.threads);
  }
  Json(info);
}

INSTANTIATE_TEST_SUITE_P(Info, EachTrace, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name) c = absl::ascii_isalnum(c) ? c : '_';
                           return name;
                         });

}  // namespace info_test
}  // namespace gotrace::internal
