// Repairs traces whose regions do not nest, and checks the durations of the regions in the result.
#include "rewrite/region_rewriter.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gotrace/reader.h"
#include "gotrace/repair.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace region_rewriter_test {

using testing::ElementsAre;
using testing::Pair;

// The task and type of a region, and its duration in nanoseconds.
using Durations = std::vector<std::pair<std::string, int64_t>>;

std::string NameOf(const Event& event) {
  return absl::StrCat(event.region().task.value, " ", event.region().type);
}

// Calls see(event) for every event of a sound trace.
template <class See>
void ReadSound(absl::string_view bytes, See see) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  while (const Event* const event = reader->Next()) see(*event);
  EXPECT_TRUE(reader->status().ok()) << reader->status();
}

// Returns the regions that end in a sound trace, in the order of their ends.
Durations Regions(absl::string_view bytes) {
  std::map<int64_t, std::vector<std::pair<std::string, int64_t>>> open;
  Durations durations;
  ReadSound(bytes, [&](const Event& event) {
    auto& regions = open[event.goroutine().value];
    if (event.kind() == EventKind::kRegionBegin) {
      regions.emplace_back(NameOf(event), event.time());
    } else if (event.kind() == EventKind::kRegionEnd && !regions.empty()) {
      durations.emplace_back(regions.back().first, event.time() - regions.back().second);
      regions.pop_back();
    }
  });
  return durations;
}

// Returns the regions of a trace in which no two open regions have the same task and type.
Durations RegionsAsTheyWere(absl::string_view bytes) {
  ReaderOptions options;
  options.mode = ReadMode::kSalvage;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, std::move(options));
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::map<std::string, int64_t> open;
  Durations durations;
  while (const Event* const event = reader->Next()) {
    if (event->kind() == EventKind::kRegionBegin) open[NameOf(*event)] = event->time();
    if (event->kind() != EventKind::kRegionEnd) continue;
    const auto begin = open.find(NameOf(*event));
    if (begin == open.end()) continue;
    durations.emplace_back(begin->first, event->time() - begin->second);
    open.erase(begin);
  }
  return durations;
}

struct Repaired {
  RepairPlan plan;
  std::string bytes;
};

Repaired Repair(absl::string_view bytes) {
  const OpenInput open = [&] { return SourceFromBytes(bytes); };
  Repaired repaired;
  absl::StatusOr<RepairPlan> plan = PlanRepair(open);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return repaired;
  repaired.plan = *std::move(plan);
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenRepaired(repaired.plan, open);
  EXPECT_TRUE(stream.ok()) << stream.status();
  repaired.bytes.resize(repaired.plan.output_bytes);
  for (size_t done = 0; done < repaired.bytes.size();) {
    const absl::StatusOr<size_t> size =
        (*stream)->Read(&repaired.bytes[done], repaired.bytes.size() - done);
    EXPECT_TRUE(size.ok()) << size.status();
    if (!size.ok() || *size == 0) break;
    done += *size;
  }
  return repaired;
}

constexpr absl::string_view kNobody = "18446744073709551615";

// The text of a generation in which goroutine 1 runs on thread 1, with `events` of its own. It
// begins at a multiple of a second. `one` and `two` are its strings.
std::string GenerationText(int number, absl::string_view events, absl::string_view one = "A",
                           absl::string_view two = "B") {
  const std::string batch =
      absl::StrCat("EventBatch gen=", number, " m=$m time=", number, "000000000 size=auto\n");
  const std::string no_thread = absl::StrReplaceAll(batch, {{"$m", kNobody}});
  return absl::StrCat(no_thread,
                      "Sync\nFrequency freq=1000000000\n"
                      "ClockSnapshot dt=0 mono=5 sec=6 nsec=7\n",
                      absl::StrReplaceAll(batch, {{"$m", "1"}}),
                      "ProcStatus dt=1 p=0 pstatus=1\nGoStatus dt=1 g=1 m=1 gstatus=2\n", events,
                      no_thread, "Strings\nString id=1\n\tdata=\"", one,
                      "\"\nString id=2\n\tdata=\"", two, "\"\nEndOfGeneration\n");
}

std::string Trace(const std::vector<std::string>& generations) {
  std::string text = "Trace Go1.26\n";
  for (const std::string& generation : generations) absl::StrAppend(&text, generation);
  return Assemble(text);
}

std::string Begin(int string, int wait = 100'000) {
  return absl::StrCat("UserRegionBegin dt=", wait, " task=0 name_string=", string, " stack=0\n");
}

std::string End(int string, int wait = 100'000) {
  return absl::StrCat("UserRegionEnd dt=", wait, " task=0 name_string=", string, " stack=0\n");
}

std::vector<GenerationFate> FatesOf(const RepairPlan& plan) {
  std::vector<GenerationFate> fates;
  for (const RepairedGeneration& generation : plan.generations) fates.push_back(generation.fate);
  return fates;
}

// How much longer a region may become in these tests just from being written: a tick for each time
// that the trace changes threads.
constexpr int64_t kTicks = 10;

auto IsAbout(int64_t duration) {
  return testing::AllOf(testing::Ge(duration - kTicks), testing::Le(duration + kTicks));
}

TEST(RegionRewriter, KeepsDurationsOfRegionsThatEndInTheOrderOfTheirStarts) {
  const std::string trace = ReadTestTrace("../damaged/regions-not-nested.trace");
  const Repaired repaired = Repair(trace);
  Durations before = RegionsAsTheyWere(trace);
  Durations after = Regions(repaired.bytes);
  ASSERT_EQ(before.size(), 5U);
  ASSERT_EQ(after.size(), 5U);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  int64_t largest = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].first, after[i].first);
    largest = std::max(largest, std::abs(before[i].second - after[i].second));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, kMaxRegionDelayNs);
  EXPECT_LE(std::abs(largest - repaired.plan.regions.max_delay_ns), kTicks);
  EXPECT_EQ(repaired.plan.regions.ends_delayed, 4U);
  EXPECT_EQ(repaired.plan.regions.regions_moved, 0U);
  EXPECT_EQ(DescribeRepair(repaired.plan).back(), "regions: 4 ends delayed by at most 0.4 µs");
}

TEST(RegionRewriter, DropsTheSecondEndOfARegion) {
  const std::string trace = ReadTestTrace("../damaged/region-ends-twice.trace");
  const Repaired repaired = Repair(trace);
  const Durations before = RegionsAsTheyWere(trace);
  ASSERT_EQ(before.size(), 2U);
  EXPECT_EQ(Regions(repaired.bytes), before);
  RegionChanges changes;
  changes.ends_dropped = 1;
  EXPECT_EQ(repaired.plan.regions, changes);
  EXPECT_EQ(DescribeRepair(repaired.plan).back(), "regions: 1 repeated end dropped");
}

// The region that moves begins a generation earlier than the first fault.
TEST(RegionRewriter, MovesARegionThatLastsIntoTheNextGeneration) {
  const std::string first = GenerationText(1, Begin(2) + End(2));
  const Repaired repaired = Repair(Trace({first, GenerationText(2, Begin(1) + Begin(2)),
                                          GenerationText(3, End(2) + End(1, 300'000), "B", "A")}));
  EXPECT_THAT(Regions(repaired.bytes),
              ElementsAre(Pair("0 B", 100'000), Pair("0 A", IsAbout(1'000'000'000)),
                          Pair("0 B", IsAbout(1'000'200'000))));
  EXPECT_EQ(FatesOf(repaired.plan), (std::vector{GenerationFate::kKept, GenerationFate::kRewritten,
                                                 GenerationFate::kRewritten}));
  const std::string unchanged = Trace({first});
  EXPECT_EQ(repaired.bytes.substr(0, unchanged.size()), unchanged);
  RegionChanges changes;
  changes.regions_moved = changes.goroutines_added = 1;
  EXPECT_EQ(repaired.plan.regions, changes);
  EXPECT_EQ(DescribeRepair(repaired.plan).back(), "regions: 1 region moved to 1 helper goroutine");
}

TEST(RegionRewriter, KeepsTheEndOfARegionThatBeganBeforeTheTrace) {
  const Repaired repaired = Repair(Trace({GenerationText(1, Begin(1) + End(2) + End(1))}));
  std::vector<std::string> ends;
  ReadSound(repaired.bytes, [&](const Event& event) {
    if (event.kind() == EventKind::kRegionEnd) ends.push_back(NameOf(event));
  });
  EXPECT_THAT(ends, ElementsAre("0 B", "0 A"));
  EXPECT_THAT(Regions(repaired.bytes), ElementsAre(Pair("0 A", IsAbout(200'000))));
}

// The second generation has no fault: there B looks like a region that began before the trace.
TEST(RegionRewriter, MovesTheEndOfARegionThatMovedInAnEarlierGeneration) {
  const Repaired repaired =
      Repair(Trace({GenerationText(1, Begin(1) + Begin(2) + End(1)), GenerationText(2, End(2))}));
  EXPECT_THAT(Regions(repaired.bytes),
              ElementsAre(Pair("0 A", IsAbout(200'000)), Pair("0 B", IsAbout(999'900'000))));
}

// In that generation its type has another id.
TEST(RegionRewriter, DelaysAnEndIntoTheNextGeneration) {
  const Repaired repaired =
      Repair(Trace({GenerationText(1, Begin(1) + Begin(2) + End(1, 999'798'000)),
                    GenerationText(2, End(1, 1'000), "B", "other")}));
  EXPECT_THAT(Regions(repaired.bytes),
              ElementsAre(Pair("0 B", IsAbout(999'801'000)), Pair("0 A", IsAbout(999'901'000))));
  EXPECT_EQ(repaired.plan.regions.ends_delayed, 1U);
  EXPECT_EQ(repaired.plan.regions.max_delay_ns, 3'000);
  EXPECT_EQ(repaired.plan.regions.regions_moved, 0U);
}

TEST(RegionRewriter, AddsAGoroutineThatIsNamedAfterItsOwnerAndEndsWithIt) {
  const Repaired repaired = Repair(Trace({GenerationText(
      1, absl::StrCat("GoCreate dt=1 new_g=7 new_stack=0 stack=0\n", "GoStop dt=1 reason_string=0",
                      " stack=0\nGoStart dt=1 g=7 g_seq=1\n", Begin(1), Begin(2), End(1), End(2),
                      Begin(1), Begin(2), End(1), End(2), "GoDestroy dt=1\n"))}));
  EXPECT_THAT(Regions(repaired.bytes),
              ElementsAre(Pair("0 A", IsAbout(200'000)), Pair("0 B", IsAbout(200'000)),
                          Pair("0 A", IsAbout(200'000)), Pair("0 B", IsAbout(200'000))));
  // The states of goroutine 8.
  std::vector<GoState> states;
  std::vector<std::string> names;
  ReadSound(repaired.bytes, [&](const Event& event) {
    if (event.kind() != EventKind::kStateTransition) return;
    const StateTransition transition = event.state_transition();
    if (transition.resource.kind != ResourceKind::kGoroutine || transition.resource.id != 8) return;
    states.push_back(transition.go_to);
    if (event.type() != EventType::kGoCreate) return;
    EXPECT_EQ(event.goroutine(), GoId::kNone);
    ASSERT_EQ(transition.stack.size(), 1U);
    names.emplace_back(transition.stack.frame(0).func);
  });
  EXPECT_THAT(names, ElementsAre("goroutine 7: overlapping regions"));
  ASSERT_EQ(states.size(), 15U);
  EXPECT_EQ(states[0], GoState::kRunnable);
  EXPECT_EQ(states[1], GoState::kRunning);
  EXPECT_EQ(states[2], GoState::kWaiting);
  EXPECT_EQ(states.back(), GoState::kNotExist);
  EXPECT_EQ(repaired.plan.regions.regions_moved, 2U);
  EXPECT_EQ(repaired.plan.regions.goroutines_added, 1U);
}

TEST(RegionRewriter, ChangesNothingWhereRegionsNest) {
  const std::string sound = Trace({GenerationText(1, Begin(1) + Begin(2) + End(2) + End(1))});
  const Repaired repaired = Repair(sound + "text");
  EXPECT_EQ(repaired.bytes, sound);
  EXPECT_EQ(repaired.plan.regions, RegionChanges());
}

// Each would need a goroutine of its own.
TEST(RegionRewriter, MovesNothingWhereTooManyRegionsOverlap) {
  std::string events;
  for (const absl::string_view kind : {"Begin", "End"}) {
    for (int i = 1; i <= 70'000; ++i) {
      if (i % 2'000 == 0) {
        absl::StrAppend(&events, "EventBatch gen=1 m=1 time=", kind == "Begin" ? 1 : 3, i + 100'000,
                        "00000 size=auto\n");
      }
      absl::StrAppend(&events, "UserRegion", kind, " dt=20000 task=", i,
                      " name_string=1 stack=0\n");
    }
  }
  const Repaired repaired = Repair(Trace({GenerationText(1, events)}));
  EXPECT_EQ(repaired.plan.regions, RegionChanges());
  EXPECT_GT(repaired.plan.events, 70'000U);
  EXPECT_EQ(FatesOf(repaired.plan), std::vector{GenerationFate::kRewritten});
}

// No ids are left for other goroutines.
TEST(RegionRewriter, AcceptsTheLargestIds) {
  for (const absl::string_view status :
       {"GoStatus dt=1 g=9223372036854775807 m=18446744073709551615 gstatus=4\n",
        "ProcStatus dt=1 p=9223372036854775807 pstatus=2\n"}) {
    const Repaired repaired = Repair(
        Trace({GenerationText(1, absl::StrCat(status, Begin(1), Begin(2), End(1), End(2)))}));
    EXPECT_EQ(repaired.plan.regions, RegionChanges());
    EXPECT_THAT(Regions(repaired.bytes), testing::Contains(Pair("0 A", IsAbout(200'000))));
  }
}

}  // namespace region_rewriter_test
}  // namespace gotrace::internal
