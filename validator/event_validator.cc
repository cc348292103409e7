#include "validator/event_validator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "parser/event/event_access.h"
#include "parser/event/event_tables.h"
#include "parser/event/trace_clock.h"
#include "parser/order/fault_context.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The minimum distance of snapshots, in nanoseconds, to compare the rates of clocks: a thread may
// lose its core between reading one clock and the other.
constexpr uint64_t kMinForRate = 500'000'000;
constexpr double kMaxDeviation = 0.01;

// Whether the trace clock advanced by `trace` nanoseconds while the monotonic clock advanced by
// `mono`.
bool RunAlike(uint64_t mono, uint64_t trace) {
  const double ratio = static_cast<double>(trace) / static_cast<double>(mono);
  return mono < kMinForRate || std::abs(ratio - 1) <= kMaxDeviation;
}

// Returns the nanoseconds of the trace clock between two snapshots, of which `to` is later.
uint64_t TraceTimeBetween(const ClockSnapshot& from, const ClockSnapshot& to) {
  return static_cast<uint64_t>(TraceClock::Subtract(to.trace_time, from.trace_time));
}

bool IsComplete(const StackFrame& frame) {
  // A placeholder for a missing stack is reported where the reader finds that it is missing.
  if (frame.pc == 0 && absl::StartsWith(frame.func, "?stack#")) return true;
  return !frame.func.empty() && !frame.file.empty() && frame.pc != 0 && frame.line != 0;
}

bool IsComplete(const Stack& stack) {
  for (size_t i = 0; i < stack.size(); ++i) {
    if (!IsComplete(stack.frame(i))) return false;
  }
  return true;
}

bool IsStatusEvent(EventType type) { return RuleOf(type).subject_becomes == Becomes::kStated; }

// The maximum number of regions to search for the one that ends. A broken trace may open any number
// of regions and end others.
constexpr size_t kMaxSearched = 100;

}  // namespace

EventValidator::EventValidator(const ValidatorOptions& options, Sink sink)
    : options_(options), sink_(std::move(sink)) {
  BeginStacks(nullptr);
}

// Transitions, which most events are. -------------------------------------------------------------

template <ResourceKind kKind>
[[gnu::always_inline]] inline void EventValidator::CheckTransition(const Event& event) {
  const int64_t id = event.transition_resource().id;
  const uint8_t from = event.transition_from();
  const uint8_t to = event.transition_to();
  ResourceTable& table = TableOf(kKind);
  Resource* resource = table.Find(id);
  if (resource == nullptr) {
    if (from != kNotExist || to == kUndetermined) [[unlikely]]
      CheckChain(event, nullptr);
    resource = table.Insert(id);
  } else if (resource->state != from || from == kUndetermined || to == kUndetermined) [[unlikely]] {
    CheckChain(event, resource);
  }
  if (from == kNotExist) resource->is_whole = true;
  resource->state = to;
  if (IsExecuting<kKind>(to)) {
    CheckStart<kKind>(event, resource);
  } else if (IsExecuting<kKind>(from)) {
    CheckStop<kKind>(event, resource);
  }
  resource->history.Add(event.offset(), EventAccess::Tags(event), &resource->transitions);
  if (to != kNotExist) return;
  EndSpans(event);
  table.Erase(resource);
}

template <ResourceKind kKind>
[[gnu::always_inline]] inline void EventValidator::CheckStart(const Event& event,
                                                              Resource* resource) {
  const int64_t thread = event.thread().value;
  if (event.thread() == ThreadId::kNone) [[unlikely]]
    return ReportNoThread(event);
  Context* context = resource->binding;
  if (context == nullptr || context->id != thread) context = FindContext(thread);
  int64_t& executed = context->executed(kKind);
  if (executed != Context::kNothing && executed != resource->id) [[unlikely]] {
    ReportOccupied(event, executed);
  }
  executed = resource->id;
  resource->binding = context;
}

template <ResourceKind kKind>
[[gnu::always_inline]] inline void EventValidator::CheckStop(const Event& event,
                                                             Resource* resource) {
  // A goroutine that executes stops at its own event, so both stacks are the same.
  if (kKind == ResourceKind::kGoroutine && !event.TransitionHasSameStack() &&
      event.transition_stack() != event.stack()) [[unlikely]] {
    ReportOtherStack(event);
  }
  Context* const context = std::exchange(resource->binding, nullptr);
  if (context == nullptr) [[unlikely]]
    return ReportNotExecuting(event);
  int64_t& executed = context->executed(kKind);
  if (executed != resource->id) [[unlikely]]
    ReportNotOnThread(event, context->id, executed);
  executed = Context::kNothing;
}

// Checks that the state is known and is the one that the transition starts from. Called only if the
// fast path does not show that.
void EventValidator::CheckChain(const Event& event, const Resource* resource) {
  const ResourceId id = event.transition_resource();
  const uint8_t from = event.transition_from();
  const uint8_t to = event.transition_to();
  const auto states = [&] { return FormatTransition(id.kind, from, to); };
  if (to == kUndetermined) {
    has_unknown_state_ = true;
    Report(CheckId::kStateUndetermined, event, id,
           absl::StrCat("expected ", FormatResource(id), " to enter a state, found ", states()));
  }
  if (from == kUndetermined && last_sync_ > first_sync_) {
    ReportUnlessLost(
        CheckId::kStateAppears, event, id,
        absl::StrCat("expected ", FormatResource(id),
                     " to have a creation, or a status in the first generation, found ", states()));
  }
  if (resource == nullptr) {
    if (from == kUndetermined || from == kNotExist) return;
    if (preconditions_ != nullptr && IsStatusEvent(event.type()) && AssumeStatus(event)) return;
    // A generation confirms the statuses of all resources that were known before the loss.
    if (has_resumed_ && last_sync_ == first_sync_ && IsStatusEvent(event.type())) return;
    ReportUnlessLost(CheckId::kStateUnknown, event, id,
                     absl::StrCat("expected a status or the creation of ", FormatResource(id),
                                  " first, found ", states()));
  } else if (resource->state != from) {
    ReportUnlessLost(
        CheckId::kStateMismatch, event, id,
        absl::StrCat("expected ", FormatResource(id), " to go on from ",
                     FormatTransition(id.kind, resource->state, to), ", found ", states()));
  }
}

EventValidator::Context* EventValidator::FindContext(int64_t thread) {
  Context* const context = threads_.Find(thread);
  return context == nullptr ? threads_.Insert(thread) : context;
}

void EventValidator::ReportNoThread(const Event& event) {
  const ResourceId id = event.transition_resource();
  Report(CheckId::kThreadMissing, event, id,
         absl::StrCat("expected a thread that executes ", FormatResource(id), ", found none"));
}

void EventValidator::ReportOccupied(const Event& event, int64_t executed) {
  const ResourceId id = event.transition_resource();
  ReportUnlessLost(
      CheckId::kThreadOccupied, event, id,
      absl::StrCat("expected thread ", event.thread().value, " to be free for ", FormatResource(id),
                   ", found it with ", FormatResource({id.kind, executed})));
}

void EventValidator::ReportOtherStack(const Event& event) {
  const ResourceId id = event.transition_resource();
  Report(CheckId::kStackMismatch, event, id,
         absl::StrCat("expected the stack of the event, ", event.stack().id(), ", found ",
                      event.transition_stack().id()));
}

void EventValidator::ReportNotExecuting(const Event& event) {
  const ResourceId id = event.transition_resource();
  ReportUnlessLost(CheckId::kNotExecuting, event, id,
                   absl::StrCat("expected a thread that executes ", FormatResource(id),
                                ", found none when it stops"));
}

void EventValidator::ReportNotOnThread(const Event& event, int64_t thread, int64_t executed) {
  const ResourceId id = event.transition_resource();
  ReportUnlessLost(
      CheckId::kNotExecuting, event, id,
      absl::StrCat(
          "expected thread ", thread, " to execute ", FormatResource(id), " until it stops, found ",
          executed == Context::kNothing ? "nothing" : FormatResource({id.kind, executed})));
}

void EventValidator::ReportSpansAtEnd(const Event& event, const SpansOf& spans) {
  const ResourceId id = event.transition_resource();
  if (!spans.ranges.empty()) {
    ReportUnlessLost(CheckId::kRangeAtEnd, event, id,
                     absl::StrCat("expected the range ", Quoted(NameOf(spans.ranges.First())),
                                  " to end before ", FormatResource(id), " does, found it open"));
  }
  for (const OpenSpan& region : spans.regions) {
    if (lost_) break;
    ReportOpen(CheckId::kRegionOpen, region, id,
               absl::StrCat("expected the region ", Quoted(region.name), " to end before ",
                            FormatResource(id), " does, found it open"));
  }
}

std::vector<PastTransition> EventValidator::HistoryOf(const ResourceId& resource) const {
  if (resource.kind != ResourceKind::kGoroutine && resource.kind != ResourceKind::kProc) return {};
  const Resource* const known = FindResource(resource);
  if (known == nullptr) return {};
  return known->history.List(known->transitions);
}

// All events. -------------------------------------------------------------------------------------

[[gnu::always_inline]] inline void EventValidator::CheckOne(const Event& event) {
  ++event_count_;
  quiet_ = event.fault().has_value();
  CheckTime(event);
  CheckStacks(event);
  if (event.kind() != EventKind::kStateTransition) [[unlikely]]
    return CheckOther(event);
  if (first_sync_ == 0) first_sync_ = last_sync_;
  if (event.transition_resource().kind == ResourceKind::kProc) {
    CheckTransition<ResourceKind::kProc>(event);
  } else {
    CheckTransition<ResourceKind::kGoroutine>(event);
  }
}

void EventValidator::Check(const Event& event) { CheckAll({&event, 1}); }

void EventValidator::CheckAll(absl::Span<const Event> events) {
  for (const Event& event : events) CheckOne(event);
}

void EventValidator::CheckOther(const Event& event) {
  switch (event.kind()) {
    case EventKind::kNone:
    case EventKind::kMetric:
    case EventKind::kStackSample:  // Its context need not agree with that of other events.
    case EventKind::kExperimental:
    case EventKind::kStateTransition:
      break;
    case EventKind::kSync:
      return CheckSync(event);
    case EventKind::kLabel:
      return CheckLabel(event);
    case EventKind::kRangeBegin:
    case EventKind::kRangeActive:
    case EventKind::kRangeEnd:
      return CheckRange(event);
    case EventKind::kTaskBegin:
      return CheckTaskBegin(event);
    case EventKind::kTaskEnd:
      return CheckTaskEnd(event);
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
      return CheckRegion(event);
    case EventKind::kLog:
      return CheckTaskReference(event, event.log().task);
  }
}

void EventValidator::BeginGeneration(uint64_t number) {
  generation_before_ = generation_;
  generation_ = number;
  if (lost_ || has_unknown_state_ || threads_.size() > kMaxThreads) Resume();
}

void EventValidator::NoteLoss() { lost_ = true; }

void EventValidator::Resume() {
  lost_ = false;
  has_unknown_state_ = false;
  has_resumed_ = true;
  has_time_ = false;
  last_clocks_.reset();
  first_sync_ = 0;
  goroutines_.Clear();
  procs_.Clear();
  threads_.Clear();
  spans_.Clear();
  tasks_.clear();
  ended_.clear();
  ended_before_.clear();
}

bool EventValidator::MayPredateLoss(const ResourceId& resource) const {
  if (!has_resumed_) return false;
  const Resource* const known = FindResource(resource);
  return known == nullptr || !known->is_whole;
}

void EventValidator::Finish() {
  ReportOpenSpans();
  // If Go's reader requires a generation, a missing one was already reported as a fault.
  if (generation_ != 0 || event_count_ > 1 || lost_) return;
  Finding finding;
  finding.check = CheckId::kNoGeneration;
  finding.severity = SpecOf(finding.check).severity;
  finding.message = "expected at least one generation, found none";
  sink_(std::move(finding));
}

ResourceId EventValidator::AboutWhat(const Event& event) {
  if (event.kind() == EventKind::kStateTransition) return event.transition_resource();
  if (event.goroutine() != GoId::kNone) {
    return {ResourceKind::kGoroutine, event.goroutine().value};
  }
  if (event.proc() != ProcId::kNone) return {ResourceKind::kProc, event.proc().value};
  return {};
}

void EventValidator::ReportTime(const Event& event, int64_t last) {
  if (!has_time_) return;
  const int64_t time = event.time();
  if (time <= last) {
    Report(CheckId::kEventTime, event, {},
           absl::StrCat("expected a time later than ", last, " ns, found ", time, " ns"));
    // One wrong time in a generation must not affect all of the next one.
    if (event.kind() != EventKind::kSync) last_time_ = last;
    return;
  }
  const uint64_t gap = static_cast<uint64_t>(time) - static_cast<uint64_t>(last);
  Report(CheckId::kTimeGap, event, {},
         absl::StrFormat("found no event in the %.3f s before this one",
                         static_cast<double>(gap) / 1e9));
}

void EventValidator::BeginStacks(const EventTables* tables) {
  const uint64_t last = tables == nullptr ? 0 : tables->last_near_stack();
  std::vector<uint64_t> incomplete;
  for (uint64_t id = 1; id <= last; ++id) {
    if (!IsComplete(EventAccess::MakeStack(tables, id))) incomplete.push_back(id);
  }
  unchecked_stacks_.Begin(last, incomplete);
  checked_stacks_.Clear();
}

void EventValidator::CheckStack(const Event& event, const Stack& stack) {
  const uint64_t id = stack.id();
  unchecked_stacks_.Forget(id);
  // Stacks that are not forgotten stay unchecked.
  if (checked_stacks_.Has(id)) return;
  if (unchecked_stacks_.Has(id)) checked_stacks_.Add(id);
  for (size_t i = 0; i < stack.size(); ++i) {
    const StackFrame frame = stack.frame(i);
    if (IsComplete(frame)) continue;
    Report(i == 0 ? CheckId::kInnermostFrame : CheckId::kFrameIncomplete, event, {},
           absl::StrCat("expected a PC, a function, a file and a line in frame ", i, " of stack ",
                        id, ", found ", absl::Hex(frame.pc), ", ", Quoted(frame.func), ", ",
                        Quoted(frame.file), ", ", frame.line));
  }
}

void EventValidator::CheckSync(const Event& event) {
  const Sync sync = event.sync();
  if (preconditions_ != nullptr && preconditions_->first_sync == 0) AssumeFirstSync(event, sync.n);
  if (sync.n != last_sync_ + 1) {
    Report(CheckId::kSyncNumber, event, {},
           absl::StrCat("expected sync ", last_sync_ + 1, ", found sync ", sync.n));
  }
  last_sync_ = sync.n;
  const uint64_t before = std::exchange(generation_before_, 0);
  // No number follows the highest one.
  if (before != 0 && generation_ != before + 1) {
    Report(generation_ > before ? CheckId::kGenerationMissing : CheckId::kGenerationBack, event, {},
           absl::StrCat("expected generation ", before + 1, ", found ", generation_));
    // The missing part is before this generation, not in it.
    if (!lost_) Resume();
    last_clocks_.reset();
  }
  BeginStacks(EventAccess::Tables(event));
  ended_before_ = std::exchange(ended_, {});
  CheckClocks(event, sync);
}

void EventValidator::CheckClocks(const Event& event, const Sync& sync) {
  if (!sync.clock_snapshot.has_value()) {
    // Only the first sync must have one, because the last one ends the trace and has no generation.
    if (sync.n == 1 && options_.version >= Version::kGo125 && generation_ != 0 && !lost_) {
      Report(CheckId::kClockSnapshotMissing, event, {}, "expected a clock snapshot, found none");
    }
    return;
  }
  const ClockSnapshot& clocks = *sync.clock_snapshot;
  const auto check_zero = [&](bool is_zero, absl::string_view clock, absl::string_view zero) {
    if (!is_zero) return;
    Report(CheckId::kClockSnapshotZero, event, {},
           absl::StrCat("expected the time of the ", clock, " clock, found ", zero));
  };
  // Go's zero time. 1970 is a time like any other, also for Go's validator.
  const absl::Time year1 = absl::FromCivil(absl::CivilSecond(1), absl::UTCTimeZone());
  check_zero(clocks.wall == year1, "wall", "0001-01-01T00:00:00Z");
  check_zero(clocks.mono == 0, "monotonic", "0");
  check_zero(clocks.trace_time == 0, "trace", "0");
  if (last_clocks_.has_value()) {
    CompareClocks(event, clocks);
  } else if (preconditions_ != nullptr) {
    preconditions_->first_clocks = clocks;
  }
  last_clocks_ = clocks;
}

void EventValidator::CompareClocks(const Event& event, const ClockSnapshot& clocks) {
  const auto check_order = [&](bool rises, absl::string_view clock) {
    if (rises) return;
    Report(CheckId::kClockSnapshotOrder, event, {},
           absl::StrCat("expected the ", clock,
                        " clock to be later than in the snapshot before, found it not later"));
  };
  check_order(clocks.wall > last_clocks_->wall, "wall");
  check_order(clocks.mono > last_clocks_->mono, "monotonic");
  check_order(clocks.trace_time > last_clocks_->trace_time, "trace");
  if (clocks.mono <= last_clocks_->mono || clocks.trace_time <= last_clocks_->trace_time) return;
  const uint64_t mono = clocks.mono - last_clocks_->mono;
  const uint64_t trace = TraceTimeBetween(*last_clocks_, clocks);
  if (RunAlike(mono, trace)) return;
  Report(CheckId::kClockSnapshotRate, event, {},
         absl::StrFormat("expected %d ns of the trace clock between the snapshots, as of the "
                         "monotonic clock, found %d ns",
                         mono, trace));
}

bool EventValidator::ClocksAgree(const ClockSnapshot& last, const ClockSnapshot& clocks) {
  return clocks.wall > last.wall && clocks.mono > last.mono &&
         clocks.trace_time > last.trace_time &&
         RunAlike(clocks.mono - last.mono, TraceTimeBetween(last, clocks));
}

void EventValidator::CheckLabel(const Event& event) {
  const Label label = event.label();
  if (label.label.empty()) {
    Report(CheckId::kLabelEmpty, event, label.resource, "expected a label, found \"\"");
  }
  if (label.resource.id == GoId::kNone.value) {
    Report(CheckId::kLabelOfNothing, event, {},
           "expected a label of a goroutine, found a label of none");
  } else if (FindResource(label.resource) == nullptr) {
    ReportUnlessLost(CheckId::kLabelOfNothing, event, label.resource,
                     absl::StrCat("expected a label of a goroutine that exists, found one of ",
                                  FormatResource(label.resource)));
  }
}

EventValidator::Mark EventValidator::MarkOf(const Event& event) const {
  return {event.offset(), generation_, event.thread(), event.time(), event_count_, event.type()};
}

Finding EventValidator::MakeFinding(CheckId id, const Mark& mark, const ResourceId& resource,
                                    std::string message) {
  Finding finding;
  finding.check = id;
  finding.severity = SpecOf(id).severity;
  // The header of a trace is at offset 0, so no event is. Built events may have no offset.
  if (mark.offset != 0) finding.place.offset = mark.offset;
  if (mark.generation != 0) finding.place.generation = mark.generation;
  if (mark.thread != ThreadId::kNone) finding.place.thread = mark.thread;
  finding.place.event = mark.type;
  finding.place.time = mark.time;
  finding.event_number = mark.event_number;
  finding.resource = resource;
  finding.message = std::move(message);
  return finding;
}

void EventValidator::Report(CheckId id, const Event& event, const ResourceId& resource,
                            std::string message) {
  if (quiet_) return;
  // This finding may depend on the past. Checks of stacks do not.
  if (preconditions_ != nullptr && id != CheckId::kInnermostFrame &&
      id != CheckId::kFrameIncomplete) {
    preconditions_->fails = true;
  }
  Finding finding = MakeFinding(id, MarkOf(event), resource, std::move(message));
  // An error usually results from earlier transitions of the resource.
  if (finding.severity == Severity::kError) {
    finding.history = HistoryOf(resource);
    AddStack(event.stack(), &finding.context);
  }
  sink_(std::move(finding));
}

void EventValidator::ReportUnlessLost(CheckId id, const Event& event, const ResourceId& resource,
                                      std::string message) {
  if (!lost_) Report(id, event, resource, std::move(message));
}

// Ranges, tasks and regions. ----------------------------------------------------------------------

void EventValidator::CheckRange(const Event& event) {
  const RangeParts range = event.range_parts();
  RangeSpans& open = spans_.Get(range.scope).ranges;
  const size_t found = open.Find(range.what, range.reason);
  const auto named = [&range] {
    const std::string scope = FormatResource(range.scope);
    return absl::StrCat("the range ", Quoted(range.name()), scope.empty() ? "" : " of ", scope);
  };
  if (event.kind() == EventKind::kRangeEnd) {
    if (found != RangeSpans::kNone) {
      open.Remove(found);
    } else if (event.type() != EventType::kSTWEnd || !MayPredateLoss(range.scope)) {
      // A generation states again which ranges are active, except those that stop the world.
      ReportUnlessLost(CheckId::kRangeUnopened, event, range.scope,
                       absl::StrCat("expected ", named(), " to be open, found its end"));
    }
    return;
  }
  if (found == RangeSpans::kNone) {
    if (preconditions_ != nullptr && event.kind() == EventKind::kRangeActive)
      AssumeActiveRange(range);
    OpenSpan begun = MakeOpen(event, range.reason, TaskId::kNone);
    begun.what = range.what;
    begun.has_reason = range.has_reason;
    open.Add(std::move(begun));
  } else if (event.kind() == EventKind::kRangeBegin) {
    ReportUnlessLost(
        CheckId::kRangeReopened, event, range.scope,
        absl::StrCat("expected ", named(), " to end before it begins again, found it open"));
  }
}

void EventValidator::CheckTaskBegin(const Event& event) {
  const Task task = event.task();
  const ResourceId about = AboutWhat(event);
  if (task.id == TaskId::kNone || task.id == kBackgroundTask) {
    Report(CheckId::kTaskIdReserved, event, about,
           absl::StrCat("expected the id of a new task, found ", task.id.value));
  }
  if (task.parent == kBackgroundTask) {
    Report(CheckId::kTaskParent, event, about,
           absl::StrCat("expected a parent or none of task ", task.id.value,
                        ", found the background task"));
  }
  CheckTaskReference(event, task.parent);
  // There are too many open tasks, so the reader does not track this one either.
  if (event.fault() == FaultId::kLimitNesting) return;
  // If the task is also among those that ended, the open one counts.
  tasks_[task.id] = MakeOpen(event, task.type, task.id);
}

void EventValidator::CheckTaskEnd(const Event& event) {
  const Task task = event.task();
  const ResourceId about = AboutWhat(event);
  const auto found = tasks_.find(task.id);
  if (found == tasks_.end()) {
    const bool is_second = ended_.count(task.id) > 0 || ended_before_.count(task.id) > 0;
    if (!is_second && has_resumed_) return;
    if (preconditions_ != nullptr && !is_second && AssumeTaskEnd(task.id)) return;
    ReportUnlessLost(is_second ? CheckId::kTaskEndedTwice : CheckId::kTaskEndUnknown, event, about,
                     absl::StrCat("expected an open task, found the end of task ", task.id.value,
                                  is_second ? ", which has already ended" : ", which never began"));
    return;
  }
  if (found->second.name != task.type) {
    ReportUnlessLost(CheckId::kTaskType, event, about,
                     absl::StrCat("expected the type ", Quoted(found->second.name), " of task ",
                                  task.id.value, ", found ", Quoted(task.type)));
  }
  tasks_.erase(found);
  ended_.insert(task.id);
}

void EventValidator::CheckRegion(const Event& event) {
  const Region region = event.region();
  CheckTaskReference(event, region.task);
  const ResourceId about = AboutWhat(event);
  std::vector<OpenSpan>& open = spans_.Get(about).regions;
  if (event.kind() == EventKind::kRegionBegin) {
    if (event.fault() == FaultId::kLimitNesting) return;
    open.push_back(MakeOpen(event, region.type, region.task));
    return;
  }
  const auto outermost = open.rbegin() + std::min(open.size(), kMaxSearched);
  const auto found = std::find_if(open.rbegin(), outermost, [&](const OpenSpan& other) {
    return other.name == region.type && other.task == region.task;
  });
  if (found == outermost) {
    if (MayPredateLoss(about)) return;
    if (preconditions_ != nullptr && open.empty()) {
      AssumeRegionEnd(about, region);
      return;
    }
    ReportUnlessLost(CheckId::kRegionEndUnknown, event, about,
                     absl::StrCat("expected an open region, found the end of ", Quoted(region.type),
                                  ", which never began"));
    return;
  }
  // If the region is not the innermost one, the reader reports a fault.
  open.erase(std::next(found).base());
}

void EventValidator::CheckTaskReference(const Event& event, TaskId task) {
  if (task == TaskId::kNone || task == kBackgroundTask || tasks_.count(task) > 0) return;
  // Regions and logs often end after their task.
  if (ended_.count(task) > 0 || ended_before_.count(task) > 0) return;
  // A task may last over several generations, and none of them states again which tasks are open.
  if (has_resumed_) return;
  if (preconditions_ != nullptr && AssumeTask(task)) return;
  ReportUnlessLost(CheckId::kTaskUnknown, event, AboutWhat(event),
                   absl::StrCat("expected a task that began, found task ", task.value));
}

OpenSpan EventValidator::MakeOpen(const Event& event, absl::string_view name, TaskId task) const {
  return OpenSpan(name, task, MarkOf(event));
}

std::string EventValidator::NameOf(const OpenSpan& open) {
  if (open.what.empty()) return open.name;
  return RangeParts{open.what, open.has_reason, open.name, {}}.name();
}

void EventValidator::ReportOpen(CheckId id, const OpenSpan& open, const ResourceId& resource,
                                std::string message) {
  if (preconditions_ != nullptr) preconditions_->fails = true;
  sink_(MakeFinding(id, open.begin, resource, std::move(message)));
}

void EventValidator::ReportOpenSpans() {
  // Their ends may be missing.
  if (lost_) return;
  struct Item {
    CheckId id;
    const OpenSpan* open;
    ResourceId resource;
    std::string what;
  };
  std::vector<Item> items;
  spans_.ForEach([&](const ResourceId& resource, const SpansOf& spans) {
    for (const OpenSpan& range : spans.ranges.all()) {
      items.push_back({CheckId::kRangeOpen, &range, resource, "range"});
    }
    for (const OpenSpan& region : spans.regions) {
      items.push_back({CheckId::kRegionOpen, &region, resource, "region"});
    }
  });
  for (const auto& [id, task] : tasks_) {
    items.push_back({CheckId::kTaskOpen, &task, {}, absl::StrCat("task ", id.value)});
  }
  // The maps have no order of their own.
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::pair(a.open->begin.event_number, a.id) <
           std::pair(b.open->begin.event_number, b.id);
  });
  for (const Item& item : items) {
    ReportOpen(item.id, *item.open, item.resource,
               absl::StrCat("expected the ", item.what, " ", Quoted(NameOf(*item.open)),
                            " to end, found the end of the trace"));
  }
}

}  // namespace gotrace::internal
