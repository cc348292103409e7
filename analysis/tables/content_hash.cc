#include "analysis/tables/content_hash.h"

#include <algorithm>
#include <limits>

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace gotrace::internal {
namespace {

int64_t ToId(uint64_t hash) {
  const uint64_t mask = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return std::max<int64_t>(static_cast<int64_t>(hash & mask), 1);
}

}  // namespace

int64_t ContentHash(absl::string_view bytes) {
  return ToId(XXH3_64bits(bytes.data(), bytes.size()));
}

struct ContentHasher::State {
  XXH3_state_t hash;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->hash);
}
ContentHasher::~ContentHasher() = default;

void ContentHasher::Add(absl::string_view bytes) {
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

int64_t ContentHasher::Hash() const { return ToId(XXH3_64bits_digest(&state_->hash)); }

}  // namespace gotrace::internal
