// Remembers what a trace that begins in the middle of a program has to state, and the state of the
// scheduler does not say: the stacks of goroutines, tasks in progress, and the last values.
#ifndef GOTRACE_REWRITE_PAST_EVENTS_H_
#define GOTRACE_REWRITE_PAST_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gotrace/event.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"
#include "rewrite/event_translator.h"
#include "rewrite/joined_tables.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

// Returns whether the event states a goroutine or P, which may be known already.
bool IsStatus(const Event& event);

// What is in progress before the first event that is known. Only later events show it.
struct EarlierSpans {
  struct EarlierTask {
    TaskId id;
    TaskId parent;
    std::string type;
  };
  struct EarlierRegion {
    uint64_t task = 0;
    std::string type;
  };
  struct EarlierFrame {
    uint64_t pc = 0;
    std::string func;
    std::string file;
    uint64_t line = 0;
  };
  // The first status of a goroutine or P in the first generation.
  struct EarlierStatus {
    WriterEvent event;
    std::vector<EarlierFrame> stack;  // The goroutine's.
  };
  std::map<std::pair<ResourceKind, int64_t>, EarlierStatus> statuses;  // By kind and id.
  std::vector<EarlierTask> tasks;
  std::map<GoId, std::vector<EarlierRegion>> regions;  // By goroutine, the innermost first.
};

// Finds the tasks and regions that begin before the first of a run of events, and end in it, and
// what its first generation states.
class EarlierSpanFinder {
 public:
  // Adds the next event. The ends of tasks must have the names and parents of the tasks.
  void Add(const Event& event);

  const EarlierSpans& found() const { return found_; }

 private:
  absl::flat_hash_set<uint64_t> begun_;         // The tasks that began or ended.
  absl::flat_hash_map<GoId, uint64_t> depths_;  // How many regions are open, if any.
  absl::flat_hash_set<GoId> created_;
  uint64_t generations_ = 0;
  EarlierSpans found_;
};

// The facts from the events so far. Memory is bounded by what exists at a time, and by the strings
// and stacks to which any of it referred. All ids of strings and stacks are those of tables().
class PastEvents {
 public:
  struct Goroutine {
    uint64_t stack = 0;   // Where it was last known to be, or will start; 0 if unknown.
    uint64_t reason = 0;  // Why it stopped or blocked last.
    uint64_t label = 0;
    std::optional<uint64_t> stop;  // The reason why it stops the world, if it does.
    bool has_own_stack = false;    // Whether `stack` is that of a transition.
  };

  struct Task {
    TaskId parent;
    uint64_t type = 0;
    GoId creator;
  };

  PastEvents() : translator_(&tables_) {}

  // Adds the next event.
  void Add(const Event& event);

  // Adds what is in progress before the first event. Call it before Add().
  void AddEarlier(const EarlierSpans& spans);

  // Returns nullptr if nothing is known.
  const Goroutine* Find(GoId id) const;

  struct Region {
    uint64_t task = 0;
    uint64_t type = 0;
  };

  // Returns the open regions of a goroutine that began before the first event, the innermost first.
  std::vector<Region> EarlierRegions(GoId id) const;

  // Returns the first statuses that were not added yet. A generation states some goroutines and Ps
  // only where it first uses them, or at its end.
  std::vector<WriterEvent> EarlierStatuses() const;

  // Returns whether the event is one of these, so that it need not be written when it comes.
  bool IsEarlierStatus(const Event& event) const;

  // Returns the tasks in progress, by their ids.
  const std::map<uint64_t, Task>& tasks() const { return tasks_; }

  // Return the last values; nullopt if there were none.
  const std::optional<uint64_t>& procs() const { return procs_; }  // GOMAXPROCS.
  const std::optional<uint64_t>& heap() const { return heap_; }
  const std::optional<uint64_t>& heap_goal() const { return heap_goal_; }

  const JoinedTables& tables() const { return tables_; }

 private:
  void AddTransition(const Event& event);
  void AddRegionEnd(GoId id);

  JoinedTables tables_;
  EventTranslator translator_;
  absl::flat_hash_map<GoId, Goroutine> goroutines_;
  std::map<uint64_t, Task> tasks_;
  std::map<GoId, std::vector<Region>> earlier_regions_;
  std::map<std::pair<ResourceKind, int64_t>, EarlierSpans::EarlierStatus> earlier_statuses_;
  absl::flat_hash_map<GoId, uint64_t> depths_;  // How many regions that are known are open.
  std::optional<uint64_t> procs_;
  std::optional<uint64_t> heap_;
  std::optional<uint64_t> heap_goal_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_PAST_EVENTS_H_
