#include "gotrace/mutator_utilization.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/core/cut_trace.h"
#include "gotrace/event_builder.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace mutator_utilization_test {

using Options = MutatorUtilization::Options;
using Series = UtilizationSeries;

std::unique_ptr<MergeableAnalysisSink<MutatorUtilization>> MakeSink(
    const Options& options, AnalysisSink::Options sink_options = {}) {
  sink_options.window = options.window;
  return std::make_unique<MergeableAnalysisSink<MutatorUtilization>>(
      [&](Interner*) { return std::make_unique<MutatorUtilization>(options); }, sink_options);
}

std::unique_ptr<AnalysisSink> MakeGoSink(const Options& options) {
  return std::make_unique<AnalysisSink>(
      [&](Interner*) { return std::make_unique<GoCompatibleUtilization>(options); },
      AnalysisSink::Options());
}

absl::Span<const Series> SeriesOf(const AnalysisSink& sink) {
  const auto* const go = dynamic_cast<const GoCompatibleUtilization*>(&sink.analysis());
  if (go != nullptr) return go->series();
  return dynamic_cast<const MutatorUtilization&>(sink.analysis()).series();
}

// The flags as testdata/make_go_numbers.sh names them.
Options ParseFlags(absl::string_view names) {
  const std::map<absl::string_view, bool Options::*> flags = {
      {"stw", &Options::stw},          {"background", &Options::background},
      {"assist", &Options::assist},    {"sweep", &Options::sweep},
      {"perproc", &Options::per_proc},
  };
  Options options;
  for (const absl::string_view name : absl::StrSplit(names, ',')) options.*flags.at(name) = true;
  return options;
}

TEST(MutatorUtilization, IsThatOfGoForEveryTrace) {
  struct Line {
    int64_t window = 0;
    double mmu = 0;
  };
  // What testdata/make_go_numbers.sh stored, by traces and flags.
  std::map<std::string, std::map<std::string, std::vector<Line>>> stored;
  const std::string table = ReadTestTrace("mutator_utilization.tsv");
  for (const absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    Line parsed;
    ASSERT_TRUE(absl::SimpleAtoi(fields.at(2), &parsed.window)) << line;
    ASSERT_TRUE(absl::SimpleAtod(fields.at(3), &parsed.mmu)) << line;
    stored[std::string(fields[0])][std::string(fields[1])].push_back(parsed);
  }
  int differences = 0;  // Between Go's numbers and the right ones.
  for (const TestTrace& test : TestTraces()) {
    const std::string bytes = ReadTestTrace(test.name);
    ASSERT_EQ(stored[test.name].size(), 7) << test.name;
    std::map<std::string, std::unique_ptr<AnalysisSink>> like_go;
    std::map<std::string, std::unique_ptr<AnalysisSink>> right;
    std::vector<EventSink*> sinks;
    for (const auto& [flags, lines] : stored[test.name]) {
      const Options options = ParseFlags(flags);
      sinks.push_back((right[flags] = MakeSink(options)).get());
      sinks.push_back((like_go[flags] = MakeGoSink(options)).get());
    }
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    ASSERT_TRUE(ReadInto(*reader, sinks).ok());
    for (const auto& [flags, lines] : stored[test.name]) {
      SCOPED_TRACE(absl::StrCat(test.name, " ", flags));
      for (const Line& line : lines) {
        // To the last bit.
        EXPECT_EQ(MmuCurve(SeriesOf(*like_go[flags])).Mmu(line.window), line.mmu) << line.window;
        differences += MmuCurve(SeriesOf(*right[flags])).Mmu(line.window) != line.mmu;
      }
    }
  }
  EXPECT_GT(differences, 0);
}

TEST(MutatorUtilization, IsTheSameHoweverTheTraceIsCut) {
  const auto text_of = [](const AnalysisSink& sink) {
    std::string text;
    for (const Series& series : SeriesOf(sink)) {
      for (const UtilizationPoint& point : series) {
        absl::StrAppend(&text, point.time, " ", point.utilization, "\n");
      }
      absl::StrAppend(&text, "\n");
    }
    return text;
  };
  for (const TestTrace& test : TestTraces()) {
    const std::string bytes = ReadTestTrace(test.name);
    for (const absl::string_view flags : {"stw", "background", "assist", "sweep"}) {
      for (const bool per_proc : {false, true}) {
        SCOPED_TRACE(absl::StrCat(test.name, " ", flags));
        Options options = ParseFlags(flags);
        options.per_proc = per_proc;
        ExpectSameHoweverCut(
            bytes,
            [&](AnalysisSink::Options sink_options) { return MakeSink(options, sink_options); },
            text_of);
      }
    }
  }
}

TEST(MutatorUtilization, CountsMarkWorkersOnce) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  const std::unique_ptr<AnalysisSink> right = MakeSink({.background = true});
  const std::unique_ptr<AnalysisSink> go = MakeGoSink({.background = true});
  ASSERT_TRUE(ReadInto(*reader, {right.get(), go.get()}).ok());
  // Of 8 Ps * 244409921 ns, workers ran for 123396817 ns.
  EXPECT_NEAR(MmuCurve(SeriesOf(*right)).Mmu(1'000'000'000), 0.93689, 0.00001);
  EXPECT_NEAR(MmuCurve(SeriesOf(*go)).Mmu(1'000'000'000), 0.24296, 0.00001);
}

// Builds events of two Ps.
class Events {
 public:
  Events() { Push(EventBuilder::MakeSync(1, tables_).Time(0)); }

  EventBuilder Builder(EventType type, int64_t time) {
    EventBuilder builder(type, tables_);
    builder.Time(time).Thread(ThreadId{1});
    return builder;
  }
  void Push(const EventBuilder& builder) { events_.push_back(builder.Build()); }

  void Gomaxprocs(int64_t time, uint64_t count) {
    Push(Builder(EventType::kProcsChange, time).Arg(0, count));
  }
  void Start(int64_t time, int64_t g, int64_t p) {
    Push(Builder(EventType::kGoStart, time)
             .Proc(ProcId{p})
             .Transition(GoId{g}, GoState::kRunnable, GoState::kRunning));
  }
  void Stop(int64_t time, int64_t g, int64_t p) {
    Push(Builder(EventType::kGoStop, time)
             .Proc(ProcId{p})
             .Goroutine(GoId{g})
             .Transition(GoId{g}, GoState::kRunning, GoState::kRunnable));
  }
  // What it did since the trace began.
  void Status(int64_t time, int64_t g, int64_t p, GoState state) {
    Push(Builder(EventType::kGoStatus, time)
             .Proc(ProcId{p})
             .Arg(1, 1)
             .Transition(GoId{g}, GoState::kUndetermined, state));
  }
  void Label(int64_t time, int64_t g, int64_t p, absl::string_view label) {
    Push(Builder(EventType::kGoLabel, time).Proc(ProcId{p}).Goroutine(GoId{g}).Label(label));
  }
  void OnP(EventType type, int64_t time, int64_t g, int64_t p) {
    Push(Builder(type, time).Proc(ProcId{p}).Goroutine(GoId{g}));
  }
  void End(int64_t time) { Push(EventBuilder::MakeSync(2, tables_).Time(time)); }

  std::vector<Series> Run(const Options& options) { return Run(*MakeSink(options)); }
  std::vector<Series> RunGo(const Options& options) { return Run(*MakeGoSink(options)); }

 private:
  std::vector<Series> Run(AnalysisSink& sink) {
    sink.Add(events_);
    EXPECT_TRUE(sink.Finish().ok());
    const absl::Span<const Series> series = SeriesOf(sink);
    return {series.begin(), series.end()};
  }

  const BuiltTables tables_;
  std::vector<Event> events_;
};

TEST(MutatorUtilization, HasWorkersFromTheirLabelsToTheirStops) {
  Events events;
  events.Gomaxprocs(10, 2);
  events.Status(20, 7, 0, GoState::kRunnable);
  events.Start(30, 7, 0);
  events.Label(40, 7, 0, "GC (dedicated)");
  events.Stop(50, 7, 0);
  events.Start(60, 7, 1);
  events.Label(70, 7, 1, "GC (idle)");
  events.Stop(80, 7, 1);
  events.Start(90, 7, 1);
  events.Label(100, 7, 1, "GC (fractional)");
  events.Stop(110, 7, 1);
  events.End(120);
  EXPECT_EQ(events.Run({.background = true}),
            std::vector<Series>({{{10, 1}, {40, 0.5}, {50, 1}, {100, 0.5}, {110, 1}, {120, 0}}}));
  // Dedicated workers do not count.
  EXPECT_EQ(events.Run({.background = true, .per_proc = true}),
            std::vector<Series>({{{10, 1}, {120, 0}}, {{10, 1}, {100, 0}, {110, 1}, {120, 0}}}));
  EXPECT_EQ(events.Run({.background = true, .window = {45, 105}}),
            std::vector<Series>({{{45, 0.5}, {50, 1}, {100, 0.5}, {105, 0}}}));
  // Go counts a worker again at each start.
  EXPECT_EQ(events.RunGo({.background = true}),
            std::vector<Series>(
                {{{10, 1}, {40, 0.5}, {50, 1}, {60, 0.5}, {80, 1}, {90, 0.5}, {120, 0}}}));
}

TEST(MutatorUtilization, HasWhatIsActiveAtTheBeginningWhereItBelongs) {
  Events events;
  events.Gomaxprocs(10, 2);
  events.Push(events.Builder(EventType::kProcStatus, 15)
                  .Proc(ProcId{1})
                  .Transition(ProcId{1}, ProcState::kUndetermined, ProcState::kRunning));
  events.Status(20, 7, 1, GoState::kRunning);
  events.Push(events.Builder(EventType::kGCMarkAssistActive, 30).Proc(ProcId{1}).Arg(0, 7));
  events.OnP(EventType::kGCMarkAssistEnd, 40, 7, 1);
  events.End(50);
  const std::vector<Series> system = {{{10, 0.5}, {40, 1}, {50, 0}}};
  EXPECT_EQ(events.Run({.assist = true}), system);
  EXPECT_EQ(events.Run({.assist = true, .per_proc = true}),
            std::vector<Series>({{{10, 1}, {50, 0}}, {{10, 0}, {40, 1}, {50, 0}}}));
  // Go looks at the goroutine that reports the assist, and there is none.
  EXPECT_EQ(events.RunGo({.assist = true}),
            std::vector<Series>({{{10, 1}, {30, 0.5}, {40, 1}, {50, 0}}}));
}

TEST(MutatorUtilization, IsRightWhereGoFails) {
  Events events;
  events.Gomaxprocs(10, 2);
  // Go looks for the P that reports the sweep, and there is none.
  events.Push(events.Builder(EventType::kGCSweepActive, 30).Arg(0, 1));
  events.OnP(EventType::kGCSweepEnd, 40, 7, 1);
  events.End(50);
  const std::vector<Series> right = {{{10, 0.5}, {40, 1}, {50, 0}}};
  EXPECT_EQ(events.Run({.sweep = true}), right);
  EXPECT_EQ(events.RunGo({.sweep = true}), right);
}

TEST(MutatorUtilization, FollowsGomaxprocsAndStops) {
  Events events;
  events.Gomaxprocs(10, 1);
  events.Push(events.Builder(EventType::kSTWBegin, 20).Proc(ProcId{0}).Reason("start trace"));
  events.Push(events.Builder(EventType::kSTWEnd, 30).Proc(ProcId{0}).Reason("start trace"));
  events.Gomaxprocs(40, 2);
  events.Push(events.Builder(EventType::kSTWBegin, 50).Proc(ProcId{0}).Reason("GC x"));
  events.Push(events.Builder(EventType::kSTWEnd, 60).Proc(ProcId{0}).Reason("GC x"));
  events.Gomaxprocs(70, 1);
  events.Push(events.Builder(EventType::kSTWBegin, 80).Proc(ProcId{0}).Reason("GC x"));
  events.End(90);
  EXPECT_EQ(events.Run({.stw = true}),
            std::vector<Series>({{{10, 1}, {50, 0}, {60, 1}, {80, 0}, {90, 0}}}));
  EXPECT_EQ(events.Run({.stw = true, .per_proc = true}),
            std::vector<Series>({{{40, 1}, {50, 0}, {60, 1}, {70, 0}},
                                 {{10, 1}, {50, 0}, {60, 1}, {80, 0}, {90, 0}}}));
  // Go loses the time after the last change to 0.
  EXPECT_EQ(events.RunGo({.stw = true}),
            std::vector<Series>({{{10, 1}, {50, 0}, {60, 1}, {80, 0}}}));
}

Series RandomSeries(std::mt19937_64& random) {
  Series series;
  int64_t time = static_cast<int64_t>(random() % 100) - 50;
  const size_t size = 2 + random() % 12;
  for (size_t i = 0; i < size; ++i) {
    series.push_back({time, static_cast<double>(random() % 5) / 4});
    time += 1 + static_cast<int64_t>(random() % 9);
  }
  return series;
}

// From the nanosecond `time` on.
double MeanOf(const Series& series, int64_t time, int64_t window) {
  double sum = 0;
  for (size_t i = 0; i + 1 < series.size(); ++i) {
    const int64_t begin = std::max(series[i].time, time);
    const int64_t end = std::min(series[i + 1].time, time + window);
    if (begin < end) sum += series[i].utilization * static_cast<double>(end - begin);
  }
  return sum / static_cast<double>(window);
}

TEST(MmuCurve, IsTheMinimumOfAllWindows) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Series> all;
    for (size_t i = 0; i <= round % 3u; ++i) all.push_back(RandomSeries(random));
    const int64_t window = 1 + static_cast<int64_t>(random() % 60);
    double lowest = 1;
    for (const Series& series : all) {
      const int64_t length = std::min(window, series.back().time - series.front().time);
      for (int64_t t = series.front().time; t + length <= series.back().time; ++t) {
        lowest = std::min(lowest, MeanOf(series, t, length));
      }
    }
    const MmuCurve curve(all);
    ASSERT_NEAR(curve.Mmu(window), lowest, 1e-12) << round;
    const std::vector<UtilizationWindow> worst = curve.Worst(window, 10);
    ASSERT_FALSE(worst.empty());
    EXPECT_EQ(worst[0].utilization, curve.Mmu(window));
    for (size_t i = 0; i < worst.size(); ++i) {
      if (i > 0) {
        EXPECT_LE(worst[i - 1].utilization, worst[i].utilization);
      }
      for (size_t j = 0; j < i && all.size() == 1; ++j) {
        EXPECT_GE(std::abs(worst[i].time - worst[j].time), window) << round;
      }
    }
  }
}

TEST(MmuCurve, HasTheWorstWindowsThatAreDisjoint) {
  const Series series = {{0, 1}, {10, 0}, {14, 1}, {30, 0.5}, {40, 1}, {44, 0}};
  const MmuCurve curve({series});
  EXPECT_EQ(curve.Worst(4, 3), std::vector<UtilizationWindow>({{10, 0}, {30, 0.5}, {34, 0.5}}));
  EXPECT_EQ(curve.Worst(4, 100).size(), 10);
}

TEST(MmuCurve, AcceptsAnyWindow) {
  const Series series = {{0, 1}, {10, 0}, {20, 0}};
  const MmuCurve curve({series});
  EXPECT_EQ(curve.Mmu(0), 0);
  EXPECT_EQ(curve.Mmu(-5), 0);
  EXPECT_TRUE(curve.Worst(0, 10).empty());
  EXPECT_EQ(curve.Mmu(20), 0.5);
  EXPECT_EQ(curve.Mmu(INT64_MAX), 0.5);
  EXPECT_EQ(curve.Worst(INT64_MAX, 10), std::vector<UtilizationWindow>({{0, 0.5}}));
  // For Go this is 0.
  EXPECT_EQ(MmuCurve({Series{{0, 1}, {10, 0}}}).Mmu(1), 1);
  EXPECT_EQ(MmuCurve({}).Mmu(5), 1);
  EXPECT_TRUE(MmuCurve({}).Worst(5, 10).empty());
  // A series without a duration has no windows.
  EXPECT_EQ(MmuCurve({Series{{7, 0}}}).Mmu(5), 1);
}

}  // namespace mutator_utilization_test
}  // namespace gotrace::internal
