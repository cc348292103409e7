// The time that goroutines spend in ranges of the runtime, such as mark assists and sweeps, for
// analyses that are merged from parts of a trace.
#ifndef GOTRACE_ANALYSIS_GOROUTINE_RANGES_H_
#define GOTRACE_ANALYSIS_GOROUTINE_RANGES_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

// The time of a goroutine's range is its own. The time of a P's range belongs to the goroutine that
// the P ran when the range began. A range that crosses from one part of a trace to the next is
// passed on in two pieces, one by each part, provided that the first generation of the later part
// states the range.
class GoroutineRanges {
 public:
  // Receives a time of a goroutine in a range.
  using Take = std::function<void(GoId goroutine, StringId name, int64_t begin, int64_t end)>;

  // `*interner` must outlive this object.
  GoroutineRanges(Interner* interner, Take take) : interner_(*interner), take_(std::move(take)) {}

  // Adds any event.
  void Add(const Event& event);

  // Appends the ranges of `next`, which received the following part of the trace.
  void Merge(const GoroutineRanges& next, const InternerMap& ids);

  // Ends all open ranges. `end` is the end of the trace.
  void Finish(int64_t end);

  // Calls `see(name, begin)` for each range that the goroutine is in, in any order.
  template <class See>
  void ForEachOpen(GoId goroutine, const See& see) const {
    const auto found = keys_.find(goroutine);
    if (found == keys_.end()) return;
    for (const Key& key : found->second) see(key.name, open_.at(key).time);
  }

 private:
  // The owner and the name of a range.
  struct Key {
    ResourceKind kind = ResourceKind::kNone;
    int64_t id = -1;
    StringId name = StringId::kEmpty;

    friend bool operator==(const Key&, const Key&) = default;

    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.kind, key.id, key.name);
    }
  };

  // The begin or end of a range, and the goroutine to which the time belongs.
  struct Point {
    int64_t time = 0;
    GoId goroutine;
  };
  using Points = absl::flat_hash_map<Key, Point>;

  static Points MapIds(const InternerMap& ids, const Points& points);

  void AddRange(const Event& event);
  void Begin(const Key& key, const Point& begin);

  // Both require that the range is open. Remove() returns its begin.
  Point Remove(const Key& key);
  void End(const Key& key, int64_t end);

  Interner& interner_;
  const Take take_;
  Points open_;
  absl::flat_hash_map<GoId, absl::flat_hash_set<Key>> keys_;  // The keys of `open_`, by goroutine.

  // For ranges that were open before the first event: the time when the first generation began if
  // it states the range, and otherwise the time when the range ended.
  Points continued_;
  Points ended_;
  int64_t generation_begin_ = 0;
  bool is_first_generation_ = true;
  bool has_events_ = false;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_GOROUTINE_RANGES_H_
