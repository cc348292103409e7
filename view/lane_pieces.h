// Turns the intervals of a trace, or of a part of it, into pieces of the timeline's lanes.
#ifndef GOTRACE_VIEW_LANE_PIECES_H_
#define GOTRACE_VIEW_LANE_PIECES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/intervals/assist_parts.h"
#include "analysis/intervals/mark_workers.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "view/lane_state.h"

namespace gotrace::internal {

// A stretch of time in which a goroutine is in one state, with its P and thread, or in which a P
// and thread have no goroutine. Times are those of the trace clock.
struct LanePiece {
  int64_t begin = 0;
  int64_t end = 0;
  // The time until which the P has it: `end`, or earlier if the goroutine lost its P in a syscall.
  int64_t proc_until = 0;
  GoId goroutine = GoId::kNone;
  ProcId proc = ProcId::kNone;        // kNone if it is in no lane of a P.
  ThreadId thread = ThreadId::kNone;  // kNone if it is in no lane of a thread.
  StringId start = StringId::kEmpty;  // The function in which the goroutine started, if known.
  StringId reason = StringId::kEmpty;
  LaneState state = LaneState::kIdle;
  // Whether it belongs to an interval that crosses from one generation to another, or that the
  // begin or end of the trace, or missing events, cut off. What a generation alone says about such
  // intervals is not complete.
  bool crosses = false;
};

// Intervals of goroutines become pieces: a run is cut where a mark assist begins and ends. The
// lanes of goroutines have all pieces of the goroutine, those of threads what they run, and those
// of Ps what they run until they lose it. So sums of pieces are those of StateTracker and
// ProcStats.
class LanePieces {
 public:
  using Take = std::function<void(const LanePiece& piece)>;

  // `*interner` must outlive this object.
  LanePieces(Interner* interner, Take take)
      : network_(interner->InternString("network")), take_(std::move(take)) {}

  // Call it with all events, before the intervals that they end.
  void AddEvents(absl::Span<const Event> events);

  // Adds an interval of a goroutine that started in `start`, which is kEmpty if that is not known.
  void AddGoroutine(const GoInterval& interval, StringId start);
  void AddThread(const ThreadInterval& interval);

  // Appends the pieces of `next`, which received the part of the trace that follows, and did not
  // give them to its own function yet. The tracker must be merged already.
  void Merge(LanePieces& next);

  // Gives what was held back. Call it after the last interval.
  void Finish();

  // Returns the last interval of each thread.
  const absl::flat_hash_map<ThreadId, ThreadInterval>& threads() const { return last_; }

 private:
  struct Run {
    GoInterval interval;
    StringId start = StringId::kEmpty;
  };
  struct ThreadRun {
    ThreadInterval interval;
    std::optional<ThreadInterval> before;
  };
  struct Part {
    int64_t run_begin = 0;  // The begin of the interval that it belongs to.
    int64_t begin = 0;
    int64_t end = 0;
  };

  // The begin of a generation, and the earliest time of an event in it: events are later than
  // those before, but the first one may have the time of the begin.
  struct Generation {
    int64_t begin = 0;
    int64_t first_event = 0;
  };

  // Whether the interval and the event that ended it are not in the same generation. The same for
  // the whole trace, parts of it, and a generation alone, whenever the tracker gives the interval.
  bool Crosses(const Interval& interval) const;
  void Give(const Run& run);
  void GiveThread(const ThreadRun& run);
  void GiveThreadNow(const ThreadRun& run);
  LaneState StateOf(const GoInterval& interval);

  const StringId network_;
  const Take take_;
  int64_t last_event_ = std::numeric_limits<int64_t>::min();
  std::vector<Generation> generations_;  // In order.

  MarkWorkers workers_;
  // The parts of the interval that is being given, or of those in `crossing_`, that are in an
  // assist.
  absl::flat_hash_map<GoId, std::vector<Part>> assist_parts_;
  AssistParts assists_{[this](const GoInterval& interval, int64_t begin, int64_t end) {
    assist_parts_[interval.goroutine].push_back({interval.begin, begin, end});
  }};

  // Intervals that cross into the next part of the trace, or are in it.
  std::vector<Run> crossing_;
  std::vector<ThreadRun> crossing_threads_;

  // The last interval of each thread, and the first one as long as the one before may be in an
  // earlier part of the trace.
  absl::flat_hash_map<ThreadId, ThreadInterval> last_;
  absl::flat_hash_map<ThreadId, ThreadInterval> first_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_LANE_PIECES_H_
