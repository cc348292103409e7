// The contents of the heap, from the events of the alloc/free experiment.
#ifndef GOTRACE_HEAP_STATS_H_
#define GOTRACE_HEAP_STATS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// Objects on the heap, and their bytes. The size of an object is the size of its slot, which is
// that of its size class or, for a large object, of its span. Tiny objects that share a slot count
// as one object, which has the type of the first.
struct HeapAmount {
  uint64_t objects = 0;
  uint64_t bytes = 0;

  friend bool operator==(const HeapAmount&, const HeapAmount&) = default;
};

// The allocations and frees in the window. start + allocated - freed = end.
struct HeapChanges {
  // The objects at the beginning of the window, including the objects that the trace lists when
  // tracing starts.
  HeapAmount start;
  HeapAmount allocated;
  HeapAmount freed;  // Swept: the object died before the last GC cycle marked.
  HeapAmount end;    // The objects at the end of the window, including dead ones not yet swept.

  uint64_t peak_bytes = 0;  // The maximum at any time.

  friend bool operator==(const HeapChanges&, const HeapChanges&) = default;
};

// The objects of a type.
//
// The age of an object is the number of GC cycles that ended since its allocation. An object that
// died at once has age 1 when it is swept. Only objects whose allocation is in the trace have an
// age.
struct HeapType : HeapChanges {
  uint64_t address = 0;              // Of the type in the program; 0 if the trace does not say.
  StringId name = StringId::kEmpty;  // "main.point", "[]int"; "" if the trace does not say.

  // The median and largest age of the objects that were freed in the window. nullopt if there were
  // none. A median above HeapStats::kMaxAge is given as kMaxAge.
  std::optional<uint64_t> median_age;
  std::optional<uint64_t> max_age;

  // The objects that outlived a GC cycle: freed in the window with an age of at least 2, or
  // existing at its end with an age of at least 1.
  HeapAmount survived;
};

// The allocations of the goroutines that started in one function, in the window.
struct HeapFunction {
  StringId name = StringId::kEmpty;  // "" if unknown, or for allocations outside of goroutines.
  uint64_t goroutines = 0;           // How many of them allocated something.
  HeapAmount allocated;
};

// The objects of an age.
struct HeapAge {
  HeapAmount freed;  // In the window, with this age.
  HeapAmount end;    // Existing at the end of the window, with this age.
};

// The bytes of a type's objects at a time.
struct HeapTypeBytes {
  uint64_t address = 0;
  StringId name = StringId::kEmpty;
  uint64_t bytes = 0;
};

// A part of the window.
struct HeapSlice {
  int64_t begin = 0;
  int64_t end = 0;
  HeapChanges changes;  // Of the slice, not the window.

  // The values at the end of the slice, except `cycles`.
  uint64_t span_bytes = 0;              // Of the spans for objects.
  uint64_t stacks = 0;                  // Of goroutines.
  uint64_t stack_bytes = 0;             // Their size.
  std::optional<uint64_t> heap_metric;  // The last value of "/memory/classes/heap/objects:bytes".
  std::vector<HeapTypeBytes> types;     // The largest, at most HeapStats::kSliceTypes.
  uint64_t cycles = 0;                  // The GC cycles that ended in the slice.
};

// The use of a span.
enum class HeapSpanUse : uint8_t {
  kSmall,   // Objects of one size class.
  kLarge,   // One large object.
  kManual,  // Not objects: stacks of goroutines, and memory of the runtime itself.
};

// The spans of one size class at the end of the window.
struct HeapSpanClass {
  HeapSpanUse use = HeapSpanUse::kSmall;
  uint64_t slot_bytes = 0;    // The size of an object; 0 unless `use` is kSmall.
  bool has_pointers = false;  // Whether the objects may have pointers.
  uint64_t spans = 0;
  uint64_t bytes = 0;  // Of the spans.

  // For kSmall and kLarge: the number of slots for objects, and the objects in them. The garbage
  // collector of Go 1.26 and later may use a few slots of small spans for marks. For kManual: the
  // stacks of goroutines.
  uint64_t slots = 0;
  HeapAmount used;
};

// Collects the objects on the heap by type, by allocating function and over time, how old they get,
// and how full the spans are. Go writes the events for this since 1.23 if GODEBUG has
// traceallocfree=1.
//
// Memory is in proportion to the objects, spans and goroutines that exist at a time, and to the
// number of types and functions. The analysis needs all events from the start of the trace, even
// before the window, and cannot be merged: which object an event frees, and its age, depends on all
// events before it.
class HeapStats final : public Analysis {
 public:
  // The largest age that is counted separately.
  static constexpr uint64_t kMaxAge = 255;

  // The maximum number of slices of the window, and of types that each lists.
  static constexpr size_t kMaxSlices = 40;
  static constexpr size_t kSliceTypes = 10;

  // `*interner` must outlive this object.
  HeapStats(Interner* interner, EventFilter::Times window);
  ~HeapStats() override;

  void Begin(int64_t trace_start, EventFilter::Times window) override;
  void AddEvents(absl::Span<const Event> events) override;
  void AddGoroutine(const GoInterval& interval) override;
  void Finish(int64_t end) override;

  // The results, after Finish().

  // Returns whether there was any event of the experiment, in the window or before.
  bool has_events() const;

  // Returns whether the trace lists the objects that existed when tracing started. A flight
  // recording does so only if it includes that moment.
  bool has_start() const;

  // Returns the length of the part of the window that is in the trace, in nanoseconds.
  uint64_t duration() const;

  // Returns the sum over all types.
  const HeapChanges& total() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the types that had objects in the window, in order of names, then of addresses.
  absl::Span<const HeapType> types() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the functions in order of names.
  absl::Span<const HeapFunction> functions() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the window in slices, in order of time. All but the last have the same length, a power
  // of two in microseconds.
  absl::Span<const HeapSlice> slices() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the amounts by age, from 0 on. Objects older than kMaxAge are counted at kMaxAge.
  absl::Span<const HeapAge> ages() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the classes of spans: for small objects with and without pointers by size, then for
  // large objects, then other spans.
  absl::Span<const HeapSpanClass> span_classes() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Return the number of objects outside of every span in the trace, whose size counts as 0, and
  // the number of frees of objects that the trace had not shown before. Both occur without
  // has_start(), and where events are missing, or more out of order than usual for Go.
  uint64_t objects_without_span() const;
  uint64_t unknown_frees() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_HEAP_STATS_H_
