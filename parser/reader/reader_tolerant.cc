// The modes that continue after faults.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "parser/event/event_access.h"
#include "parser/event/event_writer.h"
#include "parser/reader/reader_impl.h"

namespace gotrace::internal {
namespace {

// Whether the fault may result from a region or a range that was not tracked.
bool IsOfSpans(FaultId id) {
  return id == FaultId::kRegionNesting || id == FaultId::kRangeNotBegun ||
         id == FaultId::kRangeNotActive;
}

}  // namespace

void ReaderImpl::Recover() {
  const bool salvages = options_.mode == ReadMode::kSalvage;
  const bool was_flawed = lost_ || model_is_unreliable_;
  const bool jumps = info_.number != 0 && generation_->number() != info_.number + 1;
  lost_ = generation_->integrity().damaged;
  model_is_unreliable_ = false;
  nested_ = false;
  if (salvages || was_flawed) ForgetWrongTime();
  // If anything else was missing, it was already reported.
  if (jumps && salvages && !was_flawed && !lost_) ReportJump();
  // A generation states all statuses again. Checking them against a model that may be wrong would
  // report the same fault twice.
  if (was_flawed || jumps) scheduler_.Forget();
}

// Since Go 1.26, Go's reader accepts a jump, but may reject later events because of the missing
// generation.
void ReaderImpl::ReportJump() {
  Fault fault = {FaultId::kGenerationOrder,
                 Place(),
                 absl::StrCat("expected generation ", info_.number + 1, ", found ",
                              generation_->number(), "; it is read as if the trace began anew"),
                 {}};
  fault.place.offset = generation_->begin_offset();
  fault.place.generation = generation_->number();
  Report(fault);
}

bool ReaderImpl::ContinueAfterFault(ThreadCursor* cursor) {
  const FaultId id = scheduler_.fault_id();
  if (id == FaultId::kEventStringId) return ContinueWithoutString(cursor);
  // If something is missing, contradictions may result from it. Too many open spans are reported
  // once.
  const bool is_echo = id == FaultId::kLimitNesting
                           ? std::exchange(nested_, true)
                           : (lost_ && !IsLimit(id)) || (nested_ && IsOfSpans(id));
  if (!is_echo) Report(FaultAt(*cursor));
  if (EffectOf(id) != FaultEffect::kContinue) {
    DropGeneration();
    return false;
  }
  if (!ForceEvent(cursor, id)) lost_ = true;
  // A program that misuses tasks and regions does not make goroutines and Ps wrong.
  model_is_unreliable_ |= id != FaultId::kTaskExists && id != FaultId::kRegionNesting &&
                          id != FaultId::kLimitNesting && !(nested_ && IsOfSpans(id));
  return KeepToLimits(cursor->place());
}

bool ReaderImpl::KeepToLimits(const Place& place) {
  const std::optional<FaultId> limit = scheduler_.PassedLimit();
  if (!limit.has_value()) return true;
  Report({*limit, place, scheduler_.MessageOf(*limit), {}});
  DropGeneration();
  return false;
}

void ReaderImpl::DropGeneration() {
  lost_ = true;
  frontier_.WakeAll();
  for (size_t i = 0; i < frontier_.size(); ++i) DropThread(&frontier_.cursor(i));
  frontier_.Clear();
  scheduler_.DropEvents();
}

// The model looks up the names of tasks and regions before CheckIds() gets the event.
bool ReaderImpl::ContinueWithoutString(ThreadCursor* cursor) {
  Event event;
  EventWriter(&event)
      .Tags(TagsOf(cursor->event().type))
      .Offset(cursor->offset())
      .Thread(cursor->thread())
      .Tables(&generation_->tables())
      .Args(cursor->event().args);
  CheckIds(&event);
  if (scheduler_.Advance(cursor) == SchedulerModel::Outcome::kAdvanced) return true;
  if (scheduler_.fault_id() != FaultId::kRegionNesting) return ContinueAfterFault(cursor);
  // A missing name matches every region.
  ForceEvent(cursor, FaultId::kEventStringId);
  return KeepToLimits(cursor->place());
}

bool ReaderImpl::ForceEvent(ThreadCursor* cursor, FaultId why) {
  if (scheduler_.Force(cursor) != SchedulerModel::Outcome::kAdvanced) {
    scheduler_.DropEvents();
    ++losses_.dropped_events;
    return false;
  }
  for (Event& event : scheduler_.events()) {
    EventWriter(&event).Tags(EventAccess::Tags(event).WithFault(why));
    ++losses_.marked_events;
  }
  return true;
}

// Handles a stall, where no event can come next. Usually something is missing that was already
// reported.
void ReaderImpl::ContinueWithoutAdvance() {
  if (!lost_) Report(NoAdvance());
  lost_ = true;
  if (options_.mode == ReadMode::kCollect) {
    // Other faults in the generation would only be consequences of the missing part.
    DropGeneration();
    return;
  }
  was_stuck_ = true;
  if (frontier_.size() == 0) {
    frontier_.WakeEarliest();
    // An event that was forced may have met its condition without waking it.
    if (TryAdvance(0) != EventOrder::Outcome::kWaits) return order_.WakeOthers();
  }
  ForceEvent(&frontier_.cursor(0), FaultId::kNoAdvance);
  if (!KeepToLimits(frontier_.cursor(0).place())) return;
  MoveOn(0);
  order_.WakeOthers();
}

// Drops the rest of the thread, including its current event.
void ReaderImpl::DropThread(ThreadCursor* cursor) {
  const ThreadCursor::Rest rest = cursor->SkipAll();
  losses_.dropped_batches += rest.batches;
  losses_.dropped_bytes += rest.bytes;
  losses_.dropped_events += rest.events;
}

// Decodes the thread's next event. After a fault, drops the rest of the batch, or in collect mode
// the rest of the thread, because without the batch it would only contradict other events.
ThreadCursor::Step ReaderImpl::AdvanceTolerantly(ThreadCursor* cursor) {
  while (true) {
    const int64_t last_time = cursor->time();
    const ThreadCursor::Step step = cursor->Advance();
    if (step != ThreadCursor::Step::kFault) {
      if (cursor->time() < last_time) ReportTimeBack(*cursor, last_time);
      return step;
    }
    Report(cursor->fault());
    lost_ = true;
    if (options_.mode == ReadMode::kCollect) {
      DropThread(cursor);
      return ThreadCursor::Step::kEnd;
    }
    ++losses_.dropped_batches;
    losses_.dropped_bytes += cursor->SkipBatch();
  }
}

void ReaderImpl::ReportTimeBack(const ThreadCursor& cursor, int64_t last_time) {
  if (options_.on_time_back) options_.on_time_back(cursor.place(), last_time);
}

// Generations seldom overlap by more than it takes to stop all threads. If the last one ended long
// after this one began, a time in it was probably wrong, and must not push all later times forward.
// If nothing else was wrong, only salvage mode treats this as damage, because Go's reader accepts
// it.
void ReaderImpl::ForgetWrongTime() {
  constexpr int64_t kLongestOverlap = 100'000'000;
  const int64_t begin = generation_->tables().clock().ToNs(generation_->min_ticks());
  if (begin > 0 && TraceClock::Subtract(last_time_, begin) > kLongestOverlap) {
    last_time_ = begin - 1;
  }
}

void ReaderImpl::Report(Fault fault) {
  if (fault.place.offset.has_value()) {
    fault.place.offset = feed_->InputOffset(*fault.place.offset);
  }
  ReportAt(fault);
}

void ReaderImpl::ReportAt(const Fault& fault) {
  ++losses_.faults;
  if (options_.on_fault) options_.on_fault(fault);
}

}  // namespace gotrace::internal
