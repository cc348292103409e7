#include "gotrace/state_tracker.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/interval_log.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace {
namespace {

// The trackers of a trace that is cut before every `size`th generation.
class CutTrace {
 public:
  explicit CutTrace(size_t size) : size_(size) {}

  void Add(absl::Span<const Event> events) {
    const Event& first = events.front();
    const bool begins_generation = first.kind() == EventKind::kSync && first.tables() != nullptr &&
                                   generations_++ % size_ == 0;
    if (begins_generation) {
      parts_.push_back(std::make_unique<TrackedTrace>(/*may_follow_another=*/true));
    }
    parts_.back()->tracker.Add(events);
  }

  size_t size() const { return parts_.size(); }

  // Merges all parts, from the first on or from the last on, and returns the intervals as text.
  std::string MergeForwards() {
    for (size_t i = 1; i < parts_.size(); ++i) {
      parts_[0]->tracker.Merge(std::move(parts_[i]->tracker));
      parts_[i].reset();
    }
    return Finish();
  }
  std::string MergeBackwards() {
    for (size_t i = parts_.size(); --i > 0;) {
      parts_[i - 1]->tracker.Merge(std::move(parts_[i]->tracker));
      parts_[i].reset();
    }
    return Finish();
  }

 private:
  std::string Finish() {
    EXPECT_TRUE(parts_[0]->tracker.Finish().ok());
    return parts_[0]->log.All();
  }

  const size_t size_;
  size_t generations_ = 0;
  std::vector<std::unique_ptr<TrackedTrace>> parts_;
};

TEST(StateTracker, PartitionsEveryLifeHoweverTheTraceIsCut) {
  size_t max_parts = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    TrackedTrace whole;
    constexpr size_t kSizes = 12;
    std::vector<CutTrace> forwards;
    std::vector<CutTrace> backwards;
    for (size_t size = 1; size <= kSizes; ++size) {
      forwards.emplace_back(size);
      backwards.emplace_back(size);
    }
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
      begin = std::min(begin, block.front().time());
      end = block.back().time();
      whole.tracker.Add(block);
      for (CutTrace& cut : forwards) cut.Add(block);
      for (CutTrace& cut : backwards) cut.Add(block);
    }
    ASSERT_TRUE(reader->status().ok());
    ASSERT_TRUE(whole.tracker.Finish().ok());
    EXPECT_EQ(whole.log.FindFault(end, /*has_gaps=*/false), "");
    EXPECT_TRUE(whole.log.IsInOrder());
    for (const GoInterval& interval : whole.log.goroutines()) {
      if (interval.begin_clipped) {
        EXPECT_EQ(interval.begin, begin);
      }
    }
    const std::string expected = whole.log.All();
    EXPECT_NE(expected, "");
    max_parts = std::max(max_parts, forwards[0].size());
    for (CutTrace& cut : forwards) {
      if (cut.size() == 1) continue;
      ASSERT_EQ(cut.MergeForwards(), expected);
    }
    for (CutTrace& cut : backwards) {
      if (cut.size() == 1) continue;
      ASSERT_EQ(cut.MergeBackwards(), expected);
    }
  }
  EXPECT_GT(max_parts, 10u);
}

}  // namespace
}  // namespace gotrace
