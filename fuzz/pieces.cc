#include "fuzz/pieces.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gotrace::internal {
namespace {

// Not absl::Hash, which differs from run to run.
uint32_t HashOf(absl::string_view bytes) {
  uint32_t hash = 2166136261;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
  return hash;
}

}  // namespace

RandomPieces::RandomPieces(absl::string_view bytes) : bytes_(bytes), random_(HashOf(bytes)) {}

absl::StatusOr<size_t> RandomPieces::Read(char* buffer, size_t size) {
  const size_t most = size_t{1} << (random_() % 12);
  size = std::min({size, bytes_.size(), 1 + random_() % most});
  if (size == 0) return 0;
  std::memcpy(buffer, bytes_.data(), size);
  bytes_.remove_prefix(size);
  return size;
}

}  // namespace gotrace::internal
