#include "analysis/gc/ready_sweep.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/runtime_functions.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {
namespace {

int64_t Multiply(int64_t count, int64_t time) {
  return static_cast<int64_t>(static_cast<uint64_t>(count) * static_cast<uint64_t>(time));
}

// Returns `time` / `by` in fractions of a nanosecond, rounded down. Requires by > 0.
int64_t Share(int64_t time, int64_t by) {
  const auto dividend = static_cast<uint64_t>(time);
  const auto divisor = static_cast<uint64_t>(by);
  constexpr uint64_t kUnit = ReadySweep::kUnit;
  return static_cast<int64_t>(dividend / divisor * kUnit + dividend % divisor * kUnit / divisor);
}

// Returns whether a status states since the beginning of the generation what no earlier one did.
// States in the first generation have lasted since its beginning.
bool IsStatement(const Event& event, bool is_first_generation) {
  const uint8_t from = event.transition_from();
  return from == 0 || (from == event.transition_to() && is_first_generation);
}

int64_t& Of(ReadyCause cause, ReadySweep::Charges& charges) {
  return charges[static_cast<size_t>(cause)];
}

}  // namespace

ReadySweep::Goroutine& ReadySweep::Of(GoId id) {
  Goroutine* const known = goroutines_.Find(id);
  return known != nullptr ? *known : *goroutines_.Insert(id);
}

void ReadySweep::Add(const Event& event) {
  if (begin_ == std::numeric_limits<int64_t>::max()) {
    begin_ = seen_from_ = generation_begin_ = event.time();
  }
  switch (event.kind()) {
    case EventKind::kSync:
      EndGeneration(event.time());
      is_first_generation_ = !has_generation_;
      has_generation_ = true;
      break;
    case EventKind::kStateTransition:
      AddTransition(event);
      break;
    case EventKind::kLabel:
      if (absl::StartsWith(event.label().label, "GC (")) {
        Of(event.goroutine()).worker_in = generation_;
      }
      break;
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      AddRange(event);
      break;
    default:
      if (event.type() == EventType::kProcsChange) AddLimit(event);
      break;
  }
}

void ReadySweep::AddTransition(const Event& event) {
  const ResourceKind kind = event.transition_resource().kind;
  if (kind != ResourceKind::kGoroutine && kind != ResourceKind::kProc) return;
  static_assert(static_cast<int>(GoState::kUndetermined) == 0 &&
                static_cast<int>(ProcState::kUndetermined) == 0);
  if (event.transition_from() == 0 && !event.fault().has_value() &&
      !std::exchange(has_statement_, true)) {
    generation_begin_ = std::max(generation_begin_, event.time());
    if (is_first_generation_) seen_from_ = generation_begin_;
  }
  kind == ResourceKind::kGoroutine ? AddGoroutine(event) : AddProc(event);
}

void ReadySweep::AddGoroutine(const Event& event) {
  Goroutine& goroutine = Of(GoId{event.transition_resource().id});
  const auto from = static_cast<GoState>(event.transition_from());
  const auto to = static_cast<GoState>(event.transition_to());
  if (from == GoState::kNotExist) {
    goroutine.is_older = goroutine.has_ended = false;
    goroutine.start = StartFunction();
    goroutine.known_in = goroutine.worker_in = 0;
  }
  if (goroutine.known_in != generation_ || goroutine.start.is_open()) {
    Learn(interner_.InternStack(event.transition_stack()), &goroutine);
  }
  const Change::Kind kind = to == GoState::kRunnable  ? Change::kReady
                            : to == GoState::kRunning ? Change::kRunning
                                                      : Change::kNeither;
  if (IsStatement(event, is_first_generation_)) {
    goroutine.state = kind;
    goroutine.runs = kind == Change::kRunning;
    goroutine.runs_since = generation_begin_;
  } else if (from != to) {
    if (goroutine.runs) EndRun(goroutine, event.time());
    goroutine.runs = kind == Change::kRunning;
    goroutine.runs_since = event.time();
    changes_.push_back({event.time(), kind, goroutine.id.value});
  }
  if (to == GoState::kNotExist && !std::exchange(goroutine.has_ended, true)) {
    ended_.push_back(goroutine.id);
  }
}

// Notes the part of a run that is too long, now that it is known.
void ReadySweep::EndRun(const Goroutine& goroutine, int64_t end) {
  if (Between(goroutine.runs_since, end) < kLongRunLength) return;
  long_changes_.push_back({goroutine.runs_since + kSlice, Change::kLongRun, goroutine.id.value});
}

void ReadySweep::Learn(StackId stack, Goroutine* goroutine) {
  goroutine->start.Learn(interner_, stack);
  if (goroutine->known_in == generation_) return;
  const StringId root = interner_.RootFunctionId(stack);
  if (root == StringId::kEmpty) return;
  goroutine->known_in = generation_;
  goroutine->start_here = root;
}

void ReadySweep::AddProc(const Event& event) {
  const auto to = static_cast<ProcState>(event.transition_to());
  // A trace that was cut may repeat a status at its end.
  const bool is_statement = IsStatement(event, is_first_generation_) &&
                            stated_procs_.insert(ProcId{event.transition_resource().id}).second;
  if (!is_statement && event.transition_from() == event.transition_to()) return;
  const Change change = {event.time(),
                         to == ProcState::kIdle      ? Change::kProcIdle
                         : to == ProcState::kRunning ? Change::kProcRunning
                                                     : Change::kProcNeither,
                         event.transition_resource().id};
  is_statement ? Apply(change) : changes_.push_back(change);
}

void ReadySweep::AddRange(const Event& event) {
  const EventType type = event.type();
  if (type == EventType::kSTWBegin) {
    const bool is_tracer = IsStopOfTracer(event.range_parts().reason);
    changes_.push_back({event.time(), is_tracer ? Change::kTracerStop : Change::kStop});
  } else if (type == EventType::kSTWEnd) {
    changes_.push_back({event.time(), Change::kStart});
  } else if (type == EventType::kGCMarkAssistBegin || type == EventType::kGCMarkAssistEnd) {
    changes_.push_back({event.time(),
                        type == EventType::kGCMarkAssistBegin ? Change::kAssist : Change::kNoAssist,
                        event.range_parts().scope.id});
  } else if (type == EventType::kGCMarkAssistActive && is_first_generation_) {
    Of(GoId{event.range_parts().scope.id}).is_assisting = true;
  }
}

// Each generation states the limit when it begins, and when it changes.
void ReadySweep::AddLimit(const Event& event) {
  const Change change = {event.time(), Change::kLimit,
                         static_cast<int64_t>(std::min<uint64_t>(
                             event.metric().value, std::numeric_limits<int64_t>::max()))};
  std::exchange(has_limit_, true) ? changes_.push_back(change) : Apply(change);
}

ReadySweep::Kind ReadySweep::KindOf(StringId start) {
  const auto index = static_cast<size_t>(start);
  if (index >= kinds_.size()) kinds_.resize(index + 1);
  Kind& kind = kinds_[index];
  if (kind == Kind::kUnknown) {
    const absl::string_view name = interner_.String(start);
    kind = name == kMarkWorkerStart ? Kind::kMarkWorker
           : IsOfSystem(name)       ? Kind::kSystem
                                    : Kind::kProgram;
  }
  return kind;
}

ReadySweep::Kind ReadySweep::KindHere(const Goroutine& goroutine) {
  if (goroutine.worker_in == generation_) return Kind::kMarkWorker;
  return StartHere(goroutine) == StringId::kEmpty ? Kind::kProgram : KindOf(goroutine.start_here);
}

ReadyCause ReadySweep::WhatItDoes(const Goroutine& goroutine) {
  const Kind kind = KindHere(goroutine);
  if (kind == Kind::kMarkWorker) return ReadyCause::kGc;
  if (kind == Kind::kSystem) return ReadyCause::kOther;
  if (goroutine.is_assisting) return ReadyCause::kAssist;
  return goroutine.is_long ? ReadyCause::kLongRun : ReadyCause::kProgram;
}

std::vector<ProcId> ReadySweep::IdleProcs() const {
  std::vector<ProcId> idle;
  for (const ProcId proc : idle_procs_) {
    if (static_cast<uint64_t>(proc.value) < limit_) idle.push_back(proc);
  }
  return idle;
}

int64_t ReadySweep::CountIdle() const {
  return absl::c_count_if(idle_procs_,
                          [&](ProcId proc) { return static_cast<uint64_t>(proc.value) < limit_; });
}

void ReadySweep::SortByTime(std::vector<Change>* changes) {
  const auto is_earlier = [](const Change& a, const Change& b) { return a.time < b.time; };
  if (!absl::c_is_sorted(*changes, is_earlier)) absl::c_stable_sort(*changes, is_earlier);
}

void ReadySweep::BeginSweep() {
  time_ = std::max(generation_begin_, window_.from);
  SortByTime(&changes_);
  SortByTime(&long_changes_);
  // A stop that is older than the generation ends in it, since nothing can begin a generation while
  // the world is stopped. If there is no older generation, it is that in which tracing began.
  const auto first =
      absl::c_find_if(changes_, [](const Change& change) { return change.kind >= Change::kStop; });
  stop_ = Change::kStart;
  if (first != changes_.end() && first->kind == Change::kStart) {
    stop_ = has_statement_ ? Change::kTracerStop : Change::kStop;
  }
  idle_ = CountIdle();
  goroutines_.ForEach([&](Goroutine& goroutine) { Enter(goroutine); });
}

void ReadySweep::EndSweep() {
  goroutines_.ForEach([&](Goroutine& goroutine) {
    Leave(goroutine);
    // The next generation counts runs from its own beginning.
    goroutine.is_long = false;
  });
  ready_by_start_.clear();
  for (const GoId id : std::exchange(ended_, {})) {
    Goroutine* const goroutine = goroutines_.Find(id);
    if (goroutine == nullptr || !goroutine->has_ended) continue;
    Retire(id, goroutine->start, goroutine->is_older);
    goroutines_.Erase(goroutine);
  }
}

// Settles the pending charges of a goroutine that has ended.
void ReadySweep::Retire(GoId id, const StartFunction& start, bool is_older) {
  Sums sums;
  if (const auto pending = pending_.find(id); pending != pending_.end()) {
    sums = pending->second;
    pending_.erase(pending);
  }
  if (!is_older) return Add(sums, &functions_[start.name()]);
  EndedOlder& ended = ended_older_[id];
  ended.start.Learn(start);
  Add(sums, &ended.pending);
}

void ReadySweep::EndGeneration(int64_t end) {
  goroutines_.ForEach([&](Goroutine& goroutine) {
    if (!goroutine.runs) return;
    EndRun(goroutine, end);
    goroutine.runs_since = end;
  });
  BeginSweep();
  auto next = long_changes_.begin();
  const auto make = [&](const Change& change) {
    Advance(change.time);
    Apply(change);
  };
  for (const Change& change : changes_) {
    while (next != long_changes_.end() && next->time < change.time) make(*next++);
    make(change);
  }
  std::for_each(next, long_changes_.end(), make);
  Advance(end);
  EndSweep();
  changes_.clear();
  long_changes_.clear();
  has_limit_ = has_statement_ = false;
  generation_begin_ = end;
  ++generation_;
}

void ReadySweep::Apply(const Change& change) {
  switch (change.kind) {
    case Change::kReady:
    case Change::kRunning:
    case Change::kNeither:
    case Change::kAssist:
    case Change::kNoAssist:
    case Change::kLongRun:
      return ApplyTo(Of(GoId{change.subject}), change.kind);
    case Change::kProcIdle:
    case Change::kProcRunning:
    case Change::kProcNeither: {
      const ProcId proc{change.subject};
      const bool was_idle = idle_procs_.erase(proc) > 0;
      const bool is_idle = change.kind == Change::kProcIdle;
      running_procs_.erase(proc);
      if (is_idle) idle_procs_.insert(proc);
      if (change.kind == Change::kProcRunning) running_procs_.insert(proc);
      if (static_cast<uint64_t>(proc.value) < limit_) idle_ += int{is_idle} - int{was_idle};
      return;
    }
    case Change::kLimit:
      limit_ = static_cast<uint64_t>(change.subject);
      idle_ = CountIdle();
      return;
    case Change::kStop:
    case Change::kTracerStop:
    case Change::kStart:
      stop_ = change.kind;
      return;
  }
}

void ReadySweep::ApplyTo(Goroutine& goroutine, Change::Kind kind) {
  Leave(goroutine);
  switch (kind) {
    case Change::kAssist:
    case Change::kNoAssist:
      goroutine.is_assisting = kind == Change::kAssist;
      break;
    case Change::kLongRun:
      goroutine.is_long = true;
      break;
    default:
      goroutine.state = kind;
      goroutine.is_long = false;
      break;
  }
  Enter(goroutine);
}

void ReadySweep::Enter(Goroutine& goroutine) {
  if (goroutine.state == Change::kReady) {
    ++runnable_;
    if (KindHere(goroutine) == Kind::kProgram) ++ready_;
    if (!long_changes_.empty()) ++ready_by_start_[StartHere(goroutine)];
    goroutine.since = time_;
    goroutine.charges_before = charges_;
  } else if (goroutine.state == Change::kRunning) {
    goroutine.does = WhatItDoes(goroutine);
    ++internal::Of(goroutine.does, running_);
    if (goroutine.does == ReadyCause::kLongRun) long_running_.push_back(&goroutine);
    goroutine.share_before = share_;
  }
}

void ReadySweep::Leave(Goroutine& goroutine) {
  if (goroutine.state == Change::kReady) {
    --runnable_;
    if (KindHere(goroutine) == Kind::kProgram) --ready_;
    if (!long_changes_.empty()) --ready_by_start_[StartHere(goroutine)];
    int64_t rest = Multiply(kUnit, Between(goroutine.since, time_));
    if (rest == 0) return;
    Charges& waited = SumsOf(goroutine).waited;
    for (size_t i = 0; i < kReadyCauseEnd; ++i) {
      const int64_t charge = Between(goroutine.charges_before[i], charges_[i]);
      AddTime(charge, &waited[i]);
      SubtractTime(charge, &rest);
    }
    AddTime(rest, &internal::Of(ReadyCause::kOther, waited));
  } else if (goroutine.state == Change::kRunning) {
    --internal::Of(goroutine.does, running_);
    const int64_t share = Between(goroutine.share_before, share_);
    if (goroutine.does == ReadyCause::kLongRun) {
      long_running_.erase(absl::c_find(long_running_, &goroutine));
      LongRun& run = long_runs_[goroutine.id];
      if (run.start == StringId::kEmpty) run.start = StartHere(goroutine);
      AddTime(share, &run.waited);
    }
    if (share != 0) AddTime(share, &internal::Of(goroutine.does, SumsOf(goroutine).ran));
  }
}

ReadySweep::Sums& ReadySweep::SumsOf(const Goroutine& goroutine) {
  const bool is_known = !goroutine.start.is_open() && !goroutine.is_older;
  return is_known ? functions_[goroutine.start.name()] : pending_[goroutine.id];
}

void ReadySweep::Advance(int64_t to) {
  to = std::min(to, window_.to);
  if (to <= time_) return;
  Moment moment = {time_, to, runnable_, idle_, stop_ != Change::kStart, {}};
  if (moment.is_stopped) {
    moment.stopped = IdleProcs();
    if (stops_.empty() || stops_.back().end != time_) stops_.push_back({time_, time_});
    stops_.back().end = to;
  }
  take_(moment);
  if (ready_ > 0) Charge(Between(time_, to));
  time_ = to;
}

void ReadySweep::Charge(int64_t length) {
  if (stop_ != Change::kStart) {
    const bool is_tracer = stop_ == Change::kTracerStop;
    AddTime(Multiply(kUnit, length),
            &internal::Of(is_tracer ? ReadyCause::kTracer : ReadyCause::kStopped, charges_));
    return;
  }
  const int64_t with_idle = std::min(ready_, idle_);
  AddTime(Share(Multiply(with_idle, length), ready_),
          &internal::Of(ReadyCause::kIdleProcs, charges_));
  const int64_t busy = std::max(absl::c_accumulate(running_, int64_t{0}),
                                static_cast<int64_t>(running_procs_.size()));
  if (busy == 0 || with_idle == ready_) return;
  const int64_t time = Multiply(ready_ - with_idle, length);
  AddTime(Share(time, busy), &share_);
  const int64_t charge = Share(time, Multiply(busy, ready_));
  for (size_t i = 0; i < kReadyCauseEnd; ++i) {
    AddTime(Multiply(running_[i], charge), &charges_[i]);
  }
  for (const Goroutine* const goroutine : long_running_) {
    AddTime(Multiply(ready_by_start_[StartHere(*goroutine)], charge),
            &long_runs_[goroutine->id].peers_waited);
  }
}

void ReadySweep::Add(const Sums& more, Sums* sums) {
  for (size_t i = 0; i < kReadyCauseEnd; ++i) {
    AddTime(more.waited[i], &sums->waited[i]);
    AddTime(more.ran[i], &sums->ran[i]);
  }
}

// Adds the goroutines that ended in `next` and may be older than it.
void ReadySweep::MergeEnded(ReadySweep& next, const InternerMap& ids) {
  for (const auto& [id, rest] : next.ended_older_) {
    const Goroutine* const before = goroutines_.Find(id);
    StartFunction start = before == nullptr ? StartFunction() : before->start;
    StartFunction later = rest.start;
    later.MapIds(ids);
    start.Learn(later);
    Add(rest.pending, &pending_[id]);
    Retire(id, start, before == nullptr || before->is_older);
  }
}

void ReadySweep::MergeGoroutines(ReadySweep& next, const InternerMap& ids) {
  next.goroutines_.ForEach([&](Goroutine& rest) {
    rest.start.MapIds(ids);
    rest.start_here = ids(rest.start_here);
    const Goroutine* const before = rest.is_older ? goroutines_.Find(rest.id) : nullptr;
    if (before != nullptr) {
      rest.is_older = before->is_older;
      StartFunction start = before->start;
      start.Learn(rest.start);
      rest.start = start;
    }
    if (const auto pending = next.pending_.find(rest.id); pending != next.pending_.end()) {
      Add(pending->second, &pending_[rest.id]);
    }
    const auto pending = pending_.find(rest.id);
    if (pending == pending_.end() || rest.start.is_open() || rest.is_older) return;
    Add(pending->second, &functions_[rest.start.name()]);
    pending_.erase(pending);
  });
  // In a damaged trace `next` may not state all goroutines.
  std::vector<GoId> lost;
  for (const auto& [id, sums] : pending_) {
    if (next.goroutines_.Find(id) == nullptr) lost.push_back(id);
  }
  for (const GoId id : lost) {
    const Goroutine* const goroutine = goroutines_.Find(id);
    Retire(id, goroutine == nullptr ? StartFunction() : goroutine->start, /*is_older=*/true);
  }
  goroutines_ = std::move(next.goroutines_);
}

void ReadySweep::Merge(ReadySweep& next, const InternerMap& ids) {
  EndGeneration(next.begin_);
  MergeEnded(next, ids);
  MergeGoroutines(next, ids);
  for (const auto& [start, sums] : next.functions_) Add(sums, &functions_[ids(start)]);
  for (const auto& [id, run] : next.long_runs_) {
    LongRun& sum = long_runs_[id];
    if (sum.start == StringId::kEmpty) sum.start = ids(run.start);
    AddTime(run.waited, &sum.waited);
    AddTime(run.peers_waited, &sum.peers_waited);
  }
  stops_.insert(stops_.end(), next.stops_.begin(), next.stops_.end());
  begin_ = std::min(begin_, next.begin_);
  seen_from_ = std::min(seen_from_, next.seen_from_);
  generation_ = next.generation_;
  generation_begin_ = next.generation_begin_;
  has_statement_ = next.has_statement_;
  has_limit_ = next.has_limit_;
  changes_ = std::move(next.changes_);
  long_changes_ = std::move(next.long_changes_);
  ended_ = std::move(next.ended_);
  idle_procs_ = std::move(next.idle_procs_);
  running_procs_ = std::move(next.running_procs_);
  stated_procs_.insert(next.stated_procs_.begin(), next.stated_procs_.end());
  limit_ = next.limit_;
}

void ReadySweep::Finish(int64_t end) {
  EndGeneration(end);
  for (const auto& [id, sums] : pending_) {
    const Goroutine* const goroutine = goroutines_.Find(id);
    Add(sums, &functions_[goroutine == nullptr ? StringId::kEmpty : goroutine->start.name()]);
  }
  for (const auto& [id, ended] : ended_older_) Add(ended.pending, &functions_[ended.start.name()]);
  pending_.clear();
  ended_older_.clear();
}

}  // namespace gotrace::internal
