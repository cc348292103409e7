#include "gotrace/trace_info.h"

#include <numeric>
#include <string>

#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace trace_info_test {

TEST(TraceInfo, CountsAllOfEachTrace) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const TraceInfo info = ReadTraceInfo(*reader);
    EXPECT_TRUE(info.status.ok()) << info.status;
    EXPECT_EQ(info.version, reader->version());
    EXPECT_EQ(info.events, test.events);
    EXPECT_EQ(info.bytes, test.size);
    EXPECT_EQ(std::accumulate(info.by_kind.begin(), info.by_kind.end(), uint64_t{0}), info.events);
    uint64_t of_generations = 0;
    for (const TraceInfo::Generation& generation : info.generations) {
      of_generations += generation.events;
    }
    EXPECT_EQ(of_generations + 1, info.events);  // And the kSync event at the end.
    EXPECT_TRUE(info.has_times());
    EXPECT_GT(info.goroutines, 0u);
    EXPECT_GT(info.procs, 0u);
    EXPECT_GT(info.threads, 0u);
    EXPECT_EQ(info.wall_begin.has_value(), info.version >= Version::kGo125);

    const Footprint footprint = ReadFootprint(*SourceFromBytes(bytes));
    EXPECT_TRUE(footprint.status.ok()) << footprint.status;
    EXPECT_EQ(footprint.bytes, test.size);
    uint64_t sum = 0;
    uint64_t count = 0;
    for (const Footprint::Share& share : footprint.by_type) {
      sum += share.bytes;
      count += share.count;
    }
    EXPECT_EQ(sum + 16, test.size);  // The header is no event.
    EXPECT_EQ(count, footprint.events);
    EXPECT_GT(footprint.of(EventType::kEventBatch).count, 0u);
  }
}

TEST(TraceInfo, KeepsWhatComesBeforeAFault) {
  const std::string whole = ReadTestTrace("go1.27-generations.trace");
  const std::string bytes = whole.substr(0, whole.size() - 3);
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  const TraceInfo info = ReadTraceInfo(*reader);
  EXPECT_TRUE(FaultOf(info.status).has_value());
  EXPECT_GT(info.events, 0u);
  EXPECT_LE(info.bytes, bytes.size());
  const Footprint footprint = ReadFootprint(*SourceFromBytes(bytes));
  EXPECT_TRUE(FaultOf(footprint.status).has_value());
  EXPECT_GT(footprint.bytes, 0u);
  EXPECT_EQ(FaultOf(ReadFootprint(*SourceFromBytes("nothing")).status)->id, FaultId::kNotATrace);
}

TEST(TraceInfo, CountsTheBytesUpToAFault) {
  const std::string bytes = Assemble(
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=1 size=auto\nProcStop dt=1\n");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  const TraceInfo info = ReadTraceInfo(*reader);
  EXPECT_TRUE(FaultOf(info.status).has_value());
  EXPECT_EQ(info.bytes, bytes.size());
}

}  // namespace trace_info_test
}  // namespace gotrace::internal
