#include "rewrite/generation_mender.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "parser/event_order.h"
#include "parser/frontier.h"
#include "parser/generation.h"
#include "tracev2/event_spec.h"

namespace gotrace {
namespace {

class Mender {
 public:
  Mender(Version version, MendMode mode, const ReaderLimits& limits, Scheduler* scheduler,
         MendResult* result)
      : version_(version),
        mode_(mode),
        scheduler_(*scheduler),
        result_(*result),
        generation_(limits),
        order_(scheduler),
        frontier_(order_.frontier()) {}

  void Run(const std::vector<Batch>& batches, absl::string_view sync_payload) {
    generation_.set_number(batches.front().generation);
    for (const Batch& batch : batches) Add(batch);
    if (!MendSync(batches.front(), sync_payload)) return;
    MendFrames();
    const Batch& last = batches.back();
    const absl::Status status =
        generation_.Finish(version_, last.payload_offset + last.payload.size());
    if (!status.ok()) {
      result_.fault = FaultOf(status);
      return;
    }
    Order();
    ResolveSamples();
    NameStacks();
    result_.events += generation_.tables().cpu_samples().size();
  }

 private:
  using Outcome = EventOrder::Outcome;

  void Add(const Batch& batch) {
    const absl::Status status = generation_.Add(batch, version_);
    // One batch may contradict another that is not the one it was tested with.
    if (!status.ok() && !result_.fault.has_value()) result_.fault = FaultOf(status);
  }

  bool MendSync(const Batch& first, absl::string_view sync_payload) {
    const bool may_borrow = version_ < Version::kGo125 && !sync_payload.empty();
    if (generation_.tables().clock().known() || !may_borrow) return !result_.fault.has_value();
    Fault fault = {FaultId::kNoFrequency, Place(),
                   "expected a sync batch with a frequency, found none in the generation"};
    fault.place.offset = first.offset;
    fault.place.generation = first.generation;
    Mend(std::move(fault));
    Batch sync = first;
    sync.thread = ThreadId::kNone;
    sync.payload = sync_payload;
    result_.mending.needs_sync = true;
    Add(sync);
    return !result_.fault.has_value();
  }

  void MendFrames() {
    const absl::Status status = generation_.tables().CheckStacks(generation_.number());
    if (status.ok()) return;
    Mend(*FaultOf(status));
    for (const uint64_t id : generation_.tables().AddMissingFrameStrings()) NameString(id);
  }

  // Goes on as Go's reader does: with the earliest event, or if that one waits, with the earliest
  // that does not.
  void Order() {
    scheduler_.BeginGeneration(&generation_);
    for (const ThreadBatches& thread : generation_.threads()) {
      auto cursor = std::make_unique<ThreadCursor>(generation_, thread);
      const ThreadCursor::Step step = cursor->Advance();
      if (step == ThreadCursor::Step::kFault && !CutOff(cursor.get(), cursor->fault())) return;
      if (step == ThreadCursor::Step::kEvent) frontier_.Insert(std::move(cursor));
    }
    order_.BeginGeneration(generation_.bytes());
    Outcome outcome = Outcome::kAdvanced;
    while (!frontier_.empty() && outcome == Outcome::kAdvanced) {
      outcome = order_.Advance([this](size_t i) { return Try(i); });
    }
    if (outcome == Outcome::kWaits) CutOffAll();
  }

  Outcome Try(size_t index) {
    ThreadCursor& cursor = frontier_.cursor(index);
    Scheduler::Outcome outcome = scheduler_.Advance(&cursor);
    if (outcome == Scheduler::Outcome::kFault && scheduler_.fault_id() == FaultId::kEventStringId) {
      Resolve(cursor);
      outcome = scheduler_.Advance(&cursor);
    }
    if (outcome == Scheduler::Outcome::kWaits) return Outcome::kWaits;
    if (outcome == Scheduler::Outcome::kAdvanced) {
      result_.events += scheduler_.events().size();
      Resolve(cursor);
      return MoveOn(index);
    }
    Fault fault = {scheduler_.fault_id(), cursor.place(), scheduler_.fault_message()};
    if (ChangesState(cursor.event().type)) return CutOffAt(index, std::move(fault));
    Mend(std::move(fault));
    result_.mending.left_out.insert(cursor.offset());
    return MoveOn(index);
  }

  Outcome MoveOn(size_t index) {
    ThreadCursor& cursor = frontier_.cursor(index);
    switch (cursor.Advance()) {
      case ThreadCursor::Step::kEvent:
        frontier_.Update(index);
        return Outcome::kAdvanced;
      case ThreadCursor::Step::kEnd:
        frontier_.Remove(index);
        return Outcome::kAdvanced;
      case ThreadCursor::Step::kFault:
        break;
    }
    return CutOffAt(index, cursor.fault());
  }

  // What other events' order may depend on.
  static bool ChangesState(EventType type) {
    return kEventKinds[static_cast<uint8_t>(type)] == EventKind::kStateTransition;
  }

  Outcome CutOffAt(size_t index, Fault fault) {
    if (!CutOff(&frontier_.cursor(index), std::move(fault))) return Outcome::kStopped;
    frontier_.Remove(index);
    return Outcome::kAdvanced;
  }

  // Cuts off the thread's events from the one at hand on, unless that is not allowed.
  bool CutOff(ThreadCursor* cursor, Fault fault) {
    if (mode_ == MendMode::kWhole) {
      result_.fault = std::move(fault);
      return false;
    }
    Mend(std::move(fault));
    const Place place = cursor->place();
    result_.mending.cuts[cursor->thread()] = {*place.batch_offset, *place.offset};
    result_.mending.events_cut += cursor->SkipAll().events;
    return true;
  }

  Fault NoAdvance() const {
    return {FaultId::kNoAdvance, frontier_.cursor(0).place(),
            "expected an event that can come next, found none"};
  }

  void CutOffAll() {
    frontier_.WakeAll();
    const Fault fault = NoAdvance();
    for (size_t i = 0; i < frontier_.size(); ++i) {
      if (!CutOff(&frontier_.cursor(i), fault)) return;
    }
  }

  // Adds the entries that the event names and no table has.
  void Resolve(const ThreadCursor& cursor) {
    const EventSpec& spec = *FindEventSpec(cursor.event().type);
    GenerationTables& tables = generation_.tables();
    for (int i = 1; i < spec.arg_count; ++i) {
      const uint64_t id = cursor.event().args[i - 1];
      if (spec.arg_types[i] == ArgType::kStack && !tables.HasStack(id)) {
        AddStack(id, cursor.place());
      } else if (spec.arg_types[i] == ArgType::kString && tables.FindString(id) == nullptr) {
        Mend({FaultId::kEventStringId, cursor.place(),
              absl::StrCat("expected string ", id, " in the table, found none")});
        tables.AddMissingString(id);
        NameString(id);
      }
    }
  }

  // Go's reader takes a sample whose stack no table has, but whoever looks at that stack fails.
  void ResolveSamples() {
    for (const CpuSample& sample : generation_.tables().cpu_samples()) {
      if (generation_.tables().HasStack(sample.stack)) continue;
      Place place;
      place.offset = sample.offset;
      place.generation = generation_.number();
      AddStack(sample.stack, place);
    }
  }

  void AddStack(uint64_t id, const Place& place) {
    Mend({FaultId::kEventStackId, place,
          absl::StrCat("expected stack ", id, " in the table, found none")});
    generation_.tables().AddMissingStack(id);
    result_.mending.stacks.push_back({id, 0});
  }

  void NameString(uint64_t id) {
    result_.mending.strings.emplace_back(id, absl::StrCat("?string#", id));
  }

  void Mend(Fault fault) {
    if (!result_.mending.first_fault.has_value()) result_.mending.first_fault = std::move(fault);
  }

  // Gives the stacks' functions names under ids that the trace does not use.
  void NameStacks() {
    uint64_t name = 0;
    for (Mending::Stack& stack : result_.mending.stacks) {
      do {
        --name;
      } while (generation_.tables().FindString(name) != nullptr);
      stack.func = name;
      result_.mending.strings.emplace_back(name, absl::StrCat("?stack#", stack.id));
    }
  }

  const Version version_;
  const MendMode mode_;
  Scheduler& scheduler_;
  MendResult& result_;
  Generation generation_;
  EventOrder order_;
  Frontier& frontier_;
};

}  // namespace

MendResult MendGeneration(Version version, const std::vector<Batch>& batches,
                          absl::string_view sync_payload, MendMode mode, const ReaderLimits& limits,
                          Scheduler* scheduler) {
  MendResult result;
  Mender(version, mode, limits, scheduler, &result).Run(batches, sync_payload);
  return result;
}

}  // namespace gotrace
