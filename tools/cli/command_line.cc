#include "tools/cli/command_line.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "gotrace/library_version.h"
#include "tools/cli/commit.h"
#include "tools/cli/instead.h"
#include "tools/cli/nearest_name.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Returns the names as a list in a sentence: "`events`, `wire` and `info`".
std::string ListNames(const std::vector<absl::string_view>& names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    const absl::string_view separator = i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    absl::StrAppend(&list, separator, "`", names[i], "`");
  }
  return list;
}

std::string NamesOf(const CommandList& commands, bool only_several_files = false) {
  std::vector<absl::string_view> names;
  for (const auto& command : commands) {
    if (!only_several_files || command->text().takes_several_files) {
      names.push_back(command->text().name);
    }
  }
  return ListNames(names);
}

Command* FindCommand(const CommandList& commands, absl::string_view name) {
  for (const auto& command : commands) {
    if (command->text().name == name) return command.get();
  }
  return nullptr;
}

std::string FullVersion() {
  const absl::string_view commit = Commit();
  return absl::StrCat("gotrace-dump " GOTRACE_VERSION,
                      commit.empty() ? "" : absl::StrCat(" (commit ", commit, ")"), "\n");
}

// Returns the flag of `own` that was given, or nullptr. --json and --format=json are the same: a
// command has one of them, and accepts the other too.
const Flag* FindOwnFlag(absl::Span<const Flag> own, absl::string_view name,
                        std::optional<std::string>* value) {
  if (const Flag* const flag = FindFlag(own, name)) return flag;
  if (name == "json" && *value == "true") {
    const Flag* const format = FindFlag(own, "format");
    if (format == nullptr || !absl::c_linear_search(format->set.choices(), "json")) return nullptr;
    *value = "json";
    return format;
  }
  if (name == "format" && (*value == "json" || *value == "text")) {
    const Flag* const json = FindFlag(own, "json");
    if (json != nullptr) *value = *value == "json" ? "true" : "false";
    return json;
  }
  return nullptr;
}

bool FileExists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Returns whether the path is that of anything but a folder.
bool IsFile(const std::string& path) {
  std::error_code ignored;
  return FileExists(path) && !std::filesystem::is_directory(path, ignored);
}

// Splits the arguments into flags and names, finds the command among the names, and then sets the
// flags, which may precede the command. To know which flags are followed by a value, it needs the
// flags of all commands: a flag with one name takes a value in all of them or in none.
class ArgumentParser {
 public:
  ArgumentParser(absl::Span<char* const> args, const CommandList& commands, bool is_terminal,
                 CommandLine* line)
      : args_(args), commands_(commands), is_terminal_(is_terminal), line_(*line) {
    for (const auto& command : commands_) {
      for (Flag& flag : command->Flags()) all_flags_.push_back({command.get(), std::move(flag)});
    }
  }

  absl::Status Parse() {
    while (next_ < args_.size()) SplitNext();
    if (!line_.help.empty()) return absl::OkStatus();
    if (absl::Status status = FindTheCommand(); !status.ok()) return status;
    if (wants_help_) {
      line_.help = has_command_ ? line_.command->Help() : ProgramHelp(commands_);
      return absl::OkStatus();
    }
    if (absl::Status status = SetTheFlags(); !status.ok()) return status;
    return TakeFiles();
  }

 private:
  struct AnyFlag {
    Command* command;
    Flag flag;
  };

  // A flag as it was given among the arguments.
  struct FlagArgument {
    std::string shown;  // Without its value: "--kind".
    std::string name;   // Without dashes.
    std::optional<std::string> value;
  };

  const Flag* FindAnyFlag(absl::string_view name) const {
    for (const AnyFlag& any : all_flags_) {
      if (const Flag* const flag = FindFlag(absl::MakeConstSpan(&any.flag, 1), name)) return flag;
    }
    return nullptr;
  }

  void SplitNext() {
    const absl::string_view argument = args_[next_++];
    if (only_files_ || argument == "-" || !absl::StartsWith(argument, "-")) {
      if (!only_files_) ++before_dashes_;
      names_.emplace_back(argument);
    } else if (argument == "--") {
      only_files_ = true;
    } else if (argument == "--help" || argument == "-h" || argument == "-help") {
      wants_help_ = true;
    } else if (argument == "--version") {
      line_.help = FullVersion();
    } else {
      SplitFlag(argument);
    }
  }

  void SplitFlag(absl::string_view argument) {
    absl::string_view text = argument;
    absl::ConsumePrefix(&text, "-");
    const bool has_one_dash = !absl::ConsumePrefix(&text, "-");
    const size_t equals = text.find('=');
    FlagArgument flag;
    flag.shown = std::string(argument.substr(0, argument.find('=')));
    flag.name = std::string(text.substr(0, equals));
    if (equals != text.npos) flag.value = std::string(text.substr(equals + 1));
    const Flag* row = FindAnyFlag(flag.name);
    // --noheader
    absl::string_view positive = flag.name;
    if (row == nullptr && !flag.value.has_value() && absl::ConsumePrefix(&positive, "no")) {
      const Flag* const negated = FindAnyFlag(positive);
      if (negated != nullptr && negated->is_switch()) {
        flag.name = std::string(positive);
        flag.value = "false";
        row = negated;
      }
    }
    // -oFILE
    if (row == nullptr && has_one_dash && text.size() > 1) {
      const Flag* const letter = FindAnyFlag(text.substr(0, 1));
      if (letter != nullptr && !letter->is_switch()) {
        flag.name = std::string(text.substr(0, 1));
        flag.value = std::string(text.substr(1));
        row = letter;
      }
    }
    if (row != nullptr && !flag.value.has_value()) {
      if (row->is_switch()) {
        flag.value = "true";
      } else if (next_ < args_.size()) {
        flag.value = args_[next_++];
      }
    }
    flags_.push_back(std::move(flag));
  }

  // Flags without a command are those of `events`, in scripts and elsewhere. Whoever types no more
  // than the name of a file wants to know what is in it.
  Command* DefaultCommand() const {
    const bool wants_page = is_terminal_ && flags_.empty();
    return wants_page ? FindCommand(commands_, "summary") : commands_.front().get();
  }

  // The first name is the command, unless it follows "--" or is not the name of a command.
  absl::Status FindTheCommand() {
    line_.command = DefaultCommand();
    if (before_dashes_ == 0) return absl::OkStatus();
    if (names_[0] == "help") {
      wants_help_ = true;
      names_.erase(names_.begin());
      if (names_.empty()) return absl::OkStatus();
      if (FindCommand(commands_, names_[0]) == nullptr) return UnknownCommand(names_[0]);
    }
    Command* const command = FindCommand(commands_, names_[0]);
    if (command == nullptr) return absl::OkStatus();
    line_.command = line_.explained_by = command;
    has_command_ = true;
    names_.erase(names_.begin());
    return absl::OkStatus();
  }

  absl::Status SetTheFlags() {
    const std::vector<Flag> own = line_.command->Flags();
    std::vector<GivenFlag> given;
    for (FlagArgument& argument : flags_) {
      const Flag* const flag = FindOwnFlag(own, argument.name, &argument.value);
      if (flag == nullptr) return WrongFlag(argument, own);
      given.push_back({flag, argument.value.value_or("")});
      line_.flags.emplace_back(flag->name, given.back().value);
    }
    absl::Status status = WithAdvice(SetFlags(given), given);
    status.Update(line_.command->Check());
    if (!status.ok()) line_.explained_by = line_.command;
    return status;
  }

  // Returns the error of a value, with what to type instead.
  absl::Status WithAdvice(const absl::Status& status, absl::Span<const GivenFlag> given) const {
    if (status.ok()) return status;
    for (const GivenFlag& one : given) {
      const absl::string_view advice =
          AdviceOnValue(line_.command->text().name, one.flag->name, one.value);
      if (advice.empty()) continue;
      return absl::InvalidArgumentError(absl::StrCat(status.message(), "; ", advice));
    }
    return status;
  }

  absl::Status WrongFlag(const FlagArgument& argument, absl::Span<const Flag> own) const {
    const absl::string_view command = line_.command->text().name;
    if (const absl::string_view advice = AdviceOnFlag(command, argument.name); !advice.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", command, "` has no flag --", argument.name, "; ", advice));
    }
    if (const Flag* const other = FindAnyFlag(argument.name)) {
      std::vector<absl::string_view> commands;
      for (const AnyFlag& any : all_flags_) {
        if (any.flag.name == other->name) commands.push_back(any.command->text().name);
      }
      return absl::InvalidArgumentError(
          absl::StrCat(other->Spelling(), " is a flag of ", ListNames(commands), ", not of `",
                       command, "`", other->instead.empty() ? "" : "; ", other->instead));
    }
    // The command's own flags come first, since of equally near names the first is chosen.
    std::vector<absl::string_view> names;
    for (const Flag& flag : own) names.push_back(flag.name);
    for (const AnyFlag& any : all_flags_) names.push_back(any.flag.name);
    const Flag* const nearest = FindAnyFlag(NearestName(argument.name, names));
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no flag ", QuotedUnlessPlain(argument.shown),
        nearest == nullptr ? "" : absl::StrCat("; did you mean ", nearest->Spelling(), "?")));
  }

  absl::Status TakeFiles() {
    if (names_.empty() && line_.command->NeedsNoFiles()) return absl::OkStatus();
    if (names_.empty()) {
      return absl::InvalidArgumentError("FILE is missing; use - for the standard input");
    }
    if (std::count(names_.begin(), names_.end(), "") > 0) {
      return absl::InvalidArgumentError(
          "the name of a FILE is empty; use - for the standard input");
    }
    if (absl::Status status = CheckFirstName(); !status.ok()) return status;
    const CommandText& text = line_.command->text();
    if (names_.size() > 1 && !text.takes_several_files && !text.compares_files) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", text.name, "` takes one FILE, found ", QuotedUnlessPlain(names_[0]),
                       " and ", QuotedUnlessPlain(names_[1]), "; ",
                       NamesOf(commands_, /*only_several_files=*/true), " take several"));
    }
    if (std::count(names_.begin(), names_.end(), "-") > 1) {
      return absl::InvalidArgumentError(
          "- was given twice; the standard input can be read only once");
    }
    line_.files = names_;
    return absl::OkStatus();
  }

  // Without a command, the first name may be a mistyped one, or the command may come later.
  absl::Status CheckFirstName() const {
    if (has_command_ || before_dashes_ == 0) return absl::OkStatus();
    if (before_dashes_ > 1 && FindCommand(commands_, names_[1]) != nullptr &&
        !FileExists(names_[1])) {
      return absl::InvalidArgumentError(absl::StrCat("the command comes first: gotrace-dump ",
                                                     names_[1], " ", QuotedUnlessPlain(names_[0])));
    }
    // Most paths of traces have a dot or a slash.
    const bool may_be_command =
        names_[0].find_first_of("./") == std::string::npos && names_[0] != "-";
    if (!may_be_command) return absl::OkStatus();
    // A folder may have the name of another tool's command, such as web.
    const bool is_advised = !AdviceOnCommand(names_[0]).empty() && !IsFile(names_[0]);
    const bool is_unknown =
        !FileExists(names_[0]) && (names_.size() > 1 || !NearestCommand(names_[0]).empty());
    return is_advised || is_unknown ? UnknownCommand(names_[0]) : absl::OkStatus();
  }

  std::string NearestCommand(absl::string_view name) const {
    std::vector<absl::string_view> names;
    for (const auto& command : commands_) names.push_back(command->text().name);
    return std::string(NearestName(name, names));
  }

  absl::Status UnknownCommand(absl::string_view name) const {
    if (const absl::string_view advice = AdviceOnCommand(name); !advice.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("there is no command ", name, "; ", advice));
    }
    const std::string nearest = NearestCommand(name);
    return absl::InvalidArgumentError(
        absl::StrCat("there is no command ", QuotedUnlessPlain(name), "; ",
                     nearest.empty() ? absl::StrCat("the commands are ", NamesOf(commands_))
                                     : absl::StrCat("did you mean ", nearest, "?")));
  }

  const absl::Span<char* const> args_;
  const CommandList& commands_;
  const bool is_terminal_;
  CommandLine& line_;
  std::vector<AnyFlag> all_flags_;
  size_t next_ = 0;
  bool only_files_ = false;   // After "--".
  size_t before_dashes_ = 0;  // The number of names before "--".
  bool has_command_ = false;
  bool wants_help_ = false;
  std::vector<std::string> names_;
  std::vector<FlagArgument> flags_;
};

}  // namespace

absl::Status ParseCommandLine(absl::Span<char* const> args, const CommandList& commands,
                              bool is_terminal, CommandLine* line) {
  return ArgumentParser(args, commands, is_terminal, line).Parse();
}

absl::Span<const HelpItem> CommonFlags() {
  static constexpr HelpItem kFlags[] = {
      {"--help", "print a description of the command, with all of its flags"},
      {"--version", "print the version of gotrace-dump"},
  };
  return kFlags;
}

absl::Span<const HelpItem> EnvironmentVariables() {
  static constexpr HelpItem kVariables[] = {
      {"GOTRACE_TRACE2, GOTRACE_TRACE2_PERF, GOTRACE_TRACE2_EVENT",
       "Where to trace the run itself, as git does for GIT_TRACE2 and so on: 1 for the standard "
       "error, an absolute path, or af_unix:PATH. docs/trace2.md describes these variables and "
       "more."},
      {"TMPDIR",
       "Where `repair` keeps a copy of its standard input while it runs, and `serve` input that is "
       "compressed or can be read only once; /tmp by default."},
      {"XDG_STATE_HOME",
       "The directory of the file gotrace_sql_history, in which the prompt of `sql` keeps the "
       "lines that were typed. Without it, the file is ~/.gotrace_sql_history."},
  };
  return kVariables;
}

std::string ProgramDescription(const CommandList& commands) {
  return absl::StrCat(
      "Reads Go execution traces of Go 1.22 and later: from runtime/trace, the flight recorder, "
      "`go test -trace`, or /debug/pprof/trace. FILE may be - for the standard input, and may be "
      "compressed with zstd or gzip. A trace that was changed in transport, for example by CR LF "
      "line ends, UTF-16, base64, a hex dump, JSON, HTTP headers, or text before it, is read "
      "nevertheless, with a note.\n\n",
      NamesOf(commands, /*only_several_files=*/true),
      " take several files, and directories.\n\n"
      "`gotrace-dump FILE` prints the summary on a terminal. To files and pipes, and with flags, "
      "it "
      "prints the events, as `events` always does.");
}

absl::string_view FirstExample(const Command& command) {
  const absl::string_view examples = command.text().examples;
  return examples.substr(0, examples.find('\n'));
}

std::string ProgramHelp(const CommandList& commands) {
  std::string help = absl::StrCat("Usage: ", kProgramUsage, "\n\n");
  AppendWrapped(absl::StrCat(ProgramDescription(commands), "\n\nCommands:\n"), 0, 0, &help);
  for (const auto& command : commands) {
    absl::StrAppendFormat(&help, "  %-10s %s\n", command->text().name, command->text().summary);
  }
  help.append("\nFor every command:\n");
  for (const HelpItem& flag : CommonFlags()) {
    absl::StrAppendFormat(&help, "  %-11s %s\n", flag.name, flag.help);
  }
  help.append("\nEnvironment:\n");
  for (const HelpItem& variable : EnvironmentVariables()) {
    absl::StrAppend(&help, "  ", variable.name, "\n");
    AppendWrapped(variable.help, 6, 0, &help);
    help.push_back('\n');
  }
  help.append("\nExamples:\n");
  for (const auto& command : commands) {
    absl::StrAppend(&help, FirstExample(*command), "\n");
  }
  absl::StrAppend(&help, "\nExit codes:\n");
  AppendWrapped(kUsualExitCodes, 0, 0, &help);
  absl::StrAppend(&help, "\n\n`gotrace-dump help COMMAND` describes a command and its flags.\n");
  return help;
}

}  // namespace gotrace::internal
