#include "parser/scheduler_state.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace gotrace {
namespace {

using Goroutines = StateTable<GoId, GoroutineState>;

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

TEST(OpenRangeTest, IsTheSameByTypeAndKind) {
  const OpenRange range = {EventType::kSTWBegin, 5};
  EXPECT_TRUE((range == OpenRange{EventType::kSTWBegin, 5}));
  EXPECT_FALSE((range == OpenRange{EventType::kSTWBegin, 6}));
  EXPECT_FALSE((range == OpenRange{EventType::kGCMarkAssistBegin, 5}));
}

TEST(ResourceStateTest, HasNothingOpenUntilAsked) {
  GoroutineState state;
  EXPECT_EQ(state.spans, nullptr);
  state.open().ranges.push_back({EventType::kSTWBegin, 0});
  EXPECT_EQ(state.open().ranges.size(), 1u);
  EXPECT_TRUE(state.open().regions.empty());
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
