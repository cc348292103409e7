#include "gotrace/reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "parser/event/event_access.h"
#include "parser/event/event_writer.h"
#include "parser/framing/batch_reader.h"
#include "parser/order/fault_context.h"
#include "parser/order/stall.h"
#include "parser/reader/reader_impl.h"
#include "parser/source/stoppable_source.h"

namespace gotrace::internal {
namespace {

// Whether the fault may result from a missing batch of the generation.
bool LacksSomething(FaultId id) {
  return id == FaultId::kEventStackId || id == FaultId::kEventStringId || id == FaultId::kNoAdvance;
}

}  // namespace

std::unique_ptr<GenerationFeed> ReaderImpl::MakeFeed() {
  if (!tolerant()) {
    return std::make_unique<GenerationReader>(source_.get(), version_, options_.limits);
  }
  auto feed = std::make_unique<TolerantGenerationReader>(
      source_.get(), version_, [this](Fault fault) { ReportAt(fault); }, &losses_, options_.limits);
  feed->Observe(hooks_.on_batch);
  return feed;
}

absl::Span<const Event> ReaderImpl::NextBlock() {
  if (!status_.ok()) return {};
  if (options_.keep_going != nullptr && !options_.keep_going()) {
    status_ = StoppableSource::Stopped();
    return Give({});
  }
  if (const absl::Span<const Event> events = TakeAhead(); !events.empty()) return Give(events);
  while (pending_.ok() && !stopped_at_.has_value()) {
    size_t count = FindPlain(absl::MakeSpan(block_), /*hands_over=*/false);
    plain_blocks_ = count > 0 ? plain_blocks_ + 1 : 0;
    if (count == 0) count = FindNext(block_);
    if (count > 0) {
      if (plain_blocks_ >= kBlocksBeforeAhead) RunAhead();
      return Give({block_, count});
    }
    if (!pending_.ok() || !GenerationEnds()) continue;
    if (done_) break;
    Event* const sync = NextGeneration();
    if (sync != nullptr && Finish(sync, 1) == 1) return Give({sync, 1});
  }
  status_ = std::exchange(pending_, absl::OkStatus());
  return Give({});
}

size_t ReaderImpl::Finish(Event* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!CheckIds(&events[i])) return i;
    PutInTime(&events[i]);
  }
  return count;
}

void ReaderImpl::PutInTime(Event* event) {
  if (was_stuck_) [[unlikely]] {
    last_time_ = std::max(last_time_, event->time());
  } else {
    EventWriter(event).MakeLaterThan(&last_time_);
  }
}

size_t ReaderImpl::FindPlain(absl::Span<Event> room, bool hands_over) {
  size_t count = 0;
  while (room.size() - count >= SchedulerModel::kMaxEvents) {
    if (!was_stuck_ && order_.TriesOnlyFirst()) {
      const size_t found = FindRuns(room.subspan(count), hands_over);
      count += found;
      if (found > 0) continue;
    }
    const size_t found = FindOnePlain(room.subspan(count));
    if (found == 0) break;
    count += found;
  }
  return count;
}

size_t ReaderImpl::FindOnePlain(absl::Span<Event> room) {
  if (SampleIsNext()) {
    if (!generation_->tables().HasStack(samples_[next_sample_].stack)) return 0;
    TakeSample(&room[0]);
    PutInTime(&room[0]);
    return 1;
  }
  if (frontier_.empty()) return 0;
  scheduler_.EmitTo(room.data());
  if (order_.Advance([this](size_t i) { return TryPlainly(i); }) !=
      EventOrder::Outcome::kAdvanced) {
    return 0;
  }
  for (Event& event : scheduler_.events()) PutInTime(&event);
  return scheduler_.events().size();
}

size_t ReaderImpl::FindRuns(absl::Span<Event> room, bool hands_over) {
  const int64_t next_sample = next_sample_ < samples_.size() ? samples_[next_sample_].time
                                                             : std::numeric_limits<int64_t>::max();
  const SchedulerModel::Run run = scheduler_.AdvanceRuns(
      &frontier_, {next_sample, watches_time_, hands_over, last_time_, room.begin(),
                   room.end() - (SchedulerModel::kMaxEvents - 1)});
  order_.CountAttempts(run.attempts);
  last_time_ = run.last_time;
  return run.room - room.begin();
}

bool ReaderImpl::IsPlain(ThreadCursor* cursor) const {
  const auto is_last = [&] {
    return cursor->ids_found() && cursor->Peek() == nullptr && cursor->EndsNext();
  };
  return cursor->IsPlain(watches_time_) || is_last();
}

EventOrder::Outcome ReaderImpl::TryPlainly(size_t index) {
  ThreadCursor& cursor = frontier_.cursor(index);
  if (!IsPlain(&cursor)) return EventOrder::Outcome::kStopped;
  const SchedulerModel::Outcome outcome = scheduler_.Advance(&cursor);
  // MoveOn() calls no callback, since the next event can be decoded and is not earlier, where that
  // matters.
  if (outcome == SchedulerModel::Outcome::kAdvanced) return MoveOn(index);
  return outcome == SchedulerModel::Outcome::kWaits ? EventOrder::Outcome::kWaits
                                                    : EventOrder::Outcome::kStopped;
}

EventOrder::Outcome ReaderImpl::TryAdvance(size_t index) {
  ThreadCursor& cursor = frontier_.cursor(index);
  switch (scheduler_.Advance(&cursor)) {
    case SchedulerModel::Outcome::kAdvanced:
      break;
    case SchedulerModel::Outcome::kWaits:
      return EventOrder::Outcome::kWaits;
    case SchedulerModel::Outcome::kFault:
      if (!tolerant()) {
        Fault fault = FaultAt(cursor);
        // A contradiction may result from missing events.
        const bool contradicts = version_ >= Version::kGo125 && !IsLimit(fault.id) &&
                                 fault.id != FaultId::kEventWithoutRule;
        const bool may_lack = contradicts || LacksSomething(fault.id);
        Fail(may_lack ? SayIfCut(std::move(fault)) : std::move(fault));
        return EventOrder::Outcome::kStopped;
      }
      if (!ContinueAfterFault(&cursor)) return EventOrder::Outcome::kAdvanced;
      break;
  }
  return MoveOn(index);
}

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

size_t ReaderImpl::FindNext(Event* room) {
  if (SampleIsNext()) {
    TakeSample(room);
    return Finish(room, 1);
  }
  if (frontier_.empty()) return 0;
  scheduler_.EmitTo(room);
  AdvanceFrontier();
  if (!pending_.ok()) return 0;
  return Finish(room, scheduler_.events().size());
}

Event* ReaderImpl::NextGeneration() {
  plain_blocks_ = kBlocksBeforeAhead;
  frontier_.Clear();
  samples_ = {};
  next_sample_ = 0;
  if (!std::exchange(end_reported_, true) && hooks_.on_generation_end) {
    hooks_.on_generation_end(generation_->tables(), use_);
  }
  if (feed_->next_offset() >= stop_at_) {
    stopped_at_ = feed_->next_offset();
    return nullptr;
  }
  was_stuck_ = false;
  absl::StatusOr<std::unique_ptr<Generation>> next = feed_->Next();
  pending_ = next.status();
  generation_ = next.ok() ? *std::move(next) : nullptr;
  if (generation_ == nullptr) {
    done_ = pending_.ok();
    return MakeSync(nullptr, last_time_, source_->offset());
  }
  if (tolerant()) Recover();
  return BeginGeneration();
}

Event* ReaderImpl::BeginGeneration() {
  BeginModel();
  end_reported_ = false;
  const GenerationTables& tables = generation_->tables();
  info_ = GenerationInfo();
  info_.number = generation_->number();
  info_.begin_offset = generation_->begin_offset();
  info_.end_offset = generation_->end_offset();
  info_.batches = generation_->batch_count();
  info_.strings = tables.string_count();
  info_.stacks = tables.stack_count();
  if (tables.frequency().has_value()) info_.frequency = tables.frequency()->ticks_per_second;
  info_.has_event_batches = !generation_->threads().empty();
  samples_ = tables.cpu_samples();
  if (hooks_.on_generation_end) {
    use_.Begin(tables);
    use_.NoteSamples(tables);
  }
  const ThreadCursor::Ahead ahead = ChooseAhead();
  for (const ThreadBatches& thread : generation_->threads()) {
    info_.threads += thread.thread != ThreadId::kNone;
    auto cursor = std::make_unique<ThreadCursor>(*generation_, thread, ahead);
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
  order_.BeginGeneration(generation_->bytes());
  info_.damaged = lost_;
  info_.ends_with_trace = tolerant() && generation_->integrity().is_last;
  const int64_t begin = tables.clock().ToNs(generation_->min_ticks());
  return MakeSync(&tables, begin, generation_->begin_offset());
}

void ReaderImpl::BeginModel() {
  const bool is_first = syncs_ == begin_.start.earlier_generations;
  if (is_first && syncs_ > 0) scheduler_.StartInMiddle(*generation_, begin_.start);
  scheduler_.BeginGeneration(generation_.get());
}

bool ReaderImpl::IsFlawed() const {
  return !status_.ok() || losses_.faults > 0 || losses_.any() || lost_ || model_is_unreliable_ ||
         was_stuck_;
}

bool ReaderImpl::Follows(const ReaderImpl& before) const {
  return !IsFlawed() && !before.IsFlawed() && (done_ || stopped_at_.has_value()) &&
         before.syncs_ == begin_.start.earlier_generations &&
         before.last_time_ == begin_.last_time && before.stopped_at_ == begin_.offset &&
         scheduler_.Follows(before.scheduler_);
}

bool ReaderImpl::ContinueFrom(ReaderImpl& before) {
  if (!Follows(before)) return false;
  scheduler_.ContinueFrom(before.scheduler_);
  before.source_->LeaveAtEnd();
  options_ = before.options_;
  hooks_ = before.hooks_;
  UseCores(OwnCores());
  begin_ = std::move(before.begin_);
  event_count_ += before.event_count_;
  contexts_ += before.contexts_;
  order_.CountAttempts(before.order_.attempts());
  return true;
}

ThreadCursor::Ahead ReaderImpl::ChooseAhead() {
  // If many threads decoded far ahead, their events would evict each other from the cache.
  const size_t threads = std::max<size_t>(generation_->threads().size(), 1);
  return {std::clamp<size_t>(kMaxAtOnce / threads, 1, kMaxPerThread), /*check_ids=*/true,
          hooks_.on_generation_end ? &use_ : nullptr};
}

Event* ReaderImpl::MakeSync(const GenerationTables* tables, int64_t time, uint64_t offset) {
  sync_ = Event();
  EventWriter(&sync_)
      .Tags(EventTags(EventType::kNone, EventKind::kSync))
      .Tables(tables)
      .Time(time)
      .Offset(offset)
      .Arg(0, ++syncs_);
  return &sync_;
}

void ReaderImpl::TakeSample(Event* event) {
  const CpuSample& sample = samples_[next_sample_++];
  *event = Event();
  EventWriter(event)
      .Tags(TagsOf(EventType::kCPUSample))
      .Tables(&generation_->tables())
      .Time(sample.time)
      .Thread(sample.thread)
      .Proc(sample.proc)
      .Goroutine(sample.goroutine)
      .Offset(sample.offset)
      .Arg(0, sample.stack);
}

void ReaderImpl::AdvanceFrontier() {
  const EventOrder::Outcome outcome = order_.Advance([this](size_t i) { return TryAdvance(i); });
  if (outcome == EventOrder::Outcome::kWaits) {
    tolerant() ? ContinueWithoutAdvance() : (void)Fail(NoAdvance());
  }
}

Fault ReaderImpl::FaultAt(const ThreadCursor& cursor) {
  Fault fault = {scheduler_.fault_id(), cursor.place(), scheduler_.fault_message(), {}};
  if (TakesContext()) fault.context = scheduler_.ContextOf(cursor);
  return fault;
}

Fault ReaderImpl::NoAdvance() {
  frontier_.WakeAll();
  const ThreadCursor& cursor = frontier_.cursor(0);
  Stall stall = ExplainStall(frontier_, scheduler_);
  Fault fault = {FaultId::kNoAdvance, cursor.place(),
                 absl::StrCat("deadlock: none of the next events of ", frontier_.size(),
                              frontier_.size() == 1 ? " thread" : " threads",
                              " can be ordered; this is the earliest of them",
                              stall.missing.empty() ? "" : "; the most likely missing event is ",
                              stall.missing),
                 std::move(stall.details), scheduler_.ContextOf(cursor)};
  // Before Go 1.25 the frequency, which is not missing, follows all events.
  return version_ >= Version::kGo125 ? SayIfCut(std::move(fault)) : fault;
}

// Marks the fault as cut off if it may result from a truncated trace. The runtime writes tables
// when a generation ends. So if the last generation has none, they were probably never written.
Fault ReaderImpl::SayIfCut(Fault fault) const {
  const Generation::Integrity& integrity = generation_->integrity();
  const bool is_cut = version_ < Version::kGo126 && integrity.is_last &&
                      (integrity.incomplete || generation_->tables().LacksTables());
  return is_cut ? CutOff(std::move(fault), "probably cut off before its tables") : fault;
}

Event* ReaderImpl::Fail(Fault fault) {
  // If the trace is cut off, the missing part came after the cut.
  const absl::Status& cut = generation_->integrity().cut;
  pending_ = LacksSomething(fault.id) && !cut.ok() ? cut : FaultStatus(std::move(fault));
  return nullptr;
}

bool ReaderImpl::CheckIds(Event* event) {
  const EventSpec* const spec = FindEventSpec(event->type());
  // A kSync event has no row.
  if (spec == nullptr) return true;
  if (!spec->timed()) {
    // Go's reader does not check the stack of a sample.
    if (tolerant() && !EventAccess::Tables(*event)->HasStack(event->arg(0))) {
      ResolveId(/*is_stack=*/true, event->arg(0), "stack", event);
    }
    return true;
  }
  for (int i = 1; i < spec->arg_count; ++i) {
    const uint64_t id = event->arg(i - 1);
    const bool is_stack = spec->arg_types[i] == ArgType::kStack;
    const bool is_string = spec->arg_types[i] == ArgType::kString;
    if (is_stack ? EventAccess::Tables(*event)->HasStack(id)
                 : !is_string || EventAccess::Tables(*event)->HasString(id)) {
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
  fault.place.offset = event->offset();
  fault.place.generation = generation_->number();
  fault.place.thread = event->thread();
  fault.place.event = event->type();
  if (TakesContext()) AddStack(event->stack(), &fault.context);
  fault = SayIfCut(std::move(fault));
  if (!tolerant()) {
    Fail(std::move(fault));
    return false;
  }
  ++losses_.unresolved;
  GenerationTables& tables = generation_->tables();
  // If the trace is cut off, missing tables are to be expected.
  if (bool& incomplete = generation_->integrity().incomplete; !incomplete) {
    incomplete = fault.cut_off;
    Report(fault);
  }
  is_stack ? tables.AddMissingStack(id) : tables.AddMissingString(id);
  return true;
}

absl::StatusOr<Reader> ReaderAccess::FromSource(std::unique_ptr<ByteSource> source,
                                                ReaderOptions options, ReaderHooks hooks) {
  source = StoppableSource::Wrap(std::move(source), options.keep_going);
  const absl::StatusOr<Version> version = ReadHeader(source.get());
  if (!version.ok()) return version.status();
  return Reader(std::make_unique<ReaderImpl>(std::move(source), *version, std::move(options),
                                             std::move(hooks)));
}

WaitingGoroutines ReaderAccess::CountWaiting(const Reader& reader) {
  return reader.impl_->CountWaiting();
}

}  // namespace gotrace::internal

namespace gotrace {

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
  return internal::ReaderAccess::FromSource(std::move(source), std::move(options), {});
}

Reader::Reader(std::unique_ptr<internal::ReaderImpl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

bool Reader::Refill() {
  const absl::Span<const Event> block = impl_->NextBlock();
  next_ = block.begin();
  end_ = block.end();
  return !block.empty();
}

absl::Span<const Event> Reader::NextBlock() {
  if (next_ == end_ && !Refill()) return {};
  return absl::MakeConstSpan(std::exchange(next_, end_), end_);
}

const absl::Status& Reader::status() const { return impl_->status(); }
Version Reader::version() const { return impl_->version(); }
const GenerationInfo& Reader::generation() const { return impl_->info(); }
const Losses& Reader::losses() const { return impl_->losses(); }
std::optional<uint64_t> Reader::next_trace() const { return impl_->next_trace(); }
uint64_t Reader::event_count() const { return impl_->event_count() - (end_ - next_); }
uint64_t Reader::input_size() const { return impl_->source().input_size(); }
uint64_t Reader::input_read() const { return impl_->source().input_read(); }

}  // namespace gotrace
