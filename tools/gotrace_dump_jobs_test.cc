// Runs the commands on a trace that is large enough for another core to help.
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/synthetic_traces.h"
#include "gotrace/reader_options.h"
#include "gtest/gtest.h"
#include "testing/subprocess.h"

namespace gotrace::internal {
namespace gotrace_dump_jobs_test {

class Jobs : public testing::Test {
 protected:
  void SetUp() override { Make(/*generations=*/1); }

  void Make(uint64_t generations) {
    SyntheticTraceOptions options;
    options.threads = 8;
    options.events = 200'000;
    options.generations = generations;
    TraceMaker maker(options);
    std::string trace;
    for (uint64_t i = 0; i < generations; ++i) absl::StrAppend(&trace, maker.NextGeneration());
    ASSERT_GT(trace.size(), generations * Tuning().jobs_from_bytes);
    Write(trace);
  }

  void Write(const std::string& trace) {
    std::ofstream(path_, std::ios::binary) << trace;
    trace_ = trace;
  }

  // Runs a command on the trace with one core, and expects the same with two.
  SubprocessResult RunBoth(std::vector<std::string> args) const {
    args.insert(args.end(), {path_, "--jobs=1"});
    const SubprocessResult one = RunDump(args);
    args.back() = "--jobs=2";
    const SubprocessResult two = RunDump(args);
    EXPECT_EQ(two.exit_code, one.exit_code);
    EXPECT_TRUE(two.out == one.out);
    EXPECT_EQ(two.err, one.err);
    return one;
  }

  const std::string path_ = absl::StrCat(testing::TempDir(), "/jobs.trace");
  std::string trace_;
};

TEST_F(Jobs, ChangeNothingOfTheOutput) {
  EXPECT_GT(RunBoth({"events"}).out.size(), trace_.size());
  EXPECT_EQ(RunBoth({"info", "--json"}).exit_code, 0);
  EXPECT_EQ(RunBoth({"validate"}).exit_code, 0);
}

TEST_F(Jobs, ChangeNothingWhereTheTraceIsDamaged) {
  trace_[trace_.size() / 2] ^= 0x55;
  Write(trace_);
  EXPECT_EQ(RunBoth({"events"}).exit_code, 1);
  EXPECT_EQ(RunBoth({"events", "--salvage"}).exit_code, 1);
  EXPECT_EQ(RunBoth({"validate"}).exit_code, 1);
}

// Each half on a core of its own.
TEST_F(Jobs, ChangeNothingOfTwoGenerations) {
  Make(/*generations=*/2);
  EXPECT_EQ(RunBoth({"validate"}).exit_code, 0);
  const std::string sound = trace_;
  for (const size_t place : {sound.size() / 4, sound.size() * 3 / 4}) {
    trace_[place] ^= 0x55;
    Write(trace_);
    EXPECT_EQ(RunBoth({"validate"}).exit_code, 1) << place;
    Write(sound);
  }
}

TEST_F(Jobs, EndInTheMiddle) {
  EXPECT_EQ(RunBoth({"events", "--limit=30000"}).exit_code, 0);
  const SubprocessResult closed =
      RunDump({"events", path_, "--jobs=2"}, {.read_at_most = 1'000'000});
  EXPECT_EQ(closed.err, "");
  EXPECT_EQ(closed.exit_code, 2);
}

}  // namespace gotrace_dump_jobs_test
}  // namespace gotrace::internal
