// Writes Go execution traces: from the events of a Reader, from events that a program builds, or
// from both.
//
//   std::string bytes;
//   const std::unique_ptr<gotrace::ByteSink> out = gotrace::SinkToString(&bytes);
//   gotrace::TraceWriter writer({}, out.get());
//   gotrace::BuiltTables tables;
//   writer.Add({gotrace::EventBuilder::MakeSync(1, tables).Time(1000).Build()});
//   …
//   absl::Status status = writer.Finish();
//   status.Update(out->Finish());
#ifndef GOTRACE_TRACE_WRITER_H_
#define GOTRACE_TRACE_WRITER_H_

#include <cstdint>
#include <memory>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/version.h"

namespace gotrace::internal {
class TraceWriterImpl;
}  // namespace gotrace::internal

namespace gotrace {

// The options of a TraceWriter.
struct TraceWriterOptions {
  // The version of the format. Readers of a version refuse events that it does not have yet, and
  // the writer does not check that: for events of a Reader, take its version().
  Version version = Version::kGo126;

  // Whether to write events although they contradict the events before them: the writer then adds
  // events that lead to the state that an event requires, and leaves out an event to which nothing
  // leads. Times may then go back. Otherwise such an event is an error.
  bool lenient = false;

  // How many events a generation may have, 0 for any number. The events after them begin another
  // generation, as if there was a kSync event, so that memory is bounded. A generation has at least
  // four events for each goroutine and P that exists, whose statuses it states at its beginning.
  // The first one is not divided if the events have statuses, since further ones may follow: only
  // in it may a goroutine appear without having been created.
  uint64_t max_events = 0;
};

// The numbers of a trace that was written.
struct WrittenTrace {
  uint64_t generations = 0;
  uint64_t events = 0;           // Events that a Reader returns, without kSync events.
  uint64_t statuses_added = 0;   // Statuses of goroutines, Ps and ranges that were not given.
  uint64_t events_added = 0;     // Other events added to connect one event to the next.
  uint64_t events_left_out = 0;  // Events that were dropped.
};

// Writes the events that it is given as one trace, which Go's reader accepts. Memory is bounded by
// the largest generation and by the state of the program. Not thread-safe.
//
// The events may be those of a Reader, those of an EventBuilder, or a mixture of both, in the order
// in which they happened. They need a time, a thread, and the goroutine and P that the thread had
// just before: FORMAT.md §9 says which of these an event of each type needs, and what it requires
// of the program's state. The sequence numbers of goroutines, Ps and the garbage collector are the
// writer's business and need not be given. A goroutine or P that the first generation uses without
// having stated or created it existed before: the writer states its status.
//
// A kSync event begins a generation, with its time and its clock snapshot, if it has one. The last
// kSync event of a Reader begins nothing. If the first event is another one, a generation begins
// with it.
//
// A Reader of the result returns the events that were given, with the same times, contexts, names,
// stacks and arguments, so that their text is the same. These things differ:
//
// - Generations have other numbers: 1, 2, 3 and so on.
// - Batches are divided differently, and events have other offsets and sequence numbers. Those of
//   GC cycles stay the same.
// - The trace clock ticks once in a nanosecond. Up to 2^53 nanoseconds, the 104 days after the
//   start of the clock, every time is exact. Later, a clock has no tick at each nanosecond
//   (FORMAT.md §7.3): CPU samples, clock snapshots and the beginnings of generations may be some
//   nanoseconds earlier, and samples may then change places with their neighbours.
// - Times are later than those of the events before: an event that is not later, or that comes
//   after a status or event that the writer adds, is moved by a nanosecond or more.
// - The tables have only entries to which events refer. Equal entries are written once. They have
//   other ids. Strings are cut to 1024 bytes and stacks to 128 frames, the limits of the format.
// - The status of a goroutine in a syscall is written on the thread of the syscall.
// - From version 1.25 on each generation needs a clock snapshot. One that lacks it gets that of the
//   generation before, corrected by the time between the two; without any, the wall time is the
//   beginning of 1970.
class TraceWriter final : public EventSink {
 public:
  // Writes a trace to `*out`, which must outlive the writer.
  TraceWriter(const TraceWriterOptions& options, ByteSink* out);
  ~TraceWriter() override;

  // Adds the next events. Each generation reaches the ByteSink when the next one begins, the last
  // one with Finish().
  void Add(absl::Span<const Event> events) override;

  // Returns false after an error.
  bool WantsMore() const override;

  // Writes the last generation, also if it is not complete. Does not finish the ByteSink. Returns
  // kInvalidArgument, with the number of the event, counted from 1,
  //
  // - for the first event that contradicts the ones before it, or whose time is before theirs, or
  //   that is about a goroutine or P whose id means none, unless TraceWriterOptions::lenient is
  //   set;
  // - for an event that refers to a string or stack that its tables lack;
  //
  // kInvalidArgument without a number if there is no generation, which a trace needs before version
  // 1.26; and otherwise the status of the ByteSink. After an error the output has the generations
  // before the one with the error.
  absl::Status Finish() override;

  // Returns what was written so far. Valid as long as this object.
  const WrittenTrace& written() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  const std::unique_ptr<internal::TraceWriterImpl> impl_;
};

}  // namespace gotrace

#endif  // GOTRACE_TRACE_WRITER_H_
