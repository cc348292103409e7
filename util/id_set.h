// A set of ids that are close to each other.
#ifndef GOTRACE_UTIL_ID_SET_H_
#define GOTRACE_UTIL_ID_SET_H_

#include <cstdint>
#include <vector>

namespace gotrace::internal {

// Remembers ids by a bit for each. An id that is too far from the others is not remembered, so that
// a damaged trace cannot make the set large.
class IdSet {
 public:
  // Makes a set of ids below 2^22, for the ids of a generation's tables. Takes at most half a
  // megabyte.
  IdSet() = default;

  // Makes a set that may begin anywhere. Its range has `max` ids and begins `below` ids before the
  // first one that is added. Takes at most max / 8 bytes.
  IdSet(uint64_t below, uint64_t max) : below_(below), max_(max), has_base_(false) {}

  // Returns whether `id` was added, and is remembered.
  bool Has(uint64_t id) const {
    const uint64_t place = id - base_;
    return place < end_ && (words_[place / 64] >> (place % 64) & 1) != 0;
  }

  // Adds `id`. Returns false if it is too far from the others, and was not added.
  bool Add(uint64_t id) {
    if (!has_base_) [[unlikely]] {
      base_ = id > below_ ? id - below_ : 0;
      has_base_ = true;
    }
    const uint64_t place = id - base_;
    if (place >= max_) return false;
    if (place >= end_) {
      words_.resize(2 * (place / 64) + 1);
      end_ = 64 * words_.size();
    }
    words_[place / 64] |= uint64_t{1} << (place % 64);
    return true;
  }

  // Removes all ids, and keeps the memory.
  void Clear() {
    words_.clear();
    end_ = 0;
  }

 private:
  std::vector<uint64_t> words_;
  uint64_t base_ = 0;  // The id of the first bit.
  uint64_t end_ = 0;   // How many bits there are.
  uint64_t below_ = 0;
  uint64_t max_ = 1 << 22;
  bool has_base_ = true;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_ID_SET_H_
