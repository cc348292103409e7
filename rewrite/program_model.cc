#include "rewrite/program_model.h"

#include <algorithm>
#include <limits>

#include "gotrace/event_kind.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"

namespace gotrace::internal {

uint64_t ProgramModel::Count(Goroutine* goroutine) { return ++goroutine->number; }
uint64_t ProgramModel::Count(Proc* proc) { return ++proc->number; }

ProgramModel::Goroutine& ProgramModel::State(GoId id, GoStatus status) {
  Goroutine& goroutine = goroutines_[id];
  goroutine.status = status;
  goroutine.generation = generation_;
  goroutine.number = 0;
  return goroutine;
}

void ProgramModel::SetProcStatus(ProcId id, Proc* proc, ProcStatus status) {
  proc->status = status;
  if (status == ProcStatus::kIdle) {
    idle_procs_.insert(id);
  } else {
    idle_procs_.erase(id);
  }
  last_proc_ = std::max(last_proc_, id.value);
}

ProcId ProgramModel::NewProc() {
  // A smaller one may be named later.
  if (last_proc_ < std::numeric_limits<int64_t>::max()) return ProcId{last_proc_ + 1};
  while (procs_.contains(ProcId{unused_proc_})) ++unused_proc_;
  return ProcId{unused_proc_};
}

void ProgramModel::Unbind(ThreadId thread_id) {
  Thread& thread = threads_[thread_id];
  if (thread.proc == ProcId::kNone) return;
  thread.last_proc = thread.proc;
  if (Proc* const proc = FindProc(thread.proc); proc != nullptr && proc->thread == thread_id) {
    proc->thread = ThreadId::kNone;
    bound_procs_.erase(thread.proc);
  }
  thread.proc = ProcId::kNone;
}

void ProgramModel::Bind(ThreadId thread_id, ProcId id) {
  if (thread_id == ThreadId::kNone) return;
  Unbind(thread_id);
  Proc& proc = procs_[id];
  if (proc.thread != ThreadId::kNone) Unbind(proc.thread);
  proc.thread = thread_id;
  threads_[thread_id].proc = id;
  bound_procs_.insert(id);
}

void ProgramModel::Leave(ThreadId thread_id) {
  if (thread_id == ThreadId::kNone) return;
  Thread& thread = threads_[thread_id];
  // A status may say that the goroutine whose id means none is on another thread.
  if (Goroutine* const goroutine = FindGoroutine(thread.goroutine);
      goroutine != nullptr && goroutine->thread == thread_id) {
    goroutine->thread = ThreadId::kNone;
  }
  thread.goroutine = GoId::kNone;
}

void ProgramModel::Enter(ThreadId thread_id, GoId id) {
  if (thread_id == ThreadId::kNone) return;
  Leave(thread_id);
  goroutines_[id].thread = thread_id;
  threads_[thread_id].goroutine = id;
}

ProgramModel::Goroutine* ProgramModel::GoroutineOf(const Thread& thread) {
  // A status may be about the id that means none, which no thread executes.
  return thread.goroutine == GoId::kNone ? nullptr : FindGoroutine(thread.goroutine);
}

ProgramModel::Proc* ProgramModel::ProcOf(const Thread& thread) {
  return thread.proc == ProcId::kNone ? nullptr : FindProc(thread.proc);
}

std::vector<GoId> ProgramModel::GoroutineIds() const {
  std::vector<GoId> ids;
  ids.reserve(goroutines_.size());
  for (const auto& [id, goroutine] : goroutines_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<ProcId> ProgramModel::ProcIds() const {
  std::vector<ProcId> ids;
  ids.reserve(procs_.size());
  for (const auto& [id, proc] : procs_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

int ProgramModel::Apply(WriterEvent* event, absl::string_view name) {
  has_events_ = true;
  const Thread context = FindThread(event->thread);
  Goroutine* const own = GoroutineOf(context);
  switch (kEventKinds[static_cast<uint8_t>(event->type)]) {
    case EventKind::kStateTransition:
      if (RuleOf(event->type).subject_becomes != Becomes::kStated) {
        return ApplyTransition(event, context);
      }
      ApplyStatus(*event);
      break;
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      RuleOf(event->type).subject == Subject::kGC ? ApplyGc(event) : ApplyRange(*event, context);
      break;
    case EventKind::kTaskBegin:
      tasks_.insert(event->args[0]);
      break;
    case EventKind::kTaskEnd:
      tasks_.erase(event->args[0]);
      break;
    case EventKind::kRegionBegin:
      if (own != nullptr) own->open().regions.push_back({event->args[0], std::string(name), false});
      break;
    case EventKind::kRegionEnd:
      if (own != nullptr && own->spans != nullptr && !own->spans->regions.empty()) {
        own->spans->regions.pop_back();
      }
      break;
    case EventKind::kNone:
    case EventKind::kSync:
    case EventKind::kMetric:
    case EventKind::kLabel:
    case EventKind::kStackSample:
    case EventKind::kLog:
    case EventKind::kExperimental:
      break;
  }
  return 1;
}

int ProgramModel::ApplyTransition(WriterEvent* event, const Thread& context) {
  const EventRule& rule = RuleOf(event->type);
  const ThreadId thread = event->thread;
  Goroutine* const own = GoroutineOf(context);
  Proc* const own_proc = ProcOf(context);

  if (rule.ProcLeaves()) Unbind(thread);
  if (rule.proc == ProcNeed::kNumbered && own_proc != nullptr) {
    event->args[rule.number_arg] = Count(own_proc);
  }
  if (rule.proc_becomes != Becomes::kSame && own_proc != nullptr) {
    SetProcStatus(context.proc, own_proc, ProcStatusAfter(rule.proc_becomes));
  }

  if (rule.GoroutineLeaves()) Leave(thread);
  if (rule.goroutine_becomes == Becomes::kGone) {
    goroutines_.erase(context.goroutine);
  } else if (rule.goroutine_becomes != Becomes::kSame && own != nullptr) {
    own->status = GoStatusAfter(rule.goroutine_becomes);
  }

  if (rule.subject_kind() == ResourceKind::kGoroutine) {
    const GoId id{static_cast<int64_t>(event->args[0])};
    const GoStatus status = GoStatusAfter(rule.subject_becomes);
    if (rule.AwaitsSubject()) {
      Goroutine& goroutine = goroutines_[id];
      event->args[rule.number_arg] = Count(&goroutine);
      goroutine.status = status;
    } else {
      State(id, status);
    }
    if (rule.SubjectEnters()) Enter(thread, id);
  } else if (rule.subject_kind() == ResourceKind::kProc) {
    const ProcId id{static_cast<int64_t>(event->args[0])};
    Proc& proc = procs_[id];
    event->args[rule.number_arg] = Count(&proc);
    const bool is_stolen = rule.subject == Subject::kSyscallProc;
    if (is_stolen && proc.status != ProcStatus::kSyscallAbandoned) Unbind(proc.thread);
    SetProcStatus(id, &proc, ProcStatusAfter(rule.subject_becomes));
    if (rule.SubjectEnters()) Bind(thread, id);
  }
  if (rule.GoroutineLeaves() && rule.SubjectEnters()) return 3;
  return rule.proc_becomes == Becomes::kAbandoned && own_proc != nullptr ? 2 : 1;
}

void ProgramModel::ApplyStatus(const WriterEvent& event) {
  const ThreadId thread = event.thread;
  if (RuleOf(event.type).subject == Subject::kStatedProc) {
    const ProcId id{static_cast<int64_t>(event.args[0])};
    const ProcStatus status = static_cast<ProcStatus>(event.args[1]);
    Proc& proc = procs_[id];
    const bool keeps =
        proc.status == ProcStatus::kSyscall && status == ProcStatus::kSyscallAbandoned;
    if (!keeps) SetProcStatus(id, &proc, status);
    proc.generation = generation_;
    proc.number = 0;
    if (status == ProcStatus::kRunning || status == ProcStatus::kSyscall) Bind(thread, id);
    return;
  }
  const GoId id{static_cast<int64_t>(event.args[0])};
  const GoStatus status = static_cast<GoStatus>(event.args[2]);
  State(id, status);
  if (status == GoStatus::kRunning) Enter(thread, id);
  if (status == GoStatus::kSyscall) Enter(ThreadId{static_cast<int64_t>(event.args[1])}, id);
}

void ProgramModel::ApplyGc(WriterEvent* event) {
  const bool ends = event->type == EventType::kGCEnd;
  if (!ends && gc_ == Gc::kUndetermined) {
    gc_number_ = event->args[0];
  } else {
    event->args[0] = ++gc_number_;
  }
  gc_ = ends ? Gc::kNotRunning : Gc::kRunning;
}

void ProgramModel::ApplyRange(const WriterEvent& event, const Thread& context) {
  const EventRule& rule = RuleOf(event.type);
  const EventType start = FindEventSpec(event.type)->start;
  const bool begins = start == EventType::kNone;
  if (rule.subject == Subject::kKnownProc) {
    if (Proc* const proc = FindProc(ProcId{static_cast<int64_t>(event.args[0])})) {
      proc->sweeping = true;
    }
  } else if (rule.subject == Subject::kKnownGoroutine) {
    Goroutine* const goroutine = FindGoroutine(GoId{static_cast<int64_t>(event.args[0])});
    if (goroutine != nullptr && first_) goroutine->open().ranges.Add({start, 0});
  } else if (!rule.NeedsGoroutine()) {
    if (Proc* const own = ProcOf(context)) own->sweeping = begins;
  } else if (Goroutine* const own = GoroutineOf(context)) {
    OpenRanges& ranges = own->open().ranges;
    if (begins) {
      const bool has_kind = event.type == EventType::kSTWBegin;
      return ranges.Add({event.type, has_kind ? event.args[0] : 0});
    }
    const size_t place = ranges.FindFirst(start);
    if (place != OpenRanges::kNone) ranges.Remove(place);
  }
}

}  // namespace gotrace::internal
