// A set of ids that are mostly small numbers.
#ifndef GOTRACE_UTIL_ID_SET_H_
#define GOTRACE_UTIL_ID_SET_H_

#include <cstdint>
#include <vector>

namespace gotrace::internal {

// For ids of a generation's tables: remembers which were seen, by a bit for each. Ids so large that
// no program writes them are never remembered, so that a damaged trace cannot make it large.
class IdSet {
 public:
  // Whether `id` was added, and is remembered.
  bool Has(uint64_t id) const { return id < end_ && (words_[id / 64] >> (id % 64) & 1) != 0; }

  void Add(uint64_t id) {
    if (id >= kMost) return;
    if (id >= end_) {
      words_.resize(2 * (id / 64) + 1);
      end_ = 64 * words_.size();
    }
    words_[id / 64] |= uint64_t{1} << (id % 64);
  }

  // Keeps the room, which is a megabyte at most.
  void Clear() {
    words_.clear();
    end_ = 0;
  }

 private:
  static constexpr uint64_t kMost = 1 << 22;

  std::vector<uint64_t> words_;
  uint64_t end_ = 0;  // Ids from here on have no bit.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_ID_SET_H_
