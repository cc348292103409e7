#include "tools/command_line.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "gotrace/reader_limits.h"
#include "tools/nearest_name.h"
#include "tools/version.h"
#include "util/cores.h"
#include "util/quote.h"

ABSL_FLAG(std::string, format, "go", "the form of the events: go or json");
ABSL_FLAG(bool, stacks, false, "with --format=json: write stacks too");
ABSL_FLAG(bool, wall, false, "with --format=json: write wall-clock times too");
ABSL_FLAG(std::string, kind, "", "only events of these kinds");
ABSL_FLAG(std::string, g, "", "only events about these goroutines");
ABSL_FLAG(std::string, p, "", "only events about these Ps");
ABSL_FLAG(std::string, m, "", "only events of these threads");
ABSL_FLAG(std::string, from, "", "only events from this time on");
ABSL_FLAG(std::string, to, "", "only events up to this time");
ABSL_FLAG(int64_t, limit, std::numeric_limits<int64_t>::max(), "stop after this many events");
ABSL_FLAG(bool, header, false, "print what `assemble` can read");
ABSL_FLAG(bool, json, false, "print JSON");
ABSL_FLAG(std::string, strictness, "all", "what counts: go or all");
ABSL_FLAG(int64_t, max_per_check, 20, "how many findings of one check to print");
ABSL_FLAG(int32_t, jobs, static_cast<int32_t>(gotrace::internal::AvailableCores()),
          "how many cores to use");
ABSL_FLAG(bool, padded, false, "write batch sizes in ten bytes");
ABSL_FLAG(bool, salvage, false, "go on after faults");
ABSL_FLAG(int64_t, trace, gotrace::internal::kAnyTrace, "which trace of the input to read");
ABSL_FLAG(std::string, limits, "", "what a trace may ask of memory and time");
ABSL_FLAG(bool, check, false, "only tell what would be done");
ABSL_FLAG(std::string, o, "", "the file to write");

namespace gotrace::internal {
namespace {

struct CommandRow {
  Command command;
  absl::string_view name;
  absl::string_view summary;
  absl::string_view description;
  absl::string_view examples;
};

constexpr CommandRow kCommands[] = {
    {Command::kEvents, "events", "print the events in order (the default)",
     "Prints the events of a trace in order. Without flags the text is that of\n"
     "`go tool trace -d=parsed`, byte for byte.\n"
     "\n"
     "Conditions combine: an event is printed if it meets all of them. --g and --p choose\n"
     "events whose context has the goroutine or P, or which are about it, as a change of\n"
     "its state. Reading stops when no later event can be printed, but for --salvage.\n"
     "\n"
     "Wall-clock times (RFC 3339: a date, a time and a zone) need a trace of Go 1.25 or later,\n"
     "which holds the wall clock once for each generation. An event's is that of the latest\n"
     "before it, plus the time of the trace clock since.\n"
     "\n"
     "With --salvage a broken trace is read to its end. What contradicts an earlier event, or\n"
     "lacks one, is printed with Fault=ID at the end of its line, or \"fault\" in JSON; strings\n"
     "and stacks that are lost as ?string#12 and ?stack#7. Events that wait for a lost one come\n"
     "once nothing else of their generation can: from there to its end times go back.\n",
     "  gotrace-dump trace.out\n"
     "  gotrace-dump events --kind=StateTransition --g=42 trace.out\n"
     "  gotrace-dump events --from=1.5s --to=1500.2ms --format=json --stacks trace.out\n"
     "  gotrace-dump events --salvage broken.out > events.txt\n"
     "  curl -s localhost:6060/debug/pprof/trace?seconds=5 | gotrace-dump events --limit=100 -\n"},
    {Command::kWire, "wire", "print the trace as it stands in the file",
     "Prints every event as it stands in the file, with its batches and tables, not in order:\n"
     "the text of `go tool trace -d=wire`. Like that tool it stops at experimental events in\n"
     "traces of version 1.25 and earlier; with --header it goes on. It looks at each event\n"
     "alone: that a trace was cut off between two of them, `events` and `validate` tell.\n",
     "  gotrace-dump wire trace.out | grep -c ^GoCreate\n"
     "  gotrace-dump wire --header trace.out > trace.txt\n"},
    {Command::kAssemble, "assemble", "make a trace from its text form",
     "Reads the text form of a trace, as `wire --header` prints it, and writes the trace.\n"
     "A batch may say size=auto to have its size computed.\n",
     "  gotrace-dump assemble -o edited.out trace.txt\n"
     "  gotrace-dump wire --header a.out | gotrace-dump assemble --padded -o b.out -\n"},
    {Command::kFootprint, "footprint", "print what takes how many bytes",
     "Prints for each type of event that occurs how many there are and how many bytes they\n"
     "take, the largest first, and the same for strings, stacks and batch headers.\n",
     "  gotrace-dump footprint trace.out\n"
     "  gotrace-dump footprint --json traces/\n"},
    {Command::kInfo, "info", "print what a trace holds",
     "Prints a trace's version, its generations with their times, sizes and batches, how many\n"
     "threads, goroutines and Ps were seen, the events by kind, the wall-clock time of its\n"
     "start where the trace tells it (since Go 1.25), and its duration.\n",
     "  gotrace-dump info trace.out\n"
     "  gotrace-dump info --json traces/ | jq -r 'select(.duration > 1e9).file'\n"},
    {Command::kValidate, "validate", "judge traces: what is wrong with them, and where",
     "Reads whole traces, going on after faults, and prints all that is wrong or odd: errors,\n"
     "warnings and notes, each with its place and the id of its check. The last line of each\n"
     "file is its verdict: sound, sound with N warnings, or broken. Of several files the last\n"
     "line on the standard error tells how many are what.\n"
     "\n"
     "A directory stands for all files in it and below it, but for hidden ones. What is no trace\n"
     "at all, or one of Go 1.21 or earlier, is skipped there, with a line that says what it is;\n"
     "where it is named itself, it is broken. An empty file is broken everywhere.\n"
     "\n"
     "Exit codes are 0 if all files are sound; 1 if one is broken; and 2 if one cannot be read,\n"
     "whatever the others are, or if there is no trace among them. A file that holds several\n"
     "traces is broken unless --trace=N selects one.\n",
     "  gotrace-dump validate trace.out\n"
     "  gotrace-dump validate --strictness=go --json traces/ > report.jsonl\n"},
    {Command::kRepair, "repair", "make a trace that Go's tools accept of a broken one",
     "Writes a trace that Go's own reader accepts, and tells on the standard error what was done.\n"
     "Sound generations stay as they are. A damaged one is written anew from the events that can\n"
     "be saved, and left out only if there are none. What does not belong in the file is removed.\n"
     "Of the generations, those are kept that follow each other and have the most events. Events\n"
     "that misuse regions, tasks or ranges are left out alone; names and stacks that are lost are\n"
     "added as ?string#12 and ?stack#7; a last generation that was cut off is closed. The result\n"
     "is read again before anything is written. Of several traces in the file, only one is kept:\n"
     "the first, or the one that --trace=N selects.\n"
     "\n"
     "What happened to the trace on its way is undone: CR LF line ends, UTF-16 and UTF-8, base64,\n"
     "hex dumps, JSON, HTTP and multipart messages, text before it, in any combination.\n"
     "\n"
     "Exit codes are 0 if the file is sound or a repaired trace was written; 1 if it is broken "
     "and\n"
     "nothing of it can be saved; and 2 if it cannot be read, or the result not written. With\n"
     "--check nothing is written, and the exit code is 1 whenever the file is broken. A file that\n"
     "holds several traces is broken unless --trace=N selects one.\n",
     "  gotrace-dump repair -o repaired.out broken.out && go tool trace repaired.out\n"
     "  gotrace-dump repair --check broken.out\n"},
};

constexpr unsigned On(Command command) { return 1U << static_cast<unsigned>(command); }

// The commands that take several files.
constexpr unsigned kTakesFiles =
    On(Command::kFootprint) | On(Command::kInfo) | On(Command::kValidate);

// Those of them that tell of one file after the other.
constexpr unsigned kTellsOfEach = On(Command::kFootprint) | On(Command::kInfo);
constexpr absl::string_view kOfSeveralFiles =
    "Of several files each is told under its name; one that is broken does not keep the others\n"
    "from being read. A directory stands for all files in it and below it, but for hidden ones\n"
    "and what is no trace at all, or one of Go 1.21 or earlier: the standard error lists those.\n";

// Which commands take a flag, and how help tells of it.
struct FlagRow {
  absl::string_view name;
  unsigned commands;
  absl::string_view usage;
  absl::string_view help;
  std::string (*more_help)() = nullptr;  // What is made of other tables.
  absl::string_view instead = {};        // What other commands have in its place.
};

// A number as --limits takes it: 2G.
std::string FormatAmount(uint64_t amount) {
  constexpr absl::string_view kUnits[] = {"", "K", "M", "G", "T"};
  size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && amount > 0 && amount % 1024 == 0; ++unit) amount /= 1024;
  return absl::StrCat(amount, kUnits[unit]);
}

// The limits with their defaults, each on a line.
std::string ListLimits() {
  std::string list;
  for (const LimitSpec& limit : AllLimits()) {
    absl::StrAppend(&list, "\n  ", limit.name, "=", FormatAmount(ReaderLimits().*limit.value), ": ",
                    limit.what);
  }
  return list;
}

constexpr FlagRow kFlags[] = {
    {"format", On(Command::kEvents), "--format=go|json",
     "the text of Go's tool (default), or one JSON object a line", nullptr,
     "`footprint`, `info` and `validate` have --json"},
    {"stacks", On(Command::kEvents), "--stacks", "with --format=json: write stacks too"},
    {"wall", On(Command::kEvents), "--wall",
     "with --format=json: write wall-clock times too, if the\ntrace has them (since Go 1.25)"},
    {"kind", On(Command::kEvents), "--kind=KIND,...",
     "only these kinds: Sync, Metric, Label, StackSample,\nRangeBegin, RangeActive, RangeEnd, "
     "TaskBegin, TaskEnd,\nRegionBegin, RegionEnd, Log, StateTransition, Experimental"},
    {"g", On(Command::kEvents), "--g=ID,...", "only events about these goroutines"},
    {"p", On(Command::kEvents), "--p=ID,...", "only events about these Ps"},
    {"m", On(Command::kEvents), "--m=ID,...", "only events of these threads"},
    {"from", On(Command::kEvents), "--from=TIME",
     "only from this time since the start on: 1.5s, 20ms;\nor from a time of events on: "
     "@2078707244416; or from\na wall-clock time on: 2026-11-21T04:25:08.5Z"},
    {"to", On(Command::kEvents), "--to=TIME", "only up to this time, given as for --from"},
    {"limit", On(Command::kEvents), "--limit=N", "stop after N events"},
    {"header", On(Command::kWire), "--header",
     "print what `assemble` can read: the line Trace Go1.NN\nfirst, and all experimental events"},
    {"check", On(Command::kRepair), "--check", "write nothing, only tell what would be done"},
    {"o", On(Command::kAssemble) | On(Command::kRepair), "-o FILE",
     "the file to write; - for the standard output"},
    {"padded", On(Command::kAssemble), "--padded",
     "write batch sizes in ten bytes, as Go's runtime does"},
    {"json", On(Command::kFootprint) | On(Command::kInfo) | On(Command::kValidate), "--json",
     "print one JSON object on a line for each file", nullptr, "`events` has --format=json"},
    {"strictness", On(Command::kValidate), "--strictness=go|all",
     "only what Go's own reader and validator refuse,\nor warnings and notes too (default)"},
    {"max_per_check", On(Command::kValidate), "--max-per-check=N",
     "print N findings of each check, and count the others\n(default 20)"},
    {"jobs", On(Command::kEvents) | On(Command::kInfo) | On(Command::kValidate), "--jobs=N",
     "use N cores at most (default: all): one may read\nahead, and `validate` reads as many files "
     "at once,\nor both halves of a large one"},
    {"salvage", On(Command::kEvents) | On(Command::kFootprint) | On(Command::kInfo), "--salvage",
     "go on after faults with all that can still be read;\nwhat was left out is told on the "
     "standard error"},
    {"trace", ~On(Command::kAssemble), "--trace=N",
     "the Nth trace of an input that holds several, as where\none was appended to another "
     "(default: "
     "the first, with a\nwarning); offsets count from its header"},
    {"limits", ~On(Command::kAssemble), "--limits=NAME=N,...",
     "what a trace may ask of memory and time before it is\nrefused; for `wire` and `footprint` "
     "only the last of these:",
     ListLimits},
};

const CommandRow& RowOf(Command command) { return kCommands[static_cast<size_t>(command)]; }

const CommandRow* FindCommand(absl::string_view name) {
  for (const CommandRow& row : kCommands) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// The names of the commands in `commands`, as a sentence lists them.
std::string ListCommands(unsigned commands) {
  std::vector<std::string> names;
  for (const CommandRow& row : kCommands) {
    if ((On(row.command) & commands) != 0) names.push_back(absl::StrCat("`", row.name, "`"));
  }
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

// The flag as one types it: "--kind", "-o".
absl::string_view Spelling(const FlagRow& row) {
  return row.usage.substr(0, row.usage.find_first_of("= "));
}

const FlagRow* FindFlag(absl::string_view name) {
  for (const FlagRow& row : kFlags) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// An argument that sets a flag: --name, --name=value, --noname, or with one dash.
struct FlagArgument {
  std::string name;
  std::optional<std::string> value;
};

FlagArgument SplitFlag(absl::string_view argument) {
  absl::ConsumePrefix(&argument, "-");
  absl::ConsumePrefix(&argument, "-");
  FlagArgument flag;
  const size_t equals = argument.find('=');
  flag.name = absl::StrReplaceAll(argument.substr(0, equals), {{"-", "_"}});
  if (equals != absl::string_view::npos) flag.value = std::string(argument.substr(equals + 1));
  absl::string_view positive = flag.name;
  if (!flag.value.has_value() && absl::ConsumePrefix(&positive, "no")) {
    const FlagRow* const row = FindFlag(positive);
    if (row != nullptr && absl::FindCommandLineFlag(row->name)->IsOfType<bool>()) {
      flag.name = std::string(positive);
      flag.value = "false";
    }
  }
  return flag;
}

bool FileExists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

// Whether its value may name several things, as its usage tells.
bool IsList(const FlagRow& row) { return absl::EndsWith(row.usage, ",..."); }

// Goes through the arguments and keeps flags and others apart.
class ArgumentParser {
 public:
  explicit ArgumentParser(absl::Span<char* const> args) : args_(args) {}

  absl::StatusOr<CommandLine> Parse() {
    while (next_ < args_.size() && !wants_help_) {
      if (absl::Status status = ParseNext(); !status.ok()) return status;
    }
    return Finish();
  }

 private:
  absl::Status ParseNext() {
    const absl::string_view argument = args_[next_++];
    if (only_files_ || argument == "-" || !absl::StartsWith(argument, "-")) {
      return AddPlain(argument);
    }
    if (argument == "--") {
      only_files_ = true;
      return absl::OkStatus();
    }
    if (argument == "--help" || argument == "-h" || argument == "-help") {
      wants_help_ = true;
      return absl::OkStatus();
    }
    if (argument == "--version") {
      line_.help = absl::StrCat("gotrace-dump ", kGotraceVersion, "\n");
      next_ = args_.size();
      return absl::OkStatus();
    }
    return SetFlag(argument);
  }

  absl::Status AddPlain(absl::string_view argument) {
    if (plain_.empty() && !only_files_ && !has_command_) {
      if (argument == "help") {
        wants_help_ = true;
        if (next_ < args_.size()) {
          const CommandRow* const row = FindCommand(args_[next_]);
          if (row == nullptr) return UnknownCommand(args_[next_]);
          line_.command = row->command;
          has_command_ = true;
        }
        return absl::OkStatus();
      }
      if (const CommandRow* const row = FindCommand(argument)) {
        line_.command = row->command;
        has_command_ = true;
        return absl::OkStatus();
      }
    }
    plain_.push_back(std::string(argument));
    return absl::OkStatus();
  }

  absl::Status SetFlag(absl::string_view argument) {
    FlagArgument flag = SplitFlag(argument);
    const FlagRow* const row = FindFlag(flag.name);
    if (row == nullptr) {
      return UnknownFlag(argument.substr(0, argument.find('=')), flag.name);
    }
    absl::CommandLineFlag* const target = absl::FindCommandLineFlag(row->name);
    const bool is_bool = target->IsOfType<bool>();
    if (!flag.value.has_value() && is_bool) flag.value = "true";
    if (!flag.value.has_value() && next_ < args_.size()) flag.value = args_[next_++];
    // An empty value is a script's unset variable rather than a wish.
    if (!flag.value.has_value() || flag.value->empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(Spelling(*row), " needs a value: ", row->usage));
    }
    // The last of several would silently be the only one, where more than one may be meant.
    if (IsList(*row) && std::count(flags_.begin(), flags_.end(), row) > 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(Spelling(*row), " was given twice; give it once, with all: ", row->usage));
    }
    std::string error;
    if (!target->ParseFrom(*flag.value, &error)) {
      return absl::InvalidArgumentError(absl::StrCat(Quoted(*flag.value), " is not a value of ",
                                                     Spelling(*row), ": expected ",
                                                     is_bool ? "true or false" : row->usage));
    }
    flags_.push_back(row);
    return absl::OkStatus();
  }

  absl::StatusOr<CommandLine> Finish() {
    if (wants_help_) line_.help = has_command_ ? CommandHelp(line_.command) : ProgramHelp();
    if (!line_.help.empty()) return line_;
    for (const FlagRow* flag : flags_) {
      if ((flag->commands & On(line_.command)) == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            Spelling(*flag), " is a flag of ", ListCommands(flag->commands), ", not of ",
            ListCommands(On(line_.command)), flag->instead.empty() ? "" : "; ", flag->instead));
      }
    }
    if (plain_.empty()) {
      return absl::InvalidArgumentError("no FILE was given; - stands for the standard input");
    }
    if (std::count(plain_.begin(), plain_.end(), "") > 0) {
      return absl::InvalidArgumentError("FILE is empty; - stands for the standard input");
    }
    // A mistyped command alone is taken for a file.
    const bool may_be_command = !has_command_ && !only_files_ && plain_.size() == 1 &&
                                plain_[0].find_first_of("./") == std::string::npos;
    if (may_be_command && !NearestCommand(plain_[0]).empty() && !FileExists(plain_[0])) {
      return UnknownCommand(plain_[0]);
    }
    const bool takes_files = (On(line_.command) & kTakesFiles) != 0;
    if (plain_.size() > 1 && !takes_files) return TooManyFiles();
    if (std::count(plain_.begin(), plain_.end(), "-") > 1) {
      return absl::InvalidArgumentError("- was given twice; the standard input can be read once");
    }
    line_.file = plain_[0];
    line_.files = plain_;
    return line_;
  }

  // What was meant by more than one argument that is no flag.
  absl::Status TooManyFiles() const {
    const bool may_have_command = !has_command_ && !only_files_;
    if (may_have_command && FindCommand(plain_[1]) != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("the command comes first: gotrace-dump ",
                                                     plain_[1], " ", QuotedUnlessPlain(plain_[0])));
    }
    // A mistyped command has no dot or slash, as the path of a trace mostly has.
    if (may_have_command && plain_[0].find_first_of("./") == std::string::npos) {
      return UnknownCommand(plain_[0]);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "one FILE at a time, found ", QuotedUnlessPlain(plain_[0]), " and ",
        QuotedUnlessPlain(plain_[1]), "; only ", ListCommands(kTakesFiles), " take several"));
  }

  static std::string NearestCommand(absl::string_view name) {
    std::vector<absl::string_view> names;
    for (const CommandRow& row : kCommands) names.push_back(row.name);
    return std::string(NearestName(name, names));
  }

  static absl::Status UnknownCommand(absl::string_view name) {
    const std::string nearest = NearestCommand(name);
    return absl::InvalidArgumentError(
        absl::StrCat("there is no command ", QuotedUnlessPlain(name), "; ",
                     nearest.empty() ? absl::StrCat("there are ", ListCommands(~0U))
                                     : absl::StrCat("did you mean ", nearest, "?")));
  }

  static absl::Status UnknownFlag(absl::string_view shown, absl::string_view name) {
    std::vector<absl::string_view> names;
    for (const FlagRow& row : kFlags) names.push_back(row.name);
    const FlagRow* const nearest = FindFlag(NearestName(name, names));
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no flag ", QuotedUnlessPlain(shown),
        nearest == nullptr ? "" : absl::StrCat("; did you mean ", Spelling(*nearest), "?")));
  }

  const absl::Span<char* const> args_;
  size_t next_ = 0;
  bool only_files_ = false;  // Behind a "--".
  bool has_command_ = false;
  bool wants_help_ = false;
  std::vector<std::string> plain_;
  std::vector<const FlagRow*> flags_;
  CommandLine line_;
};

void AppendFlag(const FlagRow& row, std::string* help) {
  constexpr int kColumn = 20;
  const std::string more = row.more_help == nullptr ? "" : row.more_help();
  const std::string text = absl::StrReplaceAll(
      absl::StrCat(row.help, more), {{"\n", absl::StrCat("\n", std::string(kColumn + 2, ' '))}});
  absl::StrAppendFormat(help, "  %-*s%s\n", kColumn, row.usage, text);
}

// Appends the flags that exactly these commands take, under a title, if there are some.
void AppendFlagsOf(unsigned commands, std::string* help) {
  std::string flags;
  for (const FlagRow& row : kFlags) {
    if (row.commands == commands) AppendFlag(row, &flags);
  }
  if (!flags.empty()) absl::StrAppend(help, "\nFlags of ", ListCommands(commands), ":\n", flags);
}

// Appends all flags, each once: first those of one command, then those that several share.
void AppendAllFlags(std::string* help) {
  std::vector<unsigned> shared;
  for (const CommandRow& row : kCommands) AppendFlagsOf(On(row.command), help);
  for (const FlagRow& row : kFlags) {
    const bool is_told = std::find(shared.begin(), shared.end(), row.commands) != shared.end();
    if (is_told || std::has_single_bit(row.commands)) continue;
    shared.push_back(row.commands);
    AppendFlagsOf(row.commands, help);
  }
}

constexpr absl::string_view kExitCodes =
    "Exit codes: 0 the input was read to its end, or as far as was asked for; 1 the trace, or\n"
    "its text form, is broken (what stood before the fault was printed); 2 wrong usage, or a\n"
    "file that cannot be read or written, which a closed pipe is too, as that to `head`. Of\n"
    "several files the worst counts.\n";

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<char* const> args) {
  return ArgumentParser(args).Parse();
}

absl::string_view CommandName(Command command) { return RowOf(command).name; }

std::optional<Command> NamedCommand(absl::Span<char* const> args) {
  const CommandRow* const row = args.empty() ? nullptr : FindCommand(args[0]);
  if (row == nullptr) return std::nullopt;
  return row->command;
}

std::string CommandHelp(Command command) {
  const CommandRow& row = RowOf(command);
  std::string help =
      absl::StrCat("Usage: gotrace-dump ", row.name,
                   (On(command) & kTakesFiles) != 0 ? " [FLAGS] FILE…\n\n" : " [FLAGS] FILE\n\n",
                   row.description);
  if ((On(command) & kTellsOfEach) != 0) absl::StrAppend(&help, "\n", kOfSeveralFiles);
  absl::StrAppend(&help, "\nFlags:\n");
  for (const FlagRow& flag : kFlags) {
    if ((flag.commands & On(command)) != 0) AppendFlag(flag, &help);
  }
  absl::StrAppend(&help, "\nExamples:\n", row.examples, "\n", kExitCodes);
  return help;
}

std::string ProgramHelp() {
  std::string help =
      "Usage: gotrace-dump [COMMAND] [FLAGS] FILE\n"
      "\n"
      "Reads Go execution traces of Go 1.22 and later: from runtime/trace, the flight recorder,\n"
      "`go test -trace`, or /debug/pprof/trace. FILE may be - for the standard input, and may be\n"
      "compressed with zstd or gzip. A trace that was changed on its way is read all the same, "
      "with\n"
      "a note: CR LF line ends, UTF-16, base64, hex dumps, JSON, HTTP, text before it.\n";
  absl::StrAppend(&help, ListCommands(kTakesFiles),
                  " take several, and directories.\n\nCommands:\n");
  for (const CommandRow& row : kCommands) {
    absl::StrAppendFormat(&help, "  %-10s %s\n", row.name, row.summary);
  }
  AppendAllFlags(&help);
  absl::StrAppend(&help,
                  "\nFor every command:\n"
                  "  --help, --version\n"
                  "\nExamples:\n");
  for (const CommandRow& row : kCommands) absl::StrAppend(&help, row.examples);
  absl::StrAppend(&help, "\n", kExitCodes, "\n`gotrace-dump help COMMAND` tells more of each.\n");
  return help;
}

}  // namespace gotrace::internal
