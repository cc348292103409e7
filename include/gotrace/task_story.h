// The story of one task, across goroutines.
#ifndef GOTRACE_TASK_STORY_H_
#define GOTRACE_TASK_STORY_H_

#include <cstdint>
#include <memory>

#include "absl/base/attributes.h"
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

// The kind of a row.
enum class StoryKind : uint8_t {
  kTaskBegin,
  kTaskEnd,
  kChildBegin,  // Of a child of the task.
  kChildEnd,
  kRegionBegin,
  kRegionEnd,
  kLog,
  kState,  // A time in which a goroutine is in one state.
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

  // kState: the state, its reason, and the goroutine's own stack, as in GoInterval. While it is
  // ready or running only for a stop of the world: StopSpan::name and, if it stopped the world
  // itself, where it did. See GoInterval::ForEachStop().
  GoState state = GoState::kUndetermined;
  StringId reason = StringId::kEmpty;
  StackId stack = StackId::kNone;

  // kState: what ended a kWaiting state, unless it ended after the story.
  Cause woken_by;
};

// Collects the history of a task, in order of time: the begin and end of the task, its children and
// its regions, its messages, and the states of each goroutine while it was in one of the regions.
// For the goroutine that began the task, also its states until the task ended. States are cut to
// these times.
//
// Memory is in proportion to the rows. Cannot be merged, so the trace must be read in one piece.
class TaskStory final : public Analysis {
 public:
  // `*interner` must outlive this object. Rows other than states are limited to `window`.
  TaskStory(Interner* interner, TaskId task, EventFilter::Times window);
  ~TaskStory() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // The result, after Finish(). Of rows with the same time, states come last.
  absl::Span<const StoryRow> rows() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_TASK_STORY_H_
