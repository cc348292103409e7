#include "analysis/summary/suspicions.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/summary/network_waits.h"
#include "analysis/summary/path_suspicions.h"
#include "analysis/summary/proc_suspicions.h"
#include "analysis/summary/sleep_loops.h"
#include "analysis/summary/yield_loops.h"

namespace gotrace {
namespace internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// Below this nothing is worth a look: test programs lose a few milliseconds in many ways.
constexpr int64_t kMinLostTime = 20'000'000;

// A lock that a goroutine cannot get for so long may never be free again, however few wait for it.
constexpr int64_t kDeadlock = 1'000'000'000;

// Shares of the whole.
constexpr double kActiveShare = 0.5;    // kSyscalls: of the time of active goroutines.
constexpr double kAlikeShare = 0.7;     // kTimeouts: of the waits, as long as their median.
constexpr double kDeadlineShare = 0.5;  // kTimeouts: of the waits, ended by a deadline.
constexpr double kAskedShare = 0.5;     // kTimeouts: of the waits, for an answer; also of others.
constexpr double kAnsweredShare = 0.2;  // kTimeouts: of all waits there, ended by an answer.
constexpr double kPeerShare = 0.5;      // kPool: of the time, ended by goroutines like them.
constexpr double kWaitedShare = 0.5;    // kAnswers: of their time, in which they only waited.
constexpr double kBusyShare = 0.8;      // kPool: of the Ps' time, above which there are too few.
constexpr double kKnownShare = 0.5;     // kIo: of what this program answers, what is known.
constexpr double kSlowShare = 0.5;      // kIo: of that, sleeps, calls and waits for the network.
constexpr double kLateShare = 0.5;      // kStraggler: of the time that all batches took.

// kPool, kAnswers: so many goroutines wait.
constexpr uint64_t kMinUsers = 3;
static_assert(kMinUsers <= WaitGroup::kGoroutines);

// kSyscalls: the mean length from which calls are slow. Programs that are made of fast ones have
// nothing to wait for.
constexpr uint64_t kSlowCall = 100'000;

// kIo, kAnswers: the median of waits for answers of this program from which these are slow. Those
// of servers that have nothing to wait for take up to a millisecond with their client in the same
// program.
constexpr uint64_t kSlowAnswer = 3'000'000;

// Two waits for the same time differ by as much as it takes to run again.
constexpr double kAlikeRange = 0.15;
constexpr double kAlikeMin = 1'500'000;

// kLeak: a goroutine is blocked for longer than others if it is so by this factor and for this
// time; and one of them for this time, or half of a shorter trace.
constexpr int64_t kLeakFactor = 10;
constexpr int64_t kMinLeakTime = 10'000'000;
constexpr int64_t kOldLeakTime = 1'000'000'000;

struct Spec {
  absl::string_view id;
  int64_t share;
  uint64_t count;
  absl::string_view command;
  absl::string_view meaning;
};
constexpr Spec kSpecs[] = {
#define GOTRACE_SUSPICION(name, id, share, count, command, meaning) \
  {id, share, count, command, meaning},
#include "gotrace/internal/suspicions.def"
};

const Spec& SpecOf(SuspicionKind kind) { return kSpecs[static_cast<size_t>(kind)]; }

double ShareOf(double part, double whole) { return whole <= 0 ? 0 : part / whole; }

// Returns how many durations are as long as the median.
uint64_t CountAlike(const Histogram& durations) {
  const auto median = static_cast<double>(durations.Quantile(0.5));
  const double range = std::max(kAlikeRange * median, kAlikeMin);
  uint64_t alike = 0;
  for (size_t i = 0; i < durations.counts().size(); ++i) {
    const int bucket = durations.first_bucket() + static_cast<int>(i);
    const double length = static_cast<double>(Histogram::MiddleOf(bucket));
    if (std::abs(length - median) <= range) alike += durations.counts()[i];
  }
  return alike;
}

// Whether deadlines ended the waits, all of about the same length. A timer alone is no evidence:
// tickers, and workers that flush when it is quiet, or end when they are idle, have timers, too. It
// is that of a deadline if the goroutines had asked others, and these do answer sometimes. Nor is
// the deadline of a context, with which consumers also wait for work: they ask nobody, and wait for
// nothing that others like them have.
bool AreTimeouts(const Suspicion& s) {
  const auto timeouts = static_cast<double>(s.lost.count());
  const auto others = static_cast<double>(s.others.count());
  const auto answered = static_cast<double>(s.answered);
  const bool are_asked = static_cast<double>(s.asked) >= kAskedShare * timeouts;
  const bool are_answered =
      answered >= kAskedShare * others && answered >= kAnsweredShare * (timeouts + others);
  const bool are_deadlines = static_cast<double>(s.deadlines) >= kDeadlineShare * timeouts;
  return static_cast<double>(CountAlike(s.lost)) >= kAlikeShare * timeouts &&
         (are_deadlines ? are_asked || s.peers > 0 : are_asked && are_answered);
}

// Whether this program takes long to answer itself, and not for something that others are about.
bool IsSlowAnswer(const Suspicion& s) {
  return s.lost.Quantile(0.5) >= kSlowAnswer && s.peers > 0 &&
         IsShare(s.peers, kKnownShare, static_cast<int64_t>(s.lost.sum())) &&
         IsShare(s.own, kSlowShare, s.peers);
}

// Whether goroutines asked others, which did nothing but wait until they answered. A single one may
// wait for its workers.
bool AreIdleAnswers(const Suspicion& s) {
  const auto count = static_cast<double>(s.lost.count());
  return s.goroutines >= kMinUsers && s.lost.Quantile(0.5) >= kSlowAnswer &&
         static_cast<double>(s.asked) >= kAskedShare * count &&
         IsShare(s.own, kWaitedShare, s.Cost());
}

// Whether goroutines wait for what others like them have, and not for a P to use it on.
bool IsPool(const Suspicion& s, const TraceSummary& summary) {
  const auto peers = static_cast<double>(s.lost.sum());
  const auto others = static_cast<double>(s.others.sum());
  const auto busy = static_cast<double>(summary.procs.Running());
  return s.goroutines >= kMinUsers && peers >= kPeerShare * (peers + others) &&
         ShareOf(busy, static_cast<double>(summary.procs.Total())) < kBusyShare;
}

// Returns how long goroutines of the program ran or were in syscalls.
double ActiveTime(const TraceSummary& summary) {
  double active = 0;
  for (const TraceSummary::Function& function : summary.functions) {
    if (IsOfSystem(function.name)) continue;
    active += static_cast<double>(function.running) + static_cast<double>(function.syscall);
  }
  return active;
}

// Collects the candidates of one trace.
class Candidates {
 public:
  Candidates(const CandidateInput& input, const Interner& interner)
      : input_(input), interner_(interner), places_(&interner) {}

  std::vector<Suspicion> Find();

 private:
  using Key = std::tuple<SuspicionKind, StringId, StringId, WaitPlace>;
  struct Candidate {
    Suspicion suspicion;
    absl::flat_hash_set<GoId> goroutines;  // All, or at least WaitGroup::kGoroutines of them.

    void AddGoroutines(const WaitGroup& group) {
      for (const GoId id : group.goroutines) {
        if (id != GoId::kNone) goroutines.insert(id);
      }
    }
  };
  // A function in which goroutines are blocked, for kLeak: where they started, the reason, and the
  // place.
  using BlockedIn = std::tuple<StringId, StringId, WaitPlace>;

  void AddWaits(const WaitGroup& group);
  void AddChannelWaits(const WaitGroup& group);
  void AddPoolWaits(const WaitGroup& group);
  void AddHolder(const WaitHolder& holder);
  // Whether goroutines waited there for something that no other goroutine was about.
  bool OnlyWaits(const WaitHolder& holder) const;
  void AddTask(const WaitTask& task);
  // Returns the candidate for what goroutines that started in a function wait for in a place.
  Candidate& PoolIn(WaitObject object, StringId reason, StringId start, const WaitPlace& place) {
    const bool has_reason = object == WaitObject::kChannel;
    return Of(SuspicionKind::kPool, has_reason ? reason : StringId::kEmpty, start, place,
              /*by_line=*/true);
  }
  // Returns the candidate for what goroutines wait for in a channel or select, to be answered.
  Candidate& AnswersIn(const WaitPlace& place) {
    return Of(SuspicionKind::kAnswers, StringId::kEmpty, StringId::kEmpty, place, /*by_line=*/true);
  }
  // Returns the candidate for a lock that goroutines wait for in a place.
  Suspicion& LockIn(const WaitPlace& place) {
    return Of(SuspicionKind::kLock, StringId::kEmpty, StringId::kEmpty, place, /*by_line=*/false)
        .suspicion;
  }
  void AddLeaks();
  void AddLeak(const BlockedIn& in, const std::vector<const BlockedGoroutine*>& blocked);

  // Returns the candidate in a place. `by_line` says whether each line has its own.
  Candidate& Of(SuspicionKind kind, StringId reason, StringId start, WaitPlace place, bool by_line);
  // Adds waits that cost something.
  void AddLost(const WaitGroup& group, Suspicion* suspicion) const;

  std::string Text(StringId id) const { return std::string(interner_.String(id)); }
  Suspicion::Part PartOf(const WaitPlace& place, uint64_t count, int64_t time) const {
    return {Text(place.function), Text(place.library), Text(place.file), place.line, count, time};
  }

  const CandidateInput& input_;
  const Interner& interner_;
  StackPlaces places_;
  absl::flat_hash_map<Key, Candidate> found_;
};

Candidates::Candidate& Candidates::Of(SuspicionKind kind, StringId reason, StringId start,
                                      WaitPlace place, bool by_line) {
  if (!by_line) place.line = 0;
  place.file = StringId::kEmpty;
  Candidate& candidate = found_[Key(kind, reason, start, place)];
  Suspicion& suspicion = candidate.suspicion;
  suspicion.kind = kind;
  if (reason != StringId::kEmpty) suspicion.reason = Text(reason);
  suspicion.start = Text(start);
  suspicion.function = Text(place.function);
  suspicion.library = Text(place.library);
  suspicion.line = place.line;
  return candidate;
}

void Candidates::AddLost(const WaitGroup& group, Suspicion* suspicion) const {
  const uint64_t count = group.durations.count();
  const auto time = static_cast<int64_t>(group.durations.sum());
  const WaitPlace& place = group.key.place;
  suspicion->lost.Merge(group.durations);
  suspicion->places.push_back(PartOf(place, count, time));
  suspicion->victims.push_back({.function = Text(group.key.start), .count = count, .time = time});
}

void Candidates::AddWaits(const WaitGroup& group) {
  const WaitKey& key = group.key;
  if (key.is_system || key.place.function == StringId::kEmpty) return;
  // Tests wait for other tests, as they are meant to.
  if (absl::StartsWith(interner_.String(key.place.library), "testing.")) return;
  if (key.state == GoState::kSyscall) {
    if (key.awaits_input) return;
    return AddLost(group, &Of(SuspicionKind::kSyscalls, StringId::kEmpty, StringId::kEmpty,
                              key.place, /*by_line=*/false)
                               .suspicion);
  }
  switch (key.object) {
    case WaitObject::kMutex:
    case WaitObject::kRWMutex: {
      Suspicion& lock = LockIn(key.place);
      AddLost(group, &lock);
      if (key.object == WaitObject::kRWMutex && key.release != StringId::kEmpty) {
        const bool by_reader = absl::EndsWith(interner_.String(key.release), "RUnlock");
        AddTime(static_cast<int64_t>(group.durations.sum()), by_reader ? &lock.own : &lock.peers);
      }
      if (key.end != WaitEnd::kOpen) return;
      lock.longest = std::max(lock.longest, static_cast<int64_t>(group.durations.max()));
      return;
    }
    case WaitObject::kCond:
    case WaitObject::kChannel:
    case WaitObject::kSelect:
      return AddChannelWaits(group);
    case WaitObject::kWaitGroup:
      // Goroutines wait for those that they create, and not for what these have.
      if (!input_.creations.contains({key.start, key.start})) AddPoolWaits(group);
      return;
    case WaitObject::kOther:
      return;
  }
}

void Candidates::AddChannelWaits(const WaitGroup& group) {
  const WaitKey& key = group.key;
  if (key.end == WaitEnd::kOpen || key.end == WaitEnd::kUnknown) return;
  Suspicion& timeouts = Of(SuspicionKind::kTimeouts, key.reason, StringId::kEmpty, key.place,
                           /*by_line=*/true)
                            .suspicion;
  if (key.end == WaitEnd::kTimer || key.end == WaitEnd::kDeadline) {
    if (key.end == WaitEnd::kDeadline) timeouts.deadlines += group.durations.count();
    timeouts.asked += group.asked;
    return AddLost(group, &timeouts);
  }
  timeouts.others.Merge(group.durations);
  timeouts.answered += group.asked;
  if (key.end == WaitEnd::kPeer) {
    AddTime(static_cast<int64_t>(group.durations.sum()), &timeouts.peers);
  }
  if (key.end == WaitEnd::kGoroutine && IsChannel(key.object)) {
    Candidate& answers = AnswersIn(key.place);
    answers.suspicion.reason = Text(key.reason);
    answers.suspicion.asked += group.asked;
    answers.AddGoroutines(group);
    AddLost(group, &answers.suspicion);
  }
  AddPoolWaits(group);
}

void Candidates::AddPoolWaits(const WaitGroup& group) {
  const WaitKey& key = group.key;
  if (key.end != WaitEnd::kPeer && key.end != WaitEnd::kGoroutine) return;
  Candidate& pool = PoolIn(key.object, key.reason, key.start, key.place);
  pool.suspicion.reason = Text(key.reason);
  pool.AddGoroutines(group);
  if (key.end == WaitEnd::kPeer) return AddLost(group, &pool.suspicion);
  pool.suspicion.others.Merge(group.durations);
}

void Candidates::AddHolder(const WaitHolder& holder) {
  if (holder.place.function == StringId::kEmpty) return;
  Suspicion& suspicion =
      IsLock(holder.object)
          ? LockIn(holder.place)
          : PoolIn(holder.object, holder.reason, holder.start, holder.place).suspicion;
  suspicion.culprits.push_back(CulpritOf(holder, interner_));
  if (!IsChannel(holder.object)) return;
  Suspicion& answers = AnswersIn(holder.place).suspicion;
  answers.culprits.push_back(CulpritOf(holder, interner_));
  if (OnlyWaits(holder)) AddTime(holder.time, &answers.own);
}

bool Candidates::OnlyWaits(const WaitHolder& holder) const {
  if (holder.state == GoState::kSyscall) return true;
  // A path goes on where a goroutine ended a wait, so a timer ended these receives and selects.
  constexpr absl::string_view kReasons[] = {"sleep", "network", "chan receive", "select"};
  return holder.state == GoState::kWaiting &&
         absl::c_linear_search(kReasons, interner_.String(holder.doing));
}

void Candidates::AddTask(const WaitTask& task) {
  if (!IsLock(task.object) || task.place.function == StringId::kEmpty) return;
  LockIn(task.place)
      .tasks.push_back({.function = Text(task.type), .count = task.count, .time = task.time});
}

// A goroutine is taken to be blocked permanently if it has been for many times as long as any other
// that continued. Goroutines that are older than the trace are not counted, since a program
// may have started them once.
void Candidates::AddLeaks() {
  absl::flat_hash_map<BlockedIn, int64_t> longest;
  for (const WaitGroup& group : input_.waits) {
    const WaitKey& key = group.key;
    if (key.state != GoState::kWaiting || key.end == WaitEnd::kOpen) continue;
    int64_t& length = longest[BlockedIn(key.start, key.reason, key.place)];
    length = std::max(length, static_cast<int64_t>(group.durations.max()));
  }
  absl::flat_hash_map<BlockedIn, std::vector<const BlockedGoroutine*>> leaks;
  for (const BlockedGoroutine& one : input_.blocked) {
    const StackPlace& stack = places_.Of(one.blocked_at);
    if (!one.is_new || stack.is_system || stack.place.function == StringId::kEmpty) continue;
    const BlockedIn in(one.start, one.reason, stack.place);
    const auto ended = longest.find(in);
    const int64_t others = ended == longest.end() ? 0 : ended->second;
    if (one.length <= kMinLeakTime || one.length / kLeakFactor <= others) continue;
    leaks[in].push_back(&one);
  }
  for (const auto& [in, blocked] : leaks) AddLeak(in, blocked);
}

void Candidates::AddLeak(const BlockedIn& in, const std::vector<const BlockedGoroutine*>& blocked) {
  const auto& [start, reason, place] = in;
  Suspicion leak;
  for (const BlockedGoroutine* const one : blocked) {
    leak.lost.Add(static_cast<uint64_t>(one->length));
    if (Between(input_.begin, one->begin) >= input_.duration / 2) ++leak.grown;
  }
  const auto longest = static_cast<int64_t>(leak.lost.max());
  if (longest < std::min(kOldLeakTime, input_.duration / 2)) return;
  Suspicion& added = Of(SuspicionKind::kLeak, reason, start, place, /*by_line=*/true).suspicion;
  added.lost = leak.lost;
  added.grown = leak.grown;
  added.places.push_back(PartOf(place, leak.lost.count(), leak.Cost()));
  added.victims.push_back(
      {.function = Text(start), .count = leak.lost.count(), .time = leak.Cost()});
}

std::vector<Suspicion> Candidates::Find() {
  for (const WaitGroup& group : input_.waits) AddWaits(group);
  for (const WaitHolder& holder : input_.holders) AddHolder(holder);
  for (const WaitTask& task : input_.tasks) AddTask(task);
  AddLeaks();
  std::vector<Suspicion> all;
  for (auto& [key, candidate] : found_) {
    Suspicion& suspicion = candidate.suspicion;
    const bool is_small = suspicion.Cost() < input_.duration / 100;
    if (suspicion.lost.count() == 0 || (is_small && suspicion.kind != SuspicionKind::kLeak)) {
      continue;
    }
    suspicion.goroutines = std::min<uint64_t>(candidate.goroutines.size(), kMinUsers);
    all.push_back(std::move(suspicion));
  }
  return all;
}

}  // namespace

std::vector<Suspicion> FindCandidates(const CandidateInput& input, const Interner& interner) {
  return Candidates(input, interner).Find();
}

bool IsRaised(const Suspicion& candidate, const TraceSummary& summary) {
  const Spec& spec = SpecOf(candidate.kind);
  const auto cost = static_cast<double>(candidate.Cost());
  const double share = ShareOf(100 * cost, static_cast<double>(summary.duration));
  if (cost < kMinLostTime || share < static_cast<double>(spec.share)) return false;
  const bool has_many = candidate.lost.count() >= spec.count;
  switch (candidate.kind) {
    case SuspicionKind::kLock:
      return has_many || candidate.longest >= kDeadlock;
    case SuspicionKind::kSyscalls:
      return has_many && ShareOf(cost, ActiveTime(summary)) >= kActiveShare &&
             candidate.lost.sum() >= kSlowCall * candidate.lost.count();
    case SuspicionKind::kTimeouts:
      return has_many && AreTimeouts(candidate);
    case SuspicionKind::kAnswers:
      return has_many && AreIdleAnswers(candidate);
    case SuspicionKind::kPool:
      // Workers that others wait for.
      if (candidate.function.empty()) return IsPathRaised(candidate, summary);
      return candidate.lost.count() + candidate.others.count() >= spec.count &&
             IsPool(candidate, summary);
    case SuspicionKind::kLeak:
      return candidate.grown >= spec.count;
    case SuspicionKind::kHog:
      return candidate.runs >= spec.count && IsProcRaised(candidate, summary);
    case SuspicionKind::kFewProcs:
    case SuspicionKind::kIdleProcs:
    case SuspicionKind::kAssists:
    case SuspicionKind::kGc:
    case SuspicionKind::kStopped:
      return has_many && IsProcRaised(candidate, summary);
    case SuspicionKind::kIo:
      return has_many && candidate.lost.sum() >= candidate.others.sum() &&
             (candidate.reason != kOwnNetwork || IsSlowAnswer(candidate));
    case SuspicionKind::kPolling:
      return candidate.lost.count() + candidate.others.count() >= spec.count &&
             IsPolling(candidate);
    case SuspicionKind::kImbalance:
      return has_many;
    case SuspicionKind::kYields:
      return has_many && IsYielding(candidate, summary);
    case SuspicionKind::kStraggler:
      return has_many && IsShare(candidate.Cost(), kLateShare, candidate.peers);
    case SuspicionKind::kStage:
      return IsPathRaised(candidate, summary);
    case SuspicionKind::kSlowTasks:
      return candidate.others.count() >= spec.count && IsPathRaised(candidate, summary);
  }
  return false;
}

void DropExplained(std::vector<Suspicion>* raised) {
  const std::vector<Suspicion> all = *raised;
  const auto names = [](const Suspicion& one, absl::string_view function) {
    return one.function == function || absl::c_any_of(one.places, [&](const Suspicion::Part& part) {
             return part.function == function;
           });
  };
  const auto is_answer = [&](const Suspicion& answer) {
    const bool is_own_io = answer.kind == SuspicionKind::kIo && answer.reason == kOwnNetwork;
    if (answer.kind != SuspicionKind::kAnswers && !is_own_io) return false;
    if (answer.culprits.empty() || answer.culprits[0].library.empty()) return false;
    return absl::c_any_of(all, [&](const Suspicion& one) {
      return one.kind != answer.kind && names(one, answer.culprits[0].library);
    });
  };
  const auto is_pool_of_others = [&](const Suspicion& pool) {
    if (pool.kind != SuspicionKind::kPool || pool.function.empty()) return false;
    return absl::c_any_of(all, [&](const Suspicion& one) {
      const bool is_of_workers = one.kind == SuspicionKind::kPool && one.function.empty();
      return is_of_workers && absl::c_any_of(one.victims, [&](const Suspicion::Part& victim) {
               return victim.function == pool.start && victim.time >= pool.Cost() / 2;
             });
    });
  };
  std::erase_if(*raised,
                [&](const Suspicion& one) { return is_answer(one) || is_pool_of_others(one); });
}

}  // namespace internal

absl::string_view SuspicionId(SuspicionKind kind) { return internal::SpecOf(kind).id; }
absl::string_view SuspicionMeaning(SuspicionKind kind) { return internal::SpecOf(kind).meaning; }
absl::string_view SuspicionCommand(SuspicionKind kind) { return internal::SpecOf(kind).command; }

}  // namespace gotrace
