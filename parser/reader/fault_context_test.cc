#include "parser/order/fault_context.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace fault_context_test {

// A generation with tables and the `events` of thread 1, which runs goroutine 1. Stack 7 is
// main.inner called by main.main; stack 8 has `depth` frames.
std::string Generation(int number, const std::string& events, int depth = 1) {
  std::string deep = absl::StrCat("Stack id=8 nframes=", depth, "\n");
  for (int i = 0; i < depth; ++i)
    absl::StrAppend(&deep, "\tpc=", 100 + i, " func=5 file=4 line=", i, "\n");
  return absl::StrCat("EventBatch gen=", number, R"( m=0 time=1 size=auto
Frequency freq=1000000000
)",
                      "EventBatch gen=", number, R"( m=0 time=1 size=auto
Strings
String id=1
	data="outer"
String id=2
	data="inner"
String id=3
	data="main.inner"
String id=4
	data="/src/main.go"
String id=5
	data="main.main"
)",
                      "EventBatch gen=", number, R"( m=0 time=1 size=auto
Stacks
Stack id=7 nframes=2
	pc=1 func=3 file=4 line=31
	pc=2 func=5 file=4 line=12
)",
                      deep, "EventBatch gen=", number, " m=1 time=", 100 * number, R"( size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)",
                      events);
}

std::string Trace(const std::string& generations) {
  return Assemble(absl::StrCat("Trace Go1.22\n", generations));
}

// Returns the faults of reading `bytes` to the end.
std::vector<Fault> FaultsIn(const std::string& bytes) {
  std::vector<Fault> faults;
  ReaderOptions options;
  options.mode = ReadMode::kCollect;
  options.on_fault = [&](const Fault& fault) { faults.push_back(fault); };
  EXPECT_TRUE(ReadAll(Reader::FromBytes(bytes, options)).status.ok());
  return faults;
}

constexpr char kRegions[] = R"(UserRegionBegin dt=1 task=0 name_string=1 stack=7
UserRegionBegin dt=1 task=5 name_string=2 stack=0
)";
constexpr char kWrongEnd[] = "UserRegionEnd dt=1 task=0 name_string=1 stack=7\n";

TEST(FaultContextTest, ShowsTheStackAndTheOpenRegions) {
  const std::string bytes = Trace(Generation(1, absl::StrCat(kRegions, kWrongEnd)));
  const std::vector<Fault> faults = FaultsIn(bytes);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].id, FaultId::kRegionNesting);
  const FaultContext& context = faults[0].context;
  ASSERT_EQ(context.stack.size(), 2u);
  EXPECT_EQ(context.stack[0].func, "main.inner");
  EXPECT_EQ(context.stack[0].file, "/src/main.go");
  EXPECT_EQ(context.stack[0].line, 31u);
  EXPECT_EQ(context.stack[1].func, "main.main");
  EXPECT_EQ(context.more_frames, 0u);
  EXPECT_EQ(context.goroutine, GoId{1});
  ASSERT_EQ(context.regions.size(), 2u);
  EXPECT_EQ(context.regions[0].type, "inner");
  EXPECT_EQ(context.regions[0].task, TaskId{5});
  EXPECT_EQ(context.regions[0].time, 104);
  EXPECT_FALSE(context.regions[0].frame.has_value());
  EXPECT_EQ(context.regions[1].type, "outer");
  EXPECT_EQ(context.regions[1].offset, *context.regions[0].offset - 5);
  EXPECT_EQ(context.regions[1].frame->func, "main.inner");
  EXPECT_EQ(context.more_regions, 0u);

  // In strict mode the status has the context as text.
  const absl::Status status = ReadAll(Reader::FromBytes(bytes)).status;
  EXPECT_EQ(FaultOf(status)->details, FormatContext(context));
  EXPECT_TRUE(FaultOf(status)->context.stack.empty());
}

TEST(FaultContextTest, HasOnlyThePlaceOfARegionOfAnEarlierGeneration) {
  // Both generations have a stack 7. The first one, in which the region began, is gone.
  const std::vector<Fault> faults =
      FaultsIn(Trace(absl::StrCat(Generation(1, kRegions), Generation(2, kWrongEnd))));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].place.generation, 2u);
  const FaultContext& context = faults[0].context;
  ASSERT_EQ(context.regions.size(), 2u);
  EXPECT_EQ(context.regions[1].type, "outer");
  EXPECT_EQ(context.regions[1].time, 103);
  EXPECT_TRUE(context.regions[1].offset.has_value());
  EXPECT_FALSE(context.regions[1].frame.has_value());
  EXPECT_EQ(context.stack.size(), 2u);
}

TEST(FaultContextTest, ListsOnlySomeOfMany) {
  std::string events;
  for (int i = 0; i < 20; ++i) events += "UserRegionBegin dt=1 task=0 name_string=2 stack=8\n";
  events += "UserRegionEnd dt=1 task=0 name_string=1 stack=8\n";
  const std::vector<Fault> faults = FaultsIn(Trace(Generation(1, events, /*depth=*/40)));
  ASSERT_EQ(faults.size(), 1u);
  const FaultContext& context = faults[0].context;
  EXPECT_EQ(context.stack.size(), FaultContext::kMaxFrames);
  EXPECT_EQ(context.more_frames, 40 - FaultContext::kMaxFrames);
  EXPECT_EQ(context.regions.size(), FaultContext::kMaxRegions);
  EXPECT_EQ(context.more_regions, 20 - FaultContext::kMaxRegions);
  // The innermost region, which began last, is first.
  EXPECT_EQ(context.regions[0].time, 122);
  EXPECT_EQ(context.regions[1].time, 121);
}

TEST(FaultContextTest, OnlyFaultsOfTasksAndRegionsShowRegions) {
  const auto context = [](const std::string& event) {
    const std::vector<Fault> faults = FaultsIn(Trace(Generation(1, absl::StrCat(kRegions, event))));
    EXPECT_EQ(faults.size(), 1u) << event;
    return faults.empty() ? FaultContext() : faults[0].context;
  };
  const std::string begin = "UserTaskBegin dt=1 task=9 parent_task=0 name_string=1 stack=7\n";
  EXPECT_EQ(context(absl::StrCat(begin, begin)).regions.size(), 2u);
  EXPECT_EQ(context("GoCreate dt=1 new_g=1 new_stack=0 stack=7\n").regions.size(), 0u);
  EXPECT_EQ(context("GoCreate dt=1 new_g=1 new_stack=0 stack=7\n").stack.size(), 2u);
  // No event can come next.
  EXPECT_EQ(context("GoUnblock dt=1 g=9 g_seq=3 stack=7\n").stack.size(), 2u);
  // The name of a log is missing from the table.
  EXPECT_EQ(context("UserLog dt=1 task=0 key_string=99 value_string=1 stack=7\n").stack.size(), 2u);
  EXPECT_EQ(context("GoDestroySyscall dt=1\n").stack.size(), 0u);
}

// A damaged trace may have millions of faults.
TEST(FaultContextTest, OnlyTheFirstFaultsHaveAContext) {
  std::string events;
  const std::string begin = "UserTaskBegin dt=1 task=9 parent_task=0 name_string=1 stack=7\n";
  for (uint64_t i = 0; i < Fault::kMaxContexts + 2; ++i) events += begin;
  const std::vector<Fault> faults = FaultsIn(Trace(Generation(1, events)));
  ASSERT_EQ(faults.size(), Fault::kMaxContexts + 1);
  EXPECT_EQ(faults[Fault::kMaxContexts - 1].context.stack.size(), 2u);
  EXPECT_EQ(faults[Fault::kMaxContexts].context.stack.size(), 0u);
}

}  // namespace fault_context_test
}  // namespace gotrace::internal
