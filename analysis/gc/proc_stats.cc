// The times of a P by its activity are sums of intervals. The numbers of goroutines that wait and
// of Ps that are idle at the same moment are counted from the events of a generation once it is
// complete, since states that a generation only states late have lasted from its beginning.
#include "gotrace/proc_stats.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_slices.h"
#include "analysis/core/time_sums.h"
#include "analysis/gc/proc_limits.h"
#include "analysis/intervals/assist_parts.h"
#include "analysis/intervals/mark_workers.h"
#include "analysis/intervals/partial_goroutines.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/states.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::SubtractTime;

int64_t ProcTimes::Busy() const {
  int64_t sum = 0;
  for (const int64_t part : {user, gc, assist, syscall, scheduler}) AddTime(part, &sum);
  return sum;
}

int64_t ProcTimes::Total() const {
  int64_t sum = Busy();
  AddTime(idle, &sum);
  return sum;
}

void ProcTimes::Add(const ProcTimes& other) {
  AddTime(other.user, &user);
  AddTime(other.gc, &gc);
  AddTime(other.assist, &assist);
  AddTime(other.syscall, &syscall);
  AddTime(other.scheduler, &scheduler);
  AddTime(other.idle, &idle);
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
  for (const int64_t known : {times.user, times.gc, times.assist, times.syscall}) {
    SubtractTime(known, &times.scheduler);
  }
  // Where events are missing, a goroutine may run on a P that is not known to.
  times.scheduler = std::max<int64_t>(times.scheduler, 0);
  return times;
}

int64_t Multiply(int64_t count, int64_t time) {
  return static_cast<int64_t>(static_cast<uint64_t>(count) * static_cast<uint64_t>(time));
}

}  // namespace

class ProcStats::Impl {
 public:
  explicit Impl(EventFilter filter) : filter_(std::move(filter)) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    filter_ = filter_.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void AddProc(const ProcInterval& interval);
  void Merge(Impl& next);
  void Finish(int64_t end);

  absl::Span<const ProcUse> procs() const { return procs_; }
  absl::Span<const ProcLimit> limits() const { return limits_; }
  std::vector<ProcSlice> Slices(size_t most) const;

 private:
  // The number of goroutines that wait to run, and the idle Ps.
  struct Waiting {
    int64_t runnable = 0;
    std::set<ProcId> idle;
    uint64_t limit = std::numeric_limits<uint64_t>::max();  // GOMAXPROCS, if known.

    // Returns the number of idle Ps that may run goroutines.
    int64_t IdleWithinLimit() const {
      int64_t count = 0;
      for (const ProcId proc : idle) count += static_cast<uint64_t>(proc.value) < limit ? 1 : 0;
      return count;
    }
  };
  struct Change {
    enum Kind : uint32_t { kRunnable, kNotRunnable, kIdle, kNotIdle, kLimit };

    int64_t time = 0;
    Kind kind = kRunnable;
    uint32_t number = 0;  // The P, or GOMAXPROCS.
  };

  // The Ps on which a goroutine ran first and last.
  struct Data {
    ProcId first = ProcId::kNone;
    ProcId last = ProcId::kNone;
  };
  using Goroutines = internal::PartialGoroutines<Data>;

  void AddTransition(const Event& event);
  void AddLimit(const ProcLimit& limit);
  void NoteLimit(const ProcLimit& limit);
  void Apply(const Change& change);
  void EndGeneration(int64_t end);
  // Adds the time from `begin` to `end`, or subtracts it if `sign` is -1. Slices get the part that
  // was seen.
  void AddTime(ProcId proc, int64_t ProcTimes::*kind, int64_t begin, int64_t end, int64_t seen_from,
               int64_t sign = 1);
  void AddIdle(const ProcInterval& interval);
  void AddUnnamed();
  void AddAssist(const GoInterval& interval, int64_t begin, int64_t end);
  void Continue(const Goroutines::Entry& rest, Goroutines::Entry* entry);

  EventFilter filter_;

  absl::flat_hash_map<ProcId, ProcUse> uses_;
  internal::TimeSlices<SliceSums> slices_;
  std::vector<ProcLimit> limits_;
  int64_t begin_ = std::numeric_limits<int64_t>::max();
  // The beginning of the slices: the first status, as for Interval::Seen().
  int64_t seen_from_ = std::numeric_limits<int64_t>::max();
  int64_t end_ = 0;

  // Whether a generation is being read.
  bool has_generation_ = false;
  bool is_first_generation_ = true;
  int64_t generation_begin_ = 0;
  bool has_statement_ = false;  // Whether it stated something that no earlier generation did.
  Waiting waiting_;             // The state when it began, as far as known.
  bool has_limit_ = false;      // Whether the generation has stated one.
  std::vector<Change> changes_;

  internal::MarkWorkers workers_;

  Goroutines goroutines_{
      [](Goroutines::Entry& /*entry*/) {},
      [this](Goroutines::Entry& rest, Goroutines::Entry& entry) { Continue(rest, &entry); }};

  internal::AssistParts assists_{[this](const GoInterval& interval, int64_t begin, int64_t end) {
    AddAssist(interval, begin, end);
  }};

  // Intervals that cross into the next part of the trace, which may change GOMAXPROCS.
  std::vector<ProcInterval> crossing_;
  int64_t last_event_ = std::numeric_limits<int64_t>::min();

  std::vector<ProcUse> procs_;
};

void ProcStats::Impl::AddEvents(absl::Span<const Event> events) {
  goroutines_.AddEvents(events);
  if (begin_ == std::numeric_limits<int64_t>::max()) {
    begin_ = seen_from_ = generation_begin_ = events.front().time();
  }
  for (const Event& event : events) {
    last_event_ = std::max(last_event_, event.time());
    assists_.Add(event);
    workers_.Add(event);
    switch (event.kind()) {
      case EventKind::kSync:
        is_first_generation_ = !has_generation_;
        has_generation_ = true;
        has_statement_ = false;
        EndGeneration(event.time());
        break;
      case EventKind::kStateTransition:
        AddTransition(event);
        break;
      default:
        if (event.type() == EventType::kProcsChange) {
          AddLimit({event.time(), event.metric().value});
        }
        break;
    }
  }
}

// Each generation states the limit when it begins, and when it changes.
void ProcStats::Impl::AddLimit(const ProcLimit& limit) {
  const Change change = {.time = limit.time,
                         .kind = Change::kLimit,
                         .number = static_cast<uint32_t>(std::min<uint64_t>(
                             limit.procs, std::numeric_limits<uint32_t>::max()))};
  if (std::exchange(has_limit_, true)) {
    changes_.push_back(change);
  } else {
    Apply(change);
  }
  NoteLimit(limit);
}

void ProcStats::Impl::NoteLimit(const ProcLimit& limit) {
  if (!limits_.empty() && limits_.back().procs == limit.procs) return;
  limits_.push_back(limit);
}

void ProcStats::Impl::AddTransition(const Event& event) {
  const ResourceId resource = event.transition_resource();
  const uint8_t from = event.transition_from();
  const uint8_t to = event.transition_to();
  const bool is_goroutine = resource.kind == ResourceKind::kGoroutine;
  if (!is_goroutine && resource.kind != ResourceKind::kProc) return;
  const auto state = static_cast<uint8_t>(is_goroutine ? static_cast<int>(GoState::kRunnable)
                                                       : static_cast<int>(ProcState::kIdle));
  // States in the first generation have lasted since its beginning.
  const bool is_statement = from == 0 || (from == to && is_first_generation_);
  static_assert(static_cast<int>(GoState::kUndetermined) == 0 &&
                static_cast<int>(ProcState::kUndetermined) == 0);
  if (from == 0 && !event.fault().has_value() && !std::exchange(has_statement_, true)) {
    generation_begin_ = std::max(generation_begin_, event.time());
    if (is_first_generation_) seen_from_ = generation_begin_;
  }
  const bool was = from == state && !is_statement;
  const bool is = to == state;
  if (was == is) return;
  Change change = {.time = event.time()};
  if (is_goroutine) {
    change.kind = is ? Change::kRunnable : Change::kNotRunnable;
  } else {
    change.kind = is ? Change::kIdle : Change::kNotIdle;
    change.number = static_cast<uint32_t>(resource.id);
  }
  if (is_statement) {
    Apply(change);
  } else {
    changes_.push_back(change);
  }
}

void ProcStats::Impl::Apply(const Change& change) {
  switch (change.kind) {
    case Change::kRunnable:
      ++waiting_.runnable;
      break;
    case Change::kNotRunnable:
      --waiting_.runnable;
      break;
    case Change::kIdle:
      waiting_.idle.insert(ProcId{change.number});
      break;
    case Change::kNotIdle:
      waiting_.idle.erase(ProcId{change.number});
      break;
    case Change::kLimit:
      waiting_.limit = change.number;
      break;
  }
}

void ProcStats::Impl::EndGeneration(int64_t end) {
  const auto is_earlier = [](const Change& a, const Change& b) { return a.time < b.time; };
  if (!absl::c_is_sorted(changes_, is_earlier)) absl::c_stable_sort(changes_, is_earlier);
  int64_t time = std::max(generation_begin_, filter_.times.from);
  int64_t idle = waiting_.IdleWithinLimit();
  const auto advance = [&](int64_t to) {
    to = std::min(to, filter_.times.to);
    if (to <= time) return;
    const int64_t runnable = std::max<int64_t>(waiting_.runnable, 0);
    if (runnable > 0) {
      slices_.Spread(time, to, [&](SliceSums& sums, int64_t length) {
        internal::AddTime(Multiply(runnable, length), &sums.runnable);
        internal::AddTime(Multiply(std::min(idle, runnable), length), &sums.idle_while_runnable);
      });
    }
    time = to;
  };
  for (const Change& change : changes_) {
    advance(change.time);
    Apply(change);
    if (change.kind >= Change::kIdle) idle = waiting_.IdleWithinLimit();
  }
  advance(end);
  changes_.clear();
  has_limit_ = false;
  generation_begin_ = end;
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
void ProcStats::Impl::AddIdle(const ProcInterval& interval) {
  const ProcId proc = interval.proc;
  const int64_t end = interval.end;
  const int64_t seen_from = interval.Seen().begin;
  int64_t begin = interval.begin;
  if (limits_.empty()) return AddTime(proc, &ProcTimes::idle, begin, end, seen_from);
  auto next = absl::c_upper_bound(
      limits_, begin, [](int64_t time, const ProcLimit& limit) { return time < limit.time; });
  // The first limit in the trace applies from the beginning.
  if (next == limits_.begin()) ++next;
  for (int cuts = 0; begin < end; ++cuts) {
    const bool is_last = next == limits_.end() || cuts == internal::kMaxProcCuts;
    const int64_t until = is_last ? end : std::clamp(next->time, begin, end);
    if (static_cast<uint64_t>(proc.value) < std::prev(next)->procs) {
      AddTime(proc, &ProcTimes::idle, begin, until, seen_from);
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
    idle.begin = std::max(begin_, filter_.times.from);
    idle.end = std::min(gone[p], filter_.times.to);
    if (idle.begin >= idle.end || uses_.contains(idle.proc)) continue;
    idle.unseen = std::max<int64_t>(Between(idle.begin, seen_from_), 0);
    AddIdle(idle);
  }
}

void ProcStats::Impl::AddAssist(const GoInterval& interval, int64_t begin, int64_t end) {
  if (interval.state != GoState::kRunning || interval.proc == ProcId::kNone) return;
  const int64_t seen_from = interval.Seen().begin;
  AddTime(interval.proc, &ProcTimes::user, begin, end, seen_from, -1);
  AddTime(interval.proc, &ProcTimes::assist, begin, end, seen_from);
}

void ProcStats::Impl::AddGoroutine(const GoInterval& interval) {
  assists_.AddGoroutine(interval);
  Goroutines::Entry& entry = goroutines_.Begin(interval);
  const int64_t seen_from = interval.Seen().begin;
  if (interval.state == GoState::kRunning) {
    const bool is_worker = workers_.TakeRun(interval);
    const ProcId proc = interval.proc;
    if (proc != ProcId::kNone) {
      AddTime(proc, is_worker ? &ProcTimes::gc : &ProcTimes::user, interval.begin, interval.end,
              seen_from);
      ProcUse& use = uses_[proc];
      if (!interval.begin_clipped) ++use.runs;
      Data& data = entry.data;
      if (data.last != ProcId::kNone && data.last != proc) ++use.migrations;
      if (data.first == ProcId::kNone) data.first = proc;
      data.last = proc;
    }
  } else if (interval.state == GoState::kSyscall && interval.proc != ProcId::kNone) {
    AddTime(interval.proc, &ProcTimes::syscall, interval.begin, interval.proc_until, seen_from);
  }
  goroutines_.End(interval, entry);
}

void ProcStats::Impl::Continue(const Goroutines::Entry& rest, Goroutines::Entry* entry) {
  Data& data = entry->data;
  const Data& more = rest.data;
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

void ProcStats::Impl::Merge(Impl& next) {
  EndGeneration(next.begin_);
  generation_begin_ = next.generation_begin_;
  waiting_ = std::move(next.waiting_);
  has_limit_ = next.has_limit_;
  changes_ = std::move(next.changes_);
  begin_ = std::min(begin_, next.begin_);
  seen_from_ = std::min(seen_from_, next.seen_from_);
  for (const ProcLimit& limit : next.limits_) NoteLimit(limit);
  for (const auto& [proc, more] : next.uses_) {
    ProcUse& use = uses_[proc];
    use.times.Add(more.times);
    use.runs += more.runs;
    use.migrations += more.migrations;
    use.steals += more.steals;
  }
  slices_.Merge(next.slices_);
  workers_.Merge(next.workers_);
  goroutines_.Merge(next.goroutines_, [](Data* /*data*/) {});
  assists_.Merge(next.assists_);
  last_event_ = std::max(last_event_, next.last_event_);
  for (const ProcInterval& interval : std::exchange(crossing_, {})) AddProc(interval);
}

void ProcStats::Impl::Finish(int64_t end) {
  EndGeneration(end);
  AddUnnamed();
  seen_from_ = std::max(seen_from_, filter_.times.from);
  end_ = std::max(end, seen_from_);
  goroutines_.Finish();
  for (auto& [proc, use] : uses_) {
    if (!filter_.Selects(proc)) continue;
    use.proc = proc;
    use.times = WithSchedulerAlone(use.times);
    procs_.push_back(use);
  }
  absl::c_sort(procs_, [](const ProcUse& a, const ProcUse& b) { return a.proc < b.proc; });
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

ProcStats::ProcStats(EventFilter filter) : impl_(std::make_unique<Impl>(std::move(filter))) {}
ProcStats::~ProcStats() = default;

void ProcStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void ProcStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void ProcStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void ProcStats::AddProc(const ProcInterval& interval) { impl_->AddProc(interval); }
void ProcStats::Merge(ProcStats&& next, const InternerMap& /*ids*/) { impl_->Merge(*next.impl_); }
void ProcStats::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const ProcUse> ProcStats::procs() const { return impl_->procs(); }
absl::Span<const ProcLimit> ProcStats::limits() const { return impl_->limits(); }
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
