// Does work on another core before it is asked for.
#ifndef GOTRACE_PARSER_WORK_AHEAD_H_
#define GOTRACE_PARSER_WORK_AHEAD_H_

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/types/span.h"

namespace gotrace {

// A thread of its own that finds items, Event or DecodedEvent, as long as nothing about them is
// special, and hands them over in blocks. What is special is left to its owner, while the thread
// rests. All but what it calls is to be called from one other thread.
template <class Item>
class WorkAhead {
 public:
  // Finds the next items on the thread, and puts them into `room`, of kBlockSize items: the block
  // at `place`. Returns how many, or 0 if the owner must go on. What it throws is thrown by Take().
  using Find = std::function<size_t(absl::Span<Item> room, size_t place)>;

  static constexpr size_t kBlockSize = 512;

  // How many blocks there are. Enough for threads to seldom wait for each other, and few enough to
  // stay in a core's cache.
  static constexpr size_t kBlocks = 16;

  // Starts the thread, which rests, as StartHelper() does. Returns nullptr if there can be no
  // further one.
  static std::unique_ptr<WorkAhead> Start(Find find);

  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;

  // Ends the thread, once it is done with what it is finding.
  ~WorkAhead();

  // Lets the thread find items. Requires that this is the first call, or that Take() gave none
  // since the last one.
  void Resume();

  // Lets the thread rest soon: Take() gives what was found by then.
  void Halt();

  // The next items that were found, or none if the thread rests: then the owner may use all that
  // Find() uses. They are valid until the next call of Take().
  absl::Span<const Item> Take();

  // The place of the block that Take() gave last, if it gave one.
  size_t place() const { return taken_ % kBlocks; }

  // How many blocks Take() gave since Resume(), and what share of the time since then it waited for
  // them, from 0 to 1.
  uint64_t blocks_taken() const { return blocks_taken_; }
  double waited_share() const;

 private:
  using Clock = std::chrono::steady_clock;

  // Where all blocks are full, the thread looks this often for one that is free. If there is none
  // yet, the owner is slow, and the thread sleeps until few are left: it is woken seldom, and the
  // owner does not come to wait for it.
  static constexpr int kLooksForRoom = 1000;
  static constexpr size_t kFewBlocks = 4;

  // How often a thread looks for other things that it waits for before it sleeps. One that is woken
  // often comes to run on the core of the other, and then nothing is gained.
  static constexpr int kLooks = 10'000;

  explicit WorkAhead(Find find) : find_(std::move(find)) {}

  // Waits until `condition`, which only what notifies of `change` can make true.
  template <class Condition>
  void WaitFor(std::condition_variable* change, Condition condition);

  // Makes `change` under the lock and notifies.
  template <class Change>
  void Tell(std::condition_variable* change, Change make);

  // The block that is number `count` of all.
  Item* BlockAt(uint64_t count) { return &items_[count % kBlocks * kBlockSize]; }

  // Waits until there is a block to take, or the thread rests.
  void WaitForBlock();

  // Lets the thread use the block again that the owner has.
  void GiveBack();

  // Waits until there is a block that the owner does not have. Returns false if the thread is to
  // rest or to end.
  bool WaitForRoom();

  void Run();
  void FindBlocks();

  const Find find_;

  // Used in turn: those from taken_ up to found_ are the owner's, the others the thread's.
  const std::unique_ptr<Item[]> items_{new Item[kBlocks * kBlockSize]};
  std::array<size_t, kBlocks> sizes_ = {};
  bool has_block_ = false;     // Whether the owner still uses the block at taken_.
  std::exception_ptr thrown_;  // By Find(). Looked at only while the thread rests.

  // Of the owner.
  uint64_t blocks_taken_ = 0;
  Clock::time_point resumed_;
  Clock::duration waited_{};

  // Changed under the lock, and looked at without it.
  std::atomic<uint64_t> found_ = 0;
  std::atomic<uint64_t> taken_ = 0;
  std::atomic<bool> rests_ = true;
  std::atomic<bool> halts_ = false;
  std::atomic<bool> ends_ = false;

  // Of the standard library, which ThreadSanitizer sees through.
  std::mutex mutex_;
  std::condition_variable for_thread_;
  std::condition_variable for_owner_;
  std::thread thread_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_WORK_AHEAD_H_
