// The SQL functions that come with the tables of traces.
#ifndef GOTRACE_EXPORT_SQLITE_SQL_FUNCTIONS_H_
#define GOTRACE_EXPORT_SQLITE_SQL_FUNCTIONS_H_

struct sqlite3;

namespace gotrace::internal {

// Registers quantile_disc(), format_duration(), format_bytes(), greatest(), least() and regexp().
// Returns a result code of SQLite.
int RegisterSqlFunctions(sqlite3* db);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_SQL_FUNCTIONS_H_
