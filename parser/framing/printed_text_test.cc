#include "parser/framing/printed_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"
#include "tracev2/batch_encoder.h"

namespace gotrace::internal {
namespace printed_text_test {

constexpr uint64_t kTime = 1 << 30;

std::string BatchOf(absl::string_view payload) {
  std::string out;
  AppendBatch({/*generation=*/1, /*thread=*/7, kTime}, payload, BatchSizeForm::kPadded, &out);
  return out;
}

// Returns the events of a goroutine that starts and stops `count` times.
std::string StartsAndStops(int count) {
  std::string payload = Wire(EventType::kProcStart, {9, 2, 5});
  for (int i = 0; i < count; ++i) {
    const uint64_t number = 100 + i;
    payload += Wire(EventType::kGoStart, {3, 20, number}) + Wire(EventType::kGoStop, {4, 9, 33});
  }
  return payload;
}

std::string StringsOf(const std::vector<std::string>& strings) {
  std::string payload(1, static_cast<char>(EventType::kStrings));
  uint64_t id = 0;
  for (const std::string& text : strings) AppendString(++id, text, &payload);
  return payload;
}

TextContext Context() {
  TextContext context;
  context.version = Version::kGo125;
  context.generation = 1;
  context.next_generation = 1;
  context.time = kTime;
  return context;
}

using Ranges = std::vector<std::pair<size_t, size_t>>;

std::optional<Ranges> TextIn(absl::string_view bytes, const TextContext& context = Context()) {
  uint64_t steps = 0;
  const std::optional<SeparatedText> found = SeparateText(bytes, context, &steps);
  EXPECT_LE(steps, context.max_steps + bytes.size() / 8 + 1);
  if (!found.has_value()) return std::nullopt;
  Ranges ranges;
  for (const ByteRange& text : found->text) ranges.emplace_back(text.begin, text.end);
  return ranges;
}

TEST(PrintedTextTest, FindsALineAnywhereInABatch) {
  const std::string batch = BatchOf(StartsAndStops(20));
  constexpr absl::string_view kLine = "2024/05/01 12:30:00 request done\n";
  for (size_t pos = 0; pos <= batch.size(); ++pos) {
    SCOPED_TRACE(pos);
    const std::string bytes = batch.substr(0, pos) + std::string(kLine) + batch.substr(pos);
    const std::optional<Ranges> text = TextIn(bytes);
    ASSERT_TRUE(text.has_value());
    // Bytes before a line that look like it may be cut out in its place, if the batch stays the
    // same.
    ASSERT_EQ(text->size(), 1u);
    std::string without = bytes;
    without.erase((*text)[0].first, (*text)[0].second - (*text)[0].first);
    EXPECT_TRUE(without == batch);
  }
}

TEST(PrintedTextTest, FindsALineInsideAString) {
  const std::string batch = BatchOf(StringsOf({"runtime.main", "main.worker", "/src/main.go"}));
  const size_t pos = batch.find("worker") + 3;
  const std::string bytes = batch.substr(0, pos) + "=== RUN TestOne\n" + batch.substr(pos);
  EXPECT_EQ(TextIn(bytes), (Ranges{{pos, pos + 16}}));
}

TEST(PrintedTextTest, FindsTextThatIsNoLineByItsSize) {
  const std::string batch = BatchOf(StartsAndStops(20));
  const size_t pos = batch.size() / 2;
  for (const absl::string_view text : {"progress 50%\r", "name: ", "no newline"}) {
    std::string bytes = batch;
    bytes.insert(pos, std::string(text));
    const std::optional<Ranges> found = TextIn(bytes);
    ASSERT_TRUE(found.has_value()) << text;
    ASSERT_EQ(found->size(), 1u) << text;
    bytes.erase((*found)[0].first, (*found)[0].second - (*found)[0].first);
    EXPECT_TRUE(bytes == batch) << text;
  }
}

TEST(PrintedTextTest, FindsTwoLinesInALargeBatch) {
  const std::string batch = BatchOf(StartsAndStops(7000));
  ASSERT_GT(batch.size(), 50'000u);
  std::string bytes = batch;
  bytes.insert(40'000, "second: 2\n");
  bytes.insert(20'000, "first: 1\n");
  const std::optional<Ranges> text = TextIn(bytes);
  ASSERT_TRUE(text.has_value());
  ASSERT_EQ(text->size(), 2u);
  std::string without = bytes;
  for (auto it = text->rbegin(); it != text->rend(); ++it) {
    without.erase(it->first, it->second - it->first);
  }
  EXPECT_TRUE(without == batch);
}

TEST(PrintedTextTest, FindsSeveralLinesBetweenBatches) {
  const std::string batch = BatchOf(StartsAndStops(3));
  const std::string bytes = batch + "one\ntwo\n" + batch + "three\n" + batch;
  EXPECT_EQ(TextIn(bytes), (Ranges{{batch.size(), batch.size() + 8},
                                   {2 * batch.size() + 8, 2 * batch.size() + 14}}));
}

TEST(PrintedTextTest, FindsNoneWhereThereIsNone) {
  EXPECT_EQ(TextIn(BatchOf(StartsAndStops(20))), std::nullopt);
  EXPECT_EQ(TextIn(std::string(1000, '\1')), std::nullopt);
  EXPECT_EQ(TextIn(""), std::nullopt);
}

TEST(PrintedTextTest, KeepsToItsSteps) {
  TextContext context = Context();
  context.max_steps = 10'000;
  const std::string lines_in_string = StringsOf({std::string(3000, '\n'), "b"});
  for (const std::string& bytes :
       {std::string(100'000, '\n'), BatchOf(lines_in_string) + "a\n",
        BatchOf(lines_in_string + "\n"), BatchOf(StartsAndStops(7000)).insert(30'000, "line\n")}) {
    TextIn(bytes, context);
  }
}

}  // namespace printed_text_test
}  // namespace gotrace::internal
