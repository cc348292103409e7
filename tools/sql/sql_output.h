// Prints the rows of queries.
#ifndef GOTRACE_TOOLS_SQL_SQL_OUTPUT_H_
#define GOTRACE_TOOLS_SQL_SQL_OUTPUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/cli/output.h"
#include "util/text_buffer.h"

struct sqlite3_stmt;

namespace gotrace::internal {

enum class SqlFormat : size_t { kTable, kCsv, kTsv, kJson, kJsonLines };

// The names of the formats, in order.
inline constexpr const char* kSqlFormatNames[] = {"table", "csv", "tsv", "json", "jsonl"};

// Returns the text with escapes, as in Go, for characters that could break a line or control a
// terminal: control characters, marks that change the direction, bytes that are not UTF-8.
std::string Printable(absl::string_view text);

// Returns how many columns of a terminal the text takes, if each character takes one.
size_t ColumnsOf(absl::string_view text);

// Appends the current value of a column as JSON.
void AppendJsonValue(sqlite3_stmt* statement, int column, TextBuffer* out);

// Takes the rows of one statement.
class SqlRows {
 public:
  virtual ~SqlRows() = default;

  // Adds the current row of the statement. Returns whether another one is wanted.
  virtual bool AddRow(sqlite3_stmt* statement) = 0;

  // Called with the statement after its last row.
  virtual void Finish(sqlite3_stmt* statement) = 0;
};

// Prints the rows of one statement.
class SqlOutput final : public SqlRows {
 public:
  // Texts of tables are cut so that lines have at most `width` columns, unless that is 0. `*out`
  // must outlive this object.
  SqlOutput(SqlFormat format, size_t width, Output* out)
      : format_(format), width_(width), out_(*out) {}

  bool AddRow(sqlite3_stmt* statement) override;
  void Finish(sqlite3_stmt* statement) override;

 private:
  // A value of a table for people.
  struct Cell {
    std::string text;
    bool is_number = false;
  };

  void Begin(sqlite3_stmt* statement);
  void AddTableRow(sqlite3_stmt* statement);
  void AddSeparatedRow(sqlite3_stmt* statement);
  void AddJsonRow(sqlite3_stmt* statement);

  // Prints the rows that were kept to find the widths of columns.
  void PrintKept();
  void PrintLine(const std::vector<Cell>& cells);

  const SqlFormat format_;
  const size_t width_;
  Output& out_;
  bool has_begun_ = false;
  size_t rows_ = 0;
  std::vector<std::string> names_;
  std::vector<std::vector<Cell>> kept_;
  std::vector<size_t> widths_;    // Once they are known.
  std::vector<bool> is_numeric_;  // Whether all values that were kept are numbers.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SQL_SQL_OUTPUT_H_
