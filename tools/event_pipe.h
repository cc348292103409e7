// Uses events on one thread while the next ones are read on another.
#ifndef GOTRACE_TOOLS_EVENT_PIPE_H_
#define GOTRACE_TOOLS_EVENT_PIPE_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/types/span.h"
#include "parser/event.h"

namespace gotrace {

// A thread that is handed events. All but what it calls is to be called from one other thread. The
// events must come from a Reader in strict mode: the others add to tables that are looked at here.
class EventPipe {
 public:
  // Uses some events, at least one, on the pipe's thread. They come in the order of Add(). Returns
  // whether it wants more; after false it is not called again.
  using Use = std::function<bool(absl::Span<const Event>)>;

  // Starts the thread. Returns nullptr if there can be no further one.
  static std::unique_ptr<EventPipe> Start(Use use);

  EventPipe(const EventPipe&) = delete;
  EventPipe& operator=(const EventPipe&) = delete;

  // Drains the pipe and ends the thread.
  ~EventPipe();

  // Hands over a copy of `event`, some time before Drain() returns. Waits while the thread is far
  // behind. Returns false if no more events are wanted.
  bool Add(const Event& event) {
    std::vector<Event>& block = blocks_[handed_ % blocks_.size()];
    block.push_back(event);
    if (block.size() == kBlockSize) HandOver();
    return wanted_.load(std::memory_order_relaxed);
  }

  // Returns once all events that were added are used. To be called before what they refer to goes
  // away: see ReaderOptions::on_generation_end.
  void Drain();

 private:
  // Enough for threads to seldom wait for each other, and few enough to stay in a core's cache.
  static constexpr size_t kBlocks = 16;
  static constexpr size_t kBlockSize = 512;

  // How often a thread looks for what it waits for before it sleeps. One that is woken often comes
  // to run on the core of the other, and then nothing is gained.
  static constexpr int kLooks = 10'000;

  explicit EventPipe(Use use);

  // Waits until `condition`, which only what notifies of `change` can make true.
  template <class Condition>
  void WaitFor(std::condition_variable* change, Condition condition);

  void HandOver();
  void Run();

  const Use use_;
  std::atomic<bool> wanted_ = true;

  // Used in turn: those from used_ up to handed_ are the thread's, the others are not.
  std::array<std::vector<Event>, kBlocks> blocks_;

  // Changed under the lock, and looked at without it.
  std::atomic<uint64_t> handed_ = 0;
  std::atomic<uint64_t> used_ = 0;
  std::atomic<bool> ends_ = false;

  // Of the standard library, which ThreadSanitizer sees through.
  std::mutex mutex_;
  std::condition_variable is_handed_;
  std::condition_variable is_used_;
  std::thread thread_;
};

}  // namespace gotrace

#endif  // GOTRACE_TOOLS_EVENT_PIPE_H_
