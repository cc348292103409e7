// Writes traces: turns ordered events into the bytes of a trace that Go's reader accepts.
//
//   std::string bytes;
//   const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
//   TraceWriter writer(reader.version(), out.get());
//   EventSink* const sinks[] = {&writer};
//   absl::Status status = ReadInto(reader, sinks);
//   status.Update(out->Finish());
//
// A reader of the result returns the events that were given, with the same times, contexts, names,
// stacks and arguments, so that their text is the same. What may differ:
//
// - Generations have other numbers: 1, 2, 3 and so on.
// - Batches are divided differently, and events have other offsets and sequence numbers. Those of
//   GC cycles stay.
// - The trace clock ticks once in a nanosecond. Up to 2^53 nanoseconds, the 104 days after the
//   start of the clock, which usually is that of the system, every time is exact. Later, a clock
//   has no tick at each nanosecond (FORMAT.md §7.3): CPU samples, clock snapshots and the
//   beginnings of generations may be some nanoseconds earlier, and samples may then change places
//   with their neighbours. Times are limited to those from 0 to 2^62.
// - The tables have only entries to which events refer. Equal entries are written once. They have
//   other ids. Strings are cut to 1024 bytes and stacks to 128 frames, the limits of the format.
// - If events do not follow from those before them, as after a fault or in a selection of events,
//   the writer adds events that lead to the required state, and leaves out events to which nothing
//   leads: see GenerationWriter. It also states goroutines and Ps that a generation uses without
//   stating them, as traces of Go never do. WrittenTrace has the numbers of all these. Added events
//   have the time of the event that needs them, and move what follows by a nanosecond or more.
// - The status of a goroutine in a syscall is written on the thread of the syscall.
// - If times go back in a generation, as in ReadMode::kSalvage, its events are ordered by time as
//   far as the order of each thread's events allows.
// - From version 1.25 on each generation needs a clock snapshot. One that lacks it gets that of the
//   generation before, corrected by the time between the two; without any, the wall time is the
//   beginning of 1970.
#ifndef GOTRACE_REWRITE_TRACE_WRITER_H_
#define GOTRACE_REWRITE_TRACE_WRITER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/version.h"
#include "rewrite/generation_clocks.h"
#include "rewrite/generation_writer.h"
#include "rewrite/joined_tables.h"
#include "rewrite/table_source.h"
#include "rewrite/writer_event.h"

namespace gotrace::internal {

// The result of writing a trace.
struct WrittenTrace {
  uint64_t generations = 0;
  uint64_t events = 0;           // Events that a reader returns, without kSync events.
  uint64_t statuses_added = 0;   // Statuses added for goroutines and Ps used without one.
  uint64_t events_added = 0;     // Other events added to connect one event to the next.
  uint64_t events_left_out = 0;  // Events that were dropped.
};

// Writes the events that it is given as one trace. Memory is bounded by the largest generation and
// the state of the program. Not thread-safe.
class TraceWriter final : public EventSink {
 public:
  // Writes a trace of `version` to `*out`, which must outlive the writer. Go's reader does not
  // check whether the version has events of a type, and neither does the writer.
  TraceWriter(Version version, ByteSink* out);

  // Replaces the texts of all strings, among them names of functions and files, with the results of
  // `map`: see MappedTables. Call it before the first Add().
  void MapStrings(MappedTables::Map map) { map_ = std::move(map); }

  // Adds the next events. The first one must be a kSync event. Events must have the arguments that
  // are on the wire (Event::arg()), as those of a Reader have. Each generation reaches the ByteSink
  // when the next one begins, the last one with Finish().
  void Add(absl::Span<const Event> events) override;

  // Returns false after an error.
  bool WantsMore() const override;

  // Writes the last generation, also if it is not complete. Does not finish the ByteSink. Returns
  // kInvalidArgument if the first event was not a kSync event, if an event refers to a string or
  // stack that its tables lack, or if there is no generation, which a trace needs before version
  // 1.26; and otherwise the status of the ByteSink. After an error the output has whole
  // generations, up to the last one before the error.
  absl::Status Finish() override;

  // Returns what was written so far.
  const WrittenTrace& written() const { return written_; }

 private:
  // Translates the ids of one object of tables.
  struct Translation {
    Translation(const EventTables& from, const MappedTables::Map& map, JoinedTables* to);

    const uint64_t serial;  // Of `from`.
    const OwnTables own;
    const std::optional<MappedTables> mapped;
    JoinedTables::Part part;
  };

  // The generation that is being collected.
  struct Collected {
    int64_t begin = 0;
    bool is_stated = false;  // Whether it exists even without events.
    std::optional<ClockSnapshot> clock_snapshot;
    std::vector<WriterBatch> experimental_batches;
    std::deque<std::string> experimental_data;
    std::vector<CpuSample> samples;
    JoinedTables tables;
    // Of the tables of the last event. Usually there is only one in a generation.
    std::unique_ptr<Translation> translation;
  };

  void BeginGeneration(const Event& sync);
  void EndGeneration();
  void AddEvent(const Event& event);
  JoinedTables::Part& PartOf(const Event& event);
  void Fail(absl::string_view message);

  const Version version_;
  ByteSink& out_;
  MappedTables::Map map_;
  GenerationClocks clocks_;
  GenerationWriter writer_;
  std::unique_ptr<Collected> generation_;
  WriterEventCollector events_;  // Of the generation.
  WrittenTrace written_;
  absl::Status status_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_REWRITE_TRACE_WRITER_H_
