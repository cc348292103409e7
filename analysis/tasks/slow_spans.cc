#include "analysis/tasks/slow_spans.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "analysis/core/time_sums.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

absl::string_view SlowSpans::NameOf(Kind kind) {
  constexpr absl::string_view kNames[] = {"task", "region", "request"};
  return kNames[static_cast<size_t>(kind)];
}

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
      Older older;
      older.task = event.task().id;
      return EndSpan(Kind::kTask, older.task, TakeOpen(older), event.goroutine(),
                     interner_.InternStack(event.stack()), event.time(), states);
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
                     interner_.InternStack(event.stack()), event.time(), states);
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
    woken_.erase(goroutine);
    return;
  }
  const bool is_new = from == GoState::kNotExist;
  if (from != GoState::kWaiting && to != GoState::kWaiting && !is_new) return;
  const StackId stack = states->StackOf(goroutine);
  if (from == GoState::kWaiting && states->WasOlder(goroutine)) {
    if (RecentStates::IsOlder(stack) || places_.Of(stack).is_connection) {
      woken_.try_emplace(goroutine, event.time());
    }
    return;
  }
  if (RecentStates::IsOlder(stack)) return;
  const StackPlace& place = places_.Of(stack);
  if (!place.is_connection) return;
  if (is_new) {
    connections_[goroutine] = {.is_here = true};
  } else if (!place.awaits_request) {
    return;
  } else if (from == GoState::kWaiting) {
    connections_[goroutine] = {Open{event.time(), StringId::kEmpty}, /*is_here=*/true};
  } else {
    AddRequestEnd(goroutine, stack, event.time(), states);
  }
}

void SlowSpans::AddRequestEnd(GoId goroutine, StackId stack, int64_t end, RecentStates* states) {
  const auto [found, is_unknown] = connections_.try_emplace(goroutine);
  const Connection connection = std::exchange(found->second, {.is_here = true});
  if (connection.is_here) {
    if (!connection.request.has_value()) return;
    return EndSpan(Kind::kRequest, TaskId::kNone, connection.request, goroutine, stack, end,
                   states);
  }
  // Whether the path is followed must not depend on what is known of the connection here, since
  // there are only so many steps.
  Older older;
  older.kind = Kind::kRequest;
  const auto woken = woken_.find(goroutine);
  const int64_t from = woken == woken_.end() ? states->begin() : woken->second;
  if (woken != woken_.end()) {
    older.woken = from;
    woken_.erase(woken);
  }
  parts_.clear();
  std::vector<RawPart> after;
  bool is_before = false;
  states->WalkFrom(goroutine, states->begin(), end, stack, [&](const RecentStates::Piece& piece) {
    // Pieces come from the last one on.
    if (!std::exchange(is_before, piece.end <= from) && is_before) after = TakeParts();
    AddPiece(piece);
  });
  older.span.end = end;
  older.span.goroutine = goroutine;
  older.span.parts = is_before ? std::move(after) : TakeParts();
  if (is_before) older.before = TakeParts();
  AddRequest(is_unknown ? nullptr : &connection, std::move(older));
}

void SlowSpans::AddRequest(const Connection* connection, Older older) {
  std::optional<Open> open;
  if (connection != nullptr) open = connection->request;
  const auto woken = woken_.find(older.span.goroutine);
  if (woken != woken_.end()) older.woken = woken->second;
  if (open.has_value() || woken != woken_.end()) {
    // It began in an earlier generation.
    older.span.parts.insert(older.span.parts.end(), older.before.begin(), older.before.end());
    older.before.clear();
  }
  if (woken != woken_.end()) woken_.erase(woken);
  if (connection == nullptr) return older_.push_back(std::move(older));
  if (!open.has_value() && older.woken.has_value()) {
    open = Open{*older.woken, StringId::kEmpty};
  }
  if (open.has_value()) AddOlder(open, std::move(older));
}

void SlowSpans::EndSpan(Kind kind, TaskId task, const std::optional<Open>& open, GoId goroutine,
                        StackId stack, int64_t end, RecentStates* states) {
  if (!open.has_value() || open->begin < states->begin()) {
    Older older;
    older.kind = kind;
    older.task = task;
    older.span = Follow(goroutine, states->begin(), end, stack, states);
    return AddOlder(open, std::move(older));
  }
  if (!IsInWindow(*open, end)) return;
  const TypeKey key = {kind, open->name};
  const int64_t length = Between(open->begin, end);
  types_[key].lengths.Add(static_cast<uint64_t>(length));
  std::vector<RawSpan>& longest = longest_here_[key];
  RawSpan span;
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
      break;
  }
  return open;
}

bool SlowSpans::IsInWindow(const Open& open, int64_t end) const {
  return window_.Has(open.begin) && window_.Has(end) && open.begin <= end;
}

SlowSpans::RawSpan SlowSpans::Follow(GoId goroutine, int64_t from, int64_t end, StackId stack,
                                     RecentStates* states) {
  parts_.clear();
  states->WalkFrom(goroutine, from, end, stack,
                   [&](const RecentStates::Piece& piece) { AddPiece(piece); });
  RawSpan span;
  span.end = end;
  span.goroutine = goroutine;
  span.parts = TakeParts();
  return span;
}

std::vector<SlowSpans::RawPart> SlowSpans::TakeParts() {
  std::vector<RawPart> parts;
  for (const auto& [doing, sum] : parts_) parts.push_back({doing, sum.first, sum.second});
  parts_.clear();
  return parts;
}

// What is in a stop of the world is counted as such, whatever it is otherwise.
void SlowSpans::AddPiece(const RecentStates::Piece& piece) {
  const auto add = [&](const RawDoing& doing, int64_t time) {
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
  if (stopped > 0) add({.is_stopped = true}, stopped);
  if (rest > 0) {
    add({/*is_stopped=*/false, piece.state, piece.reason, piece.stack, piece.via}, rest);
  }
}

SlowSpans::Cause SlowSpans::CauseOf(const RawDoing& doing) {
  if (doing.is_stopped) return Cause::kStopped;
  const StackPlace& via = places_.Of(doing.via);
  if (IsLock(via.object)) return Cause::kLock;
  if (via.is_in_gc) return Cause::kAssist;
  if (doing.state == GoState::kRunnable) return Cause::kReady;
  // The only reason of a goroutine that runs.
  if (doing.state == GoState::kRunning && doing.reason != StringId::kEmpty) return Cause::kAssist;
  if (doing.state != GoState::kWaiting) return Cause::kOther;
  const StackPlace& place = places_.Of(doing.stack);
  if (place.is_in_gc) return Cause::kAssist;
  return IsLock(ObjectOf(interner_.String(doing.reason), place)) ? Cause::kLock : Cause::kOther;
}

SlowSpans::Span SlowSpans::Resolve(const RawSpan& raw, const RecentStates& states) {
  Span span;
  span.length = raw.length;
  span.end = raw.end;
  span.goroutine = raw.goroutine;
  for (const RawPart& part : raw.parts) {
    RawDoing doing = part.doing;
    doing.reason = states.Resolve(doing.reason);
    doing.stack = states.Resolve(doing.stack);
    doing.via = states.Resolve(doing.via);
    span.parts.push_back(
        {{CauseOf(doing), doing.state, doing.reason, doing.stack}, part.count, part.time});
  }
  return span;
}

void SlowSpans::EndGeneration() {
  for (auto& [key, longest] : longest_here_) {
    std::vector<RawSpan>& all = types_[key].longest;
    for (RawSpan& span : longest) Insert(std::move(span), &all);
  }
  longest_here_.clear();
  for (auto& [goroutine, connection] : connections_) connection.is_here = false;
  stops_.clear();
  stop_begin_.reset();
}

bool SlowSpans::IsLonger(const RawSpan& a, const RawSpan& b) {
  if (a.length != b.length) return a.length > b.length;
  return std::tie(a.end, a.goroutine) < std::tie(b.end, b.goroutine);
}

void SlowSpans::Insert(RawSpan span, std::vector<RawSpan>* longest) {
  const auto place = absl::c_upper_bound(*longest, span, IsLonger);
  if (place == longest->end() && longest->size() == kLongest) return;
  longest->insert(place, std::move(span));
  if (longest->size() > kLongest) longest->pop_back();
}

void SlowSpans::Merge(SlowSpans& next, const RecentStates::Ids& ids) {
  EndGeneration();
  next.EndGeneration();
  const auto map_ids = [&](std::vector<RawPart>* parts) {
    for (RawPart& part : *parts) {
      part.doing.reason = ids(part.doing.reason);
      part.doing.stack = ids(part.doing.stack);
      part.doing.via = ids(part.doing.via);
    }
  };
  for (auto& [key, data] : next.types_) {
    TypeData& type = types_[{key.kind, ids(key.name)}];
    type.lengths.Merge(data.lengths);
    for (RawSpan& span : data.longest) {
      map_ids(&span.parts);
      Insert(std::move(span), &type.longest);
    }
  }
  for (Older& older : next.older_) {
    map_ids(&older.span.parts);
    map_ids(&older.before);
    if (older.kind == Kind::kRequest) {
      const auto known = connections_.find(older.span.goroutine);
      AddRequest(known == connections_.end() ? nullptr : &known->second, std::move(older));
    } else {
      const std::optional<Open> open = TakeOpen(older);
      AddOlder(open, std::move(older));
    }
  }
  for (const auto& [task, open] : next.tasks_) tasks_[task] = {open.begin, ids(open.name)};
  for (const auto& [goroutine, open] : next.regions_) {
    for (const Open& one : open) regions_[goroutine].push_back({one.begin, ids(one.name)});
  }
  for (const auto& [goroutine, connection] : next.connections_) {
    connections_[goroutine] = connection;
  }
  for (const auto& [goroutine, time] : next.woken_) woken_.try_emplace(goroutine, time);
}

std::vector<SlowSpans::Type> SlowSpans::Finish(const RecentStates& states) {
  EndGeneration();
  std::vector<Type> types;
  for (auto& [key, data] : types_) {
    Type& type = types.emplace_back();
    type.kind = key.kind;
    type.name = key.name;
    type.lengths = std::move(data.lengths);
    for (const RawSpan& span : data.longest) type.longest.push_back(Resolve(span, states));
  }
  return types;
}

}  // namespace gotrace::internal
