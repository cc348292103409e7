// The base class of the commands whose table can also be written as a profile.
#ifndef GOTRACE_TOOLS_COMMANDS_PROFILE_TABLE_COMMAND_H_
#define GOTRACE_TOOLS_COMMANDS_PROFILE_TABLE_COMMAND_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/profile.h"
#include "tools/commands/table_command.h"

namespace gotrace::internal {

// Adds the flag -o, which writes samples as a profile for pprof, and the format `folded`.
class ProfileTableCommand : public TableCommand {
 protected:
  // Returns the samples of the analysis, and what they count.
  virtual absl::Span<const ProfileSample> SamplesOf(const Analysis& analysis) const = 0;
  virtual ProfileForm OwnForm() const = 0;

  // The same with --lines.
  ProfileForm form() const;

  // Returns the row of -o, for OwnFlags(). `profile` is "a profile" or "the profile".
  Flag TargetFlag(absl::string_view profile);

  bool HasStacks() const final { return true; }
  OwnFormat own_format() const final;
  bool PrintsTable() const final { return target_.empty() && TableCommand::PrintsTable(); }
  absl::Status PrintResult(const ReadResult& result, FileOutput* output) final;

 private:
  std::string target_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_PROFILE_TABLE_COMMAND_H_
