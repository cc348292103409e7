#include <optional>

#include "gotrace/run_analysis.h"

namespace gotrace {
namespace {

// Reads a whole trace on several cores.
AnalysisRun RunParallel(std::unique_ptr<ByteSource> source, const AnalyzeOptions& options,
                        const AnyAnalysis& analysis) {
  AnalysisRun run;
  const uint64_t input_size = source->input_size();
  uint64_t bytes = 0;
  run.status = analysis.read_parallel(
      std::move(source), options.reader, options.window.filter,
      [&](const ReadProgress& reached) {
        if (reached.total > 0) bytes = reached.bytes;
        if (options.on_progress != nullptr) options.on_progress(reached);
      },
      &run.sink);
  run.is_open = run.status.ok() || run.sink->event_count() > 0;
  run.bytes = run.status.ok() ? input_size : bytes;
  return run;
}

// Reads the window into run->sink.
absl::Status ReadWindow(std::unique_ptr<ByteSource> source, const AnalyzeOptions& options,
                        const AnyAnalysis& analysis, AnalysisRun* run) {
  WindowOptions window = options.window;
  window.filter = EventFilter();
  window.filter.times = options.window.filter.times;
  window.filter.since_start = options.window.filter.since_start;
  window.whole_generations = true;
  window.on_progress = options.on_progress;
  ReaderOptions reader_options = options.reader;
  reader_options.decodes_ahead = true;
  absl::StatusOr<WindowReader> reader =
      WindowReader::Open(std::move(source), window, std::move(reader_options));
  if (!reader.ok()) return reader.status();
  absl::Span<const Event> block = reader->NextBlock();
  EventFilter filter = options.window.filter;
  if (!block.empty()) {
    const absl::StatusOr<EventFilter> times = reader->AbsoluteFilter();
    if (!times.ok()) return times.status();
    filter.times = times->times;
    filter.since_start = {};
  }
  run->is_open = true;
  run->sink = analysis.make_sink(filter);
  for (; !block.empty() && run->sink->WantsMore(); block = reader->NextBlock()) {
    run->sink->Add(block);
  }
  absl::Status status = reader->reader().status();
  status.Update(run->sink->Finish());
  run->bytes = reader->reader().input_read();
  run->losses = reader->reader().losses();
  run->seen = reader->seen();
  return status;
}

}  // namespace

AnalysisRun RunAnalysis(std::unique_ptr<ByteSource> source, const AnalyzeOptions& options,
                        const AnyAnalysis& analysis) {
  if (analysis.read_parallel != nullptr && !options.window.has_times() &&
      options.reader.mode == ReadMode::kStrict) {
    return RunParallel(std::move(source), options, analysis);
  }
  AnalysisRun run;
  run.status = ReadWindow(std::move(source), options, analysis, &run);
  if (run.sink == nullptr) {
    run.sink = analysis.make_sink(options.window.filter);
    run.status.Update(run.sink->Finish());
  }
  return run;
}

}  // namespace gotrace
