// A table of entries by the ids that a trace gives them.
#ifndef GOTRACE_UTIL_ID_TABLE_H_
#define GOTRACE_UTIL_ID_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace gotrace::internal {

// Which ids of a table are found by index.
class NearIds {
 public:
  static constexpr uint32_t kAbsent = std::numeric_limits<uint32_t>::max();

  // `index` has kAbsent at `end`, which stands for all ids from there on, and something else at the
  // ids that have entries.
  NearIds(const uint32_t* index, uint64_t end) : index_(index), end_(end) {}

  // Whether `id` is 0 or has an entry that is found by index. Costs few instructions.
  bool Has(uint64_t id) const { return id == 0 || index_[std::min(id, end_)] != kAbsent; }

 private:
  const uint32_t* index_;
  uint64_t end_;
};

// Ids are nearly always 1, 2, 3, … in some order; those are found by index. Others may be anything
// up to 2^64 and go into a hash map, so that memory stays in proportion to the number of entries.
template <class T>
class IdTable {
 public:
  static constexpr uint32_t kAbsent = NearIds::kAbsent;

  // Adds `entry` under `id`. Returns false, and changes nothing, if there is one already.
  bool Insert(uint64_t id, T entry) {
    if (Find(id) != kAbsent) return false;
    const uint32_t index = static_cast<uint32_t>(entries_.size());
    if (index == 0) entries_.reserve(kRoomAtFirst);
    entries_.push_back(std::move(entry));
    if (IsNear(id)) {
      PutNear(id, index);
    } else {
      sparse_.emplace(id, index);
    }
    // Where ids come in no order, the first ones may have been far. So rarely that all in all
    // at most twice as many ids are looked at as there are.
    if ((entries_.size() & (entries_.size() - 1)) == 0) PutNearWhatIs();
    while (near().Has(gapless_ + 1)) ++gapless_;
    return true;
  }

  // Whether there is an entry under `id`, which must not be 0.
  bool Contains(uint64_t id) const { return id <= gapless_ || Find(id) != kAbsent; }

  // The id up to which, from 1 on, all have entries. That is never above last_near(): of as many
  // entries as ids none of those is far.
  uint64_t gapless() const { return gapless_; }

  // The last id that is found by index, or 0 if none is. Some before it may have no entry.
  uint64_t last_near() const { return last_near_; }

  // Those that are found by index. A view of the table, up to the next Insert().
  NearIds near() const {
    if (dense_.empty()) return NearIds(&kAbsent, 0);
    return NearIds(dense_.data(), last_near_ + 1);
  }

  // The index of the entry under `id`, counted in order of insertion, or kAbsent.
  uint32_t Find(uint64_t id) const {
    if (id < dense_.size() && dense_[id] != kAbsent) return dense_[id];
    if (sparse_.empty()) return kAbsent;
    const auto it = sparse_.find(id);
    return it == sparse_.end() ? kAbsent : it->second;
  }

  const T& operator[](uint32_t index) const { return entries_[index]; }

  // The ids of all entries, in ascending order. Takes time and memory in proportion to them.
  std::vector<uint64_t> Ids() const {
    std::vector<uint64_t> ids;
    ids.reserve(entries_.size());
    for (uint64_t id = 0; id < dense_.size(); ++id) {
      if (dense_[id] != kAbsent) ids.push_back(id);
    }
    const size_t near = ids.size();
    for (const auto& entry : sparse_) ids.push_back(entry.first);
    std::sort(ids.begin() + near, ids.end());
    return ids;
  }

  size_t size() const { return entries_.size(); }

 private:
  // Whether there are entries enough for one under `id` to be found by index.
  bool IsNear(uint64_t id) const { return id < kFewest + 2 * entries_.size(); }

  void PutNear(uint64_t id, uint32_t index) {
    last_near_ = std::max(last_near_, id);
    if (last_near_ + 1 >= dense_.size()) dense_.resize(id + kRoomAtFirst + id / 2, kAbsent);
    dense_[id] = index;
  }

  void PutNearWhatIs() {
    absl::erase_if(sparse_, [this](const auto& entry) {
      if (!IsNear(entry.first)) return false;
      PutNear(entry.first, entry.second);
      return true;
    });
  }

  static constexpr uint64_t kFewest = 1024;
  static constexpr size_t kRoomAtFirst = 64;  // Most tables have as many entries.

  std::vector<T> entries_;
  std::vector<uint32_t> dense_;  // Index by id; if it is not empty, up to last_near_ + 1 or more.
  uint64_t last_near_ = 0;
  uint64_t gapless_ = 0;
  absl::flat_hash_map<uint64_t, uint32_t> sparse_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_ID_TABLE_H_
