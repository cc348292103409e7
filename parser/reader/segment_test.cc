#include "parser/reader/segment.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace segment_test {

std::vector<std::string> ReadOn(Reader* reader) {
  std::vector<std::string> events;
  while (const Event* event = reader->Next()) events.push_back(Describe(*event));
  return events;
}

void AppendTo(std::vector<std::string>* events, std::vector<std::string> more) {
  std::move(more.begin(), more.end(), std::back_inserter(*events));
}

enum class Result { kAppended, kReadAgain };

// Reads `bytes` in two segments, the second of which begins with generation `n`, and expects the
// same results as from one Reader.
Result ExpectSame(const std::string& bytes, size_t n, const ReaderOptions& options) {
  absl::StatusOr<Reader> whole = Reader::FromBytes(bytes, options);
  const std::vector<std::string> expected = ReadOn(&*whole);
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
  const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source);
  EXPECT_TRUE(index.ok()) << index.status();
  const uint64_t offset = index->generations()[n].offset;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  SegmentReader::ReadTo(&*reader, offset, /*jobs=*/1);
  std::vector<std::string> events = ReadOn(&*reader);
  absl::StatusOr<Reader> next =
      SegmentReader::Open(source->Fork(offset), *source, *index,
                          {.generation = n, .has_half_of_limits = true}, options);
  Result result = Result::kReadAgain;
  if (next.ok()) {
    std::vector<std::string> more = ReadOn(&*next);
    if (SegmentReader::Append(&*reader, *std::move(next))) {
      result = Result::kAppended;
      AppendTo(&events, std::move(more));
      EXPECT_TRUE(whole->status().ok()) << whole->status();
    }
  }
  SegmentReader::ReadTo(&*reader, Segment::kToEnd, /*jobs=*/1);
  AppendTo(&events, ReadOn(&*reader));
  EXPECT_EQ(events, expected);
  EXPECT_EQ(reader->event_count(), whole->event_count());
  EXPECT_EQ(reader->generation().end_offset, whole->generation().end_offset);
  EXPECT_EQ(FormatFault(FaultOf(reader->status()).value_or(Fault())),
            FormatFault(FaultOf(whole->status()).value_or(Fault())));
  return result;
}

TEST(SegmentTest, TwoSegmentsAreTheWholeTrace) {
  constexpr size_t kMaxCuts = 6;  // For each trace.
  size_t appended = 0;
  size_t read_again = 0;
  for (const TestTrace& trace : SomeTestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    const size_t generations = TraceIndex::Build(**SourceFromBytes(bytes))->generations().size();
    for (size_t n = 1; n < generations; n += generations / kMaxCuts + 1) {
      SCOPED_TRACE(testing::Message() << trace.name << " at generation " << n);
      ReaderOptions options;
      if (n % 2 == 0) options.mode = ReadMode::kCollect;
      ++(ExpectSame(bytes, n, options) == Result::kAppended ? appended : read_again);
    }
  }
  // In most traces the generations state everything that is needed.
  EXPECT_GT(appended, TestRounds(40));
  EXPECT_LT(read_again, appended / 10);
}

// Reads a trace in as many segments as it has generations. A fault of the joined reader must be the
// one that a single reader reports.
TEST(SegmentTest, AJoinedReaderContinuesLikeASingleOne) {
  for (const char* name : {"go1.22-gc.trace", "go1.26-gc.trace"}) {
    SCOPED_TRACE(name);
    std::string bytes = ReadTestTrace(name);
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(**SourceFromBytes(bytes));
    const size_t count = index->generations().size();
    ASSERT_GT(count, 3u);
    // The last generation begins with a thread's events, one of which has another value and is a
    // fault.
    bytes[bytes.size() - index->generations().back().size / 2] ^= 0x55;
    const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
    Reader reader = *Reader::FromBytes(bytes);
    SegmentReader::ReadTo(&reader, index->generations()[1].offset, 1);
    std::vector<std::string> events = ReadOn(&reader);
    size_t appended = 0;
    for (size_t n = 1; n + 1 < count; ++n) {
      const uint64_t end = index->generations()[n + 1].offset;
      absl::StatusOr<Reader> next =
          SegmentReader::Open(source->Fork(index->generations()[n].offset), *source, *index,
                              {.generation = n, .has_half_of_limits = true}, {});
      ASSERT_TRUE(next.ok()) << next.status();
      SegmentReader::ReadTo(&*next, end, 1);
      std::vector<std::string> more = ReadOn(&*next);
      if (SegmentReader::Append(&reader, *std::move(next))) {
        ++appended;
      } else {
        SegmentReader::ReadTo(&reader, end, 1);
        more = ReadOn(&reader);
      }
      AppendTo(&events, std::move(more));
    }
    SegmentReader::ReadTo(&reader, Segment::kToEnd, 1);
    AppendTo(&events, ReadOn(&reader));
    Reader whole = *Reader::FromBytes(bytes);
    EXPECT_EQ(events, ReadOn(&whole));
    EXPECT_EQ(FormatFault(FaultOf(reader.status()).value_or(Fault())),
              FormatFault(FaultOf(whole.status()).value_or(Fault())));
    EXPECT_GT(appended, 0u);
  }
}

TEST(SegmentTest, OpenAtReturnsTheRestOfATrace) {
  for (const TestTrace& trace : SomeTestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    Reader whole = *Reader::FromBytes(bytes);
    const std::vector<std::string> events = ReadOn(&whole);
    const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source);
    ASSERT_TRUE(index.ok()) << index.status();
    const size_t count = index->generations().size();
    for (size_t n = 0; n < count; n += count / 2 + 1) {
      absl::StatusOr<Reader> reader = Reader::OpenAt(*source, *index, n);
      ASSERT_TRUE(reader.ok()) << reader.status();
      const std::vector<std::string> rest = ReadOn(&*reader);
      EXPECT_TRUE(reader->status().ok()) << reader->status();
      ASSERT_LE(rest.size(), events.size());
      EXPECT_TRUE(std::equal(rest.begin(), rest.end(), events.end() - rest.size())) << n;
    }
    EXPECT_FALSE(Reader::OpenAt(*source, *index, count).ok());
  }
}

// Two generations that state everything in a few lines each.
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

Result ResultOf(const std::string& first, const std::string& second) {
  const std::string bytes = Assemble(first + second);
  return ExpectSame(bytes, 1, {});
}

TEST(SegmentTest, AppendsWhatIsStated) { EXPECT_EQ(ResultOf(kFirst, kSecond), Result::kAppended); }

std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return std::string(text).replace(place, from.size(), to);
}

// Each line of the second segment that states something about the first one must be right.
TEST(SegmentTest, AppendsNothingElse) {
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
    EXPECT_EQ(ResultOf(kFirst, Replaced(kSecond, from, to)), Result::kReadAgain);
  }
}

// An idle P that the first generation of the second segment does not mention existed before.
TEST(SegmentTest, AppendsIdlePs) {
  const std::string idle = "ProcStatus dt=1 p=1 pstatus=2\n";
  EXPECT_EQ(ResultOf(kFirst, Replaced(kSecond, idle, idle + "ProcStatus dt=1 p=3 pstatus=2\n")),
            Result::kReadAgain);
  constexpr char kThird[] = R"(EventBatch gen=3 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=3 m=7 time=300 size=auto
ProcStatus dt=1 p=0 pstatus=1
ProcStatus dt=1 p=1 pstatus=2
)";
  const auto became = [](const std::string& first, const std::string& third) {
    const std::string bytes =
        Assemble(first + Replaced(kSecond, "ProcStatus dt=1 p=1 pstatus=2\n", "") + third);
    return ExpectSame(bytes, 1, {});
  };
  EXPECT_EQ(became(kFirst, kThird), Result::kAppended);
  // The P must not be in a syscall, neither before nor now.
  EXPECT_EQ(became(Replaced(kFirst, "p=1 pstatus=2", "p=1 pstatus=4"), kThird), Result::kReadAgain);
  EXPECT_EQ(became(kFirst, Replaced(kThird, "p=1 pstatus=2", "p=1 pstatus=4")), Result::kReadAgain);
}

// A P that is stolen before its thread has an event was in a syscall of that thread.
TEST(SegmentTest, AppendsAStolenP) {
  const std::string first = std::string(kFirst) +
                            "EventBatch gen=1 m=9 time=120 size=auto\n"
                            "ProcStatus dt=1 p=5 pstatus=3\n";
  const std::string steals = "ProcStatus dt=1 p=5 pstatus=4\nProcSteal dt=1 p=5 p_seq=1 m=9\n";
  const std::string known = "GoStatus dt=1 g=3 m=9 gstatus=3\n";
  const auto became = [&](const std::string& added) {
    return ResultOf(first, Replaced(kSecond, known, added));
  };
  EXPECT_EQ(became(known + steals), Result::kAppended);
  // Something must state what the thread executes, for example its own first event.
  EXPECT_EQ(became(steals), Result::kReadAgain);
  const std::string second = Replaced(kSecond, known, steals);
  const std::string ends = "EventBatch gen=2 m=9 time=300 size=auto\n" + known;
  EXPECT_EQ(ResultOf(first, second + ends + "GoSyscallEndBlocked dt=1\n"), Result::kAppended);
  // If the thread's events come first, what they became might depend on the P.
  EXPECT_EQ(ResultOf(first, Replaced(second + ends, "m=9 time=300", "m=9 time=150")),
            Result::kReadAgain);
  // It must be that thread, the thread must be in a syscall, and the P must be stolen at once.
  EXPECT_EQ(became(known + Replaced(steals, "m=9", "m=12")), Result::kReadAgain);
  EXPECT_EQ(
      became(known + Replaced(steals, "pstatus=4\n", "pstatus=4\nGCMarkAssistActive dt=1 g=1\n")),
      Result::kReadAgain);
  EXPECT_EQ(ResultOf(Replaced(first, "p=5 pstatus=3", "p=5 pstatus=1"),
                     Replaced(kSecond, known, known + steals)),
            Result::kReadAgain);
  EXPECT_EQ(ResultOf(Replaced(first, "p=5", "p=6"), Replaced(kSecond, known, known + steals)),
            Result::kReadAgain);
}

// An id must refer to the same goroutine all the time.
TEST(SegmentTest, AppendsNothingThatExistedTwice) {
  // Before its status is stated.
  const std::string status = "GoStatus dt=1 g=2 m=18446744073709551615 gstatus=4\n";
  EXPECT_EQ(ResultOf(kFirst, Replaced(kSecond, status, "") +
                                 "EventBatch gen=2 m=10 time=150 size=auto\n"
                                 "GoCreateSyscall dt=1 new_g=2\nGoDestroySyscall dt=1\n" +
                                 status),
            Result::kReadAgain);
  // After it.
  const std::string second = kSecond;
  const size_t active = second.find("GCMarkAssistActive");
  ASSERT_NE(active, std::string::npos);
  EXPECT_EQ(ResultOf(kFirst, second.substr(0, active) +
                                 "GoDestroy dt=1\nGoCreate dt=1 new_g=1 new_stack=0 stack=0\n"
                                 "GCMarkAssistActive dt=1 g=1\n"),
            Result::kReadAgain);
}

// In later generations the second segment must already have met the thread.
TEST(SegmentTest, AppendsNothingOfAThreadThatItHasNotMet) {
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
    EXPECT_EQ(ExpectSame(bytes, 1, {}), is_known ? Result::kAppended : Result::kReadAgain);
  }
}

// The time of the last event of the first segment is assumed, too.
TEST(SegmentTest, AppendsWhatIsLater) {
  // By the clock, the second segment begins before the first one ends.
  EXPECT_EQ(ResultOf(kFirst, Replaced(kSecond, "m=7 time=200", "m=7 time=50")), Result::kAppended);
  // The first segment ends with two simultaneous events, so that the last one is made later.
  EXPECT_EQ(ResultOf(Replaced(kFirst, "UserRegionBegin dt=1", "UserRegionBegin dt=0"), kSecond),
            Result::kReadAgain);
}

std::vector<size_t> FirstOf(const std::vector<Segment>& segments) {
  std::vector<size_t> first;
  for (const Segment& segment : segments) first.push_back(segment.first);
  return first;
}

TEST(CutIntoSegmentsTest, CutsBetweenGenerationsNearestToEqualSizes) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const TraceIndex index = *TraceIndex::Build(**SourceFromBytes(bytes));
  const absl::Span<const TraceIndex::Generation> generations = index.generations();
  ASSERT_GT(generations.size(), 3u);
  const std::vector<Segment> halves = CutIntoSegments(index, 2, 1000);
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(halves[0].first, 0u);
  EXPECT_EQ(halves[0].end, generations[halves[1].first].offset);
  EXPECT_EQ(halves[1].end, Segment::kToEnd);
  const auto distance = [&](uint64_t offset) {
    return offset < bytes.size() / 2 ? bytes.size() / 2 - offset : offset - bytes.size() / 2;
  };
  for (size_t n = 1; n < generations.size(); ++n) {
    EXPECT_LE(distance(halves[0].end), distance(generations[n].offset) + kHeaderSize);
  }
}

TEST(CutIntoSegmentsTest, MakesNoSegmentTooSmallAndNoneTooMany) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const TraceIndex index = *TraceIndex::Build(**SourceFromBytes(bytes));
  EXPECT_EQ(FirstOf(CutIntoSegments(index, 1, 0)), std::vector<size_t>({0}));
  EXPECT_EQ(CutIntoSegments(index, 2, bytes.size() / 2 + 1).size(), 1u);
  for (size_t count = 2; count < 50; ++count) {
    const std::vector<Segment> segments = CutIntoSegments(index, count, 0);
    EXPECT_LE(segments.size(), std::min(count, index.generations().size()));
    EXPECT_TRUE(std::is_sorted(segments.begin(), segments.end(),
                               [](const auto& a, const auto& b) { return a.first <= b.first; }));
  }
  EXPECT_EQ(CutIntoSegments(index, 1000, 0).size(), index.generations().size());
  EXPECT_EQ(CutIntoSegments(TraceIndex(), 2, 0).size(), 1u);
}

}  // namespace segment_test
}  // namespace gotrace::internal
