// The base class of the commands that analyse traces.
#ifndef GOTRACE_TOOLS_COMMANDS_ANALYSIS_COMMAND_H_
#define GOTRACE_TOOLS_COMMANDS_ANALYSIS_COMMAND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/analysis.h"
#include "gotrace/interner.h"
#include "gotrace/run_analysis.h"
#include "tools/cli/per_file_command.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/salvage.h"

namespace gotrace::internal {

// Runs one analysis over each file, and prints its result. If there is a fault, the result for
// everything before it is printed.
class AnalysisCommand : public PerFileCommand {
 public:
  // Returns OwnFlags(), OutputFlags(), then the flags of all analyses.
  std::vector<Flag> Flags() final;
  absl::Status Check() const override;

 protected:
  // Returns the flags that only this command has. It may have none.
  virtual std::vector<Flag> OwnFlags() { return {}; }

  // Returns the flags that say how the result is printed.
  virtual std::vector<Flag> OutputFlags() = 0;

  // Checks the flags against each other.
  virtual absl::Status CheckOwn() const { return absl::OkStatus(); }

  // Returns how to make and run the analysis of one file, of the type that the other functions
  // expect. It is only used as long as the command exists.
  virtual AnyAnalysis MakeAnalysis() const = 0;

  // Returns whether the analysis of a window needs all events from the beginning of the trace.
  virtual bool NeedsBeginning() const { return false; }

  // A flag of FilterFlags that the command has, and its help; "" for the help that commands for
  // events have. The help of "stack" is that of FilterFlags::StackRow().
  struct Selection {
    absl::string_view flag;
    absl::string_view help;
  };
  // Returns the flags that the command has in addition to --from and --to.
  virtual std::vector<Selection> Selections() const { return {{"g", ""}}; }

  // Returns the help of --at, if the command can show a moment: filter().has_at(); otherwise "".
  virtual absl::string_view MomentHelp() const { return ""; }

  // Returns an error if something that a flag names is not in the trace.
  virtual absl::Status CheckFound(const Analysis& /*analysis*/) const { return absl::OkStatus(); }

  // Returns notes about the result for the user, one line each, to print on the standard error.
  virtual std::vector<std::string> NotesOn(const Analysis& /*analysis*/) const { return {}; }

  // Returns what exceeds a limit that a flag gives, as FileResult::above_limit; "" if nothing does.
  virtual std::string AboveLimit(const Analysis& /*analysis*/) const { return ""; }

  // The result of reading a file.
  struct ReadResult {
    absl::Status status = absl::OkStatus();
    uint64_t bytes = 0;  // As FileResult::bytes.
    Losses losses = {};
    FaultLog log = {};                             // With --salvage.
    std::unique_ptr<AnalysisSink> sink = nullptr;  // nullptr if the file could not be opened.
    bool is_noted = false;  // Whether a note says why the window has no events.
  };

  // Returns whether the output is JSON, with one object for each file.
  virtual bool prints_json() const = 0;

  // Prints the result of a file that could be opened. Returns an error if it cannot be written to
  // a file of its own.
  virtual absl::Status PrintResult(const ReadResult& result, FileOutput* output) = 0;

  // The same for any file. One that could not be opened has output only in JSON.
  absl::Status Print(const ReadResult& result, FileOutput* output);

  // Says on the standard error why nothing is printed about a file, if flags select what is.
  void NoteNothing(const ReadResult& result, const std::string& file) const;

  // Runs the analysis over the part of the file that `filter` selects.
  ReadResult Read(const std::string& file, const FilterFlags& filter) const;

  // Returns the result to report for the file. `result.sink` may be nullptr.
  FileResult Report(const std::string& file, const ReadResult& result) const;

  const FilterFlags& filter() const { return filter_; }

 private:
  FileResult RunFile(FileOutput* output) final;
  InputFlags& input() final { return reading_.input; }

  // A flag that selects something, as it was given.
  struct Selected {
    std::string name;
    std::string value;
  };

  // Returns the reason for which a flag may select nothing, as far as the names of the trace say;
  // or "".
  static std::string WhyNothing(const Selected& flag, const Interner& interner);

  FilterFlags filter_;
  ReadingFlags reading_;
  std::vector<Selected> selected_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_ANALYSIS_COMMAND_H_
