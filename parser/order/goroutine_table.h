// The goroutines of the scheduler model, by their ids.
#ifndef GOTRACE_PARSER_ORDER_GOROUTINE_TABLE_H_
#define GOTRACE_PARSER_ORDER_GOROUTINE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "gotrace/ids.h"
#include "parser/order/scheduler_state.h"
#include "util/dense_table.h"

namespace gotrace::internal {

// A hash table of goroutine states. The lowest bits of an id select a slot of an array; a goroutine
// whose slot is taken goes into an overflow hash map. As in DenseTable, long-lived goroutines keep
// their slots, and few of the many short-lived ones collide with them. Unlike there, the array
// holds the states themselves, because every event looks one up. So their addresses are valid only
// until the next Insert().
class GoroutineTable {
 public:
  // Starts with `fewest_slots` slots and returns to that number in Clear(). It must be a power of
  // two greater than 1.
  explicit GoroutineTable(size_t fewest_slots = kSlotsForGoroutines) : fewest_slots_(fewest_slots) {
    MakeSlots(fewest_slots);
  }

  // Returns the state of `id`, or nullptr.
  GoroutineState* Find(GoId id) const {
    GoroutineState* const state = &slots_[SlotOf(id)];
    if (state->id == id) [[likely]]
      return state;
    return crowds_[CrowdOf(id)] == 0 ? nullptr : FindOverflow(id);
  }

  // Adds a goroutine with the id `id`, whose state is otherwise unknown. Requires that `id` is not
  // in the table.
  GoroutineState* Insert(GoId id) {
    if (slot_count() < kSlotsPerEntry * ++size_) [[unlikely]]
      Grow();
    GoroutineState* const state = &slots_[SlotOf(id)];
    if (!IsFree(*state)) [[unlikely]]
      return InsertOverflow(id);
    // Only these members can be left from an erased goroutine; its spans are gone.
    state->id = id;
    state->number = 0;
    state->generation = 0;
    state->status = {};
    state->reason = 0;
    return state;
  }

  GoroutineState* FindOrInsert(GoId id) {
    GoroutineState* const state = Find(id);
    return state == nullptr ? Insert(id) : state;
  }

  // Removes a goroutine of this table, together with its open spans.
  void Erase(GoroutineState* state) {
    --size_;
    const size_t slot = SlotOf(state->id);
    if (state != &slots_[slot]) [[unlikely]]
      return EraseOverflow(state->id);
    state->spans.reset();
    state->id = FreeId(slot);
  }

  // Removes all goroutines.
  void Clear() {
    if (size_ == 0) return;
    if (slot_count() == fewest_slots_) {
      EmptySlots();
    } else {
      MakeSlots(fewest_slots_);
    }
    overflow_ = {};
    crowds_ = {};
    size_ = 0;
  }

  // Calls `see` with the state of each goroutine, in no particular order.
  template <class See>
  void ForEach(const See& see) const {
    for (size_t slot = 0; slot < slot_count(); ++slot) {
      if (!IsFree(slots_[slot])) see(slots_[slot]);
    }
    for (const auto& [id, entry] : overflow_) see(entry);
  }

  size_t size() const { return size_; }

  // The number of slots of the array. For tests.
  size_t slot_count() const { return slot_mask_ + 1; }

 private:
  static constexpr size_t kSlotsPerEntry = 2;  // The minimum; the maximum is twice that.
  static constexpr size_t kCrowds = 64;

  size_t SlotOf(GoId id) const { return static_cast<uint64_t>(id.value) & slot_mask_; }
  static size_t CrowdOf(GoId id) { return static_cast<uint64_t>(id.value) % kCrowds; }

  // The id in a free slot: one that belongs to another slot, so that Find() needs no extra
  // comparison.
  static GoId FreeId(size_t slot) { return GoId{static_cast<int64_t>(~slot)}; }
  bool IsFree(const GoroutineState& state) const {
    return state.id == FreeId(static_cast<size_t>(&state - slots_.get()));
  }

  // Requires that `count` is a power of two.
  void MakeSlots(size_t count) {
    slots_ = std::make_unique<GoroutineState[]>(count);
    slot_mask_ = count - 1;
    for (size_t slot = 0; slot < count; ++slot) slots_[slot].id = FreeId(slot);
  }

  void EmptySlots() {
    for (size_t slot = 0; slot < slot_count(); ++slot) {
      slots_[slot].spans.reset();
      slots_[slot].id = FreeId(slot);
    }
  }

  [[gnu::noinline]] GoroutineState* FindOverflow(GoId id) const {
    const auto it = overflow_.find(id);
    return it == overflow_.end() ? nullptr : &it->second;
  }

  [[gnu::noinline]] GoroutineState* InsertOverflow(GoId id) {
    ++crowds_[CrowdOf(id)];
    GoroutineState* const state = &overflow_[id];
    state->id = id;
    return state;
  }

  [[gnu::noinline]] void EraseOverflow(GoId id) {
    --crowds_[CrowdOf(id)];
    overflow_.erase(id);
  }

  void Move(GoroutineState* from) {
    GoroutineState* const slot = &slots_[SlotOf(from->id)];
    *(IsFree(*slot) ? slot : InsertOverflow(from->id)) = std::move(*from);
  }

  [[gnu::noinline]] void Grow() {
    const std::unique_ptr<GoroutineState[]> slots = std::move(slots_);
    const size_t count = slot_count();
    auto overflow = std::exchange(overflow_, {});
    crowds_ = {};
    MakeSlots(2 * count);
    for (size_t slot = 0; slot < count; ++slot) {
      if (slots[slot].id == FreeId(slot)) continue;
      Move(&slots[slot]);
    }
    for (auto& [id, state] : overflow) Move(&state);
  }

  const size_t fewest_slots_;
  std::unique_ptr<GoroutineState[]> slots_;
  size_t slot_mask_ = 0;
  // Never holds an id that is in its slot.
  mutable absl::node_hash_map<GoId, GoroutineState> overflow_;
  // The number of overflow entries for each value of an id's lowest bits. It shows without hashing
  // that most missing ids are missing.
  std::array<uint64_t, kCrowds> crowds_ = {};
  size_t size_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_GOROUTINE_TABLE_H_
