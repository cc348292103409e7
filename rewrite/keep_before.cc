#include "rewrite/keep_before.h"

#include <algorithm>
#include <cstddef>

namespace gotrace::internal {

void KeepBefore(const Fault& fault, RepairPlan* plan) {
  const uint64_t place = fault.place.offset.value_or(plan->output_bytes);
  uint64_t end = 0;  // The end of the part that is kept, which is never everything.
  for (const RepairedGeneration& generation : plan->generations) {
    const uint64_t its_end = generation.output_end;
    if (its_end <= place && its_end < plan->output_bytes) end = std::max(end, its_end);
  }
  plan->events = 0;
  for (RepairedGeneration& generation : plan->generations) {
    if (generation.output_end > end) {
      generation.fate = GenerationFate::kBroken;
      generation.events = generation.output_end = 0;
      generation.regions = RegionChanges();
    }
    plan->events += generation.events;
  }
  uint64_t size = 0;
  for (size_t i = 0; i < plan->pieces.size(); ++i) {
    RepairPiece& piece = plan->pieces[i];
    const uint64_t room = end - size;
    size += std::min(SizeOf(piece), room);
    if (SizeOf(piece) < room) continue;
    piece.bytes.resize(std::min<uint64_t>(piece.bytes.size(), room));
    piece.size = piece.bytes.empty() ? room : 0;
    plan->pieces.resize(room == 0 ? i : i + 1);
    break;
  }
  plan->output_bytes = size;
}

}  // namespace gotrace::internal
