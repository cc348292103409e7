#include "tools/convert_formats.h"

#include "gotrace/chrome_exporter.h"

namespace gotrace::internal {
namespace {

std::unique_ptr<EventSink> MakeChrome(ByteSink* out, const ConvertOptions& options) {
  ChromeOptions chrome;
  chrome.view = static_cast<ChromeOptions::View>(options.chrome_view);
  chrome.filter = options.filter;
  chrome.start = options.trace_start;
  return std::make_unique<ChromeExporter>(out, chrome);
}

constexpr ConvertFormat kFormats[] = {
    {.name = "chrome",
     .help = "JSON for chrome://tracing and ui.perfetto.dev, like that of `go tool trace`",
     .make_exporter = MakeChrome},
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
  };
}

}  // namespace gotrace::internal
