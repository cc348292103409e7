// Does work on another core before it is asked for.
#ifndef GOTRACE_PARSER_READER_WORK_AHEAD_H_
#define GOTRACE_PARSER_READER_WORK_AHEAD_H_

#include <array>
#include <atomic>
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
#include "gotrace/event.h"

namespace gotrace::internal {

// A thread of its own that finds events as long as nothing about them is special, and hands them
// over in blocks. What is special is left to its owner, while the thread rests. All but what it
// calls is to be called from one other thread.
class WorkAhead {
 public:
  // Finds the next events on the thread, and puts them into `room`, which is for kBlockSize of
  // them. Returns how many, or 0 if the owner must continue. What it throws is thrown by Take().
  using Find = std::function<size_t(absl::Span<Event> room)>;

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

  // Lets the thread find events. Requires that this is the first call, or that Take() gave none
  // since the last one.
  void Resume();

  // The next events that were found, or none if the thread rests: then the owner may use all that
  // Find() uses. They are valid until the next call of Take().
  absl::Span<const Event> Take();

 private:
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
  Event* BlockAt(uint64_t count) { return &events_[count % kBlocks * kBlockSize]; }

  // Lets the thread use the block again that the owner has.
  void GiveBack();

  // Waits until there is a block that the owner does not have. Returns false if the thread is to
  // end.
  bool WaitForRoom();

  void Run();
  void FindBlocks();

  const Find find_;

  // Used in turn: those from taken_ up to found_ are the owner's, the others the thread's.
  const std::unique_ptr<Event[]> events_{new Event[kBlocks * kBlockSize]};
  std::array<size_t, kBlocks> sizes_ = {};
  bool has_block_ = false;     // Whether the owner still uses the block at taken_.
  std::exception_ptr thrown_;  // By Find(). Looked at only while the thread rests.

  // Changed under the lock, and looked at without it.
  std::atomic<uint64_t> found_ = 0;
  std::atomic<uint64_t> taken_ = 0;
  std::atomic<bool> rests_ = true;
  std::atomic<bool> ends_ = false;

  // Of the standard library, which ThreadSanitizer sees through.
  std::mutex mutex_;
  std::condition_variable for_thread_;
  std::condition_variable for_owner_;
  std::thread thread_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_WORK_AHEAD_H_
