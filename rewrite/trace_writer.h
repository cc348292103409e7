// Writes traces: turns ordered events into the bytes of a trace that Go's reader accepts. The
// public TraceWriter is the face of this class, which can also replace texts, and begin in the
// middle of a program.
//
// The events of a generation are collected until the next one begins. GenerationWriter then writes
// them, and says which of them contradict the ones before. It also states goroutines and Ps that a
// generation uses without stating them, as traces of Go never do. If times go back in a generation,
// as in ReadMode::kSalvage, its events are ordered by time as far as the order of each thread's
// events allows.
#ifndef GOTRACE_REWRITE_TRACE_WRITER_H_
#define GOTRACE_REWRITE_TRACE_WRITER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/trace_writer.h"
#include "rewrite/event_translator.h"
#include "rewrite/generation_clocks.h"
#include "rewrite/generation_writer.h"
#include "rewrite/joined_tables.h"
#include "rewrite/past_events.h"
#include "rewrite/replacer.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

// Writes the events that it is given as one trace. Memory is bounded by the largest generation and
// the state of the program. Not thread-safe.
class TraceWriterImpl final : public EventSink {
 public:
  // See TraceWriter.
  TraceWriterImpl(const TraceWriterOptions& options, ByteSink* out);

  // Replaces the texts of events, the frames of stacks and the clock snapshots, and leaves out the
  // batches of experiments, whose contents are not known. Call it before the first event.
  // `replacer` must outlive the writer.
  void SetReplacer(Replacer* replacer) { replacer_ = replacer; }

  // Takes note of an event before the first one to write, which must also be events of a Reader or
  // of an EventBuilder, beginning with a kSync event.
  void Follow(const Event& event);

  // Takes note of what is in progress before the first of these events. Call it before Follow().
  void FollowEarlier(const EarlierSpans& spans);

  // Begins the trace after the events that were followed: with a prologue that ends before `time`,
  // which is the time of the first event to write or earlier. Does nothing if none were followed.
  //
  // `states_again` says whether the next event is inside a generation that may repeat what is
  // known, as all but the first generation of a trace do. The prologue then is a generation of its
  // own, and the next one states again what its events need.
  void BeginAt(int64_t time, bool states_again);

  // Makes NextTrace() possible. Call it before the first event.
  void KeepPast();

  // Ends the trace, which lasts until just before `time`, and begins another one in `*out`, which
  // must outlive the writer, as BeginAt() does. Returns the numbers of the trace that ends.
  WrittenTrace NextTrace(int64_t time, bool states_again, ByteSink* out);

  // Returns whether `event` is the first status of something that the prologue of BeginAt() states
  // because of FollowEarlier(). It need not be written.
  bool IsStated(const Event& event) const { return has_prologue_ && past_->IsEarlierStatus(event); }

  // Returns whether `event` is a part of the same event on the wire as the one before, so that both
  // have to be followed or written.
  bool Continues(const Event& event) const { return events_.Continues(event); }

  // Makes the trace last at least until `time`. Call it before Finish().
  void LastUntil(int64_t time) { last_until_ = time; }

  // As those of TraceWriter. Events must have the arguments that are on the wire (Event::arg()), as
  // those of a Reader have.
  void Add(absl::Span<const Event> events) override;
  bool WantsMore() const override;
  absl::Status Finish() override;
  const WrittenTrace& written() const { return written_; }

 private:
  // The generation that is being collected.
  struct Collected {
    explicit Collected(Replacer* replacer) : translator(&tables, replacer) {}

    int64_t begin = 0;
    uint64_t first_event = 0;  // How many events were given before it.
    bool is_stated = false;    // Whether it exists even without events.
    std::optional<ClockSnapshot> clock_snapshot;
    std::vector<WriterBatch> experimental_batches;
    std::deque<std::string> experimental_data;
    std::vector<CpuSample> samples;
    JoinedTables tables;
    EventTranslator translator;
    std::vector<WriterEvent> prologue;
  };

  void Take(const Event& event);
  bool CheckTime(const Event& event);
  void BeginGeneration(const Event& sync);
  void BeginGenerationBefore(const Event& event);
  void BeginTrace(int64_t time, bool states_again, absl::FunctionRef<void()> then);
  void EndGeneration();
  bool Accepts(const WrittenGeneration& written);
  void AddEvent(const Event& event);
  void Fail(absl::string_view message);

  const TraceWriterOptions options_;
  ByteSink* out_;
  Replacer* replacer_ = nullptr;
  GenerationClocks clocks_;
  std::unique_ptr<GenerationWriter> writer_;
  std::unique_ptr<Collected> generation_;
  WriterEventCollector events_;       // Of the generation.
  std::unique_ptr<PastEvents> past_;  // Of the events that are followed.
  bool follows_ = false;              // Whether the trace has not begun yet.
  bool has_prologue_ = false;         // Whether the current generation has one of a trace.
  bool keeps_past_ = false;           // Whether events are added to `past_` also if written.
  std::optional<int64_t> last_until_;
  bool first_states_ = false;  // Whether events of the first generation are statuses.
  int64_t stops_ = 0;          // How many stops of the world are in progress.
  uint64_t given_ = 0;         // How many events were given to Add().
  std::optional<int64_t> last_time_;
  WrittenTrace written_;
  absl::Status status_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_TRACE_WRITER_H_
