// States by ids that are mostly dense.
#ifndef GOTRACE_VALIDATOR_DENSE_TABLE_H_
#define GOTRACE_VALIDATOR_DENSE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace gotrace {

// Holds entries by their member `int64_t id`. Go numbers goroutines, Ps and threads one after the
// other, so an id's lowest bits mostly tell its place; an entry whose place is taken goes into a
// hash map. Ids may be any, and memory stays in proportion to the most entries there were at a
// time. Addresses stay as long as the entry does.
template <class Entry>
class DenseTable {
  static_assert(std::is_trivially_destructible_v<Entry>);

 public:
  DenseTable() { Clear(); }

  // The entry of `id`, or nullptr.
  Entry* Find(int64_t id) const {
    Entry* const entry = slots_[SlotOf(id)];
    if (entry != nullptr && entry->id == id) return entry;
    return crowds_[CrowdOf(id)] == 0 ? nullptr : FindOverflow(id);
  }

  // Adds an entry for `id` as Entry() makes it. Requires that there is none.
  [[gnu::noinline]] Entry* Insert(int64_t id) {
    Entry* const entry = Allocate();
    entry->id = id;
    if (slot_count() < kSlotsPerEntry * ++size_) Grow();
    Place(entry);
    return entry;
  }

  // Takes out an entry of this table.
  void Erase(Entry* entry) {
    Entry*& slot = slots_[SlotOf(entry->id)];
    if (slot == entry) {
      slot = nullptr;
    } else {
      overflow_.erase(entry->id);
      --crowds_[CrowdOf(entry->id)];
    }
    --size_;
    free_.push_back(entry);
  }

  // Takes out all entries.
  void Clear() {
    MakeSlots(kFewestSlots);
    overflow_ = {};
    crowds_ = {};
    chunks_.clear();
    free_.clear();
    used_ = kChunk;
    size_ = 0;
  }

  size_t size() const { return size_; }

  // How many entries there is room for without a hash map. For tests.
  size_t slot_count() const { return slot_mask_ + 1; }

 private:
  static constexpr size_t kFewestSlots = 64;
  static constexpr size_t kSlotsPerEntry = 4;  // At least; at most twice as many.
  static constexpr size_t kChunk = 256;
  static constexpr size_t kCrowds = 64;

  size_t SlotOf(int64_t id) const { return static_cast<uint64_t>(id) & slot_mask_; }

  static size_t CrowdOf(int64_t id) { return static_cast<uint64_t>(id) % kCrowds; }

  // Requires a power of two.
  void MakeSlots(size_t count) {
    slots_ = std::make_unique<Entry*[]>(count);
    slot_mask_ = count - 1;
  }

  [[gnu::noinline]] Entry* FindOverflow(int64_t id) const {
    const auto it = overflow_.find(id);
    return it == overflow_.end() ? nullptr : it->second;
  }

  Entry* Allocate() {
    if (!free_.empty()) {
      Entry* const entry = free_.back();
      free_.pop_back();
      return new (entry) Entry();
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
    const absl::flat_hash_map<int64_t, Entry*> overflow = std::exchange(overflow_, {});
    crowds_ = {};
    MakeSlots(2 * count);
    for (size_t i = 0; i < count; ++i) {
      if (slots[i] != nullptr) Place(slots[i]);
    }
    for (const auto& [id, entry] : overflow) Place(entry);
  }

  std::unique_ptr<Entry*[]> slots_;
  size_t slot_mask_ = 0;
  absl::flat_hash_map<int64_t, Entry*> overflow_;  // Never has an id that stands in its slot.
  // How many of those there are for each value of an id's lowest bits, so that what is nowhere is
  // mostly found to be so without hashing.
  std::array<uint64_t, kCrowds> crowds_;
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  size_t used_ = 0;  // Of the last chunk.
  std::vector<Entry*> free_;
  size_t size_ = 0;
};

}  // namespace gotrace

#endif  // GOTRACE_VALIDATOR_DENSE_TABLE_H_
