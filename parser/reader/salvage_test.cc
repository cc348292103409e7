// Tests the modes of a Reader that continue after faults.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gotrace/reader.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/salvage_util.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace salvage_test {

TEST(SalvageTest, SoundTracesAreReadAlikeInAllModes) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    const ReadResult strict = ReadIn(bytes, ReadMode::kStrict);
    ASSERT_TRUE(strict.status.ok());
    for (const ReadMode mode : kTolerantModes) {
      const ReadResult result = ReadIn(bytes, mode);
      EXPECT_TRUE(result.status.ok());
      EXPECT_TRUE(result.events == strict.events);
      EXPECT_TRUE(result.faults.empty());
      EXPECT_FALSE(result.losses.any());
      EXPECT_EQ(result.losses.marked_events, 0u);
    }
  }
}

// Expects that all modes read a trace that Go's reader accepts, and report the same.
void ExpectSoundInAllModes(absl::string_view bytes) {
  const ReadResult strict = ReadIn(bytes, ReadMode::kStrict, /*describe=*/true);
  EXPECT_TRUE(strict.status.ok()) << strict.status;
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(bytes, mode, /*describe=*/true);
    EXPECT_EQ(result.texts, strict.texts);
    EXPECT_TRUE(result.faults.empty());
  }
}

TEST(SalvageTest, AnOddEndOfASoundTraceIsReadAlikeInAllModes) {
  // A further generation of which only a table was written.
  const std::string begun =
      "EventBatch gen=3 m=1 time=3000000000 size=auto\nStrings\nString id=1\n\tdata=\"name\"\n";
  ExpectSoundInAllModes(Assemble(TwoGenerations(/*has_ends=*/true) + begun));
  // The type byte of an experimental batch, and nothing else of it.
  ExpectSoundInAllModes(Assemble(TwoGenerations(/*has_ends=*/true)) + "1");
  ExpectSoundInAllModes(Assemble(TwoGenerations(/*has_ends=*/false)) + "1");
  // Both of these, with a generation number that nothing confirms.
  const std::string odd =
      "EventBatch gen=7 m=1 time=3000000000 size=auto\nStrings\nString id=1\n\tdata=\"name\"\n";
  ExpectSoundInAllModes(Assemble(TwoGenerations(/*has_ends=*/true) + odd));
  ExpectSoundInAllModes(Assemble(TwoGenerations(/*has_ends=*/true) + odd) + "1");
}

TEST(SalvageTest, AHeaderAloneIsAFaultIfItIsOneInStrictMode) {
  for (const Version version : AllVersions()) {
    const std::string header = MakeHeader(version);
    const absl::Status status = ReadIn(header, ReadMode::kStrict).status;
    EXPECT_EQ(status.ok(), version >= Version::kGo126);
    for (const ReadMode mode : kTolerantModes) {
      const ReadResult result = ReadIn(header, mode);
      ASSERT_EQ(result.faults.size(), status.ok() ? 0u : 1u);
      if (status.ok()) continue;
      EXPECT_TRUE(IsFault(status, result.faults[0].id, kHeaderSize));
    }
  }
}

TEST(SalvageTest, AGenerationAfterAStrayBatchAndAnEndIsRead) {
  const std::string text = TwoGenerations(/*has_ends=*/true);
  const std::string stray =
      "EventBatch gen=9 m=1 time=2000000000 size=auto\nHeapAlloc dt=1 heapalloc_value=5\n"
      "EndOfGeneration\n";
  // The number of the generation after it is not the expected one, either.
  const std::string again = text.substr(text.find('\n') + 1);
  const ReadResult sound = ReadIn(Assemble(text), ReadMode::kSalvage);
  const ReadResult result = ReadIn(Assemble(absl::StrCat(text, stray, again)), ReadMode::kSalvage);
  EXPECT_EQ(result.losses.dropped_batches, 1u);
  EXPECT_EQ(result.events.size(), 2 * sound.events.size());
}

bool HasEvent(const ReadResult& result, absl::string_view part) {
  for (const std::string& text : result.texts) {
    if (absl::StrContains(text, part)) return true;
  }
  return false;
}

TEST(SalvageTest, MissingTableEntriesAreNamedByTheirIds) {
  const std::string text = absl::StrReplaceAll(
      TwoGenerations(true),
      {{"String id=2", "String id=12"}, {"Stack id=1 ", "Stack id=7 "}, {"file=2", "file=13"}});
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(Assemble(text), mode, /*describe=*/true);
    EXPECT_TRUE(HasEvent(result, "\"?string#2\""));
    EXPECT_TRUE(HasEvent(result, "\"?stack#1\""));
    // The file, the string and the stack in each generation.
    EXPECT_EQ(result.losses.unresolved, 6u);
    ASSERT_EQ(result.faults.size(), 6u);
    EXPECT_EQ(result.faults[0].id, FaultId::kStackString);
    EXPECT_EQ(result.faults[1].id, FaultId::kEventStackId);
    EXPECT_EQ(result.faults[2].id, FaultId::kEventStringId);
  }
  const ReadResult file =
      ReadIn(Assemble(absl::StrReplaceAll(TwoGenerations(true), {{"file=2", "file=13"}})),
             ReadMode::kSalvage, /*describe=*/true);
  EXPECT_TRUE(HasEvent(file, "\"text\" \"?string#13\":3"));
}

// A missing name is no reason to doubt the event.
TEST(SalvageTest, RegionsWithoutANameAreNotMarked) {
  const std::string region =
      "UserRegionBegin dt=1 task=1 name_string=9 stack=0\n"
      "UserRegionEnd dt=1 task=1 name_string=9 stack=0\n";
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(Assemble(TwoGenerations(true, {{1, region}})), mode);
    EXPECT_EQ(result.events.size(), 2 * 9u + 2);
    EXPECT_EQ(result.losses.unresolved, 1u);
    EXPECT_EQ(result.losses.marked_events, 0u);
    EXPECT_EQ(result.losses.faults, 1u);
  }
}

TEST(SalvageTest, OtherFaultsOfAnEventWithoutANameAreReportedToo) {
  const std::string bytes = Assemble(
      TwoGenerations(true, {{1,
                             "ProcStop dt=1\n"
                             "UserTaskBegin dt=1 task=3 parent_task=0 name_string=9 stack=0\n"}}));
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(bytes, mode);
    ASSERT_GE(result.faults.size(), 2u);
    EXPECT_EQ(result.faults[0].id, FaultId::kEventStringId);
    EXPECT_EQ(result.faults[1].id, FaultId::kNeedsProc);
    EXPECT_EQ(result.faults[1].place.offset, result.faults[0].place.offset);
  }
}

// An event in a batch that begins 2^63 ticks late has a time before 0.
TEST(SalvageTest, AFirstEventIsNotEarlierThanAnother) {
  const std::string bytes = Assemble(
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=9223372036854775808 size=auto\nProcStatus dt=1 p=1 pstatus=1\n");
  ReaderOptions options;
  options.mode = ReadMode::kCollect;
  options.on_time_back = [](const Place& place, int64_t last_time) {
    ADD_FAILURE() << *place.time << " after " << last_time;
  };
  Reader reader = *Reader::FromBytes(bytes, options);
  while (reader.Next() != nullptr) continue;
  EXPECT_EQ(reader.event_count(), 3u);
}

TEST(SalvageTest, MisusedRegionsAreKeptAndMarked) {
  const std::string begin = "UserRegionBegin dt=1 task=1 name_string=1 stack=0\n";
  const std::string inner = "UserRegionBegin dt=1 task=1 name_string=2 stack=0\n";
  const std::string end = "UserRegionEnd dt=1 task=1 name_string=1 stack=0\n";
  const std::string bytes = Assemble(TwoGenerations(true, {{1, begin + inner + end}}));
  EXPECT_FALSE(ReadIn(bytes, ReadMode::kStrict).status.ok());
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(bytes, mode);
    EXPECT_EQ(result.events.size(), 2 * 9u + 3);
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_EQ(result.faults[0].id, FaultId::kRegionNesting);
    EXPECT_EQ(result.losses.marked_events, 1u);
    EXPECT_FALSE(result.losses.any());
    for (const EventRecord& event : result.events) {
      EXPECT_EQ(event.marked, event.kind == EventKind::kRegionEnd);
    }
  }
}

TEST(SalvageTest, AtAStallSalvageForcesAnEventAndCollectDropsTheGeneration) {
  const std::string bytes = Assemble(
      TwoGenerations(true, {{1, "GoUnblock dt=100000 g=99 g_seq=5 stack=0\nGoDestroy dt=1\n"}}));
  const ReadResult collected = ReadIn(bytes, ReadMode::kCollect);
  ASSERT_EQ(collected.faults.size(), 1u);
  EXPECT_EQ(collected.faults[0].id, FaultId::kNoAdvance);
  // Four and three events of the first generation come before.
  EXPECT_EQ(collected.events.size(), 7 + 9u);
  // Two events of 9 bytes, and a batch of two events and 12 bytes.
  EXPECT_EQ(collected.losses.dropped_batches, 2u);
  EXPECT_EQ(collected.losses.dropped_bytes, 9 + 12u);
  EXPECT_EQ(collected.losses.dropped_events, 4u);
  const ReadResult salvaged = ReadIn(bytes, ReadMode::kSalvage);
  ASSERT_EQ(salvaged.faults.size(), 1u);
  EXPECT_EQ(salvaged.events.size(), 2 * 9u + 2);
  // The log after the goroutine's end has no goroutine.
  EXPECT_EQ(salvaged.losses.marked_events, 2u);
  EXPECT_EQ(salvaged.losses.dropped_events, 0u);
}

TEST(SalvageTest, EventsThatWaitedInVainKeepTheirTimes) {
  const auto thread = [](int generation, int id, int time, absl::string_view events) {
    return absl::StrCat("EventBatch gen=", generation, " m=", id, " time=", time,
                        " size=auto\nProcStatus dt=1 p=", id, " pstatus=1\nGoStatus dt=1 g=", id,
                        " m=", id, " gstatus=2\n", events);
  };
  const auto sync = [](int generation) {
    return absl::StrCat("EventBatch gen=", generation,
                        " m=0 time=1 size=auto\nFrequency freq=1000000000\n");
  };
  // No event creates goroutine 99. By the clocks, goroutine 3 starts before it is created, and two
  // threads have an event at the same time.
  const std::string bytes = Assemble(absl::StrCat(
      "Trace Go1.23\n", sync(1),
      thread(1, 1, 1000,
             "GoUnblock dt=10 g=99 g_seq=5 stack=0\nHeapAlloc dt=20000 heapalloc_value=1\n"
             "GoCreate dt=1 new_g=3 new_stack=0 stack=0\nHeapAlloc dt=90000 heapalloc_value=1\n"),
      thread(1, 2, 2000, "HeapAlloc dt=1000000 heapalloc_value=1\n"),
      "EventBatch gen=1 m=4 time=3000 size=auto\nProcStatus dt=1 p=4 pstatus=1\n"
      "GoStart dt=1 g=3 g_seq=1\nHeapAlloc dt=108011 heapalloc_value=1\n",
      sync(2), thread(2, 1, 900000, "")));
  for (const size_t jobs : {1, 2}) {
    ReaderOptions options;
    options.mode = ReadMode::kSalvage;
    options.jobs = jobs;
    options.decodes_ahead = true;
    options.tuning.jobs_from_bytes = 0;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
    ASSERT_TRUE(reader.ok());
    std::map<int64_t, std::vector<int64_t>> times;
    while (const Event* event = reader->Next()) {
      if (event->kind() == EventKind::kSync) continue;
      times[event->thread().value].push_back(event->time());
    }
    // The events of the next generation are still later than all events of the first.
    EXPECT_EQ(times[1],
              (std::vector<int64_t>{1001, 1002, 1012, 21012, 21013, 111013, 1002004, 1002005}));
    EXPECT_EQ(times[2], (std::vector<int64_t>{2001, 2002, 1002002}));
    EXPECT_EQ(times[4], (std::vector<int64_t>{3001, 3002, 111013}));
    EXPECT_EQ(reader->losses().marked_events, 1u);
  }
}

TEST(SalvageTest, CollectReportsTheFaultsOfAllGenerations) {
  const std::string bytes = Assemble(
      TwoGenerations(true, {{1, "STWEnd dt=1\n"}, {2, "ProcStatus dt=1 p=1 pstatus=2\n"}}));
  const ReadResult result = ReadIn(bytes, ReadMode::kCollect);
  ASSERT_EQ(result.faults.size(), 2u);
  EXPECT_EQ(result.faults[0].id, FaultId::kRangeNotBegun);
  EXPECT_EQ(result.faults[0].place.generation, 1u);
  EXPECT_EQ(result.faults[1].id, FaultId::kProcStatusConflict);
  EXPECT_EQ(result.faults[1].place.generation, 2u);
}

// Contradictions are expected where bytes are lost, but not in later generations.
TEST(SalvageTest, ContradictionsAreNotReportedIfSomethingIsLost) {
  const std::string contradiction = "ProcStatus dt=1 p=1 pstatus=2\n";
  std::string bytes = Assemble(TwoGenerations(true, {{1, contradiction}, {2, contradiction}}));
  bytes.insert(ExtentsOf(bytes)[1].begin, "\x7e\x7e");
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(bytes, mode);
    ASSERT_EQ(result.faults.size(), 2u);
    EXPECT_EQ(result.faults[0].id, FaultId::kBatchType);
    EXPECT_EQ(result.faults[1].id, FaultId::kProcStatusConflict);
    EXPECT_EQ(result.faults[1].place.generation, 2u);
    EXPECT_EQ(result.losses.marked_events, 2u);
  }
}

// A missing generation may be no fault for Go's reader, but users of salvage mode need to know.
TEST(SalvageTest, MissingGenerationsAreReported) {
  for (const absl::string_view number : {"gen=3 ", "gen=1 "}) {
    const std::string bytes =
        Assemble(absl::StrReplaceAll(TwoGenerations(true), {{"gen=2 ", number}}));
    EXPECT_TRUE(ReadIn(bytes, ReadMode::kStrict).status.ok());
    EXPECT_TRUE(ReadIn(bytes, ReadMode::kCollect).faults.empty());
    const ReadResult salvaged = ReadIn(bytes, ReadMode::kSalvage);
    EXPECT_EQ(salvaged.events.size(), 2 * 9u);
    ASSERT_EQ(salvaged.faults.size(), 1u);
    EXPECT_EQ(salvaged.faults[0].id, FaultId::kGenerationOrder);
    const std::vector<BatchExtent> batches = ExtentsOf(bytes);
    EXPECT_EQ(salvaged.faults[0].place.offset, batches[batches.size() / 2].begin);
  }
  // Before Go 1.26 it is a fault in all modes, and reported once.
  const std::string old =
      Assemble(absl::StrReplaceAll(TwoGenerations(false), {{"gen=2 ", "gen=3 "}}));
  EXPECT_FALSE(ReadIn(old, ReadMode::kStrict).status.ok());
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(old, mode);
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_EQ(result.faults[0].id, FaultId::kGenerationOrder);
  }
}

TEST(SalvageTest, AfterMissingGenerationsNothingIsKnownAboutGoroutines) {
  std::string text = TwoGenerations(true);
  const std::string running = "GoStatus dt=1 g=2 m=301 gstatus=2";
  text.replace(text.rfind(running), running.size(),
               "GoStatus dt=1 g=2 m=18446744073709551615 gstatus=1");
  const std::string bytes = Assemble(absl::StrReplaceAll(text, {{"gen=2 ", "gen=3 "}}));
  EXPECT_TRUE(ReadIn(bytes, ReadMode::kCollect).faults.empty());
  const ReadResult salvaged = ReadIn(bytes, ReadMode::kSalvage);
  ASSERT_EQ(salvaged.faults.size(), 1u);
  EXPECT_EQ(salvaged.faults[0].id, FaultId::kGenerationOrder);
  EXPECT_EQ(salvaged.losses.marked_events, 0u);
}

// A tick is two nanoseconds, so the frequency matters.
TEST(SalvageTest, AGenerationWithoutAFrequencyUsesThePreviousOne) {
  const std::string sound = absl::StrReplaceAll(TwoGenerations(/*has_ends=*/false),
                                                {{"freq=1000000000", "freq=500000000"}});
  std::string broken = sound;
  const std::string batch =
      "EventBatch gen=2 m=18446744073709551615 time=2000000000 size=auto\n"
      "Frequency freq=500000000\n";
  ASSERT_NE(broken.find(batch), std::string::npos);
  broken.erase(broken.find(batch), batch.size());
  const ReadResult expected = ReadIn(Assemble(sound), ReadMode::kStrict);
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(Assemble(broken), mode);
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_EQ(result.faults[0].id, FaultId::kNoFrequency);
    ASSERT_EQ(result.events.size(), expected.events.size());
    for (size_t i = 0; i < result.events.size(); ++i) {
      EXPECT_EQ(result.events[i].time, expected.events[i].time);
    }
  }
}

TEST(SalvageTest, AfterALossNothingIsKnownAboutGoroutinesAndThreads) {
  std::string text = TwoGenerations(true);
  const std::string running = "GoStatus dt=1 g=2 m=301 gstatus=2";
  text.replace(text.rfind(running), running.size(),
               "GoStatus dt=1 g=2 m=18446744073709551615 gstatus=1");
  std::string bytes = Assemble(text);
  EXPECT_FALSE(ReadIn(bytes, ReadMode::kStrict).status.ok());
  bytes.insert(ExtentsOf(bytes)[1].begin, "\x7e\x7e");
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(bytes, mode);
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_EQ(result.faults[0].id, FaultId::kBatchType);
    for (const EventRecord& event : result.events) {
      EXPECT_FALSE(event.marked);
      if (event.type == EventType::kHeapAlloc && event.thread == 301) {
        EXPECT_EQ(event.goroutine, event.time < 2'000'000'000 ? 2 : -1);
      }
    }
  }
}

TEST(SalvageTest, InputErrorsAreReturnedAtTheEnd) {
  const absl::Status error = absl::UnavailableError("the line is dead");
  for (const ReadMode mode : kTolerantModes) {
    ReaderOptions options;
    options.mode = mode;
    absl::StatusOr<Reader> reader =
        Reader::FromSource(*SourceFromStream(std::make_unique<PieceStream>(
                               Assemble(TwoGenerations(true)), 100, error)),
                           options);
    ASSERT_TRUE(reader.ok());
    while (reader->Next() != nullptr) continue;
    EXPECT_EQ(reader->status(), error);
    // The events of both generations, and three kSync events.
    EXPECT_EQ(reader->event_count(), 2 * 9u + 3);
  }
}

TEST(SalvageTest, AnUndecodableEventDropsItsBatchOrItsThread) {
  const std::string bytes =
      Assemble(TwoGenerations(true, {{1, "Stack id=1 nframes=0\nGoDestroy dt=1\n"}}));
  const ReadResult salvaged = ReadIn(bytes, ReadMode::kSalvage);
  ASSERT_EQ(salvaged.faults.size(), 1u);
  EXPECT_EQ(salvaged.faults[0].id, FaultId::kEventNotTimed);
  EXPECT_EQ(salvaged.losses.dropped_batches, 1u);
  EXPECT_EQ(salvaged.losses.dropped_bytes, 5u);
  EXPECT_EQ(salvaged.events.size(), 2 * 9u);
  // The thread's second batch has two events.
  const ReadResult collected = ReadIn(bytes, ReadMode::kCollect);
  EXPECT_EQ(collected.faults.size(), 1u);
  EXPECT_EQ(collected.events.size(), 2 * 9u - 2);
  // A stack of 3 bytes, and 2 bytes that could be decoded if they did not come after it.
  EXPECT_EQ(salvaged.losses.dropped_bytes, 3 + 2u);
  EXPECT_EQ(salvaged.losses.dropped_events, 0u);
  EXPECT_EQ(collected.losses.dropped_batches, 2u);
  EXPECT_EQ(collected.losses.dropped_bytes, 3 + 2 + 12u);
  EXPECT_EQ(collected.losses.dropped_events, 2u);
}

TEST(SalvageTest, AWrongTimeDoesNotPushTheNextGenerationForward) {
  const std::string bytes =
      Assemble(TwoGenerations(true, {{1, "HeapGoal dt=70000000000 heapgoal_value=1\n"}}));
  const ReadResult sound = ReadIn(Assemble(TwoGenerations(true)), ReadMode::kStrict);
  const ReadResult salvaged = ReadIn(bytes, ReadMode::kSalvage);
  ASSERT_EQ(salvaged.events.size(), sound.events.size() + 1);
  EXPECT_EQ(salvaged.events.back().time, sound.events.back().time);
}

// This happens if a thread is not scheduled for a while in the middle of an event.
TEST(SalvageTest, GenerationsMayOverlapIfNothingIsWrong) {
  const std::string bytes =
      Assemble(TwoGenerations(true, {{1, "HeapGoal dt=1300000000 heapgoal_value=1\n"}}));
  const ReadResult strict = ReadIn(bytes, ReadMode::kStrict);
  const ReadResult collected = ReadIn(bytes, ReadMode::kCollect);
  EXPECT_TRUE(collected.faults.empty());
  ASSERT_EQ(collected.events.size(), strict.events.size());
  for (size_t i = 0; i < strict.events.size(); ++i) {
    EXPECT_EQ(collected.events[i].time, strict.events[i].time);
    if (i == 0) continue;
    EXPECT_GT(collected.events[i].time, collected.events[i - 1].time);
  }
}

// Without parking, each event would be tried again before each of the others.
TEST(SalvageTest, ManyThreadsThatAllWaitTakeNoLongerThanTheirSize) {
  constexpr int kThreads = 15000;
  std::string text =
      "Trace Go1.26\nEventBatch gen=1 m=18446744073709551615 time=1000 size=auto\n"
      "Sync\nFrequency freq=1000000000\nClockSnapshot dt=1 mono=2 sec=3 nsec=4\n";
  for (int i = 0; i < kThreads; ++i) {
    absl::StrAppend(&text, "EventBatch gen=1 m=", i + 1, " time=1000 size=auto\n",
                    "GoUnblock dt=1 g=", i + 1, " g_seq=5 stack=0\n");
  }
  const ReadResult result = ReadIn(Assemble(text + "EndOfGeneration\n"), ReadMode::kSalvage);
  EXPECT_EQ(result.events.size(), size_t{kThreads});
  EXPECT_EQ(result.losses.marked_events, uint64_t{kThreads});
}

// The second batch is earlier than the first. So the thread's last event before that is checked
// alone, and so is the one after it, which has two faults.
TEST(SalvageTest, IdsOfMarkedEventsAreCheckedToo) {
  const std::string bytes = Assemble(
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=100 size=auto\nProcStatus dt=1 p=1 pstatus=1\n"
      "GoStatus dt=1 g=1 m=1 gstatus=2\nGoCreate dt=1 new_g=2 new_stack=0 stack=0\n"
      "EventBatch gen=1 m=1 time=50 size=auto\nGoCreate dt=1 new_g=2 new_stack=98 stack=99\n");
  for (const ReadMode mode : kTolerantModes) {
    ReaderOptions options;
    options.mode = mode;
    std::vector<FaultId> faults;
    options.on_fault = [&](const Fault& fault) { faults.push_back(fault.id); };
    int backs = 0;
    options.on_time_back = [&](const Place&, int64_t) { ++backs; };
    Reader reader = *Reader::FromBytes(bytes, options);
    while (reader.Next() != nullptr) continue;
    EXPECT_EQ(backs, 1);
    EXPECT_EQ(reader.losses().unresolved, 2u);
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults.front(), FaultId::kGoExists);
    EXPECT_EQ(reader.losses().marked_events, 1u);
  }
}

// In a damaged trace, a P may have the id that means no P, and is then found for events that no
// thread wrote. No state of it may be left after the model is reset.
TEST(SalvageTest, EventsWithoutAThreadKeepNoState) {
  std::string text = "Trace Go1.22\n";
  for (int gen = 1; gen <= 3; ++gen) {
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=0 time=1 size=auto\n",
                    "Frequency freq=1000000000\nEventBatch gen=", gen,
                    " m=1 time=1 size=auto\nProcStatus dt=1 p=18446744073709551615 pstatus=1\n",
                    "EventBatch gen=", gen, " m=18446744073709551615 time=5 size=auto\n",
                    "ProcStop dt=1\nProcStop dt=1\n");
  }
  for (const ReadMode mode : kTolerantModes) {
    const ReadResult result = ReadIn(Assemble(text), mode);
    EXPECT_GE(result.faults.size(), 3u);
    for (const Fault& fault : result.faults) EXPECT_NE(fault.id, FaultId::kProcUnknown);
  }
}

}  // namespace salvage_test
}  // namespace gotrace::internal
