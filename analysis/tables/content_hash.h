// Ids that follow from content, and so are the same wherever they are computed.
#ifndef GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
#define GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// A hash of the bytes that is greater than 0. It has 63 bits, so that engines without unsigned
// integers can hold it.
int64_t ContentHash(absl::string_view bytes);

// Computes the same of bytes that come in pieces.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();

  void Add(absl::string_view bytes);

  // Returns the hash of all bytes that were added.
  int64_t Hash() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_CONTENT_HASH_H_
