#include "tools/commands/convert_formats.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gotrace/chrome_exporter.h"
#include "gotrace/trace2_exporter.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/shared_flags.h"

namespace gotrace::internal {
namespace {

std::unique_ptr<EventSink> MakeChromeFocus(ConvertOptions* options) {
  ChromeFocus::On on;
  if (options->chrome_shows_related) {
    on = ChromeFocus::On::kRelatedGoroutines;
  } else if (options->chrome_shows_tasks) {
    on = ChromeFocus::On::kTasks;
  } else if (!options->chrome.tasks.empty()) {
    on = ChromeFocus::On::kTaskTimes;
  } else {
    return nullptr;
  }
  return std::make_unique<ChromeFocus>(on, &options->filter, &options->chrome.tasks);
}

std::unique_ptr<EventSink> MakeChrome(ByteSink* out, const ConvertOptions& options) {
  ChromeOptions chrome = options.chrome;
  chrome.filter = options.filter;
  chrome.start = TraceClock::Subtract(options.trace_start, options.time_offset);
  if (options.has_process_name()) chrome.process_name = options.process_name;
  if (options.chrome_file != nullptr) {
    return std::make_unique<ChromeExporter>(options.chrome_file, chrome);
  }
  return std::make_unique<ChromeExporter>(out, chrome);
}

std::unique_ptr<EventSink> MakePerfetto(ByteSink* out, const ConvertOptions& options) {
  PerfettoOptions perfetto = options.perfetto;
  perfetto.filter = options.filter;
  perfetto.process_name = options.process_name;
  perfetto.pid = options.pid;
  perfetto.time_offset = options.time_offset;
  perfetto.stacks = options.stacks;
  perfetto.threads = options.threads;
  perfetto.alloc = options.alloc;
  perfetto.on_note = options.on_note;
  return std::make_unique<PerfettoExporter>(out, std::move(perfetto));
}

std::unique_ptr<EventSink> MakeFxt(ByteSink* out, const ConvertOptions& options) {
  FxtOptions fxt = options.fxt;
  fxt.filter = options.filter;
  fxt.on_note = options.on_note;
  fxt.process_name = options.process_name;
  fxt.pid = static_cast<uint64_t>(options.pid);
  fxt.time_offset = options.time_offset;
  fxt.stacks = options.stacks;
  fxt.threads = options.threads;
  fxt.alloc = options.alloc;
  return std::make_unique<FxtExporter>(out, std::move(fxt));
}

template <Trace2Form kForm>
std::unique_ptr<EventSink> MakeTrace2(ByteSink* out, const ConvertOptions& options) {
  Trace2Options trace2;
  trace2.form = kForm;
  trace2.filter = options.filter;
  trace2.brief = options.trace2_brief;
  trace2.nesting = options.trace2_nesting;
  trace2.epoch = options.trace2_epoch;
  trace2.start = options.trace_start;
  return std::make_unique<Trace2Exporter>(out, std::move(trace2));
}

constexpr absl::string_view kAnyTrace2 = "to=trace2-normal|trace2-perf|trace2-event";

constexpr ConvertFormat kFormats[] = {
    {.name = "perfetto",
     .help = "protobuf for ui.perfetto.dev and Perfetto's trace_processor; --stacks, --threads and "
             "--alloc add more",
     .is_binary = true,
     .joins = true,
     .make_exporter = MakePerfetto},
    {.name = "fxt",
     .help = "Fuchsia's trace format, which ui.perfetto.dev and magic-trace's viewer open",
     .is_binary = true,
     .joins = true,
     .make_exporter = MakeFxt},
    {.name = "chrome",
     .help = "JSON for chrome://tracing and ui.perfetto.dev, like that of `go tool trace`",
     .joins = true,
     .make_survey = MakeChromeFocus,
     .make_exporter = MakeChrome},
    {.name = "trace2-normal",
     .help = "text as git writes for GIT_TRACE2: tasks, timers and counters",
     .make_exporter = MakeTrace2<Trace2Form::kNormal>},
    {.name = "trace2-perf",
     .help = "text in columns as git writes for GIT_TRACE2_PERF",
     .make_exporter = MakeTrace2<Trace2Form::kPerf>},
    {.name = "trace2-event",
     .help = "JSON lines as git writes for GIT_TRACE2_EVENT, for tools that read them",
     .make_exporter = MakeTrace2<Trace2Form::kEvent>},
};

SetFlag SetScheduling(PerfettoScheduling* scheduling) {
  return SetChoice({"auto", "generic", "off"}, [=](size_t position) {
    *scheduling = static_cast<PerfettoScheduling>(position);
  });
}

SetFlag SetView(ConvertOptions* options) {
  return SetChoice({"proc", "thread", "goroutine", "task"}, [=](size_t position) {
    constexpr size_t kTasks = 3;
    options->chrome_shows_tasks = position == kTasks;
    options->chrome.view = options->chrome_shows_tasks ? ChromeOptions::View::kGoroutine
                                                       : static_cast<ChromeOptions::View>(position);
  });
}

SetFlag SetBuffer(FxtBuffer* buffer) {
  return {[=](absl::string_view value) {
            const absl::StatusOr<FxtBuffer> parsed = ParseFxtBuffer(value);
            if (parsed.ok()) *buffer = *parsed;
            return parsed.status();
          },
          {"oneshot:", "circular:", "streaming:"}};
}

SetFlag SetPid(int32_t* pid) {
  return [=](absl::string_view value) {
    uint64_t number = 0;
    absl::Status status = SetNumber(1, &number)(value);
    if (!status.ok()) return status;
    if (number > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
      return absl::InvalidArgumentError(absl::StrCat("must be 2147483647 or less, found ", value));
    }
    *pid = static_cast<int32_t>(number);
    return status;
  };
}

SetFlag SetOffsets(std::map<size_t, absl::Duration>* offsets) {
  return [=](absl::string_view value) {
    for (const absl::string_view item : absl::StrSplit(value, ',')) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(item, absl::MaxSplits('=', 1));
      uint64_t number = 0;
      absl::Duration duration;
      if (!SetNumber(1, &number)(parts.first).ok() ||
          !absl::ParseDuration(parts.second, &duration)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "expected the number of a FILE and a duration, as in 2=-1.5s, found ", item));
      }
      (*offsets)[number] = duration;
    }
    return absl::OkStatus();
  };
}

}  // namespace

absl::Span<const ConvertFormat> ConvertFormats() { return kFormats; }

absl::Status CheckFormatFlags(const ConvertOptions& options, const EventFilter& filter) {
  const bool is_about_tasks = options.chrome_shows_tasks || !options.chrome.tasks.empty();
  if (options.chrome_shows_related && (filter.goroutines.empty() || is_about_tasks)) {
    return absl::InvalidArgumentError(
        "--related works only with --g, and not with --view=task or --task");
  }
  return absl::OkStatus();
}

std::vector<Flag> FormatFlags(ConvertOptions* options) {
  PerfettoOptions& perfetto = options->perfetto;
  return {
      {.name = "stacks",
       .value = "",
       .help = "Write call stacks, too. CPU samples always have them.",
       .set = SetSwitch(&options->stacks),
       .needs = "to=perfetto|fxt"},
      {.name = "threads",
       .value = "",
       .help = "Write a track for each thread with the goroutines that it ran, too.",
       .set = SetSwitch(&options->threads),
       .needs = "to=perfetto|fxt"},
      {.name = "alloc",
       .value = "",
       .help = "Write the events of the alloc/free experiment, too.",
       .set = SetSwitch(&options->alloc),
       .needs = "to=perfetto|fxt"},
      {.name = "scheduling",
       .value = "KIND",
       .help =
           "How to write the states of goroutines: auto (default; as events of Linux's scheduler, "
           "which include wake-ups), generic (as Perfetto's generic kernel events), or off.",
       .set = SetScheduling(&perfetto.scheduling),
       .needs = "to=perfetto"},
      {.name = "compress",
       .value = "",
       .help = "Compress the packets: a quarter of the size, at several times the cost.",
       .set = SetSwitch(&perfetto.compress),
       .needs = "to=perfetto"},
      {.name = "process",
       .value = "NAME",
       .help = "The name of the process, which traces do not record.",
       .set = SetText(&options->process_name),
       .needs = "to=perfetto|fxt|chrome"},
      {.name = "pid",
       .value = "N",
       .help = "The id of the process (default: 1). Files with different ids can be concatenated.",
       .set = SetPid(&options->pid),
       .needs = "to=perfetto|fxt"},
      {.name = "offset",
       .value = "N=DURATION,...",
       .help =
           "Add durations, as in 2=-1.5s, to the times of the FILEs with these numbers, from 1 on.",
       .set = SetOffsets(&options->offsets),
       .needs = "to=perfetto|fxt|chrome"},
      {.name = "buffer",
       .value = "MODE:SIZE",
       .help = "Write through a buffer of fixed size, like a traced program on Fuchsia: oneshot "
               "keeps the beginning, circular the end, and streaming drops records when the "
               "consumer is too slow. SIZE is in bytes, as in 64K or 1M.",
       .set = SetBuffer(&options->fxt.buffer),
       .needs = "to=fxt"},
      {.name = "view",
       .value = "VIEW",
       .help = "Draw a lane for each P (proc, the default), thread or goroutine; or, with task, "
               "for each goroutine that works on a task.",
       .set = SetView(options),
       .needs = "to=chrome"},
      {.name = "task",
       .value = "ID,...",
       .help = "Only these tasks and their descendants, from the beginning of the first to the end "
               "of the last; with --view=task only the goroutines that work on them.",
       .set = SetTaskIds(&options->chrome.tasks),
       .needs = "to=chrome"},
      {.name = "related",
       .value = "",
       .help =
           "Add the goroutines that unblocked those of --g, and the goroutines that unblocked them "
           "in turn. Like --view=task and --task, this reads the trace twice, and so needs a file.",
       .set = SetSwitch(&options->chrome_shows_related),
       .needs = "to=chrome"},
      {.name = "brief",
       .value = "",
       .help = "Leave out times and places in the source code, as git does for GIT_TRACE2_BRIEF.",
       .set = SetSwitch(&options->trace2_brief),
       .needs = kAnyTrace2},
      {.name = "nesting",
       .value = "N",
       .help = "Leave out regions nested in N or more others, as git does for "
               "GIT_TRACE2_EVENT_NESTING, where 2 is the default. Here the default is no limit.",
       .set = SetNumber(1, &options->trace2_nesting),
       .needs = "to=trace2-event"},
      {.name = "epoch",
       .value = "TIME",
       .help = "The wall-clock time of the start of the trace, with its zone, as in "
               "2026-11-21T04:25:08.5Z. Traces of Go 1.24 and earlier do not record it.",
       .set = SetWallTime(&options->trace2_epoch),
       .needs = kAnyTrace2},
  };
}

}  // namespace gotrace::internal
