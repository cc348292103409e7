#include "view/overview.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

Overview::Overview(Interner* interner, Watch watch)
    : interner_(*interner),
      watch_(std::move(watch)),
      task_table_(interner),
      ranges_(interner, RangeTracker::Crossing::kWhole, {EventType::kGCBegin, EventType::kSTWBegin},
              [this](const RuntimeRange& range) { AddRange(range); }) {}

void Overview::Begin(int64_t trace_start, EventFilter::Times /*window*/) { begin_ = trace_start; }

void Overview::AddEvents(absl::Span<const Event> events) {
  if (watch_ != nullptr && !syncs_.empty()) {
    watch_(*this, events.front().kind() == EventKind::kSync);
  }
  last_time_ = std::max(last_time_, SinceBegin(events.back().time()));
  pieces_.AddEvents(events);
  live_.AddEvents(events);
  for (const Event& event : events) {
    ranges_.Add(event);
    runnable_.Add(event, SinceBegin(event.time()));
    switch (event.kind()) {
      case EventKind::kMetric: {
        const Metric metric = event.type() == EventType::kHeapAlloc  ? kHeap
                              : event.type() == EventType::kHeapGoal ? kGoal
                                                                     : kMaxProcs;
        metrics_[metric].Add(SinceBegin(event.time()), event.metric().value);
        break;
      }
      case EventKind::kSync:
        syncs_.push_back(SinceBegin(event.time()));
        break;
      case EventKind::kRegionBegin:
        AddRegions({interner_.InternString(event.region().type), 1, event.goroutine(),
                    SinceBegin(event.time())});
        break;
      case EventKind::kLog: {
        if (logs_.size() >= kMaxLogs) break;
        const Log log = event.log();
        logs_.push_back({event.goroutine(), SinceBegin(event.time()), log.task,
                         interner_.InternString(log.category),
                         interner_.InternString(log.message)});
        break;
      }
      case EventKind::kTaskBegin:
      case EventKind::kTaskEnd:
        task_table_.AddTask(event);
        break;
      default:
        break;
    }
  }
}

void Overview::AddGoroutine(const GoInterval& interval) {
  Goroutines::Entry& entry = live_.Begin(interval);
  Data& data = entry.data;
  if (data.start.is_open()) {
    data.start.Learn(interner_, interval.stack);
    if (!data.start.is_open()) {
      AddPending(entry.id, data.start.name());
      const bool is_first_part = !syncs_.empty() && syncs_.front() == 0;
      if (!entry.is_older || is_first_part) ++seen_[data.start.name()];
    }
  }
  const int64_t begin = SinceBegin(interval.begin);
  const int64_t end = SinceBegin(interval.end);
  data.begin = data.end == 0 ? begin : std::min(data.begin, begin);
  data.end = std::max(data.end, end);
  data.ends = interval.ends_life;
  pieces_.AddGoroutine(interval, data.start.is_open() ? StringId::kEmpty : data.start.name());
  live_.End(interval, entry);
}

void Overview::AddThread(const ThreadInterval& interval) { pieces_.AddThread(interval); }

void Overview::AddProc(const ProcInterval& interval) {
  procs_.try_emplace(interval.proc, LaneColumns::Spans::kKept);
}

GrowingLane& Overview::LaneOf(StringId start) {
  return lanes_.try_emplace(start, LaneColumns::Spans::kNone).first->second;
}

void Overview::AddPiece(const LanePiece& piece) {
  LaneSpan span;
  span.begin = SinceBegin(piece.begin);
  span.end = SinceBegin(piece.end);
  span.state = piece.state;
  if (span.begin >= span.end) return;
  if (piece.goroutine != GoId::kNone) {
    if (piece.start == StringId::kEmpty) {
      pending_[piece.goroutine].push_back(span);
    } else {
      LaneOf(piece.start).Add(span);
    }
  }
  if (piece.crosses) AddCrossing(piece);
  span.end = SinceBegin(piece.proc_until);
  if (piece.proc == ProcId::kNone || span.begin >= span.end) return;
  span.subject = piece.goroutine.value;
  procs_.try_emplace(piece.proc, LaneColumns::Spans::kKept).first->second.Add(span);
}

void Overview::AddCrossing(LanePiece piece) {
  piece.begin = SinceBegin(piece.begin);
  piece.end = SinceBegin(piece.end);
  piece.proc_until = SinceBegin(piece.proc_until);
  // So that it can be packed.
  piece.crosses = false;
  piece.start = StringId::kEmpty;
  crossing_.Add(piece);
}

void Overview::AddRange(const RuntimeRange& range) {
  const Mark mark = {SinceBegin(range.begin),
                     SinceBegin(range.end),
                     range.name,
                     range.goroutine,
                     range.proc,
                     range.stack};
  (range.type == EventType::kGCBegin ? cycles_ : stops_).push_back(mark);
}

void Overview::AddRegions(const RegionType& regions) {
  const auto [place, is_new] = places_.try_emplace(regions.type, regions_.size());
  if (is_new) {
    regions_.push_back(regions);
  } else {
    regions_[place->second].count += regions.count;
  }
}

void Overview::AddPending(GoId id, StringId start) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  GrowingLane& lane = LaneOf(start);
  for (const LaneSpan& span : found->second) lane.Add(span);
  pending_.erase(found);
}

void Overview::Complete(Goroutines::Entry& entry) {
  if (!entry.is_seen) return;
  const Data& data = entry.data;
  Goroutine goroutine;
  goroutine.id = entry.id;
  goroutine.begin = data.begin;
  goroutine.end = data.end;
  goroutine.begins = !entry.is_older;
  goroutine.ends = data.ends;
  goroutines_.push_back(goroutine);
  starts_.push_back(data.start.name());
  if (data.start.name() != StringId::kEmpty) AddPending(entry.id, data.start.name());
}

void Overview::Append(Goroutines::Entry& rest, Goroutines::Entry* entry) {
  Data& data = entry->data;
  const Data& more = rest.data;
  data.start.Learn(more.start);
  if (!data.start.is_open()) AddPending(entry->id, data.start.name());
  if (!rest.is_seen) return;
  data.begin = data.end == 0 ? more.begin : std::min(data.begin, more.begin);
  data.end = std::max(data.end, more.end);
  data.ends = more.ends;
}

void Overview::Merge(Overview&& next, const InternerMap& ids) {
  for (const auto& [proc, lane] : next.procs_) {
    procs_.try_emplace(proc, LaneColumns::Spans::kKept).first->second.Merge(lane);
  }
  for (const auto& [start, lane] : next.lanes_) LaneOf(ids(start)).Merge(lane);
  goroutines_.insert(goroutines_.end(), next.goroutines_.begin(), next.goroutines_.end());
  for (const StringId start : next.starts_) starts_.push_back(ids(start));
  for (const auto& [start, count] : next.seen_) seen_[ids(start)] += count;
  last_time_ = std::max(last_time_, next.last_time_);
  for (const auto& [id, spans] : next.pending_) {
    std::vector<LaneSpan>& known = pending_[id];
    known.insert(known.end(), spans.begin(), spans.end());
  }
  live_.Merge(next.live_, [&](Data* data) { data->start.MapIds(ids); });
  next.crossing_.ForEach([&](LanePiece piece) {
    piece.reason = ids(piece.reason);
    crossing_.Add(piece);
  });
  syncs_.insert(syncs_.end(), next.syncs_.begin(), next.syncs_.end());
  for (size_t i = 0; i < kMetrics; ++i) metrics_[i].Merge(std::move(next.metrics_[i]));
  runnable_.Merge(std::move(next.runnable_));
  ranges_.Merge(next.ranges_, ids);
  const auto append = [&](const std::vector<Mark>& marks, std::vector<Mark>* known) {
    for (Mark mark : marks) {
      mark.name = ids(mark.name);
      mark.stack = ids(mark.stack);
      known->push_back(mark);
    }
  };
  append(next.cycles_, &cycles_);
  append(next.stops_, &stops_);
  for (RegionType regions : next.regions_) {
    regions.type = ids(regions.type);
    AddRegions(regions);
  }
  for (LogMessage log : next.logs_) {
    if (logs_.size() >= kMaxLogs) break;
    log.category = ids(log.category);
    log.message = ids(log.message);
    logs_.push_back(log);
  }
  task_table_.Merge(next.task_table_, ids);
  pieces_.Merge(next.pieces_);
}

void Overview::Finish(int64_t end) {
  pieces_.Finish();
  for (const auto& [thread, last] : pieces_.threads()) threads_.insert(thread);
  live_.Finish();
  ranges_.Finish(end);
  runnable_.Finish();
  duration_ = SinceBegin(end);
  // What was given after its goroutine was complete.
  if (!pending_.empty()) {
    for (size_t i = 0; i < goroutines_.size(); ++i) AddPending(goroutines_[i].id, starts_[i]);
  }
  absl::flat_hash_map<StringId, uint64_t> counts;
  for (const StringId start : starts_) ++counts[start];
  FinishLanes(counts);
  crossing_.Finish();
  tasks_ = task_table_.Take();
}

void Overview::AddSoFar(const Overview& part, int64_t times_wider) {
  begin_ = part.begin_;
  last_time_ = std::max(last_time_, part.last_time_);
  const auto id_of = [&](StringId id) { return interner_.InternString(part.interner_.String(id)); };
  const auto add = [&](const GrowingLane& lane, GrowingLane* known) {
    known->WidenTo(lane.lane().range().step * times_wider);
    known->Merge(lane);
  };
  for (const auto& [proc, lane] : part.procs_) {
    add(lane, &procs_.try_emplace(proc, LaneColumns::Spans::kKept).first->second);
  }
  for (const auto& [start, lane] : part.lanes_) add(lane, &LaneOf(id_of(start)));
  for (const auto& [start, count] : part.seen_) seen_[id_of(start)] += count;
  for (const auto& [thread, last] : part.pieces_.threads()) threads_.insert(thread);
  syncs_.insert(syncs_.end(), part.syncs_.begin(), part.syncs_.end());
  const auto append = [&](const std::vector<Mark>& marks, std::vector<Mark>* known) {
    for (const Mark& mark : marks) known->push_back({mark.begin, mark.end, id_of(mark.name)});
  };
  append(part.cycles_, &cycles_);
  append(part.stops_, &stops_);
  for (size_t i = 0; i < kMetrics; ++i) metrics_[i].Merge(part.metrics_[i]);
  runnable_.MergeCounts(part.runnable_);
}

void Overview::FinishSoFar(int64_t duration) {
  duration_ = std::max(duration, last_time_);
  for (const GrowingMetric& metric : metrics_) step_ = std::max(step_, metric.step());
  step_ = std::max(step_, runnable().step());
  absl::flat_hash_map<StringId, uint64_t> counts = seen_;
  for (const auto& [start, lane] : lanes_) counts.try_emplace(start, 0);
  FinishLanes(counts);
}

void Overview::FinishLanes(const absl::flat_hash_map<StringId, uint64_t>& counts) {
  for (auto& [proc, lane] : procs_) step_ = std::max(step_, lane.lane().range().step);
  for (auto& [start, lane] : lanes_) step_ = std::max(step_, lane.lane().range().step);
  for (auto& [proc, lane] : procs_) lane.WidenTo(step_);
  MakeGroups(counts);
  const auto is_earlier = [](const Mark& a, const Mark& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  };
  absl::c_stable_sort(cycles_, is_earlier);
  absl::c_stable_sort(stops_, is_earlier);
}

void Overview::MakeGroups(const absl::flat_hash_map<StringId, uint64_t>& counts) {
  for (const auto& [start, count] : counts) {
    Group group;
    group.start = start;
    group.goroutines = count;
    const auto lane = lanes_.find(start);
    if (lane != lanes_.end()) group.lane = std::move(lane->second);
    group.lane.WidenTo(step_);
    groups_.push_back(std::move(group));
  }
  lanes_.clear();
  absl::c_sort(groups_, [&](const Group& a, const Group& b) {
    if (a.goroutines != b.goroutines) return a.goroutines > b.goroutines;
    return interner_.String(a.start) < interner_.String(b.start);
  });
  absl::flat_hash_map<StringId, uint32_t> places;
  for (size_t i = 0; i < groups_.size(); ++i) {
    places[groups_[i].start] = static_cast<uint32_t>(i);
  }
  for (size_t i = 0; i < goroutines_.size(); ++i) goroutines_[i].group = places[starts_[i]];
  starts_.clear();
  starts_.shrink_to_fit();
  absl::c_sort(goroutines_, [](const Goroutine& a, const Goroutine& b) {
    return std::tuple(a.id, a.begin, a.end) < std::tuple(b.id, b.begin, b.end);
  });
}

const Overview::Goroutine* Overview::Find(GoId id, int64_t time) const {
  const auto first = absl::c_lower_bound(
      goroutines_, id, [](const Goroutine& goroutine, GoId id) { return goroutine.id < id; });
  const Goroutine* found = nullptr;
  for (auto it = first; it != goroutines_.end() && it->id == id; ++it) {
    if (found == nullptr || it->begin <= time) found = &*it;
  }
  return found;
}

}  // namespace gotrace::internal
