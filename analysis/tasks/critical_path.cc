// The intervals of each goroutine are kept in order of time as Stays. A path is found by walking
// back from its end. Where the walk follows a waker, it returns later to the goroutine that waited,
// so there is a stack of such goroutines. It is a vector, since it can become as deep as the trace
// has intervals.
#include "gotrace/critical_path.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "analysis/core/time_sums.h"
#include "analysis/intervals/range_tracker.h"
#include "analysis/intervals/start_function.h"
#include "analysis/profile/profile_samples.h"
#include "analysis/tasks/region_tracker.h"
#include "analysis/tasks/task_table.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace {

using internal::AddTime;
using internal::Between;
using internal::RangeTracker;
using internal::RegionRecord;
using internal::RegionTracker;
using internal::RuntimeRange;
using internal::StartFunction;

namespace {

constexpr size_t kMaxProcs = 4096;

// The index of a goroutine.
using Slot = uint32_t;
constexpr Slot kNoSlot = std::numeric_limits<Slot>::max();

// An interval of a goroutine in a state. Kept small, since there are many.
struct StateSpan {
  int64_t begin;
  int64_t end;
  StackId stack;
  StringId reason;
  Slot waker;           // kWaiting: the goroutine that ended the state_span; kNoSlot if none did.
  StackId waker_stack;  // The stack of the waker at that time.
  GoState state;
  CauseKind ended_by;
  bool starts_life;
};
static_assert(sizeof(StateSpan) == 40);

struct Lifetime {
  int64_t begin = 0;
  StringId start = StringId::kEmpty;  // Set by Finish().
  StartFunction start_function;
  Slot creator = kNoSlot;  // kNoSlot if unknown, or if it began before the part read.
  StackId creator_stack = StackId::kNone;
  bool is_new = false;     // Whether it was created in the part read,
  bool has_ended = false;  // and whether it ended there.
};

// A time from which on the innermost region of a goroutine is another one.
struct RegionMark {
  int64_t time = 0;
  StringId type = StringId::kEmpty;  // kEmpty outside of regions.
  StackId stack = StackId::kNone;    // Where the goroutine was then.
};

struct TimeSpan {
  int64_t begin = 0;
  int64_t end = 0;
};

// A part of a state in which the world was stopped.
struct StopPart : TimeSpan {
  StringId name;  // StopSpan::name.
  StackId stack;  // Where the goroutine stopped the world, if it did.
};

struct Goroutine {
  GoId id;
  bool has_ended = false;                  // The last life.
  std::vector<StateSpan> state_spans;      // In order of time. They do not overlap.
  absl::InlinedVector<Lifetime, 1> lives;  // In order of time.
};

// A time in which a goroutine had a P.
struct ProcSpan : TimeSpan {
  Slot goroutine = kNoSlot;
};

struct RegionEntry : RegionRecord {
  StackId end_stack = StackId::kNone;
};

// The position of the walk: on a goroutine, at the time `to`, on its way back to `from`.
struct Position {
  Slot goroutine = kNoSlot;
  size_t state_spans = 0;  // How many state_spans of the goroutine begin before `to`.
  int64_t from = 0;
  int64_t to = 0;
  StackId stack = StackId::kNone;  // Where the goroutine was at `to`.
  uint64_t depth = 0;
};

// Calls `use` with each of a goroutine's spans that overlaps the time from `begin` to `end`, last
// one first.
template <class Span, class Use>
void ForEachBackwards(const absl::flat_hash_map<Slot, std::vector<Span>>& spans_of, Slot goroutine,
                      int64_t begin, int64_t end, const Use& use) {
  const auto found = spans_of.find(goroutine);
  if (found == spans_of.end()) return;
  const std::vector<Span>& spans = found->second;
  auto span = absl::c_lower_bound(spans, end,
                                  [](const Span& one, int64_t time) { return one.begin < time; });
  while (span != spans.begin() && (--span)->end > begin) use(*span);
}

// Appends a span, or if it begins before the last one ends, the rest of it.
template <class Span>
void AppendInOrder(Span span, std::vector<Span>* spans) {
  if (!spans->empty()) span.begin = std::max(span.begin, spans->back().end);
  if (span.begin < span.end) spans->push_back(span);
}

}  // namespace

class CriticalPaths::Impl {
 public:
  Impl(Interner* interner, const Options& options)
      : interner_(*interner),
        options_(options),
        assist_(interner->InternString("GC mark assist")),
        task_table_(interner) {}

  void Begin(int64_t /*trace_start*/, EventFilter::Times window) {
    options_.window = options_.window.And(window);
  }
  void Add(const Event& event);
  void AddGoroutine(const GoInterval& interval);
  void Finish(int64_t end);

  absl::Span<const PathSpan> tasks() const { return tasks_; }
  absl::Span<const PathSpan> regions() const { return regions_; }
  std::vector<PathSpan> goroutines() const;
  std::optional<PathSpan> SpanOf(GoId id) const;

  // Calls `emit` with the pieces of the path, last one first.
  template <class Emit>
  void Walk(const PathSpan& span, const Emit& emit) const;

  std::vector<std::vector<GoroutineTime>> HadProcsDuring(absl::Span<const PathPiece> pieces) const;
  const Interner& interner() const { return interner_; }

 private:
  void BeginRegion(const Event& event);
  void EndRegion(const Event& event);
  void MarkRegion(GoId goroutine, const RegionMark& mark);
  void AddAssist(const RuntimeRange& assist);
  void AddTurn(const GoInterval& interval, Slot goroutine);

  Slot SlotOf(GoId id);
  Slot FindSlot(GoId id) const;
  const Lifetime& LifetimeAt(const Goroutine& goroutine, int64_t time) const;

  Position PositionAt(Slot goroutine, int64_t from, int64_t to, StackId stack,
                      uint64_t depth) const;

  // Returns whether the goroutine was not waiting at `time`, and so can have caused an event then.
  bool IsAwake(Slot goroutine, int64_t time) const;

  // Calls `emit` with the state_span from `begin` to `position.to`, split at stops of the world, at
  // mark assists, and where regions change.
  template <class Emit>
  void EmitStateSpan(const Position& position, const StateSpan& state_span, int64_t begin,
                     const Emit& emit) const;

  // Moves the position out of its state_span, to the begin of the state_span or the end of the
  // walk.
  void LeaveStateSpan(const StateSpan& state_span, Position* position) const;

  // Sets the times of a span, cut to the part of the trace that was read. Returns whether anything
  // is left. A begin or an end is absent if it is not in the trace.
  bool SetTimes(std::optional<int64_t> begin, std::optional<int64_t> end, PathSpan* span) const;

  Interner& interner_;
  Options options_;
  const StringId assist_;

  std::vector<Goroutine> goroutines_;
  absl::flat_hash_map<GoId, Slot> slots_;

  std::vector<std::vector<ProcSpan>> proc_spans_;  // By P.
  absl::flat_hash_map<ProcId, size_t> procs_;

  RangeTracker ranges_{&interner_,
                       RangeTracker::Crossing::kPieces,
                       {EventType::kGCMarkAssistBegin},
                       [this](const RuntimeRange& assist) { AddAssist(assist); }};
  absl::flat_hash_map<Slot, std::vector<TimeSpan>> assists_;
  absl::flat_hash_map<Slot, std::vector<StopPart>> stops_;

  internal::TaskTable task_table_;
  std::vector<RegionEntry> region_entries_;  // In the order of their first events.
  absl::flat_hash_map<GoId, RegionTracker<size_t>> open_regions_;    // With places in that order.
  absl::flat_hash_map<Slot, std::vector<RegionMark>> region_marks_;  // In order of time.
  std::vector<PathSpan> tasks_;
  std::vector<PathSpan> regions_;

  bool has_events_ = false;
  int64_t first_time_ = 0;
  int64_t end_ = 0;
};

Slot CriticalPaths::Impl::SlotOf(GoId id) {
  if (id == GoId::kNone) return kNoSlot;
  const auto [it, is_new] = slots_.try_emplace(id, static_cast<Slot>(goroutines_.size()));
  if (is_new) goroutines_.emplace_back().id = id;
  return it->second;
}

Slot CriticalPaths::Impl::FindSlot(GoId id) const {
  const auto it = slots_.find(id);
  return it == slots_.end() ? kNoSlot : it->second;
}

void CriticalPaths::Impl::Add(const Event& event) {
  if (!has_events_) {
    has_events_ = true;
    first_time_ = event.time();
  }
  switch (event.kind()) {
    case EventKind::kTaskBegin:
    case EventKind::kTaskEnd:
      task_table_.AddTask(event);
      break;
    case EventKind::kRegionBegin:
      BeginRegion(event);
      break;
    case EventKind::kRegionEnd:
      EndRegion(event);
      break;
    default:
      ranges_.Add(event);
      break;
  }
}

void CriticalPaths::Impl::BeginRegion(const Event& event) {
  auto& region = open_regions_[event.goroutine()].Begin(event, &interner_);
  region.data = region_entries_.size();
  region_entries_.push_back({region});
  if (!options_.by_region) return;
  MarkRegion(event.goroutine(), {event.time(), region.type, interner_.InternStack(event.stack())});
}

void CriticalPaths::Impl::EndRegion(const Event& event) {
  const StackId stack = interner_.InternStack(event.stack());
  RegionTracker<size_t>& open = open_regions_[event.goroutine()];
  const auto region = open.End(event, &interner_);
  if (region.begin.has_value()) {
    region_entries_[region.data] = {region, stack};
  } else {
    region_entries_.push_back({region, stack});
  }
  if (!options_.by_region) return;
  if (!region.begin.has_value()) {
    // It was around everything before.
    std::vector<RegionMark>& marks = region_marks_[SlotOf(event.goroutine())];
    for (RegionMark& mark : marks) {
      if (mark.type == StringId::kEmpty) mark.type = region.type;
    }
    marks.insert(marks.begin(), {first_time_, region.type, StackId::kNone});
  }
  const StringId around = open.open().empty() ? StringId::kEmpty : open.open().back().type;
  MarkRegion(event.goroutine(), {event.time(), around, stack});
}

void CriticalPaths::Impl::MarkRegion(GoId goroutine, const RegionMark& mark) {
  if (goroutine == GoId::kNone) return;
  std::vector<RegionMark>& marks = region_marks_[SlotOf(goroutine)];
  // Times go back only in a damaged trace.
  if (!marks.empty() && mark.time < marks.back().time) return;
  const StringId before = marks.empty() ? StringId::kEmpty : marks.back().type;
  if (mark.type != before) marks.push_back(mark);
}

void CriticalPaths::Impl::AddAssist(const RuntimeRange& assist) {
  const GoId goroutine{assist.scope.id};
  if (goroutine == GoId::kNone) return;
  // Where events are missing, an assist may only end.
  const int64_t begin = assist.HasOnlyEnd() ? first_time_ : assist.begin;
  AppendInOrder<TimeSpan>({begin, assist.end}, &assists_[SlotOf(goroutine)]);
}

void CriticalPaths::Impl::AddGoroutine(const GoInterval& interval) {
  // A damaged trace can have a goroutine with that id.
  if (interval.goroutine == GoId::kNone) return;
  const Slot slot = SlotOf(interval.goroutine);
  const Slot waker =
      interval.state == GoState::kWaiting ? SlotOf(interval.ended_by.goroutine) : kNoSlot;
  const Slot creator = interval.starts_life ? SlotOf(interval.begun_by.goroutine) : kNoSlot;
  Goroutine& goroutine = goroutines_[slot];
  const bool is_new = goroutine.lives.empty() || goroutine.has_ended || interval.starts_life;
  AppendInOrder<StateSpan>({.begin = interval.begin,
                            .end = interval.end,
                            .stack = interval.stack,
                            .reason = interval.reason,
                            .waker = waker,
                            .waker_stack = interval.ended_by.stack,
                            .state = interval.state,
                            .ended_by = interval.ended_by.kind,
                            .starts_life = interval.starts_life || goroutine.has_ended},
                           &goroutine.state_spans);
  if (is_new) {
    Lifetime& life = goroutine.lives.emplace_back();
    life.begin = interval.begin;
    life.creator = creator;
    life.creator_stack = interval.begun_by.stack;
    life.is_new = interval.starts_life;
  }
  Lifetime& life = goroutine.lives.back();
  life.start_function.Learn(interner_, interval.stack);
  if (options_.keep_procs) AddTurn(interval, slot);
  interval.ForEachStop([&](int64_t begin, int64_t end, const StopSpan& stop) {
    const StackId stack = interval.state == GoState::kRunning ? stop.stack : StackId::kNone;
    AppendInOrder<StopPart>({{begin, end}, stop.name, stack}, &stops_[slot]);
  });
  goroutine.has_ended = life.has_ended = interval.ends_life;
  if (!interval.ends_life) return;
  const auto open = open_regions_.find(interval.goroutine);
  if (open == open_regions_.end()) return;
  if (options_.by_region) MarkRegion(interval.goroutine, {.time = interval.end});
  open->second.EndAll(interval.end,
                      [&](const auto& region) { region_entries_[region.data] = {region}; });
  open_regions_.erase(open);
}

void CriticalPaths::Impl::AddTurn(const GoInterval& interval, Slot goroutine) {
  if (interval.proc == ProcId::kNone) return;
  const auto [it, is_new] = procs_.try_emplace(interval.proc, proc_spans_.size());
  if (it->second >= kMaxProcs) return;
  if (is_new) proc_spans_.emplace_back();
  AppendInOrder<ProcSpan>({{interval.begin, interval.proc_until}, goroutine},
                          &proc_spans_[it->second]);
}

bool CriticalPaths::Impl::SetTimes(std::optional<int64_t> begin, std::optional<int64_t> end,
                                   PathSpan* span) const {
  const int64_t first = std::max(first_time_, options_.window.from);
  span->begin_clipped = !begin.has_value() || *begin < first;
  span->begin = span->begin_clipped ? first : *begin;
  span->end_clipped = !end.has_value() || *end > end_;
  span->end = span->end_clipped ? end_ : *end;
  if (span->end_clipped) span->end_stack = StackId::kNone;
  return span->begin <= span->end;
}

void CriticalPaths::Impl::Finish(int64_t end) {
  end_ = end;
  ranges_.Finish(end);
  for (Goroutine& goroutine : goroutines_) {
    for (Lifetime& life : goroutine.lives) {
      life.start = life.start_function.FinalName(life.creator_stack, &interner_);
    }
  }
  for (const internal::TaskRecord& task : task_table_.Take()) {
    PathSpan span;
    span.task = task.task;
    span.type = task.type;
    span.end_stack = task.end_stack;
    if (!SetTimes(task.begin, task.end, &span)) continue;
    span.goroutine = span.end_clipped ? task.begin_goroutine : task.end_goroutine;
    tasks_.push_back(span);
  }
  for (const RegionEntry& region : region_entries_) {
    PathSpan span;
    span.goroutine = region.goroutine;
    span.task = region.task;
    span.type = region.type;
    span.end_stack = region.end_stack;
    span.is_nested = !region.is_outermost_of_type;
    if (SetTimes(region.begin, region.end, &span)) regions_.push_back(span);
  }
  absl::c_stable_sort(regions_, [](const PathSpan& a, const PathSpan& b) {
    return std::pair(a.end_clipped, a.end) < std::pair(b.end_clipped, b.end);
  });
}

std::vector<PathSpan> CriticalPaths::Impl::goroutines() const {
  std::vector<PathSpan> spans;
  for (const Goroutine& goroutine : goroutines_) {
    const std::vector<StateSpan>& states = goroutine.state_spans;
    for (size_t i = 0; i < goroutine.lives.size(); ++i) {
      const Lifetime& life = goroutine.lives[i];
      // The states of this life end where the next one begins.
      const auto after = i + 1 == goroutine.lives.size()
                             ? states.end()
                             : absl::c_lower_bound(states, goroutine.lives[i + 1].begin,
                                                   [](const StateSpan& state, int64_t time) {
                                                     return state.begin < time;
                                                   });
      if (after == states.begin() || (after - 1)->end <= life.begin) continue;
      PathSpan span;
      span.goroutine = goroutine.id;
      span.begin = life.begin;
      span.end = (after - 1)->end;
      span.begin_clipped = !life.is_new;
      span.end_clipped = !life.has_ended;
      span.type = life.start;
      spans.push_back(span);
    }
  }
  absl::c_sort(spans, [](const PathSpan& a, const PathSpan& b) {
    return std::tuple(a.end, a.begin, a.goroutine) < std::tuple(b.end, b.begin, b.goroutine);
  });
  return spans;
}

std::optional<PathSpan> CriticalPaths::Impl::SpanOf(GoId id) const {
  const Slot slot = FindSlot(id);
  if (slot == kNoSlot || goroutines_[slot].state_spans.empty()) return std::nullopt;
  const Goroutine& goroutine = goroutines_[slot];
  PathSpan span;
  span.goroutine = id;
  span.begin = std::min(goroutine.lives.back().begin, goroutine.state_spans.back().begin);
  span.end = goroutine.state_spans.back().end;
  return span;
}

const Lifetime& CriticalPaths::Impl::LifetimeAt(const Goroutine& goroutine, int64_t time) const {
  static const Lifetime& none = *new Lifetime;
  const auto after =
      absl::c_upper_bound(goroutine.lives, time,
                          [](int64_t wanted, const Lifetime& life) { return wanted < life.begin; });
  return after == goroutine.lives.begin() ? none : *(after - 1);
}

Position CriticalPaths::Impl::PositionAt(Slot goroutine, int64_t from, int64_t to, StackId stack,
                                         uint64_t depth) const {
  Position position{goroutine, 0, from, to, stack, depth};
  if (goroutine == kNoSlot) return position;
  const std::vector<StateSpan>& state_spans = goroutines_[goroutine].state_spans;
  position.state_spans = static_cast<size_t>(
      absl::c_lower_bound(state_spans, to,
                          [](const StateSpan& s, int64_t time) { return s.begin < time; }) -
      state_spans.begin());
  return position;
}

bool CriticalPaths::Impl::IsAwake(Slot goroutine, int64_t time) const {
  const Position position = PositionAt(goroutine, time, time, StackId::kNone, 0);
  if (position.state_spans == 0) return false;
  const StateSpan& state_span = goroutines_[goroutine].state_spans[position.state_spans - 1];
  return state_span.end >= time && state_span.state != GoState::kWaiting;
}

template <class Emit>
void CriticalPaths::Impl::EmitStateSpan(const Position& position, const StateSpan& state_span,
                                        int64_t begin, const Emit& emit) const {
  const Goroutine& goroutine = goroutines_[position.goroutine];
  PathPiece piece;
  piece.goroutine = goroutine.id;
  piece.state = state_span.state;
  piece.reason = state_span.reason;
  piece.stack = state_span.stack;
  piece.start = LifetimeAt(goroutine, begin).start;
  piece.depth = position.depth;
  int64_t end = position.to;
  absl::Span<const RegionMark> marks;
  if (const auto found = region_marks_.find(position.goroutine);
      found != region_marks_.end() && state_span.state == GoState::kRunning) {
    const auto after = absl::c_lower_bound(
        found->second, end, [](const RegionMark& mark, int64_t time) { return mark.time < time; });
    marks = absl::MakeConstSpan(found->second.data(),
                                static_cast<size_t>(after - found->second.begin()));
  }
  const auto emit_from = [&](int64_t from, StringId reason) {
    piece.reason = reason;
    while (from < end) {
      // The last mark before `end` says in which region the goroutine was until then.
      const bool is_marked = !marks.empty() && marks.back().time > from;
      piece.region = marks.empty() ? StringId::kEmpty : marks.back().type;
      piece.begin = is_marked ? marks.back().time : from;
      piece.end = end;
      emit(piece);
      end = piece.begin;
      if (is_marked) piece.stack = marks.back().stack;
      while (!marks.empty() && marks.back().time >= end) marks.remove_suffix(1);
    }
    end = from;
  };
  if (state_span.state == GoState::kWaiting && state_span.end == position.to)
    piece.woken_by = state_span.ended_by;
  const bool is_running = state_span.state == GoState::kRunning;
  if (is_running) piece.stack = position.stack;
  const auto emit_without_stops = [&](int64_t from) {
    if (!is_running) return emit_from(from, state_span.reason);
    ForEachBackwards(assists_, position.goroutine, from, end, [&](const TimeSpan& assist) {
      emit_from(std::min(end, assist.end), StringId::kEmpty);
      emit_from(std::max(from, assist.begin), assist_);
    });
    emit_from(from, StringId::kEmpty);
  };
  ForEachBackwards(stops_, position.goroutine, begin, end, [&](const StopPart& stop) {
    emit_without_stops(std::min(end, stop.end));
    const StackId stack = piece.stack;
    piece.is_stopped = true;
    if (stop.stack != StackId::kNone) piece.stack = stop.stack;
    emit_from(std::max(begin, stop.begin), stop.name);
    piece.is_stopped = false;
    piece.stack = stack;
  });
  emit_without_stops(begin);
}

void CriticalPaths::Impl::LeaveStateSpan(const StateSpan& state_span, Position* position) const {
  position->to = std::max(state_span.begin, position->from);
  position->stack = state_span.stack;
  --position->state_spans;
  if (!state_span.starts_life || position->to == position->from) return;
  // The path continues with the creator.
  const Lifetime& life = LifetimeAt(goroutines_[position->goroutine], state_span.begin);
  *position = PositionAt(life.creator, position->from, position->to, life.creator_stack,
                         position->depth + 1);
}

template <class Emit>
void CriticalPaths::Impl::Walk(const PathSpan& span, const Emit& emit) const {
  std::vector<Position> positions;
  if (span.begin < span.end) {
    positions.push_back(
        PositionAt(FindSlot(span.goroutine), span.begin, span.end, span.end_stack, /*depth=*/0));
  }
  while (!positions.empty()) {
    Position& position = positions.back();
    const StateSpan* const state_span =
        position.goroutine == kNoSlot || position.state_spans == 0
            ? nullptr
            : &goroutines_[position.goroutine].state_spans[position.state_spans - 1];
    if (state_span == nullptr || state_span->end < position.to) {
      PathPiece unknown;
      unknown.begin =
          state_span == nullptr ? position.from : std::max(state_span->end, position.from);
      unknown.end = position.to;
      if (position.goroutine != kNoSlot) unknown.goroutine = goroutines_[position.goroutine].id;
      unknown.depth = position.depth;
      emit(unknown);
      position.to = unknown.begin;
      position.stack = StackId::kNone;
    } else if (state_span->waker != kNoSlot && state_span->end == position.to &&
               IsAwake(state_span->waker, position.to)) {
      const int64_t begin = std::max(state_span->begin, position.from);
      const Position waker = PositionAt(state_span->waker, begin, position.to,
                                        state_span->waker_stack, position.depth + 1);
      LeaveStateSpan(*state_span, &position);
      // Replaces the position, so that a long chain of wakers needs no memory.
      if (position.to == position.from) {
        position = waker;
      } else {
        positions.push_back(waker);
      }
      continue;
    } else {
      EmitStateSpan(position, *state_span, std::max(state_span->begin, position.from), emit);
      LeaveStateSpan(*state_span, &position);
    }
    if (position.to == position.from) positions.pop_back();
  }
}

std::vector<std::vector<GoroutineTime>> CriticalPaths::Impl::HadProcsDuring(
    absl::Span<const PathPiece> pieces) const {
  std::vector<std::vector<GoroutineTime>> result(pieces.size());
  std::vector<size_t> next(proc_spans_.size(),
                           0);  // The first span of each P that is not over yet.
  absl::flat_hash_map<Slot, int64_t> sums;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const PathPiece& piece = pieces[i];
    if (piece.state != GoState::kRunnable) continue;
    sums.clear();
    for (size_t p = 0; p < proc_spans_.size(); ++p) {
      const std::vector<ProcSpan>& spans = proc_spans_[p];
      while (next[p] < spans.size() && spans[next[p]].end <= piece.begin) ++next[p];
      for (size_t t = next[p]; t < spans.size() && spans[t].begin < piece.end; ++t) {
        AddTime(Between(std::max(spans[t].begin, piece.begin), std::min(spans[t].end, piece.end)),
                &sums[spans[t].goroutine]);
      }
    }
    for (const auto& [slot, time] : sums) {
      const Goroutine& goroutine = goroutines_[slot];
      result[i].push_back({goroutine.id, LifetimeAt(goroutine, piece.begin).start, time});
    }
    absl::c_sort(result[i], [](const GoroutineTime& a, const GoroutineTime& b) {
      return a.time != b.time ? a.time > b.time : a.goroutine < b.goroutine;
    });
  }
  return result;
}

CriticalPaths::CriticalPaths(Interner* interner, const Options& options)
    : impl_(std::make_unique<Impl>(interner, options)) {}
CriticalPaths::~CriticalPaths() = default;

void CriticalPaths::Begin(int64_t trace_start, EventFilter::Times window) {
  impl_->Begin(trace_start, window);
}
void CriticalPaths::AddEvents(absl::Span<const Event> events) {
  for (const Event& event : events) impl_->Add(event);
}
void CriticalPaths::AddGoroutine(const GoInterval& interval) { impl_->AddGoroutine(interval); }
void CriticalPaths::Finish(int64_t end) { impl_->Finish(end); }

absl::Span<const PathSpan> CriticalPaths::tasks() const { return impl_->tasks(); }
absl::Span<const PathSpan> CriticalPaths::regions() const { return impl_->regions(); }
std::vector<PathSpan> CriticalPaths::goroutines() const { return impl_->goroutines(); }
std::optional<PathSpan> CriticalPaths::SpanOf(GoId goroutine) const {
  return impl_->SpanOf(goroutine);
}

std::vector<PathPiece> CriticalPaths::Find(const PathSpan& span) const {
  std::vector<PathPiece> pieces;
  impl_->Walk(span, [&](const PathPiece& piece) { pieces.push_back(piece); });
  absl::c_reverse(pieces);
  return pieces;
}

PathSum CriticalPaths::Sum(absl::Span<const PathSpan> spans, uint64_t max_pieces) const {
  PathSum sum;
  internal::SampleMap samples;
  uint64_t pieces = 0;
  for (const PathSpan& span : spans) {
    if (pieces > max_pieces) break;
    ++sum.paths;
    impl_->Walk(span, [&](const PathPiece& piece) {
      ++pieces;
      ProfileKey key;
      key.stack = piece.stack;
      key.woken_by = piece.woken_by;
      key.state = piece.state;
      key.reason = piece.reason;
      key.start = piece.start;
      key.region = piece.region;
      ProfileValue& value = samples[key];
      ++value.count;
      AddTime(Between(piece.begin, piece.end), &value.time);
    });
  }
  sum.samples = internal::SortedSamples(samples, impl_->interner());
  return sum;
}

std::vector<std::vector<GoroutineTime>> CriticalPaths::HadProcsDuring(
    absl::Span<const PathPiece> pieces) const {
  return impl_->HadProcsDuring(pieces);
}

}  // namespace gotrace
