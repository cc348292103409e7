#include "analysis/tables/content_hash.h"

#include <algorithm>
#include <limits>
#include <vector>

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace gotrace::internal {
namespace {

int64_t IdOf(XXH64_hash_t hash) {
  constexpr uint64_t kMask = (uint64_t{1} << std::numeric_limits<double>::digits) - 1;
  return std::max<int64_t>(static_cast<int64_t>(hash & kMask), 1);
}

}  // namespace

int64_t ContentHash(absl::string_view bytes) {
  return IdOf(XXH3_64bits(bytes.data(), bytes.size()));
}

absl::StatusOr<int64_t> ContentHash(ByteStream& stream) {
  XXH3_state_t state;  // On the stack: it is 576 bytes.
  XXH3_64bits_reset(&state);
  std::vector<char> buffer(1 << 16);
  while (true) {
    const absl::StatusOr<size_t> size = stream.Read(buffer.data(), buffer.size());
    if (!size.ok()) return size.status();
    if (*size == 0) return IdOf(XXH3_64bits_digest(&state));
    XXH3_64bits_update(&state, buffer.data(), *size);
  }
}

}  // namespace gotrace::internal
