#include "parser/order/stall.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_rules.h"
#include "parser/order/scheduler_state.h"

namespace gotrace::internal {
namespace {

using Kind = AwaitedEvent::Kind;

// An event in the rest of a thread.
struct LaterEvent {
  EventType type = EventType::kNone;  // kNone if there is none.
  size_t waiting = 0;                 // The index of the thread among the waiting ones.
  ThreadId thread;
  uint64_t offset = 0;
  uint64_t number = 0;

  bool any() const { return type != EventType::kNone; }
};

// The remaining events of a resource that some event waits for.
struct LaterEvents {
  uint64_t least = ~uint64_t{0};  // The lowest sequence number that matters.
  LaterEvent next;                // The event with the lowest number from there on.
  LaterEvent mention;             // The first event that mentions the resource.
  absl::flat_hash_map<ThreadId, LaterEvent>
      leaves;  // For each thread, the event by which it leaves.
};

using ResourceKey = std::pair<ResourceKind, int64_t>;
using LaterEventsByResource = absl::flat_hash_map<ResourceKey, LaterEvents>;

constexpr ResourceKey kGCKey = {ResourceKind::kNone, -1};

// Searches the remaining events of one thread.
class RestOfThread {
 public:
  // Starts at the event of `cursor`, which is at the index `waiting` of the waiting threads.
  RestOfThread(const ThreadCursor& cursor, size_t waiting, LaterEventsByResource* later_events)
      : cursor_(cursor), waiting_(waiting), later_events_(*later_events) {
    if (cursor.state == nullptr) return;
    goroutine_ = cursor.state->goroutine;
    proc_ = cursor.state->proc;
  }

  void Read() {
    do {
      ReadEvent(cursor_.event());
    } while (cursor_.Advance() == ThreadCursor::Step::kEvent);
  }

 private:
  void ReadEvent(const TimedEvent& event) {
    const EventRule& rule = RuleOf(event.type);
    if (rule.proc == ProcNeed::kNotSyscall) proc_ = ProcId::kNone;  // The P was stolen.
    if (rule.ProcLeaves()) LeaveProc();
    if (rule.GoroutineLeaves()) LeaveGoroutine();
    if (rule.proc == ProcNeed::kNumbered && proc_ != ProcId::kNone) {
      AddNumbered(KeyOf(proc_), event.args[rule.number_arg]);
    }
    const ResourceKind kind = rule.subject_kind();
    if (rule.SubjectEnters() && kind == ResourceKind::kGoroutine) goroutine_ = GoId::kNone;
    if (rule.SubjectEnters() && kind == ResourceKind::kProc) proc_ = ProcId::kNone;
    switch (rule.subject) {
      case Subject::kRunnableGoroutine:
      case Subject::kWaitingGoroutine:
      case Subject::kIdleProc:
      case Subject::kSyscallProc:
        return AddNumbered({kind, static_cast<int64_t>(event.args[0])},
                           event.args[rule.number_arg]);
      case Subject::kGC:
        return AddNumbered(kGCKey, event.args[rule.number_arg]);
      case Subject::kNewGoroutine:
      case Subject::kStatedGoroutine:
      case Subject::kStatedProc:
        return Mention({kind, static_cast<int64_t>(event.args[0])});
      case Subject::kNone:
      case Subject::kKnownGoroutine:
      case Subject::kKnownProc:
        return;
    }
  }

  static ResourceKey KeyOf(GoId id) { return {ResourceKind::kGoroutine, id.value}; }
  static ResourceKey KeyOf(ProcId id) { return {ResourceKind::kProc, id.value}; }

  LaterEvents* Find(const ResourceKey& key) const {
    const auto it = later_events_.find(key);
    return it == later_events_.end() ? nullptr : &it->second;
  }

  LaterEvent Here(uint64_t number = 0) const {
    return {cursor_.event().type, waiting_, cursor_.thread(), cursor_.offset(), number};
  }

  void AddNumbered(const ResourceKey& key, uint64_t number) {
    LaterEvents* const later = Find(key);
    if (later == nullptr || number < later->least) return;
    if (!later->next.any() || number < later->next.number) later->next = Here(number);
  }

  void Mention(const ResourceKey& key) {
    LaterEvents* const later = Find(key);
    if (later != nullptr && !later->mention.any()) later->mention = Here();
  }

  void Leave(const ResourceKey& key) {
    if (LaterEvents* const later = Find(key)) later->leaves.emplace(cursor_.thread(), Here());
  }

  void LeaveGoroutine() {
    if (goroutine_ != GoId::kNone) Leave(KeyOf(goroutine_));
    goroutine_ = GoId::kNone;
  }

  void LeaveProc() {
    if (proc_ != ProcId::kNone) Leave(KeyOf(proc_));
    proc_ = ProcId::kNone;
  }

  ThreadCursor cursor_;
  const size_t waiting_;
  LaterEventsByResource& later_events_;
  // The goroutine and P of the thread in the model, until it loses or replaces them. If it gets the
  // same ones again later, other events wait for that by its number.
  GoId goroutine_;
  ProcId proc_;
};

// Returns " of goroutine 7", " of P 2", or "" for the garbage collector.
std::string OfResource(ResourceKind kind, int64_t id) {
  if (kind == ResourceKind::kGoroutine) return absl::StrCat(" of goroutine ", id);
  return kind == ResourceKind::kProc ? absl::StrCat(" of P ", id) : "";
}

std::string DescribeNumbered(EventType type, ResourceKind kind, int64_t id, uint64_t number) {
  return absl::StrCat(EventTypeName(type), OfResource(kind, id), " with sequence number ", number);
}

// Returns for example "GoStart of goroutine 7 with sequence number 4", for each type of event that
// may wait.
std::string DescribeWaiting(const ThreadCursor& cursor) {
  const TimedEvent& event = cursor.event();
  const EventRule& rule = RuleOf(event.type);
  if (!rule.AwaitsSubject()) {
    const GoId current = cursor.state == nullptr ? GoId::kNone : cursor.state->goroutine;
    return absl::StrCat(EventTypeName(event.type),
                        OfResource(ResourceKind::kGoroutine, current.value));
  }
  return DescribeNumbered(event.type, rule.subject_kind(), static_cast<int64_t>(event.args[0]),
                          event.args[rule.number_arg]);
}

std::string DescribeAwaited(const AwaitedEvent& awaited) {
  if (awaited.kind == Kind::kNumbered) {
    return DescribeNumbered(awaited.type, awaited.resource, awaited.id, awaited.number);
  }
  std::string text(EventTypeName(awaited.type));
  if (awaited.type == EventType::kGoSwitch) {
    // The event is identified by the goroutine that it switches to, which is not known here.
    absl::StrAppend(&text, " away from goroutine ", awaited.id);
  } else {
    absl::StrAppend(&text, OfResource(awaited.resource, awaited.id));
  }
  if (awaited.thread != ThreadId::kNone) {
    absl::StrAppend(&text, " on thread ", awaited.thread.value);
  }
  return text;
}

class StallReport {
 public:
  StallReport(const Frontier& frontier, const SchedulerModel& scheduler) {
    for (size_t i = 0; i < frontier.size(); ++i) waiting_.push_back(&frontier.cursor(i));
    std::stable_sort(
        waiting_.begin(), waiting_.end(),
        [](const ThreadCursor* a, const ThreadCursor* b) { return a->time() < b->time(); });
    obstacles_ = scheduler.Explain(waiting_);
    LookAhead();
    FindEnds();
  }

  Stall Make() const {
    Stall stall;
    if (const AwaitedEvent* missing = Likeliest()) stall.missing = DescribeMissing(*missing);
    const size_t shown = std::min(waiting_.size(), Stall::kMaxThreads);
    for (size_t i = 0; i < shown; ++i) stall.details.push_back(Describe(i));
    if (const size_t more = waiting_.size() - shown; more > 0) {
      stall.details.push_back(
          absl::StrCat("and ", more, more == 1 ? " more thread" : " more threads"));
    }
    return stall;
  }

 private:
  static constexpr size_t kNoEnd = ~size_t{0};

  void LookAhead() {
    for (const Obstacle& obstacle : obstacles_) {
      const AwaitedEvent& awaited = obstacle.awaited;
      if (awaited.kind == Kind::kNone) continue;
      LaterEvents& later = later_events_[{awaited.resource, awaited.id}];
      if (awaited.kind == Kind::kNumbered) later.least = std::min(later.least, awaited.number);
    }
    for (size_t i = 0; i < waiting_.size(); ++i)
      RestOfThread(*waiting_[i], i, &later_events_).Read();
  }

  const LaterEvents& LaterEventsOf(const AwaitedEvent& awaited) const {
    return later_events_.at({awaited.resource, awaited.id});
  }

  // Returns the event that `awaited` refers to, or nullptr if it is not in the rest of any thread.
  const LaterEvent* Find(const AwaitedEvent& awaited, size_t waiting) const {
    if (awaited.kind == Kind::kNone || awaited.kind == Kind::kEarlier) return nullptr;
    const LaterEvents& later = LaterEventsOf(awaited);
    switch (awaited.kind) {
      case Kind::kNumbered:
        return later.next.any() && later.next.number == awaited.number ? &later.next : nullptr;
      case Kind::kMention:
        return later.mention.any() ? &later.mention : nullptr;
      case Kind::kLeave: {
        // An event that the thread needs before it can continue cannot come later on the same
        // thread.
        if (awaited.thread == waiting_[waiting]->thread()) return nullptr;
        const auto it = later.leaves.find(awaited.thread);
        return it == later.leaves.end() ? nullptr : &it->second;
      }
      default:
        return nullptr;
    }
  }

  // Follows each chain to the thread whose awaited event no thread has.
  void FindEnds() {
    const size_t count = waiting_.size();
    ends_.assign(count, kNoEnd);
    std::vector<size_t> chain_of(count, kNoEnd);  // The chain that passed each thread.
    for (size_t first = 0; first < count; ++first) {
      size_t at = first;
      std::vector<size_t> chain;
      size_t end = kNoEnd;
      while (chain_of[at] == kNoEnd) {
        chain_of[at] = first;
        chain.push_back(at);
        const AwaitedEvent& awaited = obstacles_[at].awaited;
        const LaterEvent* const found = Find(awaited, at);
        if (found == nullptr) {
          end = awaited.kind == Kind::kNone ? kNoEnd : at;
          break;
        }
        at = found->waiting;
      }
      // The chain ran into one that was followed before, or into itself. In the latter case it has
      // no end.
      if (end == kNoEnd && chain_of[at] != first) end = ends_[at];
      for (const size_t passed : chain) ends_[passed] = end;
    }
  }

  // Returns the awaited event that most chains end at, or nullptr.
  const AwaitedEvent* Likeliest() const {
    absl::flat_hash_map<AwaitedEvent, size_t> votes;
    for (const size_t end : ends_) {
      if (end != kNoEnd) ++votes[obstacles_[end].awaited];
    }
    const AwaitedEvent* likeliest = nullptr;
    size_t most = 0;
    for (const Obstacle& obstacle : obstacles_) {
      const auto it = votes.find(obstacle.awaited);
      if (it == votes.end() || it->second <= most) continue;
      most = it->second;
      likeliest = &obstacle.awaited;
    }
    return likeliest;
  }

  // Returns the number of missing sequence numbers, starting with that of `awaited`.
  uint64_t Gap(const AwaitedEvent& awaited) const {
    if (awaited.kind != Kind::kNumbered) return 1;
    const LaterEvent& next = LaterEventsOf(awaited).next;
    // Before the first event of the garbage collector, each end of a cycle gives a different
    // number.
    return next.any() && next.number > awaited.number ? next.number - awaited.number : 1;
  }

  std::string DescribeMissing(const AwaitedEvent& awaited) const {
    std::string text = absl::StrCat("a ", DescribeAwaited(awaited));
    if (const uint64_t gap = Gap(awaited); gap > 1) {
      absl::StrAppend(&text, ", the first of ", gap, " missing numbers");
    }
    return text;
  }

  std::string Describe(size_t index) const {
    const ThreadCursor& cursor = *waiting_[index];
    const Obstacle& obstacle = obstacles_[index];
    std::string text = absl::StrCat("byte ", cursor.offset(), ", ");
    absl::StrAppend(&text, cursor.thread() == ThreadId::kNone
                               ? "no thread"
                               : absl::StrCat("thread ", cursor.thread().value));
    absl::StrAppend(&text, ", time ", cursor.time(), ": ", DescribeWaiting(cursor), ": ",
                    obstacle.why);
    AwaitedEvent awaited = obstacle.awaited;
    if (awaited.kind == Kind::kNone) return text;
    if (const LaterEvent* found = Find(awaited, index)) {
      awaited.type = found->type;
      absl::StrAppend(&text, "; waits for the ", DescribeAwaited(awaited), " at byte ",
                      found->offset);
      return text;
    }
    return absl::StrCat(text, "; missing ", DescribeMissing(awaited));
  }

  std::vector<const ThreadCursor*> waiting_;  // Sorted by time.
  std::vector<Obstacle> obstacles_;           // One for each of them.
  LaterEventsByResource later_events_;
  std::vector<size_t> ends_;  // For each thread, the index of the end of its chain, or kNoEnd.
};

}  // namespace

Stall ExplainStall(const Frontier& frontier, const SchedulerModel& scheduler) {
  return StallReport(frontier, scheduler).Make();
}

}  // namespace gotrace::internal
