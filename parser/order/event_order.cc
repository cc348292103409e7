#include "parser/order/event_order.h"

#include <cassert>
#include <optional>

namespace gotrace::internal {

void EventOrder::ParkFirst() {
  scheduler_.ListAwaited(frontier_.cursor(0), &conditions_);
  // Without a condition nothing would wake the thread. A rule returns kWaits only for requirements
  // that ListAwaited() knows.
  assert(!conditions_.empty());
  const std::optional<WaitCondition> reason = frontier_.Park(conditions_);
  // Only the earliest of the threads that wait for this condition was woken, and it still waits for
  // something else. If the condition still holds, the next thread may be able to use it.
  if (reason.has_value() && scheduler_.Holds(*reason)) frontier_.Wake(*reason);
}

void EventOrder::WakeParked() {
  scheduler_.ListMet(&conditions_);
  for (const WaitCondition& condition : conditions_) frontier_.Wake(condition);
}

}  // namespace gotrace::internal
