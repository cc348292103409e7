// Writes the JSON of the Trace Event Format.
#ifndef GOTRACE_EXPORT_CHROME_EVENT_WRITER_H_
#define GOTRACE_EXPORT_CHROME_EVENT_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/chrome/stack_tree.h"
#include "export/text_sink.h"
#include "gotrace/byte_sink.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// The parts of a trace that viewers show as processes.
enum class ChromeSection : uint64_t {
  kLanes = 0,  // Ps, threads or goroutines.
  kCounters = 1,
  kTasks = 2,
  kEnd = 3,
};

// One element of "traceEvents". Members that are empty, or 0, are not written, except for the first
// four.
struct ChromeEvent {
  // The type of element: 'X' a slice, 'I' an instant, 'C' counters, 's' and 't' the beginning and
  // end of an arrow, 'b' and 'e' the beginning and end of an asynchronous slice, 'M' metadata.
  char phase = 'X';
  ChromeSection section = ChromeSection::kLanes;
  int64_t lane = 0;
  int64_t time = 0;  // In nanoseconds since the start.
  int64_t duration = 0;
  absl::string_view name = {};
  absl::string_view category = {};
  absl::string_view scope = {};
  uint64_t id = 0;
  uint32_t stack = 0;  // The number of a stack.
  uint32_t end_stack = 0;
  absl::string_view color = {};
  absl::string_view args = {};  // Members of an object, as JSON.
};

// Writes one JSON object, with one or several traces. Not thread-safe.
class ChromeEventWriter {
 public:
  // Writes to `*out`, which must outlive this object.
  explicit ChromeEventWriter(ByteSink* out);

  // Begins a trace, whose sections have `process_name` in their names unless it is empty.
  void BeginTrace(absl::string_view process_name);

  // Return a number that no other arrow, or asynchronous slice, of the file has.
  uint64_t NewArrow() { return ++arrows_; }
  uint64_t NewSlice() { return ++slices_; }

  // Returns the number of a stack, for ChromeEvent.
  uint32_t NumberOf(const Stack& stack) { return stacks_.Find(stack); }

  void Write(const ChromeEvent& event);

  // Write the name of a section or lane, and its place: smaller numbers are further up.
  void NameSection(ChromeSection section, absl::string_view name, int64_t place);
  void NameLane(ChromeSection section, int64_t lane, absl::string_view name, int64_t place);

  // Writes the frames of all stacks, and ends the object. Returns the status of the ByteSink.
  absl::Status Finish();

 private:
  void WriteName(absl::string_view what, const ChromeEvent& event, absl::string_view name);
  void WritePlace(absl::string_view what, const ChromeEvent& event, int64_t place);

  TextSink out_;
  StackTree stacks_;
  TextBuffer args_;
  bool is_first_ = true;
  uint64_t traces_ = 0;
  std::string process_name_;
  uint64_t arrows_ = 0;
  uint64_t slices_ = 0;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_CHROME_EVENT_WRITER_H_
