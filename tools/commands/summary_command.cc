// The command `summary`: one page about a trace, or about many.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "export/summary/summary_json.h"
#include "export/summary/summary_page.h"
#include "gotrace/summary_writer.h"
#include "gotrace/trace_summary.h"
#include "tools/cli/file_list.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/terminal.h"
#include "tools/commands/analysis_command.h"
#include "util/quote.h"

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
        "distributions are exact.\n\n"
        "--fail-on makes it a check for CI: of each trace or, with --merge, of all together.",
    .examples =
        "  gotrace-dump summary trace.out\n"
        "  gotrace-dump summary --from=1s --to=2s trace.out\n"
        "  gotrace-dump summary --json traces/ > summaries.jsonl\n"
        "  gotrace-dump summary --merge summaries.jsonl\n"
        "  go test -trace=trace.out && gotrace-dump summary --fail-on=leak,lock:50ms trace.out\n",
    .exit_codes =
        "  0  the input was read to its end, or as far as was asked for\n"
        "  1  the trace is broken; the output has everything before the fault\n"
        "  2  wrong usage, or a file cannot be read or written, which includes a pipe that was "
        "closed, as by `head`\n"
        "  3  something is suspected that --fail-on names",
    .takes_several_files = true,
};

const TraceSummary& SummaryOf(const Analysis& analysis) {
  return static_cast<const SummaryStats&>(analysis).summary();
}

std::vector<std::string> SuspicionIds() {
  std::vector<std::string> ids;
  for (size_t i = 0; i < kSuspicionKindEnd; ++i) {
    ids.emplace_back(SuspicionId(static_cast<SuspicionKind>(i)));
  }
  return ids;
}

// The suspicions that make a check fail: for each kind, the smallest cost for which it does, in
// time for each second of the trace.
using Limits = std::map<SuspicionKind, absl::Duration>;

// Sets a list of limits, such as leak,lock:50ms.
SetFlag SetLimits(Limits* limits) {
  const auto set = [limits](absl::string_view text) {
    const std::vector<std::string> ids = SuspicionIds();
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits(':', 1));
    const auto id = absl::c_find(ids, absl::AsciiStrToLower(parts.first));
    if (id == ids.end()) {
      return absl::InvalidArgumentError(absl::StrCat("there is no suspicion ", Quoted(parts.first),
                                                     "; the ids are ", absl::StrJoin(ids, ", ")));
    }
    std::optional<absl::Duration> cost = absl::ZeroDuration();
    if (absl::StrContains(text, ':')) {
      if (absl::Status status = SetDuration(&cost)(parts.second); !status.ok()) return status;
    }
    (*limits)[static_cast<SuspicionKind>(id - ids.begin())] = *cost;
    return absl::OkStatus();
  };
  return SetList({set, SuspicionIds()});
}

// Returns a message about all suspicions that reach their limits, or "" if none does.
std::string AtLimit(const TraceSummary& summary, const Limits& limits) {
  std::vector<std::string> found;
  std::set<SuspicionKind> kinds;
  for (const TraceSummary::Suspicion& suspicion : summary.Suspicions()) {
    const auto limit = limits.find(suspicion.kind);
    // Of each kind, the first costs most.
    if (limit == limits.end() || !kinds.insert(suspicion.kind).second) continue;
    const double cost =
        static_cast<double>(suspicion.Cost()) / static_cast<double>(summary.duration);
    if (cost < absl::ToDoubleSeconds(limit->second)) continue;
    found.push_back(absl::StrFormat("%s (cost %.2f)", SuspicionId(suspicion.kind), cost));
  }
  if (found.empty()) return "";
  return absl::StrCat("suspected, and named by --fail-on: ", absl::StrJoin(found, ", "));
}

// The summaries of many files together.
struct MergedSummary {
  TraceSummary all;
  std::set<TraceSummary::Generation> generations;

  // Adds a summary. Returns whether its trace and an earlier one have a generation in common.
  bool Add(const TraceSummary& one) {
    bool overlaps = false;
    for (const TraceSummary::Generation& generation : one.generations) {
      overlaps |= !generations.insert(generation).second;
    }
    all.Merge(one);
    return overlaps;
  }
};

// What was found in a file besides its summaries.
struct Counts {
  uint64_t unread = 0;    // Lines about traces that could not be read.
  uint64_t overlaps = 0;  // Traces that overlap with others.
};

// Adds the summaries in a file, one per line.
absl::Status MergeLines(std::istream& lines, MergedSummary* merged, Counts* counts) {
  std::string line;
  for (uint64_t number = 1; std::getline(lines, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<TraceSummary> one = ParseSummary(line);
    if (absl::IsNotFound(one.status())) {
      ++counts->unread;
      continue;
    }
    if (!one.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", number,
          " is not a summary as `summary --json` prints it: ", one.status().message()));
    }
    counts->overlaps += merged->Add(*one);
  }
  return lines.bad() ? absl::UnavailableError("cannot read it") : absl::OkStatus();
}

absl::Status MergeFile(const std::string& path, MergedSummary* merged, Counts* counts) {
  if (path == "-") return MergeLines(std::cin, merged, counts);
  std::ifstream file(path);
  if (!file) return absl::NotFoundError("cannot open it");
  return MergeLines(file, merged, counts);
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
             .set = SetSwitch(&merge_)},
            {.name = "fail-on",
             .value = "ID[:COST],...",
             .help = absl::StrCat(
                 "End with exit code 3 if one of these suspicions is raised and costs at least "
                 "COST, the time that goroutines lose in each second of the trace: lock:50ms is a "
                 "cost of 0.05 on the page. Any cost without COST. IDs are ",
                 absl::StrJoin(SuspicionIds(), ", "), "."),
             .set = SetLimits(&limits_)}};
  }

  AnyAnalysis MakeAnalysis() const override {
    return AnalysisOf([](Interner* interner, const EventFilter& filter) {
      return std::make_unique<SummaryStats>(interner, filter.times);
    });
  }

  std::vector<Selection> Selections() const override { return {}; }

  std::string AboveLimit(const Analysis& analysis) const override {
    return AtLimit(SummaryOf(analysis), limits_);
  }

  std::vector<Flag> OutputFlags() override { return {JsonFlag(&json_)}; }
  bool prints_json() const override { return json_; }

  absl::Status PrintResult(const ReadResult& result, FileOutput* output) override {
    TextBuffer& out = output->buffer();
    if (!json_) {
      // An empty page would only hide the error.
      if (!result.status.ok() && result.sink->event_count() == 0) return absl::OkStatus();
      output->BeginText();
      AppendSummaryPage(SummaryOf(result.sink->analysis()), TableWidth(), &out);
      return absl::OkStatus();
    }
    const std::string file = output->name();
    TraceSummary summary = SummaryOf(result.sink->analysis());
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
    MergedSummary merged;
    const TraceSummary& all = merged.all;
    int exit_code = kSuccess;
    for (const ListedFile& file : ListFiles(files)) {
      FileResult result;
      Counts counts;
      const absl::Status status = MergeFile(file.path, &merged, &counts);
      if (!status.ok()) result.status = WithName(file.path, status);
      if (counts.unread > 0) {
        Note(file.path,
             absl::StrCat(counts.unread, " of its traces could not be read, and are missing"));
      }
      if (counts.overlaps > 0) {
        Note(file.path, absl::StrCat(counts.overlaps,
                                     " of its traces overlap with others, as windows of the "
                                     "flight recorder do: their common events count twice"));
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
    FileResult result;
    result.above_limit = AtLimit(all, limits_);
    return std::max(exit_code, Conclude(files.front(), result, out));
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
  Limits limits_;
};

}  // namespace

std::unique_ptr<Command> MakeSummaryCommand() { return std::make_unique<SummaryCommand>(); }

}  // namespace gotrace::internal
