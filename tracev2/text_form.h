// The text form of a trace (FORMAT.md §12): what `go tool trace -d=wire` prints, behind a header
// line. One line an event; frames and data on lines of their own.
#ifndef GOTRACE_TRACEV2_TEXT_FORM_H_
#define GOTRACE_TRACEV2_TEXT_FORM_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracev2/event_spec.h"
#include "tracev2/raw_event.h"
#include "tracev2/text_buffer.h"
#include "tracev2/version.h"
#include "tracev2/wire_writer.h"

namespace gotrace {

// Appends the header line, "Trace Go1.NN" and a newline.
void AppendHeaderText(Version version, TextBuffer* out);

// Appends `event`, which must have a row in events.def and all of its arguments, and a newline.
void AppendEventText(const RawEvent& event, TextBuffer* out);

// Reads the text form line by line. Blank lines and what follows a '#' outside of data are skipped.
// Besides Go's grammar it knows `size=auto` in an EventBatch, for texts written by hand.
class TextParser {
 public:
  // Takes the next line, without its newline. Returns true when the line completes an event:
  // event() then gives it. The first line that is not blank must be the header line. On an error,
  // whose message says what was expected, nothing more can be parsed.
  absl::StatusOr<bool> ParseLine(absl::string_view line);

  // Whether the text may end here: after a header, and not inside an event.
  absl::Status Finish() const;

  // The version that the header line names. Requires that a header line was parsed.
  Version version() const { return version_; }
  bool has_version() const { return state_ != State::kHeader; }

  // The event that the last line completed, valid until the next ParseLine().
  const RawEvent& event() const { return event_; }

 private:
  enum class State : uint8_t { kHeader, kEvent, kFrame, kData };

  absl::Status ParseHeaderLine(absl::string_view line);
  absl::StatusOr<bool> ParseEventLine(absl::string_view line);
  absl::StatusOr<bool> ParseFrameLine(absl::string_view line);
  absl::StatusOr<bool> ParseDataLine(absl::string_view line);
  absl::Status ParseArgs(absl::string_view line, absl::Span<const char* const> names);

  State state_ = State::kHeader;
  Version version_ = kNewestVersion;
  RawEvent event_;
  std::string data_;          // What event_.data views.
  uint64_t frames_left_ = 0;  // Of the Stack event being read.
};

// The bytes of the trace whose text form is `text`. An error tells the line.
absl::StatusOr<std::string> AssembleText(absl::string_view text,
                                         BatchSizeForm form = BatchSizeForm::kShortest);

}  // namespace gotrace

#endif  // GOTRACE_TRACEV2_TEXT_FORM_H_
