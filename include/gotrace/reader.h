// The face of the library: reads a Go execution trace and hands out its events in order.
//
//   absl::StatusOr<gotrace::Reader> reader = gotrace::Reader::Open("trace.out");
//   if (!reader.ok()) return reader.status();
//   while (const gotrace::Event* event = reader->Next()) {
//     …
//   }
//   if (!reader->status().ok()) return reader->status();
#ifndef GOTRACE_READER_H_
#define GOTRACE_READER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_source.h"
#include "gotrace/event.h"
#include "gotrace/fault.h"
#include "gotrace/internal/waiting_goroutines.h"
#include "gotrace/read_mode.h"
#include "gotrace/version.h"

namespace gotrace::internal {
class ReaderImpl;
class SplitTrace;
}  // namespace gotrace::internal

namespace gotrace {

// Facts about the generation being read, for programs that report on a trace.
struct GenerationInfo {
  uint64_t number = 0;
  uint64_t begin_offset = 0;  // Of its first batch, in bytes of the (decompressed) trace.
  uint64_t end_offset = 0;    // Behind its last batch.
  uint64_t batches = 0;       // Of all kinds.
  uint64_t threads = 0;       // That have event batches, without those that no thread wrote.
  uint64_t strings = 0;       // In its string table.
  uint64_t stacks = 0;        // In its stack table.

  // Of the trace clock, in ticks per second, as the generation states it; nullopt if it does not.
  // IsPlausibleFrequency() says whether the times of its events mean anything.
  std::optional<uint64_t> frequency;

  bool has_event_batches = false;  // Also true of those that no thread wrote.

  // Whether faults took something of it before its first event could be given. Those that are met
  // later do not count.
  bool damaged = false;

  // Whether it ends only because the trace does, without a sign of its own, so that it may lack
  // what was never written. Known in the modes that go on after faults only.
  bool ends_with_trace = false;
};

// Reads a trace from front to back. It gives the same events as Go 1.27's internal/trace Reader,
// and stops where that does; parser/DIVERGENCES.md lists the exceptions. Memory is bounded by the
// largest generation, and by ReaderOptions::limits. Movable, and a moved-from Reader can only be
// assigned to or destroyed; not thread-safe, but different Readers may be used at the same time. A
// Reader may start threads of its own, one at a time, see ReaderOptions::jobs, and calls nothing of
// the caller's from it. It throws nothing of its own; where memory runs out (std::bad_alloc), or a
// callback throws, it can only be destroyed.
class Reader {
 public:
  // Reads the file at `path`, or the standard input if it is "-". Zstd and gzip are recognised and
  // taken off. A file that is still being written to is read to the end that it has by then; one
  // that becomes shorter gives what could be read and then an error, kAborted. Fails if the file
  // cannot be read or does not begin with the header of a trace that the library knows: FaultOf()
  // tells these apart. What is no trace is refused once 4096 bytes of it, or its end, were read.
  static absl::StatusOr<Reader> Open(const std::string& path, ReaderOptions options = {});

  // The same for `bytes`, which must outlive the Reader and everything that it gives.
  static absl::StatusOr<Reader> FromBytes(absl::string_view bytes, ReaderOptions options = {});

  // The same for what can be read from the descriptor `fd`, a pipe or a socket too. In strict mode
  // it is read one generation at a time; see ReadMode for the others. It is read to its end unless
  // there is a fault, and stays the caller's to close.
  static absl::StatusOr<Reader> FromStream(int fd, ReaderOptions options = {});

  // The same for a source of the caller's making.
  static absl::StatusOr<Reader> FromSource(std::unique_ptr<ByteSource> source,
                                           ReaderOptions options = {});

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // The next event, or nullptr at the end of the trace or at the first fault, which status() then
  // tells. The event is valid until the next call of Next() or NextBlock(); its strings and stacks
  // until one of them gives a kSync event or nothing.
  //
  // A trace gives a kSync event first and last, and one before each further generation.
  const Event* Next() {
    if (next_ == end_ && !Refill()) return nullptr;
    return next_++;
  }

  // The next events, at least one, or none where Next() would give nullptr. All belong to one
  // generation: a kSync event is always the first of its block. What on_fault and on_time_back tell
  // meanwhile stands before the first of them. They are valid until the next call of Next() or
  // NextBlock().
  absl::Span<const Event> NextBlock();

  // OK as long as nothing was wrong. After that the first failure, for good: a fault, which
  // FaultOf() gives, or an error of I/O.
  const absl::Status& status() const;

  // The version of the trace's format.
  Version version() const;

  // The generation that was entered last: the one that the last event belongs to, or one whose
  // first event is a fault. Before the first event all of its fields are 0.
  const GenerationInfo& generation() const;

  // What was left out so far. In strict mode nothing is: reading stops.
  const Losses& losses() const;

  // In the modes that go on after faults, where another trace begins in the input, at which this
  // one ended; nullopt if there is none, or before the end.
  std::optional<uint64_t> next_trace() const;

  // How many events were given.
  uint64_t event_count() const;

  // How often an event was held against the model of Go's scheduler to find which comes next. What
  // reading costs, besides decoding, is in proportion to that; a trace that makes much of it for
  // few events is a strange one. It counts attempts for events that were not given yet, and some
  // more than once, which depends on ReaderOptions::jobs.
  uint64_t attempts() const;

  // How many goroutines wait for something after the last event of the trace, by the ids of the
  // strings of its last generation that say what for; for ReaderOptions::on_generation_end, which
  // sees those strings. Means nothing before Next() gave nullptr.
  internal::WaitingGoroutines CountWaiting() const;

  // The size of the input as it stands in the file, compressed or not, or 0 if it is not known, and
  // how much of it was read. For progress only.
  uint64_t input_size() const;
  uint64_t input_read() const;

 private:
  friend class internal::SplitTrace;
  explicit Reader(std::unique_ptr<internal::ReaderImpl> impl);

  // Finds the next events, or returns false if there are none.
  bool Refill();

  std::unique_ptr<internal::ReaderImpl> impl_;
  // Those that were found and not given. They belong to impl_.
  const Event* next_ = nullptr;
  const Event* end_ = nullptr;
};

}  // namespace gotrace

#endif  // GOTRACE_READER_H_
