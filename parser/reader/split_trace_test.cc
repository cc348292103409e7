#include "parser/reader/split_trace.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace {

// Every place where `bytes` can be split, or some of many.
std::vector<SplitTrace> SomeSplits(const std::string& bytes) {
  constexpr size_t kMost = 6;
  std::vector<SplitTrace> all = SplitTrace::FindAll(**SourceFromBytes(bytes));
  std::vector<SplitTrace> some;
  for (size_t i = 0; i < std::min(all.size(), kMost); ++i) {
    some.push_back(all[i * all.size() / std::min(all.size(), kMost)]);
  }
  return some;
}

std::vector<std::string> ReadOn(Reader* reader) {
  std::vector<std::string> events;
  while (const Event* event = reader->Next()) {
    events.push_back(DescribeInHalf(*event));
  }
  return events;
}

// What becomes of reading the halves.
enum class Became { kContinues, kGoesOn };

// Reads `bytes`, split, and expects what one Reader gives of all, however that is had.
Became ExpectSame(const std::string& bytes, const SplitTrace& split, const ReaderOptions& options) {
  absl::StatusOr<Reader> whole = Reader::FromBytes(bytes, options);
  const std::vector<std::string> expected = ReadOn(&*whole);
  absl::StatusOr<Reader> first = Reader::FromBytes(bytes, options);
  split.Stop(&*first);
  const std::vector<std::string> before = ReadOn(&*first);
  std::vector<std::string> events = before;
  absl::StatusOr<Reader> second = split.OpenSecond(options);
  if (second.ok()) {
    const std::vector<std::string> behind = ReadOn(&*second);
    if (SplitTrace::Continues(*second, *first)) {
      events.insert(events.end(), behind.begin(), behind.end());
      EXPECT_TRUE(events == expected);
      EXPECT_EQ(first->event_count() + second->event_count(), whole->event_count());
      EXPECT_TRUE(whole->status().ok()) << whole->status();
      EXPECT_EQ(second->generation().end_offset, whole->generation().end_offset);
      return Became::kContinues;
    }
  }
  SplitTrace::GoOn(&*first, 1);
  const std::vector<std::string> behind = ReadOn(&*first);
  events.insert(events.end(), behind.begin(), behind.end());
  EXPECT_TRUE(events == expected);
  EXPECT_EQ(FormatFault(FaultOf(first->status()).value_or(Fault())),
            FormatFault(FaultOf(whole->status()).value_or(Fault())));
  return Became::kGoesOn;
}

TEST(SplitTraceTest, HalvesAreTheWhole) {
  int continued = 0;
  int went_on = 0;
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    for (const SplitTrace& split : SomeSplits(bytes)) {
      SCOPED_TRACE(testing::Message() << trace.name << " at " << split.offset());
      ReaderOptions options;
      if (split.offset() % 2 == 0) options.mode = ReadMode::kCollect;
      ++(ExpectSame(bytes, split, options) == Became::kContinues ? continued : went_on);
    }
  }
  // Of few traces the runtime does not tell enough.
  EXPECT_GT(continued, 40);
  EXPECT_LT(went_on, continued / 10);
}

// Two generations that tell all there is in a few lines each.
constexpr char kFirst[] = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="reason"
String id=2
	data="task"
EventBatch gen=1 m=7 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
ProcStatus dt=1 p=1 pstatus=2
GoStatus dt=1 g=1 m=7 gstatus=2
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4
GoStatus dt=1 g=3 m=9 gstatus=3
GCActive dt=1 gc_seq=4
GCMarkAssistBegin dt=1 stack=0
UserTaskBegin dt=1 task=5 parent_task=0 name_string=2 stack=0
UserRegionBegin dt=1 task=5 name_string=2 stack=0
)";
constexpr char kSecond[] = R"(EventBatch gen=2 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=2 m=0 time=1 size=auto
Strings
String id=1
	data="task"
String id=2
	data="other"
EventBatch gen=2 m=7 time=200 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=7 gstatus=2
ProcStatus dt=1 p=1 pstatus=2
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4
GoStatus dt=1 g=3 m=9 gstatus=3
GCMarkAssistActive dt=1 g=1
GCActive dt=1 gc_seq=5
GCMarkAssistEnd dt=1
UserRegionEnd dt=1 task=5 name_string=1 stack=0
UserTaskEnd dt=1 task=5 stack=0
UserTaskBegin dt=1 task=6 parent_task=0 name_string=2 stack=0
GoBlock dt=1 reason_string=2 stack=0
)";

Became BecameOf(const std::string& first, const std::string& second) {
  const std::string bytes = Assemble(first + second);
  const std::vector<SplitTrace> splits = SplitTrace::FindAll(**SourceFromBytes(bytes));
  EXPECT_EQ(splits.size(), 1u);
  return ExpectSame(bytes, splits[0], {});
}

TEST(SplitTraceTest, SecondHalfContinuesWhatItTells) {
  EXPECT_EQ(BecameOf(kFirst, kSecond), Became::kContinues);
}

std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return std::string(text).replace(place, from.size(), to);
}

// Each line of the second half's that tells what came before has to be right.
TEST(SplitTraceTest, SecondHalfContinuesNothingElse) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"ProcStatus dt=1 p=0 pstatus=1\n", "ProcStatus dt=1 p=2 pstatus=1\n"},
      {"ProcStatus dt=1 p=1 pstatus=2", "ProcStatus dt=1 p=1 pstatus=4"},
      {"g=2 m=18446744073709551615 gstatus=4", "g=2 m=18446744073709551615 gstatus=1"},
      {"GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4\n", ""},
      {"g=3 m=9", "g=3 m=8"},
      {"GoStatus dt=1 g=3 m=9 gstatus=3\n", "GoCreate dt=1 new_g=3 new_stack=0 stack=0\n"},
      {"GCMarkAssistActive dt=1 g=1\n", ""},
      {"GCMarkAssistActive dt=1 g=1\nGCActive dt=1 gc_seq=5\nGCMarkAssistEnd dt=1\n",
       "GCMarkAssistBegin dt=1 stack=0\n"},
      {"GCMarkAssistEnd dt=1\n", "GCMarkAssistActive dt=1 g=2\n"},
      {"GCMarkAssistActive dt=1 g=1\n",
       "GCMarkAssistBegin dt=1 stack=0\nGCMarkAssistEnd dt=1\nGCMarkAssistActive dt=1 g=1\n"},
      {"gc_seq=5", "gc_seq=6"},
      {"GCActive dt=1 gc_seq=5", "GCBegin dt=1 gc_seq=5 stack=0"},
      {"UserRegionEnd dt=1 task=5 name_string=1", "UserRegionEnd dt=1 task=5 name_string=2"},
      {"UserRegionEnd dt=1 task=5", "UserRegionEnd dt=1 task=6"},
      {"UserTaskBegin dt=1 task=6", "UserTaskBegin dt=1 task=5"},
      {"gen=2 m=7 time=200", "gen=2 m=8 time=200"},
  };
  for (const auto& [from, to] : changes) {
    SCOPED_TRACE(from + " to " + to);
    EXPECT_EQ(BecameOf(kFirst, Replaced(kSecond, from, to)), Became::kGoesOn);
  }
}

// Of a P that is idle the first half may have told nothing, and of one that it told the second half
// may tell nothing at first.
TEST(SplitTraceTest, SecondHalfContinuesIdlePs) {
  const std::string idle = "ProcStatus dt=1 p=1 pstatus=2\n";
  EXPECT_EQ(BecameOf(kFirst, Replaced(kSecond, idle, idle + "ProcStatus dt=1 p=3 pstatus=2\n")),
            Became::kContinues);
  constexpr char kThird[] = R"(EventBatch gen=3 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=3 m=7 time=300 size=auto
ProcStatus dt=1 p=0 pstatus=1
ProcStatus dt=1 p=1 pstatus=2
)";
  const auto became = [](const std::string& first, const std::string& third) {
    const std::string bytes =
        Assemble(first + Replaced(kSecond, "ProcStatus dt=1 p=1 pstatus=2\n", "") + third);
    return ExpectSame(bytes, SplitTrace::FindAll(**SourceFromBytes(bytes))[0], {});
  };
  EXPECT_EQ(became(kFirst, kThird), Became::kContinues);
  // Neither in a syscall before, nor by now.
  EXPECT_EQ(became(Replaced(kFirst, "p=1 pstatus=2", "p=1 pstatus=4"), kThird), Became::kGoesOn);
  EXPECT_EQ(became(kFirst, Replaced(kThird, "p=1 pstatus=2", "p=1 pstatus=4")), Became::kGoesOn);
}

// A P that is stolen before its thread told anything again was in a syscall there.
TEST(SplitTraceTest, SecondHalfContinuesAStolenP) {
  const std::string first = std::string(kFirst) +
                            "EventBatch gen=1 m=9 time=120 size=auto\n"
                            "ProcStatus dt=1 p=5 pstatus=3\n";
  const std::string steals = "ProcStatus dt=1 p=5 pstatus=4\nProcSteal dt=1 p=5 p_seq=1 m=9\n";
  const std::string known = "GoStatus dt=1 g=3 m=9 gstatus=3\n";
  const auto became = [&](const std::string& added) {
    return BecameOf(first, Replaced(kSecond, known, added));
  };
  EXPECT_EQ(became(known + steals), Became::kContinues);
  // Something must tell what the thread executes, as its own first event may.
  EXPECT_EQ(became(steals), Became::kGoesOn);
  const std::string second = Replaced(kSecond, known, steals);
  const std::string ends = "EventBatch gen=2 m=9 time=300 size=auto\n" + known;
  EXPECT_EQ(BecameOf(first, second + ends + "GoSyscallEndBlocked dt=1\n"), Became::kContinues);
  // Where the thread's events come before, what became of them might rest on the P.
  EXPECT_EQ(BecameOf(first, Replaced(second + ends, "m=9 time=300", "m=9 time=150")),
            Became::kGoesOn);
  // It must be that thread, it must be in a syscall, and it must be stolen at once.
  EXPECT_EQ(became(known + Replaced(steals, "m=9", "m=12")), Became::kGoesOn);
  EXPECT_EQ(
      became(known + Replaced(steals, "pstatus=4\n", "pstatus=4\nGCMarkAssistActive dt=1 g=1\n")),
      Became::kGoesOn);
  EXPECT_EQ(BecameOf(Replaced(first, "p=5 pstatus=3", "p=5 pstatus=1"),
                     Replaced(kSecond, known, known + steals)),
            Became::kGoesOn);
  EXPECT_EQ(BecameOf(Replaced(first, "p=5", "p=6"), Replaced(kSecond, known, known + steals)),
            Became::kGoesOn);
}

// What an id names must be the same all the time.
TEST(SplitTraceTest, SecondHalfContinuesNothingThatExistedTwice) {
  // Before its status is told.
  const std::string status = "GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4\n";
  EXPECT_EQ(BecameOf(kFirst, Replaced(kSecond, status, "") +
                                 "EventBatch gen=2 m=10 time=150 size=auto\n"
                                 "GoCreateSyscall dt=1 new_g=2\nGoDestroySyscall dt=1\n" +
                                 status),
            Became::kGoesOn);
  // Behind it.
  const std::string second = kSecond;
  const size_t active = second.find("GCMarkAssistActive");
  ASSERT_NE(active, std::string::npos);
  EXPECT_EQ(BecameOf(kFirst, second.substr(0, active) +
                                 "GoDestroy dt=1\nGoCreate dt=1 new_g=1 new_stack=0 stack=0\n"
                                 "GCMarkAssistActive dt=1 g=1\n"),
            Became::kGoesOn);
}

// In a later generation than its first, the second half must have seen the thread.
TEST(SplitTraceTest, SecondHalfContinuesNothingOfAThreadThatItDoesNotKnow) {
  const std::string first = std::string(kFirst) +
                            "EventBatch gen=1 m=11 time=120 size=auto\n"
                            "ProcStatus dt=1 p=5 pstatus=2\n";
  constexpr char kThird[] = R"(EventBatch gen=3 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=3 m=7 time=300 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=18446744073709551615 gstatus=4
GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4
GoStatus dt=1 g=3 m=9 gstatus=3
)";
  for (const bool is_known : {true, false}) {
    const std::string third = is_known ? kThird : Replaced(kThird, "g=3 m=9", "g=3 m=11");
    const std::string bytes = Assemble(first + kSecond + third);
    const std::vector<SplitTrace> splits = SplitTrace::FindAll(**SourceFromBytes(bytes));
    ASSERT_EQ(splits.size(), 2u);
    EXPECT_EQ(ExpectSame(bytes, splits[0], {}), is_known ? Became::kContinues : Became::kGoesOn);
  }
}

// What is taken for granted is also how late the first half's last event is.
TEST(SplitTraceTest, TimesGoOn) {
  // Before the end of the first half, by the clock.
  EXPECT_EQ(BecameOf(kFirst, Replaced(kSecond, "m=7 time=200", "m=7 time=50")), Became::kContinues);
  // Two events at once at its end: the last one is made later.
  EXPECT_EQ(BecameOf(Replaced(kFirst, "UserRegionBegin dt=1", "UserRegionBegin dt=0"), kSecond),
            Became::kGoesOn);
}

TEST(SplitTraceTest, IsInTheMiddle) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const std::vector<SplitTrace> all = SplitTrace::FindAll(**SourceFromBytes(bytes));
  ASSERT_GT(all.size(), 2u);
  const std::optional<SplitTrace> middle = SplitTrace::Find(**SourceFromBytes(bytes), 1000);
  ASSERT_TRUE(middle.has_value());
  const auto distance = [&](const SplitTrace& split) {
    const uint64_t half = bytes.size() / 2;
    return std::max<uint64_t>(split.offset(), half) - std::min<uint64_t>(split.offset(), half);
  };
  for (const SplitTrace& split : all) EXPECT_LE(distance(*middle), distance(split));
  EXPECT_FALSE(SplitTrace::Find(**SourceFromBytes(bytes), bytes.size() / 2 + 1).has_value());
}

TEST(SplitTraceTest, NothingElseCanBeSplit) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const auto places = [](const std::string& input) {
    return SplitTrace::FindAll(**SourceFromBytes(input)).size();
  };
  EXPECT_GT(places(bytes), 0u);
  EXPECT_EQ(places(""), 0u);
  EXPECT_EQ(places("no trace"), 0u);
  EXPECT_EQ(places(bytes.substr(0, bytes.size() - 1)), 0u);
  EXPECT_EQ(places(Zstd(bytes)), 0u);
  EXPECT_EQ(places(Assemble(kFirst)), 0u);
}

}  // namespace
}  // namespace gotrace::internal
