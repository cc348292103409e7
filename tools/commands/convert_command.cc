// The command `convert`: writes a trace in a format of other tools.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "parser/event/trace_clock.h"
#include "parser/source/file_state.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/commands/convert_formats.h"
#include "tools/input/event_selection.h"
#include "tools/input/open_trace.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "convert",
    .summary = "write a trace in the format of another tool",
    .description =
        "Writes a trace in the format that --to names.\n\n"
        "Filters combine, as for `events`, but a window ends at --until, since --to is the format. "
        "With --from, the output begins with the state at that time: whatever was in progress then "
        "is written too. Generations that end before --from are not read, unless the input is "
        "compressed or a pipe.\n\n"
        "If the trace is broken, everything before the fault is written; with --salvage, "
        "everything that can still be read.\n\n"
        "With --to=perfetto, fxt or chrome, several traces become one file with a process for "
        "each; process ids count up from --pid. Times are aligned with the first trace: by the "
        "monotonic clock if the traces share it, otherwise by the wall clock. --from and --until "
        "are times of the first trace.",
    .examples =
        "  gotrace-dump convert --to=perfetto -o trace.pftrace trace.out\n"
        "  gotrace-dump convert --to=perfetto -o both.pftrace leader.out client.out\n"
        "  gotrace-dump convert --to=chrome -o trace.json trace.out\n"
        "  gotrace-dump convert --to=chrome --view=goroutine --from=1.5s --until=1.6s trace.out\n"
        "  gotrace-dump convert --to=trace2-perf --kind=RegionBegin,Log trace.out\n",
    .takes_several_files = true,
};

// Gives a hint to users who mean the last time, which is --to in `events`.
SetFlag SetFormat(const std::vector<absl::string_view>& names, size_t* format) {
  const SetFlag choice = SetChoice(names, format);
  return {[choice](absl::string_view value) {
            absl::Status status = choice(value);
            const bool is_time = absl::ascii_isdigit(value.front()) || value.front() == '@';
            if (status.ok() || !is_time) return status;
            return absl::InvalidArgumentError(
                absl::StrCat(status.message(), "; use --until for the end of the window"));
          },
          choice.choices()};
}

class ConvertCommand final : public Command {
 public:
  ConvertCommand() { filter_.to_name = "until"; }

  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<absl::string_view> names;
    std::string help = "The format to write:";
    for (const ConvertFormat& format : ConvertFormats()) {
      names.push_back(format.name);
      absl::StrAppend(&help, "\n  ", format.name, ": ", format.help);
    }
    std::vector<Flag> rows = {{.name = "to",
                               .value = "FORMAT",
                               .help = std::move(help),
                               .set = SetFormat(names, &format_)},
                              OutputFlag(&target_)};
    AppendRows(FormatFlags(&options_), &rows);
    AppendRows(filter_.Rows(), &rows);
    AppendRows(reading_.Rows(InputFlags::Traces::kOneOrAll), &rows);
    return rows;
  }

  absl::Status Check() const override {
    if (format_ < ConvertFormats().size()) {
      absl::Status status = CheckFormatFlags(options_, filter_.filter);
      status.Update(filter_.Check());
      return status;
    }
    const auto append_name = [](std::string* list, const ConvertFormat& format) {
      absl::StrAppend(list, format.name);
    };
    return absl::InvalidArgumentError(absl::StrCat(
        "--to=FORMAT is missing; the formats are ",
        absl::StrJoin(ConvertFormats(), ", ", append_name), " (--until is the end of the window)"));
  }

  absl::string_view mode() const override { return ConvertFormats()[format_].name; }

  int Run(const std::vector<std::string>& files, Output* out) override {
    std::vector<ListedFile> traces;
    for (const std::string& file : files) traces.push_back({file});
    if (reading_.input.all_traces) traces = ListAllTraces(traces, reading_.input.limits);
    if (traces.size() > 1) return Join(traces, out);
    const Trace2Region region(SelfTrace(), "file", kText.name, files[0]);
    FaultLog log;
    FileResult result = Convert(files[0], &log, out);
    return Conclude(files[0], result, out);
  }

 private:
  // One of several traces.
  struct Part {
    FileResult result;
    FileState state;
    bool has_events = false;
    std::optional<ClockSnapshot> clocks;
    int64_t start = 0;        // The time of its first event.
    int64_t time_offset = 0;  // Added to its times.
  };

  // A trace that was opened.
  struct Input {
    std::unique_ptr<EventSelection> selection;
    const Event* first = nullptr;  // nullptr if there is none.
  };

  // Returns the nanoseconds that the user wants to add to the times of a file.
  int64_t OffsetOf(size_t file) const {
    const auto it = options_.offsets.find(file + 1);
    return it == options_.offsets.end() ? 0 : absl::ToInt64Nanoseconds(it->second);
  }

  // Writes several traces to one file.
  int Join(const std::vector<ListedFile>& files, Output* out) {
    const ConvertFormat& format = ConvertFormats()[format_];
    if (!format.joins) {
      return Conclude(files[1].label(),
                      {absl::InvalidArgumentError(absl::StrCat(
                          "--to=", format.name,
                          " takes one trace; --to=perfetto, fxt and chrome take several"))},
                      out);
    }
    const TraceTarget target(target_, out);
    for (const ListedFile& file : files) {
      if (absl::Status status = target.Check(file.path, format.is_binary); !status.ok()) {
        return Conclude(file.label(), {status}, out);
      }
    }
    std::vector<Part> parts = Align(files);
    const absl::Status written = target.Write([&](Output* to) {
      ChromeFile chrome_file(to->bytes());
      const bool is_chrome = format.name == "chrome";
      if (is_chrome) options_.chrome_file = &chrome_file;
      for (size_t i = 0; i < files.size() && to->usable(); ++i) {
        if (parts[i].has_events) parts[i].result = Append(format, files[i], i, parts, to);
      }
      absl::Status status = is_chrome ? chrome_file.Finish() : absl::OkStatus();
      status.Update(to->Finish());
      return status;
    });
    if (!written.ok() && !out->closed()) return Conclude(files[0].label(), {written}, out);
    int code = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      code = std::max(code, Conclude(files[i].label(), parts[i].result, out));
    }
    return code;
  }

  // Reads the beginning of each file, and determines the offset of its times.
  std::vector<Part> Align(const std::vector<ListedFile>& files) {
    std::vector<Part> parts(files.size());
    const Part* reference = nullptr;
    std::optional<int64_t> earliest;
    for (size_t i = 0; i < files.size(); ++i) {
      Part& part = parts[i];
      part.state = StateOf(files[i].path);
      if (reading_.input.all_traces) reading_.input.trace = files[i].trace;
      part.result.status = ReadBeginning(files[i].path, &part);
      if (!part.has_events) continue;
      part.time_offset = OffsetOf(i);
      if (reference == nullptr) {
        reference = &part;
      } else if (reference->clocks.has_value() && part.clocks.has_value()) {
        part.time_offset =
            TraceClock::Add(part.time_offset, Between(*reference->clocks, *part.clocks));
      } else if (options_.offsets.count(i + 1) == 0) {
        Note(files[i].label(), absl::StrCat("note: without clock snapshots in both traces, this "
                                            "one cannot be aligned; --offset=",
                                            i + 1, "=DURATION moves it"));
      }
      const int64_t start = TraceClock::Add(part.start, part.time_offset);
      earliest = std::min(start, earliest.value_or(start));
    }
    options_.trace_start = earliest.value_or(0);
    // Viewers have no times before 0, but the clock of a host begins when it was started.
    if (options_.trace_start >= 0) return parts;
    for (Part& part : parts) {
      part.time_offset = TraceClock::Subtract(part.time_offset, options_.trace_start);
    }
    options_.trace_start = 0;
    return parts;
  }

  absl::Status ReadBeginning(const std::string& file, Part* part) const {
    FaultLog log;
    Progress progress(/*prints_along=*/false);
    absl::StatusOr<std::unique_ptr<EventSelection>> selection =
        Open(file, FilterFlags(), &log, /*quiet=*/true, &progress);
    if (!selection.ok()) return selection.status();
    const Event* const first = (*selection)->Next();
    if (first == nullptr) return (*selection)->Finish().status;
    if (!CanBeReadAgain(file)) {
      return absl::FailedPreconditionError(
          absl::StrCat(ShownNameOf(file), ": only regular files can be combined"));
    }
    part->has_events = true;
    part->start = first->time();
    if (first->kind() == EventKind::kSync) part->clocks = first->sync().clock_snapshot;
    return absl::OkStatus();
  }

  // Writes the trace `file`, which is number `index`, as a process of its own.
  FileResult Append(const ConvertFormat& format, const ListedFile& listed, size_t index,
                    const std::vector<Part>& parts, Output* to) {
    const std::string& file = listed.path;
    if (reading_.input.all_traces) reading_.input.trace = listed.trace;
    const Trace2Region region(SelfTrace(), "file", kText.name, file);
    const int64_t offset = parts[index].time_offset;
    FilterFlags window = filter_;
    if (times_.has_value()) {
      window.wall_from = window.wall_to = std::nullopt;
      window.filter.since_start = {};
      window.filter.times = Shifted(*times_, TraceClock::Subtract(0, offset));
    }
    ConvertOptions options = options_;
    options.pid = options_.pid + static_cast<int32_t>(index);
    if (!options_.has_process_name()) {
      const std::string label = listed.label();
      options.process_name = label.substr(label.find_last_of('/') + 1);
    }
    options.time_offset = offset;
    FaultLog log;
    Progress progress(/*prints_along=*/false);
    absl::StatusOr<Input> input = OpenInput(format, file, window, &options, &log, &progress);
    if (!input.ok()) return {input.status()};
    if (!times_.has_value()) times_ = Shifted(options.window, offset);
    absl::Status status = Export(format, options, &*input, to);
    status.Update(CheckUnchanged(file, parts[index].state));
    if (!status.ok()) return {status};
    const SelectionResult result = input->selection->Finish();
    NoteTimelessGeneration(file, result);
    return reading_.Complete(
        {.status = result.status, .events = result.events, .bytes = result.bytes}, listed.label(),
        log, result.losses);
  }

  // Returns the window `times` by a clock that is `offset` ahead.
  static EventFilter::Times Shifted(EventFilter::Times times, int64_t offset) {
    if (times.HasFirst()) times.from = TraceClock::Add(times.from, offset);
    if (times.to != EventFilter::Times().to) times.to = TraceClock::Add(times.to, offset);
    return times;
  }

  // Returns the offset from times of a trace with the snapshot `clocks` to times of the trace with
  // the snapshot `first`.
  static int64_t Between(const ClockSnapshot& first, const ClockSnapshot& clocks) {
    const auto monotonic_start = [](const ClockSnapshot& snapshot) {
      return snapshot.wall - absl::Nanoseconds(static_cast<int64_t>(snapshot.mono));
    };
    const auto since = [](const ClockSnapshot& snapshot, int64_t time) {
      return TraceClock::Subtract(time, snapshot.trace_time);
    };
    // The monotonic clocks of two hosts do not begin in the same millisecond. On the same host, the
    // monotonic clock is more exact than the wall clock, which is read at another moment and may be
    // set.
    if (absl::AbsDuration(monotonic_start(first) - monotonic_start(clocks)) <
        absl::Milliseconds(1)) {
      return TraceClock::Subtract(since(clocks, static_cast<int64_t>(clocks.mono)),
                                  since(first, static_cast<int64_t>(first.mono)));
    }
    return TraceClock::Subtract(since(clocks, absl::ToUnixNanos(clocks.wall)),
                                since(first, absl::ToUnixNanos(first.wall)));
  }

  // Opens a trace, and sets the options that depend on it in `*options`.
  absl::StatusOr<Input> OpenInput(const ConvertFormat& format, const std::string& file,
                                  const FilterFlags& window, ConvertOptions* options, FaultLog* log,
                                  Progress* progress) const {
    absl::StatusOr<std::unique_ptr<EventSelection>> selection =
        Open(file, window, log, /*quiet=*/false, progress);
    if (!selection.ok()) return selection.status();
    Input input = {*std::move(selection)};
    input.first = input.selection->Next();
    if (input.first == nullptr) return input;
    absl::StatusOr<EventFilter> filter = input.selection->AbsoluteFilter();
    if (!filter.ok()) return filter.status();
    options->window = filter->times;
    options->filter = filter->WithWholeSpans();
    options->on_note = [file](absl::string_view note) { Note(file, absl::StrCat("note: ", note)); };
    const std::unique_ptr<EventSink> survey =
        format.make_survey == nullptr ? nullptr : format.make_survey(options);
    if (survey == nullptr) return input;
    if (!CanBeReadAgain(file)) {
      return absl::FailedPreconditionError(
          absl::StrCat(ShownNameOf(file),
                       ": with these flags the trace is read twice, which works only with a file"));
    }
    const Trace2Region surveying(SelfTrace(), "trace", "survey");
    for (; input.first != nullptr; input.first = input.selection->Next()) {
      survey->Add(absl::MakeConstSpan(input.first, 1));
    }
    if (absl::Status status = survey->Finish(); !status.ok()) {
      // A broken trace may lack the requested data.
      absl::Status reading = input.selection->Finish().status;
      if (!reading.ok()) return reading;
      return absl::Status(status.code(), absl::StrCat(ShownNameOf(file), ": ", status.message()));
    }
    *log = FaultLog();
    selection = Open(file, window, log, /*quiet=*/true, progress);
    if (!selection.ok()) return selection.status();
    input.selection = *std::move(selection);
    input.first = input.selection->Next();
    return input;
  }

  FileResult Convert(const std::string& file, FaultLog* log, Output* out) {
    const ConvertFormat& format = ConvertFormats()[format_];
    const TraceTarget target(target_, out);
    if (absl::Status status = target.Check(file, format.is_binary); !status.ok()) return {status};
    Progress progress(/*prints_along=*/target.is_standard_output());
    const FileState state = StateOf(file);
    options_.time_offset = OffsetOf(0);
    absl::StatusOr<Input> input = OpenInput(format, file, filter_, &options_, log, &progress);
    if (!input.ok()) return {.status = input.status(), .can_salvage = !reading_.salvage};
    absl::Status written;
    // Nothing is written for a trace without any event.
    if (input->first != nullptr) {
      options_.trace_start = input->selection->trace_start();
      const Trace2Region writing(SelfTrace(), "trace", "write");
      written = target.Write([&](Output* to) {
        absl::Status status = Export(format, options_, &*input, to);
        status.Update(to->Finish());
        if (format.make_survey != nullptr) status.Update(CheckUnchanged(file, state));
        return status;
      });
    }
    const SelectionResult result = input->selection->Finish();
    progress.Wipe();
    // Trace2 needs wall-clock times, which a trace may lack. A broken one might have had them.
    if (absl::IsFailedPrecondition(written) && result.status.ok()) {
      return {.status = absl::FailedPreconditionError(
                  absl::StrCat(ShownNameOf(file), ": ", written.message())),
              .hint = "--epoch=TIME gives the time at which the trace started"};
    }
    if (!written.ok() && !absl::IsFailedPrecondition(written) && !out->closed()) return {written};
    if (result.status.ok() && !NoteEmptyWindow(file, filter_, result) && !result.any_matches &&
        !filter_.filter.MatchesAll()) {
      Note(file, absl::StrCat("no event matches --kind, --g, --p and --m; ", result.events,
                              " events were read"));
    }
    NoteTimelessGeneration(file, result);
    return reading_.Complete(
        {.status = result.status, .events = result.events, .bytes = result.bytes}, file, *log,
        result.losses);
  }

  absl::StatusOr<std::unique_ptr<EventSelection>> Open(const std::string& file,
                                                       const FilterFlags& filter, FaultLog* log,
                                                       bool quiet, Progress* progress) const {
    SelectionOptions selected;
    selected.filter = filter;
    selected.trace = reading_.input.trace;
    selected.to_end = reading_.salvage;
    selected.whole_generations = true;
    selected.quiet = quiet;
    return EventSelection::Open(file, selected, reading_.Options(log), progress);
  }

  // Writes all events of `input`. Returns an error if they cannot be written.
  absl::Status Export(const ConvertFormat& format, const ConvertOptions& options, Input* input,
                      Output* to) const {
    const std::unique_ptr<EventSink> exporter = format.make_exporter(to->bytes(), options);
    for (const Event* event = input->first; event != nullptr && to->usable();
         event = input->selection->Next()) {
      exporter->Add(absl::MakeConstSpan(event, 1));
    }
    return exporter->Finish();
  }

  size_t format_ = ConvertFormats().size();  // None.
  std::string target_;
  ConvertOptions options_;
  FilterFlags filter_;
  ReadingFlags reading_;

  // The window in the times of a file with several traces, once the first trace was opened.
  std::optional<EventFilter::Times> times_;
};

}  // namespace

std::unique_ptr<Command> MakeConvertCommand() { return std::make_unique<ConvertCommand>(); }

}  // namespace gotrace::internal
