// Consumers of events: the validator, every analysis and every exporter is an EventSink.
#ifndef GOTRACE_EVENT_SINK_H_
#define GOTRACE_EVENT_SINK_H_

#include <concepts>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/event.h"
#include "gotrace/reader.h"

namespace gotrace {

// Consumes the ordered events of one trace.
class EventSink {
 public:
  virtual ~EventSink() = default;

  // Consumes the next events, at least one. All belong to one generation: a kSync event, which is
  // always the first of `events`, starts another one. The events are valid until Add() returns;
  // their strings and stacks are valid until the next kSync event.
  virtual void Add(absl::Span<const Event> events) = 0;

  // Returns whether the sink can use more events. Override it to end the reading of a trace early,
  // because enough was found or because the output cannot be written. Once it returns false, it
  // must not return true again.
  virtual bool WantsMore() const { return true; }

  // Called once, after the last event, whether or not the trace could be read to its end. Returns
  // an error if the sink could not do its work, for example because its output could not be
  // written.
  virtual absl::Status Finish() { return absl::OkStatus(); }
};

// A sink whose results for consecutive parts of a trace can be combined, as ReadParallel() does.
// Its own type is `Sink`: class Counts : public MergeableSink<Counts>. `Base` is the sink that it
// extends.
template <class Sink, class Base = EventSink>
class MergeableSink : public Base {
 public:
  using Base::Base;
  using MergesWith = Sink;

  // Called before the first Add() of a sink that will be merged into one for an earlier part of the
  // trace. `trace_start` is the time of the first event of the whole trace. Override it if the sink
  // treats the beginning of a trace in a special way. A sink that passes events on to another one
  // must pass this on, too. ReadParallel() calls it; other callers of Merge() must call it
  // themselves.
  virtual void StartInMiddle(int64_t /*trace_start*/) {}

  // Appends the results of `next`, which consumed the events that directly follow this sink's.
  // Finish() was called for neither, and will be called only for this one; no more events are added
  // to `next`.
  virtual void Merge(Sink&& next) = 0;
};

// Whether sinks of the type can be merged, since it is derived from MergeableSink.
template <class Sink>
concept IsMergeableSink =
    std::derived_from<Sink, EventSink> && std::same_as<typename Sink::MergesWith, Sink>;

// Reads the remaining events of `reader` into each of `sinks`, in order, and finishes the sinks. A
// sink that wants no more events gets none, and reading ends when no sink wants any. Returns the
// status of `reader` if it is not OK, and otherwise the first error of a sink.
//
// An exception thrown by a sink propagates to the caller; then no sink is finished.
absl::Status ReadInto(Reader& reader, absl::Span<EventSink* const> sinks);

}  // namespace gotrace

#endif  // GOTRACE_EVENT_SINK_H_
