#include "rewrite/generation_writer.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "gotrace/internal/event_rules.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/internal/limits.h"
#include "tracev2/batch_encoder.h"
#include "tracev2/varint.h"
#include "tracev2/wire_status.h"

namespace gotrace::internal {
namespace {

// When ordering by time: how long an event may wait for one of another thread, in nanoseconds, and
// how many other events may come before it.
constexpr int64_t kMaxWaitNs = 10'000;
constexpr size_t kMaxAhead = 16;

// The maximum number of missing GC events that are added so that later sequence numbers stay valid.
constexpr uint64_t kMaxGcGap = 8;

constexpr uint64_t kNobody = ~uint64_t{0};

GoId GoArg(const WriterEvent& event) { return GoId{static_cast<int64_t>(event.args[0])}; }
ProcId ProcArg(const WriterEvent& event) { return ProcId{static_cast<int64_t>(event.args[0])}; }

uint64_t Number(GoId id) { return static_cast<uint64_t>(id.value); }
uint64_t Number(ProcId id) { return static_cast<uint64_t>(id.value); }
uint64_t Number(ThreadId id) { return static_cast<uint64_t>(id.value); }
uint64_t Number(GoStatus status) { return static_cast<uint64_t>(status); }
uint64_t Number(ProcStatus status) { return static_cast<uint64_t>(status); }

// Returns the status, Runnable or Waiting, that the subject of the event must have before it, or
// nullopt if that is no goroutine or may have any status.
std::optional<GoStatus> NextStatusOf(const WriterEvent& event) {
  switch (RuleOf(event.type).subject) {
    case Subject::kRunnableGoroutine:
      return GoStatus::kRunnable;
    case Subject::kWaitingGoroutine:
      return GoStatus::kWaiting;
    case Subject::kStatedGoroutine:
      return event.args[2] == Number(GoStatus::kWaiting) ? GoStatus::kWaiting : GoStatus::kRunnable;
    case Subject::kNone:
    case Subject::kNewGoroutine:
    case Subject::kKnownGoroutine:
    case Subject::kStatedProc:
    case Subject::kKnownProc:
    case Subject::kIdleProc:
    case Subject::kSyscallProc:
    case Subject::kGC:
      break;
  }
  return std::nullopt;
}

// Chooses PCs for the frames whose PC is unknown, at addresses where no program has code. Equal
// frames get the same one.
class UnknownPcs {
 public:
  // Call it for all PCs that are known, before the first PcOf().
  void NoteKnown(uint64_t pc) {
    if (pc >= kFirst) known_.insert(pc);
  }

  // Returns the PC with which to write the frame.
  uint64_t PcOf(const TableSource::Frame& frame) {
    if (frame.pc.has_value()) return *frame.pc;
    const auto [it, is_new] = chosen_.try_emplace(frame, 0);
    if (!is_new) return it->second;
    do {
      --last_;
    } while (known_.contains(last_));
    return it->second = last_;
  }

 private:
  static constexpr uint64_t kFirst = uint64_t{1} << 63;

  absl::flat_hash_set<uint64_t> known_;
  absl::flat_hash_map<TableSource::Frame, uint64_t> chosen_;
  uint64_t last_ = 0;  // Counts down.
};

}  // namespace

std::vector<WriterBatch> ExperimentalBatches(const EventTables& tables) {
  std::vector<WriterBatch> all;
  for (const ExperimentalData& data : tables.experimental_batches()) {
    for (const ExperimentalBatch& batch : data.batches) {
      all.push_back({data.experiment, batch.thread, batch.data});
    }
  }
  return all;
}

void GenerationContent::SetEvents(std::vector<WriterEvent> all) {
  events = std::move(all);
  const auto is_earlier = [](const WriterEvent& a, const WriterEvent& b) {
    return a.time < b.time;
  };
  order_by_time = !std::is_sorted(events.begin(), events.end(), is_earlier);
}

WrittenGeneration GenerationWriter::Write(GenerationContent content, std::string* out) {
  content_ = &content;
  out_ = out;
  result_ = WrittenGeneration();
  const size_t strings_before = content.tables.added_strings();
  subjects_.clear();
  has_subjects_ = false;
  const bool takes_frequency = content.frequency >= EventEncoder::kMinFrequency &&
                               content.frequency <= EventEncoder::kMaxFrequency;
  const uint64_t frequency = takes_frequency ? content.frequency : EventEncoder::kNanoseconds;
  EventEncoder encoder(content.number, frequency, out);
  encoder_ = &encoder;
  begin_ticks_ = encoder.TicksAt(std::min(content.begin, EventEncoder::kMaxTime));
  std::string sync;
  if (version_ >= Version::kGo125) AppendEvent(EventType::kSync, {}, &sync);
  AppendEvent(EventType::kFrequency, {frequency}, &sync);
  if (version_ >= Version::kGo125) {
    const ClockSnapshot& snapshot = content.clock_snapshot;
    const uint64_t ticks = encoder.TicksAt(std::min(snapshot.trace_time, EventEncoder::kMaxTime));
    const absl::Duration wall = snapshot.wall - absl::UnixEpoch();
    const int64_t seconds = absl::ToUnixSeconds(snapshot.wall);
    AppendEvent(EventType::kClockSnapshot,
                {ticks - begin_ticks_, snapshot.mono, static_cast<uint64_t>(seconds),
                 static_cast<uint64_t>(absl::ToInt64Nanoseconds(wall - absl::Seconds(seconds)))},
                &sync);
  }
  AppendBatch({content.number, BatchHeader::kNoThread, begin_ticks_}, sync,
              BatchSizeForm::kShortest, out);
  model_.BeginGeneration();
  WriteStated();
  content.order_by_time ? WriteByTime() : WriteInOrder();
  if (content.last_until.has_value()) LastUntil(*content.last_until);
  encoder.Finish();
  model_.EndGeneration();
  WriteTables();
  if (version_ >= Version::kGo126) out->push_back(static_cast<char>(EventType::kEndOfGeneration));
  result_.events += content.samples.size();
  result_.changed |= result_.events_added + result_.events_left_out > 0;
  result_.strings_added = content.tables.added_strings() - strings_before;
  encoder_ = nullptr;
  content_ = nullptr;
  return result_;
}

void GenerationWriter::WriteStated() {
  for (place_ = 0; place_ < content_->stated; ++place_) WriteListed(content_->events[place_]);
  const uint64_t events = result_.events;
  result_ = WrittenGeneration();
  result_.events = result_.stated = events;
  result_.changed = events > 0;
}

void GenerationWriter::LastUntil(int64_t time) {
  if (time <= encoder_->last_time()) return;
  for (const ProcId id : model_.ProcIds()) {
    const Proc& proc = *model_.FindProc(id);
    const bool is_bound = proc.thread != ThreadId::kNone;
    const bool needs_thread =
        proc.status == ProcStatus::kRunning || proc.status == ProcStatus::kSyscall;
    if (is_bound != needs_thread) continue;
    WriterEvent event;
    event.type = EventType::kProcStatus;
    event.thread = proc.thread;
    event.args[0] = Number(id);
    event.args[1] = Number(proc.status);
    time_ = time;
    Put(event);
    ++result_.stated;
    return;
  }
}

void GenerationWriter::WriteInOrder() {
  for (place_ = content_->stated; place_ < content_->events.size(); ++place_) {
    WriteListed(content_->events[place_]);
  }
}

void GenerationWriter::WriteByTime() {
  const std::vector<WriterEvent>& events = content_->events;
  // The events of a thread, and the index of the next one.
  struct Queue {
    std::vector<uint32_t> places;
    size_t next = 0;
  };
  std::vector<Queue> queues;
  absl::flat_hash_map<ThreadId, size_t> index;
  for (size_t i = content_->stated; i < events.size(); ++i) {
    const auto [it, is_new] = index.try_emplace(events[i].thread, queues.size());
    if (is_new) queues.emplace_back();
    queues[it->second].places.push_back(static_cast<uint32_t>(i));
  }
  struct Head {
    int64_t time;
    uint32_t place;
    size_t queue;
    bool operator<(const Head& other) const {  // std::priority_queue returns the greatest first.
      return time != other.time ? time > other.time : place > other.place;
    }
  };
  std::priority_queue<Head> heads;
  const auto push = [&](size_t queue) {
    Queue& from = queues[queue];
    if (from.next == from.places.size()) return;
    const uint32_t place = from.places[from.next];
    heads.push({events[place].time, place, queue});
  };
  for (size_t i = 0; i < queues.size(); ++i) push(i);
  std::vector<Head> tried;
  while (!heads.empty()) {
    tried.clear();
    const int64_t until = heads.top().time + kMaxWaitNs;
    size_t chosen = 0;
    while (!heads.empty() && tried.size() < kMaxAhead && heads.top().time <= until) {
      tried.push_back(heads.top());
      heads.pop();
      if (!CanComeNext(events[tried.back().place])) continue;
      chosen = tried.size() - 1;
      break;
    }
    for (size_t i = 0; i < tried.size(); ++i) {
      if (i != chosen) heads.push(tried[i]);
    }
    place_ = tried[chosen].place;
    WriteListed(events[place_]);
    ++queues[tried[chosen].queue].next;
    push(tried[chosen].queue);
  }
}

void GenerationWriter::WriteListed(const WriterEvent& listed) {
  time_ = listed.time;
  WriterEvent event = listed;
  first_added_ = EventType::kNone;
  altered_ = false;
  const EventRule& rule = RuleOf(event.type);
  const bool lacks_thread = event.thread == ThreadId::kNone && !rule.MayHaveNoThread();
  // The model has no goroutine or P whose id means none.
  const bool lacks_subject = rule.subject_kind() != ResourceKind::kNone && event.args[0] == kNobody;
  const bool is_left_out = lacks_thread || lacks_subject || !Admit(&event);
  const bool contradicts = is_left_out || altered_ || first_added_ != EventType::kNone;
  if (contradicts && !result_.contradiction.has_value()) {
    result_.contradiction = {listed.type, listed.number, listed.time, first_added_};
  }
  if (is_left_out) {
    ++result_.events_left_out;
    return;
  }
  result_.changed |= event.type != listed.type || event.thread != listed.thread;
  Put(event);
}

void GenerationWriter::Put(WriterEvent event) {
  uint64_t before[std::size(event.args)];
  std::copy(std::begin(event.args), std::end(event.args), before);
  const bool is_region = event.type == EventType::kUserRegionBegin;
  result_.events += model_.Apply(&event, is_region ? StringOf(event.args[1]) : "");
  if (is_region && content_->tables.IsMissingString(event.args[1])) {
    const GoId own = model_.FindThread(event.thread).goroutine;
    model_.FindGoroutine(own)->spans->regions.back().name_is_lost = true;
  }
  const EventSpec& spec = *FindEventSpec(event.type);
  const size_t count = spec.arg_count - 1;
  // With the original sequence number, Go's reader would wait.
  result_.changed |= !std::equal(before, before + count, event.args);
  encoder_->Add(event.thread, event.type, absl::MakeConstSpan(event.args, count), time_);
}

void GenerationWriter::Add(EventType type, ThreadId thread, std::initializer_list<uint64_t> args) {
  WriterEvent event;
  event.type = type;
  event.thread = thread;
  std::copy(args.begin(), args.end(), event.args);
  ++result_.events_added;
  if (first_added_ == EventType::kNone) first_added_ = type;
  Put(event);
}

void GenerationWriter::AddStatus(EventType type, ThreadId thread,
                                 std::initializer_list<uint64_t> args) {
  WriterEvent event;
  event.type = type;
  event.thread = thread;
  std::copy(args.begin(), args.end(), event.args);
  ++result_.statuses_added;
  Put(event);
}

// Admitting events. ------------------------------------------------------------------------------

bool GenerationWriter::Admit(WriterEvent* event) {
  const EventRule& rule = RuleOf(event->type);
  switch (kEventKinds[static_cast<uint8_t>(event->type)]) {
    case EventKind::kStateTransition:
      return AdmitTransition(event);
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      if (rule.subject == Subject::kGC) return AdmitGc(*event);
      return rule.IsAboutGoroutine() ? AdmitGoRange(*event) : AdmitSweep(*event);
    case EventKind::kTaskBegin:
      return AdmitTaskBegin(*event);
    case EventKind::kRegionEnd:
      return MakeContext(*event) && AdmitRegionEnd(event);
    case EventKind::kMetric:
    case EventKind::kLabel:
    case EventKind::kTaskEnd:
    case EventKind::kRegionBegin:
    case EventKind::kLog:
    case EventKind::kExperimental:
      return MakeContext(*event);
    case EventKind::kNone:
    case EventKind::kSync:
    case EventKind::kStackSample:
      break;
  }
  return false;
}

bool GenerationWriter::AdmitTransition(WriterEvent* event) {
  switch (TransitionTypeOf(event->type)) {
    case TransitionType::kProcStatus:
      return AdmitProcStatus(event);
    case TransitionType::kProcStart:
      return AdmitProcStart(*event);
    case TransitionType::kProcStop:
      if (event->proc == ProcId::kNone && model_.FindThread(event->thread).proc == ProcId::kNone) {
        return false;
      }
      return MakeContext(*event);
    case TransitionType::kProcSteal:
      return AdmitProcSteal(event);
    case TransitionType::kGoStatus:
    case TransitionType::kGoStatusStack:
      return AdmitGoStatus(event);
    case TransitionType::kGoCreate:
    case TransitionType::kGoCreateBlocked:
      return AdmitGoCreate(*event);
    case TransitionType::kGoCreateSyscall:
      return AdmitGoCreateSyscall(*event);
    case TransitionType::kGoStart:
      if (!UnbindGoroutine(event->thread) || !MakeRunnable(GoArg(*event), event->thread))
        return false;
      State(GoArg(*event), event->thread, /*needed=*/true);
      if (!UnbindGoroutine(event->thread) || !GiveProc(event->thread, event->proc)) return false;
      StateContext(*event);
      return true;
    case TransitionType::kGoUnblock:
      if (!MakeWaiting(GoArg(*event), event->thread)) return false;
      State(GoArg(*event), event->thread, /*needed=*/true);
      // The unblocking goroutine need not run, but if it is known, the context must show it.
      if (event->goroutine != GoId::kNone && event->goroutine != GoArg(*event) &&
          event->thread != ThreadId::kNone &&
          model_.FindThread(event->thread).goroutine != event->goroutine) {
        return MakeRunning(event->thread, event->goroutine, event->proc);
      }
      return true;
    case TransitionType::kGoSwitch:
    case TransitionType::kGoSwitchDestroy:
      return AdmitGoSwitch(*event);
    case TransitionType::kGoSyscallBegin:
      if (!MakeContext(*event)) return false;
      State(model_.FindThread(event->thread).proc, event->thread, /*needed=*/true);
      return true;
    case TransitionType::kGoSyscallEnd:
    case TransitionType::kGoSyscallEndBlocked:
    case TransitionType::kGoDestroySyscall:
      return AdmitSyscallEnd(*event);
    case TransitionType::kGoDestroy:
    case TransitionType::kGoStop:
    case TransitionType::kGoBlock:
      return MakeContext(*event);
  }
  return false;
}

bool GenerationWriter::AdmitProcStatus(WriterEvent* event) {
  const ProcId id = ProcArg(*event);
  const ThreadId thread = event->thread;
  if (event->args[1] < Number(ProcStatus::kRunning) ||
      event->args[1] > Number(ProcStatus::kSyscallAbandoned)) {
    return false;
  }
  const ProcStatus status = static_cast<ProcStatus>(event->args[1]);
  const bool binds = status == ProcStatus::kRunning || status == ProcStatus::kSyscall;
  const ProcId bound = binds ? model_.FindThread(thread).proc : ProcId::kNone;
  if (bound != ProcId::kNone && bound != id) MakeIdle(bound, thread);
  const Proc* const proc = model_.FindProc(id);
  if (proc == nullptr) return true;
  // The thread that writes the status then has the P.
  const bool is_there = !binds || proc->thread == thread || proc->thread == ThreadId::kNone;
  if (proc->status == status && is_there) return true;
  switch (status) {
    case ProcStatus::kIdle:
      MakeIdle(id, thread);
      return true;
    case ProcStatus::kRunning:
    case ProcStatus::kSyscall:
      if (thread == ThreadId::kNone || !GiveProc(thread, id)) return false;
      altered_ |= event->args[1] != Number(model_.FindProc(id)->status);
      event->args[1] = Number(model_.FindProc(id)->status);
      return true;
    default:
      return proc->status == ProcStatus::kSyscall && proc->thread != ThreadId::kNone;
  }
}

bool GenerationWriter::AdmitProcStart(const WriterEvent& event) {
  const ProcId id = ProcArg(event);
  const ProcId bound = model_.FindThread(event.thread).proc;
  if (bound != ProcId::kNone) MakeIdle(bound, event.thread);
  if (model_.FindProc(id) == nullptr) {
    AddStatus(EventType::kProcStatus, event.thread, {Number(id), Number(ProcStatus::kIdle)});
    return true;
  }
  MakeIdle(id, event.thread);
  State(id, event.thread, /*needed=*/true);
  return true;
}

bool GenerationWriter::AdmitProcSteal(WriterEvent* event) {
  const ProcId id = ProcArg(*event);
  const Proc* proc = model_.FindProc(id);
  if (proc == nullptr) {
    AddStatus(EventType::kProcStatus, event->thread,
              {Number(id), Number(ProcStatus::kSyscallAbandoned)});
    return true;
  }
  if (proc->status == ProcStatus::kRunning && proc->thread != ThreadId::kNone) {
    // Its thread must have begun a syscall in the meantime.
    const ThreadId victim = proc->thread;
    const Goroutine* const running = model_.FindGoroutine(model_.FindThread(victim).goroutine);
    if (running != nullptr && running->status == GoStatus::kRunning) {
      State(id, victim, /*needed=*/true);
      Add(EventType::kGoSyscallBegin, victim, {0, 0});
    } else {
      MakeIdle(id, event->thread);
    }
    proc = model_.FindProc(id);
  }
  switch (proc->status) {
    case ProcStatus::kSyscall:
      if (proc->thread == ThreadId::kNone) return false;
      event->args[2] = Number(proc->thread);
      break;
    case ProcStatus::kSyscallAbandoned:
      break;
    default:
      return false;
  }
  State(id, event->thread, /*needed=*/true);
  return true;
}

bool GenerationWriter::AdmitGoStatus(WriterEvent* event) {
  const GoId id = GoArg(*event);
  if (event->args[2] < Number(GoStatus::kRunnable) || event->args[2] > Number(GoStatus::kWaiting)) {
    return false;
  }
  const GoStatus status = static_cast<GoStatus>(event->args[2]);
  if (status == GoStatus::kSyscall) {
    // The status is written on that thread, where Go's reader always accepts it.
    if (event->args[1] == kNobody) return false;
    event->thread = ThreadId{static_cast<int64_t>(event->args[1])};
  }
  const ThreadId thread = event->thread;
  const bool binds = status == GoStatus::kRunning || status == GoStatus::kSyscall;
  const Goroutine* goroutine = model_.FindGoroutine(id);
  const bool is_there = goroutine != nullptr && goroutine->status == status &&
                        (!binds || goroutine->thread == thread ||
                         (status == GoStatus::kRunning && goroutine->thread == ThreadId::kNone));
  if (is_there) return true;
  if (binds && thread == ThreadId::kNone) return goroutine == nullptr && model_.first();
  if (binds && model_.FindThread(thread).goroutine != id && !UnbindGoroutine(thread)) return false;
  if (goroutine == nullptr && model_.first()) return true;
  switch (status) {
    case GoStatus::kRunnable:
      return MakeRunnable(id, thread);
    case GoStatus::kWaiting:
      return MakeWaiting(id, thread);
    case GoStatus::kRunning:
      return MakeRunning(thread, id, ProcId::kNone);
    default:
      if (goroutine != nullptr) return MakeSyscall(thread, id, ProcId::kNone);
      Add(EventType::kGoCreateSyscall, thread, {Number(id)});
      return true;
  }
}

bool GenerationWriter::AdmitGoCreate(const WriterEvent& event) {
  if (model_.FindGoroutine(GoArg(event)) != nullptr) return false;
  if (event.goroutine != GoId::kNone) {
    // No goroutine creates itself.
    return event.goroutine != GoArg(event) && MakeRunningContext(event);
  }
  const Goroutine* const own = model_.FindGoroutine(model_.FindThread(event.thread).goroutine);
  if (own != nullptr && own->status != GoStatus::kRunning && !UnbindGoroutine(event.thread))
    return false;
  if (!GiveProc(event.thread, event.proc)) return false;
  StateContext(event);
  return true;
}

bool GenerationWriter::AdmitGoCreateSyscall(const WriterEvent& event) {
  const GoId id = GoArg(event);
  // The ids of goroutines for C threads are reused.
  if (const Goroutine* const old = model_.FindGoroutine(id); old != nullptr) {
    if (old->status != GoStatus::kSyscall || old->thread == ThreadId::kNone) return false;
    const ThreadId thread = old->thread;
    const ProcId bound = model_.FindThread(thread).proc;
    if (bound != ProcId::kNone && model_.FindProc(bound)->status != ProcStatus::kSyscall) {
      MakeIdle(bound, thread);
    }
    Add(EventType::kGoDestroySyscall, thread);
  }
  return UnbindGoroutine(event.thread);
}

bool GenerationWriter::AdmitGoSwitch(const WriterEvent& event) {
  if (GoArg(event) == event.goroutine || !MakeWaiting(GoArg(event), event.thread)) return false;
  State(GoArg(event), event.thread, /*needed=*/true);
  return MakeRunningContext(event) && model_.FindThread(event.thread).goroutine != GoArg(event);
}

bool GenerationWriter::AdmitSyscallEnd(const WriterEvent& event) {
  const ThreadId thread = event.thread;
  GoId id = event.goroutine;
  if (id == GoId::kNone) id = model_.FindThread(thread).goroutine;
  if (id == GoId::kNone) return false;
  const bool keeps_proc = event.type == EventType::kGoSyscallEnd;
  if (keeps_proc) {
    if (!MakeSyscall(thread, id, event.proc)) return false;
    StateContext(event);
    return true;
  }
  const Goroutine* const goroutine = model_.FindGoroutine(id);
  const bool is_there = goroutine != nullptr && goroutine->status == GoStatus::kSyscall &&
                        goroutine->thread == thread;
  if (!is_there && !MakeSyscall(thread, id, event.proc)) return false;
  const ProcId bound = model_.FindThread(thread).proc;
  const bool has_syscall_proc =
      bound != ProcId::kNone && model_.FindProc(bound)->status == ProcStatus::kSyscall;
  StateContext(event);
  if (event.type == EventType::kGoSyscallEndBlocked && has_syscall_proc) {
    State(bound, thread, /*needed=*/true);
    Add(EventType::kProcSteal, thread, {Number(bound), 0, Number(thread)});
  }
  if (event.type == EventType::kGoDestroySyscall && bound != ProcId::kNone && !has_syscall_proc) {
    MakeIdle(bound, thread);
  }
  return true;
}

bool GenerationWriter::AdmitGc(const WriterEvent& event) {
  using Gc = ProgramModel::Gc;
  const bool begins = event.type == EventType::kGCBegin;
  if (event.type != EventType::kGCEnd && model_.gc() == Gc::kUndetermined &&
      (begins || model_.first())) {
    return true;
  }
  if (event.type == EventType::kGCActive && model_.first()) return false;
  if (event.thread == ThreadId::kNone || !MakeRunningContext(event)) return false;
  const ThreadId thread = event.thread;
  if (model_.gc() == Gc::kUndetermined) {
    const uint64_t number = event.args[0] == 0 ? 0 : event.args[0] - 1;
    if (model_.first()) {
      Add(EventType::kGCActive, thread, {number});
    } else {
      Add(EventType::kGCBegin, thread, {number, 0});
    }
  } else if (begins == (model_.gc() == Gc::kRunning)) {
    begins ? Add(EventType::kGCEnd, thread, {0}) : Add(EventType::kGCBegin, thread, {0, 0});
  }
  // If few are missing, later generations keep their numbers.
  const uint64_t last = model_.gc_number();
  uint64_t missing = event.args[0] > last ? event.args[0] - 1 - last : 0;
  if (missing > kMaxGcGap || missing % 2 != 0) missing = 0;
  for (; missing > 0; missing -= 2) {
    const auto begin = [&] { Add(EventType::kGCBegin, thread, {0, 0}); };
    const auto end = [&] { Add(EventType::kGCEnd, thread, {0}); };
    if (begins) begin();
    end();
    if (!begins) begin();
  }
  return true;
}

bool GenerationWriter::AdmitGoRange(const WriterEvent& event) {
  if (event.type == EventType::kGCMarkAssistActive) {
    const Goroutine* const goroutine = model_.FindGoroutine(GoArg(event));
    if (goroutine == nullptr) return false;
    const bool is_open =
        goroutine->spans != nullptr &&
        goroutine->spans->ranges.FindFirst(EventType::kGCMarkAssistBegin) != OpenRanges::kNone;
    return is_open != model_.first();
  }
  if (!MakeRunningContext(event)) return false;
  Goroutine* const own = model_.FindGoroutine(model_.FindThread(event.thread).goroutine);
  const OpenRanges& ranges = own->open().ranges;
  const EventType start = FindEventSpec(event.type)->start;
  if (start != EventType::kNone) {
    if (ranges.FindFirst(start) != OpenRanges::kNone) return true;
    const bool has_reason = start == EventType::kSTWBegin;
    has_reason ? Add(start, event.thread, {AddedReason(), 0}) : Add(start, event.thread, {0});
    return true;
  }
  if (event.type == EventType::kSTWBegin) {
    // An end closes the first such range, which need not be this one.
    return ranges.Find({EventType::kSTWBegin, event.args[0]}) == OpenRanges::kNone;
  }
  if (ranges.FindFirst(EventType::kGCMarkAssistBegin) != OpenRanges::kNone) {
    Add(EventType::kGCMarkAssistEnd, event.thread);
  }
  return true;
}

bool GenerationWriter::AdmitSweep(const WriterEvent& event) {
  if (event.type == EventType::kGCSweepActive) {
    const Proc* const proc = model_.FindProc(ProcArg(event));
    return proc != nullptr && proc->sweeping != model_.first();
  }
  if (!MakeContext(event)) return false;
  const bool begins = event.type == EventType::kGCSweepBegin;
  const Proc& proc = *model_.FindProc(model_.FindThread(event.thread).proc);
  if (begins == proc.sweeping) {
    begins ? Add(EventType::kGCSweepEnd, event.thread, {0, 0})
           : Add(EventType::kGCSweepBegin, event.thread, {0});
  }
  return true;
}

bool GenerationWriter::AdmitTaskBegin(const WriterEvent& event) {
  if (!MakeContext(event)) return false;
  if (model_.HasTask(event.args[0])) {
    Add(EventType::kUserTaskEnd, event.thread, {event.args[0], 0});
  }
  return true;
}

bool GenerationWriter::AdmitRegionEnd(WriterEvent* event) {
  const Goroutine& own = *model_.FindGoroutine(model_.FindThread(event->thread).goroutine);
  // A region without a begin began before the trace.
  if (own.spans == nullptr || own.spans->regions.empty()) return true;
  const std::vector<ProgramModel::Region>& regions = own.spans->regions;
  const absl::string_view name = StringOf(event->args[1]);
  const bool is_lost = content_->tables.IsMissingString(event->args[1]);
  // A broken trace may have a million open regions, so only the innermost ones are searched.
  constexpr size_t kSearched = 100;
  const size_t first = regions.size() > kSearched ? regions.size() - kSearched : 0;
  for (size_t i = regions.size(); i > first; --i) {
    const ProgramModel::Region& region = regions[i - 1];
    // A lost name matches any region of the task. Go's reader requires the same name for both
    // events.
    const bool fits = region.name == name || is_lost || region.name_is_lost;
    if (region.task != event->args[0] || !fits) continue;
    while (regions.size() > i) {
      const ProgramModel::Region& inner = regions.back();
      Add(EventType::kUserRegionEnd, event->thread, {inner.task, StringId(inner.name), 0});
    }
    if (region.name != name) {
      event->args[1] = StringId(region.name);
      result_.changed = altered_ = true;
    }
    return true;
  }
  return false;
}

bool GenerationWriter::CanComeNext(const WriterEvent& event) const {
  const EventRule& rule = RuleOf(event.type);
  const Goroutine* const goroutine = model_.FindGoroutine(GoArg(event));
  const Proc* const proc = model_.FindProc(ProcArg(event));
  if (rule.proc == ProcNeed::kNone || rule.proc == ProcNeed::kNotSyscall) {
    const ProcId id = model_.FindThread(event.thread).proc;
    const Proc* const own = model_.FindProc(id);
    const bool in_syscall = own != nullptr && own->status == ProcStatus::kSyscall;
    if (rule.proc == ProcNeed::kNone ? id != ProcId::kNone : in_syscall) return false;
  }
  switch (rule.subject) {
    case Subject::kIdleProc:
      return proc != nullptr && proc->status == ProcStatus::kIdle;
    case Subject::kSyscallProc:
      return proc != nullptr && (proc->status == ProcStatus::kSyscall ||
                                 proc->status == ProcStatus::kSyscallAbandoned);
    case Subject::kStatedProc:
      return proc == nullptr || Number(proc->status) == event.args[1] ||
             event.args[1] == Number(ProcStatus::kSyscallAbandoned);
    case Subject::kStatedGoroutine:
      return goroutine == nullptr || Number(goroutine->status) == event.args[2];
    case Subject::kRunnableGoroutine:
      return goroutine != nullptr && goroutine->status == GoStatus::kRunnable;
    case Subject::kWaitingGoroutine:
      return goroutine != nullptr && goroutine->status == GoStatus::kWaiting;
    case Subject::kGC:
      return event.type == EventType::kGCActive || model_.gc() == ProgramModel::Gc::kUndetermined ||
             event.args[0] == model_.gc_number() + 1;
    case Subject::kNone:
    case Subject::kNewGoroutine:
    case Subject::kKnownGoroutine:
    case Subject::kKnownProc:
      break;
  }
  return true;
}

// Reaching a state. ------------------------------------------------------------------------------

bool GenerationWriter::GiveProc(ThreadId thread, ProcId id) {
  if (thread == ThreadId::kNone) return false;
  const ProcId bound = model_.FindThread(thread).proc;
  if (bound != ProcId::kNone) {
    if (id == ProcId::kNone || bound == id) return true;
    MakeIdle(bound, thread);
  }
  if (id == ProcId::kNone) id = ChooseProc(thread);
  const Proc* const proc = model_.FindProc(id);
  if (proc == nullptr) {
    AddStatus(EventType::kProcStatus, thread, {Number(id), Number(ProcStatus::kRunning)});
    // This status cannot be omitted.
    result_.changed = true;
    return true;
  }
  MakeIdle(id, thread);
  State(id, thread, /*needed=*/true);
  Add(EventType::kProcStart, thread, {Number(id)});
  return true;
}

// Prefers the P that the thread had last.
ProcId GenerationWriter::ChooseProc(ThreadId thread) {
  const std::set<ProcId>& idle = model_.idle_procs();
  const ProcId last = model_.FindThread(thread).last_proc;
  if (idle.contains(last)) return last;
  return idle.empty() ? model_.NewProc() : *idle.begin();
}

// Makes a known P Idle. `helper` is the thread that may steal it.
void GenerationWriter::MakeIdle(ProcId id, ThreadId helper) {
  const Proc& proc = *model_.FindProc(id);
  if (proc.status == ProcStatus::kIdle) return;
  if (helper == ThreadId::kNone) helper = kHelper;
  if (proc.status == ProcStatus::kSyscallAbandoned) {
    State(id, helper, /*needed=*/true);
    Add(EventType::kProcSteal, helper, {Number(id), 0, Number(helper)});
    return;
  }
  if (proc.thread == ThreadId::kNone) {
    // The thread that writes the status has the P.
    Add(EventType::kProcStatus, helper, {Number(id), Number(proc.status)});
  }
  Add(EventType::kProcStop, proc.thread);
}

// Ends the syscall of the thread's goroutine, which is then running or runnable.
void GenerationWriter::EndSyscall(ThreadId thread) {
  const Proc* const proc = model_.FindProc(model_.FindThread(thread).proc);
  const bool has_proc = proc != nullptr && proc->status == ProcStatus::kSyscall;
  Add(has_proc ? EventType::kGoSyscallEnd : EventType::kGoSyscallEndBlocked, thread);
}

bool GenerationWriter::UnbindGoroutine(ThreadId thread) {
  const GoId id = model_.FindThread(thread).goroutine;
  if (id == GoId::kNone) return true;
  const Goroutine& goroutine = *model_.FindGoroutine(id);
  State(id, thread, /*needed=*/false);
  if (goroutine.status == GoStatus::kSyscall) EndSyscall(thread);
  if (goroutine.status != GoStatus::kRunning) return true;
  if (!GiveProc(thread, ProcId::kNone)) return false;
  const bool blocks = NextStatus(id) == GoStatus::kWaiting;
  Add(blocks ? EventType::kGoBlock : EventType::kGoStop, thread, {AddedReason(), 0});
  return true;
}

bool GenerationWriter::MakeRunning(ThreadId thread, GoId id, ProcId proc) {
  if (thread == ThreadId::kNone || id == GoId::kNone) return false;
  const Goroutine* goroutine = model_.FindGoroutine(id);
  const bool is_there = goroutine != nullptr && goroutine->thread == thread;
  if (is_there && goroutine->status == GoStatus::kSyscall) EndSyscall(thread);
  if (is_there && goroutine->status == GoStatus::kRunning) return GiveProc(thread, proc);
  if (!UnbindGoroutine(thread)) return false;
  if (goroutine == nullptr && model_.first()) {
    AddStatus(EventType::kGoStatus, thread,
              {Number(id), Number(thread), Number(GoStatus::kRunning)});
    result_.changed = true;
    return GiveProc(thread, proc);
  }
  if (goroutine != nullptr && goroutine->status == GoStatus::kRunning &&
      goroutine->thread == ThreadId::kNone) {
    Add(EventType::kGoStatus, thread, {Number(id), Number(thread), Number(GoStatus::kRunning)});
    return GiveProc(thread, proc);
  }
  if (!GiveProc(thread, proc) || !MakeRunnable(id, thread)) return false;
  State(id, thread, /*needed=*/true);
  if (!UnbindGoroutine(thread) || !GiveProc(thread, proc)) return false;
  Add(EventType::kGoStart, thread, {Number(id)});
  return true;
}

bool GenerationWriter::MakeRunnable(GoId id, ThreadId helper) {
  if (id == GoId::kNone) return false;
  const Goroutine* goroutine = model_.FindGoroutine(id);
  if (goroutine == nullptr) {
    if (model_.first()) {
      AddStatus(EventType::kGoStatus, helper, {Number(id), kNobody, Number(GoStatus::kRunnable)});
      result_.changed = true;
      return true;
    }
    const BorrowedThread lent = BorrowThread(helper);
    Add(EventType::kGoCreate, lent.thread, {Number(id), 0, 0});
    ReturnThread(lent);
    return true;
  }
  switch (goroutine->status) {
    case GoStatus::kRunnable:
      return true;
    case GoStatus::kWaiting:
      State(id, helper, /*needed=*/true);
      Add(EventType::kGoUnblock, helper, {Number(id), 0, 0});
      return true;
    default:
      break;
  }
  const ThreadId thread = goroutine->thread;
  if (thread == ThreadId::kNone) {
    // The only possible next event is a status that binds it to a thread.
    return goroutine->status == GoStatus::kRunning &&
           MakeRunning(helper == ThreadId::kNone ? kHelper : helper, id, ProcId::kNone) &&
           MakeRunnable(id, helper);
  }
  State(id, thread, /*needed=*/false);
  if (goroutine->status == GoStatus::kSyscall) EndSyscall(thread);
  if (goroutine->status == GoStatus::kRunnable) return true;
  if (!GiveProc(thread, ProcId::kNone)) return false;
  Add(EventType::kGoStop, thread, {AddedReason(), 0});
  return true;
}

bool GenerationWriter::MakeWaiting(GoId id, ThreadId helper) {
  if (id == GoId::kNone) return false;
  const Goroutine* goroutine = model_.FindGoroutine(id);
  if (goroutine == nullptr && model_.first()) {
    AddStatus(EventType::kGoStatus, helper, {Number(id), kNobody, Number(GoStatus::kWaiting)});
    result_.changed = true;
    return true;
  }
  if (goroutine == nullptr && version_ >= Version::kGo123) {
    const BorrowedThread lent = BorrowThread(helper);
    Add(EventType::kGoCreateBlocked, lent.thread, {Number(id), 0, 0});
    ReturnThread(lent);
    return true;
  }
  if (goroutine != nullptr && goroutine->status == GoStatus::kWaiting) return true;
  if (goroutine != nullptr && goroutine->thread != ThreadId::kNone) {
    const ThreadId thread = goroutine->thread;
    State(id, thread, /*needed=*/false);
    if (goroutine->status == GoStatus::kSyscall) EndSyscall(thread);
    if (goroutine->status == GoStatus::kRunning) {
      if (!GiveProc(thread, ProcId::kNone)) return false;
      Add(EventType::kGoBlock, thread, {AddedReason(), 0});
      return true;
    }
  }
  // A goroutine can block only while it runs.
  if (!MakeRunnable(id, helper)) return false;
  State(id, helper, /*needed=*/true);
  const BorrowedThread lent = BorrowThread(helper);
  Add(EventType::kGoStart, lent.thread, {Number(id)});
  Add(EventType::kGoBlock, lent.thread, {AddedReason(), 0});
  ReturnThread(lent);
  return true;
}

bool GenerationWriter::MakeSyscall(ThreadId thread, GoId id, ProcId proc) {
  if (thread == ThreadId::kNone || id == GoId::kNone) return false;
  const Goroutine* const goroutine = model_.FindGoroutine(id);
  const Proc* const bound = model_.FindProc(model_.FindThread(thread).proc);
  const bool is_there = goroutine != nullptr && goroutine->status == GoStatus::kSyscall &&
                        goroutine->thread == thread;
  const bool is_right = proc == ProcId::kNone || model_.FindThread(thread).proc == proc;
  if (is_there && bound != nullptr && bound->status == ProcStatus::kSyscall && is_right) {
    return true;
  }
  if (!MakeRunning(thread, id, proc)) return false;
  State(model_.FindThread(thread).proc, thread, /*needed=*/true);
  Add(EventType::kGoSyscallBegin, thread, {0, 0});
  return true;
}

bool GenerationWriter::MakeContext(const WriterEvent& event) {
  const EventRule& rule = RuleOf(event.type);
  if (rule.NeedsGoroutine()) return MakeRunningContext(event);
  if (!rule.NeedsProc()) return true;
  if (!GiveProc(event.thread, event.proc)) return false;
  StateContext(event);
  return true;
}

bool GenerationWriter::MakeRunningContext(const WriterEvent& event) {
  GoId id = event.goroutine;
  if (id == GoId::kNone) id = model_.FindThread(event.thread).goroutine;
  if (id == GoId::kNone || !MakeRunning(event.thread, id, event.proc)) return false;
  StateContext(event);
  return true;
}

GenerationWriter::BorrowedThread GenerationWriter::BorrowThread(ThreadId preferred) {
  const auto has_proc = [this](ThreadId thread) {
    const Thread state = model_.FindThread(thread);
    if (thread == ThreadId::kNone || state.proc == ProcId::kNone) return false;
    const Goroutine* const goroutine = model_.FindGoroutine(state.goroutine);
    return goroutine == nullptr || goroutine->status == GoStatus::kRunning;
  };
  BorrowedThread lent;
  lent.thread = preferred;
  if (!has_proc(preferred)) {
    const std::set<ProcId>& bound = model_.bound_procs();
    if (model_.idle_procs().empty() && !bound.empty() &&
        has_proc(model_.FindProc(*bound.begin())->thread)) {
      lent.thread = model_.FindProc(*bound.begin())->thread;
    } else {
      lent.thread = kHelper;
    }
  }
  lent.has_proc = has_proc(lent.thread);
  if (!lent.has_proc) UnbindGoroutine(lent.thread);
  GiveProc(lent.thread, ProcId::kNone);
  lent.goroutine = model_.FindThread(lent.thread).goroutine;
  if (lent.goroutine != GoId::kNone) {
    State(lent.goroutine, lent.thread, /*needed=*/true);
    Add(EventType::kGoStop, lent.thread, {AddedReason(), 0});
  }
  return lent;
}

void GenerationWriter::ReturnThread(const BorrowedThread& lent) {
  if (lent.goroutine != GoId::kNone)
    Add(EventType::kGoStart, lent.thread, {Number(lent.goroutine)});
  if (!lent.has_proc) Add(EventType::kProcStop, lent.thread);
}

void GenerationWriter::State(GoId id, ThreadId helper, bool needed) {
  const Goroutine* const goroutine = model_.FindGoroutine(id);
  if (goroutine == nullptr || model_.IsStated(*goroutine)) return;
  const bool is_bound =
      goroutine->status == GoStatus::kRunning || goroutine->status == GoStatus::kSyscall;
  // The status would bind it to the helper.
  if (is_bound && goroutine->thread == ThreadId::kNone) return;
  const ThreadId thread = is_bound ? goroutine->thread : helper;
  AddStatus(EventType::kGoStatus, thread,
            {Number(id), is_bound ? Number(thread) : kNobody, Number(goroutine->status)});
  result_.changed |= needed;
}

void GenerationWriter::State(ProcId id, ThreadId helper, bool needed) {
  const Proc* const proc = model_.FindProc(id);
  if (proc == nullptr || model_.IsStated(*proc)) return;
  const bool is_bound =
      proc->status == ProcStatus::kRunning || proc->status == ProcStatus::kSyscall;
  if (is_bound && proc->thread == ThreadId::kNone) return;
  AddStatus(EventType::kProcStatus, is_bound ? proc->thread : helper,
            {Number(id), Number(proc->status)});
  result_.changed |= needed;
}

void GenerationWriter::StateContext(const WriterEvent& event) {
  const Thread thread = model_.FindThread(event.thread);
  State(thread.proc, event.thread, /*needed=*/false);
  State(thread.goroutine, event.thread, /*needed=*/false);
}

GoStatus GenerationWriter::NextStatus(GoId id) {
  const std::vector<WriterEvent>& events = content_->events;
  if (!std::exchange(has_subjects_, true)) {
    for (size_t i = 0; i < events.size(); ++i) {
      if (!NextStatusOf(events[i]).has_value()) continue;
      subjects_[GoArg(events[i])].push_back(static_cast<uint32_t>(i));
    }
  }
  const auto it = subjects_.find(id);
  if (it == subjects_.end()) return GoStatus::kRunnable;
  const auto next = std::lower_bound(it->second.begin(), it->second.end(), place_);
  return next == it->second.end() ? GoStatus::kRunnable : *NextStatusOf(events[*next]);
}

// Tables. ----------------------------------------------------------------------------------------

uint64_t GenerationWriter::AddedReason() { return StringId("unknown (events are lost)"); }

uint64_t GenerationWriter::StringId(absl::string_view text) {
  return content_->tables.StringId(text);
}

absl::string_view GenerationWriter::StringOf(uint64_t id) const {
  return content_->tables.FindString(id).value_or(absl::string_view());
}

void GenerationWriter::WriteTables() {
  WriteSamples();
  WriteStacks();
  WriteExperimental();
  WriteStrings();
}

void GenerationWriter::WriteStrings() {
  const TableSource& tables = content_->tables;
  BatchSplitter splitter({content_->number, BatchHeader::kNoThread, begin_ticks_},
                         EventType::kStrings, out_);
  std::string entry;
  for (const uint64_t id : tables.StringIds()) {
    entry.clear();
    AppendString(id, tables.FindString(id)->substr(0, kMaxStringSize), &entry);
    splitter.Add(entry);
  }
  splitter.Finish();
}

void GenerationWriter::WriteStacks() {
  const TableSource& tables = content_->tables;
  const std::vector<uint64_t> ids = tables.StackIds();
  std::vector<TableSource::Frame> frames;
  UnknownPcs pcs;
  for (const uint64_t id : ids) {
    tables.FindStack(id, &frames);
    for (const TableSource::Frame& frame : frames) pcs.NoteKnown(frame.pc.value_or(0));
  }
  BatchSplitter splitter({content_->number, BatchHeader::kNoThread, begin_ticks_},
                         EventType::kStacks, out_);
  std::string entry;
  for (const uint64_t id : ids) {
    tables.FindStack(id, &frames);
    frames.resize(std::min<size_t>(frames.size(), kMaxFramesPerStack));
    entry.clear();
    AppendEvent(EventType::kStack, {id, frames.size()}, &entry);
    for (const TableSource::Frame& frame : frames) {
      for (const uint64_t number : {pcs.PcOf(frame), frame.func, frame.file, frame.line}) {
        AppendVarint(number, &entry);
      }
    }
    splitter.Add(entry);
  }
  splitter.Finish();
}

void GenerationWriter::WriteSamples() {
  BatchSplitter splitter({content_->number, BatchHeader::kNoThread, begin_ticks_},
                         EventType::kCPUSamples, out_);
  std::string entry;
  for (const CpuSample& sample : content_->samples) {
    entry.clear();
    const uint64_t goroutine = sample.goroutine == GoId::kNone ? 0 : Number(sample.goroutine);
    AppendEvent(EventType::kCPUSample,
                {encoder_->TicksAt(std::min(sample.time, EventEncoder::kMaxTime)),
                 Number(sample.thread), Number(sample.proc), goroutine, sample.stack},
                &entry);
    splitter.Add(entry);
  }
  splitter.Finish();
}

void GenerationWriter::WriteExperimental() {
  for (const WriterBatch& batch : content_->experimental_batches) {
    AppendBatch({content_->number, Number(batch.thread), begin_ticks_, batch.experiment},
                batch.data, BatchSizeForm::kShortest, out_);
  }
}

}  // namespace gotrace::internal
