#include "parser/generation/generation.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace generation_test {

// The bytes of an event batch.
std::string Bytes(uint64_t generation, absl::string_view payload, uint64_t thread = 7,
                  uint64_t time = 100) {
  return absl::StrCat(Wire(EventType::kEventBatch, {generation, thread, time, payload.size()}),
                      payload);
}

// Returns a sync batch with everything that a generation needs.
std::string SyncBatch(Version version, uint64_t generation) {
  const std::string frequency = Wire(EventType::kFrequency, {1000000000});
  if (version < Version::kGo125) return Bytes(generation, frequency);
  return Bytes(generation, absl::StrCat(Wire(EventType::kSync), frequency,
                                        Wire(EventType::kClockSnapshot, {1, 2, 3, 4})));
}

const std::string& kEnd = *new std::string("\x34");

// A source that records what was released.
class WatchedSource : public ByteSource {
 public:
  explicit WatchedSource(absl::string_view bytes) { window_ = bytes; }
  absl::Status Fill(size_t) override { return absl::OkStatus(); }
  void Release(uint64_t offset) override { released_ = offset; }
  uint64_t input_size() const override { return 0; }
  uint64_t input_read() const override { return 0; }
  uint64_t released() const { return released_; }

 private:
  uint64_t released_ = 0;
};

// Reads the generations of `body` one by one. Offsets count from the beginning of the body.
class Reading {
 public:
  Reading(Version version, std::string body)
      : body_(std::move(body)), source_(body_), reader_(&source_, version) {}

  // Reads a generation that is expected to have `number`.
  std::unique_ptr<Generation> Expect(uint64_t number) {
    absl::StatusOr<std::unique_ptr<Generation>> generation = reader_.Next();
    EXPECT_TRUE(generation.ok()) << generation.status();
    if (!generation.ok() || *generation == nullptr) return std::make_unique<Generation>();
    EXPECT_EQ((*generation)->number(), number);
    return *std::move(generation);
  }

  void ExpectEnd() {
    const absl::StatusOr<std::unique_ptr<Generation>> generation = reader_.Next();
    ASSERT_TRUE(generation.ok()) << generation.status();
    EXPECT_EQ(*generation, nullptr);
  }

  void ExpectFault(FaultId id, uint64_t offset) {
    EXPECT_TRUE(IsFault(reader_.Next().status(), id, offset));
  }

  uint64_t released() const { return source_.released(); }
  uint64_t next_offset() const { return reader_.next_offset(); }

 private:
  const std::string body_;
  WatchedSource source_;
  GenerationReader reader_;
};

void ExpectFault(Version version, const std::string& body, FaultId id, uint64_t offset) {
  Reading(version, body).ExpectFault(id, offset);
}

constexpr Version kSpilling[] = {Version::kGo122, Version::kGo123, Version::kGo125};
constexpr Version kEnding = Version::kGo126;

TEST(GenerationTest, GathersTheBatchesOfEachThread) {
  const std::string body = absl::StrCat(
      Bytes(5, "\x0b\x01", 20, 300), SyncBatch(Version::kGo122, 5), Bytes(5, "\x0b\x02", 10, 50),
      Bytes(5, "", 20, 400), Bytes(5, "\x0b\x03\x0b\x04", ~uint64_t{0}, 200),
      Bytes(5, "\x0b\x05", 20, 500), Bytes(5, "\x04\x05\x01\x01z", 30, 60));
  Reading reading(Version::kGo122, body);
  const auto generation = reading.Expect(5);
  EXPECT_EQ(generation->batch_count(), 7u);
  EXPECT_EQ(generation->min_ticks(), 50u);
  EXPECT_EQ(generation->begin_offset(), 0u);
  EXPECT_EQ(generation->end_offset(), body.size());
  ASSERT_EQ(generation->threads().size(), 3u);
  EXPECT_EQ(generation->threads()[0].thread, ThreadId{20});
  EXPECT_EQ(generation->threads()[1].thread, ThreadId{10});
  EXPECT_EQ(generation->threads()[2].thread, ThreadId::kNone);
  const auto& batches = generation->event_batches();
  // The batch without events is not kept.
  ASSERT_EQ(batches.size(), 4u);
  std::vector<uint64_t> times;
  for (uint32_t i = generation->threads()[0].first; i != EventBatch::kLast; i = batches[i].next) {
    times.push_back(batches[i].time);
  }
  EXPECT_EQ(times, (std::vector<uint64_t>{300, 500}));
  EXPECT_EQ(batches[0].offset, 0u);
  EXPECT_EQ(batches[0].payload_offset, 6u);
  EXPECT_EQ(batches[0].size, 2u);
  EXPECT_EQ(*generation->tables().FindString(1), "z");
  reading.ExpectEnd();
}

TEST(GenerationTest, KindsOfBatchesFollowTheVersion) {
  // Each version has its own sync batch; that of the other version is an event batch.
  Reading old(Version::kGo123, SyncBatch(Version::kGo123, 1) + Bytes(1, "\x32"));
  EXPECT_EQ(old.Expect(1)->event_batches().size(), 1u);
  Reading current(Version::kGo125, SyncBatch(Version::kGo125, 1) + Bytes(1, "\x08\x05"));
  EXPECT_EQ(current.Expect(1)->event_batches().size(), 1u);
}

TEST(GenerationTest, ExperimentalBatchesAreKeptApart) {
  const std::string experimental = absl::StrCat("\x31\x01\x01\x07\x05\x02", "\x04\x04");
  Reading reading(Version::kGo123, SyncBatch(Version::kGo123, 1) + experimental);
  const auto generation = reading.Expect(1);
  EXPECT_TRUE(generation->event_batches().empty());
  EXPECT_EQ(generation->min_ticks(), 5u);
  ASSERT_EQ(generation->tables().experimental_batches().size(), 1u);
  EXPECT_EQ(generation->tables().experimental_batches()[0].batches[0].data, "\x04\x04");
}

TEST(GenerationTest, ATimeOfZeroCountsAsNotSet) {
  Reading reading(Version::kGo122, absl::StrCat(SyncBatch(Version::kGo122, 1), Bytes(1, "", 7, 0),
                                                Bytes(1, "", 7, 300)));
  EXPECT_EQ(reading.Expect(1)->min_ticks(), 300u);
}

// Up to Go 1.25 the next generation's first batch ends a generation. ----------------------------

TEST(SpillTest, TheNextGenerationEndsOne) {
  for (const Version version : kSpilling) {
    const std::string first = SyncBatch(version, 3) + Bytes(3, "\x0b\x01");
    const std::string second = Bytes(4, "\x0b\x02") + SyncBatch(version, 4);
    Reading reading(version, first + second);
    const auto three = reading.Expect(3);
    EXPECT_EQ(three->batch_count(), 2u);
    EXPECT_EQ(three->end_offset(), first.size());
    const auto four = reading.Expect(4);
    // The bytes read of the second one are not released.
    EXPECT_EQ(reading.released(), first.size());
    EXPECT_EQ(four->batch_count(), 2u);
    EXPECT_EQ(four->begin_offset(), first.size());
    EXPECT_EQ(four->event_batches()[0].payload[1], '\x02');
    reading.ExpectEnd();
    EXPECT_EQ(reading.released(), first.size() + second.size());
  }
}

TEST(SpillTest, OtherGenerationsAreFaults) {
  for (const Version version : kSpilling) {
    const std::string first = SyncBatch(version, 3);
    ExpectFault(version, first + Bytes(5, ""), FaultId::kGenerationOrder, first.size());
    ExpectFault(version, first + Bytes(2, ""), FaultId::kGenerationOrder, first.size());
    ExpectFault(version, first + Bytes(0, ""), FaultId::kGenerationZero, first.size());
    ExpectFault(version, Bytes(0, ""), FaultId::kGenerationZero, 0);
    ExpectFault(version, first + kEnd, FaultId::kEndOfGenerationEvent, first.size());
    ExpectFault(version, first + Bytes(3, kEnd), FaultId::kEndOfGenerationEvent, first.size());
    Reading lost(version, first + Bytes(4, kEnd));
    lost.Expect(3);
    lost.ExpectFault(FaultId::kEndOfGenerationEvent, first.size());
  }
}

TEST(SpillTest, WhatWasReadBeforeABrokenBatchIsGiven) {
  for (const Version version : kSpilling) {
    const std::string first = SyncBatch(version, 3) + Bytes(3, "\x0b\x01");
    for (const auto& [bad, id, position] :
         {std::tuple<std::string, FaultId, uint64_t>{"\x02", FaultId::kBatchType, 0},
          {"\x01\x03", FaultId::kBatchHeaderTruncated, 2},
          {"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", FaultId::kBatchHeaderVarint, 1},
          {"\x01\x03\x07\x05\xff\xff\x7f", FaultId::kBatchSize, 7},
          {"\x01\x03\x07\x05\x02x", FaultId::kBatchTruncated, 5}}) {
      Reading reading(version, first + bad);
      EXPECT_EQ(reading.Expect(3)->batch_count(), 2u);
      reading.ExpectFault(id, first.size() + position);
      // With nothing before it there is nothing to return.
      ExpectFault(version, bad, id, position);
    }
  }
}

TEST(SpillTest, AGenerationSaysWhetherTheTraceIsCutOffAfterIt) {
  for (const Version version : kSpilling) {
    const std::string first = SyncBatch(version, 3);
    const auto integrity_before = [&](const std::string& rest) {
      return Reading(version, first + rest).Expect(3)->integrity();
    };
    EXPECT_TRUE(integrity_before("").is_last);
    EXPECT_TRUE(integrity_before("").cut.ok());
    EXPECT_FALSE(integrity_before(SyncBatch(version, 4)).is_last);
    EXPECT_TRUE(integrity_before(SyncBatch(version, 4)).cut.ok());
    const Generation::Integrity cut = integrity_before("\x01\x03\x07\x05\x02x");
    EXPECT_TRUE(cut.is_last);
    EXPECT_TRUE(IsFault(cut.cut, FaultId::kBatchTruncated, first.size() + 5));
    // The trace is not known to continue after bytes that are not a batch.
    EXPECT_FALSE(integrity_before("\x02").is_last);
    EXPECT_TRUE(integrity_before("\x02").cut.ok());
  }
}

TEST(SpillTest, ABrokenBatchIsReportedRatherThanMissingParts) {
  const std::string first = Bytes(3, "\x0b\x01");
  ExpectFault(Version::kGo122, first + "\x02", FaultId::kBatchType, first.size());
  ExpectFault(Version::kGo122, first, FaultId::kNoFrequency, first.size());
}

TEST(SpillTest, TheSpilledBatchMayBeTheLast) {
  const std::string first = SyncBatch(Version::kGo122, 3);
  const std::string second = Bytes(4, "\x0b\x01");
  Reading reading(Version::kGo122, first + second);
  reading.Expect(3);
  reading.ExpectFault(FaultId::kNoFrequency, first.size() + second.size());
}

TEST(SpillTest, NumbersDoNotWrapAround) {
  const uint64_t last = ~uint64_t{0};
  const std::string first = SyncBatch(Version::kGo122, last);
  ExpectFault(Version::kGo122, first + Bytes(0, ""), FaultId::kGenerationZero, first.size());
  Reading reading(Version::kGo122, first);
  reading.Expect(last);
  reading.ExpectEnd();
}

TEST(SpillTest, AnEmptyTraceHasNoFrequency) {
  for (const Version version : kSpilling) ExpectFault(version, "", FaultId::kNoFrequency, 0);
}

// Since Go 1.26, an end marker ends a generation. -------------------------------------------------

TEST(EndTest, AnEndMarkEndsAGeneration) {
  const std::string first = SyncBatch(kEnding, 3) + Bytes(3, "\x0b\x01");
  // The next generation may have any number.
  const std::string second = SyncBatch(kEnding, 9);
  Reading reading(kEnding, first + kEnd + second + kEnd + SyncBatch(kEnding, 2) + kEnd);
  const auto three = reading.Expect(3);
  EXPECT_EQ(three->batch_count(), 2u);
  EXPECT_EQ(three->end_offset(), first.size());
  const auto nine = reading.Expect(9);
  EXPECT_EQ(reading.released(), first.size() + 1);
  EXPECT_EQ(nine->begin_offset(), first.size() + 1);
  EXPECT_EQ(reading.next_offset(), first.size() + 1 + second.size() + 1);
  reading.Expect(2);
  reading.ExpectEnd();
}

TEST(EndTest, AnEndMarkMayStandInABatch) {
  // Its number, and the rest of its payload, are ignored.
  Reading reading(kEnding, SyncBatch(kEnding, 3) + Bytes(8, kEnd + "more"));
  reading.Expect(3);
  reading.ExpectEnd();
}

TEST(EndTest, OtherGenerationsAreFaults) {
  const std::string first = SyncBatch(kEnding, 3);
  ExpectFault(kEnding, first + Bytes(4, ""), FaultId::kGenerationMixed, first.size());
  ExpectFault(kEnding, first + Bytes(2, ""), FaultId::kGenerationMixed, first.size());
  ExpectFault(kEnding, first + Bytes(0, ""), FaultId::kGenerationZero, first.size());
  ExpectFault(kEnding, Bytes(0, ""), FaultId::kGenerationZero, 0);
}

TEST(EndTest, AnUnfinishedGenerationIsIncomplete) {
  const std::string first = SyncBatch(kEnding, 3) + kEnd;
  const std::string second = SyncBatch(kEnding, 4) + Bytes(4, "\x0b\x01");
  Reading reading(kEnding, first + second);
  reading.Expect(3);
  reading.ExpectFault(FaultId::kGenerationIncomplete, first.size() + second.size());
  ExpectFault(kEnding, Bytes(4, ""), FaultId::kGenerationIncomplete, Bytes(4, "").size());
}

TEST(EndTest, TablesAloneMakeNoGeneration) {
  Reading reading(kEnding, absl::StrCat(SyncBatch(kEnding, 3), kEnd, SyncBatch(kEnding, 4),
                                        Bytes(4, "\x04"), Bytes(4, "\x02")));
  reading.Expect(3);
  reading.ExpectEnd();
  Reading(kEnding, "").ExpectEnd();
  Reading(kEnding, SyncBatch(kEnding, 1)).ExpectEnd();
}

TEST(EndTest, ABrokenBatchLosesItsGeneration) {
  const std::string first = SyncBatch(kEnding, 3) + kEnd;
  const std::string second = SyncBatch(kEnding, 4) + Bytes(4, "\x0b\x01");
  Reading reading(kEnding, first + second + "\x02");
  reading.Expect(3);
  reading.ExpectFault(FaultId::kBatchType, first.size() + second.size());
}

TEST(EndTest, AnEndMarkAloneHasNoFrequency) {
  ExpectFault(kEnding, kEnd, FaultId::kNoFrequency, 0);
  const std::string first = SyncBatch(kEnding, 3) + kEnd;
  Reading reading(kEnding, first + kEnd);
  reading.Expect(3);
  reading.ExpectFault(FaultId::kNoFrequency, first.size());
}

// What every generation needs. ------------------------------------------------------------------

TEST(SoundnessTest, AGenerationNeedsAFrequencyASnapshotAndItsStrings) {
  const std::string frequency = Wire(EventType::kFrequency, {1000});
  const std::string snapshot = Wire(EventType::kClockSnapshot, {1, 2, 3, 4});
  const std::string stacks =
      Bytes(1, absl::StrCat("\x02", Wire(EventType::kStack, {1, 1, 5, 9, 9, 1})));
  for (const Version version : {Version::kGo125, Version::kGo126}) {
    const std::string end = version == Version::kGo126 ? kEnd : "";
    const std::string no_frequency = Bytes(1, "\x32" + snapshot) + stacks;
    ExpectFault(version, no_frequency + end, FaultId::kNoFrequency, no_frequency.size());
    const std::string no_snapshot = Bytes(1, "\x32" + frequency) + stacks;
    ExpectFault(version, no_snapshot + end, FaultId::kNoClockSnapshot, no_snapshot.size());
    const std::string no_string = SyncBatch(version, 1) + stacks;
    ExpectFault(version, no_string + end, FaultId::kStackString,
                no_string.size() - stacks.size() + 6);
  }
  ExpectFault(Version::kGo122, stacks, FaultId::kNoFrequency, stacks.size());
}

TEST(SoundnessTest, FaultsInTablesLoseTheGeneration) {
  for (const Version version : {Version::kGo122, Version::kGo126}) {
    const std::string first = SyncBatch(version, 1) + Bytes(1, "\x0b\x01");
    const std::string end = version == Version::kGo126 ? kEnd : "";
    for (const auto& [payload, id] :
         {std::pair<std::string, FaultId>{"\x04\x09", FaultId::kStringBatchEvent},
          {"\x02\x09", FaultId::kStackBatchEvent},
          {"\x06\x09", FaultId::kSampleBatchEvent}}) {
      ExpectFault(version, first + Bytes(1, payload) + end, id, first.size() + 5 + 1);
    }
  }
}

}  // namespace generation_test
}  // namespace gotrace::internal
