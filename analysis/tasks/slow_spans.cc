#include "analysis/tasks/slow_spans.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "analysis/core/time_sums.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

void SlowSpans::Add(const Event& event, RecentStates* states) {
  switch (event.kind()) {
    case EventKind::kSync:
      return EndGeneration();
    case EventKind::kStateTransition:
      return AddTransition(event, states);
    case EventKind::kTaskBegin: {
      const Task task = event.task();
      tasks_[task.id] = {event.time(), interner_.InternString(task.type)};
      return;
    }
    case EventKind::kTaskEnd: {
      const TaskId task = event.task().id;
      return EndSpan(Kind::kTask, task, TakeOpen({Kind::kTask, task, {}}), event.goroutine(),
                     interner_.InternStack(event.stack()), event, states);
    }
    case EventKind::kRegionBegin:
      regions_[event.goroutine()].push_back(
          {event.time(), interner_.InternString(event.region().type)});
      return;
    case EventKind::kRegionEnd: {
      const GoId goroutine = event.goroutine();
      Older older;
      older.kind = Kind::kRegion;
      older.span.goroutine = goroutine;
      return EndSpan(Kind::kRegion, TaskId::kNone, TakeOpen(older), goroutine,
                     interner_.InternStack(event.stack()), event, states);
    }
    default:
      break;
  }
  if (event.type() == EventType::kSTWBegin) {
    stop_begin_ = event.time();
  } else if (event.type() == EventType::kSTWEnd && stop_begin_.has_value()) {
    stops_.push_back({*stop_begin_, event.time()});
    stop_begin_.reset();
  }
}

void SlowSpans::AddTransition(const Event& event, RecentStates* states) {
  if (event.transition_resource().kind != ResourceKind::kGoroutine) return;
  const auto from = static_cast<GoState>(event.transition_from());
  const auto to = static_cast<GoState>(event.transition_to());
  if (from == to || from == GoState::kUndetermined) return;
  const GoId goroutine{event.transition_resource().id};
  if (to == GoState::kNotExist) {
    regions_.erase(goroutine);
    connections_.erase(goroutine);
    return;
  }
  const bool is_new = from == GoState::kNotExist;
  if (from != GoState::kWaiting && to != GoState::kWaiting && !is_new) return;
  const StackId stack = states->StackOf(goroutine);
  const StackPlace& place = places_.Of(stack);
  if (!place.is_connection) return;
  if (is_new) {
    connections_[goroutine] = {.is_here = true};
  } else if (!place.awaits_request) {
    return;
  } else if (from == GoState::kWaiting) {
    connections_[goroutine] = {Open{event.time(), StringId::kEmpty}, /*is_here=*/true};
  } else {
    const auto [found, is_unknown] = connections_.try_emplace(goroutine);
    const Connection connection = std::exchange(found->second, {.is_here = true});
    if (!connection.request.has_value() && connection.is_here) return;
    if (!connection.request.has_value() && !is_unknown) {
      // If the trace were cut here, this would not be known to be no request. Whether it is
      // followed must not depend on that, since there are only so many steps.
      Follow(goroutine, states->begin(), event.time(), stack, states);
      return;
    }
    EndSpan(Kind::kRequest, TaskId::kNone, connection.request, goroutine, stack, event, states);
  }
}

void SlowSpans::EndSpan(Kind kind, TaskId task, const std::optional<Open>& open, GoId goroutine,
                        StackId stack, const Event& event, RecentStates* states) {
  const int64_t end = event.time();
  if (!open.has_value() || open->begin < states->begin()) {
    Older older = {kind, task, Follow(goroutine, states->begin(), end, stack, states)};
    return AddOlder(open, std::move(older));
  }
  if (!IsInWindow(*open, end)) return;
  const TypeKey key = {kind, open->name};
  const int64_t length = Between(open->begin, end);
  types_[key].lengths.Add(static_cast<uint64_t>(length));
  std::vector<Span>& longest = longest_here_[key];
  Span span;
  span.length = length;
  span.end = end;
  span.goroutine = goroutine;
  if (longest.size() == kLongest && !IsLonger(span, longest.back())) return;
  span = Follow(goroutine, open->begin, end, stack, states);
  span.length = length;
  Insert(std::move(span), &longest);
}

void SlowSpans::AddOlder(const std::optional<Open>& open, Older older) {
  if (!open.has_value()) return older_.push_back(std::move(older));
  if (!IsInWindow(*open, older.span.end)) return;
  older.span.length = Between(open->begin, older.span.end);
  TypeData& type = types_[{older.kind, open->name}];
  type.lengths.Add(static_cast<uint64_t>(older.span.length));
  Insert(std::move(older.span), &type.longest);
}

std::optional<SlowSpans::Open> SlowSpans::TakeOpen(const Older& older) {
  std::optional<Open> open;
  switch (older.kind) {
    case Kind::kTask:
      if (const auto found = tasks_.find(older.task); found != tasks_.end()) {
        open = found->second;
        tasks_.erase(found);
      }
      break;
    case Kind::kRegion:
      if (const auto found = regions_.find(older.span.goroutine); found != regions_.end()) {
        open = found->second.back();
        found->second.pop_back();
        if (found->second.empty()) regions_.erase(found);
      }
      break;
    case Kind::kRequest:
      if (const auto found = connections_.find(older.span.goroutine); found != connections_.end()) {
        open = std::exchange(found->second.request, std::nullopt);
      }
      break;
  }
  return open;
}

bool SlowSpans::IsInWindow(const Open& open, int64_t end) const {
  return window_.Has(open.begin) && window_.Has(end) && open.begin <= end;
}

SlowSpans::Span SlowSpans::Follow(GoId goroutine, int64_t from, int64_t end, StackId stack,
                                  RecentStates* states) {
  parts_.clear();
  states->WalkFrom(goroutine, from, end, stack,
                   [&](const RecentStates::Piece& piece) { AddPiece(piece); });
  Span span;
  span.end = end;
  span.goroutine = goroutine;
  for (const auto& [doing, sum] : parts_) span.parts.push_back({doing, sum.first, sum.second});
  return span;
}

// What is in a stop of the world is counted as such, whatever it is otherwise.
void SlowSpans::AddPiece(const RecentStates::Piece& piece) {
  const auto add = [&](const Doing& doing, int64_t time) {
    auto& [count, sum] = parts_[doing];
    ++count;
    AddTime(time, &sum);
  };
  int64_t stopped = 0;
  auto stop = absl::c_lower_bound(stops_, piece.end,
                                  [](const Stop& one, int64_t time) { return one.begin < time; });
  while (stop != stops_.begin() && (--stop)->end > piece.begin) {
    AddTime(Between(std::max(stop->begin, piece.begin), std::min(stop->end, piece.end)), &stopped);
  }
  const int64_t rest = Between(piece.begin, piece.end) - stopped;
  if (stopped > 0) add({.cause = Cause::kStopped}, stopped);
  if (rest > 0) add({CauseOf(piece), piece.state, piece.reason, piece.stack}, rest);
}

SlowSpans::Cause SlowSpans::CauseOf(const RecentStates::Piece& piece) {
  const StackPlace& via = places_.Of(piece.via);
  if (IsLock(via.object)) return Cause::kLock;
  if (via.is_in_gc) return Cause::kAssist;
  if (piece.state == GoState::kRunnable) return Cause::kReady;
  // The only reason of a goroutine that runs.
  if (piece.state == GoState::kRunning && piece.reason != StringId::kEmpty) return Cause::kAssist;
  if (piece.state != GoState::kWaiting) return Cause::kOther;
  const StackPlace& place = places_.Of(piece.stack);
  if (place.is_in_gc) return Cause::kAssist;
  return IsLock(ObjectOf(interner_.String(piece.reason), place)) ? Cause::kLock : Cause::kOther;
}

void SlowSpans::EndGeneration() {
  for (auto& [key, longest] : longest_here_) {
    std::vector<Span>& all = types_[key].longest;
    for (Span& span : longest) Insert(std::move(span), &all);
  }
  longest_here_.clear();
  for (auto& [goroutine, connection] : connections_) connection.is_here = false;
  stops_.clear();
  stop_begin_.reset();
}

bool SlowSpans::IsLonger(const Span& a, const Span& b) {
  if (a.length != b.length) return a.length > b.length;
  return std::tie(a.end, a.goroutine) < std::tie(b.end, b.goroutine);
}

void SlowSpans::Insert(Span span, std::vector<Span>* longest) {
  const auto place = absl::c_upper_bound(*longest, span, IsLonger);
  if (place == longest->end() && longest->size() == kLongest) return;
  longest->insert(place, std::move(span));
  if (longest->size() > kLongest) longest->pop_back();
}

void SlowSpans::Merge(SlowSpans& next, const InternerMap& ids) {
  EndGeneration();
  next.EndGeneration();
  const auto map_ids = [&](Span* span) {
    for (Part& part : span->parts) {
      part.doing.reason = ids(part.doing.reason);
      part.doing.stack = ids(part.doing.stack);
    }
  };
  for (auto& [key, data] : next.types_) {
    TypeData& type = types_[{key.kind, ids(key.name)}];
    type.lengths.Merge(data.lengths);
    for (Span& span : data.longest) {
      map_ids(&span);
      Insert(std::move(span), &type.longest);
    }
  }
  for (Older& older : next.older_) {
    map_ids(&older.span);
    // Of a connection without a request, the one that ends has no begin.
    const bool is_known =
        older.kind == Kind::kRequest && connections_.contains(older.span.goroutine);
    const std::optional<Open> open = TakeOpen(older);
    if (open.has_value() || !is_known) AddOlder(open, std::move(older));
  }
  for (const auto& [task, open] : next.tasks_) tasks_[task] = {open.begin, ids(open.name)};
  for (const auto& [goroutine, open] : next.regions_) {
    for (const Open& one : open) regions_[goroutine].push_back({one.begin, ids(one.name)});
  }
  for (const auto& [goroutine, connection] : next.connections_) {
    connections_[goroutine] = connection;
  }
}

std::vector<SlowSpans::Type> SlowSpans::Finish() {
  EndGeneration();
  std::vector<Type> types;
  for (auto& [key, data] : types_) {
    types.push_back({key.kind, key.name, std::move(data.lengths), std::move(data.longest)});
  }
  return types;
}

}  // namespace gotrace::internal
