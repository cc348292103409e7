#include "analysis/tasks/owner_times.h"

#include <algorithm>

#include "analysis/core/time_sums.h"
#include "analysis/intervals/interval_times.h"
#include "gotrace/event_kind.h"

namespace gotrace::internal {
namespace {

// Returns the times by name from those of `before` on.
NamedTimes Since(const NamedTimes& before, const NamedTimes& now) {
  NamedTimes since;
  for (const NamedTime& reason : now) {
    const auto is_it = [&](const NamedTime& other) { return other.name == reason.name; };
    const NamedTime* const other = std::find_if(before.begin(), before.end(), is_it);
    const int64_t time = other == before.end() ? reason.time : Between(other->time, reason.time);
    if (time > 0) since.Add(reason.name, time);
  }
  return since;
}

// Returns the times from those of `before` on.
ExecutionTimes Since(const ExecutionTimes& before, const ExecutionTimes& now) {
  ExecutionTimes since;
  since.total = Between(before.total, now.total);
  since.running = Between(before.running, now.running);
  since.runnable = Between(before.runnable, now.runnable);
  since.syscall = Between(before.syscall, now.syscall);
  since.syscall_blocked = Between(before.syscall_blocked, now.syscall_blocked);
  since.stopped_running = Between(before.stopped_running, now.stopped_running);
  since.stopped_runnable = Between(before.stopped_runnable, now.stopped_runnable);
  since.blocked = Since(before.blocked, now.blocked);
  since.stopped = Since(before.stopped, now.stopped);
  return since;
}

}  // namespace

void OwnerTimes::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) {
    if (event.kind() == EventKind::kTaskBegin) {
      const GoId id = event.goroutine();
      if (id == GoId::kNone || !filter_.Selects(id)) continue;
      owners_[event.task().id] = id;
      goroutines_[id].marks.push_back({event.time(), event.task().id, /*is_end=*/false});
    } else if (event.kind() == EventKind::kTaskEnd) {
      const auto owner = owners_.find(event.task().id);
      if (owner == owners_.end()) continue;
      // The goroutine may have ended before.
      const auto goroutine = goroutines_.find(owner->second);
      if (goroutine != goroutines_.end()) {
        goroutine->second.marks.push_back({event.time(), event.task().id, /*is_end=*/true});
      }
      owners_.erase(owner);
    }
  }
}

void OwnerTimes::AddGoroutine(const GoInterval& interval) {
  const auto found = goroutines_.find(interval.goroutine);
  if (found == goroutines_.end()) return;
  Owner& owner = found->second;
  int64_t begin = interval.begin;
  while (!owner.marks.empty() && owner.marks.front().time <= interval.end) {
    const Mark mark = owner.marks.front();
    owner.marks.pop_front();
    AddPart(interval, begin, mark.time, &owner.times);
    begin = std::max(begin, mark.time);
    Resolve(mark, &owner);
  }
  AddPart(interval, begin, interval.end, &owner.times);
  if (!interval.ends_life) return;
  EndAll(&owner);
  goroutines_.erase(found);
}

void OwnerTimes::Resolve(const Mark& mark, Owner* owner) {
  if (!mark.is_end) {
    owner->begun[mark.task] = owner->times;
    return;
  }
  const auto begun = owner->begun.find(mark.task);
  if (begun == owner->begun.end()) return;
  times_[mark.task] = Since(begun->second, owner->times);
  owner->begun.erase(begun);
}

void OwnerTimes::EndAll(Owner* owner) {
  for (const Mark& mark : owner->marks) Resolve(mark, owner);
  for (const auto& [task, times] : owner->begun) times_[task] = Since(times, owner->times);
}

void OwnerTimes::Finish() {
  for (auto& [id, owner] : goroutines_) EndAll(&owner);
  goroutines_.clear();
}

const ExecutionTimes* OwnerTimes::Find(TaskId task) const {
  const auto found = times_.find(task);
  return found == times_.end() ? nullptr : &found->second;
}

}  // namespace gotrace::internal
