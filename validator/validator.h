// Judges a stream of ordered events: what must hold from event to event, whoever made them.
//
//   gotrace::Validator validator({}, [](gotrace::Finding finding) { … });
//   while (const gotrace::Event* event = reader->Next()) validator.Check(*event);
//   validator.Finish();
//
// ValidateTrace() of report.h does this for a whole trace, together with the faults of reading it.
#ifndef GOTRACE_VALIDATOR_VALIDATOR_H_
#define GOTRACE_VALIDATOR_VALIDATOR_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "parser/event.h"
#include "parser/ids.h"
#include "tracev2/version.h"
#include "validator/finding.h"

namespace gotrace {

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

  // Tells that the next event, a kSync event, begins generation `number`, which tells the state of
  // every goroutine and P. To be left out by those who know no generations.
  void BeginGeneration(uint64_t number);

  // Tells that something is missing before the next event, or anywhere in the generation that has
  // begun. Up to the next BeginGeneration(), what follows is not held against what came before.
  // From then on the events are judged as at the beginning of a trace; only tasks, regions and
  // ranges that may have begun before then are taken as they come.
  void Lose();

  // Tells that the trace ends, so that whatever is open stays open.
  void Finish();

  // What changes with `event`, or else the goroutine or P that executes it.
  static ResourceId AboutWhat(const Event& event);

  // The last transitions of a goroutine or P, the earliest first.
  std::vector<PastTransition> HistoryOf(const ResourceId& resource) const;

  // How many events were taken.
  uint64_t event_count() const { return event_count_; }

 private:
  // What a thread executes.
  struct Context {
    ThreadId thread;
    GoId goroutine;
    ProcId proc;
  };

  struct Resource {
    static constexpr uint32_t kRemembered = 4;

    uint8_t state = 0;           // A GoState or ProcState.
    bool is_whole = false;       // Whether all of its life was seen, from its creation on.
    uint32_t count = 0;          // Of its transitions.
    Context* binding = nullptr;  // Where it executes.
    std::array<PastTransition, kRemembered> last = {};
  };
  using ResourceMap = absl::flat_hash_map<int64_t, std::unique_ptr<Resource>>;

  // Something that began and has not ended.
  struct Open {
    std::string name;
    TaskId task;  // For regions.
    Place place;  // Of its beginning.
    uint64_t event_number = 0;
  };
  using OpenByResource = absl::flat_hash_map<std::pair<ResourceKind, int64_t>, std::vector<Open>>;

  // A transition of either kind of resource, as numbers.
  struct Change {
    ResourceId resource;
    uint8_t from;
    uint8_t to;
    bool from_undetermined, from_not_exist, from_executing;
    bool to_undetermined, to_not_exist, to_executing;
  };
  static Change ChangeOf(const StateTransition& transition);

  // Forgets all that a loss may have made wrong.
  void Resume();

  // Whether the event may end, or refer to, what began before a loss on `resource`.
  bool MayPredateLoss(const ResourceId& resource) const;

  void CheckTime(const Event& event);
  void CheckStack(const Event& event, const Stack& stack);
  void CheckSync(const Event& event);
  void CheckClocks(const Event& event, const Sync& sync);
  void CompareClocks(const Event& event, const ClockSnapshot& clocks);
  void CheckMetric(const Event& event);
  void CheckLabel(const Event& event);

  // In validator_transitions.cc.
  void CheckTransition(const Event& event);
  void CheckChain(const Event& event, const Change& change, const Resource* resource);
  void CheckStart(const Event& event, const Change& change, Resource* resource);
  void CheckStop(const Event& event, const StateTransition& transition, const Change& change,
                 Resource* resource);
  void EndResource(const Event& event, const Change& change);
  Resource& GetResource(const ResourceId& id);
  Resource* FindResource(const ResourceId& id) const;
  void Remember(const Event& event, const Change& change, Resource* resource);

  // In validator_annotations.cc.
  void CheckRange(const Event& event);
  void CheckTaskBegin(const Event& event);
  void CheckTaskEnd(const Event& event);
  void CheckRegion(const Event& event);
  void CheckTaskReference(const Event& event, TaskId task);
  Open MakeOpen(const Event& event, absl::string_view name, TaskId task) const;
  void ReportOpen(CheckId id, const Open& open, const ResourceId& resource, std::string message);
  void ReportOpens();

  // `message` is told for `event`, about `resource`.
  void Report(CheckId id, const Event& event, const ResourceId& resource, std::string message);
  // The same for what a loss explains: not told between one and the next generation.
  void ReportUnlessLost(CheckId id, const Event& event, const ResourceId& resource,
                        std::string message);
  Place PlaceOf(const Event& event) const;

  const ValidatorOptions options_;
  const Sink sink_;
  uint64_t event_count_ = 0;
  uint64_t expected_generation_ = 0;  // The one that should begin; 0 if any may.
  uint64_t generation_ = 0;           // 0 if unknown.
  bool lost_ = false;                 // Whether anything is missing since the generation began.
  bool doubtful_ = false;     // Whether a state is unknown, so that none can be expected to follow.
  bool has_resumed_ = false;  // Whether what came before some generation was forgotten.
  bool quiet_ = false;        // Whether the event at hand has a fault that was told.
  std::optional<int64_t> last_time_;
  uint64_t last_sync_ = 0;
  // The sync before the first transition of the trace, or after a loss; 0 if there was none yet.
  uint64_t first_sync_ = 1;
  std::optional<ClockSnapshot> last_clocks_;
  std::vector<bool> checked_stacks_;  // By id, of the generation at hand.

  ResourceMap goroutines_;
  ResourceMap procs_;
  absl::node_hash_map<ThreadId, Context> threads_;
  OpenByResource ranges_;
  OpenByResource regions_;
  absl::flat_hash_map<TaskId, Open> tasks_;
  // Tasks that ended in this generation and in the one before, to know a second end by.
  absl::flat_hash_set<TaskId> ended_;
  absl::flat_hash_set<TaskId> ended_before_;
};

}  // namespace gotrace

#endif  // GOTRACE_VALIDATOR_VALIDATOR_H_
