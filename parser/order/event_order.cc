#include "parser/order/event_order.h"

#include <cassert>
#include <optional>

namespace gotrace::internal {

void EventOrder::ParkFirst() {
  scheduler_.ListAwaited(frontier_.cursor(0), &conditions_);
  // Nothing would wake it. A rule that lets events wait has a case there.
  assert(!conditions_.empty());
  const std::optional<WaitCondition> reason = frontier_.Park(conditions_);
  // Only the earliest of those that wait for the same was woken. It is the turn of the next.
  if (reason.has_value() && scheduler_.Holds(*reason)) frontier_.Wake(*reason);
}

void EventOrder::WakeParked() {
  scheduler_.ListMet(&conditions_);
  for (const WaitCondition& condition : conditions_) frontier_.Wake(condition);
}

}  // namespace gotrace::internal
