#include "analysis/tables/content_hash.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/byte_stream.h"

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

absl::StatusOr<int64_t> ContentHashOfFile(const std::string& path, FileState* state) {
  *state = StateOf(path);
  absl::StatusOr<std::unique_ptr<ByteStream>> stream = OpenStream(path);
  if (!stream.ok()) return stream.status();
  XXH3_state_t hash;  // On the stack: it is 576 bytes.
  XXH3_64bits_reset(&hash);
  std::vector<char> buffer(1 << 16);
  uint64_t total = 0;
  while (true) {
    const absl::StatusOr<size_t> size = (*stream)->Read(buffer.data(), buffer.size());
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    XXH3_64bits_update(&hash, buffer.data(), *size);
    total += *size;
  }
  if (absl::Status status = CheckUnchanged(path, *state, total); !status.ok()) return status;
  return IdOf(XXH3_64bits_digest(&hash));
}

int64_t IdOfTrace(int64_t input_id, uint64_t number) {
  return number > 1 ? ContentHash(absl::StrCat(input_id, " ", number)) : input_id;
}

}  // namespace gotrace::internal
