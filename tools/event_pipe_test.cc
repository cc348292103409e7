#include "tools/event_pipe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "export/go_text.h"
#include "gtest/gtest.h"
#include "parser/generation_tables.h"
#include "parser/reader.h"
#include "testdata/test_data.h"
#include "tracev2/text_buffer.h"

namespace gotrace {
namespace {

// All events of a real trace of several generations.
Reader OpenTrace(ReaderOptions options = {}) {
  return *Reader::Open(TestFilePath("go1.27-gc.trace.zst"), std::move(options));
}

TEST(EventPipeTest, HandsOverAllEventsInOrderWithTheirTables) {
  TextBuffer expected;
  GoTextFormatter formatter;
  Reader alone = OpenTrace();
  while (const Event* event = alone.Next()) formatter.Append(*event, &expected);

  TextBuffer text;
  GoTextFormatter other_formatter;
  const std::unique_ptr<EventPipe> pipe = EventPipe::Start([&](absl::Span<const Event> events) {
    EXPECT_FALSE(events.empty());
    for (const Event& event : events) other_formatter.Append(event, &text);
    return true;
  });
  ReaderOptions options;
  options.on_generation_end = [&](const GenerationTables&) { pipe->Drain(); };
  Reader reader = OpenTrace(options);
  while (const Event* event = reader.Next()) EXPECT_TRUE(pipe->Add(*event));
  pipe->Drain();
  EXPECT_GT(reader.event_count(), 5'000u);
  EXPECT_TRUE(text.view() == expected.view());
}

TEST(EventPipeTest, UsesWhatWasAddedBeforeItEnds) {
  std::vector<size_t> sizes;
  std::thread::id user;
  {
    const std::unique_ptr<EventPipe> pipe = EventPipe::Start([&](absl::Span<const Event> events) {
      sizes.push_back(events.size());
      user = std::this_thread::get_id();
      return true;
    });
    EXPECT_TRUE(pipe->Add(Event()));
    EXPECT_TRUE(pipe->Add(Event()));
  }
  EXPECT_EQ(sizes, std::vector<size_t>{2});
  EXPECT_NE(user, std::this_thread::get_id());
}

TEST(EventPipeTest, EndsWithoutEvents) {
  EventPipe::Start([](absl::Span<const Event>) { return ADD_FAILURE(), true; })->Drain();
}

TEST(EventPipeTest, WaitsForAThreadThatIsFarBehind) {
  std::atomic<uint64_t> used = 0;
  uint64_t most = 0;
  const std::unique_ptr<EventPipe> pipe = EventPipe::Start([&](absl::Span<const Event> events) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    used += events.size();
    return true;
  });
  constexpr uint64_t kEvents = 100'000;
  for (uint64_t added = 1; added <= kEvents; ++added) {
    pipe->Add(Event());
    most = std::max(most, added - used);
  }
  pipe->Drain();
  EXPECT_EQ(used, kEvents);
  EXPECT_LE(most, 8192u);
}

TEST(EventPipeTest, TellsThatNoMoreIsWanted) {
  int calls = 0;
  const std::unique_ptr<EventPipe> pipe =
      EventPipe::Start([&](absl::Span<const Event>) { return ++calls < 2; });
  EXPECT_TRUE(pipe->Add(Event()));
  pipe->Drain();
  EXPECT_TRUE(pipe->Add(Event()));
  pipe->Drain();
  EXPECT_FALSE(pipe->Add(Event()));
  pipe->Drain();
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace gotrace
