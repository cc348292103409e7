#include "gotrace/trace_index.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/event/event_access.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace trace_index_test {

TEST(TraceIndexTest, HasWhatAReaderReports) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(**SourceFromBytes(bytes));
    ASSERT_TRUE(index.ok()) << index.status();
    Reader reader = *Reader::FromBytes(bytes);
    EXPECT_EQ(index->version(), reader.version());
    size_t n = 0;
    while (const Event* event = reader.Next()) {
      if (reader.event_count() == 1) {
        EXPECT_EQ(index->start_time(), event->time());
      }
      if (event->kind() != EventKind::kSync || EventAccess::Tables(*event) == nullptr) continue;
      ASSERT_LT(n, index->generations().size());
      const TraceIndex::Generation& entry = index->generations()[n++];
      const GenerationInfo& info = reader.generation();
      EXPECT_EQ(entry.number, info.number);
      EXPECT_EQ(entry.offset, info.begin_offset);
      EXPECT_EQ(entry.batches, info.batches);
      const std::optional<ClockSnapshot> snapshot = event->sync().clock_snapshot;
      ASSERT_EQ(entry.clock_snapshot.has_value(), snapshot.has_value());
      if (snapshot.has_value()) {
        EXPECT_EQ(entry.clock_snapshot->trace_time, snapshot->trace_time);
        EXPECT_EQ(entry.clock_snapshot->wall, snapshot->wall);
      }
      // Since Go 1.26 a byte marks the end of a generation. The time of the kSync event may have
      // been moved after that of the event before it.
      EXPECT_EQ(entry.offset + entry.size,
                info.end_offset + (reader.version() >= Version::kGo126 ? 1 : 0));
      EXPECT_LE(entry.first_time, event->time());
      EXPECT_LT(event->time() - entry.first_time, 10'000'000);
    }
    EXPECT_EQ(n, index->generations().size());
    // Finds the last generation that begins no later than the time.
    for (size_t i = 0; i < n; ++i) {
      const int64_t time = index->generations()[i].first_time;
      EXPECT_EQ(index->FindTime(time), i == 0 ? 0 : i - 1);
      EXPECT_EQ(index->FindTime(time - 1), i < 2 ? 0 : i - 2);
    }
  }
}

// Returns the faults that an index and a reader find in a trace, which must be the same, and how
// many generations the index has.
size_t CountWhole(absl::string_view bytes) {
  const absl::StatusOr<TraceIndex> index = TraceIndex::Build(**SourceFromBytes(bytes));
  EXPECT_TRUE(index.ok()) << index.status();
  if (!index.ok()) return 0;
  Reader reader = *Reader::FromBytes(bytes);
  while (reader.Next() != nullptr) {
  }
  if (!index->status().ok() && !reader.status().ok()) {
    EXPECT_EQ(FaultOf(index->status())->place.offset, FaultOf(reader.status())->place.offset);
  }
  return index->generations().size();
}

TEST(TraceIndexTest, HasTheWholeGenerationsOfACutTrace) {
  for (const char* const name :
       {"go1.24-gc.trace", "go1.25-annotations.trace", "go1.27-gc.trace"}) {
    SCOPED_TRACE(name);
    const std::string bytes = ReadTestTrace(name);
    const TraceIndex whole = *TraceIndex::Build(**SourceFromBytes(bytes));
    EXPECT_TRUE(whole.status().ok());
    for (size_t i = 0; i < whole.generations().size(); ++i) {
      const TraceIndex::Generation& generation = whole.generations()[i];
      const absl::string_view cut =
          absl::string_view(bytes).substr(0, generation.offset + generation.size / 2);
      EXPECT_EQ(CountWhole(cut), i);
      const std::unique_ptr<ByteSource> source = *SourceFromBytes(cut);
      const TraceIndex index = *TraceIndex::Build(*source);
      EXPECT_FALSE(index.status().ok());
      if (i < 2) continue;
      // The events of a whole generation can be read.
      Reader reader = *Reader::OpenAt(*source, index, i - 1);
      const Event* const sync = reader.Next();
      ASSERT_NE(sync, nullptr);
      EXPECT_EQ(sync->offset(), index.generations()[i - 1].offset);
    }
  }
}

TEST(TraceIndexTest, CanBeStopped) {
  const std::string whole = ReadTestTrace("go1.24-gc.trace");
  int calls_for_whole = 0;
  for (const size_t cut : {0, 100}) {
    const std::string bytes = whole.substr(0, whole.size() - cut);
    int calls = 0;
    const auto build = [&](int allowed) {
      calls = 0;
      return TraceIndex::Build(**SourceFromBytes(bytes), [&] { return calls++ < allowed; })
          .status();
    };
    EXPECT_TRUE(build(std::numeric_limits<int>::max()).ok());
    const int all = calls;
    // The cut takes the last batch, and all of a generation that is not whole is read.
    EXPECT_GT(all, calls_for_whole - 1);
    calls_for_whole = all;
    for (int allowed = 0; allowed < all; ++allowed) {
      EXPECT_EQ(build(allowed).code(), absl::StatusCode::kCancelled) << allowed;
      EXPECT_EQ(calls, allowed + 1);
    }
  }
}

// An object store has no file descriptor, and each request for a range takes long.
TEST(TraceIndexTest, ReadsRangesOfAnObject) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  std::vector<uint64_t> large;  // The offsets of requests for more than headers.
  size_t of_headers = 0;
  const auto read_at = [&](uint64_t offset, char* buffer, size_t size) -> absl::StatusOr<size_t> {
    const size_t count = bytes.copy(buffer, size, offset);
    if (size > 1000) {
      large.push_back(offset);
    } else {
      of_headers += count;
    }
    return count;
  };
  const std::unique_ptr<ByteSource> source = *SourceFromReadAt(read_at, bytes.size());
  const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_TRUE(large.empty());
  EXPECT_LT(of_headers, bytes.size() / 10);
  const absl::StatusOr<TraceIndex> expected = TraceIndex::Build(**SourceFromBytes(bytes));
  ASSERT_EQ(index->generations().size(), expected->generations().size());
  const size_t last = index->generations().size() - 1;
  EXPECT_EQ(index->generations()[last].offset, expected->generations()[last].offset);
  const Outcome found = ReadAll(Reader::OpenAt(*source, *index, last));
  const Outcome whole = ReadAll(Reader::FromBytes(bytes));
  ASSERT_TRUE(found.status.ok()) << found.status;
  ASSERT_LT(found.events.size(), whole.events.size());
  EXPECT_TRUE(std::equal(found.events.rbegin(), found.events.rend(), whole.events.rbegin()));
}

TEST(TraceIndexTest, FailsForAnythingElse) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const auto code = [](absl::string_view input) {
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(**SourceFromBytes(input));
    return index.ok() ? index->status().code() : index.status().code();
  };
  EXPECT_EQ(code(bytes), absl::StatusCode::kOk);
  EXPECT_FALSE(TraceIndex::Build(**SourceFromBytes("")).ok());
  EXPECT_EQ(FaultOf(TraceIndex::Build(**SourceFromBytes("not a trace")).status())->id,
            FaultId::kNotATrace);
  EXPECT_EQ(code(Zstd(bytes)), absl::StatusCode::kUnavailable);
  for (size_t cut = 1; cut < 200; ++cut) {
    EXPECT_EQ(code(absl::string_view(bytes).substr(0, bytes.size() - cut)),
              absl::StatusCode::kDataLoss);
  }
  constexpr char kGeneration[] = "EventBatch gen=%d m=0 time=%d size=auto\nFrequency freq=1000\n";
  const auto generation = [&](int number, int time) {
    char text[200];
    std::snprintf(text, sizeof(text), kGeneration, number, time);
    return std::string(text);
  };
  const std::string header = "Trace Go1.22\n";
  EXPECT_EQ(code(Assemble(header + generation(1, 5) + generation(2, 5))), absl::StatusCode::kOk);
  EXPECT_EQ(code(Assemble(header + generation(1, 5) + generation(3, 5))),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Assemble(header + generation(1, 5) + generation(2, 4))),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Assemble(header + "EventBatch gen=1 m=0 time=1 size=auto\n")),
            absl::StatusCode::kDataLoss);
}

}  // namespace trace_index_test
}  // namespace gotrace::internal
