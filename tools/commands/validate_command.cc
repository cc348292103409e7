// The command `validate`: reports the problems of traces.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "export/fxt/fxt_validator.h"
#include "export/report/report_text.h"
#include "gotrace/fxt_reader.h"
#include "gotrace/validate.h"
#include "tools/cli/file_list.h"
#include "tools/cli/hints.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"
#include "util/cores.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

// The time between updates of the progress.
constexpr std::chrono::milliseconds kBetweenLooks(200);

// The number of files with each result.
struct Summary {
  int sound = 0;
  int broken = 0;
  int unreadable = 0;
  int without_trace = 0;  // Files that do not have the trace that --trace selects.
  int skipped = 0;        // Files in a directory that are not traces.

  int files() const { return sound + broken + unreadable + without_trace + skipped; }
};

// "412 files: 400 sound, 10 broken, 2 cannot be read", without counts of zero.
std::string FormatSummary(const Summary& summary) {
  std::vector<std::string> parts;
  const auto add = [&](int count, absl::string_view what) {
    if (count > 0) parts.push_back(absl::StrCat(count, " ", what));
  };
  add(summary.sound, "sound");
  add(summary.broken, "broken");
  add(summary.unreadable, "cannot be read");
  add(summary.without_trace, "without the selected trace");
  add(summary.skipped, "skipped");
  return absl::StrCat(summary.files(),
                      summary.files() == 1 ? " file: " : " files: ", absl::StrJoin(parts, ", "));
}

// The result for one file.
struct Validated {
  int Summary::*count = nullptr;  // The counter for the file.
  std::string text;
};

// The progress of all threads together.
struct Reached {
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> events = 0;
};

// Returns the size of all files, or 0 if the size of one is not known.
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

ValidationReport ValidateWholeFile(const std::string& path, const ValidateOptions& options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenGuarded(path, options.limits);
  if (source.ok() && StartsFxt(source->get())) return ValidateFxt(*std::move(source), options);
  if (source.ok()) return ValidateTrace(*std::move(source), options);
  return ValidateFile(path, options);
}

// Validates only the `trace`th trace of the file. The status of the report is an
// InvalidArgumentError if there is none.
ValidationReport ValidateOneTrace(const std::string& path, const ValidateOptions& options,
                                  TraceNumber trace) {
  absl::StatusOr<OpenedTrace> input = OpenTrace(path, options.limits, trace);
  // A fault at the beginning is explained by the report on the whole file.
  if (!input.ok() && FaultOf(input.status()).has_value()) return ValidateWholeFile(path, options);
  if (input.ok()) {
    PrintTransportNotes(path, input->notes);
    return ValidateTrace(std::move(input->source), options);
  }
  ValidationReport report;
  report.status = input.status();
  return report;
}

// Waits for the result of the next file, and shows the progress of all threads meanwhile.
Validated WaitFor(std::future<Validated> result, const ProgressCount& files, const Reached& reached,
                  Progress* progress) {
  while (progress->enabled() && result.wait_for(kBetweenLooks) == std::future_status::timeout) {
    ProgressCount count = files;
    count.bytes = reached.bytes;
    count.events = reached.events;
    progress->Show(count);
  }
  return result.get();
}

// Starts up to `count` threads that do `work`, as many as the system allows. If it allows none,
// does the work before it returns.
void StartThreads(size_t count, const std::function<void()>& work,
                  std::vector<std::jthread>* threads) {
  try {
    while (threads->size() < count) {
      threads->emplace_back([work] {
        const Trace2Thread thread(SelfTrace(), "validate");
        work();
      });
    }
  } catch (const std::system_error&) {
    if (threads->empty()) work();
  }
}

void TraceVerdict(const std::string& name, const ValidationReport& report) {
  Trace2* const trace = SelfTrace();
  if (trace == nullptr || report.verdict() == Verdict::kSound) return;
  if (report.verdict() == Verdict::kBroken) {
    trace->WriteError(absl::StrCat(name, ": broken"), "%s: broken");
  } else {
    trace->WriteError(report.status.message(), absl::StatusCodeToString(report.status.code()));
  }
}

constexpr CommandText kText = {
    .name = "validate",
    .summary = "report what is wrong with traces, and where",
    .description =
        "Reads whole traces, continues after errors, and prints everything that is wrong or odd: "
        "errors and warnings, each with its place and the id of its check, and the number of "
        "notes, which --notes prints. The last line for each file is its verdict: sound, sound "
        "with N warnings, or broken. For several files, a final line on the standard error counts "
        "the verdicts.\n\n"
        "A file that is not a trace at all is broken if it is named on the command line; an empty "
        "file is always broken. A file that holds several traces is broken unless --trace=N "
        "selects one.\n\n"
        "Files in FXT, the trace format of Fuchsia, are validated as such.",
    .examples =
        "  gotrace-dump validate trace.out\n"
        "  gotrace-dump validate --strictness=go --json traces/ > report.jsonl\n",
    .exit_codes =
        "  0  all files are sound\n"
        "  1  a file is broken\n"
        "  2  wrong usage, or a file cannot be read, or there is no trace in a directory",
    .takes_several_files = true,
};

class ValidateCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {
        JsonFlag(&json_),
        {.name = "strictness",
         .value = "go|all",
         .help = "Report only errors of Go's own reader or validator (go), or warnings and notes "
                 "too (all, the default).",
         .set = SetChoice({"go", "all"}, &strictness_)},
        {.name = "notes",
         .value = "",
         .help = "Print notes, too: findings worth knowing that sound traces also have. By "
                 "default, text has only their number; JSON always has them all.",
         .set = SetSwitch(&notes_)},
        {.name = "max-per-check",
         .value = "N",
         .help = "Print N findings of each check, and count the others (default: 20).",
         .set = SetNumber(0, &options_.max_per_check)},
        JobsFlag("That many files are validated at the same time, or parts of a large one.",
                 &jobs_)};
    AppendRows(input_.Rows(InputFlags::Kind::kOrderedEvents, InputFlags::Traces::kOneOrAll), &rows);
    return rows;
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    options_.strictness = strictness_ == 0 ? Strictness::kGo : Strictness::kAll;
    options_.limits = input_.limits;
    std::vector<ListedFile> listed = ListFiles(files);
    if (input_.all_traces) listed = ListAllTraces(listed, input_.limits);
    const Summary summary = ValidateFiles(listed, out);
    if (!out->status().ok()) return ReportError("", {out->status()});
    if (out->closed()) return kUsageOrIo;
    if (summary.files() > 1) {
      absl::FPrintF(stderr, "gotrace-dump: %s\n", FormatSummary(summary));
    }
    if (summary.files() == summary.skipped) return ReportNoTrace(files);
    if (summary.unreadable + summary.without_trace > 0) return kUsageOrIo;
    return summary.broken > 0 ? kBroken : kSuccess;
  }

 private:
  // Validates the files, as many at the same time as there are cores, and prints their reports in
  // order, up to where the output is closed.
  Summary ValidateFiles(const std::vector<ListedFile>& files, Output* out) const {
    std::vector<std::promise<Validated>> results(files.size());
    Reached reached;
    std::atomic<size_t> next = 0;
    std::atomic<bool> stopped = false;
    const size_t cores = CoresFor(jobs_);
    const size_t at_once = std::min(files.size(), cores);
    const size_t cores_for_each = cores / std::max<size_t>(at_once, 1);
    const auto work = [&] {
      while (!stopped) {
        const size_t index = next++;
        if (index >= files.size()) return;
        results[index].set_value(ValidateOne(files[index], cores_for_each, &reached));
      }
    };
    Summary summary;
    Progress progress(/*prints_along=*/false);
    ProgressCount count;
    count.total = TotalSize(files);
    count.files = files.size();
    // Joined before the threads' references become invalid.
    std::vector<std::jthread> threads;
    StartThreads(at_once, work, &threads);
    for (std::promise<Validated>& result : results) {
      ++count.file;
      const Validated validated = WaitFor(result.get_future(), count, reached, &progress);
      ++(summary.*validated.count);
      progress.Wipe();
      out->buffer().Append(validated.text);
      out->Flush();
      if (!out->usable()) break;
    }
    stopped = true;
    return summary;
  }

  Validated ValidateOne(const ListedFile& file, size_t cores, Reached* reached) const {
    const Trace2Region region(SelfTrace(), "file", kText.name, file.path);
    ValidateOptions options = options_;
    options.jobs = cores;
    uint64_t bytes_before = 0;
    uint64_t events_before = 0;
    options.on_progress = [&](uint64_t bytes, uint64_t events) {
      reached->bytes += bytes - std::exchange(bytes_before, bytes);
      reached->events += events - std::exchange(events_before, events);
    };
    const TraceNumber trace = input_.all_traces ? file.trace : input_.trace;
    ValidationReport report = trace == 0 ? ValidateWholeFile(file.path, options)
                                         : ValidateOneTrace(file.path, options, trace);
    for (Finding& finding : report.findings) {
      finding.message = WithHint(finding.message, finding.check);
    }
    if (report.counts[static_cast<int>(CheckId::kSecondTrace)] > 0) {
      report.traces = TracesIn(file.path, options.limits);
    }
    TraceInput(bytes_before, events_before);
    const std::string name = json_ ? NameOf(file.label()) : ShownNameOf(file.label());
    TextBuffer text;
    if (absl::IsInvalidArgument(report.status)) {
      if (json_) {
        AppendNoSuchTraceJson(name, report, &text);
      } else {
        text.Append(report.status.message(), "\n");
      }
      return {&Summary::without_trace, std::string(text.view())};
    }
    if (!file.named && !report.WhySkipped().empty()) {
      (json_ ? AppendSkippedJson : AppendSkipped)(name, report, &text);
      return {&Summary::skipped, std::string(text.view())};
    }
    if (json_) {
      AppendReportJson(name, report, &text);
    } else {
      AppendReport(name, report, notes_, &text);
    }
    TraceVerdict(name, report);
    constexpr int Summary::*kCounts[] = {&Summary::sound, &Summary::broken, &Summary::unreadable};
    return {kCounts[static_cast<int>(report.verdict())], std::string(text.view())};
  }

  bool json_ = false;
  bool notes_ = false;
  size_t strictness_ = 1;
  uint64_t jobs_ = 0;
  ValidateOptions options_;
  InputFlags input_;
};

}  // namespace

std::unique_ptr<Command> MakeValidateCommand() { return std::make_unique<ValidateCommand>(); }

}  // namespace gotrace::internal
