#include "parser/generation/tolerant_generation_reader.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace tolerant_generation_reader_test {

struct Found {
  std::vector<uint64_t> numbers;
  std::vector<uint64_t> batches;
  std::vector<Fault> faults;
  Losses losses;
  bool incomplete = false;  // Whether the last generation is incomplete.
};

Found ReadGenerations(absl::string_view bytes, const ReaderLimits& limits = {}) {
  Found found;
  const auto source = *SourceFromBytes(bytes);
  const absl::StatusOr<Version> version = ReadHeader(source.get());
  EXPECT_TRUE(version.ok()) << version.status();
  TolerantGenerationReader reader(
      source.get(), *version, [&](Fault fault) { found.faults.push_back(std::move(fault)); },
      &found.losses, limits);
  while (const auto generation = reader.Next().value_or(nullptr)) {
    found.numbers.push_back(generation->number());
    found.batches.push_back(generation->batch_count());
    EXPECT_TRUE(generation->tables().clock().known());
    found.incomplete = generation->integrity().incomplete;
  }
  return found;
}

// Returns three generations with a sync batch and three event batches each.
std::string Text(bool has_ends, int damaged_generation = 0, absl::string_view damaged_batch = "") {
  std::string text = absl::StrCat("Trace Go1.", has_ends ? "26" : "22", "\n");
  for (const int gen : {1, 2, 3}) {
    const std::string time = absl::StrCat(" time=", gen * 1000000, " size=auto\n");
    if (gen != damaged_generation || damaged_batch != "no sync") {
      absl::StrAppend(&text, "EventBatch gen=", gen, " m=18446744073709551615", time);
      if (has_ends) {
        absl::StrAppend(&text, "Sync\nFrequency freq=1000000000\n",
                        "ClockSnapshot dt=1 mono=2 sec=3 nsec=4\n");
      } else {
        absl::StrAppend(&text, "Frequency freq=1000000000\n");
      }
    }
    for (const int thread : {7, 8, 9}) {
      const bool is_stray = gen == damaged_generation && thread == 8 && damaged_batch == "stray";
      const bool is_zero = gen == damaged_generation && thread == 8 && damaged_batch == "zero";
      absl::StrAppend(&text, "EventBatch gen=", is_zero ? 0 : gen + (is_stray ? 40 : 0),
                      " m=", thread, time, "HeapAlloc dt=1 heapalloc_value=5\n");
    }
    if (has_ends && (gen != damaged_generation || damaged_batch != "no end")) {
      absl::StrAppend(&text, "EndOfGeneration\n");
    }
  }
  return text;
}

using Numbers = std::vector<uint64_t>;

TEST(TolerantGenerationReaderTest, SoundTracesGiveTheSameGenerations) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    const Found found = ReadGenerations(bytes);
    EXPECT_TRUE(found.faults.empty());
    EXPECT_FALSE(found.losses.any());
    EXPECT_FALSE(found.incomplete);
    const auto source = *SourceFromBytes(bytes);
    GenerationReader strict(source.get(), *ReadHeader(source.get()));
    Numbers numbers, batches;
    while (const auto generation = strict.Next().value_or(nullptr)) {
      numbers.push_back(generation->number());
      batches.push_back(generation->batch_count());
    }
    EXPECT_EQ(found.numbers, numbers);
    EXPECT_EQ(found.batches, batches);
  }
}

TEST(TolerantGenerationReaderTest, ABatchWithAWrongNumberIsLeftOutAlone) {
  for (const bool has_ends : {false, true}) {
    const Found found = ReadGenerations(Assemble(Text(has_ends, 2, "stray")));
    EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
    EXPECT_EQ(found.batches, (Numbers{4, 3, 4}));
    EXPECT_EQ(found.losses.dropped_batches, 1u);
    EXPECT_EQ(found.losses.dropped_bytes, 3u);
    ASSERT_EQ(found.faults.size(), 1u);
    EXPECT_EQ(found.faults[0].id, FaultId::kGenerationOrder);
  }
}

TEST(TolerantGenerationReaderTest, ABatchOfTablesThatIsBrokenIsLeftOutAlone) {
  const std::string text =
      absl::StrReplaceAll(Text(true), {{"EventBatch gen=2 m=8 time=2000000 size=auto\n",
                                        "EventBatch gen=2 m=8 time=2000000 size=auto\nStrings\n"}});
  const Found found = ReadGenerations(Assemble(text));
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_EQ(found.faults[0].id, FaultId::kStringBatchEvent);
  EXPECT_EQ(found.losses.dropped_batches, 1u);
  EXPECT_EQ(found.losses.dropped_bytes, 4u);
}

TEST(TolerantGenerationReaderTest, ABatchOfGenerationZeroIsLeftOut) {
  for (const bool has_ends : {false, true}) {
    const Found found = ReadGenerations(Assemble(Text(has_ends, 2, "zero")));
    EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
    EXPECT_EQ(found.losses.dropped_batches + (found.losses.skipped_bytes > 0), 1u);
    ASSERT_FALSE(found.faults.empty());
  }
}

// As in strict mode, which accepts any number since version 1.26.
TEST(TolerantGenerationReaderTest, ABatchOfTablesThatTheTraceEndsWithIsNoGeneration) {
  for (const int number : {1, 3, 9}) {
    const Found found = ReadGenerations(Assemble(absl::StrCat(
        Text(true), "EventBatch gen=", number, " m=18446744073709551615 time=4000000 size=auto\n",
        "Sync\nFrequency freq=1000000000\nClockSnapshot dt=1 mono=2 sec=3 nsec=4\n")));
    EXPECT_EQ(found.faults.size(), 0u) << number;
    EXPECT_EQ(found.numbers.size(), 3u) << number;
  }
}

TEST(TolerantGenerationReaderTest, AMissingEndIsFoundByTheNextNumber) {
  const Found found = ReadGenerations(Assemble(Text(true, 2, "no end")));
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
  EXPECT_EQ(found.batches, (Numbers{4, 4, 4}));
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_EQ(found.faults[0].id, FaultId::kGenerationMixed);
  EXPECT_FALSE(found.losses.any());
}

TEST(TolerantGenerationReaderTest, AnEndTooManyIsAFaultAndNoGeneration) {
  const std::string text = absl::StrReplaceAll(
      Text(true), {{"EndOfGeneration\n", "EndOfGeneration\nEndOfGeneration\n"}});
  const Found found = ReadGenerations(Assemble(text));
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
  ASSERT_EQ(found.faults.size(), 3u);
  EXPECT_EQ(found.faults[0].id, FaultId::kEndOfGenerationEvent);
}

TEST(TolerantGenerationReaderTest, WithoutASyncBatchTheClockOfTheGenerationBeforeIsTaken) {
  for (const int generation : {1, 2}) {
    const Found found = ReadGenerations(Assemble(Text(true, generation, "no sync")));
    EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
    ASSERT_FALSE(found.faults.empty());
    EXPECT_EQ(found.faults[0].id, FaultId::kNoFrequency);
    EXPECT_NE(found.faults[0].message.find(generation == 1 ? "in ticks" : "generation before"),
              std::string::npos);
  }
}

// The strings of the stack are in the part beyond the limit, so it is no fault that they are
// missing.
TEST(TolerantGenerationReaderTest, AGenerationBeyondTheLimitHasOneFault) {
  const std::string of_thread = "EventBatch gen=2 m=9 time=2000000 size=auto\n";
  const std::string text = absl::StrReplaceAll(
      Text(true),
      {{of_thread,
        absl::StrCat(of_thread, "Stacks\nStack id=1 nframes=1\n\tpc=1 func=1 file=1 line=3\n",
                     of_thread, "Strings\nString id=1\n\tdata=\"", std::string(300, 'x'), "\"\n",
                     of_thread)}});
  EXPECT_TRUE(ReadGenerations(Assemble(text)).faults.empty());
  ReaderLimits limits;
  limits.generation_bytes = 200;
  const Found found = ReadGenerations(Assemble(text), limits);
  EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_EQ(found.faults[0].id, FaultId::kLimitGenerationBytes);
}

TEST(TolerantGenerationReaderTest, ATraceThatIsCutIsIncomplete) {
  const std::string bytes = Assemble(Text(true));
  for (size_t size = bytes.size() / 2; size + 1 < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const Found found = ReadGenerations(bytes.substr(0, size));
    ASSERT_GE(found.numbers.size(), 1u);
    EXPECT_EQ(found.numbers[0], 1u);
    EXPECT_EQ(found.batches[0], 4u);
    for (const Fault& fault : found.faults) EXPECT_GT(*fault.place.offset, bytes.size() / 3);
  }
  for (const bool has_ends : {false, true}) {
    const std::string whole = Assemble(Text(has_ends));
    const Found found = ReadGenerations(whole.substr(0, whole.size() - 3));
    EXPECT_TRUE(found.incomplete);
    EXPECT_EQ(found.numbers, (Numbers{1, 2, 3}));
  }
}

}  // namespace tolerant_generation_reader_test
}  // namespace gotrace::internal
