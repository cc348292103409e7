// The times of a P by its activity are sums of intervals. What depends on several goroutines or Ps
// at the same moment is from a ReadySweep.
#include "gotrace/proc_stats.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "analysis/core/time_slices.h"
#include "analysis/core/time_sums.h"
#include "analysis/gc/proc_limits.h"
#include "analysis/gc/ready_sweep.h"
#include "analysis/intervals/assist_parts.h"
#include "analysis/intervals/mark_workers.h"
#include "analysis/intervals/partial_goroutines.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/profile/profile_samples.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::SubtractTime;

int64_t ProcTimes::Running() const {
  int64_t sum = user;
  for (const int64_t part : {gc, assist}) AddTime(part, &sum);
  return sum;
}

int64_t ProcTimes::Busy() const {
  int64_t sum = Running();
  for (const int64_t part : {syscall, scheduler}) AddTime(part, &sum);
  return sum;
}

int64_t ProcTimes::Total() const {
  int64_t sum = Busy();
  AddTime(idle, &sum);
  AddTime(stopped, &sum);
  return sum;
}

void ProcTimes::Add(const ProcTimes& other) {
  AddTime(other.user, &user);
  AddTime(other.gc, &gc);
  AddTime(other.assist, &assist);
  AddTime(other.syscall, &syscall);
  AddTime(other.scheduler, &scheduler);
  AddTime(other.idle, &idle);
  AddTime(other.stopped, &stopped);
}

absl::string_view ReadyCauseName(ReadyCause cause) {
  constexpr absl::string_view kNames[] = {"stopped",   "tracer",  "idle Ps", "program",
                                          "long runs", "assists", "gc",      "other"};
  return kNames[static_cast<size_t>(cause)];
}

int64_t ReadyTimes::Total() const {
  int64_t sum = 0;
  for (const int64_t time : by_cause) AddTime(time, &sum);
  return sum;
}

void ReadyTimes::Add(const ReadyTimes& other) {
  for (size_t i = 0; i < by_cause.size(); ++i) AddTime(other.by_cause[i], &by_cause[i]);
}

namespace {

// Sums in a slice of time. `times.scheduler` is the time of running Ps, including the time in which
// they run goroutines.
struct SliceSums {
  ProcTimes times;
  int64_t runnable = 0;
  int64_t idle_while_runnable = 0;

  void Add(const SliceSums& other) {
    times.Add(other.times);
    AddTime(other.runnable, &runnable);
    AddTime(other.idle_while_runnable, &idle_while_runnable);
  }
};

// Subtracts the time of goroutines from the time of running Ps.
ProcTimes WithSchedulerAlone(ProcTimes times) {
  // Where events are missing, a P may be idle in a stop and not in any interval.
  times.idle = std::max<int64_t>(times.idle, 0);
  for (const int64_t known : {times.user, times.gc, times.assist, times.syscall}) {
    SubtractTime(known, &times.scheduler);
  }
  // Where events are missing, a goroutine may run on a P that is not known to.
  times.scheduler = std::max<int64_t>(times.scheduler, 0);
  return times;
}

// What a goroutine of the program waits for.
enum class RuntimeWait : uint8_t {
  kNone,   // Something else.
  kCycle,  // For a GC cycle to begin or to end.
  kStop,   // To stop the world.
};

RuntimeWait FindWait(const Interner& interner, StackId stack) {
  if (internal::IsOfSystem(interner.RootFunction(stack))) return RuntimeWait::kNone;
  RuntimeWait wait = RuntimeWait::kNone;
  for (const FrameId frame : interner.Frames(stack)) {
    const absl::string_view function = interner.Frame(frame).func;
    if (function == "runtime.gcStart" || function == "runtime.GC" ||
        function == "runtime/debug.FreeOSMemory") {
      return RuntimeWait::kCycle;
    }
    // The tracer's own stops cost nobody but itself.
    if (absl::StartsWith(function, "runtime/trace.")) return RuntimeWait::kNone;
    if (function == "runtime.stopTheWorld" || function == "runtime.stopTheWorldGC") {
      wait = RuntimeWait::kStop;
    }
  }
  return wait;
}

int64_t Multiply(int64_t count, int64_t time) {
  return static_cast<int64_t>(static_cast<uint64_t>(count) * static_cast<uint64_t>(time));
}

// Rounds charges to nanoseconds, so that their sum is the rounded sum: that of the times in which
// goroutines were ready is exact.
ReadyTimes Round(const internal::ReadySweep::Charges& charges) {
  ReadyTimes times;
  int64_t sum = 0;
  int64_t rounded = 0;
  for (size_t i = 0; i < charges.size(); ++i) {
    AddTime(charges[i], &sum);
    times.by_cause[i] = Between(rounded, sum / internal::ReadySweep::kUnit);
    AddTime(times.by_cause[i], &rounded);
  }
  return times;
}

}  // namespace

class ProcStats::Impl {
 public:
  Impl(Interner* interner, EventFilter filter) : interner_(*interner), filter_(std::move(filter)) {
    sweep_.SetWindow(filter_.times);
  }

  void Begin(int64_t trace_start, EventFilter::Times window) {
    filter_ = filter_.Within(trace_start, window);
    sweep_.SetWindow(filter_.times);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void AddProc(const ProcInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  absl::Span<const ProcUse> procs() const { return procs_; }
  const ReadyTimes& ready() const { return ready_; }
  absl::Span<const ReadyFunction> ready_functions() const { return ready_functions_; }
  absl::Span<const LongRunner> long_runners() const { return long_runners_; }
  const AssistTimes& assists() const { return assist_times_; }
  int64_t idle_workers() const { return idle_workers_; }
  absl::Span<const RuntimeWaits> gc_waits() const { return gc_waits_; }
  absl::Span<const RuntimeWaits> stop_waits() const { return stop_waits_; }
  absl::Span<const ProcLimit> limits() const { return limits_; }
  std::vector<ProcSlice> Slices(size_t most) const;

 private:
  struct Data {
    // The Ps on which the goroutine ran first and last.
    ProcId first = ProcId::kNone;
    ProcId last = ProcId::kNone;

    internal::StartFunction start;
    AssistTimes assists;

    // The stack of its first interval, and the length of the last one if that was a long run: it
    // ended where the next interval begins.
    bool has_first = false;
    StackId first_stack = StackId::kNone;
    int64_t last_long_run = 0;
    int64_t last_long_begin = 0;
  };
  // The long runs of a goroutine.
  struct LongRuns {
    uint64_t count = 0;
    int64_t longest = 0;
    int64_t longest_begin = 0;
    StackId stack = StackId::kNone;     // Where the longest ended.
    StringId start = StringId::kEmpty;  // Where the goroutine started, once it is complete.
  };
  using Goroutines = internal::PartialGoroutines<Data>;

  void NoteLimit(const ProcLimit& limit);
  void AddMoment(const internal::ReadySweep::Moment& moment);
  // Adds the time from `begin` to `end`, or subtracts it if `sign` is -1. Slices get the part that
  // was seen.
  void AddTime(ProcId proc, int64_t ProcTimes::*kind, int64_t begin, int64_t end, int64_t seen_from,
               int64_t sign = 1);
  void AddIdle(const ProcInterval& interval, int64_t ProcTimes::*kind = &ProcTimes::idle,
               int64_t sign = 1);
  void AddUnnamed();
  // Its last run, a long one, ended at `stack`.
  void EndLongRun(GoId goroutine, const Data& data, StackId stack);
  void FinishReady();
  void AddAssist(const GoInterval& interval, int64_t begin, int64_t end);
  RuntimeWait WaitIn(StackId stack);
  void Complete(const Goroutines::Entry& entry);
  void Continue(const Goroutines::Entry& rest, Goroutines::Entry* entry);

  Interner& interner_;
  EventFilter filter_;
  internal::ReadySweep sweep_{
      &interner_, [this](const internal::ReadySweep::Moment& moment) { AddMoment(moment); }};

  absl::flat_hash_map<ProcId, ProcUse> uses_;
  internal::TimeSlices<SliceSums> slices_;
  std::vector<ProcLimit> limits_;
  int64_t seen_from_ = 0;  // The beginning of the slices, and their end. Valid after Finish().
  int64_t end_ = 0;

  internal::MarkWorkers workers_;

  Goroutines goroutines_{
      [this](Goroutines::Entry& entry) { Complete(entry); },
      [this](Goroutines::Entry& rest, Goroutines::Entry& entry) { Continue(rest, &entry); }};

  internal::AssistParts assists_{[this](const GoInterval& interval, int64_t begin, int64_t end) {
    AddAssist(interval, begin, end);
  }};

  // Intervals that cross into the next part of the trace, which may change GOMAXPROCS.
  std::vector<ProcInterval> crossing_;
  int64_t last_event_ = std::numeric_limits<int64_t>::min();

  absl::flat_hash_map<GoId, LongRuns> long_runs_;
  AssistTimes assist_times_;
  int64_t idle_workers_ = 0;
  absl::flat_hash_map<StackId, int64_t> waits_;  // Of kinds other than RuntimeWait::kNone.
  std::vector<std::optional<RuntimeWait>> runtime_waits_;  // By StackId.

  std::vector<ProcUse> procs_;
  ReadyTimes ready_;
  std::vector<ReadyFunction> ready_functions_;
  std::vector<LongRunner> long_runners_;
  std::vector<RuntimeWaits> gc_waits_;
  std::vector<RuntimeWaits> stop_waits_;
};

void ProcStats::Impl::AddEvents(absl::Span<const Event> events) {
  goroutines_.AddEvents(events);
  for (const Event& event : events) {
    last_event_ = std::max(last_event_, event.time());
    assists_.Add(event);
    sweep_.Add(event);
    workers_.Add(event);
    if (event.type() == EventType::kProcsChange) {
      NoteLimit({event.time(), event.metric().value});
    }
  }
}

void ProcStats::Impl::NoteLimit(const ProcLimit& limit) {
  if (!limits_.empty() && limits_.back().procs == limit.procs) return;
  limits_.push_back(limit);
}

// Ps that are idle in a stop of the world are stopped.
void ProcStats::Impl::AddMoment(const internal::ReadySweep::Moment& moment) {
  for (const ProcId proc : moment.stopped) {
    AddTime(proc, &ProcTimes::idle, moment.begin, moment.end, moment.begin, -1);
    AddTime(proc, &ProcTimes::stopped, moment.begin, moment.end, moment.begin);
  }
  if (moment.runnable <= 0) return;
  const int64_t wasted = moment.is_stopped ? 0 : std::min(moment.idle, moment.runnable);
  slices_.Spread(moment.begin, moment.end, [&](SliceSums& sums, int64_t length) {
    internal::AddTime(Multiply(moment.runnable, length), &sums.runnable);
    internal::AddTime(Multiply(wasted, length), &sums.idle_while_runnable);
  });
}

void ProcStats::Impl::AddTime(ProcId proc, int64_t ProcTimes::*kind, int64_t begin, int64_t end,
                              int64_t seen_from, int64_t sign) {
  if (begin >= end || !filter_.Selects(proc)) return;
  internal::AddTime(Multiply(sign, Between(begin, end)), &(uses_[proc].times.*kind));
  slices_.Spread(std::max(begin, seen_from), end, [&](SliceSums& sums, int64_t length) {
    internal::AddTime(Multiply(sign, length), &(sums.times.*kind));
  });
}

// A P does not exist while GOMAXPROCS is too small for it.
void ProcStats::Impl::AddIdle(const ProcInterval& interval, int64_t ProcTimes::*kind,
                              int64_t sign) {
  const ProcId proc = interval.proc;
  const int64_t end = interval.end;
  const int64_t seen_from = interval.Seen().begin;
  int64_t begin = interval.begin;
  if (limits_.empty()) return AddTime(proc, kind, begin, end, seen_from, sign);
  auto next = absl::c_upper_bound(
      limits_, begin, [](int64_t time, const ProcLimit& limit) { return time < limit.time; });
  // The first limit in the trace applies from the beginning.
  if (next == limits_.begin()) ++next;
  for (int cuts = 0; begin < end; ++cuts) {
    const bool is_last = next == limits_.end() || cuts == internal::kMaxProcCuts;
    const int64_t until = is_last ? end : std::clamp(next->time, begin, end);
    if (static_cast<uint64_t>(proc.value) < std::prev(next)->procs) {
      AddTime(proc, kind, begin, until, seen_from, sign);
    }
    begin = until;
    if (!is_last) ++next;
  }
}

// A P that no event names was idle until GOMAXPROCS became too small for it, since Go states the
// status of each P that exists when a generation ends.
void ProcStats::Impl::AddUnnamed() {
  std::vector<int64_t> gone(internal::kMaxUnnamedProcs, std::numeric_limits<int64_t>::min());
  int cuts = 0;
  for (size_t i = 1; i < limits_.size() && cuts < internal::kMaxProcCuts; ++i) {
    const uint64_t end = std::min(limits_[i - 1].procs, internal::kMaxUnnamedProcs);
    if (limits_[i].procs < end) ++cuts;
    for (uint64_t p = limits_[i].procs; p < end; ++p) gone[p] = limits_[i].time;
  }
  for (size_t p = 0; p < gone.size(); ++p) {
    ProcInterval idle;
    idle.proc = ProcId{static_cast<int64_t>(p)};
    idle.begin = std::max(sweep_.begin(), filter_.times.from);
    idle.end = std::min(gone[p], filter_.times.to);
    if (idle.begin >= idle.end || uses_.contains(idle.proc)) continue;
    idle.unseen = std::max<int64_t>(Between(idle.begin, sweep_.seen_from()), 0);
    AddIdle(idle);
    for (const internal::ReadySweep::Stop& stop : sweep_.stops()) {
      ProcInterval stopped;
      stopped.proc = idle.proc;
      stopped.begin = std::max(stop.begin, idle.begin);
      stopped.end = std::min(stop.end, idle.end);
      if (stopped.begin >= stopped.end) continue;
      AddIdle(stopped, &ProcTimes::idle, -1);
      AddIdle(stopped, &ProcTimes::stopped);
    }
  }
}

void ProcStats::Impl::AddAssist(const GoInterval& interval, int64_t begin, int64_t end) {
  const int64_t seen_from = interval.Seen().begin;
  const int64_t seen = std::max<int64_t>(Between(std::max(begin, seen_from), end), 0);
  AssistTimes& times = goroutines_.Of(interval.goroutine).data.assists;
  if (interval.state == GoState::kWaiting) {
    internal::AddTime(seen, &times.waiting);
    if (WaitIn(interval.stack) != RuntimeWait::kNone) SubtractTime(seen, &waits_[interval.stack]);
  }
  if (interval.state != GoState::kRunning) return;
  internal::AddTime(seen, &times.running);
  if (interval.proc == ProcId::kNone) return;
  AddTime(interval.proc, &ProcTimes::user, begin, end, seen_from, -1);
  AddTime(interval.proc, &ProcTimes::assist, begin, end, seen_from);
}

// Returns what a goroutine of the program that waits with this stack waits for.
RuntimeWait ProcStats::Impl::WaitIn(StackId stack) {
  const auto index = static_cast<size_t>(stack);
  if (index >= runtime_waits_.size()) runtime_waits_.resize(index + 1);
  std::optional<RuntimeWait>& known = runtime_waits_[index];
  if (!known.has_value()) known = FindWait(interner_, stack);
  return *known;
}

void ProcStats::Impl::AddGoroutine(const GoInterval& interval) {
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  entry.data.start.Learn(interner_, interval.stack);
  assists_.AddGoroutine(interval);
  const int64_t seen_from = interval.Seen().begin;
  if (entry.data.last_long_run > 0) EndLongRun(interval.goroutine, entry.data, interval.stack);
  entry.data.last_long_run = 0;
  if (!std::exchange(entry.data.has_first, true)) entry.data.first_stack = interval.stack;
  if (interval.state == GoState::kRunning) {
    const int64_t length = Between(seen_from, interval.end);
    if (length >= internal::ReadySweep::kLongRunLength) {
      entry.data.last_long_run = length;
      entry.data.last_long_begin = seen_from;
    }
  }
  if (interval.state == GoState::kRunning) {
    const internal::MarkWorker worker = workers_.TakeRun(interval);
    const ProcId proc = interval.proc;
    if (proc != ProcId::kNone) {
      const bool is_worker = worker != internal::MarkWorker::kNone;
      AddTime(proc, is_worker ? &ProcTimes::gc : &ProcTimes::user, interval.begin, interval.end,
              seen_from);
      if (worker == internal::MarkWorker::kIdle && filter_.Selects(proc)) {
        internal::AddTime(Between(interval.begin, interval.end), &idle_workers_);
      }
      ProcUse& use = uses_[proc];
      if (!interval.begin_clipped) ++use.runs;
      Data& data = entry.data;
      if (data.last != ProcId::kNone && data.last != proc) ++use.migrations;
      if (data.first == ProcId::kNone) data.first = proc;
      data.last = proc;
    }
  } else if (interval.state == GoState::kWaiting && WaitIn(interval.stack) != RuntimeWait::kNone) {
    internal::AddTime(Between(seen_from, interval.end), &waits_[interval.stack]);
  } else if (interval.state == GoState::kSyscall && interval.proc != ProcId::kNone) {
    AddTime(interval.proc, &ProcTimes::syscall, interval.begin, interval.proc_until, seen_from);
  }
  goroutines_.End(interval, entry);
}

void ProcStats::Impl::EndLongRun(GoId goroutine, const Data& data, StackId stack) {
  LongRuns& runs = long_runs_[goroutine];
  ++runs.count;
  if (data.last_long_run <= runs.longest) return;
  runs.longest = data.last_long_run;
  runs.longest_begin = data.last_long_begin;
  runs.stack = stack;
}

void ProcStats::Impl::Complete(const Goroutines::Entry& entry) {
  const Data& data = entry.data;
  if (data.last_long_run > 0) EndLongRun(entry.id, data, StackId::kNone);
  const auto runs = long_runs_.find(entry.id);
  if (internal::IsOfSystem(interner_.String(data.start.name()))) {
    if (runs != long_runs_.end()) long_runs_.erase(runs);
    return;
  }
  if (runs != long_runs_.end()) runs->second.start = data.start.name();
  internal::AddTime(data.assists.running, &assist_times_.running);
  internal::AddTime(data.assists.waiting, &assist_times_.waiting);
}

void ProcStats::Impl::Continue(const Goroutines::Entry& rest, Goroutines::Entry* entry) {
  Data& data = entry->data;
  const Data& more = rest.data;
  data.start.Learn(more.start);
  internal::AddTime(more.assists.running, &data.assists.running);
  internal::AddTime(more.assists.waiting, &data.assists.waiting);
  if (more.has_first) {
    if (data.last_long_run > 0) EndLongRun(entry->id, data, more.first_stack);
    data.last_long_run = more.last_long_run;
    data.last_long_begin = more.last_long_begin;
    if (!std::exchange(data.has_first, true)) data.first_stack = more.first_stack;
  }
  if (more.first == ProcId::kNone) return;
  if (data.last != ProcId::kNone && data.last != more.first) ++uses_[more.first].migrations;
  if (data.first == ProcId::kNone) data.first = more.first;
  data.last = more.last;
}

void ProcStats::Impl::AddProc(const ProcInterval& interval) {
  if (interval.end > last_event_) return crossing_.push_back(interval);
  if (interval.state == ProcState::kIdle) {
    AddIdle(interval);
  } else {
    AddTime(interval.proc, &ProcTimes::scheduler, interval.begin, interval.end,
            interval.Seen().begin);
  }
  ProcUse& use = uses_[interval.proc];
  if (interval.stolen) ++use.steals;
}

void ProcStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  sweep_.Merge(next.sweep_, ids);
  for (const ProcLimit& limit : next.limits_) NoteLimit(limit);
  for (const auto& [proc, more] : next.uses_) {
    ProcUse& use = uses_[proc];
    use.times.Add(more.times);
    use.runs += more.runs;
    use.migrations += more.migrations;
    use.steals += more.steals;
  }
  slices_.Merge(next.slices_);
  internal::AddTime(next.assist_times_.running, &assist_times_.running);
  internal::AddTime(next.idle_workers_, &idle_workers_);
  internal::AddTime(next.assist_times_.waiting, &assist_times_.waiting);
  for (const auto& [stack, time] : next.waits_) internal::AddTime(time, &waits_[ids(stack)]);
  workers_.Merge(next.workers_);
  // Before goroutines are complete, which removes those of the runtime.
  for (const auto& [goroutine, more] : next.long_runs_) {
    LongRuns& runs = long_runs_[goroutine];
    runs.count += more.count;
    if (more.start != StringId::kEmpty) runs.start = ids(more.start);
    if (more.longest <= runs.longest) continue;
    runs.longest = more.longest;
    runs.longest_begin = more.longest_begin;
    runs.stack = ids(more.stack);
  }
  goroutines_.Merge(next.goroutines_, [&](Data* data) {
    data->first_stack = ids(data->first_stack);
    data->start.MapIds(ids);
  });
  assists_.Merge(next.assists_);
  last_event_ = std::max(last_event_, next.last_event_);
  for (const ProcInterval& interval : std::exchange(crossing_, {})) AddProc(interval);
}

void ProcStats::Impl::Finish(int64_t end) {
  sweep_.Finish(end);
  AddUnnamed();
  seen_from_ = std::max(sweep_.seen_from(), filter_.times.from);
  end_ = std::max(end, seen_from_);
  goroutines_.Finish();
  FinishReady();
  for (const auto& [stack, time] : waits_) {
    (WaitIn(stack) == RuntimeWait::kCycle ? gc_waits_ : stop_waits_).push_back({stack, time});
  }
  for (std::vector<RuntimeWaits>* const waits : {&gc_waits_, &stop_waits_}) {
    absl::c_sort(*waits, [&](const RuntimeWaits& a, const RuntimeWaits& b) {
      if (a.time != b.time) return a.time > b.time;
      return internal::CompareStacks(interner_, a.stack, b.stack) < 0;
    });
  }
  for (auto& [proc, use] : uses_) {
    if (!filter_.Selects(proc)) continue;
    use.proc = proc;
    use.times = WithSchedulerAlone(use.times);
    procs_.push_back(use);
  }
  absl::c_sort(procs_, [](const ProcUse& a, const ProcUse& b) { return a.proc < b.proc; });
}

void ProcStats::Impl::FinishReady() {
  internal::ReadySweep::Charges of_program{};
  for (const auto& [start, sums] : sweep_.functions()) {
    ReadyFunction& function = ready_functions_.emplace_back();
    function.start = start;
    function.is_system = internal::IsOfSystem(interner_.String(start));
    function.waited = Round(sums.waited);
    function.ran = Round(sums.ran);
    if (function.is_system) continue;
    for (size_t i = 0; i < of_program.size(); ++i) {
      internal::AddTime(sums.waited[i], &of_program[i]);
    }
  }
  absl::c_sort(ready_functions_, [&](const ReadyFunction& a, const ReadyFunction& b) {
    return interner_.String(a.start) < interner_.String(b.start);
  });
  ready_ = Round(of_program);
  for (const auto& [goroutine, runs] : long_runs_) {
    const auto found = sweep_.long_runs().find(goroutine);
    const bool has_cost = found != sweep_.long_runs().end();
    LongRunner& runner = long_runners_.emplace_back();
    runner.goroutine = goroutine;
    runner.runs = runs.count;
    runner.longest = runs.longest;
    runner.longest_begin = runs.longest_begin;
    runner.stack = runs.stack;
    runner.start = runs.start;
    if (!has_cost) continue;
    if (runner.start == StringId::kEmpty) runner.start = found->second.start;
    runner.waited = found->second.waited / internal::ReadySweep::kUnit;
    runner.peers_waited = found->second.peers_waited / internal::ReadySweep::kUnit;
  }
  absl::c_sort(long_runners_, [](const LongRunner& a, const LongRunner& b) {
    return std::pair(b.waited, a.goroutine) < std::pair(a.waited, b.goroutine);
  });
}

std::vector<ProcSlice> ProcStats::Impl::Slices(size_t most) const {
  const std::vector<SliceSums> slices = slices_.Slices();
  const auto count = static_cast<int64_t>(slices.size());
  if (count == 0) return {};
  const int64_t last = slices_.first() + count - 1;
  // 1, 2, 5, 10, 20, 50, ...
  int64_t factor = 1;
  const auto index = [&](int64_t i) { return slices_.Divide(i, factor); };
  for (int step = 0; index(last) - index(slices_.first()) >= static_cast<int64_t>(most); ++step) {
    factor = step % 3 == 1 ? factor / 2 * 5 : factor * 2;
  }
  std::vector<SliceSums> sums(static_cast<size_t>(index(last) - index(slices_.first())) + 1);
  for (int64_t i = slices_.first(); i <= last; ++i) {
    sums[static_cast<size_t>(index(i) - index(slices_.first()))].Add(
        slices[static_cast<size_t>(i - slices_.first())]);
  }
  std::vector<ProcSlice> result;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t number = index(slices_.first()) + static_cast<int64_t>(i);
    ProcSlice& slice = result.emplace_back();
    slice.begin = i == 0 ? seen_from_ : number * factor * slices_.width();
    slice.end = end_;
    if (i > 0) result[i - 1].end = slice.begin;
    slice.times = WithSchedulerAlone(sums[i].times);
    slice.runnable = sums[i].runnable;
    slice.idle_while_runnable = sums[i].idle_while_runnable;
  }
  return result;
}

ProcStats::ProcStats(Interner* interner, EventFilter filter)
    : impl_(std::make_unique<Impl>(interner, std::move(filter))) {}
ProcStats::~ProcStats() = default;

void ProcStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void ProcStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void ProcStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void ProcStats::AddProc(const ProcInterval& interval) { impl_->AddProc(interval); }
void ProcStats::Merge(ProcStats&& next, const InternerMap& ids) { impl_->Merge(*next.impl_, ids); }
void ProcStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const ProcUse> ProcStats::procs() const { return impl_->procs(); }
absl::Span<const ProcLimit> ProcStats::limits() const { return impl_->limits(); }
const ReadyTimes& ProcStats::ready() const { return impl_->ready(); }
absl::Span<const ReadyFunction> ProcStats::ready_functions() const {
  return impl_->ready_functions();
}
absl::Span<const LongRunner> ProcStats::long_runners() const { return impl_->long_runners(); }
const AssistTimes& ProcStats::assists() const { return impl_->assists(); }
int64_t ProcStats::idle_workers() const { return impl_->idle_workers(); }
absl::Span<const RuntimeWaits> ProcStats::gc_waits() const { return impl_->gc_waits(); }
absl::Span<const RuntimeWaits> ProcStats::stop_waits() const { return impl_->stop_waits(); }
std::vector<ProcSlice> ProcStats::Slices(size_t most) const { return impl_->Slices(most); }

ProcSlice ProcStats::Sum() const {
  ProcSlice sum;
  for (const ProcSlice& slice : Slices(2)) {
    if (sum.begin == 0 && sum.end == 0) sum.begin = slice.begin;
    sum.end = slice.end;
    sum.times.Add(slice.times);
    internal::AddTime(slice.runnable, &sum.runnable);
    internal::AddTime(slice.idle_while_runnable, &sum.idle_while_runnable);
  }
  return sum;
}

}  // namespace gotrace
