#include "parser/framing/raw_reader.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/fault.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace raw_reader_test {

// The result of reading the raw events of a trace.
struct RawOutcome {
  std::vector<std::string> events;  // With the size of each in bytes.
  uint64_t offset = 0;              // Where reading stopped.
  absl::Status status;
};

RawOutcome ReadRaw(std::unique_ptr<ByteSource> source,
                   RawReader::Types types = RawReader::Types::kOfVersion) {
  RawReader reader = *RawReader::FromSource(std::move(source), types);
  RawOutcome outcome;
  while (const RawEvent* event = reader.Next()) {
    outcome.events.push_back(absl::StrCat(EventTypeName(event->type), " ", reader.event_size()));
  }
  outcome.offset = reader.offset();
  outcome.status = reader.status();
  EXPECT_EQ(reader.Next(), nullptr);
  EXPECT_EQ(reader.status(), outcome.status);
  return outcome;
}

RawOutcome ReadRaw(absl::string_view bytes, RawReader::Types types = RawReader::Types::kOfVersion) {
  return ReadRaw(*SourceFromBytes(bytes), types);
}

TEST(RawReaderTest, ReturnsTheSameHoweverTheTraceArrives) {
  const std::string trace = ReadTestTrace("go1.27-gc.trace");
  const RawOutcome whole = ReadRaw(trace);
  EXPECT_TRUE(whole.status.ok()) << whole.status;
  EXPECT_EQ(whole.offset, trace.size());
  EXPECT_GT(whole.events.size(), 1000u);
  for (const size_t piece : {1, 7, 1000}) {
    const RawOutcome streamed =
        ReadRaw(*SourceFromStream(std::make_unique<PieceStream>(trace, piece)));
    EXPECT_TRUE(streamed.status.ok()) << streamed.status;
    EXPECT_EQ(streamed.offset, trace.size());
    EXPECT_TRUE(streamed.events == whole.events) << piece;
  }
}

TEST(RawReaderTest, ReturnsEventsBeforeAFaultAndReportsItsPlace) {
  const std::string header = MakeHeader(Version::kGo122);
  const std::string batch("\x01\x01\x01\x64\x05", 5);  // At byte 16, so that byte 21 is next.
  const std::string too_long(10, '\xff');              // Longer than any number.
  const struct {
    std::string bytes;
    FaultId fault;
    uint64_t offset;
  } kCases[] = {
      {"\xff", FaultId::kEventType, 21},
      {std::string(1, '\0'), FaultId::kEventType, 21},
      // A ClockSnapshot, which traces have since version 1.25.
      {"\x33\x01\x01\x01\x01", FaultId::kEventVersion, 21},
      {absl::StrCat("\x0a", too_long, "\x01"), FaultId::kEventVarint, 22},
      {absl::StrCat("\x0a", "\x01", too_long), FaultId::kEventVarint, 23},
      // A Stack of 129 frames; the fault is at the first.
      {std::string("\x03\x01\x81\x01", 4) + std::string(1000, '\x01'), FaultId::kStackDepth, 25},
      // A String of 65537 bytes.
      {"\x05\x01\x81\x80\x04", FaultId::kEventDataSize, 26},
      // A String of 5 bytes of which only one is there; the fault is at the first.
      {std::string("\x05\x01\x05gopher", 4), FaultId::kEventTruncated, 24},
  };
  for (const auto& test : kCases) {
    const RawOutcome outcome = ReadRaw(absl::StrCat(header, batch, test.bytes));
    EXPECT_TRUE(IsFault(outcome.status, test.fault, test.offset)) << outcome.status;
    EXPECT_EQ(outcome.events, std::vector<std::string>({"EventBatch 5"}));
    EXPECT_EQ(outcome.offset, 21u);
  }
}

TEST(RawReaderTest, CanTakeTheEventsThatGosToolKnows) {
  const std::string batch("\x01\x01\x01\x64\x05", 5);
  const std::string alloc("\x81\x01\x01\x01\x01", 5);  // A SpanAlloc, of an experiment.
  const std::string trace = absl::StrCat(MakeHeader(Version::kGo125), batch, alloc);
  const RawOutcome all = ReadRaw(trace);
  EXPECT_TRUE(all.status.ok()) << all.status;
  EXPECT_EQ(all.events, std::vector<std::string>({"EventBatch 5", "SpanAlloc 5"}));
  const RawOutcome of_go = ReadRaw(trace, RawReader::Types::kOfGoTool);
  EXPECT_TRUE(IsFault(of_go.status, FaultId::kEventVersion, 21)) << of_go.status;
  EXPECT_EQ(of_go.events, std::vector<std::string>({"EventBatch 5"}));
}

}  // namespace raw_reader_test
}  // namespace gotrace::internal
