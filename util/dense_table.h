// States by ids that are mostly dense.
#ifndef GOTRACE_UTIL_DENSE_TABLE_H_
#define GOTRACE_UTIL_DENSE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace gotrace::internal {

// Holds entries by their member `id`, which is an integer or has one as its member `value`. Go
// numbers goroutines, Ps and threads one after the other, so an id's lowest bits mostly tell its
// place; an entry whose place is taken goes into a hash map. So those that live long keep their
// places, and of the many that come and go few meet one. Ids may be any, and memory stays in
// proportion to the most entries there were at a time. Addresses stay as long as the entry does.
template <class Entry>
class DenseTable {
 public:
  using IdType = decltype(Entry::id);

  // Begins with `fewest_slots`, a power of two, and goes back to as many at Clear().
  explicit DenseTable(size_t fewest_slots = 64) : fewest_slots_(fewest_slots) {
    MakeSlots(fewest_slots);
  }

  // The entry of `id`, or nullptr.
  Entry* Find(IdType id) const {
    Entry* const entry = slots_[SlotOf(id)];
    if (entry != nullptr && entry->id == id) return entry;
    return crowds_[CrowdOf(id)] == 0 ? nullptr : FindOverflow(id);
  }

  // Adds an entry for `id` as Entry() makes it. Requires that there is none.
  [[gnu::noinline]] Entry* Insert(IdType id) {
    Entry* const entry = Allocate();
    entry->id = id;
    if (slot_count() < kSlotsPerEntry * ++size_) Grow();
    Place(entry);
    return entry;
  }

  // Takes out an entry of this table. It becomes Entry(), and is used again for another.
  void Erase(Entry* entry) {
    Entry*& slot = slots_[SlotOf(entry->id)];
    if (slot == entry) {
      slot = nullptr;
    } else {
      overflow_.erase(entry->id);
      --crowds_[CrowdOf(entry->id)];
    }
    --size_;
    // In its place: to build another one and copy it makes loads wait for narrower stores.
    std::destroy_at(entry);
    std::construct_at(entry);
    free_.push_back(entry);
  }

  // Takes out all entries. Costs time in proportion to the most that there were since the last
  // time.
  void Clear() {
    if (slot_count() == fewest_slots_) {
      EmptySlots();
    } else {
      MakeSlots(fewest_slots_);
    }
    overflow_ = {};
    crowds_ = {};
    chunks_.clear();
    free_.clear();
    used_ = kChunk;
    size_ = 0;
  }

  // Calls `see` with each entry, in no order. Costs time in proportion to the slots.
  template <class See>
  void ForEach(const See& see) const {
    for (size_t slot = 0; slot < slot_count(); ++slot) {
      if (slots_[slot] != nullptr) see(*slots_[slot]);
    }
    for (const auto& [id, entry] : overflow_) see(*entry);
  }

  size_t size() const { return size_; }

  // How many entries there is room for without a hash map. For tests.
  size_t slot_count() const { return slot_mask_ + 1; }

 private:
  static constexpr size_t kSlotsPerEntry = 2;  // At least; at most twice as many.
  static constexpr size_t kChunk = 256;
  static constexpr size_t kCrowds = 64;

  static uint64_t NumberOf(IdType id) {
    if constexpr (std::is_integral_v<IdType>) {
      return static_cast<uint64_t>(id);
    } else {
      return static_cast<uint64_t>(id.value);
    }
  }

  size_t SlotOf(IdType id) const { return NumberOf(id) & slot_mask_; }

  static size_t CrowdOf(IdType id) { return NumberOf(id) % kCrowds; }

  // Requires a power of two.
  void MakeSlots(size_t count) {
    slots_ = std::make_unique<Entry*[]>(count);
    slot_mask_ = count - 1;
  }

  // Each of a table that has few entries is looked for, rather than to write over many slots.
  void EmptySlots() {
    for (const std::unique_ptr<Entry[]>& chunk : chunks_) {
      for (size_t i = 0; i < kChunk; ++i) slots_[SlotOf(chunk[i].id)] = nullptr;
    }
  }

  [[gnu::noinline]] Entry* FindOverflow(IdType id) const {
    const auto it = overflow_.find(id);
    return it == overflow_.end() ? nullptr : it->second;
  }

  Entry* Allocate() {
    if (!free_.empty()) {
      Entry* const entry = free_.back();
      free_.pop_back();
      return entry;
    }
    if (used_ == kChunk) {
      chunks_.emplace_back(new Entry[kChunk]);
      used_ = 0;
    }
    return &chunks_.back()[used_++];
  }

  void Place(Entry* entry) {
    Entry*& slot = slots_[SlotOf(entry->id)];
    if (slot == nullptr) {
      slot = entry;
    } else {
      overflow_.emplace(entry->id, entry);
      ++crowds_[CrowdOf(entry->id)];
    }
  }

  void Grow() {
    const std::unique_ptr<Entry*[]> slots = std::move(slots_);
    const size_t count = slot_count();
    const absl::flat_hash_map<IdType, Entry*> overflow = std::exchange(overflow_, {});
    crowds_ = {};
    MakeSlots(2 * count);
    for (size_t i = 0; i < count; ++i) {
      if (slots[i] != nullptr) Place(slots[i]);
    }
    for (const auto& [id, entry] : overflow) Place(entry);
  }

  const size_t fewest_slots_;
  std::unique_ptr<Entry*[]> slots_;
  size_t slot_mask_ = 0;
  absl::flat_hash_map<IdType, Entry*> overflow_;  // Never has an id that stands in its slot.
  // How many of those there are for each value of an id's lowest bits, so that what is nowhere is
  // mostly found to be so without hashing.
  std::array<uint64_t, kCrowds> crowds_ = {};
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  size_t used_ = kChunk;  // Of the last chunk.
  std::vector<Entry*> free_;
  size_t size_ = 0;
};

// So many slots for goroutines, by their ids, fit the second cache of a core, and let few that live
// shortly meet the hundreds that live long.
inline constexpr size_t kSlotsForGoroutines = 8192;

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_DENSE_TABLE_H_
