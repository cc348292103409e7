// The modes that go on after faults.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/reader/reader_impl.h"

namespace gotrace::internal {
namespace {

// Whether the fault is what follows where a region or a range was not kept.
bool IsOfSpans(FaultId id) {
  return id == FaultId::kRegionNesting || id == FaultId::kRangeNotBegun ||
         id == FaultId::kRangeNotActive;
}

}  // namespace

Event* ReaderImpl::NextTolerantGeneration() {
  was_stuck_ = false;
  const uint64_t last_number = generation_ == nullptr ? 0 : generation_->number();
  generation_ = tolerant_generations_.Next();
  if (generation_ == nullptr) {
    const absl::Status& io_status = tolerant_generations_.io_status();
    // A fault of compression was told already.
    if (!FaultOf(io_status).has_value()) pending_ = io_status;
    done_ = pending_.ok();
    return MakeSync(nullptr, last_time_, tolerant_generations_.offset());
  }
  if (options_.mode == ReadMode::kSalvage || lost_ || doubtful_) ForgetWrongTime();
  const bool follows = last_number == 0 || generation_->number() == last_number + 1;
  if (!follows && options_.mode == ReadMode::kSalvage) TellJump(last_number);
  // A generation tells all statuses anew. To hold them against a model that may be wrong would find
  // the same fault twice.
  if (lost_ || doubtful_ || !follows) scheduler_.Forget();
  lost_ = tolerant_generations_.damaged();
  doubtful_ = false;
  nested_ = false;
  return BeginGeneration();
}

// Go's reader does not mind since 1.26, but may refuse what follows for the lack of what is
// missing. Where something else was found missing, that told it.
void ReaderImpl::TellJump(uint64_t last_number) {
  if (lost_ || doubtful_ || tolerant_generations_.damaged()) return;
  Fault fault = {FaultId::kGenerationOrder,
                 Place(),
                 absl::StrCat("expected generation ", last_number + 1, ", found ",
                              generation_->number(), "; it is read as if the trace began anew"),
                 {}};
  fault.place.offset = generation_->begin_offset();
  fault.place.generation = generation_->number();
  Report(fault);
}

bool ReaderImpl::GoOnAfterFault(ThreadCursor* cursor) {
  const FaultId id = scheduler_.fault_id();
  if (id == FaultId::kEventStringId) return GoOnWithoutString(cursor);
  // Where something is missing, contradictions are its echo. That too much is open is told once.
  const bool is_echo = id == FaultId::kLimitNesting
                           ? std::exchange(nested_, true)
                           : (lost_ && !IsLimit(id)) || (nested_ && IsOfSpans(id));
  if (!is_echo) Report(FaultAt(*cursor));
  if (EffectOf(id) != FaultEffect::kGoOn) {
    LeaveOutGeneration();
    return false;
  }
  if (!ForceEvent(cursor, id)) lost_ = true;
  // Programs that misuse tasks and regions say nothing wrong of goroutines and Ps.
  doubtful_ |= id != FaultId::kTaskExists && id != FaultId::kRegionNesting &&
               id != FaultId::kLimitNesting && !(nested_ && IsOfSpans(id));
  return KeepToLimits(cursor->place());
}

bool ReaderImpl::KeepToLimits(const Place& place) {
  const std::optional<FaultId> limit = scheduler_.PassedLimit();
  if (!limit.has_value()) return true;
  Report({*limit, place, scheduler_.MessageOf(*limit), {}});
  LeaveOutGeneration();
  return false;
}

void ReaderImpl::LeaveOutGeneration() {
  lost_ = true;
  frontier_.WakeAll();
  for (size_t i = 0; i < frontier_.size(); ++i) LeaveOut(&frontier_.cursor(i));
  frontier_.Clear();
  scheduler_.DropEvents();
}

// The model asks for the names of tasks and regions before CheckIds() sees the event.
bool ReaderImpl::GoOnWithoutString(ThreadCursor* cursor) {
  Event event;
  event.tags_ = TagsOf(cursor->event().type);
  event.offset_ = cursor->offset();
  event.thread_ = cursor->thread();
  event.tables_ = &generation_->tables();
  std::copy(std::begin(cursor->event().args), std::end(cursor->event().args), event.args_);
  CheckIds(&event);
  if (scheduler_.Advance(cursor) == Scheduler::Outcome::kAdvanced) return true;
  if (scheduler_.fault_id() != FaultId::kRegionNesting) return GoOnAfterFault(cursor);
  // A name that nobody knows fits every region.
  ForceEvent(cursor, FaultId::kEventStringId);
  return KeepToLimits(cursor->place());
}

bool ReaderImpl::ForceEvent(ThreadCursor* cursor, FaultId why) {
  if (scheduler_.Force(cursor) != Scheduler::Outcome::kAdvanced) {
    scheduler_.DropEvents();
    ++losses_.dropped_events;
    return false;
  }
  for (Event& event : scheduler_.events()) {
    event.tags_ = event.tags_.WithFault(why);
    ++losses_.marked_events;
  }
  return true;
}

// Nothing can come next. What is missing was mostly lost with something that was told already.
void ReaderImpl::GoOnWithoutAdvance() {
  if (!lost_) Report(NoAdvance());
  lost_ = true;
  if (options_.mode == ReadMode::kCollect) {
    // Whatever else would be found in the generation is an echo of what is missing.
    LeaveOutGeneration();
    return;
  }
  was_stuck_ = true;
  if (frontier_.size() == 0) {
    frontier_.WakeEarliest();
    // An event that was forced may have let it go on without that showing.
    if (TryAdvance(0) != EventOrder::Outcome::kWaits) return order_.WakeOthers();
  }
  ForceEvent(&frontier_.cursor(0), FaultId::kNoAdvance);
  if (!KeepToLimits(frontier_.cursor(0).place())) return;
  MoveOn(0);
  order_.WakeOthers();
}

// Leaves out all of the thread from the event on that it stands at.
void ReaderImpl::LeaveOut(ThreadCursor* cursor) {
  const ThreadCursor::Rest rest = cursor->SkipAll();
  losses_.dropped_batches += rest.batches;
  losses_.dropped_bytes += rest.bytes;
  losses_.dropped_events += rest.events;
}

// Decodes a thread's next event. After a fault the batch's rest is left out, and in collect mode
// all that follows of the thread: without it, that would only be found to contradict others.
ThreadCursor::Step ReaderImpl::AdvanceTolerantly(ThreadCursor* cursor) {
  while (true) {
    const int64_t last_time = cursor->time();
    const ThreadCursor::Step step = cursor->Advance();
    if (step != ThreadCursor::Step::kFault) {
      if (cursor->time() < last_time) TellTimeBack(*cursor, last_time);
      return step;
    }
    Report(cursor->fault());
    lost_ = true;
    if (options_.mode == ReadMode::kCollect) {
      LeaveOut(cursor);
      return ThreadCursor::Step::kEnd;
    }
    ++losses_.dropped_batches;
    losses_.dropped_bytes += cursor->SkipBatch();
  }
}

void ReaderImpl::TellTimeBack(const ThreadCursor& cursor, int64_t last_time) {
  if (options_.on_time_back) options_.on_time_back(cursor.place(), last_time);
}

// Generations seldom overlap by more than it takes to stop all threads. If the last one ended long
// after this one begins, a time in it was probably wrong, and must not push all later times
// forward. Where nothing else was wrong only salvaging takes that for a damage: Go's reader does
// not mind.
void ReaderImpl::ForgetWrongTime() {
  constexpr int64_t kLongestOverlap = 100'000'000;
  const int64_t begin = generation_->tables().clock().ToNs(generation_->min_ticks());
  if (begin > 0 && TraceClock::Subtract(last_time_, begin) > kLongestOverlap) {
    last_time_ = begin - 1;
  }
}

void ReaderImpl::Report(Fault fault) {
  if (fault.place.offset.has_value()) {
    fault.place.offset = tolerant_generations_.InputOffset(*fault.place.offset);
  }
  ReportAt(fault);
}

void ReaderImpl::ReportAt(const Fault& fault) {
  ++losses_.faults;
  if (options_.on_fault) options_.on_fault(fault);
}

}  // namespace gotrace::internal
