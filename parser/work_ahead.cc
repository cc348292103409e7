#include "parser/work_ahead.h"

#include <optional>
#include <utility>

#include "parser/event.h"
#include "parser/helper_thread.h"
#include "parser/thread_decoder.h"

namespace gotrace {
template <class Item>
std::unique_ptr<WorkAhead<Item>> WorkAhead<Item>::Start(Find find) {
  std::unique_ptr<WorkAhead> work(new WorkAhead(std::move(find)));
  std::optional<std::thread> thread = StartHelper([work = work.get()] { work->Run(); });
  if (!thread.has_value()) return nullptr;
  work->thread_ = *std::move(thread);
  return work;
}

template <class Item>
WorkAhead<Item>::~WorkAhead() {
  if (!thread_.joinable()) return;
  Tell(&for_thread_, [this] { ends_ = true; });
  thread_.join();
}

template <class Item>
template <class Condition>
void WorkAhead<Item>::WaitFor(std::condition_variable* change, Condition condition) {
  for (int i = 0; i < kLooks && !condition(); ++i) std::this_thread::yield();
  if (condition()) return;
  std::unique_lock lock(mutex_);
  change->wait(lock, condition);
}

template <class Item>
template <class Change>
void WorkAhead<Item>::Tell(std::condition_variable* change, Change make) {
  {
    const std::lock_guard lock(mutex_);
    make();
  }
  change->notify_one();
}

template <class Item>
void WorkAhead<Item>::Resume() {
  blocks_taken_ = 0;
  waited_ = {};
  resumed_ = Clock::now();
  Tell(&for_thread_, [this] { rests_ = halts_ = false; });
}

template <class Item>
void WorkAhead<Item>::Halt() {
  Tell(&for_thread_, [this] { halts_ = true; });
}

template <class Item>
double WorkAhead<Item>::waited_share() const {
  const Clock::duration all = Clock::now() - resumed_;
  return static_cast<double>(waited_.count()) / static_cast<double>(all.count());
}

template <class Item>
void WorkAhead<Item>::WaitForBlock() {
  const auto can_go_on = [this] { return found_ > taken_ || rests_; };
  if (can_go_on()) return;
  const Clock::time_point begin = Clock::now();
  WaitFor(&for_owner_, can_go_on);
  waited_ += Clock::now() - begin;
}

template <class Item>
absl::Span<const Item> WorkAhead<Item>::Take() {
  if (std::exchange(has_block_, false)) GiveBack();
  WaitForBlock();
  // It rests only after the last block that it found.
  if (found_ == taken_) {
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return {};
  }
  has_block_ = true;
  ++blocks_taken_;
  return absl::MakeConstSpan(BlockAt(taken_), sizes_[taken_ % kBlocks]);
}

template <class Item>
void WorkAhead<Item>::GiveBack() {
  bool few = false;
  {
    const std::lock_guard lock(mutex_);
    few = found_ - ++taken_ == kFewBlocks;
  }
  if (few) for_thread_.notify_one();
}

template <class Item>
bool WorkAhead<Item>::WaitForRoom() {
  const auto is_full = [this] { return found_ - taken_ == kBlocks && !halts_; };
  for (int i = 0; i < kLooksForRoom && is_full(); ++i) std::this_thread::yield();
  if (is_full()) {
    std::unique_lock lock(mutex_);
    for_thread_.wait(lock, [this] { return found_ - taken_ <= kFewBlocks || halts_ || ends_; });
  }
  return !halts_ && !ends_;
}

template <class Item>
void WorkAhead<Item>::Run() {
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

template <class Item>
void WorkAhead<Item>::FindBlocks() {
  while (WaitForRoom()) {
    const size_t size = find_(absl::MakeSpan(BlockAt(found_), kBlockSize), found_ % kBlocks);
    if (size == 0) return;
    sizes_[found_ % kBlocks] = size;
    Tell(&for_owner_, [this] { ++found_; });
  }
}

template class WorkAhead<Event>;
template class WorkAhead<DecodedEvent>;

}  // namespace gotrace
