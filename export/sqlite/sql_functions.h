// The SQL functions that come with the tables of traces.
#ifndef GOTRACE_EXPORT_SQLITE_SQL_FUNCTIONS_H_
#define GOTRACE_EXPORT_SQLITE_SQL_FUNCTIONS_H_

struct sqlite3;

namespace gotrace::internal {

// Registers quantile_disc(), format_duration(), format_bytes(), greatest() and least(), and also
// regexp() unless the connection already has it, like that of SQLite's shell. Returns a result code
// of SQLite.
int RegisterSqlFunctions(sqlite3* db);

// Returns sqlite3_sourceid() of the library that this program uses.
const char* SqliteSourceId();

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_SQL_FUNCTIONS_H_
