// The tables as an extension that SQLite loads, for its shell and for other languages.
#include <sqlite3.h>
// The functions of the program that loads the extension. Only their table is used here; this omits
// the macros that call them.
#define SQLITE_CORE
#include <sqlite3ext.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "export/sqlite/register_tables.h"
#include "export/sqlite/sql_functions.h"
#include "gotrace/sqlite_tables.h"
#include "gotrace/trace_tables.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The data that the functions of a connection share.
struct Opened {
  std::vector<SqliteTrace> traces;
  std::shared_ptr<FoldedStacks> stacks;
  bool salvages = false;
};

// The data that SQLite keeps for one of the functions.
struct Opener {
  std::shared_ptr<Opened> opened;
  bool salvages = false;
};

absl::Status Execute(sqlite3* db, const std::string& sql) {
  return sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK
             ? absl::OkStatus()
             : absl::FailedPreconditionError(sqlite3_errmsg(db));
}

// Creates the tables in the schema `temp`, which is not stored. Statements would find them without
// this, but `.tables` and other programs would not.
absl::Status CreateTables(sqlite3* db) {
  for (const TableInfo& info : AllTables()) {
    absl::Status status = Execute(db, absl::StrCat("CREATE VIRTUAL TABLE IF NOT EXISTS temp.",
                                                   info.name, " USING ", info.name));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Removes these tables, so that new ones can have the columns that all traces need, and so that
// SQLite prepares statements that use them again. Fails if such a statement is running.
absl::Status DropTables(sqlite3* db) {
  for (const TableInfo& info : AllTables()) {
    absl::Status status = Execute(db, absl::StrCat("DROP TABLE IF EXISTS temp.", info.name));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Fails if the user has a temporary table with the same name as one of the tables.
absl::Status CheckNames(sqlite3* db) {
  std::vector<std::string> names;
  for (const TableInfo& info : AllTables()) names.push_back(absl::StrCat("'", info.name, "'"));
  const std::string sql = absl::StrCat(
      "SELECT name FROM temp.sqlite_schema WHERE lower(name) IN (", absl::StrJoin(names, ", "),
      ") AND type <> 'index' AND sql <> 'CREATE VIRTUAL TABLE ' || name || ' USING ' || name");
  sqlite3_stmt* statement = nullptr;
  absl::Status status;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    status = absl::FailedPreconditionError(sqlite3_errmsg(db));
  } else if (sqlite3_step(statement) == SQLITE_ROW) {
    const auto* const name = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    status = absl::AlreadyExistsError(absl::StrCat("there is a temporary table ", name));
  }
  sqlite3_finalize(statement);
  return status;
}

// Adds the traces in the files to those of the connection.
absl::Status Open(sqlite3* db, const std::vector<std::string>& paths, bool salvages,
                  Opened* opened) {
  std::vector<SqliteTrace> traces = opened->traces;
  for (const std::string& path : paths) {
    absl::StatusOr<std::vector<SqliteTrace>> added = SqliteTracesOfFile(path);
    if (!added.ok()) return added.status();
    for (SqliteTrace& trace : *added) {
      for (const SqliteTrace& other : traces) {
        if (other.id != trace.id) continue;
        return absl::AlreadyExistsError(absl::StrCat(
            QuotedUnlessPlain(path), " is open already",
            other.source == path ? "" : absl::StrCat(", as ", QuotedUnlessPlain(other.source))));
      }
      traces.push_back(std::move(trace));
    }
  }
  if (absl::Status status = CheckNames(db); !status.ok()) return status;
  if (absl::Status status = DropTables(db); !status.ok()) {
    CreateTables(db).IgnoreError();
    return status;
  }
  SqliteTablesOptions options;
  if (salvages) {
    options.reader.mode = ReadMode::kSalvage;
    // The table `traces` reports damage.
    options.on_end = [](size_t, const absl::Status&, const Losses&) {};
  }
  if (absl::Status status = RegisterTables(db, traces, std::move(options), &opened->stacks);
      !status.ok()) {
    return status;
  }
  opened->traces = std::move(traces);
  opened->salvages = salvages;
  return CreateTables(db);
}

// gotrace_open(path, …) adds the traces in these files to the tables, and returns how many traces
// the connection has. gotrace_salvage(path, …) does the same, and from then on queries continue
// after faults, in all traces.
void OpenTraces(sqlite3_context* context, int count, sqlite3_value** values) {
  const Opener& opener = *static_cast<const Opener*>(sqlite3_user_data(context));
  Opened& opened = *opener.opened;
  std::vector<std::string> paths;
  for (int i = 0; i < count; ++i) {
    const auto* const path = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
    paths.emplace_back(path == nullptr ? "" : path);
  }
  const absl::Status status = paths.empty() ? absl::InvalidArgumentError("no trace is given")
                                            : Open(sqlite3_context_db_handle(context), paths,
                                                   opener.salvages || opened.salvages, &opened);
  if (status.ok()) return sqlite3_result_int64(context, static_cast<int64_t>(opened.traces.size()));
  const std::string message =
      absl::StrCat(opener.salvages ? "gotrace_salvage: " : "gotrace_open: ", status.message());
  sqlite3_result_error(context, message.c_str(), static_cast<int>(message.size()));
}

int RegisterOpeners(sqlite3* db) {
  const auto opened = std::make_shared<Opened>();
  for (const bool salvages : {false, true}) {
    const int code = sqlite3_create_function_v2(
        db, salvages ? "gotrace_salvage" : "gotrace_open", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
        new Opener{opened, salvages}, OpenTraces, nullptr, nullptr,
        [](void* opener) { delete static_cast<Opener*>(opener); });
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace
}  // namespace gotrace::internal

// SQLite calls this when it loads the extension.
extern "C" __attribute__((visibility("default"))) int sqlite3_extension_init(
    sqlite3* db, char** error, const sqlite3_api_routines* host) {
  // The extension uses a library of SQLite, which must be the one that the host uses.
  const char* const source = gotrace::internal::SqliteSourceId();
  if (std::strcmp(host->sourceid(), source) != 0) {
    *error = host->mprintf(
        "this program has a SQLite of its own, %s, but the extension needs the shared library, %s",
        host->sourceid(), source);
    return SQLITE_ERROR;
  }
  if (const int code = gotrace::internal::RegisterSqlFunctions(db); code != SQLITE_OK) return code;
  const int code = gotrace::internal::RegisterOpeners(db);
  // The library has tables that are made once and never freed, so it must not be unloaded.
  return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
