#include "tools/convert_formats.h"

#include "gotrace/chrome_exporter.h"
#include "tools/shared_flags.h"

namespace gotrace::internal {
namespace {

// In the order of the values of --view. The view of tasks has lanes of goroutines.
constexpr ChromeOptions::View kChromeViews[] = {
    ChromeOptions::View::kProc, ChromeOptions::View::kThread, ChromeOptions::View::kGoroutine,
    ChromeOptions::View::kGoroutine};
constexpr size_t kChromeTasks = 3;

std::unique_ptr<EventSink> MakeChromeFocus(ConvertOptions* options) {
  using On = ChromeFocus::On;
  if (options->chrome_view != kChromeTasks && !options->chrome_related) return nullptr;
  return std::make_unique<ChromeFocus>(
      options->chrome_related ? On::kRelatedGoroutines : On::kTasks, &options->filter,
      &options->chrome_tasks);
}

std::unique_ptr<EventSink> MakeChrome(ByteSink* out, const ConvertOptions& options) {
  ChromeOptions chrome;
  chrome.view = kChromeViews[options.chrome_view];
  chrome.filter = options.filter;
  chrome.tasks = options.chrome_tasks;
  chrome.start = options.trace_start;
  return std::make_unique<ChromeExporter>(out, chrome);
}

constexpr ConvertFormat kFormats[] = {
    {.name = "chrome",
     .help = "JSON for chrome://tracing and ui.perfetto.dev, like that of `go tool trace`",
     .make_survey = MakeChromeFocus,
     .make_exporter = MakeChrome},
};

}  // namespace

absl::Span<const ConvertFormat> ConvertFormats() { return kFormats; }

absl::Status CheckFormatFlags(const ConvertOptions& options, const EventFilter& filter) {
  if (options.chrome_related &&
      (filter.goroutines.empty() || options.chrome_view == kChromeTasks)) {
    return absl::InvalidArgumentError("--related works only with --g, and not with --view=task");
  }
  return absl::OkStatus();
}

std::vector<Flag> FormatFlags(ConvertOptions* options) {
  return {
      {.name = "view",
       .value = "VIEW",
       .help = "What has a lane of its own: proc (default), thread or goroutine; or task, for the "
               "goroutines that work on a task.",
       .set = SetChoice({"proc", "thread", "goroutine", "task"}, &options->chrome_view),
       .needs = "to=chrome"},
      {.name = "task",
       .value = "ID,...",
       .help =
           "With --view=task: only these tasks and those that descend from them, from the begin "
           "of the first to the end of the last.",
       .set = SetTaskIds(&options->chrome_tasks),
       .needs = "view=task"},
      {.name = "related",
       .value = "",
       .help =
           "Also the goroutines that unblocked those of --g, and the ones that unblocked these. "
           "Like --view=task, this reads the trace twice, so that it needs a file.",
       .set = SetSwitch(&options->chrome_related),
       .needs = "to=chrome"},
  };
}

}  // namespace gotrace::internal
