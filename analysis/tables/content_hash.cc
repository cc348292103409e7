#include "analysis/tables/content_hash.h"

#include <algorithm>
#include <limits>

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace gotrace::internal {

int64_t ContentHash(absl::string_view bytes) {
  const uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  const uint64_t mask = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return std::max<int64_t>(static_cast<int64_t>(hash & mask), 1);
}

}  // namespace gotrace::internal
