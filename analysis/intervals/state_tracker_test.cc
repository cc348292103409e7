#include "gotrace/state_tracker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/core/built_events.h"
#include "analysis/intervals/interval_log.h"
#include "gotrace/event_builder.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/event/event_access.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace state_tracker_test {

// The trackers of a trace that is cut before every `size`th generation.
class CutTrace {
 public:
  explicit CutTrace(size_t size) : size_(size) {}

  void Add(absl::Span<const Event> events) {
    const Event& first = events.front();
    const bool begins_generation = first.kind() == EventKind::kSync &&
                                   EventAccess::Tables(first) != nullptr &&
                                   generations_++ % size_ == 0;
    if (begins_generation) {
      parts_.push_back(std::make_unique<TrackedTrace>());
      if (parts_.size() > 1) parts_.back()->tracker.StartInMiddle();
    }
    parts_.back()->tracker.Add(events);
  }

  size_t size() const { return parts_.size(); }

  // Merges all parts, from the first on or from the last on, and returns the intervals as text.
  std::string MergeForwards() {
    for (size_t i = 1; i < parts_.size(); ++i) {
      parts_[0]->Merge(std::move(*parts_[i]));
      parts_[i].reset();
    }
    return Finish();
  }
  std::string MergeBackwards() {
    for (size_t i = parts_.size(); --i > 0;) {
      parts_[i - 1]->Merge(std::move(*parts_[i]));
      parts_[i].reset();
    }
    return Finish();
  }

 private:
  std::string Finish() {
    EXPECT_TRUE(parts_[0]->tracker.Finish().ok());
    return parts_[0]->log.All();
  }

  const size_t size_;
  size_t generations_ = 0;
  std::vector<std::unique_ptr<TrackedTrace>> parts_;
};

TEST(StateTracker, PartitionsEveryLifeHoweverTheTraceIsCut) {
  size_t max_parts = 0;
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    TrackedTrace whole;
    constexpr size_t kSizes = 12;
    std::vector<CutTrace> forwards;
    std::vector<CutTrace> backwards;
    for (size_t size = 1; size <= kSizes; ++size) {
      forwards.emplace_back(size);
      backwards.emplace_back(size);
    }
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
      begin = std::min(begin, block.front().time());
      end = block.back().time();
      whole.tracker.Add(block);
      for (CutTrace& cut : forwards) cut.Add(block);
      for (CutTrace& cut : backwards) cut.Add(block);
    }
    ASSERT_TRUE(reader->status().ok());
    ASSERT_TRUE(whole.tracker.Finish().ok());
    EXPECT_EQ(whole.log.FindFault(end, /*has_gaps=*/false), "");
    EXPECT_TRUE(whole.log.IsInOrder());
    for (const GoInterval& interval : whole.log.goroutines()) {
      if (interval.begin_clipped) {
        EXPECT_EQ(interval.begin, begin);
      }
    }
    const std::string expected = whole.log.All();
    EXPECT_NE(expected, "");
    max_parts = std::max(max_parts, forwards[0].size());
    for (CutTrace& cut : forwards) {
      if (cut.size() == 1) continue;
      ASSERT_EQ(cut.MergeForwards(), expected);
    }
    for (CutTrace& cut : backwards) {
      if (cut.size() == 1) continue;
      ASSERT_EQ(cut.MergeBackwards(), expected);
    }
  }
  EXPECT_GT(max_parts, 10u);
}

// What hand-written traces begin with: a tick is a nanosecond.
std::string Header(int generation, int64_t time) {
  std::string text =
      absl::StrCat("EventBatch gen=", generation, " m=0 time=", time,
                   " size=auto\nFrequency freq=1000000000\nEventBatch gen=", generation,
                   " m=0 time=", time, " size=auto\nStrings\n");
  constexpr const char* kStrings[] = {
      "main.a",       "main.b",  "main.start", "a.go",
      "chan receive", "network", "sleep",      "GC background sweeper wait",
      "sync",         "forever", "preempted"};
  int id = 0;
  for (const char* const string : kStrings) {
    absl::StrAppend(&text, "String id=", ++id, "\n\tdata=\"", string, "\"\n");
  }
  absl::StrAppend(&text, "EventBatch gen=", generation, " m=0 time=", time, " size=auto\nStacks\n");
  for (int stack = 1; stack <= 3; ++stack) {
    absl::StrAppend(&text, "Stack id=", stack, " nframes=1\n\tpc=", stack, " func=", stack,
                    " file=4 line=", stack, "\n");
  }
  return text;
}

// The intervals of the trace whose text form is `text`, after a header line and Header(1, 1).
std::unique_ptr<TrackedTrace> Track(absl::string_view text, ReadMode mode = ReadMode::kStrict) {
  const std::string bytes = Assemble(absl::StrCat("Trace Go1.23\n", Header(1, 1), text));
  ReaderOptions options;
  options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  EXPECT_TRUE(reader.ok());
  auto trace = std::make_unique<TrackedTrace>();
  CutTrace cut(1);
  int64_t end = 0;
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
    end = block.back().time();
    trace->tracker.Add(block);
    cut.Add(block);
  }
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  EXPECT_TRUE(trace->tracker.Finish().ok());
  EXPECT_EQ(trace->log.FindFault(end, /*has_gaps=*/mode == ReadMode::kSalvage), "");
  EXPECT_EQ(cut.MergeForwards(), trace->log.All());
  return trace;
}

constexpr absl::string_view kOneGoroutine = R"(EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";

TEST(StateTracker, SaysWhatWokeAGoroutine) {
  const auto trace = Track(absl::StrCat(kOneGoroutine, R"(GoBlock dt=8 reason_string=5 stack=1
GoUnblock dt=10 g=1 g_seq=1 stack=0
GoStart dt=10 g=1 g_seq=2
GoBlock dt=10 reason_string=6 stack=1
GoUnblock dt=10 g=1 g_seq=3 stack=0
GoStart dt=10 g=1 g_seq=4
GoBlock dt=10 reason_string=7 stack=2
GoUnblock dt=10 g=1 g_seq=5 stack=0
GoStart dt=10 g=1 g_seq=6
GoBlock dt=10 reason_string=8 stack=1
GoUnblock dt=10 g=1 g_seq=7 stack=0
GoStart dt=10 g=1 g_seq=8
GoBlock dt=10 reason_string=9 stack=1
GoUnblock dt=10 g=1 g_seq=9 stack=0
GoStart dt=10 g=1 g_seq=10
GoCreate dt=10 new_g=2 new_stack=3 stack=2
GoBlock dt=10 reason_string=9 stack=1
GoStart dt=10 g=2 g_seq=1
GoUnblock dt=10 g=1 g_seq=11 stack=2
GoStop dt=10 reason_string=11 stack=1
GoStart dt=10 g=2 g_seq=2
GoDestroy dt=10
)"));
  EXPECT_EQ(trace->log.OfGoroutine(1), R"((1,110) Running p0 m1, by unknown, until itself p0 m1
[110,120) Waiting (chan receive) at main.a:1, by itself p0 m1, until timer p0 m1
[120,130) Runnable at main.a:1, by timer p0 m1, until scheduler p0 m1
[130,140) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[140,150) Waiting (network) at main.a:1, by itself p0 m1, until network p0 m1
[150,160) Runnable at main.a:1, by network p0 m1, until scheduler p0 m1
[160,170) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[170,180) Waiting (sleep) at main.b:2, by itself p0 m1, until timer p0 m1
[180,190) Runnable at main.b:2, by timer p0 m1, until scheduler p0 m1
[190,200) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[200,210) Waiting (GC background sweeper wait) at main.a:1, by itself p0 m1, until garbage collector p0 m1
[210,220) Runnable at main.a:1, by garbage collector p0 m1, until scheduler p0 m1
[220,230) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[230,240) Waiting (sync) at main.a:1, by itself p0 m1, until unknown p0 m1
[240,250) Runnable at main.a:1, by unknown p0 m1, until scheduler p0 m1
[250,270) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[270,290) Waiting (sync) at main.a:1, by itself p0 m1, until goroutine g2 p0 m1 at main.b:2
[290,321] Runnable at main.a:1, by goroutine g2 p0 m1 at main.b:2, until unknown
)");
  EXPECT_EQ(
      trace->log.OfGoroutine(2),
      R"([260,280) Runnable at main.start:3, created by goroutine g1 p0 m1 at main.b:2, until scheduler p0 m1
[280,300) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[300,310) Runnable (preempted) at main.a:1, by itself p0 m1, until scheduler p0 m1
[310,320) Running p0 m1, by scheduler p0 m1, ended by itself p0 m1
)");
  EXPECT_EQ(trace->log.OfProc(0), R"((1,321] Running m1
)");
  EXPECT_EQ(trace->log.OfThread(1), R"((1,110) Running p0 g1
[110,130) Scheduling p0
[130,140) Running p0 g1
[140,160) Scheduling p0
[160,170) Running p0 g1
[170,190) Scheduling p0
[190,200) Running p0 g1
[200,220) Scheduling p0
[220,230) Running p0 g1
[230,250) Scheduling p0
[250,270) Running p0 g1
[270,280) Scheduling p0
[280,300) Running p0 g2
[300,310) Scheduling p0
[310,320) Running p0 g2
[320,321] Scheduling p0
)");
}

TEST(StateTracker, SplitsASyscallWhereItsPIsTaken) {
  const auto trace = Track(absl::StrCat(kOneGoroutine, R"(GoSyscallBegin dt=8 p_seq=1 stack=1
GoSyscallEnd dt=10
GoSyscallBegin dt=10 p_seq=2 stack=2
GoSyscallEndBlocked dt=70
EventBatch gen=1 m=2 time=150 size=auto
ProcSteal dt=10 p=0 p_seq=3 m=1
ProcStart dt=10 p=0 p_seq=4
GoStart dt=80 g=1 g_seq=1
GoSyscallBegin dt=10 p_seq=5 stack=2
ProcStop dt=10
)"));
  EXPECT_EQ(trace->log.OfGoroutine(1), R"((1,110) Running p0 m1, by unknown, until itself p0 m1
[110,120) Syscall p0 m1 at main.a:1, by itself p0 m1, until itself p0 m1
[120,130) Running p0 m1, by itself p0 m1, until itself p0 m1
[130,200) Syscall p0 m1 until 160 at main.b:2, by itself p0 m1, until syscall m1
[200,250) Runnable at main.b:2, by syscall m1, until scheduler p0 m2
[250,260) Running p0 m2, by scheduler p0 m2, until itself p0 m2
[260,271] Syscall p0 m2 until 270 at main.b:2, by itself p0 m2, until unknown
)");
  EXPECT_EQ(trace->log.OfProc(0), R"((1,160) Running m1, stolen
[160,170) Idle
[170,270) Running m2
[270,271] Idle
)");
  EXPECT_EQ(trace->log.OfThread(1), R"((1,110) Running p0 g1
[110,120) Syscall p0 g1
[120,130) Running p0 g1
[130,160) Syscall p0 g1
[160,200) Syscall g1
[200,271] Idle
)");
  EXPECT_EQ(trace->log.OfThread(2), R"([170,250) Scheduling p0
[250,260) Running p0 g1
[260,270) Syscall p0 g1
[270,271] Syscall g1
)");
}

TEST(StateTracker, FollowsCoroutines) {
  const auto trace =
      Track(absl::StrCat(kOneGoroutine, R"(GoCreateBlocked dt=8 new_g=2 new_stack=3 stack=1
GoSwitch dt=10 g=2 g_seq=1
GoSwitch dt=10 g=1 g_seq=1
GoSwitch dt=10 g=2 g_seq=2
GoSwitchDestroy dt=10 g=1 g_seq=2
)"));
  EXPECT_EQ(trace->log.OfGoroutine(1), R"((1,121) Running p0 m1, by unknown, until itself p0 m1
[121,130) Waiting, by itself p0 m1, until goroutine g2 p0 m1
[130,132) Runnable, by goroutine g2 p0 m1, until scheduler p0 m1
[132,141) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[141,150) Waiting, by itself p0 m1, until goroutine g2 p0 m1
[150,152) Runnable, by goroutine g2 p0 m1, until scheduler p0 m1
[152,153] Running p0 m1, by scheduler p0 m1, until unknown
)");
  EXPECT_EQ(
      trace->log.OfGoroutine(2),
      R"([110,120) Waiting at main.start:3, created by goroutine g1 p0 m1 at main.a:1, until goroutine g1 p0 m1
[120,122) Runnable at main.start:3, by goroutine g1 p0 m1, until scheduler p0 m1
[122,131) Running p0 m1, by scheduler p0 m1, until itself p0 m1
[131,140) Waiting, by itself p0 m1, until goroutine g1 p0 m1
[140,142) Runnable, by goroutine g1 p0 m1, until scheduler p0 m1
[142,151) Running p0 m1, by scheduler p0 m1, ended by itself p0 m1
)");
  EXPECT_EQ(trace->log.OfThread(1), R"((1,121) Running p0 g1
[121,122) Scheduling p0
[122,131) Running p0 g2
[131,132) Scheduling p0
[132,141) Running p0 g1
[141,142) Scheduling p0
[142,151) Running p0 g2
[151,152) Scheduling p0
[152,153] Running p0 g1
)");
}

TEST(StateTracker, FollowsGoroutinesOfCThreads) {
  const auto trace = Track(absl::StrCat(kOneGoroutine, R"(GoBlock dt=8 reason_string=10 stack=1
ProcStop dt=10
EventBatch gen=1 m=2 time=150 size=auto
GoCreateSyscall dt=0 new_g=5
ProcStart dt=10 p=0 p_seq=1
GoSyscallEndBlocked dt=10
GoStart dt=10 g=5 g_seq=1
GoSyscallBegin dt=10 p_seq=2 stack=1
GoDestroySyscall dt=10
GoCreateSyscall dt=10 new_g=5
)"));
  EXPECT_EQ(trace->log.OfGoroutine(1), R"((1,110) Running p0 m1, by unknown, until itself p0 m1
[110,211] Waiting (forever) at main.a:1, by itself p0 m1, until unknown
)");
  EXPECT_EQ(trace->log.OfGoroutine(5),
            R"([150,170) Syscall m2, created by unknown m2, until syscall p0 m2
[170,180) Runnable, by syscall p0 m2, until scheduler p0 m2
[180,190) Running p0 m2, by scheduler p0 m2, until itself p0 m2
[190,201) Syscall p0 m2 until 200 at main.a:1, by itself p0 m2, ended by itself p0 m2
[210,211] Syscall m2, created by unknown m2, until unknown
)");
  EXPECT_EQ(trace->log.OfProc(0), R"((1,120) Running m1
[120,160) Idle
[160,200) Running m2, stolen
[200,211] Idle
)");
  EXPECT_EQ(trace->log.OfThread(2), R"([150,160) Syscall g5
[160,170) Syscall p0 g5
[170,180) Scheduling p0
[180,190) Running p0 g5
[190,200) Syscall p0 g5
[200,201) Syscall g5
[201,210) Idle
[210,211] Syscall g5
)");
}

// What a trace begins with lasts since its first kSync event. The status of a goroutine in a
// syscall may be reported by another thread, whose P is not the goroutine's.
TEST(StateTracker, BeginsWithTheTrace) {
  const auto trace = Track(
      absl::StrCat(kOneGoroutine, R"(GoStatusStack dt=8 g=2 m=18446744073709551615 gstatus=4 stack=2
GoUnblock dt=10 g=2 g_seq=1 stack=1
GoStatus dt=8 g=3 m=18446744073709551615 gstatus=1
GoStatus dt=10 g=4 m=7 gstatus=3
ProcStatus dt=10 p=1 pstatus=2
GoStatus dt=10 g=6 m=8 gstatus=3
EventBatch gen=1 m=7 time=200 size=auto
GoSyscallEndBlocked dt=10
)",
                   Header(2, 300), R"(EventBatch gen=2 m=1 time=300 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GoStatus dt=8 g=2 m=18446744073709551615 gstatus=1
GoStatus dt=8 g=3 m=18446744073709551615 gstatus=1
GoStatus dt=8 g=4 m=18446744073709551615 gstatus=1
GoStatus dt=8 g=6 m=8 gstatus=3
ProcStatus dt=10 p=1 pstatus=2
ProcStatus dt=10 p=2 pstatus=2
GoStop dt=10 reason_string=11 stack=1
)"));
  EXPECT_EQ(trace->log.All(), R"(g1 (1,364) Running p0 m1, by unknown, until itself p0 m1
g1 [364,365] Runnable (preempted) at main.a:1, by itself p0 m1, until unknown
g2 (1,120) Waiting at main.b:2, by unknown, until goroutine g1 p0 m1 at main.a:1
g2 [120,365] Runnable at main.b:2, by goroutine g1 p0 m1 at main.a:1, until unknown
g3 (1,365] Runnable, by unknown, until unknown
g4 (1,210) Syscall m7, by unknown, until syscall m7
g4 [210,365] Runnable, by syscall m7, until unknown
g6 (1,365] Syscall m8, by unknown, until unknown
p0 (1,365] Running m1
p1 (1,365] Idle
p2 [354,365] Idle
m1 (1,364) Running p0 g1
m1 [364,365] Scheduling p0
m7 (1,210) Syscall g4
m7 [210,365] Idle
m8 (1,365] Syscall g6
)");
}

// Between the generations 1 and 3 nothing is known.
TEST(StateTracker, LeavesAGapWhereAGenerationIsMissing) {
  const auto trace = Track(absl::StrCat(kOneGoroutine, R"(GoCreate dt=8 new_g=2 new_stack=3 stack=1
)",
                                        Header(3, 300), R"(EventBatch gen=3 m=1 time=300 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
GoBlock dt=8 reason_string=5 stack=1
)"),
                           ReadMode::kSalvage);
  EXPECT_EQ(trace->log.All(), R"(g1 (1,110] Running p0 m1, by unknown, until unknown
g1 (300,310) Running p0 m1, by unknown, until itself p0 m1
g1 [310,311] Waiting (chan receive) at main.a:1, by itself p0 m1, until unknown
g2 [110,110] Runnable at main.start:3, created by goroutine g1 p0 m1 at main.a:1, until unknown
p0 (1,110] Running m1
p0 (300,311] Running m1
m1 (1,110] Running p0 g1
m1 (300,310) Running p0 g1
m1 [310,311] Scheduling p0
)");
}

// The thread that ran goroutine 1 and its events are lost.
TEST(StateTracker, EndsWhatDoesNotFitWhatComesNext) {
  const auto trace = Track(absl::StrCat(kOneGoroutine, R"(GoBlock dt=8 reason_string=5 stack=1
EventBatch gen=1 m=2 time=150 size=auto
ProcStatus dt=1 p=1 pstatus=1
GoStart dt=10 g=1 g_seq=2
GoDestroy dt=10
GoStart dt=10 g=9 g_seq=7
)"),
                           ReadMode::kSalvage);
  EXPECT_EQ(trace->log.All(), R"(g1 (1,110) Running p0 m1, by unknown, until itself p0 m1
g1 [110,110] Waiting (chan receive) at main.a:1, by itself p0 m1, until unknown
g1 [161,171) Running p1 m2, by scheduler p1 m2, ended by itself p1 m2
g9 (181,181) Runnable, by unknown, until scheduler p1 m2
g9 [181,182] Running p1 m2, by scheduler p1 m2, until unknown
p0 (1,182] Running m1
p1 (1,182] Running m2
m1 (1,110) Running p0 g1
m1 [110,182] Scheduling p0
m2 (1,161) Scheduling p1
m2 [161,171) Running p1 g1
m2 [171,181) Scheduling p1
m2 [181,182] Running p1 g9
)");
}

// What a P did between its last event and one that contradicts it is not known.
TEST(StateTracker, ClipsWhatAPDidBeforeALoss) {
  BuiltEvents events;
  events.Sync(0, 1);
  events.Proc(EventType::kProcStart, 10, 0, ProcState::kIdle, ProcState::kRunning);
  events.Proc(EventType::kProcStart, 30, 0, ProcState::kIdle, ProcState::kRunning);
  events.Proc(EventType::kProcStop, 40, 0, ProcState::kRunning, ProcState::kIdle);
  TrackedTrace trace;
  trace.tracker.Add(events.events());
  EXPECT_TRUE(trace.tracker.Finish().ok());
  EXPECT_EQ(trace.log.OfProc(0),
            "(10,10) Idle\n"
            "[10,10] Running m1\n"
            "[30,40) Running m1\n"
            "[40,40] Idle\n");
}

// Adds up how long each goroutine was stopped.
class StoppedTimes final : public IntervalConsumer {
 public:
  void AddGoroutine(const GoInterval& interval) override {
    sums[interval.goroutine.value] += interval.StoppedSince(interval.begin);
  }

  std::map<int64_t, int64_t> sums;
};

// G 1 stops the world for 2 ns again and again, and gives way after each stop. G 2 waits, and is
// woken up in the middle of stop 2500. Most stops are forgotten by then.
TEST(StateTracker, KnowsTheStopsInAnInterval) {
  using enum EventType;
  constexpr int64_t kStops = 3000;
  BuiltEvents events;
  events.Sync(0, 1);
  events.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  events.Go(kGoStatus, 1, -1, 2, GoState::kUndetermined, GoState::kWaiting);
  events.Go(kGoStatus, 1, -1, 3, GoState::kUndetermined, GoState::kSyscall);
  for (int64_t i = 0; i < kStops; ++i) {
    const int64_t time = 10 + 4 * i;
    events.Push(events.Builder(kSTWBegin, time, 0, 1).Reason("read mem stats"));
    if (i == 2500) {
      events.GoBy(-1, kGoUnblock, time + 1, -1, 2, GoState::kWaiting, GoState::kRunnable);
    }
    events.Push(events.Builder(kSTWEnd, time + 2, 0, 1).Reason("read mem stats"));
    events.Go(kGoStop, time + 3, 0, 1, GoState::kRunning, GoState::kRunnable, "preempted");
    if (i % 500 == 499) events.Sync(time + 3, static_cast<uint64_t>(i / 500 + 2));
    events.Go(kGoStart, time + 4, 0, 1, GoState::kRunnable, GoState::kRunning);
  }
  Interner interner;
  StoppedTimes stopped;
  StateTracker tracker(&interner, &stopped);
  tracker.Add(events.events());
  ASSERT_TRUE(tracker.Finish().ok());
  EXPECT_EQ(stopped.sums[1], 2 * kStops);
  EXPECT_EQ(stopped.sums[2], 1 + 2 * (kStops - 2501));
  EXPECT_EQ(stopped.sums[3], 0);
}

// Events that no Reader would give.
TEST(StateTracker, TakesAnyEvents) {
  TrackedTrace trace;
  std::vector<Event> events;
  for (const EventSpec& spec : AllEventSpecs()) {
    for (int from = 0; from < 6; ++from) {
      for (int to = 0; to < 6; ++to) {
        EventBuilder builder(spec.type);
        builder.Time((from * 5 + to * 7) % 11 - 5)
            .Thread(ThreadId{to % 3 - 1})
            .Proc(ProcId{from % 2});
        if (to % 2 == 0) builder.Goroutine(GoId{from});
        builder.Transition(GoId{from % 3}, static_cast<GoState>(from), static_cast<GoState>(to));
        events.push_back(builder.Build());
      }
    }
  }
  trace.tracker.Add(events);
  EXPECT_TRUE(trace.tracker.Finish().ok());
  EXPECT_FALSE(trace.log.goroutines().empty());
  for (const GoInterval& interval : trace.log.goroutines()) {
    EXPECT_GE(interval.end, interval.begin);
  }
}

TEST(StateTrackerTest, ReportsAPartThatDidNotStartInTheMiddle) {
  const std::string bytes = ReadTestTrace("go1.24-gc.trace");
  TrackedTrace first;
  TrackedTrace second;
  TrackedTrace* part = nullptr;
  Reader reader = *Reader::FromBytes(bytes);
  for (absl::Span<const Event> block; !(block = reader.NextBlock()).empty();) {
    if (block.front().kind() == EventKind::kSync) part = part == nullptr ? &first : &second;
    part->tracker.Add(block);
  }
  first.Merge(std::move(second));
  EXPECT_EQ(first.tracker.Finish().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace state_tracker_test
}  // namespace gotrace::internal
