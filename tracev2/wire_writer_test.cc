#include "tracev2/wire_writer.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gotrace/internal/event_spec.h"
#include "gtest/gtest.h"
#include "tracev2/varint.h"
#include "tracev2/wire_reader.h"

namespace gotrace::internal {
namespace wire_writer_test {

constexpr uint64_t kMax = ~uint64_t{0};

RawEvent MakeEvent(EventType type, std::initializer_list<uint64_t> args,
                   absl::string_view data = "") {
  RawEvent event;
  event.type = type;
  event.args.assign(args.begin(), args.end());
  event.data = data;
  return event;
}

RawEvent AutoBatch(uint64_t generation) {
  RawEvent event = MakeEvent(EventType::kEventBatch, {generation, 2, 3, 99});
  event.auto_size = true;
  return event;
}

std::string Hex(absl::string_view bytes) { return absl::BytesToHexString(bytes); }

// Returns everything after the header, in hexadecimal.
std::string Body(const std::string& bytes) {
  return Hex(absl::string_view(bytes).substr(kHeaderSize));
}

TEST(WireWriterTest, BeginsWithTheHeader) {
  for (const Version version : AllVersions()) {
    std::string bytes = "kept";
    WireWriter writer(version, BatchSizeForm::kShortest, &bytes);
    writer.Finish();
    EXPECT_EQ(bytes, "kept" + MakeHeader(version));
    EXPECT_EQ(writer.final_size(), bytes.size());
  }
}

TEST(WireWriterTest, IsTheInverseOfTheReader) {
  for (const EventSpec& spec : AllEventSpecs()) {
    SCOPED_TRACE(std::string(spec.name));
    RawEvent event;
    event.type = spec.type;
    for (int i = 0; i < spec.arg_count; ++i) event.args.push_back(kMax >> (15 * i));
    if (spec.form == EventForm::kStack) {
      event.args[1] = 1;
      event.args.insert(event.args.end(), {kMax, 0, 127, 128});
    }
    const std::string data("\0\n\xff", 3);
    if (spec.form == EventForm::kData) event.data = data;
    std::string bytes;
    WireWriter writer(Version::kGo126, BatchSizeForm::kShortest, &bytes);
    writer.Write(event);
    writer.Finish();
    RawEvent back;
    const absl::string_view body = absl::string_view(bytes).substr(kHeaderSize);
    const WireResult result = DecodeRawEvent(body, &back);
    EXPECT_EQ(result.status, WireStatus::kOk);
    EXPECT_EQ(result.size, body.size());
    EXPECT_EQ(back.type, event.type);
    EXPECT_EQ(back.args, event.args);
    EXPECT_EQ(back.data, event.data);
  }
}

TEST(WireWriterTest, SizesAreWrittenAsGiven) {
  std::string bytes;
  WireWriter writer(Version::kGo122, BatchSizeForm::kShortest, &bytes);
  writer.Write(MakeEvent(EventType::kEventBatch, {1, kMax, 300, 77}));
  writer.Write(MakeEvent(EventType::kProcStop, {5}));
  writer.Finish();
  EXPECT_EQ(Body(bytes), "0101ffffffffffffffffff01ac024d0b05");
}

TEST(WireWriterTest, SizesArePaddedToTenBytes) {
  std::string bytes;
  WireWriter writer(Version::kGo122, BatchSizeForm::kPadded, &bytes);
  writer.Write(MakeEvent(EventType::kEventBatch, {1, 2, 300, 5}));
  writer.Write(MakeEvent(EventType::kFrequency, {15625000}));
  RawEvent computed = AutoBatch(1);
  writer.Write(computed);
  writer.Write(MakeEvent(EventType::kProcStop, {5}));
  writer.Finish();
  EXPECT_EQ(Body(bytes),
            "010102ac028580808080808080800008a8d6b907"
            "010102038280808080808080800"
            "00b05");
}

TEST(WireWriterTest, SizesOfExperimentalBatchesArePaddedToo) {
  std::string bytes;
  WireWriter writer(Version::kGo123, BatchSizeForm::kPadded, &bytes);
  writer.Write(MakeEvent(EventType::kExperimentalBatch, {1, 2, 3, 4}, "xyz"));
  writer.Write(MakeEvent(EventType::kString, {1}, "ab"));
  writer.Finish();
  EXPECT_EQ(Body(bytes),
            "3101020304"
            "83808080808080808000"
            "78797a"
            "0501026162");
}

TEST(WireWriterTest, ComputesSizesUpToWhatEndsABatch) {
  // A batch is ended by another one, by one of an experiment, by an end of generation, and by the
  // end of the trace.
  std::string bytes;
  WireWriter writer(Version::kGo126, BatchSizeForm::kShortest, &bytes);
  writer.Write(AutoBatch(1));
  writer.Write(MakeEvent(EventType::kProcStop, {5}));
  writer.Write(MakeEvent(EventType::kProcStop, {300}));
  writer.Write(AutoBatch(1));
  writer.Write(AutoBatch(1));
  writer.Write(MakeEvent(EventType::kStrings, {}));
  writer.Write(MakeEvent(EventType::kString, {1}, "ab"));
  writer.Write(MakeEvent(EventType::kExperimentalBatch, {1, 2, 3, 4}, "xyz"));
  writer.Write(AutoBatch(1));
  writer.Write(MakeEvent(EventType::kProcStop, {5}));
  writer.Write(MakeEvent(EventType::kEndOfGeneration, {}));
  writer.Write(AutoBatch(2));
  writer.Write(MakeEvent(EventType::kGoStart, {1, 2, 3}));
  writer.Finish();
  EXPECT_EQ(Body(bytes),
            "0101020305"
            "0b05"
            "0bac02"
            "0101020300"
            "0101020306"
            "04"
            "0501026162"
            "3101020304"
            "03"
            "78797a"
            "0101020302"
            "0b05"
            "34"
            "0102020304"
            "10010203");
}

TEST(WireWriterTest, ComputesSizesOfSeveralBytes) {
  for (const size_t size : {size_t{127}, size_t{128}, size_t{20000}}) {
    std::string bytes;
    WireWriter writer(Version::kGo122, BatchSizeForm::kShortest, &bytes);
    writer.Write(AutoBatch(1));
    for (size_t i = 0; i < size; ++i) writer.Write(MakeEvent(EventType::kStrings, {}));
    writer.Finish();
    std::string expected = MakeHeader(Version::kGo122) + std::string("\x01\x01\x02\x03", 4);
    AppendVarint(size, &expected);
    EXPECT_EQ(Hex(bytes), Hex(expected + std::string(size, '\x04')));
  }
}

TEST(WireWriterTest, FinishTwiceChangesNothing) {
  std::string bytes;
  WireWriter writer(Version::kGo122, BatchSizeForm::kShortest, &bytes);
  writer.Write(AutoBatch(1));
  writer.Finish();
  const std::string once = bytes;
  writer.Finish();
  EXPECT_EQ(Hex(bytes), Hex(once));
}

TEST(WireWriterTest, FinalBytesMayBeTakenAway) {
  const RawEvent events[] = {
      MakeEvent(EventType::kEventBatch, {1, 2, 3, 2}),
      MakeEvent(EventType::kProcStop, {5}),
      AutoBatch(1),
      MakeEvent(EventType::kProcStop, {6}),
      MakeEvent(EventType::kProcStop, {7}),
      AutoBatch(1),
      MakeEvent(EventType::kProcStop, {8}),
      MakeEvent(EventType::kEndOfGeneration, {}),
  };
  std::string whole;
  WireWriter plain(Version::kGo126, BatchSizeForm::kShortest, &whole);
  for (const RawEvent& event : events) plain.Write(event);
  plain.Finish();

  // Taken as a whole, and bit by bit.
  for (const size_t most : {size_t{1} << 20, size_t{1}, size_t{3}}) {
    std::string taken;
    std::string bytes;
    WireWriter writer(Version::kGo126, BatchSizeForm::kShortest, &bytes);
    const auto take = [&] {
      const size_t size = std::min(most, writer.final_size());
      taken += bytes.substr(0, size);
      writer.Taken(size);
    };
    for (const RawEvent& event : events) {
      writer.Write(event);
      take();
    }
    writer.Finish();
    EXPECT_EQ(writer.final_size(), bytes.size());
    EXPECT_EQ(Hex(taken + bytes), Hex(whole));
  }
}

TEST(WireWriterTest, OpenBatchesAreNotFinal) {
  std::string bytes;
  WireWriter writer(Version::kGo122, BatchSizeForm::kShortest, &bytes);
  EXPECT_EQ(writer.final_size(), kHeaderSize);
  writer.Write(AutoBatch(1));
  const size_t open = writer.final_size();
  EXPECT_EQ(open, kHeaderSize + 4);
  writer.Write(MakeEvent(EventType::kProcStop, {5}));
  EXPECT_EQ(writer.final_size(), open);
  writer.Taken(open);
  EXPECT_EQ(writer.final_size(), 0u);
  writer.Finish();
  EXPECT_EQ(Hex(bytes), "020b05");
}

}  // namespace wire_writer_test
}  // namespace gotrace::internal
