#include "parser/order/thread_cursor.h"

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gotrace/fault.h"
#include "gtest/gtest.h"
#include "parser/generation/generation.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace thread_cursor_test {

using Step = ThreadCursor::Step;

// A generation of a real trace, which views the source.
class ThreadCursorTest : public testing::Test {
 protected:
  void SetUp() override {
    Frame(ReadTestTrace("go1.27-gc.trace"));
    ASSERT_NE(generation_, nullptr);
    ASSERT_GT(generation_->threads().size(), 1u);
  }

  void Frame(std::string bytes) {
    trace_ = std::make_unique<FirstGeneration>(std::move(bytes));
    generation_ = trace_->generation.get();
  }

  std::vector<std::unique_ptr<ThreadCursor>> MakeCursors(const ThreadCursor::Ahead& ahead) const {
    std::vector<std::unique_ptr<ThreadCursor>> cursors;
    for (const ThreadBatches& thread : generation_->threads()) {
      cursors.push_back(std::make_unique<ThreadCursor>(*generation_, thread, ahead));
    }
    return cursors;
  }

  std::unique_ptr<FirstGeneration> trace_;
  const Generation* generation_ = nullptr;  // The generation of `trace_`.
};

void ExpectSameEvent(const ThreadCursor& found, const ThreadCursor& expected) {
  ASSERT_EQ(found.offset(), expected.offset());
  ASSERT_EQ(found.time(), expected.time());
  ASSERT_EQ(found.event().type, expected.event().type);
  const int count = kTimedEventRows[static_cast<uint8_t>(expected.event().type)].varints - 1;
  for (int i = 0; i < count; ++i) ASSERT_EQ(found.event().args[i], expected.event().args[i]);
}

// Checks that Peek() and EndsNext(), which returned `peeked` and `ends`, predicted what Advance()
// then did.
void ExpectPeeked(const ThreadCursor& cursor, const DecodedEvent* peeked, bool ends, Step step) {
  ASSERT_EQ(peeked != nullptr, step == Step::kEvent);
  if (peeked == nullptr) {
    ASSERT_EQ(ends, step == Step::kEnd);
  } else {
    ASSERT_EQ(peeked->time, cursor.time());
    ASSERT_EQ(peeked->type, cursor.event().type);
  }
}

// Iterates over all threads with cursors that decode ahead and with cursors that do not, in an
// order that `seed` determines, and checks that both give the same. Adds to `*faults` the number of
// threads that end with a fault.
void ExpectSameWalk(const std::vector<std::unique_ptr<ThreadCursor>>& ahead,
                    const std::vector<std::unique_ptr<ThreadCursor>>& alone, uint64_t seed,
                    int* faults) {
  std::mt19937_64 random(seed);
  std::vector<size_t> left(ahead.size());
  std::iota(left.begin(), left.end(), size_t{0});
  while (!left.empty()) {
    const size_t place = random() % left.size();
    ThreadCursor& found = *ahead[left[place]];
    ThreadCursor& expected = *alone[left[place]];
    for (uint64_t run = random() % 50; run > 0; --run) {
      const bool peeks = random() % 2 == 0;
      const DecodedEvent* const peeked = peeks ? found.Peek() : nullptr;
      const bool ends = peeks && peeked == nullptr && found.EndsNext();
      const bool plain = found.IsKnownPlain();
      const int64_t time = found.time();
      ASSERT_TRUE(!plain || found.ids_found());
      const Step step = expected.Advance();
      ASSERT_EQ(found.Advance(), step);
      if (plain) {
        ASSERT_EQ(step, Step::kEvent);
        ASSERT_GE(found.time(), time);
      }
      if (peeks) {
        ASSERT_NO_FATAL_FAILURE(ExpectPeeked(found, peeked, ends, step));
      }
      if (step == Step::kEvent) {
        ASSERT_NO_FATAL_FAILURE(ExpectSameEvent(found, expected));
        continue;
      }
      if (step == Step::kFault) {
        ++*faults;
        ASSERT_EQ(found.time(), expected.time());
        ASSERT_EQ(FormatFault(found.fault()), FormatFault(expected.fault()));
      } else {
        ASSERT_EQ(found.Advance(), Step::kEnd);
      }
      left.erase(left.begin() + static_cast<ptrdiff_t>(place));
      break;
    }
  }
}

TEST_F(ThreadCursorTest, ReturnsTheSameHoweverFarItDecodesAhead) {
  for (const size_t events : {1, 2, 7, 1000}) {
    int faults = 0;
    ASSERT_NO_FATAL_FAILURE(ExpectSameWalk(MakeCursors({events, /*check_ids=*/true}),
                                           MakeCursors({}), events, &faults));
    EXPECT_EQ(faults, 0);
  }
}

TEST_F(ThreadCursorTest, FindsTheSameFaults) {
  const std::string sound = trace_->bytes;
  std::mt19937_64 random(3);
  int faults = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = sound.substr(0, sound.size() / 2);
    damaged[16 + random() % 5000] = static_cast<char>(random());
    Frame(std::move(damaged));
    if (generation_ == nullptr) continue;
    const auto ahead = MakeCursors({1 + random() % 20, /*check_ids=*/true});
    ASSERT_NO_FATAL_FAILURE(ExpectSameWalk(ahead, MakeCursors({}), random(), &faults));
  }
  EXPECT_GT(faults, 5);
}

TEST_F(ThreadCursorTest, ChecksWhetherAllIdsExist) {
  uint64_t missing = 0;
  for (const bool check_ids : {true, false}) {
    for (const auto& cursor : MakeCursors({8, check_ids})) {
      while (cursor->Advance() == Step::kEvent) missing += cursor->ids_found() != check_ids;
    }
  }
  EXPECT_EQ(missing, 0u);
}

TEST_F(ThreadCursorTest, MostEventsOfASoundTraceArePlain) {
  for (const bool check_ids : {true, false}) {
    uint64_t plain = 0;
    uint64_t all = 0;
    for (const auto& cursor : MakeCursors({64, check_ids})) {
      while (cursor->Advance() == Step::kEvent) {
        ++all;
        plain += cursor->IsKnownPlain();
      }
    }
    EXPECT_EQ(plain > all / 10 * 9, check_ids) << plain << " of " << all;
  }
}

TEST_F(ThreadCursorTest, ACopyContinuesFromTheSameEvent) {
  const auto cursors = MakeCursors({16, /*check_ids=*/true});
  ThreadCursor& cursor = *cursors[0];
  for (int i = 0; i < 40 && cursor.Advance() == Step::kEvent; ++i) {
    if (i % 2 == 0) cursor.Peek();
    ThreadCursor copy(cursor);
    ThreadCursor other(cursor);
    ASSERT_NO_FATAL_FAILURE(ExpectSameEvent(copy, cursor));
    for (int ahead = 0; ahead < 20 && copy.Advance() == Step::kEvent; ++ahead) {
      ASSERT_EQ(other.Advance(), Step::kEvent);
      ASSERT_NO_FATAL_FAILURE(ExpectSameEvent(copy, other));
      ASSERT_FALSE(copy.ids_found());
    }
  }
  ThreadCursor copy(cursor);
  while (true) {
    const Step step = cursor.Advance();
    ASSERT_EQ(copy.Advance(), step);
    if (step == Step::kEnd) break;
    ASSERT_NO_FATAL_FAILURE(ExpectSameEvent(copy, cursor));
  }
}

TEST_F(ThreadCursorTest, SkipsTheRestOfAThreadFromItsPosition) {
  uint64_t skipped = 0;
  for (uint64_t seen = 1; seen < 60; seen += 7) {
    const auto ahead = MakeCursors({16, /*check_ids=*/true});
    const auto alone = MakeCursors({});
    for (size_t thread = 0; thread < ahead.size(); ++thread) {
      bool ends = false;
      for (uint64_t i = 0; i < seen && !ends; ++i) {
        ends = ahead[thread]->Advance() == Step::kEnd;
        ASSERT_EQ(alone[thread]->Advance() == Step::kEnd, ends);
      }
      if (ends) continue;
      if (seen % 2 == 0) ahead[thread]->Peek();
      const ThreadCursor::Rest rest = ahead[thread]->SkipAll();
      const ThreadCursor::Rest expected = alone[thread]->SkipAll();
      EXPECT_EQ(rest.events, expected.events);
      EXPECT_EQ(rest.bytes, expected.bytes);
      EXPECT_EQ(rest.batches, expected.batches);
      EXPECT_EQ(ahead[thread]->Advance(), Step::kEnd);
      skipped += rest.events;
    }
  }
  EXPECT_GT(skipped, 1000u);
}

}  // namespace thread_cursor_test
}  // namespace gotrace::internal
