// Everything for queries: the tables of traces, for SQLite and for any other storage. The functions
// of sqlite_tables.h are in a library of their own, gotrace_sqlite.
#ifndef GOTRACE_SQL_H_
#define GOTRACE_SQL_H_

#include "gotrace/sqlite_tables.h"
#include "gotrace/trace_tables.h"

#endif  // GOTRACE_SQL_H_
