// Judges a stream of ordered events: what must hold from event to event, whoever made them.
//
//   gotrace::internal::Validator validator({}, [](gotrace::Finding finding) { … });
//   while (const gotrace::Event* event = reader->Next()) validator.Check(*event);
//   validator.Finish();
//
// ValidateTrace() of report.h does this for a whole trace, together with the faults of reading it.
#ifndef GOTRACE_VALIDATOR_VALIDATOR_H_
#define GOTRACE_VALIDATOR_VALIDATOR_H_

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
#include "gotrace/version.h"
#include "util/dense_table.h"
#include "util/id_set.h"
#include "validator/assumed.h"
#include "validator/opened_ranges.h"
#include "validator/opens_table.h"
#include "validator/stack_watch.h"

namespace gotrace::internal {

struct ValidatorOptions {
  // Of the trace's format: since 1.25 generations have clock snapshots.
  Version version = kNewestVersion;

  // How long nothing may happen without a note of it, in nanoseconds.
  int64_t time_gap = 5'000'000'000;
};

// Takes events in order. Memory is bounded by what is alive and open. Not thread-safe.
class Validator {
 public:
  // `sink` is told each finding at once. Nothing is folded.
  using Sink = std::function<void(Finding)>;
  Validator(const ValidatorOptions& options, Sink sink);
  Validator(const Validator&) = delete;
  Validator& operator=(const Validator&) = delete;

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
  void Lose();

  // Lets the events begin in the middle of a trace, with a generation, as if what came before had
  // been taken too: what the first generation tells of it is assumed. To be called first.
  void Assume();

  // Takes over `second`, which began in the middle, as if this, which took all before, had taken
  // its events too. Returns false, and changes nothing, if what `second` assumed is not so, or
  // there was a loss in either. Its findings tell numbers of events that begin with its own first
  // one. After that only Finish() may be called. A Reader must have found already that the events
  // follow each other: what it asks for is not asked again.
  bool Append(const Validator& second);

  // Whether it is known already, of one that began in the middle, that Append() will not take it.
  bool assumes_wrongly() const { return assumed_ != nullptr && assumed_->fails; }

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
  static constexpr size_t kMostThreads = 1 << 18;

  // What a thread executes.
  struct Context {
    static constexpr int64_t kNothing = -1;

    int64_t id = -1;  // The thread's.
    int64_t goroutine = kNothing;
    int64_t proc = kNothing;

    int64_t& executed(ResourceKind kind) { return kind == ResourceKind::kProc ? proc : goroutine; }
  };

  using Mark = EventMark;
  using Open = Opened;

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
  void EndOpens(const Event& event) {
    const Opens* const opens = opens_.Find(event.transition_resource());
    if (opens == nullptr) return;
    ReportOpensAtEnd(event, *opens);
    opens_.Erase(event.transition_resource());
  }
  void ReportOpensAtEnd(const Event& event, const Opens& opens);
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
  Open MakeOpen(const Event& event, absl::string_view name, TaskId task) const;
  static std::string NameOf(const Open& open);
  void ReportOpen(CheckId id, const Open& open, const ResourceId& resource, std::string message);
  void ReportOpens();

  // In validator_halves.cc: beginning in the middle. What an event tells of the time before is
  // assumed; false if it cannot be.
  bool InFirstGeneration() const { return last_sync_ == assumed_->first_sync; }
  void AssumeSync(const Event& event, uint64_t sync);
  bool AssumeStatus(const Event& event);
  void AssumeRange(const RangeParts& range);
  void AssumeRegionEnd(const ResourceId& resource, const Region& region);
  bool AssumeTask(TaskId task);
  bool AssumeTaskEnd(TaskId task);

  // Whether what was assumed is so.
  bool HasTime(const Assumed& assumed) const;
  bool HasStatuses(const Assumed& assumed) const;
  bool HasTasks(const Assumed& assumed) const;
  bool HasRanges(const Assumed& assumed) const;

  // The regions of each goroutine or P that are open once those of `second` that began before it
  // have ended. nullopt if one was not open, or its goroutine ends before one.
  using RegionsLeft = absl::flat_hash_map<std::pair<ResourceKind, int64_t>, std::vector<Open>>;
  std::optional<RegionsLeft> EndRegions(const Validator& second) const;

  // Each takes over what is open in `second`.
  void TakeRanges(const Validator& second);
  void TakeRegions(const Validator& second, RegionsLeft left);
  void TakeTasks(const Validator& second);

  // One of `second`'s, with the number that its event has here.
  Open Renumbered(Open open) const {
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
  OpensTable opens_;
  absl::flat_hash_map<TaskId, Open> tasks_;
  // Tasks that ended in this generation and in the one before, to know a second end by.
  absl::flat_hash_set<TaskId> ended_;
  absl::flat_hash_set<TaskId> ended_before_;
  std::unique_ptr<Assumed> assumed_;  // nullptr unless it begins in the middle.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_VALIDATOR_H_
