#include "parser/order_ahead.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace gotrace {
namespace {

// The caller's handlers of signals expect to run on its own threads: one that starts while this
// lives gets none but those that its own instructions cause.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
      sigdelset(&blocked, own);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::unique_ptr<OrderAhead> OrderAhead::Start(Find find) {
  const SignalsBlocked signals_blocked;
  try {
    return std::unique_ptr<OrderAhead>(new OrderAhead(std::move(find)));
  } catch (const std::system_error&) {
    // That is how std::thread tells that there are too many.
    return nullptr;
  }
}

OrderAhead::OrderAhead(Find find) : find_(std::move(find)) {
  thread_ = std::thread([this] { Run(); });
}

OrderAhead::~OrderAhead() {
  Tell(&for_thread_, [this] { ends_ = true; });
  thread_.join();
}

template <class Condition>
void OrderAhead::WaitFor(std::condition_variable* change, Condition condition) {
  for (int i = 0; i < kLooks && !condition(); ++i) std::this_thread::yield();
  if (condition()) return;
  std::unique_lock lock(mutex_);
  change->wait(lock, condition);
}

template <class Change>
void OrderAhead::Tell(std::condition_variable* change, Change make) {
  {
    const std::lock_guard lock(mutex_);
    make();
  }
  change->notify_one();
}

void OrderAhead::Resume() {
  Tell(&for_thread_, [this] { rests_ = false; });
}

absl::Span<const Event> OrderAhead::Take() {
  if (std::exchange(has_block_, false)) GiveBack();
  WaitFor(&for_owner_, [this] { return found_ > taken_ || rests_; });
  // It rests only after the last block that it found.
  if (found_ == taken_) {
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return {};
  }
  has_block_ = true;
  return absl::MakeConstSpan(BlockAt(taken_), sizes_[taken_ % kBlocks]);
}

void OrderAhead::GiveBack() {
  bool few = false;
  {
    const std::lock_guard lock(mutex_);
    few = found_ - ++taken_ == kFewBlocks;
  }
  if (few) for_thread_.notify_one();
}

bool OrderAhead::WaitForRoom() {
  const auto is_full = [this] { return found_ - taken_ == kBlocks; };
  for (int i = 0; i < kLooksForRoom && is_full(); ++i) std::this_thread::yield();
  if (is_full()) {
    std::unique_lock lock(mutex_);
    for_thread_.wait(lock, [this] { return found_ - taken_ <= kFewBlocks || ends_; });
  }
  return !ends_;
}

void OrderAhead::Run() {
  while (true) {
    WaitFor(&for_thread_, [this] { return !rests_ || ends_; });
    if (ends_) return;
    try {
      FindBlocks();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    Tell(&for_owner_, [this] { rests_ = true; });
  }
}

void OrderAhead::FindBlocks() {
  while (WaitForRoom()) {
    const size_t size = find_(absl::MakeSpan(BlockAt(found_), kBlockSize));
    if (size == 0) return;
    sizes_[found_ % kBlocks] = size;
    Tell(&for_owner_, [this] { ++found_; });
  }
}

}  // namespace gotrace
