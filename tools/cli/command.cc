#include "tools/cli/command.h"

#include "absl/strings/str_cat.h"

namespace gotrace::internal {

std::string Command::Usage() {
  const CommandText& about = text();
  return absl::StrCat("gotrace-dump ", about.name, Flags().empty() ? "" : " [FLAGS]", " FILE",
                      about.takes_several_files ? "..."
                      : about.compares_files    ? " [FILE]..."
                                                : "");
}

std::string Command::Description() const {
  constexpr absl::string_view kSeveralFiles =
      "\n\n"
      "A broken file does not keep the others from being read. A directory stands for all files in "
      "it, at any depth, except hidden ones; files in it that are not traces, or are traces of Go "
      "1.21 or earlier, are skipped. The highest exit code counts.";
  return absl::StrCat(text().description, text().takes_several_files ? kSeveralFiles : "");
}

std::string Command::Help() {
  const CommandText& about = text();
  std::string help = absl::StrCat("Usage: ", Usage(), "\n\n");
  AppendWrapped(Description(), 0, 0, &help);
  help.append("\n");
  if (const std::vector<Flag> flags = Flags(); !flags.empty()) {
    help.append("\nFlags:\n");
    AppendFlagHelp(flags, &help);
  }
  absl::StrAppend(&help, "\nExamples:\n", about.examples, "\nExit codes:\n");
  AppendWrapped(about.exit_codes, 0, 0, &help);
  help.push_back('\n');
  return help;
}

}  // namespace gotrace::internal
