#include "gotrace/goroutine_snapshot.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "gotrace/state_tracker.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace goroutine_snapshot_test {

std::unique_ptr<MergeableAnalysisSink<GoroutineSnapshot>> MakeSink(AnalysisSink::Options options) {
  return std::make_unique<MergeableAnalysisSink<GoroutineSnapshot>>(
      [](Interner* interner) {
        return std::make_unique<GoroutineSnapshot>(interner, EventFilter());
      },
      options);
}

const GoroutineSnapshot& SnapshotOf(const AnalysisSink& sink) {
  return static_cast<const GoroutineSnapshot&>(sink.analysis());
}

std::string TextOf(const AnalysisSink& sink) {
  const Interner& interner = sink.interner();
  std::string text;
  const auto append = [&](const auto& row) {
    absl::StrAppend(&text, " ", GoStateName(row.state));
    for (const StringId id : {row.start, row.reason, row.task, row.region}) {
      absl::StrAppend(&text, " ", interner.String(id), ";");
    }
    for (const StackId stack : {row.created_at, row.stack}) {
      for (const FrameId id : interner.Frames(stack)) {
        absl::StrAppend(&text, " ", interner.Frame(id).func, ":", interner.Frame(id).line);
      }
      absl::StrAppend(&text, ";");
    }
    absl::StrAppend(&text, "\n");
  };
  for (const GoroutineMoment& one : SnapshotOf(sink).goroutines()) {
    absl::StrAppend(&text, one.goroutine.value, " ", one.since, " ", one.length);
    append(one);
  }
  for (const GoroutineMomentGroup& group : SnapshotOf(sink).groups()) {
    absl::StrAppend(&text, group.count, " ", group.longest, " ", group.total);
    append(group);
  }
  return text;
}

TEST(GoroutineSnapshotTest, IsTheSameHoweverTheTraceIsCut) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    ExpectSameHoweverCut(
        ReadTestTrace(test.name), [](AnalysisSink::Options options) { return MakeSink(options); },
        TextOf);
  }
}

TEST(GoroutineSnapshotTest, SaysThatTheWorldIsStopped) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStatus, 2, -1, 8, GoState::kUndetermined, GoState::kRunnable);
  events.Push(events.Builder(kSTWBegin, 10, 0, 7)
                  .Reason("read mem stats")
                  .Stack({{1, "main.stats", "/src/main.go", 10}}));
  events.Push(events.Builder(kSTWEnd, 30, 0, 7).Reason("read mem stats"));
  events.Sync(50, 2);
  for (const auto& [at, reason] :
       {std::pair(10, ""), std::pair(20, "world stopped (read mem stats)"), std::pair(31, "")}) {
    SCOPED_TRACE(at);
    AnalysisSink::Options options;
    options.window.to = at;
    const auto sink = MakeSink(options);
    sink->Add(events.events());
    ASSERT_TRUE(sink->Finish().ok());
    ASSERT_EQ(SnapshotOf(*sink).goroutines().size(), 2);
    for (const GoroutineMoment& one : SnapshotOf(*sink).goroutines()) {
      EXPECT_EQ(sink->interner().String(one.reason), reason);
      EXPECT_EQ(one.stack != StackId::kNone, one.goroutine == GoId{7} && at == 20);
    }
  }
}

// The states of all goroutines at a moment, by what the state tracker says.
class StatesAt final : public IntervalConsumer {
 public:
  explicit StatesAt(int64_t at) : at_(at) {}

  void AddGoroutine(const GoInterval& interval) override {
    if (interval.begin >= at_ || interval.end < at_) return;
    if (interval.ends_life && interval.end == at_) return;
    states_[interval.goroutine.value] =
        absl::StrCat(GoStateName(interval.state), " since ", std::min(interval.Seen().begin, at_));
  }
  void AddProc(const ProcInterval& /*interval*/) override {}
  const std::map<int64_t, std::string>& states() const { return states_; }

 private:
  const int64_t at_;
  std::map<int64_t, std::string> states_;
};

// The tasks and regions that goroutines are in at a moment.
class SpansAt final : public EventSink {
 public:
  explicit SpansAt(int64_t at) : at_(at) {}

  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) {
      if (event.time() < at_) AddSpan(event);
    }
  }

  // Returns the task and the region that a goroutine is in.
  std::string Of(int64_t goroutine) {
    const std::vector<std::pair<TaskId, std::string>>& regions = regions_[goroutine];
    std::string task;
    for (const TaskId begun : begun_[goroutine]) {
      if (tasks_.contains(begun)) task = tasks_[begun];
    }
    for (const auto& [id, type] : regions) {
      if (tasks_.contains(id)) task = tasks_[id];
    }
    return absl::StrCat(task, ";", regions.empty() ? "" : regions.back().second);
  }

 private:
  void AddSpan(const Event& event) {
    const int64_t goroutine = event.goroutine().value;
    if (event.kind() == EventKind::kTaskBegin) {
      tasks_[event.task().id] = std::string(event.task().type);
      begun_[goroutine].push_back(event.task().id);
    } else if (event.kind() == EventKind::kTaskEnd) {
      tasks_.erase(event.task().id);
    } else if (event.kind() == EventKind::kRegionBegin) {
      regions_[goroutine].emplace_back(event.region().task, event.region().type);
    } else if (event.kind() == EventKind::kRegionEnd && !regions_[goroutine].empty()) {
      regions_[goroutine].pop_back();
    }
  }

  const int64_t at_;
  std::map<TaskId, std::string> tasks_;
  std::map<int64_t, std::vector<TaskId>> begun_;
  std::map<int64_t, std::vector<std::pair<TaskId, std::string>>> regions_;
};

TEST(GoroutineSnapshotTest, HasTheStatesOfTheMomentAtWhichTheWindowEnds) {
  std::mt19937 random(7);
  size_t goroutines = 0, in_spans = 0;
  for (const TestTrace& test : TestTraces()) {
    const std::string bytes = ReadTestTrace(test.name);
    int64_t first = INT64_MAX, last = INT64_MIN;
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    while (const Event* event = reader->Next()) {
      first = std::min(first, event->time());
      last = std::max(last, event->time());
    }
    for (int i = 0; i < 5; ++i) {
      const int64_t at =
          i == 0 ? last : std::uniform_int_distribution<int64_t>(first, last)(random);
      SCOPED_TRACE(absl::StrCat(test.name, " at ", at));
      AnalysisSink::Options options;
      options.window.to = at;
      const auto sink = MakeSink(options);
      StatesAt expected(at);
      Interner interner;
      StateTracker tracker(&interner, &expected);
      absl::StatusOr<Reader> again = Reader::FromBytes(bytes);
      SpansAt spans(at);
      EventSink* const sinks[] = {sink.get(), &tracker, &spans};
      ASSERT_TRUE(ReadInto(*again, sinks).ok());
      std::map<int64_t, std::string> found;
      for (const GoroutineMoment& one : SnapshotOf(*sink).goroutines()) {
        found[one.goroutine.value] = absl::StrCat(GoStateName(one.state), " since ", one.since);
        EXPECT_EQ(one.length, std::max<int64_t>(at - one.since, 0));
        const std::string in = absl::StrCat(sink->interner().String(one.task), ";",
                                            sink->interner().String(one.region));
        EXPECT_EQ(in, spans.Of(one.goroutine.value));
        in_spans += in == ";" ? 0 : 1;
      }
      EXPECT_EQ(found, expected.states());
      goroutines += found.size();
      uint64_t count = 0;
      for (const GoroutineMomentGroup& group : SnapshotOf(*sink).groups()) count += group.count;
      EXPECT_EQ(count, found.size());
    }
  }
  EXPECT_GT(goroutines, 1000);
  EXPECT_GT(in_spans, 20);
}

}  // namespace goroutine_snapshot_test
}  // namespace gotrace::internal
