#include "parser/generation/generation_tables.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gotrace/internal/limits.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace generation_tables_test {

constexpr uint64_t kMax = ~uint64_t{0};
const std::string& kOverflow = *new std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
// The offset of the payload of a batch made by MakeBatch().
constexpr uint64_t kPayload = 1000 + kTestHeaderSize;

std::string String(uint64_t id, absl::string_view text) {
  return absl::StrCat(Wire(EventType::kString, {id, text.size()}), text);
}

// Keeps `payload` until the program ends, since tables keep views of it.
absl::string_view Keep(std::string payload) {
  static auto* const payloads = new std::deque<std::string>;
  return payloads->emplace_back(std::move(payload));
}

using Add = absl::Status (GenerationTables::*)(const Batch&);

// Adds a batch that begins with `type`.
absl::Status AddTo(GenerationTables* tables, Add add, EventType type, absl::string_view events) {
  return (tables->*add)(MakeBatch(Keep(absl::StrCat(Wire(type), events))));
}
absl::Status AddStrings(GenerationTables* tables, absl::string_view events) {
  return AddTo(tables, &GenerationTables::AddStrings, EventType::kStrings, events);
}
absl::Status AddStacks(GenerationTables* tables, absl::string_view events) {
  return AddTo(tables, &GenerationTables::AddStacks, EventType::kStacks, events);
}
absl::Status AddSamples(GenerationTables* tables, absl::string_view events) {
  return AddTo(tables, &GenerationTables::AddCpuSamples, EventType::kCPUSamples, events);
}

// Checks that `events`, which are good up to byte `position`, are rejected there.
void ExpectFault(absl::Status (*add)(GenerationTables*, absl::string_view),
                 absl::string_view events, FaultId id, uint64_t position) {
  GenerationTables tables;
  const absl::Status status = add(&tables, events);
  EXPECT_TRUE(IsFault(status, id, kPayload + 1 + position));
  const std::optional<Fault> fault = FaultOf(status);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->place.batch_offset, 1000u);
  EXPECT_EQ(fault->place.generation, 1u);
  EXPECT_EQ(fault->place.thread, ThreadId{7});
}

TEST(StringTableTest, FindsStrings) {
  GenerationTables tables;
  EXPECT_EQ(*tables.FindString(0), "");
  EXPECT_EQ(tables.FindString(1), nullptr);
  ASSERT_TRUE(AddStrings(&tables, "").ok());
  ASSERT_TRUE(AddStrings(&tables, absl::StrCat(String(2, "two"), String(kMax, ""))).ok());
  ASSERT_TRUE(AddStrings(&tables, String(1, "a\xff")).ok());
  EXPECT_EQ(*tables.FindString(1), "a\xff");
  EXPECT_EQ(*tables.FindString(2), "two");
  EXPECT_EQ(*tables.FindString(kMax), "");
  EXPECT_EQ(*tables.FindString(0), "");
  EXPECT_EQ(tables.FindString(3), nullptr);
  EXPECT_EQ(tables.string_count(), 3u);
}

TEST(StringTableTest, ViewsTheSource) {
  const std::string payload = absl::StrCat("\x04", String(1, "text"));
  GenerationTables tables;
  ASSERT_TRUE(tables.AddStrings(MakeBatch(payload)).ok());
  EXPECT_EQ(tables.FindString(1)->data(), payload.data() + 4);
}

TEST(StringTableTest, ReportsFaults) {
  const std::string good = String(9, "good");  // Seven bytes.
  ExpectFault(AddStrings, absl::StrCat(good, Wire(EventType::kStrings)), FaultId::kStringBatchEvent,
              7);
  ExpectFault(AddStrings, absl::StrCat(good, std::string(1, '\0')), FaultId::kStringBatchEvent, 7);
  ExpectFault(AddStrings, absl::StrCat(good, "\x05"), FaultId::kStringVarint, 8);
  ExpectFault(AddStrings, absl::StrCat(good, "\x05\x80"), FaultId::kStringVarint, 8);
  ExpectFault(AddStrings, absl::StrCat(good, "\x05", kOverflow), FaultId::kStringVarint, 8);
  ExpectFault(AddStrings, absl::StrCat(good, "\x05\x01"), FaultId::kStringVarint, 9);
  ExpectFault(AddStrings, absl::StrCat(good, "\x05\x01", kOverflow), FaultId::kStringVarint, 9);
  ExpectFault(AddStrings, absl::StrCat(good, "\x05\x01\x03", "ab"), FaultId::kStringTruncated, 10);
  ExpectFault(AddStrings, absl::StrCat(good, "\x05\x01\x01"), FaultId::kStringTruncated, 10);
  // The place is after the length, and after the string.
  ExpectFault(AddStrings, Wire(EventType::kString, {1, kMaxStringSize + 1}), FaultId::kStringSize,
              4);
  ExpectFault(AddStrings, Wire(EventType::kString, {1, kMax}), FaultId::kStringSize, 12);
  ExpectFault(AddStrings, absl::StrCat(good, good), FaultId::kStringDuplicate, 14);
  ExpectFault(AddStrings, String(0, ""), FaultId::kStringDuplicate, 3);
}

TEST(StringTableTest, AcceptsTheLongestString) {
  GenerationTables tables;
  const std::string text(kMaxStringSize, 'x');
  ASSERT_TRUE(AddStrings(&tables, String(1, text)).ok());
  EXPECT_EQ(*tables.FindString(1), text);
}

TEST(StackTableTest, FindsStacksAndFrames) {
  GenerationTables tables;
  ASSERT_TRUE(AddStrings(&tables, absl::StrCat(String(1, "main.f"), String(2, "f.go"))).ok());
  EXPECT_TRUE(tables.HasStack(0));
  EXPECT_FALSE(tables.HasStack(5));
  ASSERT_TRUE(AddStacks(&tables, absl::StrCat(Wire(EventType::kStack,
                                                   {5, 2, 100, 1, 2, 33, 200, 0, 0, kMax}),
                                              Wire(EventType::kStack, {kMax, 0})))
                  .ok());
  EXPECT_TRUE(tables.HasStack(5));
  EXPECT_TRUE(tables.HasStack(kMax));
  EXPECT_FALSE(tables.HasStack(6));
  EXPECT_EQ(tables.stack_count(), 2u);
  EXPECT_EQ(tables.StackIndex(5), 0u);
  EXPECT_EQ(tables.StackIndex(kMax), 1u);
  EXPECT_EQ(tables.StackIndex(0), GenerationTables::kNoStack);
  EXPECT_EQ(tables.StackIndex(6), GenerationTables::kNoStack);
  EXPECT_EQ(tables.StackSize(5), 2u);
  EXPECT_EQ(tables.StackSize(kMax), 0u);
  EXPECT_EQ(tables.StackSize(0), 0u);
  EXPECT_EQ(tables.StackSize(6), 0u);
  const StackFrame inner = tables.GetFrame(5, 0);
  EXPECT_EQ(inner.pc, 100u);
  EXPECT_EQ(inner.func, "main.f");
  EXPECT_EQ(inner.file, "f.go");
  EXPECT_EQ(inner.line, 33u);
  const StackFrame outer = tables.GetFrame(5, 1);
  EXPECT_EQ(outer.pc, 200u);
  EXPECT_EQ(outer.func, "");
  EXPECT_EQ(outer.line, kMax);
  EXPECT_TRUE(tables.CheckStacks(1).ok());
}

TEST(StackTableTest, TheFirstFrameOfAPcIsForAll) {
  GenerationTables tables;
  ASSERT_TRUE(AddStrings(&tables, absl::StrCat(String(1, "f"), String(2, "g"))).ok());
  ASSERT_TRUE(AddStacks(&tables, Wire(EventType::kStack, {1, 1, 100, 1, 1, 11})).ok());
  // It does not matter that 99 is not in the table, since this definition is ignored.
  ASSERT_TRUE(
      AddStacks(&tables, Wire(EventType::kStack, {2, 2, 200, 2, 2, 22, 100, 99, 99, 99})).ok());
  EXPECT_TRUE(tables.CheckStacks(1).ok());
  EXPECT_EQ(tables.GetFrame(2, 0).func, "g");
  EXPECT_EQ(tables.GetFrame(2, 1).func, "f");
  EXPECT_EQ(tables.GetFrame(2, 1).line, 11u);
}

TEST(StackTableTest, ReportsFaults) {
  const std::string good = Wire(EventType::kStack, {9, 1, 100, 0, 0, 1});  // Seven bytes.
  ExpectFault(AddStacks, absl::StrCat(good, Wire(EventType::kString)), FaultId::kStackBatchEvent,
              7);
  // The place of a bad number is after the type and the preceding numbers.
  std::string numbers = good + "\x03";
  for (const char number : {'\x01', '\x01', '\x05', '\x00', '\x00'}) {
    ExpectFault(AddStacks, numbers, FaultId::kStackVarint, numbers.size());
    ExpectFault(AddStacks, absl::StrCat(numbers, "\x80"), FaultId::kStackVarint, numbers.size());
    ExpectFault(AddStacks, absl::StrCat(numbers, kOverflow), FaultId::kStackVarint, numbers.size());
    numbers += number;
  }
  ExpectFault(AddStacks, numbers, FaultId::kStackVarint, numbers.size());
  ExpectFault(AddStacks, Wire(EventType::kStack, {1, kMaxFramesPerStack + 1}), FaultId::kStackDepth,
              4);
  ExpectFault(AddStacks, Wire(EventType::kStack, {1, kMax}), FaultId::kStackDepth, 12);
  ExpectFault(AddStacks, absl::StrCat(good, good), FaultId::kStackDuplicate, 14);
  ExpectFault(AddStacks, Wire(EventType::kStack, {0, 0}), FaultId::kStackDuplicate, 3);
}

TEST(StackTableTest, AcceptsTheDeepestStack) {
  std::string stack = Wire(EventType::kStack, {1, kMaxFramesPerStack});
  for (uint64_t i = 0; i < kMaxFramesPerStack; ++i) {
    for (const uint64_t number : {i, uint64_t{0}, uint64_t{0}, i + 1000}) {
      AppendVarint(number, &stack);
    }
  }
  GenerationTables tables;
  ASSERT_TRUE(AddStacks(&tables, stack).ok());
  EXPECT_EQ(tables.StackSize(1), kMaxFramesPerStack);
  EXPECT_EQ(tables.GetFrame(1, kMaxFramesPerStack - 1).line, kMaxFramesPerStack - 1 + 1000);
}

TEST(StackTableTest, StringsOfFramesMustBeThere) {
  struct {
    uint64_t func;
    uint64_t file;
    absl::string_view message;
  } const cases[] = {
      {1, 8, "expected string 8 in the table, for the file at pc 64, found none"},
      {8, 1, "expected string 8 in the table, for the function at pc 64, found none"},
      {8, 9, "expected string 8 in the table, for the function at pc 64, found none"},
  };
  for (const auto& c : cases) {
    GenerationTables tables;
    ASSERT_TRUE(AddStrings(&tables, String(1, "f")).ok());
    const std::string good = Wire(EventType::kStack, {1, 1, 50, 1, 1, 1});
    const std::string bad = Wire(EventType::kStack, {2, 1, 100, c.func, c.file, 1});
    ASSERT_TRUE(AddStacks(&tables, good + bad).ok());
    const absl::Status status = tables.CheckStacks(1);
    EXPECT_TRUE(IsFault(status, FaultId::kStackString, kPayload + 1 + good.size()));
    EXPECT_EQ(FaultOf(status)->message, c.message);
    // The string may come later.
    ASSERT_TRUE(AddStrings(&tables, absl::StrCat(String(8, ""), String(9, ""))).ok());
    EXPECT_TRUE(tables.CheckStacks(1).ok());
  }
}

std::string Sample(uint64_t time, uint64_t stack = 0) {
  return Wire(EventType::kCPUSample, {time, 2, 3, 4, stack});
}

absl::Status AddSync(GenerationTables* tables, Version version, absl::string_view events,
                     uint64_t time = 0) {
  return tables->AddSync(MakeBatch(Keep(std::string(events)), 1000, {7}, time), version);
}

std::string Frequency(uint64_t frequency) { return Wire(EventType::kFrequency, {frequency}); }

TEST(SampleTableTest, KeepsSamples) {
  GenerationTables tables;
  ASSERT_TRUE(AddSync(&tables, Version::kGo122, Frequency(15625000)).ok());
  ASSERT_TRUE(AddSamples(&tables, absl::StrCat(Sample(10, 5),
                                               Wire(EventType::kCPUSample, {20, kMax, kMax, 0, 6})))
                  .ok());
  tables.SortSamples();
  ASSERT_EQ(tables.cpu_samples().size(), 2u);
  const CpuSample& first = tables.cpu_samples()[0];
  EXPECT_EQ(first.time, 640);
  EXPECT_EQ(first.thread, ThreadId{2});
  EXPECT_EQ(first.proc, ProcId{3});
  EXPECT_EQ(first.goroutine, GoId{4});
  EXPECT_EQ(first.stack, 5u);
  EXPECT_EQ(first.offset, kPayload + 1);
  const CpuSample& second = tables.cpu_samples()[1];
  EXPECT_EQ(second.time, 1280);
  EXPECT_EQ(second.thread, ThreadId::kNone);
  EXPECT_EQ(second.proc, ProcId::kNone);
  EXPECT_EQ(second.goroutine, GoId::kNone);
  EXPECT_EQ(second.offset, kPayload + 1 + 6);
}

TEST(SampleTableTest, SortsByTimeAndKeepsTheOrderOfEqualOnes) {
  GenerationTables tables;
  ASSERT_TRUE(AddSync(&tables, Version::kGo122, Frequency(1000000000)).ok());
  ASSERT_TRUE(AddSamples(&tables, Sample(7, 1) + Sample(3, 2) + Sample(7, 3)).ok());
  ASSERT_TRUE(AddSamples(&tables, Sample(3, 4) + Sample(1, 5)).ok());
  tables.SortSamples();
  std::vector<uint64_t> stacks;
  for (const CpuSample& sample : tables.cpu_samples()) stacks.push_back(sample.stack);
  EXPECT_EQ(stacks, (std::vector<uint64_t>{5, 2, 4, 1, 3}));
}

TEST(SampleTableTest, ReportsFaults) {
  const std::string good = Sample(1);  // Six bytes.
  ExpectFault(AddSamples, absl::StrCat(good, "\x08"), FaultId::kSampleBatchEvent, 6);
  std::string numbers = good + "\x07";
  for (int i = 0; i < 5; ++i) {
    ExpectFault(AddSamples, numbers, FaultId::kSampleVarint, numbers.size());
    ExpectFault(AddSamples, numbers + kOverflow, FaultId::kSampleVarint, numbers.size());
    numbers += "\x01";
  }
}

// The same for sync batches, which begin with their first event up to version 23.
void ExpectSyncFault(Version version, absl::string_view events, FaultId id, uint64_t position) {
  GenerationTables tables;
  EXPECT_TRUE(IsFault(AddSync(&tables, version, events), id, kPayload + position));
}

TEST(SyncTest, ReturnsTheFrequency) {
  for (const Version version : {Version::kGo122, Version::kGo123}) {
    GenerationTables tables;
    EXPECT_FALSE(tables.clock().known());
    ASSERT_TRUE(AddSync(&tables, version, Frequency(15625000)).ok());
    EXPECT_EQ(tables.clock().ToNs(2), 128);
    EXPECT_FALSE(tables.clock_snapshot().has_value());
  }
}

TEST(SyncTest, ReturnsTheClockSnapshotInAnyOrder) {
  const std::string sync = Wire(EventType::kSync);
  const std::string snapshot = Wire(EventType::kClockSnapshot, {5, 777, 1700000000, 123456789});
  for (const std::string& events :
       {sync + Frequency(15625000) + snapshot, sync + snapshot + Frequency(15625000)}) {
    GenerationTables tables;
    ASSERT_TRUE(AddSync(&tables, Version::kGo125, events, /*time=*/100).ok());
    ASSERT_TRUE(tables.clock_snapshot().has_value());
    EXPECT_EQ(tables.clock_snapshot()->trace_time, 105 * 64);
    EXPECT_EQ(tables.clock_snapshot()->mono, 777u);
    EXPECT_EQ(tables.clock_snapshot()->wall,
              absl::FromUnixSeconds(1700000000) + absl::Nanoseconds(123456789));
  }
}

TEST(SyncTest, MayBeSpreadOverBatches) {
  const std::string sync = Wire(EventType::kSync);
  const std::string snapshot = Wire(EventType::kClockSnapshot, {5, 777, 1, 2});
  for (const bool snapshot_first : {false, true}) {
    GenerationTables tables;
    const std::string a = sync + snapshot, b = sync + Frequency(15625000);
    ASSERT_TRUE(AddSync(&tables, Version::kGo126, snapshot_first ? a : b, 100).ok());
    ASSERT_TRUE(AddSync(&tables, Version::kGo126, sync).ok());
    ASSERT_TRUE(AddSync(&tables, Version::kGo126, snapshot_first ? b : a, 100).ok());
    EXPECT_EQ(tables.clock_snapshot()->trace_time, 105 * 64);
  }
}

TEST(SyncTest, SnapshotTimesWrapAround) {
  GenerationTables tables;
  const std::string events =
      absl::StrCat(Wire(EventType::kSync), Wire(EventType::kClockSnapshot, {kMax, 0, kMax, kMax}),
                   Frequency(1000000000));
  ASSERT_TRUE(AddSync(&tables, Version::kGo125, events, /*time=*/8).ok());
  EXPECT_EQ(tables.clock_snapshot()->trace_time, 7);
  EXPECT_EQ(tables.clock_snapshot()->wall, absl::FromUnixSeconds(-1) - absl::Nanoseconds(1));
}

TEST(SyncTest, ReportsFaults) {
  const Version v23 = Version::kGo123, v25 = Version::kGo125;
  const std::string frequency = Frequency(5);  // Two bytes.
  const std::string snapshot = Wire(EventType::kClockSnapshot, {1, 2, 3, 4});
  ExpectSyncFault(v23, frequency + frequency, FaultId::kFrequencyDuplicate, 3);
  ExpectSyncFault(v23, frequency + snapshot, FaultId::kSyncBatchEvent, 2);
  ExpectSyncFault(v23, frequency + "\x32", FaultId::kSyncBatchEvent, 2);
  ExpectSyncFault(v23, "\x08", FaultId::kSyncVarint, 1);
  ExpectSyncFault(v23, "\x08" + kOverflow, FaultId::kSyncVarint, 1);
  ExpectSyncFault(v25, "\x32\x32", FaultId::kSyncBatchEvent, 1);
  ExpectSyncFault(v25, "\x32" + frequency + "\x05", FaultId::kSyncBatchEvent, 3);
  ExpectSyncFault(v25, "\x32" + frequency + frequency, FaultId::kFrequencyDuplicate, 4);
  ExpectSyncFault(v25, "\x32" + snapshot + snapshot, FaultId::kClockSnapshotDuplicate, 6);
  std::string numbers = "\x32\x33";
  for (int i = 0; i < 4; ++i) {
    ExpectSyncFault(v25, numbers, FaultId::kSyncVarint, numbers.size());
    ExpectSyncFault(v25, numbers + kOverflow, FaultId::kSyncVarint, numbers.size());
    numbers += "\x01";
  }
}

TEST(SyncTest, AFrequencyOfZeroIsOneToo) {
  ExpectSyncFault(Version::kGo122, Frequency(0) + Frequency(5), FaultId::kFrequencyDuplicate, 3);
}

TEST(ExperimentalTest, KeepsBatchesByExperiment) {
  GenerationTables tables;
  EXPECT_TRUE(tables.experimental_batches().empty());
  const absl::string_view data[] = {"one", "two", "three"};
  for (int i = 0; i < 3; ++i) {
    Batch batch = MakeBatch(data[i], 1000, {i});
    batch.experiment = i == 1 ? 1 : 200;
    tables.AddExperimental(batch);
  }
  const std::vector<ExperimentalData> all = tables.experimental_batches();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].experiment, 1u);
  ASSERT_EQ(all[0].batches.size(), 1u);
  EXPECT_EQ(all[0].batches[0].data, "two");
  EXPECT_EQ(all[0].batches[0].thread, ThreadId{1});
  EXPECT_EQ(all[1].experiment, 200u);
  ASSERT_EQ(all[1].batches.size(), 2u);
  EXPECT_EQ(all[1].batches[0].data, "one");
  EXPECT_EQ(all[1].batches[1].data, "three");
}

TEST(SerialTest, DiffersBetweenTables) {
  GenerationTables one, two;
  EXPECT_NE(one.serial(), two.serial());
  EXPECT_NE(one.serial(), 0u);
}

}  // namespace generation_tables_test
}  // namespace gotrace::internal
