// A set of ids that are mostly small numbers.
#ifndef GOTRACE_UTIL_ID_SET_H_
#define GOTRACE_UTIL_ID_SET_H_

#include <cstdint>
#include <vector>

namespace gotrace::internal {

// A bitmap of the ids of a generation's tables. It ignores ids that are larger than any program
// writes, so that a damaged trace cannot make it large.
class IdSet {
 public:
  // Returns whether `id` is in the set.
  bool Has(uint64_t id) const { return id < end_ && (words_[id / 64] >> (id % 64) & 1) != 0; }

  // Adds `id`, unless it is kMaxIds or more.
  void Add(uint64_t id) {
    if (id >= kMaxIds) return;
    if (id >= end_) {
      words_.resize(2 * (id / 64) + 1);
      end_ = 64 * words_.size();
    }
    words_[id / 64] |= uint64_t{1} << (id % 64);
  }

  // Removes all ids. Keeps the memory, at most a megabyte.
  void Clear() {
    words_.clear();
    end_ = 0;
  }

 private:
  static constexpr uint64_t kMaxIds = 1 << 22;

  std::vector<uint64_t> words_;
  uint64_t end_ = 0;  // The number of bits.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_ID_SET_H_
