#include "parser/order_ahead.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

#include "gtest/gtest.h"
#include "parser/event_builder.h"

namespace gotrace {
namespace {

// Finds events with the times 0, 1, 2, …, up to `end`, then 0 events at a time until `end` is
// moved.
struct Counter {
  std::atomic<int64_t> next = 0;
  std::atomic<int64_t> end = 0;
  std::thread::id finder;

  size_t Find(absl::Span<Event> room) {
    finder = std::this_thread::get_id();
    size_t count = 0;
    while (count < room.size() && next < end) {
      room[count++] = EventBuilder(EventType::kGoStart).Time(next++).Build();
    }
    return count;
  }
};

std::unique_ptr<OrderAhead> Start(Counter* counter) {
  return OrderAhead::Start([counter](absl::Span<Event> room) { return counter->Find(room); });
}

// Takes all blocks until the thread rests, and returns the time behind the last event.
int64_t TakeAll(OrderAhead* ahead, int64_t time) {
  for (absl::Span<const Event> block; !(block = ahead->Take()).empty();) {
    for (const Event& event : block) EXPECT_EQ(event.time(), time++);
  }
  return time;
}

TEST(OrderAheadTest, HandsOverAllEventsInOrder) {
  Counter counter;
  counter.end = 100'001;
  const auto ahead = Start(&counter);
  ahead->Resume();
  EXPECT_EQ(TakeAll(ahead.get(), 0), 100'001);
  EXPECT_NE(counter.finder, std::this_thread::get_id());
}

TEST(OrderAheadTest, RestsUntilItMayGoOn) {
  Counter counter;
  const auto ahead = Start(&counter);
  for (int64_t end = 1; end < 20'000; end = end * 3 + 1) {
    counter.end = end;
    ahead->Resume();
    EXPECT_EQ(TakeAll(ahead.get(), counter.next), end);
    EXPECT_TRUE(ahead->Take().empty());
  }
}

TEST(OrderAheadTest, DoesNotBeginByItself) {
  Counter counter;
  counter.end = 10;
  const auto ahead = Start(&counter);
  EXPECT_TRUE(ahead->Take().empty());
  EXPECT_EQ(counter.next, 0);
}

TEST(OrderAheadTest, IsNeverFarAhead) {
  Counter counter;
  counter.end = 200'000;
  const auto ahead = Start(&counter);
  ahead->Resume();
  int64_t most = 0;
  int64_t taken = 0;
  while (taken < counter.end) {
    taken += static_cast<int64_t>(ahead->Take().size());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    most = std::max(most, counter.next - taken);
  }
  EXPECT_LE(most, 16 * static_cast<int64_t>(OrderAhead::kBlockSize));
}

TEST(OrderAheadTest, MayEndAtAnyTime) {
  for (int taken = 0; taken < 40; ++taken) {
    Counter counter;
    counter.end = 1'000'000;
    const auto ahead = Start(&counter);
    if (taken > 0) ahead->Resume();
    for (int i = 0; i < taken; ++i) ahead->Take();
  }
}

TEST(OrderAheadTest, GivesWhatWasThrownToItsOwner) {
  int calls = 0;
  const auto ahead = OrderAhead::Start([&](absl::Span<Event> room) -> size_t {
    if (++calls == 3) throw std::bad_alloc();
    return room.size();
  });
  ahead->Resume();
  EXPECT_FALSE(ahead->Take().empty());
  EXPECT_FALSE(ahead->Take().empty());
  EXPECT_THROW(ahead->Take(), std::bad_alloc);
  EXPECT_TRUE(ahead->Take().empty());
}

}  // namespace
}  // namespace gotrace
