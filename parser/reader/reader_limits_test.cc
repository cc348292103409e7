#include "gotrace/reader_limits.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace reader_limits_test {

// Two generations, each with two threads, two Ps and three goroutines. The first goroutine has two
// open regions and an open task.
std::string Trace() {
  std::string text = "Trace Go1.22\n";
  for (const int gen : {1, 2}) {
    const std::string time = absl::StrCat(gen * 1000);
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=0 time=", time, " size=auto\n",
                    "Frequency freq=1000000000\n");
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=1 time=", time, " size=auto\n",
                    "ProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=1 m=1 gstatus=2\n");
    if (gen == 1) {
      absl::StrAppend(&text, "UserRegionBegin dt=1 task=0 name_string=0 stack=0\n",
                      "UserTaskBegin dt=1 task=3 parent_task=0 name_string=0 stack=0\n",
                      "UserRegionBegin dt=1 task=3 name_string=0 stack=0\n",
                      "GoCreate dt=1 new_g=2 new_stack=0 stack=0\n",
                      "GoCreate dt=1 new_g=3 new_stack=0 stack=0\n");
    }
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=2 time=", time, "0 size=auto\n",
                    "ProcStatus dt=1 p=1 pstatus=2\n");
  }
  return Assemble(text);
}

constexpr uint64_t kEvents = 8 + 3 + 3;  // The events of both generations, and three syncs.

struct Read {
  uint64_t events = 0;
  std::vector<std::pair<FaultId, uint64_t>> faults;  // Each with its generation.
  std::string message;                               // The message of the last fault.
  Losses losses;
};

Read ReadTrace(const std::string& bytes, ReadMode mode, const ReaderLimits& limits) {
  Read read;
  ReaderOptions options;
  options.mode = mode;
  options.limits = limits;
  options.on_fault = [&](const Fault& fault) {
    read.faults.emplace_back(fault.id, fault.place.generation.value_or(0));
    read.message = fault.message;
  };
  Reader reader = *Reader::FromBytes(bytes, options);
  while (reader.Next() != nullptr) ++read.events;
  if (const std::optional<Fault> fault = FaultOf(reader.status())) options.on_fault(*fault);
  read.losses = reader.losses();
  return read;
}

// A limit, the smallest value that admits the trace, and how many events are returned with a value
// one lower, in strict mode and in the others.
struct Row {
  FaultId fault;
  absl::string_view name;
  uint64_t enough;
  uint64_t strict_events;
  uint64_t tolerant_events;
};

std::vector<Row> Rows() {
  const std::string bytes = Trace();
  Reader reader = *Reader::FromBytes(bytes);
  while (reader.Next() != nullptr && reader.generation().number < 2) continue;
  const uint64_t first = reader.generation().begin_offset - 16;
  return {
      // The last batch of the first generation does not fit. Strict mode then returns only the
      // final sync.
      {FaultId::kLimitGenerationBytes, "generation-bytes", first, 1, kEvents - 1},
      {FaultId::kLimitThreads, "threads", 2, 1, kEvents - 2},
      // The status of the second P is the last event of each generation.
      {FaultId::kLimitProcs, "procs", 2, 8, kEvents - 2},
      // The task or region that exceeds the limit is returned, but not tracked.
      {FaultId::kLimitNesting, "nesting", 3, 5, kEvents},
  };
}

TEST(ReaderLimitsTest, AValueMayBeReachedButNotExceeded) {
  const std::string bytes = Trace();
  for (const Row& row : Rows()) {
    for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kCollect, ReadMode::kSalvage}) {
      SCOPED_TRACE(absl::StrCat(row.name, " in mode ", static_cast<int>(mode)));
      ReaderLimits limits;
      *FindLimit(row.name, &limits) = row.enough;
      const Read enough = ReadTrace(bytes, mode, limits);
      EXPECT_EQ(enough.events, kEvents);
      EXPECT_TRUE(enough.faults.empty());

      --*FindLimit(row.name, &limits);
      const Read passed = ReadTrace(bytes, mode, limits);
      EXPECT_EQ(passed.events, mode == ReadMode::kStrict ? row.strict_events : row.tolerant_events);
      ASSERT_FALSE(passed.faults.empty());
      for (const auto& [id, generation] : passed.faults) EXPECT_EQ(id, row.fault);
      EXPECT_EQ(passed.faults.front().second, 1u);
      EXPECT_TRUE(absl::EndsWith(passed.message,
                                 absl::StrCat("; the limit ", row.name, " is ", row.enough - 1)))
          << passed.message;
    }
  }
}

// Generations with one thread each, all with the P whose id means no P.
TEST(ReaderLimitsTest, ForgottenThreadsLeaveTheirP) {
  std::string text = "Trace Go1.22\n";
  for (int gen = 1; gen <= 6; ++gen) {
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=0 time=", gen, " size=auto\n",
                    "Frequency freq=1000000000\nEventBatch gen=", gen, " m=", gen, " time=", gen,
                    " size=auto\nProcStatus dt=1 p=18446744073709551615 pstatus=1\n");
  }
  ReaderLimits limits;
  limits.threads = 1;
  for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kCollect, ReadMode::kSalvage}) {
    const Read read = ReadTrace(Assemble(text), mode, limits);
    EXPECT_TRUE(read.faults.empty());
    EXPECT_EQ(read.events, 6u + 7);
  }
}

// Each generation has one new thread. After the fault in the last one, the limits are checked
// again; idle threads of earlier generations do not count.
TEST(ReaderLimitsTest, ThreadsOfEarlierGenerationsAreForgotten) {
  std::string text = "Trace Go1.22\n";
  for (int gen = 1; gen <= 6; ++gen) {
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=0 time=", gen, " size=auto\n",
                    "Frequency freq=1000000000\nEventBatch gen=", gen, " m=", gen, " time=", gen,
                    " size=auto\nProcStatus dt=1 p=0 pstatus=2\n",
                    gen == 6 ? "ProcStop dt=1\n" : "");
  }
  ReaderLimits limits;
  limits.threads = 2;
  for (const ReadMode mode : {ReadMode::kCollect, ReadMode::kSalvage}) {
    const Read read = ReadTrace(Assemble(text), mode, limits);
    ASSERT_EQ(read.faults.size(), 1u);
    EXPECT_EQ(read.faults[0], std::make_pair(FaultId::kNeedsProc, uint64_t{6}));
  }
}

// When the rest of the generation is dropped, so are the threads that were parked.
TEST(ReaderLimitsTest, WaitingThreadsCountAsDropped) {
  for (const int waiting : {3, 100}) {
    std::string text =
        "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n";
    for (int i = 1; i <= waiting; ++i) {
      absl::StrAppend(&text, "EventBatch gen=1 m=", i, " time=2 size=auto\n",
                      "GoStart dt=1 g=5 g_seq=9\n");
    }
    absl::StrAppend(&text, "EventBatch gen=1 m=999 time=1000 size=auto\n",
                    "ProcStatus dt=1 p=1 pstatus=1\nProcStatus dt=1 p=2 pstatus=2\n");
    ReaderLimits limits;
    limits.procs = 1;
    for (const ReadMode mode : {ReadMode::kCollect, ReadMode::kSalvage}) {
      const Read read = ReadTrace(Assemble(text), mode, limits);
      EXPECT_EQ(read.losses.dropped_batches, waiting + 1u);
      EXPECT_EQ(read.losses.dropped_events, waiting + 1u);
    }
  }
}

TEST(ReaderLimitsTest, ConsequencesOfTheNestingLimitAreNotReported) {
  const std::string bytes = Assemble(
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=1 size=auto\nProcStatus dt=1 p=0 pstatus=1\n"
      "GoStatus dt=1 g=1 m=1 gstatus=2\nSTWBegin dt=1 kind_string=0 stack=0\nSTWEnd dt=1\n"
      "GCMarkAssistBegin dt=1 stack=0\nGCMarkAssistEnd dt=1\n");
  ReaderLimits limits;
  limits.nesting = 0;
  for (const ReadMode mode : {ReadMode::kCollect, ReadMode::kSalvage}) {
    const Read read = ReadTrace(bytes, mode, limits);
    EXPECT_EQ(read.faults.size(), 1u);
    EXPECT_EQ(read.events, 8u);
  }
  limits.nesting = 1;
  EXPECT_TRUE(ReadTrace(bytes, ReadMode::kStrict, limits).faults.empty());
}

TEST(ReaderLimitsTest, TheLimitOnGoroutinesGrowsWithTheLargestGeneration) {
  // The limit applies to all events that add a goroutine.
  struct Way {
    absl::string_view events;  // Adds goroutine 99.
    uint64_t count;            // The number of events.
  };
  for (const Way& way : {Way{"GoCreate dt=1 new_g=99 new_stack=0 stack=0\n", 1},
                         Way{"GoStatus dt=1 g=99 m=0 gstatus=4\n", 1},
                         Way{"GoCreateSyscall dt=1 new_g=99\nGoSyscallEndBlocked dt=1\n", 2}}) {
    SCOPED_TRACE(std::string(way.events));
    std::string text =
        "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
        "EventBatch gen=1 m=1 time=1 size=auto\nProcStatus dt=1 p=0 pstatus=1\n";
    for (int id = 1; id <= 60; ++id) {
      absl::StrAppend(&text, absl::StrReplaceAll(way.events, {{"99", absl::StrCat(id)}}));
    }
    const std::string bytes = Assemble(text);
    const uint64_t by_size = (bytes.size() - 16) / ReaderLimits::kBytesPerGoroutine;
    ReaderLimits limits;
    limits.goroutines = 60 - by_size;
    EXPECT_TRUE(ReadTrace(bytes, ReadMode::kStrict, limits).faults.empty());
    --limits.goroutines;
    for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kCollect, ReadMode::kSalvage}) {
      const Read read = ReadTrace(bytes, mode, limits);
      ASSERT_EQ(read.faults.size(), 1u);
      EXPECT_EQ(read.faults[0].first, FaultId::kLimitGoroutines);
      EXPECT_TRUE(
          absl::StrContains(read.message, "expected at most 59 live goroutines in a trace"));
      EXPECT_EQ(read.losses.dropped_events, mode == ReadMode::kStrict ? 0u : way.count);
    }
  }
}

// Goroutines that appear without having been created are kept and marked, up to the limit.
TEST(ReaderLimitsTest, TheLimitOnGoroutinesIncludesContradictingOnes) {
  std::string text = "Trace Go1.22\n";
  for (const int gen : {1, 2}) {
    absl::StrAppend(&text, "EventBatch gen=", gen, " m=0 time=1 size=auto\n",
                    "Frequency freq=1000000000\nEventBatch gen=", gen,
                    " m=1 time=1 size=auto\nProcStatus dt=1 p=0 pstatus=1\n");
  }
  for (int id = 1; id <= 60; ++id) {
    absl::StrAppend(&text, "GoStatus dt=1 g=", id, " m=0 gstatus=4\n");
  }
  ReaderLimits limits;
  limits.goroutines = 2;
  for (const ReadMode mode : {ReadMode::kCollect, ReadMode::kSalvage}) {
    const Read read = ReadTrace(Assemble(text), mode, limits);
    ASSERT_FALSE(read.faults.empty());
    EXPECT_EQ(read.faults.front(), std::make_pair(FaultId::kGoStatusNew, uint64_t{2}));
    EXPECT_EQ(read.faults.back(), std::make_pair(FaultId::kLimitGoroutines, uint64_t{2}));
    EXPECT_GT(read.losses.dropped_events, 0u);
  }
}

TEST(ReaderLimitsTest, DecompressedBytesAreCounted) {
  const std::string bytes = Trace();
  ReaderLimits limits;
  limits.decompressed_bytes = bytes.size();
  for (const std::string& compressed : {Zstd(bytes), Gzip(bytes)}) {
    EXPECT_EQ(ReadTrace(compressed, ReadMode::kStrict, limits).events, kEvents);
    ReaderLimits less = limits;
    --less.decompressed_bytes;
    for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kCollect, ReadMode::kSalvage}) {
      const Read read = ReadTrace(compressed, mode, less);
      ASSERT_FALSE(read.faults.empty());
      EXPECT_EQ(read.faults[0].first, FaultId::kLimitDecompressedBytes);
      EXPECT_GE(read.events, 8u);
    }
    // The limit does not apply to input that is not compressed.
    EXPECT_EQ(ReadTrace(bytes, ReadMode::kStrict, less).events, kEvents);
  }
}

TEST(ReaderLimitsTest, EachHasAName) {
  ReaderLimits limits;
  for (const absl::string_view name : absl::StrSplit(LimitNames(), ", ")) {
    uint64_t* const limit = FindLimit(name, &limits);
    ASSERT_NE(limit, nullptr) << name;
    EXPECT_NE(*limit, 0u) << name;
    *limit = 0;
  }
  EXPECT_EQ(FindLimit("memory", &limits), nullptr);
  int count = 0;
  for (int i = 0; i < kFaultIdEnd; ++i) {
    const FaultId id = static_cast<FaultId>(i);
    if (!absl::StartsWith(FaultName(id), "limit-")) continue;
    ++count;
    EXPECT_TRUE(IsLimit(id));
    EXPECT_NE(FindLimit(FaultName(id).substr(6), &limits), nullptr) << FaultName(id);
  }
  EXPECT_EQ(count, 6);
}

}  // namespace reader_limits_test
}  // namespace gotrace::internal
