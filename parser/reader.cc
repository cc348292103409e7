#include "parser/reader.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "parser/batch_reader.h"
#include "parser/frontier.h"
#include "parser/generation.h"
#include "parser/scheduler.h"
#include "tracev2/event_spec.h"

namespace gotrace {

// What Reader does, step by step as FORMAT.md §9 and §11 tell it.
class ReaderImpl {
 public:
  ReaderImpl(std::unique_ptr<ByteSource> source, Version version)
      : source_(std::move(source)), version_(version), generations_(source_.get(), version) {}

  const Event* Next();
  absl::Span<const Event> NextBlock();

  const absl::Status& status() const { return status_; }
  Version version() const { return version_; }
  const GenerationInfo& info() const { return info_; }
  uint64_t event_count() const { return event_count_; }
  const ByteSource& source() const { return *source_; }

 private:
  // Whether the next event will be a kSync event, or none.
  bool AtGenerationEnd() const {
    return next_queued_ == queued_.size() && frontier_.empty() && !HasSample();
  }

  bool HasSample() const {
    return generation_ != nullptr && next_sample_ < generation_->tables().cpu_samples().size();
  }

  // Each returns the next event, or nullptr after setting status_ or done_.
  Event* FindNext();
  Event* NextGeneration();
  Event* BeginGeneration();
  Event* TakeSample();
  Event* AdvanceFrontier();
  Event* MakeSync(const GenerationTables* tables, int64_t time, uint64_t offset);

  // Advances the cursor at `index` of the frontier. False stands for "waits", or for a fault, which
  // sets status_.
  bool TryAdvance(size_t index);

  Event* Fail(absl::Status status);
  Event* Fail(Fault fault) { return Fail(FaultStatus(std::move(fault))); }
  void FailNoAdvance();

  // Checks that what the event refers to is in the tables.
  bool CheckIds(const Event& event);

  const std::unique_ptr<ByteSource> source_;
  const Version version_;
  GenerationReader generations_;
  std::unique_ptr<Generation> generation_;
  Frontier frontier_;
  Scheduler scheduler_;
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
  Event* const event = FindNext();
  if (event == nullptr || !CheckIds(*event)) return nullptr;
  // Clocks of different cores may disagree by a little. What comes later in order comes later in
  // time.
  if (event->time_ <= last_time_) event->time_ = TraceClock::Add(last_time_, 1);
  last_time_ = event->time_;
  ++event_count_;
  return event;
}

absl::Span<const Event> ReaderImpl::NextBlock() {
  constexpr size_t kBlockSize = 256;
  block_.clear();
  do {
    const Event* const event = Next();
    if (event == nullptr) break;
    block_.push_back(*event);
  } while (block_.size() < kBlockSize && !AtGenerationEnd());
  return block_;
}

Event* ReaderImpl::FindNext() {
  if (next_queued_ < queued_.size()) return &queued_[next_queued_++];
  if (frontier_.empty() && !HasSample()) return NextGeneration();
  if (HasSample()) {
    const int64_t time = generation_->tables().cpu_samples()[next_sample_].time;
    if (frontier_.empty() || time < frontier_.time(0)) return TakeSample();
  }
  return AdvanceFrontier();
}

Event* ReaderImpl::NextGeneration() {
  if (!pending_.ok()) return Fail(std::exchange(pending_, absl::OkStatus()));
  frontier_.Clear();
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
    switch (cursor->Advance()) {
      case ThreadCursor::Step::kEvent:
        frontier_.Insert(std::move(cursor));
        break;
      case ThreadCursor::Step::kEnd:
        break;
      case ThreadCursor::Step::kFault:
        return Fail(cursor->fault());
    }
  }
  return MakeSync(&tables, tables.clock().ToNs(generation_->min_ticks()),
                  generation_->begin_offset());
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

Event* ReaderImpl::AdvanceFrontier() {
  bool advanced = TryAdvance(0);
  if (!advanced && status_.ok()) {
    // Others are tried in order of time. The first one just was, and stays first.
    frontier_.Sort();
    for (size_t i = 1; i < frontier_.size() && !advanced && status_.ok(); ++i) {
      advanced = TryAdvance(i);
    }
    if (!advanced && status_.ok()) FailNoAdvance();
  }
  if (!status_.ok()) return nullptr;
  queued_ = scheduler_.events();
  next_queued_ = 1;
  return &queued_[0];
}

bool ReaderImpl::TryAdvance(size_t index) {
  ThreadCursor& cursor = frontier_.cursor(index);
  switch (scheduler_.Advance(&cursor)) {
    case Scheduler::Outcome::kAdvanced:
      break;
    case Scheduler::Outcome::kWaits:
      return false;
    case Scheduler::Outcome::kFault:
      Fail({scheduler_.fault_id(), cursor.place(), scheduler_.fault_message()});
      return false;
  }
  // The thread's next event is decoded before this one is given: as in Go's reader, a fault there
  // takes this one with it.
  switch (cursor.Advance()) {
    case ThreadCursor::Step::kEvent:
      frontier_.Update(index);
      return true;
    case ThreadCursor::Step::kEnd:
      frontier_.Remove(index);
      return true;
    case ThreadCursor::Step::kFault:
      Fail(cursor.fault());
      return false;
  }
  return false;
}

void ReaderImpl::FailNoAdvance() {
  const ThreadCursor& cursor = frontier_.cursor(0);
  Fail({FaultId::kNoAdvance, cursor.place(),
        absl::StrCat("expected an event that can come next, found that none of the next events of ",
                     frontier_.size(), frontier_.size() == 1 ? " thread" : " threads",
                     " can; the earliest of them is this one")});
}

Event* ReaderImpl::Fail(absl::Status status) {
  status_ = std::move(status);
  return nullptr;
}

bool ReaderImpl::CheckIds(const Event& event) {
  const EventSpec* const spec = FindEventSpec(event.type_);
  // A kSync event has no row. A sample's stack is not checked by Go's reader.
  if (spec == nullptr || !spec->timed()) return true;
  for (int i = 1; i < spec->arg_count; ++i) {
    const uint64_t id = event.args_[i - 1];
    if (id == 0) continue;
    const bool is_stack = spec->arg_types[i] == ArgType::kStack;
    if (is_stack
            ? event.tables_->HasStack(id)
            : spec->arg_types[i] != ArgType::kString || event.tables_->FindString(id) != nullptr) {
      continue;
    }
    Fault fault = {
        is_stack ? FaultId::kEventStackId : FaultId::kEventStringId, Place(),
        absl::StrCat("expected ", is_stack ? "stack " : "string ", id,
                     " in the table, for the argument ", spec->arg_names[i], ", found none")};
    fault.place.offset = event.offset_;
    fault.place.generation = generation_->number();
    fault.place.thread = event.thread_;
    fault.place.event = event.type_;
    Fail(std::move(fault));
    return false;
  }
  return true;
}

absl::StatusOr<Reader> Reader::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(path);
  if (!source.ok()) return source.status();
  return FromSource(*std::move(source));
}

absl::StatusOr<Reader> Reader::FromBytes(absl::string_view bytes) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromBytes(bytes);
  if (!source.ok()) return source.status();
  return FromSource(*std::move(source));
}

absl::StatusOr<Reader> Reader::FromStream(int fd) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = SourceFromStream(
      std::make_unique<FdStream>(fd, /*owned=*/false, absl::StrCat("file descriptor ", fd)));
  if (!source.ok()) return source.status();
  return FromSource(*std::move(source));
}

absl::StatusOr<Reader> Reader::FromSource(std::unique_ptr<ByteSource> source) {
  const absl::StatusOr<Version> version = ReadHeader(source.get());
  if (!version.ok()) return version.status();
  return Reader(std::make_unique<ReaderImpl>(std::move(source), *version));
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
uint64_t Reader::event_count() const { return impl_->event_count(); }
uint64_t Reader::input_size() const { return impl_->source().input_size(); }
uint64_t Reader::input_read() const { return impl_->source().input_read(); }

}  // namespace gotrace
