#include "bench/synthetic_traces.h"

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gotrace/fault.h"
#include "gotrace/reader.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace synthetic_traces_test {

SyntheticTraceOptions Options(int threads, uint64_t goroutines, uint64_t generations,
                              uint64_t events, uint64_t skew = 0) {
  SyntheticTraceOptions options;
  options.threads = threads;
  options.goroutines = goroutines;
  options.generations = generations;
  options.events = events;
  options.skew = skew;
  return options;
}

// What a strict Reader, which must accept `trace`, returns.
struct Contents {
  uint64_t events = 0;
  uint64_t statuses = 0;  // Of Ps and goroutines.
  uint64_t syncs = 0;
  uint64_t switches = 0;  // Changes of the thread between successive events.
  uint64_t waits = 0;     // Events that were returned after events with later times.
  std::set<int64_t> threads;
};
Contents Read(const std::string& trace) {
  Contents contents;
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return contents;
  int64_t last_thread = -1;
  int64_t last_time = 0;
  while (const Event* event = reader->Next()) {
    ++contents.events;
    // The reader moves the time of such an event to just after that of the event before it, as it
    // does with the sync at the end.
    contents.waits += event->kind() != EventKind::kSync && event->time() == last_time + 1;
    last_time = event->time();
    contents.syncs += event->kind() == EventKind::kSync;
    contents.statuses +=
        event->type() == EventType::kProcStatus || event->type() == EventType::kGoStatus;
    if (event->thread().value < 0) continue;
    contents.threads.insert(event->thread().value);
    contents.switches += event->thread().value != last_thread;
    last_thread = event->thread().value;
  }
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return contents;
}

TEST(SyntheticTracesTest, AreSound) {
  for (const SyntheticTraceOptions& options :
       {Options(1, 0, 1, 100), Options(2, 4, 3, 5000), Options(2, 1000, 4, 1000),
        Options(16, 40, 2, 20'000), Options(128, 10'000, 2, 50'000), Options(1024, 0, 2, 100'000),
        Options(3, 100, 3, 0), Options(16, 100, 3, 20'000, 1), Options(16, 100, 3, 20'000, 101)}) {
    SCOPED_TRACE(testing::Message() << options.threads << " threads, " << options.goroutines
                                    << " goroutines, skew " << options.skew);
    const std::string trace = MakeTrace(options);
    const ValidationReport report = ValidateTrace(*SourceFromBytes(trace), ValidateOptions());
    EXPECT_TRUE(report.status.ok()) << report.status;
    // There are notes about stacks that no event of a short trace uses.
    EXPECT_EQ(report.errors + report.warnings, 0u) << FormatFinding(report.findings.front());
    EXPECT_EQ(Read(trace).events, report.events);
  }
}

TEST(SyntheticTracesTest, HaveWhatTheOptionsRequest) {
  const Contents contents = Read(MakeTrace(Options(16, 500, 4, 10'000)));
  EXPECT_EQ(contents.syncs, 5u);
  EXPECT_EQ(contents.threads.size(), 16u);
  // Each generation states the statuses of all Ps, and of the goroutines that were alive when it
  // began.
  EXPECT_GE(contents.statuses, 4u * (16 + 500 - 16));
  EXPECT_LE(contents.statuses, 4u * (16 + 500 + 16));
  EXPECT_EQ(contents.events, 5 + contents.statuses + 4 * 10'000);
}

TEST(SyntheticTracesTest, InterleaveFinely) {
  const Contents contents = Read(MakeTrace(Options(128, 500, 1, 10'000)));
  EXPECT_GT(contents.switches, 9'000u);
}

TEST(SyntheticTracesTest, HaveClocksThatDisagree) {
  EXPECT_EQ(Read(MakeTrace(Options(16, 50, 2, 10'000))).waits, 0u);
  EXPECT_GT(Read(MakeTrace(Options(16, 50, 2, 10'000, 101))).waits, 1000u);
}

TEST(SyntheticTracesTest, KeepManyGoroutinesAlive) {
  EXPECT_GE(Read(MakeTrace(Options(2, 100'000, 1, 10))).statuses, 100'000u);
}

TEST(SyntheticTracesTest, AreTheSameEachTime) {
  EXPECT_EQ(MakeTrace(Options(4, 100, 3, 1000)), MakeTrace(Options(4, 100, 3, 1000)));
}

// The generator need not hold more than one generation.
TEST(SyntheticTracesTest, ComeInGenerations) {
  const std::string whole = MakeTrace(Options(4, 100, 3, 1000));
  TraceMaker maker(Options(4, 100, 3, 1000));
  std::string pieces;
  for (int i = 0; i < 3; ++i) {
    const absl::string_view bytes = maker.NextGeneration();
    EXPECT_LT(bytes.size(), whole.size() / 2);
    pieces.append(bytes.data(), bytes.size());
  }
  EXPECT_EQ(maker.NextGeneration(), "");
  EXPECT_EQ(maker.NextGeneration(), "");
  EXPECT_EQ(pieces, whole);
}

// A hash of everything that reading with `jobs` cores returns, and the status.
struct Reading {
  uint64_t events = 0;
  uint64_t mixed = 0;
  std::string end;

  friend bool operator==(const Reading& a, const Reading& b) {
    return a.events == b.events && a.mixed == b.mixed && a.end == b.end;
  }
};
Reading ReadWith(size_t jobs, const std::string& trace) {
  ReaderOptions options;
  options.jobs = jobs;
  options.decodes_ahead = true;
  options.tuning.jobs_from_bytes = 0;
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace, options);
  if (!reader.ok()) return {0, 0, reader.status().ToString()};
  Reading reading;
  while (const Event* event = reader->Next()) {
    for (const uint64_t value :
         {static_cast<uint64_t>(event->time()), event->offset(), event->stack_id(),
          static_cast<uint64_t>(event->type()), static_cast<uint64_t>(event->thread().value),
          static_cast<uint64_t>(event->proc().value),
          static_cast<uint64_t>(event->goroutine().value)}) {
      reading.mixed = (reading.mixed ^ value) * 0x9e3779b97f4a7c15;
    }
  }
  reading.events = reader->event_count();
  reading.end = std::string(reader->status().message());
  if (const std::optional<Fault> fault = FaultOf(reader->status())) {
    for (const std::string& detail : fault->details) absl::StrAppend(&reading.end, "\n", detail);
  }
  return reading;
}

TEST(SyntheticTracesTest, AreReadTheSameWithAnyNumberOfJobs) {
  for (const SyntheticTraceOptions& options :
       {Options(2, 100, 2, 80'000), Options(40, 2000, 3, 80'000), Options(16, 100, 2, 80'000, 101),
        Options(200, 1000, 2, 80'000)}) {
    const std::string trace = MakeTrace(options);
    const Reading alone = ReadWith(1, trace);
    EXPECT_EQ(alone.end, "");
    EXPECT_GT(alone.events, options.generations * options.events);
    EXPECT_TRUE(ReadWith(2, trace) == alone);
    EXPECT_TRUE(ReadWith(0, trace) == alone);
  }
}

TEST(SyntheticTracesTest, AreReadTheSameWithAnyNumberOfJobsIfDamaged) {
  const std::string trace = MakeTrace(Options(8, 200, 3, 80'000));
  std::mt19937_64 random(7);
  std::set<std::string> ends;
  for (int i = 0; i < 12; ++i) {
    std::string damaged = trace;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    const Reading alone = ReadWith(1, damaged);
    const Reading with_help = ReadWith(2, damaged);
    EXPECT_EQ(with_help.end, alone.end);
    EXPECT_EQ(with_help.events, alone.events);
    EXPECT_EQ(with_help.mixed, alone.mixed);
    ends.insert(alone.end);
  }
  EXPECT_GT(ends.size(), 6u);
}

}  // namespace synthetic_traces_test
}  // namespace gotrace::internal
