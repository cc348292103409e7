// gotrace-dump: reads Go execution traces on the command line.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "export/json/json.h"
#include "export/json/json_text.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader.h"
#include "gotrace/validate.h"
#include "gotrace/version.h"
#include "parser/event/trace_clock.h"
#include "parser/framing/raw_reader.h"
#include "tools/command_line.h"
#include "tools/dump.h"
#include "tools/file_list.h"
#include "tools/flag_options.h"
#include "tools/footprint.h"
#include "tools/info.h"
#include "tools/open_trace.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/repair.h"
#include "tools/salvage.h"
#include "tools/validate.h"

namespace gotrace::internal {
namespace {

enum ExitCode { kSuccess = 0, kBroken = 1, kUsageOrIo = 2 };

// What a command came to.
struct Result {
  absl::Status status;          // The failure of what it read, or wrote a file to.
  uint64_t events = 0;          // That were read before a fault.
  absl::string_view hint = "";  // What to do about the failure, if there is more to say.
  std::vector<std::string> salvage_report = {};  // SalvageReport(), with --salvage.
};

// The options that --salvage, or its absence, --jobs and --limits ask for.
ReaderOptions ReaderOptionsFromFlags(const ReaderLimits& limits, FaultLog* log) {
  ReaderOptions options = absl::GetFlag(FLAGS_salvage) ? log->SalvageOptions() : ReaderOptions();
  options.limits = limits;
  options.jobs = static_cast<size_t>(absl::GetFlag(FLAGS_jobs));
  return options;
}

// Notes where no event lies between the wall-clock times --from and --to, as nothing was printed
// then.
void NoteWallTimes(const std::string& file, const EventsResult& result) {
  if (result.within_wall) return;
  if (!result.first_wall.has_value()) {
    absl::FPrintF(stderr,
                  "gotrace-dump: %s: no clock snapshot of the trace can be read, so that it is not "
                  "known which events lie between wall-clock times\n",
                  ShownNameOf(file));
    return;
  }
  absl::FPrintF(stderr,
                "gotrace-dump: %s: no event is between --from and --to: those that were read are "
                "from %s to %s\n",
                ShownNameOf(file), FormatUtcNanoseconds(*result.first_wall),
                FormatUtcNanoseconds(*result.last_wall));
}

// Tells where --to lies before all events, or --from behind them or --to, as nothing was printed
// then.
void NoteTimes(const std::string& file, const EventFilter& filter, const EventsResult& result) {
  if (result.first_time > filter.times.to) {
    absl::FPrintF(stderr,
                  "gotrace-dump: %s: --to=%s is earlier than all events: the first is at @%d\n",
                  ShownNameOf(file), absl::GetFlag(FLAGS_to), result.first_time);
    return;
  }
  const int64_t duration = TraceClock::Subtract(result.last_time, result.first_time);
  if (duration >= filter.since_start.from && result.last_time >= filter.times.from) return;
  // Where one is a time since the start and the other is not, reading shows which is later.
  if (duration > filter.since_start.to || result.last_time > filter.times.to) {
    absl::FPrintF(
        stderr, "gotrace-dump: %s: --from=%s is later than --to=%s, so that no event is between\n",
        ShownNameOf(file), absl::GetFlag(FLAGS_from), absl::GetFlag(FLAGS_to));
    return;
  }
  absl::FPrintF(stderr,
                "gotrace-dump: %s: --from=%s is later than all events: the first is at @%d, and "
                "the last %.9f s behind that, at @%d\n",
                ShownNameOf(file), absl::GetFlag(FLAGS_from), result.first_time,
                static_cast<double>(duration) / 1e9, result.last_time);
}

Result RunEvents(const std::string& file, const EventsOptions& options, const ReaderLimits& limits,
                 Output* out) {
  FaultLog log;
  Progress progress(/*prints_along=*/true);
  const EventsResult result =
      DumpEvents(file, ReaderOptionsFromFlags(limits, &log), options, &progress, out);
  progress.Wipe();
  if (result.status.ok() && options.limit > 0) {
    const bool has_wall_times = options.wall_from.has_value() || options.wall_to.has_value();
    has_wall_times ? NoteWallTimes(file, result) : NoteTimes(file, options.filter, result);
  }
  if (result.timeless.has_value()) {
    absl::FPrintF(
        stderr,
        "gotrace-dump: %s: generation %d states %d ticks of the trace clock per second, so "
        "that times mean nothing\n",
        ShownNameOf(file), result.timeless->number, *result.timeless->frequency);
  }
  return {result.status, result.events, "", SalvageReport(ShownNameOf(file), log, result.losses)};
}

// Prints what is told of files: as JSON, or as text with the name above it where there are several.
class FilePrinter {
 public:
  FilePrinter(bool several, Output* out) : several_(several), out_(*out) {}

  template <class Told>
  void Print(const std::string& file, const Told& told, void (*append)(const Told&, TextBuffer*),
             void (*append_json)(absl::string_view, const Told&, TextBuffer*)) {
    if (json_) return append_json(NameOf(file), told, &out_.buffer());
    if (several_) {
      out_.buffer().Append(absl::StrCat(is_first_ ? "" : "\n", ShownNameOf(file), ":\n"));
      is_first_ = false;
    }
    append(told, &out_.buffer());
  }

  // For a file of which nothing can be told: JSON has a line for it all the same.
  void PrintUnread(const std::string& file, const absl::Status& status, const Losses& losses) {
    if (!json_) return;
    JsonWriter json(&out_.buffer());
    json.BeginObject();
    json.Member("file", absl::string_view(NameOf(file)));
    AppendCompleteness(status, losses, &json);
    json.EndObject();
    out_.buffer().Append("\n");
  }

 private:
  const bool json_ = absl::GetFlag(FLAGS_json);
  const bool several_;
  Output& out_;
  bool is_first_ = true;
};

Result Unread(const std::string& file, absl::Status status, FilePrinter* printer) {
  printer->PrintUnread(file, status, {});
  return {std::move(status)};
}

Result RunInfo(const std::string& file, const ReaderLimits& limits, FilePrinter* printer) {
  FaultLog log;
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, limits, TraceFromFlags());
  if (!input.ok()) return Unread(file, input.status(), printer);
  PrintTransportNotes(file, input->notes);
  absl::StatusOr<Reader> reader =
      Reader::FromSource(std::move(input->source), ReaderOptionsFromFlags(limits, &log));
  if (!reader.ok()) return Unread(file, reader.status(), printer);
  Progress progress(/*prints_along=*/false);
  TraceInfo info;
  absl::Status status = CollectInfo(&*reader, &progress, &info);
  if (input->end->next_trace.has_value() || !status.ok() || reader->losses().faults > 0) {
    info.traces = TracesIn(file, limits);
  }
  printer->Print(file, info, AppendInfo, AppendInfoJson);
  WarnOfMoreTraces(file, *input, status);
  return {std::move(status), info.events, "",
          SalvageReport(ShownNameOf(file), log, reader->losses())};
}

Result RunWire(const std::string& file, const ReaderLimits& limits, Output* out) {
  const bool header = absl::GetFlag(FLAGS_header);
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, limits, TraceFromFlags());
  if (!input.ok()) return {input.status()};
  PrintTransportNotes(file, input->notes);
  absl::StatusOr<RawReader> reader =
      RawReader::FromSource(std::move(input->source),
                            header ? RawReader::Types::kOfVersion : RawReader::Types::kOfGoTool);
  if (!reader.ok()) return {reader.status()};
  Progress progress(/*prints_along=*/true);
  absl::Status status = DumpWire(&*reader, header, &progress, out);
  WarnOfMoreTraces(file, *input, status);
  const std::optional<Fault> fault = FaultOf(status);
  const bool is_for_header = !header && fault.has_value() && fault->id == FaultId::kEventVersion &&
                             VersionHas(reader->version(), *FindEventSpec(fault->place.event));
  constexpr absl::string_view kHint =
      "Go's tool stops at such an experimental event too; --header prints them all";
  return {std::move(status), 0, is_for_header ? kHint : ""};
}

Result RunSalvageFootprint(const std::string& file, const ReaderLimits& limits,
                           FilePrinter* printer) {
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, limits, TraceFromFlags());
  if (!input.ok()) return Unread(file, input.status(), printer);
  PrintTransportNotes(file, input->notes);
  FaultLog log;
  Footprint footprint;
  Progress progress(/*prints_along=*/false);
  absl::Status status = SalvageFootprint(
      input->source.get(), [&](const Fault& fault) { log.Add(fault); }, &progress, &footprint);
  WarnOfMoreTraces(file, *input, status);
  if (footprint.bytes > 0) {
    printer->Print(file, footprint, AppendFootprint, AppendFootprintJson);
  } else {
    printer->PrintUnread(file, status, footprint.losses);
  }
  return {std::move(status), footprint.events, "",
          SalvageReport(ShownNameOf(file), log, footprint.losses)};
}

Result RunFootprint(const std::string& file, const ReaderLimits& limits, FilePrinter* printer) {
  if (absl::GetFlag(FLAGS_salvage)) return RunSalvageFootprint(file, limits, printer);
  absl::StatusOr<OpenedTrace> input = OpenTrace(file, limits, TraceFromFlags());
  if (!input.ok()) return Unread(file, input.status(), printer);
  PrintTransportNotes(file, input->notes);
  absl::StatusOr<RawReader> reader =
      RawReader::FromSource(std::move(input->source), RawReader::Types::kOfVersion);
  if (!reader.ok()) return Unread(file, reader.status(), printer);
  Progress progress(/*prints_along=*/false);
  Footprint footprint;
  absl::Status status = CollectFootprint(&*reader, &progress, &footprint);
  WarnOfMoreTraces(file, *input, status);
  printer->Print(file, footprint, AppendFootprint, AppendFootprintJson);
  return {std::move(status), footprint.events};
}

absl::Status AssembleTo(const std::string& file, ByteStream* text, Output* out) {
  const BatchSizeForm form =
      absl::GetFlag(FLAGS_padded) ? BatchSizeForm::kPadded : BatchSizeForm::kShortest;
  Progress progress(/*prints_along=*/false);
  std::string warning;
  absl::Status status = AssembleTrace(text, form, &progress, out, &warning);
  status.Update(out->Finish());
  if (!warning.empty()) absl::FPrintF(stderr, "gotrace-dump: %s: %s\n", ShownNameOf(file), warning);
  return status;
}

// Whether -o TARGET, or its absence, asks for the standard output.
bool GoesToStdout(const std::string& target) { return target.empty() || target == "-"; }

// Why a command that makes a trace of `file` and writes it to -o FILE cannot begin, or OK.
absl::Status CheckTarget(const std::string& target, const std::string& file) {
  std::error_code ignored;
  if (!GoesToStdout(target) && std::filesystem::is_regular_file(target, ignored) &&
      std::filesystem::equivalent(target, file == "-" ? "/dev/stdin" : file, ignored)) {
    return absl::FailedPreconditionError(
        absl::StrCat("-o ", ShownNameOf(target),
                     " is the input itself, which would be lost; give another name"));
  }
  if (!target.empty() || isatty(STDOUT_FILENO) != 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "a trace is no text for a terminal; give -o FILE, or -o - to have it here all the same");
}

Result RunAssemble(const std::string& file, Output* out) {
  const std::string target = absl::GetFlag(FLAGS_o);
  if (absl::Status status = CheckTarget(target, file); !status.ok()) return {status};
  absl::StatusOr<std::unique_ptr<ByteStream>> text = OpenStream(file);
  if (!text.ok()) return {text.status()};
  if (GoesToStdout(target)) return {AssembleTo(file, text->get(), out)};
  absl::StatusOr<OutputFile> target_file = OutputFile::Create(target);
  if (!target_file.ok()) return {target_file.status()};
  Output target_out(target_file->fd(), target);
  const absl::Status status = AssembleTo(file, text->get(), &target_out);
  if (!status.ok()) return {status};
  return {target_file->Commit()};
}

int Report(const std::string& file, const Result& result) {
  const std::optional<Fault> fault = FaultOf(result.status);
  const bool is_broken = fault.has_value() || absl::IsDataLoss(result.status);
  // An error of I/O names its file already.
  const std::string where = is_broken ? absl::StrCat(ShownNameOf(file), ": ") : "";
  absl::FPrintF(stderr, "gotrace-dump: %s%s\n", where, result.status.message());
  if (fault.has_value()) {
    for (const std::string& line : fault->details) absl::FPrintF(stderr, "    %s\n", line);
  }
  if (result.events > 0) {
    absl::FPrintF(stderr, "gotrace-dump: %d %s could be read before that\n", result.events,
                  result.events == 1 ? "event" : "events");
  }
  if (!result.hint.empty()) absl::FPrintF(stderr, "gotrace-dump: %s\n", result.hint);
  return is_broken ? kBroken : kUsageOrIo;
}

// What to do next about a fault, where nothing better is told.
Result WithHint(Command command, const std::string& file, Result result) {
  const bool takes_salvage =
      command == Command::kEvents || command == Command::kInfo || command == Command::kFootprint;
  const std::optional<Fault> fault = FaultOf(result.status);
  std::error_code ignored;
  if (absl::StartsWith(result.status.message(), "reading ") &&
      std::filesystem::is_directory(file, ignored)) {
    result.hint = "`footprint`, `info` and `validate` take directories";
  }
  // Of a limit its message tells, and an assembler's input is no trace.
  const bool tells_enough = !fault.has_value() || IsLimit(fault->id) || !result.hint.empty();
  if (tells_enough || command == Command::kAssemble) return result;
  if (takes_salvage && !absl::GetFlag(FLAGS_salvage) && result.events > 0) {
    result.hint = "`gotrace-dump validate` tells more, --salvage gives all that can still be read";
  } else if (result.events == 0 && fault->id != FaultId::kV1Trace &&
             fault->id != FaultId::kUnknownVersion && fault->id != FaultId::kCompressedCorrupt &&
             fault->id != FaultId::kBytesReplaced) {
    result.hint = "`gotrace-dump validate` tells more";
  }
  return result;
}

// Tells what is wrong with the arguments, and where to read what is right: in the help of
// `command`, if it is known.
int UsageError(std::optional<Command> command, const absl::Status& status) {
  absl::FPrintF(stderr, "gotrace-dump: %s\nTry: gotrace-dump %s--help\n", status.message(),
                command.has_value() ? absl::StrCat(CommandName(*command), " ") : "");
  return kUsageOrIo;
}

int ReportNoTrace(const CommandLine& line) {
  absl::FPrintF(stderr, "gotrace-dump: no trace was found in %s\n",
                absl::StrJoin(line.files, ", ", [](std::string* names, const std::string& file) {
                  names->append(ShownNameOf(file));
                }));
  return kUsageOrIo;
}

int RunValidate(ValidateCommand command, const CommandLine& line, Output* out) {
  command.paths = line.files;
  const ValidateSummary summary = ValidateFiles(command, out);
  if (!out->status().ok()) return Report(line.file, {out->status()});
  if (out->closed()) return kUsageOrIo;
  if (summary.files() > 1) {
    absl::FPrintF(stderr, "gotrace-dump: %s\n", FormatSummary(summary));
  }
  if (summary.files() == summary.skipped) return ReportNoTrace(line);
  if (summary.unjudged > 0) return kUsageOrIo;
  return summary.broken > 0 ? kBroken : kSuccess;
}

absl::Status WriteRepairedTo(const std::string& target, const RepairPlan& plan,
                             const OpenInput& open, Output* out) {
  if (GoesToStdout(target)) return WriteRepaired(plan, open, out);
  absl::StatusOr<OutputFile> file = OutputFile::Create(target);
  if (!file.ok()) return file.status();
  Output file_out(file->fd(), target);
  if (absl::Status status = WriteRepaired(plan, open, &file_out); !status.ok()) return status;
  return file->Commit();
}

int RunRepair(const std::string& file, const ReaderLimits& limits, Output* out) {
  const bool check = absl::GetFlag(FLAGS_check);
  const std::string target = absl::GetFlag(FLAGS_o);
  if (check && !target.empty()) {
    return UsageError(Command::kRepair,
                      absl::InvalidArgumentError("--check writes nothing; leave out -o"));
  }
  if (absl::Status status = CheckTarget(target, file); !check && !status.ok()) {
    return Report(file, {status});
  }
  Progress progress(/*prints_along=*/false);
  const absl::StatusOr<RepeatableInput> input = RepeatableInput::Create(file, limits, &progress);
  if (!input.ok()) return Report(file, WithHint(Command::kRepair, file, {input.status()}));
  const absl::StatusOr<ChosenTrace> chosen = ChooseTrace(file, *input, limits, TraceFromFlags());
  if (!chosen.ok()) return Report(file, {chosen.status()});
  const absl::StatusOr<RepairPlan> plan = PlanRepair(chosen->open, limits);
  if (!plan.ok()) return Report(file, WithHint(Command::kRepair, file, {plan.status()}));
  const bool writes = !check && !plan->pieces.empty();
  if (writes) {
    const absl::Status status = WriteRepairedTo(target, *plan, chosen->open, out);
    if (out->closed()) return kUsageOrIo;
    if (!status.ok()) return Report(file, {status});
  }
  progress.Wipe();
  std::string written;
  if (writes) written = GoesToStdout(target) ? "to the standard output" : ShownNameOf(target);
  for (const std::string& line : chosen->report) {
    absl::FPrintF(stderr, "gotrace-dump: %s: %s\n", ShownNameOf(file), line);
  }
  for (const std::string& line : RepairReport(*plan, *chosen, input->IsCompressed(), written)) {
    absl::FPrintF(stderr, "gotrace-dump: %s: %s\n", ShownNameOf(file), line);
  }
  const bool is_sound = plan->sound && plan->notes.empty() && !chosen->leaves_out_others();
  return is_sound || writes ? kSuccess : kBroken;
}

// Writes out what is left, tells what `result` came to and returns the exit code.
int Conclude(Command command, const std::string& file, Result result, Output* out) {
  out->Flush();
  if (!out->status().ok()) return Report(file, {out->status()});
  // Whoever closed the pipe, as `head` does, knows it and need not be told.
  if (out->closed()) return kUsageOrIo;
  for (const std::string& text : result.salvage_report) {
    absl::FPrintF(stderr, "gotrace-dump: %s\n", text);
  }
  if (!result.status.ok()) return Report(file, WithHint(command, file, std::move(result)));
  return result.salvage_report.empty() ? kSuccess : kBroken;
}

// Whether `file` was found in a directory and is no trace, or one of the v1 format. Then it says so
// on the standard error.
bool IsSkipped(const ListedFile& file, const ReaderLimits& limits) {
  if (file.named) return false;
  absl::StatusOr<OpenedTrace> input = OpenTrace(file.path, limits, /*number=*/0);
  if (input.ok()) {
    ReaderOptions reader_options;
    reader_options.limits = limits;
    if (Reader::FromSource(std::move(input->source), reader_options).ok()) return false;
  }
  ValidateOptions validate_options;
  validate_options.limits = limits;
  const std::string why = ValidateFile(file.path, validate_options).WhySkipped();
  if (why.empty()) return false;
  absl::FPrintF(stderr, "gotrace-dump: %s: %s, skipped\n", ShownNameOf(file.path), why);
  return true;
}

// Tells of one file after the other. Returns the worst of their exit codes.
int RunForEach(const CommandLine& line, const ReaderLimits& limits, Output* out) {
  const auto run = line.command == Command::kInfo ? RunInfo : RunFootprint;
  const std::vector<ListedFile> files = ListFiles(line.files);
  FilePrinter printer(files.size() > 1 || (!files.empty() && !files.front().named), out);
  int worst = kSuccess;
  bool all_skipped = true;
  for (const ListedFile& file : files) {
    if (IsSkipped(file, limits)) continue;
    all_skipped = false;
    Result result = run(file.path, limits, &printer);
    worst = std::max(worst, Conclude(line.command, file.path, std::move(result), out));
    if (!out->usable()) break;
  }
  return all_skipped ? ReportNoTrace(line) : worst;
}

int Run(const CommandLine& line, const ReaderLimits& limits, Output* out) {
  switch (line.command) {
    case Command::kEvents: {
      const absl::StatusOr<EventsOptions> options = EventsOptionsFromFlags();
      if (!options.ok()) return UsageError(line.command, options.status());
      return Conclude(line.command, line.file, RunEvents(line.file, *options, limits, out), out);
    }
    case Command::kWire:
      return Conclude(line.command, line.file, RunWire(line.file, limits, out), out);
    case Command::kAssemble:
      return Conclude(line.command, line.file, RunAssemble(line.file, out), out);
    case Command::kFootprint:
    case Command::kInfo:
      return RunForEach(line, limits, out);
    case Command::kValidate: {
      absl::StatusOr<ValidateCommand> command = ValidateCommandFromFlags();
      if (!command.ok()) return UsageError(line.command, command.status());
      command->options.limits = limits;
      return RunValidate(*std::move(command), line, out);
    }
    case Command::kRepair:
      return RunRepair(line.file, limits, out);
  }
  return kUsageOrIo;
}

int Main(absl::Span<char* const> args) {
  // A closed pipe and a file's largest size show when something is written.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(EndForLackOfMemory);
  const absl::StatusOr<CommandLine> line = ParseCommandLine(args);
  if (!line.ok()) return UsageError(NamedCommand(args), line.status());
  Output out(STDOUT_FILENO, "the standard output");
  if (!line->help.empty()) {
    out.buffer().Append(line->help);
    return Conclude(line->command, "", {}, &out);
  }
  const absl::StatusOr<ReaderLimits> limits = LimitsFromFlags(line->command);
  if (!limits.ok()) return UsageError(line->command, limits.status());
  if (absl::GetFlag(FLAGS_trace) < 1 && absl::GetFlag(FLAGS_trace) != kAnyTrace) {
    return UsageError(line->command, absl::InvalidArgumentError("--trace counts from 1 on"));
  }
  if (absl::GetFlag(FLAGS_jobs) < 1) {
    return UsageError(line->command, absl::InvalidArgumentError("--jobs must be 1 or more"));
  }
  return Run(*line, *limits, &out);
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  return gotrace::internal::Main(absl::MakeConstSpan(argv + 1, argc > 0 ? argc - 1 : 0));
}
