// What the heap consists of, from the events of the alloc/free experiment.
#ifndef GOTRACE_HEAP_STATS_H_
#define GOTRACE_HEAP_STATS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "gotrace/analysis.h"
#include "gotrace/event.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace {

// Objects on the heap, and their bytes: an object has the size of its slot in the span, which is
// that of its size class, and for a large object that of the span. Tiny objects that share a slot
// count as one object, of the type of the first.
struct HeapAmount {
  uint64_t objects = 0;
  uint64_t bytes = 0;

  friend bool operator==(const HeapAmount&, const HeapAmount&) = default;
};

// What happened to objects in the window. start + allocated - freed = end.
struct HeapChanges {
  // What was there when the window began, including the objects that the trace lists when tracing
  // starts.
  HeapAmount start;
  HeapAmount allocated;
  HeapAmount freed;  // Swept: the object died before the last GC cycle marked.
  HeapAmount end;    // What was there when the window ended, also if it was dead but not swept.

  uint64_t peak_bytes = 0;  // The most that was there at a time.

  friend bool operator==(const HeapChanges&, const HeapChanges&) = default;
};

// The objects of a type.
//
// The age of an object is the number of GC cycles that ended while it was there. An object that
// died at once has age 1 when it is swept. Only objects whose allocation is in the trace have one.
struct HeapType : HeapChanges {
  uint64_t address = 0;              // Of the type in the program; 0 if the trace does not say.
  StringId name = StringId::kEmpty;  // "main.point", "[]int"; "" if the trace does not say.

  // The median and largest age of the objects that were freed in the window. Nothing if none was.
  // A median of more than HeapStats::kMaxAge is given as that.
  std::optional<uint64_t> median_age;
  std::optional<uint64_t> max_age;

  // The objects that outlived a GC cycle: freed in the window with an age of at least 2, or there
  // at its end with an age of at least 1.
  HeapAmount survived;
};

// What the goroutines that started in one function allocated in the window.
struct HeapFunction {
  StringId name = StringId::kEmpty;  // "" if the trace does not say, or for no goroutine.
  uint64_t goroutines = 0;           // How many of them allocated something.
  HeapAmount allocated;
};

// The objects of an age.
struct HeapAge {
  HeapAmount freed;  // In the window, with this age.
  HeapAmount end;    // There at the end of the window, with this age.
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
  HeapChanges changes;  // Here `end` is what was there when the slice ended, and so on.

  // These are as of the end of the slice.
  uint64_t span_bytes = 0;              // Of the spans for objects.
  uint64_t stacks = 0;                  // Of goroutines.
  uint64_t stack_bytes = 0;             // Their size.
  std::optional<uint64_t> heap_metric;  // The last value of "/memory/classes/heap/objects:bytes".
  std::vector<HeapTypeBytes> types;     // With the most bytes, at most HeapStats::kSliceTypes.
  uint64_t cycles = 0;                  // The GC cycles that ended in the slice.
};

// What a span is used for.
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

  // For kSmall and kLarge: the room for objects, and what is used of it. The garbage collector of
  // Go 1.26 and later may keep marks in small spans, in the place of a few slots. For kManual:
  // the stacks of goroutines.
  uint64_t slots = 0;
  HeapAmount used;
};

// Collects what the events of the experiment say, which Go writes since 1.23 if GODEBUG has
// traceallocfree=1: the objects on the heap by type, by allocating function and over time, how old
// they get, and how full the spans are.
//
// Memory is in proportion to the objects, spans, and goroutines that are there at a time, and to
// the number of types and functions. The analysis needs all events from the start of the trace,
// also those before the window, and cannot be merged: what an event frees, and how old that is,
// depends on all events before it.
class HeapStats final : public Analysis {
 public:
  // The largest age that has counts of its own.
  static constexpr uint64_t kMaxAge = 255;

  // How many slices the window is cut into at most, and how many types each names.
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

  // Whether there was any event of the experiment, in the window or before.
  bool has_events() const;

  // Whether the trace lists what was there when tracing started. A flight recording does not,
  // unless it has that moment.
  bool has_start() const;

  // The length of the window in nanoseconds, as far as the trace reaches.
  uint64_t duration() const;

  // The sum over all types.
  const HeapChanges& total() const;

  // The types of which there were objects in the window. In order of names, then of addresses.
  absl::Span<const HeapType> types() const;

  // In order of names.
  absl::Span<const HeapFunction> functions() const;

  // The window in slices of the same length, but for the last; a power of two in microseconds.
  absl::Span<const HeapSlice> slices() const;

  // By age, from 0 on. Those that are older than kMaxAge count for that.
  absl::Span<const HeapAge> ages() const;

  // Small objects with and without pointers by size, then large objects, then other spans.
  absl::Span<const HeapSpanClass> span_classes() const;

  // How many objects are in no span that the trace shows, so that their size counts as 0, and how
  // many were freed that the trace had not shown before. There are some unless has_start(), and
  // where events are missing, or out of order by more than those of Go usually are.
  uint64_t objects_without_span() const;
  uint64_t unknown_frees() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_HEAP_STATS_H_
