// Selects goroutines or kinds of events of a trace.
//
// A first pass finds the goroutines, if need be. The second one passes the events that are kept to
// the writer, and changes those that need a goroutine that is left out.
#include "gotrace/select.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/goroutine_names.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/reader.h"
#include "gotrace/states.h"
#include "parser/event/event_access.h"
#include "parser/event/event_writer.h"
#include "rewrite/trace_writer.h"

namespace gotrace {
namespace internal {
namespace {

// Finds the goroutines of a Selection.
class GoroutineFinder final : public EventSink {
 public:
  explicit GoroutineFinder(const Selection& selection)
      : selection_(selection), tasks_(selection.tasks), found_(selection.goroutines) {}

  void Add(absl::Span<const Event> events) override {
    if (!selection_.functions.empty()) names_.Add(events);
    for (const Event& event : events) AddEvent(event);
  }

  // Returns the goroutines. Call it once, after the last event.
  std::set<GoId> Take() {
    for (const GoId id : seen_) {
      if (selection_.functions.contains(std::string(names_.NameOf(id)))) found_.insert(id);
    }
    std::set<GoId> wakers;
    for (const auto& [waker, woken] : wakes_) {
      if (found_.contains(woken)) wakers.insert(waker);
    }
    found_.merge(wakers);
    return std::move(found_);
  }

 private:
  void AddEvent(const Event& event) {
    const GoId own = event.goroutine();
    switch (event.kind()) {
      case EventKind::kStateTransition: {
        const ResourceId resource = event.transition_resource();
        if (resource.kind != ResourceKind::kGoroutine) return;
        const GoId id{resource.id};
        if (!selection_.functions.empty()) seen_.insert(id);
        const auto from = static_cast<GoState>(event.transition_from());
        const auto to = static_cast<GoState>(event.transition_to());
        const bool begins = from == GoState::kNotExist && to != GoState::kNotExist;
        const bool wakes = from == GoState::kWaiting && to == GoState::kRunnable;
        if (selection_.with_wakers && own != GoId::kNone && own != id && (begins || wakes)) {
          wakes_.emplace(own, id);
        }
        return;
      }
      case EventKind::kTaskBegin:
        if (tasks_.contains(event.task().parent)) tasks_.insert(event.task().id);
        [[fallthrough]];
      case EventKind::kTaskEnd:
        return AddTask(event.task().id, own);
      case EventKind::kRegionBegin:
      case EventKind::kRegionEnd: {
        const Region region = event.region();
        if (selection_.regions.contains(std::string(region.type))) found_.insert(own);
        return AddTask(region.task, own);
      }
      case EventKind::kLog:
        return AddTask(event.log().task, own);
      case EventKind::kNone:
      case EventKind::kSync:
      case EventKind::kMetric:
      case EventKind::kLabel:
      case EventKind::kStackSample:
      case EventKind::kRangeBegin:
      case EventKind::kRangeActive:
      case EventKind::kRangeEnd:
      case EventKind::kExperimental:
        return;
    }
  }

  void AddTask(TaskId task, GoId goroutine) {
    if (goroutine != GoId::kNone && tasks_.contains(task)) found_.insert(goroutine);
  }

  const Selection& selection_;
  std::set<TaskId> tasks_;  // With the descendants so far.
  std::set<GoId> found_;
  GoroutineNames names_;
  absl::flat_hash_set<GoId> seen_;
  absl::flat_hash_set<std::pair<GoId, GoId>> wakes_;
};

// Returns the kind that stands for all kinds of events with which something begins and ends, which
// are kept together.
EventKind FirstOfKind(EventKind kind) {
  switch (kind) {
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      return EventKind::kRangeBegin;
    case EventKind::kTaskEnd:
      return EventKind::kTaskBegin;
    case EventKind::kRegionEnd:
      return EventKind::kRegionBegin;
    default:
      return kind;
  }
}

// Passes the events of a selection on.
class Selector {
 public:
  // `goroutines` are those of the selection; nullopt for all. `selection` must outlive this object.
  Selector(const Selection& selection, std::optional<std::set<GoId>> goroutines,
           TraceWriterImpl* writer)
      : selection_(selection), goroutines_(std::move(goroutines)), writer_(*writer) {
    for (const EventKind kind : selection.kinds) kinds_.insert(FirstOfKind(kind));
  }

  void Add(const Event& event) {
    if (event.kind() == EventKind::kSync) return Pass(event);
    if (!KeepsKind(event.kind())) return;
    if (!goroutines_.has_value()) return Pass(event);
    if (event.kind() == EventKind::kStateTransition) {
      event.transition_resource().kind == ResourceKind::kProc ? AddProc(event) : AddGo(event);
      return;
    }
    AddOther(event);
  }

 private:
  bool KeepsKind(EventKind kind) const {
    if (kind == EventKind::kStateTransition || kinds_.empty()) return true;
    return kinds_.contains(FirstOfKind(kind)) != selection_.drops;
  }

  bool Keeps(GoId id) const { return goroutines_->contains(id) != selection_.drops; }

  void Pass(const Event& event) { writer_.Add(absl::MakeConstSpan(&event, 1)); }

  // Passes the event without a goroutine that is left out.
  void PassWithout(const Event& event) {
    if (event.goroutine() == GoId::kNone || Keeps(event.goroutine())) return Pass(event);
    Event changed = event;
    EventWriter(&changed).Goroutine(GoId::kNone);
    Pass(changed);
  }

  void PassAs(EventType type, const Event& event) {
    Event changed = event;
    const uint8_t from = event.transition_from();
    const uint8_t to = event.transition_to();
    EventWriter(&changed).Tags(TagsOf(type).WithTransition(from, to)).NoArgs();
    PassWithout(changed);
  }

  void AddOther(const Event& event) {
    const EventRule& rule = RuleOf(event.type());
    if (rule.subject == Subject::kGC) return;
    const GoId own = event.goroutine();
    if (rule.subject == Subject::kKnownGoroutine) {
      if (Keeps(GoId{static_cast<int64_t>(event.arg(0))})) PassWithout(event);
      return;
    }
    const bool needs_own = rule.NeedsGoroutine() || event.kind() == EventKind::kStackSample;
    if (own == GoId::kNone || Keeps(own)) return Pass(event);
    if (!needs_own) PassWithout(event);
  }

  void AddProc(const Event& event) {
    const ProcId id{event.transition_resource().id};
    const auto dropped = in_dropped_syscall_.find(id);
    const bool ends = event.type() == EventType::kProcSteal || event.type() == EventType::kProcStop;
    if (dropped == in_dropped_syscall_.end() || !ends) return PassWithout(event);
    // Its thread lost it in a syscall of a goroutine that is left out.
    const ThreadId thread = dropped->second;
    in_dropped_syscall_.erase(dropped);
    Event stop = event;
    EventWriter(&stop).Thread(thread).Proc(id).Goroutine(GoId::kNone);
    PassAs(EventType::kProcStop, stop);
  }

  void AddGo(const Event& event) {
    const GoId id{event.transition_resource().id};
    const GoId own = event.goroutine();
    if (RuleOf(event.type()).IsSwitch()) {
      // The first of three events: `id` wakes up. The others are those of `own`, and its start.
      switches_.erase(event.thread());
      if (!Keeps(id)) {
        switches_.insert(event.thread());
      } else if (Keeps(own)) {
        Pass(event);
      } else {
        PassAs(EventType::kGoUnblock, event);
      }
      return;
    }
    if (Keeps(id)) {
      // If the goroutine to which it switched is left out, it blocks or ends as any other.
      if (id == own && switches_.erase(event.thread()) > 0) return PassAs(event.type(), event);
      return PassWithout(event);
    }
    switches_.erase(event.thread());
    if (event.type() == EventType::kGoSyscallBegin && event.proc() != ProcId::kNone) {
      in_dropped_syscall_[event.proc()] = event.thread();
    }
    if (event.type() == EventType::kGoSyscallEnd) in_dropped_syscall_.erase(event.proc());
  }

  const Selection& selection_;
  const std::optional<std::set<GoId>> goroutines_;
  std::set<EventKind> kinds_;  // The first of each kind that is selected.
  TraceWriterImpl& writer_;
  // The Ps of goroutines that are left out and in a syscall, and their threads.
  absl::flat_hash_map<ProcId, ThreadId> in_dropped_syscall_;
  // The threads whose goroutine is about to switch to one that is left out.
  absl::flat_hash_set<ThreadId> switches_;
};

}  // namespace
}  // namespace internal

absl::StatusOr<SelectedTrace> SelectEvents(
    const std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>& open,
    const Selection& selection, const ReaderOptions& options, ByteSink* out) {
  std::optional<std::set<GoId>> goroutines;
  if (selection.has_goroutines()) goroutines = selection.goroutines;
  if (selection.needs_search()) {
    absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
    if (!source.ok()) return source.status();
    ReaderOptions quiet = options;
    quiet.on_fault = nullptr;
    quiet.on_time_back = nullptr;
    absl::StatusOr<Reader> reader = Reader::FromSource(*std::move(source), std::move(quiet));
    if (!reader.ok()) return reader.status();
    internal::GoroutineFinder finder(selection);
    EventSink* const sinks[] = {&finder};
    // A fault is found again by the second pass.
    ReadInto(*reader, sinks).IgnoreError();
    goroutines = finder.Take();
  }
  absl::StatusOr<std::unique_ptr<ByteSource>> source = open();
  if (!source.ok()) return source.status();
  absl::StatusOr<Reader> reader = Reader::FromSource(*std::move(source), options);
  if (!reader.ok()) return reader.status();
  internal::TraceWriterImpl writer({.version = reader->version(), .lenient = true}, out);
  SelectedTrace result;
  result.goroutines = goroutines.has_value() ? goroutines->size() : 0;
  internal::Selector selector(selection, std::move(goroutines), &writer);
  int64_t last_time = 0;
  result.status = reader->ForEach([&](const Event& event) {
    // The last kSync event of a trace begins nothing.
    if (event.kind() == EventKind::kSync && internal::EventAccess::Tables(event) == nullptr) {
      return true;
    }
    if (event.kind() != EventKind::kSync) last_time = event.time();
    selector.Add(event);
    return writer.WantsMore();
  });
  // What is open at the end lasts until then.
  writer.LastUntil(last_time);
  absl::Status written = writer.Finish();
  if (!written.ok()) return result.status.ok() ? written : result.status;
  result.written = writer.written();
  result.events_read = reader->event_count();
  result.losses = reader->losses();
  return result;
}

}  // namespace gotrace
