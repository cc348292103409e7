#include "gotrace/trace2.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "export/trace2/trace2_destination.h"
#include "export/trace2/trace2_session_id.h"
#include "gtest/gtest.h"
#include "testing/memory_meter.h"
#include "testing/test_directory.h"
#include "testing/trace2_checker.h"

namespace gotrace {
namespace trace2_test {

using internal::MakeTestDirectory;
using internal::ReadFile;

using Environment = std::vector<std::pair<std::string, std::string>>;

// Each test has an environment without the variables of Trace2, and may set them.
class Trace2Test : public testing::Test {
 protected:
  Trace2Test() : directory_(MakeTestDirectory()) { Clear(); }
  ~Trace2Test() override { Clear(); }

  static void Clear() {
    for (const char* const name :
         {"MYPROG_TRACE2", "MYPROG_TRACE2_BRIEF", "MYPROG_TRACE2_PERF", "MYPROG_TRACE2_PERF_BRIEF",
          "MYPROG_TRACE2_EVENT", "MYPROG_TRACE2_EVENT_BRIEF", "MYPROG_TRACE2_EVENT_NESTING",
          "MYPROG_TRACE2_MAX_FILES", "MYPROG_TRACE2_DST_DEBUG", "GIT_TRACE2_PARENT_SID",
          "GIT_TRACE2_PARENT_NAME"}) {
      unsetenv(name);
    }
  }

  static void Set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }

  std::unique_ptr<Trace2> Start() {
    Trace2Settings settings;
    settings.program = "myprog";
    settings.version = "2.39.5";
    settings.variables = "MYPROG_TRACE2";
    settings.on_warning = [this](absl::string_view message) {
      warnings_.push_back(std::string(message));
    };
    return Trace2::Start(settings, {"common-main.c", 50});
  }

  // Traces to all three formats, in the files "n", "p" and "e".
  std::unique_ptr<Trace2> StartAll() {
    Set("MYPROG_TRACE2", directory_ + "/n");
    Set("MYPROG_TRACE2_PERF", directory_ + "/p");
    Set("MYPROG_TRACE2_EVENT", directory_ + "/e");
    return Start();
  }

  std::string Read(absl::string_view name) const {
    return ReadFile(absl::StrCat(directory_, "/", name));
  }

  size_t CountFiles() const {
    return std::distance(std::filesystem::directory_iterator(directory_),
                         std::filesystem::directory_iterator());
  }

  const std::string directory_;
  std::vector<std::string> warnings_;
};

// Replaces digits, and whatever else is different in each run.
std::string Masked(absl::string_view trace) {
  std::string masked;
  for (absl::string_view line : absl::StrSplit(trace, '\n')) {
    std::string text;
    // The ids of sessions have hexadecimal digits.
    constexpr absl::string_view kId = "\"sid\":\"";
    if (const size_t begin = line.find(kId); begin != line.npos) {
      const size_t end = line.find('"', begin + kId.size());
      text = absl::StrCat(line.substr(0, begin + kId.size()), line.substr(end));
    } else {
      text = std::string(line);
    }
    for (char& c : text) {
      if (absl::ascii_isdigit(static_cast<unsigned char>(c))) c = '0';
    }
    absl::StrAppend(&masked, text, "\n");
  }
  return masked;
}

// The events of a run of git 2.39.5, written again.
void WriteRunOfGit(Trace2* trace) {
  trace->WriteStart({"git", "checkout", "nosuch"}, {"common-main.c", 51});
  trace->WriteCommandName("checkout", {"git.c", 461});
  trace->WriteParameter("user.name", "xy", {"git.c", 462});
  trace->WriteCommandMode("path", {"builtin/checkout.c", 457});
  trace->EnterRegion("index", "do_read_index", ".git/index", {"read-cache.c", 2443});
  trace->EnterRegion("cache_tree", "read", "", {"cache-tree.c", 628});
  trace->LeaveRegion({"cache-tree.c", 630});
  trace->WriteData("index", "read/version", uint64_t{2}, {"read-cache.c", 2389});
  trace->LeaveRegion({"read-cache.c", 2448});
  trace->WriteError("pathspec 'nosuch' did not match any file(s) known to git",
                    "pathspec '%s' did not match any file(s) known to git", {"usage.c", 79});
  trace->WriteExit(1, {"git.c", 721});
}

// What git wrote, without the ids of repositories, since other programs have none, and without the
// places of signal and atexit, which are in git's own tracing.
TEST_F(Trace2Test, WritesTheLinesOfGit) {
  WriteRunOfGit(StartAll().get());
  EXPECT_EQ(Masked(Read("n")),
            Masked(R"(06:05:16.201347 common-main.c:50                  version 2.39.5
06:05:16.201389 common-main.c:51                  start git checkout nosuch
06:05:16.201701 git.c:461                         cmd_name checkout (checkout)
06:18:53.775877 git.c:462                         def_param scope:command user.name=xy
06:05:16.201880 builtin/checkout.c:457            cmd_mode path
06:05:16.202055 usage.c:79                        error pathspec 'nosuch' did not match any file(s) known to git
06:05:16.202072 git.c:721                         exit elapsed:0.001101 code:1
06:05:16.202111                                   atexit elapsed:0.001135 code:1
)"));
  EXPECT_EQ(
      Masked(Read("p")),
      Masked(
          R"(06:05:16.201364 common-main.c:50             | d0 | main                     | version      |     |           |           |              | 2.39.5
06:05:16.201392 common-main.c:51             | d0 | main                     | start        |     |  0.000413 |           |              | git checkout nosuch
06:05:16.201703 git.c:461                    | d0 | main                     | cmd_name     |     |           |           |              | checkout (checkout)
06:18:53.775879 git.c:462                    | d0 | main                     | def_param    |     |           |           | scope:comman | user.name:xy
06:05:16.201884 builtin/checkout.c:457       | d0 | main                     | cmd_mode     |     |           |           |              | path
06:05:16.201936 read-cache.c:2443            | d0 | main                     | region_enter |     |  0.000965 |           | index        | label:do_read_index .git/index
06:05:16.201977 cache-tree.c:628             | d0 | main                     | region_enter |     |  0.001007 |           | cache_tree   | ..label:read
06:05:16.201996 cache-tree.c:630             | d0 | main                     | region_leave |     |  0.001025 |  0.000018 | cache_tree   | ..label:read
06:05:16.202011 read-cache.c:2389            | d0 | main                     | data         |     |  0.001041 |  0.000076 | index        | ..read/version:2
06:05:16.202030 read-cache.c:2448            | d0 | main                     | region_leave |     |  0.001060 |  0.000095 | index        | label:do_read_index .git/index
06:05:16.202058 usage.c:79                   | d0 | main                     | error        |     |           |           |              | pathspec 'nosuch' did not match any file(s) known to git
06:05:16.202074 git.c:721                    | d0 | main                     | exit         |     |  0.001101 |           |              | code:1
06:05:16.202114                              | d0 | main                     | atexit       |     |  0.001135 |           |              | code:1
)"));
  EXPECT_EQ(
      Masked(Read("e")),
      Masked(
          R"({"event":"version","sid":"","thread":"main","time":"2026-11-26T06:05:16.201380Z","file":"common-main.c","line":50,"evt":"3","exe":"2.39.5"}
{"event":"start","sid":"","thread":"main","time":"2026-11-26T06:05:16.201470Z","file":"common-main.c","line":51,"t_abs":0.000413,"argv":["git","checkout","nosuch"]}
{"event":"cmd_name","sid":"","thread":"main","time":"2026-11-26T06:05:16.201707Z","file":"git.c","line":461,"name":"checkout","hierarchy":"checkout"}
{"event":"def_param","sid":"","thread":"main","time":"2026-11-26T06:18:53.775882Z","file":"git.c","line":462,"scope":"command","param":"user.name","value":"xy"}
{"event":"cmd_mode","sid":"","thread":"main","time":"2026-11-26T06:05:16.201888Z","file":"builtin/checkout.c","line":457,"name":"path"}
{"event":"region_enter","sid":"","thread":"main","time":"2026-11-26T06:05:16.201941Z","file":"read-cache.c","line":2443,"nesting":1,"category":"index","label":"do_read_index","msg":".git/index"}
{"event":"region_enter","sid":"","thread":"main","time":"2026-11-26T06:05:16.201982Z","file":"cache-tree.c","line":628,"nesting":2,"category":"cache_tree","label":"read"}
{"event":"region_leave","sid":"","thread":"main","time":"2026-11-26T06:05:16.202000Z","file":"cache-tree.c","line":630,"t_rel":0.000018,"nesting":2,"category":"cache_tree","label":"read"}
{"event":"data","sid":"","thread":"main","time":"2026-11-26T06:05:16.202019Z","file":"read-cache.c","line":2389,"t_abs":0.001041,"t_rel":0.000076,"nesting":2,"category":"index","key":"read/version","value":"2"}
{"event":"region_leave","sid":"","thread":"main","time":"2026-11-26T06:05:16.202034Z","file":"read-cache.c","line":2448,"t_rel":0.000095,"nesting":1,"category":"index","label":"do_read_index","msg":".git/index"}
{"event":"error","sid":"","thread":"main","time":"2026-11-26T06:05:16.202061Z","file":"usage.c","line":79,"msg":"pathspec 'nosuch' did not match any file(s) known to git","fmt":"pathspec '%s' did not match any file(s) known to git"}
{"event":"exit","sid":"","thread":"main","time":"2026-11-26T06:05:16.202082Z","file":"git.c","line":721,"t_abs":0.001101,"code":1}
{"event":"atexit","sid":"","thread":"main","time":"2026-11-26T06:05:16.202118Z","t_abs":0.001135,"code":1}
)"));
  EXPECT_EQ(internal::CheckTrace2Events(Read("e")), absl::OkStatus());
  EXPECT_TRUE(warnings_.empty());
}

// git writes a signal only for SIGPIPE.
TEST_F(Trace2Test, WritesSignals) {
  std::unique_ptr<Trace2> trace = StartAll();
  trace->EnterRegion("a", "b", "");
  const internal::MemoryMeter meter;
  trace->WriteSignal(SIGPIPE);
  trace->WriteSignal(SIGTERM);
  EXPECT_EQ(meter.peak(), 0u) << "A signal handler must not allocate.";
  const auto last = [&](absl::string_view name) {
    const std::string text = Read(name);
    const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
    return Masked(lines.back());
  };
  EXPECT_EQ(last("n"),
            Masked("06:18:54.218152                                   signal elapsed:0.308258 "
                   "code:13"));
  EXPECT_EQ(last("p"),
            Masked("06:18:54.218180                              | d0 | main                     | "
                   "signal       |     |  0.308258 |           |              | signo:13"));
  EXPECT_EQ(last("e"), Masked(R"({"event":"signal","sid":"","thread":"main",)"
                              R"("time":"2026-11-26T06:18:54.218191Z","t_abs":0.308258,)"
                              R"("signo":13})"));
  // Only the first.
  EXPECT_TRUE(absl::StrContains(Read("e"), "\"signo\":13}"));
  EXPECT_FALSE(absl::StrContains(Read("e"), "\"signo\":15}"));
  // If the program goes on, so does the trace.
  trace.reset();
  EXPECT_EQ(internal::CheckTrace2Events(Read("e")), absl::OkStatus());
}

TEST_F(Trace2Test, Brief) {
  Set("MYPROG_TRACE2_BRIEF", "true");
  Set("MYPROG_TRACE2_PERF_BRIEF", "on");
  Set("MYPROG_TRACE2_EVENT_BRIEF", "1");
  WriteRunOfGit(StartAll().get());
  EXPECT_EQ(Masked(Read("n")),
            Masked("version 2.39.5\n"
                   "start git checkout nosuch\n"
                   "cmd_name checkout (checkout)\n"
                   "def_param scope:command user.name=xy\n"
                   "cmd_mode path\n"
                   "error pathspec 'nosuch' did not match any file(s) known to git\n"
                   "exit elapsed:0.000000 code:0\n"
                   "atexit elapsed:0.000000 code:0\n"));
  const std::string perf = Read("p");
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(perf, "\n"), '\n')) {
    EXPECT_TRUE(absl::StartsWith(line, "d0 | main ")) << line;
  }
  const std::string events = Read("e");
  EXPECT_FALSE(absl::StrContains(events, "\"line\":"));
  const std::vector<absl::string_view> lines = absl::StrSplit(events, "\"time\":");
  EXPECT_EQ(lines.size(), 3u) << events;  // In two lines.

  Set("MYPROG_TRACE2_BRIEF", "off");
  std::filesystem::remove(directory_ + "/n");
  WriteRunOfGit(StartAll().get());
  EXPECT_TRUE(absl::StrContains(Read("n"), "usage.c:79 "));
}

TEST_F(Trace2Test, Nesting) {
  // By default, 2: the thread counts.
  for (const auto& [value, regions, data] : {std::tuple("", 2, 2), std::tuple("1", 1, 1),
                                             std::tuple("3", 3, 3), std::tuple("-1", 2, 2)}) {
    SCOPED_TRACE(value);
    Set("MYPROG_TRACE2_EVENT_NESTING", value);
    std::filesystem::remove(directory_ + "/e");
    {
      const std::unique_ptr<Trace2> trace = StartAll();
      trace->WriteData("c", "k0", uint64_t{1});
      const Trace2Region region1(trace.get(), "c", "r1");
      trace->WriteData("c", "k1", uint64_t{1});
      const Trace2Region region2(trace.get(), "c", "r2", "message");
      trace->WriteData("c", "k2", uint64_t{1});
      const Trace2Region region3(trace.get(), "c", "r3");
      trace->WriteData("c", "k3", uint64_t{1});
    }
    std::string events = Read("e");
    EXPECT_EQ(internal::CheckTrace2Events(events), absl::OkStatus());
    EXPECT_EQ(absl::StrReplaceAll({{"region_enter", ""}}, &events), regions);
    EXPECT_EQ(absl::StrReplaceAll({{"\"event\":\"data\"", ""}}, &events), data);
  }
}

TEST_F(Trace2Test, TimersAndCountersComeBetweenTheEnds) {
  {
    const std::unique_ptr<Trace2> trace = StartAll();
    trace->AddCount("c", "n", 3);
    trace->AddCount("c", "n", 4);
    trace->AddInterval("c", "t", absl::Milliseconds(1500));
    trace->AddInterval("c", "t", absl::Milliseconds(500));
    { const Trace2Interval interval(trace.get(), "c", "scope"); }
    trace->EnterRegion("c", "open", "");
    trace->WriteExit(7);
  }
  const std::string perf = Read("p");
  std::vector<std::string> texts;
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(perf, "\n"), '\n')) {
    const std::vector<std::string> columns = absl::StrSplit(line, " | ");
    texts.push_back(
        absl::StrCat(absl::StripAsciiWhitespace(columns[3]), " ",
                     absl::StrContains(columns[8], "name:scope") ? "scope" : columns[8]));
  }
  EXPECT_EQ(absl::StrJoin(texts, "\n"),
            "version 2.39.5\n"
            "region_enter label:open\n"
            "exit ..code:7\n"
            "region_leave label:open\n"
            "timer scope\n"
            "timer name:t intervals:2 total:2.000000 min:0.500000 max:1.500000\n"
            "counter name:n value:7\n"
            "atexit code:7");
  EXPECT_EQ(internal::CheckTrace2Events(Read("e")), absl::OkStatus());
  EXPECT_TRUE(absl::StrContains(
      Read("e"),
      R"("name":"t","intervals":2,"t_total":2.000000,"t_min":0.500000,"t_max":1.500000})"));
}

TEST_F(Trace2Test, Threads) {
  {
    const std::unique_ptr<Trace2> trace = StartAll();
    const Trace2Region region(trace.get(), "c", "of main");
    std::thread([&] {
      const Trace2Thread thread(trace.get(), "worker");
      const Trace2Region work(trace.get(), "c", "of worker");
      trace->WriteData("c", "k", "v");
    }).join();
    std::thread([&] { trace->WriteData("c", "k", "of nobody"); }).join();
    std::thread([&] {
      const Trace2Thread thread(trace.get(), "worker");
      trace->EnterRegion("c", "left open", "");
    }).join();
  }
  const std::string perf = Read("p");
  for (const absl::string_view line : {
           " | th01:worker              | thread_start |     |",
           " | th01:worker              | region_enter |     |",
           " | th01:worker              | data         |     |",
           " | th01:worker              | thread_exit  |     |",
           " | th02:unnamed             | thread_start |     |",
           " | th03:worker              | region_leave |     |",
       }) {
    EXPECT_TRUE(absl::StrContains(perf, line)) << line << perf;
  }
  std::string events = Read("e");
  // A thread that is not known to be one does not end.
  EXPECT_EQ(internal::CheckTrace2Events(events), absl::DataLossError("a thread did not end"));
}

TEST_F(Trace2Test, WithoutATraceNothingHappens) {
  for (const char* const value : {"", "0", "false", "FALSE"}) {
    Set("MYPROG_TRACE2", value);
    EXPECT_EQ(Start(), nullptr);
    const Trace2Region region(nullptr, "a", "b");
    const Trace2Thread thread(nullptr, "a");
    const Trace2Interval interval(nullptr, "a", "b");
  }
  EXPECT_EQ(std::getenv("GIT_TRACE2_PARENT_SID"), nullptr);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(Trace2Test, AppendsToFiles) {
  StartAll();
  StartAll();
  std::string text = Read("n");
  EXPECT_EQ(absl::StrReplaceAll({{"version 2.39.5\n", ""}}, &text), 2);
  // Several formats may go to one file.
  Set("MYPROG_TRACE2", directory_ + "/p");
  Start();
  EXPECT_TRUE(absl::StrContains(Read("p"), "   version 2.39.5\n"));
}

TEST_F(Trace2Test, OpensNewFilesInDirectories) {
  // All formats have the same name of a file, so that two of them get a number.
  for (const char* const name : {"MYPROG_TRACE2", "MYPROG_TRACE2_PERF", "MYPROG_TRACE2_EVENT"}) {
    Set(name, directory_);
  }
  Set("GIT_TRACE2_PARENT_SID", "a/b");
  const std::string id = Start()->session_id();
  EXPECT_TRUE(absl::StartsWith(id, "a/b/2"));
  const std::string own = id.substr(4);
  EXPECT_TRUE(absl::StrContains(Read(own), "   version 2.39.5\n"));
  EXPECT_TRUE(absl::StrContains(Read(own + ".1"), " | d2 | main  "));
  EXPECT_TRUE(absl::StrContains(Read(own + ".2"), "{\"event\":\"version\""));
  EXPECT_EQ(CountFiles(), 3u);
}

TEST_F(Trace2Test, GivesUpAfterTenNames) {
  internal::Trace2Target target;
  target.variable = "V";
  target.value = directory_ + "/";
  target.file_name = "name";
  target.tells_errors = true;
  target.on_warning = [this](absl::string_view message) {
    warnings_.push_back(std::string(message));
  };
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(internal::Trace2Destination::Open(target), nullptr);
  }
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/name"));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/name.9"));
  EXPECT_EQ(internal::Trace2Destination::Open(target), nullptr);
  EXPECT_EQ(CountFiles(), 10u);
  EXPECT_EQ(warnings_, std::vector<std::string>{"V: opening " + directory_ + "/name: File exists"});
}

TEST_F(Trace2Test, StopsBeforeADirectoryHasTooManyFiles) {
  Set("MYPROG_TRACE2_EVENT", directory_);
  Set("MYPROG_TRACE2_MAX_FILES", "5");
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(Start(), nullptr);
    usleep(2);
  }
  // With "." and "..", which git counts, there are five.
  EXPECT_EQ(CountFiles(), 3u);
  EXPECT_NE(Start(), nullptr);
  const std::string trace = Read("git-trace2-discard");
  EXPECT_EQ(internal::CheckTrace2Events(trace), absl::OkStatus());
  const std::vector<std::string> lines = absl::StrSplit(trace, '\n');
  EXPECT_TRUE(absl::StartsWith(lines[1], "{\"event\":\"too_many_files\",\"sid\":\"2")) << trace;
  EXPECT_EQ(Start(), nullptr);
  EXPECT_EQ(CountFiles(), 4u);
  EXPECT_TRUE(warnings_.empty());
  Set("MYPROG_TRACE2_DST_DEBUG", "1");
  EXPECT_EQ(Start(), nullptr);
  EXPECT_EQ(warnings_, std::vector<std::string>{absl::StrCat(
                           "MYPROG_TRACE2_EVENT: not writing to ", directory_,
                           ", which has a file git-trace2-discard because it has too many files")});
  // Whoever collected the files removes it.
  std::filesystem::remove(directory_ + "/git-trace2-discard");
  Set("MYPROG_TRACE2_MAX_FILES", "9");
  EXPECT_NE(Start(), nullptr);
  EXPECT_EQ(CountFiles(), 4u);
}

TEST_F(Trace2Test, WritesToDescriptors) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(dup2(ends[1], 9), 9);
  close(ends[1]);
  Set("MYPROG_TRACE2_EVENT", "9");
  Start();
  close(9);
  char text[4096];
  const ssize_t size = read(ends[0], text, sizeof(text));
  ASSERT_GT(size, 0);
  close(ends[0]);
  EXPECT_EQ(internal::CheckTrace2Events(absl::string_view(text, static_cast<size_t>(size))),
            absl::OkStatus());
}

TEST_F(Trace2Test, WritesToTheStandardError) {
  for (const char* const value : {"1", "true", "True", "2"}) {
    Set("MYPROG_TRACE2", value);
    testing::internal::CaptureStderr();
    Start();
    EXPECT_TRUE(absl::StrContains(testing::internal::GetCapturedStderr(), " version 2.39.5\n"));
  }
}

// After an error there are no further attempts, and the other destinations go on.
TEST_F(Trace2Test, AClosedPipeEndsOneTarget) {
  struct sigaction action;
  ASSERT_EQ(sigaction(SIGPIPE, nullptr, &action), 0);
  const auto before = action.sa_handler;
  std::signal(SIGPIPE, SIG_DFL);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(dup2(ends[1], 9), 9);
  close(ends[1]);
  close(ends[0]);
  for (const char* const debug : {"0", "1"}) {
    Set("MYPROG_TRACE2_DST_DEBUG", debug);
    const std::unique_ptr<Trace2> trace = StartAll();
    Set("MYPROG_TRACE2", "9");
    const std::unique_ptr<Trace2> closed = Start();
    ASSERT_NE(closed, nullptr);
    closed->WriteExit(3);
  }
  close(9);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  std::signal(SIGPIPE, before);
  EXPECT_EQ(warnings_, std::vector<std::string>{"MYPROG_TRACE2: writing: Broken pipe"});
  std::string perf = Read("p");
  EXPECT_EQ(absl::StrReplaceAll({{"code:3", ""}}, &perf), 4) << perf;
}

// A socket that is bound to a path, and receives what is written to it.
class Listener {
 public:
  Listener(const std::string& path, int type) : fd_(socket(AF_UNIX, type, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    if (type == SOCK_STREAM) {
      EXPECT_EQ(listen(fd_, 1), 0);
    }
  }
  ~Listener() { close(fd_); }

  // Everything that a connection wrote, up to its end.
  std::string ReceiveStream() {
    const int connection = accept(fd_, nullptr, nullptr);
    std::string all;
    char text[4096];
    ssize_t size;
    while ((size = read(connection, text, sizeof(text))) > 0) all.append(text, size);
    close(connection);
    return all;
  }

  // The messages that have come.
  std::vector<std::string> ReceiveMessages() {
    std::vector<std::string> all;
    char text[4096];
    ssize_t size;
    while ((size = recv(fd_, text, sizeof(text), MSG_DONTWAIT)) > 0) all.emplace_back(text, size);
    return all;
  }

 private:
  const int fd_;
};

TEST_F(Trace2Test, WritesToSockets) {
  // The paths of sockets must be short.
  const std::string path = absl::StrCat("/tmp/trace2_test_", getpid());
  Listener stream(path + "s", SOCK_STREAM);
  Listener datagrams(path + "d", SOCK_DGRAM);
  for (const std::string& value : {"af_unix:stream:" + path + "s", "af_unix:" + path + "s"}) {
    Set("MYPROG_TRACE2_EVENT", value);
    Start();
    EXPECT_EQ(internal::CheckTrace2Events(stream.ReceiveStream()), absl::OkStatus()) << value;
  }
  for (const std::string& value : {"af_unix:dgram:" + path + "d", "af_unix:" + path + "d"}) {
    Set("MYPROG_TRACE2_EVENT", value);
    Start();
    // One line in each.
    const std::vector<std::string> messages = datagrams.ReceiveMessages();
    EXPECT_EQ(messages.size(), 2u) << value;
    EXPECT_EQ(internal::CheckTrace2Events(absl::StrJoin(messages, "")), absl::OkStatus()) << value;
  }
  EXPECT_TRUE(warnings_.empty());
  Set("MYPROG_TRACE2_DST_DEBUG", "1");
  for (const std::string& value :
       {"af_unix:dgram:" + path + "s", "af_unix:stream:" + path + "d", std::string("af_unix:"),
        std::string("af_unix:stream:relative"), "af_unix:/" + std::string(200, 'x'),
        std::string("af_unix:/nowhere/socket")}) {
    Set("MYPROG_TRACE2_EVENT", value);
    EXPECT_EQ(Start(), nullptr);
  }
  unlink((path + "s").c_str());
  unlink((path + "d").c_str());
  const std::string v = "MYPROG_TRACE2_EVENT: connecting to ";
  EXPECT_EQ(warnings_,
            (std::vector<std::string>{v + path + "s: Protocol wrong type for socket",
                                      v + path + "d: Protocol wrong type for socket",
                                      v + ": the path is not absolute",
                                      v + "relative: the path is not absolute",
                                      v + "/" + std::string(200, 'x') + ": File name too long",
                                      v + "/nowhere/socket: No such file or directory"}));
}

TEST_F(Trace2Test, Warns) {
  // Always of a value that means nothing.
  Set("MYPROG_TRACE2_PERF", "relative\n");
  EXPECT_EQ(Start(), nullptr);
  EXPECT_EQ(
      warnings_,
      std::vector<std::string>{
          R"(MYPROG_TRACE2_PERF: "relative\n" is not a destination; give 1, the number of an )"
          R"(open file from 2 to 9, an absolute path, or af_unix: and an absolute path)"});
  // Of other errors only if that is asked for.
  warnings_.clear();
  Set("MYPROG_TRACE2_PERF", "/nowhere/file");
  EXPECT_EQ(Start(), nullptr);
  EXPECT_TRUE(warnings_.empty());
  Set("MYPROG_TRACE2_DST_DEBUG", "1");
  EXPECT_EQ(Start(), nullptr);
  EXPECT_EQ(warnings_, std::vector<std::string>{
                           "MYPROG_TRACE2_PERF: opening /nowhere/file: No such file or directory"});
  EXPECT_EQ(std::getenv("GIT_TRACE2_PARENT_SID"), nullptr);
}

TEST_F(Trace2Test, TheDefaultPrintsWarnings) {
  Set("MYPROG_TRACE2", "relative");
  Trace2Settings settings;
  settings.program = "myprog";
  settings.variables = "MYPROG_TRACE2";
  testing::internal::CaptureStderr();
  EXPECT_EQ(Trace2::Start(settings), nullptr);
  EXPECT_TRUE(absl::StartsWith(testing::internal::GetCapturedStderr(),
                               "myprog: MYPROG_TRACE2: \"relative\" is not a destination;"));
}

TEST_F(Trace2Test, KnowsWhatCalledTheProgram) {
  std::string parent;
  {
    const std::unique_ptr<Trace2> trace = StartAll();
    parent = trace->session_id();
    EXPECT_EQ(absl::string_view(std::getenv("GIT_TRACE2_PARENT_SID")), parent);
    EXPECT_EQ(parent.size(), std::string("20261126T060516.201302Z-H0a7c9cdf-P00000f59").size());
    trace->WriteCommandName("outer");
    const std::unique_ptr<Trace2> child = StartAll();
    EXPECT_TRUE(absl::StartsWith(child->session_id(), parent + "/2"));
    child->WriteCommandName("inner");
  }
  EXPECT_TRUE(absl::StrContains(Read("n"), "cmd_name inner (outer/inner)\n"));
  EXPECT_TRUE(absl::StrContains(Read("p"), " | d1 | main                     | cmd_name "));
  EXPECT_TRUE(absl::StrContains(Read("e"), "\"name\":\"inner\",\"hierarchy\":\"outer/inner\"}"));
}

// The digests of FIPS 180-4 and of RFC 3174.
TEST(Trace2SessionId, HasTheDigestOfTheHost) {
  EXPECT_EQ(internal::Sha1Hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(internal::Sha1Hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(internal::Sha1Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(internal::Trace2SessionId(absl::FromUnixMicros(1'700'000'000'000'042), "abc", 0xF59),
            "20231114T221320.000042Z-Ha9993e36-P00000f59");
}

TEST(Trace2Place, IsThatOfTheCall) {
  const auto place = [](Trace2Place place = Trace2Place::Here()) { return place; };
  const int line = __LINE__;
  const Trace2Place here = place();
  EXPECT_EQ(here.line, line + 1);
  EXPECT_EQ(absl::string_view(here.file), __FILE__);
}

}  // namespace trace2_test
}  // namespace gotrace
