#include "parser/decode_ahead.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "parser/batch_reader.h"
#include "parser/byte_source.h"
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
    bytes_ = ReadTestTrace("go1.27-gc.trace");
    source_ = *SourceFromBytes(bytes_);
    GenerationReader reader(source_.get(), *ReadHeader(source_.get()));
    generation_ = reader.Next().generation;
    ASSERT_NE(generation_, nullptr);
    ASSERT_GT(generation_->threads().size(), 1u);
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

TEST_F(DecodeAheadTest, GivesWhatACursorAloneGives) {
  for (const size_t events : {1, 2, 7, 1000}) {
    DecodeAhead helper;
    auto helped = MakeCursors({events, /*check_ids=*/true, &helper});
    auto alone = MakeCursors({});
    std::mt19937_64 random(events);
    while (!helped.empty()) {
      const size_t index = random() % helped.size();
      // Mostly more than one event, so that now the helper is ahead and now the cursor.
      for (uint64_t run = random() % 50; run > 0; --run) {
        const Step step = alone[index]->Advance();
        ASSERT_EQ(helped[index]->Advance(), step);
        if (step == Step::kEnd) {
          ASSERT_EQ(helped[index]->Advance(), Step::kEnd);
          helped.erase(helped.begin() + static_cast<ptrdiff_t>(index));
          alone.erase(alone.begin() + static_cast<ptrdiff_t>(index));
          break;
        }
        ASSERT_NO_FATAL_FAILURE(ExpectSameEvent(*helped[index], *alone[index]));
        ASSERT_TRUE(helped[index]->ids_found());
      }
    }
  }
}

TEST_F(DecodeAheadTest, ACopyGoesOnFromTheSameEvent) {
  DecodeAhead helper;
  auto helped = MakeCursors({16, /*check_ids=*/false, &helper});
  ThreadCursor& cursor = *helped[0];
  for (int i = 0; i < 21; ++i) ASSERT_EQ(cursor.Advance(), Step::kEvent);
  ThreadCursor copy(cursor);
  ASSERT_NO_FATAL_FAILURE(ExpectSameEvent(copy, cursor));
  while (true) {
    const Step step = cursor.Advance();
    ASSERT_EQ(copy.Advance(), step);
    if (step == Step::kEnd) break;
    ASSERT_NO_FATAL_FAILURE(ExpectSameEvent(copy, cursor));
  }
}

TEST_F(DecodeAheadTest, ForgetsWhatNobodyTook) {
  DecodeAhead helper;
  for (int i = 0; i < 100; ++i) {
    auto helped = MakeCursors({64, /*check_ids=*/true, &helper});
    for (const auto& cursor : helped) ASSERT_EQ(cursor->Advance(), Step::kEvent);
    helper.Forget();
  }
}

TEST_F(DecodeAheadTest, MayEndWithRequestsOnTheirWay) {
  for (int i = 0; i < 100; ++i) {
    std::vector<std::unique_ptr<ThreadCursor>> helped;
    DecodeAhead helper;
    helped = MakeCursors({64, /*check_ids=*/true, &helper});
    for (const auto& cursor : helped) ASSERT_EQ(cursor->Advance(), Step::kEvent);
  }
}

}  // namespace
}  // namespace gotrace
