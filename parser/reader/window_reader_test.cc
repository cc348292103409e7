#include "gotrace/window_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_kind.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace window_reader_test {

// The events of a trace by their places, which are different for all but kSync events, and their
// times.
using Events = std::vector<std::pair<uint64_t, int64_t>>;

struct Trace {
  explicit Trace(absl::string_view name) : bytes(ReadTestTrace(name)) {
    Reader reader = *Reader::FromBytes(bytes);
    EventTimes times;
    while (const Event* event = reader.Next()) {
      if (events.empty()) start = event->time();
      times.Add(*event);
      events.emplace_back(event->offset(), event->time());
      walls.push_back(times.WallTime(event->time()));
    }
  }

  const std::string bytes;
  Events events;
  std::vector<std::optional<absl::Time>> walls;
  int64_t start = 0;
};

Events Read(const Trace& trace, const WindowOptions& options, bool forkable) {
  std::unique_ptr<ByteSource> source =
      forkable ? *SourceFromBytes(trace.bytes)
               : *SourceFromStream(std::make_unique<PieceStream>(trace.bytes, 10'000));
  absl::StatusOr<WindowReader> reader = WindowReader::Open(std::move(source), options, {});
  EXPECT_TRUE(reader.ok()) << reader.status();
  Events events;
  while (const Event* event = reader->Next()) events.emplace_back(event->offset(), event->time());
  EXPECT_TRUE(reader->reader().status().ok()) << reader->reader().status();
  EXPECT_EQ(reader->trace_start(), trace.start);
  return events;
}

// Compares random windows with what a Reader returns of the whole trace.
TEST(WindowReader, ReturnsWhatIsInTheWindow) {
  std::mt19937_64 random(1);
  size_t with_wall = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const Trace trace(test.name);
    for (int i = 0; i < 4; ++i) {
      size_t first = random() % trace.events.size();
      size_t last = random() % trace.events.size();
      if (first > last) std::swap(first, last);
      WindowOptions options;
      EventFilter::Times times = {trace.events[first].second, trace.events[last].second};
      if (i == 1) {
        options.filter.since_start = {times.from - trace.start, times.to - trace.start};
      } else if (i >= 2 && trace.walls.back().has_value()) {
        // The clock of the generation that has the time decides.
        options.wall_from = trace.walls[first];
        options.wall_to = trace.walls[last];
        ++with_wall;
      } else {
        options.filter.times = times;
      }
      Events expected;
      for (size_t n = 0; n < trace.events.size(); ++n) {
        const bool is_in = options.has_wall_times() ? *trace.walls[n] >= *options.wall_from &&
                                                          *trace.walls[n] <= *options.wall_to
                                                    : times.Has(trace.events[n].second);
        if (is_in) expected.push_back(trace.events[n]);
      }
      EXPECT_TRUE(Read(trace, options, /*forkable=*/true) == expected) << i;
      EXPECT_TRUE(Read(trace, options, /*forkable=*/false) == expected) << i;

      // With whole generations, these events are among those that are read, which are consecutive.
      options.whole_generations = true;
      const Events whole = Read(trace, options, /*forkable=*/true);
      ASSERT_FALSE(whole.empty());
      const Events from_begin = Read(trace, options, /*forkable=*/false);
      ASSERT_LE(whole.size(), from_begin.size());
      EXPECT_TRUE(std::equal(whole.rbegin(), whole.rend(), from_begin.rbegin()));
      ASSERT_LE(from_begin.size(), trace.events.size());
      EXPECT_TRUE(std::equal(from_begin.begin(), from_begin.end(), trace.events.begin()));
      EXPECT_TRUE(std::includes(whole.begin(), whole.end(), expected.begin(), expected.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; }));
    }
  }
  EXPECT_GT(with_wall, 0u);
}

TEST(WindowReader, ForEachReturnsTheSameEvents) {
  const Trace trace("go1.27-gc.trace");
  WindowOptions options;
  options.filter.times = {trace.events[100].second, trace.events[900].second};
  Events events;
  WindowReader reader = *WindowReader::Open(*SourceFromBytes(trace.bytes), options, {});
  const absl::Status status = reader.ForEach(
      [&](const Event& event) { events.emplace_back(event.offset(), event.time()); });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(events.size(), 801u);
  EXPECT_TRUE(events == Read(trace, options, /*forkable=*/true));
}

TEST(WindowReader, SkipsGenerationsBeforeTheWindow) {
  const Trace trace("go1.27-gc.trace");
  WindowOptions options;
  options.filter.times.from = trace.events.back().second;
  options.whole_generations = true;
  const size_t skipped = Read(trace, options, /*forkable=*/true).size();
  EXPECT_LT(skipped, trace.events.size() / 2);
  options.from_beginning = true;
  EXPECT_EQ(Read(trace, options, /*forkable=*/true).size(), trace.events.size());
}

TEST(WindowReader, RefusesWallClockTimesOfTracesWithoutThem) {
  const std::string bytes = ReadTestTrace("go1.23-gc.trace");
  WindowOptions options;
  options.wall_to = absl::UnixEpoch();
  const absl::StatusOr<WindowReader> reader =
      WindowReader::Open(*SourceFromBytes(bytes), options, {});
  EXPECT_EQ(reader.status(),
            absl::FailedPreconditionError("the trace is of version 1.23, which has no wall-clock "
                                          "times (Go writes them since 1.25)"));
}

}  // namespace window_reader_test
}  // namespace gotrace::internal
