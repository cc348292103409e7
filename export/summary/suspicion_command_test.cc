#include "export/summary/suspicion_command.h"

#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace suspicion_command_test {

TEST(Suspicions, HaveCommandsThatSelectTheirPlace) {
  TraceSummary::Suspicion s;
  s.kind = SuspicionKind::kLock;
  EXPECT_EQ(CommandFor(s), "locks --kind=mutex,rwmutex");
  s.function = "main.load.func1";
  EXPECT_EQ(CommandFor(s), "locks --kind=mutex,rwmutex --stack=main.load.func1");
  s.function = "a.b/c.(*Cache[...]).Get";
  EXPECT_EQ(CommandFor(s), "locks --kind=mutex,rwmutex --stack='a.b/c.*Cache.*Get'");
  s.kind = SuspicionKind::kGc;
  EXPECT_EQ(CommandFor(s), SuspicionCommand(SuspicionKind::kGc));

  s.kind = SuspicionKind::kSlowTasks;
  s.reason = "task";
  s.function = "resize";
  EXPECT_EQ(CommandFor(s), "path --type=resize --worst=10");
  s.function = "it's";
  EXPECT_EQ(CommandFor(s), "path --type='it'\\''s' --worst=10");
  s.function = "two\nlines";
  EXPECT_EQ(CommandFor(s), "tasks --each --top=5");
  s.reason = "region";
  s.function = "parse body";
  EXPECT_EQ(CommandFor(s), "path --region='parse body' --worst=10");
  s.reason = "request";
  EXPECT_EQ(CommandFor(s), "latency --by=stack --sort=total");
  s.places.push_back({.function = "main.refresh"});
  EXPECT_EQ(CommandFor(s), "latency --by=stack --sort=total --stack=main.refresh");
}

}  // namespace suspicion_command_test
}  // namespace gotrace::internal
