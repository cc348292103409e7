#include "gotrace/read_parallel.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gotrace/trace_index.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace read_parallel_test {

// Collects descriptions of all events.
class Collector final : public MergeableSink<Collector> {
 public:
  explicit Collector(std::atomic<int>* added_elsewhere) : added_elsewhere_(*added_elsewhere) {}

  void Add(absl::Span<const Event> events) override {
    if (std::this_thread::get_id() != creator_) ADD_FAILURE() << "another thread adds events";
    for (const Event& event : events) events_.push_back(Describe(event));
  }
  absl::Status Finish() override {
    ++finished_;
    return absl::OkStatus();
  }
  void Merge(Collector&& next) override {
    EXPECT_EQ(next.finished_, 0);
    added_elsewhere_ += !next.events_.empty();
    std::move(next.events_.begin(), next.events_.end(), std::back_inserter(events_));
  }

  const std::vector<std::string>& events() const { return events_; }
  int finished() const { return finished_; }

 private:
  const std::thread::id creator_ = std::this_thread::get_id();
  std::atomic<int>& added_elsewhere_;
  std::vector<std::string> events_;
  int finished_ = 0;
};

struct Parallel {
  explicit Parallel(absl::string_view bytes, size_t jobs = 2, uint64_t jobs_from_bytes = 0,
                    ReaderOptions options = {}) {
    options.jobs = jobs;
    options.tuning.jobs_from_bytes = jobs_from_bytes;
    std::unique_ptr<Collector> collector;
    const std::thread::id caller = std::this_thread::get_id();
    status = ReadParallel(
        *SourceFromBytes(bytes), options, [&] { return std::make_unique<Collector>(&merged); },
        &collector,
        [&](const ReadProgress& reached) {
          EXPECT_EQ(std::this_thread::get_id(), caller);
          progress = reached;
        });
    events = collector->events();
    EXPECT_EQ(collector->finished(), 1);
  }

  std::atomic<int> merged = 0;  // The number of sinks with events that were merged into the first.
  std::vector<std::string> events;
  absl::Status status;
  ReadProgress progress;  // The last.
};

TEST(ReadParallelTest, ReturnsAllEventsInOrderForAnyNumberOfCores) {
  size_t merged = 0;
  size_t traces = 0;
  for (const TestTrace& trace : SomeTestTraces()) {
    SCOPED_TRACE(trace.name);
    const std::string bytes = ReadTestTrace(trace.name);
    const Outcome whole = ReadAll(Reader::FromBytes(bytes));
    // Every other trace with other numbers: all of them take long under the sanitizers.
    using Jobs = std::vector<size_t>;
    for (const size_t jobs : ++traces % 2 == 0 ? Jobs{1, 3} : Jobs{2, 8}) {
      const Parallel parallel(bytes, jobs);
      EXPECT_TRUE(parallel.status.ok()) << parallel.status;
      EXPECT_TRUE(parallel.events == whole.events) << jobs;
      EXPECT_EQ(parallel.progress.events, whole.events.size());
      EXPECT_EQ(parallel.progress.total, bytes.size());
      EXPECT_LE(parallel.progress.bytes, bytes.size());
      EXPECT_LT(parallel.merged, static_cast<int>(jobs));
      merged += parallel.merged;
    }
  }
  EXPECT_GE(merged, TestRounds(51));
}

TEST(ReadParallelTest, ReadsABrokenTraceAsFarAsAReaderDoes) {
  const std::string sound = ReadTestTrace("go1.24-gc.trace");
  size_t broken = 0;
  const size_t rounds = TestRounds(20);
  for (size_t i = 0; i < rounds; ++i) {
    std::string bytes = sound;
    bytes[100 + i * (bytes.size() - 100) / rounds] ^= static_cast<char>(1 << i % 8);
    const Outcome whole = ReadAll(Reader::FromBytes(bytes));
    for (const size_t jobs : {2, 8}) {
      const Parallel parallel(bytes, jobs);
      EXPECT_EQ(parallel.status.message(), whole.status.message()) << i;
      EXPECT_TRUE(parallel.events == whole.events) << i;
    }
    broken += !whole.status.ok();
  }
  EXPECT_GE(broken, rounds * 2 / 5);
}

TEST(ReadParallelTest, ReportsFaultsOnTheCallingThread) {
  std::string bytes = ReadTestTrace("go1.24-gc.trace");
  bytes[bytes.size() * 3 / 4] ^= 0x10;
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  std::vector<std::string> faults;
  const std::thread::id caller = std::this_thread::get_id();
  options.on_fault = [&](const Fault& fault) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    faults.push_back(FormatFault(fault));
  };
  const Outcome whole = ReadAll(Reader::FromBytes(bytes, options));
  const std::vector<std::string> expected = std::exchange(faults, {});
  EXPECT_FALSE(expected.empty());
  const Parallel parallel(bytes, 4, 0, options);
  EXPECT_EQ(faults, expected);
  EXPECT_TRUE(parallel.events == whole.events);
  EXPECT_GT(parallel.merged, 0);
}

TEST(ReadParallelTest, ReadsATraceThatCannotBeDividedSequentially) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const Outcome whole = ReadAll(Reader::FromBytes(bytes));
  EXPECT_GT(Parallel(bytes).merged, 0);
  ReaderOptions with_callback;
  with_callback.on_time_back = [](const Place&, int64_t) {};
  const std::string zstd = Zstd(bytes);
  for (const Parallel& parallel : {Parallel(bytes, /*jobs=*/1), Parallel(bytes, 2, bytes.size()),
                                   Parallel(zstd), Parallel(bytes, 2, 0, with_callback)}) {
    EXPECT_TRUE(parallel.status.ok()) << parallel.status;
    EXPECT_TRUE(parallel.events == whole.events);
    EXPECT_EQ(parallel.merged, 0);
  }
  EXPECT_FALSE(Parallel("not a trace").status.ok());
}

// Wants no more events after some, and remembers whether it is for a later part of a trace.
class Sated final : public MergeableSink<Sated> {
 public:
  explicit Sated(uint64_t limit) : limit_(limit) {}

  void StartInMiddle(int64_t trace_start) override { trace_start_ = trace_start; }
  void Add(absl::Span<const Event> events) override { count_ += events.size(); }
  bool WantsMore() const override { return count_ < limit_; }
  void Merge(Sated&& next) override {
    EXPECT_FALSE(trace_start_.has_value());
    count_ += next.count_;
    starts_.push_back(next.trace_start_.value_or(-1));
  }

  uint64_t count() const { return count_; }
  const std::vector<int64_t>& starts() const { return starts_; }

 private:
  const uint64_t limit_;
  uint64_t count_ = 0;
  std::optional<int64_t> trace_start_;
  std::vector<int64_t> starts_;
};

TEST(ReadParallelTest, StopsWhenTheSinkWantsNoMore) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  const uint64_t all = ReadAll(Reader::FromBytes(bytes)).events.size();
  bool is_merged = false;
  for (uint64_t limit = 1; limit < all * 5 / 4; limit += all / 8) {
    Sated alone(limit);
    Reader reader = *Reader::FromBytes(bytes);
    EXPECT_TRUE(ReadInto(reader, {&alone}).ok());
    ReaderOptions options;
    options.jobs = 4;
    options.tuning.jobs_from_bytes = 0;
    std::unique_ptr<Sated> sink;
    EXPECT_TRUE(
        ReadParallel(
            *SourceFromBytes(bytes), options, [&] { return std::make_unique<Sated>(limit); }, &sink)
            .ok());
    const Sated& merged = *sink;
    // A segment that was merged is there as a whole.
    EXPECT_GE(merged.count(), std::min(limit, all));
    EXPECT_LE(merged.count(), alone.count() + all / 2);
    for (const int64_t start : merged.starts()) {
      EXPECT_EQ(start, Reader::FromBytes(bytes)->Next()->time());
      is_merged = true;
    }
  }
  EXPECT_TRUE(is_merged);
}

TEST(ReadParallelTest, CanBeStopped) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  for (const int allowed : {0, 1, 5, 20}) {
    std::atomic<int> calls = 0;
    ReaderOptions options;
    options.keep_going = [&] { return calls++ < allowed; };
    const Parallel parallel(bytes, 4, 0, options);
    EXPECT_EQ(parallel.status.code(), absl::StatusCode::kCancelled) << allowed;
    EXPECT_LT(calls, allowed + 20);
  }
}

TEST(ReadParallelTest, AsksWhetherToContinueForEachBatchOfTheIndex) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  uint64_t batches = 0;
  const TraceIndex index = *TraceIndex::Build(**SourceFromBytes(bytes));
  for (const TraceIndex::Generation& generation : index.generations()) {
    batches += generation.batches;
  }
  std::atomic<uint64_t> calls = 0;
  std::optional<uint64_t> calls_before_reading;
  ReaderOptions options;
  options.jobs = 2;
  options.tuning.jobs_from_bytes = 0;
  options.keep_going = [&] { return ++calls > 0; };
  std::atomic<int> merged = 0;
  std::unique_ptr<Collector> sink;
  const auto make_sink = [&] {
    if (!calls_before_reading.has_value()) calls_before_reading = calls;
    return std::make_unique<Collector>(&merged);
  };
  EXPECT_TRUE(ReadParallel(*SourceFromBytes(bytes), options, make_sink, &sink).ok());
  EXPECT_GE(calls_before_reading, batches);
}

}  // namespace read_parallel_test
}  // namespace gotrace::internal
