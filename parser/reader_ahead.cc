// The share of another core.
#include <deque>
#include <memory>
#include <vector>

#include "parser/reader_impl.h"

namespace gotrace {

void ReaderImpl::RunAhead() {
  if (jobs_ <= 1 || generation_->bytes() < options_.jobs_from_bytes || frontier_.empty()) return;
  const bool can_merge = may_merge_ && !was_stuck_ && order_.TriesOnlyFirst() &&
                         generation_->threads().size() <= kMostMergedThreads;
  const bool runs =
      share_ == ReaderOptions::Share::kMerge && can_merge ? StartMerging() : StartOrdering();
  if (!runs) jobs_ = 1;
}

bool ReaderImpl::StartOrdering() {
  merging_thread_.reset();
  if (ordering_thread_ == nullptr) {
    ordering_thread_ = WorkAhead<Event>::Start([this](absl::Span<Event> room, size_t /*place*/) {
      return FindPlain(room, /*hands_over=*/true);
    });
  }
  if (ordering_thread_ == nullptr) return false;
  ahead_ = Ahead::kOrders;
  ordering_thread_->Resume();
  return true;
}

bool ReaderImpl::StartMerging() {
  ordering_thread_.reset();
  if (merging_thread_ == nullptr) {
    merging_thread_ = WorkAhead<DecodedEvent>::Start(
        [this](absl::Span<DecodedEvent> room, size_t place) { return merger_.Merge(room, place); });
  }
  if (merging_thread_ == nullptr) return false;
  if (owners_.empty()) FindOwners();
  ahead_ = Ahead::kMerges;
  merging_thread_->Resume();
  return true;
}

void ReaderImpl::FindOwners() {
  const std::deque<EventBatch>& batches = generation_->event_batches();
  owners_.resize(batches.size());
  for (const ThreadBatches& thread : generation_->threads()) {
    for (uint32_t i = thread.first; i != EventBatch::kLast; i = batches[i].next) {
      owners_[i].thread = thread.thread;
    }
  }
}

absl::Span<const Event> ReaderImpl::TakeAhead() {
  absl::Span<const Event> events;
  if (ahead_ == Ahead::kOrders) {
    events = ordering_thread_->Take();
    if (!events.empty()) ChooseShare();
  } else if (ahead_ == Ahead::kMerges) {
    events = absl::MakeConstSpan(block_, FindMerged(absl::MakeSpan(block_)));
  }
  if (events.empty()) ahead_ = Ahead::kNothing;
  return events;
}

void ReaderImpl::ChooseShare() {
  if (share_ != ReaderOptions::Share::kChoose) return;
  if (ordering_thread_->blocks_taken() % kBlocksToChoose != 0) return;
  if (ordering_thread_->waited_share() < kMostlyWaits) return;
  share_ = ReaderOptions::Share::kMerge;
  ordering_thread_->Halt();
}

size_t ReaderImpl::FindMerged(absl::Span<Event> room) {
  size_t count = 0;
  while (room.size() - count >= Scheduler::kMaxEvents) {
    if (merged_.empty()) {
      if (count > 0) break;
      merged_ = merging_thread_->Take();
      merged_taken_ = merged_.size();
      if (merged_.empty()) break;
    }
    const size_t found = OrderMerged(room.subspan(count));
    count += found;
    if (found > 0) continue;
    const bool sample_is_next =
        next_sample_ < samples_.size() && samples_[next_sample_].time < merged_.front().time;
    if (!sample_is_next || !generation_->tables().HasStack(samples_[next_sample_].stack)) {
      StopMerging();
      break;
    }
    TakeSample(&room[count]);
    room[count++].MakeLaterThan(&last_time_);
  }
  return count;
}

size_t ReaderImpl::OrderMerged(absl::Span<Event> room) {
  const Scheduler::Run run = scheduler_.AdvanceMerged(&merged_, absl::MakeSpan(owners_),
                                                      NewRun(room, /*hands_over=*/false));
  return FinishRun(run, room);
}

void ReaderImpl::StopMerging() {
  const size_t place = merging_thread_->place();
  std::vector<DecodedEvent> scratch(merged_taken_ - merged_.size());
  merging_thread_->Halt();
  while (!merging_thread_->Take().empty()) continue;
  merged_ = {};
  merger_.GoBack(place, absl::MakeSpan(scratch));
  ahead_ = Ahead::kNothing;
  may_merge_ = false;
  if (options_.share == ReaderOptions::Share::kChoose) share_ = ReaderOptions::Share::kOrder;
}

}  // namespace gotrace
