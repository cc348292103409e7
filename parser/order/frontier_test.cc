#include "parser/order/frontier.h"

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/internal/event_spec.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace frontier_test {

// Builds a generation, batch by batch, whose clock ticks in nanoseconds.
class GenerationBuilder {
 public:
  explicit GenerationBuilder(uint64_t frequency = 1000000000) {
    generation_.set_number(9);
    Add(ThreadId::kNone, 1, Wire(EventType::kFrequency, {frequency}));
  }

  // Adds a batch and returns the offset of its payload.
  uint64_t Add(ThreadId thread, uint64_t time, std::string payload) {
    payloads_.push_back(std::move(payload));
    const Batch batch = MakeBatch(payloads_.back(), offset_, thread, time);
    offset_ += kTestHeaderSize + batch.payload.size();
    EXPECT_TRUE(generation_.Add(batch, Version::kGo122).ok());
    return batch.payload_offset;
  }

  const Generation& generation() const { return generation_; }

 private:
  Generation generation_;
  std::deque<std::string> payloads_;
  uint64_t offset_ = 16;
};

std::string Events(std::initializer_list<uint64_t> deltas) {
  std::string payload;
  for (const uint64_t delta : deltas) payload += Wire(EventType::kProcStop, {delta});
  return payload;
}

using Step = ThreadCursor::Step;

// The time of a batch and a difference that add up to the latest possible time. Each of them has an
// exact representation as a floating-point number of nanoseconds.
constexpr uint64_t kLatestTicks = (uint64_t{1} << 63) - 1024;
constexpr uint64_t kLatestRest = 1023;

TEST(ThreadCursor, IteratesOverTheBatchesOfItsThread) {
  GenerationBuilder builder;
  const uint64_t first = builder.Add({5}, 1000, Events({0, 3}));
  builder.Add({6}, 7000, Events({1}));
  builder.Add({5}, 5000, "");
  const uint64_t second = builder.Add({5}, 500, Wire(EventType::kGoStart, {2, 8, 9}));
  const Generation& generation = builder.generation();
  ASSERT_EQ(generation.threads().size(), 2u);
  ThreadCursor cursor(generation, generation.threads()[0]);
  EXPECT_EQ(cursor.thread(), ThreadId{5});

  ASSERT_EQ(cursor.Advance(), Step::kEvent);
  EXPECT_EQ(cursor.time(), 1000);
  EXPECT_EQ(cursor.offset(), first);
  ASSERT_EQ(cursor.Advance(), Step::kEvent);
  EXPECT_EQ(cursor.time(), 1003);
  EXPECT_EQ(cursor.offset(), first + 2);
  ASSERT_EQ(cursor.Advance(), Step::kEvent);
  EXPECT_EQ(cursor.time(), 502);
  EXPECT_EQ(cursor.offset(), second);
  EXPECT_EQ(cursor.event().type, EventType::kGoStart);
  EXPECT_EQ(cursor.event().args[0], 8u);
  EXPECT_EQ(cursor.event().args[1], 9u);
  const Place place = cursor.place();
  EXPECT_EQ(place.offset, second);
  EXPECT_EQ(place.batch_offset, second - kTestHeaderSize);
  EXPECT_EQ(place.generation, 9u);
  EXPECT_EQ(place.thread, ThreadId{5});
  EXPECT_EQ(place.event, EventType::kGoStart);
  EXPECT_EQ(place.time, 502);
  EXPECT_EQ(cursor.Advance(), Step::kEnd);
  EXPECT_EQ(cursor.Advance(), Step::kEnd);
}

TEST(ThreadCursor, AThreadWithoutEventsEndsAtOnce) {
  GenerationBuilder builder;
  builder.Add({5}, 1000, "");
  builder.Add({5}, 1000, "");
  ThreadCursor cursor(builder.generation(), builder.generation().threads()[0]);
  EXPECT_EQ(cursor.Advance(), Step::kEnd);
}

TEST(ThreadCursor, EachDifferenceIsRoundedOnItsOwn) {
  // Each of the three ticks is a third of a nanosecond and rounds to 0.
  GenerationBuilder builder(3000000000);
  builder.Add({5}, 3000, Events({1, 1, 1, 3, 4, 4}));
  ThreadCursor cursor(builder.generation(), builder.generation().threads()[0]);
  for (const int64_t time : {1000, 1000, 1000, 1001, 1002, 1003}) {
    ASSERT_EQ(cursor.Advance(), Step::kEvent);
    EXPECT_EQ(cursor.time(), time);
  }
}

TEST(ThreadCursor, TimeZeroRestartsFromTheBatchTime) {
  // The first difference makes the time exactly 0, so the next event counts from the time of the
  // batch again.
  GenerationBuilder builder;
  const int64_t base = int64_t{1} << 62;
  builder.Add({5}, base, Events({uint64_t{1} << 62, uint64_t{1} << 62, uint64_t{1} << 62, 7, 1}));
  ThreadCursor cursor(builder.generation(), builder.generation().threads()[0]);
  for (const int64_t time : {INT64_MIN, -base, int64_t{0}, base + 7, base + 8}) {
    ASSERT_EQ(cursor.Advance(), Step::kEvent);
    EXPECT_EQ(cursor.time(), time);
  }
}

TEST(ThreadCursor, AnEventBeforeAnEarlierOneIsNotPlain) {
  constexpr uint64_t kHalf = uint64_t{1} << 62;
  struct {
    uint64_t begin;
    std::initializer_list<uint64_t> deltas;
  } const cases[] = {
      {1000, {1, kHalf, kHalf, 1, 1}},                // Times near 2^63.
      {1000, {1, 1, kHalf, kHalf, kHalf, kHalf, 1}},  // Times that wrap around twice.
      {2 * kHalf - 4096, {1, 1, 5000, 1}},            // Times that wrap around in short steps.
      {kHalf, {kHalf, kHalf, kHalf, kHalf, 7, 1}},    // Times that pass through 0.
  };
  for (const auto& [begin, deltas] : cases) {
    GenerationBuilder builder;
    builder.Add({5}, begin, Events(deltas));
    ThreadCursor cursor(builder.generation(), builder.generation().threads()[0],
                        {16, /*check_ids=*/true});
    bool plain = false;
    bool falls = false;
    for (int64_t last = INT64_MIN; cursor.Advance() == Step::kEvent; last = cursor.time()) {
      falls |= cursor.time() < last;
      ASSERT_FALSE(plain && cursor.time() < last);
      plain = cursor.IsKnownPlain();
    }
    EXPECT_TRUE(falls);
  }
}

void ExpectCursorFault(const std::string& bad, FaultId id, uint64_t position) {
  GenerationBuilder builder;
  const uint64_t offset = builder.Add({5}, 1000, Events({1}) + bad);
  ThreadCursor cursor(builder.generation(), builder.generation().threads()[0]);
  ASSERT_EQ(cursor.Advance(), Step::kEvent);
  ASSERT_EQ(cursor.Advance(), Step::kFault);
  const Fault fault = cursor.fault();
  EXPECT_EQ(FaultName(fault.id), FaultName(id));
  EXPECT_EQ(fault.place.offset, offset + 2 + position);
  EXPECT_EQ(fault.place.batch_offset, offset - kTestHeaderSize);
  EXPECT_EQ(fault.place.thread, ThreadId{5});
  EXPECT_EQ(fault.place.generation, 9u);
  // A byte that is not a type names no event.
  const EventType type = static_cast<EventType>(bad[0]);
  EXPECT_EQ(fault.place.event, FindEventSpec(type) == nullptr ? EventType::kNone : type);
  EXPECT_FALSE(fault.place.time.has_value());
}

TEST(ThreadCursor, FaultsHaveTheirPlaces) {
  ExpectCursorFault(std::string(1, '\0'), FaultId::kEventType, 0);
  ExpectCursorFault("\x35", FaultId::kEventType, 0);
  ExpectCursorFault("\xff", FaultId::kEventType, 0);
  ExpectCursorFault("\x02", FaultId::kEventNotTimed, 0);
  ExpectCursorFault("\x34", FaultId::kEventNotTimed, 0);
  ExpectCursorFault(Wire(EventType::kGoStart), FaultId::kEventVarint, 1);
  ExpectCursorFault(Wire(EventType::kGoStart, {1}) + "\x80", FaultId::kEventVarint, 2);
  ExpectCursorFault(Wire(EventType::kGoStart, {300, 1}) + std::string(10, '\xff'),
                    FaultId::kEventVarint, 4);
}

TEST(ThreadCursor, CountsWhatIsSkipped) {
  GenerationBuilder builder;
  builder.Add({5}, 1000, Events({1, 2, 3}));
  builder.Add({6}, 1000, Events({1}));
  builder.Add({5}, 2000, "");
  builder.Add({5}, 3000, Events({1, 2}) + std::string(3, '\0'));
  builder.Add({5}, 4000, Events({300}));
  ThreadCursor cursor(builder.generation(), builder.generation().threads()[0]);
  ASSERT_EQ(cursor.Advance(), Step::kEvent);
  ASSERT_EQ(cursor.Advance(), Step::kEvent);
  const ThreadCursor::Rest rest = cursor.SkipAll();
  EXPECT_EQ(rest.batches, 3u);
  EXPECT_EQ(rest.bytes, 2 * 2 + (2 * 2 + 3) + 3u);
  EXPECT_EQ(rest.events, 2 + 2 + 1u);
  EXPECT_EQ(cursor.Advance(), Step::kEnd);
}

TEST(ThreadCursor, CountsWhatIsSkippedAfterAFault) {
  GenerationBuilder builder;
  builder.Add({5}, 1000, Events({1}) + '\0' + Events({1, 2}));
  builder.Add({5}, 2000, Events({1}));
  ThreadCursor cursor(builder.generation(), builder.generation().threads()[0]);
  ASSERT_EQ(cursor.Advance(), Step::kEvent);
  ASSERT_EQ(cursor.Advance(), Step::kFault);
  const ThreadCursor::Rest rest = cursor.SkipAll();
  EXPECT_EQ(rest.batches, 2u);
  EXPECT_EQ(rest.bytes, 1 + 2 * 2 + 2u);
  EXPECT_EQ(rest.events, 1u);
}

// The heap as described in FORMAT.md §9.4, over pairs of a time and a thread.
class PlainHeap {
 public:
  using Node = std::pair<int64_t, int64_t>;

  void Insert(Node node) {
    nodes_.push_back(node);
    Up(nodes_.size() - 1);
  }
  void Update(size_t i, int64_t time) {
    nodes_[i].first = time;
    if (!Up(i)) Down(i);
  }
  void Remove(size_t i) {
    for (; i > 0; i = (i - 1) / 2) std::swap(nodes_[i], nodes_[(i - 1) / 2]);
    nodes_[0] = nodes_.back();
    nodes_.pop_back();
    if (!nodes_.empty()) Down(0);
  }
  // Insertion sort, which is stable.
  void Sort() {
    for (size_t i = 1; i < nodes_.size(); ++i) {
      for (size_t j = i; j > 0 && nodes_[j].first < nodes_[j - 1].first; --j) {
        std::swap(nodes_[j], nodes_[j - 1]);
      }
    }
  }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  bool Up(size_t i) {
    bool moved = false;
    while (i > 0 && nodes_[(i - 1) / 2].first > nodes_[i].first) {
      std::swap(nodes_[i], nodes_[(i - 1) / 2]);
      i = (i - 1) / 2;
      moved = true;
    }
    return moved;
  }
  void Down(size_t i) {
    const size_t left = 2 * i + 1, right = 2 * i + 2;
    const auto time = [&](size_t node) {
      return node < nodes_.size() ? nodes_[node].first : INT64_MAX;
    };
    size_t least = i;
    if (left < nodes_.size() && time(left) < time(i)) least = left;
    if (right < nodes_.size() && time(right) < time(least)) least = right;
    if (least == i) return;
    std::swap(nodes_[i], nodes_[least]);
    Down(least);
  }

  std::vector<Node> nodes_;
};

void ExpectSame(const Frontier& frontier, const PlainHeap& heap) {
  ASSERT_EQ(frontier.size(), heap.nodes().size());
  ASSERT_EQ(frontier.empty(), heap.nodes().empty());
  for (size_t i = 0; i < frontier.size(); ++i) {
    ASSERT_EQ(frontier.time(i), heap.nodes()[i].first) << i;
    ASSERT_EQ(frontier.cursor(i).thread().value, heap.nodes()[i].second) << i;
    ASSERT_EQ(frontier.cursor(i).time(), frontier.time(i)) << i;
  }
}

// Runs threads with `count` events each, at times below `range`. Every batch has one event, so that
// times go up and down; if `range` is small, many times are equal.
void RunRandomly(uint32_t seed, int threads, int count, uint64_t range, uint32_t sorts) {
  std::mt19937_64 random(seed);
  GenerationBuilder builder;
  for (int i = 0; i < threads * count; ++i) {
    builder.Add({100 + i % threads}, 1 + random() % range, Events({0}));
  }
  Frontier frontier;
  PlainHeap heap;
  const Generation& generation = builder.generation();
  size_t next_thread = 0;
  while (next_thread < generation.threads().size() || !frontier.empty()) {
    if (next_thread < generation.threads().size() && (frontier.empty() || random() % 3 == 0)) {
      auto cursor = std::make_unique<ThreadCursor>(generation, generation.threads()[next_thread++]);
      ASSERT_EQ(cursor->Advance(), Step::kEvent);
      heap.Insert({cursor->time(), cursor->thread().value});
      frontier.Insert(std::move(cursor));
    } else {
      if (random() % 8 < sorts) {
        frontier.Sort();
        heap.Sort();
        ExpectSame(frontier, heap);
      }
      const size_t index = random() % 2 == 0 ? 0 : random() % frontier.size();
      if (frontier.cursor(index).Advance() == Step::kEvent) {
        const int64_t time = frontier.cursor(index).time();
        frontier.Update(index);
        heap.Update(index, time);
      } else {
        frontier.Remove(index);
        heap.Remove(index);
      }
    }
    ExpectSame(frontier, heap);
  }
}

TEST(FrontierTest, IsTheHeapOfTheFormat) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    for (const uint64_t range : {uint64_t{1}, uint64_t{3}, uint64_t{10}, uint64_t{1} << 40}) {
      for (const int threads : {1, 2, 3, 7, 12, 40}) {
        RunRandomly(seed, threads, /*count=*/6, range, /*sorts=*/0);
        RunRandomly(seed, threads, /*count=*/6, range, /*sorts=*/3);
      }
    }
  }
}

// A frontier with a cursor at each time of `times`, each with one event. Thread ids are positions
// in `times`.
struct Filled {
  explicit Filled(const std::vector<uint64_t>& times) {
    for (size_t i = 0; i < times.size(); ++i) {
      builder.Add({static_cast<int64_t>(i)}, times[i], Events({0}));
    }
    for (const ThreadBatches& thread : builder.generation().threads()) {
      auto cursor = std::make_unique<ThreadCursor>(builder.generation(), thread);
      EXPECT_EQ(cursor->Advance(), Step::kEvent);
      frontier.Insert(std::move(cursor));
    }
  }
  std::vector<int64_t> threads() const {
    std::vector<int64_t> ids;
    for (size_t i = 0; i < frontier.size(); ++i) ids.push_back(frontier.cursor(i).thread().value);
    return ids;
  }
  GenerationBuilder builder;
  Frontier frontier;
};

TEST(FrontierTest, EqualTimesStayInOrderOfInsertion) {
  Filled filled({5, 5, 5, 5});
  EXPECT_EQ(filled.threads(), (std::vector<int64_t>{0, 1, 2, 3}));
  filled.frontier.Remove(0);
  // The last cursor moved to the root, and no child is earlier.
  EXPECT_EQ(filled.threads(), (std::vector<int64_t>{3, 1, 2}));
}

TEST(FrontierTest, RemovingFromWithinMovesThePathDown) {
  Filled filled({1, 2, 3, 4, 5, 6, 7});
  filled.frontier.Remove(3);
  // Cursor 4 moves up past 2 and 1 without comparing; then 7 replaces it at the root and sinks.
  EXPECT_EQ(filled.threads(), (std::vector<int64_t>{0, 1, 2, 6, 4, 5}));
}

TEST(FrontierTest, SortingIsStable) {
  Filled filled({3, 1, 3, 2, 1, 3, 2, 1});
  filled.frontier.Sort();
  std::vector<int64_t> times;
  for (size_t i = 0; i < filled.frontier.size(); ++i) times.push_back(filled.frontier.time(i));
  EXPECT_EQ(times, (std::vector<int64_t>{1, 1, 1, 2, 2, 3, 3, 3}));
}

TEST(FrontierTest, TheLatestPossibleTimeIsATime) {
  // The latest time is also the time of the padding after the heap's end.
  GenerationBuilder builder;
  for (int64_t thread = 1; thread <= 3; ++thread) {
    builder.Add({thread}, kLatestTicks, Events({kLatestRest, 0}));
  }
  builder.Add({4}, 1000, Events({1, 5}));
  Frontier frontier;
  EXPECT_EQ(frontier.size(), 0u);
  for (const ThreadBatches& thread : builder.generation().threads()) {
    auto cursor = std::make_unique<ThreadCursor>(builder.generation(), thread);
    ASSERT_EQ(cursor->Advance(), Step::kEvent);
    frontier.Insert(std::move(cursor));
    EXPECT_EQ(frontier.FirstUntil(), INT64_MAX);
  }
  std::vector<int64_t> threads;
  while (frontier.size() > 0) {
    ThreadCursor& first = frontier.cursor(0);
    threads.push_back(first.thread().value);
    if (first.Advance() == Step::kEvent) {
      frontier.Update(0);
    } else {
      frontier.Remove(0);
    }
  }
  EXPECT_EQ(threads.size(), 8u);
  EXPECT_EQ(threads[0], 4);
  EXPECT_EQ(threads[1], 4);
  EXPECT_EQ(std::count(threads.begin(), threads.end(), 2), 2);
  EXPECT_EQ(frontier.EarliestTime(), INT64_MAX);
}

TEST(FrontierTest, ClearEmptiesIt) {
  Filled filled({3, 1, 2});
  filled.frontier.Clear();
  EXPECT_TRUE(filled.frontier.empty());
  EXPECT_EQ(filled.frontier.size(), 0u);
}

}  // namespace frontier_test
}  // namespace gotrace::internal
