// The base class of the commands that analyse traces and print tables.
#ifndef GOTRACE_TOOLS_COMMANDS_ANALYSIS_COMMAND_H_
#define GOTRACE_TOOLS_COMMANDS_ANALYSIS_COMMAND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "export/table/table.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "gotrace/run_analysis.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/salvage.h"

namespace gotrace::internal {

// Runs one analysis over each file, and prints its result as a table: for people, or as CSV or JSON
// for programs. If there is a fault, the result for everything before it is printed.
class AnalysisCommand : public PerFileCommand {
 public:
  // Returns OwnFlags(), then the flags of all analyses.
  std::vector<Flag> Flags() final;
  absl::Status Check() const final;

  int Run(const std::vector<std::string>& files, Output* out) override;

 protected:
  // Returns the flags that only this command has.
  virtual std::vector<Flag> OwnFlags() = 0;

  // Checks the flags against each other.
  virtual absl::Status CheckOwn() const { return absl::OkStatus(); }

  // Returns how to make and run the analysis of one file, of the type that the other functions
  // expect. It is only used as long as the command exists.
  virtual AnyAnalysis MakeAnalysis() const = 0;

  // Returns whether the analysis of a window needs all events from the beginning of the trace.
  virtual bool NeedsBeginning() const { return false; }

  // A flag of FilterFlags that the command has, and its help; "" for the help that commands for
  // events have.
  struct Selection {
    absl::string_view flag;
    absl::string_view help;
  };
  // Returns the flags that the command has in addition to --from and --to.
  virtual std::vector<Selection> Selections() const { return {{"g", ""}}; }

  // Returns whether the result is a table. If not, the command has neither the formats nor the
  // flags of tables, and overrides PrintPage().
  virtual bool IsTable() const { return true; }

  // Prints the result of one file as text, or appends the members of a JSON object.
  virtual void PrintPage(const AnalysisSink& /*sink*/, const std::string& /*file*/,
                         TextBuffer* /*out*/) const {}
  virtual void AppendMembers(const AnalysisSink& /*sink*/, const std::string& /*file*/,
                             JsonWriter* /*json*/) const {}

  // Returns the table of the analysis, to which the table may point. If `analysis` is nullptr,
  // returns an empty table with the same columns.
  virtual Table MakeTable(const Analysis* /*analysis*/, const Interner& /*interner*/) const {
    return Table(0, {});
  }

  // Returns the name of the array of rows in JSON.
  virtual absl::string_view RowsName() const { return ""; }

  // Returns the column by which the rows are sorted unless --sort is given; "" to keep their order.
  virtual absl::string_view DefaultSort() const { return ""; }

  // A format of the command's own: its name, or "", and its help.
  struct OwnFormat {
    absl::string_view name;
    absl::string_view help;
  };
  virtual OwnFormat own_format() const { return {}; }
  virtual void PrintOwnFormat(const AnalysisSink& /*sink*/, TextBuffer* /*out*/) const {}

  // Returns the file to write the result to; "" to print it.
  virtual std::string TargetPath() const { return ""; }
  virtual std::string TargetBytes(const AnalysisSink& /*sink*/) const { return ""; }

  // Adds members to the JSON object with the rows.
  virtual void AppendOwnMembers(JsonWriter* /*json*/) const {}
  // Returns an error if something that a flag names is not in the trace.
  virtual absl::Status CheckFound(const Analysis& /*analysis*/) const { return absl::OkStatus(); }
  // Returns notes about the result for the user, one line each, to print on the standard error.
  virtual std::vector<std::string> NotesOn(const Analysis& /*analysis*/) const { return {}; }

  const FilterFlags& filter() const { return filter_; }
  bool prints_json() const { return json_ || format_ == kJson; }

  // The result of reading a file.
  struct ReadResult {
    absl::Status status = absl::OkStatus();
    uint64_t bytes = 0;  // As FileResult::bytes.
    Losses losses = {};
    FaultLog log = {};                             // With --salvage.
    std::unique_ptr<AnalysisSink> sink = nullptr;  // nullptr if the file could not be opened.
  };

  // Runs the analysis over the part of the file that `filter` selects.
  ReadResult Read(const std::string& file, const FilterFlags& filter) const;

  // Returns the result to report for the file. `result.sink` may be nullptr.
  FileResult Report(const std::string& file, const ReadResult& result) const;

  // Prints the table of the analysis in the requested format. If the file could not be opened,
  // prints something only in JSON.
  void Print(const ReadResult& result, FileOutput* output);

 private:
  enum Format : size_t { kTable, kCsv, kJson, kJsonLines, kOwnFormat };

  FileResult RunFile(FileOutput* output) final;
  InputFlags& input() final { return reading_.input; }

  void AppendTableFlags(std::vector<Flag>* rows);
  absl::Status WriteTarget(const AnalysisSink& sink, FileOutput* output) const;

  size_t format_ = kTable;
  bool json_ = false;
  std::string sort_;
  uint64_t top_ = kDefaultTop;
  FilterFlags filter_;
  ReadingFlags reading_;
  bool has_csv_names_ = false;  // Whether the line of names was printed.

  static constexpr uint64_t kDefaultTop = ~uint64_t{0};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_ANALYSIS_COMMAND_H_
