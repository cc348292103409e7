// The state of a Go program while the events of its trace pass, for exporters and other viewers:
// what its goroutines do, which slices and tasks are open, what its counters show, and what of this
// is in a window of time. What is left for a format is to write it.
//
// Before the window, events only change the state. With the first event of the window, the delegate
// shows what is current; from then on it is called with each change. Events after the window change
// nothing, but until the end of its last generation, first statuses, and ranges that are stated to
// be active, still say what was so in it.
#ifndef GOTRACE_EXPORT_PROGRAM_VIEW_H_
#define GOTRACE_EXPORT_PROGRAM_VIEW_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "export/counters.h"
#include "export/open_slices.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"
#include "util/dense_table.h"

namespace gotrace::internal {

struct ViewGoroutine;

// What slices belong to: a goroutine, a P, or the program.
struct ViewTrack {
  ResourceId scope;
  ViewGoroutine* goroutine = nullptr;  // If the scope is one.
  OpenSlices slices;
};

struct ViewGoroutine {
  GoId id;
  GoState state = GoState::kUndetermined;  // Until an event says what it does.
  int64_t since = 0;                       // When the state began, or that of the window.
  StringId name = StringId::kEmpty;        // The function that it started in, once that is known.
  ProcId proc;                             // kRunning: where, if that is known.
  bool is_old = false;                     // Whether it existed before the events that were read.
  bool is_selected = false;  // Whether the filter selects the event that began the state.
  bool is_declared = false;  // For the delegate: whether the output has it,
  bool is_named = false;     // and its name.
  ViewTrack track;
};

struct ViewTask {
  TaskId id;
  TaskId parent = {};
  StringId type = StringId::kEmpty;
  StackId stack = StackId::kNone;
  int64_t begin = 0;         // When it began, or the window.
  GoId goroutine = {};       // The one that began it.
  bool is_selected = false;  // Whether the filter selects its begin, whatever the time.
  bool is_shown = false;
};

// The end of a slice.
struct ViewEnd {
  struct Attribute {
    StringId name = StringId::kEmpty;
    uint64_t value = 0;
  };
  int64_t time = 0;
  Stack stack = {};                             // Where, if the trace says that.
  absl::Span<const Attribute> attributes = {};  // Of a range.
};

class ProgramView final : private IntervalConsumer {
 public:
  // What a format does with each change. Functions are called whatever the time and the filter,
  // unless their comments say so.
  class Delegate {
   public:
    virtual ~Delegate() = default;

    // The window begins at `time`, with the state that the view has now. The Show functions below
    // show it.
    virtual void BeginWindow(int64_t time) = 0;

    // An event in the window that changes no state: a sync, a log, a label, a metric, a sample, or
    // one of an experiment.
    virtual void TakeEvent(const Event& event) = 0;
    // Any event after the window, in its last generation.
    virtual void TakeLateEvent(const Event& /*event*/) {}

    // A goroutine became known that existed before: `event` states or implies its state. It has
    // been in it since `goroutine.since`.
    virtual void AddGoroutine(ViewGoroutine& /*goroutine*/, const Event& /*event*/) {}
    // A goroutine was created. It has the state already.
    virtual void CreateGoroutine(ViewGoroutine& /*goroutine*/, const Event& /*event*/) {}
    // A goroutine leaves its state, which it still has, and enters `state`, for `reason` if the
    // trace says one.
    virtual void ChangeState(ViewGoroutine& /*goroutine*/, GoState /*state*/, StringId /*reason*/,
                             const Event& /*event*/) {}
    // A goroutine ends. Its slices end afterwards.
    virtual void EndGoroutine(ViewGoroutine& /*goroutine*/, const Event& /*event*/) {}

    // An interval of a goroutine, whatever its time; and the part of an interval of a selected
    // thread that is in the window. See Options::intervals.
    virtual void AddInterval(const GoInterval& /*interval*/) {}
    virtual void AddThread(const ThreadInterval& /*interval*/, int64_t /*begin*/, int64_t /*end*/) {
    }

    // The first slice of a P, in the window.
    virtual void AddProc(ProcId /*id*/) {}

    // How the end of a region finds it.
    virtual ViewSlice::Key KeyOf(const Region& region, StringId name) = 0;
    // A selected slice begins in the window, or began before it, in which case there is no `event`.
    virtual void BeginSlice(ViewTrack& track, ViewSlice& slice, int64_t time,
                            const Event* event) = 0;
    // A slice that is shown ends. Those `inside` of it, the innermost first, are not shown any
    // more, unless the delegate shows them again.
    virtual void EndSlice(ViewTrack& track, const ViewSlice& slice,
                          absl::Span<ViewSlice* const> inside, const ViewEnd& end) = 0;
    // A region ends with a selected event in the window, and is not known to have begun.
    virtual void EndUnknownRegion(ViewTrack& /*track*/, const Event& /*event*/) {}

    // A selected task begins, as a slice does.
    virtual void BeginTask(const ViewTask& task, int64_t time, const Event* event) = 0;
    // A task with the id of one that is shown begins, which only a damaged trace has.
    virtual void ReplaceTask(const ViewTask& /*task*/, const Event& /*event*/) {}
    // A task ends, which may not be shown.
    virtual void EndTask(const ViewTask& task, const Event& event) = 0;
    // A task ends in the window that is not known to have begun.
    virtual void EndUnknownTask(const Event& /*event*/) {}

    // A counter of kMetricCounters, or of StateCounters, has a new value in the window.
    virtual void SetMetric(int64_t /*time*/, size_t /*metric*/, uint64_t /*value*/) {}
    virtual void SetStateCounter(int64_t /*time*/, size_t /*counter*/, uint64_t /*value*/) {}
  };

  // When each event is added to a StateTracker, whose intervals the delegate gets.
  enum class Intervals : uint8_t { kNone, kBeforeEvent, kAfterEvent };

  struct Options {
    // What is shown. All events of the generations in which the window begins and ends are needed,
    // and of those between.
    EventFilter filter;
    // The time from which times since the start count. The default is that of the first event.
    std::optional<int64_t> start = {};
    int64_t time_offset = 0;  // Added to all times of events; those of `filter` are the trace's.
    bool stacks = false;      // Whether slices and tasks have stacks.
    Intervals intervals = Intervals::kNone;
    bool keeps_all_metrics = true;  // Or only values that the filter selects, before the window.
    // Whether a slice ends those that began inside of it. Otherwise each lasts until its own end.
    bool ends_inside = true;
  };

  // `interner` and `delegate` must outlive this object.
  ProgramView(Options options, Interner* interner, Delegate* delegate);

  void Add(absl::Span<const Event> events);

  // Gives the last intervals, and the last values of counters. All else stays open.
  void Finish();

  // The filter without times.
  const EventFilter& selection() const { return selection_; }
  // Whether the event passes the filter, whatever its time; and is in the window, too.
  bool Selects(const Event& event) const {
    return selects_all_ || selection_.Matches(event, /*start=*/0);
  }
  bool Wants(const Event& event) const { return is_in_window_ && Selects(event); }

  // The window, without what is before the first event. It ends with the last event, or earlier; if
  // it never began, end() is the time of the last event.
  int64_t from() const { return from_; }
  int64_t to() const { return options_.filter.times.to; }
  int64_t end() const {
    return is_in_window_ ? std::max(from_, was_past_ ? to() : last_time_) : last_time_;
  }
  bool is_in_window() const { return is_in_window_; }  // Whether it has begun.
  // Since when what a status states has been so, as far as it is in the window.
  int64_t since_status() const { return std::max(generation_begin_, from_); }

  // What is current. Goroutines are in the order of their ids.
  ViewGoroutine* Find(GoId id) const { return goroutines_.Find(id); }
  ViewGoroutine& Get(GoId id);  // Which is added if need be.
  std::vector<ViewGoroutine*> Goroutines() const { return goroutines_.Sorted(); }
  std::map<ProcId, ViewTrack>& procs() { return procs_; }
  ViewTrack& program() { return program_; }
  const std::map<TaskId, ViewTask>& tasks() const { return tasks_; }
  const ViewTask* Find(TaskId id) const {
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? nullptr : &found->second;
  }

  // Show what is selected of what is current.
  void ShowSlices(ViewTrack& track, int64_t time);
  void ShowTasks(int64_t time);
  void ShowMetrics(int64_t time);

  // Begins a slice of the delegate's own with `event`, and ends the last one with `key`.
  void BeginSlice(ViewTrack& track, ViewSlice slice, int64_t time, const Event& event);
  void EndSlice(ViewTrack& track, const ViewSlice::Key& key, const ViewEnd& end);
  // Ends all slices, the innermost first.
  void EndSlices(ViewTrack& track, int64_t time);
  // The slice of a region that begins or ends with `event`, without its stack.
  ViewSlice RegionOf(const Event& event);

  StackId StackOf(const Stack& stack) {
    return options_.stacks ? interner_.InternStack(stack) : StackId::kNone;
  }

 private:
  void AddEvent(const Event& event);
  void Take(const Event& event);
  // Takes an event of the window's last generation that comes after the window.
  void TakeAfterWindow(const Event& event);
  void TakeTransition(const Event& event);
  void TakeProcTransition(const Event& event, bool is_late);
  void TakeMetric(const Event& event);
  void TakeRange(const Event& event);
  void TakeRegion(const Event& event);
  void TakeTask(const Event& event);

  // The goroutine, if its state is known.
  ViewGoroutine* FindKnown(GoId id) const {
    ViewGoroutine* const goroutine = goroutines_.Find(id);
    return goroutine == nullptr || goroutine->state == GoState::kUndetermined ? nullptr : goroutine;
  }
  // Adds a goroutine that existed before `event`, which states or implies that it is in `state`.
  ViewGoroutine& AddOld(GoId id, GoState state, const Event& event);
  void Create(const Event& event);
  void Change(ViewGoroutine& goroutine, GoState state, const Event& event);
  void End(ViewGoroutine& goroutine, const Event& event);
  // `event` puts the goroutine into `state`, at `time`.
  void SetState(ViewGoroutine& goroutine, GoState state, int64_t time, const Event& event);
  // Sets the name of the goroutine to the function that `stack`, one of its own, began with, if it
  // is not known yet.
  void Learn(ViewGoroutine& goroutine, const Stack& stack);

  ViewTrack& TrackOf(const ResourceId& scope);
  // Whether the filter selects slices of `scope`. The event that states a range may have run on
  // another goroutine or P.
  bool SelectsSlicesOf(const ResourceId& scope) const;
  void Show(ViewTrack& track, ViewSlice& slice, int64_t time, const Event* event);
  void EndSlice(ViewTrack& track, OpenSlices::Iterator slice, const ViewEnd& end);
  void Remove(ViewTrack& track, OpenSlices::Iterator slice, const ViewEnd& end);
  void Show(ViewTask& task, int64_t time, const Event* event);

  // IntervalConsumer.
  void AddGoroutine(const GoInterval& interval) override { delegate_.AddInterval(interval); }
  void AddThread(const ThreadInterval& interval) override;

  Options options_;
  Interner& interner_;
  Delegate& delegate_;
  const EventFilter selection_ = options_.filter.WithoutTimes();
  const bool selects_all_ = selection_.MatchesAll();
  std::unique_ptr<StateTracker> tracker_;
  StateCounters state_counters_;

  bool has_events_ = false;
  bool is_in_window_ = false;
  bool was_past_ = false;  // Whether there were events after the window,
  bool is_over_ = false;   // and its last generation has ended, too.
  int64_t from_ = 0;
  int64_t generation_begin_ = 0;
  int64_t last_time_ = 0;

  DenseTable<ViewGoroutine> goroutines_{kSlotsForGoroutines};
  std::map<ProcId, ViewTrack> procs_;
  ViewTrack program_;
  std::map<TaskId, ViewTask> tasks_;
  absl::flat_hash_map<ProcId, ProcState> proc_states_;
  // A thread from which another one takes its P keeps it here until it gets one: only then can it
  // run a goroutine again.
  absl::flat_hash_map<ThreadId, ProcId> proc_of_thread_;
  std::array<std::optional<uint64_t>, std::size(kMetricCounters)> metrics_;  // The last values.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PROGRAM_VIEW_H_
