// Reads the two halves of a trace at the same time.
#ifndef GOTRACE_PARSER_READER_SPLIT_TRACE_H_
#define GOTRACE_PARSER_READER_SPLIT_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/version.h"

namespace gotrace::internal {

// Where a trace can be split, between two generations, and how its halves are read, each by a
// Reader of its own on a thread of its own:
//
//   std::optional<SplitTrace> split = SplitTrace::Find(*source, kJobsFromBytes);
//   absl::StatusOr<Reader> first = Reader::FromSource(std::move(source), options);
//   split->Stop(&*first);
//   std::thread other([&] { second = split->OpenSecond(options); … });
//   …
//   other.join();
//   if (SplitTrace::Continues(*second, *first)) {
//     SplitTrace::End(&*first);
//   } else {
//     SplitTrace::GoOn(&*first, 2);
//   }
//
// ReadHalves() does all of this.
//
// Each generation tells the status of all that there is. So the second Reader takes for granted
// what its first generation tells of how the one before it ended, and Continues() tells whether
// that was right. It is for what programs write, and then the second Reader gives the very events
// that the first one would give next, but for two things. The kTaskEnd event of a task that began
// in the first half tells neither its parent nor its type, as if it had begun before the trace did.
// And the first status of a P in the second half, where it is idle, may tell that the P went on
// from being idle in place of kNotExist, or the other way round: what was told of it before is not
// known. Anything else goes on with the first Reader, as if nothing had been split.
class SplitTrace {
 public:
  // Finds where the halves of `source` are nearest to equal. nullopt if there is no such place,
  // either half would have fewer than `fewest` bytes, or the bytes come only once (see
  // ByteSource::Fork()). Looks at the batches' headers in the first half. The bytes of
  // SourceFromBytes() must outlive all that is made of this.
  static std::optional<SplitTrace> Find(const ByteSource& source, uint64_t fewest);

  // Every place where `source` can be split, in order. None as above, or if it is no trace that
  // consists of batches.
  static std::vector<SplitTrace> FindAll(const ByteSource& source);

  // Where the second half begins, in bytes.
  uint64_t offset() const { return offset_; }

  // Lets `first`, a Reader of the whole trace that gave nothing yet, give nothing more once it
  // comes to the second half; its status is then OK.
  void Stop(Reader* first) const;

  // Lets it go on, using `jobs` cores at most as ReaderOptions::jobs would tell it to. May be
  // called before it came there.
  static void GoOn(Reader* first, size_t jobs);

  // To be called for `first` where the second Reader continues it: its input is left as if `first`
  // had read it to the end.
  static void End(Reader* first);

  // Opens the second half. Reads the end of each thread of the generation before it, and so may
  // fail. Numbers kSync events, offsets and times as in the whole trace.
  absl::StatusOr<Reader> OpenSecond(ReaderOptions options) const;

  // Whether `second`, which was read to its end, gave what `first`, which was read to where it
  // stopped, would give next. False if either had a fault, or asks for more than half of the
  // threads, Ps, goroutines or nesting of ReaderOptions::limits.
  static bool Continues(const Reader& second, const Reader& first);

 private:
  SplitTrace() = default;

  // Calls `take` with each place where `source` can be split, in order, until it returns false.
  // Returns false where something turns out that is no batch.
  template <class Take>
  static bool ForEach(const ByteSource& source, const Take& take);

  // The time of the last event of the generation before the second half, in nanoseconds, if none
  // had to be made later than its thread told. nullopt if it cannot be read.
  std::optional<int64_t> TimeBefore(const ReaderLimits& limits) const;

  std::shared_ptr<const ByteSource> source_;  // Only forked.
  Version version_ = {};
  uint64_t offset_ = 0;
  uint64_t generation_offset_ = 0;  // Of the generation before it.
  uint64_t generations_ = 0;        // How many there are before it.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_SPLIT_TRACE_H_
