#include "tools/event_pipe.h"

#include <system_error>
#include <utility>

namespace gotrace {

std::unique_ptr<EventPipe> EventPipe::Start(Use use) {
  try {
    return std::unique_ptr<EventPipe>(new EventPipe(std::move(use)));
  } catch (const std::system_error&) {
    // That is how std::thread tells that there are too many.
    return nullptr;
  }
}

EventPipe::EventPipe(Use use) : use_(std::move(use)) {
  for (std::vector<Event>& block : blocks_) block.reserve(kBlockSize);
  thread_ = std::thread([this] { Run(); });
}

EventPipe::~EventPipe() {
  Drain();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  is_handed_.notify_one();
  thread_.join();
}

template <class Condition>
void EventPipe::WaitFor(std::condition_variable* change, Condition condition) {
  for (int i = 0; i < kLooks && !condition(); ++i) std::this_thread::yield();
  std::unique_lock lock(mutex_);
  change->wait(lock, condition);
}

void EventPipe::Drain() {
  if (!blocks_[handed_ % kBlocks].empty()) HandOver();
  WaitFor(&is_used_, [this] { return used_ == handed_; });
}

// Leaves a block behind it that is free.
void EventPipe::HandOver() {
  {
    const std::lock_guard lock(mutex_);
    ++handed_;
  }
  is_handed_.notify_one();
  WaitFor(&is_used_, [this] { return handed_ - used_ < kBlocks; });
}

void EventPipe::Run() {
  while (true) {
    WaitFor(&is_handed_, [this] { return used_ < handed_ || ends_; });
    if (used_ == handed_) return;
    std::vector<Event>& block = blocks_[used_ % kBlocks];
    if (wanted_.load(std::memory_order_relaxed) && !use_(block)) wanted_ = false;
    block.clear();
    {
      const std::lock_guard lock(mutex_);
      ++used_;
    }
    is_used_.notify_one();
  }
}

}  // namespace gotrace
