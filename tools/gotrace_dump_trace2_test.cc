// The traces that gotrace-dump writes of its own runs.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "bench/synthetic_traces.h"
#include "gtest/gtest.h"
#include "testing/subprocess.h"
#include "testing/test_directory.h"
#include "testing/trace2_checker.h"
#include "util/cores.h"

namespace gotrace::internal {
namespace gotrace_dump_trace2_test {

constexpr char kTrace[] = "testdata/traces/go1.27-annotations.trace.zst";

class DumpTrace2Test : public testing::Test {
 protected:
  // Traces in the files "n", "p" and "e".
  SubprocessOptions Traced() const {
    SubprocessOptions options;
    options.environment = {{"GOTRACE_TRACE2", directory_ + "/n"},
                           {"GOTRACE_TRACE2_PERF", directory_ + "/p"},
                           {"GOTRACE_TRACE2_EVENT", directory_ + "/e"}};
    return options;
  }

  SubprocessResult Run(std::vector<std::string> args) const {
    for (const char* const name : {"/n", "/p", "/e"}) std::filesystem::remove(directory_ + name);
    return RunDump(std::move(args), Traced());
  }

  std::string Read(absl::string_view name) const {
    return ReadFile(absl::StrCat(directory_, "/", name));
  }

  // The threads, events, categories and texts of the perf form, without numbers, but not those of
  // the start and of timers.
  std::string PerfTexts() const {
    std::vector<std::string> texts;
    const std::string perf = Read("p");
    for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(perf, "\n"), '\n')) {
      const std::vector<absl::string_view> columns = absl::StrSplit(line, " | ");
      if (columns.size() != 9) return absl::StrCat("not a line: ", line);
      const absl::string_view event = absl::StripAsciiWhitespace(columns[3]);
      if (event == "start" || event == "timer" || event == "counter") continue;
      std::string text = absl::StrCat(absl::StripAsciiWhitespace(columns[2]), " ", event, " ",
                                      absl::StripAsciiWhitespace(columns[7]), " ", columns[8]);
      for (char& c : text) {
        if (absl::ascii_isdigit(static_cast<unsigned char>(c))) c = '0';
      }
      texts.push_back(text);
    }
    return absl::StrJoin(texts, "\n");
  }

  const std::string directory_ = MakeTestDirectory();
};

TEST_F(DumpTrace2Test, Convert) {
  const std::vector<std::string> args = {"convert", "--to=chrome", "--until=1s", kTrace};
  const SubprocessResult result = Run(args);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, DumpOutput(args));
  EXPECT_EQ(PerfTexts(), R"(main version  0.0.0
main cmd_name  convert (convert)
main cmd_mode  chrome
main def_param scope:comman to:chrome
main def_param scope:comman until:0s
main region_enter file label:convert testdata/traces/go0.00-annotations.trace.zst
main region_enter trace ..label:open
main region_leave trace ..label:open
main region_enter trace ..label:write
main region_leave trace ..label:write
main data trace ..read/bytes:0000
main data trace ..read/events:000
main region_leave file label:convert testdata/traces/go0.00-annotations.trace.zst
main exit  code:0
main atexit  code:0)");
  EXPECT_TRUE(
      absl::StrContains(Read("p"), absl::StrCat(" | name:bytes value:", result.out.size(), "\n")));
  EXPECT_TRUE(absl::StrContains(Read("n"), " timer output/write intervals:"));
  EXPECT_TRUE(absl::StrContains(
      Read("n"), "tools/gotrace-dump convert --to=chrome --until=1s testdata/traces/go1.27"));
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
}

TEST_F(DumpTrace2Test, ARegionForEachFile) {
  EXPECT_EQ(Run({"info", kTrace, "testdata/traces/go1.22-annotations.trace.zst"}).exit_code, 0);
  std::string perf = PerfTexts();
  for (const absl::string_view line :
       {"region_enter file label:info testdata/traces/go0.00-annotations.trace.zst\n"
        "main region_enter trace ..label:open\n"
        "main region_leave trace ..label:open\n"
        "main region_enter trace ..label:read\n"
        "main region_leave trace ..label:read\n"
        "main data trace ..read/bytes:0000\n"
        "main data trace ..read/events:000\n"
        "main region_leave file label:info testdata/traces/go0.00-annotations.trace.zst\n"}) {
    EXPECT_TRUE(absl::StrContains(perf, line)) << perf;
  }
  EXPECT_TRUE(absl::StrContains(Read("n"), " counter trace/files value:2\n"));
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
}

TEST_F(DumpTrace2Test, EveryCommand) {
  const std::string text =
      WriteFile(directory_ + "/text", DumpOutput({"wire", "--header", kTrace}));
  const std::string fxt =
      WriteFile(directory_ + "/fxt", DumpOutput({"convert", "--to=fxt", kTrace}));
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"events", kTrace},
           {"wire", kTrace},
           {"assemble", "-o", directory_ + "/trace", text},
           {"info", kTrace},
           {"footprint", kTrace},
           {"footprint", "--salvage", kTrace},
           {"fxt", fxt},
           {"validate", kTrace},
           {"validate", fxt},
           {"repair", "--check", kTrace},
           {"goroutines", kTrace},
           {"profile", "--type=wall", kTrace},
           {"convert", "--to=perfetto", "--scheduling=off", "-o", directory_ + "/pf", kTrace},
           {"--help"}}) {
    EXPECT_EQ(Run(args).exit_code, 0) << args[0];
    EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus()) << args[0];
    const std::string name = args[0] == "--help" ? "help" : args[0];
    EXPECT_TRUE(absl::StrContains(Read("n"), absl::StrCat("cmd_name ", name, " (", name, ")\n")));
    EXPECT_EQ(absl::StrContains(Read("p"), absl::StrCat("| label:", name)), name != "help") << name;
  }
}

TEST_F(DumpTrace2Test, Threads) {
  EXPECT_EQ(Run({"validate", "--jobs=1", kTrace}).exit_code, 0);
  EXPECT_TRUE(absl::StrContains(
      PerfTexts(),
      "th00:validate thread_start  \n"
      "th00:validate region_enter file label:validate testdata/traces/go0.00-annotations"))
      << PerfTexts();
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
}

// The threads that the library starts.
TEST_F(DumpTrace2Test, HelperThreads) {
  SyntheticTraceOptions options;
  options.threads = 8;
  options.events = 200'000;
  options.generations = 2;
  TraceMaker maker(options);
  const std::string first(maker.NextGeneration());
  const std::string path =
      WriteFile(directory_ + "/large", absl::StrCat(first, maker.NextGeneration()));
  EXPECT_EQ(Run({"info", "--jobs=2", path}).exit_code, 0);
  EXPECT_TRUE(absl::StrContains(PerfTexts(), "th00:read-ahead thread_exit  ")) << PerfTexts();
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
  EXPECT_EQ(Run({"validate", "--jobs=2", path}).exit_code, 0);
  // No more segments are read at once than there are cores.
  EXPECT_EQ(absl::StrContains(PerfTexts(), "th00:segment thread_exit  "), AvailableCores() > 1)
      << PerfTexts();
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
}

TEST_F(DumpTrace2Test, Errors) {
  const std::string cut = WriteFile(directory_ + "/cut", ReadFile(kTrace).substr(0, 2000));
  EXPECT_EQ(Run({"events", cut}).exit_code, 1);
  EXPECT_TRUE(absl::StrContains(Read("e"), "\"fmt\":\"fault [compressed-truncated]\""))
      << Read("e");
  EXPECT_TRUE(absl::StrContains(Read("n"), absl::StrCat(" error ", cut, ": the zstd data ends")))
      << Read("n");
  EXPECT_TRUE(absl::StrContains(PerfTexts(), "\nmain exit  code:0\nmain atexit  code:0"));
  EXPECT_TRUE(absl::StrContains(Read("e"), "\"code\":1}\n"));
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());

  EXPECT_EQ(Run({"validate", cut}).exit_code, 1);
  EXPECT_TRUE(absl::StrContains(Read("e"), "\"fmt\":\"%s: broken\"")) << Read("e");

  EXPECT_EQ(Run({"events", "/nowhere/trace"}).exit_code, 2);
  EXPECT_TRUE(absl::StrContains(
      Read("e"),
      "\"msg\":\"opening /nowhere/trace: No such file or directory\",\"fmt\":\"NOT_FOUND\""))
      << Read("e");

  EXPECT_EQ(Run({"events", "--knid=Log", kTrace}).exit_code, 2);
  EXPECT_TRUE(absl::StrContains(Read("e"), "\"fmt\":\"wrong usage\"")) << Read("e");
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
}

// The signal is written, and the file that is not complete is removed nevertheless.
TEST_F(DumpTrace2Test, Signals) {
  const std::string program = absl::StrCat(std::getenv("TEST_SRCDIR"), "/",
                                           std::getenv("TEST_WORKSPACE"), "/tools/gotrace-dump");
  const std::string output = directory_ + "/output";
  std::filesystem::create_directory(output);
  WriteFile(directory_ + "/begin",
            RunDump({"repair", "-o", "-", "testdata/traces/go1.27-generations.trace.zst"}).out);
  // SIGSEGV stands for the faults of the program, and SIGUSR1 for signals of which it knows
  // nothing.
  for (const int number : {SIGTERM, SIGSEGV, SIGUSR1}) {
    SCOPED_TRACE(number);
    // The trace does not end, since its pipe does not.
    const std::string script = absl::StrCat(
        // Sanitizers would handle the fault themselves.
        "export ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0; ",
        "export TSAN_OPTIONS=$TSAN_OPTIONS:handle_segv=0; cd ", directory_,
        "; ulimit -c 0; rm -f pipe n p e; mkfifo pipe; ",
        "{ cat begin; exec sleep 60; } > pipe 2> /dev/null & writer=$!; ", program,
        " convert --to=fxt -o output/fxt pipe & pid=$!; ",
        "until grep -q label:write p && [[ -n $(ls -A output) ]]; do sleep 0.02; done; ", "kill -",
        number, " $pid; wait $pid; code=$?; kill $writer; exit $code");
    const SubprocessResult result = RunSubprocess({"/bin/bash", "-c", script}, Traced());
    EXPECT_EQ(result.exit_code, 128 + number) << result.err;
    EXPECT_TRUE(std::filesystem::is_empty(output));
    EXPECT_TRUE(absl::StrContains(PerfTexts(), "main signal  signo:0")) << PerfTexts();
    EXPECT_TRUE(absl::StrContains(Read("p"), " tools/cli/self_trace.cc:")) << Read("p");
    EXPECT_TRUE(absl::EndsWith(Read("e"), absl::StrCat("\"signo\":", number, "}\n"))) << Read("e");
    EXPECT_TRUE(absl::EndsWith(Read("n"), absl::StrCat(" code:", number, "\n"))) << Read("n");
  }
}

// The program ignores SIGPIPE, so that the trace of the run has an end.
TEST_F(DumpTrace2Test, AClosedPipeIsAnError) {
  SubprocessOptions options = Traced();
  options.read_at_most = 10;
  const SubprocessResult result =
      RunDump({"events", "testdata/traces/go1.27-gc.trace.zst"}, options);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(absl::StrContains(
      Read("e"),
      "\"msg\":\"writing the standard output: the reader closed the pipe\",\"fmt\":\"the reader "
      "closed the pipe\"}\n"))
      << Read("e");
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
}

TEST_F(DumpTrace2Test, WrongUsageHasACommandName) {
  EXPECT_EQ(Run({"info", "--nosuch", kTrace}).exit_code, 2);
  EXPECT_TRUE(absl::StrContains(PerfTexts(),
                                "\nmain cmd_name  info (info)\nmain cmd_name  _usage_ "
                                "(info/_usage_)\nmain error  there is no flag --nosuch"))
      << PerfTexts();
  EXPECT_EQ(CheckTrace2Events(Read("e")), absl::OkStatus());
  EXPECT_EQ(Run({"nosuch", "nosuch"}).exit_code, 2);
  EXPECT_TRUE(absl::StrContains(PerfTexts(), "\nmain cmd_name  _usage_ (_usage_)\nmain error  "))
      << PerfTexts();
}

// Also those that the library writes by itself.
TEST_F(DumpTrace2Test, EveryLineHasAPlace) {
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"info", kTrace}, {"validate", "--jobs=1", kTrace}, {"events", "/nowhere"}}) {
    Run(args);
    const std::string events = Read("e");
    for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(events, "\n"), '\n')) {
      EXPECT_TRUE(absl::StrContains(line, ",\"file\":\"tools/")) << line;
    }
  }
}

TEST_F(DumpTrace2Test, IsPartOfTheTraceOfWhatCalledIt) {
  SubprocessOptions options;
  options.environment = {{"GOTRACE_TRACE2_EVENT", directory_},
                         {"GIT_TRACE2_PARENT_SID", "20261126T060516.201302Z-H0a7c9cdf-P00000f59"},
                         {"GIT_TRACE2_PARENT_NAME", "commit"}};
  EXPECT_EQ(RunDump({"info", kTrace}, options).exit_code, 0);
  const std::filesystem::directory_iterator file(directory_);
  const std::string events = ReadFile(file->path().string());
  EXPECT_EQ(CheckTrace2Events(events), absl::OkStatus());
  const std::string name = file->path().filename().string();
  EXPECT_TRUE(absl::StrContains(
      events, absl::StrCat("\"sid\":\"20261126T060516.201302Z-H0a7c9cdf-P00000f59/", name, "\"")));
  EXPECT_TRUE(absl::StrContains(events, "\"name\":\"info\",\"hierarchy\":\"commit/info\"}"));
}

TEST_F(DumpTrace2Test, WithoutAVariableNothingIsWritten) {
  for (const char* const value : {"", "0", "false"}) {
    SubprocessOptions options;
    options.environment = {{"GOTRACE_TRACE2", value}, {"GOTRACE_TRACE2_DST_DEBUG", "1"}};
    const SubprocessResult result = RunDump({"info", kTrace}, options);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(DumpTrace2Test, WarnsOfWrongValues) {
  SubprocessOptions options;
  options.environment = {{"GOTRACE_TRACE2_PERF", "a/b"}};
  const SubprocessResult result = RunDump({"info", kTrace}, options);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(absl::StartsWith(result.err,
                               "gotrace-dump: GOTRACE_TRACE2_PERF: \"a/b\" is not a destination;"))
      << result.err;
}

}  // namespace gotrace_dump_trace2_test
}  // namespace gotrace::internal
