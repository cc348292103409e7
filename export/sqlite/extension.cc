// The tables as an extension that SQLite loads, for its shell and for other languages. It uses the
// library of SQLite that is there.
#include <sqlite3.h>

#include <string>
#include <utility>
#include <vector>

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
  std::vector<SqliteTrace> traces;
  for (int i = 0; i < count; ++i) {
    const auto* const path = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
    absl::StatusOr<SqliteTrace> trace = SqliteTraceOfFile(path == nullptr ? "" : path);
    if (!trace.ok()) return ReturnError(context, trace.status());
    traces.push_back(*std::move(trace));
  }
  if (absl::Status status =
          RegisterSqliteTables(sqlite3_context_db_handle(context), std::move(traces));
      !status.ok()) {
    return ReturnError(context, status);
  }
  has_tables = true;
  sqlite3_result_int(context, count);
}

}  // namespace
}  // namespace gotrace

extern "C" {
struct sqlite3_api_routines;

// SQLite calls this when it loads the extension.
__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3* db, char** /*error*/,
                                                                  const sqlite3_api_routines*) {
  return sqlite3_create_function_v2(
      db, "gotrace_open", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, new bool(false), gotrace::OpenTraces,
      nullptr, nullptr, [](void* has_tables) { delete static_cast<bool*>(has_tables); });
}
}
