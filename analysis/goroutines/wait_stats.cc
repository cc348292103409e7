#include "gotrace/wait_stats.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "analysis/goroutines/asked_waits.h"
#include "analysis/goroutines/holder_sums.h"
#include "analysis/intervals/recent_states.h"
#include "analysis/intervals/runtime_functions.h"
#include "analysis/intervals/selected_stacks.h"
#include "analysis/intervals/stack_places.h"
#include "analysis/intervals/sums_by_start.h"

namespace gotrace {

using internal::StackPlace;

namespace {

// Other threads run within this time, so a call that waits for input for longer is idle, rather
// than slow.
constexpr uint64_t kIdleCall = 10'000'000;

// Waits with one key.
struct Waits {
  Histogram durations;
  uint64_t clipped = 0;
  uint64_t asked = 0;
  uint64_t sends = 0;
  std::array<GoId, WaitGroup::kGoroutines> goroutines = WaitGroup().goroutines;
};

// A wait, and whether it counts for WaitGroup::asked and WaitGroup::sends.
struct CountedWait {
  const GoInterval& interval;
  bool is_asked = false;
  bool sends = false;
};

// Adds a goroutine to the ids in increasing order, of which only the smallest are kept.
void AddGoroutineTo(GoId id, std::array<GoId, WaitGroup::kGoroutines>* ids) {
  for (GoId& kept : *ids) {
    if (kept == id) return;
    if (kept == GoId::kNone || id < kept) std::swap(kept, id);
    if (id == GoId::kNone) return;
  }
}

// Whether a wait with this end counts for WaitGroup::asked.
bool IsAsked(WaitEnd end, internal::AskedWaits::Answer answer) {
  using Answer = internal::AskedWaits::Answer;
  const bool is_timeout = end == WaitEnd::kTimer || end == WaitEnd::kDeadline;
  return answer == Answer::kGiven || (is_timeout && answer == Answer::kAwaited);
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
  static void AddTo(const CountedWait& wait, Waits* sum) {
    const GoInterval& interval = wait.interval;
    sum->durations.Add(interval.Seen().duration());
    sum->asked += wait.is_asked ? 1 : 0;
    sum->sends += wait.sends ? 1 : 0;
    sum->clipped += interval.begin_clipped || interval.end_clipped ? 1 : 0;
    AddGoroutineTo(interval.goroutine, &sum->goroutines);
  }
  static void AddTo(const Waits& value, Waits* sum) {
    sum->durations.Merge(value.durations);
    sum->clipped += value.clipped;
    sum->asked += value.asked;
    sum->sends += value.sends;
    for (const GoId id : value.goroutines) {
      if (id != GoId::kNone) AddGoroutineTo(id, &sum->goroutines);
    }
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
        stacks_(interner, options_.filter.stacks),
        sums_(interner, options_.start),
        asked_(interner),
        has_holders_(absl::c_count(options_.holders, true) > 0),
        recent_(interner),
        holder_sums_(interner, {.objects = options_.holders,
                                .start = options_.start,
                                .stacks = options_.filter.stacks}) {
    holder_sums_.SetFilter(options_.filter);
  }

  void Begin(int64_t trace_start, EventFilter::Times window) {
    options_.filter = options_.filter.Within(trace_start, window);
    holder_sums_.SetFilter(options_.filter);
  }
  void AddEvents(absl::Span<const Event> events);
  void AddGoroutine(const GoInterval& interval);
  void Merge(Impl& next, const InternerMap& ids);
  void Finish();

  absl::Span<const WaitGroup> groups() const { return groups_; }
  absl::Span<const WaitHolder> holders() const { return holders_; }
  absl::Span<const WaitTask> tasks() const { return tasks_; }

 private:
  void FinishGroups();
  WaitKey KeyOf(const GoInterval& interval);
  void SetEnd(const GoInterval& interval, const StackPlace& place, WaitKey* key);

  Interner& interner_;
  Options options_;
  internal::StackPlaces places_;
  internal::SelectedStacks stacks_;
  internal::SumsByStart<WaitTraits> sums_;
  internal::AskedWaits asked_;
  bool has_holders_;
  internal::RecentStates recent_;
  internal::HolderSums holder_sums_;
  std::vector<WaitGroup> groups_;
  std::vector<WaitHolder> holders_;
  std::vector<WaitTask> tasks_;
};

void WaitStats::Impl::AddEvents(absl::Span<const Event> events) {
  sums_.AddEvents(events);
  asked_.AddEvents(events);
  if (!has_holders_) return;
  for (const Event& event : events) holder_sums_.Add(event, &recent_);
}

void WaitStats::Impl::Merge(Impl& next, const InternerMap& ids) {
  sums_.Merge(next.sums_, ids);
  asked_.Merge(next.asked_, ids);
  holder_sums_.Merge(next.holder_sums_, recent_.Merge(next.recent_, ids));
}

void WaitStats::Impl::AddGoroutine(const GoInterval& interval) {
  const internal::AskedWaits::Answer answer = asked_.Add(interval);
  if (!options_.filter.Selects(interval.goroutine)) return;
  auto& entry = sums_.Begin(interval);
  const bool is_wait = interval.state == GoState::kWaiting || interval.state == GoState::kSyscall;
  if (is_wait && stacks_.Has(interval.stack)) {
    const WaitKey key = KeyOf(interval);
    const bool sends =
        key.object == WaitObject::kSelect && places_.Of(interval.ended_by.stack).receives;
    sums_.Add(key, CountedWait{interval, IsAsked(key.end, answer), sends}, &entry);
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
  key.object = internal::ObjectOf(interner_.String(interval.reason), place);
  if (key.object == place.object) key.call = place.call;
  SetEnd(interval, place, &key);
  return key;
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
    // Connections are often given back by goroutines of the library.
    const bool is_peer = (place.awaits_connection && waker.returns_connection) ||
                         (waker.start != StringId::kEmpty && waker.start == place.start &&
                          interval.ended_by.goroutine != interval.goroutine);
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
  holders_ = holder_sums_.Holders(recent_);
  tasks_ = holder_sums_.Tasks(recent_);
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
    groups_.push_back(
        {key, std::move(sum.durations), sum.clipped, sum.asked, sum.sends, sum.goroutines});
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
absl::Span<const WaitTask> WaitStats::tasks() const { return impl_->tasks(); }

}  // namespace gotrace
