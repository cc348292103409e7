#include "export/perfetto/scheduling_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/string_view.h"

namespace gotrace::internal {
namespace {

using perfetto::CompactSched;
using perfetto::FtraceEvent;
using perfetto::FtraceEventBundle;
using perfetto::GenericKernelTaskState;
using perfetto::GenericTaskState;
using perfetto::TracePacket;
using protozero::pbf_writer;

// The maximum number of switches or wakings in a bundle.
constexpr size_t kMaxBundle = 1024;

// The approximate maximum number of bytes of other events in a bundle.
constexpr size_t kMaxEventBytes = 1 << 15;

uint64_t LinuxState(GoState state) {
  switch (state) {
    case GoState::kWaiting:
      return perfetto::kTaskInterruptible;
    case GoState::kSyscall:
      return perfetto::kTaskUninterruptible;
    case GoState::kNotExist:
      return perfetto::kTaskDead;
    default:
      return perfetto::kTaskRunnable;
  }
}

GenericTaskState GenericState(GoState state) {
  switch (state) {
    case GoState::kWaiting:
      return GenericTaskState::kInterruptibleSleep;
    case GoState::kSyscall:
      return GenericTaskState::kUninterruptibleSleep;
    case GoState::kNotExist:
      return GenericTaskState::kDestroyed;
    case GoState::kRunning:
      return GenericTaskState::kRunning;
    default:
      return GenericTaskState::kRunnable;
  }
}

// Appends the difference from the previous time, or the time itself if it is the first.
void AddTime(int64_t time, int64_t* last, std::vector<uint64_t>* times) {
  times->push_back(static_cast<uint64_t>(time) -
                   (times->empty() ? 0 : static_cast<uint64_t>(*last)));
  *last = time;
}

void AddPacked(uint32_t field, absl::Span<const uint64_t> values, pbf_writer* message) {
  message->add_packed_uint64(field, values.begin(), values.end());
}

}  // namespace

SchedulingWriter::Cpu& SchedulingWriter::CpuOf(ProcId id) {
  Cpu& cpu = cpus_[IsCpu(id) ? id.value : ProcId::kNone.value];
  cpu.cpu = IsCpu(id) ? static_cast<uint64_t>(id.value) : 0;
  return cpu;
}

void SchedulingWriter::SetInitialState(int64_t time, GoId goroutine, StringId name, GoState state) {
  if (!uses_ftrace()) return AddGenericState(time, goroutine, name, state, ProcId::kNone);
  if (state == GoState::kRunnable) return BeginPath(time, goroutine, name);
  initial_[goroutine] = {time, goroutine, name, state};
}

void SchedulingWriter::BeginPath(int64_t time, GoId goroutine, StringId name) {
  AddGenericState(time, goroutine, name, GoState::kRunnable, ProcId::kNone);
}

bool SchedulingWriter::LeaveInitialState(int64_t time, GoId goroutine) {
  const auto it = initial_.find(goroutine);
  if (it == initial_.end() || it->second.time != time) return false;
  initial_.erase(it);
  return true;
}

void SchedulingWriter::FlushInitialStates() {
  std::vector<OuterState> states;
  for (const auto& [goroutine, state] : initial_) states.push_back(state);
  initial_.clear();
  std::sort(states.begin(), states.end(), [](const OuterState& a, const OuterState& b) {
    return std::pair(a.time, a.goroutine) < std::pair(b.time, b.goroutine);
  });
  for (absl::Span<const OuterState> rest = states; !rest.empty();) {
    const int64_t time = rest.front().time;
    const auto end = std::find_if(rest.begin(), rest.end(),
                                  [&](const OuterState& state) { return state.time != time; });
    const absl::Span<const OuterState> same = rest.first(end - rest.begin());
    rest.remove_prefix(same.size());
    Cpu* const cpu = FindCpu([&](const Cpu& other) { return other.first_switch > time; },
                             [&](const Cpu& other) { return other.first_switch == time; });
    if (cpu == nullptr) {
      for (const OuterState& s : same) SetState(time, s.goroutine, s.name, s.state);
      continue;
    }
    for (const OuterState& s : same) BeginPath(time, s.goroutine, s.name);
    const bool is_idle = cpu->first_switch > time;
    // This is now the first switch of the CPU, which Perfetto ignores.
    if (is_idle && cpu->has_begun) {
      Switch(time, *cpu, perfetto::kTaskRunnable, 0, StringId::kEmpty);
    }
    RunBriefly(same, *cpu, is_idle ? 0 : cpu->first, is_idle ? StringId::kEmpty : cpu->first_name);
  }
}

void SchedulingWriter::FlushLastStates() {
  if (last_.empty()) return;
  Cpu* const cpu =
      FindCpu([](const Cpu& other) { return other.current == 0; }, [](const Cpu&) { return true; });
  RunBriefly(last_, *cpu, cpu->current, cpu->current_name);
  last_.clear();
}

template <class Condition, class WeakerCondition>
SchedulingWriter::Cpu* SchedulingWriter::FindCpu(const Condition& condition,
                                                 const WeakerCondition& weaker) {
  Cpu* found = nullptr;
  bool has_cpus = false;
  for (auto& [id, cpu] : cpus_) {
    if (!IsCpu(ProcId{id})) continue;
    has_cpus = true;
    if (condition(cpu)) return &cpu;
    if (found == nullptr && weaker(cpu)) found = &cpu;
  }
  return has_cpus ? found : &CpuOf(ProcId{0});
}

void SchedulingWriter::RunBriefly(absl::Span<const OuterState> states, Cpu& cpu, uint64_t next,
                                  StringId name) {
  uint64_t prev_state = perfetto::kTaskRunnable;
  for (const OuterState& state : states) {
    Switch(state.time, cpu, prev_state, static_cast<uint64_t>(track_events_.TidOf(state.goroutine)),
           state.name);
    prev_state = LinuxState(state.state);
  }
  Switch(states.back().time, cpu, prev_state, next, name);
}

void SchedulingWriter::SetInitiallyRunning(int64_t time, GoId goroutine, StringId name, ProcId id) {
  Cpu& cpu = CpuOf(id);
  if (uses_ftrace() && IsCpu(id)) BeginPath(time, goroutine, name);
  if (!uses_ftrace() || !IsCpu(id) || time >= cpu.last_switch) {
    return Start(time, goroutine, name, id);
  }
  // Too late for the compact form.
  {
    pbf_writer events(cpu.events);
    pbf_writer event(events, FtraceEventBundle::kEvent);
    event.add_uint64(FtraceEvent::kTimestamp, static_cast<uint64_t>(time));
    event.add_uint32(FtraceEvent::kPid, 0);
    pbf_writer sched_switch(event, FtraceEvent::kSchedSwitch);
    const absl::string_view comm = interner_.String(name);
    sched_switch.add_string(perfetto::SchedSwitch::kNextComm, comm.data(), comm.size());
    sched_switch.add_int32(perfetto::SchedSwitch::kNextPid, track_events_.TidOf(goroutine));
  }
  cpu.has_begun = true;
  cpu.current = static_cast<uint64_t>(track_events_.TidOf(goroutine));
  cpu.current_name = name;
  if (time < cpu.first_switch) {
    cpu.first_switch = time;
    cpu.first = cpu.current;
    cpu.first_name = name;
  }
}

void SchedulingWriter::Start(int64_t time, GoId goroutine, StringId name, ProcId cpu) {
  const bool begins_path = LeaveInitialState(time, goroutine);
  if (!uses_ftrace() || !IsCpu(cpu)) {
    return AddGenericState(time, goroutine, name, GoState::kRunning, cpu);
  }
  if (begins_path) BeginPath(time, goroutine, name);
  Switch(time, CpuOf(cpu), perfetto::kTaskRunnable,
         static_cast<uint64_t>(track_events_.TidOf(goroutine)), name);
}

void SchedulingWriter::Stop(int64_t time, GoId goroutine, StringId name, ProcId id, GoState state) {
  // Perfetto also needs the CPU that it leaves.
  if (!uses_ftrace() || !IsCpu(id)) {
    return AddGenericState(time, goroutine, name, state, id);
  }
  if (state == GoState::kNotExist) generic_names_.erase(goroutine);
  Cpu& cpu = CpuOf(id);
  if (cpu.current != static_cast<uint64_t>(track_events_.TidOf(goroutine))) return;
  Switch(time, cpu, LinuxState(state), 0, StringId::kEmpty);
}

void SchedulingWriter::Switch(int64_t time, Cpu& cpu, uint64_t prev_state, uint64_t next,
                              StringId name) {
  // In a damaged trace, times may go back.
  if (time < cpu.last_switch) FlushCpu(cpu);
  if (!cpu.has_begun) {
    cpu.has_begun = true;
    cpu.first_switch = time;
    Switch(time, cpu, perfetto::kTaskRunnable, 0, StringId::kEmpty);
  }
  AddTime(time, &cpu.last_switch, &cpu.switch_times);
  cpu.prev_states.push_back(prev_state);
  cpu.next_ids.push_back(next);
  cpu.switch_names.push_back(IndexOfName(cpu, name));
  cpu.current = next;
  cpu.current_name = name;
  if (time == cpu.first_switch) {
    cpu.first = next;
    cpu.first_name = name;
  }
  if (cpu.switch_times.size() >= kMaxBundle) FlushCpu(cpu);
}

uint64_t SchedulingWriter::IndexOfName(Cpu& cpu, StringId name) {
  const auto [it, is_new] = cpu.name_indices.try_emplace(name, cpu.names.size());
  if (is_new) cpu.names.push_back(name);
  return it->second;
}

void SchedulingWriter::SetLastState(int64_t time, GoId goroutine, StringId name, ProcId cpu,
                                    GoState state) {
  if (state != GoState::kRunning) {
    if (state != GoState::kRunnable && uses_ftrace()) {
      last_.push_back({time, goroutine, name, state});
      return;
    }
    return AddGenericState(time, goroutine, name, state, ProcId::kNone);
  }
  Stop(time, goroutine, name, cpu, GoState::kRunnable);
  if (uses_ftrace() && IsCpu(cpu)) Start(time, goroutine, name, cpu);
}

void SchedulingWriter::SetReason(int64_t time, GoId goroutine, StringId reason, bool is_io) {
  if (!uses_ftrace() || reason == StringId::kEmpty) return;
  Cpu& cpu = CpuOf(ProcId::kNone);
  {
    pbf_writer events(cpu.events);
    pbf_writer event(events, FtraceEventBundle::kEvent);
    // Perfetto would ignore it at the time of the switch.
    event.add_uint64(FtraceEvent::kTimestamp, static_cast<uint64_t>(time) + 1);
    event.add_uint32(FtraceEvent::kPid, 0);  // Perfetto ignores events without one.
    pbf_writer blocked(event, FtraceEvent::kSchedBlockedReason);
    blocked.add_int32(perfetto::SchedBlockedReason::kPid, track_events_.TidOf(goroutine));
    blocked.add_uint64(perfetto::SchedBlockedReason::kCaller,
                       track_events_.InternKernelSymbol(reason));
    if (is_io) blocked.add_uint32(perfetto::SchedBlockedReason::kIoWait, 1);
  }
  if (cpu.events.size() >= kMaxEventBytes) FlushCpu(cpu);
}

void SchedulingWriter::Wake(int64_t time, GoId goroutine, StringId name, GoId waker, ProcId id) {
  LeaveInitialState(time, goroutine);
  if (!uses_ftrace()) {
    return AddGenericState(time, goroutine, name, GoState::kRunnable, ProcId::kNone);
  }
  const uint64_t waker_id =
      waker == GoId::kNone ? 0 : static_cast<uint64_t>(track_events_.TidOf(waker));
  Cpu& cpu = CpuOf(id);
  // In compact form, the waker is the thread that runs on the CPU.
  if (cpu.has_begun && waker_id == cpu.current && time >= cpu.last_switch && IsCpu(id)) {
    if (time < cpu.last_waking) FlushCpu(cpu);
    AddTime(time, &cpu.last_waking, &cpu.waking_times);
    cpu.waking_ids.push_back(static_cast<uint64_t>(track_events_.TidOf(goroutine)));
    cpu.waking_names.push_back(IndexOfName(cpu, name));
    if (cpu.waking_times.size() >= kMaxBundle) FlushCpu(cpu);
    return;
  }
  {
    pbf_writer events(cpu.events);
    pbf_writer event(events, FtraceEventBundle::kEvent);
    event.add_uint64(FtraceEvent::kTimestamp, static_cast<uint64_t>(time));
    event.add_uint32(FtraceEvent::kPid, static_cast<uint32_t>(waker_id));
    pbf_writer waking(event, FtraceEvent::kSchedWaking);
    const absl::string_view comm = interner_.String(name);
    waking.add_string(perfetto::SchedWaking::kComm, comm.data(), comm.size());
    waking.add_int32(perfetto::SchedWaking::kPid, track_events_.TidOf(goroutine));
    waking.add_int32(perfetto::SchedWaking::kTargetCpu, static_cast<int32_t>(cpu.cpu));
  }
  if (cpu.events.size() >= kMaxEventBytes) FlushCpu(cpu);
}

void SchedulingWriter::SetState(int64_t time, GoId goroutine, StringId name, GoState state) {
  LeaveInitialState(time, goroutine);
  AddGenericState(time, goroutine, name, state, ProcId::kNone);
}

void SchedulingWriter::AddGenericState(int64_t time, GoId goroutine, StringId name, GoState state,
                                       ProcId cpu) {
  packets_.Add([&](pbf_writer& packet) {
    packet.add_uint64(TracePacket::kTimestamp, static_cast<uint64_t>(time));
    pbf_writer event(packet, TracePacket::kGenericKernelTaskStateEvent);
    if (cpu != ProcId::kNone) {
      event.add_int32(GenericKernelTaskState::kCpu,
                      IsCpu(cpu) ? static_cast<int32_t>(cpu.value) : perfetto::kMaxGenericCpu);
    }
    // The name is written once.
    if (name != StringId::kEmpty) {
      StringId& written = generic_names_[goroutine];
      if (written != name) {
        const absl::string_view comm = interner_.String(name);
        event.add_string(GenericKernelTaskState::kComm, comm.data(), comm.size());
        written = name;
      }
    }
    event.add_int64(GenericKernelTaskState::kTid, track_events_.TidOf(goroutine));
    event.add_enum(GenericKernelTaskState::kState, static_cast<int32_t>(GenericState(state)));
  });
  if (state == GoState::kNotExist) generic_names_.erase(goroutine);
}

void SchedulingWriter::FlushCpu(Cpu& cpu) {
  if (cpu.switch_times.empty() && cpu.waking_times.empty() && cpu.events.empty()) return;
  std::string fields;
  {
    pbf_writer bundle(fields);
    bundle.add_uint32(FtraceEventBundle::kCpu, static_cast<uint32_t>(cpu.cpu));
    if (!cpu.switch_times.empty() || !cpu.waking_times.empty()) {
      pbf_writer compact(bundle, FtraceEventBundle::kCompactSched);
      for (const StringId name : cpu.names) {
        const absl::string_view text = interner_.String(name);
        compact.add_string(CompactSched::kInternTable, text.data(), text.size());
      }
      const std::vector<uint64_t> zeros(kMaxBundle);
      const absl::Span<const uint64_t> switch_zeros(zeros.data(), cpu.switch_times.size());
      AddPacked(CompactSched::kSwitchTimestamp, cpu.switch_times, &compact);
      AddPacked(CompactSched::kSwitchPrevState, cpu.prev_states, &compact);
      AddPacked(CompactSched::kSwitchNextPid, cpu.next_ids, &compact);
      AddPacked(CompactSched::kSwitchNextPrio, switch_zeros, &compact);
      AddPacked(CompactSched::kSwitchNextCommIndex, cpu.switch_names, &compact);
      const absl::Span<const uint64_t> waking_zeros(zeros.data(), cpu.waking_times.size());
      AddPacked(CompactSched::kWakingTimestamp, cpu.waking_times, &compact);
      AddPacked(CompactSched::kWakingPid, cpu.waking_ids, &compact);
      AddPacked(CompactSched::kWakingTargetCpu, waking_zeros, &compact);
      AddPacked(CompactSched::kWakingPrio, waking_zeros, &compact);
      AddPacked(CompactSched::kWakingCommIndex, cpu.waking_names, &compact);
      AddPacked(CompactSched::kWakingCommonFlags, waking_zeros, &compact);
    }
  }
  fields += cpu.events;
  packets_.Add([&](pbf_writer& packet) {
    track_events_.AddSequence(&packet);
    packet.add_message(TracePacket::kFtraceEvents, fields);
    track_events_.AddInterned(&packet);
  });
  for (std::vector<uint64_t>* const column :
       {&cpu.switch_times, &cpu.prev_states, &cpu.next_ids, &cpu.switch_names, &cpu.waking_times,
        &cpu.waking_ids, &cpu.waking_names}) {
    column->clear();
  }
  cpu.names.clear();
  cpu.name_indices.clear();
  cpu.events.clear();
}

void SchedulingWriter::Flush() {
  FlushLastStates();
  FlushInitialStates();
  for (auto& [id, cpu] : cpus_) FlushCpu(cpu);
}

}  // namespace gotrace::internal
