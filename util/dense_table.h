// A table of states by ids that are mostly dense.
#ifndef GOTRACE_UTIL_DENSE_TABLE_H_
#define GOTRACE_UTIL_DENSE_TABLE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace gotrace::internal {

// A table of entries, keyed by their member `id`, which is an integer or has an integer member
// `value`. Go numbers goroutines, Ps and threads consecutively, so the slot of an entry is usually
// given by the lowest bits of its id; an entry whose slot is taken goes into a hash map. Long-lived
// entries thus keep their slots, and few of the many short-lived ones collide with them. Ids may
// have any value, and memory is proportional to the maximum number of entries at a time. An entry's
// address does not change.
template <class Entry>
class DenseTable {
 public:
  using IdType = decltype(Entry::id);

  // Starts with `fewest_slots` slots, a power of two. Clear() returns to that number.
  explicit DenseTable(size_t fewest_slots = 64) : fewest_slots_(fewest_slots) {
    MakeSlots(fewest_slots);
  }

  // Returns the entry of `id`, or nullptr.
  Entry* Find(IdType id) const {
    Entry* const entry = slots_[SlotOf(id)];
    if (entry != nullptr && entry->id == id) return entry;
    return crowds_[CrowdOf(id)] == 0 ? nullptr : FindOverflow(id);
  }

  // Adds a default-constructed entry for `id`. Requires that there is none.
  [[gnu::noinline]] Entry* Insert(IdType id) {
    Entry* const entry = Allocate();
    entry->id = id;
    if (slot_count() < kSlotsPerEntry * ++size_) Grow();
    Place(entry);
    return entry;
  }

  // Removes an entry of this table. Its memory will be reused.
  void Erase(Entry* entry) {
    Entry*& slot = slots_[SlotOf(entry->id)];
    if (slot == entry) {
      slot = nullptr;
    } else {
      overflow_.erase(entry->id);
      --crowds_[CrowdOf(entry->id)];
    }
    --size_;
    // In place: assigning a new Entry would make later loads wait for narrower stores.
    std::destroy_at(entry);
    std::construct_at(entry);
    free_.push_back(entry);
  }

  // Removes all entries. Takes time proportional to the maximum number of entries since the last
  // Clear().
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

  // Calls `see` with each entry, in no particular order. Takes time proportional to the number of
  // slots.
  template <class See>
  void ForEach(const See& see) const {
    for (size_t slot = 0; slot < slot_count(); ++slot) {
      if (slots_[slot] != nullptr) see(*slots_[slot]);
    }
    for (const auto& [id, entry] : overflow_) see(*entry);
  }

  // Returns all entries, in order of their ids.
  std::vector<Entry*> Sorted() const {
    std::vector<Entry*> sorted;
    sorted.reserve(size_);
    ForEach([&](Entry& entry) { sorted.push_back(&entry); });
    std::sort(sorted.begin(), sorted.end(),
              [](const Entry* a, const Entry* b) { return a->id < b->id; });
    return sorted;
  }

  size_t size() const { return size_; }

  // Returns the number of slots. For tests.
  size_t slot_count() const { return slot_mask_ + 1; }

 private:
  static constexpr size_t kSlotsPerEntry = 2;  // The minimum; the maximum is twice as many.
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

  // Requires that `count` is a power of two.
  void MakeSlots(size_t count) {
    slots_ = std::make_unique<Entry*[]>(count);
    slot_mask_ = count - 1;
  }

  // Clears only the slots of the entries ever allocated, which are fewer than all slots.
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

  size_t fewest_slots_;
  std::unique_ptr<Entry*[]> slots_;
  size_t slot_mask_ = 0;
  absl::flat_hash_map<IdType, Entry*> overflow_;  // The entries whose slots are taken.
  // The number of entries in overflow_ for each value of an id's lowest bits, so that most unknown
  // ids are recognised without hashing.
  std::array<uint64_t, kCrowds> crowds_ = {};
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  size_t used_ = kChunk;  // The number of entries used in the last chunk.
  std::vector<Entry*> free_;
  size_t size_ = 0;
};

// The number of slots for goroutines. It fits the L2 cache of a core, and is large enough that few
// short-lived goroutines collide with the hundreds of long-lived ones.
inline constexpr size_t kSlotsForGoroutines = 8192;

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_DENSE_TABLE_H_
