// The share of another core.
#include <deque>
#include <memory>
#include <vector>

#include "parser/reader_impl.h"

namespace gotrace {

void ReaderImpl::RunAhead() {
  if (jobs_ <= 1 || generation_->bytes() < options_.jobs_from_bytes || frontier_.empty()) return;
  const bool can_merge =
      may_merge_ && order_.TriesOnlyFirst() && generation_->threads().size() <= kMostMergedThreads;
  const bool runs =
      share_ == ReaderOptions::Share::kMerge && can_merge ? MergeAhead() : OrderAhead();
  if (!runs) jobs_ = 1;
}

bool ReaderImpl::OrderAhead() {
  merge_ahead_.reset();
  if (order_ahead_ == nullptr) {
    order_ahead_ = WorkAhead<Event>::Start(
        [this](absl::Span<Event> room, size_t /*place*/) { return FindPlain(room); });
  }
  if (order_ahead_ == nullptr) return false;
  orders_ahead_ = true;
  order_ahead_->Resume();
  return true;
}

bool ReaderImpl::MergeAhead() {
  order_ahead_.reset();
  if (merge_ahead_ == nullptr) {
    merge_ahead_ = WorkAhead<DecodedEvent>::Start(
        [this](absl::Span<DecodedEvent> room, size_t place) { return merger_.Merge(room, place); });
  }
  if (merge_ahead_ == nullptr) return false;
  if (owners_.empty()) FindOwners();
  merges_ahead_ = true;
  merge_ahead_->Resume();
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
  if (merges_ahead_) {
    if (const size_t count = FindMerged(absl::MakeSpan(block_)); count > 0) return {block_, count};
    merges_ahead_ = false;
  }
  if (orders_ahead_) {
    const absl::Span<const Event> events = order_ahead_->Take();
    if (!events.empty()) {
      ChooseShare();
      return events;
    }
    orders_ahead_ = false;
  }
  return {};
}

void ReaderImpl::ChooseShare() {
  if (share_ != ReaderOptions::Share::kChoose) return;
  if (order_ahead_->blocks_taken() % kBlocksToChoose != 0) return;
  if (order_ahead_->waited_share() < kMostlyWaits) return;
  share_ = ReaderOptions::Share::kMerge;
  order_ahead_->Halt();
}

size_t ReaderImpl::FindMerged(absl::Span<Event> room) {
  size_t count = 0;
  while (room.size() - count >= Scheduler::kMaxEvents) {
    if (merged_.empty()) {
      if (count > 0) break;
      merged_ = merge_ahead_->Take();
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
  const Scheduler::Run run =
      scheduler_.AdvanceMerged(&merged_, absl::MakeSpan(owners_), NewRun(room));
  return FinishRun(run, room);
}

void ReaderImpl::StopMerging() {
  const size_t place = merge_ahead_->place();
  std::vector<DecodedEvent> scratch(merged_taken_ - merged_.size());
  merge_ahead_->Halt();
  while (!merge_ahead_->Take().empty()) continue;
  merged_ = {};
  merger_.GoBack(place, absl::MakeSpan(scratch));
  merges_ahead_ = false;
  may_merge_ = false;
  if (options_.share == ReaderOptions::Share::kChoose) share_ = ReaderOptions::Share::kOrder;
}

}  // namespace gotrace
