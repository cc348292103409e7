// The tables as an extension that SQLite loads, for its shell and for other languages.
#include <sqlite3.h>
// The functions of the program that loads the extension. Only their table is of use here, not the
// macros that call them.
#include <sqlite3ext.h>
#undef sqlite3_context_db_handle
#undef sqlite3_create_function_v2
#undef sqlite3_mprintf
#undef sqlite3_result_error
#undef sqlite3_result_int
#undef sqlite3_user_data
#undef sqlite3_value_text

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "export/sqlite/register_tables.h"
#include "export/sqlite/sql_functions.h"
#include "gotrace/sqlite_tables.h"

namespace gotrace {
namespace {

void ReturnError(sqlite3_context* context, const absl::Status& status) {
  const std::string message(status.message());
  sqlite3_result_error(context, message.c_str(), static_cast<int>(message.size()));
}

// gotrace_open(path, …): makes the tables of these traces available, and returns how many traces
// there are.
void OpenTraces(sqlite3_context* context, int count, sqlite3_value** values) {
  auto& has_tables = *static_cast<bool*>(sqlite3_user_data(context));
  if (has_tables) {
    return ReturnError(context, absl::FailedPreconditionError(
                                    "gotrace_open: there are traces already; open another "
                                    "connection, or give several traces in one call"));
  }
  if (count == 0) {
    return ReturnError(context, absl::InvalidArgumentError("gotrace_open: no trace is given"));
  }
  std::vector<SqliteTrace> traces;
  for (int i = 0; i < count; ++i) {
    const auto* const path = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
    absl::StatusOr<SqliteTrace> trace = SqliteTraceOfFile(path == nullptr ? "" : path);
    if (!trace.ok()) return ReturnError(context, trace.status());
    traces.push_back(*std::move(trace));
  }
  if (absl::Status status =
          internal::RegisterTables(sqlite3_context_db_handle(context), std::move(traces), {});
      !status.ok()) {
    return ReturnError(context, status);
  }
  has_tables = true;
  sqlite3_result_int(context, count);
}

}  // namespace
}  // namespace gotrace

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
  const int code = sqlite3_create_function_v2(
      db, "gotrace_open", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, new bool(false), gotrace::OpenTraces,
      nullptr, nullptr, [](void* has_tables) { delete static_cast<bool*>(has_tables); });
  // The library has tables that are made once and never freed, so it must not be unloaded.
  return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
