// Runs the commands `latency`, `procs`, `locks` and `leaks` as their users do.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_latency_test {

std::vector<std::string> Lines(absl::string_view text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

std::string Text(const JsonValue& object, absl::string_view name) {
  const JsonValue* const value = object.Find(name);
  EXPECT_NE(value, nullptr) << name;
  return value == nullptr ? "" : value->text;
}

int64_t Number(const JsonValue& object, absl::string_view name) {
  int64_t number = 0;
  const std::string text = Text(object, name);
  EXPECT_TRUE(absl::SimpleAtoi(text, &number)) << name << ": " << text;
  return number;
}

class LatencyCommands : public testing::Test {
 protected:
  LatencyCommands() {
    const std::string directory = MakeTestDirectory();
    gc_ = WriteFile(absl::StrCat(directory, "/gc.trace"), ReadTestTrace("go1.27-gc.trace"));
    blocking_ = WriteFile(absl::StrCat(directory, "/blocking.trace"),
                          ReadTestTrace("go1.27-blocking.trace"));
    annotations_ = WriteFile(absl::StrCat(directory, "/annotations.trace"),
                             ReadTestTrace("go1.27-annotations.trace"));
  }

  // The rows of a table.
  static std::vector<JsonValue> Rows(std::vector<std::string> args) {
    args.push_back("--format=jsonl");
    std::vector<JsonValue> rows;
    for (const std::string& line : Lines(DumpOutput(args))) {
      absl::StatusOr<JsonValue> row = ParseJson(line);
      EXPECT_TRUE(row.ok()) << row.status() << ": " << line;
      if (row.ok()) rows.push_back(*std::move(row));
    }
    return rows;
  }

  // What the command prints about wrong flags.
  std::string Error(std::vector<std::string> args) const {
    args.push_back(blocking_);
    const SubprocessResult result = RunDump(args);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  }

  std::string gc_;
  std::string blocking_;
  std::string annotations_;
};

TEST_F(LatencyCommands, PrintDistributions) {
  const std::vector<JsonValue> rows = Rows({"latency", gc_});
  ASSERT_EQ(rows.size(), 18);
  EXPECT_EQ(Text(rows[0], "kind"), "scheduling");
  EXPECT_EQ(Number(rows[0], "count"), 1202);
  EXPECT_EQ(Number(rows[0], "clipped"), 0);
  EXPECT_EQ(Number(rows[0], "total_ns"), 286'363'860);
  EXPECT_EQ(Number(rows[0], "stopped_ns"), 29'746'688);
  EXPECT_EQ(Number(rows[0], "min_ns"), 1);
  EXPECT_EQ(Number(rows[0], "p50_ns"), 18'258);
  EXPECT_EQ(Number(rows[0], "p99_ns"), 1'881'888);
  EXPECT_EQ(Number(rows[0], "max_ns"), 3'870'592);
  EXPECT_EQ(Text(rows[1], "kind"), "blocked");
  EXPECT_EQ(Text(rows[1], "reason"), "system goroutine wait");
  EXPECT_EQ(Number(rows[1], "clipped"), 7);
  EXPECT_EQ(Text(rows.back(), "kind"), "assist");
  EXPECT_EQ(Number(rows.back(), "count"), 311);
  for (const JsonValue& row : rows) {
    const JsonValue& histogram = *row.Find("histogram");
    EXPECT_EQ(Number(histogram, "scale"), 4);
    int64_t count = 0;
    for (const JsonValue& bucket : histogram.Find("counts")->elements) {
      int64_t number = 0;
      EXPECT_TRUE(absl::SimpleAtoi(bucket.text, &number));
      count += number;
    }
    EXPECT_EQ(count, Number(row, "count"));
  }
  // 2^(165/16) = 1271.7 <= 1280 < 2^(166/16) = 1328.0.
  EXPECT_EQ(Number(rows.back(), "min_ns"), 1280);
  EXPECT_EQ(Number(*rows.back().Find("histogram"), "offset"), 165);
}

TEST_F(LatencyCommands, SplitDistributions) {
  const std::vector<JsonValue> by_func =
      Rows({"latency", "--kind=scheduling", "--by=func", "--sort=p99", gc_});
  ASSERT_EQ(by_func.size(), 9);
  EXPECT_EQ(Text(by_func[1], "start"), "main.mark.func1");
  EXPECT_EQ(Number(by_func[1], "count"), 160);
  EXPECT_EQ(Number(by_func[1], "max_ns"), 3'870'592);
  int64_t total = 0;
  for (const JsonValue& row : by_func) total += Number(row, "total_ns");
  EXPECT_EQ(total, 286'363'860);

  const std::vector<JsonValue> one = Rows({"latency", "--func=main.mark.func1", gc_});
  EXPECT_EQ(Number(one[0], "count"), 160);
  EXPECT_EQ(Text(one[0], "start"), "");

  // Two statements of the function send: their stacks differ in the line.
  std::vector<int64_t> totals;
  for (const JsonValue& row : Rows({"latency", "--kind=blocked", "--by=stack", blocking_})) {
    if (Text(row, "stack") != "main.channels.func1;runtime.chansend1") continue;
    EXPECT_EQ(Text(row, "reason"), "chan send");
    EXPECT_EQ(Text(row, "start"), "main.channels.func1");
    totals.push_back(Number(row, "total_ns"));
  }
  EXPECT_EQ(totals, std::vector<int64_t>({2'184'576, 2'149'504}));
  EXPECT_EQ(Lines(DumpOutput({"latency", "--kind=scheduling", "--by=func", gc_}))[0],
            "COUNT  CLIPPED    TOTAL  STOPPED      P50      P99      MAX  KIND        REASON  "
            "STARTED IN");
}

TEST_F(LatencyCommands, PrintTheWorstCases) {
  const std::vector<JsonValue> waits = Rows({"latency", "--worst=2", "--kind=blocked", blocking_});
  size_t sends = 0;
  for (const JsonValue& wait : waits) {
    EXPECT_EQ(Text(wait, "kind"), "blocked");
    if (Text(wait, "reason") != "chan send") continue;
    if (++sends > 1) continue;
    EXPECT_EQ(Number(wait, "begin_ns"), 2'186'221'637'312);
    EXPECT_EQ(Number(wait, "length_ns"), 2'184'576);
    EXPECT_EQ(Text(wait, "clipped"), "false");
    EXPECT_EQ(Number(wait, "g"), 8);
    EXPECT_EQ(Text(wait, "start"), "main.channels.func1");
    EXPECT_EQ(Text(wait, "ended_by"), "G 1");
    EXPECT_EQ(Number(wait, "ended_by_g"), 1);
    EXPECT_EQ(Text(wait, "stack"), "main.channels.func1;runtime.chansend1");
    EXPECT_EQ(Text(wait, "ended_by_stack"), "main.main;main.channels;runtime.chanrecv1");
  }
  EXPECT_GE(sends, 1);
  EXPECT_LE(sends, 2);

  const std::vector<JsonValue> worst =
      Rows({"latency", "--worst=3", "--kind=scheduling,pause", "--sort=length", gc_});
  ASSERT_GT(worst.size(), 6);
  EXPECT_EQ(Text(worst[0], "kind"), "pause");
  EXPECT_EQ(Text(worst[0], "reason"), "GC sweep termination");
  EXPECT_EQ(Number(worst[0], "length_ns"), 3'989'696);
  EXPECT_EQ(Text(worst[1], "kind"), "scheduling");
  EXPECT_EQ(Text(worst[1], "ended_by"), "scheduler");
  EXPECT_EQ(Text(worst[1], "ended_by_g"), "null");
}

TEST_F(LatencyCommands, PrintWhatPsDid) {
  const std::vector<JsonValue> procs = Rows({"procs", gc_});
  ASSERT_EQ(procs.size(), 8);
  EXPECT_EQ(Number(procs[0], "p"), 0);
  EXPECT_EQ(Number(procs[0], "user_ns"), 20'305'979);
  EXPECT_EQ(Number(procs[0], "assist_ns"), 15'408'192);
  EXPECT_EQ(Number(procs[0], "gc_ns"), 38'534'784);
  EXPECT_EQ(Number(procs[0], "syscall_ns"), 93'824);
  EXPECT_EQ(Number(procs[0], "scheduler_ns"), 10'468'293);
  EXPECT_EQ(Number(procs[0], "idle_ns"), 151'917'697);
  EXPECT_EQ(Number(procs[0], "stopped_ns"), 7'681'152);
  EXPECT_EQ(Number(procs[0], "total_ns"), 244'409'921);
  EXPECT_EQ(Number(procs[0], "runs"), 158);
  EXPECT_EQ(Number(procs[0], "migrations"), 103);
  EXPECT_EQ(Number(procs[0], "steals"), 3);
  const std::vector<JsonValue> selected = Rows({"procs", "--p=0,5", gc_});
  ASSERT_EQ(selected.size(), 2);
  EXPECT_EQ(Number(selected[0], "total_ns"), 244'409'921);
  EXPECT_EQ(Number(selected[1], "p"), 5);
  // People see shares of the time.
  const std::vector<std::string> text = Lines(DumpOutput({"procs", gc_}));
  EXPECT_EQ(text[0],
            "P    TIME   USER     GC  ASSIST  CALLS  SCHED   IDLE  STOP  RUNS  MIGRATIONS  STEALS");
  EXPECT_EQ(text[1],
            "0  244 ms   8.3%  15.8%    6.3%   0.0%   4.3%  62.2%  3.1%   158         103       3");
}

TEST_F(LatencyCommands, PrintWhatKeptGoroutinesFromRunning) {
  const std::vector<JsonValue> ready = Rows({"procs", "--ready", gc_});
  ASSERT_EQ(ready.size(), 9);
  EXPECT_EQ(Text(ready[0], "start"), "main.sweep.func1");
  EXPECT_EQ(Text(ready[0], "system"), "false");
  EXPECT_EQ(Text(ready[1], "start"), "runtime.bgsweep");
  EXPECT_EQ(Text(ready[1], "system"), "true");
  EXPECT_EQ(Number(ready[0], "ready_ns"), 175'020'516);
  EXPECT_EQ(Number(ready[0], "stopped_ns"), 9'844'992);
  EXPECT_EQ(Number(ready[0], "idle_ps_ns"), 163'060'451);
  for (const JsonValue& row : ready) {
    int64_t sum = 0;
    for (const absl::string_view cause : {"stopped_ns", "tracer_ns", "idle_ps_ns", "program_ns",
                                          "long_runs_ns", "assists_ns", "gc_ns", "other_ns"}) {
      sum += Number(row, cause);
    }
    EXPECT_EQ(Number(row, "ready_ns"), sum);
  }
}

TEST_F(LatencyCommands, PrintTheGoroutinesThatKeepTheirP) {
  const std::string hog = WriteFile(absl::StrCat(MakeTestDirectory(), "/hog.trace"),
                                    ReadTestTrace("../diagnosis/hog.trace"));
  const std::vector<JsonValue> runs = Rows({"procs", "--long-runs", hog});
  ASSERT_EQ(runs.size(), 6);  // Without a goroutine of the tracer.
  int64_t waited = 0;
  for (const JsonValue& row : runs) {
    EXPECT_EQ(Text(row, "start"), Number(row, "g") < 13 ? "main.main.func1" : "main.main.func2");
    EXPECT_GE(Number(row, "longest_ns"), 20'000'000);
    waited += Number(row, "waited_ns") - Number(row, "peers_waited_ns");
    // A window of just that time has all of it.
    const int64_t begin = Number(row, "longest_begin_ns");
    const std::string from = absl::StrCat("--from=@", begin);
    const std::string to = absl::StrCat("--to=@", begin + Number(row, "longest_ns"));
    const std::vector<JsonValue> then = Rows({"procs", "--long-runs", from, to, hog});
    EXPECT_TRUE(absl::c_any_of(then, [&](const JsonValue& other) {
      return Text(other, "g") == Text(row, "g") &&
             Number(other, "longest_ns") == Number(row, "longest_ns");
    }));
  }
  EXPECT_EQ(Number(runs[0], "longest_ns") + Number(runs[1], "longest_ns"), 256'276'032);
  // The trace says of a few runs where they were interrupted.
  EXPECT_EQ(Text(runs[0], "stack"), "");
  EXPECT_TRUE(absl::StartsWith(Text(runs[2], "stack"), "main.main.func2;main.request;"));
  // It is most of what `procs --ready` says of those who waited for long runs.
  int64_t long_runs = 0;
  for (const JsonValue& row : Rows({"procs", "--ready", hog})) {
    if (Text(row, "system") == "false") long_runs += Number(row, "long_runs_ns");
  }
  EXPECT_LE(waited, long_runs);
  EXPECT_GT(waited, long_runs / 2);
}

// A run of a mark worker before the window does not make a later one of the same goroutine, which
// ran for something else, work for the collector.
TEST_F(LatencyCommands, AWindowDoesNotAddWorkOfTheCollector) {
  const std::string trace = WriteFile(absl::StrCat(MakeTestDirectory(), "/alloc.trace"),
                                      ReadTestTrace("go1.25-alloc.trace"));
  const std::vector<JsonValue> procs =
      Rows({"procs", "--from=@2068381467520", "--to=@2068382884736", trace});
  ASSERT_GT(procs.size(), 1);
  EXPECT_EQ(Number(procs[1], "p"), 1);
  EXPECT_EQ(Number(procs[1], "gc_ns"), 60'864);
}

// Numbers do not show where a terminal breaks a line.
TEST_F(LatencyCommands, PrintLinesThatFit) {
  const std::vector<std::string> commands[] = {{"summary"},
                                               {"locks"},
                                               {"procs"},
                                               {"procs", "--slices=20"},
                                               {"procs", "--ready"},
                                               {"latency"},
                                               {"latency", "--by=func"},
                                               {"latency", "--by=g"},
                                               {"latency", "--by=stack"},
                                               {"latency", "--by=stack", "--lines"},
                                               {"latency", "--worst=3"},
                                               {"leaks", "--longer=1us"},
                                               {"goroutines"},
                                               {"goroutines", "--each"},
                                               {"goroutines", "--by=creator"},
                                               {"goroutines", "--at=20ms"},
                                               {"goroutines", "--at=20ms", "--each"},
                                               {"tasks"},
                                               {"tasks", "--each"},
                                               {"regions"},
                                               {"regions", "--each"},
                                               {"profile"},
                                               {"profile", "--by-g", "--by-task", "--by-region"},
                                               {"path", "--g=1"},
                                               {"path", "--g=1", "--by=func"},
                                               {"path", "--g=1", "--by=stack"}};
  for (std::vector<std::string> command : commands) {
    for (const std::string& trace : {gc_, blocking_, annotations_}) {
      command.push_back(trace);
      for (const std::string& line : Lines(DumpOutput(command))) {
        const auto begins = [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; };
        EXPECT_LE(std::count_if(line.begin(), line.end(), begins), 100) << line;
      }
      command.pop_back();
    }
  }
}

TEST_F(LatencyCommands, PrintSlicesOfTime) {
  const std::vector<JsonValue> slices = Rows({"procs", "--slices=5", gc_});
  ASSERT_EQ(slices.size(), 5);
  EXPECT_EQ(Number(slices[1], "begin_ns"), 2'084'200'000'000);
  EXPECT_EQ(Number(slices[1], "length_ns"), 50'000'000);
  EXPECT_EQ(Number(slices[3], "user_ns"), 73'023'251);
  EXPECT_EQ(Number(slices[3], "runnable_ns"), 131'726'242);
  EXPECT_EQ(Number(slices[3], "wasted_ns"), 109'608'546);
  EXPECT_EQ(Number(slices[3], "stopped_ns"), 25'088'256);
  EXPECT_EQ(Number(slices[3], "gomaxprocs"), 8);
  int64_t length = 0;
  int64_t user = 0;
  for (const JsonValue& slice : slices) {
    length += Number(slice, "length_ns");
    user += Number(slice, "user_ns");
  }
  // Slices begin with the first status. Until then main.main ran, as that states.
  constexpr int64_t kUnseen = 20'544;
  EXPECT_EQ(length, 244'409'921 - kUnseen);
  int64_t user_of_procs = 0;
  for (const JsonValue& proc : Rows({"procs", gc_})) user_of_procs += Number(proc, "user_ns");
  EXPECT_EQ(user, user_of_procs - kUnseen);
  // The program changes GOMAXPROCS.
  const std::vector<JsonValue> changing = Rows({"procs", "--slices=5", blocking_});
  ASSERT_EQ(changing.size(), 4);
  EXPECT_EQ(Number(changing[0], "gomaxprocs"), 2);
  EXPECT_EQ(Number(changing[1], "gomaxprocs"), 1);
  EXPECT_EQ(Number(changing[3], "gomaxprocs"), 2);
}

TEST_F(LatencyCommands, PrintLeaks) {
  EXPECT_EQ(DumpOutput({"leaks", blocking_}), "no leaks\n");
  const std::vector<JsonValue> leaks = Rows({"leaks", "--longer=1ms", blocking_});
  ASSERT_EQ(leaks.size(), 2);
  EXPECT_EQ(Number(leaks[0], "count"), 1);
  EXPECT_EQ(Number(leaks[0], "longest_ns"), 4'341'185);
  EXPECT_EQ(Number(leaks[0], "total_ns"), 4'341'185);
  EXPECT_EQ(Text(leaks[0], "reason"), "forever");
  EXPECT_EQ(Text(leaks[0], "start"), "main.main.func1");
  EXPECT_EQ(Text(leaks[0], "created_at"), "main.main");
  EXPECT_EQ(Text(leaks[0], "blocked_at"), "main.main.func1;runtime.block");
  const auto counts = [](const JsonValue& leak) {
    std::string text;
    for (const JsonValue& count : leak.Find("counts")->elements) absl::StrAppend(&text, count.text);
    return text;
  };
  EXPECT_EQ(counts(leaks[0]), "00001");
  EXPECT_EQ(Rows({"leaks", "--longer=4340674ns", blocking_}).size(), 1);
  EXPECT_EQ(Text(leaks[0], "blocked_function"), "main.main.func1");
  EXPECT_EQ(Text(leaks[0], "created_function"), "main.main");
  // A window keeps where they were created.
  const std::vector<JsonValue> later =
      Rows({"leaks", "--longer=1us", "--from=@2186292000000", blocking_});
  ASSERT_EQ(later.size(), 2);
  for (const JsonValue& leak : later) EXPECT_EQ(Text(leak, "created_at"), "main.main");
  const SubprocessResult above = RunDump({"leaks", "--longer=1ms", "--fail-above=1", blocking_});
  EXPECT_EQ(above.exit_code, 3);
  EXPECT_TRUE(absl::StrContains(above.err, "2 goroutines have been blocked")) << above.err;
  EXPECT_EQ(Lines(above.out).size(), 3);
  EXPECT_EQ(RunDump({"leaks", "--longer=1ms", "--fail-above=2", blocking_}).exit_code, 0);
  const std::vector<std::string> text = Lines(DumpOutput({"leaks", "--longer=1ms", blocking_}));
  ASSERT_EQ(text.size(), 3);
  EXPECT_TRUE(absl::StartsWith(text[0], "COUNT  LONGEST  OVER TIME  REASON ")) << text[0];
  EXPECT_TRUE(absl::StartsWith(text[1], "    1  4.34 ms  0 0 0 0 1  forever ")) << text[1];
}

TEST_F(LatencyCommands, LeaksInSeveralLinesAreOneRowWithTheLongest) {
  const std::string service = TestFilePath("../diagnosis/service.trace.zst");
  const auto sleeps = [&](const std::string& lines) {
    std::vector<std::string> args = {"leaks", "--longer=1ns", "--to=300ms", service};
    if (!lines.empty()) args.push_back(lines);
    std::vector<std::string> rows;
    for (const std::string& row : Lines(DumpOutput(args))) {
      if (absl::StrContains(row, "sleep")) rows.push_back(row.substr(0, row.find("  sleep")));
    }
    return rows;
  };
  const std::vector<std::string> by_line = {"    6  3.13 ms  0 0 0 0 6",
                                            "    1  12.4 ms  0 0 0 0 1"};
  EXPECT_EQ(sleeps("--lines"), by_line);
  EXPECT_EQ(sleeps(""), std::vector<std::string>({"    7  12.4 ms  0 0 0 0 7"}));
}

// Two statements of the function send. People see one row, unless they want to see the lines.
TEST_F(LatencyCommands, MergeStacksThatDifferOnlyInLines) {
  const auto lines = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--stack=main.channels.func1", blocking_});
    return Lines(DumpOutput(args));
  };
  const std::vector<std::string> latency = {"latency", "--by=stack", "--reason=chan send"};
  const std::vector<std::string> merged = lines(latency);
  ASSERT_EQ(merged.size(), 2);
  EXPECT_TRUE(absl::StartsWith(merged[1], "    2 ")) << merged[1];
  EXPECT_TRUE(absl::StrContains(merged[1], "4.33 ms")) << merged[1];
  EXPECT_FALSE(absl::StrContains(merged[1], "main.go")) << merged[1];
  const std::vector<std::string> apart =
      lines({"latency", "--by=stack", "--reason=chan send", "--lines"});
  ASSERT_EQ(apart.size(), 3);
  EXPECT_TRUE(absl::StrContains(apart[1], "main.go:")) << apart[1];
  EXPECT_TRUE(absl::StrContains(apart[2], "main.go:")) << apart[2];
  // Programs see both.
  const std::vector<JsonValue> rows = Rows(
      {"latency", "--by=stack", "--reason=chan send", "--stack=main.channels.func1", blocking_});
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(Text(rows[0], "function"), "main.channels.func1");
  EXPECT_EQ(Text(rows[0], "file"), "blocking/main.go");
  EXPECT_NE(Number(rows[0], "line"), Number(rows[1], "line"));

  EXPECT_EQ(lines({"profile", "--type=sync"}).size(), 2);
  EXPECT_EQ(lines({"profile", "--type=sync", "--lines"}).size(), 3);
  EXPECT_EQ(lines({"profile", "--type=sync", "--format=folded"}),
            std::vector<std::string>({"main.channels.func1;runtime.chansend1 4334080"}));
  const std::vector<std::string> folded =
      lines({"profile", "--type=sync", "--format=folded", "--lines"});
  ASSERT_EQ(folded.size(), 2);
  EXPECT_TRUE(absl::StartsWith(folded[0], "main.channels.func1 main.go:")) << folded[0];
  EXPECT_TRUE(absl::StrContains(folded[0], ";runtime.chansend1 chan.go:")) << folded[0];
}

// The rows that --stack selects are those that have the function in their stack.
TEST_F(LatencyCommands, SelectByStack) {
  struct Case {
    std::vector<std::string> args;
    absl::string_view column;
    std::string function;
  };
  const Case cases[] = {
      {{"latency", "--by=stack"}, "stack", "main.locks"},
      {{"latency", "--worst=1000"}, "stack", "runtime.chanrecv1"},
      {{"profile", "--type=offcpu"}, "stack", "main.locks.func2"},
      {{"leaks", "--longer=1ns"}, "blocked_at", "runtime.block"},
      {{"goroutines", "--at=30ms"}, "stack", "main.turns"},
  };
  for (Case one : cases) {
    SCOPED_TRACE(one.args[0]);
    one.args.push_back(blocking_);
    std::vector<std::string> expected;
    one.args.push_back("--format=jsonl");
    for (const std::string& line : Lines(DumpOutput(one.args))) {
      if (absl::StrContains(Text(*ParseJson(line), one.column), one.function)) {
        expected.push_back(line);
      }
    }
    EXPECT_GT(expected.size(), 0);
    one.args.push_back(absl::StrCat("--stack=", one.function));
    EXPECT_EQ(Lines(DumpOutput(one.args)), expected);
  }
  // A line of a file, and a method with its receiver.
  const std::vector<JsonValue> locks = Rows({"locks", "--stack=main.go:68", blocking_});
  ASSERT_EQ(locks.size(), 1);
  EXPECT_EQ(Number(locks[0], "total_ns"), 4'297'792);
  EXPECT_EQ(Rows({"locks", "--kind=mutex", "--stack=sync.(*Mutex).Lock", blocking_}).size(), 1);
  const std::vector<std::string> events =
      Lines(DumpOutput({"events", "--format=json", "--stacks", "--stack=locks.func2", blocking_}));
  EXPECT_GT(events.size(), 0);
  for (const std::string& event : events) {
    EXPECT_TRUE(absl::StrContains(event, "main.locks.func2")) << event;
  }
  EXPECT_TRUE(
      absl::StrContains(Error({"latency", "--stack=main.["}), "--stack: not a regular expression"));
  EXPECT_TRUE(
      absl::StrContains(Error({"goroutines", "--stack=main"}), "--stack works only with --at"));
}

TEST_F(LatencyCommands, PrintLocks) {
  const std::vector<JsonValue> locks = Rows({"locks", "--kind=mutex", blocking_});
  ASSERT_EQ(locks.size(), 1);
  EXPECT_EQ(Number(locks[0], "count"), 2);
  EXPECT_EQ(Number(locks[0], "open"), 0);
  EXPECT_EQ(Number(locks[0], "total_ns"), 4'297'792);
  EXPECT_EQ(Text(locks[0], "object"), "mutex");
  EXPECT_EQ(Text(locks[0], "reason"), "sync");
  EXPECT_EQ(Text(locks[0], "function"), "main.locks.func2");
  EXPECT_EQ(Text(locks[0], "file"), "blocking/main.go");
  EXPECT_EQ(Number(locks[0], "line"), 68);
  EXPECT_EQ(Text(locks[0], "library"), "sync.(*Mutex).Lock");
  const std::vector<JsonValue>& wakers = locks[0].Find("wakers")->elements;
  ASSERT_EQ(wakers.size(), 2);
  EXPECT_EQ(Text(wakers[0], "function"), "main.locks.func2");
  EXPECT_EQ(Number(wakers[0], "time_ns"), 2'150'272);
  EXPECT_EQ(Text(wakers[1], "function"), "main.locks");
  EXPECT_EQ(Number(wakers[1], "count"), 1);
  EXPECT_EQ(Text(wakers[0], "call"), "sync.(*Mutex).Unlock");
  // main had the lock and slept. The first that got it from main woke the second.
  const std::vector<JsonValue>& holders = locks[0].Find("holders")->elements;
  ASSERT_GE(holders.size(), 3);
  EXPECT_EQ(Text(holders[0], "function"), "main.locks");
  EXPECT_EQ(Text(holders[0], "state"), "Waiting");
  EXPECT_EQ(Text(holders[0], "reason"), "sleep");
  EXPECT_EQ(Text(holders[0], "in"), "main.locks");
  EXPECT_EQ(Number(holders[0], "time_ns"), 4'287'424);
  EXPECT_EQ(Text(holders[1], "state"), "Runnable");
  EXPECT_EQ(Number(holders[1], "time_ns"), 4'992);
  EXPECT_EQ(Text(holders[2], "function"), "main.locks.func2");
  EXPECT_EQ(Text(holders[2], "in"), "main.locks.func2");
  EXPECT_EQ(Number(holders[2], "time_ns"), 3'200);
  int64_t held = 0;
  for (const JsonValue& holder : holders) held += Number(holder, "time_ns");
  EXPECT_EQ(held, 4'297'792);
  const std::vector<JsonValue>& victims = locks[0].Find("victims")->elements;
  ASSERT_EQ(victims.size(), 1);
  EXPECT_EQ(Text(victims[0], "start"), "main.locks.func1.1");
  EXPECT_EQ(Number(victims[0], "time_ns"), 4'297'792);
  EXPECT_EQ(RunDump({"locks", "--kind=mutex", "--func=main.turns.func1", blocking_}).out,
            "no locks\n");
  // Whatever they wait for, and each wait once.
  std::set<std::string> objects;
  for (const JsonValue& row : Rows({"locks", blocking_})) objects.insert(Text(row, "object"));
  EXPECT_EQ(objects,
            (std::set<std::string>{"chan", "cond", "mutex", "rwmutex", "select", "waitgroup"}));
  const std::vector<std::string> text =
      Lines(DumpOutput({"locks", "--kind=mutex,chan", "--sort=count", blocking_}));
  ASSERT_GE(text.size(), 2);
  EXPECT_TRUE(absl::StartsWith(text[0], "COUNT    TOTAL      MAX  FOR")) << text[0];
}

TEST_F(LatencyCommands, ExplainWhatIsWrong) {
  EXPECT_TRUE(absl::StrContains(
      Error({"latency", "--kind=scheduling,mutex"}),
      "--kind: expected scheduling or blocked or syscall or pause or assist, found \"mutex\""));
  EXPECT_TRUE(absl::StrContains(Error({"latency", "--by=task"}),
                                "--by: expected what or func or stack or g, found \"task\""));
  EXPECT_TRUE(absl::StrContains(Error({"latency", "--worst=0"}), "--worst: must be 1 or more"));
  EXPECT_TRUE(absl::StrContains(Error({"latency", "--worst=3", "--by=func"}),
                                "--by and --worst cannot be used together"));
  EXPECT_TRUE(absl::StrContains(Error({"latency", "--worst=3", "--sort=p99"}),
                                "there is no column \"p99\"; the columns are begin_ns, length_ns"));
  EXPECT_TRUE(absl::StrContains(Error({"procs", "--slices=1"}), "--slices: must be 2 or more"));
  EXPECT_TRUE(absl::StrContains(Error({"procs", "--g=1"}), "--g is a flag of"));
  EXPECT_TRUE(absl::StrContains(Error({"locks", "--kind=other"}),
                                "--kind: expected mutex or rwmutex or cond or waitgroup or chan or "
                                "select, found \"other\""));
  EXPECT_TRUE(absl::StrContains(Error({"leaks", "--longer=soon"}), "expected a duration"));
  EXPECT_TRUE(absl::StrContains(Error({"leaks", "--longer=-1s"}), "expected a duration"));
}

}  // namespace gotrace_dump_latency_test
}  // namespace gotrace::internal
