// Judging what a Reader vouches for, without most of its transitions.
#include "validator/validator.h"
#include "validator/validator_inline.h"

namespace gotrace {

void Validator::Trust(VouchedTransitions* vouched) {
  vouched_ = vouched;
  vouched_->GiveStacks(&unchecked_stacks_);
}

void Validator::CheckVouched(absl::Span<const Event> events) {
  const VouchedTransitions::Block block = vouched_->block();
  event_count_ = block.events_before;
  // The time of what is left out is not known: but it is so little later that it makes no gap.
  last_time_ = block.time_before;
  for (size_t i = 0; i < events.size(); ++i) {
    event_count_ = block.events_before + block.left_out_before[i] + i + 1;
    CheckVouchedOne(events[i]);
  }
}

void Validator::CheckVouchedOne(const Event& event) {
  quiet_ = false;
  CheckTime(event);
  CheckStacks(event);
  if (event.kind() != EventKind::kStateTransition) return CheckOther(event);
  if (event.transition_to() == kNotExist) EndOpens(event);
}

void Validator::TakeOver() {
  if (!trusts()) return;
  CheckVouched({});
  // What came before is held against what the Reader knows of it: there are no states to be
  // assumed from.
  if (assumed_ != nullptr) assumed_->fails = true;
  vouched_->SeeKnown([this](const KnownResource& known) {
    Resource* const resource = TableOf(known.id.kind).Insert(known.id.id);
    resource->history = known.history;
    resource->transitions = known.transitions;
    resource->state = known.state;
    resource->is_whole = known.is_whole;
    if (known.thread == ThreadId::kNone) return;
    resource->binding = FindContext(known.thread.value);
    resource->binding->executed(known.id.kind) = known.id.id;
  });
  vouched_ = nullptr;
}

}  // namespace gotrace
