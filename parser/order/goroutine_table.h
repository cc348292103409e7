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

// Holds states in an array, by the lowest bits of the ids; one whose place is taken goes into a
// hash map. As in a DenseTable, those that live long keep their places, and of the many that come
// and go few meet one. But here the states themselves stand in the array, since each event finds
// one: so their addresses are good only until the next Insert().
class GoroutineTable {
 public:
  // Begins with `fewest_slots`, a power of two and not 1, and goes back to as many at Clear().
  explicit GoroutineTable(size_t fewest_slots = kSlotsForGoroutines) : fewest_slots_(fewest_slots) {
    MakeSlots(fewest_slots);
  }

  // The state of `id`, or nullptr.
  GoroutineState* Find(GoId id) const {
    GoroutineState* const state = &slots_[SlotOf(id)];
    if (state->id == id) [[likely]]
      return state;
    return crowds_[CrowdOf(id)] == 0 ? nullptr : FindOverflow(id);
  }

  // Adds a goroutine, of which nothing but the id is known. Requires that there is none with that
  // id.
  GoroutineState* Insert(GoId id) {
    if (slot_count() < kSlotsPerEntry * ++size_) [[unlikely]]
      Grow();
    GoroutineState* const state = &slots_[SlotOf(id)];
    if (!IsFree(*state)) [[unlikely]]
      return InsertOverflow(id);
    // What was erased left no more behind than these, and its spans are gone.
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

  // Takes out a goroutine of this table, and what is open on it.
  void Erase(GoroutineState* state) {
    --size_;
    const size_t slot = SlotOf(state->id);
    if (state != &slots_[slot]) [[unlikely]]
      return EraseOverflow(state->id);
    state->spans.reset();
    state->id = FreeId(slot);
  }

  // Takes out all of them.
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

  // Calls `see` with the state of each goroutine, in no order.
  template <class See>
  void ForEach(const See& see) const {
    for (size_t slot = 0; slot < slot_count(); ++slot) {
      if (!IsFree(slots_[slot])) see(slots_[slot]);
    }
    for (const auto& [id, entry] : overflow_) see(entry);
  }

  size_t size() const { return size_; }

  // How many there is room for without a hash map. For tests.
  size_t slot_count() const { return slot_mask_ + 1; }

 private:
  static constexpr size_t kSlotsPerEntry = 2;  // At least; at most twice as many.
  static constexpr size_t kCrowds = 64;

  size_t SlotOf(GoId id) const { return static_cast<uint64_t>(id.value) & slot_mask_; }
  static size_t CrowdOf(GoId id) { return static_cast<uint64_t>(id.value) % kCrowds; }

  // What stands in a slot that holds nothing: an id whose slot is another one, so that looking for
  // an id asks nothing else.
  static GoId FreeId(size_t slot) { return GoId{static_cast<int64_t>(~slot)}; }
  bool IsFree(const GoroutineState& state) const {
    return state.id == FreeId(static_cast<size_t>(&state - slots_.get()));
  }

  // Requires a power of two.
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
  // Never has an id that stands in its slot.
  mutable absl::node_hash_map<GoId, GoroutineState> overflow_;
  // How many of those there are for each value of an id's lowest bits, so that what is nowhere is
  // mostly found to be so without hashing.
  std::array<uint64_t, kCrowds> crowds_ = {};
  size_t size_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_GOROUTINE_TABLE_H_
