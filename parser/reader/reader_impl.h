// What Reader does, step by step as FORMAT.md §9 and §11 tell it. Only for the reader's own files.
#ifndef GOTRACE_PARSER_READER_READER_IMPL_H_
#define GOTRACE_PARSER_READER_READER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/reader.h"
#include "parser/generation/generation.h"
#include "parser/generation/table_use.h"
#include "parser/generation/tolerant_generation_reader.h"
#include "parser/order/event_order.h"
#include "parser/order/frontier.h"
#include "parser/order/scheduler.h"
#include "parser/reader/work_ahead.h"
#include "util/cores.h"

namespace gotrace::internal {

class ReaderImpl {
 public:
  ReaderImpl(std::unique_ptr<ByteSource> source, Version version, ReaderOptions options)
      : source_(std::move(source)),
        version_(version),
        options_(std::move(options)),
        generations_(source_.get(), version, options_.limits),
        tolerant_generations_(
            source_.get(), version, [this](Fault fault) { ReportAt(fault); }, &losses_,
            options_.limits),
        scheduler_(options_.limits),
        order_(&scheduler_, options_.exact_ties_threads),
        frontier_(order_.frontier()),
        watches_time_(tolerant() && options_.on_time_back != nullptr) {
    UseCores(options_.jobs);
    if (options_.on_batch) tolerant_generations_.Observe(options_.on_batch);
  }

  // The next events, or none at the end or after a failure, which sets status().
  absl::Span<const Event> NextBlock();

  // See SplitTrace, for which these are.
  // -----------------------------------------------------------

  // Gives nothing of the generation that begins at `offset` or of later ones.
  void StopAt(uint64_t offset) {
    stop_at_ = offset;
    stopped_ = false;
  }

  void LeaveSourceAtEnd() { source_->LeaveAtEnd(); }

  // As ReaderOptions::jobs.
  void UseCores(size_t jobs) { jobs_ = jobs == 0 ? AvailableCores() : jobs; }

  // Begins, before anything was given, with the generation that the source stands at, which has
  // `syncs` kSync events and an event at `last_time` before it.
  void BeginInMiddle(uint64_t syncs, int64_t last_time) {
    begin_offset_ = source_->offset();
    syncs_before_ = syncs_ = syncs;
    time_before_ = last_time_ = last_time;
  }

  // Whether this, which began in the middle, goes on from where `before` stopped.
  bool Continues(const ReaderImpl& before) const;

  WaitingGoroutines CountWaiting() const { return scheduler_.CountWaiting(); }

  const absl::Status& status() const { return status_; }
  Version version() const { return version_; }
  const GenerationInfo& info() const { return info_; }
  const Losses& losses() const { return losses_; }
  uint64_t event_count() const { return event_count_; }
  uint64_t attempts() const { return order_.attempts(); }
  std::optional<uint64_t> next_trace() const { return tolerant_generations_.next_trace(); }
  const ByteSource& source() const { return *source_; }

 private:
  // How many events this thread finds at a time, at most. With more it takes no less time.
  static constexpr size_t kBlockSize = 160;

  // The next events if they are plain: nothing is asked for that is missing, nothing is to be told
  // of the thread's next event, which can be decoded, and some thread's event can come next. Puts
  // them into `room` and returns how many, which is 0 where that is not so or the generation ends:
  // FindNext() then finds what stands there, and a rule that gave a fault gives it again. Touches
  // the model of the scheduler, the threads, the samples and last_time_, and calls nothing of the
  // caller's. With `hands_over`, another core takes the events.
  size_t FindPlain(absl::Span<Event> room, bool hands_over);

  // The same for what a sample or one event on the wire becomes.
  size_t FindOnePlain(absl::Span<Event> room);

  // The same for events whose threads need not wait.
  size_t FindRuns(absl::Span<Event> room, bool hands_over);

  // As TryAdvance(), but gives kStopped, before anything changed, for an event that is not plain.
  EventOrder::Outcome TryPlainly(size_t index);
  bool IsPlain(ThreadCursor* cursor) const;

  // Finds what comes next, whatever is wrong about it, and puts it into `room`. Returns how many
  // events that is: none where they were left out, at the generation's end, and at a failure, which
  // sets pending_.
  size_t FindNext(Event* room);

  // The last step before `count` events are given. Returns how many are.
  size_t Finish(Event* events, size_t count);

  // Makes the event, which comes next, later than what came before, unless was_stuck_.
  void PutInTime(Event* event);

  bool GenerationEnds() const { return frontier_.empty() && next_sample_ == samples_.size(); }

  absl::Span<const Event> Give(absl::Span<const Event> events) {
    event_count_ += events.size();
    return events;
  }

  // How far cursors decode ahead, in events.
  static constexpr size_t kMostAtOnce = 4096;   // Of all threads.
  static constexpr size_t kMostOfThread = 192;  // Of each.
  static_assert(kMostOfThread <= ThreadCursor::kMostAhead);
  ThreadCursor::Ahead ChooseAhead();

  // Has further plain events found on another thread, if there may be one and it pays.
  void RunAhead();

  // The next events from there, or none where this thread must continue.
  absl::Span<const Event> TakeAhead();

  // After something that was not plain, so many blocks have to be plain before that. Where much is
  // wrong, it would only be in the way.
  static constexpr int kBlocksBeforeAhead = 8;

  // Whether there was a fault, or something else for which what follows cannot be relied on.
  bool IsFlawed() const;

  // Tells the scheduler of the generation that begins.
  void BeginModel();

  // Each returns the next event, or nullptr after setting pending_ or stopped_.
  Event* NextGeneration();
  Event* BeginGeneration();

  // Whether a sample comes before all events of the frontier.
  bool SampleIsNext() {
    return next_sample_ < samples_.size() &&
           (frontier_.empty() || samples_[next_sample_].time < frontier_.EarliestTime());
  }
  void TakeSample(Event* event);

  // Makes the next event of the frontier come next. It may be left out.
  void AdvanceFrontier();
  Event* MakeSync(const GenerationTables* tables, int64_t time, uint64_t offset);

  // Tries the event of the cursor at `index` of the frontier, and moves that cursor on. A fault
  // that stops sets pending_.
  EventOrder::Outcome TryAdvance(size_t index);

  // Brings the cursor at `index`, whose event was just taken, to its next one. As in Go's reader,
  // in strict mode a fault there takes the event before it along.
  EventOrder::Outcome MoveOn(size_t index);

  // The modes that go on after faults.
  bool tolerant() const { return options_.mode != ReadMode::kStrict; }
  Event* NextTolerantGeneration();
  // Each returns false if it left out the rest of the generation.
  bool GoOnAfterFault(ThreadCursor* cursor);
  bool GoOnWithoutString(ThreadCursor* cursor);
  // Advances the event whatever stands against it, marked with `why`, or leaves it out.
  bool ForceEvent(ThreadCursor* cursor, FaultId why);
  // Leaves out the rest of the generation if the model passes a limit.
  bool KeepToLimits(const Place& place);
  void LeaveOutGeneration();
  void GoOnWithoutAdvance();
  void LeaveOut(ThreadCursor* cursor);
  ThreadCursor::Step AdvanceTolerantly(ThreadCursor* cursor);
  [[gnu::cold, gnu::noinline]] void TellTimeBack(const ThreadCursor& cursor, int64_t last_time);
  void ForgetWrongTime();
  void Report(Fault fault);
  void ReportAt(const Fault& fault);  // Whose place is one in the input, see InputOffset().

  Event* Fail(Fault fault);
  // The fault that the model found in the event that `cursor` stands at.
  Fault FaultAt(const ThreadCursor& cursor);
  // Whether one more fault gets a context. A damaged trace may have millions of faults, and stacks
  // of a hundred frames.
  bool TakesContext() { return contexts_++ < Fault::kMaxContexts; }
  Fault NoAdvance();
  Fault SayIfCut(Fault fault) const;
  void TellJump(uint64_t last_number);

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
  // Whether in salvage mode nothing could come next in the generation being read. What still comes
  // of it keeps its time: the events that waited would all be told at the end of the others.
  bool was_stuck_ = false;
  std::unique_ptr<Generation> generation_;
  Scheduler scheduler_;
  EventOrder order_;
  Frontier& frontier_;
  TableUse use_;  // Of the generation's tables, if options_.on_generation_end asks for it.
  absl::Span<const CpuSample> samples_;  // Of the generation.
  size_t next_sample_ = 0;

  Event block_[kBlockSize];
  Event sync_;
  GenerationInfo info_;
  int64_t last_time_ = 0;
  uint64_t syncs_ = 0;
  uint64_t event_count_ = 0;
  bool done_ = false;
  absl::Status pending_;  // A failure to tell once the events before it were given.
  absl::Status status_;
  // Of reading a part, see StopAt() and BeginInMiddle().
  uint64_t stop_at_ = std::numeric_limits<uint64_t>::max();
  bool stopped_ = false;
  uint64_t stop_begin_ = 0;  // Where the generation begins that is not given.
  uint64_t begin_offset_ = 0;
  bool told_end_ = true;  // Whether on_generation_end was called for the generation at hand.
  uint64_t syncs_before_ = 0;
  int64_t time_before_ = 0;

  uint64_t contexts_ = 0;  // How many faults could have a context so far.

  const bool watches_time_;  // Whether it is told where a thread goes back in time.
  size_t jobs_ = 1;
  int plain_blocks_ = 0;  // That were found one after the other.

  bool runs_ahead_ = false;  // Whether the other thread finds events, or did until it came to rest.

  // Last, as it uses all that is before it.
  std::unique_ptr<WorkAhead> ordering_thread_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_READER_IMPL_H_
