#include "tools/command_line.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gotrace/reader_limits.h"
#include "gtest/gtest.h"
#include "util/cores.h"

namespace gotrace::internal {
namespace {

class CommandLineTest : public testing::Test {
 protected:
  static absl::StatusOr<CommandLine> Parse(std::vector<std::string> args) {
    std::vector<char*> pointers;
    for (std::string& arg : args) pointers.push_back(arg.data());
    return ParseCommandLine(pointers);
  }

  static void ExpectLine(const std::vector<std::string>& args, Command command,
                         const std::string& file) {
    const absl::StatusOr<CommandLine> line = Parse(args);
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_EQ(line->command, command);
    EXPECT_EQ(line->file, file);
    EXPECT_EQ(line->help, "");
  }

  static void ExpectHelp(const std::vector<std::string>& args, const std::string& help) {
    const absl::StatusOr<CommandLine> line = Parse(args);
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_EQ(line->help, help);
  }

  static void ExpectError(const std::vector<std::string>& args, const std::string& error) {
    const absl::StatusOr<CommandLine> line = Parse(args);
    EXPECT_EQ(line.status(), absl::InvalidArgumentError(error));
  }

 private:
  absl::FlagSaver saver_;  // Each test begins with the defaults.
};

TEST_F(CommandLineTest, Commands) {
  ExpectLine({"f"}, Command::kEvents, "f");
  ExpectLine({"events", "f"}, Command::kEvents, "f");
  ExpectLine({"wire", "f"}, Command::kWire, "f");
  ExpectLine({"assemble", "f"}, Command::kAssemble, "f");
  ExpectLine({"footprint", "f"}, Command::kFootprint, "f");
  ExpectLine({"info", "f"}, Command::kInfo, "f");
}

TEST_F(CommandLineTest, Files) {
  ExpectLine({"-"}, Command::kEvents, "-");
  ExpectLine({"wire", "-"}, Command::kWire, "-");
  ExpectLine({"wire", "--", "-"}, Command::kWire, "-");
  // What is named as a command or a flag.
  ExpectLine({"wire", "info"}, Command::kWire, "info");
  ExpectLine({"./info"}, Command::kEvents, "./info");
  ExpectLine({"--", "info"}, Command::kEvents, "info");
  ExpectLine({"--", "--g"}, Command::kEvents, "--g");
  ExpectLine({"--", "--"}, Command::kEvents, "--");
  ExpectLine({"info", "help"}, Command::kInfo, "help");
}

TEST_F(CommandLineTest, FlagsStandAnywhere) {
  ExpectLine({"--limit", "3", "events", "--g=1", "f", "-p", "2"}, Command::kEvents, "f");
  EXPECT_EQ(absl::GetFlag(FLAGS_limit), 3);
  EXPECT_EQ(absl::GetFlag(FLAGS_g), "1");
  EXPECT_EQ(absl::GetFlag(FLAGS_p), "2");
}

TEST_F(CommandLineTest, Defaults) {
  ExpectLine({"f"}, Command::kEvents, "f");
  EXPECT_EQ(absl::GetFlag(FLAGS_format), "go");
  EXPECT_FALSE(absl::GetFlag(FLAGS_stacks));
  EXPECT_EQ(absl::GetFlag(FLAGS_kind), "");
  EXPECT_EQ(absl::GetFlag(FLAGS_limit), std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(absl::GetFlag(FLAGS_header));
  EXPECT_FALSE(absl::GetFlag(FLAGS_json));
  EXPECT_FALSE(absl::GetFlag(FLAGS_padded));
  EXPECT_EQ(absl::GetFlag(FLAGS_o), "");
  EXPECT_EQ(static_cast<size_t>(absl::GetFlag(FLAGS_jobs)), AvailableCores());
}

TEST_F(CommandLineTest, EachFlagReachesItsVariable) {
  ExpectLine({"--format=json", "--stacks", "--kind=Log", "--g=1", "--p=2", "--m=3", "--from=4s",
              "--to=5s", "--limit=6", "--jobs=7", "f"},
             Command::kEvents, "f");
  EXPECT_EQ(absl::GetFlag(FLAGS_format), "json");
  EXPECT_TRUE(absl::GetFlag(FLAGS_stacks));
  EXPECT_EQ(absl::GetFlag(FLAGS_kind), "Log");
  EXPECT_EQ(absl::GetFlag(FLAGS_g), "1");
  EXPECT_EQ(absl::GetFlag(FLAGS_p), "2");
  EXPECT_EQ(absl::GetFlag(FLAGS_m), "3");
  EXPECT_EQ(absl::GetFlag(FLAGS_from), "4s");
  EXPECT_EQ(absl::GetFlag(FLAGS_to), "5s");
  EXPECT_EQ(absl::GetFlag(FLAGS_limit), 6);
  EXPECT_EQ(absl::GetFlag(FLAGS_jobs), 7);
  ExpectLine({"wire", "--header", "f"}, Command::kWire, "f");
  EXPECT_TRUE(absl::GetFlag(FLAGS_header));
  ExpectLine({"assemble", "--padded", "-o", "out", "f"}, Command::kAssemble, "f");
  EXPECT_TRUE(absl::GetFlag(FLAGS_padded));
  EXPECT_EQ(absl::GetFlag(FLAGS_o), "out");
  ExpectLine({"info", "--json", "f"}, Command::kInfo, "f");
  EXPECT_TRUE(absl::GetFlag(FLAGS_json));
}

TEST_F(CommandLineTest, SpellingsOfAFlag) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"--kind=a=b", "f"},
                                             {"-kind=a=b", "f"},
                                             {"--kind", "a=b", "f"},
                                             {"-kind", "a=b", "f"}}) {
    absl::SetFlag(&FLAGS_kind, "");
    ExpectLine(args, Command::kEvents, "f");
    EXPECT_EQ(absl::GetFlag(FLAGS_kind), "a=b");
  }
  struct Case {
    std::string arg;
    bool value;
  };
  for (const Case& c : {Case{"--stacks", true}, Case{"--stacks=true", true},
                        Case{"--stacks=1", true}, Case{"-stacks", true}, Case{"--nostacks", false},
                        Case{"--stacks=false", false}, Case{"--stacks=no", false}}) {
    absl::SetFlag(&FLAGS_stacks, !c.value);
    ExpectLine({c.arg, "f"}, Command::kEvents, "f");
    EXPECT_EQ(absl::GetFlag(FLAGS_stacks), c.value) << c.arg;
  }
}

TEST_F(CommandLineTest, TheLastOfTwoCounts) {
  ExpectLine({"--limit=1", "--limit=2", "f"}, Command::kEvents, "f");
  EXPECT_EQ(absl::GetFlag(FLAGS_limit), 2);
}

TEST_F(CommandLineTest, SeveralFiles) {
  for (const char* const command : {"info", "footprint", "validate"}) {
    const absl::StatusOr<CommandLine> line = Parse({command, "a", "b"});
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_EQ(line->files, (std::vector<std::string>{"a", "b"}));
  }
}

TEST_F(CommandLineTest, ErrorsOfFiles) {
  ExpectError({}, "no FILE was given; - stands for the standard input");
  ExpectError({"info"}, "no FILE was given; - stands for the standard input");
  ExpectError({"--"}, "no FILE was given; - stands for the standard input");
  ExpectError({"--g=1"}, "no FILE was given; - stands for the standard input");
  ExpectError({"a.out", "b.out"},
              "one FILE at a time, found a.out and b.out; only `footprint`, `info` and `validate` "
              "take several");
  ExpectError(
      {"wire", "a", "b"},
      "one FILE at a time, found a and b; only `footprint`, `info` and `validate` take several");
  ExpectError(
      {"--", "a", "--g"},
      "one FILE at a time, found a and --g; only `footprint`, `info` and `validate` take several");
  ExpectError({"a.out", "info"}, "the command comes first: gotrace-dump info a.out");
  ExpectError({"info", "-", "a", "-"}, "- was given twice; the standard input can be read once");
}

TEST_F(CommandLineTest, ErrorsOfCommands) {
  constexpr absl::string_view kThereAre =
      "; there are `events`, `wire`, `assemble`, `footprint`, `info`, `validate` and `repair`";
  ExpectError({"evnts", "a.out"}, "there is no command evnts; did you mean events?");
  ExpectError({"help", "evnts"}, "there is no command evnts; did you mean events?");
  ExpectError({"evnts"}, "there is no command evnts; did you mean events?");
  ExpectError({"print", "a.out"}, absl::StrCat("there is no command print", kThereAre));
  ExpectError({""}, "FILE is empty; - stands for the standard input");
  // It may be a file.
  ExpectLine({"./evnts"}, Command::kEvents, "./evnts");
  ExpectLine({"--", "evnts"}, Command::kEvents, "evnts");
}

TEST_F(CommandLineTest, ErrorsOfFlags) {
  ExpectError({"--knd=Log", "f"}, "there is no flag --knd; did you mean --kind?");
  ExpectError({"--slavage", "f"}, "there is no flag --slavage; did you mean --salvage?");
  ExpectError({"--max-percheck=1", "f"},
              "there is no flag --max-percheck; did you mean --max-per-check?");
  ExpectError({"-x", "f"}, "there is no flag -x");
  ExpectError({"---g=1", "f"}, "there is no flag ---g");
  ExpectError({"--nokind", "f"}, "there is no flag --nokind; did you mean --kind?");
  ExpectError({"--nostacks=1", "f"}, "there is no flag --nostacks; did you mean --stacks?");
  ExpectError({"f", "--limit"}, "--limit needs a value: --limit=N");
  ExpectError({"--kind=", "f"}, "--kind needs a value: --kind=KIND,...");
  ExpectError({"--g", "", "f"}, "--g needs a value: --g=ID,...");
  ExpectError({"assemble", "f", "-o"}, "-o needs a value: -o FILE");
  ExpectError({"--limit=many", "f"}, "\"many\" is not a value of --limit: expected --limit=N");
  ExpectError({"--limit=\n", "f"}, "\"\\n\" is not a value of --limit: expected --limit=N");
  ExpectError({"--a\nb", "f"}, "there is no flag \"--a\\nb\"");
  ExpectError({"--limit", "f"}, "\"f\" is not a value of --limit: expected --limit=N");
  ExpectError({"--limit=9223372036854775808", "f"},
              "\"9223372036854775808\" is not a value of --limit: expected --limit=N");
  ExpectError({"--stacks=maybe", "f"},
              "\"maybe\" is not a value of --stacks: expected true or false");
}

TEST_F(CommandLineTest, ListsAreGivenOnce) {
  ExpectError({"--g=1", "--g=2", "f"}, "--g was given twice; give it once, with all: --g=ID,...");
  ExpectError({"--kind=Log", "f", "--kind", "Sync"},
              "--kind was given twice; give it once, with all: --kind=KIND,...");
}

TEST_F(CommandLineTest, ErrorsOfFlagsOfOtherCommands) {
  ExpectError({"--header", "f"}, "--header is a flag of `wire`, not of `events`");
  ExpectError({"--json", "f"},
              "--json is a flag of `footprint`, `info` and `validate`, not of `events`; "
              "`events` has --format=json");
  ExpectError({"info", "--format=json", "f"},
              "--format is a flag of `events`, not of `info`; `footprint`, `info` and `validate` "
              "have --json");
  ExpectError({"wire", "-o", "x", "f"}, "-o is a flag of `assemble` and `repair`, not of `wire`");
  ExpectError({"info", "f", "--limit=1"}, "--limit is a flag of `events`, not of `info`");
}

TEST_F(CommandLineTest, Help) {
  for (const char* const flag : {"--help", "-help", "-h", "help"})
    ExpectHelp({flag}, ProgramHelp());
  ExpectHelp({"help", "wire"}, CommandHelp(Command::kWire));
  ExpectHelp({"wire", "--help"}, CommandHelp(Command::kWire));
  ExpectHelp({"wire", "f", "-h", "--knd"}, CommandHelp(Command::kWire));
  ExpectHelp({"--version"}, "gotrace-dump 0.1.0\n");
  ExpectHelp({"info", "--version", "--knd"}, "gotrace-dump 0.1.0\n");
}

TEST_F(CommandLineTest, HelpOfACommand) {
  EXPECT_EQ(CommandHelp(Command::kInfo),
            R"(Usage: gotrace-dump info [FLAGS] FILE…

Prints a trace's version, its generations with their times, sizes and batches, how many
threads, goroutines and Ps were seen, the events by kind, the wall-clock time of its
start where the trace tells it (since Go 1.25), and its duration.

Of several files each is told under its name; one that is broken does not keep the others
from being read. A directory stands for all files in it and below it, but for hidden ones
and what is no trace at all, or one of Go 1.21 or earlier: the standard error lists those.

Flags:
  --json              print one JSON object on a line for each file
  --jobs=N            use N cores at most (default: all): one may read
                      ahead, and `validate` reads as many files at once,
                      or both halves of a large one
  --salvage           go on after faults with all that can still be read;
                      what was left out is told on the standard error
  --trace=N           the Nth trace of an input that holds several, as where
                      one was appended to another (default: the first, with a
                      warning); offsets count from its header
  --limits=NAME=N,... what a trace may ask of memory and time before it is
                      refused; for `wire` and `footprint` only the last of these:
                        generation-bytes=2G: bytes in a generation
                        threads=128K: threads in a generation
                        procs=64K: Ps
                        goroutines=256K: live goroutines
                        nesting=4M: tasks, regions and ranges open at a time
                        decompressed-bytes=1T: bytes in what the compressed input stands for

Examples:
  gotrace-dump info trace.out
  gotrace-dump info --json traces/ | jq -r 'select(.duration > 1e9).file'

Exit codes: 0 the input was read to its end, or as far as was asked for; 1 the trace, or
its text form, is broken (what stood before the fault was printed); 2 wrong usage, or a
file that cannot be read or written, which a closed pipe is too, as that to `head`. Of
several files the worst counts.
)");
}

// The flags that a help tells, each with its lines.
std::vector<std::string> FlagsIn(const std::string& help) {
  std::vector<std::string> flags;
  for (const absl::string_view line : absl::StrSplit(help, '\n')) {
    const bool goes_on = absl::StartsWith(line, "      ") && !flags.empty();
    if (absl::StartsWith(line, "  -")) flags.emplace_back();
    if (absl::StartsWith(line, "  -") || goes_on) absl::StrAppend(&flags.back(), line, "\n");
  }
  return flags;
}

// The program's help has what the help of each command has, and fits a terminal.
TEST_F(CommandLineTest, HelpIsWhole) {
  const std::string program = ProgramHelp();
  const std::vector<std::string> flags = FlagsIn(program);
  EXPECT_EQ(std::set<std::string>(flags.begin(), flags.end()).size(), flags.size());
  for (const Command command :
       {Command::kEvents, Command::kWire, Command::kAssemble, Command::kFootprint, Command::kInfo,
        Command::kValidate, Command::kRepair}) {
    const std::string help = CommandHelp(command);
    EXPECT_FALSE(FlagsIn(help).empty());
    for (const std::string& flag : FlagsIn(help)) {
      EXPECT_EQ(std::count(flags.begin(), flags.end(), flag), 1) << flag;
    }
    const size_t examples = help.find("Examples:\n") + 10;
    EXPECT_TRUE(
        absl::StrContains(program, help.substr(examples, help.find("\n\n", examples) - examples)));
  }
  size_t width = 0;
  for (const char c : program) {
    width = c == '\n' ? 0 : width + 1;
    EXPECT_LE(width, 100);
  }
}

// The table in docs/limits.md has the names and defaults that the help has.
TEST_F(CommandLineTest, DocumentedLimitsMatchTheHelp) {
  std::ostringstream document;
  document << std::ifstream("docs/limits.md").rdbuf();
  const std::string help = CommandHelp(Command::kInfo);
  for (const LimitSpec& limit : AllLimits()) {
    const size_t begin = help.find(absl::StrCat("  ", limit.name, "="));
    ASSERT_NE(begin, std::string::npos) << limit.name;
    const size_t value = help.find('=', begin) + 1;
    const std::string shown = help.substr(value, help.find(':', value) - value);
    EXPECT_TRUE(
        absl::StrContains(document.str(), absl::StrCat("| `", limit.name, "` | ", shown, " |")))
        << limit.name << " " << shown;
  }
}

}  // namespace
}  // namespace gotrace::internal
