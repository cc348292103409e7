// Implements gotrace::Validator, plus segments and the histories of goroutines, which only the
// validation of whole traces needs.
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

// A state that goroutines and Ps have in common.
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

// Checks events in order. Memory is bounded by the goroutines, Ps and threads that are alive, and
// the ranges, regions and tasks that are open. Not thread-safe.
class EventValidator {
 public:
  // `sink` is called with each finding when it is found.
  using Sink = std::function<void(Finding)>;
  EventValidator(const ValidatorOptions& options, Sink sink);
  EventValidator(const EventValidator&) = delete;
  EventValidator& operator=(const EventValidator&) = delete;

  // Checks the next event. If Event::fault() marks it, only its effects are recorded.
  void Check(const Event& event);

  // The same for several events, which is faster. If BeginGeneration() is used, only the first of
  // them may begin a generation.
  void CheckAll(absl::Span<const Event> events);

  // Announces that the next event, a kSync event, begins generation `number`, which states the
  // status of every goroutine and P. Not called if the caller does not know the generations.
  void BeginGeneration(uint64_t number);

  // Announces that something is missing before the next event, or anywhere in the current
  // generation. Until the next BeginGeneration(), events are not checked against earlier ones.
  // After that, they are checked as at the beginning of a trace, except that tasks, regions and
  // ranges may have begun before.
  void NoteLoss();

  // Starts in the middle of a trace, at the beginning of a generation. Assumes that the statements
  // of this generation about the past are true. Must be called before anything else.
  void StartInMiddle();

  // Appends `next`, which started in the middle, as if this validator, which has checked everything
  // before, had checked its events too. Returns false, and changes nothing, if an assumption of
  // `next` is wrong, or if something is missing in either. Assumes that the events follow each
  // other, which a Reader checks. Findings of `next` number events from its own first one.
  bool Append(EventValidator&& next);

  // Whether a validator that started in the middle already knows that Append() will return false.
  bool has_failed() const { return preconditions_ != nullptr && preconditions_->fails; }

  // Ends the trace: reports whatever is still open.
  void Finish();

  // Returns the goroutine or P that `event` changes, or else the one that executes it.
  static ResourceId AboutWhat(const Event& event);

  // Returns the last transitions of a goroutine or P, the earliest first.
  std::vector<PastTransition> HistoryOf(const ResourceId& resource) const;

  // The number of events checked.
  uint64_t event_count() const { return event_count_; }

 private:
  // The maximum number of threads to remember, since a trace does not say when a thread ends. If
  // there are more, the next generation is checked as after a loss.
  static constexpr size_t kMaxThreads = 1 << 18;

  // The goroutine and P of a thread.
  struct Context {
    static constexpr int64_t kNothing = -1;

    int64_t id = -1;  // The id of the thread.
    int64_t goroutine = kNothing;
    int64_t proc = kNothing;

    int64_t& executed(ResourceKind kind) { return kind == ResourceKind::kProc ? proc : goroutine; }
  };

  using Mark = EventMark;

  // A goroutine or P. It fits in a cache line, because there may be hundreds of thousands.
  struct alignas(64) Resource {
    int64_t id = -1;
    Context* binding = nullptr;  // The thread that executes it.
    TransitionHistory history;
    uint8_t transitions = 0;  // The number of transitions in `history`.
    uint8_t state = 0;        // A GoState or ProcState.
    bool is_whole = false;    // Whether its whole life was seen, since its creation. Matters only
                              // after a loss, from where on no segments are validated in parallel.
  };
  using ResourceTable = DenseTable<Resource>;

  // Forgets everything that a loss may have made wrong.
  void Resume();

  // Whether the event may end, or refer to, something that began before a loss on `resource`.
  bool MayPredateLoss(const ResourceId& resource) const;

  void CheckOne(const Event& event);
  // Checks an event that is not a transition.
  void CheckOther(const Event& event);
  void CheckTime(const Event& event) {
    const int64_t time = event.time();
    const int64_t last = std::exchange(last_time_, time);
    const uint64_t gap = static_cast<uint64_t>(time) - static_cast<uint64_t>(last);
    if (time <= last || gap > static_cast<uint64_t>(options_.time_gap)) ReportTime(event, last);
    has_time_ = true;
  }
  [[gnu::cold]] void ReportTime(const Event& event, int64_t last);
  // Checks a stack that the event refers to, unless it was already checked in this generation.
  void CheckStackOnce(const Event& event, const Stack& stack) {
    if (unchecked_stacks_.Has(stack.id())) [[unlikely]]
      CheckStack(event, stack);
  }
  // Checks the stack that the event refers to, and the stack that a new goroutine begins with.
  void CheckStacks(const Event& event) {
    CheckStackOnce(event, event.stack());
    if (kNewStackArgs[static_cast<uint8_t>(event.type())] >= 0) {
      CheckStackOnce(event, event.transition_stack());
    }
  }
  void CheckStack(const Event& event, const Stack& stack);
  // Starts to check the stacks of another generation, or of none.
  void BeginStacks(const EventTables* tables);
  void CheckSync(const Event& event);
  void CheckClocks(const Event& event, const Sync& sync);
  void CompareClocks(const Event& event, const ClockSnapshot& clocks);
  // Whether CompareClocks() would find nothing.
  static bool ClocksAgree(const ClockSnapshot& last, const ClockSnapshot& clocks);
  void CheckLabel(const Event& event);

  // Transitions. ----------------------------------------------------------------------------------
  template <ResourceKind kKind>
  void CheckTransition(const Event& event);
  template <ResourceKind kKind>
  void CheckStart(const Event& event, Resource* resource);
  template <ResourceKind kKind>
  void CheckStop(const Event& event, Resource* resource);

  [[gnu::cold]] void CheckChain(const Event& event, const Resource* resource);
  Context* FindContext(int64_t thread);
  // The reports are functions of their own to keep the code for each event short.
  [[gnu::cold]] void ReportNoThread(const Event& event);
  [[gnu::cold]] void ReportOccupied(const Event& event, int64_t executed);
  [[gnu::cold]] void ReportOtherStack(const Event& event);
  [[gnu::cold]] void ReportNotExecuting(const Event& event);
  [[gnu::cold]] void ReportNotOnThread(const Event& event, int64_t thread, int64_t executed);
  // Ends everything that is open on the goroutine or P that the event destroys.
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

  // Ranges, tasks and regions. --------------------------------------------------------------------
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

  // Starting in the middle: event_validator_segments.cc. ------------------------------------------
  //
  // Each records what an event implies about the past. If it returns a bool, false means that the
  // past cannot have been like that.
  bool InFirstGeneration() const { return last_sync_ == preconditions_->first_sync; }
  void AssumeFirstSync(const Event& event, uint64_t sync);
  bool AssumeStatus(const Event& event);
  void AssumeActiveRange(const RangeParts& range);
  void AssumeRegionEnd(const ResourceId& resource, const Region& region);
  bool AssumeTask(TaskId task);
  bool AssumeTaskEnd(TaskId task);

  // Whether the preconditions of a segment hold after this one.
  bool HoldsOfTime(const ValidatorPreconditions& preconditions) const;
  bool HoldsOfStatuses(const ValidatorPreconditions& preconditions) const;
  bool HoldsOfTasks(const ValidatorPreconditions& preconditions) const;
  bool HoldsOfRanges(const ValidatorPreconditions& preconditions) const;

  // The regions of each goroutine or P that are still open after the segment of `next`. nullopt if
  // a region that `next` ends is not open, or a goroutine ends while a region is open.
  using RegionsLeft = absl::flat_hash_map<std::pair<ResourceKind, int64_t>, std::vector<OpenSpan>>;
  std::optional<RegionsLeft> EndRegions(const EventValidator& next) const;

  // Each adopts a part of the state of `next`.
  void TakeRanges(const EventValidator& next);
  void TakeRegions(const EventValidator& next, RegionsLeft left);
  void TakeTasks(const EventValidator& next);
  void TakeResources(EventValidator& next);

  // Returns an entry of `next` with its event number counted from the start of this validator.
  OpenSpan Renumbered(OpenSpan open) const {
    open.begin.event_number += event_count_;
    return open;
  }

  // Returns a finding with `message` for the event at `mark`, about `resource`.
  static Finding MakeFinding(CheckId id, const Mark& mark, const ResourceId& resource,
                             std::string message);
  [[gnu::cold]] void Report(CheckId id, const Event& event, const ResourceId& resource,
                            std::string message);
  // The same for findings that a loss may explain: reports nothing between a loss and the next
  // generation.
  [[gnu::cold]] void ReportUnlessLost(CheckId id, const Event& event, const ResourceId& resource,
                                      std::string message);
  Mark MarkOf(const Event& event) const;

  const ValidatorOptions options_;
  const Sink sink_;
  uint64_t event_count_ = 0;
  uint64_t generation_before_ = 0;  // The number of the generation before; 0 if any may follow.
  uint64_t generation_ = 0;         // 0 if unknown.
  bool lost_ = false;               // Whether anything is missing since the generation began.
  bool has_unknown_state_ =
      false;                  // Whether a state is unknown, so that no transition is unexpected.
  bool has_resumed_ = false;  // Whether everything before some generation was forgotten.
  bool quiet_ = false;        // Whether the current event has a fault that was already reported.
  bool has_time_ = false;     // Whether last_time_ is set.
  int64_t last_time_ = 0;
  uint64_t last_sync_ = 0;
  // The number of the sync before the first transition of the trace, or after a loss; 0 if there
  // was no such transition yet.
  uint64_t first_sync_ = 1;
  std::optional<ClockSnapshot> last_clocks_;
  // The stacks of the current generation that may be incomplete and that no event has referred to
  // yet: stacks that are known to be incomplete, and all stacks above last_near_stack().
  // checked_stacks_ holds the stacks above last_near_stack() that were already checked.
  StackWatch unchecked_stacks_;
  IdSet checked_stacks_;

  ResourceTable goroutines_{kSlotsForGoroutines};
  ResourceTable procs_;
  DenseTable<Context> threads_;
  SpanTable spans_;
  absl::flat_hash_map<TaskId, OpenSpan> tasks_;
  // The tasks that ended in this generation and in the one before, to recognise a second end.
  absl::flat_hash_set<TaskId> ended_;
  absl::flat_hash_set<TaskId> ended_before_;
  // nullptr unless the validator started in the middle.
  std::unique_ptr<ValidatorPreconditions> preconditions_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_EVENT_VALIDATOR_H_
