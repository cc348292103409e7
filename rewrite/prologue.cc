#include "rewrite/prologue.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "parser/order/open_ranges.h"
#include "rewrite/generation_writer.h"
#include "tracev2/wire_status.h"

namespace gotrace::internal {
namespace {

constexpr uint64_t kNobody = ~uint64_t{0};

// An event on a helper, or of a goroutine in a syscall, makes GenerationWriter add at most this
// many: two statuses, and a stop and a start of a P.
constexpr int64_t kMaxAdded = 4;

class PrologueMaker {
 public:
  // `past` and `tables` are nullptr for a generation that is not the first.
  PrologueMaker(const ProgramModel& model, const PastEvents* past, Version version,
                JoinedTables* tables)
      : model_(model),
        past_(past),
        version_(version),
        tables_(tables),
        goroutines_(model.GoroutineIds()) {
    if (past != nullptr) part_.emplace(&past->tables(), tables);
  }

  Prologue Make() {
    if (past_ != nullptr) {
      ChooseHelper();
      FindOpen();
      for (const auto& [id, events] : open_) {
        if (!Runs(id)) OpenOnHelper(id, events);
      }
      if (helper_is_used_) Add(EventType::kProcStop, kHelper, GoId::kNone, ProcId::kNone);
    }
    for (const ProcId id : model_.ProcIds()) StateProc(id);
    for (const GoId id : goroutines_) {
      if (!opened_.contains(id)) StateGoroutine(id);
    }
    // A label makes a goroutine a mark worker of the GC cycle that is active.
    StateRanges();
    for (const auto& [id, events] : open_) {
      if (Runs(id)) AddOf(id, events);
    }
    return std::move(prologue_);
  }

 private:
  using Goroutine = ProgramModel::Goroutine;
  using Proc = ProgramModel::Proc;
  static constexpr ThreadId kHelper = GenerationWriter::kHelper;

  static uint64_t Number(GoId id) { return static_cast<uint64_t>(id.value); }
  static uint64_t Number(ProcId id) { return static_cast<uint64_t>(id.value); }
  static uint64_t Number(ThreadId id) { return static_cast<uint64_t>(id.value); }

  static WriterEvent Make(EventType type, std::initializer_list<uint64_t> args) {
    WriterEvent event;
    event.type = type;
    std::copy(args.begin(), args.end(), event.args);
    return event;
  }

  void Add(EventType type, ThreadId thread, GoId goroutine, ProcId proc,
           std::initializer_list<uint64_t> args = {}) {
    WriterEvent event = Make(type, args);
    event.thread = thread;
    event.goroutine = goroutine;
    event.proc = proc;
    prologue_.events.push_back(event);
    ++prologue_.length;
  }

  const Goroutine& Get(GoId id) const { return *model_.FindGoroutine(id); }

  // Returns the P of the goroutine's thread, or kNone.
  ProcId ProcOf(GoId id) const {
    const ThreadId thread = Get(id).thread;
    return thread == ThreadId::kNone ? ProcId::kNone : model_.FindThread(thread).proc;
  }

  // Returns whether the goroutine can write events.
  bool Runs(GoId id) const {
    if (Get(id).status != GoStatus::kRunning || ProcOf(id) == ProcId::kNone) return false;
    return model_.FindProc(ProcOf(id))->status == ProcStatus::kRunning;
  }

  // Returns whether it can be made to write events on a helper, or in place of its syscall.
  bool CanOpenOnHelper(GoId id) const {
    const bool has_proc = helper_proc_ != ProcId::kNone;
    switch (Get(id).status) {
      case GoStatus::kRunnable:
      case GoStatus::kWaiting:
        return has_proc;
      case GoStatus::kSyscall:
        return Get(id).thread != ThreadId::kNone && (has_proc || ProcOf(id) != ProcId::kNone);
      case GoStatus::kBad:
      case GoStatus::kRunning:
        break;
    }
    return false;
  }

  // Chooses a P that can be running on another thread first: Idle, or running itself.
  void ChooseHelper() {
    for (const ProcId id : model_.ProcIds()) {
      const Proc& proc = *model_.FindProc(id);
      if (proc.status == ProcStatus::kIdle) {
        helper_proc_ = id;
        return;
      }
      const bool runs = proc.status == ProcStatus::kRunning && proc.thread != ThreadId::kNone;
      if (runs && helper_proc_ == ProcId::kNone) helper_proc_ = id;
    }
  }

  // Collects what goroutines have to begin, in open_.
  void FindOpen() {
    std::optional<GoId> speaker;  // Of what belongs to no goroutine.
    for (const GoId id : goroutines_) {
      if (!Runs(id)) continue;
      speaker = id;
      break;
    }
    for (const GoId id : goroutines_) {
      if (speaker.has_value()) break;
      if (CanOpenOnHelper(id)) speaker = id;
    }
    if (!speaker.has_value()) return;
    const auto open = [&](GoId id, EventType type, std::initializer_list<uint64_t> args) {
      const bool can_write =
          model_.FindGoroutine(id) != nullptr && (Runs(id) || CanOpenOnHelper(id));
      open_[can_write ? id : *speaker].push_back(Make(type, args));
    };
    if (past_->procs().has_value()) {
      open(*speaker, EventType::kProcsChange, {*past_->procs(), 0});
    }
    if (past_->heap().has_value()) open(*speaker, EventType::kHeapAlloc, {*past_->heap()});
    if (past_->heap_goal().has_value()) {
      open(*speaker, EventType::kHeapGoal, {*past_->heap_goal()});
    }
    for (const auto& [id, task] : past_->tasks()) {
      const uint64_t parent = task.parent == TaskId::kNone ? 0 : task.parent.value;
      open(task.creator, EventType::kUserTaskBegin, {id, parent, String(task.type), 0});
    }
    for (const GoId id : goroutines_) OpenSpansOf(id);
    if (version_ >= Version::kGo123) return;
    for (const GoId id : goroutines_) {
      const PastEvents::Goroutine* const past = past_->Find(id);
      if (past != nullptr && past->stack != 0 && !Runs(id) && CanOpenOnHelper(id)) open_[id];
    }
  }

  void OpenSpansOf(GoId id) {
    const Goroutine& goroutine = Get(id);
    const bool runs = Runs(id);
    if (!runs && !CanOpenOnHelper(id)) return;
    if (const PastEvents::Goroutine* const past = past_->Find(id); past != nullptr) {
      if (runs && past->label != 0) {
        open_[id].push_back(Make(EventType::kGoLabel, {String(past->label)}));
      }
      // A goroutine that changes GOMAXPROCS may lose its own P, and wait for another one.
      if (past->stop.has_value() && goroutine.status != GoStatus::kSyscall) {
        open_[id].push_back(Make(EventType::kSTWBegin, {String(*past->stop), 0}));
      }
    }
    const std::vector<PastEvents::Region> earlier = past_->EarlierRegions(id);
    for (auto region = earlier.rbegin(); region != earlier.rend(); ++region) {
      open_[id].push_back(
          Make(EventType::kUserRegionBegin, {region->task, String(region->type), 0}));
    }
    if (goroutine.spans == nullptr) return;
    for (const ProgramModel::Region& region : goroutine.spans->regions) {
      open_[id].push_back(
          Make(EventType::kUserRegionBegin, {region.task, AddString(region.name), 0}));
    }
  }

  // Makes a goroutine that does not run write `events`, and then enter its state.
  void OpenOnHelper(GoId id, const std::vector<WriterEvent>& events) {
    const Goroutine& goroutine = Get(id);
    const bool in_syscall = goroutine.status == GoStatus::kSyscall;
    const ProcId own_proc = in_syscall ? ProcOf(id) : ProcId::kNone;
    const ThreadId thread = in_syscall ? goroutine.thread : kHelper;
    const ProcId proc = own_proc == ProcId::kNone ? helper_proc_ : own_proc;
    for (WriterEvent event : events) {
      event.thread = thread;
      event.goroutine = id;
      event.proc = proc;
      prologue_.events.push_back(event);
      ++prologue_.length;
    }
    const PastEvents::Goroutine* const past = past_->Find(id);
    const uint64_t reason = past == nullptr ? 0 : String(past->reason);
    const uint64_t stack = past == nullptr ? 0 : StackId(past->stack);
    if (in_syscall) {
      Add(EventType::kGoSyscallBegin, thread, id, proc, {0, stack});
      // Between the last two events of a syscall that blocked, the thread has a P that runs.
      const bool runs =
          own_proc != ProcId::kNone && model_.FindProc(own_proc)->status == ProcStatus::kRunning;
      if (own_proc == ProcId::kNone || runs) Add(EventType::kProcStop, thread, id, proc);
      if (runs) Add(EventType::kProcStart, thread, id, ProcId::kNone, {Number(own_proc), 0});
    } else {
      const bool waits = goroutine.status == GoStatus::kWaiting;
      Add(waits ? EventType::kGoBlock : EventType::kGoStop, thread, id, proc, {reason, stack});
    }
    prologue_.length += 2 * kMaxAdded;
    helper_is_used_ |= proc == helper_proc_;
    if (own_proc != ProcId::kNone) stated_procs_.insert(own_proc);
    opened_.insert(id);
  }

  void AddOf(GoId id, const std::vector<WriterEvent>& events) {
    for (WriterEvent event : events) {
      event.thread = Get(id).thread;
      event.goroutine = id;
      event.proc = ProcOf(id);
      prologue_.events.push_back(event);
      ++prologue_.length;
    }
  }

  void StateProc(ProcId id) {
    const Proc& proc = *model_.FindProc(id);
    const bool binds = proc.status == ProcStatus::kRunning || proc.status == ProcStatus::kSyscall;
    if (proc.status == ProcStatus::kBad || (binds && proc.thread == ThreadId::kNone)) return;
    if (stated_procs_.contains(id)) return;
    if (helper_is_used_ && id == helper_proc_) {
      if (!binds) return;
      prologue_.length += kMaxAdded;  // It starts on its own thread.
    }
    Add(EventType::kProcStatus, binds ? proc.thread : ThreadId::kNone, GoId::kNone, ProcId::kNone,
        {Number(id), static_cast<uint64_t>(proc.status)});
  }

  void StateGoroutine(GoId id) {
    const Goroutine& goroutine = Get(id);
    const bool binds =
        goroutine.status == GoStatus::kRunning || goroutine.status == GoStatus::kSyscall;
    if (goroutine.status == GoStatus::kBad || (binds && goroutine.thread == ThreadId::kNone)) {
      return;
    }
    const PastEvents::Goroutine* const past = past_ == nullptr ? nullptr : past_->Find(id);
    const uint64_t stack = past == nullptr || version_ < Version::kGo123 ? 0 : StackId(past->stack);
    Add(stack == 0 ? EventType::kGoStatus : EventType::kGoStatusStack,
        binds ? goroutine.thread : ThreadId::kNone, GoId::kNone, ProcId::kNone,
        {Number(id), binds ? Number(goroutine.thread) : kNobody,
         static_cast<uint64_t>(goroutine.status), stack});
  }

  void StateRanges() {
    StateGc();
    for (const ProcId id : model_.ProcIds()) {
      const Proc& proc = *model_.FindProc(id);
      if (!proc.sweeping) continue;
      // Who runs on the P sweeps. This is known only of the begin of a sweep.
      const GoId sweeper = model_.FindThread(proc.thread).goroutine;
      if (past_ != nullptr && sweeper != GoId::kNone && Runs(sweeper)) {
        Add(EventType::kGCSweepBegin, proc.thread, sweeper, id, {0});
        continue;
      }
      Add(EventType::kGCSweepActive, ThreadId::kNone, GoId::kNone, ProcId::kNone, {Number(id)});
    }
    for (const GoId id : goroutines_) {
      const Goroutine& goroutine = Get(id);
      if (goroutine.spans == nullptr) continue;
      if (goroutine.spans->ranges.FindFirst(EventType::kGCMarkAssistBegin) == OpenRanges::kNone) {
        continue;
      }
      Add(EventType::kGCMarkAssistActive, ThreadId::kNone, GoId::kNone, ProcId::kNone,
          {Number(id)});
    }
  }

  // The first event of the garbage collector in a trace needs no goroutine and may have any number.
  // Each further one has the next.
  void StateGc() {
    if (model_.gc() != ProgramModel::Gc::kRunning) return;
    if (past_ != nullptr) {
      return Add(EventType::kGCActive, ThreadId::kNone, GoId::kNone, ProcId::kNone,
                 {model_.gc_number()});
    }
    for (const GoId id : goroutines_) {
      if (!Runs(id)) continue;
      return Add(EventType::kGCActive, Get(id).thread, id, ProcOf(id), {model_.gc_number() + 1});
    }
  }

  // Return the ids of strings and stacks of `past_` in the tables of the prologue.
  uint64_t String(uint64_t id) { return part_->StringId(id).value_or(0); }
  uint64_t StackId(uint64_t id) { return part_->StackId(id).value_or(0); }
  uint64_t AddString(absl::string_view text) { return tables_->AddString(text); }

  const ProgramModel& model_;
  const PastEvents* const past_;
  const Version version_;
  JoinedTables* const tables_;
  const std::vector<GoId> goroutines_;
  std::optional<JoinedTables::Part> part_;
  ProcId helper_proc_;
  bool helper_is_used_ = false;
  std::map<GoId, std::vector<WriterEvent>> open_;
  std::set<GoId> opened_;          // The goroutines of which OpenOnHelper() was called.
  std::set<ProcId> stated_procs_;  // The Ps that it left in a syscall.
  Prologue prologue_;
};

}  // namespace

void Prologue::BeginAt(int64_t begin) {
  for (WriterEvent& event : events) event.time = begin++;
}

Prologue MakeTracePrologue(const ProgramModel& model, const PastEvents& past, Version version,
                           JoinedTables* tables) {
  return PrologueMaker(model, &past, version, tables).Make();
}

Prologue MakeGenerationPrologue(const ProgramModel& model) {
  return PrologueMaker(model, nullptr, Version::kGo122, nullptr).Make();
}

}  // namespace gotrace::internal
