#include "tools/event_selection.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "export/json/json.h"
#include "gotrace/trace_index.h"
#include "parser/event/trace_clock.h"
#include "tools/file_list.h"
#include "tools/report.h"

namespace gotrace::internal {
namespace {

// Returns why the wall-clock times of the filter cannot be used with the trace in `file`, which is
// of `version`, or OK.
absl::Status CheckWallTimes(const std::string& file, const FilterFlags& filter, Version version) {
  if (version >= Version::kGo125 || !filter.has_wall_times()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      ShownNameOf(file), ": ", "--", filter.wall_from.has_value() ? "from" : filter.to_name,
      ": the trace is of version 1.", static_cast<uint32_t>(version),
      ", which has no wall-clock times (Go writes them since 1.25); give a time since "
      "the start, like 1.5s"));
}

// Returns the first time that the filter selects in the trace with this index, or an earlier time.
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
    // The generation reaches the time before the next generation begins.
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
    if (index.ok() && index->status().ok() && index->generations().size() > 1) {
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

}  // namespace

absl::StatusOr<std::unique_ptr<EventSelection>> EventSelection::Open(
    std::string file, const SelectionOptions& options, ReaderOptions reader_options,
    Progress* progress) {
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, reader_options.limits, options.trace);
  if (!input.ok()) return input.status();
  if (!options.quiet) PrintTransportNotes(file, input->notes);
  std::optional<int64_t> start;
  absl::StatusOr<Reader> reader =
      options.from_beginning
          ? Reader::FromSource(std::move(input->source), std::move(reader_options))
          : OpenAtFirstTime(std::move(input->source), std::move(reader_options), options.filter,
                            &start);
  if (!reader.ok()) return reader.status();
  if (absl::Status status = CheckWallTimes(file, options.filter, reader->version()); !status.ok()) {
    return status;
  }
  return std::unique_ptr<EventSelection>(new EventSelection(
      std::move(file), options, *std::move(input), *std::move(reader), start, progress));
}

EventSelection::EventSelection(std::string file, const SelectionOptions& options, OpenedTrace input,
                               Reader reader, std::optional<int64_t> start, Progress* progress)
    : file_(std::move(file)),
      options_(options),
      input_(std::move(input)),
      reader_(std::move(reader)),
      start_(start),
      progress_(*progress),
      filter_(options.filter.filter),
      filter_without_times_(filter_.WithoutTimes()),
      matches_all_(filter_.MatchesAll() && !options.filter.has_wall_times()) {
  if (start.has_value()) result_.first_time = result_.last_time = *start;
}

const Event* EventSelection::Next() {
  while (!stopped_) {
    const Event* const event = reader_.Next();
    if (event == nullptr) break;
    if (event->kind() == EventKind::kSync) [[unlikely]] {
      BeginGeneration(*event);
    }
    if (progress_.Due()) {
      progress_.Show({reader_.input_read(), reader_.input_size(), reader_.event_count()});
    }
    if (matches_all_) return event;
    const Verdict verdict = Look(*event);
    stopped_ = verdict == Verdict::kStop || verdict == Verdict::kTakeAndStop;
    if (verdict == Verdict::kTake || verdict == Verdict::kTakeAndStop) return event;
  }
  stopped_ = true;
  return nullptr;
}

void EventSelection::BeginGeneration(const Event& sync) {
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
  // Wall-clock times that the clock cannot convert yet stay as they are.
  if (options_.filter.wall_from.has_value()) {
    filter_.times.from = times_.TraceTime(*options_.filter.wall_from).value_or(filter_.times.from);
  }
  if (options_.filter.wall_to.has_value()) {
    filter_.times.to = times_.TraceTime(*options_.filter.wall_to).value_or(filter_.times.to);
  }
}

EventSelection::Verdict EventSelection::Look(const Event& event) {
  const bool whole_window = options_.whole_window;
  if (whole_window && !result_.any_matches) {
    result_.any_matches = filter_without_times_.Matches(event, *start_);
  }
  result_.last_time = std::max(result_.last_time, event.time());
  if (options_.filter.has_wall_times()) {
    // Only salvaging reads generations without a clock snapshot.
    const std::optional<absl::Time> wall = times_.WallTime(event.time());
    if (!wall.has_value()) return whole_window ? Verdict::kTake : Verdict::kSkip;
    result_.last_wall = wall;
    if (!result_.first_wall.has_value()) result_.first_wall = result_.last_wall;
    result_.within_wall |= filter_.times.Has(event.time());
  }
  if (!options_.to_end && IsPast(event)) {
    if (!whole_window) return Verdict::kStop;
    return event.kind() == EventKind::kSync ? Verdict::kTakeAndStop : Verdict::kTake;
  }
  return whole_window || filter_.Matches(event, *start_) ? Verdict::kTake : Verdict::kSkip;
}

// Whether no later event can be selected. The wall clock of the next generation may be slightly
// earlier than that of this one.
bool EventSelection::IsPast(const Event& event) const {
  constexpr absl::Duration kClocksDiffer = absl::Seconds(1);
  if (!filter_.IsPast(event, *start_)) return false;
  return !options_.filter.wall_to.has_value() || event.time() <= filter_.times.to ||
         *times_.WallTime(event.time()) > *options_.filter.wall_to + kClocksDiffer;
}

absl::StatusOr<EventFilter> EventSelection::AbsoluteFilter() const {
  EventFilter filter = options_.filter.filter.WithAbsoluteTimes(start_.value_or(0));
  for (const auto& [wall, time] : {std::pair(options_.filter.wall_from, &filter.times.from),
                                   std::pair(options_.filter.wall_to, &filter.times.to)}) {
    if (!wall.has_value()) continue;
    const std::optional<int64_t> trace_time = times_.TraceTime(*wall);
    if (!trace_time.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          ShownNameOf(file_), ": the first generation has no readable clock snapshot, so ",
          "wall-clock times cannot be compared; give a time since the start, like 1.5s"));
    }
    *time = *trace_time;
  }
  return filter;
}

SelectionResult EventSelection::Finish() {
  result_.status = reader_.status();
  result_.events = reader_.event_count();
  result_.bytes = reader_.input_read();
  result_.losses = reader_.losses();
  WarnOfMoreTraces(file_, input_, result_.status);
  return std::move(result_);
}

namespace {

// Explains why no event lies between wall-clock times.
bool NoteEmptyWallWindow(const std::string& file, const FilterFlags& flags,
                         const SelectionResult& result) {
  if (result.within_wall) return false;
  if (!result.first_wall.has_value()) {
    Note(file, "the trace has no readable clock snapshot, so wall-clock times cannot be compared");
    return true;
  }
  Note(file, absl::StrFormat("no event is between --from and --%s: the events that were read are "
                             "from %s to %s",
                             flags.to_name, FormatUtcNanoseconds(*result.first_wall),
                             FormatUtcNanoseconds(*result.last_wall)));
  return true;
}

}  // namespace

bool NoteEmptyWindow(const std::string& file, const FilterFlags& flags,
                     const SelectionResult& result) {
  if (flags.has_wall_times()) return NoteEmptyWallWindow(file, flags, result);
  const EventFilter& filter = flags.filter;
  if (result.first_time > filter.times.to) {
    Note(file, absl::StrFormat("--%s=%s is earlier than all events: the first is at @%d",
                               flags.to_name, flags.to, result.first_time));
    return true;
  }
  const int64_t duration = TraceClock::Subtract(result.last_time, result.first_time);
  if (duration >= filter.since_start.from && result.last_time >= filter.times.from) return false;
  // If one is a time since the start and the other is not, only reading shows which is later.
  if (duration > filter.since_start.to || result.last_time > filter.times.to) {
    Note(file, absl::StrFormat("--from=%s is later than --%s=%s, so no event is between them",
                               flags.from, flags.to_name, flags.to));
    return true;
  }
  Note(file, absl::StrFormat("--from=%s is later than all events: the first is at @%d, and the "
                             "last %.9f s after it, at @%d",
                             flags.from, result.first_time, static_cast<double>(duration) / 1e9,
                             result.last_time));
  return true;
}

void NoteTimelessGeneration(const std::string& file, const SelectionResult& result) {
  if (!result.timeless.has_value()) return;
  Note(file,
       absl::StrFormat("generation %d states %d ticks of the trace clock per second, so times "
                       "mean nothing",
                       result.timeless->number, *result.timeless->frequency));
}

}  // namespace gotrace::internal
