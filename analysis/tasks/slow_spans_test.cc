#include "analysis/tasks/slow_spans.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "analysis/core/built_events.h"
#include "gtest/gtest.h"

namespace gotrace::internal {
namespace slow_spans_test {

// A part of a trace.
struct Part {
  Interner interner;
  RecentStates states{&interner};
  SlowSpans spans{&interner};

  void Add(absl::Span<const Event> events) {
    for (const Event& event : events) {
      states.Add(event);
      spans.Add(event, &states);
    }
  }

  // A line for each type, and for each of the longest spans.
  std::string Text() {
    constexpr absl::string_view kKinds[] = {"task", "region", "request"};
    constexpr absl::string_view kCauses[] = {"", "lock: ", "ready: ", "assist: ", "stopped: "};
    std::vector<std::string> lines;
    for (const SlowSpans::Type& type : spans.Finish(states)) {
      std::string text =
          absl::StrCat(kKinds[static_cast<size_t>(type.kind)], " ", interner.String(type.name),
                       ": ", type.lengths.count(), " of ", type.lengths.sum());
      for (const SlowSpans::Span& span : type.longest) {
        std::vector<std::string> parts;
        for (const SlowSpans::Part& part : span.parts) {
          const absl::Span<const FrameId> frames = interner.Frames(part.doing.stack);
          parts.push_back(absl::StrCat(
              kCauses[static_cast<size_t>(part.doing.cause)],
              part.doing.state == GoState::kUndetermined ? "" : GoStateName(part.doing.state), " ",
              interner.String(part.doing.reason), " ",
              frames.empty() ? "" : interner.Frame(frames.front()).func, " ", part.time));
        }
        std::sort(parts.begin(), parts.end());
        absl::StrAppend(&text, "\n  G", span.goroutine.value, " ", span.length, ": ",
                        absl::StrJoin(parts, ", "));
      }
      lines.push_back(text);
    }
    std::sort(lines.begin(), lines.end());
    return absl::StrJoin(lines, "\n");
  }
};

// The text of a trace, which is the same if it is cut before each generation.
std::string TextOf(absl::Span<const Event> events) {
  Part whole;
  whole.Add(events);
  std::unique_ptr<Part> merged;
  for (size_t begin = 0, end = 0; begin < events.size(); begin = end) {
    for (end = begin + 1; end < events.size() && events[end].kind() != EventKind::kSync;) ++end;
    auto part = std::make_unique<Part>();
    part->Add(events.subspan(begin, end - begin));
    if (merged == nullptr) {
      merged = std::move(part);
    } else {
      const InternerMap ids = merged->interner.Merge(part->interner);
      merged->spans.Merge(part->spans, merged->states.Merge(part->states, ids));
    }
  }
  const std::string text = whole.Text();
  EXPECT_EQ(merged->Text(), text);
  return text;
}

const StackFrame kSleep[] = {{1, "time.Sleep", "", 1}, {2, "main.load", "a.go", 2}};
const StackFrame kHandle[] = {{3, "main.handle", "a.go", 3}};

// Goroutine 1 runs.
class Program : public BuiltEvents {
 public:
  Program() {
    Sync(0, 1);
    Go(EventType::kGoStatus, 0, 0, 1, GoState::kUndetermined, GoState::kRunning);
  }

  void Task(int64_t begin, int64_t end, uint64_t id) {
    BeginTask(begin, id);
    EndTask(end, id);
  }
  void BeginTask(int64_t time, uint64_t id) {
    Push(Builder(EventType::kUserTaskBegin, time, 0, 1).Task(TaskId{id}).TaskType("request"));
  }
  void EndTask(int64_t time, uint64_t id) {
    Push(Builder(EventType::kUserTaskEnd, time, 0, 1).Task(TaskId{id}).Stack(kHandle));
  }
  void Region(EventType type, int64_t time) {
    Push(Builder(type, time, 0, 1).Task(kBackgroundTask).RegionType("parse").Stack(kHandle));
  }
  void Block(int64_t time, int64_t g, absl::string_view reason,
             absl::Span<const StackFrame> stack) {
    Push(Builder(EventType::kGoBlock, time, 0, g)
             .Transition(GoId{g}, GoState::kRunning, GoState::kWaiting)
             .Reason(reason)
             .Stack(stack));
  }
  // A timer, or the network, wakes it.
  void Wake(int64_t time, int64_t g) {
    GoBy(-1, EventType::kGoUnblock, time, 0, g, GoState::kWaiting, GoState::kRunnable);
  }
  void Start(int64_t time, int64_t g) {
    Go(EventType::kGoStart, time, 0, g, GoState::kRunnable, GoState::kRunning);
  }
  // A new generation, in which goroutine 1 runs and another one waits.
  void NextWhileWaiting(int64_t time, int64_t other) {
    Sync(time, 2);
    Go(EventType::kGoStatus, time, 0, 1, GoState::kRunning, GoState::kRunning);
    Go(EventType::kGoStatus, time, 0, other, GoState::kWaiting, GoState::kWaiting);
  }
  // A new generation, in which goroutine 1 and another one run.
  void Next(int64_t time, int64_t other) {
    Sync(time, 2);
    for (const int64_t g : {int64_t{1}, other}) {
      Go(EventType::kGoStatus, time, 0, g, GoState::kRunning, GoState::kRunning);
    }
  }
};

TEST(SlowSpans, FollowTheLongestTasks) {
  Program program;
  for (uint64_t i = 0; i < 70; ++i) {
    const auto begin = static_cast<int64_t>(100 + 20 * i);
    program.Task(begin, begin + 10, i + 1);
  }
  program.BeginTask(5000, 100);
  program.Block(5100, 1, "sleep", kSleep);
  program.Wake(5800, 1);
  program.Start(5810, 1);
  program.EndTask(6000, 100);
  const std::string text = TextOf(program.events());
  EXPECT_EQ(
      text.substr(0, text.find("\n  G1 10:")),
      "task request: 71 of 1700\n"
      "  G1 1000: Running  main.handle 190, Running  time.Sleep 100, Waiting sleep time.Sleep 700, "
      "ready: Runnable  time.Sleep 10");
}

// The length is that of the whole region, and the path what the last generation has of it.
TEST(SlowSpans, MayCrossGenerations) {
  Program program;
  program.Region(EventType::kUserRegionBegin, 50);
  program.Next(100, 2);
  program.Region(EventType::kUserRegionEnd, 130);
  EXPECT_EQ(TextOf(program.events()),
            "region parse: 1 of 80\n"
            "  G1 80: Running  main.handle 30");
}

TEST(SlowSpans, KnowRequests) {
  const StackFrame serve[] = {{9, "net/http.(*conn).serve", "", 9}};
  const StackFrame idle[] = {{5, "internal/poll.(*FD).Read", "", 5},
                             {6, "net.(*conn).Read", "", 6},
                             {7, "net/http.(*connReader).Read", "", 7},
                             {9, "net/http.(*conn).serve", "", 9}};
  const StackFrame handler[] = {{1, "time.Sleep", "", 1},
                                {2, "main.load", "a.go", 2},
                                {8, "net/http.serverHandler.ServeHTTP", "", 8},
                                {9, "net/http.(*conn).serve", "", 9}};
  Program program;
  program.Push(program.Builder(EventType::kGoCreate, 10, 0, 1)
                   .Transition(GoId{7}, GoState::kNotExist, GoState::kRunnable)
                   .TransitionStack(serve));
  program.Start(11, 7);
  program.Block(12, 7, "network", idle);
  program.Wake(20, 7);
  program.Start(21, 7);
  program.Block(22, 7, "sleep", handler);
  program.Wake(52, 7);
  program.Start(53, 7);
  program.Block(60, 7, "network", idle);
  program.Wake(90, 7);
  program.Start(91, 7);
  program.Next(100, 7);
  program.Block(130, 7, "network", idle);
  EXPECT_EQ(TextOf(program.events()),
            "request : 2 of 80\n"
            "  G7 40: Running  internal/poll.(*FD).Read 7, Running  time.Sleep 1, Waiting sleep "
            "time.Sleep 30, ready: Runnable  internal/poll.(*FD).Read 1, ready: Runnable  "
            "time.Sleep 1\n"
            "  G7 40: Running  internal/poll.(*FD).Read 30");
}

// The first wait of each generation is older than it. It is a wait for a request, and then one of
// the handler.
TEST(SlowSpans, KnowRequestsWhateverCrossesGenerations) {
  const StackFrame idle[] = {{5, "internal/poll.(*FD).Read", "", 5},
                             {6, "net.(*conn).Read", "", 6},
                             {9, "net/http.(*conn).serve", "", 9}};
  const StackFrame handler[] = {{1, "time.Sleep", "", 1},
                                {2, "main.load", "a.go", 2},
                                {8, "net/http.serverHandler.ServeHTTP", "", 8},
                                {9, "net/http.(*conn).serve", "", 9}};
  Program program;
  program.Go(EventType::kGoStatus, 0, 0, 7, GoState::kUndetermined, GoState::kRunning);
  program.Block(20, 7, "network", idle);
  program.NextWhileWaiting(100, 7);
  program.Wake(110, 7);
  program.Start(112, 7);
  program.Block(115, 7, "sleep", handler);
  program.NextWhileWaiting(200, 7);
  program.NextWhileWaiting(300, 7);
  program.Wake(350, 7);
  program.Start(353, 7);
  program.Block(360, 7, "network", idle);
  program.NextWhileWaiting(400, 7);
  program.Wake(410, 7);
  program.Start(411, 7);
  program.Block(420, 7, "network", idle);
  EXPECT_EQ(TextOf(program.events()),
            "request : 2 of 260\n"
            "  G7 250: Running  internal/poll.(*FD).Read 7, Waiting sleep time.Sleep 50, ready: "
            "Runnable  time.Sleep 3\n"
            "  G7 10: Running  internal/poll.(*FD).Read 9, ready: Runnable  "
            "internal/poll.(*FD).Read 1");
}

// Other suspicions report locks and stops of the world.
TEST(SlowSpans, SayWhatOthersAreAbout) {
  const StackFrame lock[] = {{1, "sync.(*Mutex).Lock", "", 1}, {2, "main.get", "a.go", 2}};
  Program program;
  program.Go(EventType::kGoStatus, 0, 1, 2, GoState::kUndetermined, GoState::kRunning);
  program.BeginTask(10, 1);
  program.Block(20, 1, "sync", lock);
  program.Push(program.Builder(EventType::kSTWBegin, 30, 1, 2).Reason("read mem stats"));
  program.Push(program.Builder(EventType::kSTWEnd, 35, 1, 2).Reason("read mem stats"));
  program.GoBy(2, EventType::kGoUnblock, 60, 1, 1, GoState::kWaiting, GoState::kRunnable);
  program.Start(61, 1);
  program.EndTask(70, 1);
  EXPECT_EQ(TextOf(program.events()),
            "task request: 1 of 60\n"
            "  G1 60: Running  main.handle 9, Running  sync.(*Mutex).Lock 10, lock: Running   35, "
            "ready: Runnable  sync.(*Mutex).Lock 1, stopped:    5");
}

}  // namespace slow_spans_test
}  // namespace gotrace::internal
