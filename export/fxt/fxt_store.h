// The output of an FxtWriter: a ByteSink, written directly or through a buffer of a fixed size that
// works like those of Fuchsia's tracing.
#ifndef GOTRACE_EXPORT_FXT_FXT_STORE_H_
#define GOTRACE_EXPORT_FXT_FXT_STORE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/fxt_buffer.h"

namespace gotrace::internal {

// Stores records as words. The words of one call are either all kept or all dropped.
class FxtStore {
 public:
  virtual ~FxtStore() = default;

  // Appends records. Returns whether they were kept; if not, they are dropped. Never waits.
  virtual bool Append(absl::Span<const uint64_t> words) = 0;

  // Returns whether definitions have a part of their own that is never overwritten. If so, they are
  // appended separately from the records that use them, and an index must never be defined twice.
  // Otherwise they come right before the record that needs them.
  virtual bool KeepsDefinitions() const { return false; }
  virtual bool AppendDefinition(absl::Span<const uint64_t> /*words*/) { return false; }

  // Returns how many of the kept records were replaced by later ones.
  virtual uint64_t replaced() const { return 0; }

  // Writes the kept records. Returns the first error. The caller finishes the ByteSink.
  virtual absl::Status Finish() = 0;
};

// Returns a store for `buffer`. `out` must outlive it.
std::unique_ptr<FxtStore> MakeFxtStore(const FxtBuffer& buffer, ByteSink* out);

// Returns the first words of the file, and of each provider's part of it: the magic record, a
// provider called "gotrace" and its section. They are followed by the words of a provider event
// that reports that the buffer was full and records were dropped.
absl::Span<const uint64_t> FxtHeader();
absl::Span<const uint64_t> FxtBufferFull();

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_STORE_H_
