#include "parser/decode_ahead.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>

namespace gotrace {

std::unique_ptr<DecodeAhead> DecodeAhead::Start() {
  // The caller's handlers of signals expect to run on its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::unique_ptr<DecodeAhead> started;
  try {
    started.reset(new DecodeAhead);
  } catch (const std::system_error&) {
    // That is how std::thread tells that there are too many.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

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
