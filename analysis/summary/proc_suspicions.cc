#include "analysis/summary/proc_suspicions.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/runtime_functions.h"

namespace gotrace::internal {
namespace {

// The thresholds were tuned on traces of programs with one planted cause, and on traces of ordinary
// programs. Costs are compared with the length of the trace, `duration`, and with the time of all
// Ps: GOMAXPROCS times `duration`.

// Nothing is said of less: small test programs lose a few milliseconds in many ways.
constexpr int64_t kMinLostTime = 20'000'000;

// few-ps: the program's own code kept goroutines waiting for at least half of the Ps' time. Four
// workers on two Ps wait as long as the Ps work, as many workers as Ps not at all, and an ordinary
// server that uses 60 % of its Ps waits for 6 %.
constexpr double kFewWaited = 0.5;
// It is the reason for at least half of what waits for busy Ps: otherwise the garbage collector is,
// and with more Ps it would use these, too.
constexpr double kFewShare = 0.5;
constexpr double kFewBusy = 0.6;
// A goroutine that lives for half of the trace and is always ready, but needs little time, loses
// nothing by waiting: the reader of a batch job. At most this many times its running time counts.
constexpr double kLongLife = 0.5;
constexpr int64_t kCountedWait = 5;

// idle-ps: waking up Ps costs 0.1 to 2.5 % of their time in ordinary programs. On a machine with
// fewer processors than GOMAXPROCS, it is 9 %.
constexpr double kIdleShare = 0.05;

// hog: at least half of those who waited started elsewhere. Goroutines that all compute keep each
// other waiting: then there are too few Ps. The worst goroutine did so at least twice: once may be
// the host, which stalled.
constexpr double kOthersShare = 0.5;
constexpr double kHogCost = 0.02;
constexpr uint64_t kHogRuns = 2;

// assists: programs with many of them lose ten times as much; a healthy one lost 0.2 %.
constexpr double kAssistTime = 0.05;
constexpr double kAssistCost = 0.1;

// gc: mark workers are meant to take a quarter of the Ps, while a cycle runs.
constexpr double kWorkerShare = 0.25;
constexpr double kGcCost = 0.05;
constexpr double kGcWaits = 0.2;

// stopped: in all, or by one stop that everybody notices.
constexpr double kStoppedShare = 0.05;
constexpr double kStoppedShareIfLong = 0.01;
constexpr int64_t kLongStop = 20'000'000;

using Victim = ProcSuspicion::Victim;

bool IsShare(int64_t part, double share, int64_t whole) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

// For each kind of row: its key, how rows of the same key are added, and their order.
auto KeyOf(const ProgramPlace& place) {
  return std::tie(place.function, place.file, place.line, place.library);
}
auto KeyOf(const ProcEvidence::Function& row) { return std::tie(row.start); }
auto KeyOf(const ProcEvidence::LongRun& row) {
  return std::tuple(std::tie(row.start, row.goroutine), KeyOf(row.place));
}
auto KeyOf(const ProcEvidence::Part& row) { return KeyOf(row.place); }
auto KeyOf(const ProcEvidence::Stops& row) {
  return std::tuple(std::tie(row.reason), KeyOf(row.place));
}

void AddRow(const ProcEvidence::Function& row, ProcEvidence::Function* sum) {
  sum->waited.Add(row.waited);
  sum->ran.Add(row.ran);
  sum->goroutines += row.goroutines;
  AddTime(row.lifetime, &sum->lifetime);
  AddTime(row.running, &sum->running);
}
void AddRow(const ProcEvidence::LongRun& row, ProcEvidence::LongRun* sum) {
  sum->runs += row.runs;
  sum->longest = std::max(sum->longest, row.longest);
  AddTime(row.waited, &sum->waited);
  AddTime(row.peers_waited, &sum->peers_waited);
}
void AddRow(const ProcEvidence::Part& row, ProcEvidence::Part* sum) {
  sum->count += row.count;
  AddTime(row.time, &sum->time);
}
void AddRow(const ProcEvidence::Stops& row, ProcEvidence::Stops* sum) {
  sum->count += row.count;
  AddTime(row.time, &sum->time);
  AddTime(row.stopping, &sum->stopping);
  AddTime(row.restarting, &sum->restarting);
  if (std::tie(row.longest, row.last_in) <= std::tie(sum->longest, sum->last_in)) return;
  sum->longest = row.longest;
  sum->last_in = row.last_in;
}

int64_t TimeOf(const ProcEvidence::Function& row) { return row.waited.Total(); }
int64_t TimeOf(const ProcEvidence::LongRun& row) { return row.waited; }
int64_t TimeOf(const ProcEvidence::Part& row) { return row.time; }
int64_t TimeOf(const ProcEvidence::Stops& row) { return row.time; }

// Adds rows with the same key, and sorts them by time, most first.
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
  absl::c_stable_sort(sums, [](const Row& a, const Row& b) { return TimeOf(a) > TimeOf(b); });
  *rows = std::move(sums);
}

template <class Row>
void MergeRows(const std::vector<Row>& more, std::vector<Row>* rows) {
  rows->insert(rows->end(), more.begin(), more.end());
  Combine(rows);
}

// Returns those who waited for one of the causes, longest first.
std::vector<Victim> VictimsOf(const ProcEvidence& evidence,
                              std::initializer_list<ReadyCause> causes,
                              const ReadyTimes ProcEvidence::Function::*times) {
  std::vector<Victim> victims;
  for (const ProcEvidence::Function& function : evidence.functions) {
    int64_t time = 0;
    for (const ReadyCause cause : causes) AddTime((function.*times).Of(cause), &time);
    if (time > 0) victims.push_back({function.start, time});
  }
  absl::c_sort(victims, [](const Victim& a, const Victim& b) {
    return std::tie(b.time, a.start) < std::tie(a.time, b.start);
  });
  return victims;
}
std::vector<Victim> VictimsOf(const ProcEvidence& evidence,
                              std::initializer_list<ReadyCause> causes) {
  return VictimsOf(evidence, causes, &ProcEvidence::Function::waited);
}

// Looks for each kind of suspicion in turn.
class Finder {
 public:
  explicit Finder(const ProcEvidence& evidence)
      : evidence_(evidence), long_runs_(Of(ReadyCause::kLongRun)) {
    for (const ProcEvidence::LongRun& run : evidence.long_runs) AddTime(run.peers_waited, &peers_);
    peers_ = std::min(peers_, long_runs_);
    has_hog_ = long_runs_ > 0 && IsShare(long_runs_ - peers_, kOthersShare, long_runs_);
  }

  std::vector<ProcSuspicion> Find() {
    FindFewProcs();
    FindIdleProcs();
    FindHog();
    FindAssists();
    FindGc();
    FindStopped();
    absl::c_stable_sort(found_, [](const ProcSuspicion& a, const ProcSuspicion& b) {
      return a.cost_ns > b.cost_ns;
    });
    return std::move(found_);
  }

 private:
  int64_t Of(ReadyCause cause) const { return evidence_.ready.Of(cause); }

  void Raise(ProcSuspicion suspicion) {
    if (suspicion.cost_ns >= kMinLostTime) found_.push_back(std::move(suspicion));
  }

  void FindFewProcs() {
    const int64_t cost = Of(ReadyCause::kProgram) + (has_hog_ ? 0 : long_runs_);
    const int64_t for_busy =
        cost + (has_hog_ ? long_runs_ : 0) + Of(ReadyCause::kGc) + Of(ReadyCause::kAssist);
    int64_t counted = 0;
    for (const ProcEvidence::Function& function : evidence_.functions) {
      const int64_t waited = function.waited.Of(ReadyCause::kProgram) +
                             (has_hog_ ? 0 : function.waited.Of(ReadyCause::kLongRun));
      const bool lives_long = static_cast<double>(function.lifetime) >=
                              kLongLife * static_cast<double>(evidence_.duration) *
                                  static_cast<double>(function.goroutines);
      counted += lives_long ? std::min(waited, kCountedWait * function.running) : waited;
    }
    if (!IsShare(counted, kFewWaited, evidence_.all_procs) || !IsShare(cost, kFewShare, for_busy) ||
        !IsShare(evidence_.busy_procs, kFewBusy, evidence_.all_procs)) {
      return;
    }
    ProcSuspicion few = {.id = "few-ps", .cost_ns = cost};
    const std::initializer_list<ReadyCause> causes = {ReadyCause::kProgram, ReadyCause::kLongRun};
    few.victims = VictimsOf(evidence_, causes);
    const std::vector<Victim> ran = VictimsOf(evidence_, causes, &ProcEvidence::Function::ran);
    if (!ran.empty()) few.culprit = ran.front().start;
    if (!few.victims.empty()) few.place.function = few.victims.front().start;
    few.facts = {{"counted_ns", counted},
                 {"waited_for_busy_ns", for_busy},
                 {"busy_ns", evidence_.busy_procs},
                 {"procs_ns", evidence_.all_procs}};
    Raise(std::move(few));
  }

  void FindIdleProcs() {
    const int64_t cost = Of(ReadyCause::kIdleProcs);
    if (!IsShare(cost, kIdleShare, evidence_.all_procs)) return;
    ProcSuspicion idle = {.id = "idle-ps", .cost_ns = cost};
    idle.victims = VictimsOf(evidence_, {ReadyCause::kIdleProcs});
    idle.facts = {{"procs_ns", evidence_.all_procs}};
    Raise(std::move(idle));
  }

  void FindHog() {
    if (!has_hog_ || evidence_.long_runs.empty()) return;
    const ProcEvidence::LongRun& worst = evidence_.long_runs.front();
    const int64_t cost = long_runs_ - peers_;
    if (!IsShare(cost, kHogCost, evidence_.duration) || worst.runs < kHogRuns) return;
    ProcSuspicion hog = {.id = "hog", .cost_ns = cost, .place = worst.place};
    hog.culprit = worst.start;
    hog.victims = VictimsOf(evidence_, {ReadyCause::kLongRun});
    hog.facts = {{"goroutine", worst.goroutine},
                 {"runs", static_cast<int64_t>(worst.runs)},
                 {"longest_ns", worst.longest},
                 {"waited_ns", long_runs_},
                 {"peers_waited_ns", peers_}};
    Raise(std::move(hog));
  }

  void FindAssists() {
    const int64_t own = evidence_.assist_running + evidence_.assist_waiting;
    const int64_t cost = own + Of(ReadyCause::kAssist);
    if (!IsShare(own, kAssistTime, evidence_.duration) ||
        !IsShare(cost, kAssistCost, evidence_.duration)) {
      return;
    }
    ProcSuspicion assists = {.id = "assists", .cost_ns = cost};
    uint64_t count = 0;
    for (const ProcEvidence::Part& part : evidence_.assists) count += part.count;
    if (!evidence_.assists.empty()) assists.place = evidence_.assists.front().place;
    assists.culprit = assists.place.function;
    assists.victims = VictimsOf(evidence_, {ReadyCause::kAssist});
    assists.facts = {{"count", static_cast<int64_t>(count)},
                     {"running_ns", evidence_.assist_running},
                     {"waiting_ns", evidence_.assist_waiting},
                     {"others_waited_ns", Of(ReadyCause::kAssist)}};
    Raise(std::move(assists));
  }

  void FindGc() {
    int64_t waits = 0;
    for (const ProcEvidence::Part& part : evidence_.gc_waits) waits += part.time;
    const int64_t workers = evidence_.workers + evidence_.idle_workers;
    const int64_t cost = evidence_.workers + Of(ReadyCause::kGc) + waits;
    const bool has_busy_workers = IsShare(workers, kWorkerShare, evidence_.busy_procs) &&
                                  IsShare(cost, kGcCost, evidence_.duration);
    if (workers + waits == 0) return;
    if (!has_busy_workers && !IsShare(waits, kGcWaits, evidence_.duration)) return;
    ProcSuspicion gc = {.id = "gc", .cost_ns = cost};
    const std::vector<ProcEvidence::Part>& places =
        waits > 0 ? evidence_.gc_waits : evidence_.gc_begun;
    if (!places.empty()) gc.place = places.front().place;
    gc.culprit = gc.place.function;
    gc.victims = VictimsOf(evidence_, {ReadyCause::kGc});
    gc.facts = {
        {"cycles", static_cast<int64_t>(evidence_.cycles)}, {"workers_ns", evidence_.workers},
        {"idle_workers_ns", evidence_.idle_workers},        {"waited_for_cycles_ns", waits},
        {"others_waited_ns", Of(ReadyCause::kGc)},          {"busy_ns", evidence_.busy_procs}};
    Raise(std::move(gc));
  }

  void FindStopped() {
    if (evidence_.stops.empty()) return;
    ProcEvidence::Stops all;
    const ProcEvidence::Stops* longest = &evidence_.stops.front();
    for (const ProcEvidence::Stops& stops : evidence_.stops) {
      AddRow(stops, &all);
      if (stops.longest > longest->longest) longest = &stops;
    }
    if (!IsShare(all.time, kStoppedShare, evidence_.duration) &&
        (all.longest < kLongStop || !IsShare(all.time, kStoppedShareIfLong, evidence_.duration))) {
      return;
    }
    ProcSuspicion stopped = {.id = "stopped", .cost_ns = all.time + Of(ReadyCause::kStopped)};
    stopped.place = evidence_.stops.front().place;
    stopped.culprit = longest->last_in;
    stopped.victims = VictimsOf(evidence_, {ReadyCause::kStopped});
    stopped.facts = {{"count", static_cast<int64_t>(all.count)},
                     {"stopped_ns", all.time},
                     {"stopping_ns", all.stopping},
                     {"restarting_ns", all.restarting},
                     {"longest_ns", all.longest},
                     {"others_waited_ns", Of(ReadyCause::kStopped)}};
    Raise(std::move(stopped));
  }

  const ProcEvidence& evidence_;
  const int64_t long_runs_;  // What is charged to long runs,
  int64_t peers_ = 0;        // and to those of goroutines of the same function.
  bool has_hog_ = false;
  std::vector<ProcSuspicion> found_;
};

}  // namespace

ProcEvidence CollectProcEvidence(const ProcStats& procs, const GcStats& gc,
                                 absl::Span<const GoroutineGroup> groups, int64_t duration,
                                 const Interner& interner,
                                 const std::function<ProgramPlace(StackId)>& place_of) {
  const auto text = [&](StringId id) { return std::string(interner.String(id)); };
  ProcEvidence evidence;
  evidence.duration = duration;
  for (const ProcUse& use : procs.procs()) {
    AddTime(use.times.Total(), &evidence.all_procs);
    for (const int64_t time : {use.times.user, use.times.gc, use.times.assist}) {
      AddTime(time, &evidence.busy_procs);
    }
  }
  for (const ProcUse& use : procs.procs()) AddTime(use.times.gc, &evidence.workers);
  // What a worker does to end the mark phase has no label.
  for (const GoroutineGroup& group : groups) {
    if (interner.String(group.name) != kMarkWorkerStart) continue;
    evidence.workers = std::max(evidence.workers, group.times.running);
  }
  evidence.idle_workers = procs.idle_workers();
  SubtractTime(evidence.idle_workers, &evidence.workers);
  evidence.ready = procs.ready();
  for (const ReadyFunction& function : procs.ready_functions()) {
    if (function.is_system) continue;
    evidence.functions.push_back({text(function.start), function.waited, function.ran});
  }
  for (const GoroutineGroup& group : groups) {
    if (IsOfSystem(interner.String(group.name))) continue;
    ProcEvidence::Function& function = evidence.functions.emplace_back();
    function.start = text(group.name);
    function.goroutines = group.count;
    function.lifetime = group.times.total;
    function.running = group.times.running;
  }
  Combine(&evidence.functions);
  for (const LongRunner& runner : procs.long_runners()) {
    if (runner.waited == 0) continue;
    evidence.long_runs.push_back({text(runner.start), runner.goroutine.value,
                                  place_of(runner.stack), runner.runs, runner.longest,
                                  runner.waited, runner.peers_waited});
  }
  Combine(&evidence.long_runs);
  evidence.assist_running = procs.assists().running;
  evidence.assist_waiting = procs.assists().waiting;
  for (const AssistsInPlace& place : gc.assist_places()) {
    if (IsOfSystem(interner.RootFunction(place.stack))) continue;
    evidence.assists.push_back({place_of(place.stack), place.assists.count, place.assists.time});
  }
  Combine(&evidence.assists);
  for (const GcCycle& cycle : gc.cycles()) {
    ++evidence.cycles;
    if (cycle.stack == StackId::kNone) continue;
    evidence.gc_begun.push_back({place_of(cycle.stack), 1, static_cast<int64_t>(cycle.duration())});
  }
  Combine(&evidence.gc_begun);
  for (const GcWaits& waits : procs.gc_waits()) {
    if (waits.time > 0) evidence.gc_waits.push_back({place_of(waits.stack), 0, waits.time});
  }
  Combine(&evidence.gc_waits);
  for (const WorldStop& stop : gc.stops()) {
    if (IsStopOfTracer(interner.String(stop.reason))) continue;
    const auto length = static_cast<int64_t>(stop.duration());
    evidence.stops.push_back({text(stop.reason), place_of(stop.stack), 1, length, stop.stopping(),
                              stop.restarting(), length, place_of(stop.last_stack).function});
  }
  Combine(&evidence.stops);
  return evidence;
}

void MergeProcEvidence(const ProcEvidence& other, ProcEvidence* sum) {
  AddTime(other.duration, &sum->duration);
  AddTime(other.all_procs, &sum->all_procs);
  AddTime(other.busy_procs, &sum->busy_procs);
  sum->ready.Add(other.ready);
  MergeRows(other.functions, &sum->functions);
  MergeRows(other.long_runs, &sum->long_runs);
  AddTime(other.assist_running, &sum->assist_running);
  AddTime(other.assist_waiting, &sum->assist_waiting);
  MergeRows(other.assists, &sum->assists);
  sum->cycles += other.cycles;
  AddTime(other.workers, &sum->workers);
  AddTime(other.idle_workers, &sum->idle_workers);
  MergeRows(other.gc_waits, &sum->gc_waits);
  MergeRows(other.gc_begun, &sum->gc_begun);
  MergeRows(other.stops, &sum->stops);
}

std::vector<ProcSuspicion> FindProcSuspicions(const ProcEvidence& evidence) {
  return Finder(evidence).Find();
}

}  // namespace gotrace::internal
