#include "tools/convert_formats.h"

#include <utility>

#include "gotrace/chrome_exporter.h"
#include "gotrace/trace2_exporter.h"
#include "tools/shared_flags.h"

namespace gotrace::internal {
namespace {

std::unique_ptr<EventSink> MakeChrome(ByteSink* out, const ConvertOptions& options) {
  ChromeOptions chrome;
  chrome.view = static_cast<ChromeOptions::View>(options.chrome_view);
  chrome.filter = options.filter;
  chrome.start = options.trace_start;
  return std::make_unique<ChromeExporter>(out, chrome);
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
    {.name = "chrome",
     .help = "JSON for chrome://tracing and ui.perfetto.dev, like that of `go tool trace`",
     .make_exporter = MakeChrome},
    {.name = "trace2-normal",
     .help = "text as git writes for GIT_TRACE2: tasks, timers and counters",
     .make_exporter = MakeTrace2<Trace2Form::kNormal>},
    {.name = "trace2-perf",
     .help = "text in columns as git writes for GIT_TRACE2_PERF",
     .make_exporter = MakeTrace2<Trace2Form::kPerf>},
    {.name = "trace2-event",
     .help = "JSON lines as git writes for GIT_TRACE2_EVENT, for tools that read those",
     .make_exporter = MakeTrace2<Trace2Form::kEvent>},
};

}  // namespace

absl::Span<const ConvertFormat> ConvertFormats() { return kFormats; }

std::vector<Flag> FormatFlags(ConvertOptions* options) {
  return {
      {.name = "view",
       .value = "VIEW",
       .help = "What has a lane of its own: proc (default), thread or goroutine.",
       .set = SetChoice({"proc", "thread", "goroutine"}, &options->chrome_view),
       .needs = "to=chrome"},
      {.name = "brief",
       .value = "",
       .help = "Leave out times and places in the source code, as git does for GIT_TRACE2_BRIEF.",
       .set = SetSwitch(&options->trace2_brief),
       .needs = kAnyTrace2},
      {.name = "nesting",
       .value = "N",
       .help =
           "Leave out regions in more than N-1 others, as git does for "
           "GIT_TRACE2_EVENT_NESTING, where 2 is the default. Here there is no limit by default.",
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
