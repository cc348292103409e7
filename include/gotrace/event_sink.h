// Consumers of events: the validator, every analysis and every exporter is an EventSink.
#ifndef GOTRACE_EVENT_SINK_H_
#define GOTRACE_EVENT_SINK_H_

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
  // always the first of `events`, starts another one. The events, and the strings and stacks that
  // they refer to, are valid until Add() returns; the strings and stacks also until the next kSync
  // event.
  virtual void Add(absl::Span<const Event> events) = 0;

  // Called once, after the last event, whether or not the trace could be read to its end. Returns
  // an error if the sink could not do its work, for example because its output could not be
  // written.
  virtual absl::Status Finish() { return absl::OkStatus(); }
};

// A sink whose results for consecutive parts of a trace can be combined.
class MergeableSink : public EventSink {
 public:
  // Appends the results of `next`, which has the same dynamic type and consumed the events that
  // directly follow this sink's. Finish() was called for neither, and will be called only for this
  // one; no more events are added to `next`.
  virtual void Merge(MergeableSink&& next) = 0;
};

// Reads all remaining events of `reader` into each of `sinks`, in order, and finishes the sinks.
// Returns the status of `reader` if it is not OK, and otherwise the first error of a sink.
absl::Status ReadInto(Reader& reader, absl::Span<EventSink* const> sinks);

}  // namespace gotrace

#endif  // GOTRACE_EVENT_SINK_H_
