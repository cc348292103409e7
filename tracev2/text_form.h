// The text form of a trace (FORMAT.md §12): what `go tool trace -d=wire` prints, behind a header
// line. One line an event; frames and data on lines of their own.
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

// Reads the text form line by line. Blank lines and what follows a '#' outside of data are skipped.
// Besides Go's grammar it knows `size=auto` in an EventBatch, for texts written by hand, and takes
// an event without its data line as one with empty data.
class TextParser {
 public:
  // What takes the events. An event and its data are valid during the call.
  using Sink = absl::FunctionRef<void(const RawEvent&)>;

  // Takes the next line, without its newline, and gives the events that it completes. The first
  // line that is not blank must be the header line. On an error, whose message says what was
  // expected, nothing more can be parsed.
  absl::Status ParseLine(absl::string_view line, Sink sink);

  // Ends the text. Fails if that lacks its header, or ends inside an event.
  absl::Status Finish(Sink sink);

  // The version that the header line names. Requires has_version().
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
  uint64_t frames_left_ = 0;  // Of the Stack event being read.
};

// Makes a trace of its text form, line by line.
class TextAssembler {
 public:
  // Appends the trace to `*bytes`, which must outlive the assembler.
  TextAssembler(BatchSizeForm form, std::string* bytes) : form_(form), bytes_(*bytes) {}

  // Takes the next line, without its newline. An error tells which line it is; nothing more can be
  // taken then.
  absl::Status AddLine(absl::string_view line);

  // Ends the text; to be called once, behind the last line.
  absl::Status Finish();

  // Whether the header line was found.
  bool has_version() const { return parser_.has_version(); }

  // How many events the text had so far.
  uint64_t event_count() const { return event_count_; }

  // How many of the bytes nothing will change any more, and that so many of them were taken away:
  // as WireWriter does.
  size_t final_size() const { return writer_.has_value() ? writer_->final_size() : 0; }
  void Taken(size_t size) {
    writer_->Taken(size);
    taken_ += size;
  }

  // An EventBatch that tells another size than that of the events up to the next one, so that no
  // reader can take the trace.
  struct WrongSize {
    uint64_t line = 0;   // Counted from 1.
    uint64_t told = 0;   // In bytes.
    uint64_t found = 0;  // In bytes.
  };

  // The first one, and how many there are. To be asked after Finish().
  const std::optional<WrongSize>& first_wrong_size() const { return first_wrong_size_; }
  uint64_t wrong_sizes() const { return wrong_sizes_; }

 private:
  void Write(const RawEvent& event);
  void EndBatch();

  // How many bytes were made.
  uint64_t size() const { return taken_ + bytes_.size(); }

  const BatchSizeForm form_;
  std::string& bytes_;
  TextParser parser_;
  std::optional<WireWriter> writer_;
  uint64_t line_number_ = 0;
  uint64_t event_count_ = 0;
  uint64_t taken_ = 0;
  std::optional<WrongSize> batch_;  // The last that tells its size, which may be right.
  uint64_t payload_begin_ = 0;      // Of that batch, as size() was.
  std::optional<WrongSize> first_wrong_size_;
  uint64_t wrong_sizes_ = 0;
};

// The bytes of the trace whose text form is `text`. An error tells the line.
absl::StatusOr<std::string> AssembleText(absl::string_view text,
                                         BatchSizeForm form = BatchSizeForm::kShortest);

}  // namespace gotrace::internal

#endif  // GOTRACE_TRACEV2_TEXT_FORM_H_
