// A table of entries by the ids that a trace gives them.
#ifndef GOTRACE_PARSER_ID_TABLE_H_
#define GOTRACE_PARSER_ID_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace gotrace {

// Ids are nearly always 1, 2, 3, … in some order; those are found by index. Others may be anything
// up to 2^64 and go into a hash map, so that memory stays in proportion to the number of entries.
template <class T>
class IdTable {
 public:
  static constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();

  // Adds `entry` under `id`. Returns false, and changes nothing, if there is one already.
  bool Insert(uint64_t id, T entry) {
    if (Find(id) != kAbsent) return false;
    const uint32_t index = static_cast<uint32_t>(entries_.size());
    if (index == 0) entries_.reserve(kRoomAtFirst);
    entries_.push_back(std::move(entry));
    if (id < kFewest + 2 * entries_.size()) {
      if (id >= dense_.size()) dense_.resize(id + kRoomAtFirst + id / 2, kAbsent);
      dense_[id] = index;
    } else {
      sparse_.emplace(id, index);
    }
    while (Find(gapless_ + 1) != kAbsent) ++gapless_;
    return true;
  }

  // Whether there is an entry under `id`, which must not be 0.
  bool Contains(uint64_t id) const { return id <= gapless_ || Find(id) != kAbsent; }

  // The id up to which, from 1 on, all have entries.
  uint64_t gapless() const { return gapless_; }

  // The index of the entry under `id`, counted in order of insertion, or kAbsent.
  uint32_t Find(uint64_t id) const {
    if (id < dense_.size() && dense_[id] != kAbsent) return dense_[id];
    if (sparse_.empty()) return kAbsent;
    const auto it = sparse_.find(id);
    return it == sparse_.end() ? kAbsent : it->second;
  }

  const T& operator[](uint32_t index) const { return entries_[index]; }
  size_t size() const { return entries_.size(); }

 private:
  static constexpr uint64_t kFewest = 1024;
  static constexpr size_t kRoomAtFirst = 64;  // Most tables have as many entries.

  std::vector<T> entries_;
  std::vector<uint32_t> dense_;  // Index by id.
  uint64_t gapless_ = 0;
  absl::flat_hash_map<uint64_t, uint32_t> sparse_;
};

}  // namespace gotrace

#endif  // GOTRACE_PARSER_ID_TABLE_H_
