#include "tools/validate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/report/report_text.h"
#include "tools/file_list.h"
#include "tools/progress.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

// How often progress is looked at.
constexpr std::chrono::milliseconds kBetweenLooks(200);

// What came of a file.
struct Judged {
  int ValidateSummary::*count = nullptr;  // Where the file counts.
  std::string text;
};

// How far all threads together have come.
struct Reached {
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> events = 0;
};

// The size of all files, or 0 if it is not known of one.
uint64_t TotalSize(const std::vector<ListedFile>& files) {
  uint64_t total = 0;
  for (const ListedFile& file : files) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(file.path, error);
    if (error) return 0;
    total += size;
  }
  return total;
}

// Judges the `trace`th trace of the file alone.
ValidationReport ValidateOneTrace(const std::string& path, const ValidateOptions& options,
                                  TraceNumber trace) {
  absl::StatusOr<OpenedTrace> input = OpenTrace(path, options.limits, trace);
  // What is wrong with such a file is told of all of it.
  if (!input.ok() && FaultOf(input.status()).has_value()) return ValidateFile(path, options);
  if (input.ok()) {
    PrintTransportNotes(path, input->notes);
    return ValidateTrace(std::move(input->source), options);
  }
  ValidationReport report;
  report.status = input.status();
  return report;
}

Judged ValidateOne(const ListedFile& file, ValidateOptions options, bool json, TraceNumber trace,
                   Reached* reached) {
  uint64_t bytes_before = 0;
  uint64_t events_before = 0;
  options.on_progress = [&](uint64_t bytes, uint64_t events) {
    reached->bytes += bytes - std::exchange(bytes_before, bytes);
    reached->events += events - std::exchange(events_before, events);
  };
  ValidationReport report =
      trace == 0 ? ValidateFile(file.path, options) : ValidateOneTrace(file.path, options, trace);
  if (report.counts[static_cast<int>(CheckId::kSecondTrace)] > 0) {
    report.traces = TracesIn(file.path, options.limits);
  }
  // A file without such a trace is not one that cannot be read.
  if (!json && absl::IsInvalidArgument(report.status)) {
    return {&ValidateSummary::unjudged, absl::StrCat(report.status.message(), "\n")};
  }
  const std::string name = json ? NameOf(file.path) : ShownNameOf(file.path);
  TextBuffer text;
  if (!file.named && !report.WhySkipped().empty()) {
    (json ? AppendSkippedJson : AppendSkipped)(name, report, &text);
    return {&ValidateSummary::skipped, std::string(text.view())};
  }
  (json ? AppendReportJson : AppendReport)(name, report, &text);
  int ValidateSummary::*const kCounts[] = {&ValidateSummary::sound, &ValidateSummary::broken,
                                           &ValidateSummary::unjudged};
  return {kCounts[static_cast<int>(report.verdict())], std::string(text.view())};
}

// Waits for what comes of the next file, and shows meanwhile how far all have come.
Judged WaitFor(std::future<Judged> result, const ProgressCount& files, const Reached& reached,
               Progress* progress) {
  while (progress->enabled() && result.wait_for(kBetweenLooks) == std::future_status::timeout) {
    ProgressCount count = files;
    count.bytes = reached.bytes;
    count.events = reached.events;
    progress->Show(count);
  }
  return result.get();
}

// Begins up to `count` threads that do `work`, as many as there can be. Where there can be none,
// the work is done when this returns.
void BeginThreads(size_t count, const std::function<void()>& work,
                  std::vector<std::jthread>* threads) {
  try {
    while (threads->size() < count) threads->emplace_back(work);
  } catch (const std::system_error&) {
    if (threads->empty()) work();
  }
}

}  // namespace

ValidateSummary ValidateFiles(const ValidateCommand& command, Output* out) {
  const std::vector<ListedFile> files = ListFiles(command.paths);
  std::vector<std::promise<Judged>> results(files.size());
  Reached reached;
  std::atomic<size_t> next = 0;
  std::atomic<bool> stopped = false;
  const size_t cores = static_cast<size_t>(std::max(command.jobs, 1));
  const size_t at_once = std::min(files.size(), cores);
  ValidateOptions options = command.options;
  options.jobs = cores / std::max<size_t>(at_once, 1);
  const auto work = [&] {
    while (!stopped) {
      const size_t index = next++;
      if (index >= files.size()) return;
      results[index].set_value(
          ValidateOne(files[index], options, command.json, command.trace, &reached));
    }
  };
  ValidateSummary summary;
  Progress progress(/*prints_along=*/false);
  ProgressCount count;
  count.total = TotalSize(files);
  count.files = files.size();
  // Joined on the way out, before what the threads refer to goes away.
  std::vector<std::jthread> threads;
  BeginThreads(at_once, work, &threads);
  for (std::promise<Judged>& result : results) {
    ++count.file;
    const Judged judged = WaitFor(result.get_future(), count, reached, &progress);
    ++(summary.*judged.count);
    progress.Wipe();
    out->buffer().Append(judged.text);
    out->Flush();
    if (!out->usable()) break;
  }
  stopped = true;
  return summary;
}

std::string FormatSummary(const ValidateSummary& summary) {
  std::vector<std::string> parts;
  const auto add = [&](int count, absl::string_view what) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", what));
  };
  add(summary.sound, "sound");
  add(summary.broken, "broken");
  add(summary.unjudged, "cannot be read");
  add(summary.skipped, "skipped");
  return absl::StrCat(summary.files(), " files: ", absl::StrJoin(parts, ", "));
}

}  // namespace gotrace::internal
