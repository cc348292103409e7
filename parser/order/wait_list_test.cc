#include "parser/order/wait_list.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "parser/order/frontier.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace wait_list_test {

using Kind = WaitCondition::Kind;

// Cursors of a generation whose clock ticks in nanoseconds, with one event each.
class WaitListTest : public testing::Test {
 protected:
  void MakeCursors(const std::vector<uint64_t>& times) {
    payload_ = Wire(EventType::kFrequency, {1000000000});
    event_ = Wire(EventType::kProcStop, {0});
    generation_.set_number(1);
    Add(MakeBatch(payload_, 16, ThreadId::kNone, 1));
    for (size_t i = 0; i < times.size(); ++i) {
      Add(MakeBatch(event_, 1000 + 100 * i, {static_cast<int64_t>(i)}, times[i]));
    }
    for (const ThreadBatches& thread : generation_.threads()) {
      cursors_.push_back(std::make_unique<ThreadCursor>(generation_, thread));
      ASSERT_EQ(cursors_.back()->Advance(), ThreadCursor::Step::kEvent);
    }
  }

  ThreadCursor* cursor(size_t i) { return cursors_[i].get(); }

  WaitList list_;

 private:
  void Add(Batch batch) {
    batch.generation = 1;
    ASSERT_TRUE(generation_.Add(batch, Version::kGo122).ok());
  }

  std::string payload_, event_;
  Generation generation_;
  std::vector<std::unique_ptr<ThreadCursor>> cursors_;
};

TEST_F(WaitListTest, TheEarliestIsWokenFirstAndAmongEqualsTheFirstParked) {
  MakeCursors({30, 10, 20, 10});
  const WaitCondition condition = {Kind::kGoWaiting, 5, 7};
  for (int i = 0; i < 4; ++i) list_.Park(cursor(i), {condition});
  EXPECT_EQ(list_.size(), 4u);
  EXPECT_EQ(list_.Wake({Kind::kGoRunnable, 5, 7}), nullptr);
  EXPECT_EQ(list_.Wake({Kind::kGoWaiting, 5, 8}), nullptr);
  EXPECT_EQ(list_.Wake({Kind::kGoWaiting, 6, 7}), nullptr);
  EXPECT_EQ(list_.Earliest(), cursor(1));
  for (const int i : {1, 3, 2, 0}) EXPECT_EQ(list_.Wake(condition), cursor(i));
  EXPECT_EQ(list_.Wake(condition), nullptr);
  EXPECT_TRUE(list_.empty());
}

TEST_F(WaitListTest, ACursorLeavesAllOfItsConditions) {
  MakeCursors({1, 2});
  const WaitCondition thread = {Kind::kThread, 3}, go = {Kind::kGoNotRunning, 4};
  list_.Park(cursor(0), {thread, go});
  list_.Park(cursor(1), {go});
  EXPECT_EQ(list_.Wake(thread), cursor(0));
  EXPECT_EQ(list_.Earliest(), cursor(1));
  EXPECT_EQ(list_.Wake(go), cursor(1));
  EXPECT_EQ(list_.Wake(go), nullptr);
  EXPECT_EQ(list_.Wake(thread), nullptr);
}

TEST_F(WaitListTest, ReturnsOnceWhatWokeACursor) {
  MakeCursors({1});
  const WaitCondition condition = {Kind::kGC, 0, 3};
  EXPECT_EQ(list_.TakeReason(cursor(0)), std::nullopt);
  list_.Park(cursor(0), {condition});
  EXPECT_EQ(list_.TakeReason(cursor(0)), std::nullopt);
  list_.Wake(condition);
  EXPECT_EQ(list_.TakeReason(cursor(0)), condition);
  EXPECT_EQ(list_.TakeReason(cursor(0)), std::nullopt);
}

TEST_F(WaitListTest, AgreesWithASimpleOne) {
  std::mt19937 random(1);
  std::vector<uint64_t> times;
  for (int i = 0; i < 60; ++i) times.push_back(1 + random() % 20);
  MakeCursors(times);
  struct Parked {
    int64_t time;
    int turn;
    ThreadCursor* cursor;
    std::vector<WaitCondition> conditions;
  };
  std::vector<Parked> parked;
  for (int turn = 0; turn < 20000; ++turn) {
    const auto any_condition = [&] {
      return WaitCondition{random() % 2 ? Kind::kGoWaiting : Kind::kProcIdle,
                           static_cast<int64_t>(random() % 3), random() % 3};
    };
    ThreadCursor* const some = cursor(random() % times.size());
    const auto is_some = [&](const Parked& p) { return p.cursor == some; };
    if (std::none_of(parked.begin(), parked.end(), is_some)) {
      std::vector<WaitCondition> conditions = {any_condition(), {Kind::kThread, turn}};
      list_.Park(some, conditions);
      parked.push_back({some->time(), turn, some, std::move(conditions)});
    }
    const WaitCondition met = any_condition();
    const Parked* first = nullptr;
    for (const Parked& p : parked) {
      if (p.conditions[0] == met && (first == nullptr || p.time < first->time)) first = &p;
    }
    ThreadCursor* const expected = first == nullptr ? nullptr : first->cursor;
    ASSERT_EQ(list_.Wake(met), expected) << turn;
    if (first != nullptr) parked.erase(parked.begin() + (first - parked.data()));
    ASSERT_EQ(list_.size(), parked.size());
  }
}

}  // namespace wait_list_test
}  // namespace gotrace::internal
