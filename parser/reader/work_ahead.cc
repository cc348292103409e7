#include "parser/reader/work_ahead.h"

#include <optional>
#include <utility>

#include "util/helper_thread.h"

namespace gotrace::internal {

std::unique_ptr<WorkAhead> WorkAhead::Start(Find find) {
  std::unique_ptr<WorkAhead> work(new WorkAhead(std::move(find)));
  std::optional<std::thread> thread =
      StartHelper("read-ahead", [work = work.get()] { work->Run(); });
  if (!thread.has_value()) return nullptr;
  work->thread_ = *std::move(thread);
  return work;
}

WorkAhead::~WorkAhead() {
  if (!thread_.joinable()) return;
  Notify(&for_thread_, [this] { ends_ = true; });
  thread_.join();
}

template <class Condition>
void WorkAhead::WaitFor(std::condition_variable* change, Condition condition) {
  for (int i = 0; i < kChecks && !condition(); ++i) std::this_thread::yield();
  if (condition()) return;
  std::unique_lock lock(mutex_);
  change->wait(lock, condition);
}

template <class Change>
void WorkAhead::Notify(std::condition_variable* condition, Change change) {
  {
    const std::lock_guard lock(mutex_);
    change();
  }
  condition->notify_one();
}

void WorkAhead::Resume() {
  Notify(&for_thread_, [this] { rests_ = false; });
}

absl::Span<const Event> WorkAhead::Take() {
  if (std::exchange(has_block_, false)) ReleaseBlock();
  WaitFor(&for_owner_, [this] { return found_ > taken_ || rests_; });
  // The thread rests only after the last block that it found.
  if (found_ == taken_) {
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return {};
  }
  has_block_ = true;
  return absl::MakeConstSpan(BlockAt(taken_), sizes_[taken_ % kBlocks]);
}

void WorkAhead::ReleaseBlock() {
  bool few = false;
  {
    const std::lock_guard lock(mutex_);
    few = found_ - ++taken_ == kFewBlocks;
  }
  if (few) for_thread_.notify_one();
}

bool WorkAhead::WaitForRoom() {
  const auto is_full = [this] { return found_ - taken_ == kBlocks && !ends_; };
  for (int i = 0; i < kRoomChecks && is_full(); ++i) std::this_thread::yield();
  if (is_full()) {
    std::unique_lock lock(mutex_);
    for_thread_.wait(lock, [this] { return found_ - taken_ <= kFewBlocks || ends_; });
  }
  return !ends_;
}

void WorkAhead::Run() {
  while (true) {
    WaitFor(&for_thread_, [this] { return !rests_ || ends_; });
    if (ends_) return;
    try {
      FindBlocks();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    Notify(&for_owner_, [this] { rests_ = true; });
  }
}

void WorkAhead::FindBlocks() {
  while (WaitForRoom()) {
    const size_t size = find_(absl::MakeSpan(BlockAt(found_), kBlockSize));
    if (size == 0) return;
    sizes_[found_ % kBlocks] = size;
    Notify(&for_owner_, [this] { ++found_; });
  }
}

}  // namespace gotrace::internal
