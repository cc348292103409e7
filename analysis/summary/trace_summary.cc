#include "gotrace/trace_summary.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/core/time_sums.h"
#include "analysis/goroutines/holder_sums.h"
#include "analysis/intervals/recent_states.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/intervals/sums_by_start.h"
#include "analysis/summary/generation_begins.h"
#include "analysis/summary/network_waits.h"
#include "analysis/summary/path_suspicions.h"
#include "analysis/summary/proc_suspicions.h"
#include "analysis/summary/sleep_loops.h"
#include "analysis/summary/suspicions.h"
#include "analysis/summary/work_batches.h"
#include "analysis/summary/yield_loops.h"
#include "analysis/tasks/slow_spans.h"
#include "gotrace/event_type.h"
#include "gotrace/gc_stats.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/leak_stats.h"
#include "gotrace/wait_stats.h"

namespace gotrace {

using internal::AddTime;
using internal::IsOfSystem;

namespace {

using Latency = TraceSummary::Latency;
using Function = TraceSummary::Function;
using Place = TraceSummary::Place;
using Leak = TraceSummary::Leak;
using Span = TraceSummary::Span;
using Suspicion = TraceSummary::Suspicion;

// For each kind of row: the key by which rows are added, how they are added, and their order.

auto KeyOf(const Latency& row) { return std::tie(row.kind, row.reason); }
void AddRow(const Latency& row, Latency* sum) {
  sum->durations.Merge(row.durations);
  sum->clipped += row.clipped;
  sum->longest.Merge(row.longest);
  sum->of_program.Merge(row.of_program);
  sum->clipped_of_program += row.clipped_of_program;
}
bool IsBefore(const Latency& a, const Latency& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.durations.sum() != b.durations.sum() ? a.durations.sum() > b.durations.sum()
                                                : a.reason < b.reason;
}

auto KeyOf(const Function& row) { return std::tie(row.name); }
void AddRow(const Function& row, Function* sum) {
  sum->count += row.count;
  AddTime(row.running, &sum->running);
  AddTime(row.runnable, &sum->runnable);
  AddTime(row.stopped, &sum->stopped);
  AddTime(row.syscall, &sum->syscall);
  AddTime(row.blocked, &sum->blocked);
}
bool IsBefore(const Function& a, const Function& b) {
  return a.running != b.running ? a.running > b.running : a.name < b.name;
}

auto KeyOf(const Place& row) { return std::tie(row.kind, row.reason, row.function); }
void AddRow(const Place& row, Place* sum) {
  sum->count += row.count;
  AddTime(row.time, &sum->time);
  sum->longest = std::max(sum->longest, row.longest);
}
bool IsBefore(const Place& a, const Place& b) {
  return a.time != b.time ? a.time > b.time : KeyOf(a) < KeyOf(b);
}

auto KeyOf(const Leak& row) { return std::tie(row.start, row.reason, row.function); }
void AddRow(const Leak& row, Leak* sum) {
  sum->count += row.count;
  sum->grown += row.grown;
  sum->longest = std::max(sum->longest, row.longest);
}
bool IsBefore(const Leak& a, const Leak& b) {
  return a.count != b.count ? a.count > b.count : KeyOf(a) < KeyOf(b);
}

auto KeyOf(const Span& row) { return std::tie(row.kind, row.type); }
void AddRow(const Span& row, Span* sum) { sum->lengths.Merge(row.lengths); }
bool IsBefore(const Span& a, const Span& b) {
  // Tasks, requests, regions.
  if (a.kind != b.kind) return a.kind > b.kind;
  return a.lengths.sum() != b.lengths.sum() ? a.lengths.sum() > b.lengths.sum() : a.type < b.type;
}

auto KeyOf(const Suspicion& row) {
  return std::tie(row.kind, row.reason, row.start, row.function, row.library, row.line);
}
void AddRow(const Suspicion& row, Suspicion* sum) { sum->Merge(row); }
bool IsBefore(const Suspicion& a, const Suspicion& b) {
  return a.Cost() != b.Cost() ? a.Cost() > b.Cost() : KeyOf(a) < KeyOf(b);
}

auto KeyOf(const Suspicion::Part& row) {
  return std::tie(row.function, row.library, row.file, row.line, row.reason);
}
void AddRow(const Suspicion::Part& row, Suspicion::Part* sum) {
  sum->count += row.count;
  AddTime(row.time, &sum->time);
}
bool IsBefore(const Suspicion::Part& a, const Suspicion::Part& b) {
  return a.time != b.time ? a.time > b.time : KeyOf(a) < KeyOf(b);
}

// Adds rows with the same key, and sorts them.
template <class Row>
void Combine(std::vector<Row>* rows) {
  absl::c_sort(*rows, [](const Row& a, const Row& b) { return KeyOf(a) < KeyOf(b); });
  std::vector<Row> sums;
  for (Row& row : *rows) {
    if (!sums.empty() && KeyOf(sums.back()) == KeyOf(row)) {
      AddRow(row, &sums.back());
    } else {
      sums.push_back(std::move(row));
    }
  }
  absl::c_sort(sums, [](const Row& a, const Row& b) { return IsBefore(a, b); });
  *rows = std::move(sums);
}

template <class Row>
void MergeRows(const std::vector<Row>& more, std::vector<Row>* rows) {
  rows->insert(rows->end(), more.begin(), more.end());
  Combine(rows);
}

// For SumsByStart: the longest run of goroutines that started in a function, and where these were
// created.
struct RunTraits {
  struct Key {
    StringId start = StringId::kEmpty;
    StackId created_at = StackId::kNone;  // kNone for the run.

    friend bool operator==(const Key&, const Key&) = default;

    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.start, key.created_at);
    }
  };
  using Value = TraceSummary::Longest;

  static Key MapIds(const InternerMap& ids, const Key& key) {
    return {ids(key.start), ids(key.created_at)};
  }
  static void AddTo(const Value& value, Value* longest) { longest->Merge(value); }
};

}  // namespace

void TraceSummary::Longest::Merge(const Longest& other) {
  const auto place = [](const Longest& one) {
    return std::tie(one.file, one.begin, one.goroutine);
  };
  if (other.length > length || (other.length == length && place(other) < place(*this))) {
    *this = other;
  }
}

void Suspicion::Merge(const Suspicion& other) {
  lost.Merge(other.lost);
  others.Merge(other.others);
  AddTime(other.charged, &charged);
  // Of equally long runs that of the goroutine with the smaller id.
  if (other.longest > longest || (other.longest == longest && other.goroutine < goroutine)) {
    longest = other.longest;
    goroutine = other.goroutine;
  }
  deadlines += other.deadlines;
  asked += other.asked;
  answered += other.answered;
  goroutines = std::max(goroutines, other.goroutines);
  grown += other.grown;
  empty += other.empty;
  runs = std::max(runs, other.runs);
  AddTime(other.own, &own);
  AddTime(other.peers, &peers);
  AddTime(other.workers, &workers);
  MergeRows(other.places, &places);
  MergeRows(other.culprits, &culprits);
  MergeRows(other.victims, &victims);
  MergeRows(other.tasks, &tasks);
}

std::vector<Suspicion> TraceSummary::Suspicions() const {
  std::vector<Suspicion> raised;
  for (const Suspicion& candidate : candidates) {
    if (internal::IsRaised(candidate, *this)) raised.push_back(candidate);
  }
  internal::DropRegionsOfTasks(&raised);
  internal::DropExplained(&raised);
  return raised;
}

void TraceSummary::Merge(const TraceSummary& other) {
  traces += other.traces;
  events += other.events;
  AddTime(other.duration, &duration);
  gomaxprocs = std::max(gomaxprocs, other.gomaxprocs);
  procs.Add(other.procs);
  AddTime(other.runnable, &runnable);
  AddTime(other.idle_while_runnable, &idle_while_runnable);
  ready.Add(other.ready);
  gc_cycles += other.gc_cycles;
  max_heap = std::max(max_heap, other.max_heap);
  heap_room.Merge(other.heap_room);
  MergeRows(other.latencies, &latencies);
  MergeRows(other.functions, &functions);
  MergeRows(other.places, &places);
  MergeRows(other.leaks, &leaks);
  MergeRows(other.spans, &spans);
  MergeRows(other.candidates, &candidates);
  longest_run.Merge(other.longest_run);
  generations.clear();
}

void TraceSummary::SetFile(const std::string& file) {
  for (Latency& latency : latencies) latency.longest.file = file;
  longest_run.file = file;
}

std::vector<Suspicion> NewSuspicions(const TraceSummary& before, const TraceSummary& after) {
  // Lines change with the program.
  const auto place = [](const Suspicion& one) {
    return std::tie(one.kind, one.reason, one.start, one.function, one.library);
  };
  const std::vector<Suspicion> known = before.Suspicions();
  std::vector<Suspicion> suspicions;
  for (Suspicion& one : after.Suspicions()) {
    const bool is_known =
        absl::c_any_of(known, [&](const Suspicion& other) { return place(other) == place(one); });
    if (!is_known) suspicions.push_back(std::move(one));
  }
  return suspicions;
}

class SummaryStats::Impl {
 public:
  Impl(Interner* interner, EventFilter::Times window)
      : interner_(*interner),
        window_(window),
        goroutines_(interner, {.filter = FilterOf(window)}),
        latencies_(interner, LatencyOptions(window)),
        procs_(interner, FilterOf(window)),
        gc_(interner, window),
        leaks_(interner, {.filter = FilterOf(window)}),
        waits_(interner, {.filter = FilterOf(window)}),
        network_(interner),
        sleeps_(interner),
        batches_(interner),
        yields_(interner),
        recent_(interner),
        holders_(interner, FollowedWaits()),
        slow_spans_(interner) {
    SetPathWindow();
  }

  void Begin(int64_t trace_start, EventFilter::Times window) {
    window_ = window_.And(window);
    goroutines_.Begin(trace_start, window);
    latencies_.Begin(trace_start, window);
    procs_.Begin(trace_start, window);
    gc_.Begin(trace_start, window);
    leaks_.Begin(trace_start, window);
    waits_.Begin(trace_start, window);
    SetPathWindow();
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void AddProc(const ProcInterval& interval) { procs_.AddProc(interval); }
  void Merge(Impl& next, const InternerMap& ids);
  void Finish(int64_t end);

  const TraceSummary& summary() const { return summary_; }

 private:
  static EventFilter FilterOf(EventFilter::Times window) {
    EventFilter filter;
    filter.times = window;
    return filter;
  }
  static LatencyStats::Options LatencyOptions(EventFilter::Times window) {
    LatencyStats::Options options;
    options.cases = 1;
    options.by_start = true;
    options.filter = FilterOf(window);
    return options;
  }
  // The suspicions that are about channels and selects need a fifth of the trace in such waits, so
  // that many are too short to matter.
  static internal::HolderSums::Options FollowedWaits() {
    internal::HolderSums::Options options;
    for (const WaitObject object :
         {WaitObject::kMutex, WaitObject::kRWMutex, WaitObject::kCond, WaitObject::kWaitGroup,
          WaitObject::kChannel, WaitObject::kSelect}) {
      options.objects[static_cast<size_t>(object)] = true;
    }
    options.shortest_channel_wait = 20'000;
    options.channel_steps = 64;
    return options;
  }
  void SetPathWindow() {
    holders_.SetFilter(FilterOf(window_));
    slow_spans_.SetWindow(window_);
  }
  void AddToPaths(const Event& event);

  struct PlaceKey {
    LatencyKind kind = LatencyKind::kBlocked;
    StringId reason = StringId::kEmpty;
    StringId function = StringId::kEmpty;

    friend bool operator==(const PlaceKey&, const PlaceKey&) = default;

    template <class H>
    friend H AbslHashValue(H h, const PlaceKey& key) {
      return H::combine(std::move(h), key.kind, key.reason, key.function);
    }
  };
  void AddPlace(const GoInterval& interval);

  void AddLatencies();
  void AddPlaces();
  void AddCandidates(std::vector<Suspicion> candidates);

  Interner& interner_;
  EventFilter::Times window_;
  GoroutineStats goroutines_;
  LatencyStats latencies_;
  ProcStats procs_;
  GcStats gc_;
  LeakStats leaks_;
  WaitStats waits_;
  internal::NetworkWaits network_;
  internal::SleepLoops sleeps_;
  internal::WorkBatches batches_;
  internal::YieldLoops yields_;
  std::vector<TraceSummary::Generation> generations_;
  internal::GenerationBegins begins_;
  internal::RecentStates recent_;  // For the next two.
  internal::HolderSums holders_;
  internal::SlowSpans slow_spans_;
  int64_t begin_ = std::numeric_limits<int64_t>::max();
  TraceSummary summary_;
  absl::flat_hash_map<PlaceKey, TraceSummary::Place> places_;  // Without texts.
  internal::StackPlaces stack_places_{&interner_};
  internal::SumsByStart<RunTraits> runs_{&interner_, ""};
};

void SummaryStats::Impl::AddEvents(absl::Span<const Event> events) {
  goroutines_.AddEvents(events);
  latencies_.AddEvents(events);
  procs_.AddEvents(events);
  gc_.AddEvents(events);
  leaks_.AddEvents(events);
  waits_.AddEvents(events);
  network_.AddEvents(events);
  sleeps_.AddEvents(events);
  batches_.AddEvents(events);
  runs_.AddEvents(events);
  begin_ = std::min(begin_, events.front().time());
  for (const Event& event : events) {
    AddToPaths(event);
    if (!window_.Has(event.time())) continue;
    ++summary_.events;
    begins_.Add(event, [this](const TraceSummary::Generation& generation) {
      generations_.push_back(generation);
    });
    if (event.type() == EventType::kHeapAlloc) {
      summary_.max_heap = std::max(summary_.max_heap, event.metric().value);
    }
  }
}

void SummaryStats::Impl::AddToPaths(const Event& event) {
  holders_.Add(event, &recent_);
  slow_spans_.Add(event, &recent_);
}

void SummaryStats::Impl::AddGoroutine(const GoInterval& interval) {
  goroutines_.AddGoroutine(interval);
  latencies_.AddGoroutine(interval);
  procs_.AddGoroutine(interval);
  gc_.AddGoroutine(interval);
  leaks_.AddGoroutine(interval);
  waits_.AddGoroutine(interval);
  network_.AddGoroutine(interval);
  sleeps_.AddGoroutine(interval);
  batches_.AddGoroutine(interval);
  yields_.AddGoroutine(interval);
  auto& entry = runs_.Begin(interval);
  if (interval.starts_life) {
    runs_.Add({.created_at = interval.begun_by.stack}, TraceSummary::Longest(), &entry);
  }
  if (interval.state == GoState::kRunning) {
    const Interval seen = interval.Seen();
    TraceSummary::Longest run;
    run.length = static_cast<int64_t>(seen.duration());
    run.begin = seen.begin;
    run.is_clipped = seen.begin_clipped || seen.end_clipped;
    run.goroutine = interval.goroutine.value;
    runs_.Add(RunTraits::Key(), run, &entry);
  } else if (interval.state == GoState::kWaiting || interval.state == GoState::kSyscall) {
    AddPlace(interval);
  }
  runs_.End(interval, entry);
}

void SummaryStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  goroutines_.Merge(std::move(next.goroutines_), ids);
  latencies_.Merge(std::move(next.latencies_), ids);
  procs_.Merge(std::move(next.procs_), ids);
  gc_.Merge(std::move(next.gc_), ids);
  leaks_.Merge(std::move(next.leaks_), ids);
  waits_.Merge(std::move(next.waits_), ids);
  network_.Merge(next.network_, ids);
  sleeps_.Merge(next.sleeps_, ids);
  batches_.Merge(next.batches_, ids);
  yields_.Merge(next.yields_, ids);
  const internal::RecentStates::Ids path_ids = recent_.Merge(next.recent_, ids);
  holders_.Merge(next.holders_, path_ids);
  slow_spans_.Merge(next.slow_spans_, path_ids);
  runs_.Merge(next.runs_, ids);
  for (const auto& [key, more] : next.places_) {
    TraceSummary::Place& place = places_[{key.kind, ids(key.reason), ids(key.function)}];
    place.count += more.count;
    AddTime(more.time, &place.time);
    place.longest = std::max(place.longest, more.longest);
  }
  begin_ = std::min(begin_, next.begin_);
  generations_.insert(generations_.end(), next.generations_.begin(), next.generations_.end());
  summary_.events += next.summary_.events;
  summary_.max_heap = std::max(summary_.max_heap, next.summary_.max_heap);
}

void SummaryStats::Impl::AddPlace(const GoInterval& interval) {
  const internal::StackPlace& stack = stack_places_.Of(interval.stack);
  const StringId function = stack.place.function;
  if (stack.is_system || function == StringId::kEmpty) return;
  const bool is_syscall = interval.state == GoState::kSyscall;
  PlaceKey key;
  key.kind = is_syscall ? LatencyKind::kSyscall : LatencyKind::kBlocked;
  if (!is_syscall) key.reason = interval.reason;
  key.function = function;
  const auto length = static_cast<int64_t>(interval.Seen().duration());
  TraceSummary::Place& place = places_[key];
  ++place.count;
  AddTime(length, &place.time);
  place.longest = std::max(place.longest, length);
}

void SummaryStats::Impl::AddLatencies() {
  for (const LatencyGroup& group : latencies_.groups()) {
    const LatencyKey& key = group.key;
    Latency& latency = summary_.latencies.emplace_back();
    latency.kind = key.kind;
    latency.reason = std::string(interner_.String(key.reason));
    latency.durations = group.durations;
    latency.clipped = group.clipped;
    if (IsOfSystem(interner_.String(key.start))) continue;
    latency.of_program = group.durations;
    latency.clipped_of_program = group.clipped;
  }
  for (const LatencyCase& one : latencies_.cases()) {
    Latency& latency = summary_.latencies.emplace_back();
    latency.kind = one.key.kind;
    latency.reason = std::string(interner_.String(one.key.reason));
    latency.longest.length = static_cast<int64_t>(one.duration());
    latency.longest.begin = one.begin;
    latency.longest.is_clipped = one.begin_clipped || one.end_clipped;
    latency.longest.goroutine = one.goroutine.value;
    latency.longest.function = std::string(interner_.String(one.key.start));
  }
  Combine(&summary_.latencies);
}

void SummaryStats::Impl::AddPlaces() {
  for (auto& [key, sums] : places_) {
    TraceSummary::Place& place = summary_.places.emplace_back(std::move(sums));
    place.kind = key.kind;
    place.reason = std::string(interner_.String(key.reason));
    place.function = std::string(interner_.String(key.function));
  }
  Combine(&summary_.places);
}

void SummaryStats::Impl::AddCandidates(std::vector<Suspicion> candidates) {
  for (Suspicion& candidate : candidates) summary_.candidates.push_back(std::move(candidate));
}

void SummaryStats::Impl::Finish(int64_t end) {
  goroutines_.Finish(end);
  latencies_.Finish(end);
  procs_.Finish(end);
  gc_.Finish(end);
  summary_.gc_cycles = gc_.cycles().size();
  for (const GcCycle& cycle : gc_.cycles()) {
    const uint64_t heap = cycle.heap_end.value_or(0);
    const uint64_t goal = cycle.next_goal.value_or(0);
    if (heap == 0 || goal == 0) continue;
    const double room = static_cast<double>(goal) / static_cast<double>(heap) - 1;
    summary_.heap_room.Add(static_cast<uint64_t>(100 * std::clamp(room, 0.0, 1e6)));
  }
  leaks_.Finish(end);
  waits_.Finish(end);
  runs_.Finish();
  summary_.traces = 1;
  const int64_t begin = std::max(begin_, window_.from);
  summary_.duration = std::max<int64_t>(internal::Between(begin, end), 0);
  sleeps_.Finish();
  batches_.Finish(summary_.duration);
  for (const ProcLimit& limit : procs_.limits()) {
    summary_.gomaxprocs = std::max(summary_.gomaxprocs, limit.procs);
  }
  const ProcSlice sum = procs_.Sum();
  summary_.procs = sum.times;
  summary_.runnable = sum.runnable;
  summary_.idle_while_runnable = sum.idle_while_runnable;
  summary_.ready = procs_.ready();
  constexpr size_t kEnds = TraceSummary::kGenerations;
  if (generations_.size() > 2 * kEnds) {
    generations_.erase(generations_.begin() + kEnds, generations_.end() - kEnds);
  }
  summary_.generations = std::move(generations_);
  AddLatencies();
  AddPlaces();
  for (const GoroutineGroup& group : goroutines_.groups()) {
    Function& function = summary_.functions.emplace_back();
    function.name = std::string(interner_.String(group.name));
    function.count = group.count;
    function.running = group.times.running;
    function.runnable = group.times.runnable;
    function.stopped = group.times.StoppedTotal();
    function.syscall = group.times.syscall;
    AddTime(group.times.syscall_blocked, &function.syscall);
    function.blocked = group.times.BlockedTotal();
  }
  Combine(&summary_.functions);
  for (const LeakGroup& group : leaks_.groups()) {
    Leak& leak = summary_.leaks.emplace_back();
    leak.start = std::string(interner_.String(group.start));
    leak.reason = std::string(interner_.String(group.reason));
    leak.function =
        std::string(interner_.String(stack_places_.Of(group.blocked_at).place.function));
    leak.count = group.count;
    leak.grown = group.count - group.counts[LeakGroup::kPoints / 2];
    leak.longest = group.longest;
  }
  Combine(&summary_.leaks);
  const std::vector<WaitHolder> holders = holders_.Holders(recent_);
  const std::vector<WaitTask> tasks = holders_.Tasks(recent_);
  internal::Creations creations;
  for (const auto& [key, run] : runs_.sums()) {
    if (key.created_at == StackId::kNone) continue;
    creations.insert({stack_places_.Of(key.created_at).start, key.start});
  }
  summary_.candidates = internal::FindCandidates({.waits = waits_.groups(),
                                                  .holders = holders,
                                                  .tasks = tasks,
                                                  .blocked = leaks_.blocked(),
                                                  .creations = creations,
                                                  .begin = begin,
                                                  .duration = summary_.duration},
                                                 interner_);
  const internal::ProcCandidateInput input = {.procs = procs_,
                                              .gc = gc_,
                                              .goroutines = goroutines_.groups(),
                                              .window = window_,
                                              .duration = summary_.duration};
  AddCandidates(internal::FindProcCandidates(input, interner_));
  AddCandidates(network_.FindCandidates(summary_.duration));
  AddCandidates(sleeps_.FindCandidates(summary_.duration));
  AddCandidates(batches_.FindCandidates(holders, summary_.duration));
  AddCandidates(yields_.FindCandidates(summary_.duration));
  const std::vector<internal::SlowSpans::Type> types = slow_spans_.Finish(recent_);
  for (const internal::SlowSpans::Type& type : types) {
    Span& span = summary_.spans.emplace_back();
    span.kind = std::string(internal::SlowSpans::NameOf(type.kind));
    span.type = std::string(interner_.String(type.name));
    span.lengths = type.lengths;
  }
  Combine(&summary_.spans);
  AddCandidates(internal::FindSlowTasks(types, summary_.duration, interner_));
  const internal::StageInput stages = {.holders = holders,
                                       .waits = waits_.groups(),
                                       .goroutines = goroutines_.groups(),
                                       .creations = creations,
                                       .duration = summary_.duration};
  AddCandidates(internal::FindStages(stages, interner_));
  for (Suspicion& candidate : summary_.candidates) {
    Combine(&candidate.places);
    Combine(&candidate.culprits);
    Combine(&candidate.victims);
    Combine(&candidate.tasks);
  }
  Combine(&summary_.candidates);
  for (const auto& [key, run] : runs_.sums()) {
    const absl::string_view function = interner_.String(key.start);
    if (key.created_at != StackId::kNone || IsOfSystem(function)) continue;
    TraceSummary::Longest named = run;
    named.function = std::string(function);
    summary_.longest_run.Merge(named);
  }
}

SummaryStats::SummaryStats(Interner* interner, EventFilter::Times window)
    : impl_(std::make_unique<Impl>(interner, window)) {}
SummaryStats::~SummaryStats() = default;

void SummaryStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void SummaryStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void SummaryStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void SummaryStats::AddProc(const ProcInterval& interval) { impl_->AddProc(interval); }
void SummaryStats::Merge(SummaryStats&& next, const InternerMap& ids) {
  impl_->Merge(*next.impl_, ids);
}
void SummaryStats::Finish(int64_t end) { impl_->Finish(end); }
const TraceSummary& SummaryStats::summary() const { return impl_->summary(); }

}  // namespace gotrace
