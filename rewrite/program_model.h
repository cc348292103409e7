// The state of the program whose trace is being written, as far as Go's reader checks it: the
// states of its goroutines, Ps and threads, and what is open on them (FORMAT.md §9).
#ifndef GOTRACE_REWRITE_PROGRAM_MODEL_H_
#define GOTRACE_REWRITE_PROGRAM_MODEL_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "gotrace/ids.h"
#include "parser/order/open_ranges.h"
#include "rewrite/writer_event.h"
#include "tracev2/wire_status.h"

namespace gotrace::internal {

// The state after the events so far. Unlike the SchedulerModel, it accepts every event:
// GenerationWriter checks them first.
class ProgramModel {
 public:
  struct Region {
    uint64_t task = 0;
    std::string name;
    bool name_is_lost = false;
  };

  // The open ranges and regions of a goroutine; most have none.
  struct Spans {
    OpenRanges ranges;
    std::vector<Region> regions;  // The innermost last.
  };

  struct Goroutine {
    GoStatus status = GoStatus::kBad;
    ThreadId thread = ThreadId::kNone;  // The thread on which it is Running or in a syscall.
    uint32_t generation = 0;            // The index of the generation with its last status.
    uint64_t number = 0;                // Its sequence number in that generation.
    std::unique_ptr<Spans> spans;

    Spans& open() {
      if (spans == nullptr) spans = std::make_unique<Spans>();
      return *spans;
    }
  };

  struct Proc {
    ProcStatus status = ProcStatus::kBad;
    ThreadId thread = ThreadId::kNone;  // Its thread; none if Idle or SyscallAbandoned.
    uint32_t generation = 0;
    uint64_t number = 0;
    bool sweeping = false;
  };

  struct Thread {
    GoId goroutine = GoId::kNone;
    ProcId proc = ProcId::kNone;
    ProcId last_proc = ProcId::kNone;
  };

  enum class Gc : uint8_t { kUndetermined, kNotRunning, kRunning };

  void BeginGeneration() { ++generation_; }

  // Call it at the end of a generation.
  void EndGeneration() { first_ = first_ && !has_events_; }

  // Returns whether no earlier generation has timed events. Only then may goroutines appear without
  // having been created.
  bool first() const { return first_; }

  // Return nullptr if there is none.
  Goroutine* FindGoroutine(GoId id) { return Find(&goroutines_, id); }
  Proc* FindProc(ProcId id) { return Find(&procs_, id); }
  const Goroutine* FindGoroutine(GoId id) const { return Find(&goroutines_, id); }
  const Proc* FindProc(ProcId id) const { return Find(&procs_, id); }

  // Return the goroutine and P of a thread. An unknown thread has none.
  Thread& thread(ThreadId id) { return threads_[id]; }
  Thread FindThread(ThreadId id) const {
    const auto it = threads_.find(id);
    return it == threads_.end() ? Thread() : it->second;
  }

  // Return the ids of everything that exists, in ascending order.
  std::vector<GoId> GoroutineIds() const;
  std::vector<ProcId> ProcIds() const;
  size_t size() const { return goroutines_.size() + procs_.size(); }

  const std::set<ProcId>& idle_procs() const { return idle_procs_; }
  const std::set<ProcId>& bound_procs() const { return bound_procs_; }

  // Returns the id of a P that does not exist.
  ProcId NewProc();

  // Return whether a status was written, or the goroutine was created, in the current generation.
  bool IsStated(const Goroutine& goroutine) const { return goroutine.generation == generation_; }
  bool IsStated(const Proc& proc) const { return proc.generation == generation_; }

  Gc gc() const { return gc_; }
  uint64_t gc_number() const { return gc_number_; }
  bool HasTask(uint64_t id) const { return tasks_.contains(id); }

  // Sets the sequence number of `*event`, if it has one, and changes the state accordingly. `name`
  // is the name of a region that begins. Returns how many events a reader returns for the event.
  int Apply(WriterEvent* event, absl::string_view name);

 private:
  template <class Map>
  static auto Find(Map* map, const typename std::remove_const_t<Map>::key_type& id)
      -> decltype(&map->begin()->second) {
    const auto it = map->find(id);
    return it == map->end() ? nullptr : &it->second;
  }

  // Return what the thread executes, or nullptr.
  Goroutine* GoroutineOf(const Thread& thread);
  Proc* ProcOf(const Thread& thread);

  // Each does Apply() for some types of events. `context` is the state of the event's thread before
  // the event.
  int ApplyTransition(WriterEvent* event, const Thread& context);
  void ApplyStatus(const WriterEvent& event);
  void ApplyGc(WriterEvent* event);
  void ApplyRange(const WriterEvent& event, const Thread& context);

  uint64_t Count(Goroutine* goroutine);
  uint64_t Count(Proc* proc);
  Goroutine& State(GoId id, GoStatus status);
  void SetProcStatus(ProcId id, Proc* proc, ProcStatus status);
  void Bind(ThreadId thread, ProcId id);
  void Unbind(ThreadId thread);
  // Requires that no other thread has the goroutine: GenerationWriter makes it leave that first.
  void Enter(ThreadId thread, GoId id);
  void Leave(ThreadId thread);

  uint32_t generation_ = 0;
  bool first_ = true;
  bool has_events_ = false;
  absl::node_hash_map<GoId, Goroutine> goroutines_;
  absl::node_hash_map<ProcId, Proc> procs_;
  absl::node_hash_map<ThreadId, Thread> threads_;
  std::set<ProcId> idle_procs_;
  std::set<ProcId> bound_procs_;  // The Ps that belong to a thread.
  int64_t last_proc_ = -1;
  int64_t unused_proc_ = 0;  // No smaller id is unused. Only NewProc() moves it.
  absl::flat_hash_set<uint64_t> tasks_;
  Gc gc_ = Gc::kUndetermined;
  uint64_t gc_number_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_PROGRAM_MODEL_H_
