// Decodes events on another core before they are needed.
#ifndef GOTRACE_PARSER_DECODE_AHEAD_H_
#define GOTRACE_PARSER_DECODE_AHEAD_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/types/span.h"
#include "parser/thread_decoder.h"

namespace gotrace {

// A thread of its own, that decodes what it is asked for in that order. All but its own work is to
// be called from one other thread. What is decoded is the same whoever did it.
class DecodeAhead {
 public:
  // One call of ThreadDecoder::Decode() that may be made by either thread. Its user makes at most
  // one request at a time, and takes it before the decoder is touched again.
  class Request {
   public:
    explicit Request(ThreadDecoder* decoder) : decoder_(*decoder) {}

   private:
    friend class DecodeAhead;
    enum class State : uint8_t { kIdle, kWaits, kRuns, kDone };

    ThreadDecoder& decoder_;
    absl::Span<DecodedEvent> room_;
    size_t count_ = 0;
    std::atomic<State> state_ = State::kIdle;
  };

  // Starts the thread, with all signals blocked. Returns nullptr if there can be no further one.
  static std::unique_ptr<DecodeAhead> Start();

  DecodeAhead(const DecodeAhead&) = delete;
  DecodeAhead& operator=(const DecodeAhead&) = delete;

  // Ends the thread. Requests on their way are dropped, and must live until this returns.
  ~DecodeAhead();

  // Asks for what comes next of the request's thread, to be put into `room`, which must live until
  // Take() or Forget(). The request itself must live until Forget() or the end of all, even if it
  // was taken.
  void Ask(Request* request, absl::Span<DecodedEvent> room);

  // Returns how many events there are, as Decode() does, once it is done. Requires that it was
  // asked for.
  size_t Take(Request* request);

  // Forgets all requests, once none is being worked on.
  void Forget();

 private:
  using State = Request::State;

  DecodeAhead() : thread_([this] { Run(); }) {}

  void Run();
  Request* NextRequest();

  // Of the standard library, which ThreadSanitizer sees through; guards what follows.
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable is_idle_;
  std::deque<Request*> queue_;
  bool ends_ = false;
  bool sleeps_ = false;  // Whether has_work_ must be told of.
  bool busy_ = false;    // Whether a request is being worked on.

  std::atomic<size_t> queued_{0};  // The length of queue_, to be looked at without the lock.
  std::thread thread_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_DECODE_AHEAD_H_
