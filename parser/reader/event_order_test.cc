#include "parser/order/event_order.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace event_order_test {

// More threads than are always ordered exactly.
constexpr int kThreads = Tuning().exact_ties_threads + 6;

// A generation in which the start of goroutine 5 has to wait for thread 2 while other threads have
// events at equal times.
std::string Trace() {
  std::string text =
      "Trace Go1.22\n"
      "EventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=10 size=auto\n"
      "ProcStatus dt=1 p=0 pstatus=1\n"
      "GoStart dt=50 g=5 g_seq=2\n"
      "EventBatch gen=1 m=2 time=5 size=auto\n"
      "GoStatus dt=1 g=5 m=18446744073709551615 gstatus=4\n"
      "GoUnblock dt=60 g=5 g_seq=1 stack=0\n";
  for (int thread = 3; thread <= kThreads; ++thread) {
    absl::StrAppend(&text, "EventBatch gen=1 m=", thread, " time=", 70 + thread % 3,
                    " size=auto\nProcStatus dt=1 p=", thread, " pstatus=2\n");
  }
  return Assemble(text);
}

// Returns the offsets of all events, in order.
std::vector<uint64_t> ReadAll(const std::string& bytes, size_t exact_ties_threads) {
  ReaderOptions options;
  options.tuning.exact_ties_threads = exact_ties_threads;
  Reader reader = *Reader::FromBytes(bytes, options);
  std::vector<uint64_t> offsets;
  while (const Event* event = reader.Next()) offsets.push_back(event->offset());
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  return offsets;
}

TEST(EventOrderTest, TiesOfManyThreadsAreExactIfFewWait) {
  const std::string bytes = Trace();
  const std::vector<uint64_t> exact = ReadAll(bytes, kThreads);
  EXPECT_EQ(ReadAll(bytes, Tuning().exact_ties_threads), exact);
  // Otherwise the order of this trace would prove nothing.
  EXPECT_NE(ReadAll(bytes, 0), exact);
}

// Returns a generation of `threads` threads. Goroutine 5 starts on one thread each time another one
// unblocks it, but each start has the earlier time, so it has to wait. At the end, the other
// threads have events at equal times.
std::string TraceWithWaits(int threads, int waits) {
  constexpr int kPeriod = 20;
  std::string text =
      "Trace Go1.22\nEventBatch gen=1 m=0 time=1 size=auto\nFrequency freq=1000000000\n"
      "EventBatch gen=1 m=1 time=10 size=auto\nProcStatus dt=1 p=0 pstatus=1\n";
  for (int i = 0; i < waits; ++i) {
    absl::StrAppend(&text, "GoStart dt=", kPeriod - 1, " g=5 g_seq=", 2 * i + 2, "\n",
                    "GoBlock dt=1 reason_string=0 stack=0\n");
  }
  absl::StrAppend(&text, "EventBatch gen=1 m=2 time=10 size=auto\n",
                  "GoStatus dt=6 g=5 m=18446744073709551615 gstatus=4\n");
  for (int i = 0; i < waits; ++i) {
    absl::StrAppend(&text, "GoUnblock dt=", kPeriod, " g=5 g_seq=", 2 * i + 1, " stack=0\n");
  }
  const int end = 20 + kPeriod * waits;
  for (int thread = 3; thread <= threads; ++thread) {
    absl::StrAppend(&text, "EventBatch gen=1 m=", thread, " time=", end + thread % 3,
                    " size=auto\nProcStatus dt=1 p=", thread, " pstatus=2\n");
  }
  return Assemble(text);
}

TEST(EventOrderTest, TiesAreExactUpToTheNumberOfThreads) {
  constexpr int kFewThreads = 24;
  const std::string bytes = TraceWithWaits(kFewThreads, /*waits=*/200);
  const std::vector<uint64_t> exact = ReadAll(bytes, 1000);
  EXPECT_EQ(ReadAll(bytes, kFewThreads), exact);
  EXPECT_NE(ReadAll(bytes, kFewThreads - 1), exact);
}

}  // namespace event_order_test
}  // namespace gotrace::internal
