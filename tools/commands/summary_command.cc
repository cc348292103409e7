// The command `summary`: one page about a trace, or about many.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <istream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "export/summary/summary_json.h"
#include "export/summary/summary_page.h"
#include "gotrace/summary_writer.h"
#include "gotrace/trace_summary.h"
#include "tools/cli/file_list.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/terminal.h"
#include "tools/commands/analysis_command.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "summary",
    .summary = "print one page about a trace, or about many",
    .description =
        "Prints one page about a trace: how busy the Ps were, the work of the garbage collector, "
        "how long goroutines waited and for what, the functions whose goroutines ran most, and "
        "likely problems, with the commands that show more.\n\n"
        "With --json, prints an object for each trace. With --merge, reads such objects, one on "
        "each line, and prints one page or object about all their traces together; its "
        "distributions are exact.",
    .examples =
        "  gotrace-dump summary trace.out\n"
        "  gotrace-dump summary --from=1s --to=2s trace.out\n"
        "  gotrace-dump summary --json traces/ > summaries.jsonl\n"
        "  gotrace-dump summary --merge summaries.jsonl\n",
    .takes_several_files = true,
};

const TraceSummary& SummaryOf(const AnalysisSink& sink) {
  return static_cast<const SummaryStats&>(sink.analysis()).summary();
}

// Adds the summaries in a file, one per line, and counts the lines about traces that could not be
// read.
absl::Status MergeLines(std::istream& lines, TraceSummary* all, uint64_t* unread) {
  std::string line;
  for (uint64_t number = 1; std::getline(lines, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<TraceSummary> one = ParseSummary(line);
    if (absl::IsNotFound(one.status())) {
      ++*unread;
      continue;
    }
    if (!one.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", number,
          " is not a summary as `summary --json` prints it: ", one.status().message()));
    }
    all->Merge(*one);
  }
  return lines.bad() ? absl::UnavailableError("cannot read it") : absl::OkStatus();
}

absl::Status MergeFile(const std::string& path, TraceSummary* all, uint64_t* unread) {
  if (path == "-") return MergeLines(std::cin, all, unread);
  std::ifstream file(path);
  if (!file) return absl::NotFoundError("cannot open it");
  return MergeLines(file, all, unread);
}

absl::Status WithName(const std::string& path, const absl::Status& status) {
  return {status.code(), absl::StrCat(ShownNameOf(path), ": ", status.message())};
}

class SummaryCommand final : public AnalysisCommand {
 public:
  const CommandText& text() const override { return kText; }

  absl::string_view mode() const override { return merge_ ? "merge" : ""; }

  int Run(const std::vector<std::string>& files, Output* out) override {
    return merge_ ? Merge(files, out) : AnalysisCommand::Run(files, out);
  }

 protected:
  std::vector<Flag> OwnFlags() override {
    return {{.name = "merge",
             .value = "",
             .help = "Read files that --json printed, and print one summary of all their traces.",
             .set = SetSwitch(&merge_)}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([](Interner* interner, const EventFilter& filter) {
      return std::make_unique<SummaryStats>(interner, filter.times);
    });
  }

  std::vector<Selection> Selections() const override { return {}; }

  std::vector<Flag> OutputFlags() override { return {JsonFlag(&json_)}; }
  bool prints_json() const override { return json_; }

  absl::Status PrintResult(const ReadResult& result, FileOutput* output) override {
    TextBuffer& out = output->buffer();
    if (!json_) {
      // An empty page would only hide the error.
      if (!result.status.ok() && result.sink->event_count() == 0) return absl::OkStatus();
      output->BeginText();
      AppendSummaryPage(SummaryOf(*result.sink), TableWidth(), &out);
      return absl::OkStatus();
    }
    const std::string file = output->name();
    TraceSummary summary = SummaryOf(*result.sink);
    summary.SetFile(file);
    JsonWriter json(&out);
    json.BeginObject();
    AppendFileMembers(file, &json);
    AppendCompleteness(result.status, result.losses, &json);
    AppendSummaryMembers(summary, &json);
    json.EndObject();
    out.Append('\n');
    return absl::OkStatus();
  }

 private:
  int Merge(const std::vector<std::string>& files, Output* out) const {
    TraceSummary all;
    int exit_code = kSuccess;
    for (const ListedFile& file : ListFiles(files)) {
      FileResult result;
      uint64_t unread = 0;
      const absl::Status status = MergeFile(file.path, &all, &unread);
      if (!status.ok()) result.status = WithName(file.path, status);
      if (unread > 0) {
        Note(file.path, absl::StrCat(unread, " of its traces could not be read, and are missing"));
      }
      result.is_trace = false;
      if (!result.status.ok()) exit_code = ReportError(file.path, result);
    }
    if (all.traces == 0) return exit_code == kSuccess ? ReportNone(files) : exit_code;
    if (json_) {
      JsonWriter json(&out->buffer());
      json.BeginObject();
      AppendSummaryMembers(all, &json);
      json.EndObject();
      out->buffer().Append('\n');
    } else {
      AppendSummaryPage(all, TableWidth(), &out->buffer());
    }
    return std::max(exit_code, Conclude(files.front(), {}, out));
  }

  static int ReportNone(const std::vector<std::string>& files) {
    FileResult result;
    result.status =
        WithName(files.front(), absl::InvalidArgumentError("there are no summaries in it"));
    result.is_trace = false;
    return ReportError(files.front(), result);
  }

  bool merge_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeSummaryCommand() { return std::make_unique<SummaryCommand>(); }

}  // namespace gotrace::internal
