#include "parser/reader.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "parser/batch_reader.h"
#include "parser/event_order.h"
#include "parser/frontier.h"
#include "parser/generation.h"
#include "parser/scheduler.h"
#include "parser/stall.h"
#include "parser/tolerant_generation_reader.h"
#include "tracev2/event_spec.h"

namespace gotrace {
namespace {

// Whether the fault is what follows where a region or a range was not kept.
bool IsOfSpans(FaultId id) {
  return id == FaultId::kRegionNesting || id == FaultId::kRangeNotBegun ||
         id == FaultId::kRangeNotActive;
}

}  // namespace

// What Reader does, step by step as FORMAT.md §9 and §11 tell it.
class ReaderImpl {
 public:
  ReaderImpl(std::unique_ptr<ByteSource> source, Version version, ReaderOptions options)
      : source_(std::move(source)),
        version_(version),
        options_(std::move(options)),
        generations_(source_.get(), version, options_.limits),
        tolerant_generations_(
            source_.get(), version, [this](Fault fault) { Report(fault); }, &losses_,
            options_.limits),
        scheduler_(options_.limits),
        order_(&scheduler_, options_.exact_ties_threads),
        frontier_(order_.frontier()) {}

  const Event* Next();
  absl::Span<const Event> NextBlock();

  const absl::Status& status() const { return status_; }
  Version version() const { return version_; }
  const GenerationInfo& info() const { return info_; }
  const Losses& losses() const { return losses_; }
  uint64_t event_count() const { return event_count_; }
  uint64_t attempts() const { return order_.attempts(); }
  const ByteSource& source() const { return *source_; }

 private:
  bool HasSample() const {
    return generation_ != nullptr && next_sample_ < generation_->tables().cpu_samples().size();
  }

  // The last step before an event, or nullptr, is given.
  const Event* Give(Event* event);

  // Returns the next event of the generation being read, or nullptr at its end or after a failure,
  // which sets status_.
  Event* FindInGeneration();

  // Each returns the next event, or nullptr after setting status_.
  Event* NextGeneration();
  Event* BeginGeneration();
  Event* TakeSample();

  // Queues what the next event of the frontier becomes; nothing if it is left out, or a failure.
  void AdvanceFrontier();
  Event* MakeSync(const GenerationTables* tables, int64_t time, uint64_t offset);

  // Tries the event of the cursor at `index` of the frontier, and moves that cursor on. A fault
  // that stops sets status_.
  EventOrder::Outcome TryAdvance(size_t index);
  EventOrder::Outcome MoveOn(size_t index);

  // The modes that go on after faults.
  bool tolerant() const { return options_.mode != ReadMode::kStrict; }
  Event* NextTolerantGeneration();
  // Each returns false if it left out the rest of the generation.
  bool GoOnAfterFault(ThreadCursor* cursor);
  void GoOnWithoutString(ThreadCursor* cursor);
  // Advances the event whatever stands against it, marked with `why`, or leaves it out.
  bool ForceEvent(ThreadCursor* cursor, FaultId why);
  // Leaves out the rest of the generation if the model passes a limit.
  bool KeepToLimits(const Place& place);
  void LeaveOutGeneration();
  void GoOnWithoutAdvance();
  void LeaveOut(ThreadCursor* cursor);
  void DoubtStatus();
  ThreadCursor::Step AdvanceTolerantly(ThreadCursor* cursor);
  [[gnu::cold, gnu::noinline]] void TellTimeBack(const ThreadCursor& cursor, int64_t last_time);
  void ForgetWrongTime(int64_t begin);
  void Report(const Fault& fault);

  Event* Fail(absl::Status status);
  Event* Fail(Fault fault) { return Fail(FaultStatus(std::move(fault))); }
  Fault NoAdvance();

  // Checks that what the event refers to is in the tables. What is missing there is a fault, or in
  // a tolerant mode is put there.
  bool CheckIds(Event* event);
  bool ResolveId(bool is_stack, uint64_t id, absl::string_view arg, Event* event);

  const std::unique_ptr<ByteSource> source_;
  const Version version_;
  const ReaderOptions options_;
  Losses losses_;
  GenerationReader generations_;
  TolerantGenerationReader tolerant_generations_;
  bool lost_ = false;      // Whether something of the generation being read is missing.
  bool nested_ = false;    // Whether it was told that too much is open.
  bool doubtful_ = false;  // Whether the scheduler's model had to believe what contradicts it.
  std::unique_ptr<Generation> generation_;
  Scheduler scheduler_;
  EventOrder order_;
  Frontier& frontier_;
  size_t next_sample_ = 0;

  // What the last event of the frontier became, and how much of it was given.
  absl::Span<Event> queued_;
  size_t next_queued_ = 0;

  Event own_event_;  // A kSync event or a sample, which the scheduler does not make.
  std::vector<Event> block_;
  GenerationInfo info_;
  int64_t last_time_ = 0;
  uint64_t syncs_ = 0;
  uint64_t event_count_ = 0;
  bool done_ = false;
  absl::Status pending_;  // A failure to tell once the kSync event before it was given.
  absl::Status status_;
};

const Event* ReaderImpl::Next() {
  if (done_ || !status_.ok()) return nullptr;
  Event* event = FindInGeneration();
  if (event == nullptr && status_.ok()) event = NextGeneration();
  return Give(event);
}

absl::Span<const Event> ReaderImpl::NextBlock() {
  constexpr size_t kBlockSize = 256;
  block_.clear();
  const Event* event = Next();
  while (event != nullptr) {
    block_.push_back(*event);
    // Going on to the next generation would take away what the block's events refer to.
    event = block_.size() < kBlockSize ? Give(FindInGeneration()) : nullptr;
  }
  return block_;
}

const Event* ReaderImpl::Give(Event* event) {
  if (event == nullptr || !CheckIds(event)) return nullptr;
  // Clocks of different cores may disagree by a little. What comes later in order comes later in
  // time.
  if (event->time_ <= last_time_) event->time_ = TraceClock::Add(last_time_, 1);
  last_time_ = event->time_;
  ++event_count_;
  return event;
}

Event* ReaderImpl::FindInGeneration() {
  while (status_.ok()) {
    if (next_queued_ < queued_.size()) return &queued_[next_queued_++];
    if (HasSample()) {
      const int64_t time = generation_->tables().cpu_samples()[next_sample_].time;
      if (frontier_.empty() || time < frontier_.EarliestTime()) return TakeSample();
    }
    if (frontier_.empty()) break;
    AdvanceFrontier();
  }
  return nullptr;
}

Event* ReaderImpl::NextGeneration() {
  if (!pending_.ok()) return Fail(std::exchange(pending_, absl::OkStatus()));
  frontier_.Clear();
  if (generation_ != nullptr && options_.on_generation_end) {
    options_.on_generation_end(generation_->tables());
  }
  if (tolerant()) return NextTolerantGeneration();
  GenerationReader::Result result = generations_.Next();
  if (result.outcome == GenerationReader::Outcome::kGeneration) {
    generation_ = std::move(result.generation);
    scheduler_.BeginGeneration(generation_.get());
    next_sample_ = 0;
    return BeginGeneration();
  }
  generation_.reset();
  pending_ = std::move(result.status);
  done_ = pending_.ok();
  return MakeSync(nullptr, last_time_, generations_.offset());
}

Event* ReaderImpl::BeginGeneration() {
  const GenerationTables& tables = generation_->tables();
  info_ = {generation_->number(),      generation_->begin_offset(),   generation_->end_offset(),
           generation_->batch_count(), generation_->threads().size(), tables.string_count(),
           tables.stack_count()};
  for (const ThreadBatches& thread : generation_->threads()) {
    auto cursor = std::make_unique<ThreadCursor>(*generation_, thread);
    switch (tolerant() ? AdvanceTolerantly(cursor.get()) : cursor->Advance()) {
      case ThreadCursor::Step::kEvent:
        frontier_.Insert(std::move(cursor));
        break;
      case ThreadCursor::Step::kEnd:
        break;
      case ThreadCursor::Step::kFault:
        return Fail(cursor->fault());
    }
  }
  info_.damaged = lost_;
  const int64_t begin = tables.clock().ToNs(generation_->min_ticks());
  if (tolerant()) ForgetWrongTime(begin);
  return MakeSync(&tables, begin, generation_->begin_offset());
}

Event* ReaderImpl::MakeSync(const GenerationTables* tables, int64_t time, uint64_t offset) {
  own_event_ = Event();
  own_event_.kind_ = EventKind::kSync;
  own_event_.tables_ = tables;
  own_event_.time_ = time;
  own_event_.offset_ = offset;
  own_event_.args_[0] = ++syncs_;
  return &own_event_;
}

Event* ReaderImpl::TakeSample() {
  const CpuSample& sample = generation_->tables().cpu_samples()[next_sample_++];
  own_event_ = Event();
  own_event_.type_ = EventType::kCPUSample;
  own_event_.kind_ = EventKind::kStackSample;
  own_event_.tables_ = &generation_->tables();
  own_event_.time_ = sample.time;
  own_event_.thread_ = sample.thread;
  own_event_.proc_ = sample.proc;
  own_event_.goroutine_ = sample.goroutine;
  own_event_.offset_ = sample.offset;
  own_event_.args_[0] = sample.stack;
  return &own_event_;
}

void ReaderImpl::AdvanceFrontier() {
  const EventOrder::Outcome outcome = order_.Advance([this](size_t i) { return TryAdvance(i); });
  if (outcome == EventOrder::Outcome::kWaits) {
    tolerant() ? GoOnWithoutAdvance() : (void)Fail(NoAdvance());
  }
  queued_ = scheduler_.events();
  next_queued_ = 0;
}

EventOrder::Outcome ReaderImpl::TryAdvance(size_t index) {
  ThreadCursor& cursor = frontier_.cursor(index);
  switch (scheduler_.Advance(&cursor)) {
    case Scheduler::Outcome::kAdvanced:
      if (tolerant()) DoubtStatus();
      break;
    case Scheduler::Outcome::kWaits:
      return EventOrder::Outcome::kWaits;
    case Scheduler::Outcome::kFault:
      if (!tolerant()) {
        Fail({scheduler_.fault_id(), cursor.place(), scheduler_.fault_message(), {}});
        return EventOrder::Outcome::kStopped;
      }
      if (!GoOnAfterFault(&cursor)) return EventOrder::Outcome::kAdvanced;
      break;
  }
  return MoveOn(index);
}

// Decodes the next event of the thread whose event was just taken. As in Go's reader, in strict
// mode a fault there takes that event with it.
EventOrder::Outcome ReaderImpl::MoveOn(size_t index) {
  ThreadCursor& cursor = frontier_.cursor(index);
  switch (tolerant() ? AdvanceTolerantly(&cursor) : cursor.Advance()) {
    case ThreadCursor::Step::kEvent:
      frontier_.Update(index);
      break;
    case ThreadCursor::Step::kEnd:
      frontier_.Remove(index);
      break;
    case ThreadCursor::Step::kFault:
      Fail(cursor.fault());
      return EventOrder::Outcome::kStopped;
  }
  return EventOrder::Outcome::kAdvanced;
}

Fault ReaderImpl::NoAdvance() {
  frontier_.WakeAll();
  const ThreadCursor& cursor = frontier_.cursor(0);
  Stall stall = ExplainStall(frontier_, scheduler_);
  return {FaultId::kNoAdvance, cursor.place(),
          absl::StrCat("expected an event that can come next, found that none of the next events "
                       "of ",
                       frontier_.size(), frontier_.size() == 1 ? " thread" : " threads",
                       " can; the earliest of them is this one",
                       stall.missing.empty() ? "" : ", and the likeliest missing event is ",
                       stall.missing),
          std::move(stall.details)};
}

Event* ReaderImpl::NextTolerantGeneration() {
  const uint64_t last_number = generation_ == nullptr ? 0 : generation_->number();
  generation_ = tolerant_generations_.Next();
  if (generation_ == nullptr) {
    const absl::Status& io_status = tolerant_generations_.io_status();
    // A fault of compression was told already.
    if (!FaultOf(io_status).has_value()) pending_ = io_status;
    done_ = pending_.ok();
    return MakeSync(nullptr, last_time_, tolerant_generations_.offset());
  }
  const bool follows = last_number == 0 || generation_->number() == last_number + 1;
  // A generation tells all statuses anew. To hold them against a model that may be wrong would find
  // the same fault twice.
  if (lost_ || doubtful_ || !follows) scheduler_.Forget();
  lost_ = tolerant_generations_.damaged();
  doubtful_ = false;
  nested_ = false;
  scheduler_.BeginGeneration(generation_.get());
  next_sample_ = 0;
  return BeginGeneration();
}

bool ReaderImpl::GoOnAfterFault(ThreadCursor* cursor) {
  const FaultId id = scheduler_.fault_id();
  if (id == FaultId::kEventStringId) {
    GoOnWithoutString(cursor);
    return KeepToLimits(cursor->place());
  }
  // Where something is missing, contradictions are its echo. That too much is open is told once.
  const bool is_echo = id == FaultId::kLimitNesting
                           ? std::exchange(nested_, true)
                           : (lost_ && !IsLimit(id)) || (nested_ && IsOfSpans(id));
  if (!is_echo) Report({id, cursor->place(), scheduler_.fault_message(), {}});
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

// A status of no meaning is no fault by itself, but the next one would be found to contradict it.
void ReaderImpl::DoubtStatus() {
  for (const Event& event : scheduler_.events()) {
    doubtful_ |= event.kind_ == EventKind::kStateTransition && event.to_ == 0;
  }
}

// The model asks for the names of tasks and regions before CheckIds() sees the event.
void ReaderImpl::GoOnWithoutString(ThreadCursor* cursor) {
  Event event;
  event.type_ = cursor->event().type;
  event.offset_ = cursor->offset();
  event.thread_ = cursor->thread();
  event.tables_ = &generation_->tables();
  std::copy(std::begin(cursor->event().args), std::end(cursor->event().args), event.args_);
  CheckIds(&event);
  // A name that nobody knows fits every region.
  if (scheduler_.Advance(cursor) != Scheduler::Outcome::kAdvanced) {
    ForceEvent(cursor, FaultId::kEventStringId);
  }
}

bool ReaderImpl::ForceEvent(ThreadCursor* cursor, FaultId why) {
  if (scheduler_.Force(cursor) != Scheduler::Outcome::kAdvanced) {
    scheduler_.DropEvents();
    ++losses_.dropped_events;
    return false;
  }
  for (Event& event : scheduler_.events()) {
    event.fault_ = why;
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

// Generations overlap by no more than it takes to stop all threads. If the last one ended long
// after this one begins, a time in it was wrong, and must not push all later times forward.
void ReaderImpl::ForgetWrongTime(int64_t begin) {
  constexpr int64_t kLongestOverlap = 100'000'000;
  if (begin > 0 && TraceClock::Subtract(last_time_, begin) > kLongestOverlap)
    last_time_ = begin - 1;
}

void ReaderImpl::Report(const Fault& fault) {
  ++losses_.faults;
  if (options_.on_fault) options_.on_fault(fault);
}

Event* ReaderImpl::Fail(absl::Status status) {
  status_ = std::move(status);
  return nullptr;
}

bool ReaderImpl::CheckIds(Event* event) {
  const EventSpec* const spec = FindEventSpec(event->type_);
  // A kSync event has no row.
  if (spec == nullptr) return true;
  if (!spec->timed()) {
    // A sample's stack is not checked by Go's reader.
    if (tolerant() && !event->tables_->HasStack(event->args_[0])) {
      ResolveId(/*is_stack=*/true, event->args_[0], "stack", event);
    }
    return true;
  }
  for (int i = 1; i < spec->arg_count; ++i) {
    const uint64_t id = event->args_[i - 1];
    if (id == 0) continue;
    const bool is_stack = spec->arg_types[i] == ArgType::kStack;
    const bool is_string = spec->arg_types[i] == ArgType::kString;
    if (is_stack ? event->tables_->HasStack(id)
                 : !is_string || event->tables_->FindString(id) != nullptr) {
      continue;
    }
    if (!ResolveId(is_stack, id, spec->arg_names[i], event)) return false;
  }
  return true;
}

bool ReaderImpl::ResolveId(bool is_stack, uint64_t id, absl::string_view arg, Event* event) {
  Fault fault = {is_stack ? FaultId::kEventStackId : FaultId::kEventStringId, Place(),
                 absl::StrCat("expected ", is_stack ? "stack " : "string ", id,
                              " in the table, for the argument ", arg, ", found none")};
  fault.place.offset = event->offset_;
  fault.place.generation = generation_->number();
  fault.place.thread = event->thread_;
  fault.place.event = event->type_;
  if (!tolerant()) {
    Fail(std::move(fault));
    return false;
  }
  ++losses_.unresolved;
  GenerationTables& tables = generation_->tables();
  // Where the trace was cut off, tables are missing as a matter of course.
  if (!tolerant_generations_.incomplete()) {
    // The runtime writes tables when a generation ends, some of each kind into every one.
    if (tolerant_generations_.is_last() &&
        (tables.stack_count() == 0 || tables.string_count() == 0)) {
      absl::StrAppend(&fault.message, "; the trace was probably cut off before its tables");
      tolerant_generations_.SetIncomplete();
    }
    Report(fault);
  }
  is_stack ? tables.AddMissingStack(id) : tables.AddMissingString(id);
  return true;
}

absl::StatusOr<Reader> Reader::Open(const std::string& path, ReaderOptions options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path, options.limits);
  if (!source.ok()) return source.status();
  return FromSource(*std::move(source), std::move(options));
}

absl::StatusOr<Reader> Reader::FromBytes(absl::string_view bytes, ReaderOptions options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes, options.limits);
  if (!source.ok()) return source.status();
  return FromSource(*std::move(source), std::move(options));
}

absl::StatusOr<Reader> Reader::FromStream(int fd, ReaderOptions options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromStream(
      std::make_unique<FdStream>(fd, /*owned=*/false, absl::StrCat("file descriptor ", fd)),
      options.limits);
  if (!source.ok()) return source.status();
  return FromSource(*std::move(source), std::move(options));
}

absl::StatusOr<Reader> Reader::FromSource(std::unique_ptr<ByteSource> source,
                                          ReaderOptions options) {
  const absl::StatusOr<Version> version = ReadHeader(source.get());
  if (!version.ok()) return version.status();
  return Reader(std::make_unique<ReaderImpl>(std::move(source), *version, std::move(options)));
}

Reader::Reader(std::unique_ptr<ReaderImpl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

const Event* Reader::Next() { return impl_->Next(); }
absl::Span<const Event> Reader::NextBlock() { return impl_->NextBlock(); }
const absl::Status& Reader::status() const { return impl_->status(); }
Version Reader::version() const { return impl_->version(); }
const GenerationInfo& Reader::generation() const { return impl_->info(); }
const Losses& Reader::losses() const { return impl_->losses(); }
uint64_t Reader::event_count() const { return impl_->event_count(); }
uint64_t Reader::attempts() const { return impl_->attempts(); }
uint64_t Reader::input_size() const { return impl_->source().input_size(); }
uint64_t Reader::input_read() const { return impl_->source().input_read(); }

}  // namespace gotrace
