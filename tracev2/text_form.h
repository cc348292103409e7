// The text form of a trace (FORMAT.md §12): a header line, and then what `go tool trace -d=wire`
// prints. Each event is one line; frames and data have their own lines.
#ifndef GOTRACE_TRACEV2_TEXT_FORM_H_
#define GOTRACE_TRACEV2_TEXT_FORM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/version.h"
#include "tracev2/raw_event.h"
#include "tracev2/wire_writer.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// Appends the header line, "Trace Go1.NN" and a newline.
void AppendHeaderText(Version version, TextBuffer* out);

// Appends `event`, which must have a row in events.def and all of its arguments, and a newline.
// Empty data gets no line, as in Go's text.
void AppendEventText(const RawEvent& event, TextBuffer* out);

// Parses the text form line by line. Blank lines, and everything after a '#' outside data, are
// skipped. In addition to Go's grammar, it accepts `size=auto` in an EventBatch, for texts written
// by hand, and events whose data line is missing, which then have empty data.
class TextParser {
 public:
  // Receives the events. An event and its data are valid during the call.
  using Sink = absl::FunctionRef<void(const RawEvent&)>;

  // Parses the next line, without its newline, and passes the events that it completes to `sink`.
  // The first line that is not blank must be the header line. Returns an error that says what was
  // expected, after which nothing more can be parsed.
  absl::Status ParseLine(absl::string_view line, Sink sink);

  // Ends the text. Returns an error if it has no header, or ends inside an event.
  absl::Status Finish(Sink sink);

  // Returns the version in the header line. Requires has_version().
  Version version() const { return version_; }
  bool has_version() const { return state_ != State::kHeader; }

 private:
  enum class State : uint8_t { kHeader, kEvent, kFrame, kData };

  absl::Status ParseHeaderLine(absl::string_view line);
  absl::Status ParseEventLine(absl::string_view line, Sink sink);
  absl::Status ParseFrameLine(absl::string_view line, Sink sink);
  absl::Status ParseDataLine(absl::string_view line, Sink sink);
  absl::Status ParseArgs(absl::string_view line, absl::Span<const char* const> names);

  State state_ = State::kHeader;
  Version version_ = kNewestVersion;
  RawEvent event_;
  uint64_t frames_left_ = 0;  // Of the Stack event being parsed.
};

// Converts the text form to a trace, line by line.
class TextAssembler {
 public:
  // Appends the trace to `*bytes`, which must outlive the assembler.
  TextAssembler(BatchSizeForm form, std::string* bytes) : form_(form), bytes_(*bytes) {}

  // Adds the next line, without its newline. Returns an error that contains the line number, after
  // which no more lines can be added.
  absl::Status AddLine(absl::string_view line);

  // Ends the text. Call it once, after the last line.
  absl::Status Finish();

  // Returns whether the header line was found.
  bool has_version() const { return parser_.has_version(); }

  // Returns the number of events so far.
  uint64_t event_count() const { return event_count_; }

  // Returns how many bytes at the beginning of the output are final: see WireWriter::final_size().
  size_t final_size() const { return writer_.has_value() ? writer_->final_size() : 0; }

  // Records that the caller removed the first `size` bytes of the output: see WireWriter::Taken().
  void Taken(size_t size) {
    writer_->Taken(size);
    taken_ += size;
  }

  // An EventBatch whose size is not that of the events up to the next batch, so that no reader can
  // read the trace.
  struct WrongSize {
    uint64_t line = 0;    // Counted from 1.
    uint64_t stated = 0;  // The size in the text, in bytes.
    uint64_t found = 0;   // The size of the events, in bytes.
  };

  // Returns the first wrong size, if any. Valid after Finish().
  const std::optional<WrongSize>& first_wrong_size() const { return first_wrong_size_; }

  // Returns the number of wrong sizes. Valid after Finish().
  uint64_t wrong_sizes() const { return wrong_sizes_; }

 private:
  void Write(const RawEvent& event);
  void EndBatch();

  // Returns the size of the trace so far, in bytes.
  uint64_t size() const { return taken_ + bytes_.size(); }

  const BatchSizeForm form_;
  std::string& bytes_;
  TextParser parser_;
  std::optional<WireWriter> writer_;
  uint64_t line_number_ = 0;
  uint64_t event_count_ = 0;
  uint64_t taken_ = 0;
  std::optional<WrongSize> batch_;  // The current batch if it gives a size, right or wrong.
  uint64_t payload_begin_ = 0;      // size() at the beginning of that batch's payload.
  std::optional<WrongSize> first_wrong_size_;
  uint64_t wrong_sizes_ = 0;
};

// Returns the trace whose text form is `text`, or an error that contains the line number.
absl::StatusOr<std::string> AssembleText(absl::string_view text,
                                         BatchSizeForm form = BatchSizeForm::kShortest);

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_TEXT_FORM_H_
