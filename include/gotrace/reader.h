// The main class of the library: Reader reads a Go execution trace and returns its events in order.
//
//   absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::Open("trace.out");
//   if (!reader.ok()) return reader.status();
//   return reader->ForEach([](const gotrace::Event& event) { … });
#ifndef GOTRACE_READER_H_
#define GOTRACE_READER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/fault.h"
#include "gotrace/reader_options.h"
#include "gotrace/version.h"

namespace gotrace::internal {
class ReaderAccess;
class ReaderImpl;
class SegmentReader;
}  // namespace gotrace::internal

namespace gotrace {

// Facts about the generation being read, for programs that report on a trace.
struct GenerationInfo {
  uint64_t number = 0;
  uint64_t begin_offset = 0;  // The offset of its first batch in the (decompressed) trace.
  uint64_t end_offset = 0;    // The offset after its last batch.
  uint64_t batches = 0;       // The number of batches of all kinds.
  uint64_t threads = 0;       // The number of threads that wrote event batches.
  uint64_t strings = 0;       // The size of its string table.
  uint64_t stacks = 0;        // The size of its stack table.

  // The frequency of the trace clock in ticks per second; nullopt if the generation does not give
  // it. Unless IsPlausibleFrequency() holds, the times of its events are meaningless.
  std::optional<uint64_t> frequency;

  bool has_event_batches = false;  // Including batches that no thread wrote.

  // Whether faults caused losses in it before its first event was returned. Later faults do not
  // count.
  bool damaged = false;

  // Whether it has no end marker and ends only with the trace, so that some of it may never have
  // been written. Set only in the modes that continue after faults.
  bool ends_with_trace = false;
};

class TraceIndex;

}  // namespace gotrace

namespace gotrace::internal {

// Calls `f` with each event that `reader` returns. If `f` returns a bool, false ends that.
template <class AnyReader, std::invocable<const Event&> F>
void ForEachEvent(AnyReader& reader, F& f) {
  while (const Event* event = reader.Next()) {
    if constexpr (std::is_same_v<std::invoke_result_t<F&, const Event&>, bool>) {
      if (!f(*event)) return;
    } else {
      f(*event);
    }
  }
}

}  // namespace gotrace::internal

namespace gotrace {

// Reads a trace from front to back. It returns the same events as the internal/trace Reader of Go
// 1.27, and stops where Go's reader stops; parser/DIVERGENCES.md lists the exceptions. Memory is
// bounded by the largest generation, and by ReaderOptions::limits.
//
// A Reader can be moved; a moved-from Reader can only be assigned to or destroyed. It is not
// thread-safe, but different Readers may be used at the same time. It may start a thread (see
// ReaderOptions::decodes_ahead), from which it never calls callbacks. It throws no exceptions of
// its own; after std::bad_alloc, or an exception from a callback, it can only be destroyed.
class Reader {
 public:
  // Opens the file at `path`, or standard input if it is "-". Zstd and gzip input is decompressed.
  // A file that is still being written is read up to its end at the time the Reader reaches it. A
  // file that becomes shorter causes the error kAborted, after everything that could be read.
  // Returns an error if the file cannot be read or does not begin with a supported trace header;
  // FaultOf() distinguishes the two. Reads at most 4096 bytes of input that is not a trace.
  static absl::StatusOr<Reader> Open(const std::string& path, ReaderOptions options = {});

  // Like Open(), for `bytes`, which must outlive the Reader and everything that it returns.
  static absl::StatusOr<Reader> FromBytes(absl::string_view bytes ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                          ReaderOptions options = {});

  // Like Open(), for the file descriptor `fd`, which may be a pipe or a socket. In strict mode it
  // is read one generation at a time; for the other modes see ReadMode. Unless there is a fault, it
  // is read to its end. The caller remains responsible for closing it.
  static absl::StatusOr<Reader> FromStream(int fd, ReaderOptions options = {});

  // Like Open(), for a source of the caller's own.
  static absl::StatusOr<Reader> FromSource(std::unique_ptr<ByteSource> source,
                                           ReaderOptions options = {});

  // Like FromSource(), but starts at the generation at place `n` of `index`. `source` must be the
  // source from which the index was built. It is only forked and not needed after the call, except
  // for the bytes of SourceFromBytes(). Also reads the previous generation, for the time of its
  // last event.
  //
  // Events, with their times, numbers and offsets, are the same as those of a Reader of the whole
  // trace if generation `n` states the correct status of goroutines, Ps, threads and ranges, as in
  // traces that programs write. Reading ends with a fault where the status cannot be known. The end
  // of a task that began in an earlier generation still has its parent and type: to find them,
  // earlier generations are searched, latest first. Faults in generations before the previous one
  // are not noticed. Fails with kUnavailable if the trace can be read only once.
  static absl::StatusOr<Reader> OpenAt(const ByteSource& source, const TraceIndex& index, size_t n,
                                       ReaderOptions options = {});

  // A moved-from Reader can only be assigned to or destroyed.
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // Returns the next event, or nullptr at the end of the trace or after a fault; see status(). The
  // event is valid until the next call of Next() or NextBlock(). Its strings and stacks are valid
  // until one of the two returns a kSync event or nothing.
  //
  // The first and the last event of a trace are kSync events, and so is the first event of each
  // further generation.
  const Event* Next() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    if (next_ == end_ && !Refill()) return nullptr;
    return next_++;
  }

  // Calls `f` with each of the events that are left, and returns status(), so that a fault cannot
  // be taken for the end of the trace. `f` takes a const Event&. If it returns a bool, false ends
  // reading: the next event is then the one after. See Next() for how long an event is valid.
  template <std::invocable<const Event&> F>
  [[nodiscard]] absl::Status ForEach(F&& f) {
    internal::ForEachEvent(*this, f);
    return status();
  }

  // Returns the next events, at least one, or none where Next() would return nullptr. All belong to
  // one generation: a kSync event is always the first of its block. Everything reported to on_fault
  // and on_time_back during the call precedes all of them. The events are valid until the next call
  // of Next() or NextBlock().
  absl::Span<const Event> NextBlock() ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns OK until something goes wrong, and then the first error, permanently: either a fault,
  // which FaultOf() returns, or an I/O error.
  const absl::Status& status() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the version of the trace format.
  Version version() const;

  // Returns facts about the current generation: the generation of the last event, or a later one if
  // its first event is a fault. Before the first event, all fields are 0.
  const GenerationInfo& generation() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns what has been lost so far. In strict mode nothing is lost: reading stops.
  const Losses& losses() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the offset of another trace in the input that follows this one, in the modes that
  // continue after faults. Returns nullopt if there is none, or before the end of this trace.
  std::optional<uint64_t> next_trace() const;

  // Returns the number of events returned so far.
  uint64_t event_count() const;

  // Returns the size of the file in bytes, compressed or not, or 0 if it is not known. For progress
  // reports only.
  uint64_t input_size() const;

  // Returns how many bytes of the file have been read. For progress reports only.
  uint64_t input_read() const;

 private:
  friend class internal::ReaderAccess;
  friend class internal::SegmentReader;
  explicit Reader(std::unique_ptr<internal::ReaderImpl> impl);

  // Gets the next events, or returns false if there are none.
  bool Refill();

  std::unique_ptr<internal::ReaderImpl> impl_;
  // The events that were not returned yet. They belong to impl_.
  const Event* next_ = nullptr;
  const Event* end_ = nullptr;
};

}  // namespace gotrace

#endif  // GOTRACE_READER_H_
