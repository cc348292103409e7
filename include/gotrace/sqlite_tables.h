// Traces as tables of SQLite, without importing them: a query reads the trace while it runs.
#ifndef GOTRACE_SQLITE_TABLES_H_
#define GOTRACE_SQLITE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gotrace/byte_source.h"
#include "gotrace/reader.h"
#include "gotrace/reader_options.h"

struct sqlite3;

namespace gotrace {

// A trace to query.
struct SqliteTrace {
  std::string source;  // The column `source` of the table `traces`; also used in messages.
  int64_t id = 0;      // The value of the columns `trace_id`; different for each trace.

  // Opens the trace, at its beginning. Called for each scan of a table.
  std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()> open;

  uint64_t number = 1;  // The number of the trace in its file: the column `number` of `traces`.
};

// How the traces are read.
struct SqliteTablesOptions {
  // How to read the traces. Callbacks must not be set.
  ReaderOptions reader = {};

  // As TableOptions::stack_ids_without_pc.
  bool stack_ids_without_pc = false;

  // Called while a trace is read, after every few thousand events, with its Reader. If it returns
  // false, the query fails with SQLITE_INTERRUPT; sqlite3_interrupt() alone takes effect only at
  // the next row. May be nullptr.
  std::function<bool(const Reader& reader)> keep_going = nullptr;

  // Called when a scan of traces[trace] ends: at the end of the trace, after a fault, or if it
  // cannot be opened. Not called if the query needs no more rows. The query continues with the rows
  // that could be read, and with the next trace. Like keep_going, it must not throw. If it is
  // nullptr, a query fails with SQLITE_ERROR after the last row that could be read, except a query
  // of the table `traces`, which has the error in a column.
  std::function<void(size_t trace, const absl::Status& status, const Losses& losses)> on_end =
      nullptr;
};

// Makes the tables of docs/tables.md available to the statements of `*db`, as g_states, and the
// functions of docs/sql.md. The first column of each table is `trace_id`; it is hidden if there is
// only one trace.
//
// Each scan of a table reads the trace from its beginning and streams the rows. Conditions on
// columns with =, <, <=, > and >= are checked before rows are given to SQLite; ORDER BY the column
// that a table is sorted by (see TableInfo::order) needs no sorting. A table that is scanned more
// than once, as in joins and subqueries, is kept in memory with the columns that are used, until
// `*db` is closed. GROUP BY on columns of one table keeps its rows in memory while the statement
// runs: 8 bytes for each row and column, and up to 28 more for each row while rows are grouped.
//
// Everything that the functions in `traces` and `options` use must live until `*db` is closed.
// Fails with kInvalidArgument if two traces have the same id; other errors have the message of
// SQLite. Tables can be registered only once per connection.
absl::Status RegisterSqliteTables(sqlite3* db, std::vector<SqliteTrace> traces,
                                  SqliteTablesOptions options = {});

// Returns the traces in a file: more than one if it holds several. Damage in transport is undone as
// UndoTransport() does. Reads the whole file to compute the ids: the id of the first trace is a
// hash of the file's bytes as they are stored. Opening a trace fails with kAborted if the file has
// changed since then. Fails with kInvalidArgument if `path` is not a regular file, since only those
// can be read several times.
absl::StatusOr<std::vector<SqliteTrace>> SqliteTracesOfFile(const std::string& path,
                                                            const ReaderLimits& limits = {});

}  // namespace gotrace

#endif  // GOTRACE_SQLITE_TABLES_H_
