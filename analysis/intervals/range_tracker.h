// Ranges of the runtime: mark assists, sweeps, stops of the world and mark phases of the GC, put
// together from the events of their begins and ends, also where a trace is read in parts that are
// merged.
#ifndef GOTRACE_ANALYSIS_INTERVALS_RANGE_TRACKER_H_
#define GOTRACE_ANALYSIS_INTERVALS_RANGE_TRACKER_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/state_tracker.h"

namespace gotrace::internal {

// If the begin is not in the trace, the range is clipped: it begins with the generation that first
// states it, or where it ends if none does. If the end is not in the trace, it ends with the trace.
struct RuntimeRange : Interval {
  EventType type = EventType::kNone;   // Of the event that begins such ranges: kGCSweepBegin.
  absl::string_view what;              // "GC mark assist", "stop-the-world". Static lifetime.
  StringId name = StringId::kEmpty;    // The same with the reason: Interner::InternRange().
  StringId reason = StringId::kEmpty;  // Of a stop of the world.
  ResourceId scope;                    // The goroutine or P that is in the range, if one is.

  // Whose time it is: the goroutine of the scope, or the one that the P ran when the range began.
  GoId goroutine = GoId::kNone;

  // Where it began; kNone if unknown.
  ProcId proc = ProcId::kNone;
  ThreadId thread = ThreadId::kNone;
  StackId stack = StackId::kNone;

  // Of a sweep that has ended.
  uint64_t swept_bytes = 0;
  uint64_t reclaimed_bytes = 0;

  // Whether nothing but its end is known.
  bool HasOnlyEnd() const { return begin_clipped && begin == end; }
};

// One goroutine or P is in one range of a type at a time, but for stops of the world with different
// reasons. Where another one begins, the end of the one before is missing, and that is not given.
class RangeTracker {
 public:
  // How a range is given that crosses from one part of a trace to the next.
  enum class Crossing : uint8_t {
    // Once. A range that may have begun before this part is held back until Merge() or Finish(). If
    // the trace has only its end, it is not given.
    kWhole,
    // In one piece for each part that states it, as soon as that is known. If a part has only the
    // end, that is an empty piece.
    kPieces,
  };

  // The details of ranges besides times and names. Stacks take most of the time.
  enum class Details : uint8_t { kNone, kReasonAndStack };

  using Take = std::function<void(const RuntimeRange& range)>;

  // Gives the ranges that begin with events of the types `begins` to `take`, in order of their ends
  // but for those that are held back. `interner` must outlive this object, or is nullptr: then
  // ranges have no names, reasons and stacks.
  RangeTracker(Interner* interner, Crossing crossing, absl::Span<const EventType> begins, Take take,
               Details details = Details::kReasonAndStack);

  // Takes any event. Returns the range that it begins, or that it is the first to state; otherwise
  // nullptr. Valid until the next call of a function that is not const.
  const RuntimeRange* Add(const Event& event) {
    const EventKind kind = event.kind();
    if (kind == EventKind::kSync || !generation_begin_.has_value()) {
      generation_begin_ = event.time();
      if (kind == EventKind::kSync) ++generations_;
    }
    const bool is_range = kind == EventKind::kRangeBegin || kind == EventKind::kRangeActive ||
                          kind == EventKind::kRangeEnd;
    return is_range ? AddRange(event) : nullptr;
  }

  // When the generation of the last event began. Requires an event.
  int64_t generation_begin() const { return *generation_begin_; }

  // Appends the ranges of `next`, which took the part of the trace that follows.
  void Merge(RangeTracker& next, const InternerMap& ids);

  // Ends what is open, and gives what was held back. `end` is the end of the trace.
  void Finish(int64_t end);

  // Calls `use` with each open range that is the goroutine's time.
  template <class Use>
  void ForEachOpen(GoId goroutine, const Use& use) const {
    constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
    auto open = by_goroutine_.lower_bound({goroutine, {ResourceKind::kNone, kFirst, {}, {}}});
    for (; open != by_goroutine_.end() && open->first == goroutine; ++open) {
      use(open_.at(open->second).range);
    }
  }

 private:
  // The scope, the type of the begin, and the name of a range. No two that are open have the same.
  using Key = std::tuple<ResourceKind, int64_t, EventType, StringId>;

  struct Open {
    RuntimeRange range;
    bool is_older = false;  // It may have begun before this part of the trace.
  };
  using OpenRanges = absl::flat_hash_map<Key, Open>;

  // What this part of the trace says first of a range that may have been open before.
  struct First {
    enum Kind : uint8_t { kStated, kEnded, kLost };

    Kind kind = kLost;   // kLost if the end is missing: another one begins.
    int64_t time = 0;    // Since when it is stated, or when it ended.
    uint64_t place = 0;  // In the order of the events.
  };

  static Key MapIds(const InternerMap& ids, Key key);
  static void MapIds(const InternerMap& ids, RuntimeRange* range);

  const RuntimeRange* AddRange(const Event& event);

  // Returns whether this part says nothing of the range before.
  bool IsFirst(const Key& key, First::Kind kind, int64_t time) {
    return firsts_.try_emplace(key, First{kind, time, firsts_.size()}).second;
  }

  // The open range that an event of `key` is about, or open_.end().
  OpenRanges::iterator Find(const Key& key, bool is_end);

  const RuntimeRange* Begin(const Key& key, Open open);
  Open Remove(OpenRanges::iterator open);
  void Lose(OpenRanges::iterator open);
  void End(OpenRanges::iterator open, int64_t end);

  // Gives a range that has ended, or holds it back.
  void Give(const Key& key, const RuntimeRange& range, bool is_older);

  Interner* const interner_;
  const Crossing crossing_;
  const Details details_;
  uint64_t begins_ = 0;  // A bit for each type.
  const Take take_;

  OpenRanges open_;
  std::set<std::pair<GoId, Key>> by_goroutine_;  // Those of `open_`.

  absl::flat_hash_map<Key, First> firsts_;
  // Those that are held back. Sorted, so that they are given in the same order on every machine.
  std::map<Key, RuntimeRange> held_;

  std::optional<int64_t> generation_begin_;  // The first event's time before the first kSync event.
  uint64_t generations_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_RANGE_TRACKER_H_
