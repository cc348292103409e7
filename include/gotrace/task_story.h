// The story of one task: what happened in it, across goroutines.
#ifndef GOTRACE_TASK_STORY_H_
#define GOTRACE_TASK_STORY_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"
#include "gotrace/states.h"

namespace gotrace {

// What a row of a story is.
enum class StoryKind : uint8_t {
  kTaskBegin,
  kTaskEnd,
  kChildBegin,  // A task whose parent the task is.
  kChildEnd,
  kRegionBegin,
  kRegionEnd,
  kLog,
  kState,  // A goroutine's stay in a state.
};

// A row of a story. Times are in nanoseconds, as Event::time().
struct StoryRow {
  StoryKind kind = StoryKind::kState;
  int64_t begin = 0;
  int64_t end = 0;                   // Exclusive; `begin` unless kState.
  GoId goroutine = GoId::kNone;      // Where it happened; kNone if unknown.
  TaskId child = TaskId::kNone;      // kChildBegin, kChildEnd: the child.
  StringId text = StringId::kEmpty;  // The type of the task or region, or the message of the log.
  StringId category = StringId::kEmpty;  // kLog: its category.

  // kState: the state, its reason, and the goroutine's own stack, as in GoInterval.
  GoState state = GoState::kUndetermined;
  StringId reason = StringId::kEmpty;
  StackId stack = StackId::kNone;

  // kState: what ended a kWaiting state, unless that was after the story.
  Cause woken_by;
};

// Collects what happened in a task, in order of time: its begin and end, those of its children, of
// its regions, and its messages; and what each goroutine did while it was in one of the regions.
// For the goroutine that began the task, also what it did until the task ended. States are cut to
// these times.
//
// Memory is in proportion to the rows. For a trace that is read in one piece: it cannot be merged.
class TaskStory final : public Analysis {
 public:
  // `*interner` must outlive this object. Of what is not a state only what is in `window` counts.
  TaskStory(Interner* interner, TaskId task, EventFilter::Times window);
  ~TaskStory() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // The result, after Finish(). Of rows with the same time, states come last.
  absl::Span<const StoryRow> rows() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_TASK_STORY_H_
