#include "parser/order/thread_decoder.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace thread_decoder_test {

// With so many events after them, the events under test are not among the last bytes of the batch,
// which are decoded in another way.
constexpr int kEventsAfter = 50;

std::string Strings(const std::vector<uint64_t>& ids) {
  std::string text = "EventBatch gen=1 m=0 time=1 size=auto\nStrings\n";
  for (const uint64_t id : ids) absl::StrAppend(&text, "String id=", id, "\n\tdata=\"text\"\n");
  return text;
}

std::string Stacks(const std::vector<uint64_t>& ids) {
  std::string text = "EventBatch gen=1 m=0 time=1 size=auto\nStacks\n";
  for (const uint64_t id : ids) absl::StrAppend(&text, "Stack id=", id, " nframes=0\n");
  return text;
}

std::string Log(uint64_t key, uint64_t value, uint64_t stack) {
  return absl::StrCat("UserLog dt=1 task=0 key_string=", key, " value_string=", value,
                      " stack=", stack, "\n");
}

struct Decoded {
  std::vector<bool> ids_found;  // For each log under test.
  bool plain = false;           // Whether all of them are plain.
};

// Decodes `logs`, followed by events that refer to nothing, in a trace with `tables`.
Decoded Decode(const std::string& tables, const std::vector<std::string>& logs, TableUse* use) {
  std::string text = absl::StrCat(
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n", tables,
      "EventBatch gen=1 m=1 time=100 size=auto\n");
  for (const std::string& log : logs) absl::StrAppend(&text, log);
  for (int i = 0; i < kEventsAfter; ++i) absl::StrAppend(&text, Log(0, 0, 0));
  const FirstGeneration trace(Assemble(text));
  Decoded result;
  EXPECT_NE(trace.generation, nullptr);
  if (trace.generation == nullptr) return result;
  if (use != nullptr) use->Begin(trace.generation->tables());
  ThreadDecoder decoder(*trace.generation, trace.generation->threads()[0], /*check_ids=*/true, use);
  std::vector<DecodedEvent> events(logs.size());
  EXPECT_EQ(decoder.Decode(absl::MakeSpan(events)), events.size());
  result.plain = decoder.plain();
  for (const DecodedEvent& event : events) result.ids_found.push_back(event.ids_found);
  return result;
}

// Decodes one log, and checks that `found` says whether everything that it refers to exists.
void ExpectFound(const std::string& tables, const std::string& log, bool found) {
  TableUse use;
  for (TableUse* const noted : {static_cast<TableUse*>(nullptr), &use}) {
    const Decoded decoded = Decode(tables, {Log(0, 0, 0), log, Log(0, 0, 0)}, noted);
    EXPECT_EQ(decoded.ids_found, (std::vector<bool>{true, found, true})) << tables << log;
    EXPECT_EQ(decoded.plain, found) << tables << log;
  }
}

TEST(ThreadDecoderTest, FindsIdsOfTablesWithoutGaps) {
  const std::string tables = Strings({3, 1, 2}) + Stacks({2, 1});
  ExpectFound(tables, Log(1, 2, 1), true);
  ExpectFound(tables, Log(3, 3, 2), true);
  ExpectFound(tables, Log(4, 1, 1), false);
  ExpectFound(tables, Log(1, 4, 1), false);
  ExpectFound(tables, Log(1, 1, 3), false);
  ExpectFound(tables, Log(1, 1, ~uint64_t{0}), false);
}

TEST(ThreadDecoderTest, FindsIdsOfTablesWithGaps) {
  const std::string stack_gaps = Strings({1, 2}) + Stacks({1, 3, 4, 900});
  ExpectFound(stack_gaps, Log(1, 2, 1), true);
  ExpectFound(stack_gaps, Log(1, 2, 4), true);
  ExpectFound(stack_gaps, Log(1, 2, 900), true);
  ExpectFound(stack_gaps, Log(1, 2, 2), false);
  ExpectFound(stack_gaps, Log(1, 2, 5), false);
  ExpectFound(stack_gaps, Log(1, 2, 901), false);
  ExpectFound(stack_gaps, Log(1, 2, ~uint64_t{0}), false);
  ExpectFound(stack_gaps, Log(3, 2, 1), false);
  const std::string string_gaps = Strings({2, 5}) + Stacks({1});
  ExpectFound(string_gaps, Log(2, 5, 1), true);
  ExpectFound(string_gaps, Log(0, 5, 0), true);
  ExpectFound(string_gaps, Log(1, 5, 1), false);
  ExpectFound(string_gaps, Log(5, 6, 1), false);
  ExpectFound(string_gaps, Log(5, 5, 2), false);
}

TEST(ThreadDecoderTest, FindsIdsThatAreFarFromTheOthers) {
  constexpr uint64_t kFar = 7'000'000'000;
  for (const std::vector<uint64_t>& stacks :
       std::vector<std::vector<uint64_t>>{{kFar}, {1, 2, kFar}, {1, 3, kFar}}) {
    const std::string tables = Strings({1, kFar + 1}) + Stacks(stacks);
    ExpectFound(tables, Log(1, 1, kFar), true);
    ExpectFound(tables, Log(kFar + 1, 1, stacks[0]), true);
    ExpectFound(tables, Log(kFar, 1, kFar), false);
    ExpectFound(tables, Log(1, 1, kFar + 1), false);
    ExpectFound(tables, Log(1, 1, kFar - 1), false);
  }
}

TEST(ThreadDecoderTest, FindsNothingInEmptyTables) {
  ExpectFound("", Log(0, 0, 0), true);
  ExpectFound("", Log(0, 0, 1), false);
  ExpectFound("", Log(1, 0, 0), false);
}

}  // namespace thread_decoder_test
}  // namespace gotrace::internal
