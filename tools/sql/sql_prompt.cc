#include "tools/sql/sql_prompt.h"

#include <editline/readline.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "gotrace/trace_tables.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

constexpr absl::string_view kHelp =
    "Statements of SQL end with a semicolon. Ctrl-C stops a query, Ctrl-D ends the session.\n"
    "  .tables           list the tables\n"
    "  .schema [TABLE]   show the columns of one table, or of all\n"
    "  .format FORMAT    print rows as table, csv, tsv, json or jsonl\n"
    "  .help             print this\n"
    "  .quit             end the session\n";

constexpr int kHistoryLength = 1000;

const std::vector<std::string>& Words() {
  static const auto* const words = [] {
    auto* const list = new std::vector<std::string>{"SELECT",
                                                    "FROM",
                                                    "WHERE",
                                                    "GROUP BY",
                                                    "ORDER BY",
                                                    "LIMIT",
                                                    "JOIN",
                                                    "LEFT",
                                                    "ON",
                                                    "AS",
                                                    "AND",
                                                    "OR",
                                                    "NOT",
                                                    "NULL",
                                                    "IS",
                                                    "IN",
                                                    "LIKE",
                                                    "BETWEEN",
                                                    "DESC",
                                                    "DISTINCT",
                                                    "HAVING",
                                                    "WITH",
                                                    "UNION",
                                                    "CASE",
                                                    "WHEN",
                                                    "THEN",
                                                    "ELSE",
                                                    "END",
                                                    "count(*)",
                                                    "sum(",
                                                    "min(",
                                                    "max(",
                                                    "avg(",
                                                    "quantile_disc(",
                                                    "format_duration(",
                                                    "format_bytes(",
                                                    "stack_folded(",
                                                    "REGEXP",
                                                    ".tables",
                                                    ".schema",
                                                    ".format",
                                                    ".help",
                                                    ".quit"};
    for (const TableInfo& table : AllTables()) {
      list->emplace_back(table.name);
      for (const TableColumn& column : table.columns) list->emplace_back(column.name);
    }
    return list;
  }();
  return *words;
}

// Returns the words that begin with `text`, one per call; `state` is 0 at the first call.
char* NextCompletion(const char* text, int state) {
  static size_t next;
  if (state == 0) next = 0;
  while (next < Words().size()) {
    const std::string& word = Words()[next++];
    if (absl::StartsWithIgnoreCase(word, text)) return strdup(word.c_str());
  }
  return nullptr;
}

char** Complete(const char* text, int, int) {
  rl_attempted_completion_over = 1;  // Does not complete file names.
  return rl_completion_matches(text, NextCompletion);
}

// Ctrl-C stops a query. While a line is read, it discards the line; there is no other way out of
// readline().
sigjmp_buf after_interrupt;
volatile sig_atomic_t is_reading = 0;

void HandleInterrupt(int) {
  if (is_reading != 0) siglongjmp(after_interrupt, 1);
  SqlSession::Interrupt();
}

// Reads a line. Returns nullptr at the end of the input, or if the user discarded the line.
char* ReadLine(const char* prompt, bool* is_given_up) {
  if (sigsetjmp(after_interrupt, /*savemask=*/1) != 0) {
    is_reading = 0;
    *is_given_up = true;
    return nullptr;
  }
  is_reading = 1;
  char* const line = readline(prompt);
  is_reading = 0;
  return line;
}

std::string HistoryFile() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return absl::StrCat(state, "/gotrace_sql_history");
  const char* const home = std::getenv("HOME");
  return home == nullptr ? "" : absl::StrCat(home, "/.gotrace_sql_history");
}

void PrintSchema(const TableInfo& table, TextBuffer* out) {
  out->Append(table.name, ": a row for ", table.row, "\n");
  for (const TableColumn& column : table.columns) {
    const bool is_text = column.type == ColumnType::kName || column.type == ColumnType::kText;
    out->Append("  ", column.name, std::string(20 - std::min<size_t>(column.name.size(), 19), ' '),
                is_text ? "text   " : "integer", column.is_nullable ? "  or NULL  " : "           ",
                column.meaning, "\n");
  }
}

absl::Status PrintSchemas(absl::string_view name, TextBuffer* out) {
  const TableInfo* const table = FindTable(name);
  if (!name.empty() && table == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no table ", QuotedUnlessPlain(std::string(name)), "; .tables lists them"));
  }
  for (const TableInfo& one : AllTables()) {
    if (table == nullptr || table == &one) PrintSchema(one, out);
  }
  return absl::OkStatus();
}

absl::Status SetFormat(absl::string_view name, SqlSession* session) {
  for (size_t i = 0; i < std::size(kSqlFormatNames); ++i) {
    if (name != kSqlFormatNames[i]) continue;
    session->set_format(static_cast<SqlFormat>(i));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the formats are table, csv, tsv, json and jsonl");
}

// Returns whether `line` is a command of the prompt rather than SQL, possibly with a semicolon.
bool IsCommand(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line.substr(0, line.find(';')));
  return absl::StartsWith(line, ".") || line == "quit" || line == "exit" || line == "help";
}

absl::Status RunCommand(absl::string_view line, SqlSession* session, bool* quits) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line, absl::ByAnyChar(" \t\r\n;"), absl::SkipEmpty());
  // Commands from other programs.
  const absl::string_view name = words[0] == "help"        ? ".help"
                                 : words[0].front() != '.' ? ".quit"
                                                           : words[0];
  const absl::string_view argument = words.size() > 1 ? words[1] : "";
  TextBuffer& out = session->out().buffer();
  if (name == ".quit" || name == ".exit") {
    *quits = true;
  } else if (name == ".tables") {
    for (const TableInfo& table : AllTables()) out.Append(table.name, "\n");
  } else if (name == ".schema") {
    return PrintSchemas(argument, &out);
  } else if (name == ".format") {
    return SetFormat(argument, session);
  } else if (name == ".help") {
    out.Append(kHelp);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no command ", QuotedUnlessPlain(std::string(name)), "; .help lists them"));
  }
  return absl::OkStatus();
}

// Returns the text without blanks, semicolons and comments before the first statement.
absl::string_view WithoutBlanks(absl::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of("; \t\r\n\f"), text.size()));
    size_t end = 0;
    if (absl::StartsWith(text, "--")) {
      end = text.find('\n');
    } else if (absl::StartsWith(text, "/*")) {
      end = text.find("*/", 2);
      if (end != text.npos) end += 2;
    } else {
      return text;
    }
    text.remove_prefix(std::min(end, text.size()));
  }
}

}  // namespace

absl::Status RunStatements(absl::string_view text, SqlSession* session, bool* quits) {
  *quits = false;
  if (text.find('\0') != text.npos) return absl::InvalidArgumentError("the query has a NUL byte");
  while (!(text = WithoutBlanks(text)).empty() && session->out().usable() && !*quits) {
    const absl::string_view line = text.substr(0, text.find('\n'));
    const bool is_command = IsCommand(line);
    if (is_command) text.remove_prefix(std::min(text.find_first_of(";\n"), text.size()));
    absl::Status status = is_command ? RunCommand(line.substr(0, line.find(';')), session, quits)
                                     : session->RunNext(&text);
    // The next statement may take long.
    session->out().Flush();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void RunSqlPrompt(SqlSession* session) {
  struct sigaction action = {};
  action.sa_handler = HandleInterrupt;
  sigaction(SIGINT, &action, nullptr);
  rl_initialize();
  rl_attempted_completion_function = Complete;
  using_history();
  stifle_history(kHistoryLength);
  const std::string history = HistoryFile();
  if (!history.empty()) read_history(history.c_str());
  session->out().buffer().Append(".help lists commands; statements end with a semicolon\n");
  session->out().Flush();
  std::string text;
  while (true) {
    bool is_given_up = false;
    char* const read = ReadLine(text.empty() ? "gotrace> " : "    ...> ", &is_given_up);
    if (read == nullptr) {
      if (!is_given_up) break;
      text.clear();
      session->out().buffer().Append('\n');
      session->out().Flush();
      continue;
    }
    const std::string line = read;
    std::free(read);
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "\n", line);
    if (!IsCommand(text) && sqlite3_complete(text.c_str()) == 0) continue;
    add_history(text.c_str());
    bool quits = false;
    const absl::Status status = RunStatements(std::exchange(text, ""), session, &quits);
    if (!status.ok()) absl::FPrintF(stderr, "%s\n", std::string(status.message()));
    if (quits) break;
  }
  if (!history.empty()) write_history(history.c_str());
}

}  // namespace gotrace::internal
