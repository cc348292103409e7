#include "rewrite/generation_writer.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "parser/reader/reader_access.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "tracev2/batch_encoder.h"

namespace gotrace::internal {
namespace generation_writer_test {

// A trace that was read and written again, generation by generation.
struct Rewritten {
  std::string bytes;
  std::vector<WrittenGeneration> generations;
  std::set<EventType> types;  // The types of the trace's events.
};

// Reads a sound trace and writes all of it.
Rewritten Rewrite(absl::string_view bytes, bool order_by_time = false) {
  Rewritten rewritten;
  WriterEventCollector collector;
  const Reader* current = nullptr;
  std::unique_ptr<GenerationWriter> writer;
  ReaderHooks hooks;
  hooks.on_generation_end = [&](const GenerationTables& tables, const TableUse&) {
    const OwnTables own(tables);
    GenerationContent content(own);
    content.number = current->generation().number;
    content.frequency = tables.frequency()->ticks_per_second;
    content.samples = tables.cpu_samples();
    content.experimental_batches = ExperimentalBatches(tables);
    if (tables.clock_snapshot().has_value()) content.clock_snapshot = *tables.clock_snapshot();
    content.events = collector.Take();
    content.begin = content.events.empty() ? 0 : content.events.front().time;
    content.order_by_time = order_by_time;
    rewritten.generations.push_back(writer->Write(content, &rewritten.bytes));
  };
  absl::StatusOr<Reader> reader = ReaderAccess::FromSource(*SourceFromBytes(bytes), {}, hooks);
  EXPECT_TRUE(reader.ok()) << reader.status();
  current = &*reader;
  writer = std::make_unique<GenerationWriter>(reader->version());
  rewritten.bytes = MakeHeader(reader->version());
  while (const Event* event = reader->Next()) {
    collector.Add(*event);
    rewritten.types.insert(event->type());
  }
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return rewritten;
}

struct Described {
  std::string text;  // Everything except the time and the place.
  int64_t time = 0;
};

std::vector<Described> DescribeAll(absl::string_view bytes) {
  std::vector<Described> all;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok()) << reader.status();
  while (const Event* event = reader->Next()) {
    std::string text = absl::StrReplaceAll(
        Describe(*event),
        {{absl::StrCat(" time ", event->time()), ""}, {absl::StrCat(" at ", event->offset()), ""}});
    all.push_back({std::move(text), event->time()});
  }
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return all;
}

// Expects the same events, at most `late` nanoseconds later.
void ExpectSame(absl::string_view bytes, absl::string_view rewritten, int64_t late) {
  const std::vector<Described> expected = DescribeAll(bytes);
  const std::vector<Described> found = DescribeAll(rewritten);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].text, expected[i].text) << "event " << i;
    if (absl::StrContains(found[i].text, "Sync")) continue;
    ASSERT_GE(found[i].time, expected[i].time) << found[i].text;
    ASSERT_LE(found[i].time, expected[i].time + late) << found[i].text;
  }
}

class RewriteOfRealTraces : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Traces, RewriteOfRealTraces, testing::ValuesIn(TestTraces()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.name, {{".", "_"}, {"-", "_"}});
                         });

TEST_P(RewriteOfRealTraces, KeepsTheSameEvents) {
  const std::string bytes = ReadTestTrace(GetParam().name);
  const Rewritten rewritten = Rewrite(bytes);
  for (const WrittenGeneration& written : rewritten.generations) {
    EXPECT_FALSE(written.changed);
    EXPECT_EQ(written.events_added, 0U);
    EXPECT_EQ(written.events_left_out, 0U);
    EXPECT_EQ(written.statuses_added, 0U);
  }
  // Clocks tick every 64 ns, and each event that is at the same tick as one of another thread, or
  // before it, comes a tick later.
  ExpectSame(bytes, rewritten.bytes, 2000);
}

constexpr absl::string_view kNobody = "18446744073709551615";

// Returns a trace with all types of timed events of `version`.
std::string AllTypes(uint32_t version) {
  const bool has_switch = version >= 23;
  std::string text = absl::StrCat(
      "Trace Go1.", version, "\nEventBatch gen=1 m=", kNobody, " time=1000 size=auto\n",
      version >= 25 ? "Sync\nFrequency freq=1000000000\nClockSnapshot dt=7 mono=5 sec=6 nsec=7\n"
                    : "Frequency freq=1000000000\n",
      "EventBatch gen=1 m=1 time=2000 size=auto\n"
      "ProcStatus dt=1 p=0 pstatus=1\n"
      "GoStatus dt=1 g=1 m=1 gstatus=2\n"
      "GCActive dt=1 gc_seq=3\n"
      "GCMarkAssistActive dt=1 g=1\n"
      "GCMarkAssistEnd dt=1\n"
      "GCSweepActive dt=1 p=0\n"
      "GCSweepEnd dt=1 swept_value=1 reclaimed_value=2\n"
      "GCEnd dt=1 gc_seq=4\n"
      "GCBegin dt=1 gc_seq=5 stack=1\n"
      "ProcsChange dt=1 procs_value=2 stack=1\n"
      "ProcStatus dt=1 p=1 pstatus=2\n"
      "GCSweepBegin dt=1 stack=1\n"
      "GCSweepEnd dt=1 swept_value=1 reclaimed_value=2\n"
      "GCMarkAssistBegin dt=1 stack=1\n"
      "GCMarkAssistEnd dt=1\n"
      "STWBegin dt=1 kind_string=1 stack=1\n"
      "STWEnd dt=1\n"
      "HeapAlloc dt=1 heapalloc_value=5\n"
      "HeapGoal dt=1 heapgoal_value=6\n"
      "GoLabel dt=1 label_string=2\n"
      "UserTaskBegin dt=1 task=1 parent_task=0 name_string=1 stack=1\n"
      "UserTaskBegin dt=1 task=2 parent_task=1 name_string=2 stack=1\n"
      "UserRegionBegin dt=1 task=1 name_string=1 stack=1\n"
      "UserLog dt=1 task=1 key_string=1 value_string=2 stack=1\n"
      "UserRegionEnd dt=1 task=1 name_string=1 stack=1\n"
      "UserTaskEnd dt=1 task=1 stack=1\n"
      "GoCreate dt=1 new_g=5 new_stack=1 stack=1\n"
      "GoCreate dt=1 new_g=6 new_stack=0 stack=0\n"
      "GoSyscallBegin dt=1 p_seq=1 stack=1\n"
      "GoSyscallEnd dt=1\n"
      "GoSyscallBegin dt=1 p_seq=2 stack=1\n"
      "EventBatch gen=1 m=2 time=2100 size=auto\n"
      "ProcSteal dt=1 p=0 p_seq=3 m=1\n"
      "ProcStart dt=1 p=0 p_seq=4\n"
      "GoStart dt=1 g=5 g_seq=1\n"
      "GoBlock dt=1 reason_string=1 stack=1\n"
      "GoUnblock dt=1 g=5 g_seq=2 stack=1\n"
      "GoStart dt=1 g=6 g_seq=1\n"
      "GoStop dt=1 reason_string=2 stack=1\n"
      "GoStart dt=1 g=6 g_seq=2\n",
      has_switch ? "GoCreateBlocked dt=1 new_g=7 new_stack=1 stack=1\n"
                   "GoCreateBlocked dt=1 new_g=8 new_stack=1 stack=1\n"
                   "GoSwitch dt=1 g=7 g_seq=1\n"
                   "GoSwitchDestroy dt=1 g=8 g_seq=1\n"
                 : "",
      "GoDestroy dt=1\n"
      "ProcStop dt=1\n"
      "EventBatch gen=1 m=1 time=2200 size=auto\n"
      "GoSyscallEndBlocked dt=1\n"
      "EventBatch gen=1 m=3 time=2300 size=auto\n"
      "GoCreateSyscall dt=1 new_g=9\n"
      "ProcStart dt=1 p=1 p_seq=1\n"
      "GoSyscallEndBlocked dt=1\n"
      "GoStart dt=1 g=9 g_seq=1\n"
      "GoSyscallBegin dt=1 p_seq=2 stack=1\n"
      "GoDestroySyscall dt=1\n");
  if (has_switch) {
    absl::StrAppend(&text,
                    "Span dt=1 id=1 npages_value=2 kindclass=3\n"
                    "SpanAlloc dt=1 id=1 npages_value=2 kindclass=3\n"
                    "SpanFree dt=1 id=1\n"
                    "HeapObject dt=1 id=1 type=2\n"
                    "HeapObjectAlloc dt=1 id=1 type=2\n"
                    "HeapObjectFree dt=1 id=1\n"
                    "GoroutineStack dt=1 id=1 order=2\n"
                    "GoroutineStackAlloc dt=1 id=1 order=2\n"
                    "GoroutineStackFree dt=1 id=1\n"
                    "GoStatusStack dt=1 g=10 m=",
                    kNobody, " gstatus=4 stack=1\n", "ExperimentalBatch exp=1 gen=1 m=3 time=2000",
                    "\n\tdata=\"types\"\n");
  }
  absl::StrAppend(
      &text, "EventBatch gen=1 m=4 time=2400 size=auto\nGoStatus dt=1 g=11 m=4 gstatus=3\n",
      "EventBatch gen=1 m=", kNobody, " time=2500 size=auto\nGoStatus dt=1 g=12 m=", kNobody,
      " gstatus=1\nEventBatch gen=1 m=", kNobody, " time=1000 size=auto\nCPUSamples\n",
      "CPUSample time=2015 m=1 p=0 g=1 stack=1\n", "EventBatch gen=1 m=", kNobody,
      " time=1000 size=auto\nStacks\nStack id=1 nframes=2\n\tpc=7 func=1 file=2 line=3\n",
      "\tpc=8 func=2 file=1 line=4\n", "EventBatch gen=1 m=", kNobody,
      " time=1000 size=auto\nStrings\nString id=1\n\tdata=\"one\"\nString id=2\n\tdata=\"two\"\n");
  if (version >= 26) absl::StrAppend(&text, "EndOfGeneration\n");
  return Assemble(text);
}

class EveryVersion : public testing::TestWithParam<Version> {};
INSTANTIATE_TEST_SUITE_P(Versions, EveryVersion, testing::ValuesIn(AllVersions()),
                         [](const auto& info) {
                           return absl::StrCat("Go1_", static_cast<uint32_t>(info.param));
                         });

TEST_P(EveryVersion, EveryEventTypeIsWrittenAsItWas) {
  const std::string bytes = AllTypes(static_cast<uint32_t>(GetParam()));
  const Rewritten rewritten = Rewrite(bytes);
  for (const EventSpec& spec : AllEventSpecs()) {
    if (!spec.timed() || spec.type == EventType::kClockSnapshot) continue;
    if (!VersionHas(GetParam(), spec)) continue;
    EXPECT_TRUE(rewritten.types.contains(spec.type)) << "the trace lacks " << spec.name;
  }
  ASSERT_EQ(rewritten.generations.size(), 1U);
  EXPECT_FALSE(rewritten.generations[0].changed);
  EXPECT_EQ(rewritten.generations[0].events_added, 0U);
  EXPECT_EQ(rewritten.generations[0].events_left_out, 0U);
  ExpectSame(bytes, rewritten.bytes, 20);
  // By time the order is the same.
  EXPECT_EQ(Rewrite(bytes, /*order_by_time=*/true).bytes, rewritten.bytes);
}

// Writing events made by hand. -------------------------------------------------------------------

// Builds events, and reads them back as "1:GoStart 5": on thread 1, with the arguments as numbers.
class Script {
 public:
  explicit Script(Version version = Version::kGo126) : writer_(version) {
    bytes_ = MakeHeader(version);
    payload_.push_back(static_cast<char>(EventType::kStrings));
    for (const uint64_t id : {1, 2, 3}) AppendString(id, absl::StrCat("string ", id), &payload_);
    Batch strings;
    strings.payload = payload_;
    strings.payload_offset = 100;
    EXPECT_TRUE(tables_.AddStrings(strings).ok());
    tables_.AddMissingStack(1);
  }

  // Adds an event. `goroutine` is the goroutine of its context, -1 for none.
  Script& Event(int64_t thread, EventType type, std::vector<uint64_t> args, int64_t goroutine = -1,
                int64_t proc = -1) {
    return EventAt(time_ += 100, thread, type, std::move(args), goroutine, proc);
  }
  Script& EventAt(int64_t time, int64_t thread, EventType type, std::vector<uint64_t> args,
                  int64_t goroutine = -1, int64_t proc = -1) {
    WriterEvent event;
    event.type = type;
    event.thread = ThreadId{thread};
    event.goroutine = GoId{goroutine};
    event.proc = ProcId{proc};
    event.time = time;
    std::copy(args.begin(), args.end(), event.args);
    events_.push_back(event);
    return *this;
  }

  // Writes a generation with the events since the last call.
  WrittenGeneration Write(bool order_by_time = false) {
    const OwnTables own(tables_);
    GenerationContent content(own);
    content.number = ++number_;
    content.begin = 1;
    content.events = std::exchange(events_, {});
    content.order_by_time = order_by_time;
    return writer_.Write(content, &bytes_);
  }

  // Returns the events that a reader returns for everything written: "1:GoStart 5" and so on.
  // "@TIME" follows each event whose time is not that of the previous event plus 100.
  std::vector<std::string> Read() const {
    std::vector<std::string> all;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes_);
    EXPECT_TRUE(reader.ok()) << reader.status();
    while (const gotrace::Event* event = reader->Next()) {
      if (event->kind() == EventKind::kSync) continue;
      std::string text = absl::StrCat(event->thread().value, ":", EventTypeName(event->type()));
      const ResourceId resource = event->transition_resource();
      if (resource.kind == ResourceKind::kGoroutine) absl::StrAppend(&text, " g", resource.id);
      if (resource.kind == ResourceKind::kProc) absl::StrAppend(&text, " p", resource.id);
      all.push_back(text);
      times_.push_back(event->time());
    }
    EXPECT_TRUE(reader->status().ok()) << reader->status();
    return all;
  }

  // Returns the times of the events that Read() returned.
  const std::vector<int64_t>& times() const { return times_; }
  const std::string& bytes() const { return bytes_; }

 private:
  GenerationWriter writer_;
  std::string payload_;  // Of the strings in tables_.
  GenerationTables tables_;
  std::string bytes_;
  std::vector<WriterEvent> events_;
  uint64_t number_ = 0;
  int64_t time_ = 1000;
  mutable std::vector<int64_t> times_;
};

using Lines = std::vector<std::string>;

constexpr uint64_t kRunnable = static_cast<uint64_t>(GoStatus::kRunnable);
constexpr uint64_t kRunning = static_cast<uint64_t>(GoStatus::kRunning);
constexpr uint64_t kSyscall = static_cast<uint64_t>(GoStatus::kSyscall);
constexpr uint64_t kWaiting = static_cast<uint64_t>(GoStatus::kWaiting);
constexpr uint64_t kProcRunning = static_cast<uint64_t>(ProcStatus::kRunning);
constexpr uint64_t kProcIdle = static_cast<uint64_t>(ProcStatus::kIdle);

// Thread 1 has P 0 and runs goroutine 1.
struct OneRuns : Script {
  explicit OneRuns(Version version = Version::kGo126) : Script(version) {
    Event(1, EventType::kProcStatus, {0, kProcRunning});
    Event(1, EventType::kGoStatus, {1, 1, kRunning});
  }
};
const Lines kOneRuns = {"1:ProcStatus p0", "1:GoStatus g1"};

Lines After(const Lines& first, const Lines& rest) {
  Lines all = first;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST(GenerationWriter, StatesWhatIsUsed) {
  Script script;
  script.Event(1, EventType::kGoBlock, {1, 1}, /*goroutine=*/7, /*proc=*/2);
  const WrittenGeneration written = script.Write();
  EXPECT_EQ(script.Read(), (Lines{"1:GoStatus g7", "1:ProcStatus p2", "1:GoBlock g7"}));
  EXPECT_EQ(written.events, 3U);
  EXPECT_EQ(written.statuses_added, 2U);
  EXPECT_EQ(written.events_added, 0U);
  EXPECT_TRUE(written.changed);
}

TEST(GenerationWriter, StatesInEachGenerationWhatIsUsed) {
  OneRuns script;
  script.Write();
  script.Event(1, EventType::kHeapAlloc, {7}, 1, 0);
  const WrittenGeneration written = script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:ProcStatus p0", "1:GoStatus g1", "1:HeapAlloc"}));
  EXPECT_EQ(written.statuses_added, 2U);
  // Go's reader would accept the event without them.
  EXPECT_FALSE(written.changed);
}

TEST(GenerationWriter, StopsWhatRunsWhereAnotherStarts) {
  OneRuns script;
  script.Event(1, EventType::kGoCreate, {2, 0, 0}, 1, 0);
  script.Event(1, EventType::kGoStart, {2, 1}, -1, 0);
  const WrittenGeneration written = script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:GoCreate g2", "1:GoStop g1", "1:GoStart g2"}));
  EXPECT_EQ(written.events_added, 1U);
}

TEST(GenerationWriter, BlocksWhatIsUnblockedNext) {
  OneRuns script;
  script.Event(1, EventType::kGoCreate, {2, 0, 0}, 1, 0);
  script.Event(1, EventType::kGoStart, {2, 1}, -1, 0);
  script.Event(1, EventType::kGoUnblock, {1, 1, 0}, 2, 0);
  script.Write();
  EXPECT_EQ(script.Read(),
            After(kOneRuns, {"1:GoCreate g2", "1:GoBlock g1", "1:GoStart g2", "1:GoUnblock g1"}));
}

TEST(GenerationWriter, MovesAGoroutineThatRunsElsewhere) {
  OneRuns script;
  script.Event(2, EventType::kProcStatus, {1, kProcRunning});
  script.Event(2, EventType::kGoStart, {1, 9}, -1, 1);
  script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"2:ProcStatus p1", "1:GoStop g1", "2:GoStart g1"}));
}

TEST(GenerationWriter, UnblocksWhatStarts) {
  OneRuns script;
  script.Event(1, EventType::kGoBlock, {1, 1}, 1, 0);
  script.Event(1, EventType::kGoStart, {1, 4}, -1, 0);
  script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:GoBlock g1", "1:GoUnblock g1", "1:GoStart g1"}));
}

TEST(GenerationWriter, RunsForAMomentWhatIsUnblockedTwice) {
  OneRuns script;
  script.Event(1, EventType::kGoStatus, {2, ~uint64_t{0}, kRunnable});
  script.Event(1, EventType::kGoUnblock, {2, 1, 0}, 1, 0);
  const WrittenGeneration written = script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:GoStatus g2", "1:GoStop g1", "1:GoStart g2",
                                            "1:GoBlock g2", "1:GoStart g1", "1:GoUnblock g2"}));
  EXPECT_EQ(written.events_added, 4U);
}

TEST(GenerationWriter, UsesAnIdlePForAThreadWithoutOne) {
  OneRuns script;
  script.Event(1, EventType::kProcStatus, {1, kProcIdle});
  script.Event(1, EventType::kGoStatus, {2, ~uint64_t{0}, kRunnable});
  // An event without a thread or a P.
  script.Event(-1, EventType::kGoUnblock, {2, 1, 0});
  script.Write();
  EXPECT_EQ(script.Read(),
            After(kOneRuns, {"1:ProcStatus p1", "1:GoStatus g2", "0:ProcStart p1", "0:GoStart g2",
                             "0:GoBlock g2", "0:ProcStop p1", "-1:GoUnblock g2"}));
}

TEST(GenerationWriter, UsesNoPThatWasIdleBefore) {
  OneRuns script;
  script.Event(1, EventType::kProcStatus, {1, kProcIdle});
  script.Event(2, EventType::kProcStart, {1, 5});
  script.Event(1, EventType::kGoStatus, {2, ~uint64_t{0}, kRunnable});
  script.Event(-1, EventType::kGoUnblock, {2, 1, 0});
  script.Write();
  EXPECT_EQ(script.Read(),
            After(kOneRuns, {"1:ProcStatus p1", "2:ProcStart p1", "1:GoStatus g2", "1:GoStop g1",
                             "1:GoStart g2", "1:GoBlock g2", "1:GoStart g1", "-1:GoUnblock g2"}));
}

TEST(GenerationWriter, StopsThePOfAThreadThatHasAnother) {
  OneRuns script;
  // The event says that it ran on this P.
  script.Event(1, EventType::kHeapAlloc, {7}, 1, 2);
  script.Event(1, EventType::kProcStatus, {3, kProcRunning});
  script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:ProcStop p0", "1:ProcStatus p2", "1:HeapAlloc",
                                            "1:ProcStop p2", "1:ProcStatus p3"}));
}

TEST(GenerationWriter, LeavesAGoroutineThatLostItsP) {
  OneRuns script;
  script.Event(1, EventType::kGoCreate, {2, 0, 0}, 1, 0);
  script.Event(1, EventType::kGoSyscallBegin, {1, 0}, 1, 0);
  script.Event(2, EventType::kProcSteal, {0, 2, 1});
  script.Event(1, EventType::kGoSyscallEndBlocked, {}, 1);
  script.Write();
  const Lines first = script.Read();
  // The thread has no goroutine now.
  script.Event(1, EventType::kProcStart, {0, 1});
  script.Event(1, EventType::kGoStart, {2, 1}, -1, 0);
  script.Write();
  EXPECT_EQ(script.Read(),
            After(first, {"1:ProcStatus p0", "1:ProcStart p0", "1:GoStatus g2", "1:GoStart g2"}));
}

TEST(GenerationWriter, CreatesWhatAppearsLate) {
  for (const Version version : AllVersions()) {
    OneRuns script(version);
    script.Write();
    script.Event(1, EventType::kGoStatus, {2, ~uint64_t{0}, kWaiting});
    script.Write();
    const Lines lines = script.Read();
    const std::string last = absl::StrJoin(lines.begin() + kOneRuns.size(), lines.end(), " ");
    EXPECT_EQ(last, version >= Version::kGo123
                        ? "1:GoStatus g1 1:GoStop g1 1:GoCreateBlocked g2 1:GoStart g1 "
                          "1:GoStatus g2"
                        : "1:GoStatus g1 1:GoStop g1 1:GoCreate g2 1:GoStart g1 1:GoStop g1 "
                          "1:GoStart g2 1:GoBlock g2 1:GoStart g1 1:GoStatus g2");
  }
}

TEST(GenerationWriter, GivesPsToThreads) {
  OneRuns script;
  // The thread already has this P.
  script.Event(1, EventType::kProcStart, {0, 1});
  // Another takes it.
  script.Event(2, EventType::kProcStart, {0, 7});
  script.Event(2, EventType::kProcStop, {}, -1, 0);
  // An unknown P.
  script.Event(2, EventType::kProcStart, {3, 7});
  script.Write();
  EXPECT_EQ(script.Read(),
            After(kOneRuns, {"1:ProcStop p0", "1:ProcStart p0", "1:ProcStop p0", "2:ProcStart p0",
                             "2:ProcStop p0", "2:ProcStatus p3", "2:ProcStart p3"}));
}

TEST(GenerationWriter, MovesAPThatIsInASyscallElsewhere) {
  Script script;
  const uint64_t syscall = static_cast<uint64_t>(ProcStatus::kSyscall);
  script.Event(1, EventType::kProcStatus, {0, syscall});
  script.Event(2, EventType::kProcStatus, {0, syscall});
  script.Write();
  EXPECT_EQ(script.Read(),
            (Lines{"1:ProcStatus p0", "1:ProcStop p0", "2:ProcStart p0", "2:ProcStatus p0"}));
}

TEST(GenerationWriter, StealsPs) {
  OneRuns script;
  // A syscall whose beginning is missing.
  script.Event(2, EventType::kProcSteal, {0, 5, 9});
  script.Event(1, EventType::kGoSyscallEndBlocked, {}, 1);
  // An unknown P.
  script.Event(2, EventType::kProcSteal, {4, 5, 9});
  // An idle P, which cannot be stolen.
  script.Event(2, EventType::kProcSteal, {4, 6, 9});
  const WrittenGeneration written = script.Write();
  EXPECT_EQ(script.Read(),
            After(kOneRuns, {"1:GoSyscallBegin g1", "2:ProcSteal p0", "1:GoSyscallEndBlocked g1",
                             "2:ProcStatus p4", "2:ProcSteal p4"}));
  EXPECT_EQ(written.events_left_out, 1U);
}

// No thread writes the status, but only one can take a P from a syscall, or stop it.
TEST(GenerationWriter, MakesPsIdleOnAThreadOfItsOwn) {
  const std::pair<ProcStatus, std::string> cases[] = {
      {ProcStatus::kSyscallAbandoned, "0:ProcSteal p0"}, {ProcStatus::kRunning, "0:ProcStop p0"}};
  for (const auto& [status, event] : cases) {
    Script script;
    script.Event(-1, EventType::kProcStatus, {0, static_cast<uint64_t>(status)});
    script.Write();
    script.Event(-1, EventType::kProcStatus, {0, kProcIdle});
    script.Write();
    EXPECT_EQ(script.Read(),
              (Lines{"-1:ProcStatus p0", "0:ProcStatus p0", event, "-1:ProcStatus p0"}));
  }
}

// The largest id means that there is no goroutine or P.
TEST(GenerationWriter, LeavesOutWhatHasTheIdOfNone) {
  Script script;
  script.Event(1, EventType::kGoStatus, {~uint64_t{0}, 1, kRunning});
  script.Event(2, EventType::kGoStatus, {5, 2, kRunning});
  script.Event(2, EventType::kGoCreate, {~uint64_t{0}, 0, 0}, 5);
  script.Event(3, EventType::kGoCreateSyscall, {~uint64_t{0}});
  script.Event(-1, EventType::kProcStatus, {~uint64_t{0}, kProcIdle});
  script.Event(2, EventType::kProcSteal, {~uint64_t{0}, 0, 1}, 5);
  script.Event(3, EventType::kProcStart, {~uint64_t{0}, 0});
  script.Write();
  EXPECT_EQ(script.Read(), (Lines{"2:GoStatus g5"}));
}

TEST(GenerationWriter, LeadsIntoSyscalls) {
  OneRuns script;
  script.Event(1, EventType::kGoSyscallEnd, {}, 1, 0);
  script.Event(1, EventType::kGoSyscallBegin, {1, 0}, 1, 0);
  // The P was stolen, but nothing says by whom.
  script.Event(1, EventType::kGoSyscallEndBlocked, {}, 1);
  script.Event(1, EventType::kGoSyscallEnd, {}, 1, 0);
  script.Write();
  EXPECT_EQ(script.Read(),
            After(kOneRuns, {"1:GoSyscallBegin g1", "1:GoSyscallEnd g1", "1:GoSyscallBegin g1",
                             "1:ProcSteal p0", "1:GoSyscallEndBlocked g1", "1:ProcStart p0",
                             "1:GoStart g1", "1:GoSyscallBegin g1", "1:GoSyscallEnd g1"}));
}

TEST(GenerationWriter, ReusesGoroutinesOfCThreads) {
  Script script;
  script.Event(1, EventType::kGoCreateSyscall, {5});
  script.Event(2, EventType::kGoCreateSyscall, {5});
  script.Event(2, EventType::kGoDestroySyscall, {}, 5);
  script.Write();
  EXPECT_EQ(script.Read(), (Lines{"1:GoCreateSyscall g5", "1:GoDestroySyscall g5",
                                  "2:GoCreateSyscall g5", "2:GoDestroySyscall g5"}));
}

TEST(GenerationWriter, LeavesOutASecondCreation) {
  OneRuns script;
  script.Event(1, EventType::kGoCreate, {1, 0, 0}, 1, 0);
  EXPECT_EQ(script.Write().events_left_out, 1U);
  EXPECT_EQ(script.Read(), kOneRuns);
}

TEST(GenerationWriter, NumbersGcCycles) {
  OneRuns script;
  script.Event(1, EventType::kGCEnd, {4}, 1, 0);
  script.Event(1, EventType::kGCBegin, {5, 0}, 1, 0);
  // The end and another cycle are lost.
  script.Event(1, EventType::kGCBegin, {9, 0}, 1, 0);
  // So many events are lost that the number has to change.
  script.Event(1, EventType::kGCEnd, {1000}, 1, 0);
  script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:GCActive", "1:GCEnd", "1:GCBegin", "1:GCEnd",
                                            "1:GCBegin", "1:GCEnd", "1:GCBegin", "1:GCEnd"}));
}

TEST(GenerationWriter, BeginsAndEndsRanges) {
  OneRuns script;
  script.Event(1, EventType::kGCMarkAssistEnd, {}, 1, 0);
  script.Event(1, EventType::kGCMarkAssistBegin, {0}, 1, 0);
  script.Event(1, EventType::kGCMarkAssistBegin, {0}, 1, 0);
  script.Event(1, EventType::kGCSweepEnd, {1, 2}, 1, 0);
  script.Event(1, EventType::kGCSweepBegin, {0}, 1, 0);
  script.Event(1, EventType::kGCSweepBegin, {0}, 1, 0);
  script.Event(1, EventType::kSTWEnd, {}, 1, 0);
  script.Event(1, EventType::kUserTaskBegin, {8, 0, 1, 0}, 1, 0);
  script.Event(1, EventType::kUserTaskBegin, {8, 0, 1, 0}, 1, 0);
  script.Write();
  EXPECT_EQ(
      script.Read(),
      After(kOneRuns, {"1:GCMarkAssistBegin", "1:GCMarkAssistEnd", "1:GCMarkAssistBegin",
                       "1:GCMarkAssistEnd", "1:GCMarkAssistBegin", "1:GCSweepBegin", "1:GCSweepEnd",
                       "1:GCSweepBegin", "1:GCSweepEnd", "1:GCSweepBegin", "1:STWBegin", "1:STWEnd",
                       "1:UserTaskBegin", "1:UserTaskEnd", "1:UserTaskBegin"}));
}

TEST(GenerationWriter, EndsInnerRegionsFirst) {
  OneRuns script;
  script.Event(1, EventType::kUserRegionBegin, {0, 1, 0}, 1, 0);
  script.Event(1, EventType::kUserRegionBegin, {0, 2, 0}, 1, 0);
  // A region that is not open.
  script.Event(1, EventType::kUserRegionEnd, {0, 3, 0}, 1, 0);
  script.Event(1, EventType::kUserRegionEnd, {0, 1, 0}, 1, 0);
  const WrittenGeneration written = script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:UserRegionBegin", "1:UserRegionBegin",
                                            "1:UserRegionEnd", "1:UserRegionEnd"}));
  EXPECT_EQ(written.events_added, 1U);
  EXPECT_EQ(written.events_left_out, 1U);
}

TEST(GenerationWriter, LeavesOutWhatNothingLeadsTo) {
  Script script;
  script.Event(-1, EventType::kGoBlock, {1, 1}, 7, 2);                 // No thread.
  script.Event(1, EventType::kGoBlock, {1, 1});                        // No goroutine.
  script.Event(1, EventType::kProcStop, {});                           // No P.
  script.Event(1, EventType::kProcStatus, {1, 9});                     // No such status,
  script.Event(1, EventType::kGoStatus, {1, 1, 9});                    // and here neither.
  script.Event(1, EventType::kGoStatus, {1, ~uint64_t{0}, kSyscall});  // On no thread.
  script.Event(1, EventType::kString, {1});                            // Not a timed event.
  const WrittenGeneration written = script.Write();
  EXPECT_EQ(written.events_left_out, 7U);
  EXPECT_EQ(script.Read(), Lines{});
}

TEST(GenerationWriter, PushesTimesForwardThatGoBack) {
  OneRuns script;
  script.EventAt(900, 1, EventType::kHeapAlloc, {1}, 1, 0);
  script.EventAt(800, 2, EventType::kProcStatus, {1, kProcRunning});
  script.EventAt(5000, 1, EventType::kHeapAlloc, {2}, 1, 0);
  script.Write();
  EXPECT_EQ(script.Read(), After(kOneRuns, {"1:HeapAlloc", "2:ProcStatus p1", "1:HeapAlloc"}));
  EXPECT_EQ(script.times(), (std::vector<int64_t>{1100, 1200, 1201, 1202, 5000}));
}

TEST(GenerationWriter, FindsTheOrderByTime) {
  OneRuns script;
  // The start is listed before the creation that it waits for, and has an earlier time.
  script.EventAt(2000, 2, EventType::kProcStatus, {1, kProcRunning});
  script.EventAt(3000, 2, EventType::kGoStart, {5, 1}, -1, 1);
  script.EventAt(9000, 2, EventType::kGoStop, {1, 0}, 5, 1);
  script.EventAt(2500, 1, EventType::kHeapAlloc, {1}, 1, 0);
  script.EventAt(3100, 1, EventType::kGoCreate, {5, 0, 0}, 1, 0);
  script.EventAt(4000, 1, EventType::kGoStop, {1, 0}, 1, 0);
  EXPECT_FALSE(script.Write(/*order_by_time=*/true).events_added > 0);
  EXPECT_EQ(script.Read(), After(kOneRuns, {"2:ProcStatus p1", "1:HeapAlloc", "1:GoCreate g5",
                                            "2:GoStart g5", "1:GoStop g1", "2:GoStop g5"}));
}

TEST(GenerationWriter, WaitsOnlyForAMoment) {
  OneRuns script;
  script.EventAt(2000, 2, EventType::kProcStatus, {1, kProcRunning});
  script.EventAt(3000, 2, EventType::kGoStart, {5, 1}, -1, 1);
  script.EventAt(50'000, 1, EventType::kGoUnblock, {5, 2, 0}, 1, 0);
  script.Write(/*order_by_time=*/true);
  EXPECT_EQ(script.Read(), After(kOneRuns, {"2:ProcStatus p1", "2:GoStatus g5", "2:GoStart g5",
                                            "2:GoBlock g5", "1:GoUnblock g5"}));
}

TEST(GenerationWriter, DividesBatchesThatWouldBeTooLarge) {
  constexpr uint64_t kStacks = 6000;
  OneRuns script;
  for (int i = 0; i < 40'000; ++i) script.Event(1, EventType::kHeapAlloc, {~uint64_t{0}}, 1, 0);
  EXPECT_EQ(script.Write().events, 40'002U);
  EXPECT_EQ(script.Read().size(), 40'002U);

  GenerationTables tables;
  for (uint64_t id = 1; id <= kStacks; ++id) tables.AddMissingStack(id);
  const OwnTables own(tables);
  GenerationContent content(own);
  content.number = 1;
  std::string bytes = MakeHeader(Version::kGo126);
  GenerationWriter(Version::kGo126).Write(content, &bytes);
  const FirstGeneration first(bytes);
  ASSERT_NE(first.generation, nullptr);
  ASSERT_EQ(first.generation->tables().stack_count(), kStacks);
  for (uint64_t id = 1; id <= kStacks; ++id) {
    ASSERT_EQ(first.generation->tables().GetFrame(id, 0).func, absl::StrCat("?stack#", id));
  }
}

}  // namespace generation_writer_test
}  // namespace gotrace::internal
