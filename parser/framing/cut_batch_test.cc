#include "parser/framing/cut_batch.h"

#include <string>

#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace cut_batch_test {

std::string Byte(EventType type) { return std::string(1, static_cast<char>(type)); }

TEST(CutBatch, WholeEventsAreThoseThatDoNotEndLater) {
  const std::string first = Wire(EventType::kProcStop, {300});
  const std::string second = Wire(EventType::kGoStart, {1, 2, 3});
  const std::string both = first + second;
  for (size_t size = 0; size <= both.size(); ++size) {
    const size_t expected = size < first.size() ? 0 : size < both.size() ? first.size() : size;
    EXPECT_EQ(SizeOfWholeEvents(both.substr(0, size)), expected) << size;
  }
}

TEST(CutBatch, EntriesOfTablesAreKeptWithTheTypeBeforeThem) {
  const std::string string = Wire(EventType::kString, {1, 4}) + "main";
  const std::string stack = Wire(EventType::kStack, {1, 1, 2, 3, 4, 5});
  const std::string sample = Wire(EventType::kCPUSample, {1, 2, 3, 4, 5});
  for (const std::string& table :
       {Byte(EventType::kStrings) + string, Byte(EventType::kStacks) + stack,
        Byte(EventType::kCPUSamples) + sample}) {
    const std::string entry = table.substr(1);
    EXPECT_EQ(SizeOfWholeEvents(table), table.size());
    EXPECT_EQ(SizeOfWholeEvents(table + entry.substr(0, entry.size() - 1)), table.size());
    // Without an entry there is nothing to keep.
    EXPECT_EQ(SizeOfWholeEvents(table.substr(0, table.size() - 1)), 0u);
    EXPECT_EQ(SizeOfWholeEvents(Byte(EventType(table[0]))), 0u);
  }
}

TEST(CutBatch, WhatCannotStandInABatchMakesItNone) {
  const std::string event = Wire(EventType::kProcStop, {1});
  const std::string string = Wire(EventType::kString, {1, 4}) + "main";
  EXPECT_EQ(SizeOfWholeEvents(event + "\xff"), 0u);
  EXPECT_EQ(SizeOfWholeEvents(event + string), 0u);
  EXPECT_EQ(SizeOfWholeEvents(event + Wire(EventType::kEventBatch, {1, 2, 3, 4})), 0u);
  EXPECT_EQ(SizeOfWholeEvents(Byte(EventType::kStrings) + string + event), 0u);
  EXPECT_EQ(SizeOfWholeEvents(Byte(EventType::kProcStop) + std::string(12, '\xff')), 0u);
  EXPECT_EQ(SizeOfWholeEvents(Byte(EventType::kSync) + Wire(EventType::kFrequency, {1})), 0u);
}

}  // namespace cut_batch_test
}  // namespace gotrace::internal
