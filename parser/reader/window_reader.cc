#include "gotrace/window_reader.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gotrace/event_kind.h"
#include "gotrace/trace_index.h"
#include "parser/event/trace_clock.h"

namespace gotrace {
namespace {

using internal::TraceClock;

// Returns the first time of the window in a trace with this index, or an earlier one.
int64_t FirstTimeOf(const WindowOptions& options, const TraceIndex& index) {
  const absl::Span<const TraceIndex::Generation> generations = index.generations();
  if (!options.wall_from.has_value()) {
    const int64_t since_start = options.filter.since_start.from;
    return options.filter.since_start.HasFirst() ? TraceClock::Add(index.start_time(), since_start)
                                                 : options.filter.times.from;
  }
  // The wall clock may be set during the trace: each generation has its own.
  constexpr int64_t kBeginning = std::numeric_limits<int64_t>::min();
  int64_t from = kBeginning;
  for (size_t i = 0; i < generations.size(); ++i) {
    if (!generations[i].clock_snapshot.has_value()) return kBeginning;
    EventTimes times;
    times.Add(*generations[i].clock_snapshot);
    from = *times.TraceTime(*options.wall_from);
    // The generation reaches the time before the next one begins.
    if (i + 1 < generations.size() && from < generations[i + 1].first_time) break;
  }
  return from;
}

// Opens a reader of the trace in `source`. If the window has a first time, and the source can be
// read from any place, the reader starts with the generation that may contain that time, and
// `*start` is set to the time of the trace's first event.
absl::StatusOr<Reader> OpenAtFirstTime(std::unique_ptr<ByteSource> source, ReaderOptions options,
                                       const WindowOptions& window, std::optional<int64_t>* start) {
  const bool has_first_time = window.wall_from.has_value() || window.filter.times.HasFirst() ||
                              window.filter.since_start.HasFirst();
  if (options.mode == ReadMode::kStrict && has_first_time && !window.from_beginning) {
    const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source, options.keep_going);
    if (index.ok() && index->status().ok() && index->generations().size() > 1) {
      const size_t first = index->FindTime(FirstTimeOf(window, *index));
      if (first > 0) {
        absl::StatusOr<Reader> reader = Reader::OpenAt(*source, *index, first, options);
        if (reader.ok()) {
          source->LeaveAtEnd();
          *start = index->start_time();
          return reader;
        }
      }
    }
  }
  return Reader::FromSource(std::move(source), std::move(options));
}

}  // namespace

absl::StatusOr<WindowReader> WindowReader::Open(std::unique_ptr<ByteSource> source,
                                                const WindowOptions& options,
                                                ReaderOptions reader_options) {
  std::optional<int64_t> start;
  absl::StatusOr<Reader> reader =
      OpenAtFirstTime(std::move(source), std::move(reader_options), options, &start);
  if (!reader.ok()) return reader.status();
  if (options.has_wall_times() && reader->version() < Version::kGo125) {
    return absl::FailedPreconditionError(
        absl::StrCat("the trace is of version 1.", static_cast<uint32_t>(reader->version()),
                     ", which has no wall-clock times (Go writes them since 1.25)"));
  }
  return WindowReader(options, *std::move(reader), start);
}

WindowReader::WindowReader(const WindowOptions& options, Reader reader,
                           std::optional<int64_t> start)
    : options_(options),
      reader_(std::move(reader)),
      start_(start),
      filter_(options.filter),
      filter_without_times_(filter_.WithoutTimes()),
      matches_all_(filter_.MatchesAll() && !options.has_wall_times()) {
  if (start.has_value()) seen_.first_time = seen_.last_time = *start;
}

const Event* WindowReader::Next() {
  while (!stopped_) {
    const Event* const event = reader_.Next();
    if (event == nullptr) break;
    if (event->kind() == EventKind::kSync) [[unlikely]] {
      BeginGeneration(*event);
    }
    CountForProgress(1);
    if (matches_all_) return event;
    const Verdict verdict = Check(*event);
    stopped_ = verdict == Verdict::kStop || verdict == Verdict::kTakeAndStop;
    if (verdict == Verdict::kTake || verdict == Verdict::kTakeAndStop) return event;
  }
  stopped_ = true;
  return nullptr;
}

absl::Span<const Event> WindowReader::NextBlock() {
  if (!matches_all_) {
    const Event* const event = Next();
    return absl::MakeConstSpan(event, event == nullptr ? 0 : 1);
  }
  const absl::Span<const Event> block = reader_.NextBlock();
  if (block.empty()) return block;
  if (block.front().kind() == EventKind::kSync) BeginGeneration(block.front());
  CountForProgress(block.size());
  return block;
}

void WindowReader::CountForProgress(uint64_t events) {
  constexpr uint64_t kEventsBetween = 4096;
  if (options_.on_progress == nullptr) return;
  events_since_progress_ += events;
  if (events_since_progress_ < kEventsBetween) return;
  events_since_progress_ = 0;
  options_.on_progress({reader_.input_read(), reader_.input_size(), reader_.event_count()});
}

void WindowReader::BeginGeneration(const Event& sync) {
  if (!start_.has_value()) {
    start_ = seen_.first_time = seen_.last_time = sync.time();
  }
  const GenerationInfo& generation = reader_.generation();
  if (!seen_.timeless.has_value() && generation.frequency.has_value() &&
      !internal::IsPlausibleFrequency(*generation.frequency)) {
    seen_.timeless = generation;
  }
  times_.Add(sync);
  // What the clock does not know yet stays as it is.
  if (options_.wall_from.has_value()) {
    filter_.times.from = times_.TraceTime(*options_.wall_from).value_or(filter_.times.from);
  }
  if (options_.wall_to.has_value()) {
    filter_.times.to = times_.TraceTime(*options_.wall_to).value_or(filter_.times.to);
  }
}

WindowReader::Verdict WindowReader::Check(const Event& event) {
  const bool whole = options_.whole_generations;
  if (whole && !seen_.any_matches) {
    seen_.any_matches = filter_without_times_.Matches(event, *start_);
  }
  seen_.last_time = std::max(seen_.last_time, event.time());
  if (options_.has_wall_times()) {
    // Only salvaging reads generations without a clock snapshot.
    const std::optional<absl::Time> wall = times_.WallTime(event.time());
    if (!wall.has_value()) return whole ? Verdict::kTake : Verdict::kSkip;
    seen_.last_wall = wall;
    if (!seen_.first_wall.has_value()) seen_.first_wall = wall;
    seen_.within_wall |= filter_.times.Has(event.time());
  }
  if (!options_.to_end && IsPast(event)) {
    if (!whole) return Verdict::kStop;
    return event.kind() == EventKind::kSync ? Verdict::kTakeAndStop : Verdict::kTake;
  }
  return whole || filter_.Matches(event, *start_) ? Verdict::kTake : Verdict::kSkip;
}

// Whether no later event can be in the window. The wall clock of the next generation may be
// slightly earlier than that of this one.
bool WindowReader::IsPast(const Event& event) const {
  constexpr absl::Duration kClocksDiffer = absl::Seconds(1);
  if (!filter_.IsPast(event, *start_)) return false;
  return !options_.wall_to.has_value() || event.time() <= filter_.times.to ||
         *times_.WallTime(event.time()) > *options_.wall_to + kClocksDiffer;
}

absl::StatusOr<EventFilter> WindowReader::AbsoluteFilter() const {
  EventFilter filter = options_.filter.WithAbsoluteTimes(start_.value_or(0));
  for (const auto& [wall, time] : {std::pair(options_.wall_from, &filter.times.from),
                                   std::pair(options_.wall_to, &filter.times.to)}) {
    if (!wall.has_value()) continue;
    const std::optional<int64_t> trace_time = times_.TraceTime(*wall);
    if (!trace_time.has_value()) {
      return absl::FailedPreconditionError(
          "the first generation has no readable clock snapshot, so wall-clock times cannot be "
          "compared");
    }
    *time = *trace_time;
  }
  return filter;
}

}  // namespace gotrace
