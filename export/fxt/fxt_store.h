// Where an FxtWriter puts records: directly into a ByteSink, or into memory of a fixed size first,
// in the ways in which Fuchsia's tracing buffers them.
#ifndef GOTRACE_EXPORT_FXT_FXT_STORE_H_
#define GOTRACE_EXPORT_FXT_FXT_STORE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/fxt_buffer.h"

namespace gotrace::internal {

// Takes records as words. What is appended together is either kept as a whole, or not at all.
class FxtStore {
 public:
  virtual ~FxtStore() = default;

  // Appends records. Returns whether they were kept; if not, they are dropped. Never waits.
  virtual bool Append(absl::Span<const uint64_t> words) = 0;

  // Whether definitions, of which the records that follow make use, have a part of their own that
  // is never overwritten: then they are appended with this function, apart from the records, and an
  // index must never be defined twice. Otherwise they come right before the record that needs them.
  virtual bool KeepsDefinitions() const { return false; }
  virtual bool AppendDefinition(absl::Span<const uint64_t> /*words*/) { return false; }

  // How many of the kept records were replaced by later ones.
  virtual uint64_t replaced() const { return 0; }

  // Writes what is kept. Returns the first error. The caller finishes the ByteSink.
  virtual absl::Status Finish() = 0;
};

// Returns a store for `buffer`. `out` must outlive it.
std::unique_ptr<FxtStore> MakeFxtStore(const FxtBuffer& buffer, ByteSink* out);

// The words that the file, and each provider's part of it, begin with: the magic record, a provider
// called "gotrace" and its section. Then come the words of a provider event that says that its
// buffer was full and records were dropped.
absl::Span<const uint64_t> FxtHeader();
absl::Span<const uint64_t> FxtBufferFull();

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_FXT_FXT_STORE_H_
