#include "analysis/summary/path_suspicions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "analysis/core/time_sums.h"
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

absl::string_view NameOf(SlowSpans::Kind kind) {
  constexpr absl::string_view kNames[] = {"task", "region", "request"};
  return kNames[static_cast<size_t>(kind)];
}

absl::string_view NameOf(SlowSpans::Cause cause) {
  constexpr absl::string_view kNames[] = {"other", "lock", "ready", "assists", "stopped"};
  return kNames[static_cast<size_t>(cause)];
}

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
    slow.reason = std::string(NameOf(type.kind));
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

}  // namespace

std::vector<Suspicion> FindSlowTasks(absl::Span<const SlowSpans::Type> types, int64_t duration,
                                     const Interner& interner) {
  SlowTasks slow(duration, interner);
  for (const SlowSpans::Type& type : types) slow.Add(type);
  return slow.Take();
}

bool IsPathRaised(const Suspicion& candidate, const TraceSummary& /*summary*/) {
  if (candidate.kind != SuspicionKind::kSlowTasks) return false;
  const Histogram& lengths = candidate.others;
  uint64_t very_slow = 0;
  ForEachAbove(kVerySlowFactor * lengths.Quantile(0.5), lengths,
               [&](uint64_t count, uint64_t /*length*/) { very_slow += count; });
  const auto explained = static_cast<double>(candidate.own);
  return very_slow >= kMinVerySlow && lengths.max() >= kMinLongest && candidate.peers > 0 &&
         explained <= kExplainedShare * static_cast<double>(candidate.peers);
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
