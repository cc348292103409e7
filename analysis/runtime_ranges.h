// Combines the events that begin and end mark assists and stops of the world into ranges, for
// analyses that are merged from parts of a trace.
#ifndef GOTRACE_ANALYSIS_RUNTIME_RANGES_H_
#define GOTRACE_ANALYSIS_RUNTIME_RANGES_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// A range that a goroutine was in.
struct RuntimeRange : Interval {
  absl::string_view what;              // "GC mark assist", "stop-the-world". Static lifetime.
  StringId reason = StringId::kEmpty;  // For a stop of the world.
  GoId goroutine = GoId::kNone;
  StackId stack = StackId::kNone;  // Where it began; kNone if unknown.
};

// A range that was open when the first generation began is held back, since it may have begun in an
// earlier part of the trace.
class RuntimeRanges {
 public:
  using Take = std::function<void(const RuntimeRange& range)>;

  // Passes ranges to `take`, in order of their ends, except those that were held back. `*interner`
  // must outlive this object.
  RuntimeRanges(Interner* interner, Take take) : interner_(*interner), take_(std::move(take)) {}

  // Adds a kSync event, or an event of a range that a goroutine begins and ends.
  void Add(const Event& event);

  // Appends the ranges of `next`, which received the following part of the trace.
  void Merge(RuntimeRanges& next, const InternerMap& ids);

  // Ends all open ranges, and passes on the ranges that were held back. `end` is the end of the
  // trace.
  void Finish(int64_t end);

 private:
  struct Key {
    GoId goroutine;
    absl::string_view what;

    friend bool operator==(const Key&, const Key&) = default;

    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.goroutine, key.what);
    }
  };

  // A range with `is_older` was open when the first generation began.
  struct Entry {
    RuntimeRange range;
    bool is_older = false;
  };
  using Entries = absl::flat_hash_map<Key, Entry>;

  void End(Entry entry, int64_t end);

  Interner& interner_;
  const Take take_;
  Entries open_;
  Entries ended_;  // The older ranges that ended. They are empty unless this part has their begin.
  int64_t generation_begin_ = 0;
  bool is_first_generation_ = true;
  bool has_events_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_RUNTIME_RANGES_H_
