#include "parser/order/scheduler_state.h"

#include "gtest/gtest.h"

namespace gotrace::internal {
namespace scheduler_state_test {

TEST(SequenceNumberTest, FollowsTheOneBeforeInTheSameGeneration) {
  const SequenceNumber last = {3, 7};
  EXPECT_TRUE((SequenceNumber{3, 8}.Follows(last)));
  EXPECT_FALSE((SequenceNumber{3, 7}.Follows(last)));
  EXPECT_FALSE((SequenceNumber{3, 9}.Follows(last)));
  EXPECT_FALSE((SequenceNumber{4, 8}.Follows(last)));
  EXPECT_FALSE((SequenceNumber{4, 1}.Follows(last)));
  EXPECT_FALSE((SequenceNumber{2, 8}.Follows(last)));
  EXPECT_TRUE((SequenceNumber{3, 0}.Follows({3, ~uint64_t{0}})));
}

TEST(ThreadStateTest, APIsOnTheLastThreadThatTookItAndStillHasIt) {
  ThreadState threads[4];
  ProcessorState proc, other;
  for (ThreadState& thread : threads) thread.Bind(ProcId{5}, &proc);
  EXPECT_EQ(proc.thread, &threads[3]);
  threads[2].Bind(ProcId{6}, &other);
  EXPECT_EQ(other.thread, &threads[2]);
  EXPECT_EQ(threads[2].proc, ProcId{6});
  threads[3].Unbind();
  EXPECT_EQ(threads[3].proc, ProcId::kNone);
  EXPECT_EQ(proc.thread, &threads[1]);
  threads[0].Bind(ProcId{5}, &proc);
  EXPECT_EQ(proc.thread, &threads[0]);
  threads[0].Unbind();
  threads[0].Unbind();
  EXPECT_EQ(proc.thread, &threads[1]);
  threads[1].Unbind();
  EXPECT_EQ(proc.thread, nullptr);
  EXPECT_EQ(other.thread, &threads[2]);
}

TEST(ProcTableTest, FindsThePThatWasFoundLast) {
  ProcTable table;
  ProcessorState* last = nullptr;
  EXPECT_EQ(table.Find(ProcId{1}, &last), nullptr);
  ProcessorState* const one = table.Insert(ProcId{1});
  ProcessorState* const two = table.Insert(ProcId{2});
  EXPECT_EQ(table.Find(ProcId{1}, &last), one);
  EXPECT_EQ(last, one);
  EXPECT_EQ(table.Find(ProcId{2}, &last), two);
  EXPECT_EQ(last, two);
  EXPECT_EQ(table.FindOrInsert(ProcId{2}), two);
}

TEST(ProcTableTest, DoesNotFindAPThatIsErased) {
  ProcTable table;
  ProcessorState* last = nullptr;
  ProcessorState* const one = table.Insert(ProcId{1});
  one->sequence = {4, 5};
  EXPECT_EQ(table.Find(ProcId{1}, &last), one);
  table.Erase(one);
  EXPECT_FALSE(one->live);
  EXPECT_EQ(table.Find(ProcId{1}, &last), nullptr);
  // The erased state is used again.
  last = one;
  EXPECT_EQ(table.FindOrInsert(ProcId{2}), one);
  EXPECT_EQ(table.Find(ProcId{1}, &last), nullptr);
  EXPECT_EQ(one->sequence.number, 0u);
}

}  // namespace scheduler_state_test
}  // namespace gotrace::internal
