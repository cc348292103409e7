// The command `tables`: a trace as tables for databases and data frames.
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "analysis/core/time_sums.h"
#include "analysis/summary/generation_begins.h"
#include "analysis/tables/content_hash.h"
#include "export/json/json_text.h"
#include "export/rows/describe_tables.h"
#include "gotrace/fault.h"
#include "gotrace/reader.h"
#include "gotrace/trace_list.h"
#include "gotrace/trace_summary.h"
#include "gotrace/trace_tables.h"
#include "parser/source/borrowed_source.h"
#include "tools/cli/file_list.h"
#include "tools/cli/path_pattern.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/progress.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"
#include "tools/input/trace_id.h"
#include "tools/sql/table_files.h"
#include "util/new_file.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "tables",
    .summary = "write a trace as tables for databases and data frames",
    .description =
        "Writes traces as tables with a row for each state of a goroutine, range, task, region, "
        "stack and so on, which DuckDB, ClickHouse, Spark, pandas and others read. docs/tables.md "
        "describes them.\n\n"
        "With -o DIR, writes a file for each table to the directory, with the rows of all traces. "
        "Without it, one table, which --tables names, goes to the standard output.\n\n"
        "Every table begins with the column trace_id, a hash of the input's bytes as they are "
        "stored. If several inputs have the same bytes, only the first one counts. All traces of "
        "an input that holds several are read. If an input cannot be read, nothing is written, "
        "unless --keep-going is given. A file appears only once it is complete.",
    .examples =
        "  gotrace-dump tables -o out trace.out && duckdb -c \"FROM 'out/ranges.parquet'\"\n"
        "  gotrace-dump tables --tables=g_states --format=csv trace.out > g_states.csv\n"
        "  gotrace-dump tables --tables=all --format=jsonl -o out trace.out\n"
        "  gotrace-dump tables --hive --path-pattern='{service}/{host}-*' --keep-going -o lake t/\n"
        "  gotrace-dump tables --describe\n",
    .exit_codes =
        "  0  all inputs were read to their ends; with --keep-going also if traces are broken\n"
        "  1  a trace is broken; the tables have everything before the fault\n"
        "  2  wrong usage, or a file cannot be read or written, which includes a pipe that was "
        "closed, as by `head`; with --keep-going, the tables have all other inputs, if they could "
        "be written",
    .takes_several_files = true,
};

// The facts that are known about a trace before it is read.
struct Input {
  IdentifiedTrace trace;
  std::optional<std::string> service;
  std::optional<std::string> host;
  std::map<std::string, std::string> attrs;
  std::optional<std::string> date;  // 2026-11-21
  std::optional<std::string> hour;  // 13
  std::string partition = {};       // The directories of its files below the directory of a table.
  int64_t input_id = 0;             // The id of the first trace in its file.
  absl::Status error = {};  // Why its file cannot be read; then it is only a row of `traces`.
  // The tables to which its rows are written.
  std::vector<TableId> tables = {};
};

// Returns the value of a key in a path, as Hive, Spark and others expect it.
std::string HiveValue(const std::optional<std::string>& value) {
  if (!value.has_value()) return "__HIVE_DEFAULT_PARTITION__";  // Means NULL.
  std::string encoded;
  for (const char c : *value) {
    const bool is_plain =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
    if (is_plain) {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

absl::StatusOr<std::string> ParseDate(absl::string_view text) {
  absl::CivilDay day;
  if (absl::ParseCivilTime(text, &day) && absl::FormatCivilTime(day) == text) {
    return std::string(text);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected a date as in 2026-11-21, found ", Quoted(text)));
}

absl::StatusOr<std::string> ParseHour(absl::string_view text) {
  uint32_t hour = 0;
  if (text.size() <= 2 && absl::SimpleAtoi(text, &hour) && hour < 24) {
    return absl::StrFormat("%02d", hour);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected an hour from 00 to 23, found ", Quoted(text)));
}

// Returns the wall-clock time at which the trace began, if its first event states it.
std::optional<absl::Time> WallBegin(std::unique_ptr<ByteSource> source,
                                    const ReaderLimits& limits) {
  ReaderOptions options;
  options.limits = limits;
  absl::StatusOr<Reader> reader = Reader::FromSource(std::move(source), options);
  if (!reader.ok()) return std::nullopt;
  const Event* const event = reader->Next();
  if (event == nullptr || event->kind() != EventKind::kSync) return std::nullopt;
  const Sync sync = event->sync();
  if (!sync.clock_snapshot.has_value()) return std::nullopt;
  const ClockSnapshot& snapshot = *sync.clock_snapshot;
  return snapshot.wall - absl::Nanoseconds(Between(event->time(), snapshot.trace_time));
}

std::optional<absl::Time> ModificationTime(const IdentifiedTrace& trace) {
  struct stat info;
  if (trace.bytes != nullptr || stat(trace.file.c_str(), &info) != 0) return std::nullopt;
  return absl::TimeFromTimespec(info.st_mtim);
}

// Orders inputs for writing. The traces of a file come one after the other in the order of the
// file, so that one pass over it is enough.
bool IsBefore(const Input& a, const Input& b) {
  return std::tie(a.partition, a.input_id, a.trace.number) <
         std::tie(b.partition, b.input_id, b.trace.number);
}

// Appends the lines of a file.
absl::Status ReadLines(const std::string& path, std::vector<std::string>* lines) {
  std::ifstream file;
  if (path != "-") file.open(path);
  std::istream& in = path == "-" ? std::cin : file;
  std::string line;
  while (std::getline(in, line)) {
    if (!line.empty()) lines->push_back(line);
  }
  if (in.eof() && !in.bad()) return absl::OkStatus();
  return FileError(errno, "reading", NameOf(path));
}

bool IsBroken(const absl::Status& status) {
  return FaultOf(status).has_value() || absl::IsDataLoss(status);
}

class TablesCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  absl::string_view mode() const override { return describes_ ? "describe" : ""; }
  bool NeedsNoFiles() const override { return describes_ || !list_.empty(); }

  std::vector<Flag> Flags() override {
    std::vector<absl::string_view> names;
    for (const TableInfo& table : AllTables()) names.push_back(table.name);
    std::vector<std::string> choices(names.begin(), names.end());
    choices.push_back("all");
    std::vector<Flag> rows = {
        {.name = "tables",
         .value = "TABLE,...",
         .help = absl::StrCat("Only these tables; all for all of them. Default: all but events, "
                              "which is the largest. The tables are ",
                              absl::StrJoin(names, ", "), "."),
         .set = {[this](absl::string_view text) { return SetTables(text); }, std::move(choices)}},
        {.name = "format",
         .value = "FORMAT",
         .help = "parquet (default with -o); csv (default without); tsv, as ClickHouse's "
                 "TabSeparatedWithNames; or jsonl, one object on a line for each row.",
         .set = SetChoice({"parquet", "csv", "tsv", "jsonl"},
                          [this](size_t format) {
                            has_format_ = true;
                            format_ = format;
                          })},
        {.name = "o",
         .value = "DIR",
         .help = "The directory to write files to: TABLE.parquet, or the extension of another "
                 "format. Existing files are replaced.",
         .set = SetText(&directory_)},
        {.name = "describe",
         .value = "",
         .help = "Describe the columns of all tables, in Markdown. Needs no FILE.",
         .set = SetSwitch(&describes_)},
        StackIdFlag(&stack_id_),
        {.name = "signed",
         .value = "",
         .help = "In Parquet, write columns of UINT64 as INT64 with the same bits, for engines "
                 "without unsigned integers, such as Spark.",
         .set = SetSwitch(&signed_)},
        {.name = "files-from",
         .value = "FILE",
         .help =
             "Also read the files that FILE lists, one path on a line; - is the standard input.",
         .set = SetText(&list_)},
        {.name = "keep-going",
         .value = "",
         .help = "Succeed even if traces are broken, and continue if files cannot be read. The "
                 "tables have everything that could be read, and the table traces has the errors.",
         .set = SetSwitch(&keeps_going_)},
        {.name = "service",
         .value = "NAME",
         .help = "The column service of the table traces: the program that wrote them.",
         .set = SetText(&service_)},
        {.name = "host",
         .value = "NAME",
         .help = "The column host of the table traces: where it ran.",
         .set = SetText(&host_)},
        {.name = "attr",
         .value = "KEY=VALUE",
         .help = "A member of the JSON object in the column attrs of the table traces. May be "
                 "given several times.",
         .set = [this](absl::string_view text) { return SetAttr(text); }},
        {.name = "path-pattern",
         .value = "PATTERN",
         .help =
             "Take service, host and attrs, and the date and hour for --hive, from the path of "
             "each file, as in '{service}/{date}/{host}-*.trace'. The pattern is matched against "
             "as many of the path's last components as it has. {service}, {host}, {date} "
             "(2026-11-21) and {hour} (13) stand for one or more characters; so does any other "
             "name in braces, which becomes an attr. * stands for any characters or none.",
         .set = [this](absl::string_view text) { return SetPattern(text); }},
        {.name = "hive",
         .value = "",
         .help = "Write DIR/TABLE/service=S/date=D/hour=H/part-HASH.parquet, as Hive and others "
                 "read it: for each table, one file for all traces with the same service, date and "
                 "hour. Traces that a table already has there are left out, so writing them again, "
                 "with other traces or after an interrupted run, changes nothing. Date and hour "
                 "are those of the trace's begin, in UTC, or of the file's last change if the "
                 "trace has no wall-clock time.",
         .set = SetSwitch(&hive_)},
    };
    AppendRows(reading_.Rows(InputFlags::Traces::kAllByDefault), &rows);
    return rows;
  }

  absl::Status Check() const override {
    if (describes_) return absl::OkStatus();
    if (format() == TableFormat::kParquet && directory_.empty()) {
      return absl::InvalidArgumentError("--format=parquet needs -o DIR");
    }
    if (signed_ && format() != TableFormat::kParquet) {
      return absl::InvalidArgumentError("--signed works only with --format=parquet");
    }
    if (hive_ && directory_.empty()) return absl::InvalidArgumentError("--hive needs -o DIR");
    if (directory_.empty() && tables_.size() != 1) {
      return absl::InvalidArgumentError(
          "without -o DIR there can be only one table; name it with --tables=TABLE");
    }
    return absl::OkStatus();
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    if (describes_) {
      out->buffer().Append(DescribeTables());
      return Conclude("", {}, out);
    }
    exit_code_ = kSuccess;
    left_out_ = 0;
    std::vector<Input> inputs;
    if (!ListInputs(files, &inputs)) return exit_code_;
    if (directory_.empty()) {
      const int code = Print(inputs, out);
      NoteOverlaps();
      return code;
    }
    std::stable_sort(inputs.begin(), inputs.end(), IsBefore);
    for (auto begin = inputs.begin(); begin != inputs.end();) {
      const auto end = std::find_if(begin, inputs.end(), [&](const Input& input) {
        return input.partition != begin->partition;
      });
      const absl::Status status = WriteFiles(absl::MakeSpan(&*begin, end - begin), out);
      if (!status.ok()) {
        return ReportError(begin->trace.file, {.status = status, .is_trace = false});
      }
      begin = end;
    }
    if (left_out_ > 0) {
      Note(directory_,
           absl::StrCat("has ", left_out_, " of ", inputs.size(),
                        inputs.size() == 1 ? " trace" : " traces", " already; left out"));
    }
    NoteOverlaps();
    return exit_code_;
  }

 private:
  absl::Status SetTables(absl::string_view text);
  absl::Status SetAttr(absl::string_view text);
  absl::Status SetPattern(absl::string_view text);

  TableFormat format() const {
    if (has_format_) return static_cast<TableFormat>(format_);
    return directory_.empty() ? TableFormat::kCsv : TableFormat::kParquet;
  }

  // Lists the inputs with the facts that are known. If one cannot be read, or its path does not
  // match the pattern, reports it and sets exit_code_. Returns whether to continue.
  bool ListInputs(std::vector<std::string> files, std::vector<Input>* inputs);
  absl::Status AddInputs(const std::string& file, DifferentTraces* seen,
                         std::vector<Input>* inputs);
  absl::StatusOr<Input> MakeInput(const std::string& file) const;
  absl::Status TakeFromPath(Input* input) const;
  absl::Status SetPartition(Input* input);
  void SetPartitionName(Input* input) const;

  // Makes the input a row of `traces` with the error of its file.
  void SetError(const absl::Status& error, Input* input) const;

  // Prints how many traces have generations of others.
  void NoteOverlaps() const {
    if (overlaps_.empty()) return;
    const size_t others = overlaps_.size() - 1;
    Note(*overlaps_.begin(),
         absl::StrCat(others == 0 ? "overlaps with another trace"
                                  : absl::StrCat("and ", others, " more overlap with other traces"),
                      ", as windows of the flight recorder do: common rows appear twice"));
  }

  absl::StatusOr<OpenedTrace> Open(const Input& input);

  int Print(const std::vector<Input>& inputs, Output* out);

  // Writes the rows of the traces of a partition. Returns an error if this is impossible.
  absl::Status WriteFiles(absl::Span<Input> inputs, Output* out);

  // The same, but if an input cannot be read, sets `*unread` to the first such input, writes
  // nothing, and returns its error.
  absl::Status TryWriteFiles(absl::Span<Input> inputs, Output* out, Input** unread);

  // Sets the tables of each input that do not have its rows yet, and returns the paths of the files
  // to write.
  absl::StatusOr<std::map<TableId, std::string>> ChooseTables(TableParts* parts,
                                                              absl::Span<Input> inputs) const;

  // Reads the trace, and raises exit_code_ to its exit code. Returns an error if it cannot be read.
  absl::Status Read(const Input& input, TableWriters* writers, Output* out);
  TableOptions OptionsFor(const Input& input) const;

  std::vector<TableId> tables_ = DefaultTables();
  bool has_format_ = false;
  size_t format_ = 0;
  std::string directory_;
  bool describes_ = false;
  size_t stack_id_ = 0;
  bool signed_ = false;
  std::string list_;
  bool keeps_going_ = false;
  std::string service_;
  std::string host_;
  std::map<std::string, std::string> attrs_;
  std::optional<PathPattern> pattern_;
  bool hive_ = false;
  ReadingFlags reading_;

  int exit_code_ = kSuccess;
  bool is_complete_ = true;  // Whether all traces of the files were complete.
  size_t left_out_ = 0;      // The number of traces that no table needs.
  // The generations of all traces, with the id of the first trace that has each, and the names of
  // traces that have generations of others.
  std::map<TraceSummary::Generation, int64_t> generations_;
  std::set<std::string> overlaps_;

  // The last input that was read and holds several traces, at the position where reading ended.
  std::string several_file_;
  absl::StatusOr<UndoneInput> several_;

  static std::vector<TableId> DefaultTables() {
    std::vector<TableId> tables;
    for (const TableInfo& table : AllTables()) {
      if (table.id != TableId::kEvents) tables.push_back(table.id);
    }
    return tables;
  }
};

absl::Status TablesCommand::SetTables(absl::string_view text) {
  std::set<TableId> tables;
  for (const absl::string_view name : absl::StrSplit(text, ',')) {
    if (name == "all") {
      for (const TableInfo& table : AllTables()) tables.insert(table.id);
      continue;
    }
    const TableInfo* const table = FindTable(name);
    if (table == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("there is no table ", Quoted(name)));
    }
    tables.insert(table->id);
  }
  tables_.assign(tables.begin(), tables.end());
  return absl::OkStatus();
}

absl::Status TablesCommand::SetAttr(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("expected KEY=VALUE, found ", Quoted(text)));
  }
  attrs_[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  return absl::OkStatus();
}

absl::Status TablesCommand::SetPattern(absl::string_view text) {
  absl::StatusOr<PathPattern> pattern = PathPattern::Parse(text);
  if (!pattern.ok()) return pattern.status();
  pattern_ = *std::move(pattern);
  return absl::OkStatus();
}

bool TablesCommand::ListInputs(std::vector<std::string> files, std::vector<Input>* inputs) {
  if (!list_.empty()) {
    if (const absl::Status status = ReadLines(list_, &files); !status.ok()) {
      exit_code_ = ReportError(list_, {.status = status, .is_trace = false});
      return false;
    }
  }
  DifferentTraces seen;
  for (const ListedFile& listed : ListFiles(files)) {
    if (IsSkipped(listed, reading_.input.limits)) continue;
    const absl::Status status = AddInputs(listed.path, &seen, inputs);
    if (status.ok()) continue;
    exit_code_ = ReportError(listed.path, {.status = status, .is_trace = false});
    Input input;
    input.trace.file = listed.path;
    SetError(status, &input);
    inputs->push_back(std::move(input));
  }
  if (exit_code_ != kSuccess && !keeps_going_) return false;
  if (inputs->empty()) exit_code_ = ReportNoTrace(files);
  return !inputs->empty();
}

absl::Status TablesCommand::AddInputs(const std::string& file, DifferentTraces* seen,
                                      std::vector<Input>* inputs) {
  const absl::StatusOr<Input> about = MakeInput(file);
  if (!about.ok()) return about.status();
  absl::StatusOr<std::vector<IdentifiedTrace>> traces =
      IdentifyTraces(file, reading_.input.limits, reading_.input.trace);
  if (!traces.ok()) return traces.status();
  if (!seen->Add(traces->front())) return absl::OkStatus();
  const int64_t input_id = traces->front().id;
  std::vector<Input> added;
  for (IdentifiedTrace& trace : *traces) {
    Input& input = added.emplace_back(*about);
    input.trace = std::move(trace);
    input.input_id = input_id;
    if (const absl::Status status = SetPartition(&input); !status.ok()) return status;
  }
  inputs->insert(inputs->end(), added.begin(), added.end());
  return absl::OkStatus();
}

absl::StatusOr<Input> TablesCommand::MakeInput(const std::string& file) const {
  Input input;
  if (!service_.empty()) input.service = service_;
  if (!host_.empty()) input.host = host_;
  input.attrs = attrs_;
  input.trace.file = file;
  if (const absl::Status status = TakeFromPath(&input); !status.ok()) return status;
  return input;
}

void TablesCommand::SetError(const absl::Status& error, Input* input) const {
  input->error = error;
  // Its bytes are not known.
  input->trace.id =
      ContentHash(absl::StrCat("unread ", input->trace.file, " ", input->trace.number));
  input->input_id = input->trace.id;
  SetPartitionName(input);
}

absl::StatusOr<OpenedTrace> TablesCommand::Open(const Input& input) {
  if (!input.trace.span.has_value()) return OpenTrace(input.trace, reading_.input.limits);
  const bool is_at_or_before = several_file_ == input.trace.file && several_.ok() &&
                               several_->source->offset() <= input.trace.span->offset;
  if (!is_at_or_before) {
    several_ = OpenInput(input.trace, reading_.input.limits);
    several_file_ = input.trace.file;
  }
  if (!several_.ok()) return several_.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      OneTrace(std::make_unique<BorrowedSource>(several_->source.get()), *input.trace.span);
  if (!source.ok()) return source.status();
  OpenedTrace opened;
  opened.source = *std::move(source);
  opened.notes = std::exchange(several_->notes, {});
  opened.number = input.trace.number;
  opened.limits = reading_.input.limits;
  return opened;
}

absl::Status TablesCommand::TakeFromPath(Input* input) const {
  if (!pattern_.has_value()) return absl::OkStatus();
  const std::string& file = input->trace.file;
  const std::optional<PathPattern::Values> values = pattern_->Match(file);
  if (!values.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(ShownNameOf(file), ": the path does not match --path-pattern"));
  }
  for (const auto& [name, value] : *values) {
    absl::StatusOr<std::string> parsed = value;
    if (name == "date") {
      parsed = ParseDate(value);
      input->date = parsed.value_or("");
    } else if (name == "hour") {
      parsed = ParseHour(value);
      input->hour = parsed.value_or("");
    } else if (name == "service") {
      input->service = value;
    } else if (name == "host") {
      input->host = value;
    } else {
      input->attrs[name] = value;
    }
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          ShownNameOf(file), ": {", name, "} of --path-pattern: ", parsed.status().message()));
    }
  }
  return absl::OkStatus();
}

absl::Status TablesCommand::SetPartition(Input* input) {
  if (!hive_) return absl::OkStatus();
  if (!input->date.has_value() || !input->hour.has_value()) {
    absl::StatusOr<OpenedTrace> opened = Open(*input);
    std::optional<absl::Time> time;
    if (opened.ok()) time = WallBegin(std::move(opened->source), reading_.input.limits);
    if (!time.has_value()) time = ModificationTime(input->trace);
    if (!time.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(ShownNameOf(input->trace.file),
                       ": --hive needs the wall-clock time, which the trace does not have"));
    }
    const absl::TimeZone utc = absl::UTCTimeZone();
    if (!input->date.has_value()) input->date = absl::FormatTime("%Y-%m-%d", *time, utc);
    if (!input->hour.has_value()) input->hour = absl::FormatTime("%H", *time, utc);
  }
  SetPartitionName(input);
  return absl::OkStatus();
}

void TablesCommand::SetPartitionName(Input* input) const {
  if (!hive_) return;
  input->partition =
      absl::StrCat("service=", HiveValue(input->service), "/date=", HiveValue(input->date),
                   "/hour=", HiveValue(input->hour));
}

int TablesCommand::Print(const std::vector<Input>& inputs, Output* out) {
  TableWriters writers;
  writers.Set({.format = format()}, tables_.front(), out->bytes());
  for (Input input : inputs) {
    input.tables = tables_;
    const absl::Status status = Read(input, &writers, out);
    if (!status.ok()) {
      exit_code_ = ReportError(input.trace.file, {.status = status, .is_trace = false});
      if (!keeps_going_) return exit_code_;
    }
    if (!out->usable()) break;
  }
  writers.Finish(is_complete_).IgnoreError();  // It is that of the output.
  return std::max(exit_code_, Conclude(inputs.back().trace.file, {}, out));
}

absl::Status TablesCommand::WriteFiles(absl::Span<Input> inputs, Output* out) {
  while (true) {
    Input* unread = nullptr;
    const absl::Status status = TryWriteFiles(inputs, out, &unread);
    if (unread == nullptr || !keeps_going_) return status;
    // It could be read a moment ago. Its rows must not be in the files, so that the next run can
    // add all of them.
    exit_code_ = ReportError(unread->trace.file, {.status = status, .is_trace = false});
    SetError(status, unread);
    std::stable_sort(inputs.begin(), inputs.end(), IsBefore);
  }
}

absl::StatusOr<std::map<TableId, std::string>> TablesCommand::ChooseTables(
    TableParts* parts, absl::Span<Input> inputs) const {
  std::map<TableId, std::string> paths;
  for (Input& input : inputs) input.tables.clear();
  for (const TableId table : tables_) {
    const std::string folder = absl::StrCat(directory_, "/", InfoOf(table).name, hive_ ? "/" : "",
                                            inputs.front().partition);
    std::string name = folder;
    std::set<int64_t> are_there;
    if (hive_) {
      absl::StatusOr<std::set<int64_t>> ids = parts->TracesIn(folder);
      if (!ids.ok()) return ids.status();
      are_there = *std::move(ids);
    }
    std::vector<int64_t> ids;
    for (Input& input : inputs) {
      if (are_there.contains(input.trace.id)) continue;
      input.tables.push_back(table);
      ids.push_back(input.trace.id);
    }
    if (ids.empty()) continue;
    if (hive_) absl::StrAppend(&name, "/", TableParts::NameOf(ids));
    paths[table] = absl::StrCat(name, ".", ExtensionOf(format()));
  }
  return paths;
}

absl::Status TablesCommand::TryWriteFiles(absl::Span<Input> inputs, Output* out, Input** unread) {
  TableParts parts(directory_, ExtensionOf(format()));
  const absl::StatusOr<std::map<TableId, std::string>> paths = ChooseTables(&parts, inputs);
  if (!paths.ok()) return paths.status();
  std::vector<TableId> tables;
  for (const auto& [table, path] : *paths) tables.push_back(table);
  const bool has_several =
      absl::c_any_of(inputs, [](const Input& input) { return input.trace.span.has_value(); });
  const TableFileOptions options = {
      .format = format(),
      .is_signed = signed_,
      .source = inputs.size() == 1 ? NameOf(inputs.front().trace.file) : "",
      .is_sorted = !reading_.salvage && !has_several,
  };
  absl::StatusOr<TableFiles> files = TableFiles::Create(
      tables, options, [&](absl::string_view table) { return paths->at(FindTable(table)->id); });
  if (!files.ok()) return files.status();
  is_complete_ = true;
  size_t left_out = 0;
  for (Input& input : inputs) {
    if (input.tables.empty()) ++left_out;
    if (input.tables.empty()) continue;
    const absl::Status status = Read(input, &files->writers(), out);
    if (!status.ok()) {
      *unread = &input;
      return status;
    }
    if (!files->writers().ok()) break;  // Commit() says why.
  }
  left_out_ += left_out;
  if (absl::Status status = files->Finish(is_complete_); !status.ok()) return status;
  for (const TableId table : hive_ ? tables : std::vector<TableId>()) {
    std::vector<int64_t> ids;
    for (const Input& input : inputs) {
      if (absl::c_linear_search(input.tables, table)) ids.push_back(input.trace.id);
    }
    if (absl::Status status = parts.WriteList(ids); !status.ok()) return status;
  }
  return files->Commit();
}

TableOptions TablesCommand::OptionsFor(const Input& input) const {
  TableOptions options;
  for (const TableId table : input.tables) options.of(table) = TableOptions::kAllColumns;
  options.number = input.trace.number;
  options.stack_ids_without_pc = stack_id_ != 0;
  options.source = NameOf(input.trace.file);
  options.service = input.service;
  options.host = input.host;
  if (!input.attrs.empty()) {
    TextBuffer text;
    absl::string_view comma = "{";
    for (const auto& [key, value] : input.attrs) {
      text.Append(std::exchange(comma, ","));
      AppendJsonString(key, &text);
      text.Append(':');
      AppendJsonString(value, &text);
    }
    text.Append('}');
    options.attrs = std::string(text.view());
  }
  return options;
}

absl::Status TablesCommand::Read(const Input& input, TableWriters* writers, Output* out) {
  const std::string& file = input.trace.file;
  const Trace2Region region(SelfTrace(), "file", kText.name, file);
  const TableOptions options = OptionsFor(input);
  writers->BeginTrace(input.trace.id);
  if (!input.error.ok()) {
    is_complete_ = false;
    AddUnreadTrace(options, input.error, writers);
    return absl::OkStatus();
  }
  FaultLog log;
  FileResult result = {.status = absl::OkStatus(), .can_salvage = !reading_.salvage};
  absl::StatusOr<OpenedTrace> opened = Open(input);
  absl::StatusOr<Reader> reader =
      opened.ok() ? Reader::FromSource(std::move(opened->source), reading_.Options(&log))
                  : absl::StatusOr<Reader>(opened.status());
  if (opened.ok()) PrintTransportNotes(file, opened->notes);
  if (reader.ok()) {
    const Trace2Region reading(SelfTrace(), "trace", "read");
    Progress progress(/*prints_along=*/directory_.empty());
    TraceTables tables(&*reader, options, writers);
    GenerationBegins begins;
    bool overlaps = false;
    while (writers->ok()) {
      const absl::Span<const Event> events = reader->NextBlock();
      if (events.empty()) break;
      tables.Add(events);
      // Only the first event of a block can be a kSync event.
      for (const Event& event : events.first(std::min<size_t>(events.size(), 2))) {
        begins.Add(event, [&](const TraceSummary::Generation& generation) {
          const int64_t first = generations_.emplace(generation, input.trace.id).first->second;
          overlaps |= first != input.trace.id;
        });
      }
      if (progress.Due(events.size())) {
        progress.Show({.bytes = reader->input_read(),
                       .total = reader->input_size(),
                       .events = reader->event_count()});
      }
    }
    tables.Finish().IgnoreError();  // It returns OK.
    if (overlaps) overlaps_.insert(input.trace.label());
    result.status = reader->status();
    result.events = reader->event_count();
    result.bytes = reader->input_read();
    result.salvage_report = SalvageReport(ShownNameOf(input.trace.label()), log, reader->losses());
    is_complete_ &= IsComplete(*reader);
  } else {
    result.status = reader.status();
    is_complete_ = false;
    if (IsBroken(result.status)) AddUnreadTrace(options, result.status, writers);
  }
  if (!result.status.ok() && !IsBroken(result.status)) return result.status;
  const int code = Conclude(input.trace.label(), result, out);
  if (!keeps_going_ || code != kBroken) exit_code_ = std::max(exit_code_, code);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<Command> MakeTablesCommand() { return std::make_unique<TablesCommand>(); }

}  // namespace gotrace::internal
