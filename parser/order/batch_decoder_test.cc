#include "parser/order/batch_decoder.h"

#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace batch_decoder_test {

constexpr uint64_t kMax = ~uint64_t{0};

// Decodes the event at `pos` in both ways, checks that they agree, and returns the position after
// the event, or nullptr.
const char* DecodeBoth(const char* pos, const char* end, TimedEvent* event) {
  TimedEvent plain;
  const char* const next = DecodeTimedEvent(pos, end, event);
  EXPECT_EQ(next, DecodeTimedEventPlainly(pos, end, &plain));
  if (next == nullptr) return nullptr;
  EXPECT_EQ(event->type, plain.type);
  EXPECT_EQ(event->ticks, plain.ticks);
  const EventSpec* const spec = FindEventSpec(event->type);
  for (int i = 0; i + 1 < spec->arg_count; ++i) EXPECT_EQ(event->args[i], plain.args[i]);
  return next;
}

// Decodes all of `bytes` in both ways and returns the number of events.
int DecodeAll(absl::string_view bytes) {
  // A copy of exactly this size lets sanitizers detect a read past the end.
  const auto copy = std::make_unique<char[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  const char* pos = copy.get();
  const char* const end = pos + bytes.size();
  int events = 0;
  TimedEvent event;
  while (pos < end) {
    const char* const next = DecodeBoth(pos, end, &event);
    if (next == nullptr) {
      const char* fault_pos = nullptr;
      DiagnoseTimedEvent(pos, end, &fault_pos);
      EXPECT_GE(fault_pos, pos);
      EXPECT_LE(fault_pos, end);
      break;
    }
    EXPECT_GT(next, pos);
    EXPECT_LE(next, end);
    pos = next;
    ++events;
  }
  return events;
}

TEST(BatchDecoderTest, DecodesEveryTimedEvent) {
  for (const EventSpec& spec : AllEventSpecs()) {
    if (!spec.timed()) continue;
    SCOPED_TRACE(std::string(spec.name));
    std::string bytes(1, static_cast<char>(spec.type));
    for (int i = 0; i < spec.arg_count; ++i) AppendVarint(kMax >> (9 * i), &bytes);
    // The room after the event decides which function decodes it.
    for (const size_t room : {0, 1, 10, 60}) {
      const std::string input = bytes + std::string(room, '\xff');
      TimedEvent event;
      const char* const next = DecodeBoth(input.data(), input.data() + input.size(), &event);
      ASSERT_EQ(next, input.data() + bytes.size());
      EXPECT_EQ(event.type, spec.type);
      EXPECT_EQ(event.ticks, kMax);
      for (int i = 1; i < spec.arg_count; ++i) EXPECT_EQ(event.args[i - 1], kMax >> (9 * i));
    }
  }
}

void ExpectFault(absl::string_view bytes, DecodeFault fault, size_t position) {
  for (const size_t room : {0, 60}) {
    // The bytes after the event matter only if the fault is that the payload ends.
    if (room > 0 && fault == DecodeFault::kVarintTruncated) continue;
    const std::string input = absl::StrCat(bytes, std::string(room, '\x01'));
    const char* const end = input.data() + input.size();
    TimedEvent event;
    EXPECT_EQ(DecodeBoth(input.data(), end, &event), nullptr);
    const char* fault_pos = nullptr;
    EXPECT_EQ(DiagnoseTimedEvent(input.data(), end, &fault_pos), fault);
    EXPECT_EQ(fault_pos, input.data() + position) << absl::BytesToHexString(bytes);
  }
}

TEST(BatchDecoderTest, DiagnosesUnknownAndUntimedTypes) {
  int untimed = 0;
  for (int value = 0; value < 256; ++value) {
    const EventSpec* const spec = FindEventSpec(static_cast<EventType>(value));
    if (spec != nullptr && spec->timed()) continue;
    untimed += spec != nullptr;
    ExpectFault(std::string(1, static_cast<char>(value)),
                spec == nullptr ? DecodeFault::kUnknownType : DecodeFault::kNotTimed, 0);
  }
  EXPECT_EQ(untimed, 11);
}

TEST(BatchDecoderTest, DiagnosesTheArgumentThatIsCut) {
  const std::string bytes = Wire(EventType::kUserTaskBegin, {1, 300, 70000, 5, 6});
  const size_t cuts[] = {0, 1, 2, 2, 4, 4, 4, 7, 8};
  ASSERT_EQ(bytes.size(), 9u);
  for (size_t size = 1; size < bytes.size(); ++size) {
    ExpectFault(bytes.substr(0, size), DecodeFault::kVarintTruncated, cuts[size]);
  }
}

TEST(BatchDecoderTest, DiagnosesTheArgumentThatOverflows) {
  for (const EventSpec& spec : AllEventSpecs()) {
    if (!spec.timed()) continue;
    SCOPED_TRACE(std::string(spec.name));
    std::string before(1, static_cast<char>(spec.type));
    for (int i = 0; i < spec.arg_count; ++i) {
      ExpectFault(before + std::string(9, '\xff') + '\x02', DecodeFault::kVarintOverflow,
                  before.size());
      ExpectFault(before + std::string(10, '\x80'), DecodeFault::kVarintOverflow, before.size());
      ExpectFault(before + std::string(9, '\x80'), DecodeFault::kVarintTruncated, before.size());
      AppendVarint(300, &before);
    }
  }
}

TEST(BatchDecoderTest, BothWaysAgreeOnRandomBytes) {
  std::mt19937_64 random(1);
  std::string types;
  for (const EventSpec& spec : AllEventSpecs()) types += static_cast<char>(spec.type);
  uint64_t events = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes) {
      const uint64_t kind = random() % 16;
      c = static_cast<char>(kind < 8    ? types[random() % types.size()]
                            : kind < 14 ? random() % 128
                                        : random());
    }
    events += DecodeAll(bytes);
  }
  EXPECT_GT(events, 20000u);
}

TEST(BatchDecoderTest, BothWaysAgreeOnRandomEvents) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes;
    int count = 0;
    while (random() % 20 != 0) {
      const EventSpec& spec = AllEventSpecs()[random() % AllEventSpecs().size()];
      if (!spec.timed()) continue;
      bytes += static_cast<char>(spec.type);
      for (int arg = 0; arg < spec.arg_count; ++arg) {
        const uint64_t value = random() >> (random() % 64);
        AppendPaddedVarint(value, random() % 8 == 0 ? 10 : VarintSize(value), &bytes);
      }
      ++count;
    }
    ASSERT_EQ(DecodeAll(bytes), count);
    ASSERT_LE(DecodeAll(absl::string_view(bytes).substr(0, random() % (bytes.size() + 1))), count);
  }
}

TEST(BatchDecoderTest, BothWaysAgreeOnRealBatches) {
  std::mt19937_64 random(3);
  uint64_t events = 0;
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    const auto source = *SourceFromBytes(bytes);
    ASSERT_TRUE(ReadHeader(source.get()).ok());
    Batch batch;
    while (ReadBatch(source.get(), &batch).value()) {
      events += DecodeAll(batch.payload);
      std::string damaged(batch.payload);
      if (damaged.empty()) continue;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      DecodeAll(damaged);
    }
  }
  EXPECT_GT(events, 90000u);
}

}  // namespace batch_decoder_test
}  // namespace gotrace::internal
