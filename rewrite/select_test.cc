#include "gotrace/select.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/reader.h"
#include "gotrace/run_analysis.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/golden_case.h"
#include "testing/test_util.h"
#include "testing/validated_cases.h"

namespace gotrace::internal {
namespace select_test {

struct Selected {
  std::string bytes;
  SelectedTrace result;
};

Selected Select(absl::string_view bytes, const Selection& selection) {
  Selected selected;
  const std::unique_ptr<ByteSink> out = SinkToString(&selected.bytes);
  absl::StatusOr<SelectedTrace> result =
      SelectEvents([&] { return SourceFromBytes(bytes); }, selection, {}, out.get());
  EXPECT_TRUE(result.ok()) << result.status();
  if (result.ok()) selected.result = *std::move(result);
  EXPECT_TRUE(out->Finish().ok());
  return selected;
}

void ExpectSound(const std::string& bytes) {
  ValidateOptions options;
  options.strictness = Strictness::kGo;
  const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), options);
  EXPECT_EQ(report.verdict(), Verdict::kSound) << ShowReport(report);
}

// Returns the times of each selected goroutine. Who stopped the world may be gone, so that it is
// not known that goroutines ran, or were ready, only for that.
std::vector<std::string> TimesOf(absl::string_view bytes, const std::set<GoId>& goroutines) {
  std::vector<std::string> lines;
  const auto analyzed =
      Analyze(*SourceFromBytes(bytes), {},
              With<GoroutineStats>(GoroutineStats::Options{.keep_each = true, .filter = {}}));
  EXPECT_TRUE(analyzed.status().ok()) << analyzed.status();
  for (const GoroutineSpan& one : analyzed->goroutines()) {
    if (!goroutines.contains(one.goroutine)) continue;
    const ExecutionTimes& times = one.times;
    lines.push_back(absl::StrCat(one.goroutine.value, " ", one.creation, " ", one.end.value_or(-1),
                                 " ", times.total, " ", times.running + times.stopped_running, " ",
                                 times.runnable + times.stopped_runnable, " ",
                                 times.syscall + times.syscall_blocked, " ", times.BlockedTotal()));
  }
  return lines;
}

std::set<GoId> GoroutinesOf(absl::string_view bytes) {
  std::set<GoId> ids;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  EXPECT_TRUE(reader
                  ->ForEach([&](const Event& event) {
                    const ResourceId resource = event.transition_resource();
                    if (resource.kind == ResourceKind::kGoroutine) ids.insert(GoId{resource.id});
                  })
                  .ok());
  return ids;
}

class SelectOfRealTraces : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Traces, SelectOfRealTraces, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.name, {{".", "_"}, {"-", "_"}});
                         });

TEST_P(SelectOfRealTraces, KeepsTheTimesOfEachGoroutine) {
  const std::string original = ReadTestTrace(GetParam().name);
  const std::set<GoId> all = GoroutinesOf(original);
  // Every second, and every third.
  for (const size_t step : {2, 3}) {
    SCOPED_TRACE(step);
    Selection selection;
    size_t i = 0;
    for (const GoId id : all) {
      if (i++ % step == 0) selection.goroutines.insert(id);
    }
    const Selected kept = Select(original, selection);
    ExpectSound(kept.bytes);
    EXPECT_EQ(kept.result.written.events_added, 0U);
    EXPECT_EQ(GoroutinesOf(kept.bytes), selection.goroutines);
    EXPECT_EQ(absl::StrJoin(TimesOf(kept.bytes, selection.goroutines), "\n"),
              absl::StrJoin(TimesOf(original, selection.goroutines), "\n"));
    // The others are what is left.
    selection.drops = true;
    const Selected others = Select(original, selection);
    ExpectSound(others.bytes);
    EXPECT_EQ(others.result.written.events_added, 0U);
    std::set<GoId> rest = all;
    for (const GoId id : selection.goroutines) rest.erase(id);
    EXPECT_EQ(GoroutinesOf(others.bytes), rest);
  }
}

TEST_P(SelectOfRealTraces, KeepsKinds) {
  const std::string original = ReadTestTrace(GetParam().name);
  for (const bool drops : {false, true}) {
    Selection selection;
    selection.kinds = {EventKind::kLog, EventKind::kMetric};
    selection.drops = drops;
    const Selected kept = Select(original, selection);
    ExpectSound(kept.bytes);
    EXPECT_EQ(kept.result.written.events_added + kept.result.written.events_left_out, 0U);
    const auto count = [&](absl::string_view bytes) {
      uint64_t events = 0;
      absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
      EXPECT_TRUE(reader
                      ->ForEach([&](const Event& event) {
                        const bool is_one = selection.kinds.contains(event.kind()) != drops;
                        events += is_one || event.kind() == EventKind::kStateTransition;
                      })
                      .ok());
      return events;
    };
    EXPECT_EQ(count(kept.bytes), count(original) + kept.result.written.statuses_added);
  }
}

TEST(Select, KeepsBeginsWithTheirEnds) {
  const std::string original = ReadTestTrace("go1.27-gc.trace");
  for (const auto& [begin, end] : {std::pair(EventKind::kRangeBegin, EventKind::kRangeEnd),
                                   std::pair(EventKind::kTaskBegin, EventKind::kTaskEnd),
                                   std::pair(EventKind::kRegionBegin, EventKind::kRegionEnd)}) {
    for (const bool drops : {false, true}) {
      Selection begins;
      begins.kinds = {begin};
      begins.drops = drops;
      Selection ends = begins;
      ends.kinds = {end};
      const Selected kept = Select(original, begins);
      ExpectSound(kept.bytes);
      EXPECT_TRUE(kept.bytes == Select(original, ends).bytes);
    }
  }
}

// The goroutines that start in main.worker, and those that they need.
TEST(Select, FindsGoroutines) {
  const std::string original = ReadTestTrace("go1.27-annotations.trace");
  Selection selection;
  selection.functions = {"main.nesting.func2"};
  const Selected workers = Select(original, selection);
  EXPECT_EQ(workers.result.goroutines, 3U);
  selection.with_wakers = true;
  EXPECT_GT(Select(original, selection).result.goroutines, 3U);
  selection = {};
  selection.tasks = {TaskId{9}};
  const Selected task = Select(original, selection);
  ExpectSound(task.bytes);
  EXPECT_GT(task.result.goroutines, 0U);
  // Task 2 itself is only on goroutine 1; its child, 3, is on others, too.
  selection.tasks = {TaskId{3}};
  const uint64_t of_child = Select(original, selection).result.goroutines;
  EXPECT_GT(of_child, 1U);
  selection.tasks = {TaskId{2}};
  EXPECT_EQ(Select(original, selection).result.goroutines, of_child);
  selection = {};
  selection.regions = {"across generations"};
  EXPECT_EQ(Select(original, selection).result.goroutines, 1U);
}

}  // namespace select_test
}  // namespace gotrace::internal
