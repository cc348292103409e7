#include "analysis/summary/path_suspicions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/stack_places.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// slow-tasks: a task is slow if it takes so many times the median. What is above the median is
// lost.
constexpr uint64_t kSlowFactor = 4;
// There are at least so many that take so many times the median, and one that takes so long.
constexpr uint64_t kVerySlowFactor = 5;
constexpr uint64_t kMinVerySlow = 3;
constexpr uint64_t kMinLongest = 1'000'000;
// Of the time of the slowest, no more than this is what other suspicions are about.
constexpr double kExplainedShare = 0.5;
// Of the spans, at least this share and this many are followed.
constexpr size_t kFollowedPart = 100;
constexpr size_t kMinFollowed = 3;

// Calls `use(count, length)` for the lengths above a limit.
template <class Use>
void ForEachAbove(uint64_t limit, const Histogram& lengths, const Use& use) {
  for (size_t i = 0; i < lengths.counts().size(); ++i) {
    const uint64_t length = Histogram::MiddleOf(lengths.first_bucket() + static_cast<int>(i));
    if (length > limit) use(lengths.counts()[i], length);
  }
}

absl::string_view NameOf(SlowSpans::Cause cause) {
  constexpr absl::string_view kNames[] = {"other", "lock", "ready", "assists", "stopped"};
  return kNames[static_cast<size_t>(cause)];
}

// stage and pool: others wait to send for this share of the trace, in so many pieces. The
// goroutines wait for channels themselves for at most this share of their lives.
constexpr double kSendShare = 0.2;
constexpr uint64_t kMinSends = 20;
constexpr double kFreeShare = 0.2;
// If Ps are as busy as this, and the goroutines run or are ready for this share of the time, there
// are too few Ps.
constexpr double kBusyShare = 0.8;
constexpr double kRunShare = 0.5;
// So are there if Ps are idle for less than this.
constexpr double kIdleShare = 0.1;
// A pool has so many users that started in one function, which have this share of the waits.
constexpr size_t kMinUsers = 3;
constexpr double kUserShare = 0.8;

class SlowTasks {
 public:
  SlowTasks(int64_t duration, const Interner& interner)
      : duration_(duration), interner_(interner), places_(&interner) {}

  void Add(const SlowSpans::Type& type) {
    const Histogram& lengths = type.lengths;
    const uint64_t median = lengths.Quantile(0.5);
    const uint64_t slow_from = kSlowFactor * median;
    Suspicion slow;
    slow.kind = SuspicionKind::kSlowTasks;
    ForEachAbove(slow_from, lengths, [&](uint64_t count, uint64_t length) {
      slow.grown += count;
      AddTime(static_cast<int64_t>(count * (length - median)), &slow.charged);
    });
    if (slow.Cost() <= 0 || slow.Cost() < duration_ / 100) return;
    slow.reason = std::string(SlowSpans::NameOf(type.kind));
    slow.function = std::string(interner_.String(type.name));
    slow.others = lengths;
    const size_t least = std::max<size_t>(kMinFollowed, lengths.count() / kFollowedPart);
    for (size_t i = 0; i < type.longest.size(); ++i) {
      const SlowSpans::Span& span = type.longest[i];
      if (i >= least && static_cast<uint64_t>(span.length) <= slow_from) break;
      for (const SlowSpans::Part& part : span.parts) AddPart(part, &slow);
    }
    found_.push_back(std::move(slow));
  }

  std::vector<Suspicion> Take() { return std::move(found_); }

 private:
  void AddPart(const SlowSpans::Part& part, Suspicion* slow) {
    Suspicion::Part added;
    added.count = part.count;
    added.time = part.time;
    AddTime(part.time, &slow->peers);
    if (part.doing.cause != SlowSpans::Cause::kOther) {
      AddTime(part.time, &slow->own);
      added.reason = std::string(NameOf(part.doing.cause));
      slow->culprits.push_back(std::move(added));
      return;
    }
    const WaitPlace& place = places_.Of(part.doing.stack).place;
    added.function = std::string(interner_.String(place.function));
    added.library = std::string(interner_.String(place.library));
    added.file = std::string(interner_.String(place.file));
    added.line = place.line;
    const bool has_reason = part.doing.reason != StringId::kEmpty;
    added.reason = std::string(has_reason ? interner_.String(part.doing.reason)
                                          : GoStateName(part.doing.state));
    slow->places.push_back(std::move(added));
  }

  const int64_t duration_;
  const Interner& interner_;
  StackPlaces places_;
  std::vector<Suspicion> found_;
};

// Collects what goroutines are waited for.
class Stages {
 public:
  Stages(const StageInput& input, const Interner& interner) : input_(input), interner_(interner) {}

  std::vector<Suspicion> Find() {
    for (const WaitGroup& group : input_.waits) AddSelects(group);
    for (const WaitHolder& holder : input_.holders) AddHolder(holder);
    for (const WaitGroup& group : input_.waits) AddWaits(group);
    for (const GoroutineGroup& group : input_.goroutines) {
      const auto stage = stages_.find(group.name);
      if (stage != stages_.end()) stage->second.suspicion.workers = group.times.total;
    }
    std::vector<Suspicion> found;
    for (auto& [start, stage] : stages_) {
      Suspicion& suspicion = stage.suspicion;
      if (suspicion.own <= 0 || suspicion.Cost() < input_.duration / 100) continue;
      SetKind(&stage);
      suspicion.start = Text(start);
      found.push_back(std::move(suspicion));
    }
    return found;
  }

 private:
  struct Stage {
    Suspicion suspicion;
    absl::flat_hash_map<StringId, int64_t> senders;  // How long they waited, by start.
  };

  // How often goroutines waited in a select until another one ended it, and how often to send.
  struct Select {
    uint64_t sends = 0;
    uint64_t all = 0;
  };

  std::string Text(StringId id) const { return std::string(interner_.String(id)); }

  void AddSelects(const WaitGroup& group) {
    const WaitKey& key = group.key;
    const bool is_ended = key.end == WaitEnd::kGoroutine || key.end == WaitEnd::kPeer;
    if (key.object != WaitObject::kSelect || !is_ended) return;
    Select& select = selects_[{key.start, key.place}];
    select.sends += group.sends;
    select.all += group.durations.count();
  }

  // Returns whether goroutines that wait in the select of a holder mostly wait to send. They may
  // wait for a context besides.
  bool Sends(const WaitHolder& holder) const {
    const auto select = selects_.find({holder.start, holder.place});
    return select != selects_.end() && select->second.sends * 2 > select->second.all;
  }

  void AddHolder(const WaitHolder& holder) {
    const StringId start = holder.holder_start;
    const bool is_select = holder.object == WaitObject::kSelect && Sends(holder);
    const bool is_send = is_select || interner_.String(holder.reason) == "chan send";
    if (start == StringId::kEmpty || (holder.object != WaitObject::kChannel && !is_select)) return;
    if (start == holder.start || IsOfSystem(interner_.String(start))) return;
    // Whoever starts goroutines gives them work, or waits for their results.
    if (input_.creations.contains({holder.start, start})) return;
    Stage& stage = stages_[start];
    Suspicion& suspicion = stage.suspicion;
    AddTime(holder.time, &suspicion.charged);
    suspicion.victims.push_back(
        {.function = Text(holder.start), .count = holder.count, .time = holder.time});
    if (!is_send) return;
    AddTime(holder.time, &suspicion.own);
    AddTime(holder.time, &stage.senders[holder.start]);
    suspicion.grown += holder.count;
    suspicion.places.push_back({.function = Text(holder.function),
                                .file = Text(holder.file),
                                .line = holder.line,
                                .count = holder.count,
                                .time = holder.time,
                                .reason = DoingOf(holder, interner_)});
  }

  void AddWaits(const WaitGroup& group) {
    const WaitKey& key = group.key;
    const bool is_channel = IsChannel(key.object);
    // Waits that began before the trace have no reason.
    const bool is_unknown = key.state == GoState::kWaiting && key.reason == StringId::kEmpty;
    if (!is_channel && !is_unknown) return;
    if (const auto stage = stages_.find(key.start); stage != stages_.end()) {
      AddTime(static_cast<int64_t>(group.durations.sum()), &stage->second.suspicion.peers);
    }
    for (const GoId id : group.goroutines) {
      if (is_channel && id != GoId::kNone) users_[key.start].insert(id);
    }
  }

  // Many goroutines that all want to send are the users of a pool.
  void SetKind(Stage* stage) const {
    Suspicion& suspicion = stage->suspicion;
    suspicion.kind = SuspicionKind::kStage;
    for (const auto& [start, time] : stage->senders) {
      const auto users = users_.find(start);
      if (users == users_.end() || users->second.size() < kMinUsers) continue;
      if (IsShare(time, kUserShare, suspicion.own)) suspicion.kind = SuspicionKind::kPool;
    }
  }

  const StageInput& input_;
  const Interner& interner_;
  absl::flat_hash_map<std::pair<StringId, WaitPlace>, Select> selects_;  // By start and place.
  absl::flat_hash_map<StringId, Stage> stages_;                          // By start.
  absl::flat_hash_map<StringId, absl::flat_hash_set<GoId>> users_;  // Of channels, some of them.
};

bool IsSlowRaised(const Suspicion& candidate) {
  const Histogram& lengths = candidate.others;
  uint64_t very_slow = 0;
  ForEachAbove(kVerySlowFactor * lengths.Quantile(0.5), lengths,
               [&](uint64_t count, uint64_t /*length*/) { very_slow += count; });
  const auto explained = static_cast<double>(candidate.own);
  return very_slow >= kMinVerySlow && lengths.max() >= kMinLongest && candidate.peers > 0 &&
         explained <= kExplainedShare * static_cast<double>(candidate.peers);
}

bool IsStageRaised(const Suspicion& candidate, const TraceSummary& summary) {
  int64_t running = 0;
  for (const Suspicion::Part& part : candidate.places) {
    const bool runs = part.reason == GoStateName(GoState::kRunning) ||
                      part.reason == GoStateName(GoState::kRunnable);
    if (runs) AddTime(part.time, &running);
  }
  const bool is_for_procs = (IsShare(summary.procs.Running(), kBusyShare, summary.procs.Total()) &&
                             IsShare(running, kRunShare, candidate.own)) ||
                            !IsShare(summary.procs.idle, kIdleShare, summary.procs.Total());
  return IsShare(candidate.own, kSendShare, summary.duration) && candidate.grown >= kMinSends &&
         !IsShare(candidate.peers, kFreeShare, candidate.workers) && !is_for_procs;
}

}  // namespace

std::string DoingOf(const WaitHolder& holder, const Interner& interner) {
  const bool has_reason = holder.state != GoState::kRunnable && holder.doing != StringId::kEmpty;
  return std::string(has_reason ? interner.String(holder.doing) : GoStateName(holder.state));
}

Suspicion::Part CulpritOf(const WaitHolder& holder, const Interner& interner) {
  return {.function = std::string(interner.String(holder.holder)),
          .library = std::string(interner.String(holder.function)),
          .file = std::string(interner.String(holder.file)),
          .line = holder.line,
          .count = holder.count,
          .time = holder.time,
          .reason = DoingOf(holder, interner)};
}

std::vector<Suspicion> FindStages(const StageInput& input, const Interner& interner) {
  return Stages(input, interner).Find();
}

std::vector<Suspicion> FindSlowTasks(absl::Span<const SlowSpans::Type> types, int64_t duration,
                                     const Interner& interner) {
  SlowTasks slow(duration, interner);
  for (const SlowSpans::Type& type : types) slow.Add(type);
  return slow.Take();
}

bool IsPathRaised(const Suspicion& candidate, const TraceSummary& summary) {
  return candidate.kind == SuspicionKind::kSlowTasks ? IsSlowRaised(candidate)
                                                     : IsStageRaised(candidate, summary);
}

void DropRegionsOfTasks(std::vector<Suspicion>* raised) {
  const auto is_slow = [](absl::string_view what) {
    return [=](const Suspicion& one) {
      return one.kind == SuspicionKind::kSlowTasks && one.reason == what;
    };
  };
  if (!absl::c_any_of(*raised, is_slow("task"))) return;
  raised->erase(std::remove_if(raised->begin(), raised->end(), is_slow("region")), raised->end());
}

}  // namespace gotrace::internal
