// That what reading vouches for is not judged once more changes nothing.
#include <string>

#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "validator/judged_cases.h"
#include "validator/report.h"

namespace gotrace {
namespace {

std::string ReportOf(const std::string& bytes, bool trusts_reader, Strictness strictness,
                     size_t jobs) {
  ValidateOptions options;
  options.trusts_reader = trusts_reader;
  options.strictness = strictness;
  options.jobs = jobs;
  options.jobs_from_bytes = 0;
  options.max_per_check = 3;
  return ShowReport(ValidateTrace(*SourceFromBytes(bytes), options));
}

void ExpectSame(const std::string& bytes) {
  for (const Strictness strictness : {Strictness::kGo, Strictness::kAll}) {
    const std::string report = ReportOf(bytes, false, strictness, 1);
    EXPECT_EQ(ReportOf(bytes, true, strictness, 1), report);
    EXPECT_EQ(ReportOf(bytes, true, strictness, 2), report);
  }
}

TEST(TrustTest, ChangesNoReport) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    ExpectSame(ReadTestTrace(trace.name));
  }
}

TEST(TrustTest, ChangesNoReportOfACase) {
  ForEachCase([](const std::string& name, const std::string& bytes) {
    SCOPED_TRACE(name);
    ExpectSame(bytes);
  });
}

TEST(TrustTest, ChangesNoReportOfADamagedTrace) {
  for (const char* name : {"go1.22-syscalls.trace", "go1.24-gc.trace", "go1.27-annotations.trace",
                           "go1.27-cgocallback.trace", "go1.27-generations.trace"}) {
    SCOPED_TRACE(name);
    ForEachDamaged(ReadTestTrace(name), 60, ExpectSame);
  }
}

}  // namespace
}  // namespace gotrace
