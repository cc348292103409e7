// What the commands share that analyse traces and print tables.
#ifndef GOTRACE_TOOLS_ANALYSIS_COMMAND_H_
#define GOTRACE_TOOLS_ANALYSIS_COMMAND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/table/table.h"
#include "gotrace/analysis.h"
#include "gotrace/event_filter.h"
#include "gotrace/interner.h"
#include "tools/per_file_command.h"
#include "tools/progress.h"
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

  int Run(const std::vector<std::string>& files, Output* out) final;

 protected:
  // The flags that only this command has.
  virtual std::vector<Flag> OwnFlags() = 0;

  // Checks what a single flag cannot know.
  virtual absl::Status CheckOwn() const { return absl::OkStatus(); }

  // Makes the analysis of one file. `filter` has absolute times.
  virtual std::unique_ptr<Analysis> MakeAnalysis(Interner* interner,
                                                 const EventFilter& filter) const = 0;

  // Whether the analysis may be run in parts that are merged.
  virtual bool IsMergeable() const { return true; }

  // Whether the command has the flag --g.
  virtual bool SelectsGoroutines() const { return true; }

  // The table of the analysis, which it may point to. If `analysis` is nullptr, the columns of an
  // empty one.
  virtual Table MakeTable(const Analysis* analysis, const Interner& interner) const = 0;

  // What the rows are: the name of their array in JSON.
  virtual absl::string_view RowsName() const = 0;

  // The column that the rows are sorted by unless --sort is given; "" to leave them as they are.
  virtual absl::string_view DefaultSort() const = 0;

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

  // What to tell the user about the result, one line each, on the standard error.
  virtual std::vector<std::string> NotesOn(const Analysis& /*analysis*/) const { return {}; }

  const FilterFlags& filter() const { return filter_; }

 private:
  enum Format : size_t { kTable, kCsv, kJson, kJsonLines, kOwnFormat };

  // What reading a file showed, apart from the analysis.
  struct ReadResult {
    absl::Status status = absl::OkStatus();
    Losses losses = {};
    std::unique_ptr<AnalysisSink> sink = nullptr;  // None if the file could not be opened.
  };

  FileResult RunFile(FileOutput* output) final;
  const ReaderLimits& limits() const final { return reading_.input.limits; }

  ReadResult ReadWhole(const std::string& file, Progress* progress) const;
  ReadResult ReadWindow(const std::string& file, FaultLog* log, Progress* progress) const;
  std::unique_ptr<AnalysisSink> MakeSink(const EventFilter& filter, bool may_follow) const;
  void Print(const ReadResult& result, FileOutput* output);
  absl::Status WriteTarget(const AnalysisSink& sink, FileOutput* output) const;

  size_t format_ = kTable;
  std::string sort_;
  uint64_t top_ = kDefaultTop;
  FilterFlags filter_;
  ReadingFlags reading_;
  bool has_csv_names_ = false;  // Whether the line of names was printed.

  static constexpr uint64_t kDefaultTop = ~uint64_t{0};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_ANALYSIS_COMMAND_H_
