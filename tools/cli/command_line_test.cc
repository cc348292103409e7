#include "tools/cli/command_line.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gotrace/library_version.h"
#include "gotrace/reader_limits.h"
#include "gotrace/trace_summary.h"
#include "gtest/gtest.h"
#include "testing/test_directory.h"
#include "tools/cli/commit.h"
#include "tools/cli/instead.h"
#include "tools/commands/convert_formats.h"

namespace gotrace::internal {
namespace command_line_test {

constexpr char kNoFile[] = "FILE is missing; use - for the standard input";

class CommandLineTest : public testing::Test {
 protected:
  absl::Status Parse(std::vector<std::string> args) {
    std::vector<char*> pointers;
    for (std::string& arg : args) pointers.push_back(arg.data());
    line_ = CommandLine();
    commands_ = MakeCommands();  // Each command line begins with the defaults.
    return ParseCommandLine(pointers, commands_, is_terminal_, &line_);
  }

  void ExpectLine(const std::vector<std::string>& args, absl::string_view command,
                  const std::vector<std::string>& files) {
    const absl::Status status = Parse(args);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(line_.command->text().name, command);
    EXPECT_EQ(line_.files, files);
    EXPECT_EQ(line_.help, "");
  }

  void ExpectHelp(const std::vector<std::string>& args, const std::string& help) {
    const absl::Status status = Parse(args);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(line_.help, help);
  }

  void ExpectError(const std::vector<std::string>& args, const std::string& error) {
    EXPECT_EQ(Parse(args), absl::InvalidArgumentError(error));
  }

  std::string HelpOf(absl::string_view name) {
    for (const auto& command : commands_) {
      if (command->text().name == name) return command->Help();
    }
    ADD_FAILURE() << "no command " << name;
    return "";
  }

  // Returns the names of the commands that `is_named` selects: "`a`, `b` and `c`".
  static std::string Names(const std::function<bool(Command& command)>& is_named) {
    std::vector<std::string> names;
    for (const auto& command : MakeCommands()) {
      if (is_named(*command)) names.push_back(absl::StrCat("`", command->text().name, "`"));
    }
    const std::string last = names.back();
    names.pop_back();
    return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
  }

  // The command with the flags that it cannot do without, and `more` arguments.
  static std::vector<std::string> Words(const std::string& name,
                                        const std::vector<std::string>& more) {
    std::vector<std::string> words = {name};
    if (name == "convert") words.push_back("--to=chrome");
    if (name == "path") words.push_back("--g=1");
    if (name == "tables") words.push_back("--o=dir");
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  CommandList commands_ = MakeCommands();
  bool is_terminal_ = false;
  CommandLine line_;
};

TEST_F(CommandLineTest, Commands) {
  ExpectLine({"f"}, "events", {"f"});
  for (const auto& command : MakeCommands()) {
    const std::string name(command->text().name);
    ExpectLine(Words(name, {"f"}), name, {"f"});
    // A file may have the name of a command.
    ExpectLine(Words(name, {"info"}), name, {"info"});
  }
}

TEST_F(CommandLineTest, FilesAloneAreSummarizedOnATerminal) {
  is_terminal_ = true;
  ExpectLine({"f"}, "summary", {"f"});
  ExpectLine({"-"}, "summary", {"-"});
  ExpectLine({"--", "info"}, "summary", {"info"});
  ExpectLine({"--jobs=1", "f"}, "events", {"f"});
  ExpectLine({"events", "f"}, "events", {"f"});
  ExpectError({}, kNoFile);
}

// The first table of docs/commands.md has rows such as "| [tasks, regions](analyses.md) | ... |".
TEST_F(CommandLineTest, CommandsAreThoseOfTheDocument) {
  std::set<std::string> described;
  std::ifstream document("docs/commands.md");
  for (std::string line; std::getline(document, line) && !absl::StartsWith(line, "FILE may be");) {
    if (!absl::StartsWith(line, "| [")) continue;
    const std::string names = line.substr(3, line.find(']') - 3);
    for (const absl::string_view name : absl::StrSplit(names, ", ")) described.emplace(name);
  }
  std::set<std::string> commands;
  for (const auto& command : MakeCommands()) commands.emplace(command->text().name);
  EXPECT_EQ(described, commands);
}

TEST_F(CommandLineTest, Files) {
  ExpectLine({"-"}, "events", {"-"});
  ExpectLine({"wire", "-"}, "wire", {"-"});
  ExpectLine({"wire", "--", "-"}, "wire", {"-"});
  ExpectLine({"./info"}, "events", {"./info"});
  ExpectLine({"--", "info"}, "events", {"info"});
  ExpectLine({"--", "--g"}, "events", {"--g"});
  ExpectLine({"--", "--"}, "events", {"--"});
  ExpectLine({"info", "help"}, "info", {"help"});
  ExpectLine({"a.out", "b.out"}, "events", {"a.out", "b.out"});
  ExpectLine({"a.out", "--", "info"}, "events", {"a.out", "info"});
  for (const auto& command : MakeCommands()) {
    const std::string name(command->text().name);
    if (command->text().takes_several_files || command->text().compares_files) {
      ExpectLine(Words(name, {"a", "b"}), name, {"a", "b"});
    } else {
      ExpectError(
          Words(name, {"a", "b"}),
          absl::StrCat("`", name, "` takes one FILE, found a and b; ",
                       Names([](Command& command) { return command.text().takes_several_files; }),
                       " take several"));
    }
  }
}

TEST_F(CommandLineTest, FlagsMayPrecedeTheCommand) {
  ExpectLine({"--limit", "3", "events", "--g=1", "f", "-p", "2"}, "events", {"f"});
  ExpectLine({"--json", "info", "f"}, "info", {"f"});
  ExpectLine({"-o", "x", "repair", "f"}, "repair", {"f"});
}

// Whichever of the two a command has.
TEST_F(CommandLineTest, JsonIsAFlagAndAFormat) {
  using Flags = std::vector<std::pair<std::string, std::string>>;
  const auto flags_of = [&](const std::vector<std::string>& args) {
    ExpectLine(args, args[0], {"f"});
    return Flags(line_.flags.begin(), line_.flags.end());
  };
  EXPECT_EQ(flags_of({"info", "--format=json", "f"}), flags_of({"info", "--json", "f"}));
  EXPECT_EQ(flags_of({"info", "--format", "text", "f"}), flags_of({"info", "--nojson", "f"}));
  EXPECT_EQ(flags_of({"gc", "--json", "f"}), flags_of({"gc", "--format=json", "f"}));
  EXPECT_EQ(flags_of({"events", "--json", "--stacks", "f"}),
            flags_of({"events", "--format=json", "--stacks", "f"}));
}

// Every row of every command: with a value and without, alone and with the others.
TEST_F(CommandLineTest, EachFlagIsAccepted) {
  // By the name of the flag or, where the command gives it a meaning of its own, of both.
  const std::map<std::string, std::string> values = {{"format", "json"},
                                                     {"kind", "Log"},
                                                     {"g", "1"},
                                                     {"p", "2"},
                                                     {"m", "3"},
                                                     {"from", "1s"},
                                                     {"to", "2s"},
                                                     {"at", "2s"},
                                                     {"fail-above", "3"},
                                                     {"base", "before"},
                                                     {"convert to", "chrome"},
                                                     {"until", "2s"},
                                                     {"profile type", "sync"},
                                                     {"func", "main.main"},
                                                     {"stack", "main.*"},
                                                     {"reason", "select"},
                                                     {"view", "thread"},
                                                     {"task", "1"},
                                                     {"scheduling", "generic"},
                                                     {"process", "shop"},
                                                     {"pid", "7"},
                                                     {"buffer", "circular:64K"},
                                                     {"limit", "6"},
                                                     {"by", "func"},
                                                     {"per", "task"},
                                                     {"a", "1s,2s"},
                                                     {"b", "@5,"},
                                                     {"path sort", "length"},
                                                     {"region", "query"},
                                                     {"id", "1"},
                                                     {"flags", "stw,perproc"},
                                                     {"tables", "events,logs"},
                                                     {"tables format", "tsv"},
                                                     {"files-from", "list"},
                                                     {"service", "checkout"},
                                                     {"host", "web1"},
                                                     {"attr", "zone=eu"},
                                                     {"path-pattern", "{service}/*"},
                                                     {"sql format", "jsonl"},
                                                     {"f", "queries.sql"},
                                                     {"save", "trace.sqlite"},
                                                     {"stack-id", "lines"},
                                                     {"latency kind", "scheduling,pause"},
                                                     {"locks kind", "mutex,chan"},
                                                     {"by", "stack"},
                                                     {"worst", "5"},
                                                     {"slices", "20"},
                                                     {"longer", "100ms"},
                                                     {"windows", "1ms,50ms"},
                                                     {"top", "5"},
                                                     {"compat", "go"},
                                                     {"type", "request"},
                                                     {"min", "1ms"},
                                                     {"max", "1s"},
                                                     {"log", "timeout"},
                                                     {"jobs", "2"},
                                                     {"nesting", "2"},
                                                     {"epoch", "2026-11-21T04:25:08.5Z"},
                                                     {"trace", "2"},
                                                     {"offset", "2=-1.5s,3=20ms"},
                                                     {"limits", "decompressed-bytes=1G"},
                                                     {"o", "out"},
                                                     {"strictness", "go"},
                                                     {"every", "1s"},
                                                     {"size", "64M"},
                                                     {"generations", "2"},
                                                     {"only", "messages,files"},
                                                     {"also", "times"},
                                                     {"keep", "^main"},
                                                     {"map", "map.tsv"},
                                                     {"port", "8080"},
                                                     {"max-size", "5M"},
                                                     {"max-per-check", "3"}};
  for (const auto& command : MakeCommands()) {
    const std::string name(command->text().name);
    for (const Flag& flag : command->Flags()) {
      SCOPED_TRACE(absl::StrCat(name, " ", flag.Spelling()));
      // `path` is of one of these.
      const std::set<absl::string_view> path_choices = {"task", "g",   "type", "region",
                                                        "func", "min", "max",  "worst"};
      const bool is_choice = name == "path" && path_choices.contains(flag.name);
      std::vector<std::string> args =
          is_choice ? std::vector<std::string>{name, "f"} : Words(name, {"f"});
      if (flag.name == "related") args.push_back("--g=1");
      if (name == "goroutines" && (flag.name == "state" || flag.name == "stack")) {
        args.push_back("--at=1s");
      }
      // Of several values that it may need, the first.
      const absl::string_view needs = flag.needs.substr(0, flag.needs.find('|'));
      if (!needs.empty()) args.push_back(absl::StrCat("--", needs));
      const std::string dashed = absl::StrCat("--", flag.name);
      if (flag.is_switch()) {
        args.push_back(dashed);
        ExpectLine(args, name, {"f"});
        args.back() = absl::StrCat("--no", flag.name);
        ExpectLine(args, name, {"f"});
        args.back() = dashed + "=maybe";
        ExpectError(args,
                    absl::StrCat(flag.Spelling(), ": expected true or false, found \"maybe\""));
        continue;
      }
      const std::string own_key = absl::StrCat(name, " ", flag.name);
      const std::string key = values.contains(own_key) ? own_key : std::string(flag.name);
      // Any other flag lists its values, such as the columns to sort by.
      ASSERT_TRUE(values.contains(key) || !flag.set.choices().empty());
      const std::string value = values.contains(key) ? values.at(key) : flag.set.choices().front();
      args.push_back(absl::StrCat(dashed, "=", value));
      ExpectLine(args, name, {"f"});
      args.back() = absl::StrCat(dashed.substr(1), "=", value);
      ExpectLine(args, name, {"f"});
      args.back() = dashed;
      args.push_back(value);
      ExpectLine(args, name, {"f"});
      args.pop_back();
      ExpectError(args, absl::StrCat(flag.Spelling(), " needs a value: ", flag.Usage()));
      args.back() = dashed + "=";
      ExpectError(args, absl::StrCat(flag.Spelling(), " needs a value: ", flag.Usage()));
      // All values that completion offers are accepted.
      for (const std::string& choice : flag.set.choices()) {
        const bool is_whole = choice.find_last_of("=:") != choice.size() - 1;
        EXPECT_TRUE(flag.set(is_whole ? choice : choice + "1M").ok()) << choice;
      }
      // The help has it.
      EXPECT_TRUE(absl::StrContains(command->Help(), absl::StrCat("  ", flag.Usage())));
    }
  }
}

// A mistyped letter in the name of any flag is noticed, and the flag suggested.
TEST_F(CommandLineTest, EachFlagIsSuggested) {
  for (const auto& command : MakeCommands()) {
    for (const Flag& flag : command->Flags()) {
      if (flag.name.size() < 4) continue;
      std::string wrong(flag.name);
      const size_t i = wrong[1] == wrong[2] ? 2 : 1;
      std::swap(wrong[i], wrong[i + 1]);
      ExpectError(
          {std::string(command->text().name), absl::StrCat("--", wrong, "=1"), "f"},
          absl::StrCat("there is no flag --", wrong, "; did you mean ", flag.Spelling(), "?"));
    }
  }
}

// Otherwise a command that follows flags could not be found.
TEST_F(CommandLineTest, AFlagIsASwitchInAllCommandsOrInNone) {
  std::map<std::string, bool> is_switch;
  for (const auto& command : MakeCommands()) {
    std::set<std::string> names;
    for (const Flag& flag : command->Flags()) {
      const std::string name(flag.name);
      EXPECT_TRUE(names.insert(name).second) << name << " is twice in " << command->text().name;
      const auto [it, is_new] = is_switch.insert({name, flag.is_switch()});
      EXPECT_EQ(it->second, flag.is_switch()) << name;
      EXPECT_EQ(FindFlag(command->Flags(), flag.name)->name, name);
    }
  }
}

TEST_F(CommandLineTest, SpellingsOfValues) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"repair", "-o", "x", "f"},
                                             {"repair", "-o=x", "f"},
                                             {"repair", "-ox", "f"},
                                             {"repair", "--o=x", "f"},
                                             {"repair", "-ow/x", "f"},
                                             {"repair", "-ox=y", "f"}}) {
    ExpectLine(args, "repair", {"f"});
  }
  ExpectLine({"-g1,2", "f"}, "events", {"f"});
  ExpectLine({"validate", "--max_per_check=1", "f"}, "validate", {"f"});
  for (const std::string value : {"true", "1", "yes", "false", "no", "0"}) {
    ExpectLine({"wire", "--header=" + value, "f"}, "wire", {"f"});
  }
}

TEST_F(CommandLineTest, ErrorsOfFiles) {
  ExpectError({}, kNoFile);
  ExpectError({"info"}, kNoFile);
  ExpectError({"--"}, kNoFile);
  ExpectError({"--g=1"}, kNoFile);
  ExpectError({"tables", "-o", "x"}, kNoFile);
  ExpectLine({"tables", "--describe"}, "tables", {});
  ExpectLine({"tables", "--files-from=x", "-o", "x"}, "tables", {});
  ExpectError({"a.out", "info"}, "the command comes first: gotrace-dump info a.out");
  ExpectError({"info", "-", "a", "-"},
              "- was given twice; the standard input can be read only once");
  ExpectError({""}, "the name of a FILE is empty; use - for the standard input");
}

TEST_F(CommandLineTest, ErrorsOfCommands) {
  const std::string kCommands =
      absl::StrCat("; the commands are ", Names([](Command&) { return true; }));
  ExpectError({"evnts", "a.out"}, "there is no command evnts; did you mean events?");
  ExpectError({"help", "evnts"}, "there is no command evnts; did you mean events?");
  ExpectError({"evnts"}, "there is no command evnts; did you mean events?");
  ExpectError({"print", "a.out"}, absl::StrCat("there is no command print", kCommands));
  // It may be a file.
  ExpectLine({"./evnts"}, "events", {"./evnts"});
  ExpectLine({"--", "evnts"}, "events", {"evnts"});
  std::ofstream("evnts") << "x";
  ExpectLine({"evnts"}, "events", {"evnts"});
  std::remove("evnts");
}

TEST_F(CommandLineTest, ErrorsOfFlags) {
  ExpectError({"--knd=Log", "f"}, "there is no flag --knd; did you mean --kind?");
  ExpectError({"--max-percheck=1", "f"},
              "there is no flag --max-percheck; did you mean --max-per-check?");
  ExpectError({"-x", "f"}, "there is no flag -x");
  ExpectError({"---g=1", "f"}, "there is no flag ---g");
  ExpectError({"--nokind", "f"}, "there is no flag --nokind; did you mean --kind?");
  ExpectError({"--nostacks=1", "f"}, "there is no flag --nostacks; did you mean --stacks?");
  ExpectError({"--a\nb", "f"}, "there is no flag \"--a\\nb\"");
}

TEST_F(CommandLineTest, ErrorsOfValues) {
  ExpectError({"f", "--limit"}, "--limit needs a value: --limit=N");
  ExpectError({"--g", "", "f"}, "--g needs a value: --g=ID,...");
  ExpectError({"assemble", "f", "-o"}, "-o needs a value: -o FILE");
  ExpectError({"--limit=many", "f"}, "--limit: expected a number, found \"many\"");
  ExpectError({"--limit=\n", "f"}, "--limit: expected a number, found \"\\n\"");
  ExpectError({"--limit=-1", "f"}, "--limit: must be 0 or more, found -1");
  ExpectError({"--jobs=0", "f"}, "--jobs: must be 1 or more, found 0");
  ExpectError({"--trace=0", "f"}, "--trace: must be 1 or more, found 0");
  ExpectLine({"--limit=18446744073709551615", "f"}, "events", {"f"});
  ExpectError({"--limit=18446744073709551616", "f"},
              "--limit: 18446744073709551616 is too large; the maximum is 18446744073709551615");
  ExpectError({"--format=xml", "f"}, "--format: expected go or json, found \"xml\"");
  ExpectLine({"--format=JSON", "f"}, "events", {"f"});
}

TEST_F(CommandLineTest, ListsAreGivenOnce) {
  ExpectError({"--g=1", "--g=2", "f"},
              "--g was given twice; give it once, with all values: --g=ID,...");
  ExpectError({"--kind=Log", "f", "--kind", "Sync"},
              "--kind was given twice; give it once, with all values: --kind=KIND,...");
}

TEST_F(CommandLineTest, FlagsThatDoNotGoTogether) {
  ExpectError({"--stacks", "f"}, "--stacks works only with --format=json");
  ExpectError({"--format=go", "--wall", "f"}, "--wall works only with --format=json");
  ExpectLine({"--stacks=false", "f"}, "events", {"f"});
  ExpectLine({"--wall", "--format=Json", "f"}, "events", {"f"});
  ExpectError({"repair", "--check", "-o", "x", "f"}, "--check and -o cannot be used together");
  ExpectLine({"repair", "--nocheck", "-o", "x", "f"}, "repair", {"f"});
  ExpectError({"--from=2s", "--to=1s", "f"},
              "--from is later than --to, so no event is between them");
}

TEST_F(CommandLineTest, TheLastOfTwoCounts) {
  ExpectLine({"--from=2s", "--to=1s", "--from=@5", "f"}, "events", {"f"});
  ExpectLine({"--from=@5", "--to=@4", "--to=1ms", "f"}, "events", {"f"});
  ExpectLine({"--from=2026-11-21T04:25:08Z", "--to=2026-11-21T04:25:07Z", "--to=1h", "f"}, "events",
             {"f"});
}

TEST_F(CommandLineTest, ErrorsOfFlagsOfOtherCommands) {
  ExpectError({"--header", "f"}, "--header is a flag of `wire`, not of `events`");
  ExpectError({"wire", "--json", "f"},
              "--json is a flag of `info`, `footprint`, `validate` and `summary`, not of `wire`");
  ExpectError({"tables", "--json", "f"},
              "--json is a flag of `info`, `footprint`, `validate` and `summary`, not of `tables`");
  ExpectError({"info", "--format=csv", "f"},
              absl::StrCat("--format is a flag of ", Names([](Command& command) {
                             const std::vector<Flag> flags = command.Flags();
                             return std::any_of(flags.begin(), flags.end(), [](const Flag& flag) {
                               return flag.name == "format";
                             });
                           }),
                           ", not of `info`; other commands have --json"));
  ExpectError(
      {"wire", "-o", "x", "f"},
      "-o is a flag of `assemble`, `repair`, `trim`, `select`, `split`, `join`, `anonymise`, "
      "`convert`, `path`, `profile`, `tables` and `report`, not of `wire`");
  ExpectError({"info", "f", "--limit=1"}, "--limit is a flag of `events`, not of `info`");
}

// Each row is reached.
TEST_F(CommandLineTest, WhatPeopleTypeIsAnswered) {
  for (const Instead& row : InsteadOfFlags()) {
    const std::string command(row.command.empty() ? "latency" : row.command);
    const std::string argument = absl::StrCat("--", row.typed);
    const bool has_value = absl::StrContains(row.typed, "=");
    const absl::Status status =
        Parse({command, has_value ? argument : absl::StrCat(argument, "=1"), "f"});
    EXPECT_TRUE(absl::EndsWith(status.message(), absl::StrCat("; ", row.advice)))
        << command << " " << argument << ": " << status;
    EXPECT_EQ(absl::StartsWith(status.message(), absl::StrCat("`", command, "` has no flag --")),
              !has_value)
        << status;
  }
  for (const Instead& row : InsteadOfCommands()) {
    ExpectError({std::string(row.typed), "f"},
                absl::StrCat("there is no command ", row.typed, "; ", row.advice));
    ExpectError({std::string(row.typed)},
                absl::StrCat("there is no command ", row.typed, "; ", row.advice));
  }
  // Also if there is a folder of that name.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(MakeTestDirectory());
  std::filesystem::create_directory("web");
  ExpectError({"web"}, absl::StrCat("there is no command web; ", AdviceOnCommand("web")));
  std::ofstream("view") << "a trace";
  EXPECT_EQ(Parse({"view"}), absl::OkStatus());
  std::filesystem::current_path(before);
  ExpectError({"profile", "--type=cpu", "f"},
              absl::StrCat("--type: expected wall or offcpu or oncpu or net or sync or syscall or "
                           "sched or wakeup or create or gc-assist, found \"cpu\"; --type=oncpu is "
                           "the time on Ps, by the samples of the CPU profiler"));
  ExpectError({"summary", "--top=3", "f"},
              "`summary` has no flag --top; it prints the first rows of its tables; --json has "
              "all");
}

// These are what people type, too.
TEST_F(CommandLineTest, WhatPeopleTypeWorks) {
  const std::vector<std::string> lines[] = {
      {"latency", "--min=1ms", "--max=1s"},
      {"latency", "--reason=chan receive"},
      {"latency", "--by=g"},
      {"gc", "--min=1ms"},
      {"gc", "--pauses", "--max=1ms"},
      {"goroutines", "--func=main.worker"},
      {"goroutines", "--at=1s", "--state=waiting"},
      {"path"},
      {"path", "--func=main.worker"},
      {"path", "--min=1ms", "--max=1s", "--worst=3"},
      {"tasks", "--worst=3"},
      {"regions", "--worst=3"},
      {"latency", "--stack=main"},
      {"profile", "--stack=main"},
      {"locks"},
  };
  for (std::vector<std::string> line : lines) {
    line.push_back("f");
    ExpectLine(line, line[0], {"f"});
  }
}

// The help that an error refers to.
TEST_F(CommandLineTest, ErrorsAreExplainedByACommand) {
  const auto explained_by = [&](const std::vector<std::string>& args) {
    EXPECT_FALSE(Parse(args).ok());
    return line_.explained_by == nullptr ? "" : std::string(line_.explained_by->text().name);
  };
  EXPECT_EQ(explained_by({}), "");
  EXPECT_EQ(explained_by({"evnts", "f"}), "");
  EXPECT_EQ(explained_by({"info"}), "info");
  EXPECT_EQ(explained_by({"info", "--knd", "f"}), "info");
  EXPECT_EQ(explained_by({"--limit=x", "f"}), "events");
}

TEST_F(CommandLineTest, ErrorsOfConvert) {
  std::vector<absl::string_view> formats;
  for (const ConvertFormat& format : ConvertFormats()) formats.push_back(format.name);
  ExpectError({"convert", "f"},
              absl::StrCat("--to=FORMAT is missing; the formats are ", absl::StrJoin(formats, ", "),
                           " (--until is the end of the window)"));
  ExpectError({"convert", "--to=2s", "f"},
              absl::StrCat("--to: expected ", absl::StrJoin(formats, " or "),
                           ", found \"2s\"; use --until for the end of the window"));
  ExpectError({"convert", "--to=chrome", "--brief", "f"},
              "--brief works only with --to=trace2-normal or --to=trace2-perf or "
              "--to=trace2-event");
  ExpectError({"convert", "--to=trace2-event", "--epoch=12:00", "f"},
              "--epoch: expected a time with its zone, like 2026-11-21T04:25:08.5Z; found "
              "\"12:00\"");
  ExpectError({"convert", "--view=proc", "f"}, "--view works only with --to=chrome");
  ExpectError({"convert", "--to=fxt", "--task=2", "f"}, "--task works only with --to=chrome");
  ExpectError({"convert", "--to=chrome", "--task=x", "--view=task", "f"},
              "--task: expected numbers, as in 1,42, found \"x\"");
  ExpectError({"convert", "--to=chrome", "--related", "f"},
              "--related works only with --g, and not with --view=task or --task");
  ExpectError({"convert", "--to=chrome", "--from=2s", "--until=1s", "f"},
              "--from is later than --until, so no event is between them");
}

TEST_F(CommandLineTest, AFlagMayNeedOneOfSeveralValues) {
  std::string ignored;
  const Flag to = {.name = "to", .value = "FORMAT", .help = "", .set = SetText(&ignored)};
  const Flag view = {
      .name = "view", .value = "VIEW", .help = "", .set = SetText(&ignored), .needs = "to=a|b"};
  EXPECT_TRUE(SetFlags({{&to, "a"}, {&view, "x"}}).ok());
  EXPECT_TRUE(SetFlags({{&view, "x"}, {&to, "B"}}).ok());
  const absl::Status error = absl::InvalidArgumentError("--view works only with --to=a or --to=b");
  EXPECT_EQ(SetFlags({{&to, "c"}, {&view, "x"}}), error);
  EXPECT_EQ(SetFlags({{&view, "x"}}), error);
}

TEST_F(CommandLineTest, Help) {
  for (const char* const flag : {"--help", "-help", "-h", "help"}) {
    ExpectHelp({flag}, ProgramHelp(commands_));
  }
  ExpectHelp({"help", "wire"}, HelpOf("wire"));
  ExpectHelp({"wire", "--help"}, HelpOf("wire"));
  ExpectHelp({"wire", "f", "-h", "--knd"}, HelpOf("wire"));
  ExpectHelp({"--jobs=0", "wire", "-h"}, HelpOf("wire"));
  const std::string commit = Commit();
  const std::string version =
      absl::StrCat("gotrace-dump " GOTRACE_VERSION,
                   commit.empty() ? "" : absl::StrCat(" (commit ", commit, ")"), "\n");
  ExpectHelp({"--version"}, version);
  ExpectHelp({"info", "--version", "--knd"}, version);
}

TEST_F(CommandLineTest, HelpOfACommand) {
  EXPECT_EQ(HelpOf("assemble"),
            R"(Usage: gotrace-dump assemble [FLAGS] FILE

Reads the text form of a trace, as `wire --header` prints it, and writes the
trace. The text may be compressed with zstd or gzip. A batch with size=auto has
its size computed.

Flags:
  -o FILE             The file to write; - is the standard output.
  --padded            Write batch sizes in ten bytes, as Go's runtime does.

Examples:
  gotrace-dump assemble -o edited.out trace.txt
  gotrace-dump wire --header a.out | gotrace-dump assemble --padded -o b.out -

Exit codes:
  0 the trace was written
  1 the text is not that of a trace; nothing was written to a FILE
  2 wrong usage, or a file cannot be read or written
)");
}

// Every command has everything that help needs, and fits a terminal.
TEST_F(CommandLineTest, HelpIsWhole) {
  std::string all = ProgramHelp(commands_);
  for (const auto& command : MakeCommands()) {
    const CommandText& text = command->text();
    EXPECT_FALSE(text.summary.empty());
    EXPECT_TRUE(absl::StartsWith(text.examples, "  gotrace-dump ")) << text.name;
    EXPECT_TRUE(absl::EndsWith(text.examples, "\n")) << text.name;
    EXPECT_TRUE(absl::StrContains(all, absl::StrCat("\n  ", text.name, " "))) << text.name;
    for (const Flag& flag : command->Flags()) EXPECT_FALSE(flag.help.empty()) << flag.name;
    const std::string help = command->Help();
    EXPECT_TRUE(absl::StrContains(help, text.examples));
    EXPECT_TRUE(absl::StrContains(help, "\n  2 wrong usage"));
    all += help;
  }
  for (const absl::string_view line : absl::StrSplit(all, '\n')) {
    // Examples are not wrapped.
    EXPECT_LE(line.size(), absl::StrContains(line, "gotrace-dump ") ? 100u : 80u) << line;
    EXPECT_FALSE(absl::EndsWith(line, " ")) << line;
  }
}

// The table in docs/diagnosis.md has a row for each suspicion, with its command, and there is a
// section about it.
TEST_F(CommandLineTest, DocumentedSuspicionsAreThoseOfTheSummary) {
  std::ostringstream text;
  text << std::ifstream("docs/diagnosis.md").rdbuf();
  const std::string document = text.str();
  std::set<std::string> rows;
  for (const absl::string_view line : absl::StrSplit(document, '\n')) {
    if (absl::StartsWith(line, "| [`")) rows.emplace(line);
  }
  EXPECT_EQ(rows.size(), kSuspicionKindEnd);
  for (size_t i = 0; i < kSuspicionKindEnd; ++i) {
    const auto kind = static_cast<SuspicionKind>(i);
    const absl::string_view id = SuspicionId(kind);
    const std::string begin = absl::StrCat("| [`", id, "`](#", id, ") |");
    const std::string end = absl::StrCat(" | `", SuspicionCommand(kind), "` |");
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const std::string& row) {
      return absl::StartsWith(row, begin) && absl::EndsWith(row, end);
    })) << begin;
    EXPECT_TRUE(absl::StrContains(document, absl::StrCat("\n## ", id, "\n"))) << id;
  }
}

// The table in docs/limits.md has the names and defaults that the help has.
TEST_F(CommandLineTest, DocumentedLimitsMatchTheHelp) {
  std::ostringstream document;
  document << std::ifstream("docs/limits.md").rdbuf();
  const std::string help = HelpOf("info");
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

}  // namespace command_line_test
}  // namespace gotrace::internal
