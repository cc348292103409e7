#include "tracev2/wire_reader.h"

#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "gtest/gtest.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace wire_reader_test {

constexpr uint64_t kMax = ~uint64_t{0};

std::string Encode(EventType type, std::initializer_list<uint64_t> numbers) {
  std::string bytes(1, static_cast<char>(type));
  for (const uint64_t number : numbers) AppendVarint(number, &bytes);
  return bytes;
}

// Decodes a copy of exactly `bytes`, so that sanitizers see a read past the end.
WireResult Decode(absl::string_view bytes, RawEvent* event) {
  const auto copy = std::make_unique<char[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  const WireResult result = DecodeRawEvent({copy.get(), bytes.size()}, event);
  event->data = absl::string_view();
  return result;
}

void ExpectFault(absl::string_view bytes, WireStatus status, size_t size) {
  RawEvent event;
  const WireResult result = Decode(bytes, &event);
  EXPECT_EQ(result.status, status);
  EXPECT_EQ(result.size, size);
}

// An event of `spec` with arguments of all lengths; a stack has two frames, data three bytes.
RawEvent Example(const EventSpec& spec) {
  RawEvent event;
  event.type = spec.type;
  for (int i = 0; i < spec.arg_count; ++i) event.args.push_back(kMax >> (13 * i));
  if (spec.form == EventForm::kStack) {
    event.args[1] = 2;
    for (uint64_t i = 0; i < 8; ++i) event.args.push_back(1000 * i);
  }
  if (spec.form == EventForm::kData) event.data = "a\0b";
  return event;
}

std::string EncodeExample(const RawEvent& event) {
  std::string bytes(1, static_cast<char>(event.type));
  for (const uint64_t arg : event.args) AppendVarint(arg, &bytes);
  if (FindEventSpec(event.type)->form == EventForm::kData) {
    AppendVarint(event.data.size(), &bytes);
    absl::StrAppend(&bytes, event.data);
  }
  return bytes;
}

TEST(WireReaderTest, DecodesEveryType) {
  for (const EventSpec& spec : AllEventSpecs()) {
    SCOPED_TRACE(std::string(spec.name));
    const RawEvent expected = Example(spec);
    const std::string bytes = EncodeExample(expected);
    for (const absl::string_view more : {"", "\x01"}) {
      RawEvent event;
      event.args = {7, 8, 9};
      event.data = "old";
      event.auto_size = true;
      const std::string input = absl::StrCat(bytes, more);
      const WireResult result = DecodeRawEvent(input, &event);
      EXPECT_EQ(result.status, WireStatus::kOk);
      EXPECT_EQ(result.size, bytes.size());
      EXPECT_EQ(event.type, spec.type);
      EXPECT_EQ(event.args, expected.args);
      EXPECT_EQ(event.data, expected.data);
      EXPECT_FALSE(event.auto_size);
    }
  }
}

// Returns where the number or data begins that a cut at `size` divides.
size_t CutPosition(const RawEvent& event, size_t size) {
  size_t begin = 1;
  for (const uint64_t arg : event.args) {
    if (begin + VarintSize(arg) > size) return begin;
    begin += VarintSize(arg);
  }
  return begin + 1 > size ? begin : begin + 1;
}

TEST(WireReaderTest, EveryCutIsTruncatedAtTheNumberItCuts) {
  for (const EventSpec& spec : AllEventSpecs()) {
    const RawEvent event = Example(spec);
    const std::string bytes = EncodeExample(event);
    for (size_t size = 1; size < bytes.size(); ++size) {
      SCOPED_TRACE(absl::StrCat(spec.name, " cut at ", size));
      ExpectFault(bytes.substr(0, size), WireStatus::kTruncated, CutPosition(event, size));
    }
  }
}

TEST(WireReaderTest, TypesWithoutARowAreInvalid) {
  for (int value = 0; value < 256; ++value) {
    if (FindEventSpec(static_cast<EventType>(value)) != nullptr) continue;
    ExpectFault(Encode(static_cast<EventType>(value), {1, 2, 3}), WireStatus::kInvalidType, 0);
  }
}

TEST(WireReaderTest, OverflowIsReportedWhereTheNumberBegins) {
  const std::string overflow(10, '\xff');
  const std::string start = Encode(EventType::kGoStart, {300});
  ExpectFault(start + overflow, WireStatus::kVarintOverflow, 3);
  ExpectFault(start + overflow + std::string(5, '\0'), WireStatus::kVarintOverflow, 3);
  ExpectFault(start + overflow.substr(1), WireStatus::kTruncated, 3);
  ExpectFault(start + overflow.substr(1) + "\x02", WireStatus::kVarintOverflow, 3);
  ExpectFault(Encode(EventType::kStack, {1, 1, 2}) + overflow, WireStatus::kVarintOverflow, 4);
  ExpectFault(Encode(EventType::kString, {1}) + overflow, WireStatus::kVarintOverflow, 2);
}

TEST(WireReaderTest, AcceptsTheDeepestStackOnly) {
  std::string bytes = Encode(EventType::kStack, {1, kMaxFramesPerStack});
  for (uint64_t i = 0; i < 4 * kMaxFramesPerStack; ++i) AppendVarint(i, &bytes);
  RawEvent event;
  const WireResult result = DecodeRawEvent(bytes, &event);
  EXPECT_EQ(result.status, WireStatus::kOk);
  EXPECT_EQ(result.size, bytes.size());
  ASSERT_EQ(event.args.size(), 2 + 4 * kMaxFramesPerStack);
  EXPECT_EQ(event.args.back(), 4 * kMaxFramesPerStack - 1);

  const std::string deeper = Encode(EventType::kStack, {1, kMaxFramesPerStack + 1});
  ExpectFault(deeper, WireStatus::kStackTooDeep, deeper.size());
  const std::string deepest = Encode(EventType::kStack, {1, kMax});
  ExpectFault(deepest + std::string(100, '\0'), WireStatus::kStackTooDeep, deepest.size());
}

TEST(WireReaderTest, AcceptsTheLongestDataOnly) {
  const std::string head = Encode(EventType::kExperimentalBatch, {1, 2, 3, 4, kMaxBatchSize});
  const std::string data(kMaxBatchSize, 'x');
  RawEvent event;
  const std::string bytes = head + data;
  const WireResult result = DecodeRawEvent(bytes, &event);
  EXPECT_EQ(result.status, WireStatus::kOk);
  EXPECT_EQ(result.size, bytes.size());
  EXPECT_EQ(event.data, data);
  EXPECT_LE(bytes.size(), kMaxRawEventSize);
  ExpectFault(bytes.substr(0, bytes.size() - 1), WireStatus::kTruncated, head.size());

  const std::string longer = Encode(EventType::kString, {1, kMaxBatchSize + 1});
  ExpectFault(longer + data + "x", WireStatus::kDataTooLong, longer.size());
  const std::string longest = Encode(EventType::kString, {1, kMax});
  ExpectFault(longest, WireStatus::kDataTooLong, longest.size());
}

TEST(WireReaderTest, NothingIsTruncatedWithTheMostBytes) {
  // The longest of everything: ten bytes for each number, where the limits allow that many.
  for (const EventSpec& spec : AllEventSpecs()) {
    std::string bytes(1, static_cast<char>(spec.type));
    bytes.resize(kMaxRawEventSize, '\x80');
    RawEvent event;
    EXPECT_NE(DecodeRawEvent(bytes, &event).status, WireStatus::kTruncated) << spec.name;
  }
}

}  // namespace wire_reader_test
}  // namespace gotrace::internal
