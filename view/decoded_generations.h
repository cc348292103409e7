// The pieces of single generations, which are decoded when somebody looks at them.
#ifndef GOTRACE_VIEW_DECODED_GENERATIONS_H_
#define GOTRACE_VIEW_DECODED_GENERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "gotrace/analysis.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader_options.h"
#include "gotrace/trace_index.h"
#include "view/packed_pieces.h"

namespace gotrace::internal {

// Runs `analysis` over one generation. Its intervals end with the kSync event of the next one.
// Continues after faults: a generation alone may have some that the trace has not, since one that
// was repaired need not state each mark assist that began before it. Returns the status of reading.
absl::Status ReadGeneration(const ByteSource& source, const TraceIndex& index, size_t n,
                            ReaderOptions options, AnalysisSink* sink);

// What a generation alone says.
struct DecodedGeneration {
  // The pieces that do not cross into another generation; Overview::crossing() has the others.
  // Times are since the trace's begin. `reason` is an index of `reasons`.
  PackedPieces pieces;
  std::vector<std::string> reasons;

  // Returns the memory that it takes, in bytes.
  size_t size() const;
};

// Keeps the generations that were asked for last, up to a limit of memory. May be used by several
// threads at once, of which one decodes at a time, with as many cores as `options.jobs` says.
class DecodedGenerations {
 public:
  // `source` and `index` must outlive this object. `begin` is the time of the trace's first event.
  DecodedGenerations(const ByteSource* source, const TraceIndex* index, ReaderOptions options,
                     int64_t begin, size_t max_bytes)
      : source_(*source),
        index_(*index),
        options_(std::move(options)),
        begin_(begin),
        max_bytes_(max_bytes) {}

  using Generation = std::shared_ptr<const DecodedGeneration>;

  // Returns the generation at place `n` of the index. If the trace is broken in it, returns what
  // is before the fault.
  absl::StatusOr<Generation> Get(size_t n);

  // Returns the generations from `first` on, before `last`: one for each core at most, since they
  // are decoded at the same time. Requires first < last.
  absl::StatusOr<std::vector<Generation>> GetSome(size_t first, size_t last);

 private:
  struct Kept {
    size_t n = 0;
    Generation generation;
  };

  // Returns the generation if it is kept, or nullptr.
  Generation FindKept(size_t n);
  absl::StatusOr<Generation> Decode(size_t n) const;
  void Keep(size_t n, const Generation& generation);

  const ByteSource& source_;
  const TraceIndex& index_;
  const ReaderOptions options_;
  const int64_t begin_;
  const size_t max_bytes_;

  std::mutex mutex_;
  std::list<Kept> kept_;  // In the order of their last use, the latest first.
  size_t bytes_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VIEW_DECODED_GENERATIONS_H_
