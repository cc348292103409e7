// Runs the commands that analyse traces as their users do.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_schema.h"
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"
#include "tools/cli/registry.h"

namespace gotrace::internal {
namespace gotrace_dump_analysis_test {

std::vector<std::string> Lines(absl::string_view text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

JsonValue Parse(absl::string_view text) {
  absl::StatusOr<JsonValue> value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << value.status() << ": " << text;
  return value.ok() ? *std::move(value) : JsonValue();
}

int64_t Number(const JsonValue& object, absl::string_view name) {
  int64_t number = 0;
  const JsonValue* const value = object.Find(name);
  EXPECT_TRUE(value != nullptr && absl::SimpleAtoi(value->text, &number)) << name;
  return number;
}

class AnalysisCommands : public testing::Test {
 protected:
  AnalysisCommands() : directory_(MakeTestDirectory()) {
    bytes_ = ReadTestTrace("go1.27-generations.trace");
    trace_ = Write("sound.trace", bytes_);
    annotations_ = Write("annotations.trace", ReadTestTrace("go1.27-annotations.trace"));
  }

  std::string Write(absl::string_view name, absl::string_view bytes) const {
    return WriteFile(absl::StrCat(directory_, "/", name), bytes);
  }

  const std::string directory_;
  std::string bytes_;
  std::string trace_;
  std::string annotations_;
};

TEST_F(AnalysisCommands, PrintTablesForPeople) {
  const std::vector<std::string> lines = Lines(DumpOutput({"goroutines", annotations_}));
  ASSERT_EQ(lines.size(), 12);
  EXPECT_EQ(lines[0],
            "COUNT    TOTAL  RUNNING  RUNNABLE  STOPPED  SYSCALL  BLOCKED  "
            "BLOCKED ON        STARTED IN");
  EXPECT_EQ(lines[3],
            "    1   1.20 s   247 µs   34.7 µs  4.99 µs        0   1.20 s  "
            "sleep 100%        main.main");
  const std::vector<std::string> top =
      Lines(DumpOutput({"goroutines", "--top=2", "--sort=count", annotations_}));
  ASSERT_EQ(top.size(), 4);
  EXPECT_TRUE(absl::StrContains(top[1], "main.inNewGoroutine.func1")) << top[1];
  EXPECT_EQ(top[3], "(9 more; --top=0 shows all)");
}

TEST_F(AnalysisCommands, PrintCsvAndJson) {
  const std::vector<std::string> csv =
      Lines(DumpOutput({"goroutines", "--each", "--format=csv", annotations_}));
  ASSERT_EQ(csv.size(), 16);
  EXPECT_TRUE(absl::StartsWith(csv[0], "g,name,creation_ns,start_ns,end_ns,total_ns,running_ns,"));
  const std::vector<std::string> rows =
      Lines(DumpOutput({"goroutines", "--each", "--format=jsonl", annotations_}));
  ASSERT_EQ(rows.size(), 15);
  int64_t total = 0;
  for (const std::string& row : rows) {
    const JsonValue value = Parse(row);
    for (const absl::string_view name :
         {"g", "name", "creation_ns", "start_ns", "end_ns", "total_ns", "running_ns", "runnable_ns",
          "syscall_ns", "syscall_blocked_ns", "unknown_ns", "blocked_ns", "ranges_ns"}) {
      EXPECT_NE(value.Find(name), nullptr) << name << " in " << row;
    }
    total += Number(value, "total_ns");
  }
  const JsonValue groups = Parse(DumpOutput({"goroutines", "--format=json", annotations_}));
  int64_t total_of_groups = 0;
  for (const JsonValue& group : groups.Find("goroutines")->elements) {
    total_of_groups += Number(group, "total_ns");
  }
  EXPECT_EQ(total_of_groups, total);
  EXPECT_EQ(groups.Find("complete")->text, "true");
}

TEST_F(AnalysisCommands, PrintJsonAsTheSchemasSay) {
  const std::string broken = Write("broken.trace", "Not a trace.");
  const std::string cut = Write("cut.trace", bytes_.substr(0, bytes_.size() - 500));
  const std::string gc = Write("gc.trace", ReadTestTrace("go1.27-gc.trace"));
  const std::string hog = Write("hog.trace", ReadTestTrace("../diagnosis/hog.trace"));
  // Each command with the flags that give its rows other columns, and the name of the rows.
  struct Form {
    std::vector<std::string> args;
    absl::string_view rows;
  };
  const Form forms[] = {
      {{"goroutines"}, "goroutines"},
      {{"goroutines", "--each"}, "goroutines"},
      {{"goroutines", "--by=creator"}, "goroutines"},
      {{"goroutines", "--at=60ms"}, "goroutines"},
      {{"goroutines", "--at=60ms", "--each"}, "goroutines"},
      {{"tasks"}, "tasks"},
      {{"tasks", "--each"}, "tasks"},
      {{"regions"}, "regions"},
      {{"regions", "--each"}, "regions"},
      {{"gc"}, "cycles"},
      {{"gc", "--pauses"}, "pauses"},
      {{"gc", "--mmu"}, "mmu"},
      {{"latency"}, "latencies"},
      {{"latency", "--by=func"}, "latencies"},
      {{"latency", "--by=stack"}, "latencies"},
      {{"latency", "--by=g"}, "latencies"},
      {{"latency", "--worst=3"}, "waits"},
      {{"procs"}, "procs"},
      {{"procs", "--slices=9"}, "slices"},
      {{"procs", "--ready"}, "ready"},
      {{"procs", "--long-runs"}, "long_runs"},
      {{"locks"}, "locks"},
      {{"leaks", "--longer=1us"}, "leaks"},
      {{"profile"}, "samples"},
      {{"profile", "--by-g", "--by-p"}, "samples"},
      {{"profile", "--by-task", "--by-region", "--by-label"}, "samples"},
      {{"profile", "--type=create"}, "samples"},
  };
  const size_t every = std::size(forms) / TestRounds(std::size(forms));
  for (size_t i = 0; i < std::size(forms); i += every) {
    const Form& form = forms[i];
    SCOPED_TRACE(absl::StrJoin(form.args, " "));
    const JsonValue schema = ReadSchema(absl::StrCat("docs/", form.args[0], ".schema.json"));
    size_t rows = 0;
    const auto check = [&](const std::string& file, absl::string_view flag) {
      std::vector<std::string> args = form.args;
      args.insert(args.end(), {"--format=json", std::string(flag), file});
      const std::string out = RunDump(args).out;
      const JsonValue value = Parse(out);
      EXPECT_EQ(CheckAgainstSchema(schema, value), "") << out;
      if (const JsonValue* const found = value.Find(form.rows)) rows += found->elements.size();
    };
    for (const std::string& file : {annotations_, trace_, gc, hog, broken, cut})
      check(file, "--top=0");
    check(cut, "--salvage");
    EXPECT_GT(rows, 3);
  }
  std::set<absl::string_view> tested = {"diff", "heap", "path"};  // By tests of their own.
  for (const Form& form : forms) tested.insert(form.args[0]);
  for (const auto& command : MakeCommands()) {
    for (const Flag& flag : command->Flags()) {
      if (flag.name != "sort") continue;
      EXPECT_TRUE(tested.contains(command->text().name)) << command->text().name;
    }
  }
}

TEST_F(AnalysisCommands, DoNotDependOnTheCores) {
  const std::vector<std::string> commands[] = {
      {"goroutines", "--each"}, {"tasks", "--each"},
      {"regions", "--each"},    {"latency"},
      {"latency", "--worst=5"}, {"procs"},
      {"procs", "--slices=9"},  {"locks"},
      {"latency", "--by=g"},    {"goroutines", "--by=creator"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(absl::StrJoin(command, " "));
    const auto run = [&](const std::string& jobs, const std::string& file) {
      std::vector<std::string> args = command;
      args.insert(args.end(), {"--format=csv", jobs, file});
      return DumpOutput(args, {.input = bytes_});
    };
    const std::string one = run("--jobs=1", trace_);
    EXPECT_GT(Lines(one).size(), 1);
    EXPECT_EQ(run("--jobs=4", trace_), one);
    EXPECT_EQ(run("--jobs=4", "-"), one);
  }
}

TEST_F(AnalysisCommands, AnalyseWhatIsBeforeAFault) {
  const std::string cut = Write("cut.trace", bytes_.substr(0, bytes_.size() - 500));
  const SubprocessResult strict = RunDump({"goroutines", "--format=json", cut});
  EXPECT_EQ(strict.exit_code, 1);
  const JsonValue value = Parse(strict.out);
  EXPECT_EQ(value.Find("complete")->text, "false");
  EXPECT_NE(value.Find("error"), nullptr);
  EXPECT_GT(value.Find("goroutines")->elements.size(), 3);
  EXPECT_TRUE(absl::StrContains(strict.err, "--salvage keeps everything")) << strict.err;
  const SubprocessResult salvaged = RunDump({"goroutines", "--salvage", cut});
  EXPECT_EQ(salvaged.exit_code, 1);
  EXPECT_GT(Lines(salvaged.out).size(), 3);
  EXPECT_TRUE(absl::StrContains(salvaged.err, "left out")) << salvaged.err;
}

TEST_F(AnalysisCommands, TakeSeveralFiles) {
  const std::vector<std::string> csv =
      Lines(DumpOutput({"tasks", "--format=csv", annotations_, trace_}));
  EXPECT_TRUE(absl::StartsWith(csv[0], "file,count,open,"));
  EXPECT_TRUE(absl::StartsWith(csv[1], absl::StrCat(annotations_, ","))) << csv[1];
  EXPECT_TRUE(absl::StartsWith(csv.back(), absl::StrCat(trace_, ",")));
  const std::string text = DumpOutput({"tasks", annotations_, trace_});
  EXPECT_TRUE(absl::StartsWith(text, absl::StrCat("== ", annotations_, " ==\n")));
}

TEST_F(AnalysisCommands, ShowAMoment) {
  const std::string gc = Write("gc.trace", ReadTestTrace("go1.27-gc.trace"));
  uint64_t goroutines = 0;
  for (const std::string& row :
       Lines(DumpOutput({"goroutines", "--at=60ms", "--format=jsonl", "--top=0", gc}))) {
    goroutines += static_cast<uint64_t>(Number(Parse(row), "count"));
  }
  const std::vector<std::string> each =
      Lines(DumpOutput({"goroutines", "--at=60ms", "--each", "--format=csv", gc}));
  EXPECT_EQ(each.size(), goroutines + 1);
  // Those that exist at a moment by the table of their states.
  EXPECT_EQ(
      DumpOutput({"sql", "--format=csv", gc,
                  "SELECT count(*) AS n FROM g_states, (SELECT min(end_ns - dur_ns) + 60000000 "
                  "AS at FROM g_states) WHERE end_ns - dur_ns < at AND end_ns >= at"}),
      absl::StrCat("n\n", goroutines, "\n"));
  const std::vector<std::string> text =
      Lines(DumpOutput({"goroutines", "--at=60ms", "--each", "--top=2", gc}));
  EXPECT_TRUE(absl::StartsWith(text[0], "G      FOR  STATE")) << text[0];
  const std::vector<std::string> by_creator =
      Lines(DumpOutput({"goroutines", "--at=60ms", "--by=creator", "--top=0", gc}));
  EXPECT_TRUE(absl::StrContains(by_creator[0], "CREATED IN")) << by_creator[0];
  EXPECT_FALSE(absl::StrContains(by_creator[0], "STARTED IN")) << by_creator[0];
  for (const auto& [by, column] :
       {std::pair("--by=task", "IN TASK"), std::pair("--by=region", "IN REGION")}) {
    const std::string text = DumpOutput({"goroutines", "--at=60ms", by, annotations_});
    EXPECT_TRUE(absl::StrContains(text, column)) << text;
    EXPECT_TRUE(absl::StrContains(text, "across generations")) << text;
    const std::string error = RunDump({"goroutines", by, annotations_}).err;
    EXPECT_TRUE(absl::StrContains(error, "only with --at")) << error;
  }
  uint64_t created = 0;
  for (size_t i = 1; i < by_creator.size(); ++i) {
    created += std::strtoull(by_creator[i].c_str(), nullptr, 10);
  }
  EXPECT_EQ(created, goroutines);
  EXPECT_EQ(RunDump({"goroutines", "--at=60ms", "--from=70ms", gc}).exit_code, 2);
  EXPECT_EQ(RunDump({"goroutines", "--at=60ms", "--to=1ms", gc}).exit_code, 2);
}

TEST_F(AnalysisCommands, AnalyseAWindow) {
  const std::vector<std::string> rows = Lines(DumpOutput(
      {"goroutines", "--each", "--format=jsonl", "--from=0.5s", "--to=0.6s", annotations_}));
  ASSERT_FALSE(rows.empty());
  for (const std::string& row : rows) {
    EXPECT_EQ(Number(Parse(row), "total_ns"), 100'000'000) << row;
  }
  const SubprocessResult late = RunDump({"goroutines", "--from=9h", annotations_});
  EXPECT_EQ(late.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(late.err, "is later than all events")) << late.err;
  EXPECT_EQ(late.out, "no goroutines\n");
  EXPECT_EQ(
      Lines(DumpOutput({"goroutines", "--each", "--format=jsonl", "--g=1", annotations_})).size(),
      1);
}

TEST_F(AnalysisCommands, SelectTasksAndRegions) {
  const auto count = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--each", "--format=jsonl", annotations_});
    return Lines(DumpOutput(args)).size();
  };
  EXPECT_EQ(count({"tasks"}), 11);
  EXPECT_EQ(count({"tasks", "--type=nesting"}), 1);
  EXPECT_EQ(count({"tasks", "--min=1s"}), 1);
  EXPECT_EQ(count({"tasks", "--max=1s"}), 7);
  EXPECT_EQ(count({"tasks", "--log=the task began in an earlier generation"}), 1);
  EXPECT_EQ(count({"tasks",
                   "--log=hex:746865207461736b20626567616e20696e20616e"
                   "206561726c6965722067656e65726174696f6e"}),
            1);
  EXPECT_EQ(
      RunDump({"tasks", "--log=hex:0807060504030201", annotations_}).err,
      "gotrace-dump: " + annotations_ + ": nothing is left with --log=hex:0807060504030201\n");
  for (const std::string hex : {"hex:", "hex:0", "hex:0g"}) {
    const SubprocessResult wrong = RunDump({"tasks", absl::StrCat("--log=", hex), "-"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(wrong.err, "expected bytes in hexadecimal, as in hex:1a2b"))
        << wrong.err;
  }
  EXPECT_EQ(count({"tasks", "--worst=2"}), 2);
  EXPECT_EQ(count({"regions", "--worst=100", "--type=worker"}), 3);
  EXPECT_EQ(count({"regions", "--type=worker"}), 3);
  // Go has the regions that goroutines inherit, too, and the task 0.
  EXPECT_GT(count({"regions", "--compat=go"}), count({"regions"}));
  EXPECT_EQ(count({"tasks", "--compat=go"}), count({"tasks"}) + 1);
}

TEST_F(AnalysisCommands, PrintTheLongestTasks) {
  std::vector<int64_t> durations;
  for (const std::string& row :
       Lines(DumpOutput({"tasks", "--worst=3", "--format=jsonl", annotations_}))) {
    durations.push_back(Number(Parse(row), "duration_ns"));
  }
  EXPECT_EQ(durations, (std::vector<int64_t>{1'200'098'112, 60'864, 60'544}));
}

// Tracing libraries make tasks without regions.
TEST_F(AnalysisCommands, CountWhoBeganATaskWithoutRegions) {
  size_t tasks = 0;
  for (const std::string& row :
       Lines(DumpOutput({"tasks", "--each", "--format=jsonl", annotations_}))) {
    const JsonValue task = Parse(row);
    const int64_t id = Number(task, "task");
    if (id == 4) {
      ++tasks;
      EXPECT_EQ(task.Find("counted")->text, "regions");
      EXPECT_EQ(Number(task, "total_ns"), 448);
    } else if (id == 10) {
      ++tasks;
      EXPECT_EQ(task.Find("counted")->text, "g");
      EXPECT_EQ(Number(task, "total_ns"), Number(task, "duration_ns"));
      EXPECT_EQ(Number(task, "running_ns"), 2'176);
    } else if (id == 1) {
      ++tasks;
      EXPECT_EQ(task.Find("counted")->text, "");
      EXPECT_EQ(Number(task, "total_ns"), 0);
    }
  }
  EXPECT_EQ(tasks, 3);
  EXPECT_EQ(DumpOutput({"profile", "--task=10", "--format=folded", annotations_}),
            "main.main 2176\n");
}

TEST_F(AnalysisCommands, GroupGoroutinesByTheirCreator) {
  const auto sums = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--format=jsonl", annotations_});
    std::pair<int64_t, int64_t> sum;
    for (const std::string& row : Lines(DumpOutput(args))) {
      sum.first += Number(Parse(row), "count");
      sum.second += Number(Parse(row), "total_ns");
    }
    return sum;
  };
  EXPECT_EQ(sums({"goroutines", "--by=creator"}), sums({"goroutines"}));
  // Three workers.
  const std::vector<std::string> workers = Lines(DumpOutput(
      {"goroutines", "--by=creator", "--func=main.nesting.func2", "--format=jsonl", annotations_}));
  ASSERT_EQ(workers.size(), 1);
  const JsonValue worker = Parse(workers[0]);
  EXPECT_EQ(Number(worker, "count"), 3);
  EXPECT_EQ(worker.Find("creator")->text, "main.nesting");
  EXPECT_EQ(worker.Find("file")->text, "annotations/main.go");
  EXPECT_EQ(worker.Find("name"), nullptr);
  EXPECT_TRUE(absl::StrContains(DumpOutput({"goroutines", "--by=creator", annotations_}),
                                "nesting main.go:"));
}

TEST_F(AnalysisCommands, SelectGoroutines) {
  const auto rows = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--format=jsonl", annotations_});
    return Lines(DumpOutput(args)).size();
  };
  EXPECT_EQ(rows({"goroutines", "--func=main.nesting.func2"}), 1);
  EXPECT_EQ(rows({"goroutines", "--each", "--func=main.nesting.func2"}), 3);
  // Between two generations, main sleeps, and main.main.func1 waits for it.
  EXPECT_EQ(rows({"goroutines", "--at=0.5s", "--each", "--func=main.main.*"}), 2);
  EXPECT_EQ(rows({"goroutines", "--at=0.5s", "--each", "--func=main.main", "--state=waiting"}), 1);
}

TEST_F(AnalysisCommands, SelectByLength) {
  const std::string gc = Write("gc.trace", ReadTestTrace("go1.27-gc.trace"));
  const auto rows = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--format=jsonl", gc});
    return Lines(DumpOutput(args));
  };
  const size_t all = rows({"gc", "--pauses"}).size();
  const size_t longer = rows({"gc", "--pauses", "--min=1ms"}).size();
  EXPECT_EQ(longer, 6);
  EXPECT_EQ(rows({"gc", "--pauses", "--max=999999ns"}).size(), all - longer);
  EXPECT_EQ(rows({"gc", "--min=1ns"}).size(), 47);
  // Each wait is in one of the two.
  const auto count = [&](const std::string& flag) {
    int64_t sum = 0;
    for (const std::string& row : rows({"latency", flag})) sum += Number(Parse(row), "count");
    return sum;
  };
  EXPECT_EQ(count("--min=100us") + count("--max=99999ns"), count("--by=what"));
  for (const std::string& row : rows({"latency", "--min=1ms"})) {
    EXPECT_GE(Number(Parse(row), "min_ns"), 1'000'000);
  }
  const std::vector<std::string> reasons = rows({"latency", "--reason=chan"});
  EXPECT_GT(reasons.size(), 0);
  for (const std::string& row : reasons) {
    EXPECT_TRUE(absl::StrContains(Parse(row).Find("reason")->text, "chan")) << row;
  }
  EXPECT_EQ(count("--by=g"), count("--by=what"));
  EXPECT_EQ(RunDump({"gc", "--mmu", "--min=1ms", gc}).exit_code, 2);
}

TEST_F(AnalysisCommands, SayWhyNothingIsSelected) {
  const auto why = [&](std::vector<std::string> args) {
    args.push_back(annotations_);
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 0);
    return std::string(
        absl::StripPrefix(result.err, absl::StrCat("gotrace-dump: ", annotations_, ": ")));
  };
  EXPECT_EQ(why({"latency", "--func=main.nestin.func2"}),
            "--func: no goroutine started in main.nestin.func2; did you mean "
            "main.nesting.func2?\n");
  EXPECT_TRUE(absl::StartsWith(why({"locks", "--func=nowhere"}),
                               "--func: no goroutine started in nowhere; goroutines started in "));
  EXPECT_EQ(why({"profile", "--stack=nowhere"}), "--stack: no stack has nowhere\n");
  EXPECT_EQ(why({"profile", "--stack=nowhere", "--format=folded"}),
            "--stack: no stack has nowhere\n");
  EXPECT_EQ(why({"tasks", "--type=nestin"}),
            "--type: there is no type nestin; did you mean nesting?\n");
  EXPECT_EQ(why({"tasks", "--log=nobody wrote this"}),
            "nothing is left with --log=nobody wrote this\n");
  EXPECT_EQ(why({"goroutines", "--g=99999"}), "nothing is left with --g=99999\n");
  EXPECT_EQ(why({"latency", "--kind=pause", "--g=1", "--min=9s"}),
            "nothing is left with --kind=pause and --g=1 and --min=9s\n");
  // The window has its own reason.
  EXPECT_TRUE(absl::StrContains(why({"latency", "--g=99999", "--from=9h"}), "is later than all"));
  // Nothing was selected.
  EXPECT_EQ(why({"leaks", "--longer=1h"}), "");
}

TEST_F(AnalysisCommands, ExplainWhatIsWrong) {
  const auto error = [&](std::vector<std::string> args) {
    args.push_back(trace_);
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_TRUE(absl::StrContains(error({"goroutines", "--sort=speed"}),
                                "--sort: there is no column \"speed\"; the columns are count, "));
  EXPECT_TRUE(absl::StrContains(error({"goroutines", "--compat=perfetto"}), "expected go"));
  EXPECT_TRUE(absl::StrContains(error({"goroutines", "--compat=go", "--from=1s"}),
                                "--compat=go works only without --from and --to"));
  EXPECT_TRUE(
      absl::StrContains(error({"tasks", "--min=2s", "--max=1s"}), "--min is longer than --max"));
  EXPECT_TRUE(absl::StrContains(error({"regions", "--min=soon"}), "expected a duration"));
  EXPECT_TRUE(
      absl::StrContains(error({"goroutines", "--state=running"}), "--state works only with --at"));
  EXPECT_TRUE(absl::StrContains(error({"goroutines", "--by=creator", "--each"}),
                                "--by and --each cannot be used together"));
}

}  // namespace gotrace_dump_analysis_test
}  // namespace gotrace::internal
