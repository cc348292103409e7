// Leaving out what the model vouches for.
#include <algorithm>
#include <limits>
#include <utility>

#include "parser/reader_impl.h"
#include "parser/vouched_transitions.h"

namespace gotrace {

void ReaderImpl::LeaveOutVouched(std::function<void()> on_doubt) {
  on_doubt_ = std::move(on_doubt);
  scheduler_.Vouch();
}

void ReaderImpl::GiveAll() {
  on_doubt_ = nullptr;
  scheduler_.StopVouching();
}

void ReaderImpl::Doubt() {
  if (!vouches()) return;
  BeginBlock();
  // It may call GiveAll().
  const std::function<void()> on_doubt = on_doubt_;
  on_doubt();
  GiveAll();
}

void ReaderImpl::BeginBlock() {
  events_before_block_ = event_count_;
  time_before_block_ = last_time_;
  left_out_before_.fill(0);
}

size_t ReaderImpl::FindVouched() {
  constexpr int64_t kLongest = VouchedTransitions::kLongestBlock;
  // Times that wrap around do not rise.
  if (last_time_ > std::numeric_limits<int64_t>::max() - kLongest) Doubt();
  if (!vouches()) return 0;
  BeginBlock();
  const absl::Span<Event> room = absl::MakeSpan(block_);
  if (!was_stuck_ && order_.TriesOnlyFirst()) {
    Scheduler::Run run = NewRun(room, /*hands_over=*/false);
    run.until = std::min(run.until, last_time_ + kLongest);
    run.left_out_before = left_out_before_.data();
    run = scheduler_.AdvanceVouched(&frontier_, run);
    event_count_ += run.left_out;
    const size_t count = FinishRun(run, room);
    if (count > 0 || run.left_out > 0) return count;
  }
  return FindOnePlain(room);
}

VouchedTransitions::VouchedTransitions(Reader* reader, std::function<void()> on_doubt)
    : impl_(reader->impl_.get()) {
  impl_->LeaveOutVouched(std::move(on_doubt));
}

VouchedTransitions::Block VouchedTransitions::block() const { return impl_->block(); }

void VouchedTransitions::GiveStacks(const StackWatch* watched) { impl_->GiveStacks(watched); }

void VouchedTransitions::GiveAll() { impl_->GiveAll(); }

void VouchedTransitions::SeeKnown(const std::function<void(const KnownResource&)>& see) const {
  impl_->SeeKnown(see);
}

bool VouchedTransitions::Exists(const ResourceId& resource) const {
  return impl_->Exists(resource);
}

}  // namespace gotrace
