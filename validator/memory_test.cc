// Tests the memory use of reading and validating traces that are made to need much memory.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/limits.h"
#include "gotrace/reader.h"
#include "gotrace/validate.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "testing/memory_meter.h"
#include "testing/synthetic_streams.h"
#include "testing/test_util.h"
#include "tracev2/batch_encoder.h"
#include "tracev2/varint.h"
#include "tracev2/wire_status.h"

namespace gotrace::internal {
namespace memory_test {

constexpr uint64_t kMega = 1 << 20;

// The number of things that a trace can have very many of; lower in slow builds.
#ifdef NDEBUG
constexpr uint64_t kMany = 1'000'000;
constexpr uint64_t kManyGenerations = 1'000'000;
constexpr uint64_t kManyStacks = 10'000;
#else
constexpr uint64_t kMany = 200'000;
constexpr uint64_t kManyGenerations = 20'000;
constexpr uint64_t kManyStacks = 2'000;
#endif

// The maximum number of bytes that may be allocated at a time, given the size of the largest
// generation.
constexpr uint64_t Bound(uint64_t largest_generation) {
  return 64 * kMega + 8 * largest_generation;
}

enum class Way { kStrict, kCollect, kSalvage, kValidate };
constexpr Way kWays[] = {Way::kStrict, Way::kCollect, Way::kSalvage, Way::kValidate};

// The result of reading a trace.
struct Read {
  uint64_t events = 0;
  uint64_t peak = 0;                       // The maximum number of bytes allocated at a time.
  std::map<std::string, uint64_t> faults;  // The number of faults with each name.
  std::string message;                     // The message of the last fault.
  Losses losses;

  uint64_t Count(const std::string& fault) const {
    const auto found = faults.find(fault);
    return found == faults.end() ? 0 : found->second;
  }
};

void ReadEvents(std::unique_ptr<ByteSource> source, Way way, const ReaderLimits& limits,
                Read* read) {
  ReaderOptions options;
  options.limits = limits;
  options.mode = way == Way::kStrict    ? ReadMode::kStrict
                 : way == Way::kCollect ? ReadMode::kCollect
                                        : ReadMode::kSalvage;
  options.on_fault = [&](const Fault& fault) {
    ++read->faults[std::string(FaultName(fault.id))];
    read->message = fault.message;
  };
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (reader.ok()) {
    while (reader->Next() != nullptr) continue;
    read->events = reader->event_count();
    read->losses = reader->losses();
  }
  const absl::Status& status = reader.ok() ? reader->status() : reader.status();
  if (status.ok()) return;
  const std::optional<Fault> fault = FaultOf(status);
  ASSERT_TRUE(fault.has_value()) << status;
  options.on_fault(*fault);
}

void ValidateEvents(std::unique_ptr<ByteSource> source, const ReaderLimits& limits, Read* read) {
  ValidateOptions options;
  options.limits = limits;
  options.jobs = 1;  // Another core may have events ahead.
  const ValidationReport report = ValidateTrace(std::move(source), options);
  read->events = report.events;
  for (int i = 0; i < kFaultIdEnd; ++i) {
    const FaultId id = static_cast<FaultId>(i);
    const uint64_t count = report.counts[static_cast<int>(CheckOf(id))];
    if (count > 0) read->faults[std::string(FaultName(id))] = count;
  }
}

Read ReadWay(std::unique_ptr<ByteStream> stream, Way way, const ReaderLimits& limits = {}) {
  Read read;
  const MemoryMeter meter;
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromStream(std::move(stream), limits);
  EXPECT_TRUE(source.ok()) << source.status();
  if (way == Way::kValidate) {
    ValidateEvents(*std::move(source), limits, &read);
  } else {
    ReadEvents(*std::move(source), way, limits, &read);
  }
  read.peak = meter.peak();
  return read;
}

using Faults = std::map<std::string, uint64_t>;

std::string Name(Way way) {
  constexpr absl::string_view kNames[] = {"Strict", "Collect", "Salvage", "Validate"};
  return std::string(kNames[static_cast<int>(way)]);
}

class MemoryTest : public testing::TestWithParam<Way> {
 protected:
  // Reads the trace that `step` writes, and expects the peak to stay within the bound.
  Read Run(const MakeStep& step, const ReaderLimits& limits = {}) {
    LargeTraceWriter maker;
    Read read = ReadWay(MakeTrace(&maker, step), GetParam(), limits);
    ExpectBounded(read, maker.largest());
    return read;
  }

  void ExpectBounded(const Read& read, uint64_t largest) {
    // Validating keeps two models: the reader's and the validator's own.
    const uint64_t models = GetParam() == Way::kValidate ? 2 : 1;
    EXPECT_LE(read.peak, models * Bound(largest));
    RecordProperty("peak", absl::StrCat(read.peak));
    RecordProperty("bound", absl::StrCat(Bound(largest)));
  }

  bool strict() const { return GetParam() == Way::kStrict; }
};

INSTANTIATE_TEST_SUITE_P(Ways, MemoryTest, testing::ValuesIn(kWays),
                         [](const auto& info) { return Name(info.param); });

// The number of parts that a step writes, small enough for the steps themselves to need little
// memory.
constexpr uint64_t kPerStep = 1000;

// One generation with `count` parts, each of which `add` writes, given its number from 0.
MakeStep OneGeneration(uint64_t count,
                       std::function<void(LargeTraceWriter* maker, uint64_t n)> add) {
  return [count, add = std::move(add)](LargeTraceWriter* maker, uint64_t step) {
    if (step == 0) maker->Begin(1);
    const uint64_t end = std::min(count, (step + 1) * kPerStep);
    for (uint64_t n = step * kPerStep; n < end; ++n) add(maker, n);
    if (end == count) maker->End();
    return end < count;
  };
}

std::string ProcStatusEvent(uint64_t proc, ProcStatus status) {
  return Wire(EventType::kProcStatus, {1, proc, static_cast<uint64_t>(status)});
}

std::string GoStatusEvent(uint64_t goroutine, GoStatus status, uint64_t thread = 0) {
  return Wire(EventType::kGoStatus, {1, goroutine, thread, static_cast<uint64_t>(status)});
}

// Returns numbers far apart from each other: the nth of 2^32 different ones, and some beyond.
uint64_t Sparse(uint64_t n) {
  const uint64_t spread = (n * 2654435761U) & 0xffffffff;
  return n % 16 == 0 ? spread << 30 | 1 : spread + 1;
}

TEST_P(MemoryTest, EmptyBatches) {
  const Read read = Run(OneGeneration(
      kMany, [](LargeTraceWriter* maker, uint64_t) { maker->Batch(/*thread=*/1, ""); }));
  EXPECT_EQ(read.faults, Faults());
  EXPECT_EQ(read.events, 2u);
}

TEST_P(MemoryTest, BatchesOfOneByte) {
  const Read read = Run(OneGeneration(kMany, [](LargeTraceWriter* maker, uint64_t) {
    maker->Batch(/*thread=*/1, absl::string_view("\0", 1));
  }));
  EXPECT_GE(read.Count("event-type"), 1u);
}

TEST_P(MemoryTest, Threads) {
  const std::string event = ProcStatusEvent(1, ProcStatus::kIdle);
  const Read read = Run(OneGeneration(
      kMany, [&](LargeTraceWriter* maker, uint64_t n) { maker->Batch(n + 1, event); }));
  EXPECT_EQ(read.faults, (Faults{{"limit-threads", 1}}));
  EXPECT_EQ(read.events, strict() ? 1u : ReaderLimits().threads + 2);
}

TEST_P(MemoryTest, SparseGoroutines) {
  const Read read = Run(OneGeneration(kMany, [](LargeTraceWriter* maker, uint64_t n) {
    maker->Entry(1, EventType::kNone, GoStatusEvent(Sparse(n), GoStatus::kWaiting));
  }));
  EXPECT_EQ(read.faults, Faults());
  EXPECT_EQ(read.events, kMany + 2);
}

TEST_P(MemoryTest, Procs) {
  const Read read = Run(OneGeneration(kMany, [](LargeTraceWriter* maker, uint64_t n) {
    maker->Entry(1, EventType::kNone, ProcStatusEvent(n, ProcStatus::kIdle));
  }));
  EXPECT_EQ(read.faults, (Faults{{"limit-procs", 1}}));
}

// Very many generations, each of which has only the `events` of another thread.
MakeStep GenerationsOfOneThread(std::string events) {
  return [events = std::move(events)](LargeTraceWriter* maker, uint64_t step) {
    for (uint64_t n = step * kPerStep; n < (step + 1) * kPerStep; ++n) {
      maker->Begin(n + 1);
      maker->Batch(n + 1, events);
      maker->End();
    }
    return (step + 1) * kPerStep < kManyGenerations;
  };
}

ReaderLimits FewThreads() {
  ReaderLimits limits;
  limits.threads = 1000;
  return limits;
}

TEST_P(MemoryTest, Generations) {
  const Read read =
      Run(GenerationsOfOneThread(ProcStatusEvent(1, ProcStatus::kIdle)), FewThreads());
  EXPECT_EQ(read.faults, Faults());
  EXPECT_EQ(read.events, 2 * kManyGenerations + 1);
  // Neither the generations nor their threads are kept.
  EXPECT_LE(read.peak, 10 * kMega);
}

// Each generation has a thread that claims to run the same goroutine on the same P as all earlier
// threads.
TEST_P(MemoryTest, GenerationsOfBusyThreads) {
  const Read read = Run(GenerationsOfOneThread(ProcStatusEvent(1, ProcStatus::kRunning) +
                                               GoStatusEvent(1, GoStatus::kRunning)),
                        FewThreads());
  // The validator remembers at most a quarter of a million threads.
  EXPECT_LE(read.peak, (GetParam() == Way::kValidate ? 48 : 12) * kMega);
}

TEST_P(MemoryTest, StringsOfFullSize) {
  const std::string text(kMaxStringSize, 'x');
  const Read read = Run(OneGeneration(30'000, [&](LargeTraceWriter* maker, uint64_t n) {
    std::string entry = Wire(EventType::kString, {n + 1, text.size()});
    maker->Entry(~uint64_t{0}, EventType::kStrings, entry + text);
  }));
  EXPECT_EQ(read.faults, Faults());
}

TEST_P(MemoryTest, StacksOfFullDepth) {
  const std::string name = Wire(EventType::kString, {1, 1}) + "f";
  const Read read = Run(OneGeneration(kManyStacks, [&](LargeTraceWriter* maker, uint64_t n) {
    if (n == 0) maker->Entry(1, EventType::kStrings, name);
    if (n == 0) maker->Flush();
    std::string entry = Wire(EventType::kStack, {n + 1, kMaxFramesPerStack});
    for (uint64_t i = 0; i < kMaxFramesPerStack; ++i) {
      const uint64_t pc = 0x400000 + n * kMaxFramesPerStack + i;
      for (const uint64_t number : {pc, uint64_t{1}, uint64_t{1}, pc % 1000}) {
        AppendVarint(number, &entry);
      }
    }
    maker->Entry(~uint64_t{0}, EventType::kStacks, entry);
  }));
  EXPECT_EQ(read.faults, Faults());
}

TEST_P(MemoryTest, ABatchThatClaimsTooMuch) {
  const Read read = Run([](LargeTraceWriter* maker, uint64_t) {
    maker->Begin(1);
    std::string header;
    AppendBatchHeader({/*generation=*/1, /*thread=*/1, /*time=*/1}, uint64_t{1} << 63,
                      BatchSizeForm::kShortest, &header);
    maker->Raw(header);
    return false;
  });
  EXPECT_EQ(read.Count("batch-size"), 1u);
  EXPECT_LE(read.peak, 8 * kMega);
}

// Each generation creates ten thousand goroutines, and none of them is mentioned again.
MakeStep ForgottenGoroutines(uint64_t generations) {
  return [generations](LargeTraceWriter* maker, uint64_t step) {
    constexpr uint64_t kEach = 10'000;
    maker->Begin(step + 1);
    maker->Entry(1, EventType::kNone, ProcStatusEvent(0, ProcStatus::kRunning));
    for (uint64_t n = 1; n <= kEach; ++n) {
      maker->Entry(1, EventType::kNone, Wire(EventType::kGoCreate, {1, step * kEach + n, 0, 0}));
    }
    maker->End();
    return step + 1 < generations;
  };
}

TEST_P(MemoryTest, GoroutinesThatAreNeverMentionedAgain) {
  const Read read = Run(ForgottenGoroutines(100));
  EXPECT_EQ(read.Count("limit-goroutines"), strict() ? 1u : 3u);
  // The limit admits the goroutines of several generations.
  EXPECT_GE(read.events, ReaderLimits().goroutines);
}

TEST_P(MemoryTest, AsManyGoroutinesAsTheLimitAllows) {
  EXPECT_EQ(Run(ForgottenGoroutines(25)).faults, Faults());
}

TEST_P(MemoryTest, RegionsAndTasksThatNeverEnd) {
  ReaderLimits limits;
  limits.nesting = 10'000;
  const Read read = Run(
      OneGeneration(
          100'000,
          [](LargeTraceWriter* maker, uint64_t n) {
            if (n == 0) {
              maker->Entry(1, EventType::kNone, ProcStatusEvent(0, ProcStatus::kRunning));
              maker->Entry(1, EventType::kNone, GoStatusEvent(1, GoStatus::kRunning, /*thread=*/1));
            }
            maker->Entry(1, EventType::kNone,
                         n % 2 == 0 ? Wire(EventType::kUserRegionBegin, {1, 0, 0, 0})
                                    : Wire(EventType::kUserTaskBegin, {1, n + 1, 0, 0, 0}));
          }),
      limits);
  EXPECT_EQ(read.faults, (Faults{{"limit-nesting", 1}}));
  // The validator remembers where each of them began.
  EXPECT_LE(read.peak, 10 * kMega);
  // Strict mode returns those before the limit, the other modes all of them.
  EXPECT_EQ(read.events, strict() ? 1u + 2 + limits.nesting : 2u + 2 + 100'000);
}

TEST_P(MemoryTest, FaultsWithoutNumber) {
  // A string with the id 0.
  const std::string broken("\x04\x05\x00\x00", 4);
  const Read read = Run(
      OneGeneration(100'000, [&](LargeTraceWriter* maker, uint64_t) { maker->Batch(1, broken); }));
  EXPECT_EQ(read.Count("string-duplicate"), strict() ? 1u : 100'000u);
  // Faults that are only counted are not kept until the next event.
  EXPECT_LE(read.peak, 10 * kMega);
}

// Bombs. -----------------------------------------------------------------------------------------

std::string Compressed(Way way, absl::string_view bytes) {
  // Both formats are tried, each with some of the ways.
  return way == Way::kStrict || way == Way::kSalvage ? Zstd(bytes) : Gzip(bytes);
}

// A trace of one small generation, without its end.
std::string SmallBegin(uint64_t* size) {
  LargeTraceWriter maker;
  maker.Begin(1);
  maker.Batch(1, ProcStatusEvent(1, ProcStatus::kIdle));
  *size = maker.largest();
  return maker.out();
}

class BombTest : public MemoryTest {
 protected:
  Read Explode(absl::string_view begin, absl::string_view again, uint64_t times, uint64_t largest,
               const ReaderLimits& limits = {}) {
    const Way way = GetParam();
    std::string first = begin.empty() ? "" : Compressed(way, begin);
    // The stream has both parts.
    Read read = ReadWay(Repeat(first, Compressed(way, again), times), way, limits);
    ExpectBounded(read, largest);
    return read;
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, BombTest, testing::ValuesIn(kWays),
                         [](const auto& info) { return Name(info.param); });

TEST_P(BombTest, AGigabyteOfZeros) {
  const Read read = Explode("", std::string(16 * kMega, '\0'), 64, 0);
  if (GetParam() == Way::kValidate) return;  // The message also says what else the input may be.
  EXPECT_EQ(read.faults, (Faults{{"not-a-trace", 1}}));
}

TEST_P(BombTest, ZerosAfterASmallTrace) {
  uint64_t largest = 0;
  const std::string begin = SmallBegin(&largest);
  const Read read = Explode(begin, std::string(16 * kMega, '\0'), 2, largest);
  EXPECT_GE(read.Count("batch-type"), 1u);
  // Skipped zeros are not kept.
  EXPECT_LE(read.peak, 16 * kMega);
  EXPECT_EQ(read.events, strict() ? 1u : 3u);
}

TEST_P(BombTest, AGenerationWithoutEnd) {
  uint64_t largest = 0;
  const std::string begin = SmallBegin(&largest);
  LargeTraceWriter maker;
  maker.out().clear();
  maker.Begin(1);
  maker.out().clear();
  for (int i = 0; i < 200; ++i) maker.Batch(1, std::string(kMaxBatchSize, '\x0a'));
  ReaderLimits limits;
  limits.generation_bytes = 8 * kMega;
  const Read read = Explode(begin, maker.out(), 10, limits.generation_bytes, limits);
  EXPECT_EQ(read.Count("limit-generation-bytes"), 1u);
  EXPECT_LE(read.peak, 3 * limits.generation_bytes);
}

TEST_P(BombTest, EmptyBatchesWithoutEnd) {
  uint64_t largest = 0;
  const std::string begin = SmallBegin(&largest);
  LargeTraceWriter maker;
  maker.Begin(1);
  maker.out().clear();
  for (int i = 0; i < 100'000; ++i) maker.Batch(1, "");
  ReaderLimits limits;
  limits.generation_bytes = 4 * kMega;
  const Read read = Explode(begin, maker.out(), 20, limits.generation_bytes, limits);
  EXPECT_EQ(read.Count("limit-generation-bytes"), 1u);
  EXPECT_EQ(read.events, strict() ? 1u : 3u);
}

TEST_P(BombTest, GenerationsWithoutEndUpToTheLimit) {
  ReaderLimits limits;
  limits.decompressed_bytes = kMega;
  LargeTraceWriter maker;
  for (int n = 1; n <= 1000; ++n) {
    maker.Begin(7);
    maker.Batch(1, ProcStatusEvent(1, ProcStatus::kIdle));
    maker.End();
  }
  const std::string again = maker.out().substr(kHeaderSize);
  const Read read = Explode(maker.out(), again, 1000, maker.largest(), limits);
  EXPECT_EQ(read.Count("limit-decompressed-bytes"), 1u);
  EXPECT_GE(read.events, 1000u);
}

}  // namespace memory_test
}  // namespace gotrace::internal
