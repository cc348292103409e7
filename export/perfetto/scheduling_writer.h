// Writes the states of goroutines as Perfetto's scheduling events: a goroutine is a thread, and a P
// is a CPU.
#ifndef GOTRACE_EXPORT_PERFETTO_SCHEDULING_WRITER_H_
#define GOTRACE_EXPORT_PERFETTO_SCHEDULING_WRITER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "export/perfetto/fields.h"
#include "export/perfetto/packet_writer.h"
#include "export/perfetto/track_event_writer.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "gotrace/perfetto_exporter.h"
#include "gotrace/states.h"

namespace gotrace::internal {

// Goroutines are written like the threads of Linux's scheduler: as switches of a CPU and as
// wakings, in the form that Perfetto calls compact, which takes about 8 bytes for each. A switch
// stores only the next thread, so each CPU has its own list. Goroutines on a P that is not a valid
// CPU are written as generic kernel events; with PerfettoScheduling::kGeneric, all are.
//
// Calls for one CPU, and for one goroutine, must be in order of time. Exceptions are marked.
class SchedulingWriter {
 public:
  // The pointers must outlive this object. Names are ids of `interner`. `scheduling` must not be
  // kOff.
  SchedulingWriter(PacketWriter* packets, TrackEventWriter* track_events, const Interner* interner,
                   PerfettoScheduling scheduling)
      : packets_(*packets),
        track_events_(*track_events),
        interner_(*interner),
        scheduling_(scheduling) {}

  // Sets the state of `goroutine` at the beginning: runnable, waiting, or in a syscall. `time` may
  // be earlier than that of other events.
  void SetInitialState(int64_t time, GoId goroutine, StringId name, GoState state);

  // Sets that `goroutine` runs on `cpu` since `time`, which may be earlier than that of other
  // events, as long as nothing else ran on the CPU then.
  void SetInitiallyRunning(int64_t time, GoId goroutine, StringId name, ProcId cpu);

  // Adds that `goroutine` begins to run on `cpu`.
  void Start(int64_t time, GoId goroutine, StringId name, ProcId cpu);

  // Adds that `goroutine`, which ran on `cpu`, enters `state`; kNotExist if it ends. If something
  // else runs on the CPU, only goroutines that are written as generic events change their state.
  void Stop(int64_t time, GoId goroutine, StringId name, ProcId cpu, GoState state);

  // Adds the reason for which `goroutine` just began to wait.
  void SetReason(int64_t time, GoId goroutine, StringId reason, bool is_io);

  // Adds that `goroutine` becomes runnable. `waker` is the goroutine that woke or created it, or
  // kNone; `cpu` is where that happened, or kNone.
  void Wake(int64_t time, GoId goroutine, StringId name, GoId waker, ProcId cpu);

  // Adds that `goroutine`, which was not running, enters `state` without involving a P: it ends, or
  // enters another state that is not running.
  void SetState(int64_t time, GoId goroutine, StringId name, GoState state);

  // Ends the file for `goroutine`: it is in `state`, which was already written, until `time`, and
  // on `cpu` if it runs. Without this, Perfetto would not know how long the last state lasted.
  // After the first call, nothing else may be written.
  void SetLastState(int64_t time, GoId goroutine, StringId name, ProcId cpu, GoState state);

  // Writes out the buffer. Times may be in any order across calls.
  void Flush();

 private:
  struct Cpu {
    uint64_t cpu = 0;
    bool has_begun = false;  // Perfetto ignores the first switch of a CPU.
    uint64_t current = 0;    // The thread that it runs; 0 for none.
    StringId current_name = StringId::kEmpty;

    // The time of its first switch, and the thread that it ran after all switches of that time.
    int64_t first_switch = std::numeric_limits<int64_t>::max();
    uint64_t first = 0;
    StringId first_name = StringId::kEmpty;

    int64_t last_switch = 0;
    int64_t last_waking = 0;

    // The bundle being filled. Times are differences from the previous one.
    std::vector<uint64_t> switch_times, prev_states, next_ids, switch_names;
    std::vector<uint64_t> waking_times, waking_ids, waking_names;
    std::vector<StringId> names;
    absl::flat_hash_map<StringId, uint64_t> name_indices;
    std::string events;  // Events that are not in compact form.
  };

  bool uses_ftrace() const { return scheduling_ != PerfettoScheduling::kGeneric; }
  static bool IsCpu(ProcId id) { return id.value >= 0 && id.value < perfetto::kMaxFtraceCpus; }
  Cpu& CpuOf(ProcId cpu);

  // A state in which a goroutine is when the file begins or ends.
  struct OuterState {
    int64_t time = 0;
    GoId goroutine;
    StringId name = StringId::kEmpty;
    GoState state = GoState::kUndetermined;
  };

  // Perfetto's critical paths through a goroutine begin where it first becomes runnable.
  void BeginPath(int64_t time, GoId goroutine, StringId name);
  // `goroutine` enters another state at `time`. Returns whether its initial state lasted for no
  // time, in which case it is forgotten.
  bool LeaveInitialState(int64_t time, GoId goroutine);
  void FlushInitialStates();
  void FlushLastStates();
  // Returns a CPU that meets the first condition, or else the second, or else nullptr. If nothing
  // ran on any CPU, returns that of P 0.
  template <class Condition, class WeakerCondition>
  Cpu* FindCpu(const Condition& condition, const WeakerCondition& weaker);
  // Makes the goroutines of `states`, which must all have the same time, run on `cpu` for no time
  // and leave it in these states. After that, `next` runs on it.
  void RunBriefly(absl::Span<const OuterState> states, Cpu& cpu, uint64_t next, StringId name);
  void Switch(int64_t time, Cpu& cpu, uint64_t prev_state, uint64_t next, StringId name);
  uint64_t IndexOfName(Cpu& cpu, StringId name);
  void AddGenericState(int64_t time, GoId goroutine, StringId name, GoState state, ProcId cpu);
  void FlushCpu(Cpu& cpu);

  PacketWriter& packets_;
  TrackEventWriter& track_events_;
  const Interner& interner_;
  const PerfettoScheduling scheduling_;
  std::map<int64_t, Cpu> cpus_;  // Ordered, so that the output is deterministic.
  absl::flat_hash_map<GoId, StringId> generic_names_;

  // The initial states of goroutines that wait or are in a syscall. Perfetto's critical paths need
  // a goroutine to become runnable before its first state, and something later than its first
  // state. Perfetto allows one generic event for a thread at a time, so these goroutines run for no
  // time at the beginning and at the end of the file.
  absl::flat_hash_map<GoId, OuterState> initial_;
  std::vector<OuterState> last_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PERFETTO_SCHEDULING_WRITER_H_
