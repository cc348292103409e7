// What the viewer knows of a whole trace after one pass.
#ifndef GOTRACE_VIEW_OVERVIEW_H_
#define GOTRACE_VIEW_OVERVIEW_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/intervals/start_function.h"
#include "analysis/tasks/task_table.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "parser/event/trace_clock.h"
#include "view/growing_metric.h"
#include "view/lane_columns.h"
#include "view/lane_pieces.h"
#include "view/packed_pieces.h"
#include "view/runnable_counts.h"

namespace gotrace::internal {

// The latest time in a trace that the viewer shows: what a double holds exactly.
inline constexpr int64_t kMaxViewTime = int64_t{1} << 53;

// Members are complete after Finish(). Memory is in proportion to the Ps, to the functions in which
// goroutines started, to the goroutines, and to the intervals that cross from one generation to
// another.
class Overview final : public MergeableAnalysis<Overview> {
 public:
  struct Goroutine {
    GoId id;
    // When it was first and last seen, since the trace's begin.
    int64_t begin = 0;
    int64_t end = 0;
    uint32_t group = 0;
    bool begins = false;  // Whether it was created, and whether it ended, in the trace.
    bool ends = false;
  };
  struct Group {
    StringId start = StringId::kEmpty;  // The function in which its goroutines started.
    uint64_t goroutines = 0;
    GrowingLane lane{LaneColumns::Spans::kNone};
  };
  struct Mark {
    int64_t begin = 0;
    int64_t end = 0;
    StringId name = StringId::kEmpty;
    // Who began it, and where. In AddSoFar() these are not known.
    GoId goroutine = GoId::kNone;
    ProcId proc = ProcId::kNone;
    StackId stack = StackId::kNone;
  };
  // All regions of a type that begin in the trace.
  struct RegionType {
    StringId type = StringId::kEmpty;
    uint64_t count = 0;
    GoId goroutine;  // Of the first one.
    int64_t begin = 0;
  };
  struct LogMessage {
    GoId goroutine;
    int64_t time = 0;
    TaskId task;
    StringId category = StringId::kEmpty;
    StringId message = StringId::kEmpty;
  };
  // How many messages are kept: the first ones.
  static constexpr size_t kMaxLogs = 100'000;

  enum Metric : size_t { kHeap, kGoal, kMaxProcs, kMetrics };

  // Called with an overview before it receives events; `ends_generation` is whether these begin a
  // new generation. What it has then can be given to AddSoFar().
  using Watch = std::function<void(const Overview& overview, bool ends_generation)>;

  explicit Overview(Interner* interner, Watch watch = nullptr);

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void AddThread(const ThreadInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void Merge(Overview&& next, const InternerMap& ids) override;
  void Finish(int64_t end) override;

  // Instead of all of these: adds what `part` has so far, which stays unchanged, in columns that
  // are `times_wider`. Parts come in order of time. Only the lanes, without goroutines, the marks
  // and the metrics are known.
  void AddSoFar(const Overview& part, int64_t times_wider);
  // Call it after the last part. `duration` is that of the trace if it is known, and may be less.
  void FinishSoFar(int64_t duration);

  // Returns the time of the last event, since the trace's begin.
  int64_t last_time() const { return last_time_; }

  // Returns the time of the first event, on the trace's clock, and the time from then to the last.
  int64_t begin() const { return begin_; }
  int64_t duration() const { return duration_; }

  // Returns the width of the columns of all lanes, in nanoseconds.
  int64_t step() const { return step_; }

  const std::map<ProcId, GrowingLane>& procs() const { return procs_; }
  const std::set<ThreadId>& threads() const { return threads_; }

  // Returns the groups: those with the most goroutines first, then in order of their names.
  const std::vector<Group>& groups() const { return groups_; }

  // Returns the goroutines, in order of their ids and begins.
  const std::vector<Goroutine>& goroutines() const { return goroutines_; }

  // Returns the goroutine that has the id at a time, or else one that has it at any time; nullptr
  // if there is none.
  const Goroutine* Find(GoId id, int64_t time) const;

  // Returns the pieces of intervals that cross from one generation to another, or that the trace
  // cuts, in any order, without LanePiece::start and crosses. Times are since the trace's begin.
  const PackedPieces& crossing() const { return crossing_; }

  // Returns the times of the kSync events, since the trace's begin: generation `n` lasts from the
  // time at `n` to the next one.
  const std::vector<int64_t>& syncs() const { return syncs_; }

  // Returns the mark phases of the collector, and the stops of the world, in order of time.
  const std::vector<Mark>& cycles() const { return cycles_; }
  const std::vector<Mark>& stops() const { return stops_; }

  // Returns how many goroutines waited to run.
  const GrowingMetric& runnable() const { return runnable_.counts(); }

  const GrowingMetric& metric(Metric metric) const { return metrics_[metric]; }

  // Returns the types of regions, in order of their first begins, and the messages.
  const std::vector<RegionType>& regions() const { return regions_; }
  const std::vector<LogMessage>& logs() const { return logs_; }

  // Returns the tasks, in order of their ids. Their times are those of the trace's clock.
  const std::vector<TaskRecord>& tasks() const { return tasks_; }

 private:
  struct Data {
    StartFunction start;
    int64_t begin = 0;
    int64_t end = 0;
    bool ends = false;
  };
  using Goroutines = PartialGoroutines<Data>;

  void AddPiece(const LanePiece& piece);
  void AddCrossing(LanePiece piece);
  void AddRange(const RuntimeRange& range);
  void AddRegions(const RegionType& regions);
  // Adds what is pending of a goroutine to the group of its function.
  void AddPending(GoId id, StringId start);
  void Complete(Goroutines::Entry& entry);
  void Append(Goroutines::Entry& rest, Goroutines::Entry* entry);
  GrowingLane& LaneOf(StringId start);
  // Makes groups of the lanes, and sorts the marks. `counts` are the goroutines by their functions.
  void FinishLanes(const absl::flat_hash_map<StringId, uint64_t>& counts);
  void MakeGroups(const absl::flat_hash_map<StringId, uint64_t>& counts);
  int64_t SinceBegin(int64_t time) const {
    return std::clamp<int64_t>(TraceClock::Subtract(time, begin_), 0, kMaxViewTime);
  }

  Interner& interner_;
  const Watch watch_;
  int64_t begin_ = 0;
  int64_t last_time_ = 0;
  int64_t duration_ = 0;
  int64_t step_ = GrowingLane::kFirstStep;
  std::map<ProcId, GrowingLane> procs_;
  std::set<ThreadId> threads_;                        // After Finish() or AddSoFar().
  absl::flat_hash_map<StringId, GrowingLane> lanes_;  // Of the groups, until Finish().
  std::vector<Group> groups_;
  std::vector<Goroutine> goroutines_;
  std::vector<StringId> starts_;  // The functions of goroutines_, until Finish().
  // How many goroutines were seen by their functions, for AddSoFar(). Those that are older than a
  // part are those of the part before.
  absl::flat_hash_map<StringId, uint64_t> seen_;
  // Spans of goroutines whose function is not known yet.
  absl::flat_hash_map<GoId, std::vector<LaneSpan>> pending_;
  PackedPieces crossing_;
  std::vector<int64_t> syncs_;
  std::vector<Mark> cycles_;
  std::vector<Mark> stops_;
  std::array<GrowingMetric, kMetrics> metrics_;
  RunnableCounts runnable_;
  std::vector<RegionType> regions_;
  absl::flat_hash_map<StringId, size_t> places_;  // Of types in `regions_`.
  std::vector<LogMessage> logs_;
  TaskTable task_table_;
  std::vector<TaskRecord> tasks_;

  Goroutines live_{
      [this](Goroutines::Entry& entry) { Complete(entry); },
      [this](Goroutines::Entry& rest, Goroutines::Entry& entry) { Append(rest, &entry); }};
  LanePieces pieces_{&interner_, [this](const LanePiece& piece) { AddPiece(piece); }};
  RangeTracker ranges_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_OVERVIEW_H_
