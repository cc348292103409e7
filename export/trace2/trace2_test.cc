#include "gotrace/trace2.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "export/trace2/trace2_destination.h"
#include "export/trace2/trace2_lines.h"
#include "export/trace2/trace2_session_id.h"
#include "gtest/gtest.h"
#include "testing/json_value.h"
#include "testing/memory_meter.h"
#include "testing/subprocess.h"
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
          "MYPROG_TRACE2_MAX_FILES", "MYPROG_TRACE2_DST_DEBUG", "MYPROG_TRACE2_ENV_VARS",
          "MYPROG_TRACE2_CONFIG_PARAMS", "GIT_TRACE2_PARENT_SID", "GIT_TRACE2_PARENT_NAME"}) {
      unsetenv(name);
    }
  }

  static void Set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }

  Trace2Settings Settings() {
    Trace2Settings settings;
    settings.program = "myprog";
    settings.version = "2.39.5";
    settings.variables = "MYPROG_TRACE2";
    settings.on_warning = [this](absl::string_view message) {
      warnings_.push_back(std::string(message));
    };
    return settings;
  }

  std::unique_ptr<Trace2> Start() { return Trace2::Start(Settings(), {"common-main.c", 50}); }

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

// What git wrote, without the places of signal and atexit: git's are in its own tracing.
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
06:05:16.202111 git.c:721                         atexit elapsed:0.001135 code:1
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
06:05:16.202114 git.c:721                    | d0 | main                     | atexit       |     |  0.001135 |           |              | code:1
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
{"event":"atexit","sid":"","thread":"main","time":"2026-11-26T06:05:16.202118Z","file":"git.c","line":721,"t_abs":0.001135,"code":1}
)"));
  EXPECT_EQ(internal::CheckTrace2Events(Read("e")), absl::OkStatus());
  EXPECT_TRUE(warnings_.empty());
}

// Replaces times, and the ids of sessions.
std::string WithoutTimes(absl::string_view trace) {
  std::string text(trace);
  for (const auto& [pattern, replacement] :
       {std::pair(R"x("(sid|time)":"[^"]*")x", R"x("$1":"")x"), std::pair(R"(\d+\.\d{6})", "T"),
        std::pair(R"x((^|\n)\d\d:\d\d:T )x", "$1")}) {
    text = std::regex_replace(text, std::regex(pattern), replacement);
  }
  return text;
}

// All events that are not in the run above. Those of git are from runs of 2.39.5, with its values;
// it writes cmd_path and child_ready on other systems, and printf and th_timer only in its tests.
TEST_F(Trace2Test, WritesAllOtherEvents) {
  for (const char* const form : {"", "_PERF", "_EVENT"}) {
    Set(absl::StrCat("MYPROG_TRACE2", form, "_BRIEF"), "1");
  }
  Set("MYPROG_TRACE2", directory_ + "/n");
  Set("MYPROG_TRACE2_PERF", directory_ + "/p");
  Set("MYPROG_TRACE2_EVENT", directory_ + "/e");
  {
    Trace2Settings settings = Settings();
    settings.values_of_threads = true;
    const std::unique_ptr<Trace2> trace = Trace2::Start(settings);
    trace->WriteCommandPath("/usr/bin/git");
    trace->WriteCommandAncestry({"bash", "tmux: server", "systemd"});
    EXPECT_EQ(trace->WriteExec("git", {"git", "upload-pack", "x y"}), 0u);
    trace->WriteExecResult(0, ENOENT);
    EXPECT_EQ(trace->WriteExec("", {"git"}), 1u);
    EXPECT_EQ(trace->AddRepository("/home/a b"), 1u);
    trace->WriteAlias("foo", {"echo hi"});
    EXPECT_EQ(trace->StartChild({"git", "status", "--porcelain=2"}, {.directory = "sub"}), 0u);
    trace->ExitChild(0, 15265, 0);
    trace->ExitChild(0, 15265, 0);  // It has ended.
    trace->LeaveChild(7, 15265, Trace2Readiness::kError);
    EXPECT_EQ(trace->StartChild({"path='sub'; ls"}, {.directory = "a b", .uses_shell = true}), 1u);
    trace->ExitChild(1, -1, -1);
    trace->EnterRegion("index", "do_read_index", ".git/index");
    const Trace2Child hook = {.hook = "post-commit"};
    EXPECT_EQ(trace->StartChild({".git/hooks/post-commit"}, hook), 2u);
    trace->ExitChild(2, 15235, 0);
    trace->WriteData("index", "read/version", "2");
    trace->UseRepository(0);
    trace->WriteJson("traverse_trees", "statistics", "{\"count\":1,\n\"max\":[1.5e9,null]}");
    trace->LeaveRegion();  // It was entered for a repository.
    EXPECT_EQ(trace->StartChild({"editor"}, {.child_class = "editor"}), 3u);
    trace->LeaveChild(3, 14708, Trace2Readiness::kReady);
    trace->WriteMessage("Hello \"world\"\nof\ttraces");
    std::thread([&] {
      const Trace2Thread thread(trace.get(), "work");
      trace->AddInterval("c", "t", absl::Milliseconds(1500));
      trace->AddCount("c", "n", 3);
    }).join();
    trace->AddCount("c", "n", 4);
  }
  EXPECT_EQ(WithoutTimes(Read("n")), R"(version 2.39.5
cmd_path /usr/bin/git
cmd_ancestry bash <- tmux: server <- systemd
exec[0] git git upload-pack 'x y'
exec_result[0] code:2 err:No such file or directory
exec[1] git
worktree '/home/a b'
alias foo -> 'echo hi'
child_start[0] cd sub; git status --porcelain=2
child_exit[0] pid:15265 code:0 elapsed:T
child_start[1] cd 'a b'; 'path='\''sub'\''; ls'
child_exit[1] pid:-1 code:-1 elapsed:T
child_start[2] .git/hooks/post-commit
child_exit[2] pid:15235 code:0 elapsed:T
child_start[3] editor
child_ready[3] pid:14708 ready:ready elapsed:T
Hello "world" of traces
timer c/t intervals:1 total:T min:T max:T
counter c/n value:7
atexit elapsed:T code:0
)");
  EXPECT_EQ(
      WithoutTimes(Read("p")),
      R"(d0 | main                     | version      |     |           |           |              | 2.39.5
d0 | main                     | cmd_path     |     |           |           |              | /usr/bin/git
d0 | main                     | cmd_ancestry |     |           |           |              | ancestry:[bash tmux: server systemd]
d0 | main                     | exec         |     |  T |           |              | id:0 argv:[git git upload-pack 'x y']
d0 | main                     | exec_result  |     |  T |           |              | id:0 code:2 err:No such file or directory
d0 | main                     | exec         |     |  T |           |              | id:1 argv:[git]
d0 | main                     | def_repo     | r1  |           |           |              | worktree:'/home/a b'
d0 | main                     | alias        |     |           |           |              | alias:foo argv:['echo hi']
d0 | main                     | child_start  |     |  T |           |              | [ch0] class:? cd:sub argv:[git status --porcelain=2]
d0 | main                     | child_exit   |     |  T |  T |              | [ch0] pid:15265 code:0
d0 | main                     | child_start  |     |  T |           |              | [ch1] class:? cd:'a b' argv:['path='\''sub'\''; ls']
d0 | main                     | child_exit   |     |  T |  T |              | [ch1] pid:-1 code:-1
d0 | main                     | region_enter | r1  |  T |           | index        | label:do_read_index .git/index
d0 | main                     | child_start  |     |  T |           |              | ..[ch2] class:hook hook:post-commit argv:[.git/hooks/post-commit]
d0 | main                     | child_exit   |     |  T |  T |              | ..[ch2] pid:15235 code:0
d0 | main                     | data         | r1  |  T |  T | index        | ..read/version:2
d0 | main                     | data_json    |     |  T |  T | traverse_tre | ..statistics:{"count":1, "max":[1.5e9,null]}
d0 | main                     | region_leave | r1  |  T |  T | index        | label:do_read_index .git/index
d0 | main                     | child_start  |     |  T |           |              | [ch3] class:editor argv:[editor]
d0 | main                     | child_ready  |     |  T |  T |              | [ch3] pid:14708 ready:ready
d0 | main                     | printf       |     |  T |           |              | Hello "world" of traces
d0 | th01:work                | thread_start |     |  T |           |              | 
d0 | th01:work                | th_timer     |     |           |           | c            | name:t intervals:1 total:T min:T max:T
d0 | th01:work                | th_counter   |     |           |           | c            | name:n value:3
d0 | th01:work                | thread_exit  |     |  T |  T |              | 
d0 | main                     | th_counter   |     |           |           | c            | name:n value:4
d0 | main                     | timer        |     |           |           | c            | name:t intervals:1 total:T min:T max:T
d0 | main                     | counter      |     |           |           | c            | name:n value:7
d0 | main                     | atexit       |     |  T |           |              | code:0
)");
  EXPECT_EQ(WithoutTimes(Read("e")),
            R"({"event":"version","sid":"","thread":"main","time":"","evt":"4","exe":"2.39.5"}
{"event":"cmd_path","sid":"","thread":"main","path":"/usr/bin/git"}
{"event":"cmd_ancestry","sid":"","thread":"main","ancestry":["bash","tmux: server","systemd"]}
{"event":"exec","sid":"","thread":"main","exec_id":0,"exe":"git","argv":["git","upload-pack","x y"]}
{"event":"exec_result","sid":"","thread":"main","exec_id":0,"code":2}
{"event":"exec","sid":"","thread":"main","exec_id":1,"argv":["git"]}
{"event":"def_repo","sid":"","thread":"main","repo":1,"worktree":"/home/a b"}
{"event":"alias","sid":"","thread":"main","alias":"foo","argv":["echo hi"]}
{"event":"child_start","sid":"","thread":"main","child_id":0,"child_class":"?","cd":"sub","use_shell":false,"argv":["git","status","--porcelain=2"]}
{"event":"child_exit","sid":"","thread":"main","child_id":0,"pid":15265,"code":0,"t_rel":T}
{"event":"child_start","sid":"","thread":"main","child_id":1,"child_class":"?","cd":"a b","use_shell":true,"argv":["path='sub'; ls"]}
{"event":"child_exit","sid":"","thread":"main","child_id":1,"pid":-1,"code":-1,"t_rel":T}
{"event":"region_enter","sid":"","thread":"main","repo":1,"nesting":1,"category":"index","label":"do_read_index","msg":".git/index"}
{"event":"child_start","sid":"","thread":"main","child_id":2,"child_class":"hook","hook_name":"post-commit","use_shell":false,"argv":[".git/hooks/post-commit"]}
{"event":"child_exit","sid":"","thread":"main","child_id":2,"pid":15235,"code":0,"t_rel":T}
{"event":"data","sid":"","thread":"main","repo":1,"t_abs":T,"t_rel":T,"nesting":2,"category":"index","key":"read/version","value":"2"}
{"event":"data_json","sid":"","thread":"main","t_abs":T,"t_rel":T,"nesting":2,"category":"traverse_trees","key":"statistics","value":{"count":1, "max":[1.5e9,null]}}
{"event":"region_leave","sid":"","thread":"main","repo":1,"t_rel":T,"nesting":1,"category":"index","label":"do_read_index","msg":".git/index"}
{"event":"child_start","sid":"","thread":"main","child_id":3,"child_class":"editor","use_shell":false,"argv":["editor"]}
{"event":"child_ready","sid":"","thread":"main","child_id":3,"pid":14708,"ready":"ready","t_rel":T}
{"event":"printf","sid":"","thread":"main","t_abs":T,"msg":"Hello \"world\"\nof\ttraces"}
{"event":"thread_start","sid":"","thread":"th01:work"}
{"event":"th_timer","sid":"","thread":"th01:work","category":"c","name":"t","intervals":1,"t_total":T,"t_min":T,"t_max":T}
{"event":"th_counter","sid":"","thread":"th01:work","category":"c","name":"n","count":3}
{"event":"thread_exit","sid":"","thread":"th01:work","t_rel":T}
{"event":"th_counter","sid":"","thread":"main","category":"c","name":"n","count":4}
{"event":"timer","sid":"","thread":"main","category":"c","name":"t","intervals":1,"t_total":T,"t_min":T,"t_max":T}
{"event":"counter","sid":"","thread":"main","category":"c","name":"n","count":7}
{"event":"atexit","sid":"","thread":"main","time":"","t_abs":T,"code":0}
)");
  const std::string events = Read("e");
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(events, "\n"), '\n')) {
    EXPECT_TRUE(internal::ParseJson(line).ok()) << line;
  }
}

// Every line says where it comes from.
TEST_F(Trace2Test, EveryEventHasAPlace) {
  {
    const std::unique_ptr<Trace2> trace = StartAll();
    WriteRunOfGit(trace.get());
    trace->AddCount("c", "n", 1, {"a.cc", 1});
    trace->AddCount("c", "n", 1, {"a.cc", 2});
    trace->AddInterval("c", "t", absl::Seconds(1), {"a.cc", 3});
    { const Trace2Interval interval(trace.get(), "c", "scope", {"a.cc", 4}); }
    std::thread([&] { trace->WriteMessage("of nobody", {"a.cc", 5}); }).join();
    trace->EnterRegion("c", "left open", "", {"a.cc", 6});
    trace->WriteSignal(SIGPIPE);
  }
  const std::string perf = Read("p");
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(perf, "\n"), '\n')) {
    EXPECT_TRUE(absl::StrContains(line.substr(16, line.find('|') - 16), ':')) << line;
  }
  for (const absl::string_view text :
       {"a.cc:1                       | d0 | main                     | counter ",
        "a.cc:3                       | d0 | main                     | timer ",
        "a.cc:4                       | d0 | main                     | timer ",
        "a.cc:5                       | d0 | th01:unnamed             | thread_start ",
        "git.c:721                    | d0 | main                     | region_leave ",
        "git.c:721                    | d0 | main                     | atexit ",
        "trace2_test.cc:", " | signal  "}) {
    EXPECT_TRUE(absl::StrContains(perf, text)) << text << perf;
  }
}

// Keeps the names and texts of events.
class EventList : public Trace2Target {
 public:
  void Write(const Trace2Event& event) override {
    sessions.insert(std::string(event.session_id));
    events.push_back(absl::StrCat(Trace2TypeName(event.type), " ", event.thread, " ", event.name,
                                  " ", event.text, " ", absl::StrJoin(event.arguments, ","), " ",
                                  event.nesting, " ", event.line));
  }
  void WriteInSignalHandler(const Trace2Event& event) override { signal = event.code; }

  std::set<std::string> sessions;
  std::vector<std::string> events;
  int64_t signal = 0;
};

class IgnoresSignals : public Trace2Target {
 public:
  void Write(const Trace2Event&) override { ++events; }
  int events = 0;
};

TEST_F(Trace2Test, AProgramsOwnTargetsGetAllEvents) {
  const auto list = std::make_shared<EventList>();
  const auto other = std::make_shared<IgnoresSignals>();
  Trace2Settings settings = Settings();
  settings.targets = {list, other};
  std::string id;
  {
    const std::unique_ptr<Trace2> trace = Trace2::Start(settings, {"a", 1});
    ASSERT_NE(trace, nullptr);
    id = trace->session_id();
    trace->WriteStart({"a", "b c"}, {"a", 2});
    trace->EnterRegion("c", "work", "now", {"a", 3});
    std::thread([&] { const Trace2Thread thread(trace.get(), "t", {"a", 4}); }).join();
    trace->WriteSignal(SIGTERM);
    trace->AddCount("c", "n", 2, {"a", 5});
    trace->WriteExit(3, {"a", 6});
  }
  EXPECT_EQ(
      list->events,
      (std::vector<std::string>{
          "version main 2.39.5   1 1", "start main   a,b c 1 2", "region_enter main work now  1 3",
          "thread_start th01:t    1 4", "thread_exit th01:t    1 4", "exit main    2 6",
          "region_leave main work now  1 6", "counter main n   1 5", "atexit main    1 6"}));
  EXPECT_EQ(list->sessions, std::set<std::string>{id});
  EXPECT_EQ(list->signal, SIGTERM);
  EXPECT_EQ(other->events, 9);
  EXPECT_EQ(CountFiles(), 0u);
  // Lines are written as well.
  Set("MYPROG_TRACE2", directory_ + "/n");
  Trace2::Start(settings);
  EXPECT_EQ(list->events.size(), 11u);
  EXPECT_TRUE(absl::StrContains(Read("n"), " atexit elapsed:"));
}

TEST_F(Trace2Test, ListsParametersThatAreAskedFor) {
  Set("MYPROG_TRACE2_ENV_VARS", "MYPROG_TRACE2_BRIEF, MYPROG_NOT_SET,,MYPROG_TRACE2_ENV_VARS");
  Set("MYPROG_TRACE2_BRIEF", "1");
  Set("MYPROG_TRACE2_CONFIG_PARAMS", "user.*,core.?");
  {
    const std::unique_ptr<Trace2> trace = StartAll();
    trace->WriteStart({"a"});
    trace->WriteSettings(
        "global", {{"core.a", "1"}, {"core.ab", "2"}, {"user.name", "x y"}, {"user.email", ""}});
    unsetenv("MYPROG_TRACE2_CONFIG_PARAMS");
    trace->WriteSettings("local", {{"core.a", "1"}});
  }
  EXPECT_EQ(WithoutTimes(Read("n")),
            "version 2.39.5\n"
            "start a\n"
            "def_param scope:environment MYPROG_TRACE2_BRIEF=1\n"
            "def_param scope:environment MYPROG_TRACE2_ENV_VARS=MYPROG_TRACE2_BRIEF, "
            "MYPROG_NOT_SET,,MYPROG_TRACE2_ENV_VARS\n"
            "def_param scope:global core.a=1\n"
            "def_param scope:global user.name=x y\n"
            "def_param scope:global user.email=\n"
            "atexit elapsed:T code:0\n");
  EXPECT_EQ(internal::CheckTrace2Events(Read("e")), absl::OkStatus());
}

// Returns the value of the first member of `line` that has one of these keys, or "".
absl::string_view TextOf(const internal::JsonValue& line,
                         std::initializer_list<absl::string_view> keys) {
  for (const absl::string_view key : keys) {
    if (const internal::JsonValue* const member = line.Find(key)) return member->text;
  }
  return "";
}

int64_t NumberOf(const internal::JsonValue& line, std::initializer_list<absl::string_view> keys,
                 int64_t otherwise = 0) {
  int64_t number = 0;
  return absl::SimpleAtoi(TextOf(line, keys), &number) ? number : otherwise;
}

uint64_t NanosecondsOf(const internal::JsonValue& line, absl::string_view key) {
  double seconds = 0;
  if (!absl::SimpleAtod(TextOf(line, {key}), &seconds)) return 0;
  return static_cast<uint64_t>(std::llround(seconds * 1e6)) * 1000;
}

// Reads an event from a line of the event form.
Trace2Event EventOf(const internal::JsonValue& line, std::vector<absl::string_view>* arguments) {
  Trace2Event event;
  while (event.type < Trace2Type::kCounter &&
         Trace2TypeName(event.type) != TextOf(line, {"event"})) {
    event.type = static_cast<Trace2Type>(static_cast<int>(event.type) + 1);
  }
  event.session_id = TextOf(line, {"sid"});
  event.thread = TextOf(line, {"thread"});
  std::string error;
  EXPECT_TRUE(absl::ParseTime("%Y-%m-%dT%H:%M:%E6SZ", TextOf(line, {"time"}), &event.time, &error))
      << error;
  event.since_start = NanosecondsOf(line, "t_abs");
  event.file = TextOf(line, {"file"});
  event.line = static_cast<uint64_t>(NumberOf(line, {"line"}));
  event.elapsed = NanosecondsOf(line, "t_rel");
  event.repository = static_cast<uint64_t>(NumberOf(line, {"repo"}));
  event.id = static_cast<uint64_t>(NumberOf(line, {"child_id", "exec_id"}));
  event.process = NumberOf(line, {"pid"});
  event.code = NumberOf(line, {"code", "signo"});
  event.category = TextOf(line, {"category", "scope"});
  event.name = TextOf(line, {"exe", "fmt", "path", "name", "alias", "child_class", "param",
                             "worktree", "label", "key"});
  event.text = TextOf(line, {"msg", "hierarchy", "hook_name", "ready", "value"});
  event.directory = TextOf(line, {"cd"});
  event.uses_shell = TextOf(line, {"use_shell"}) == "true";
  for (const absl::string_view key : {"argv", "ancestry"}) {
    const internal::JsonValue* const array = line.Find(key);
    if (array == nullptr) continue;
    for (const internal::JsonValue& argument : array->elements) arguments->push_back(argument.text);
  }
  event.arguments = *arguments;
  event.count = static_cast<uint64_t>(NumberOf(line, {"count"}));
  event.timer = {.intervals = static_cast<uint64_t>(NumberOf(line, {"intervals"})),
                 .total = NanosecondsOf(line, "t_total"),
                 .min = NanosecondsOf(line, "t_min"),
                 .max = NanosecondsOf(line, "t_max")};
  return event;
}

// Removes what is different in the three lines that git writes of one event: each has a time of its
// own, and the place of `atexit` is where git writes the line.
std::string Comparable(absl::string_view line) {
  return std::regex_replace(WithoutTimes(line), std::regex(R"(trace2/tr2_tgt_\w+\.c:\d+ *)"), "");
}

// The git that is installed here, if any, runs as a user would run it. Its lines in the event form,
// read as events, must give the same lines in all forms.
TEST_F(Trace2Test, WritesWhatTheInstalledGitWrites) {
  const std::string script = R"(
    command -v git > /dev/null || exit 77
    export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_EXEC_PATH=$(git --exec-path) LC_ALL=C
    exec > /dev/null 2>&1
    git init r && cd r || exit 1
    git config user.name 'x y'; git config user.email x@y; git config alias.hello '!echo hello'
    mkdir -p .git/hooks
    printf '#!/bin/sh\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
    export GIT_TRACE2=$HOME/n GIT_TRACE2_PERF=$HOME/p GIT_TRACE2_EVENT=$HOME/e
    export GIT_TRACE2_EVENT_NESTING=99 GIT_TRACE2_ENV_VARS=HOME GIT_TRACE2_CONFIG_PARAMS='user.*'
    git version
    git commit --allow-empty -m 'a message'
    echo text > file; git add file; git status
    git hello
    git checkout nosuch
    git no\'such
    git --nosuch
    shell=$(command -v git-shell)
    [[ -z $shell ]] || GIT_EXEC_PATH=/nowhere PATH=/nowhere $shell -c "git-upload-pack 'x y'"
    exit 0
  )";
  const internal::SubprocessResult run = internal::RunSubprocess(
      {"/bin/bash", "-c", absl::StrCat("cd '", directory_, "' || exit 1\n", script)}, {});
  if (run.exit_code == 77) GTEST_SKIP() << "git is not installed.";
  ASSERT_EQ(run.exit_code, 0);
  const std::string all[] = {Read("n"), Read("p"), Read("e")};
  std::vector<absl::string_view> lines[3];
  for (size_t i = 0; i < 3; ++i) {
    lines[i] = absl::StrSplit(absl::StripSuffix(all[i], "\n"), '\n');
  }
  ASSERT_EQ(lines[1].size(), lines[2].size());
  std::vector<std::string> own[3];
  std::map<std::string, uint64_t> nesting;  // By thread.
  std::set<Trace2Type> types;
  for (const absl::string_view text : lines[2]) {
    const absl::StatusOr<internal::JsonValue> line = internal::ParseJson(text);
    ASSERT_TRUE(line.ok()) << text;
    std::vector<absl::string_view> arguments;
    Trace2Event event = EventOf(*line, &arguments);
    types.insert(event.type);
    constexpr absl::string_view kValue = "\"value\":";
    if (event.type == Trace2Type::kDataJson) {
      event.text = absl::StripSuffix(text.substr(text.find(kValue) + kValue.size()), "}");
    }
    // Only some events have their nesting in this form.
    uint64_t& open =
        nesting.try_emplace(absl::StrCat(event.session_id, event.thread), 1).first->second;
    if (event.type == Trace2Type::kRegionLeave) --open;
    event.nesting = open;
    if (event.type == Trace2Type::kRegionEnter) ++open;
    for (const Trace2Form form : {Trace2Form::kNormal, Trace2Form::kPerf, Trace2Form::kEvent}) {
      internal::TextBuffer out;
      internal::Trace2Formatter({.form = form, .zone = absl::UTCTimeZone()}).Append(event, &out);
      if (out.size() == 0) continue;
      own[static_cast<size_t>(form)].emplace_back(absl::StripSuffix(out.view(), "\n"));
    }
  }
  const auto comparable = [](const auto& texts) {
    std::vector<std::string> all;
    for (const auto& text : texts) all.push_back(Comparable(text));
    return absl::StrJoin(all, "\n");
  };
  EXPECT_EQ(comparable(own[0]), comparable(lines[0]));
  EXPECT_EQ(comparable(own[1]), comparable(lines[1]));
  // The version of the form is that of the git that is installed.
  const std::regex version(R"("evt":"\d+")");
  EXPECT_EQ(std::regex_replace(absl::StrJoin(own[2], "\n"), version, ""),
            std::regex_replace(absl::StrJoin(lines[2], "\n"), version, ""));
  for (const Trace2Type type :
       {Trace2Type::kVersion, Trace2Type::kStart, Trace2Type::kExit, Trace2Type::kAtExit,
        Trace2Type::kError, Trace2Type::kCommandName, Trace2Type::kCommandMode, Trace2Type::kAlias,
        Trace2Type::kChildStart, Trace2Type::kChildExit, Trace2Type::kParameter,
        Trace2Type::kRepository, Trace2Type::kRegionEnter, Trace2Type::kRegionLeave,
        Trace2Type::kData}) {
    EXPECT_TRUE(types.count(type)) << Trace2TypeName(type);
  }
}

// git writes a signal only for SIGPIPE.
TEST_F(Trace2Test, WritesSignals) {
  std::unique_ptr<Trace2> trace = StartAll();
  trace->EnterRegion("a", "b", "");
  const internal::MemoryMeter meter;
  trace->WriteSignal(SIGPIPE, {"sigchain.c", 12});
  trace->WriteSignal(SIGTERM);
  EXPECT_EQ(meter.peak(), 0u) << "A signal handler must not allocate.";
  const auto last = [&](absl::string_view name) {
    const std::string text = Read(name);
    const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
    return Masked(lines.back());
  };
  EXPECT_EQ(last("n"),
            Masked("06:18:54.218152 sigchain.c:12                     signal elapsed:0.308258 "
                   "code:13"));
  EXPECT_EQ(last("p"),
            Masked("06:18:54.218180 sigchain.c:12                | d0 | main                     | "
                   "signal       |     |  0.308258 |           |              | signo:13"));
  EXPECT_EQ(last("e"), Masked(R"({"event":"signal","sid":"","thread":"main",)"
                              R"("time":"2026-11-26T06:18:54.218191Z","file":"sigchain.c",)"
                              R"("line":12,"t_abs":0.308258,"signo":13})"));
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
  internal::Trace2DestinationOptions options;
  options.variable = "V";
  options.value = directory_ + "/";
  options.file_name = "name";
  options.tells_errors = true;
  options.on_warning = [this](absl::string_view message) {
    warnings_.push_back(std::string(message));
  };
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(internal::Trace2Destination::Open(options), nullptr);
  }
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/name"));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/name.9"));
  EXPECT_EQ(internal::Trace2Destination::Open(options), nullptr);
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
