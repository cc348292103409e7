// The places of spans, objects and stacks in memory, from the events of the alloc/free experiment.
#ifndef GOTRACE_ANALYSIS_HEAP_HEAP_LAYOUT_H_
#define GOTRACE_ANALYSIS_HEAP_HEAP_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gotrace/event.h"

namespace gotrace::internal {

// The units of the ids of spans, objects and stacks: each id is a number of units after the lowest
// address of the heap.
struct HeapUnits {
  std::optional<uint64_t> lowest = std::nullopt;  // The lowest address, if the trace has it.
  uint64_t page = 8192;
  uint64_t object = 8;
  uint64_t stack = 2048;
};

// A type, as the trace describes it.
struct HeapTypeInfo {
  uint64_t address = 0;
  absl::string_view name;  // Valid as long as the batch.
};

// Reads the batches of the experiment that belong to the generation that `sync` begins: replaces
// `*types` with the types of the generation, by their ids, and `*units` with the units, if the
// batches have any. A broken batch is read up to the damage.
void ReadHeapBatches(const Sync& sync, absl::flat_hash_map<uint64_t, HeapTypeInfo>* types,
                     HeapUnits* units);

// A span. It has slots for objects of one size, or one large object, or none.
struct HeapSpan {
  // Classes 1 to 67 are for small objects.
  static constexpr uint8_t kLarge = 0;
  static constexpr uint8_t kManual = 68;

  uint64_t bytes = 0;
  uint8_t size_class = kManual;
  bool has_pointers = false;

  // Whether the event that removes the previous span in this place is still to come, since events
  // of different threads may be out of order.
  bool owes_free = false;

  // Returns how many objects fit into the span.
  uint64_t Slots() const;

  // Returns the size of a slot; 0 if the span has none.
  uint64_t SlotBytes() const;

  // Returns whether several tiny objects without pointers may share a slot.
  bool HasTinyObjects() const;
};

// The place of an object.
struct HeapSlot {
  const HeapSpan* span = nullptr;  // nullptr if the trace does not show it.
  uint64_t address = 0;            // The address of the slot or, without a span, of the object.
};

// The existing spans.
class HeapLayout {
 public:
  HeapUnits& units() { return units_; }

  // Adds or removes the span of a kSpan, kSpanAlloc or kSpanFree event.
  void AddSpan(const Event& event);
  void RemoveSpan(const Event& event);

  // Returns the slot of the object `id`. The object need not be at the beginning of the slot: it
  // may have a header before it, and tiny objects share a slot.
  HeapSlot FindSlot(uint64_t id) const { return FindSlotAt(id * units_.object); }

  // Returns the slot that contains the address.
  HeapSlot FindSlotAt(uint64_t address) const;

  // Returns the span that the stack `id` begins in, or nullptr.
  const HeapSpan* FindSpanOfStack(uint64_t id) const;

  // Returns the spans by the number of their first page.
  const std::map<uint64_t, HeapSpan>& spans() const { return spans_; }

  // Returns the total size of spans for objects, in bytes.
  uint64_t object_span_bytes() const { return object_span_bytes_; }

 private:
  // Removes the span that begins at the page, and returns whether there was one.
  bool Remove(uint64_t page);

  struct Place {
    const HeapSpan* span = nullptr;  // nullptr if the address is in none.
    uint64_t offset = 0;             // In the span.
  };
  Place Find(uint64_t address) const;

  HeapUnits units_;
  std::map<uint64_t, HeapSpan> spans_;
  uint64_t object_span_bytes_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_HEAP_HEAP_LAYOUT_H_
