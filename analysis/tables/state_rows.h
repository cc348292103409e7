// The tables made from the states of goroutines, Ps and threads: `g_states`, `p_states`,
// `m_states`, `goroutines`, `state_hist`, and `regions` and `tasks`, which have times in states.
#ifndef GOTRACE_ANALYSIS_TABLES_STATE_ROWS_H_
#define GOTRACE_ANALYSIS_TABLES_STATE_ROWS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/intervals/sums_by_start.h"
#include "analysis/tables/histogram_rows.h"
#include "analysis/tables/stack_rows.h"
#include "analysis/tables/table_rows.h"
#include "analysis/tasks/region_tracker.h"
#include "analysis/tasks/task_table.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "util/dense_table.h"

namespace gotrace::internal {

// How long a goroutine was in each state.
struct StateTimes {
  int64_t running = 0;
  int64_t runnable = 0;
  int64_t waiting = 0;
  int64_t syscall = 0;
  int64_t stopped_running = 0;  // The parts of `running` and `runnable` in stops of the world.
  int64_t stopped_runnable = 0;

  // Adds a time in the state, and the part of it in stops of the world.
  void Add(GoState state, int64_t time, int64_t stopped);
  void Add(const StateTimes& other);

  // Returns the times that were added since `before`.
  StateTimes Since(const StateTimes& before) const;

  // Sets the columns that have these times.
  template <class Row>
  void FillRow(Row* row) const {
    row->running_ns = running;
    row->runnable_ns = runnable;
    row->waiting_ns = waiting;
    row->syscall_ns = syscall;
    row->stopped_running_ns = stopped_running;
    row->stopped_runnable_ns = stopped_runnable;
  }
};

class StateRows final : public IntervalConsumer {
 public:
  // The objects must outlive this one.
  StateRows(Interner* interner, StackRows* stacks, TableOutput* output);

  // Returns whether one of the tables is wanted, so that events are needed.
  bool is_needed() const { return is_needed_; }

  // Processes the next event, and adds the rows of everything that it ends.
  void Add(const Event& event);

  // Adds the rows of everything that is open. `end` is the end of the trace.
  void Finish(int64_t end);

 private:
  // A state of goroutines, as state_hist counts it.
  struct HistogramTraits {
    struct Key {
      StringId start = StringId::kEmpty;
      GoState state = GoState::kUndetermined;
      StringId reason = StringId::kEmpty;
      int bucket = 0;

      friend bool operator==(const Key&, const Key&) = default;

      template <class H>
      friend H AbslHashValue(H h, const Key& key) {
        return H::combine(std::move(h), key.start, key.state, key.reason, key.bucket);
      }
    };
    using Value = BucketSums;

    template <class T>
    static void AddTo(const T& value, Value* sum) {
      sum->Add(value);
    }
  };

  struct RegionStart {
    StateTimes times;  // The goroutine's times when it began.
    std::optional<int64_t> stack_id;
  };
  using Regions = RegionTracker<RegionStart>;

  struct Goroutine {
    GoId id;
    GoroutinesRow row;
    bool is_seen = false;  // Whether there was an interval.
    StateTimes times;      // Of the intervals.
    int64_t since = 0;     // The end of the last interval, or the begin of the first one.
    int64_t stopped = 0;   // How long it had stopped the world since then.
    StackId last_stack = StackId::kNone;
    Regions regions;
  };

  void AddGoroutine(const GoInterval& interval) override;
  void AddProc(const ProcInterval& interval) override;
  void AddThread(const ThreadInterval& interval) override;

  // Sets a new value of GOMAXPROCS.
  void SetProcLimit(uint64_t limit, int64_t time);

  // Adds the rows of the idle Ps from `first` up to `end`, which no longer exist. Rows are sorted
  // by their ends, so this cannot wait until a P runs again, or is named at all.
  void AddGoneProcs(uint64_t first, uint64_t end, int64_t time);

  // Returns the time since which the P exists; nullopt if GOMAXPROCS is too small for it.
  std::optional<int64_t> ExistsSince(ProcId proc) const;

  // Adds up how long goroutines stop the world.
  void TrackStop(const Event& event);

  // Keeps track of which Ps are idle.
  void TrackIdleProc(const Event& event);

  void AddGStatesRow(const GoInterval& interval);
  void AddGoroutinesRow(const Goroutine& goroutine);
  void CountState(const GoInterval& interval);

  Goroutine& Of(GoId id);

  // Ends the previous goroutine with the id of a new one, if there is one: the event that ended it
  // is missing.
  void EndUnseen(GoId id);

  // Returns the goroutine's times up to `now`, at which it runs.
  static StateTimes TimesNow(const Goroutine& goroutine, int64_t now);

  void BeginRegion(const Event& event);
  void EndRegion(const Event& event);
  // Adds the row of a region that ended, when its goroutine had these times.
  void AddRegionsRow(const Regions::Region& region, const Goroutine& goroutine,
                     const StateTimes& times, int64_t flags,
                     std::optional<int64_t> end_stack_id = std::nullopt);
  void CloseRegions(int64_t end, int64_t flags, Goroutine* goroutine);

  void AddTasksRows(int64_t end);
  void AddHistograms();

  Interner& interner_;
  StackRows& stacks_;
  TableOutput& output_;
  const bool has_tasks_;
  const bool has_regions_;
  const bool has_goroutines_;
  const bool is_needed_;
  StateTracker tracker_;

  const Event* event_ = nullptr;  // The event that ends the intervals passed by the tracker.
  std::optional<int64_t> begin_;  // Of the trace.
  DenseTable<Goroutine> goroutines_{kSlotsForGoroutines};
  GoId stopper_ = GoId::kNone;  // The goroutine that has stopped the world, if one has,
  int64_t stop_begin_ = 0;      // and since when.
  SumsByStart<HistogramTraits> states_;
  TaskTable tasks_;
  absl::flat_hash_map<TaskId, StateTimes> task_times_;

  // The values of GOMAXPROCS that matter: Ps with ids from the previous element's `procs` up to
  // this one's exist since `since`.
  struct ProcLimit {
    int64_t since = 0;
    uint64_t procs = 0;
  };
  std::vector<ProcLimit> proc_limits_;
  // The current state of a P. A P that no event has named is idle.
  struct ProcNow {
    bool is_running = false;
    std::optional<int64_t> idle_since;  // nullopt: since the beginning.
    int cuts = 0;                       // How often the P ceased to exist while it was idle.
  };
  std::map<ProcId, ProcNow> procs_;

  NamedBuckets task_histogram_;
  NamedBuckets region_histogram_;

  // The names of states and causes.
  std::vector<StringId> go_states_;
  std::vector<StringId> proc_states_;
  std::vector<StringId> thread_states_;
  std::vector<StringId> causes_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_STATE_ROWS_H_
