#include "rewrite/region_rewriter.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gotrace/internal/event_spec.h"
#include "tracev2/wire_status.h"

namespace gotrace::internal {
namespace {

// The maximum number of begins and ends of regions, and of writes in a plan. Each of the two takes
// about a gigabyte; a moved event becomes seven events in a generation.
constexpr size_t kMaxRegionEvents = size_t{1} << 23;
constexpr size_t kMaxWrites = size_t{1} << 21;

// Readers limit the number of goroutines.
constexpr size_t kMaxLanes = size_t{1} << 16;

// The runtime counts from 1. If a trace uses larger ids than this, its regions are not changed.
constexpr int64_t kMaxId = int64_t{1} << 62;

bool EndsGoroutine(EventType type) { return RuleOf(type).goroutine_becomes == Becomes::kGone; }

// A region whose name is lost stays as it is: GenerationWriter finds out which one ends.
bool IsRegionEvent(const WriterEvent& event, const TableSource& tables) {
  if (event.goroutine.value < 0) return false;
  if (EndsGoroutine(event.type)) return true;
  return (event.type == EventType::kUserRegionBegin || event.type == EventType::kUserRegionEnd) &&
         !tables.IsMissingString(event.args[1]);
}

// Sorts events by time. The events of a thread keep their order.
void SortByTime(std::vector<WriterEvent>* events) {
  absl::flat_hash_map<ThreadId, int64_t> latest;
  std::vector<std::pair<int64_t, size_t>> order;
  order.reserve(events->size());
  for (const WriterEvent& event : *events) {
    int64_t& time = latest.try_emplace(event.thread, event.time).first->second;
    time = std::max(time, event.time);
    order.emplace_back(time, order.size());
  }
  std::sort(order.begin(), order.end());
  std::vector<WriterEvent> sorted;
  sorted.reserve(events->size());
  for (const auto& [time, place] : order) sorted.push_back((*events)[place]);
  *events = std::move(sorted);
}

}  // namespace

std::vector<size_t> RegionRewriter::FindRegionEvents(GenerationContent* content) {
  if (content->order_by_time) SortByTime(&content->events);
  std::vector<size_t> places;
  for (size_t i = 0; i < content->events.size(); ++i) {
    if (IsRegionEvent(content->events[i], content->tables)) places.push_back(i);
  }
  return places;
}

uint32_t RegionRewriter::TypeOf(const WriterEvent& event, const GenerationContent& content) {
  const absl::string_view text =
      content.tables.FindString(event.args[1]).value_or(absl::string_view());
  const auto [type, is_new] = type_by_text_.try_emplace(text, static_cast<uint32_t>(types_.size()));
  if (is_new) types_.push_back(type->first);
  return type->second;
}

void RegionRewriter::Collect(GenerationContent* content, bool lost) {
  lost_ |= lost;
  for (const WriterEvent& event : content->events) {
    last_goroutine_ = std::max(last_goroutine_, event.goroutine.value);
    last_proc_ = std::max(last_proc_, event.proc.value);
    const EventSpec& spec = *FindEventSpec(event.type);
    for (size_t i = 1; i < spec.arg_count; ++i) {
      const int64_t id = static_cast<int64_t>(event.args[i - 1]);
      if (spec.arg_types[i] == ArgType::kGoroutine) last_goroutine_ = std::max(last_goroutine_, id);
      if (spec.arg_types[i] == ArgType::kProc) last_proc_ = std::max(last_proc_, id);
    }
  }
  for (const CpuSample& sample : content->samples) {
    last_goroutine_ = std::max(last_goroutine_, sample.goroutine.value);
    last_proc_ = std::max(last_proc_, sample.proc.value);
  }
  const std::vector<size_t> places = FindRegionEvents(content);
  has_too_many_ |= places.size() > kMaxRegionEvents - events_.size();
  if (has_too_many_) return;
  for (const size_t place : places) {
    const WriterEvent& event = content->events[place];
    RegionEvent& added = events_.emplace_back();
    // The times of a broken trace may go backwards.
    const int64_t before = events_.size() < 2 ? event.time : events_[events_.size() - 2].time;
    added.time = std::max(event.time, before);
    added.goroutine = event.goroutine.value;
    if (EndsGoroutine(event.type)) {
      added.kind = RegionEventKind::kGoroutineEnd;
      continue;
    }
    added.kind =
        event.type == EventType::kUserRegionBegin ? RegionEventKind::kBegin : RegionEventKind::kEnd;
    added.type = TypeOf(event, *content);
    added.task = event.args[0];
  }
}

void RegionRewriter::Plan() {
  planned_ = true;
  if (has_too_many_ || last_goroutine_ > kMaxId || last_proc_ > kMaxId) return;
  plan_ = PlanRegions(events_);
  if (lost_ && plan_.crossings == 0) plan_ = RegionPlan();
  if (plan_.lanes.size() > kMaxLanes || plan_.writes.size() > kMaxWrites) plan_ = RegionPlan();
  lanes_.resize(plan_.lanes.size());
}

void RegionRewriter::BeginRun() { std::fill(lanes_.begin(), lanes_.end(), Lane()); }

// Changes the events of one generation.
class RegionRewriter::GenerationRewriter {
 public:
  // The first of `places` belongs to event `first` of the plan.
  GenerationRewriter(RegionRewriter* trace, GenerationContent* content,
                     const std::vector<size_t>& places, size_t first)
      : trace_(*trace), content_(*content), places_(places), first_(first) {}

  RegionChanges Rewrite() {
    const std::vector<WriterEvent>& events = content_.events;
    const std::vector<RegionWrite>& writes = trace_.plan_.writes;
    written_.reserve(events.size());
    size_t next = 0;
    for (size_t i = 0; i < events.size(); ++i) {
      if (next == places_.size() || places_[next] != i) {
        written_.push_back(events[i]);
        continue;
      }
      const size_t index = first_ + next++;
      const RegionEventFate fate = trace_.plan_.fates[index];
      if (fate == RegionEventFate::kStays) written_.push_back(events[i]);
      if (fate == RegionEventFate::kDropped) ++changes_.ends_dropped;
      size_t& write = trace_.next_write_;
      for (; write < writes.size() && writes[write].at == index; ++write) {
        Write(writes[write], events[i]);
      }
    }
    content_.events = std::move(written_);
    return changes_;
  }

 private:
  // `at` is the event after which to write.
  void Write(const RegionWrite& write, const WriterEvent& at) {
    const RegionEvent& event = trace_.events_[write.event];
    if (event.kind == RegionEventKind::kEnd && write.at != write.event) {
      ++changes_.ends_delayed;
      changes_.max_delay_ns =
          std::max(changes_.max_delay_ns, trace_.events_[write.at].time - event.time);
    }
    if (write.lane == RegionWrite::kOwnGoroutine) {
      WriterEvent delayed = at;
      SetRegion(write.event, &delayed);
      written_.push_back(delayed);
      return;
    }
    Lane& lane = trace_.lanes_[write.lane];
    // The generations with its regions may have been dropped.
    if (event.kind == RegionEventKind::kGoroutineEnd && !lane.exists) return;
    time_ = at.time;
    goroutine_ = GoId{trace_.last_goroutine_ + 1 + static_cast<int64_t>(write.lane)};
    Start(&lane, trace_.plan_.lanes[write.lane].owner);
    if (event.kind == RegionEventKind::kGoroutineEnd) {
      Add(EventType::kGoDestroy);
      lane = Lane();
    } else {
      if (event.kind == RegionEventKind::kBegin) ++changes_.regions_moved;
      SetRegion(write.event, &Add(EventType::kNone));
      Add(EventType::kGoBlock, {content_.tables.StringId("waiting for the next region")});
    }
    Add(EventType::kProcStop);
  }

  void Start(Lane* lane, int64_t owner) {
    constexpr uint64_t kNoThread = ~uint64_t{0};
    const uint64_t proc = static_cast<uint64_t>(Proc().value);
    const uint64_t id = static_cast<uint64_t>(goroutine_.value);
    if (std::exchange(trace_.proc_stated_in_, trace_.generation_) != trace_.generation_) {
      Add(EventType::kProcStatus, {proc, static_cast<uint64_t>(ProcStatus::kIdle)});
    }
    Add(EventType::kProcStart, {proc});
    const bool is_stated = std::exchange(lane->stated_in, trace_.generation_) == trace_.generation_;
    if (!std::exchange(lane->exists, true)) {
      ++changes_.goroutines_added;
      Add(EventType::kGoCreate, {id, StartOf(owner)}).goroutine = GoId::kNone;
    } else {
      if (!is_stated) {
        Add(EventType::kGoStatus, {id, kNoThread, static_cast<uint64_t>(GoStatus::kWaiting)});
      }
      Add(EventType::kGoUnblock, {id}).goroutine = GoId::kNone;
    }
    Add(EventType::kGoStart, {id}).goroutine = GoId::kNone;
  }

  // Returns the start stack of a lane, from which tools take its name.
  uint64_t StartOf(int64_t owner) {
    const std::string name = owner == RegionLane::kNoOwner
                                 ? "regions that end on another goroutine"
                                 : absl::StrCat("goroutine ", owner, ": overlapping regions");
    return content_.tables.StackId(name, "gotrace-dump repair", 1);
  }

  ProcId Proc() const { return ProcId{trace_.last_proc_ + 1}; }

  // Adds an event of the current lane.
  WriterEvent& Add(EventType type, std::initializer_list<uint64_t> args = {}) {
    WriterEvent& event = written_.emplace_back();
    event.type = type;
    event.thread = GenerationWriter::kHelper;
    event.goroutine = goroutine_;
    event.proc = Proc();
    event.time = time_;
    std::copy(args.begin(), args.end(), event.args);
    return event;
  }

  // Makes `*event` begin or end the same region as event `index` of the plan.
  void SetRegion(size_t index, WriterEvent* event) {
    const RegionEvent& region = trace_.events_[index];
    event->type = region.kind == RegionEventKind::kBegin ? EventType::kUserRegionBegin
                                                         : EventType::kUserRegionEnd;
    std::fill(std::begin(event->args), std::end(event->args), 0);
    if (index >= first_) {
      const WriterEvent& original = content_.events[places_[index - first_]];
      std::copy(std::begin(original.args), std::end(original.args), event->args);
      return;
    }
    // The region is from an earlier generation, whose tables have other ids.
    event->args[0] = region.task;
    event->args[1] = content_.tables.StringId(trace_.types_[region.type]);
  }

  RegionRewriter& trace_;
  GenerationContent& content_;
  const std::vector<size_t>& places_;
  const size_t first_;
  std::vector<WriterEvent> written_;
  RegionChanges changes_;

  // The goroutine of the lane being written.
  GoId goroutine_;
  int64_t time_ = 0;
};

std::optional<RegionChanges> RegionRewriter::Apply(GenerationContent* content) {
  if (!has_changes()) return std::nullopt;
  ++generation_;
  const std::vector<size_t> places = FindRegionEvents(content);
  const size_t first = std::exchange(next_event_, next_event_ + places.size());
  const std::vector<RegionWrite>& writes = plan_.writes;
  const bool adds = next_write_ < writes.size() && writes[next_write_].at < next_event_;
  const auto stays = [](RegionEventFate fate) { return fate == RegionEventFate::kStays; };
  const auto fates = absl::MakeConstSpan(plan_.fates).subspan(first, places.size());
  if (!adds && std::all_of(fates.begin(), fates.end(), stays)) return std::nullopt;
  return GenerationRewriter(this, content, places, first).Rewrite();
}

}  // namespace gotrace::internal
