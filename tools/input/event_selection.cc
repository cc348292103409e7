#include "tools/input/event_selection.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "export/json/json.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/file_list.h"
#include "tools/cli/report.h"

namespace gotrace::internal {

WindowOptions WindowOf(const FilterFlags& flags, Progress* progress) {
  WindowOptions window;
  window.filter = flags.filter;
  window.wall_from = flags.wall_from;
  window.wall_to = flags.wall_to;
  if (progress->enabled()) {
    window.on_progress = [progress](const ReadProgress& reached) {
      progress->Show({reached.bytes, reached.total, reached.events});
    };
  }
  return window;
}

absl::Status WithAdviceOnTimes(const absl::Status& status, const std::string& file,
                               const FilterFlags& flags) {
  if (!absl::IsFailedPrecondition(status) || !flags.has_wall_times()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat(ShownNameOf(file), ": --", flags.wall_from.has_value() ? "from" : flags.to_name,
                   ": ", status.message(), "; give a time since the start, like 1.5s"));
}

absl::StatusOr<std::unique_ptr<EventSelection>> EventSelection::Open(
    std::string file, const SelectionOptions& options, ReaderOptions reader_options,
    Progress* progress) {
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, reader_options.limits, options.trace);
  if (!input.ok()) return input.status();
  if (!options.quiet) PrintTransportNotes(file, input->notes);
  WindowOptions window = WindowOf(options.filter, progress);
  window.whole_generations = options.whole_generations;
  window.from_beginning = options.from_beginning;
  window.to_end = options.to_end;
  absl::StatusOr<WindowReader> reader =
      WindowReader::Open(std::move(input->source), window, std::move(reader_options));
  if (!reader.ok()) {
    return WithAdviceOnTimes(reader.status(), file, options.filter);
  }
  return absl::WrapUnique(
      new EventSelection(std::move(file), options.filter, *std::move(input), *std::move(reader)));
}

absl::StatusOr<EventFilter> EventSelection::AbsoluteFilter() const {
  absl::StatusOr<EventFilter> filter = reader_.AbsoluteFilter();
  if (filter.ok()) return filter;
  return WithAdviceOnTimes(filter.status(), file_, flags_);
}

SelectionResult EventSelection::Finish() {
  SelectionResult result;
  static_cast<WindowReader::Seen&>(result) = reader_.seen();
  const Reader& reader = reader_.reader();
  result.status = reader.status();
  result.events = reader.event_count();
  result.bytes = reader.input_read();
  result.losses = reader.losses();
  WarnOfMoreTraces(file_, input_, result.status);
  return result;
}

namespace {

// Explains why no event lies between wall-clock times.
bool NoteEmptyWallWindow(const std::string& file, const FilterFlags& flags,
                         const WindowReader::Seen& seen) {
  if (seen.within_wall) return false;
  if (!seen.first_wall.has_value()) {
    Note(file, "the trace has no readable clock snapshot, so wall-clock times cannot be compared");
    return true;
  }
  Note(file, absl::StrFormat("no event is between --from and --%s: the events that were read are "
                             "from %s to %s",
                             flags.to_name, FormatUtcNanoseconds(*seen.first_wall),
                             FormatUtcNanoseconds(*seen.last_wall)));
  return true;
}

}  // namespace

bool NoteEmptyWindow(const std::string& file, const FilterFlags& flags,
                     const WindowReader::Seen& seen) {
  if (flags.has_wall_times()) return NoteEmptyWallWindow(file, flags, seen);
  const EventFilter& filter = flags.filter;
  if (seen.first_time > filter.times.to) {
    Note(file, absl::StrFormat("--%s=%s is earlier than all events: the first is at @%d",
                               flags.to_name, flags.to, seen.first_time));
    return true;
  }
  const int64_t duration = TraceClock::Subtract(seen.last_time, seen.first_time);
  if (duration >= filter.since_start.from && seen.last_time >= filter.times.from) return false;
  // If one is a time since the start and the other is not, only reading shows which is later.
  if (duration > filter.since_start.to || seen.last_time > filter.times.to) {
    Note(file, absl::StrFormat("--from=%s is later than --%s=%s, so no event is between them",
                               flags.from, flags.to_name, flags.to));
    return true;
  }
  Note(file, absl::StrFormat("--from=%s is later than all events: the first is at @%d, and the "
                             "last %.9f s after it, at @%d",
                             flags.from, seen.first_time, static_cast<double>(duration) / 1e9,
                             seen.last_time));
  return true;
}

void NoteTimelessGeneration(const std::string& file, const WindowReader::Seen& seen) {
  if (!seen.timeless.has_value()) return;
  Note(file,
       absl::StrFormat(
           "generation %d states %d ticks of the trace clock per second, so times are meaningless",
           seen.timeless->number, *seen.timeless->frequency));
}

}  // namespace gotrace::internal
