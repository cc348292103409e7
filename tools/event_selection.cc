#include "tools/event_selection.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "export/json/json.h"
#include "parser/event/trace_clock.h"
#include "tools/file_list.h"
#include "tools/report.h"

namespace gotrace::internal {
namespace {

// Adds to an error that concerns wall-clock times what else could be given, after the name of the
// file and, unless it is "", of the flag.
absl::Status WithAdvice(const absl::Status& status, const std::string& file,
                        absl::string_view flag) {
  if (!absl::IsFailedPrecondition(status)) return status;
  return absl::InvalidArgumentError(absl::StrCat(ShownNameOf(file), ": ", flag.empty() ? "" : "--",
                                                 flag, flag.empty() ? "" : ": ", status.message(),
                                                 "; give a time since the start, like 1.5s"));
}

WindowOptions WindowOf(const SelectionOptions& options) {
  WindowOptions window;
  window.filter = options.filter.filter;
  window.wall_from = options.filter.wall_from;
  window.wall_to = options.filter.wall_to;
  window.whole_generations = options.whole_generations;
  window.from_beginning = options.from_beginning;
  window.to_end = options.to_end;
  return window;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventSelection>> EventSelection::Open(
    std::string file, const SelectionOptions& options, ReaderOptions reader_options,
    Progress* progress) {
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, reader_options.limits, options.trace);
  if (!input.ok()) return input.status();
  if (!options.quiet) PrintTransportNotes(file, input->notes);
  auto selection = absl::WrapUnique(new EventSelection(std::move(file), *std::move(input)));
  if (progress->enabled()) {
    reader_options.keep_going = [progress, read = selection.get()] {
      if (read->reader_.has_value()) {
        const Reader& reader = read->reader_->reader();
        progress->Show({reader.input_read(), reader.input_size(), reader.event_count()});
      }
      return true;
    };
  }
  absl::StatusOr<WindowReader> reader = WindowReader::Open(
      std::move(selection->input_.source), WindowOf(options), std::move(reader_options));
  if (!reader.ok()) {
    const FilterFlags& filter = options.filter;
    return WithAdvice(reader.status(), selection->file_,
                      filter.wall_from.has_value() ? "from" : filter.to_name);
  }
  selection->reader_.emplace(*std::move(reader));
  return selection;
}

absl::StatusOr<EventFilter> EventSelection::AbsoluteFilter() const {
  absl::StatusOr<EventFilter> filter = reader_->AbsoluteFilter();
  return filter.ok() ? filter : WithAdvice(filter.status(), file_, "");
}

SelectionResult EventSelection::Finish() {
  SelectionResult result{reader_->seen()};
  const Reader& reader = reader_->reader();
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
