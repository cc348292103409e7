// A stream whose bytes arrive in small pieces, as from a slow network.
#ifndef GOTRACE_FUZZ_PIECES_H_
#define GOTRACE_FUZZ_PIECES_H_

#include <cstddef>
#include <memory>
#include <random>

#include "absl/strings/string_view.h"
#include "gotrace/byte_stream.h"

namespace gotrace::internal {

// Returns bytes in pieces of random sizes, most of them small. The sizes depend only on the bytes.
class RandomPieces final : public ByteStream {
 public:
  // `bytes` must outlive the stream.
  explicit RandomPieces(absl::string_view bytes);
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  absl::string_view bytes_;
  std::minstd_rand random_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_PIECES_H_
