#include "gotrace/wait_stats.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/recent_states.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/intervals/sums_by_start.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::RecentStates;
using internal::StackPlace;

namespace {

// Other threads run within this time, so a call that waits for input for longer is idle, rather
// than slow.
constexpr uint64_t kIdleCall = 10'000'000;

// Waits with one key.
struct Waits {
  Histogram durations;
  uint64_t clipped = 0;
  std::array<GoId, WaitGroup::kGoroutines> goroutines = WaitGroup().goroutines;
};

// Adds a goroutine to the ids in increasing order, of which only the smallest are kept.
void AddGoroutineTo(GoId id, std::array<GoId, WaitGroup::kGoroutines>* ids) {
  for (GoId& kept : *ids) {
    if (kept == id) return;
    if (kept == GoId::kNone || id < kept) std::swap(kept, id);
    if (id == GoId::kNone) return;
  }
}

// For SumsByStart.
struct WaitTraits {
  using Key = WaitKey;
  using Value = Waits;

  static WaitKey MapIds(const InternerMap& ids, WaitKey key) {
    for (StringId* const id : {&key.reason, &key.start, &key.place.function, &key.place.file,
                               &key.place.library, &key.call, &key.waker, &key.release}) {
      *id = ids(*id);
    }
    return key;
  }
  static void AddTo(const GoInterval& interval, Waits* sum) {
    sum->durations.Add(interval.Seen().duration());
    sum->clipped += interval.begin_clipped || interval.end_clipped ? 1 : 0;
    AddGoroutineTo(interval.goroutine, &sum->goroutines);
  }
  static void AddTo(const Waits& value, Waits* sum) {
    sum->durations.Merge(value.durations);
    sum->clipped += value.clipped;
    for (const GoId id : value.goroutines) {
      if (id != GoId::kNone) AddGoroutineTo(id, &sum->goroutines);
    }
  }
};

// A piece of a path: where the goroutine waits that the path belongs to, and what one on the path
// does. The names follow from these.
struct PieceKey {
  StackId wait = StackId::kNone;
  StringId wait_reason = StringId::kEmpty;
  StackId stack = StackId::kNone;
  StringId reason = StringId::kEmpty;
  GoState state = GoState::kUndetermined;

  friend bool operator==(const PieceKey&, const PieceKey&) = default;

  template <class H>
  friend H AbslHashValue(H h, const PieceKey& key) {
    return H::combine(std::move(h), key.wait, key.wait_reason, key.stack, key.reason, key.state);
  }
};

struct PieceSum {
  uint64_t count = 0;
  int64_t time = 0;

  void Add(uint64_t more, int64_t more_time) {
    count += more;
    AddTime(more_time, &time);
  }
};

}  // namespace

absl::string_view WaitObjectName(WaitObject object) {
  constexpr absl::string_view kNames[] = {"other",     "mutex", "rwmutex", "cond",
                                          "waitgroup", "chan",  "select"};
  return kNames[static_cast<size_t>(object)];
}

class WaitStats::Impl {
 public:
  Impl(Interner* interner, Options options)
      : interner_(*interner),
        options_(std::move(options)),
        places_(interner),
        sums_(interner, options_.start),
        recent_(interner) {}

  void Begin(int64_t trace_start, EventFilter::Times window) {
    options_.filter = options_.filter.Within(trace_start, window);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish();

  absl::Span<const WaitGroup> groups() const { return groups_; }
  absl::Span<const WaitHolder> holders() const { return holders_; }

 private:
  bool IsFollowed(const RecentStates::Wait& wait);
  void FinishGroups();
  void FinishHolders();
  WaitKey KeyOf(const GoInterval& interval);
  void SetEnd(const GoInterval& interval, const StackPlace& place, WaitKey* key);
  WaitObject ObjectOf(StringId reason, const StackPlace& place) const;

  Interner& interner_;
  Options options_;
  internal::StackPlaces places_;
  internal::SumsByStart<WaitTraits> sums_;
  RecentStates recent_;
  absl::flat_hash_map<PieceKey, PieceSum> pieces_;
  std::vector<WaitGroup> groups_;
  std::vector<WaitHolder> holders_;
};

void WaitStats::Impl::AddEvents(absl::Span<const Event> events) {
  sums_.AddEvents(events);
  if (absl::c_count(options_.holders, true) == 0) return;
  for (const Event& event : events) {
    const std::optional<RecentStates::Wait> wait = recent_.Add(event);
    if (!wait.has_value() || !IsFollowed(*wait)) continue;
    recent_.Walk(*wait, options_.filter.times.from, [&](const RecentStates::Piece& piece) {
      pieces_[{wait->stack, wait->reason, piece.stack, piece.reason, piece.state}].Add(
          1, Between(piece.begin, piece.end));
    });
  }
}

bool WaitStats::Impl::IsFollowed(const RecentStates::Wait& wait) {
  const EventFilter::Times& times = options_.filter.times;
  if (!options_.filter.Selects(wait.goroutine) || !(times.from < wait.end && wait.end <= times.to))
    return false;
  const StackPlace& place = places_.Of(wait.stack);
  return !place.is_system && sums_.IsSelected(place.root) &&
         options_.holders[static_cast<size_t>(ObjectOf(wait.reason, place))];
}

void WaitStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  sums_.Merge(next.sums_, ids);
  for (const auto& [key, sum] : next.pieces_) {
    pieces_[{ids(key.wait), ids(key.wait_reason), ids(key.stack), ids(key.reason), key.state}].Add(
        sum.count, sum.time);
  }
}

void WaitStats::Impl::AddGoroutine(const GoInterval& interval) {
  if (!options_.filter.Selects(interval.goroutine)) return;
  auto& entry = sums_.Begin(interval);
  if (interval.state == GoState::kWaiting || interval.state == GoState::kSyscall) {
    sums_.Add(KeyOf(interval), interval, &entry);
  }
  sums_.End(interval, entry);
}

WaitKey WaitStats::Impl::KeyOf(const GoInterval& interval) {
  const StackPlace place = places_.Of(interval.stack);
  WaitKey key;
  key.state = interval.state;
  key.place = place.place;
  key.is_system = place.is_system;
  if (interval.state == GoState::kSyscall) {
    key.end = interval.end_clipped ? WaitEnd::kOpen : WaitEnd::kUnknown;
    key.awaits_input = place.awaits_input && interval.Seen().duration() >= kIdleCall;
    return key;
  }
  key.reason = interval.reason;
  key.object = ObjectOf(interval.reason, place);
  if (key.object == place.object) key.call = place.call;
  SetEnd(interval, place, &key);
  return key;
}

// What only the stack says holds for reason "sync", and for waits that began before the trace,
// which have no reason. The runtime's own semaphores have the same reason, and another stack.
WaitObject WaitStats::Impl::ObjectOf(StringId wait_reason, const StackPlace& place) const {
  const absl::string_view reason = interner_.String(wait_reason);
  if (reason.empty() || reason == "sync") return place.object;
  if (reason == "sync.(*Cond).Wait") return WaitObject::kCond;
  if (reason == "chan send" || reason == "chan receive") return WaitObject::kChannel;
  if (reason == "select") return WaitObject::kSelect;
  return WaitObject::kOther;
}

void WaitStats::Impl::SetEnd(const GoInterval& interval, const StackPlace& place, WaitKey* key) {
  if (interval.end_clipped) return;
  switch (interval.ended_by.kind) {
    case CauseKind::kTimer:
      key->end = WaitEnd::kTimer;
      return;
    case CauseKind::kNetwork:
      key->end = WaitEnd::kNetwork;
      return;
    case CauseKind::kGc:
      key->end = WaitEnd::kRuntime;
      return;
    case CauseKind::kGoroutine:
      break;
    case CauseKind::kUnknown:
    case CauseKind::kItself:
    case CauseKind::kScheduler:
    case CauseKind::kSyscall:
      key->end = WaitEnd::kUnknown;
      return;
  }
  const StackPlace& waker = places_.Of(interval.ended_by.stack);
  if (waker.is_system) {
    key->end = WaitEnd::kRuntime;
  } else if (waker.is_deadline) {
    key->end = WaitEnd::kDeadline;
  } else {
    const bool is_peer = waker.root != StringId::kEmpty && waker.root == place.root &&
                         interval.ended_by.goroutine != interval.goroutine;
    key->end = is_peer ? WaitEnd::kPeer : WaitEnd::kGoroutine;
    key->waker = waker.place.function;
    if (absl::StartsWith(interner_.String(waker.place.library), "sync.")) {
      key->release = waker.place.library;
    }
  }
}

void WaitStats::Impl::Finish() {
  sums_.Finish();
  FinishGroups();
  FinishHolders();
}

void WaitStats::Impl::FinishGroups() {
  // A goroutine without a stack, such as one that waited before the trace began, belongs to the
  // runtime if its other stacks say so.
  absl::flat_hash_map<WaitKey, Waits> sums;
  for (const auto& [key, value] : sums_.sums()) {
    WaitKey complete = key;
    complete.is_system |= internal::IsOfSystem(interner_.String(key.start));
    WaitTraits::AddTo(value, &sums[complete]);
  }
  for (auto& [key, sum] : sums) {
    groups_.push_back({key, std::move(sum.durations), sum.clipped, sum.goroutines});
  }
  absl::c_sort(groups_, [&](const WaitGroup& a, const WaitGroup& b) {
    if (a.durations.sum() != b.durations.sum()) return a.durations.sum() > b.durations.sum();
    const auto rest = [&](const WaitKey& key) {
      const auto text = [&](StringId id) { return interner_.String(id); };
      return std::tuple(key.state, text(key.reason), text(key.start), text(key.place.function),
                        text(key.place.file), key.place.line, text(key.place.library), key.object,
                        text(key.call), key.end, text(key.waker), text(key.release), key.is_system,
                        key.awaits_input);
    };
    return rest(a.key) < rest(b.key);
  });
}

void WaitStats::Impl::FinishHolders() {
  using Key = std::tuple<WaitObject, StringId, StringId, WaitPlace, StringId, StringId, GoState,
                         StringId, StringId>;
  absl::flat_hash_map<Key, WaitHolder> sums;
  for (const auto& [key, sum] : pieces_) {
    const StackPlace wait = places_.Of(key.wait);
    const StackPlace& on_path = places_.Of(key.stack);
    WaitHolder one;
    one.object = ObjectOf(key.wait_reason, wait);
    if (one.object == WaitObject::kChannel) one.reason = key.wait_reason;
    one.start = wait.root;
    one.place = wait.place;
    one.holder_start = on_path.root;
    one.holder = on_path.outermost == StringId::kEmpty ? on_path.root : on_path.outermost;
    one.state = key.state;
    one.doing = key.reason;
    one.function = on_path.place.function;
    WaitHolder& holder = sums[Key(one.object, one.reason, one.start, one.place, one.holder,
                                  one.holder_start, one.state, one.doing, one.function)];
    one.count = holder.count + sum.count;
    one.time = holder.time;
    AddTime(sum.time, &one.time);
    holder = one;
  }
  for (const auto& [key, sum] : sums) holders_.push_back(sum);
  absl::c_sort(holders_, [&](const WaitHolder& a, const WaitHolder& b) {
    if (a.time != b.time) return a.time > b.time;
    const auto rest = [&](const WaitHolder& one) {
      const auto text = [&](StringId id) { return interner_.String(id); };
      return std::tuple(one.object, text(one.reason), text(one.start), text(one.place.function),
                        text(one.place.file), one.place.line, text(one.place.library),
                        text(one.holder), text(one.holder_start), one.state, text(one.doing),
                        text(one.function));
    };
    return rest(a) < rest(b);
  });
}

WaitStats::WaitStats(Interner* interner, Options options)
    : impl_(std::make_unique<Impl>(interner, std::move(options))) {}
WaitStats::~WaitStats() = default;

void WaitStats::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void WaitStats::AddEvents(absl::Span<const Event> events) { impl_->AddEvents(events); }
void WaitStats::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void WaitStats::Merge(WaitStats&& next, const InternerMap& ids) { impl_->Merge(*next.impl_, ids); }
void WaitStats::Finish(int64_t /*end*/) { impl_->Finish(); }

absl::Span<const WaitGroup> WaitStats::groups() const { return impl_->groups(); }
absl::Span<const WaitHolder> WaitStats::holders() const { return impl_->holders(); }

}  // namespace gotrace
