#include "fuzz/trace_mutator.h"

#include <set>
#include <string>

#include "fuzz/raw_trace.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace trace_mutator_test {

constexpr size_t kMaxSize = 64 << 10;

// Adds a byte that the tests can recognise.
void AddBang(std::string* bytes, size_t) { bytes->push_back('!'); }

std::string SmallTrace() {
  return Assemble(
      "Trace Go1.26\n"
      "EventBatch gen=1 m=7 time=5 size=auto\n"
      "GoStart dt=1 g=2 g_seq=3\n"
      "ProcStatus dt=1 p=0 pstatus=1\n"
      "ExperimentalBatch exp=1 gen=1 m=2 time=3\n"
      "\tdata=\"abc\"\n"
      "EventBatch gen=1 m=8 time=5 size=auto\n"
      "Strings\n"
      "String id=1\n"
      "\tdata=\"name\"\n"
      "Stacks\n"
      "Stack id=1 nframes=1\n"
      "\tpc=7 func=1 file=1 line=3\n"
      "EndOfGeneration\n");
}

TEST(RawTrace, IsAssembledUnchanged) {
  const std::string trace = SmallTrace();
  const std::optional<RawTrace> apart = TakeApart(trace);
  ASSERT_TRUE(apart.has_value());
  ASSERT_EQ(apart->batches.size(), 4U);
  EXPECT_EQ(apart->batches[0].events.size(), 2U);
  EXPECT_EQ(PutTogether(*apart), trace);
}

TEST(RawTrace, KeepsBytesThatAreNotEvents) {
  const std::string trace = Assemble(
                                "Trace Go1.22\n"
                                "EventBatch gen=1 m=7 time=5 size=6\n"
                                "GoStart dt=1 g=2 g_seq=3\n") +
                            "\x7f\x01" + "\x7f junk";
  const std::optional<RawTrace> apart = TakeApart(trace);
  ASSERT_TRUE(apart.has_value());
  ASSERT_EQ(apart->batches.size(), 1U);
  EXPECT_EQ(apart->batches[0].events.size(), 1U);
  EXPECT_EQ(apart->batches[0].rest, "\x7f\x01");
  EXPECT_EQ(apart->rest, "\x7f junk");
  EXPECT_EQ(PutTogether(*apart), trace);
}

TEST(RawTrace, NeedsAHeader) { EXPECT_FALSE(TakeApart("go 1.99 trace").has_value()); }

TEST(TraceMutator, DoesTheSameForASeed) {
  const std::string trace = SmallTrace();
  for (uint32_t seed = 1; seed < 200; ++seed) {
    EXPECT_EQ(TraceMutator(seed).Mutate(trace, kMaxSize, AddBang),
              TraceMutator(seed).Mutate(trace, kMaxSize, AddBang));
    EXPECT_EQ(TraceMutator(seed).Cross(trace, trace, kMaxSize),
              TraceMutator(seed).Cross(trace, trace, kMaxSize));
  }
}

TEST(TraceMutator, ChangesTracesInManyWays) {
  const std::string trace = SmallTrace();
  std::set<std::string> changed;
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    changed.insert(TraceMutator(seed).Mutate(trace, kMaxSize, AddBang));
  }
  EXPECT_EQ(changed.count(trace), 0U);
  EXPECT_GT(changed.size(), 300U);
}

// Whether all batches of the trace can be read.
bool HasSoundFraming(const std::string& trace) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(trace);
  if (!ReadHeader(source->get()).ok()) return false;
  Batch batch;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = ReadBatch(source->get(), &batch);
  return more.ok();
}

TEST(TraceMutator, KeepsTheFramingWhole) {
  const std::string trace = ReadTestTrace("go1.27-annotations.trace");
  int sound = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    sound += HasSoundFraming(TraceMutator(seed).Mutate(trace, kMaxSize, AddBang)) ? 1 : 0;
  }
  // One in ten has its bytes changed, and the numbers of generations may become 0.
  EXPECT_GT(sound, 240);
}

TEST(TraceMutator, LeavesOtherInputToTheByteMutator) {
  EXPECT_EQ(TraceMutator(1).Mutate("something", kMaxSize, AddBang), "something!");
}

TEST(TraceMutator, StaysWithinTheSize) {
  const std::string trace = SmallTrace();
  const auto cut = [](std::string* bytes, size_t max_size) { bytes->resize(max_size); };
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    EXPECT_LE(TraceMutator(seed).Mutate(trace, trace.size(), cut).size(), trace.size());
    EXPECT_LE(TraceMutator(seed).Cross(trace, trace, trace.size()).size(), trace.size());
  }
}

TEST(TraceMutator, CrossesTwoTraces) {
  const std::string trace = SmallTrace();
  const std::string other = Assemble(
      "Trace Go1.26\n"
      "EventBatch gen=1 m=99 time=5 size=auto\n"
      "GoStop dt=1 reason_string=0 stack=0\n");
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    const std::optional<RawTrace> crossed =
        TakeApart(TraceMutator(seed).Cross(trace, other, kMaxSize));
    ASSERT_TRUE(crossed.has_value());
    int from_other = 0;
    for (RawBatch batch : crossed->batches) {
      from_other += batch.has_header() && batch.thread() == 99 ? 1 : 0;
    }
    EXPECT_EQ(from_other, 1) << seed;
  }
}

}  // namespace trace_mutator_test
}  // namespace gotrace::internal
