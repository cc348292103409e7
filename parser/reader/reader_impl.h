// Implements Reader, in the steps of FORMAT.md §9 and §11. Included only by the files that
// implement Reader.
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
#include "parser/order/scheduler_model.h"
#include "parser/reader/reader_access.h"
#include "parser/reader/work_ahead.h"
#include "util/cores.h"

namespace gotrace::internal {

class ReaderImpl {
 public:
  ReaderImpl(std::unique_ptr<ByteSource> source, Version version, ReaderOptions options,
             ReaderHooks hooks = {})
      : source_(std::move(source)),
        version_(version),
        options_(std::move(options)),
        hooks_(std::move(hooks)),
        feed_(MakeFeed()),
        scheduler_(options_.limits),
        order_(&scheduler_, options_.tuning.exact_ties_threads),
        frontier_(order_.frontier()),
        watches_time_(tolerant() && options_.on_time_back != nullptr) {
    UseCores(OwnCores());
  }

  // Returns the next events, or none at the end or after a failure, which sets status().
  absl::Span<const Event> NextBlock();

  // Reading in segments. ------------------------------------------------------------------------

  // Returns no events of the generation that begins at `offset`, or of later ones, until another
  // offset is set. Status and everything else are as at the end of a sound trace.
  void StopAt(uint64_t offset) {
    stop_at_ = offset;
    stopped_at_.reset();
  }

  // Decodes and orders events ahead if `jobs`, which is like ReaderOptions::jobs, allows two cores.
  void UseCores(size_t jobs) { jobs_ = CoresFor(jobs); }

  // Starts in the middle of the trace, with the generation that the source is at. `last_time` is
  // the time of the last event before it. Must be called before NextBlock().
  void StartInMiddle(SegmentStart start, int64_t last_time) {
    syncs_ = start.earlier_generations;
    last_time_ = last_time;
    begin_ = {std::move(start), source_->offset(), last_time};
  }

  // Whether this reader, which started in the middle and returned all of its events, continues
  // where `before` stopped. False if either had a fault.
  bool Follows(const ReaderImpl& before) const;

  // If this reader follows `before`, turns it into the reader that would have read both segments,
  // with the options of `before`, and returns true; `before` may then only be destroyed. Otherwise
  // returns false and changes nothing.
  bool ContinueFrom(ReaderImpl& before);

  WaitingGoroutines CountWaiting() const { return scheduler_.CountWaiting(); }

  const absl::Status& status() const { return status_; }
  Version version() const { return version_; }
  const GenerationInfo& info() const { return info_; }
  const Losses& losses() const { return losses_; }
  uint64_t event_count() const { return event_count_; }
  std::optional<uint64_t> next_trace() const { return feed_->next_trace(); }
  const ByteSource& source() const { return *source_; }

 private:
  std::unique_ptr<GenerationFeed> MakeFeed();

  // Returns how many cores the options allow this reader alone.
  size_t OwnCores() const { return options_.decodes_ahead ? options_.jobs : 1; }

  // The maximum number of events that this thread finds at a time. More would not be faster.
  static constexpr size_t kBlockSize = 160;

  // Puts the next events into `room` as long as they are plain, and returns their number. An event
  // is plain if everything that it refers to exists, the thread's next event can be decoded and
  // needs no report, and some thread's event can come next. Stops at any other event and at the end
  // of the generation; FindNext() then handles it, and a rule that failed fails again. Uses the
  // scheduler model, the threads, the samples and last_time_, and calls no callbacks. With
  // `hands_over`, another core uses the events.
  size_t FindPlain(absl::Span<Event> room, bool hands_over);

  // The same for the events that one sample or one event on the wire becomes.
  size_t FindOnePlain(absl::Span<Event> room);

  // The same for events whose threads need not wait.
  size_t FindRuns(absl::Span<Event> room, bool hands_over);

  // Like TryAdvance(), but returns kStopped for an event that is not plain, before anything
  // changes.
  EventOrder::Outcome TryPlainly(size_t index);
  bool IsPlain(ThreadCursor* cursor) const;

  // Finds the next events, even if faulty, and puts them into `room`. Returns the number of events.
  // It is 0 if they were dropped, at the end of the generation, and after a failure, which sets
  // pending_.
  size_t FindNext(Event* room);

  // Completes `count` events before they are returned. Returns how many of them to return.
  size_t Finish(Event* events, size_t count);

  // Makes the event later than the event before it, unless was_stuck_.
  void PutInTime(Event* event);

  bool GenerationEnds() const { return frontier_.empty() && next_sample_ == samples_.size(); }

  absl::Span<const Event> Give(absl::Span<const Event> events) {
    event_count_ += events.size();
    if (options_.tuning.attempts != nullptr) *options_.tuning.attempts = order_.attempts();
    return events;
  }

  // How far cursors decode ahead, in events: the maximum for all threads together, and for each.
  static constexpr size_t kMaxAtOnce = 4096;
  static constexpr size_t kMaxPerThread = 192;
  static_assert(kMaxPerThread <= ThreadCursor::kMaxAhead);
  ThreadCursor::Ahead ChooseAhead();

  // Starts to find plain events on another thread, if that is allowed and worthwhile.
  void RunAhead();

  // Returns the next events from that thread, or none if this thread must continue.
  absl::Span<const Event> TakeAhead();

  // The number of plain blocks after an event that was not plain before the other thread is used
  // again. If there are many faults, it would only slow this thread down.
  static constexpr int kBlocksBeforeAhead = 8;

  // Whether there was a fault, or anything else that makes later events unreliable.
  bool IsFlawed() const;

  // Prepares the scheduler model for the generation.
  void BeginModel();

  // Each returns the next event, or nullptr after setting pending_ or stopped_at_.
  Event* NextGeneration();
  Event* BeginGeneration();

  // Whether a sample comes before all events of the frontier.
  bool SampleIsNext() {
    return next_sample_ < samples_.size() &&
           (frontier_.empty() || samples_[next_sample_].time < frontier_.EarliestTime());
  }
  void TakeSample(Event* event);

  // Takes the next event of the frontier, which may be dropped.
  void AdvanceFrontier();
  Event* MakeSync(const GenerationTables* tables, int64_t time, uint64_t offset);

  // Tries the event of the cursor at `index` of the frontier, and moves that cursor on. Sets
  // pending_ at a fault that ends reading.
  EventOrder::Outcome TryAdvance(size_t index);

  // Moves the cursor at `index`, whose event was just taken, to its next event. As in Go's reader,
  // a fault there in strict mode also drops the event before it.
  EventOrder::Outcome MoveOn(size_t index);

  // Modes that continue after faults: reader_tolerant.cc. ---------------------------------------
  bool tolerant() const { return options_.mode != ReadMode::kStrict; }
  // Prepares for a generation before which something may be missing or wrong.
  void Recover();
  // Each returns false if it dropped the rest of the generation.
  bool ContinueAfterFault(ThreadCursor* cursor);
  bool ContinueWithoutString(ThreadCursor* cursor);
  // Advances the event whatever contradicts it and marks it with `why`, or drops it.
  bool ForceEvent(ThreadCursor* cursor, FaultId why);
  // Drops the rest of the generation, and returns false, if the model exceeds a limit.
  bool KeepToLimits(const Place& place);
  void DropGeneration();
  void ContinueWithoutAdvance();
  void DropThread(ThreadCursor* cursor);
  ThreadCursor::Step AdvanceTolerantly(ThreadCursor* cursor);
  [[gnu::cold, gnu::noinline]] void ReportTimeBack(const ThreadCursor& cursor, int64_t last_time);
  void ForgetWrongTime();
  void Report(Fault fault);
  void ReportAt(const Fault& fault);  // Takes an offset in the input, see InputOffset().

  Event* Fail(Fault fault);
  // Returns the fault that the model found in the event that `cursor` is at.
  Fault FaultAt(const ThreadCursor& cursor);
  // Whether one more fault gets a context. A damaged trace may have millions of faults, and stacks
  // of a hundred frames.
  bool TakesContext() { return contexts_++ < Fault::kMaxContexts; }
  Fault NoAdvance();
  Fault SayIfCut(Fault fault) const;
  void ReportJump();

  // Checks that the tables have what the event refers to. If they do not, that is a fault; the
  // tolerant modes then add a placeholder.
  bool CheckIds(Event* event);
  bool ResolveId(bool is_stack, uint64_t id, absl::string_view arg, Event* event);

  const std::unique_ptr<ByteSource> source_;
  const Version version_;
  ReaderOptions options_;
  ReaderHooks hooks_;
  Losses losses_;
  const std::unique_ptr<GenerationFeed> feed_;
  bool lost_ = false;    // Whether a part of the current generation is missing.
  bool nested_ = false;  // Whether a fault of kLimitNesting was reported in the generation.
  bool model_is_unreliable_ =
      false;  // Whether the scheduler model was forced to contradict itself.
  // Whether, in salvage mode, no event could come next in the current generation. The rest of the
  // generation then keeps its times, because the times of the events that waited would otherwise
  // all move to the end.
  bool was_stuck_ = false;
  std::unique_ptr<Generation> generation_;
  SchedulerModel scheduler_;
  EventOrder order_;
  Frontier& frontier_;
  TableUse use_;                         // Used if hooks_.on_generation_end is set.
  absl::Span<const CpuSample> samples_;  // The samples of the generation.
  size_t next_sample_ = 0;

  Event block_[kBlockSize];
  Event sync_;
  GenerationInfo info_;
  int64_t last_time_ = 0;
  uint64_t syncs_ = 0;
  uint64_t event_count_ = 0;
  bool done_ = false;
  absl::Status pending_;  // A failure to return after the events before it.
  absl::Status status_;
  bool end_reported_ = true;  // Whether on_generation_end was called for the current generation.

  // Where reading began, if StartInMiddle() was called.
  struct Begin {
    SegmentStart start;
    uint64_t offset = 0;    // The offset of the first generation.
    int64_t last_time = 0;  // The time of the last event before it.
  };
  Begin begin_;
  uint64_t stop_at_ = std::numeric_limits<uint64_t>::max();  // See StopAt().
  // The offset of the generation before which reading stopped, if it did.
  std::optional<uint64_t> stopped_at_;

  uint64_t contexts_ = 0;  // The number of faults that were offered a context.

  const bool watches_time_;  // Whether to report events that go back in a thread's time.
  size_t jobs_ = 1;
  int plain_blocks_ = 0;  // The number of successive plain blocks.

  bool runs_ahead_ = false;  // Whether the other thread is finding events, or has events left.

  // The last member, because it uses the others.
  std::unique_ptr<WorkAhead> ordering_thread_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_READER_READER_IMPL_H_
