#include "parser/decode_ahead.h"

#include <utility>

namespace gotrace {

DecodeAhead::DecodeAhead() : thread_([this] { Run(); }) {}

DecodeAhead::~DecodeAhead() {
  {
    absl::MutexLock lock(&mutex_);
    ends_ = true;
  }
  thread_.join();
}

void DecodeAhead::Ask(Request* request, absl::Span<DecodedEvent> room) {
  request->room_ = room;
  request->state_.store(State::kWaits, std::memory_order_release);
  absl::MutexLock lock(&mutex_);
  queue_.push_back(request);
}

size_t DecodeAhead::Take(Request* request) {
  State state = State::kWaits;
  if (request->state_.compare_exchange_strong(state, State::kIdle, std::memory_order_acq_rel)) {
    return request->decoder_.Decode(request->room_);
  }
  while (request->state_.load(std::memory_order_acquire) != State::kDone) std::this_thread::yield();
  request->state_.store(State::kIdle, std::memory_order_relaxed);
  return request->count_;
}

void DecodeAhead::Forget() {
  absl::MutexLock lock(&mutex_);
  queue_.clear();
  mutex_.Await(absl::Condition(this, &DecodeAhead::IsIdle));
}

DecodeAhead::Request* DecodeAhead::NextRequest() {
  absl::MutexLock lock(&mutex_);
  busy_ = false;
  mutex_.Await(absl::Condition(this, &DecodeAhead::HasWork));
  if (ends_) return nullptr;
  Request* const request = queue_.front();
  queue_.pop_front();
  busy_ = true;
  return request;
}

void DecodeAhead::Run() {
  while (Request* const request = NextRequest()) {
    // What was taken meanwhile still stands in the queue.
    State state = State::kWaits;
    if (!request->state_.compare_exchange_strong(state, State::kRuns, std::memory_order_acq_rel)) {
      continue;
    }
    request->count_ = request->decoder_.Decode(request->room_);
    request->state_.store(State::kDone, std::memory_order_release);
  }
}

}  // namespace gotrace
