// What Reader does, step by step as FORMAT.md §9 and §11 tell it. Only for the reader's own files.
#ifndef GOTRACE_PARSER_READER_IMPL_H_
#define GOTRACE_PARSER_READER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "parser/decode_ahead.h"
#include "parser/event_order.h"
#include "parser/frontier.h"
#include "parser/generation.h"
#include "parser/reader.h"
#include "parser/scheduler.h"
#include "parser/tolerant_generation_reader.h"

namespace gotrace {

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
        frontier_(order_.frontier()),
        jobs_(options_.jobs == 0 ? std::thread::hardware_concurrency() : options_.jobs) {}

  const Event* Next() {
    if (next_ == end_ && !Refill()) return nullptr;
    return next_++;
  }
  absl::Span<const Event> NextBlock();

  const absl::Status& status() const { return status_; }
  Version version() const { return version_; }
  const GenerationInfo& info() const { return info_; }
  const Losses& losses() const { return losses_; }
  uint64_t event_count() const { return event_count_ - (end_ - next_); }
  uint64_t attempts() const { return order_.attempts(); }
  const ByteSource& source() const { return *source_; }

 private:
  // How many events are found at a time, at most.
  static constexpr size_t kBlockSize = 64;

  // Finds the next events, or returns false at the end or after a failure, which sets status_.
  bool Refill();

  // Finds events of the generation being read, up to its end, to a failure, which sets pending_, or
  // until the block is full. Returns how many. In the modes that go on after faults all but the
  // first of them are plain: callers may look at what was lost before each event.
  template <bool kTolerant>
  size_t FindInGeneration();

  // Whether `count` events of the block leave room for what one more attempt may find.
  static constexpr bool HasRoom(size_t count) {
    return count + Scheduler::kMaxEvents <= kBlockSize;
  }

  // Finds the events that come next of the thread that is first, as long as it is that and nothing
  // about them is special. Returns how many, which are put into `room`.
  size_t FindRun(absl::Span<Event> room);

  // The last step before `count` events are given. Returns how many are.
  size_t Finish(Event* events, size_t count);

  // How far cursors decode ahead, in events.
  static constexpr size_t kMostAtOnce = 8192;   // Of all threads.
  static constexpr size_t kMostOfThread = 128;  // Of each.

  // With a helper: one for so many bytes of a thread, up to kMostHelped, and twice, as it decodes
  // the next ones while those before them are used. It does not pay with more threads.
  static constexpr size_t kBytesPerHelped = 16;
  static constexpr size_t kMostHelped = 1024;
  static constexpr size_t kMostThreadsToHelp = 128;

  // How far the cursors of the generation decode ahead. In the modes that go on after faults there
  // is no helper, since what is left out depends on where each stands.
  ThreadCursor::Ahead ChooseAhead();

  // Each returns the next event, or nullptr after setting pending_.
  Event* NextGeneration();
  Event* BeginGeneration();

  // Whether a sample comes before all events of the frontier.
  bool SampleIsNext() {
    return next_sample_ < samples_.size() &&
           (frontier_.empty() || samples_[next_sample_].time < frontier_.EarliestTime());
  }
  void TakeSample(Event* event);

  // Makes the next event of the frontier come next. It may be left out.
  template <bool kTolerant>
  void AdvanceFrontier();
  Event* MakeSync(const GenerationTables* tables, int64_t time, uint64_t offset);

  // Tries the event of the cursor at `index` of the frontier, and moves that cursor on. A fault
  // that stops sets pending_.
  template <bool kTolerant>
  EventOrder::Outcome TryAdvance(size_t index);
  template <bool kTolerant>
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
  absl::Span<const CpuSample> samples_;  // Of the generation.
  size_t next_sample_ = 0;

  bool ids_found_ = false;  // Whether all that the next events refer to is known to be there.
  Event block_[kBlockSize];
  Event sync_;
  // Those of block_, or the one of sync_, that were found and not given.
  const Event* next_ = nullptr;
  const Event* end_ = nullptr;
  GenerationInfo info_;
  int64_t last_time_ = 0;
  uint64_t syncs_ = 0;
  uint64_t event_count_ = 0;  // Those in block_ included.
  bool done_ = false;
  absl::Status pending_;  // A failure to tell once the events before it were given.
  absl::Status status_;
  size_t jobs_;
  // Last, as it views the generation and the cursors.
  std::unique_ptr<DecodeAhead> helper_;
};

// Inline, since every event passes here.

template <bool kTolerant>
inline EventOrder::Outcome ReaderImpl::TryAdvance(size_t index) {
  ThreadCursor& cursor = frontier_.cursor(index);
  switch (scheduler_.Advance(&cursor)) {
    case Scheduler::Outcome::kAdvanced:
      ids_found_ = cursor.ids_found();
      break;
    case Scheduler::Outcome::kWaits:
      return EventOrder::Outcome::kWaits;
    case Scheduler::Outcome::kFault:
      if (!kTolerant) {
        Fail({scheduler_.fault_id(), cursor.place(), scheduler_.fault_message(), {}});
        return EventOrder::Outcome::kStopped;
      }
      if (!GoOnAfterFault(&cursor)) return EventOrder::Outcome::kAdvanced;
      break;
  }
  return MoveOn<kTolerant>(index);
}

// Decodes the next event of the thread whose event was just taken. As in Go's reader, in strict
// mode a fault there takes that event with it.
template <bool kTolerant>
inline EventOrder::Outcome ReaderImpl::MoveOn(size_t index) {
  ThreadCursor& cursor = frontier_.cursor(index);
  switch (kTolerant ? AdvanceTolerantly(&cursor) : cursor.Advance()) {
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

}  // namespace gotrace

#endif  // GOTRACE_PARSER_READER_IMPL_H_
