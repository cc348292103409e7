#include "parser/decode_ahead.h"

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "parser/batch_reader.h"
#include "parser/byte_source.h"
#include "parser/fault.h"
#include "parser/generation.h"
#include "parser/thread_cursor.h"
#include "testdata/test_data.h"

namespace gotrace {
namespace {

using Step = ThreadCursor::Step;

// A generation of a real trace, which views the source.
class DecodeAheadTest : public testing::Test {
 protected:
  void SetUp() override {
    Frame(ReadTestTrace("go1.27-gc.trace"));
    ASSERT_NE(generation_, nullptr);
    ASSERT_GT(generation_->threads().size(), 1u);
  }

  // Takes the first generation of `bytes`, or none if there is none that is whole.
  void Frame(std::string bytes) {
    generation_.reset();
    bytes_ = std::move(bytes);
    source_ = *SourceFromBytes(bytes_);
    GenerationReader reader(source_.get(), *ReadHeader(source_.get()));
    generation_ = reader.Next().generation;
  }

  std::vector<std::unique_ptr<ThreadCursor>> MakeCursors(const ThreadCursor::Ahead& ahead) const {
    std::vector<std::unique_ptr<ThreadCursor>> cursors;
    for (const ThreadBatches& thread : generation_->threads()) {
      cursors.push_back(std::make_unique<ThreadCursor>(*generation_, thread, ahead));
    }
    return cursors;
  }

  std::string bytes_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<Generation> generation_;
};

void ExpectSameEvent(const ThreadCursor& found, const ThreadCursor& expected) {
  ASSERT_EQ(found.offset(), expected.offset());
  ASSERT_EQ(found.time(), expected.time());
  ASSERT_EQ(found.event().type, expected.event().type);
  const int count = kTimedEventRows[static_cast<uint8_t>(expected.event().type)].varints - 1;
  for (int i = 0; i < count; ++i) ASSERT_EQ(found.event().args[i], expected.event().args[i]);
}

// Walks over all threads by cursors with and without a helper, in an order by `seed`, and checks
// that they give the same. Adds to `*faults` how many threads end with a fault.
void ExpectSameWalk(const std::vector<std::unique_ptr<ThreadCursor>>& helped,
                    const std::vector<std::unique_ptr<ThreadCursor>>& alone, uint64_t seed,
                    int* faults) {
  std::mt19937_64 random(seed);
  std::vector<size_t> left(helped.size());
  std::iota(left.begin(), left.end(), size_t{0});
  while (!left.empty()) {
    const size_t place = random() % left.size();
    ThreadCursor& found = *helped[left[place]];
    ThreadCursor& expected = *alone[left[place]];
    // Mostly more than one event, so that now the helper is ahead and now the cursor.
    for (uint64_t run = random() % 50; run > 0; --run) {
      const Step step = expected.Advance();
      ASSERT_EQ(found.Advance(), step);
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

TEST_F(DecodeAheadTest, GivesWhatACursorAloneGives) {
  for (const size_t events : {1, 2, 7, 1000}) {
    std::vector<std::unique_ptr<ThreadCursor>> helped;
    const auto helper = DecodeAhead::Start();
    ASSERT_NE(helper, nullptr);
    helped = MakeCursors({events, /*check_ids=*/true, helper.get()});
    int faults = 0;
    ASSERT_NO_FATAL_FAILURE(ExpectSameWalk(helped, MakeCursors({}), events, &faults));
    EXPECT_EQ(faults, 0);
    ASSERT_NO_FATAL_FAILURE(ExpectSameWalk(MakeCursors({events, /*check_ids=*/true}),
                                           MakeCursors({}), events, &faults));
  }
}

TEST_F(DecodeAheadTest, FindsTheSameFaults) {
  const std::string sound = bytes_;
  std::mt19937_64 random(3);
  int faults = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = sound.substr(0, sound.size() / 2);
    damaged[16 + random() % 5000] = static_cast<char>(random());
    Frame(std::move(damaged));
    if (generation_ == nullptr) continue;
    std::vector<std::unique_ptr<ThreadCursor>> helped;
    const auto helper = DecodeAhead::Start();
    helped = MakeCursors({1 + random() % 20, /*check_ids=*/true, helper.get()});
    ASSERT_NO_FATAL_FAILURE(ExpectSameWalk(helped, MakeCursors({}), random(), &faults));
  }
  EXPECT_GT(faults, 5);
}

TEST_F(DecodeAheadTest, TellsWhetherAllIdsAreThere) {
  uint64_t missing = 0;
  for (const bool check_ids : {true, false}) {
    for (const auto& cursor : MakeCursors({8, check_ids})) {
      while (cursor->Advance() == Step::kEvent) missing += cursor->ids_found() != check_ids;
    }
  }
  EXPECT_EQ(missing, 0u);
}

TEST_F(DecodeAheadTest, ACopyGoesOnFromTheSameEvent) {
  std::vector<std::unique_ptr<ThreadCursor>> helped;
  const auto helper = DecodeAhead::Start();
  helped = MakeCursors({16, /*check_ids=*/true, helper.get()});
  ThreadCursor& cursor = *helped[0];
  for (int i = 0; i < 40 && cursor.Advance() == Step::kEvent; ++i) {
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

TEST_F(DecodeAheadTest, ForgetsWhatNobodyTook) {
  const auto helper = DecodeAhead::Start();
  for (int i = 0; i < 100; ++i) {
    auto helped = MakeCursors({64, /*check_ids=*/true, helper.get()});
    for (const auto& cursor : helped) EXPECT_EQ(cursor->Advance(), Step::kEvent);
    helper->Forget();
  }
}

TEST_F(DecodeAheadTest, MayEndWithRequestsOnTheirWay) {
  for (int i = 0; i < 100; ++i) {
    std::vector<std::unique_ptr<ThreadCursor>> helped;
    const auto helper = DecodeAhead::Start();
    helped = MakeCursors({64, /*check_ids=*/true, helper.get()});
    for (const auto& cursor : helped) ASSERT_EQ(cursor->Advance(), Step::kEvent);
  }
}

}  // namespace
}  // namespace gotrace
