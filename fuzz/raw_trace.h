// A trace parsed into its raw events, which can be changed and assembled again.
#ifndef GOTRACE_FUZZ_RAW_TRACE_H_
#define GOTRACE_FUZZ_RAW_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/version.h"
#include "tracev2/raw_event.h"

namespace gotrace::internal {

// A raw event that owns its data.
struct OwnedEvent {
  EventType type = EventType::kNone;
  std::vector<uint64_t> args;
  std::string data;
};

// A batch, or an EndOfGeneration, which is an empty batch.
struct RawBatch {
  OwnedEvent head;  // An EventBatch, an ExperimentalBatch, or an EndOfGeneration.
  std::vector<OwnedEvent> events;
  std::string rest;  // The payload after its last valid event.

  // Whether the batch has a generation, a thread and a time.
  bool has_header() const { return head.type != EventType::kEndOfGeneration; }
  uint64_t& generation() { return head.args[HeaderArg(0)]; }
  uint64_t generation() const { return head.args[HeaderArg(0)]; }
  uint64_t& thread() { return head.args[HeaderArg(1)]; }
  uint64_t& time() { return head.args[HeaderArg(2)]; }

 private:
  // The arguments of an ExperimentalBatch begin with the experiment.
  size_t HeaderArg(size_t index) const {
    return index + (head.type == EventType::kExperimentalBatch ? 1 : 0);
  }
};

struct RawTrace {
  Version version = kNewestVersion;
  std::vector<RawBatch> batches;
  std::string rest;  // The bytes after the last batch.
};

// Parses a trace. Returns nullopt if it does not begin with the header of a trace.
std::optional<RawTrace> TakeApart(absl::string_view bytes);

// Assembles the trace, with the sizes of batches as they now are. The inverse of TakeApart() for a
// trace whose varints have minimal length.
std::string PutTogether(const RawTrace& trace);

// Gives the event as many arguments as its type has, and a stack as many as its frames need.
void FitArguments(OwnedEvent* event);

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_RAW_TRACE_H_
