// What gotrace::Validator does, and what the validation of whole traces needs besides: segments and
// the histories of goroutines.
#ifndef GOTRACE_VALIDATOR_EVENT_VALIDATOR_H_
#define GOTRACE_VALIDATOR_EVENT_VALIDATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/finding.h"
#include "gotrace/ids.h"
#include "gotrace/internal/transition_history.h"
#include "gotrace/validator.h"
#include "gotrace/version.h"
#include "util/dense_table.h"
#include "util/id_set.h"
#include "validator/span_table.h"
#include "validator/stack_watch.h"
#include "validator/validator_preconditions.h"

namespace gotrace::internal {

// The states that goroutines and Ps have in common.
inline constexpr uint8_t kUndetermined = static_cast<uint8_t>(GoState::kUndetermined);
inline constexpr uint8_t kNotExist = static_cast<uint8_t>(GoState::kNotExist);
static_assert(kUndetermined == static_cast<uint8_t>(ProcState::kUndetermined) &&
              kNotExist == static_cast<uint8_t>(ProcState::kNotExist));

// Whether a goroutine or P in that state executes on a thread.
template <ResourceKind kKind>
bool IsExecuting(uint8_t state) {
  constexpr uint32_t kExecuting =
      kKind == ResourceKind::kProc
          ? 1u << static_cast<int>(ProcState::kRunning)
          : 1u << static_cast<int>(GoState::kRunning) | 1u << static_cast<int>(GoState::kSyscall);
  return (kExecuting >> state & 1) != 0;
}

// Takes events in order. Memory is bounded by what is alive and open. Not thread-safe.
class EventValidator {
 public:
  // `sink` is called with each finding when it is found.
  using Sink = std::function<void(Finding)>;
  EventValidator(const ValidatorOptions& options, Sink sink);
  EventValidator(const EventValidator&) = delete;
  EventValidator& operator=(const EventValidator&) = delete;

  // Takes the next event. Of one that Event::fault() marks only the effects are taken.
  void Check(const Event& event);

  // The same for the next events. Costs less. Where generations are told, one may begin only with
  // the first of them.
  void CheckAll(absl::Span<const Event> events);

  // Tells that the next event, a kSync event, begins generation `number`, which tells the state of
  // every goroutine and P. To be left out by those who know no generations.
  void BeginGeneration(uint64_t number);

  // Tells that something is missing before the next event, or anywhere in the generation that has
  // begun. Up to the next BeginGeneration(), what follows is not held against what came before.
  // From then on the events are judged as at the beginning of a trace; only tasks, regions and
  // ranges that may have begun before then are taken as they come.
  void NoteLoss();

  // Starts in the middle of a trace, at the beginning of a generation: what the generation states
  // of the past is assumed. Call this first.
  void StartInMiddle();

  // Appends `next`, which started in the middle, as if this validator, which has checked everything
  // before, had checked its events too. Returns false, and changes nothing, if what `next` assumed
  // is wrong, or something is missing in either. The events must follow each other, as a Reader
  // checks; that is not checked again. In the findings of `next` events are numbered from its own
  // first one on.
  bool Append(EventValidator&& next);

  // Whether a validator that started in the middle knows already that Append() will refuse it.
  bool has_failed() const { return preconditions_ != nullptr && preconditions_->fails; }

  // Tells that the trace ends, so that whatever is open stays open.
  void Finish();

  // What changes with `event`, or else the goroutine or P that executes it.
  static ResourceId AboutWhat(const Event& event);

  // The last transitions of a goroutine or P, the earliest first.
  std::vector<PastTransition> HistoryOf(const ResourceId& resource) const;

  // How many events were taken.
  uint64_t event_count() const { return event_count_; }

 private:
  // Threads come and go, and nothing tells that one is gone. With more the next generation is
  // judged as after a loss.
  static constexpr size_t kMaxThreads = 1 << 18;

  // What a thread executes.
  struct Context {
    static constexpr int64_t kNothing = -1;

    int64_t id = -1;  // The thread's.
    int64_t goroutine = kNothing;
    int64_t proc = kNothing;

    int64_t& executed(ResourceKind kind) { return kind == ResourceKind::kProc ? proc : goroutine; }
  };

  using Mark = EventMark;

  // A goroutine or P, in one line of the processor's cache: there may be hundreds of thousands.
  struct alignas(64) Resource {
    int64_t id = -1;
    Context* binding = nullptr;  // Where it executes.
    TransitionHistory history;
    uint8_t transitions = 0;  // For `history`.
    uint8_t state = 0;        // A GoState or ProcState.
    bool is_whole = false;    // Whether all of its life was seen, from its creation on.
  };
  using ResourceTable = DenseTable<Resource>;

  // Forgets all that a loss may have made wrong.
  void Resume();

  // Whether the event may end, or refer to, what began before a loss on `resource`.
  bool MayPredateLoss(const ResourceId& resource) const;

  void CheckOne(const Event& event);
  // Checks what is no transition, as most events are.
  void CheckOther(const Event& event);
  void CheckTime(const Event& event) {
    const int64_t time = event.time();
    const int64_t last = std::exchange(last_time_, time);
    const uint64_t gap = static_cast<uint64_t>(time) - static_cast<uint64_t>(last);
    if (time <= last || gap > static_cast<uint64_t>(options_.time_gap)) ReportTime(event, last);
    has_time_ = true;
  }
  [[gnu::cold]] void ReportTime(const Event& event, int64_t last);
  // Checks a stack that the event refers to, the first time that one of the generation does.
  void CheckStackOnce(const Event& event, const Stack& stack) {
    if (unchecked_stacks_.Has(stack.id())) [[unlikely]]
      CheckStack(event, stack);
  }
  // Checks the stack that the event refers to, and another one that a new goroutine begins with.
  void CheckStacks(const Event& event) {
    CheckStackOnce(event, event.stack());
    if (event.type() == EventType::kGoCreate || event.type() == EventType::kGoCreateBlocked) {
      CheckStackOnce(event, event.transition_stack());
    }
  }
  void CheckStack(const Event& event, const Stack& stack);
  // Begins with the stacks of another generation, or of none.
  void BeginStacks(const EventTables* tables);
  void CheckSync(const Event& event);
  void CheckClocks(const Event& event, const Sync& sync);
  void CompareClocks(const Event& event, const ClockSnapshot& clocks);
  // Whether CompareClocks() finds nothing.
  static bool ClocksAgree(const ClockSnapshot& last, const ClockSnapshot& clocks);
  void CheckLabel(const Event& event);

  // In validator_inline.h.
  template <ResourceKind kKind>
  void CheckTransition(const Event& event);
  template <ResourceKind kKind>
  void CheckStart(const Event& event, Resource* resource);
  template <ResourceKind kKind>
  void CheckStop(const Event& event, Resource* resource);

  // In validator_transitions.cc.
  [[gnu::cold]] void CheckChain(const Event& event, const Resource* resource);
  Context* FindContext(int64_t thread);
  // The reports are apart, so that what is checked for each event stays short.
  [[gnu::cold]] void ReportNoThread(const Event& event);
  [[gnu::cold]] void ReportOccupied(const Event& event, int64_t executed);
  [[gnu::cold]] void ReportOtherStack(const Event& event);
  [[gnu::cold]] void ReportNotExecuting(const Event& event);
  [[gnu::cold]] void ReportNotOnThread(const Event& event, int64_t thread, int64_t executed);
  // What changes with the event does not exist any more: nothing of it is kept open.
  void EndSpans(const Event& event) {
    const SpansOf* const spans = spans_.Find(event.transition_resource());
    if (spans == nullptr) return;
    ReportSpansAtEnd(event, *spans);
    spans_.Erase(event.transition_resource());
  }
  void ReportSpansAtEnd(const Event& event, const SpansOf& spans);
  const ResourceTable& TableOf(ResourceKind kind) const {
    return kind == ResourceKind::kProc ? procs_ : goroutines_;
  }
  ResourceTable& TableOf(ResourceKind kind) {
    return kind == ResourceKind::kProc ? procs_ : goroutines_;
  }
  Resource* FindResource(const ResourceId& id) const { return TableOf(id.kind).Find(id.id); }
  bool Exists(const ResourceId& id) const { return FindResource(id) != nullptr; }

  // In validator_annotations.cc.
  void CheckRange(const Event& event);
  void CheckTaskBegin(const Event& event);
  void CheckTaskEnd(const Event& event);
  void CheckRegion(const Event& event);
  void CheckTaskReference(const Event& event, TaskId task);
  OpenSpan MakeOpen(const Event& event, absl::string_view name, TaskId task) const;
  static std::string NameOf(const OpenSpan& open);
  void ReportOpen(CheckId id, const OpenSpan& open, const ResourceId& resource,
                  std::string message);
  void ReportOpenSpans();

  // In validator_segments.cc: starting in the middle. Each records what an event implies about the
  // past; those that return a bool return false if that cannot be.
  bool InFirstGeneration() const { return last_sync_ == preconditions_->first_sync; }
  void MeetFirstSync(const Event& event, uint64_t sync);
  bool MeetStatus(const Event& event);
  void MeetActiveRange(const RangeParts& range);
  void MeetRegionEnd(const ResourceId& resource, const Region& region);
  bool MeetTask(TaskId task);
  bool MeetTaskEnd(TaskId task);

  // Whether the preconditions of a segment hold after this one.
  bool HoldsOfTime(const ValidatorPreconditions& preconditions) const;
  bool HoldsOfStatuses(const ValidatorPreconditions& preconditions) const;
  bool HoldsOfTasks(const ValidatorPreconditions& preconditions) const;
  bool HoldsOfRanges(const ValidatorPreconditions& preconditions) const;

  // The regions of each goroutine or P that are still open after `next` ended some. nullopt if a
  // region that `next` ends is not open, or a goroutine ends while one is.
  using RegionsLeft = absl::flat_hash_map<std::pair<ResourceKind, int64_t>, std::vector<OpenSpan>>;
  std::optional<RegionsLeft> EndRegions(const EventValidator& next) const;

  // Each takes over a part of the state of `next`.
  void TakeRanges(const EventValidator& next);
  void TakeRegions(const EventValidator& next, RegionsLeft left);
  void TakeTasks(const EventValidator& next);
  void TakeResources(EventValidator& next);

  // An entry of `next`, with the number that its event has here.
  OpenSpan Renumbered(OpenSpan open) const {
    open.begin.event_number += event_count_;
    return open;
  }

  // `message` is told for what stands at `mark`, about `resource`.
  static Finding MakeFinding(CheckId id, const Mark& mark, const ResourceId& resource,
                             std::string message);
  [[gnu::cold]] void Report(CheckId id, const Event& event, const ResourceId& resource,
                            std::string message);
  // The same for what a loss explains: not told between one and the next generation.
  [[gnu::cold]] void ReportUnlessLost(CheckId id, const Event& event, const ResourceId& resource,
                                      std::string message);
  Mark MarkOf(const Event& event) const;

  const ValidatorOptions options_;
  const Sink sink_;
  uint64_t event_count_ = 0;
  uint64_t generation_before_ = 0;  // Behind which one begins; 0 if any may.
  uint64_t generation_ = 0;         // 0 if unknown.
  bool lost_ = false;               // Whether anything is missing since the generation began.
  bool doubtful_ = false;     // Whether a state is unknown, so that none can be expected to follow.
  bool has_resumed_ = false;  // Whether what came before some generation was forgotten.
  bool quiet_ = false;        // Whether the event at hand has a fault that was told.
  bool has_time_ = false;     // Whether last_time_ is one.
  int64_t last_time_ = 0;
  uint64_t last_sync_ = 0;
  // The sync before the first transition of the trace, or after a loss; 0 if there was none yet.
  uint64_t first_sync_ = 1;
  std::optional<ClockSnapshot> last_clocks_;
  // Stacks of the generation at hand that are incomplete, or not looked at yet, until an event
  // refers to them: those above last_near_stack(). Of these checked_stacks_ were told.
  StackWatch unchecked_stacks_;
  IdSet checked_stacks_;

  ResourceTable goroutines_{kSlotsForGoroutines};
  ResourceTable procs_;
  DenseTable<Context> threads_;
  SpanTable spans_;
  absl::flat_hash_map<TaskId, OpenSpan> tasks_;
  // Tasks that ended in this generation and in the one before, to know a second end by.
  absl::flat_hash_set<TaskId> ended_;
  absl::flat_hash_set<TaskId> ended_before_;
  // nullptr unless the validator started in the middle.
  std::unique_ptr<ValidatorPreconditions> preconditions_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_EVENT_VALIDATOR_H_
