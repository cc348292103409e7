#include "parser/framing/batch_finder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/limits.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "parser/source/source_wrapper.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "tracev2/batch_encoder.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace batch_finder_test {

constexpr uint64_t kTime = 1 << 30;

std::string BatchOf(uint64_t generation, uint64_t thread, absl::string_view payload) {
  return Wire(EventType::kEventBatch, {generation, thread, kTime, payload.size()}) +
         std::string(payload);
}

// Returns a batch with `count` events of two bytes.
std::string EventsBatch(uint64_t generation, uint64_t thread, int count = 20) {
  std::string payload;
  for (int i = 0; i < count; ++i) payload += Wire(EventType::kProcStop, {5});
  return BatchOf(generation, thread, payload);
}

struct Found {
  std::vector<std::pair<uint64_t, size_t>> batches;  // The offset and size of each payload.
  std::vector<Fault> faults;
  uint64_t skipped = 0;
  uint64_t work = 0;
  bool truncated = false;
  absl::Status io_status;
};

Found FindIn(ByteSource* source, Version version) {
  Found found;
  BatchFinder finder(source, version,
                     [&](Fault fault) { found.faults.push_back(std::move(fault)); });
  Batch batch;
  uint64_t generation = 0;
  while (finder.Next(generation, &batch)) {
    if (!found.batches.empty() && batch.offset <= found.batches.back().first) {
      ADD_FAILURE() << "found the batch at byte " << batch.offset << " again";
      break;
    }
    found.batches.push_back({batch.offset, batch.payload.size()});
    generation = batch.generation;
  }
  found.skipped = finder.skipped_bytes();
  found.work = finder.work();
  found.truncated = finder.truncated();
  found.io_status = finder.io_status();
  return found;
}

constexpr size_t kPieceSize = 1000;

// Finds all batches, and checks that the result is the same if the bytes arrive in small pieces.
Found FindAll(absl::string_view bytes, Version version = Version::kGo126) {
  Found found = FindIn(SourceFromBytes(bytes)->get(), version);
  const auto stream =
      *SourceFromStream(std::make_unique<PieceStream>(std::string(bytes), kPieceSize));
  const Found slowly = FindIn(stream.get(), version);
  EXPECT_EQ(slowly.batches, found.batches);
  EXPECT_EQ(slowly.skipped, found.skipped);
  EXPECT_EQ(slowly.faults.size(), found.faults.size());
  return found;
}

TEST(BatchFinderTest, FindsAllBatchesOfASoundTrace) {
  const std::string bytes =
      EventsBatch(1, 7) + EventsBatch(1, 8) + "\x34" + EventsBatch(2, 7) + "\x34";
  const Found found = FindAll(bytes);
  EXPECT_EQ(found.batches.size(), 5u);
  EXPECT_TRUE(found.faults.empty());
  EXPECT_EQ(found.skipped, 0u);
  EXPECT_FALSE(found.truncated);
}

// Like Go's reader, which reads no further there.
TEST(BatchFinderTest, TreatsALoneTypeOfAnExperimentalBatchAsTheEnd) {
  // The batch contains a byte that may be text.
  const std::string payload =
      Wire(EventType::kProcStop, {5}) + Wire(EventType::kGoCreate, {10, 11, 12, 133});
  const Found found = FindAll(BatchOf(1, 7, payload) + "1", Version::kGo123);
  EXPECT_EQ(found.batches.size(), 1u);
  EXPECT_TRUE(found.faults.empty()) << FormatFault(found.faults[0]);
}

TEST(BatchFinderTest, ALoneTypeAfterDamageIsNoBatch) {
  for (const absl::string_view damage : {"\xff\xff\xff\xff\xff", "\xff", "\xff\xff\n\xff"}) {
    const Found found = FindAll(absl::StrCat(damage, "1"), Version::kGo122);
    EXPECT_TRUE(found.batches.empty());
    EXPECT_FALSE(found.faults.empty());
  }
}

TEST(BatchFinderTest, SkipsBytesThatAreNotTextAndShowsThem) {
  const std::string garbage = "panic\x7f runtime error\n";
  const std::string one = EventsBatch(1, 7);
  const Found found = FindAll(one + EventsBatch(1, 8) + garbage + EventsBatch(1, 9) + "\x34");
  EXPECT_EQ(found.batches.size(), 4u);
  EXPECT_EQ(found.skipped, garbage.size());
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_TRUE(IsFault(FaultStatus(found.faults[0]), FaultId::kBatchType, 2 * one.size()));
  EXPECT_NE(found.faults[0].message.find("skipped 21 bytes, beginning with \"panic\\x7f"),
            std::string::npos)
      << found.faults[0].message;
}

TEST(BatchFinderTest, RemovesTextBetweenBatches) {
  const std::string one = EventsBatch(1, 7);
  // Complete lines, an incomplete one, and one that begins with the byte of an end of generation.
  for (const std::string text :
       {"panic: runtime error\n", "one\ntwo\n", "\n", "no end", "größer\n", "4 workers\n"}) {
    SCOPED_TRACE(text);
    const std::string bytes = one + text + EventsBatch(1, 8) + EventsBatch(1, 9) + "\x34";
    const Found found = FindAll(bytes);
    EXPECT_EQ(found.batches.size(), 4u);
    EXPECT_EQ(found.skipped, 0u);
    ASSERT_EQ(found.faults.size(), 1u);
    EXPECT_TRUE(IsFault(FaultStatus(found.faults[0]), FaultId::kTextInTrace, one.size()));
  }
}

TEST(BatchFinderTest, RemovesTextAtTheEnd) {
  const std::string bytes = EventsBatch(1, 7) + EventsBatch(1, 8) + "\x34";
  for (const std::string text : {"ok  \tx\t0.4s\n", "PASS\nok\n", "killed by"}) {
    const Found found = FindAll(bytes + text);
    EXPECT_EQ(found.batches.size(), 3u);
    EXPECT_EQ(found.skipped, 0u);
    ASSERT_EQ(found.faults.size(), 1u);
    EXPECT_TRUE(IsFault(FaultStatus(found.faults[0]), FaultId::kTextInTrace, bytes.size()));
  }
}

// Wherever a line is inside a batch, including its header, the batch is restored.
TEST(BatchFinderTest, RemovesTextInsideABatch) {
  std::string payload;
  for (int i = 0; i < 10; ++i) payload += Wire(EventType::kHeapAlloc, {5, 300});
  const std::string one = EventsBatch(1, 7);
  const std::string two = BatchOf(1, 8, payload);
  for (size_t place = 1; place < two.size(); ++place) {
    for (const std::string text : {"hello, world\n", "a line\nanother one\n"}) {
      SCOPED_TRACE(absl::StrCat(place, text));
      const std::string bytes = one + two.substr(0, place) + text + two.substr(place) +
                                EventsBatch(1, 9) + EventsBatch(1, 7) + "\x34";
      const auto source = *SourceFromBytes(bytes);
      std::vector<Fault> faults;
      BatchFinder finder(source.get(), Version::kGo126,
                         [&](Fault fault) { faults.push_back(std::move(fault)); });
      Batch batch;
      ASSERT_TRUE(finder.Next(0, &batch));
      ASSERT_TRUE(finder.Next(1, &batch));
      EXPECT_EQ(batch.payload, payload);
      EXPECT_EQ(batch.thread, ThreadId{8});
      EXPECT_EQ(batch.end_offset(), one.size() + two.size() + text.size());
      ASSERT_EQ(batch.text.size(), 1u);
      EXPECT_EQ(batch.text[0], (ByteRange{one.size() + place, one.size() + place + text.size()}));
      EXPECT_EQ(finder.InputOffset(batch.payload_offset + 39), batch.end_offset() - 1);
      ASSERT_EQ(faults.size(), 1u);
      EXPECT_TRUE(IsFault(FaultStatus(faults[0]), FaultId::kTextInTrace, one.size() + place));
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(finder.Next(1, &batch));
      EXPECT_FALSE(finder.Next(1, &batch));
      EXPECT_EQ(faults.size(), 1u);
    }
  }
}

// Between lines, only a batch's own bytes show that it is one.
TEST(BatchFinderTest, FindsABatchBetweenLines) {
  std::string bytes = EventsBatch(1, 7);
  for (int i = 0; i < 10; ++i) bytes += EventsBatch(1, 8) + absl::StrCat("progress ", i, "\n");
  const Found found = FindAll(bytes + "\x34");
  EXPECT_EQ(found.batches.size(), 12u);
  EXPECT_EQ(found.skipped, 0u);
  EXPECT_EQ(found.faults.size(), 10u);
}

TEST(BatchFinderTest, ATooLargeSizeDoesNotSwallowTheNextBatch) {
  const std::string sound = EventsBatch(1, 7);
  std::string damaged = EventsBatch(1, 8);
  damaged[damaged.size() - 41] = 90;  // In place of 40.
  const Found found = FindAll(sound + damaged + EventsBatch(1, 9) + EventsBatch(1, 7) + "\x34");
  ASSERT_EQ(found.batches.size(), 5u);
  EXPECT_EQ(found.batches[1].second, 40u);
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_TRUE(IsFault(FaultStatus(found.faults[0]), FaultId::kBatchMisfit, sound.size()));
  EXPECT_EQ(found.skipped, 0u);
}

// The time of the third batch is far from that of the second one, in which a batch seems to begin.
TEST(BatchFinderTest, ABatchOfWholeEventsIsOneWhateverFollows) {
  const Found found = FindAll(absl::HexStringToBytes(
      "0101000106088094ebdc0301010164200d01000119010101021601010012010d010101190102"
      "01020c0100020125010101010289d3a5ed01040d01000201010001050405010178"));
  EXPECT_EQ(found.batches.size(), 4u);
  EXPECT_EQ(found.batches[1].second, 32u);
  EXPECT_TRUE(found.faults.empty());
  EXPECT_EQ(found.skipped, 0u);
}

// "1" is the type of an experimental batch, and the type of an ordinary batch is the number of the
// only experiment.
TEST(BatchFinderTest, ATextThatEndsInADigitHidesNoBatch) {
  const std::string strings = std::string(1, static_cast<char>(EventType::kStrings)) +
                              Wire(EventType::kString, {1, 6}) + "func.1";
  const std::string after = EventsBatch(1, 9) + EventsBatch(1, 7) + "\x34";
  std::string too_large = BatchOf(1, 8, strings);
  too_large[too_large.size() - strings.size() - 1] += 9;
  Found found = FindAll(too_large + after);
  ASSERT_EQ(found.batches.size(), 4u);
  EXPECT_EQ(found.batches[0].second, strings.size());
  EXPECT_EQ(found.batches[1].first, too_large.size());

  // Here it is the generation that is damaged, so that no batch of it can follow.
  const std::string of_another = BatchOf(65, 8, strings);
  found = FindAll(EventsBatch(1, 7) + of_another + after);
  ASSERT_EQ(found.batches.size(), 5u);
  EXPECT_EQ(found.batches[1].second, strings.size());
  EXPECT_TRUE(found.faults.empty());
}

TEST(BatchFinderTest, ATooSmallSizeLosesTheRestOfItsBatchOnly) {
  const std::string sound = EventsBatch(1, 7);
  std::string damaged = EventsBatch(1, 8);
  damaged[damaged.size() - 41] = 30;  // In place of 40.
  const Found found = FindAll(sound + damaged + EventsBatch(1, 9) + EventsBatch(1, 7) + "\x34");
  ASSERT_EQ(found.batches.size(), 5u);
  EXPECT_EQ(found.batches[1].second, 30u);
  EXPECT_EQ(found.skipped, 10u);
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_TRUE(IsFault(FaultStatus(found.faults[0]), FaultId::kBatchType, 2 * sound.size() - 10));
}

// Bytes that look like a batch and lead to the next one are rejected if the time or the payload is
// impossible.
TEST(BatchFinderTest, RejectsBatchesOfAnotherTimeOrWithoutEvents) {
  const std::string events = EventsBatch(1, 8).substr(EventsBatch(1, 8, 0).size());
  const std::string before = EventsBatch(1, 7) + EventsBatch(1, 8);
  const std::string after = EventsBatch(1, 9) + EventsBatch(1, 7) + "\x34";
  const auto with_time = [&](uint64_t time) {
    return "\x7f" + Wire(EventType::kEventBatch, {1, 9, time, events.size()}) + events;
  };
  EXPECT_EQ(FindAll(before + with_time(kTime) + after).skipped, 1u);
  const std::string early = with_time(5);
  EXPECT_EQ(FindAll(before + early + after).skipped, early.size());
  const std::string no_events = "\x7f" + BatchOf(1, 9, std::string(40, '\x7f'));
  EXPECT_EQ(FindAll(before + no_events + after).skipped, no_events.size());
}

// Two batches, the end of a generation, and a batch of another time that is cut off after its
// header.
TEST(BatchFinderTest, FindsAnEndOfAGenerationOnce) {
  std::string trace;
  ASSERT_TRUE(absl::Base64Unescape(
      "AQEPePSAgICAgICAgAANowIAAgoDAAELDQqvBQACEAwRARRMDBoQBxIBFAsMHRAEEwEWGQMeF9MB"
      "FhEEHxcUFAcPIBAFFAEqEgMjISwkAyMkIisEAyMjEQoQDBUBKgQDIyEsAwMjJSIrAgMjIxEBC5AJ"
      "CobZXwEBCwoK4dJfAAgLCgEBeQoCADQBAgHbg4d5mICAgICAgICAAA==",
      &trace));
  const Found found = FindAll(trace);
  ASSERT_FALSE(found.batches.empty());
  EXPECT_EQ(found.batches.back(), (std::pair<uint64_t, size_t>{136, 1}));
}

// Bytes that cannot be decoded may look like a batch that is followed by another one.
TEST(BatchFinderTest, RejectsUndecodableBatchesUnlessTwoMoreFollow) {
  const std::string before = EventsBatch(1, 7) + EventsBatch(1, 8);
  const std::string broken = BatchOf(1, 9, Wire(EventType::kProcStop, {5}) + "\x7f\x7f\x7f");
  const std::string lookalike = "\x7f" + broken + broken + "\x7f";
  const std::string after = EventsBatch(1, 9) + EventsBatch(1, 7) + "\x34";
  const Found found = FindAll(before + lookalike + after);
  EXPECT_EQ(found.batches.size(), 5u);
  EXPECT_EQ(found.skipped, lookalike.size());
}

// The window ends inside the first batch that can be found.
TEST(BatchFinderTest, FindsABatchAcrossTheEndOfWhatWasSeen) {
  constexpr size_t kSeen = (ByteSource::kMaxFill / kPieceSize + 1) * kPieceSize;
  const std::string garbage(kSeen - 10, '\x7f');
  const auto stream = *SourceFromStream(std::make_unique<PieceStream>(
      garbage + EventsBatch(1, 7) + EventsBatch(1, 8) + "\x34", kPieceSize));
  const Found found = FindIn(stream.get(), Version::kGo126);
  EXPECT_EQ(found.batches.size(), 3u);
  EXPECT_EQ(found.skipped, garbage.size());
}

TEST(BatchFinderTest, ReportsWhetherTheTraceWasCut) {
  const std::string bytes = EventsBatch(1, 7) + EventsBatch(1, 8);
  const size_t size = bytes.size() / 2;
  for (size_t cut = 1; cut < size; ++cut) {
    SCOPED_TRACE(cut);
    const Found found = FindAll(bytes.substr(0, size + cut));
    const size_t header = size - 40;
    const bool has_events = cut >= header + 2;
    ASSERT_EQ(found.batches.size(), has_events ? 2u : 1u);
    EXPECT_EQ(found.batches.back().second, has_events ? (cut - header) / 2 * 2 : 40);
    EXPECT_TRUE(found.truncated);
    EXPECT_EQ(found.skipped, has_events ? (cut - header) % 2 : cut);
    ASSERT_EQ(found.faults.size(), 1u);
  }
}

// Bytes that look like a batch that is cut off may not be a batch.
TEST(BatchFinderTest, AcceptsACutBatchOnlyIfItHoldsEventsOfThatTime) {
  const std::string before = EventsBatch(1, 7) + EventsBatch(1, 8);
  const std::string events = EventsBatch(1, 8).substr(EventsBatch(1, 8, 0).size());
  const auto last = [](uint64_t generation, uint64_t time, const std::string& payload) {
    return Wire(EventType::kEventBatch, {generation, 9, time, 4000}) + payload;
  };
  EXPECT_EQ(FindAll(before + last(1, kTime, events)).batches.size(), 3u);
  EXPECT_EQ(FindAll(before + last(2, kTime, events)).batches.size(), 3u);
  for (const std::string& wrong :
       {last(7, kTime, events), last(1, 5, events), last(1, kTime, events + "bye"),
        last(1, kTime, "\n"), last(1, kTime, "")}) {
    const Found found = FindAll(before + wrong);
    EXPECT_EQ(found.batches.size(), 2u);
    EXPECT_EQ(found.skipped, wrong.size());
  }
}

TEST(BatchFinderTest, FindsATraceThatBeginsInsideOfABatch) {
  const std::string whole = EventsBatch(1, 7);
  const std::string cut = EventsBatch(1, 8);
  const std::string another = MakeHeader(Version::kGo126) + EventsBatch(1, 7) + EventsBatch(1, 8);
  for (size_t lost = 1; lost < 40; ++lost) {
    SCOPED_TRACE(lost);
    // Then the header replaces the lost bytes, so that the batch's size is right.
    if (lost == kHeaderSize) continue;
    const std::string before = whole + cut.substr(0, cut.size() - lost);
    const std::string bytes = before + another;
    const auto source = *SourceFromBytes(bytes);
    BatchFinder finder(source.get(), Version::kGo126, [](const Fault&) {});
    Batch batch;
    while (finder.Next(1, &batch)) EXPECT_LT(batch.offset, before.size());
    EXPECT_EQ(finder.next_trace(), before.size());
  }
}

TEST(BatchFinderTest, ErrorsOfTheInputAreKept) {
  const absl::Status error = absl::UnavailableError("the line is dead");
  const auto source = *SourceFromStream(
      std::make_unique<PieceStream>(EventsBatch(1, 7) + EventsBatch(1, 8), 9, error));
  const Found found = FindIn(source.get(), Version::kGo126);
  EXPECT_EQ(found.batches.size(), 2u);
  EXPECT_EQ(found.io_status, error);
  EXPECT_TRUE(found.faults.empty());
}

TEST(BatchFinderTest, CompressedDataThatEndsEarlyIsReportedOnce) {
  const std::string bytes = EventsBatch(1, 7, 300) + EventsBatch(1, 8, 300);
  const std::string zipped = Zstd(bytes);
  const auto source = *SourceFromBytes(absl::string_view(zipped).substr(0, zipped.size() - 3));
  const Found found = FindIn(source.get(), Version::kGo126);
  EXPECT_FALSE(found.io_status.ok());
  int count = 0;
  for (const Fault& fault : found.faults) count += fault.id == FaultId::kCompressedTruncated;
  EXPECT_EQ(count, 1);
}

// The time is proportional to the size, whatever the bytes: otherwise these would take hours.
TEST(BatchFinderTest, HostileInputTakesNoLongerThanItsSize) {
  const size_t size = TestRounds(1 << 20);
  // Every byte begins a batch; no byte does; and headers that claim much and are followed by
  // nothing.
  std::string claims;
  while (claims.size() < size) {
    claims += Wire(EventType::kEventBatch, {1, 1, kTime, kMaxBatchSize});
  }
  // Lines, lines between headers, and lines between possible events or strings.
  std::string lines;
  while (lines.size() < size) lines += "4 workers and 1 request\n";
  std::string between;
  while (between.size() < size) {
    between += Wire(EventType::kEventBatch, {1, 1, kTime, 1000}) + "\x0a\x14 one\n";
  }
  std::string inside;
  while (inside.size() < size) {
    inside += BatchOf(1, 1, "\x04") + "\x05\x01\x7f one line\nand another\n";
  }
  // Misplaced ends of generations that no sound batch follows.
  std::string ends;
  while (ends.size() < size) ends += "\x34" + BatchOf(1, 1, "");
  std::string pairs_of_ends;
  while (pairs_of_ends.size() < size) {
    pairs_of_ends += "\x34" + BatchOf(1, 1, "") + BatchOf(1, 5, "\x01");
  }
  // Small batches that are also text, before much text.
  std::string printable;
  while (printable.size() < size) printable += "1!!!!\txxxxxxxxx1!A!!\txxxxxxxxx";
  printable += "\xff\xff\xff";
  // Headers as the runtime writes them, each with a size that reaches into the next ones.
  std::string padded;
  while (padded.size() < size) {
    AppendBatchHeader({/*generation=*/1, /*thread=*/1, kTime}, 400, BatchSizeForm::kPadded,
                      &padded);
  }
  for (const std::string& bytes :
       {ends, pairs_of_ends, printable, padded, std::string(size, '\x01'), std::string(size, '\0'),
        std::string(size, '\xff'), std::string(size, '1'), claims, std::string(size, '\n'), lines,
        between, inside}) {
    const auto source = *SourceFromBytes(bytes);
    const Found found = FindIn(source.get(), Version::kGo126);
    uint64_t given = 0;
    for (const auto& [offset, size] : found.batches) given += size;
    EXPECT_LE(given + found.skipped, bytes.size());
    EXPECT_EQ(source->offset(), bytes.size());
    EXPECT_LE(found.work, 64 * (bytes.size() + ByteSource::kMaxFill));
  }
}

// Loses its window at one of the calls of Fill(), as a file does that changes while it is read.
class VanishingSource final : public SourceWrapper {
 public:
  VanishingSource(std::unique_ptr<ByteSource> source, int fills)
      : SourceWrapper(std::move(source)), fills_(fills) {}

  absl::Status Fill(size_t size) override {
    if (fills_ > 0) {
      --fills_;
      return SourceWrapper::Fill(size);
    }
    has_vanished_ = true;
    window_ = window_.substr(0, 0);
    return absl::AbortedError("the file changed");
  }

  bool has_vanished() const { return has_vanished_; }

 private:
  int fills_;
  bool has_vanished_ = false;
};

TEST(BatchFinder, EndsWhereTheInputChanges) {
  const std::string trace = ReadTestTrace("go1.27-annotations.trace").substr(kHeaderSize);
  size_t changes = 0;
  for (size_t cut = 0; cut < trace.size(); cut += 97) {
    // What is cut off, printed text, and another trace are each read in other ways.
    for (const absl::string_view end : {"", "printed text\n", "go 1.22 trace"}) {
      const std::string bytes = absl::StrCat(trace.substr(0, cut), end);
      bool has_vanished = true;
      for (int fills = 0; has_vanished; ++fills) {
        VanishingSource source(*SourceFromBytes(bytes), fills);
        const Found found = FindIn(&source, Version::kGo126);
        has_vanished = source.has_vanished();
        if (!has_vanished) break;
        EXPECT_TRUE(absl::IsAborted(found.io_status)) << cut << " " << fills;
        VanishingSource again(*SourceFromBytes(bytes), fills);
        Batch batch;
        absl::StatusOr<bool> more = true;
        while (more.ok() && *more) more = ReadBatch(&again, &batch);
        EXPECT_FALSE(more.ok() && again.has_vanished()) << cut << " " << fills;
        ++changes;
      }
    }
  }
  EXPECT_GT(changes, 1000);
}

}  // namespace batch_finder_test
}  // namespace gotrace::internal
