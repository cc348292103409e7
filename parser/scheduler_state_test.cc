#include "parser/scheduler_state.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace gotrace {
namespace {

using Goroutines = StateTable<GoroutineState>;

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

TEST(ResourceStateTest, HasNothingOpenUntilAsked) {
  GoroutineState state;
  EXPECT_EQ(state.spans, nullptr);
  state.open().ranges.Add({EventType::kSTWBegin, 0});
  EXPECT_EQ(state.open().ranges.FindFirst(EventType::kSTWBegin), 0u);
  EXPECT_TRUE(state.open().regions.empty());
}

TEST(ThreadStateTest, APIsOnTheThreadThatTookItLastOfThoseThatHaveIt) {
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

TEST(StateTableTest, FindsWhatWasInserted) {
  Goroutines table;
  EXPECT_EQ(table.Find(GoId{1}), nullptr);
  GoroutineState* const one = table.Insert(GoId{1});
  GoroutineState* const none = table.Insert(GoId::kNone);
  EXPECT_NE(one, none);
  EXPECT_EQ(table.Find(GoId{1}), one);
  EXPECT_EQ(table.Find(GoId::kNone), none);
  EXPECT_EQ(table.Find(GoId{2}), nullptr);
  EXPECT_EQ(one->id, GoId{1});
  EXPECT_TRUE(one->live);
  EXPECT_EQ(table.size(), 2u);
}

TEST(StateTableTest, AddressesStayWhileOthersComeAndGo) {
  Goroutines table;
  std::mt19937_64 random(1);
  std::map<int64_t, GoroutineState*> expected;
  for (int i = 0; i < 20000; ++i) {
    const GoId id{static_cast<int64_t>(random() % 2000)};
    const auto it = expected.find(id.value);
    ASSERT_EQ(table.Find(id), it == expected.end() ? nullptr : it->second);
    if (it == expected.end()) {
      GoroutineState* const state = table.Insert(id);
      ASSERT_EQ(state->id, id);
      state->sequence.number = static_cast<uint64_t>(id.value);
      expected[id.value] = state;
    } else {
      ASSERT_EQ(it->second->sequence.number, static_cast<uint64_t>(id.value));
      table.Erase(it->second);
      expected.erase(it);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
}

TEST(StateTableTest, FindsIdsThatShareAPlace) {
  Goroutines table;
  GoroutineState* const first = table.Insert(GoId{3});
  GoroutineState* const second = table.Insert(GoId{67});
  GoroutineState* const third = table.Insert(GoId{-61});
  EXPECT_EQ(table.Find(GoId{3}), first);
  EXPECT_EQ(table.Find(GoId{67}), second);
  EXPECT_EQ(table.Find(GoId{-61}), third);
  EXPECT_EQ(table.Find(GoId{131}), nullptr);
  table.Erase(third);
  EXPECT_EQ(table.Find(GoId{-61}), nullptr);
  EXPECT_EQ(table.Find(GoId{67}), second);
  table.Erase(first);
  EXPECT_EQ(table.Find(GoId{3}), nullptr);
  EXPECT_EQ(table.Find(GoId{67}), second);
  EXPECT_EQ(table.size(), 1u);
}

TEST(StateTableTest, ClearErasesAll) {
  Goroutines table;
  for (int round = 0; round < 3; ++round) {
    for (int64_t id = 0; id < 1000; ++id) {
      ASSERT_EQ(table.Find(GoId{id}), nullptr);
      ASSERT_EQ(table.Insert(GoId{id})->sequence.number, 0u);
    }
    EXPECT_EQ(table.size(), 1000u);
    table.Find(GoId{7})->sequence.number = 1;
    table.Clear();
    EXPECT_EQ(table.size(), 0u);
  }
}

TEST(StateTableTest, WhatIsErasedIsForgottenAndUsedAgain) {
  NamePool names;
  Goroutines table;
  GoroutineState* const state = table.Insert(GoId{1});
  state->status = GoStatus::kRunning;
  state->sequence = {4, 5};
  state->open().regions.push_back({TaskId{1}, names.Get("open")});
  table.Erase(state);
  EXPECT_FALSE(state->live);
  EXPECT_EQ(state->spans, nullptr);
  EXPECT_EQ(names.size(), 0u);
  EXPECT_EQ(table.Find(GoId{1}), nullptr);
  GoroutineState* const next = table.Insert(GoId{2});
  EXPECT_EQ(next, state);
  EXPECT_EQ(next->id, GoId{2});
  EXPECT_TRUE(next->live);
  EXPECT_EQ(next->status, GoStatus::kBad);
  EXPECT_EQ(next->sequence.number, 0u);
}

}  // namespace
}  // namespace gotrace
