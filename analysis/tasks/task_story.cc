// A goroutine takes part in the task while it is in one of the task's regions or, if it began the
// task, until the task ends. An interval is passed on when it ends, and by then it is known during
// which part of it the goroutine took part.
#include "gotrace/task_story.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/tasks/region_tracker.h"
#include "gotrace/event_kind.h"

namespace gotrace {
namespace {

constexpr int64_t kStillOpen = std::numeric_limits<int64_t>::max();

// A time in which a goroutine takes part in the task.
struct Part {
  int64_t begin = 0;
  int64_t end = kStillOpen;
};

struct Participant {
  uint64_t open = 0;                  // The number of current reasons to take part.
  std::deque<Part> parts;             // In order of time, as long as intervals may overlap them.
  internal::RegionTracker<> regions;  // Of all tasks.
};

}  // namespace

class TaskStory::Impl {
 public:
  Impl(Interner* interner, TaskId task, EventFilter::Times window)
      : interner_(*interner), task_(task), window_(window) {}

  void Begin(int64_t /*trace_start*/, EventFilter::Times window) { window_ = window_.And(window); }
  void Add(const Event& event);
  void AddGoroutine(const GoInterval& interval);
  void Finish();

  absl::Span<const StoryRow> rows() const { return rows_; }

 private:
  void AddTask(const Event& event);
  void AddRegion(const Event& event);
  void AddRow(StoryKind kind, const Event& event, absl::string_view text);

  // Add or remove a reason for which the goroutine takes part.
  void Enter(Participant* participant, int64_t time);
  void Leave(Participant* participant, int64_t time);

  Interner& interner_;
  const TaskId task_;
  EventFilter::Times window_;
  absl::flat_hash_map<GoId, Participant> participants_;
  absl::flat_hash_set<TaskId> children_;
  GoId owner_ = GoId::kNone;  // The goroutine that began the task, until it ends.
  std::vector<StoryRow> rows_;
};

void TaskStory::Impl::AddRow(StoryKind kind, const Event& event, absl::string_view text) {
  if (!window_.Has(event.time())) return;
  StoryRow& row = rows_.emplace_back();
  row.kind = kind;
  row.begin = row.end = event.time();
  row.goroutine = event.goroutine();
  row.text = interner_.InternString(text);
  if (kind == StoryKind::kChildBegin || kind == StoryKind::kChildEnd) row.child = event.task().id;
  if (kind == StoryKind::kLog) row.category = interner_.InternString(event.log().category);
}

void TaskStory::Impl::Add(const Event& event) {
  switch (event.kind()) {
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      AddTask(event);
      break;
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
      AddRegion(event);
      break;
    case EventKind::kLog:
      if (event.log().task == task_) AddRow(StoryKind::kLog, event, event.log().message);
      break;
    default:
      break;
  }
}

void TaskStory::Impl::AddTask(const Event& event) {
  const Task task = event.task();
  const bool is_begin = event.kind() == EventKind::kTaskBegin;
  if (task.id == task_) {
    AddRow(is_begin ? StoryKind::kTaskBegin : StoryKind::kTaskEnd, event, task.type);
    if (owner_ != GoId::kNone) Leave(&participants_[owner_], event.time());
    owner_ = is_begin ? event.goroutine() : GoId::kNone;
    if (owner_ != GoId::kNone) Enter(&participants_[owner_], event.time());
  } else if (task.parent == task_ || children_.contains(task.id)) {
    children_.insert(task.id);
    AddRow(is_begin ? StoryKind::kChildBegin : StoryKind::kChildEnd, event, task.type);
  }
}

void TaskStory::Impl::AddRegion(const Event& event) {
  const Region region = event.region();
  const bool is_begin = event.kind() == EventKind::kRegionBegin;
  if (region.task == task_) {
    AddRow(is_begin ? StoryKind::kRegionBegin : StoryKind::kRegionEnd, event, region.type);
  }
  const auto found = participants_.find(event.goroutine());
  if (is_begin) {
    // Regions of other tasks matter only inside a region of this task.
    if (region.task != task_ && found == participants_.end()) return;
    Participant& participant = participants_[event.goroutine()];
    participant.regions.Begin(event, &interner_);
    if (region.task == task_) Enter(&participant, event.time());
  } else if (found != participants_.end()) {
    const auto ended = found->second.regions.End(event, &interner_);
    if (ended.begin.has_value() && ended.task == task_) Leave(&found->second, event.time());
  }
}

void TaskStory::Impl::Enter(Participant* participant, int64_t time) {
  if (participant->open++ == 0) participant->parts.push_back({.begin = time});
}

void TaskStory::Impl::Leave(Participant* participant, int64_t time) {
  if (participant->open == 0 || --participant->open > 0) return;
  if (!participant->parts.empty()) participant->parts.back().end = time;
}

void TaskStory::Impl::AddGoroutine(const GoInterval& interval) {
  const auto found = participants_.find(interval.goroutine);
  if (found == participants_.end()) return;
  std::deque<Part>& parts = found->second.parts;
  while (!parts.empty() && parts.front().begin < interval.end) {
    const Part& part = parts.front();
    StoryRow row;
    row.begin = std::max(interval.begin, part.begin);
    row.goroutine = interval.goroutine;
    row.state = interval.state;
    // Adds the row up to `end`. The next row begins there.
    const auto add_until = [&](int64_t end, StringId reason, StackId stack) {
      row.end = end;
      row.reason = reason;
      row.stack = stack;
      if (row.begin < row.end) rows_.push_back(row);
      row.begin = end;
    };
    interval.ForEachStop(
        part.begin, part.end, [&](int64_t begin, int64_t end, const StopSpan& stop) {
          add_until(begin, interval.reason, interval.stack);
          add_until(end, stop.name,
                    interval.state == GoState::kRunning ? stop.stack : interval.stack);
        });
    if (interval.state == GoState::kWaiting && part.end >= interval.end) {
      row.woken_by = interval.ended_by;
    }
    add_until(std::min(interval.end, part.end), interval.reason, interval.stack);
    if (part.end > interval.end) break;
    parts.pop_front();
  }
  if (!interval.ends_life) return;
  if (owner_ == interval.goroutine) owner_ = GoId::kNone;
  participants_.erase(found);
}

void TaskStory::Impl::Finish() {
  absl::c_stable_sort(rows_, [](const StoryRow& a, const StoryRow& b) {
    const auto key = [](const StoryRow& row) {
      return std::pair(row.begin, row.kind == StoryKind::kState);
    };
    return key(a) < key(b);
  });
}

TaskStory::TaskStory(Interner* interner, TaskId task, EventFilter::Times window)
    : impl_(std::make_unique<Impl>(interner, task, window)) {}
TaskStory::~TaskStory() = default;

void TaskStory::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void TaskStory::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) impl_->Add(event);
}
void TaskStory::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void TaskStory::Finish(int64_t /*end*/) { impl_->Finish(); }

absl::Span<const StoryRow> TaskStory::rows() const { return impl_->rows(); }

}  // namespace gotrace
