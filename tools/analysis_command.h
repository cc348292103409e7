// What the commands share that analyse traces and print tables.
#ifndef GOTRACE_TOOLS_ANALYSIS_COMMAND_H_
#define GOTRACE_TOOLS_ANALYSIS_COMMAND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "export/table/table.h"
#include "gotrace/analysis.h"
#include "gotrace/analyze.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "tools/per_file_command.h"
#include "tools/salvage.h"
#include "tools/shared_flags.h"

namespace gotrace::internal {

// Runs one analysis over each file, and prints its result as a table: for people, or as CSV or JSON
// for programs. What was read before a fault is printed, too.
class AnalysisCommand : public PerFileCommand {
 public:
  // OwnFlags(), then those of all analyses.
  std::vector<Flag> Flags() final;
  absl::Status Check() const final;

  int Run(const std::vector<std::string>& files, Output* out) override;

 protected:
  // The flags that only this command has.
  virtual std::vector<Flag> OwnFlags() = 0;

  // Checks what a single flag cannot know.
  virtual absl::Status CheckOwn() const { return absl::OkStatus(); }

  // Returns how to make and run the analysis of one file, of the type that the other functions
  // expect. It is only used as long as the command exists.
  virtual AnyAnalysis MakeAnalysis() const = 0;

  // Whether the analysis of a window needs all events from the beginning of the trace.
  virtual bool NeedsBeginning() const { return false; }

  // A flag of FilterFlags that the command has, and what help says about it; "" for what it says
  // of events.
  struct Selection {
    absl::string_view flag;
    absl::string_view help;
  };
  // Those that the command has besides --from and --to.
  virtual std::vector<Selection> Selections() const { return {{"g", ""}}; }

  // Whether the result is a table. If not, the command has neither the formats nor the flags of
  // tables, and overrides PrintPage().
  virtual bool IsTable() const { return true; }

  // Prints the result of one file as text, or appends the members of a JSON object.
  virtual void PrintPage(const AnalysisSink& /*sink*/, const std::string& /*file*/,
                         TextBuffer* /*out*/) const {}
  virtual void AppendMembers(const AnalysisSink& /*sink*/, const std::string& /*file*/,
                             JsonWriter* /*json*/) const {}

  // The table of the analysis, which it may point to. If `analysis` is nullptr, the columns of an
  // empty one.
  virtual Table MakeTable(const Analysis* /*analysis*/, const Interner& /*interner*/) const {
    return Table(0, {});
  }

  // What the rows are: the name of their array in JSON.
  virtual absl::string_view RowsName() const { return ""; }

  // The column that the rows are sorted by unless --sort is given; "" to leave them as they are.
  virtual absl::string_view DefaultSort() const { return ""; }

  // Another format than those of tables: its name, or "", and what help says about it.
  struct OwnFormat {
    absl::string_view name;
    absl::string_view help;
  };
  virtual OwnFormat own_format() const { return {}; }
  virtual void PrintOwnFormat(const AnalysisSink& /*sink*/, TextBuffer* /*out*/) const {}

  // The file to write the result to instead of printing it; "" to print it.
  virtual std::string TargetPath() const { return ""; }
  virtual std::string TargetBytes(const AnalysisSink& /*sink*/) const { return ""; }

  // Adds members to the JSON object that has the rows.
  virtual void AppendOwnMembers(JsonWriter* /*json*/) const {}
  // Returns an error if what the flags name is not in the trace.
  virtual absl::Status CheckFound(const Analysis& /*analysis*/) const { return absl::OkStatus(); }
  // What to tell the user about the result, one line each, on the standard error.
  virtual std::vector<std::string> NotesOn(const Analysis& /*analysis*/) const { return {}; }

  const FilterFlags& filter() const { return filter_; }
  bool prints_json() const { return json_ || format_ == kJson; }

  // What reading a file showed.
  struct ReadResult {
    absl::Status status = absl::OkStatus();
    uint64_t bytes = 0;  // As FileResult::bytes.
    Losses losses = {};
    FaultLog log = {};                             // With --salvage.
    std::unique_ptr<AnalysisSink> sink = nullptr;  // None if the file could not be opened.
  };

  // Runs the analysis over what `filter` selects of the file.
  ReadResult Read(const std::string& file, const FilterFlags& filter) const;

  // Returns what to report about the file. `result.sink` may be none.
  FileResult Report(const std::string& file, const ReadResult& result) const;

  // Prints the table of the analysis, in the format that was asked for. If the file could not be
  // opened, only JSON says so.
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

#endif  // GOTRACE_TOOLS_ANALYSIS_COMMAND_H_
