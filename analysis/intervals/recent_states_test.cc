#include "analysis/intervals/recent_states.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "analysis/core/built_events.h"
#include "gotrace/analysis.h"
#include "gotrace/critical_path.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace recent_states_test {

// A piece of a path.
struct Piece {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t goroutine = 0;
  std::string state = {};
  std::string details = {};
  bool is_sure = false;  // Whether its details are as they were when the state began.
};

// A state from the status in which the trace begins has no reason.
// CriticalPaths may cut runs, and waits for a P, into more pieces.
template <class AnyPiece>
Piece PieceOf(const AnyPiece& piece, const Interner& interner) {
  Piece result;
  result.begin = piece.begin;
  result.end = piece.end;
  result.goroutine = piece.goroutine.value;
  result.state = std::string(GoStateName(piece.state));
  result.is_sure = piece.state == GoState::kWaiting && piece.reason != StringId::kEmpty;
  if (piece.reason != StringId::kEmpty) {
    result.details = absl::StrCat(" (", interner.String(piece.reason), ")");
  }
  if (!interner.Frames(piece.stack).empty()) {
    absl::StrAppend(&result.details, " at ",
                    interner.Frame(interner.Frames(piece.stack).front()).func);
  }
  return result;
}

// Appends a piece that follows in time, or adds it to the last one if it is of the same state.
void Append(Piece piece, std::vector<Piece>* pieces) {
  if (!pieces->empty() && pieces->back().goroutine == piece.goroutine &&
      pieces->back().state == piece.state && pieces->back().end == piece.begin) {
    piece.begin = pieces->back().begin;
    pieces->back() = std::move(piece);
  } else {
    pieces->push_back(std::move(piece));
  }
}

std::vector<std::string> Lines(absl::Span<const Piece> pieces) {
  std::vector<std::string> lines;
  for (const Piece& piece : pieces) {
    lines.push_back(absl::StrCat(piece.begin, "-", piece.end, " G", piece.goroutine, " ",
                                 piece.state, piece.details));
  }
  return lines;
}

// Follows every wait as soon as it ends.
class Walks final : public EventSink {
 public:
  struct Walk {
    RecentStates::Wait wait;
    std::vector<Piece> pieces;  // In order of time.
  };

  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) {
      const std::optional<RecentStates::Wait> wait = states_.Add(event);
      if (!wait.has_value()) continue;
      std::vector<RecentStates::Piece> found;
      states_.Walk(*wait, from_, RecentStates::kMaxSteps, [&](const RecentStates::Piece& piece) {
        EXPECT_LT(piece.begin, piece.end);
        EXPECT_GE(piece.begin, wait->begin);
        EXPECT_LE(piece.end, found.empty() ? wait->end : found.back().begin);
        found.push_back(piece);
      });
      steps_ += found.size();
      Walk& walk = walks_.emplace_back();
      walk.wait = *wait;
      for (auto piece = found.rbegin(); piece != found.rend(); ++piece) {
        piece->reason = states_.Resolve(piece->reason);
        piece->stack = states_.Resolve(piece->stack);
        Append(PieceOf(*piece, interner_), &walk.pieces);
      }
    }
  }

  void SetFrom(int64_t from) { from_ = from; }
  absl::Span<const Walk> walks() const { return walks_; }
  size_t steps() const { return steps_; }

 private:
  Interner interner_;
  RecentStates states_{&interner_};
  int64_t from_ = INT64_MIN;
  std::vector<Walk> walks_;
  size_t steps_ = 0;
};

// What is followed at once is the same as what is followed when all states are known.
TEST(RecentStates, LeadWhereCriticalPathsLead) {
  size_t complete = 0;
  size_t all = 0;
  size_t same_runs = 0;
  size_t runs = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    Walks walks;
    AnalysisSink sink(
        [](Interner* interner) {
          return std::make_unique<CriticalPaths>(interner, CriticalPaths::Options());
        },
        {});
    ASSERT_TRUE(ReadInto(*reader, {&walks, &sink}).ok());
    const auto& paths = static_cast<const CriticalPaths&>(sink.analysis());
    // A long path takes its time.
    const size_t step = walks.walks().size() / 2000 + 1;
    for (size_t i = 0; i < walks.walks().size(); i += step) {
      Walks::Walk walk = walks.walks()[i];
      PathSpan span;
      span.goroutine = walk.wait.goroutine;
      span.begin = walk.wait.begin;
      span.end = walk.wait.end;
      std::vector<Piece> expected;
      for (const PathPiece& piece : paths.Find(span)) {
        if (piece.state == GoState::kUndetermined) continue;
        Append(PieceOf(piece, sink.interner()), &expected);
      }
      ASSERT_LE(walk.pieces.size(), expected.size())
          << "G" << span.goroutine.value << " " << span.begin << "-" << span.end;
      const bool is_complete = walk.pieces.size() == expected.size();
      expected.erase(expected.begin(), expected.end() - static_cast<int64_t>(walk.pieces.size()));
      for (size_t p = 0; p < expected.size(); ++p) {
        Piece& piece = walk.pieces[p];
        if (piece.state == "Running" && !absl::StrContains(expected[p].details, "world stopped")) {
          same_runs += piece.details == expected[p].details ? 1 : 0;
          ++runs;
        }
        if (!piece.is_sure) piece.details = expected[p].details = "";
      }
      ASSERT_EQ(Lines(walk.pieces), Lines(expected)) << "G" << span.goroutine.value;
      complete += is_complete ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GT(all, 1000);
  EXPECT_GT(complete, all * 9 / 10);
  // Where the goroutine was when the run ended. CriticalPaths name a stop of the world instead.
  EXPECT_GT(runs, 1000);
  EXPECT_GT(same_runs, runs * 99 / 100);
}

// Goroutines that run whenever they do not wait.
class Program {
 public:
  explicit Program(int64_t goroutines) {
    events_.Sync(0, 1);
    for (int64_t g = 1; g <= goroutines; ++g) {
      events_.Go(EventType::kGoStatus, 0, g, g, GoState::kUndetermined, GoState::kRunning);
    }
  }

  void Wait(int64_t time, int64_t g, absl::string_view reason = "sync") {
    events_.Go(EventType::kGoBlock, time, g, g, GoState::kRunning, GoState::kWaiting, reason);
  }
  // `by`, which started in `start` if that is not "", wakes a goroutine.
  void Wake(int64_t time, int64_t g, int64_t by, absl::string_view start = "") {
    std::vector<StackFrame> stack;
    if (!start.empty()) stack.push_back({1, start, "", 1});
    events_.Push(events_.Builder(EventType::kGoUnblock, time, 0, by)
                     .Transition(GoId{g}, GoState::kWaiting, GoState::kRunnable)
                     .Stack(stack));
  }
  void Start(int64_t time, int64_t g) {
    events_.Go(EventType::kGoStart, time, g, g, GoState::kRunnable, GoState::kRunning);
  }
  void Create(int64_t time, int64_t g, int64_t by) {
    events_.GoBy(by, EventType::kGoCreate, time, 0, g, GoState::kNotExist, GoState::kRunnable);
  }
  void Assist(EventType type, int64_t time, int64_t g) {
    events_.Push(events_.Builder(type, time, g, g));
  }
  // A new generation, in which a goroutine is in the state.
  void Next(int64_t time, uint64_t n) { events_.Sync(time, n); }
  void Is(int64_t time, int64_t g, GoState state) {
    events_.Go(EventType::kGoStatus, time, g, g, state, state);
  }

  // The pieces of the last walk.
  std::string LastPath(int64_t from = INT64_MIN) const {
    Walks walks;
    walks.SetFrom(from);
    walks.Add(events_.events());
    if (walks.walks().empty()) return "no waits";
    return absl::StrJoin(Lines(walks.walks().back().pieces), "\n");
  }

  absl::Span<const Event> events() const { return events_.events(); }

 private:
  BuiltEvents events_;
};

// G 1 has a lock and sleeps. G 2 gets it, and gives it to G 3 at once: G 3 waited for G 1.
TEST(RecentStates, NameWhoKeptAllWaiting) {
  Program program(3);
  program.Wait(10, 2);
  program.Wait(20, 3);
  program.Wait(30, 1, "sleep");
  program.Wake(80, 1, -1);
  program.Start(85, 1);
  program.Wake(90, 2, 1);
  program.Start(92, 2);
  program.Wake(95, 3, 2);
  const std::string path =
      "20-30 G1 Running\n"
      "30-80 G1 Waiting (sleep)\n"
      "80-85 G1 Runnable\n"
      "85-90 G1 Running\n"
      "90-92 G2 Runnable\n"
      "92-95 G2 Running";
  EXPECT_EQ(program.LastPath(), path);
  EXPECT_EQ(program.LastPath(/*from=*/87), "87-90 G1 Running\n90-92 G2 Runnable\n92-95 G2 Running");
}

TEST(RecentStates, KnowMarkAssists) {
  Program program(2);
  program.Wait(10, 2);
  program.Assist(EventType::kGCMarkAssistBegin, 30, 1);
  program.Assist(EventType::kGCMarkAssistEnd, 50, 1);
  program.Assist(EventType::kGCMarkAssistBegin, 60, 1);
  program.Wake(70, 2, 1);
  EXPECT_EQ(program.LastPath(), "10-70 G1 Running (GC mark assist)");
  Walks walks;
  walks.Add(program.events());
  ASSERT_EQ(walks.walks().size(), 1);
  EXPECT_EQ(walks.steps(), 4);
}

// G 2 waited for G 1 only for a while.
TEST(RecentStates, ReturnToWhoWaited) {
  Program program(3);
  program.Wait(10, 3);
  program.Wait(20, 2);
  program.Wake(50, 2, 1);
  program.Start(60, 2);
  program.Wake(70, 3, 2);
  EXPECT_EQ(program.LastPath(),
            "10-20 G2 Running\n20-50 G1 Running\n50-60 G2 Runnable\n60-70 G2 Running");
}

// G 3 reads the answers of a connection. G 2 waits for one, and keeps G 1 waiting.
TEST(RecentStates, StayWithWhoWaitsForTheNetwork) {
  Program program(3);
  program.Wait(10, 1);
  program.Wait(20, 3, "network");
  program.Wait(30, 2, "select");
  program.Wake(40, 3, -1);
  program.Start(45, 3);
  program.Wake(50, 2, 3, "net/http.(*persistConn).readLoop");
  program.Start(55, 2);
  program.Wake(60, 1, 2);
  EXPECT_EQ(program.LastPath(),
            "10-30 G2 Running\n30-50 G2 Waiting (select)\n50-55 G2 Runnable\n55-60 G2 Running");
}

TEST(RecentStates, ContinueWithTheCreator) {
  Program program(2);
  program.Wait(10, 1, "chan receive");
  program.Create(20, 8, 2);
  program.Start(25, 8);
  program.Wake(40, 1, 8);
  EXPECT_EQ(program.LastPath(), "10-20 G2 Running\n20-25 G8 Runnable\n25-40 G8 Running");
}

// A wait that crosses the border is followed as far as the generation goes in which it ends, and so
// is every goroutine.
TEST(RecentStates, EndWhereTheGenerationBegins) {
  Program program(2);
  program.Wait(10, 1);
  program.Wait(20, 2, "sleep");
  program.Next(100, 2);
  program.Is(101, 1, GoState::kWaiting);
  program.Is(101, 2, GoState::kWaiting);
  program.Wake(130, 2, -1);
  program.Start(140, 2);
  program.Wake(150, 1, 2);
  EXPECT_EQ(program.LastPath(),
            "100-130 G2 Waiting (sleep)\n130-140 G2 Runnable\n140-150 G2 Running");
}

TEST(RecentStates, FollowNoGoroutineThatWaitedItself) {
  Program program(3);
  program.Wait(10, 1);
  program.Wait(20, 2);
  program.Wake(30, 1, 2);
  EXPECT_EQ(program.LastPath(), "no waits");
}

// Each of many goroutines waits for all that came before it. To follow each path to its end would
// take time in proportion to the square of their number.
TEST(RecentStates, TakeTimeInProportionToTheEvents) {
  constexpr int64_t kGoroutines = 3000;
  Program program(kGoroutines);
  int64_t time = 10;
  for (int64_t g = 2; g <= kGoroutines; ++g) program.Wait(++time, g);
  for (int round = 0; round < 3; ++round) {
    for (int64_t g = 1; g <= kGoroutines; ++g) {
      const int64_t next = g % kGoroutines + 1;
      program.Wake(++time, next, g);
      program.Start(++time, next);
      program.Wait(++time, g);
    }
  }
  Walks walks;
  walks.Add(program.events());
  EXPECT_EQ(walks.walks().size(), static_cast<size_t>(3 * kGoroutines));
  EXPECT_LE(walks.steps(), 16 * program.events().size() + 4096);
  EXPECT_GT(walks.steps(), program.events().size());
}

}  // namespace recent_states_test
}  // namespace gotrace::internal
