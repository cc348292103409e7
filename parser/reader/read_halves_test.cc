#include "gotrace/read_halves.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace {

// All that ReadHalves() gives of `bytes`.
struct Halves {
  explicit Halves(const std::string& bytes, size_t jobs = 2, uint64_t jobs_from_bytes = 0) {
    const std::thread::id caller = std::this_thread::get_id();
    ReaderOptions options;
    options.jobs = jobs;
    options.jobs_from_bytes = jobs_from_bytes;
    status = ReadHalves(
        *SourceFromBytes(bytes), options,
        [&](absl::Span<const Event> events) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          for (const Event& event : events) first.push_back(DescribeInHalf(event));
        },
        [&](absl::Span<const Event> events) {
          EXPECT_NE(std::this_thread::get_id(), caller);
          for (const Event& event : events) second.push_back(DescribeInHalf(event));
        },
        [&] {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          second.clear();
          dropped = true;
        });
  }

  std::vector<std::string> all() const {
    std::vector<std::string> events = first;
    events.insert(events.end(), second.begin(), second.end());
    return events;
  }

  std::vector<std::string> first;
  std::vector<std::string> second;
  bool dropped = false;
  absl::Status status;
};

std::vector<std::string> Whole(const std::string& bytes) {
  std::vector<std::string> events;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  while (const Event* event = reader->Next()) events.push_back(DescribeInHalf(*event));
  return events;
}

TEST(ReadHalvesTest, GivesAllEventsInOrder) {
  int in_halves = 0;
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    const Halves halves(bytes);
    EXPECT_TRUE(halves.status.ok()) << trace.name << ": " << halves.status;
    EXPECT_TRUE(halves.all() == Whole(bytes)) << trace.name;
    in_halves += !halves.second.empty();
  }
  EXPECT_GT(in_halves, 10);
}

TEST(ReadHalvesTest, DropsTheSecondHalfWhereEitherIsBroken) {
  const std::string sound = ReadTestTrace("go1.24-gc.trace");
  int broken = 0;
  for (size_t i = 0; i < 20; ++i) {
    std::string bytes = sound;
    bytes[100 + i * (bytes.size() - 100) / 20] ^= static_cast<char>(1 << i % 8);
    const Halves halves(bytes);
    const Outcome whole = ReadAll(Reader::FromBytes(bytes));
    EXPECT_EQ(halves.status.message(), whole.status.message()) << i;
    EXPECT_TRUE(halves.all() == Whole(bytes)) << i;
    if (whole.status.ok()) continue;
    ++broken;
    EXPECT_TRUE(halves.second.empty()) << i;
  }
  EXPECT_GE(broken, 8);
}

TEST(ReadHalvesTest, TheFirstTakesAllWhereNothingIsSplit) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const std::vector<std::string> whole = Whole(bytes);
  EXPECT_FALSE(Halves(bytes).second.empty());
  for (const Halves& halves :
       {Halves(bytes, /*jobs=*/1), Halves(bytes, 2, bytes.size()), Halves(Zstd(bytes))}) {
    EXPECT_TRUE(halves.status.ok()) << halves.status;
    EXPECT_TRUE(halves.first == whole);
    EXPECT_FALSE(halves.dropped);
  }
  EXPECT_FALSE(Halves("no trace").status.ok());
}

}  // namespace
}  // namespace gotrace::internal
