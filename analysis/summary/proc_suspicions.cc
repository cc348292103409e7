// Every moment in which a goroutine of the program is ready belongs to one cause: see ReadyCause.
// The time that is charged to long runs is divided. Goroutines that started in the same function as
// the one that runs compete with it: what they lose is for want of Ps. What others lose is the
// doing of the goroutine that runs.
#include "analysis/summary/proc_suspicions.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/intervals/start_function.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;
using Part = Suspicion::Part;

// few-ps: the program's own code kept goroutines waiting for at least this share of the time of all
// Ps, which were as busy as this.
constexpr double kFewWaited = 0.5;
constexpr double kFewBusy = 0.6;
// It is the reason for this share of what waits for busy Ps: otherwise the garbage collector is,
// and with more Ps it would use these, too.
constexpr double kFewShare = 0.5;
// A goroutine that lives for this share of the trace and is always ready, but needs little time,
// loses nothing by waiting: the reader of a batch job. At most this many times its running time
// counts.
constexpr double kLongLife = 0.5;
constexpr int64_t kCountedWait = 5;

// idle-ps: of the time of all Ps.
constexpr double kIdleShare = 0.07;

// hog: of those who waited, this share started elsewhere. Goroutines that all compute keep each
// other waiting: then there are too few Ps.
constexpr double kOthersShare = 0.5;

// assists: goroutines are in assists themselves for this share of the trace. A healthy program lost
// 0.2 %.
constexpr double kAssistShare = 0.05;

// gc: mark workers take this share of the busy time. They are meant to take a quarter of the Ps,
// but only while a cycle runs. Or goroutines wait for cycles for this share of the trace.
constexpr double kWorkerShare = 0.25;
constexpr double kCycleWaits = 0.2;

// stopped: the world is stopped for this share of the trace, or for the second one if a stop is so
// long that everybody notices.
constexpr double kStoppedShare = 0.05;
constexpr double kLongStopShare = 0.01;
constexpr uint64_t kLongStop = 20'000'000;

int64_t SumOf(std::initializer_list<int64_t> times) {
  int64_t sum = 0;
  for (const int64_t time : times) AddTime(time, &sum);
  return sum;
}

// Collects the candidates of one trace.
class ProcCandidates {
 public:
  ProcCandidates(const ProcCandidateInput& input, const Interner& interner)
      : input_(input), interner_(interner), places_(&interner) {
    for (const LongRunner& runner : input.procs.long_runners()) {
      AddTime(runner.peers_waited, &peers_waited_[runner.start]);
    }
  }

  std::vector<Suspicion> Find() {
    FindFewProcs();
    FindIdleProcs();
    FindHogs();
    FindAssists();
    FindGc();
    FindStopped();
    return std::move(found_);
  }

 private:
  std::string Text(StringId id) const { return std::string(interner_.String(id)); }

  Part PartOf(StackId stack, uint64_t count, int64_t time) {
    const WaitPlace& place = places_.Of(stack).place;
    return {Text(place.function), Text(place.library), Text(place.file), place.line, count, time};
  }

  // Keeps a candidate that costs something.
  void Keep(Suspicion suspicion) {
    if (suspicion.Cost() <= 0 || suspicion.Cost() < input_.duration / 100) return;
    found_.push_back(std::move(suspicion));
  }

  // Adds the time that goroutines were ready, as `time_of` says for those that started in a
  // function.
  template <class TimeOf>
  void AddReady(const TimeOf& time_of, Suspicion* suspicion) const {
    for (const ReadyFunction& function : input_.procs.ready_functions()) {
      if (function.is_system) continue;
      const int64_t time = time_of(function);
      if (time <= 0) continue;
      AddTime(time, &suspicion->charged);
      suspicion->victims.push_back({.function = Text(function.start), .time = time});
    }
  }
  void AddReady(ReadyCause cause, Suspicion* suspicion) const {
    AddReady([=](const ReadyFunction& function) { return function.waited.Of(cause); }, suspicion);
  }

  // Returns how long goroutines that started in the function waited for others like them.
  int64_t PeersWaited(StringId start) const {
    const auto found = peers_waited_.find(start);
    return found == peers_waited_.end() ? 0 : found->second;
  }

  // Returns how much counts of the time that goroutines waited.
  int64_t CountedOf(const GoroutineGroup& group, int64_t waited) const {
    const double all = static_cast<double>(input_.duration) * static_cast<double>(group.count);
    if (static_cast<double>(group.times.total) < kLongLife * all) return waited;
    const int64_t needed = group.times.running;
    return needed < waited / kCountedWait ? kCountedWait * std::max<int64_t>(needed, 0) : waited;
  }

  void FindFewProcs() {
    absl::flat_hash_map<StringId, const GoroutineGroup*> groups;
    for (const GoroutineGroup& group : input_.goroutines) groups[group.name] = &group;
    Suspicion few;
    few.kind = SuspicionKind::kFewProcs;
    const auto time_of = [&](const ReadyFunction& function) {
      const int64_t time =
          SumOf({function.waited.Of(ReadyCause::kProgram), PeersWaited(function.start)});
      const auto group = groups.find(function.start);
      AddTime(group == groups.end() ? time : CountedOf(*group->second, time), &few.own);
      return time;
    };
    AddReady(time_of, &few);
    for (const ReadyFunction& function : input_.procs.ready_functions()) {
      const int64_t ran =
          SumOf({function.ran.Of(ReadyCause::kProgram), function.ran.Of(ReadyCause::kLongRun)});
      if (ran <= 0 || function.is_system) continue;
      few.culprits.push_back({.function = Text(function.start), .time = ran});
    }
    Keep(std::move(few));
  }

  void FindIdleProcs() {
    Suspicion idle;
    idle.kind = SuspicionKind::kIdleProcs;
    AddReady(ReadyCause::kIdleProcs, &idle);
    Keep(std::move(idle));
  }

  void FindHogs() {
    absl::flat_hash_map<StringId, Suspicion> hogs;
    for (const LongRunner& runner : input_.procs.long_runners()) {
      if (runner.waited <= 0) continue;
      Suspicion& hog = hogs[runner.start];
      const int64_t others = Between(runner.peers_waited, runner.waited);
      AddTime(others, &hog.charged);
      AddTime(runner.peers_waited, &hog.peers);
      hog.runs = std::max(hog.runs, runner.runs);
      if (runner.longest > hog.longest) {
        hog.longest = runner.longest;
        hog.goroutine = runner.goroutine.value;
      }
      hog.places.push_back(PartOf(runner.stack, runner.runs, others));
    }
    int64_t all = 0;
    for (const auto& [start, hog] : hogs) AddTime(hog.charged, &all);
    for (auto& [start, hog] : hogs) {
      hog.kind = SuspicionKind::kHog;
      hog.start = Text(start);
      AddVictims(start, all, &hog);
      Keep(std::move(hog));
    }
  }

  // Adds those who waited for goroutines that started in `hog_start`. Which long run it was that
  // they waited for is known only if all are of one function; otherwise their time is divided among
  // these functions in proportion to what each of them cost, which is `all` together.
  void AddVictims(StringId hog_start, int64_t all, Suspicion* hog) const {
    if (hog->charged <= 0) return;
    const double share = static_cast<double>(hog->charged) / static_cast<double>(all);
    for (const ReadyFunction& function : input_.procs.ready_functions()) {
      if (function.is_system || function.start == hog_start) continue;
      const int64_t lost =
          Between(PeersWaited(function.start), function.waited.Of(ReadyCause::kLongRun));
      const int64_t time =
          hog->charged >= all ? lost : static_cast<int64_t>(static_cast<double>(lost) * share);
      if (time > 0) hog->victims.push_back({.function = Text(function.start), .time = time});
    }
  }

  void FindAssists() {
    Suspicion assists;
    assists.kind = SuspicionKind::kAssists;
    const AssistTimes& times = input_.procs.assists();
    assists.own = assists.charged = SumOf({times.running, times.waiting});
    AddReady(ReadyCause::kAssist, &assists);
    for (const AssistsInPlace& place : input_.gc.assist_places()) {
      if (places_.Of(place.stack).is_system) continue;
      assists.places.push_back(PartOf(place.stack, place.assists.count, place.assists.time));
    }
    Keep(std::move(assists));
  }

  void FindGc() {
    Suspicion gc;
    gc.kind = SuspicionKind::kGc;
    for (const ProcUse& use : input_.procs.procs()) AddTime(use.times.gc, &gc.workers);
    // What a worker does to end the mark phase has no label.
    for (const GoroutineGroup& group : input_.goroutines) {
      if (interner_.String(group.name) != kMarkWorkerStart) continue;
      gc.workers = std::max(gc.workers, group.times.RunningWithStops());
    }
    for (const RuntimeWaits& waits : input_.procs.gc_waits()) {
      if (waits.time <= 0) continue;
      AddTime(waits.time, &gc.own);
      gc.places.push_back(PartOf(waits.stack, 0, waits.time));
    }
    // Idle workers take nothing from the program.
    gc.charged = SumOf({Between(input_.procs.idle_workers(), gc.workers), gc.own});
    AddReady(ReadyCause::kGc, &gc);
    for (const GcCycle& cycle : input_.gc.cycles()) {
      if (cycle.stack == StackId::kNone) continue;
      gc.culprits.push_back(PartOf(cycle.stack, 1, static_cast<int64_t>(cycle.duration())));
    }
    Keep(std::move(gc));
  }

  void FindStopped() {
    Suspicion stopped;
    stopped.kind = SuspicionKind::kStopped;
    for (const WorldStop& stop : input_.gc.stops()) {
      if (IsStopOfTracer(interner_.String(stop.reason))) continue;
      // Only the part in the window.
      const int64_t begin = std::max(stop.begin, input_.window.from);
      const int64_t time =
          std::max<int64_t>(Between(begin, std::min(stop.end, input_.window.to)), 0);
      stopped.lost.Add(static_cast<uint64_t>(time));
      stopped.places.push_back(PartOf(stop.stack, 1, time));
      if (stop.last_stack == StackId::kNone) continue;
      stopped.culprits.push_back(PartOf(stop.last_stack, 1, stop.stopping()));
    }
    for (const RuntimeWaits& waits : input_.procs.stop_waits()) {
      if (waits.time <= 0) continue;
      AddTime(waits.time, &stopped.own);
      StartFunction start;
      start.Learn(interner_, waits.stack);
      stopped.victims.push_back({.function = Text(start.name()), .time = waits.time});
    }
    stopped.charged = stopped.own;
    AddReady(ReadyCause::kStopped, &stopped);
    Keep(std::move(stopped));
  }

  const ProcCandidateInput& input_;
  const Interner& interner_;
  StackPlaces places_;
  absl::flat_hash_map<StringId, int64_t> peers_waited_;
  std::vector<Suspicion> found_;
};

}  // namespace

std::vector<Suspicion> FindProcCandidates(const ProcCandidateInput& input,
                                          const Interner& interner) {
  return ProcCandidates(input, interner).Find();
}

bool IsProcRaised(const Suspicion& candidate, const TraceSummary& summary) {
  const int64_t all = summary.procs.Total();
  const int64_t busy = summary.procs.Running();
  const int64_t cost = candidate.Cost();
  switch (candidate.kind) {
    case SuspicionKind::kFewProcs: {
      const ReadyTimes& ready = summary.ready;
      const int64_t for_busy =
          SumOf({ready.Of(ReadyCause::kProgram), ready.Of(ReadyCause::kLongRun),
                 ready.Of(ReadyCause::kAssist), ready.Of(ReadyCause::kGc)});
      return IsShare(candidate.own, kFewWaited, all) && IsShare(cost, kFewShare, for_busy) &&
             IsShare(busy, kFewBusy, all);
    }
    case SuspicionKind::kIdleProcs:
      return IsShare(cost, kIdleShare, all);
    case SuspicionKind::kHog:
      return IsShare(cost, kOthersShare, SumOf({cost, candidate.peers}));
    case SuspicionKind::kAssists:
      return IsShare(candidate.own, kAssistShare, summary.duration);
    case SuspicionKind::kGc:
      return IsShare(candidate.workers, kWorkerShare, busy) ||
             IsShare(candidate.own, kCycleWaits, summary.duration);
    case SuspicionKind::kStopped: {
      const auto time = static_cast<int64_t>(candidate.lost.sum());
      const bool is_long = candidate.lost.max() >= kLongStop;
      return IsShare(time, is_long ? kLongStopShare : kStoppedShare, summary.duration);
    }
    case SuspicionKind::kLock:
    case SuspicionKind::kSyscalls:
    case SuspicionKind::kTimeouts:
    case SuspicionKind::kPool:
    case SuspicionKind::kAnswers:
    case SuspicionKind::kLeak:
    case SuspicionKind::kIo:
    case SuspicionKind::kPolling:
    case SuspicionKind::kImbalance:
    case SuspicionKind::kStraggler:
    case SuspicionKind::kYields:
    case SuspicionKind::kSlowTasks:
    case SuspicionKind::kStage:
      break;
  }
  return false;
}

}  // namespace gotrace::internal
