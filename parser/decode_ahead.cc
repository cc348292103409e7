#include "parser/decode_ahead.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>

namespace gotrace {
namespace {

// How often the thread looks for more to do before it sleeps: to be woken costs as much as to
// decode what is mostly asked for.
constexpr int kLooks = 100;

}  // namespace

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
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

void DecodeAhead::Ask(Request* request, absl::Span<DecodedEvent> room) {
  request->room_ = room;
  request->state_.store(State::kWaits, std::memory_order_release);
  bool sleeps = false;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(request);
    queued_.store(queue_.size(), std::memory_order_release);
    sleeps = sleeps_;
  }
  if (sleeps) has_work_.notify_one();
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
  std::unique_lock lock(mutex_);
  queue_.clear();
  queued_.store(0, std::memory_order_release);
  is_idle_.wait(lock, [this] { return !busy_; });
}

DecodeAhead::Request* DecodeAhead::NextRequest() {
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;
  }
  is_idle_.notify_one();
  for (int i = 0; i < kLooks && queued_.load(std::memory_order_acquire) == 0; ++i) {
    std::this_thread::yield();
  }
  std::unique_lock lock(mutex_);
  sleeps_ = true;
  has_work_.wait(lock, [this] { return ends_ || !queue_.empty(); });
  sleeps_ = false;
  if (ends_) return nullptr;
  Request* const request = queue_.front();
  queue_.pop_front();
  queued_.store(queue_.size(), std::memory_order_release);
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
