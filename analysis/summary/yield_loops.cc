#include "analysis/summary/yield_loops.h"

#include <string>
#include <utility>

#include "analysis/summary/suspicion_place.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// Work that yields now and then does so every 100 µs at most. A loop that does nothing else yields
// once or more in a microsecond.
constexpr double kYieldsPerSecond = 20'000;

}  // namespace

void YieldLoops::Merge(const YieldLoops& next, const InternerMap& ids) {
  for (const auto& [stack, lengths] : next.yields_) yields_[ids(stack)].Merge(lengths);
}

std::vector<Suspicion> YieldLoops::FindCandidates(int64_t duration) {
  std::vector<Suspicion> candidates;
  for (const auto& [id, lengths] : yields_) {
    const StackPlace& stack = places_.Of(id);
    if (stack.is_system || stack.place.function == StringId::kEmpty) continue;
    // The runtime yields, too, such as while it sweeps for runtime.GC.
    if (stack.place.library != StringId::kEmpty && stack.place.library != gosched_) continue;
    Suspicion one;
    one.kind = SuspicionKind::kYields;
    one.lost = lengths;
    if (one.Cost() < duration / 100) continue;
    one.start = std::string(interner_.String(stack.start));
    SetPlace(stack.place, interner_, &one);
    one.victims.push_back({.function = one.start, .count = lengths.count(), .time = one.Cost()});
    candidates.push_back(std::move(one));
  }
  return candidates;
}

bool IsYielding(const Suspicion& candidate, const TraceSummary& summary) {
  const double seconds = static_cast<double>(summary.duration) / 1e9;
  return static_cast<double>(candidate.lost.count()) >= kYieldsPerSecond * seconds;
}

}  // namespace gotrace::internal
