// The command `sql`: asks a trace questions in SQL.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/shared_flags.h"
#include "tools/cli/terminal.h"
#include "tools/sql/sql_prompt.h"
#include "tools/sql/sql_session.h"
#include "util/new_file.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "sql",
    .summary = "query traces in SQL",
    .description =
        "Runs an SQL query on the tables of one or more traces: events, g_states, goroutines, "
        "ranges, tasks, regions, stacks and others. docs/tables.md describes them, and the query "
        ".tables lists them. The traces are read while the query runs; nothing is imported. The "
        "last argument is the query, unless it names a file, or the query is in a file (-f) or "
        "comes from the standard input. On a terminal, without a query, there is a prompt.\n\n"
        "The SQL is that of SQLite, with quantile_disc(), format_duration(), format_bytes(), "
        "stack_folded(), greatest(), least() and REGEXP; see docs/sql.md, which also has queries "
        "for common questions. With several traces, each table has the column trace_id.",
    .examples =
        "  gotrace-dump sql trace.out 'SELECT kind, count(*) FROM events GROUP BY kind'\n"
        "  gotrace-dump sql --format=csv traces/ 'SELECT * FROM traces' > traces.csv\n"
        "  gotrace-dump sql -f queries.sql trace.out\n"
        "  gotrace-dump sql trace.out\n"
        "  gotrace-dump sql --save=trace.sqlite trace.out\n",
    .exit_codes =
        "  0  the query was run, and the traces were read as far as it needs them\n"
        "  1  a trace is broken; the rows are those of everything before the fault\n"
        "  2  wrong usage, an error in the query, or a file cannot be read or written\n",
    .takes_several_files = true,
};

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return path == "-" || std::filesystem::exists(path, ignored);
}

class SqlCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {
        {.name = "format",
         .value = "FORMAT",
         .help = "table (default), csv, tsv, json, or jsonl. In csv, NULL is empty and an empty "
                 "text is \"\"; in tsv, NULL is \\N.",
         .set = SetChoice({std::begin(kSqlFormatNames), std::end(kSqlFormatNames)}, &format_)},
        {.name = "f",
         .value = "FILE",
         .help = "Run the statements in FILE.",
         .set = SetText(&script_)},
        {.name = "save",
         .value = "FILE",
         .help = "Write all tables into FILE, a new SQLite database for other tools. It is many "
                 "times as large as the trace.",
         .set = SetText(&save_)},
        {.name = "allow-write",
         .value = "",
         .help = "Let queries attach other databases and write files, with ATTACH and VACUUM INTO.",
         .set = SetSwitch(&may_write_)},
        StackIdFlag(&stack_id_)};
    AppendRows(reading_.Rows(InputFlags::Traces::kAllByDefault), &rows);
    return rows;
  }

  int Run(const std::vector<std::string>& arguments, Output* out) override {
    std::vector<std::string> paths = arguments;
    std::string query;
    bool has_query = !script_.empty();
    if (!IsFile(paths.back())) {
      if (has_query) {
        return Fail(absl::InvalidArgumentError(
            absl::StrCat("there is no file ", Quoted(paths.back()),
                         "; a query on the command line and -f cannot be used together")));
      }
      query = paths.back();
      has_query = true;
      paths.pop_back();
    }
    if (paths.empty() || !IsFile(paths[0])) {
      return Fail(absl::InvalidArgumentError(
          paths.empty() ? "no trace is given: a query comes after the traces"
                        : absl::StrCat("there is no file ", Quoted(paths[0]),
                                       "; a query comes after the traces")));
    }
    if (!script_.empty()) {
      if (absl::Status status = ReadScript(script_, &query); !status.ok()) return Fail(status);
    }
    SqlSession session(reading_,
                       {.format = static_cast<SqlFormat>(format_),
                        .width = TerminalWidth(),
                        .stack_ids_without_pc = stack_id_ == 1,
                        .may_write = may_write_},
                       out);
    std::vector<std::string> files;
    for (const ListedFile& file : ListFiles(paths)) {
      if (!IsSkipped(file, reading_.input.limits)) files.push_back(file.path);
    }
    if (files.empty()) return ReportNoTrace(paths);
    if (absl::Status status = session.Open(files); !status.ok()) return Fail(status);
    absl::Status status;
    if (has_query) {
      status = RunText(query, &session);
    } else if (save_.empty()) {
      status = RunInput(files, &session);
    }
    if (status.ok() && !save_.empty()) status = session.Save(save_);
    out->Flush();
    int exit_code = session.Report();
    if (!status.ok()) exit_code = Fail(status);
    if (!out->status().ok()) exit_code = Fail(out->status());
    return out->closed() ? int{kUsageOrIo} : exit_code;
  }

 private:
  static int Fail(const absl::Status& status) {
    FileResult result;
    result.status = status;
    result.is_trace = false;
    return ReportError("", result);
  }

  static absl::Status ReadScript(const std::string& path, std::string* query) {
    std::ifstream file(path);
    if (!file) return FileError(errno, "opening", path);
    query->assign(std::istreambuf_iterator<char>(file), {});
    return absl::OkStatus();
  }

  static absl::Status RunText(const std::string& text, SqlSession* session) {
    if (absl::StripAsciiWhitespace(text).empty()) {
      return absl::InvalidArgumentError("the query is empty");
    }
    bool quits = false;
    return RunStatements(text, session, &quits);
  }

  // Runs the statements in the standard input, interactively or as a script.
  static absl::Status RunInput(const std::vector<std::string>& files, SqlSession* session) {
    if (isatty(STDIN_FILENO) != 0) {
      RunSqlPrompt(session);
      return absl::OkStatus();
    }
    if (std::find(files.begin(), files.end(), "-") != files.end()) {
      return absl::InvalidArgumentError(
          "the query is missing: the standard input has the trace already");
    }
    std::string query;
    if (absl::Status status = ReadScript("/dev/stdin", &query); !status.ok()) return status;
    return RunText(query, session);
  }

  size_t format_ = 0;
  size_t stack_id_ = 0;
  std::string script_;
  std::string save_;
  bool may_write_ = false;
  ReadingFlags reading_;
};

}  // namespace

std::unique_ptr<Command> MakeSqlCommand() { return std::make_unique<SqlCommand>(); }

}  // namespace gotrace::internal
