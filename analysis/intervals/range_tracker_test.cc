#include "analysis/intervals/range_tracker.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/core/built_events.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace range_tracker_test {

using Crossing = RangeTracker::Crossing;

constexpr EventType kAll[] = {EventType::kSTWBegin, EventType::kGCBegin, EventType::kGCSweepBegin,
                              EventType::kGCMarkAssistBegin};

// A range with texts in place of ids.
struct Found : Interval {
  bool HasOnlyEnd() const { return begin_clipped && begin == end; }

  std::string what;  // All but the interval and the bytes.
  std::string bytes;

  std::string Text() const {
    return absl::StrCat(what, " ", begin, begin_clipped ? "?" : "", "-", end,
                        end_clipped ? "?" : "", bytes);
  }
};

// Tracks the ranges of a part of a trace.
class Part {
 public:
  explicit Part(Crossing crossing)
      : tracker_(&interner_, crossing, kAll, [this](const RuntimeRange& range) { Take(range); }) {}

  void Add(const Event& event) { tracker_.Add(event); }

  void Merge(Part& next) {
    tracker_.Merge(next.tracker_, interner_.Merge(next.interner_));
    found_.insert(found_.end(), next.found_.begin(), next.found_.end());
  }

  std::vector<Found> Finish(int64_t end) {
    tracker_.Finish(end);
    return std::move(found_);
  }

  RangeTracker& tracker() { return tracker_; }
  const Interner& interner() const { return interner_; }

 private:
  void Take(const RuntimeRange& range) {
    Found& found = found_.emplace_back();
    static_cast<Interval&>(found) = range;
    found.what = absl::StrCat(interner_.String(range.name), ",", interner_.String(range.reason),
                              " of ", ResourceKindName(range.scope.kind), " ", range.scope.id);
    absl::StrAppend(&found.what, ": G ", range.goroutine.value, ", P ", range.proc.value, ", M ",
                    range.thread.value, ", ", interner_.RootFunction(range.stack));
    if (range.swept_bytes != 0) {
      found.bytes = absl::StrCat(", ", range.swept_bytes, " of ", range.reclaimed_bytes, " bytes");
    }
  }

  Interner interner_;
  std::vector<Found> found_;
  RangeTracker tracker_;
};

std::string TextOf(std::vector<Found> ranges) {
  std::vector<std::string> lines;
  for (const Found& range : ranges) lines.push_back(range.Text());
  std::sort(lines.begin(), lines.end());
  return absl::StrJoin(lines, "\n");
}

// Puts the pieces of each range together, and leaves out ends without a begin.
std::string TextOfPieces(std::vector<Found> pieces) {
  const auto scope_of = [](const Found& piece) {
    return piece.what.substr(0, piece.what.find(':'));
  };
  const auto key = [&](const Found& piece) {
    return std::tuple(scope_of(piece), piece.begin, piece.end);
  };
  std::sort(pieces.begin(), pieces.end(),
            [&](const Found& a, const Found& b) { return key(a) < key(b); });
  std::vector<Found> whole;
  for (Found& piece : pieces) {
    const bool continues = !whole.empty() && piece.begin_clipped &&
                           scope_of(whole.back()) == scope_of(piece) &&
                           whole.back().end == piece.begin;
    if (!continues) {
      whole.push_back(std::move(piece));
      continue;
    }
    whole.back().end = piece.end;
    whole.back().end_clipped = piece.end_clipped;
    whole.back().bytes = piece.bytes;
  }
  whole.erase(std::remove_if(whole.begin(), whole.end(),
                             [](const Found& range) { return range.HasOnlyEnd(); }),
              whole.end());
  return TextOf(whole);
}

// Reads events in parts that end before generations, of which `cuts` says whether to cut there.
template <class Cuts>
std::vector<Found> ReadInParts(absl::Span<const Event> events, Crossing crossing, Cuts cuts) {
  std::vector<std::unique_ptr<Part>> parts;
  int64_t end = 0;
  for (const Event& event : events) {
    if (parts.empty() || (event.kind() == EventKind::kSync && cuts())) {
      parts.push_back(std::make_unique<Part>(crossing));
    }
    parts.back()->Add(event);
    end = std::max(end, event.time());
  }
  for (size_t i = 1; i < parts.size(); ++i) parts[0]->Merge(*parts[i]);
  return parts[0]->Finish(end);
}

std::vector<Found> ReadWhole(absl::Span<const Event> events, Crossing crossing) {
  return ReadInParts(events, crossing, [] { return false; });
}

// Which events a trace lacks, although what they are about happened.
struct Losses {
  bool begins = false;
  bool ends = false;
  bool statements = false;
};

// The names of the types of events that state and end ranges, and of the ranges.
struct RangeRow {
  EventType begin;
  EventType active;
  EventType end;
  absl::string_view what;
};
constexpr RangeRow kRows[] = {
    {EventType::kSTWBegin, EventType::kNone, EventType::kSTWEnd, "stop-the-world"},
    {EventType::kGCBegin, EventType::kGCActive, EventType::kGCEnd, "GC concurrent mark phase"},
    {EventType::kGCSweepBegin, EventType::kGCSweepActive, EventType::kGCSweepEnd,
     "GC incremental sweep"},
    {EventType::kGCMarkAssistBegin, EventType::kGCMarkAssistActive, EventType::kGCMarkAssistEnd,
     "GC mark assist"},
};

// Events of a program in which goroutines and Ps are in ranges at random.
class RandomProgram {
 public:
  RandomProgram(uint32_t seed, const Losses& losses) : losses_(losses), random_(seed) {
    for (int64_t id = 0; id < 3; ++id) {
      for (const RangeRow& row : kRows) {
        if (row.begin == EventType::kGCBegin && id > 0) continue;
        State& state = states_.emplace_back();
        state.row = &row;
        state.is_proc = row.begin == EventType::kGCSweepBegin;
        state.id = row.begin == EventType::kGCBegin ? -1 : id;
        // Nothing states a stop that is open when the trace begins.
        if (row.active != EventType::kNone && Below(2) == 0) Open(&state, 0);
      }
    }
    for (uint64_t generation = 1; generation <= 6; ++generation) AddGeneration(generation);
    for (State& state : states_) {
      if (state.is_open) Close(&state)->end_clipped = true;
    }
  }

  absl::Span<const Event> events() const { return events_.events(); }

  // The ranges that there were, as far as events can say. Only if none is lost.
  const std::vector<Found>& ranges() const { return ranges_; }

 private:
  struct State {
    const RangeRow* row = nullptr;
    bool is_proc = false;
    int64_t id = 0;
    bool is_open = false;
    Found range;
    uint64_t generation = 0;  // In which it began; 0 if before the trace.
    int64_t goroutine = -1;
    absl::string_view reason;
  };

  uint32_t Below(size_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool IsLost(bool may_be_lost) { return may_be_lost && Below(4) == 0; }

  void Open(State* state, uint64_t generation) {
    const bool is_stop = state->row->begin == EventType::kSTWBegin;
    state->is_open = true;
    state->generation = generation;
    state->goroutine = state->is_proc || state->id < 0 ? Below(3) : state->id;
    state->reason = !is_stop ? "" : Below(2) == 0 ? "start" : "GC";
    state->range = {};
    state->range.begin = time_;
    state->range.begin_clipped = generation == 0;
    state->range.what = absl::StrCat(
        state->row->what, is_stop ? absl::StrCat(" (", state->reason, ")") : "", ",", state->reason,
        " of ",
        ResourceKindName(state->is_proc  ? ResourceKind::kProc
                         : state->id < 0 ? ResourceKind::kNone
                                         : ResourceKind::kGoroutine),
        " ", state->id, ": G ", state->goroutine, ", P ", generation == 0 ? -1 : ProcOf(*state),
        ", M ", generation == 0 ? -1 : 1, ", ", generation == 0 ? "" : "main.f");
  }

  Found* Close(State* state) {
    state->is_open = false;
    state->range.end = time_;
    return &ranges_.emplace_back(state->range);
  }

  static int64_t ProcOf(const State& state) { return state.is_proc ? state.id : 5; }

  void AddGeneration(uint64_t generation) {
    const int64_t begin = ++time_;
    events_.Sync(begin, generation);
    for (State& state : states_) {
      if (!state.is_open) continue;
      if (generation == 1) state.range.begin = begin;
      if (state.row->active == EventType::kNone || IsLost(losses_.statements)) continue;
      events_.Push(events_.Builder(state.row->active, ++time_, 7, state.goroutine)
                       .Arg(0, static_cast<uint64_t>(state.id)));
    }
    for (uint32_t count = Below(16); count > 0; --count) {
      State& state = states_[Below(states_.size())];
      ++time_;
      const bool is_end = state.is_open;
      if (is_end) {
        Found* const range = Close(&state);
        if (state.is_proc) range->bytes = absl::StrCat(", ", time_, " of 1 bytes");
      } else {
        Open(&state, generation);
      }
      if (IsLost(is_end ? losses_.ends : losses_.begins)) continue;
      EventBuilder builder = events_.Builder(is_end ? state.row->end : state.row->begin, time_,
                                             ProcOf(state), state.goroutine);
      if (is_end) {
        // In a later generation the id of the reason is that of another text.
        builder.Reason(state.generation == generation ? state.reason : "other");
        if (state.is_proc) builder.Arg(0, static_cast<uint64_t>(time_)).Arg(1, 1);
      } else {
        const StackFrame frame = {1, "main.f", "f.go", 1};
        builder.Reason(state.reason).Stack({&frame, 1});
      }
      events_.Push(builder);
    }
  }

  const Losses losses_;
  std::mt19937 random_;
  int64_t time_ = 0;
  std::vector<State> states_;
  BuiltEvents events_;
  std::vector<Found> ranges_;
};

constexpr uint32_t kPrograms = 300;

TEST(RangeTracker, FindsTheRangesThatThereWere) {
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed, {});
    const std::string expected = TextOf(program.ranges());
    ASSERT_EQ(TextOf(ReadWhole(program.events(), Crossing::kWhole)), expected);
    ASSERT_EQ(TextOf(ReadWhole(program.events(), Crossing::kPieces)), expected);
  }
}

TEST(RangeTracker, FindsTheSameHoweverTheTraceIsCut) {
  std::mt19937 random(1);
  const auto at_random = [&] { return random() % 2 == 0; };
  for (const Losses& losses : {Losses(), Losses{.begins = true}, Losses{.statements = true},
                               Losses{.begins = true, .statements = true}}) {
    for (uint32_t seed = 0; seed < kPrograms; ++seed) {
      SCOPED_TRACE(seed);
      const RandomProgram program(seed, losses);
      const absl::Span<const Event> events = program.events();
      ASSERT_EQ(TextOf(ReadInParts(events, Crossing::kWhole, at_random)),
                TextOf(ReadWhole(events, Crossing::kWhole)));
      ASSERT_EQ(TextOfPieces(ReadInParts(events, Crossing::kPieces, at_random)),
                TextOfPieces(ReadWhole(events, Crossing::kPieces)));
    }
  }
}

// If the end of a range is lost, the next begin of such a range says so. In a part of several
// generations it is remembered only if it is in the first, since others cannot matter in a sound
// trace.
TEST(RangeTracker, LosesTheSameRangesInPartsOfOneGeneration) {
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed, {.begins = true, .ends = true, .statements = true});
    const auto always = [] { return true; };
    ASSERT_EQ(TextOf(ReadInParts(program.events(), Crossing::kWhole, always)),
              TextOf(ReadWhole(program.events(), Crossing::kWhole)));
  }
}

TEST(RangeTracker, FindsTheSameInPartsOfRealTraces) {
  std::mt19937 random(1);
  const auto at_random = [&] { return random() % 2 == 0; };
  size_t ranges = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    for (const Crossing crossing : {Crossing::kWhole, Crossing::kPieces}) {
      absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
      ASSERT_TRUE(reader.ok());
      Part whole(crossing);
      std::vector<std::unique_ptr<Part>> parts;
      int64_t end = 0;
      while (const Event* event = reader->Next()) {
        if (parts.empty() || (event->kind() == EventKind::kSync && at_random())) {
          parts.push_back(std::make_unique<Part>(crossing));
        }
        parts.back()->Add(*event);
        whole.Add(*event);
        end = event->time();
      }
      for (size_t i = 1; i < parts.size(); ++i) parts[0]->Merge(*parts[i]);
      const std::vector<Found> expected = whole.Finish(end);
      ranges += expected.size();
      const auto text_of = crossing == Crossing::kWhole ? TextOf : TextOfPieces;
      ASSERT_EQ(text_of(parts[0]->Finish(end)), text_of(expected));
    }
  }
  EXPECT_GT(ranges, 1000u);
}

TEST(RangeTracker, GivesOpenRangesToTheirGoroutines) {
  BuiltEvents events;
  events.Sync(10, 1);
  events.Push(events.Builder(EventType::kGCMarkAssistActive, 20).Arg(0, 1));
  events.Push(events.Builder(EventType::kGCSweepBegin, 30, 2, 1));
  events.Push(events.Builder(EventType::kSTWBegin, 40, 2, 1).Reason("GC"));
  events.Push(events.Builder(EventType::kSTWBegin, 50, 2, 1).Reason("start"));
  events.Push(events.Builder(EventType::kGCMarkAssistBegin, 60, 3, 2));
  events.Push(events.Builder(EventType::kGCSweepEnd, 70, 2, 9));
  events.Push(events.Builder(EventType::kSTWEnd, 80, 2, 1).Reason("start"));
  Part part(Crossing::kPieces);
  for (const Event& event : events.events()) part.Add(event);
  const auto open = [&](int64_t goroutine) {
    std::vector<std::string> found;
    part.tracker().ForEachOpen(GoId{goroutine}, [&](const RuntimeRange& range) {
      found.push_back(absl::StrCat(part.interner().String(range.name), " ", range.begin));
    });
    std::sort(found.begin(), found.end());
    return absl::StrJoin(found, ", ");
  };
  EXPECT_EQ(open(1), "GC mark assist 10, stop-the-world (GC) 40");
  EXPECT_EQ(open(2), "GC mark assist 60");
  EXPECT_EQ(open(9), "");
}

}  // namespace range_tracker_test
}  // namespace gotrace::internal
