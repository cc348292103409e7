// Writes events as JSON.
#ifndef GOTRACE_JSON_EXPORTER_H_
#define GOTRACE_JSON_EXPORTER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gotrace/byte_sink.h"
#include "gotrace/event.h"
#include "gotrace/event_sink.h"
#include "gotrace/event_times.h"

namespace gotrace {

// The members to write of each event.
struct JsonOptions {
  // Whether to write stacks: they are most of the text.
  bool stacks = false;

  // If it is not nullptr, each event has its wall-clock time as "wall", once that is known. It must
  // outlive the exporter. Call EventTimes::Add() with each kSync event before the events after it
  // are added.
  const EventTimes* times = nullptr;

  // If it is not "", each event has this name as "file".
  std::string file;
};

// Writes each event as an object on a line of its own, in order. Any selection of events may be
// added, such as that of an EventFilter.
//
// The details of each kind are in an object named like Event's accessor for them. Ids are numbers,
// with -1 for none; times are in nanoseconds; wall-clock times are RFC 3339 in UTC. An event with
// an Event::fault() has the fault's id as "fault". docs/commands.md lists all members. Not
// thread-safe.
class JsonExporter final : public EventSink {
 public:
  // Writes to `*out`, which must outlive the exporter.
  explicit JsonExporter(ByteSink* out, const JsonOptions& options = {});
  ~JsonExporter() override;

  // Writes `events`. The text may reach the ByteSink later, at the latest with Finish().
  void Add(absl::Span<const Event> events) override;

  // Returns false once the ByteSink has failed.
  bool WantsMore() const override;

  // Flushes the text to the ByteSink, and returns its status. Does not finish the ByteSink, so more
  // can be appended to it.
  absl::Status Finish() override;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace gotrace

#endif  // GOTRACE_JSON_EXPORTER_H_
