// The base class of the commands that analyse traces and print tables.
#ifndef GOTRACE_TOOLS_COMMANDS_TABLE_COMMAND_H_
#define GOTRACE_TOOLS_COMMANDS_TABLE_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/json/json_text.h"
#include "export/table/table.h"
#include "gotrace/analysis.h"
#include "gotrace/interner.h"
#include "tools/commands/analysis_command.h"

namespace gotrace::internal {

// Prints the result of an analysis as a table: for people, or as CSV or JSON for programs.
class TableCommand : public AnalysisCommand {
 public:
  absl::Status Check() const final;
  int Run(const std::vector<std::string>& files, Output* out) override;

 protected:
  // Returns the table of the analysis, to which the table may point. If `analysis` is nullptr,
  // returns an empty table with the same columns.
  virtual Table MakeTable(const Analysis* analysis, const Interner& interner) const = 0;

  // Returns the name of the array of rows in JSON.
  virtual absl::string_view RowsName() const = 0;

  // Returns the column by which the rows are sorted unless --sort is given; "" to keep their order.
  virtual absl::string_view DefaultSort() const { return ""; }

  // Returns the name of the column with the file, in CSV and JSON lines about several files.
  virtual absl::string_view file_column() const { return "file"; }

  // Returns the name of the file that a JSON object is about.
  virtual std::string ObjectName(const FileOutput& output) const { return output.name(); }

  // Adds members to the JSON object with the rows.
  virtual void AppendOwnMembers(JsonWriter* /*json*/) const {}

  // A format of the command's own, which it prints itself: its name, or "", and its help.
  struct OwnFormat {
    absl::string_view name;
    absl::string_view help;
  };
  virtual OwnFormat own_format() const { return {}; }
  bool prints_own_format() const { return format_ == kOwnFormat; }

  // Returns whether rows have stacks, so that the command has --lines.
  virtual bool HasStacks() const { return false; }

  // Return whether the table is for people, whether rows of which the stacks differ only in lines
  // are to be one row of it, and whether --lines was given.
  bool prints_text() const { return format_ == kTable; }
  bool merges_lines() const { return prints_text() && !lines_; }
  bool shows_lines() const { return lines_; }

  // Returns whether the result is printed as a table.
  virtual bool PrintsTable() const { return !prints_own_format(); }

  std::vector<Flag> OutputFlags() final;
  bool prints_json() const final { return format_ == kJson; }
  absl::Status PrintResult(const ReadResult& result, FileOutput* output) override;

 private:
  enum Format : size_t { kTable, kCsv, kJson, kJsonLines, kOwnFormat };

  static constexpr uint64_t kDefaultTop = ~uint64_t{0};

  size_t format_ = kTable;
  std::string sort_;
  uint64_t top_ = kDefaultTop;
  bool lines_ = false;
  bool has_csv_names_ = false;  // Whether the line of names was printed.
};

// Returns the rows of an analysis of type A: none if it is nullptr.
template <class A, class Row>
absl::Span<const Row> RowsOf(const Analysis* analysis, absl::Span<const Row> (A::*rows)() const) {
  if (analysis == nullptr) return {};
  return (static_cast<const A&>(*analysis).*rows)();
}

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_TABLE_COMMAND_H_
