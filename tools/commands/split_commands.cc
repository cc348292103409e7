// The commands `split` and `join`: a trace as pieces, and pieces as a trace.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gotrace/reader.h"
#include "gotrace/split.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"
#include "tools/input/repair_input.h"
#include "tools/input/salvage.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kSplitText = {
    .name = "split",
    .summary = "divide a trace into pieces that can be read by themselves",
    .description =
        "Writes consecutive pieces of a trace to a directory, as 0001.trace, 0002.trace and so on. "
        "Each can be opened by itself: it begins, some nanoseconds before its first event, with "
        "the status of every goroutine and P and with what is in progress, as `trim` describes it. "
        "`gotrace-dump join` makes one trace of them again.\n\n"
        "Files of these names in the directory are replaced. Each piece is read again before the "
        "command reports success.",
    .examples =
        "  gotrace-dump split --every=1s -o pieces large.trace\n"
        "  gotrace-dump split --size=64M -o pieces large.trace\n",
};

class SplitCommand final : public Command {
 public:
  const CommandText& text() const override { return kSplitText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {{.name = "o",
                               .value = "DIR",
                               .help = "The directory to write to, which is made if need be.",
                               .set = SetText(&directory_)},
                              {.name = "every",
                               .value = "DURATION",
                               .help = "A piece lasts so long, as in 1s or 20ms.",
                               .set = SetDuration(&every_)},
                              {.name = "size",
                               .value = "SIZE",
                               .help = "A piece ends with the generation that reaches this size.",
                               .set = SetAmount(&options_.bytes)},
                              {.name = "generations",
                               .value = "N",
                               .help = "A piece has N generations.",
                               .set = SetNumber(1, &options_.generations)}};
    AppendRows(reading_.Rows(InputFlags::Traces::kOne), &rows);
    return rows;
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    const Trace2Region region(SelfTrace(), "file", kSplitText.name, file);
    if (absl::Status status = CheckFlags(); !status.ok()) return ReportError(file, {status});
    absl::StatusOr<OpenedTrace> input =
        OpenTrace(file, reading_.input.limits, reading_.input.trace);
    if (!input.ok()) return ReportError(file, {input.status()});
    PrintTransportNotes(file, input->notes);
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) {
      return ReportError(
          file, {absl::UnknownError(
                    absl::StrCat("cannot make ", ShownNameOf(directory_), ": ", error.message()))});
    }
    if (every_.has_value()) options_.every = *every_;
    FaultLog log;
    std::vector<std::string> names;
    const absl::StatusOr<SplitTraceResult> split =
        SplitTrace(std::move(input->source), options_, reading_.Options(&log),
                   [&](uint64_t number) -> absl::StatusOr<std::unique_ptr<ByteSink>> {
                     names.push_back(absl::StrFormat("%s/%04d.trace", directory_, number));
                     const TraceTarget target(names.back(), out);
                     if (absl::Status status = target.Check(file); !status.ok()) return status;
                     return SinkToFile(names.back());
                   });
    if (!split.ok()) return ReportError(file, {split.status()});
    for (const std::string& name : names) {
      if (absl::Status status = ReadTraceAgain(name); !status.ok()) {
        return ReportError(file, {status});
      }
    }
    WarnOfMoreTraces(file, *input, split->status);
    const int code =
        Conclude(file,
                 reading_.Complete({.status = split->status, .events = split->events_read}, file,
                                   log, split->losses),
                 out);
    Note(file, absl::StrCat("wrote ", split->pieces, split->pieces == 1 ? " piece" : " pieces",
                            " with ", split->written.events, " events, of which ",
                            split->written.statuses_added, " state what already existed, to ",
                            ShownNameOf(directory_), ShowContradictions(split->written)));
    return code;
  }

 private:
  absl::Status CheckFlags() const {
    if (directory_.empty()) return absl::InvalidArgumentError("give -o DIR");
    const bool has_every = every_.has_value() && *every_ > absl::ZeroDuration();
    if (has_every || options_.bytes > 0 || options_.generations > 0) return absl::OkStatus();
    return absl::InvalidArgumentError("give --every, --size or --generations");
  }

  std::string directory_;
  std::optional<absl::Duration> every_;
  SplitOptions options_;
  ReadingFlags reading_;
};

constexpr CommandText kJoinText = {
    .name = "join",
    .summary = "make one trace of consecutive pieces of it",
    .description =
        "Joins pieces of the trace of one process, such as those that `split` and `trim` write, or "
        "windows of a flight recorder. They may be given in any order, and may overlap: what is "
        "in several of them is kept once. Gaps are reported.\n\n"
        "Traces of different processes are refused; `gotrace-dump convert --to=perfetto A B` shows "
        "them on one timeline. The result is read again before it gets its name.",
    .examples = "  gotrace-dump join -o whole.trace pieces/*.trace\n",
    .takes_several_files = true,
};

class JoinCommand final : public Command {
 public:
  const CommandText& text() const override { return kJoinText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {OutputFlag(&target_)};
    AppendRows(input_.Rows(InputFlags::Kind::kOrderedEvents, InputFlags::Traces::kOne), &rows);
    return rows;
  }

  int Run(const std::vector<std::string>& paths, Output* out) override {
    std::vector<std::string> files;
    for (const ListedFile& file : ListFiles(paths)) files.push_back(file.path);
    if (files.empty()) return ReportNoTrace(paths);
    const TraceTarget target(target_, out);
    Progress progress(/*prints_along=*/false);
    std::vector<RepeatableInput> inputs;
    inputs.reserve(files.size());
    std::vector<std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>> open;
    for (const std::string& file : files) {
      if (absl::Status status = target.Check(file); !status.ok()) {
        return ReportError(file, {status});
      }
      absl::StatusOr<RepeatableInput> input =
          RepeatableInput::Create(file, input_.limits, &progress);
      if (!input.ok()) return ReportError(file, {input.status()});
      inputs.push_back(*std::move(input));
      absl::StatusOr<ChosenTrace> chosen =
          ChooseTrace(file, inputs.back(), input_.limits, input_.trace);
      if (!chosen.ok()) return ReportError(file, {chosen.status()});
      for (const std::string& line : chosen->report) Note(file, line);
      open.push_back(chosen->open);
    }
    ReaderOptions options;
    options.limits = input_.limits;
    JoinedTrace joined;
    const absl::Status status = target.WriteTrace([&](Output* to) -> absl::Status {
      absl::StatusOr<JoinedTrace> result = JoinTraces(open, options, to->bytes());
      if (!result.ok()) return result.status();
      joined = *std::move(result);
      return absl::OkStatus();
    });
    progress.Wipe();
    if (absl::IsFailedPrecondition(status)) {
      return ReportError(files[0], {.status = status,
                                    .hint = "`gotrace-dump convert --to=perfetto A B` shows traces "
                                            "of several processes on one timeline"});
    }
    if (!status.ok()) return ReportError(files[0], {status});
    const int code = Conclude(files[0], {.status = {}, .events = joined.events_read}, out);
    for (const JoinedTrace::Gap& gap : joined.gaps) {
      Note(files[0], absl::StrFormat("nothing is known of %.9f s from @%d on",
                                     static_cast<double>(gap.end - gap.begin) / 1e9, gap.begin));
    }
    if (!out->closed()) {
      Note(files[0], absl::StrCat("joined ", files.size(), files.size() == 1 ? " piece" : " pieces",
                                  " with ", joined.written.events, " events",
                                  ShowContradictions(joined.written), "; wrote ", target.Shown()));
    }
    return code;
  }

 private:
  std::string target_;
  InputFlags input_;
};

}  // namespace

std::unique_ptr<Command> MakeSplitCommand() { return std::make_unique<SplitCommand>(); }
std::unique_ptr<Command> MakeJoinCommand() { return std::make_unique<JoinCommand>(); }

}  // namespace gotrace::internal
