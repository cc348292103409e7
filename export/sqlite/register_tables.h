// The parts of RegisterSqliteTables(), for callers that need only some of them.
#ifndef GOTRACE_EXPORT_SQLITE_REGISTER_TABLES_H_
#define GOTRACE_EXPORT_SQLITE_REGISTER_TABLES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gotrace/sqlite_tables.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {

// The stacks of a connection, for stack_folded().
struct FoldedStacks;

// Registers the tables and stack_folded(). Unlike RegisterSqlFunctions(), this can be called while
// a statement runs, and again with other traces. `*stacks` belongs to the connection; it is nullptr
// before the first call. `traces` must have different ids.
absl::Status RegisterTables(sqlite3* db, std::vector<SqliteTrace> traces,
                            SqliteTablesOptions options, std::shared_ptr<FoldedStacks>* stacks);

// Returns the declaration of a column in SQL: "g INTEGER NOT NULL".
std::string DeclarationOf(const TableColumn& column);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_SQLITE_REGISTER_TABLES_H_
