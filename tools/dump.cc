#include "tools/dump.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "export/json/json.h"
#include "export/text/go_text.h"
#include "export/wall_clock.h"
#include "parser/event/trace_clock.h"
#include "tools/open_trace.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace {

// Gives `take` the events that the options ask for, until it returns false.
template <class Take>
class EventTaker {
 public:
  // All must outlive it.
  EventTaker(Reader* reader, const EventsOptions& options, WallClock* wall_clock, Take take,
             EventsResult* result)
      : reader_(*reader),
        options_(options),
        filter_(options.filter),
        wall_clock_(*wall_clock),
        take_(std::move(take)),
        result_(*result) {}

  // Sets the times of the result.
  void Run(Progress* progress) {
    int64_t left = options_.limit;
    while (left > 0) {
      const Event* const event = reader_.Next();
      if (event == nullptr) break;
      if (event->kind() == EventKind::kSync) [[unlikely]]
        BeginGeneration(*event);
      const Verdict verdict = matches_all_ ? Verdict::kTake : Look(*event);
      if (verdict == Verdict::kStop) break;
      if (verdict == Verdict::kTake) {
        if (!take_(*event)) break;
        --left;
      }
      if (progress->Due()) {
        progress->Show({reader_.input_read(), reader_.input_size(), reader_.event_count()});
      }
    }
  }

 private:
  enum class Verdict { kTake, kSkip, kStop };

  bool has_wall_times() const {
    return options_.wall_from.has_value() || options_.wall_to.has_value();
  }

  void BeginGeneration(const Event& sync) {
    if (!start_.has_value()) {
      start_ = result_.first_time = result_.last_time = sync.time();
    }
    const GenerationInfo& generation = reader_.generation();
    if (!result_.timeless.has_value() && generation.frequency.has_value() &&
        !IsPlausibleFrequency(*generation.frequency)) {
      result_.timeless = generation;
    }
    if (!has_wall_times() && !options_.wall) return;
    wall_clock_.See(sync);
    if (!wall_clock_.known()) return;
    if (options_.wall_from.has_value()) {
      filter_.times.from = wall_clock_.TraceTimeAt(*options_.wall_from);
    }
    if (options_.wall_to.has_value()) {
      filter_.times.to = wall_clock_.TraceTimeAt(*options_.wall_to);
    }
  }

  Verdict Look(const Event& event) {
    result_.last_time = std::max(result_.last_time, event.time());
    if (has_wall_times()) {
      // Without a snapshot, which only salvaging does without, nobody knows.
      if (!wall_clock_.known()) return Verdict::kSkip;
      result_.last_wall = wall_clock_.At(event.time());
      if (!result_.first_wall.has_value()) result_.first_wall = result_.last_wall;
      result_.within_wall |= filter_.times.Has(event.time());
    }
    if (!options_.to_end && IsPast(event)) return Verdict::kStop;
    return filter_.Matches(event, *start_) ? Verdict::kTake : Verdict::kSkip;
  }

  // Whether no later event can be asked for. The wall clock of the next generation may be behind
  // this one's, by some nanoseconds at least.
  bool IsPast(const Event& event) const {
    constexpr absl::Duration kClocksDiffer = absl::Seconds(1);
    if (!filter_.IsPast(event, *start_)) return false;
    return !options_.wall_to.has_value() || event.time() <= filter_.times.to ||
           wall_clock_.At(event.time()) > *options_.wall_to + kClocksDiffer;
  }

  Reader& reader_;
  const EventsOptions& options_;
  EventFilter filter_;
  const bool matches_all_ = filter_.MatchesAll() && !has_wall_times();
  WallClock& wall_clock_;
  Take take_;
  EventsResult& result_;
  std::optional<int64_t> start_;
};

// Why wall-clock times cannot be compared with those of a trace of `version`, or OK.
absl::Status CheckWallTimes(const EventsOptions& options, Version version) {
  if (version >= Version::kGo125) return absl::OkStatus();
  if (!options.wall_from.has_value() && !options.wall_to.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      options.wall_from.has_value() ? "--from" : "--to", ": the trace is of version 1.",
      static_cast<uint32_t>(version),
      ", which has no wall-clock times (they are there since Go 1.25); give a time since the "
      "start, like 1.5s"));
}

// Opens and reads the trace, and gives the formatter that `make_formatter` makes the events that
// the options ask for.
template <class MakeFormatter>
EventsResult FormatEvents(const std::string& file, ReaderOptions reader_options,
                          const EventsOptions& options, Progress* progress,
                          MakeFormatter make_formatter, Output* out) {
  EventsResult result;
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, reader_options.limits, options.trace);
  result.status = input.status();
  if (!result.status.ok()) return result;
  PrintTransportNotes(file, input->notes);
  absl::StatusOr<Reader> reader =
      Reader::FromSource(std::move(input->source), std::move(reader_options));
  result.status = reader.status();
  if (reader.ok()) result.status = CheckWallTimes(options, reader->version());
  if (!result.status.ok()) return result;
  WallClock wall_clock;
  auto formatter = make_formatter(wall_clock);
  const auto print = [&](const Event& event) {
    formatter.Append(event, &out->buffer());
    out->MaybeFlush();
    return out->usable();
  };
  EventTaker(&*reader, options, &wall_clock, print, &result).Run(progress);
  result.status = reader->status();
  result.events = reader->event_count();
  result.losses = reader->losses();
  WarnOfMoreTraces(file, *input, result.status);
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
    const auto make_formatter = [&](const WallClock& wall_clock) {
      return JsonFormatter(options.stacks, options.wall ? &wall_clock : nullptr);
    };
    return FormatEvents(file, std::move(reader_options), options, progress, make_formatter, out);
  }
  const auto make_formatter = [](const WallClock&) { return GoTextFormatter(); };
  return FormatEvents(file, std::move(reader_options), options, progress, make_formatter, out);
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

}  // namespace gotrace::internal
