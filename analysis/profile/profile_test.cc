#include "gotrace/profile.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/core/built_events.h"
#include "analysis/core/cut_trace.h"
#include "analysis/intervals/interval_log.h"
#include "analysis/tasks/owner_times.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/proc_stats.h"
#include "gotrace/reader.h"
#include "gotrace/task_stats.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace profile_test {

Profile::Options OptionsOf(ProfileType type) {
  Profile::Options options;
  options.type = type;
  return options;
}

std::unique_ptr<MergeableAnalysisSink<Profile>> MakeSink(Profile::Options options,
                                                         AnalysisSink::Options sink_options = {}) {
  return std::make_unique<MergeableAnalysisSink<Profile>>(
      [&](Interner* interner) { return std::make_unique<Profile>(interner, options); },
      sink_options);
}

std::unique_ptr<AnalysisSink> MakeSink(RegionProfile::Options options) {
  return std::make_unique<AnalysisSink>(
      [&](Interner* interner) { return std::make_unique<RegionProfile>(interner, options); },
      AnalysisSink::Options());
}

absl::Span<const ProfileSample> SamplesOf(const AnalysisSink& sink) {
  const auto* const parts = dynamic_cast<const RegionProfile*>(&sink.analysis());
  if (parts != nullptr) return parts->samples();
  return dynamic_cast<const Profile&>(sink.analysis()).samples();
}

std::string StackText(StackId stack, const Interner& interner) {
  std::string text;
  for (const FrameId id : interner.Frames(stack)) {
    const StackFrame frame = interner.Frame(id);
    absl::StrAppend(&text, frame.func, ":", frame.line, ";");
  }
  return text;
}

std::string TextOf(absl::Span<const ProfileSample> samples, const Interner& interner) {
  std::string text;
  for (const auto& [key, value] : samples) {
    absl::StrAppend(&text, value.count, " ", value.time, " ", GoStateName(key.state), " ",
                    interner.String(key.reason), " ", interner.String(key.start), " ",
                    CauseKindName(key.woken_by), " ", StackText(key.stack, interner), " ",
                    StackText(key.waker, interner), "\n");
  }
  return text;
}

TEST(Profile, IsTheSameHoweverTheTraceIsCut) {
  std::map<ProfileType, size_t> most_samples;
  for (const TestTrace& test : TestTraces()) {
    const std::string bytes = ReadTestTrace(test.name);
    for (const ProfileTypeInfo& info : ProfileTypes()) {
      SCOPED_TRACE(absl::StrCat(test.name, " ", info.name));
      const std::unique_ptr<AnalysisSink> whole = ExpectSameHoweverCut(
          bytes,
          [&](AnalysisSink::Options options) { return MakeSink(OptionsOf(info.type), options); },
          [](const AnalysisSink& sink) { return TextOf(SamplesOf(sink), sink.interner()); });
      size_t& most = most_samples[info.type];
      most = std::max(most, SamplesOf(*whole).size());
    }
  }
  // Each type has samples in some trace.
  for (const ProfileTypeInfo& info : ProfileTypes()) {
    EXPECT_GT(most_samples[info.type], 0) << info.name;
  }
}

int64_t SumOf(const AnalysisSink& sink) {
  int64_t sum = 0;
  for (const ProfileSample& sample : SamplesOf(sink)) sum += sample.value.time;
  return sum;
}

TEST(Profile, SumsToTheTimesOfPs) {
  int compared = 0;
  for (const absl::string_view name : {"go1.27-gc.trace", "go1.26-syscalls.trace"}) {
    const std::string bytes = ReadTestTrace(name);
    const auto read = [&](const std::vector<EventSink*>& sinks) {
      absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
      return reader.ok() ? ReadInto(*reader, sinks) : reader.status();
    };
    AnalysisSink procs(
        [](Interner* interner) { return std::make_unique<ProcStats>(interner, EventFilter()); },
        {});
    Interner interner;
    IntervalLog log(&interner);
    StateTracker tracker(&interner, &log);
    ASSERT_TRUE(read({&procs, &tracker}).ok());
    std::map<ThreadId, int64_t> by_thread;
    for (const GoInterval& interval : log.goroutines()) {
      if (interval.state == GoState::kRunning || interval.state == GoState::kSyscall) {
        by_thread[interval.thread] += static_cast<int64_t>(interval.duration());
      }
    }
    for (const ProcUse& use : static_cast<const ProcStats&>(procs.analysis()).procs()) {
      SCOPED_TRACE(use.proc.value);
      Profile::Options options = OptionsOf(ProfileType::kWall);
      options.filter.procs = {use.proc};
      const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
      ASSERT_TRUE(read({sink.get()}).ok());
      const ProcTimes& times = use.times;
      EXPECT_EQ(SumOf(*sink), times.user + times.gc + times.assist + times.syscall);
      compared += SumOf(*sink) > 0;
    }
    for (const auto& [thread, time] : by_thread) {
      if (thread == ThreadId::kNone) continue;
      Profile::Options options = OptionsOf(ProfileType::kWall);
      options.filter.threads = {thread};
      const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
      ASSERT_TRUE(read({sink.get()}).ok());
      EXPECT_EQ(SumOf(*sink), time);
      compared += time > 0;
    }
  }
  EXPECT_GT(compared, 15);
}

TEST(Profile, SumsToTheTimesOfGoroutines) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> wall = MakeSink(OptionsOf(ProfileType::kWall));
    const std::unique_ptr<AnalysisSink> off = MakeSink(OptionsOf(ProfileType::kOffCpu));
    const std::unique_ptr<AnalysisSink> on = MakeSink(OptionsOf(ProfileType::kOnCpu));
    const std::unique_ptr<AnalysisSink> sched = MakeSink(OptionsOf(ProfileType::kSched));
    const std::unique_ptr<AnalysisSink> syscall = MakeSink(OptionsOf(ProfileType::kSyscall));
    const auto stats = std::make_unique<AnalysisSink>(
        [&](Interner* interner) {
          return std::make_unique<GoroutineStats>(interner, GoroutineStats::Options());
        },
        AnalysisSink::Options());
    ASSERT_TRUE(ReadInto(*reader,
                         {wall.get(), off.get(), on.get(), sched.get(), syscall.get(), stats.get()})
                    .ok());
    ExecutionTimes times;
    std::map<std::string, int64_t> by_start;
    for (const GoroutineGroup& group :
         static_cast<const GoroutineStats&>(stats->analysis()).groups()) {
      times.Add(group.times);
      by_start[std::string(stats->interner().String(group.name))] += group.times.total;
    }
    std::map<std::string, int64_t> found_by_start;
    for (const ProfileSample& sample : SamplesOf(*wall)) {
      found_by_start[std::string(wall->interner().String(sample.key.start))] += sample.value.time;
    }
    EXPECT_EQ(found_by_start, by_start);
    const auto sum = [](const AnalysisSink& sink) {
      int64_t sum = 0;
      for (const ProfileSample& sample : SamplesOf(sink)) sum += sample.value.time;
      return sum;
    };
    EXPECT_EQ(sum(*wall), times.total);
    EXPECT_EQ(sum(*off), times.total - times.RunningWithStops());
    EXPECT_EQ(sum(*on), times.RunningWithStops());
    EXPECT_EQ(sum(*sched), times.RunnableWithStops());
    EXPECT_EQ(sum(*syscall), times.syscall + times.syscall_blocked);
  }
}

TEST(GoCompatibleProfile, IsThatOfGoForEveryTrace) {
  // What testdata/make_go_numbers.sh stored: the trace, the type, the number of stacks, and the
  // sums and a digest of the samples.
  std::map<std::string, std::string> stored;
  const std::string table = ReadTestTrace("go_profiles.tsv");
  for (const absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> cells = absl::StrSplit(line, '\t');
    ASSERT_EQ(cells.size(), 6) << line;
    stored[absl::StrCat(cells[0], " ", cells[1])] =
        absl::StrCat(cells[2], " ", cells[3], " ", cells[4], " ", cells[5]);
  }
  int compared = 0;
  for (const TestTrace& test : TestTraces()) {
    const std::string bytes = ReadTestTrace(test.name);
    for (const ProfileTypeInfo& info : ProfileTypes()) {
      if (!info.is_of_go) continue;
      const std::string name = absl::StrCat(test.name, " ", info.name);
      SCOPED_TRACE(name);
      absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
      ASSERT_TRUE(reader.ok());
      AnalysisSink sink(
          [&](Interner* interner) {
            return std::make_unique<GoCompatibleProfile>(interner, info.type, "");
          },
          {});
      ASSERT_TRUE(ReadInto(*reader, {&sink}).ok());
      const auto& profile = static_cast<const GoCompatibleProfile&>(sink.analysis());
      uint64_t count = 0;
      int64_t time = 0;
      uint64_t digest = 0;
      for (const auto& [key, value] : profile.samples()) {
        count += value.count;
        time += value.time;
        // FNV-1a of the sample as text; the digest does not depend on the order of samples.
        uint64_t hash = 14695981039346656037u;
        for (const char c : absl::StrCat(value.count, " ", value.time, " ",
                                         StackText(key.stack, sink.interner()))) {
          hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
        }
        digest += hash;
      }
      EXPECT_EQ(absl::StrCat(profile.samples().size(), " ", count, " ", time, " ", digest),
                stored[name]);
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

RegionProfile::Options ByRegion(ProfileType type) {
  RegionProfile::Options options = {OptionsOf(type)};
  options.by_task = options.by_region = options.by_label = true;
  return options;
}

// The sum of the times of all samples for which `counts` is true.
template <class Counts>
int64_t SumOf(const AnalysisSink& sink, const Counts& counts) {
  int64_t sum = 0;
  for (const ProfileSample& sample : SamplesOf(sink)) {
    if (counts(sample.key)) sum += sample.value.time;
  }
  return sum;
}

// Each stack has the part of its goroutines' time that it has of their samples.
TEST(Profile, SharesTimeOutByTheNumberOfSamples) {
  struct Group {
    int64_t time = 0;
    uint64_t count = 0;
    std::vector<ProfileValue> stacks;
  };
  std::map<std::pair<std::string, uint64_t>, int> shares;
  using GroupKey = std::pair<StringId, StringId>;  // The start, and why the world was stopped.
  for (const char* name : {"go1.22-cpuprofile.trace", "go1.27-cpuprofile.trace"}) {
    const std::string bytes = ReadTestTrace(name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const std::unique_ptr<AnalysisSink> sink = MakeSink(OptionsOf(ProfileType::kOnCpu));
    ASSERT_TRUE(ReadInto(*reader, {sink.get()}).ok());
    std::map<GroupKey, Group> groups;
    for (const auto& [key, value] : SamplesOf(*sink)) {
      Group& group = groups[{key.start, key.reason}];
      group.time += value.time;
      group.count += value.count;
      if (value.count > 0) group.stacks.push_back(value);
    }
    for (const auto& [start, group] : groups) {
      if (group.time == 0) continue;  // It did not run while the trace was written.
      for (const ProfileValue& stack : group.stacks) {
        const uint64_t share = static_cast<uint64_t>(group.time) / group.count * stack.count;
        EXPECT_GE(static_cast<uint64_t>(stack.time), share);
        EXPECT_LE(static_cast<uint64_t>(stack.time), share + stack.count);
        ++shares[{name, std::min<uint64_t>(stack.count, 2)}];
      }
    }
  }
  // Some stacks were sampled once, others more often.
  EXPECT_EQ(shares.size(), 4u);
}

TEST(Profile, OneSampleHasAllTheTime) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Proc(kProcStatus, 1, 0, ProcState::kUndetermined, ProcState::kRunning);
  events.Go(kGoStatus, 2, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kCPUSample, 5, 0, 7).Stack({{1, "main.work", "/src/main.go", 10}}));
  events.Go(kGoStop, 12, 0, 7, GoState::kRunning, GoState::kRunnable);
  events.Sync(30, 2);
  const std::unique_ptr<AnalysisSink> sink = MakeSink(OptionsOf(ProfileType::kOnCpu));
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  ASSERT_EQ(SamplesOf(*sink).size(), 1u);
  EXPECT_EQ(SamplesOf(*sink)[0].value, (ProfileValue{.count = 1, .time = 12}));
}

// G 7 stops the world from 10 to 30, in which G 8 is ready and a CPU sample is taken.
TEST(Profile, TellsStopsOfTheWorldApart) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStatus, 2, -1, 8, GoState::kUndetermined, GoState::kRunnable);
  events.Push(events.Builder(kSTWBegin, 10, 0, 7)
                  .Reason("read mem stats")
                  .Stack({{1, "main.stats", "/src/main.go", 10}}));
  events.Push(events.Builder(kCPUSample, 20, 0, 7).Stack({{2, "main.read", "/src/main.go", 20}}));
  events.Push(events.Builder(kSTWEnd, 30, 0, 7).Reason("read mem stats"));
  events.Go(kGoStart, 40, 1, 8, GoState::kRunnable, GoState::kRunning);
  events.Sync(50, 2);
  const auto times_of = [&](ProfileType type) {
    const std::unique_ptr<AnalysisSink> sink = MakeSink(OptionsOf(type));
    sink->Add(events.events());
    EXPECT_TRUE(sink->Finish().ok());
    std::map<std::string, int64_t> times;
    for (const auto& [key, value] : SamplesOf(*sink)) {
      times[absl::StrCat(GoStateName(key.state), ", ", sink->interner().String(key.reason), ", ",
                         StackText(key.stack, sink->interner()))] += value.time;
    }
    return times;
  };
  const std::string stop = "world stopped (read mem stats)";
  EXPECT_EQ(
      times_of(ProfileType::kWall),
      (std::map<std::string, int64_t>{{"Running, , ", 30 + 10},
                                      {absl::StrCat("Running, ", stop, ", main.stats:10;"), 20},
                                      {"Runnable, , ", 20},
                                      {absl::StrCat("Runnable, ", stop, ", "), 20}}));
  EXPECT_EQ(
      times_of(ProfileType::kOnCpu),
      (std::map<std::string, int64_t>{{"Running, , ", 30 + 10},
                                      {absl::StrCat("Running, ", stop, ", main.read:20;"), 20}}));
}

TEST(Profile, TellsLabelsApart) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  RegionProfile::Options options = {OptionsOf(ProfileType::kWall)};
  options.by_label = true;
  const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
  ASSERT_TRUE(ReadInto(*reader, {sink.get()}).ok());
  std::set<std::string> labels;
  for (const ProfileSample& sample : SamplesOf(*sink)) {
    const std::string label(sink->interner().String(sample.key.label));
    labels.insert(label);
    // Only these goroutines have labels.
    if (!label.empty()) {
      EXPECT_EQ(sink->interner().String(sample.key.start), "runtime.gcBgMarkWorker");
    }
  }
  EXPECT_EQ(labels, std::set<std::string>({"", "GC (dedicated)", "GC (idle)"}));
}

// A goroutine loses its P as soon as it is in a syscall, so that P 0 spends no time there.
TEST(Profile, HasNoEmptySamplesOfRegions) {
  using enum EventType;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Proc(kProcStatus, 1, 0, ProcState::kUndetermined, ProcState::kRunning);
  events.Go(kGoStatus, 2, 0, 7, GoState::kUndetermined, GoState::kRunning);
  events.Push(events.Builder(kUserRegionBegin, 5, 0, 7).Task(TaskId{0}).RegionType("work"));
  events.Go(kGoSyscallBegin, 10, 0, 7, GoState::kRunning, GoState::kSyscall);
  events.Proc(kProcSteal, 10, 0, ProcState::kRunning, ProcState::kIdle);
  events.Go(kGoSyscallEndBlocked, 20, -1, 7, GoState::kSyscall, GoState::kRunnable);
  events.Sync(30, 2);
  RegionProfile::Options options = ByRegion(ProfileType::kWall);
  options.filter.procs = {ProcId{0}};
  const std::unique_ptr<AnalysisSink> sink = MakeSink(options);
  sink->Add(events.events());
  ASSERT_TRUE(sink->Finish().ok());
  int64_t running = 0;
  for (const auto& [key, value] : SamplesOf(*sink)) {
    EXPECT_EQ(key.state, GoState::kRunning);
    running += value.time;
  }
  EXPECT_EQ(running, 10);
}

class OwnerAnalysis final : public Analysis {
 public:
  OwnerAnalysis() : times_(EventFilter()) {}

  void AddEvents(absl::Span<const Event> events) override { times_.AddEvents(events); }
  void AddGoroutine(const GoInterval& interval) override { times_.AddGoroutine(interval); }
  void Finish(int64_t /*end*/) override { times_.Finish(); }

  const OwnerTimes& times() const { return times_; }

 private:
  OwnerTimes times_;
};

// What is in regions, and in none, adds up to the whole; and what is in the regions of a task or of
// a type is what TaskStats has, if these are not nested. Of a task without regions it is what the
// goroutine did that began it.
TEST(Profile, TellsRegionsApart) {
  size_t tasks = 0;
  size_t without_regions = 0;
  size_t types = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    for (const ProfileType type : {ProfileType::kWall, ProfileType::kOffCpu, ProfileType::kNet,
                                   ProfileType::kOnCpu, ProfileType::kGcAssist}) {
      absl::StatusOr<Reader> again = Reader::FromBytes(bytes);
      const std::unique_ptr<AnalysisSink> whole = MakeSink(OptionsOf(type));
      const std::unique_ptr<AnalysisSink> parts = MakeSink(ByRegion(type));
      ASSERT_TRUE(ReadInto(*again, {whole.get(), parts.get()}).ok());
      const auto all = [](const ProfileKey&) { return true; };
      EXPECT_EQ(SumOf(*parts, all), SumOf(*whole, all));
    }
    const std::unique_ptr<AnalysisSink> stats = std::make_unique<AnalysisSink>(
        [](Interner* interner) { return std::make_unique<TaskStats>(interner, EventFilter()); },
        AnalysisSink::Options());
    AnalysisSink owners([](Interner*) { return std::make_unique<OwnerAnalysis>(); }, {});
    ASSERT_TRUE(ReadInto(*reader, {stats.get(), &owners}).ok());
    std::map<TaskId, int64_t> by_task;
    std::map<std::string, int64_t> by_type;
    std::map<std::pair<GoId, std::string>, int64_t> last_ends;
    std::set<TaskId> left_out;
    std::set<std::string> nested;
    for (const RegionSpan& region : static_cast<const TaskStats&>(stats->analysis()).regions()) {
      const std::string name(stats->interner().String(region.type));
      if (!region.begin.has_value()) left_out.insert(region.task), nested.insert(name);
      by_type[name] += region.times.total;
      int64_t& last_end = last_ends.try_emplace({region.goroutine, name}, INT64_MIN).first->second;
      if (region.begin.value_or(INT64_MIN) < last_end) nested.insert(name);
      last_end = std::max(last_end, region.end.value_or(INT64_MAX));
    }
    for (const TaskSpan& task : static_cast<const TaskStats&>(stats->analysis()).tasks()) {
      by_task[task.task] = task.times.total;
      if (task.regions > 0) continue;
      const ExecutionTimes* const times =
          static_cast<const OwnerAnalysis&>(owners.analysis()).times().Find(task.task);
      if (times == nullptr) continue;
      by_task[task.task] = times->total;
      ++without_regions;
    }
    const auto selected = [&](RegionProfile::Options options) {
      absl::StatusOr<Reader> again = Reader::FromBytes(bytes);
      const std::unique_ptr<AnalysisSink> sink = MakeSink(std::move(options));
      EXPECT_TRUE(ReadInto(*again, {sink.get()}).ok());
      return SumOf(*sink, [](const ProfileKey&) { return true; });
    };
    for (const auto& [id, time] : by_task) {
      if (left_out.contains(id)) continue;
      RegionProfile::Options options = {OptionsOf(ProfileType::kWall)};
      options.task = id;
      EXPECT_EQ(selected(options), time) << id;
      tasks += time > 0;
    }
    for (const auto& [name, time] : by_type) {
      if (nested.contains(name) || name.empty()) continue;
      RegionProfile::Options options = {OptionsOf(ProfileType::kWall)};
      options.region = name;
      EXPECT_EQ(selected(options), time) << name;
      types += time > 0;
    }
  }
  EXPECT_GT(tasks, 20);
  EXPECT_GT(without_regions, 20);
  EXPECT_GT(types, 20);
}

}  // namespace profile_test
}  // namespace gotrace::internal
