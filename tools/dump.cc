#include "tools/dump.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "export/go_text.h"
#include "export/json.h"
#include "parser/trace_clock.h"
#include "tools/open_trace.h"
#include "tracev2/text_form.h"

namespace gotrace {
namespace {

// Gives `take` the events that the options ask for, until it returns false. Sets the times of
// `*result`.
template <class Take>
void TakeEvents(Reader* reader, const EventsOptions& options, Progress* progress, Take take,
                EventsResult* result) {
  const bool matches_all = options.filter.MatchesAll();
  std::optional<int64_t> start;
  int64_t left = options.limit;
  while (left > 0) {
    const Event* const event = reader->Next();
    if (event == nullptr) break;
    if (!start.has_value()) {
      start = event->time();
      result->first_time = result->last_time = *start;
    }
    if (!matches_all) {
      result->last_time = std::max(result->last_time, event->time());
      if (!options.to_end && options.filter.IsPast(*event, *start)) break;
    }
    if (matches_all || options.filter.Matches(*event, *start)) {
      if (!take(*event)) break;
      --left;
    }
    if (progress->Due()) {
      progress->Show({reader->input_read(), reader->input_size(), reader->event_count()});
    }
  }
}

// Opens and reads the trace, and gives `formatter` the events that the options ask for.
template <class Formatter>
EventsResult FormatEvents(const std::string& file, ReaderOptions reader_options,
                          const EventsOptions& options, Progress* progress, Formatter formatter,
                          Output* out) {
  EventsResult result;
  absl::StatusOr<UndoneInput> input = OpenTrace(file, reader_options.limits);
  if (!input.ok()) {
    result.status = input.status();
    return result;
  }
  PrintTransportNotes(file, input->notes);
  absl::StatusOr<Reader> reader =
      Reader::FromSource(std::move(input->source), std::move(reader_options));
  if (!reader.ok()) {
    result.status = reader.status();
    return result;
  }
  const auto print = [&](const Event& event) {
    formatter.Append(event, &out->buffer());
    out->MaybeFlush();
    return out->usable();
  };
  TakeEvents(&*reader, options, progress, print, &result);
  result.status = reader->status();
  result.events = reader->event_count();
  result.losses = reader->losses();
  return result;
}

// Takes a text apart into lines, however it arrives.
class LineSplitter {
 public:
  explicit LineSplitter(ByteStream* text) : text_(*text) {}

  // How much of the text was read.
  uint64_t bytes_read() const { return bytes_read_; }

  // Reads the next line without its end into `*line`. Returns false at the end of the text.
  absl::StatusOr<bool> Next(absl::string_view* line) {
    while (true) {
      const size_t end = buffer_.find('\n', searched_);
      if (std::min(end, buffer_.size()) - pos_ > kLongestLine) {
        return absl::DataLossError(absl::StrCat("line ", lines_ + 1, ": expected at most ",
                                                kLongestLine, " bytes, found more"));
      }
      if (end != std::string::npos) {
        *line = Take(end - pos_, 1);
        return true;
      }
      if (at_end_) {
        if (pos_ == buffer_.size()) return false;
        *line = Take(buffer_.size() - pos_, 0);
        return true;
      }
      if (absl::Status status = Refill(); !status.ok()) return status;
    }
  }

 private:
  // No event that fits a trace takes as much, with all of its data as escapes.
  static constexpr size_t kLongestLine = 1 << 20;

  absl::string_view Take(size_t size, size_t newline) {
    ++lines_;
    absl::string_view line = absl::string_view(buffer_).substr(pos_, size);
    pos_ += size + newline;
    searched_ = pos_;
    absl::ConsumeSuffix(&line, "\r");
    return line;
  }

  absl::Status Refill() {
    constexpr size_t kChunk = 256 << 10;
    buffer_.erase(0, pos_);
    pos_ = 0;
    const size_t old_size = buffer_.size();
    searched_ = old_size;
    buffer_.resize(old_size + kChunk);
    const absl::StatusOr<size_t> count = text_.Read(&buffer_[old_size], kChunk);
    buffer_.resize(old_size + (count.ok() ? *count : 0));
    at_end_ = !count.ok() || *count == 0;
    bytes_read_ = bytes_read_ + (count.ok() ? *count : 0);
    return count.status();
  }

  ByteStream& text_;
  std::string buffer_;
  size_t pos_ = 0;       // Where the next line begins.
  size_t searched_ = 0;  // Up to where it was searched for its end.
  uint64_t lines_ = 0;   // That were given.
  uint64_t bytes_read_ = 0;
  bool at_end_ = false;
};

void MoveFinalBytes(TextAssembler* assembler, std::string* bytes, Output* out) {
  const size_t size = assembler->final_size();
  if (size == 0) return;
  out->buffer().Append(absl::string_view(*bytes).substr(0, size));
  assembler->Taken(size);
  out->MaybeFlush();
}

}  // namespace

EventsResult DumpEvents(const std::string& file, ReaderOptions reader_options,
                        const EventsOptions& options, Progress* progress, Output* out) {
  if (options.json) {
    return FormatEvents(file, std::move(reader_options), options, progress,
                        JsonFormatter(options.stacks), out);
  }
  return FormatEvents(file, std::move(reader_options), options, progress, GoTextFormatter(), out);
}

absl::Status DumpWire(RawReader* reader, bool header, Progress* progress, Output* out) {
  if (header) AppendHeaderText(reader->version(), &out->buffer());
  uint64_t events = 0;
  while (out->usable()) {
    const RawEvent* const event = reader->Next();
    if (event == nullptr) break;
    AppendEventText(*event, &out->buffer());
    out->MaybeFlush();
    ++events;
    if (progress->Due()) {
      progress->Show({reader->source().input_read(), reader->source().input_size(), events});
    }
  }
  return reader->status();
}

namespace {

absl::Status TextError(const absl::Status& status, const TextAssembler& assembler) {
  constexpr absl::string_view kHint =
      "; `gotrace-dump wire --header` prints a trace as such a text";
  return absl::DataLossError(absl::StrCat(status.message(), assembler.has_version() ? "" : kHint));
}

std::string WarnOfSizes(const TextAssembler& assembler) {
  const auto& wrong = assembler.first_wrong_size();
  if (!wrong.has_value()) return "";
  const uint64_t more = assembler.wrong_sizes() - 1;
  return absl::StrCat("line ", wrong->line, ": the batch tells size=", wrong->told,
                      ", but its events take ", wrong->found, " bytes",
                      more == 0 ? "" : absl::StrCat("; so it is with ", more, " more"),
                      "; the trace cannot be read so, while size=auto is always right");
}

}  // namespace

absl::Status AssembleTrace(ByteStream* text, BatchSizeForm form, Progress* progress, Output* out,
                           std::string* warning) {
  LineSplitter lines(text);
  std::string bytes;
  TextAssembler assembler(form, &bytes);
  absl::string_view line;
  while (out->usable()) {
    const absl::StatusOr<bool> more = lines.Next(&line);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = assembler.AddLine(line); !status.ok()) {
      return TextError(status, assembler);
    }
    MoveFinalBytes(&assembler, &bytes, out);
    if (progress->Due()) {
      progress->Show({lines.bytes_read(), /*total=*/0, assembler.event_count()});
    }
  }
  if (!out->usable()) return absl::OkStatus();
  if (absl::Status status = assembler.Finish(); !status.ok()) return TextError(status, assembler);
  *warning = WarnOfSizes(assembler);
  MoveFinalBytes(&assembler, &bytes, out);
  return absl::OkStatus();
}

}  // namespace gotrace
