// Finding events ahead of time on another core.
#include "parser/reader/reader_impl.h"

namespace gotrace::internal {

void ReaderImpl::RunAhead() {
  if (jobs_ <= 1 || generation_->bytes() < options_.tuning.jobs_from_bytes || frontier_.empty())
    return;
  if (ordering_thread_ == nullptr) {
    ordering_thread_ = WorkAhead::Start(
        [this](absl::Span<Event> room) { return FindPlain(room, /*hands_over=*/true); });
  }
  if (ordering_thread_ == nullptr) {
    jobs_ = 1;
    return;
  }
  runs_ahead_ = true;
  ordering_thread_->Resume();
}

absl::Span<const Event> ReaderImpl::TakeAhead() {
  if (!runs_ahead_) return {};
  const absl::Span<const Event> events = ordering_thread_->Take();
  runs_ahead_ = !events.empty();
  return events;
}

}  // namespace gotrace::internal
