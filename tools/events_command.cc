#include "tools/events_command.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "export/json/json.h"
#include "export/text/go_text.h"
#include "gotrace/event_times.h"
#include "gotrace/trace_index.h"
#include "parser/event/trace_clock.h"
#include "tools/file_list.h"
#include "tools/open_trace.h"
#include "tools/per_file_command.h"

namespace gotrace::internal {
namespace {

// Reads events and passes those that the options select to `take`, until it returns false.
template <class Take>
class EventTaker {
 public:
  // The references must outlive the object.
  EventTaker(Reader* reader, const EventsOptions& options, EventTimes* times, Take take,
             EventsResult* result)
      : reader_(*reader),
        options_(options),
        filter_(options.filter.filter),
        times_(*times),
        take_(std::move(take)),
        result_(*result) {}

  // Sets the times of the result. `start` is the time of the trace's first event, if the reader
  // does not return that event.
  void Run(std::optional<int64_t> start, Progress* progress) {
    if (start.has_value()) start_ = result_.first_time = result_.last_time = *start;
    uint64_t left = options_.limit;
    while (left > 0) {
      const Event* const event = reader_.Next();
      if (event == nullptr) break;
      if (event->kind() == EventKind::kSync) [[unlikely]] {
        BeginGeneration(*event);
      }
      const Verdict verdict = matches_all_ ? Verdict::kTake : Look(*event);
      if (verdict == Verdict::kStop) break;
      if (verdict == Verdict::kTake) {
        ++result_.printed;
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

  void BeginGeneration(const Event& sync) {
    if (!start_.has_value()) {
      start_ = result_.first_time = result_.last_time = sync.time();
    }
    const GenerationInfo& generation = reader_.generation();
    if (!result_.timeless.has_value() && generation.frequency.has_value() &&
        !IsPlausibleFrequency(*generation.frequency)) {
      result_.timeless = generation;
    }
    if (!options_.filter.has_wall_times() && !options_.wall) return;
    times_.See(sync);
    // What the clock does not know yet stays as it is.
    if (options_.filter.wall_from.has_value()) {
      filter_.times.from =
          times_.TraceTime(*options_.filter.wall_from).value_or(filter_.times.from);
    }
    if (options_.filter.wall_to.has_value()) {
      filter_.times.to = times_.TraceTime(*options_.filter.wall_to).value_or(filter_.times.to);
    }
  }

  Verdict Look(const Event& event) {
    result_.last_time = std::max(result_.last_time, event.time());
    if (options_.filter.has_wall_times()) {
      // Only salvaging reads generations without a clock snapshot.
      const std::optional<absl::Time> wall = times_.WallTime(event.time());
      if (!wall.has_value()) return Verdict::kSkip;
      result_.last_wall = wall;
      if (!result_.first_wall.has_value()) result_.first_wall = result_.last_wall;
      result_.within_wall |= filter_.times.Has(event.time());
    }
    if (!options_.to_end && IsPast(event)) return Verdict::kStop;
    return filter_.Matches(event, *start_) ? Verdict::kTake : Verdict::kSkip;
  }

  // Whether no later event can be selected. The wall clock of the next generation may be slightly
  // earlier than that of this one.
  bool IsPast(const Event& event) const {
    constexpr absl::Duration kClocksDiffer = absl::Seconds(1);
    if (!filter_.IsPast(event, *start_)) return false;
    return !options_.filter.wall_to.has_value() || event.time() <= filter_.times.to ||
           *times_.WallTime(event.time()) > *options_.filter.wall_to + kClocksDiffer;
  }

  Reader& reader_;
  const EventsOptions& options_;
  EventFilter filter_;
  const bool matches_all_ = filter_.MatchesAll() && !options_.filter.has_wall_times();
  EventTimes& times_;
  Take take_;
  EventsResult& result_;
  std::optional<int64_t> start_;
};

// Returns why the wall-clock times of the filter cannot be used with the trace in `file`, which is
// of `version`, or OK.
absl::Status CheckWallTimes(const std::string& file, const FilterFlags& filter, Version version) {
  if (version >= Version::kGo125 || !filter.has_wall_times()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(ShownNameOf(file), ": ", filter.wall_from.has_value() ? "--from" : "--to",
                   ": the trace is of version 1.", static_cast<uint32_t>(version),
                   ", which has no wall-clock times (Go writes them since 1.25); give a time since "
                   "the start, like 1.5s"));
}

// Returns the first time that the filter selects in a trace with that index, or an earlier one.
int64_t FirstTimeOf(const FilterFlags& flags, const TraceIndex& index) {
  const absl::Span<const TraceIndex::Generation> generations = index.generations();
  if (!flags.wall_from.has_value()) {
    const int64_t since_start = flags.filter.since_start.from;
    return flags.filter.since_start.HasFirst()
               ? TraceClock::Add(generations.front().first_time, since_start)
               : flags.filter.times.from;
  }
  // The wall clock may be set during the trace: each generation has its own.
  constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();
  int64_t from = kBeginning;
  for (size_t i = 0; i < generations.size(); ++i) {
    if (!generations[i].clock_snapshot.has_value()) return kBeginning;
    EventTimes times;
    times.See(*generations[i].clock_snapshot);
    from = *times.TraceTime(*flags.wall_from);
    // The generation reaches the time before the next one begins.
    if (i + 1 < generations.size() && from < generations[i + 1].first_time) break;
  }
  return from;
}

// Opens a reader of the trace in `source`. If the filter has a first time, and the source can be
// read from any place, the reader starts with the generation that may contain that time, and
// `*start` is set to the time of the trace's first event.
absl::StatusOr<Reader> OpenAtFirstTime(std::unique_ptr<ByteSource> source, ReaderOptions options,
                                       const FilterFlags& flags, std::optional<int64_t>* start) {
  const bool has_first_time = flags.wall_from.has_value() || flags.filter.times.HasFirst() ||
                              flags.filter.since_start.HasFirst();
  if (options.mode == ReadMode::kStrict && has_first_time) {
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source);
    if (index.ok() && index->generations().size() > 1) {
      const size_t first = index->FindTime(FirstTimeOf(flags, *index));
      if (first > 0) {
        absl::StatusOr<Reader> reader = Reader::OpenAt(*source, *index, first, options);
        if (reader.ok()) {
          source->LeaveAtEnd();
          *start = index->generations().front().first_time;
          return reader;
        }
      }
    }
  }
  return Reader::FromSource(std::move(source), std::move(options));
}

// Opens and reads a trace, and formats the events that the options select with the formatter that
// `make_formatter` returns.
template <class MakeFormatter>
EventsResult FormatEvents(FileOutput* output, ReaderOptions reader_options,
                          const EventsOptions& options, Progress* progress,
                          MakeFormatter make_formatter) {
  EventsResult result;
  absl::StatusOr<OpenedTrace> input =
      OpenTrace(output->file(), reader_options.limits, options.trace);
  result.status = input.status();
  if (!result.status.ok()) return result;
  PrintTransportNotes(output->file(), input->notes);
  std::optional<int64_t> start;
  absl::StatusOr<Reader> reader =
      OpenAtFirstTime(std::move(input->source), std::move(reader_options), options.filter, &start);
  result.status = reader.status();
  if (reader.ok()) {
    result.status = CheckWallTimes(output->file(), options.filter, reader->version());
  }
  if (!result.status.ok()) return result;
  EventTimes times;
  auto formatter = make_formatter(times);
  Output& out = output->out();
  const auto print = [&](const Event& event) {
    if (result.printed == 1 && !options.json) [[unlikely]] {
      output->BeginText();
    }
    formatter.Append(event, &out.buffer());
    out.MaybeFlush();
    return out.usable();
  };
  EventTaker(&*reader, options, &times, print, &result).Run(start, progress);
  result.status = reader->status();
  result.events = reader->event_count();
  result.losses = reader->losses();
  WarnOfMoreTraces(output->file(), *input, result.status);
  return result;
}

}  // namespace

EventsResult DumpEvents(const EventsOptions& options, ReaderOptions reader_options,
                        Progress* progress, FileOutput* output) {
  if (options.json) {
    const auto make_formatter = [&](const EventTimes& times) {
      return JsonFormatter(options.stacks, options.wall ? &times : nullptr,
                           output->several() ? NameOf(output->file()) : "");
    };
    return FormatEvents(output, std::move(reader_options), options, progress, make_formatter);
  }
  const auto make_formatter = [](const EventTimes&) { return GoTextFormatter(); };
  return FormatEvents(output, std::move(reader_options), options, progress, make_formatter);
}

namespace {

// Explains why no event lies between --from and --to where one of them is a wall-clock time.
void NoteWallTimes(const std::string& file, const EventsResult& result) {
  if (result.within_wall) return;
  if (!result.first_wall.has_value()) {
    return Note(file,
                "the trace has no readable clock snapshot, so wall-clock times cannot be "
                "compared");
  }
  Note(file, absl::StrFormat("no event is between --from and --to: the events that were read are "
                             "from %s to %s",
                             FormatUtcNanoseconds(*result.first_wall),
                             FormatUtcNanoseconds(*result.last_wall)));
}

// Explains why no event lies between --from and --to, if that is so. Returns whether it is.
bool NoteTimes(const std::string& file, const FilterFlags& flags, const EventsResult& result) {
  const EventFilter& filter = flags.filter;
  if (result.first_time > filter.times.to) {
    Note(file, absl::StrFormat("--to=%s is earlier than all events: the first is at @%d", flags.to,
                               result.first_time));
    return true;
  }
  const int64_t duration = TraceClock::Subtract(result.last_time, result.first_time);
  if (duration >= filter.since_start.from && result.last_time >= filter.times.from) return false;
  // If one is a time since the start and the other is not, only reading shows which is later.
  if (duration > filter.since_start.to || result.last_time > filter.times.to) {
    Note(file, absl::StrFormat("--from=%s is later than --to=%s, so no event is between them",
                               flags.from, flags.to));
    return true;
  }
  Note(file, absl::StrFormat("--from=%s is later than all events: the first is at @%d, and the "
                             "last %.9f s after it, at @%d",
                             flags.from, result.first_time, static_cast<double>(duration) / 1e9,
                             result.last_time));
  return true;
}

constexpr CommandText kText = {
    .name = "events",
    .summary = "print the events in order",
    .description =
        "Prints the events of a trace in order. Without flags the text is that of `go tool trace "
        "-d=parsed`, byte for byte.\n"
        "\n"
        "Filters combine: an event is printed if it passes all of them. Reading stops once no "
        "later event can match (except with --salvage). Generations that end before --from are not "
        "read, unless the input is compressed or a pipe. If several files are given, each file "
        "with "
        "events to print has a heading, and in JSON each event has the name of its \"file\".\n"
        "\n"
        "Wall-clock times (RFC 3339: a date, a time and a zone) need a trace of Go 1.25 or later, "
        "in which every generation records the wall clock.\n"
        "\n"
        "With --salvage a broken trace is read to its end. An event that contradicts an earlier "
        "one is printed with Fault=ID at the end of its line, or \"fault\" in JSON; lost strings "
        "and stacks are printed as ?string#12 and ?stack#7. An event that waits for a lost one is "
        "printed last in its generation; it keeps its time, so times may go backwards there.",
    .examples =
        "  gotrace-dump trace.out\n"
        "  gotrace-dump events --kind=StateTransition --g=42 trace.out\n"
        "  gotrace-dump events --from=1.5s --to=1500.2ms --format=json --stacks trace.out\n"
        "  gotrace-dump events --kind=Log --format=json traces/ | jq -r .file | uniq -c\n"
        "  gotrace-dump events --salvage broken.out > events.txt\n"
        "  curl -s localhost:6060/debug/pprof/trace?seconds=5 | gotrace-dump events --limit=100 "
        "-\n",
    .takes_several_files = true,
};

class EventsCommand final : public PerFileCommand {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {
        {.name = "format",
         .value = "go|json",
         .help = "The text of Go's tool (default), or one JSON object on a line for each event.",
         .set = SetChoice({"go", "json"}, &format_),
         .instead = "other commands have --json"},
        {.name = "stacks",
         .value = "",
         .help = "Write stacks in JSON, too; Go's text always has them.",
         .set = SetSwitch(&options_.stacks),
         .needs = "format=json"},
        {.name = "wall",
         .value = "",
         .help = "Write wall-clock times in JSON, too, if the trace has them (since Go 1.25).",
         .set = SetSwitch(&options_.wall),
         .needs = "format=json"},
    };
    AppendRows(options_.filter.Rows(), &rows);
    rows.push_back({.name = "limit",
                    .value = "N",
                    .help = "Print at most N events of each file.",
                    .set = SetNumber(0, &options_.limit)});
    AppendRows(reading_.Rows(), &rows);
    return rows;
  }

  absl::Status Check() const override { return options_.filter.Check(); }

  int Run(const std::vector<std::string>& files, Output* out) override {
    options_.json = format_ == 1;
    options_.to_end = reading_.salvage;
    options_.trace = reading_.input.trace;
    const int exit_code = PerFileCommand::Run(files, out);
    if (is_several_ && exit_code == kSuccess && printed_ == 0 && options_.limit > 0) {
      absl::FPrintF(stderr, "gotrace-dump: no event of any file matches\n");
    }
    return exit_code;
  }

 protected:
  FileResult RunFile(FileOutput* output) override {
    const std::string& file = output->file();
    FaultLog log;
    Progress progress(/*prints_along=*/true);
    const EventsResult result = DumpEvents(options_, reading_.Options(&log), &progress, output);
    progress.Wipe();
    printed_ += result.printed;
    is_several_ = output->several();
    if (result.status.ok() && result.printed == 0 && !is_several_) ExplainNothing(file, result);
    if (result.timeless.has_value()) {
      Note(file, absl::StrFormat("generation %d states %d ticks of the trace clock per second, so "
                                 "times mean nothing",
                                 result.timeless->number, *result.timeless->frequency));
    }
    return {.status = result.status,
            .events = result.events,
            .can_salvage = !reading_.salvage,
            .salvage_report = SalvageReport(ShownNameOf(file), log, result.losses)};
  }

  const ReaderLimits& limits() const override { return reading_.input.limits; }

 private:
  // Says why no event of a single file was printed.
  void ExplainNothing(const std::string& file, const EventsResult& result) const {
    if (options_.limit == 0) return;
    if (options_.filter.has_wall_times() && !result.within_wall) return NoteWallTimes(file, result);
    if (!options_.filter.has_wall_times() && NoteTimes(file, options_.filter, result)) return;
    Note(file, absl::StrCat("no event matches; ", result.events,
                            result.events == 1 ? " event was read" : " events were read"));
  }

  size_t format_ = 0;
  EventsOptions options_;
  ReadingFlags reading_;
  uint64_t printed_ = 0;  // Events of all files.
  bool is_several_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeEventsCommand() { return std::make_unique<EventsCommand>(); }

}  // namespace gotrace::internal
