// Runs the command `sql` as its users do.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"

namespace gotrace::internal {
namespace gotrace_dump_sql_test {

constexpr char kStates[] =
    "SELECT state, count(*) AS n FROM g_states WHERE reason IS NULL GROUP BY state ORDER BY state";

std::string TracePath() { return TestFilePath("go1.27-gc.trace.zst"); }

TEST(SqlCommand, PrintsRowsInEachFormat) {
  const auto print = [](const std::string& format, const std::string& query) {
    return DumpOutput({"sql", "--format=" + format, TracePath(), query});
  };
  EXPECT_EQ(DumpOutput({"sql", TracePath(), kStates}),
            "state        n\n"
            "Runnable  1025\n"
            "Running   1395\n"
            "Syscall    197\n"
            "Waiting     12\n");
  EXPECT_EQ(print("csv", kStates),
            "state,n\nRunnable,1025\nRunning,1395\nSyscall,197\nWaiting,12\n");
  EXPECT_EQ(print("tsv", kStates),
            "state\tn\nRunnable\t1025\nRunning\t1395\nSyscall\t197\nWaiting\t12\n");
  EXPECT_EQ(print("jsonl", kStates),
            "{\"state\":\"Runnable\",\"n\":1025}\n{\"state\":\"Running\",\"n\":1395}\n"
            "{\"state\":\"Syscall\",\"n\":197}\n{\"state\":\"Waiting\",\"n\":12}\n");
  const std::string odd =
      "SELECT 'a,\"b\"' AS \"x\"\"y\", 'tab\tline\nend\\', NULL AS none, 0.5 AS half";
  EXPECT_EQ(print("csv", odd),
            "\"x\"\"y\",\"'tab\tline\nend\\'\",none,half\n"
            "\"a,\"\"b\"\"\",\"tab\tline\nend\\\",,0.5\n");
  EXPECT_EQ(print("tsv", odd).substr(print("tsv", odd).find("a,")),
            "a,\"b\"\ttab\\tline\\nend\\\\\t\\N\t0.5\n");
  // An empty text is not NULL.
  EXPECT_EQ(print("csv", "SELECT '' AS a, NULL AS b, 'c' AS c"), "a,b,c\n\"\",,c\n");
  EXPECT_TRUE(absl::StartsWith(print("json", odd), "[\n{\"x\\\"y\":\"a,\\\"b\\\"\","));
  EXPECT_EQ(print("json", "SELECT 1 AS one WHERE 0"), "[]\n");
  EXPECT_EQ(print("csv", "SELECT 1 AS one WHERE 0"), "one\n");
}

TEST(SqlCommand, TakesQueriesFromFilesAndTheStandardInput) {
  const std::string directory = MakeTestDirectory();
  const std::string script = WriteFile(
      directory + "/queries.sql", "-- Two queries.\nSELECT 1 AS a;\n\nSELECT 2 AS b\n; -- Done.\n");
  EXPECT_EQ(DumpOutput({"sql", "-f", script, TracePath()}), "a\n1\nb\n2\n");
  ExpectFailure(
      RunDump({"sql", "-f", WriteFile(directory + "/nul.sql", std::string("SELECT 1;\0", 10)),
               TracePath()}),
      2, "", "gotrace-dump: the query has a NUL byte\n");
  SubprocessOptions input;
  input.input = "SELECT count(*) AS events FROM events;";
  EXPECT_EQ(DumpOutput({"sql", TracePath()}, input), "events\n  8601\n");
  input.input = ReadTestFile("go1.27-gc.trace.zst");
  EXPECT_EQ(
      DumpOutput({"sql", "-", "SELECT count(*) AS events, max(source) FROM events, traces"}, input),
      "events  max(source)\n  8601  standard input\n");
}

TEST(SqlCommand, SaysWhereAnErrorIs) {
  ExpectFailure(RunDump({"sql", TracePath(), "SELECT g,\n  nowhere FROM g_states"}), 2, "",
                "gotrace-dump: no such column: nowhere\n"
                "    nowhere FROM g_states\n"
                "    ^\n");
  ExpectFailure(RunDump({"sql", TracePath(), "SELECT 1; SELEC 2"}), 2, "1\n1\n",
                "gotrace-dump: near \"SELEC\": syntax error\n"
                "  SELEC 2\n"
                "  ^\n");
  ExpectFailure(RunDump({"sql", TracePath(), "SELECT begin_ns FROM g_states"}), 2, "",
                "gotrace-dump: no such column: begin_ns; an interval begins at end_ns - dur_ns\n"
                "  SELECT begin_ns FROM g_states\n"
                "         ^\n");
  ExpectFailure(RunDump({"sql", TracePath(), "SELECT 1 FROM goroutine"}), 2, "",
                "gotrace-dump: no such table: goroutine; did you mean goroutines?\n");
  ExpectFailure(RunDump({"sql", TracePath(), " "}), 2, "", "gotrace-dump: the query is empty\n");
  ExpectFailure(RunDump({"sql", "SELECT 1", TracePath()}), 2, "",
                "gotrace-dump: there is no file \"SELECT 1\"; a query comes after the traces\n");
  ExpectFailure(RunDump({"sql", "-f", "q.sql", TracePath(), "SELECT 1"}), 2, "",
                "gotrace-dump: there is no file \"SELECT 1\"; a query on the command line and -f "
                "cannot be used together\n");
  ExpectFailure(RunDump({"sql", "SELECT 1"}), 2, "",
                "gotrace-dump: no trace is given: a query comes after the traces\n");
  const SubprocessResult missing = RunDump({"sql", "no such file", "SELECT 1"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(missing.err, "no such file")) << missing.err;
}

TEST(SqlCommand, QueriesSeveralTracesAndDirectories) {
  const std::string directory = MakeTestDirectory();
  std::filesystem::create_directory(directory + "/traces");
  WriteFile(directory + "/traces/a.trace", ReadTestTrace("go1.27-gc.trace"));
  WriteFile(directory + "/traces/b.trace", ReadTestTrace("go1.26-gc.trace"));
  const std::string rows =
      DumpOutput({"sql", "--format=csv", directory + "/traces",
                  "SELECT t.source, count(*) FROM events e JOIN traces t USING (trace_id) "
                  "GROUP BY t.source ORDER BY t.source"});
  EXPECT_TRUE(absl::StrContains(rows, "/traces/a.trace,8601\n")) << rows;
  EXPECT_TRUE(absl::StrContains(rows, "/traces/b.trace,")) << rows;
  const std::string traces = directory + "/traces";
  EXPECT_EQ(DumpOutput({"sql", "--format=csv", traces, "SELECT count(*) AS n FROM traces"}),
            "n\n2\n");
  WriteFile(directory + "/traces/c.trace", ReadTestTrace("go1.27-gc.trace"));
  WriteFile(directory + "/traces/d.md", "Not a trace.\n");
  const SubprocessResult result =
      RunDump({"sql", "--format=csv", traces, "SELECT count(*) AS n FROM traces"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "n\n2\n");
  EXPECT_TRUE(absl::StrContains(result.err, "has the same bytes as")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "skipped")) << result.err;
}

TEST(SqlCommand, QueriesAllTracesOfAFile) {
  const std::string first = ReadTestTrace("go1.27-gc.trace");
  const std::string second = ReadTestTrace("go1.26-gc.trace");
  const std::string both = first + second.substr(0, second.size() - 500);
  const std::string path = WriteFile(MakeTestDirectory() + "/both.trace", both);
  const std::string count =
      "SELECT number, complete, (SELECT count(*) FROM events e WHERE e.trace_id = t.trace_id) "
      "= t.events FROM traces t";
  const std::string rows =
      "number,complete,(SELECT count(*) FROM events e WHERE e.trace_id = "
      "t.trace_id) = t.events\n";
  const SubprocessResult all = RunDump({"sql", "--format=csv", path, count});
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_EQ(all.out, rows + "1,1,1\n2,0,1\n");
  EXPECT_TRUE(absl::StrContains(all.err, "/both.trace, trace 2: byte ")) << all.err;
  EXPECT_EQ(RunDump({"sql", "--format=csv", "--trace=all", path, count}).out, all.out);
  EXPECT_EQ(RunDump({"sql", "--format=csv", "-", count}, {.input = both}).out, all.out);
  EXPECT_EQ(DumpOutput({"sql", "--format=csv", "--trace=1", path, count}), rows + "1,1,1\n");
  // The ids are those of `tables`.
  const std::string ids =
      DumpOutput({"sql", "--format=csv", "--trace=1", path, "SELECT trace_id FROM traces"}) +
      RunDump({"sql", "--format=csv", "--trace=2", path, "SELECT trace_id FROM traces"}).out;
  const SubprocessResult tables = RunDump({"tables", "--tables=traces", path});
  EXPECT_EQ(RunDump({"sql", "--format=csv", path, "SELECT trace_id FROM traces"}).out,
            absl::StrReplaceAll(ids, {{"\ntrace_id\n", "\n"}}));
  for (const absl::string_view id : absl::StrSplit(ids, '\n')) {
    EXPECT_TRUE(absl::StrContains(tables.out, id)) << id;
  }
  ExpectFailure(RunDump({"sql", "--trace=3", path, "SELECT count(*) AS n FROM events"}), 2,
                "n\n0\n",
                absl::StrCat("gotrace-dump: ", path, ": --trace=3: the input holds 2 traces\n"));
}

TEST(SqlCommand, ReadsABrokenTraceUpToTheFault) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  const std::string file = WriteFile(MakeTestDirectory() + "/cut.trace", bytes.substr(0, 100'000));
  const SubprocessResult result = RunDump({"sql", file, "SELECT count(*) AS n FROM events"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(absl::StartsWith(result.out, "   n\n")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.err, "--salvage keeps everything")) << result.err;
  const SubprocessResult salvaged =
      RunDump({"sql", "--salvage", file, "SELECT complete FROM traces"});
  EXPECT_EQ(salvaged.exit_code, 0) << salvaged.err;
  // The first query needs nothing from behind the fault.
  const SubprocessResult both = RunDump(
      {"sql", file, "SELECT count(*) AS n FROM events WHERE time_ns < 5; SELECT 1 FROM traces"});
  EXPECT_EQ(both.exit_code, 1);
}

TEST(SqlCommand, SavesADatabase) {
  const std::string path = MakeTestDirectory() + "/saved.sqlite";
  EXPECT_EQ(DumpOutput({"sql", "--save=" + path, TracePath()}), "");
  // In the saved database there are no functions of gotrace, but the same rows.
  const std::string attach = absl::StrCat("ATTACH '", path, "' AS saved; ");
  EXPECT_EQ(DumpOutput({"sql", "--allow-write", TracePath(),
                        attach + "SELECT count(*) AS n FROM (SELECT trace_id, * FROM main.g_states "
                                 "EXCEPT SELECT * FROM saved.g_states)"}),
            "n\n0\n");
  EXPECT_EQ(DumpOutput({"sql", "--allow-write", TracePath(),
                        attach + "SELECT count(*) AS n FROM saved.events"}),
            "   n\n8601\n");
  ExpectFailure(RunDump({"sql", "--save=" + path, TracePath()}), 2, "",
                absl::StrCat("gotrace-dump: ", path, " exists; give the name of a new file\n"));
  const SubprocessResult failure =
      RunDump({"sql", "--save=/no such directory/x.sqlite", TracePath()});
  EXPECT_EQ(failure.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(failure.err, "cannot be written")) << failure.err;
}

TEST(SqlCommand, LeavesNoFileIfASignalEndsItWhileItSaves) {
  const std::string directory = MakeTestDirectory();
  // With many traces there is time to see the file before it is complete.
  std::vector<std::string> arguments = {"gotrace-dump", "sql", "--save=" + directory + "/x.sqlite"};
  for (const TestTrace& test : TestTraces()) {
    arguments.push_back(TestFilePath(test.name + ".zst"));
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    execv("tools/gotrace-dump", pointers.data());
    _exit(127);
  }
  const auto has_written = [&] {
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
      std::error_code error;  // A file of SQLite may be gone again.
      const std::uintmax_t size = file.file_size(error);
      if (!error && size > 0) return true;
    }
    return false;
  };
  for (int i = 0; i < 60'000 && !has_written(); ++i) usleep(1000);
  EXPECT_TRUE(has_written());
  EXPECT_FALSE(std::filesystem::exists(directory + "/x.sqlite"));
  kill(process, SIGTERM);
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST(SqlCommand, RunsCommandsBetweenStatements) {
  EXPECT_EQ(DumpOutput({"sql", TracePath(),
                        "/* a */ -- First.\n.format csv; SELECT 42 AS a;; /* b */ .format tsv\n"
                        "SELECT 'x\n.y' AS b"}),
            "a\n42\nb\nx\\n.y\n");
  EXPECT_TRUE(absl::EndsWith(DumpOutput({"sql", TracePath(), ".tables; SELECT 42 AS a"}),
                             "region_hist\n a\n42\n"));
  EXPECT_EQ(DumpOutput({"sql", TracePath(), "SELECT 1 AS a; .quit\nSELECT 2"}), "a\n1\n");
  ExpectFailure(RunDump({"sql", TracePath(), ".nothing; SELECT 1"}), 2, "",
                "gotrace-dump: there is no command .nothing; .help lists them\n");
  ExpectFailure(RunDump({"sql", TracePath(), ".schema nothing"}), 2, "",
                "gotrace-dump: there is no table nothing; .tables lists them\n");
  ExpectFailure(RunDump({"sql", TracePath(), ".format xml"}), 2, "",
                "gotrace-dump: the formats are table, csv, tsv, json and jsonl\n");
}

TEST(SqlCommand, WritesFilesOnlyIfItMay) {
  const std::string directory = MakeTestDirectory();
  const std::string path = directory + "/new.sqlite";
  for (const std::string& sql :
       {absl::StrCat("ATTACH '", path, "' AS x; CREATE TABLE x.y(z)"),
        absl::StrCat("ATTACH '", directory, "' || '/new.sqlite' AS x; CREATE TABLE x.y(z)"),
        absl::StrCat("CREATE TABLE y(z); VACUUM INTO '", path, "'"),
        absl::StrCat("PRAGMA temp_store_directory = '", directory, "'")}) {
    const SubprocessResult result = RunDump({"sql", TracePath(), sql});
    EXPECT_EQ(result.exit_code, 2) << sql;
    EXPECT_TRUE(absl::StrContains(result.err, "only with --allow-write")) << sql << result.err;
    EXPECT_TRUE(std::filesystem::is_empty(directory)) << sql;
  }
  DumpOutput({"sql", "--allow-write", TracePath(),
              absl::StrCat("CREATE TABLE y AS SELECT * FROM labels; VACUUM INTO '", path, "'")});
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(SqlCommand, NumbersAreExactAndShort) {
  const std::string query =
      "SELECT 0.1 AS a, 1e300 * 1e300 AS b, -1e999 AS c, 2.0 AS d, 1.0 / 3 AS e, 1e22 AS f";
  EXPECT_EQ(DumpOutput({"sql", "--format=jsonl", TracePath(), query}),
            "{\"a\":0.1,\"b\":9e999,\"c\":-9e999,\"d\":2.0,\"e\":0.3333333333333333,"
            "\"f\":1e+22}\n");
  EXPECT_EQ(DumpOutput({"sql", "--format=csv", TracePath(), query}),
            "a,b,c,d,e,f\n0.1,Inf,-Inf,2.0,0.3333333333333333,1e+22\n");
}

TEST(SqlCommand, EscapesWhatWouldControlATerminal) {
  EXPECT_EQ(DumpOutput({"sql", TracePath(),
                        "SELECT char(155) || 'ü' || char(8238) || char(10) || char(27) || 'e' AS "
                        "'x\u009by', CAST(x'ff41' AS TEXT) AS z"}),
            "x\\u009by              z\n"
            "\\u009bü\\u202e\\n\\x1be  \\xffA\n");
  ExpectFailure(RunDump({"sql", TracePath(), "SELECT \x1b['\u202e"}), 2, "",
                "gotrace-dump: unrecognized token: \"\\x1b\"\n"
                "  SELECT \\x1b['\\u202e\n"
                "         ^\n");
}

// A person at a terminal.
class Terminal {
 public:
  explicit Terminal(const std::string& home) {
    process_ = forkpty(&fd_, nullptr, nullptr, nullptr);
    if (process_ == 0) {
      setenv("HOME", home.c_str(), 1);
      unsetenv("XDG_STATE_HOME");
      setenv("TERM", "dumb", 1);
      const std::string path = TracePath();
      execl("tools/gotrace-dump", "gotrace-dump", "sql", path.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Terminal() {
    close(fd_);
    if (process_ > 0) kill(process_, SIGKILL);
  }

  void Type(const std::string& text) {
    EXPECT_EQ(write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // Returns what is shown up to `text`, or everything if that does not come.
  std::string WaitFor(const std::string& text) {
    std::string shown;
    std::array<char, 4096> buffer;
    while (!absl::StrContains(shown, text)) {
      pollfd ready = {.fd = fd_, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, /*timeout=*/60'000) == 0) break;
      const ssize_t size = read(fd_, buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      shown.append(buffer.data(), static_cast<size_t>(size));
    }
    return shown;
  }

  int ExitCode() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int fd_ = -1;
  pid_t process_ = -1;
};

TEST(SqlCommand, KeepsTheLastThousandLinesOfHistory) {
  const std::string home = MakeTestDirectory();
  const std::string path = home + "/.gotrace_sql_history";
  {
    // As the library for lines writes it.
    std::ofstream history(path);
    history << "_HiStOrY_V2_\n";
    for (int i = 0; i < 1200; ++i) history << "old" << i << ";\n";
  }
  Terminal terminal(home);
  terminal.WaitFor("gotrace> ");
  terminal.Type("quit;\n");
  EXPECT_EQ(terminal.ExitCode(), 0);
  std::vector<std::string> lines;
  std::ifstream history(path);
  for (std::string line; std::getline(history, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), 1001u);  // With the library's heading.
  EXPECT_EQ(lines.back(), "quit;");
}

TEST(SqlCommand, CutsNoEscape) {
  Terminal terminal(MakeTestDirectory());
  terminal.WaitFor("gotrace> ");
  // Of the 80 columns, the last is for the ellipsis.
  terminal.Type("SELECT printf('%.*c', 76, 'x') || char(27, 27) AS a;\n");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("…"), std::string(76, 'x') + "…"));
  terminal.Type("SELECT printf('%.*c', 75, 'y') || char(27, 27) AS a;\n");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("…"), std::string(75, 'y') + "\\x1b…"));
  terminal.Type("quit;\n");
  EXPECT_EQ(terminal.ExitCode(), 0);
}

TEST(SqlCommand, HasAPrompt) {
  const std::string home = MakeTestDirectory();
  Terminal terminal(home);
  terminal.WaitFor("gotrace> ");
  terminal.Type(".tables\n");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("region_hist"), "g_states"));
  terminal.Type(".schema labels\n");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("The label."), "a row for a label"));
  terminal.Type("SELECT count(*)\nAS n\nFROM events;\n");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("8601"), "8601"));
  terminal.Type("SELECT nowhere;\n");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("no such column"), "no such column"));
  // Ctrl-C ends a query that never ends, but not the session.
  terminal.Type(
      "SELECT 6 * 7; WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
      "SELECT max(x) FROM n;\n");
  terminal.WaitFor("42");  // The next query begins right after this one.
  usleep(300'000);
  terminal.Type("\x03");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("interrupted"), "interrupted"));
  // Ctrl-C gives up what was typed.
  terminal.Type("SELECT 'abc\n");
  terminal.WaitFor("...> ");
  terminal.Type("\x03");
  terminal.WaitFor("gotrace> ");
  terminal.Type(".tables;\n");
  EXPECT_TRUE(absl::StrContains(terminal.WaitFor("region_hist"), "g_states"));
  terminal.Type("quit;\n");
  EXPECT_EQ(terminal.ExitCode(), 0);
  EXPECT_TRUE(std::filesystem::exists(home + "/.gotrace_sql_history"));
}

}  // namespace gotrace_dump_sql_test
}  // namespace gotrace::internal
