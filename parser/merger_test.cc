#include "parser/merger.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "parser/test_util.h"
#include "testdata/test_data.h"

namespace gotrace {
namespace {

// A frontier of all threads of a trace's first generation, each at its first event.
class Threads {
 public:
  explicit Threads(const std::string& trace) : trace_(trace) {
    for (const ThreadBatches& thread : trace_.generation->threads()) {
      auto cursor = std::make_unique<ThreadCursor>(*trace_.generation, thread,
                                                   ThreadCursor::Ahead{7, /*check_ids=*/true});
      if (cursor->Advance() == ThreadCursor::Step::kEvent) frontier.Insert(std::move(cursor));
    }
  }

 private:
  const FirstGeneration trace_;

 public:
  Frontier frontier;  // Of it.
};

// What an event is, and where.
using Event = std::tuple<uint64_t, int64_t, EventType>;
Event PartsOf(const DecodedEvent& event) { return {event.offset, event.time, event.type}; }

// The events in the order in which a heap gives them that is told of each of them.
std::vector<Event> MergedOneByOne(const std::string& trace) {
  Threads threads(trace);
  std::vector<Event> events;
  while (threads.frontier.size() > 0) {
    ThreadCursor& cursor = threads.frontier.cursor(0);
    events.push_back(PartsOf(cursor.event()));
    if (cursor.Advance() == ThreadCursor::Step::kEvent) {
      threads.frontier.Update(0);
    } else {
      threads.frontier.Remove(0);
    }
  }
  return events;
}

// Threads of which many events happen at the same time.
std::string TraceWithTies() {
  std::string text =
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n";
  for (int thread = 1; thread <= 9; ++thread) {
    absl::StrAppend(&text, "EventBatch gen=1 m=", thread, " time=9000 size=auto\n");
    for (int i = 0; i < 200; ++i) {
      absl::StrAppend(&text, "HeapAlloc dt=", (i * thread) % 3 / 2, " heapalloc_value=", i, "\n");
    }
  }
  return Assemble(text);
}

std::vector<Event> Merge(Merger* merger, size_t count, size_t place) {
  std::vector<DecodedEvent> room(count);
  const size_t found = merger->Merge(absl::MakeSpan(room), place);
  std::vector<Event> events;
  for (size_t i = 0; i < found; ++i) events.push_back(PartsOf(room[i]));
  return events;
}

TEST(MergerTest, GivesTheEventsInTheOrderOfTheFrontier) {
  for (const std::string& trace : {ReadTestTrace("go1.27-gc.trace"), TraceWithTies()}) {
    const std::vector<Event> expected = MergedOneByOne(trace);
    ASSERT_GT(expected.size(), 400u);
    Threads threads(trace);
    Merger merger(&threads.frontier, /*places=*/2, /*watches_time=*/false);
    std::vector<Event> found;
    std::mt19937_64 random(3);
    for (int block = 0; threads.frontier.size() > 0; ++block) {
      const std::vector<Event> events = Merge(&merger, 1 + random() % 100, block % 2);
      ASSERT_FALSE(events.empty());
      found.insert(found.end(), events.begin(), events.end());
    }
    EXPECT_TRUE(found == expected);
  }
}

TEST(MergerTest, GoesBackToAnyEventOfAnyBlock) {
  constexpr size_t kPlaces = 5;
  for (const std::string& trace : {ReadTestTrace("go1.27-gc.trace"), TraceWithTies()}) {
    const std::vector<Event> expected = MergedOneByOne(trace);
    Threads threads(trace);
    Merger merger(&threads.frontier, kPlaces, /*watches_time=*/false);
    std::mt19937_64 random(5);
    size_t merged = 0;
    for (int i = 0; i < 400; ++i) {
      size_t begins[kPlaces + 1] = {merged};
      for (size_t place = 0; place < kPlaces; ++place) {
        const std::vector<Event> events = Merge(&merger, random() % 60, place);
        ASSERT_LE(merged + events.size(), expected.size());
        ASSERT_TRUE(std::equal(events.begin(), events.end(), expected.begin() + merged));
        begins[place + 1] = merged += events.size();
      }
      const size_t back = random() % kPlaces;
      std::vector<DecodedEvent> scratch(random() % (begins[back + 1] - begins[back] + 1));
      merger.GoBack(back, absl::MakeSpan(scratch));
      merged = begins[back] + scratch.size();
    }
    // It went on all the way, and back from the end too.
    EXPECT_GT(merged, expected.size() * 9 / 10);
  }
}

// A trace of one thread with `events`.
std::string TraceOf(absl::string_view events) {
  return Assemble(
      absl::StrCat("Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\n"
                   "Frequency freq=1000000000\n"
                   "EventBatch gen=1 m=1 time=90 size=auto\n",
                   events));
}

size_t CountMerged(const std::string& trace, bool watches_time = false) {
  Threads threads(trace);
  Merger merger(&threads.frontier, 1, watches_time);
  return Merge(&merger, 100, 0).size();
}

TEST(MergerTest, StopsWhereAnEventNeedsAttention) {
  std::string trace = TraceOf("ProcStop dt=1\nProcStop dt=1\nProcStop dt=1\n");
  EXPECT_EQ(CountMerged(trace), 3u);
  // No event is of that type. It takes the one before it along.
  trace[trace.size() - 2] = static_cast<char>(0xff);
  EXPECT_EQ(CountMerged(trace), 1u);
  // No table has the stack.
  EXPECT_EQ(CountMerged(TraceOf("ProcStop dt=1\nGoDestroy dt=1\n"
                                "GoBlock dt=1 reason_string=0 stack=5\n")),
            2u);
  trace = TraceOf(
      "ProcStop dt=1\nProcStop dt=9\nEventBatch gen=1 m=1 time=95 size=auto\nProcStop dt=1\n");
  EXPECT_EQ(CountMerged(trace), 3u);
  EXPECT_EQ(CountMerged(trace, /*watches_time=*/true), 1u);
}

}  // namespace
}  // namespace gotrace
