// Traces made to ask for much memory, which come into being while they are read.
#ifndef GOTRACE_TESTING_SYNTHETIC_STREAMS_H_
#define GOTRACE_TESTING_SYNTHETIC_STREAMS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_stream.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

// Writes a trace of version 1.26, batch by batch.
class LargeTraceWriter {
 public:
  LargeTraceWriter();

  // Begins a generation, with the batch that tells its clock.
  void Begin(uint64_t generation);

  // A batch of the generation that was begun. A payload longer than kMaxBatchSize is a fault.
  void Batch(uint64_t thread, absl::string_view payload);

  // A table of `kind` may take many batches: Entry() adds an entry to the one at hand, or to a new
  // one of `thread` if that is full. The same goes for timed events, whose `kind` is kNone.
  void Entry(uint64_t thread, EventType kind, absl::string_view entry);

  // Ends the generation, and before that the batch at hand.
  void End();
  void Flush();

  void Raw(absl::string_view bytes) { absl::StrAppend(&out_, bytes); }

  // What was not taken yet. The caller may take it away.
  std::string& out() { return out_; }

  // The bytes of the largest generation so far.
  uint64_t largest() const { return largest_; }

 private:
  void Add(size_t size);

  std::string out_;
  std::string entries_;  // The batch that Entry() fills.
  uint64_t entries_thread_ = 0;
  uint64_t generation_ = 0;
  uint64_t size_ = 0;
  uint64_t largest_ = 0;
};

// A trace that is made as it is read: `step` writes the `n`th part of it, for n = 0, 1, …, and
// returns false when there is none.
using MakeStep = std::function<bool(LargeTraceWriter* maker, uint64_t n)>;

// The stream of such a trace. `maker` must outlive it.
std::unique_ptr<ByteStream> MakeTrace(LargeTraceWriter* maker, MakeStep step);

// Gives `first`, and then `again` so many times.
std::unique_ptr<ByteStream> Repeat(std::string first, std::string again, uint64_t times);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_SYNTHETIC_STREAMS_H_
