// Describes the tables for people.
#ifndef GOTRACE_EXPORT_ROWS_DESCRIBE_TABLES_H_
#define GOTRACE_EXPORT_ROWS_DESCRIBE_TABLES_H_

#include <string>

namespace gotrace::internal {

// Returns a section in Markdown for each table, with a list of its columns: the second part of
// docs/tables.md.
std::string DescribeTables();

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_ROWS_DESCRIBE_TABLES_H_
