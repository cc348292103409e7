// Finds events on another core before they are needed.
//
// It pays where events must be processed in order, and a second core is idle: on two cores that did
// nothing else, `events` of a trace of 30 MB took 25 % less time, `convert` to Chrome's format
// 18 % and to Perfetto's 10 %, for 50 to 80 % more processor time. On busy cores it gains nothing.
// Analyses of several generations are divided between the cores instead: see ReadParallel().
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

// Owns a thread that finds events as long as they are plain, and passes them on in blocks. Anything
// else is left to the owner, while the thread rests. All functions except those that run on the
// thread must be called from one other thread.
class WorkAhead {
 public:
  // Finds the next events on the thread, and puts them into `room`, which has room for kBlockSize
  // events. Returns their number, or 0 if the owner must continue. Take() rethrows its exceptions.
  using Find = std::function<size_t(absl::Span<Event> room)>;

  static constexpr size_t kBlockSize = 512;

  // The number of blocks. Enough that the threads seldom wait for each other, and few enough to
  // stay in a core's cache.
  static constexpr size_t kBlocks = 16;

  // Starts the thread, which rests at first, with StartHelper(). Returns nullptr if no further
  // thread can be started.
  static std::unique_ptr<WorkAhead> Start(Find find);

  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;

  // Ends the thread after the block that it is finding.
  ~WorkAhead();

  // Makes the thread find events. Must be called before the first Take(), and again only after
  // Take() returned none.
  void Resume();

  // Returns the next events, or none if the thread rests. If it rests, the owner may use everything
  // that Find() uses. The events are valid until the next Take().
  absl::Span<const Event> Take();

 private:
  // If all blocks are full, the thread checks this often for a free one. After that the owner is
  // considered slow, and the thread sleeps until only kFewBlocks are left. So it is woken seldom,
  // and the owner does not have to wait for it.
  static constexpr int kRoomChecks = 1000;
  static constexpr size_t kFewBlocks = 4;

  // How often a thread checks any other condition before it sleeps. A thread that is woken often
  // tends to run on the same core as the other, and then nothing is gained.
  static constexpr int kChecks = 10'000;

  explicit WorkAhead(Find find) : find_(std::move(find)) {}

  // Waits for `condition`, which becomes true only together with a notification of `change`.
  template <class Condition>
  void WaitFor(std::condition_variable* change, Condition condition);

  // Calls `change` under the lock, and notifies `condition`.
  template <class Change>
  void Notify(std::condition_variable* condition, Change change);

  // The block with number `count`, counted from the start of the thread.
  Event* BlockAt(uint64_t count) { return &events_[count % kBlocks * kBlockSize]; }

  // Returns the owner's block to the thread.
  void ReleaseBlock();

  // Waits for a free block. Returns false if the thread must end.
  bool WaitForRoom();

  void Run();
  void FindBlocks();

  const Find find_;

  // A ring of blocks. Those from taken_ up to found_ belong to the owner, the others to the thread.
  const std::unique_ptr<Event[]> events_{new Event[kBlocks * kBlockSize]};
  std::array<size_t, kBlocks> sizes_ = {};
  bool has_block_ = false;     // Whether the owner still uses the block at taken_.
  std::exception_ptr thrown_;  // Thrown by Find(). Accessed only while the thread rests.

  // Written under the lock, and read without it.
  std::atomic<uint64_t> found_ = 0;
  std::atomic<uint64_t> taken_ = 0;
  std::atomic<bool> rests_ = true;
  std::atomic<bool> ends_ = false;

  // The standard library's mutex, which ThreadSanitizer understands.
  std::mutex mutex_;
  std::condition_variable for_thread_;
  std::condition_variable for_owner_;
  std::thread thread_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_WORK_AHEAD_H_
