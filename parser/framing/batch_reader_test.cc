#include "parser/framing/batch_reader.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/limits.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace batch_reader_test {

constexpr uint64_t kMax = ~uint64_t{0};
const char* const kOverflow = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";

// Returns a source of `bytes` that returns one byte with each read, so that a number may be cut at
// any byte.
std::unique_ptr<ByteSource> Slowly(absl::string_view bytes) {
  return *SourceFromStream(std::make_unique<PieceStream>(std::string(bytes), 1));
}

absl::Status HeaderError(absl::string_view bytes) {
  const absl::Status status = ReadHeader(SourceFromBytes(bytes)->get()).status();
  EXPECT_EQ(ReadHeader(Slowly(bytes).get()).status().message(), status.message());
  return status;
}

TEST(ReadHeaderTest, ReadsEveryVersion) {
  for (const Version version : AllVersions()) {
    const auto source = Slowly(MakeHeader(version) + "more");
    EXPECT_EQ(ReadHeader(source.get()).value(), version);
    EXPECT_EQ(source->offset(), kHeaderSize);
  }
}

TEST(ReadHeaderTest, ReportsWhatElseItFound) {
  const std::string header = MakeHeader(Version::kGo122);
  for (size_t size = 0; size < header.size(); ++size) {
    EXPECT_TRUE(IsFault(HeaderError(header.substr(0, size)), FaultId::kHeaderTruncated, 0));
  }
  EXPECT_TRUE(IsFault(HeaderError("ELF something longer"), FaultId::kNotATrace, 0));
  EXPECT_TRUE(IsFault(HeaderError("x"), FaultId::kNotATrace, 0));
  EXPECT_TRUE(
      IsFault(HeaderError(absl::string_view("go 1.21 trace\0\0\0", 16)), FaultId::kV1Trace, 0));
  EXPECT_TRUE(IsFault(HeaderError(absl::string_view("go 1.24 trace\0\0\0", 16)),
                      FaultId::kUnknownVersion, 0));
  EXPECT_TRUE(IsFault(HeaderError(absl::string_view("go 1.28 trace\0\0\0", 16)),
                      FaultId::kUnknownVersion, 0));
}

TEST(ReadHeaderTest, ErrorsOfTheInputAreNoFaults) {
  const absl::Status error = absl::UnavailableError("the line is dead");
  const auto source = SourceFromStream(std::make_unique<PieceStream>("go 1.22", 1, error));
  EXPECT_EQ(ReadHeader(source->get()).status(), error);
}

// The result of reading one batch, either from bytes in memory or byte by byte.
struct ReadResult {
  absl::StatusOr<bool> more;
  Batch batch;
  std::unique_ptr<ByteSource> source;
};

ReadResult Read(absl::string_view bytes, bool slowly) {
  ReadResult result;
  result.source = slowly ? Slowly(bytes) : *SourceFromBytes(bytes);
  result.more = ReadBatch(result.source.get(), &result.batch);
  return result;
}

// Returns a batch with five bytes of payload; its header has nine.
std::string SampleBatch() {
  return Wire(EventType::kEventBatch, {3, 77, 1000000, 5}) + std::string("\x0b\x01\x0b\x02\x00", 5);
}

void ExpectFault(absl::string_view bytes, FaultId id, uint64_t offset) {
  for (const bool slowly : {false, true}) {
    const ReadResult result = Read(bytes, slowly);
    EXPECT_TRUE(IsFault(result.more.status(), id, offset)) << slowly;
    const std::optional<Fault> fault = FaultOf(result.more.status());
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->place.batch_offset, 0u);
    // A failed read consumes nothing.
    EXPECT_EQ(result.source->offset(), 0u);
  }
}

TEST(ReadBatchTest, ReadsEventBatches) {
  const std::string payload("\x0b\x01\x0b\x02\x00", 5);
  const std::string bytes = Wire(EventType::kEventBatch, {3, 77, 1000000, 5}) + payload + "rest";
  for (const bool slowly : {false, true}) {
    const ReadResult result = Read(bytes, slowly);
    ASSERT_TRUE(result.more.ok()) << result.more.status();
    EXPECT_TRUE(*result.more);
    const Batch& batch = result.batch;
    EXPECT_EQ(batch.offset, 0u);
    EXPECT_EQ(batch.payload_offset, 7u);
    EXPECT_EQ(batch.generation, 3u);
    EXPECT_EQ(batch.thread, ThreadId{77});
    EXPECT_EQ(batch.time, 1000000u);
    EXPECT_EQ(batch.experiment, 0u);
    EXPECT_EQ(batch.payload, payload);
    EXPECT_EQ(batch.kind(), EventType::kProcStop);
    EXPECT_EQ(result.source->offset(), 12u);
  }
}

TEST(ReadBatchTest, ReadsTheLargestNumbersAndPaddedOnes) {
  std::string bytes = Wire(EventType::kEventBatch, {kMax, kMax, kMax});
  AppendPaddedVarint(1, kMaxVarintSize, &bytes);
  const size_t header = bytes.size();
  bytes += "\x04";
  for (const bool slowly : {false, true}) {
    const ReadResult result = Read(bytes, slowly);
    ASSERT_TRUE(result.more.value_or(false)) << result.more.status();
    EXPECT_EQ(result.batch.generation, kMax);
    EXPECT_EQ(result.batch.thread, ThreadId::kNone);
    EXPECT_EQ(result.batch.time, kMax);
    EXPECT_EQ(result.batch.payload_offset, header);
    EXPECT_EQ(result.batch.kind(), EventType::kStrings);
  }
}

TEST(ReadBatchTest, ReadsEmptyAndFullBatches) {
  for (const size_t size : {size_t{0}, size_t{kMaxBatchSize}}) {
    const std::string bytes =
        Wire(EventType::kEventBatch, {1, 2, 3, size}) + std::string(size, '\x02');
    const ReadResult result = Read(bytes, /*slowly=*/false);
    ASSERT_TRUE(result.more.value_or(false)) << result.more.status();
    EXPECT_EQ(result.batch.payload.size(), size);
    EXPECT_EQ(result.batch.kind(), size == 0 ? EventType::kNone : EventType::kStacks);
    EXPECT_EQ(result.source->offset(), bytes.size());
  }
}

TEST(ReadBatchTest, ReadsExperimentalBatches) {
  // The experiment is a byte, not a varint.
  for (const int experiment : {0, 1, 0x80, 0xff}) {
    std::string bytes = Wire(EventType::kExperimentalBatch);
    bytes += static_cast<char>(experiment);
    for (const uint64_t number : {4, 5, 6, 1}) AppendVarint(number, &bytes);
    bytes += "\x04";
    for (const bool slowly : {false, true}) {
      const ReadResult result = Read(bytes, slowly);
      ASSERT_TRUE(result.more.value_or(false)) << result.more.status();
      EXPECT_EQ(result.batch.experiment, static_cast<uint64_t>(experiment));
      EXPECT_EQ(result.batch.generation, 4u);
      EXPECT_EQ(result.batch.payload, "\x04");
      EXPECT_EQ(result.batch.kind(), experiment == 0 ? EventType::kStrings : EventType::kNone);
    }
  }
}

TEST(ReadBatchTest, EndOfGenerationIsABatchOfOneByte) {
  const ReadResult result = Read("\x34more", /*slowly=*/true);
  ASSERT_TRUE(result.more.value_or(false)) << result.more.status();
  EXPECT_EQ(result.batch.generation, 0u);
  EXPECT_EQ(result.batch.payload_offset, result.batch.offset);
  EXPECT_EQ(result.batch.payload, "\x34");
  EXPECT_EQ(result.batch.kind(), EventType::kEndOfGeneration);
  EXPECT_EQ(result.source->offset(), 1u);
}

TEST(ReadBatchTest, TheTraceMayEndBetweenBatches) {
  for (const absl::string_view bytes : {"", "\x31"}) {
    for (const bool slowly : {false, true}) {
      const ReadResult result = Read(bytes, slowly);
      ASSERT_TRUE(result.more.ok()) << result.more.status();
      EXPECT_FALSE(*result.more);
    }
  }
}

TEST(ReadBatchTest, EveryOtherTypeBeginsNoBatch) {
  for (int type = 0; type < 256; ++type) {
    if (type == 1 || type == 49 || type == 52) continue;
    ExpectFault(std::string(1, static_cast<char>(type)) + "\x01\x01\x01\x01", FaultId::kBatchType,
                0);
  }
}

TEST(ReadBatchTest, ReportsThatAnotherTraceBegins) {
  const auto found = [](absl::string_view bytes) {
    Batch batch;
    return std::string(ReadBatch(Slowly(bytes).get(), &batch).status().message());
  };
  for (const std::string& header :
       {MakeHeader(Version::kGo123), std::string("go 1.99 trace\0\0\0", 16)}) {
    EXPECT_NE(found(header).find("found the header \"go 1."), std::string::npos);
    EXPECT_EQ(found(header.substr(0, 15)).find("of another trace"), std::string::npos);
  }
}

TEST(ReadBatchTest, ShowsTextInPlaceOfABatch) {
  const auto found = [](absl::string_view bytes) {
    Batch batch;
    const std::string message(ReadBatch(Slowly(bytes).get(), &batch).status().message());
    const size_t at = message.find("found ");
    return message.substr(at, message.find(" [") - at);
  };
  EXPECT_EQ(found("done 1\nand more\n"), "found the text \"done 1\\n…\"");
  EXPECT_EQ(found("done 1\n"), "found the text \"done 1\\n\"");
  EXPECT_EQ(found("ok\n"), "found the text \"ok\\n\"");
  EXPECT_EQ(found("=== second run\n"), "found the text \"=== second run\\n\"");
  EXPECT_EQ(found(std::string(1000, 'x')),
            absl::StrCat("found the text \"", std::string(60, 'x'), "…\""));
  EXPECT_EQ(found("=\xff\xff"), "found byte 61, which is not an event type");
  EXPECT_EQ(found("\xff"), "found byte 255, which is not an event type");
  EXPECT_EQ(found("\x02text"), "found byte 2 (Stacks)");
}

TEST(ReadBatchTest, EveryCutIsReportedAtItsPlace) {
  const std::string bytes = SampleBatch();
  // The beginning of the number that a cut before byte i divides.
  const uint64_t cuts[] = {0, 1, 2, 3, 3, 3, 6};
  for (size_t size = 1; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    if (size < 7) {
      ExpectFault(bytes.substr(0, size), FaultId::kBatchHeaderTruncated, cuts[size]);
    } else {
      ExpectFault(bytes.substr(0, size), FaultId::kBatchTruncated, 7);
    }
  }
  const std::string experimental = absl::StrCat("\x31\x01", bytes.substr(1));
  for (size_t size = 2; size < experimental.size(); ++size) {
    SCOPED_TRACE(size);
    if (size < 8) {
      ExpectFault(experimental.substr(0, size), FaultId::kBatchHeaderTruncated,
                  size == 2 ? 2 : cuts[size - 1] + 1);
    } else {
      ExpectFault(experimental.substr(0, size), FaultId::kBatchTruncated, 8);
    }
  }
}

TEST(ReadBatchTest, NumbersMustFit64Bits) {
  std::string before = "\x01";
  for (int number = 0; number < 4; ++number) {
    ExpectFault(before + kOverflow, FaultId::kBatchHeaderVarint, before.size());
    ExpectFault(before + std::string(10, '\x80'), FaultId::kBatchHeaderVarint, before.size());
    ExpectFault(before + std::string(9, '\x80'), FaultId::kBatchHeaderTruncated, before.size());
    before += "\x01";
  }
}

TEST(ReadBatchTest, BatchesHaveAtMost64KiB) {
  for (const uint64_t size : {kMaxBatchSize + 1, uint64_t{1} << 32, kMax}) {
    const std::string bytes = Wire(EventType::kEventBatch, {1, 2, 3, size});
    ExpectFault(bytes, FaultId::kBatchSize, bytes.size());
    ExpectFault(bytes + std::string(100, '\0'), FaultId::kBatchSize, bytes.size());
  }
}

TEST(ReadBatchTest, OffsetsCountFromTheBeginningOfTheTrace) {
  const std::string trace =
      MakeHeader(Version::kGo126) + SampleBatch() + "\x34" + SampleBatch() + "x";
  for (const bool slowly : {false, true}) {
    const auto source = slowly ? Slowly(trace) : *SourceFromBytes(trace);
    ASSERT_TRUE(ReadHeader(source.get()).ok());
    Batch batch;
    ASSERT_TRUE(ReadBatch(source.get(), &batch).value());
    EXPECT_EQ(batch.offset, 16u);
    EXPECT_EQ(batch.payload_offset, 23u);
    const Place place = batch.place();
    EXPECT_EQ(place.offset, 23u);
    EXPECT_EQ(place.batch_offset, 16u);
    EXPECT_EQ(place.generation, 3u);
    EXPECT_EQ(place.thread, ThreadId{77});
    ASSERT_TRUE(ReadBatch(source.get(), &batch).value());
    EXPECT_EQ(batch.offset, 28u);
    ASSERT_TRUE(ReadBatch(source.get(), &batch).value());
    EXPECT_EQ(batch.offset, 29u);
    const absl::Status status = ReadBatch(source.get(), &batch).status();
    EXPECT_TRUE(IsFault(status, FaultId::kBatchType, trace.size() - 1));
    EXPECT_EQ(FaultOf(status)->place.batch_offset, trace.size() - 1);
  }
}

TEST(ReadBatchTest, ErrorsOfTheInputAreNoFaults) {
  const absl::Status error = absl::UnavailableError("the line is dead");
  const std::string bytes = SampleBatch();
  for (size_t size = 4; size < bytes.size(); ++size) {
    const auto source =
        SourceFromStream(std::make_unique<PieceStream>(bytes.substr(0, size), 1, error));
    Batch batch;
    EXPECT_EQ(ReadBatch(source->get(), &batch).status(), error);
  }
}

}  // namespace batch_reader_test
}  // namespace gotrace::internal
