// Traces that need much memory. They are generated while they are read.
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

  // Begins a generation, with the batch that states its clock.
  void Begin(uint64_t generation);

  // Adds a batch to the current generation. A payload longer than kMaxBatchSize is a fault.
  void Batch(uint64_t thread, absl::string_view payload);

  // Adds an entry to a table of `kind`, which may take many batches: the entry goes into the
  // current batch, or into a new one of `thread` if that is full. Also adds timed events, whose
  // `kind` is kNone.
  void Entry(uint64_t thread, EventType kind, absl::string_view entry);

  // End() ends the generation, and Flush() the current batch, which End() does first.
  void End();
  void Flush();

  void Raw(absl::string_view bytes) { absl::StrAppend(&out_, bytes); }

  // The bytes that were not consumed yet. The caller may clear them.
  std::string& out() { return out_; }

  // The size of the largest generation so far, in bytes.
  uint64_t largest() const { return largest_; }

 private:
  void Add(size_t size);

  std::string out_;
  std::string entries_;  // The batch that Entry() adds to.
  uint64_t entries_thread_ = 0;
  uint64_t generation_ = 0;
  uint64_t size_ = 0;
  uint64_t largest_ = 0;
};

// Writes the `n`th part of a trace, for n = 0, 1, …, and returns false if there is none.
using MakeStep = std::function<bool(LargeTraceWriter* maker, uint64_t n)>;

// Returns a stream of the trace that `step` writes, which is generated while it is read. `maker`
// must outlive it.
std::unique_ptr<ByteStream> MakeTrace(LargeTraceWriter* maker, MakeStep step);

// Returns a stream of `first`, and then of `again` repeated `times` times.
std::unique_ptr<ByteStream> Repeat(std::string first, std::string again, uint64_t times);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_SYNTHETIC_STREAMS_H_
