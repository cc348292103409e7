#include "parser/reader/work_ahead.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/event_builder.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/reader/reader_access.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace work_ahead_test {

// Finds events with the times 0, 1, 2, …, up to `end`, and then none until `end` is increased.
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

std::unique_ptr<WorkAhead> Start(Counter* counter) {
  return WorkAhead::Start([counter](absl::Span<Event> room) { return counter->Find(room); });
}

// Takes all blocks until the thread rests, and returns the time after the last event.
int64_t TakeAll(WorkAhead* ahead, int64_t time) {
  for (absl::Span<const Event> block; !(block = ahead->Take()).empty();) {
    for (const Event& event : block) EXPECT_EQ(event.time(), time++);
  }
  return time;
}

TEST(WorkAheadTest, HandsOverAllEventsInOrder) {
  Counter counter;
  counter.end = 100'001;
  const auto ahead = Start(&counter);
  ahead->Resume();
  EXPECT_EQ(TakeAll(ahead.get(), 0), 100'001);
  EXPECT_NE(counter.finder, std::this_thread::get_id());
}

TEST(WorkAheadTest, RestsUntilResumed) {
  Counter counter;
  const auto ahead = Start(&counter);
  for (int64_t end = 1; end < 20'000; end = end * 3 + 1) {
    counter.end = end;
    const int64_t begin = counter.next;
    ahead->Resume();
    EXPECT_EQ(TakeAll(ahead.get(), begin), end);
    EXPECT_TRUE(ahead->Take().empty());
  }
}

TEST(WorkAheadTest, DoesNotBeginByItself) {
  Counter counter;
  counter.end = 10;
  const auto ahead = Start(&counter);
  EXPECT_TRUE(ahead->Take().empty());
  EXPECT_EQ(counter.next, 0);
}

TEST(WorkAheadTest, IsNeverFarAhead) {
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
  EXPECT_LE(most, static_cast<int64_t>(WorkAhead::kBlocks * WorkAhead::kBlockSize));
}

TEST(WorkAheadTest, MayEndAtAnyTime) {
  for (int taken = 0; taken < 40; ++taken) {
    Counter counter;
    counter.end = 1'000'000;
    const auto ahead = Start(&counter);
    if (taken > 0) ahead->Resume();
    for (int i = 0; i < taken; ++i) ahead->Take();
  }
}

TEST(WorkAheadTest, RethrowsExceptionsToItsOwner) {
  int calls = 0;
  const auto ahead = WorkAhead::Start([&](absl::Span<Event> room) -> size_t {
    if (++calls == 3) throw std::bad_alloc();
    return room.size();
  });
  ahead->Resume();
  EXPECT_FALSE(ahead->Take().empty());
  EXPECT_FALSE(ahead->Take().empty());
  EXPECT_THROW(ahead->Take(), std::bad_alloc);
  EXPECT_TRUE(ahead->Take().empty());
}

// Returns everything that reading reports, in order. It must not depend on the number of cores.
std::string ReadingOf(absl::string_view trace, ReadMode mode, size_t jobs) {
  std::string log;
  ReaderOptions options;
  options.mode = mode;
  options.jobs = jobs;
  options.decodes_ahead = true;
  options.tuning.jobs_from_bytes = 0;
  const std::thread::id caller = std::this_thread::get_id();
  options.on_fault = [&](const Fault& fault) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    absl::StrAppend(&log, "fault ", FormatFault(fault), "\n");
  };
  options.on_time_back = [&](const Place& event, int64_t last_time) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    absl::StrAppend(&log, "back ", event.offset.value_or(0), " from ", last_time, "\n");
  };
  ReaderHooks hooks;
  hooks.on_generation_end = [&](const GenerationTables&, const TableUse&) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    absl::StrAppend(&log, "end\n");
  };
  absl::StatusOr<Reader> reader =
      ReaderAccess::FromSource(*SourceFromBytes(trace), std::move(options), std::move(hooks));
  if (!reader.ok()) return std::string(reader.status().message());
  while (const Event* event = reader->Next()) {
    const Losses& losses = reader->losses();
    // Describing all of them would take most of the time of this test.
    const bool describes = reader->event_count() % 8 == 0 || event->fault().has_value();
    absl::StrAppend(&log, reader->event_count(), " of ", reader->generation().number, " lost ",
                    losses.faults, " ", losses.dropped_events, " ", losses.marked_events, " ",
                    losses.unresolved, ": byte ", event->offset(), " at ", event->time(), " ",
                    describes ? Describe(*event) : "", "\n");
  }
  absl::StrAppend(&log, reader->status().message());
  return log;
}

// Returns the place where two texts begin to differ. A whole text would be megabytes long.
std::string DifferenceOf(const std::string& a, const std::string& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() && in_b == b.end()) return "";
  const size_t line = a.rfind('\n', in_a - a.begin()) + 1;
  return absl::StrCat(a.substr(line, 300), "\n--- and ---\n", b.substr(line, 300));
}

// Three threads whose time goes back with every batch.
std::string TraceThatGoesBack() {
  std::string text =
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n";
  for (int thread = 1; thread <= 3; ++thread) {
    const std::string batch = absl::StrCat("EventBatch gen=1 m=", thread, " time=9000 size=auto\n");
    absl::StrAppend(&text, batch, "ProcStatus dt=1 p=", thread, " pstatus=1\n");
    absl::StrAppend(&text, "GoStatus dt=1 g=", thread, " m=", thread, " gstatus=2\n");
    for (int id = 1; id < 3000; ++id) {
      if (id % 800 == 0) text += batch;
      const int created = 10'000 * thread + id;
      absl::StrAppend(&text, "GoCreate dt=1 new_g=", created, " new_stack=0 stack=0\n");
    }
  }
  return Assemble(text);
}

// A thread that creates goroutines, and one that starts each of them 4 ns later. After all blocks
// were used once, one goroutine is started 1 ns before it is created, so that the start has to
// wait. `samples` are CPU samples.
std::string TraceThatWaits(absl::string_view samples) {
  constexpr int kWaits = 3900;
  std::string text =
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n";
  absl::StrAppend(&text, "EventBatch gen=1 m=0 time=1 size=auto\nCPUSamples\n", samples);
  text +=
      "EventBatch gen=1 m=1 time=9000 size=auto\nProcStatus dt=1 p=1 pstatus=1\n"
      "GoStatus dt=1 g=1 m=1 gstatus=2\n";
  std::string other = "EventBatch gen=1 m=2 time=9009 size=auto\nProcStatus dt=1 p=2 pstatus=1\n";
  for (int id = 2; id < 4000; ++id) {
    absl::StrAppend(&text, "GoCreate dt=10 new_g=", id, " new_stack=0 stack=0\n");
    const auto [start, end] = id == kWaits ? std::pair(1, 9) : std::pair(6, 4);
    absl::StrAppend(&other, "GoStart dt=", start, " g=", id, " g_seq=1\nGoDestroy dt=", end, "\n");
  }
  return Assemble(absl::StrCat(text, other));
}

// Samples throughout TraceThatWaits(), so that they are in each block and where an event has to
// wait. No table has the stack of sample `without_stack`, counted from 1.
std::string SamplesAllAlong(int without_stack = 0) {
  std::string samples;
  for (int i = 1; i <= 1000; ++i) {
    absl::StrAppend(&samples, "CPUSample time=", 9000 + 39 * i,
                    " m=1 p=1 g=1 stack=", i == without_stack ? 1 : 0, "\n");
  }
  return samples;
}

TEST(WorkAheadTest, ReportsTheSameForEveryTraceInEveryMode) {
  std::mt19937_64 random(7);
  int faults = 0;
  int backs = 0;
  for (const std::string& sound :
       {ReadTestTrace("go1.27-gc.trace"), ReadTestTrace("go1.25-cpuprofile.trace"),
        TraceThatGoesBack(), TraceThatWaits(SamplesAllAlong()),
        TraceThatWaits(SamplesAllAlong(/*without_stack=*/700))}) {
    for (int i = 0; i < 3; ++i) {
      std::string trace = sound;
      // The first trace stays sound. The others have more and more damage.
      for (int damage = 0; damage < 2 * i; ++damage) {
        trace[16 + random() % (trace.size() - 16)] = static_cast<char>(random());
      }
      for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kCollect, ReadMode::kSalvage}) {
        SCOPED_TRACE(absl::StrCat(sound.size(), " ", i, " ", static_cast<int>(mode)));
        const std::string alone = ReadingOf(trace, mode, 1);
        ASSERT_EQ(DifferenceOf(ReadingOf(trace, mode, 2), alone), "");
        faults += absl::StrContains(alone, "\nfault ");
        backs += absl::StrContains(alone, "\nback ");
      }
    }
  }
  EXPECT_GT(faults, 5);
  EXPECT_GT(backs, 2);
}

// Returns how many threads this process has.
size_t CountThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(WorkAheadTest, HasAThreadOnlyIfAskedFor) {
  const std::string trace = ReadTestTrace("go1.27-gc.trace");
  const size_t before = CountThreads();
  for (const bool decodes_ahead : {false, true}) {
    for (const size_t jobs : {1, 2}) {
      ReaderOptions options;
      options.jobs = jobs;
      options.decodes_ahead = decodes_ahead;
      options.tuning.jobs_from_bytes = 0;
      Reader reader = *Reader::FromBytes(trace, options);
      size_t most = 0;
      while (!reader.NextBlock().empty()) most = std::max(most, CountThreads());
      EXPECT_TRUE(reader.status().ok());
      EXPECT_EQ(most > before, decodes_ahead && jobs == 2);
    }
  }
}

TEST(WorkAheadTest, AReaderMayBeDestroyedOrMovedWhileUsingIt) {
  const std::string trace = ReadTestTrace("go1.27-gc.trace");
  for (int events = 0; events < 6000; events += 250) {
    ReaderOptions options;
    options.decodes_ahead = true;
    options.jobs = 2;
    options.tuning.jobs_from_bytes = 0;
    Reader reader = *Reader::FromBytes(trace, options);
    for (int i = 0; i < events / 2; ++i) ASSERT_NE(reader.Next(), nullptr);
    Reader other = std::move(reader);
    for (int i = events / 2; i < events; ++i) ASSERT_NE(other.Next(), nullptr);
    EXPECT_EQ(other.event_count(), static_cast<uint64_t>(events));
  }
}

}  // namespace work_ahead_test
}  // namespace gotrace::internal
