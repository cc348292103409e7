// The two parts of RegisterSqliteTables(), for callers who need them at different times.
#ifndef GOTRACE_EXPORT_SQLITE_REGISTER_TABLES_H_
#define GOTRACE_EXPORT_SQLITE_REGISTER_TABLES_H_

#include <vector>

#include "absl/status/status.h"
#include "gotrace/sqlite_tables.h"

namespace gotrace::internal {

// Registers the tables and stack_folded(). Unlike RegisterSqlFunctions(), this can be called while
// a statement runs. `traces` must have different ids.
absl::Status RegisterTables(sqlite3* db, std::vector<SqliteTrace> traces,
                            SqliteTablesOptions options);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_REGISTER_TABLES_H_
