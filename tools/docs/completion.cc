#include "tools/docs/completion.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "tools/cli/command_line.h"
#include "tools/cli/flags.h"
#include "tools/cli/registry.h"

namespace gotrace::internal {
namespace {

constexpr absl::string_view kOrigin = "Written by write_cli_docs.";

// A flag for completion.
struct FlagModel {
  std::string spelling;  // "--kind", "-o".
  std::string value;     // The name of the value in help; "" for a switch.
  bool is_list = false;
  std::vector<std::string> choices;
  std::string summary;
  std::string excludes;  // The spelling of another flag, or "".

  bool is_switch() const { return value.empty(); }
  bool has_one_dash() const { return spelling[1] != '-'; }
  absl::string_view name() const {
    return absl::string_view(spelling).substr(has_one_dash() ? 1 : 2);
  }
};

struct CommandModel {
  std::string name;
  std::string summary;
  std::vector<FlagModel> flags;
};

// Returns the beginning of a flag's help, as much as fits beside its name.
std::string SummaryOf(absl::string_view help) {
  absl::string_view summary = help;
  for (const absl::string_view end : {". ", "; ", ": ", ":\n", ", with its default"}) {
    summary = summary.substr(0, summary.find(end));
  }
  // Leaves no parenthesis open.
  const size_t open = summary.rfind(" (");
  if (open != summary.npos && summary.find(')', open) == summary.npos) {
    summary = summary.substr(0, open);
  }
  return std::string(absl::StripSuffix(summary, "."));
}

// Adds the choices of the command's flags to `model`, in the order in which they are found.
void AddChoices(const std::vector<Flag>& flags, std::vector<FlagModel>* model) {
  for (size_t i = 0; i < flags.size(); ++i) {
    std::vector<std::string>& known = (*model)[i].choices;
    for (const std::string& choice : flags[i].set.choices()) {
      if (std::find(known.begin(), known.end(), choice) == known.end()) known.push_back(choice);
    }
  }
}

std::vector<CommandModel> MakeModel() {
  std::vector<CommandModel> models;
  const CommandList commands = MakeCommands();
  for (size_t c = 0; c < commands.size(); ++c) {
    Command& command = *commands[c];
    CommandModel model = {
        std::string(command.text().name), std::string(command.text().summary), {}};
    const std::vector<Flag> flags = command.Flags();
    for (const Flag& flag : flags) {
      const Flag* const excluded = FindFlag(flags, flag.excludes);
      model.flags.push_back({.spelling = flag.Spelling(),
                             .value = std::string(flag.value),
                             .is_list = flag.is_list(),
                             .choices = {},
                             .summary = SummaryOf(flag.help),
                             .excludes = excluded == nullptr ? "" : excluded->Spelling()});
    }
    AddChoices(flags, &model.flags);
    // The columns for --sort depend on other flags, so each is tried.
    for (const Flag& flag : flags) {
      std::vector<std::string> values = flag.set.choices();
      if (values.empty()) values = {flag.is_switch() ? "true" : "1"};
      for (const std::string& value : values) {
        const CommandList fresh = MakeCommands();
        FindFlag(fresh[c]->Flags(), flag.name)->set(value).IgnoreError();
        AddChoices(fresh[c]->Flags(), &model.flags);
      }
    }
    for (const HelpItem& flag : CommonFlags()) {
      model.flags.push_back({.spelling = std::string(flag.name),
                             .value = "",
                             .choices = {},
                             .summary = SummaryOf(flag.help),
                             .excludes = ""});
    }
    models.push_back(std::move(model));
  }
  return models;
}

std::string CommandNames(const std::vector<CommandModel>& commands) {
  return absl::StrJoin(commands, " ", [](std::string* out, const CommandModel& command) {
    out->append(command.name);
  });
}

// Returns the names of all flags that have a value, without dashes.
std::string FlagsWithValues(const std::vector<CommandModel>& commands) {
  std::set<absl::string_view> names;
  for (const CommandModel& command : commands) {
    for (const FlagModel& flag : command.flags) {
      if (!flag.is_switch()) names.insert(flag.name());
    }
  }
  return absl::StrJoin(names, " ");
}

// Returns the text as one word of zsh.
std::string ZshQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// Returns the text as one word of fish.
std::string FishQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// Returns the kind of a value, for bash and zsh.
absl::string_view KindOf(const FlagModel& flag) {
  if (flag.value == "FILE") return "file";
  if (flag.value == "DIR") return "directory";
  if (flag.choices.empty()) return "other";
  return flag.is_list ? "list" : "choice";
}

constexpr absl::string_view kBashProgram = R"sh(
_gotrace_dump() {
  # The words before the cursor, and the one at the cursor. Bash also splits at = and :, but a word
  # is what ends with white space.
  local rest=${COMP_LINE:0:COMP_POINT} word i
  local -a words=()
  for ((i = 0; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if ((i == 0)) || [[ $rest == [[:space:]]* ]]; then
      words+=("$word")
      rest=${rest#"${rest%%[![:space:]]*}"}
    else
      words[${#words[@]}-1]+=$word
    fi
    rest=${rest#"$word"}
  done
  local current=$rest
  if [[ $rest == [[:space:]]* ]]; then
    current=${rest#"${rest%%[![:space:]]*}"}
  else
    current=${words[${#words[@]}-1]}$rest
    unset "words[${#words[@]}-1]"
  fi
  # Bash replaces only what follows the last = or :.
  local kept=${current%"$2"}

  # The command, which is the first name, and the flag whose value comes next.
  local first='' flag='' only_files=false
  for ((i = 1; i < ${#words[@]}; ++i)); do
    word=${words[i]}
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $only_files == false && $word == -- ]]; then
      only_files=true
    elif [[ $only_files == false && $word == -?* ]]; then
      word=${word#-}
      [[ " $_gotrace_dump_with_value " == *" ${word#-} "* ]] && flag=$word
    elif [[ -z $first ]]; then
      first=$word
      [[ $only_files == true ]] && first=-
    fi
  done
  local command=events
  [[ " $_gotrace_dump_commands " == *" $first "* ]] && command=${first:-events}

  COMPREPLY=()
  local candidate
  if [[ -z $flag && $only_files == false && $current == -*=* ]]; then
    flag=${current%%=*}
    _gotrace_dump_value "$command" "$flag" "${current#*=}" "$flag="
  elif [[ -n $flag ]]; then
    _gotrace_dump_value "$command" "$flag" "$current" ''
  elif [[ $only_files == false && $current == -* ]]; then
    compopt +o default +o bashdefault 2>/dev/null
    for candidate in $(_gotrace_dump_flags "$command"); do
      [[ $candidate == "$current"* ]] && COMPREPLY+=("$candidate")
    done
  elif [[ $first == help ]]; then
    compopt +o default +o bashdefault 2>/dev/null
    COMPREPLY=($(compgen -W "$_gotrace_dump_commands" -- "$current"))
  elif [[ -z $first && $only_files == false ]]; then
    # Files may be given without a command. If there is no command like this, bash lists them.
    COMPREPLY=($(compgen -W "$_gotrace_dump_commands help" -- "$current"))
    if [[ ${#COMPREPLY[@]} -gt 0 ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
      done < <(compgen -f -- "$current")
    fi
  fi
  for i in "${!COMPREPLY[@]}"; do
    COMPREPLY[i]=${COMPREPLY[i]#"$kept"}
  done
  # More of the word is to come.
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}

# _gotrace_dump_value COMMAND FLAG TYPED PREFIX: completes the value of a flag. PREFIX precedes it in
# the same word.
_gotrace_dump_value() {
  local typed=$3 prefix=$4 flag=${2#-} kind values lead='' value
  _gotrace_dump_values "$1" "${flag#-}"
  case $kind in
    file) return ;;  # Bash completes it.
    directory)
      compopt +o default +o bashdefault -o dirnames 2>/dev/null
      return
      ;;
    list) [[ $typed == *,* ]] && lead=${typed%,*}, ;;
  esac
  compopt +o default +o bashdefault 2>/dev/null
  for value in $values; do
    [[ $lead$value == "$typed"* ]] && COMPREPLY+=("$prefix$lead$value")
  done
}

complete -o bashdefault -o default -F _gotrace_dump gotrace-dump
)sh";

constexpr absl::string_view kZshProgram = R"sh(
# _gotrace-dump_value list|choice VALUE...: completes one of the values, or a list of them. A value
# that ends in = or : is only the beginning of one.
_gotrace-dump_value() {
  local kind=$1
  shift
  local -a whole=(${@:#*[=:]}) begun=(${(M)@:#*[=:]})
  if [[ $kind == list ]]; then
    compset -P '*,'
    (( $#whole )) && compadd -qS , -a whole
  else
    (( $#whole )) && compadd -a whole
  fi
  (( $#begun )) && compadd -S '' -a begun
}

_gotrace-dump_command() {
  _describe -t commands command commands_with_help
}

_gotrace-dump() {
  local -a commands_with_help with_value
  _gotrace-dump_tables
  # The command is the first word that is neither a flag nor the value of one.
  local first='' command=events word
  integer i is_value=0 only_files=0
  for ((i = 2; i < CURRENT; ++i)); do
    word=$words[i]
    if (( is_value )); then
      is_value=0
    elif (( only_files )) || [[ $word != -?* ]]; then
      first=${first:-$word}
    elif [[ $word == -- ]]; then
      only_files=1
      first=${first:--}
    else
      word=${${word#-}#-}
      (( ${with_value[(Ie)$word]} )) && is_value=1
    fi
  done
  [[ $first != help ]] && (( ${commands_with_help[(I)${first}:*]} )) && command=$first

  if (( is_value )) || [[ $only_files == 0 && $words[CURRENT] == -* ]]; then
    local -a specs
    _gotrace-dump_flags $command
    _arguments -S : $specs '*:FILE:_files'
  elif [[ -z $first ]]; then
    _alternative 'commands:command:_gotrace-dump_command' 'files:FILE:_files'
  elif [[ $first == help ]]; then
    _gotrace-dump_command
  else
    _files
  fi
}

_gotrace-dump "$@"
)sh";

constexpr absl::string_view kFishProgram = R"sh(
# Prints the command, which is the first word that is neither a flag nor the value of one; "help";
# "-" if it is missing; or the default, if a file comes first.
function __gotrace_dump_command
    set -l words (commandline -opc)
    set -e words[1]
    set -l is_value 0
    for word in $words
        if test $is_value = 1
            set is_value 0
        else if test "$word" = --
            echo events
            return
        else if string match -q -- '-?*' $word
            contains -- (string replace -r -- '^--?' '' $word) $__gotrace_dump_with_value
            and set is_value 1
        else if contains -- $word $__gotrace_dump_commands help
            echo $word
            return
        else
            echo events
            return
        end
    end
    echo -
end

# Whether the command is this one. Flags before the command are those of the default.
function __gotrace_dump_is
    set -l command (__gotrace_dump_command)
    test $command = $argv[1]
    or test $command = - -a $argv[1] = events
end

# Prints the values, each with a description, which is empty: that of the flag is not theirs.
function __gotrace_dump_choice
    printf '%s\t\n' $argv
end

# Prints what is typed of a list with each of the values as the next one.
function __gotrace_dump_list
    set -l lead (commandline -ct | string replace -r -- '^-[^=]*=' '' | string match -r -- '.*,')
    __gotrace_dump_choice "$lead"$argv
end
)sh";

}  // namespace

std::string BashCompletion() {
  const std::vector<CommandModel> commands = MakeModel();
  std::string script = absl::StrCat("# Completes command lines of gotrace-dump in bash. ", kOrigin,
                                    "\n\n", "_gotrace_dump_commands='", CommandNames(commands),
                                    "'\n", "_gotrace_dump_with_value='", FlagsWithValues(commands),
                                    "'\n\n", "# _gotrace_dump_flags COMMAND: prints its flags.\n",
                                    "_gotrace_dump_flags() {\n  case $1 in\n");
  // The flags that have a kind and choices.
  std::map<std::pair<absl::string_view, std::string>, std::vector<std::string>> values;
  for (const CommandModel& command : commands) {
    absl::StrAppend(&script, "    ", command.name, ") echo '",
                    absl::StrJoin(command.flags, " ",
                                  [](std::string* out, const FlagModel& flag) {
                                    const bool has_equals =
                                        !flag.is_switch() && !flag.has_one_dash();
                                    absl::StrAppend(out, flag.spelling, has_equals ? "=" : "");
                                  }),
                    "' ;;\n");
    for (const FlagModel& flag : command.flags) {
      if (flag.is_switch()) continue;
      values[{KindOf(flag), absl::StrJoin(flag.choices, " ")}].push_back(
          absl::StrCat(command.name, ":", flag.name()));
    }
  }
  absl::StrAppend(
      &script, "  esac\n}\n\n",
      "# _gotrace_dump_values COMMAND FLAG: sets kind and values, what the value of the "
      "flag is.\n",
      "_gotrace_dump_values() {\n  kind=other values=''\n  case $1:$2 in\n");
  for (const auto& [value, flags] : values) {
    const auto& [kind, choices] = value;
    if (kind == "other") continue;
    absl::StrAppend(&script, "    ", absl::StrJoin(flags, " | "), ")\n      kind=", kind,
                    choices.empty() ? "" : absl::StrCat(" values='", choices, "'"), "\n      ;;\n");
  }
  absl::StrAppend(&script, "  esac\n}\n", kBashProgram);
  return script;
}

std::string ZshCompletion() {
  const std::vector<CommandModel> commands = MakeModel();
  std::string script = absl::StrCat(
      "#compdef gotrace-dump\n# Completes command lines of gotrace-dump in zsh. ", kOrigin,
      "\n\n# Sets commands_with_help and with_value.\n_gotrace-dump_tables() {\n"
      "  commands_with_help=(\n");
  for (const CommandModel& command : commands) {
    absl::StrAppend(&script, "    ", ZshQuoted(absl::StrCat(command.name, ":", command.summary)),
                    "\n");
  }
  absl::StrAppend(&script, "    'help:describe a command'\n  )\n  with_value=(",
                  FlagsWithValues(commands), ")\n}\n\n",
                  "# _gotrace-dump_flags COMMAND: sets specs for _arguments.\n",
                  "_gotrace-dump_flags() {\n  case $1 in\n");
  for (const CommandModel& command : commands) {
    absl::StrAppend(&script, "    ", command.name, ")\n      specs=(\n");
    for (const FlagModel& flag : command.flags) {
      std::string spec;
      if (!flag.excludes.empty()) absl::StrAppend(&spec, "(", flag.excludes, ")");
      absl::StrAppend(&spec, flag.spelling,
                      flag.is_switch()      ? ""
                      : flag.has_one_dash() ? "+"
                                            : "=",
                      "[", absl::StrReplaceAll(flag.summary, {{"[", "\\["}, {"]", "\\]"}}), "]");
      if (!flag.is_switch()) {
        const absl::string_view kind = KindOf(flag);
        absl::StrAppend(&spec, ":", absl::StrReplaceAll(flag.value, {{":", "\\:"}}), ":");
        if (kind == "file") {
          spec += "_files";
        } else if (kind == "directory") {
          spec += "_path_files -/";
        } else if (kind != "other") {
          absl::StrAppend(&spec, " _gotrace-dump_value ", kind, " ",
                          absl::StrReplaceAll(absl::StrJoin(flag.choices, " "), {{":", "\\:"}}));
        }
      }
      absl::StrAppend(&script, "        ", ZshQuoted(spec), "\n");
    }
    script += "      )\n      ;;\n";
  }
  absl::StrAppend(&script, "  esac\n}\n", kZshProgram);
  return script;
}

std::string FishCompletion() {
  const std::vector<CommandModel> commands = MakeModel();
  std::string script = absl::StrCat(
      "# Completes command lines of gotrace-dump in fish. ", kOrigin, "\n\n",
      "set -g __gotrace_dump_commands ", CommandNames(commands), "\n",
      "set -g __gotrace_dump_with_value ", FlagsWithValues(commands), "\n", kFishProgram, "\n");
  for (const CommandModel& command : commands) {
    absl::StrAppend(&script, "complete -c gotrace-dump -n 'test (__gotrace_dump_command) = -' -a ",
                    command.name, " -d ", FishQuoted(command.summary), "\n");
  }
  absl::StrAppend(&script,
                  "complete -c gotrace-dump -n 'test (__gotrace_dump_command) = -' -a help ",
                  "-d 'describe a command'\n",
                  "complete -c gotrace-dump -n 'test (__gotrace_dump_command) = help' -f ",
                  "-a '$__gotrace_dump_commands'\n");
  for (const CommandModel& command : commands) {
    script += "\n";
    for (const FlagModel& flag : command.flags) {
      absl::StrAppend(&script, "complete -c gotrace-dump -n '__gotrace_dump_is ", command.name,
                      "' ", flag.has_one_dash() ? "-s " : "-l ", flag.name());
      if (!flag.is_switch()) {
        const absl::string_view kind = KindOf(flag);
        const std::string choices = absl::StrJoin(flag.choices, " ");
        script += kind == "file" ? " -rF" : " -x";
        if (kind == "directory") script += " -a '(__fish_complete_directories)'";
        if (kind == "choice" || kind == "list") {
          absl::StrAppend(&script, " -a '(__gotrace_dump_", kind, " ", choices, ")'");
        }
      }
      absl::StrAppend(&script, " -d ", FishQuoted(flag.summary), "\n");
    }
  }
  return script;
}

}  // namespace gotrace::internal
