// Reads a trace on several cores.
#ifndef GOTRACE_READ_PARALLEL_H_
#define GOTRACE_READ_PARALLEL_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "gotrace/byte_source.h"
#include "gotrace/event_sink.h"
#include "gotrace/reader_options.h"

namespace gotrace {

// A MergeableSink of any type, for programs that choose the type at run time.
class AnyMergeableSink {
 public:
  virtual ~AnyMergeableSink() = default;

  // Returns the sink.
  virtual EventSink& sink() = 0;

  // Calls StartInMiddle() of the sink.
  virtual void StartInMiddle(int64_t trace_start) = 0;

  // Merges the sink of `next`, which has the same type, into this one's.
  virtual void Merge(AnyMergeableSink& next) = 0;
};

// Like ReadParallel(), for sinks that `make_sink` returns, all of the same type.
absl::Status ReadAnyParallel(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                             absl::FunctionRef<std::unique_ptr<AnyMergeableSink>()> make_sink,
                             std::unique_ptr<AnyMergeableSink>* result,
                             const std::function<void(const ReadProgress&)>& on_progress);

}  // namespace gotrace

namespace gotrace::internal {

template <IsMergeableSink Sink>
class HeldSink final : public AnyMergeableSink {
 public:
  explicit HeldSink(std::unique_ptr<Sink> held) : held_(std::move(held)) {}

  EventSink& sink() override { return *held_; }
  void StartInMiddle(int64_t trace_start) override { held_->StartInMiddle(trace_start); }
  void Merge(AnyMergeableSink& next) override {
    held_->Merge(std::move(*static_cast<HeldSink&>(next).held_));
  }

  std::unique_ptr<Sink> Take() { return std::move(held_); }

 private:
  std::unique_ptr<Sink> held_;
};

}  // namespace gotrace::internal

namespace gotrace {

// Reads `source`, which must be positioned at its beginning, into a sink that `make_sink` returns,
// finishes that sink, and stores it in `*result`. Returns the status of reading if it is not OK,
// and otherwise that of the sink's Finish().
//
// Uses up to options.jobs cores: it cuts the trace into as many segments of whole generations, none
// smaller than options.tuning.jobs_from_bytes, and reads each into a sink of its own. `make_sink`
// is called once for each segment, from several threads. These also call Add(), one thread at a
// time for each sink. StartInMiddle() is called for all sinks but the first. Then the sinks are
// merged, in order, on the calling thread. A segment is read again sequentially if it does not
// continue the previous one, if it has a fault, or if its sink wants no more events. So the result
// does not depend on the number of cores or segments. Reading ends once the first sink, into which
// the others are merged, wants no more events; by then it may have received up to a segment too
// much.
//
// An exception thrown by the sink of the first segment propagates to the caller, after all threads
// have ended. If another sink throws, its segment is read again sequentially.
//
// Memory holds all sinks, and a generation for each segment that is being read. The trace is read
// sequentially if its bytes can be read only once (see ByteSource::Fork()), if it has a single
// generation, or if options.on_time_back is set.
//
// on_fault and `on_progress` are called on the calling thread only. `on_progress` is called often,
// with the bytes and events of all threads; these numbers decrease if a segment is read again. The
// bytes are those of the decompressed trace. ReadProgress::total is 0 for a compressed file.
template <IsMergeableSink Sink, std::invocable MakeSink>
absl::Status ReadParallel(std::unique_ptr<ByteSource> source, const ReaderOptions& options,
                          const MakeSink& make_sink, std::unique_ptr<Sink>* result,
                          const std::function<void(const ReadProgress&)>& on_progress = nullptr) {
  using Held = internal::HeldSink<Sink>;
  std::unique_ptr<AnyMergeableSink> held;
  absl::Status status = ReadAnyParallel(
      std::move(source), options, [&] { return std::make_unique<Held>(make_sink()); }, &held,
      on_progress);
  *result = static_cast<Held&>(*held).Take();
  return status;
}

}  // namespace gotrace

#endif  // GOTRACE_READ_PARALLEL_H_
