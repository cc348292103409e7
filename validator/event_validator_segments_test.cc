// Tests that validating a trace in segments gives the same results as validating it as a whole.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/trace_index.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "parser/reader/segment.h"
#include "testdata/test_data.h"
#include "testing/validated_cases.h"
#include "tracev2/text_form.h"
#include "validator/event_validator.h"

namespace gotrace::internal {
namespace event_validator_segments_test {

// An EventValidator and its findings.
struct Checked {
  std::vector<Finding> findings;
  EventValidator validator{{}, [this](Finding finding) { findings.push_back(std::move(finding)); }};

  void Read(Reader* reader) {
    for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
      const bool begins = block.front().kind() == EventKind::kSync;
      if (begins && reader->generation().number != generation) {
        generation = reader->generation().number;
        validator.BeginGeneration(generation);
      }
      validator.CheckAll(block);
    }
  }

  std::vector<std::string> Finish() {
    validator.Finish();
    std::vector<std::string> shown;
    for (const Finding& finding : findings) shown.push_back(ShowFinding(finding));
    return shown;
  }

  uint64_t generation = 0;
};

std::vector<std::string> CheckWhole(const std::string& bytes) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  Checked whole;
  whole.Read(&*reader);
  return whole.Finish();
}

// Returns the findings of reading `bytes` in segments of `size` generations. `*appended` counts the
// segments that were appended; the others are read again.
std::vector<std::string> CheckInSegments(const std::string& bytes, size_t size, int* appended,
                                         int* read_again) {
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
  const TraceIndex index = *TraceIndex::Build(*source);
  const auto offset = [&](size_t n) {
    return n < index.generations().size() ? index.generations()[n].offset : Segment::kToEnd;
  };
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  SegmentReader::ReadTo(&*reader, offset(size), 1);
  Checked first;
  first.Read(&*reader);
  for (size_t n = size; n < index.generations().size(); n += size) {
    absl::StatusOr<Reader> next_reader = SegmentReader::Open(
        source->Fork(offset(n)), *source, index,
        {.generation = n, .finds_tasks = false, .has_half_of_limits = true}, {});
    Checked next;
    next.validator.StartInMiddle();
    if (next_reader.ok()) {
      SegmentReader::ReadTo(&*next_reader, offset(n + size), 1);
      next.Read(&*next_reader);
    }
    const uint64_t events = first.validator.event_count();
    if (next_reader.ok() && SegmentReader::Follows(*next_reader, *reader) &&
        first.validator.Append(std::move(next.validator))) {
      EXPECT_TRUE(SegmentReader::Append(&*reader, *std::move(next_reader)));
      for (Finding& finding : next.findings) {
        finding.event_number += events;
        first.findings.push_back(std::move(finding));
      }
      first.generation = next.generation;
      ++*appended;
    } else {
      SegmentReader::ReadTo(&*reader, offset(n + size), 1);
      first.Read(&*reader);
      ++*read_again;
    }
  }
  return first.Finish();
}

TEST(ValidatorSegmentsTest, FindTheSameAsASingleSegment) {
  int appended = 0;
  int read_again = 0;
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    const std::vector<std::string> whole = CheckWhole(bytes);
    for (const size_t size : {1, 2, 5}) {
      EXPECT_EQ(CheckInSegments(bytes, size, &appended, &read_again), whole)
          << trace.name << " in segments of " << size;
    }
  }
  EXPECT_GT(appended, 100);
  // Traces of flight recorders lack the beginnings of tasks, and some goroutines end inside of
  // regions. Findings about those depend on the segment before.
  EXPECT_LT(read_again, appended / 3);
}

// The goroutine is gone once its region has ended, both in the second segment.
TEST(ValidatorSegmentsTest, EndsRegionsOfTheSegmentBefore) {
  const std::string bytes = *AssembleText(R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="step"
EventBatch gen=1 m=7 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=7 gstatus=2
UserRegionBegin dt=1 task=0 name_string=1 stack=0
EventBatch gen=2 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=2 m=0 time=1 size=auto
Strings
String id=1
	data="step"
EventBatch gen=2 m=7 time=200 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=7 gstatus=2
UserRegionEnd dt=1 task=0 name_string=1 stack=0
GoDestroy dt=1
)");
  int appended = 0;
  int read_again = 0;
  EXPECT_EQ(CheckInSegments(bytes, 1, &appended, &read_again), CheckWhole(bytes));
  EXPECT_EQ(appended, 1);
  EXPECT_EQ(read_again, 0);
}

std::string ReportOf(const std::string& bytes, size_t jobs) {
  ValidateOptions options;
  options.jobs = jobs;
  options.tuning.jobs_from_bytes = 0;
  options.max_per_check = 3;
  return ShowReport(ValidateTrace(*SourceFromBytes(bytes), options));
}

TEST(ValidatorSegmentsTest, ReportsDoNotDependOnCores) {
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    const std::string expected = ReportOf(bytes, 1);
    for (const size_t jobs : {2, 3, 8}) EXPECT_EQ(ReportOf(bytes, jobs), expected) << trace.name;
  }
}

TEST(ValidatorSegmentsTest, ReportsOfDamagedTracesDoNotDependOnCores) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  ASSERT_GT(TraceIndex::Build(**SourceFromBytes(bytes))->generations().size(), 2u);
  ForEachDamaged(bytes, 40, [](const std::string& damaged) {
    const std::string expected = ReportOf(damaged, 1);
    for (const size_t jobs : {2, 5}) EXPECT_EQ(ReportOf(damaged, jobs), expected);
  });
}

TEST(ValidatorSegmentsTest, ReportsOfCasesDoNotDependOnCores) {
  int cut = 0;
  ForEachCase([&](const std::string& name, const std::string& bytes) {
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(**SourceFromBytes(bytes));
    cut += index.ok() && CutIntoSegments(*index, 2, 0).size() > 1;
    EXPECT_EQ(ReportOf(bytes, 1), ReportOf(bytes, 2)) << name;
  });
  EXPECT_GT(cut, 30);
}

}  // namespace event_validator_segments_test
}  // namespace gotrace::internal
