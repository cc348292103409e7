#include "validator/validator.h"

#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "parser/event/event_tables.h"
#include "parser/order/fault_context.h"
#include "util/quote.h"
#include "validator/validator_inline.h"

namespace gotrace::internal {
namespace {

// Snapshots nearer to each other than this, in nanoseconds, tell nothing of how fast clocks run:
// a thread may lose its core between reading one clock and the other.
constexpr uint64_t kLeastForRate = 500'000'000;
constexpr double kMostOff = 0.01;

// Whether the trace clock went on by `trace` nanoseconds while the monotonic one did by `mono`.
bool RunAlike(uint64_t mono, uint64_t trace) {
  const double ratio = static_cast<double>(trace) / static_cast<double>(mono);
  return mono < kLeastForRate || std::abs(ratio - 1) <= kMostOff;
}

uint64_t StepOf(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

bool IsComplete(const StackFrame& frame) {
  // What stands for a stack that no table has is told of where that is found.
  if (frame.pc == 0 && absl::StartsWith(frame.func, "?stack#")) return true;
  return !frame.func.empty() && !frame.file.empty() && frame.pc != 0 && frame.line != 0;
}

bool IsComplete(const Stack& stack) {
  for (size_t i = 0; i < stack.size(); ++i) {
    if (!IsComplete(stack.frame(i))) return false;
  }
  return true;
}

}  // namespace

Validator::Validator(const ValidatorOptions& options, Sink sink)
    : options_(options), sink_(std::move(sink)) {
  BeginStacks(nullptr);
}

[[gnu::always_inline]] inline void Validator::CheckOne(const Event& event) {
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

void Validator::Check(const Event& event) { CheckAll({&event, 1}); }

void Validator::CheckAll(absl::Span<const Event> events) {
  for (const Event& event : events) CheckOne(event);
}

void Validator::CheckOther(const Event& event) {
  switch (event.kind()) {
    case EventKind::kNone:
    case EventKind::kMetric:
    case EventKind::kStackSample:  // Its context need not agree with other events.
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

void Validator::BeginGeneration(uint64_t number) {
  generation_before_ = generation_;
  generation_ = number;
  if (lost_ || doubtful_ || threads_.size() > kMostThreads) Resume();
}

void Validator::Lose() { lost_ = true; }

void Validator::Resume() {
  lost_ = false;
  doubtful_ = false;
  has_resumed_ = true;
  has_time_ = false;
  last_clocks_.reset();
  first_sync_ = 0;
  goroutines_.Clear();
  procs_.Clear();
  threads_.Clear();
  opens_.Clear();
  tasks_.clear();
  ended_.clear();
  ended_before_.clear();
}

bool Validator::MayPredateLoss(const ResourceId& resource) const {
  if (!has_resumed_) return false;
  const Resource* const known = FindResource(resource);
  return known == nullptr || !known->is_whole;
}

void Validator::Finish() {
  ReportOpens();
  // Where Go's reader asks for a generation, that there is none was told as a fault.
  if (generation_ != 0 || event_count_ > 1 || lost_) return;
  Finding finding;
  finding.check = CheckId::kNoGeneration;
  finding.severity = SpecOf(finding.check).severity;
  finding.message = "expected at least one generation, found none";
  sink_(std::move(finding));
}

ResourceId Validator::AboutWhat(const Event& event) {
  if (event.kind() == EventKind::kStateTransition) return event.transition_resource();
  if (event.goroutine() != GoId::kNone) {
    return {ResourceKind::kGoroutine, event.goroutine().value};
  }
  if (event.proc() != ProcId::kNone) return {ResourceKind::kProc, event.proc().value};
  return {};
}

void Validator::ReportTime(const Event& event, int64_t last) {
  if (!has_time_) return;
  const int64_t time = event.time();
  if (time <= last) {
    Report(CheckId::kEventTime, event, {},
           absl::StrCat("expected a time later than ", last, " ns, found ", time, " ns"));
    // One wrong time in a generation is not held against all of the next one.
    if (event.kind() != EventKind::kSync) last_time_ = last;
    return;
  }
  const uint64_t gap = static_cast<uint64_t>(time) - static_cast<uint64_t>(last);
  Report(CheckId::kTimeGap, event, {},
         absl::StrFormat("found no event in the %.3f s before this one",
                         static_cast<double>(gap) / 1e9));
}

void Validator::BeginStacks(const EventTables* tables) {
  const uint64_t last = tables == nullptr ? 0 : tables->last_near_stack();
  std::vector<uint64_t> incomplete;
  for (uint64_t id = 1; id <= last; ++id) {
    if (!IsComplete(Stack(tables, id))) incomplete.push_back(id);
  }
  unchecked_stacks_.Begin(last, incomplete);
  checked_stacks_.Clear();
}

void Validator::CheckStack(const Event& event, const Stack& stack) {
  const uint64_t id = stack.id();
  unchecked_stacks_.Forget(id);
  // Those that are not forgotten stay among the unchecked ones.
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

void Validator::CheckSync(const Event& event) {
  const Sync sync = event.sync();
  if (assumed_ != nullptr && assumed_->first_sync == 0) AssumeSync(event, sync.n);
  if (sync.n != last_sync_ + 1) {
    Report(CheckId::kSyncNumber, event, {},
           absl::StrCat("expected sync ", last_sync_ + 1, ", found sync ", sync.n));
  }
  last_sync_ = sync.n;
  const uint64_t before = std::exchange(generation_before_, 0);
  // The highest number has none that follows.
  if (before != 0 && generation_ != before + 1) {
    Report(generation_ > before ? CheckId::kGenerationMissing : CheckId::kGenerationBack, event, {},
           absl::StrCat("expected generation ", before + 1, ", found ", generation_));
    // What is missing stands before this generation, not in it.
    if (!lost_) Resume();
    last_clocks_.reset();
  }
  BeginStacks(event.tables());
  ended_before_ = std::exchange(ended_, {});
  CheckClocks(event, sync);
}

void Validator::CheckClocks(const Event& event, const Sync& sync) {
  if (!sync.clock_snapshot.has_value()) {
    // Only the first sync must have one: the last one ends a trace, and has no generation.
    if (sync.n == 1 && options_.version >= Version::kGo125 && generation_ != 0 && !lost_) {
      Report(CheckId::kClockSnapshotMissing, event, {}, "expected a clock snapshot, found none");
    }
    return;
  }
  const ClockSnapshot& clocks = *sync.clock_snapshot;
  const auto check_zero = [&](bool is_zero, absl::string_view clock) {
    if (!is_zero) return;
    Report(CheckId::kClockSnapshotZero, event, {},
           absl::StrCat("expected the time of the ", clock, " clock, found 0"));
  };
  check_zero(clocks.wall == absl::UnixEpoch(), "wall");
  check_zero(clocks.mono == 0, "monotonic");
  check_zero(clocks.trace_time == 0, "trace");
  if (last_clocks_.has_value()) {
    CompareClocks(event, clocks);
  } else if (assumed_ != nullptr) {
    assumed_->first_clocks = clocks;
  }
  last_clocks_ = clocks;
}

void Validator::CompareClocks(const Event& event, const ClockSnapshot& clocks) {
  const auto check_order = [&](bool rises, absl::string_view clock) {
    if (rises) return;
    Report(CheckId::kClockSnapshotOrder, event, {},
           absl::StrCat("expected the ", clock,
                        " clock later than in the snapshot before, found it not later"));
  };
  check_order(clocks.wall > last_clocks_->wall, "wall");
  check_order(clocks.mono > last_clocks_->mono, "monotonic");
  check_order(clocks.trace_time > last_clocks_->trace_time, "trace");
  if (clocks.mono <= last_clocks_->mono || clocks.trace_time <= last_clocks_->trace_time) return;
  const uint64_t mono = clocks.mono - last_clocks_->mono;
  const uint64_t trace = StepOf(last_clocks_->trace_time, clocks.trace_time);
  if (RunAlike(mono, trace)) return;
  Report(CheckId::kClockSnapshotRate, event, {},
         absl::StrFormat("expected %d ns of the trace clock between the snapshots, as of the "
                         "monotonic clock, found %d ns",
                         mono, trace));
}

bool Validator::ClocksAgree(const ClockSnapshot& last, const ClockSnapshot& clocks) {
  return clocks.wall > last.wall && clocks.mono > last.mono &&
         clocks.trace_time > last.trace_time &&
         RunAlike(clocks.mono - last.mono, StepOf(last.trace_time, clocks.trace_time));
}

void Validator::CheckLabel(const Event& event) {
  const Label label = event.label();
  if (label.label.empty()) {
    Report(CheckId::kLabelEmpty, event, label.resource, "expected a label, found \"\"");
  }
  if (label.resource.id == GoId::kNone.value) {
    Report(CheckId::kLabelOfNothing, event, {},
           "expected a label of a goroutine, found one of none");
  } else if (FindResource(label.resource) == nullptr) {
    ReportUnlessLost(CheckId::kLabelOfNothing, event, label.resource,
                     absl::StrCat("expected a label of a goroutine that exists, found one of ",
                                  FormatResource(label.resource)));
  }
}

Validator::Mark Validator::MarkOf(const Event& event) const {
  return {event.offset(), generation_, event.thread(), event.time(), event_count_, event.type()};
}

Finding Validator::MakeFinding(CheckId id, const Mark& mark, const ResourceId& resource,
                               std::string message) {
  Finding finding;
  finding.check = id;
  finding.severity = SpecOf(id).severity;
  finding.place.offset = mark.offset;
  if (mark.generation != 0) finding.place.generation = mark.generation;
  if (mark.thread != ThreadId::kNone) finding.place.thread = mark.thread;
  finding.place.event = mark.type;
  finding.place.time = mark.time;
  finding.event_number = mark.event_number;
  finding.resource = resource;
  finding.message = std::move(message);
  return finding;
}

void Validator::Report(CheckId id, const Event& event, const ResourceId& resource,
                       std::string message) {
  if (quiet_) return;
  // What came before has nothing to do with stacks.
  if (assumed_ != nullptr && id != CheckId::kInnermostFrame && id != CheckId::kFrameIncomplete) {
    assumed_->fails = true;
  }
  Finding finding = MakeFinding(id, MarkOf(event), resource, std::move(message));
  // How it got there tells what is wrong, where something is.
  if (finding.severity == Severity::kError) {
    finding.history = HistoryOf(resource);
    AddStack(event.stack(), &finding.context);
  }
  sink_(std::move(finding));
}

void Validator::ReportUnlessLost(CheckId id, const Event& event, const ResourceId& resource,
                                 std::string message) {
  if (!lost_) Report(id, event, resource, std::move(message));
}

}  // namespace gotrace::internal
