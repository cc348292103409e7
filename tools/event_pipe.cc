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

void EventPipe::Drain() {
  if (!blocks_[handed_ % kBlocks].empty()) HandOver();
  std::unique_lock lock(mutex_);
  is_used_.wait(lock, [this] { return used_ == handed_; });
}

// Leaves a block behind it that is free.
void EventPipe::HandOver() {
  std::unique_lock lock(mutex_);
  ++handed_;
  is_handed_.notify_one();
  is_used_.wait(lock, [this] { return handed_ - used_ < kBlocks; });
}

void EventPipe::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    is_handed_.wait(lock, [this] { return ends_ || used_ < handed_; });
    if (used_ == handed_) return;
    std::vector<Event>& block = blocks_[used_ % kBlocks];
    lock.unlock();
    if (wanted_.load(std::memory_order_relaxed) && !use_(block)) wanted_ = false;
    block.clear();
    lock.lock();
    ++used_;
    is_used_.notify_one();
  }
}

}  // namespace gotrace
