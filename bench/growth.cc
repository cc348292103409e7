// Measures how the cost of each command grows with each quantity of a trace. growth.sh runs it.
//
//   valgrind --tool=exp-bbv ... --log-file=DIR/%p growth DIR COUNT [PART_OF_A_NAME]
//
// Runs each command on each trace of a quarter of COUNT, of COUNT, and of four times COUNT, each
// time in a process of its own, and takes the instructions of the process from valgrind's log. If
// the cost is in proportion to the size, then from COUNT to four times as much it grows by four
// times as much as from a quarter to COUNT. Prints the cases that exceed kMaxGrowth, and exits with
// 1 if there are any.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "bench/hostile_traces.h"
#include "bench/quantity_traces.h"
#include "tools/command_line.h"
#include "tools/output.h"
#include "tools/registry.h"

namespace gotrace::internal {
namespace {

// What is sorted grows by up to 4.7 times between some thousand and four times as many, and a cost
// that is quadratic by 16.
constexpr double kMaxGrowth = 5;

// The least growth that is looked at, in instructions for each of COUNT. Below it, the cost of
// something that depends on digits and on the capacities of tables would count.
constexpr double kMinCost = 200;

// Arguments of gotrace-dump. IN stands for the trace, and OUT for a new path.
constexpr absl::string_view kCommands[] = {
    "events IN",
    "events --format=json --stacks IN",
    "wire --header IN",
    "info IN",
    "info --json IN",
    "footprint IN",
    "validate --jobs=1 IN",
    "validate --jobs=1 --json IN",
    "repair -o OUT IN",
    "convert --jobs=1 --to=perfetto --stacks --threads --alloc -o OUT IN",
    "convert --jobs=1 --to=fxt --stacks --threads --alloc -o OUT IN",
    "convert --jobs=1 --to=chrome -o OUT IN",
    "convert --jobs=1 --to=chrome --view=goroutine -o OUT IN",
    "convert --jobs=1 --to=chrome --view=task -o OUT IN",
    "convert --jobs=1 --to=trace2-normal --epoch=2026-01-01T00:00:00Z -o OUT IN",
    "convert --jobs=1 --to=trace2-perf --epoch=2026-01-01T00:00:00Z -o OUT IN",
    "convert --jobs=1 --to=trace2-event --epoch=2026-01-01T00:00:00Z -o OUT IN",
    "summary --jobs=1 IN",
    "summary --jobs=1 --json IN",
    "goroutines --jobs=1 --format=json IN",
    "goroutines --jobs=1 --each --format=json IN",
    "tasks --jobs=1 --format=json IN",
    "tasks --jobs=1 --each --format=json IN",
    "regions --jobs=1 --format=json IN",
    "regions --jobs=1 --each --format=json IN",
    "path --jobs=1 --g=1 --format=json IN",
    "gc --jobs=1 --format=json IN",
    "latency --jobs=1 --format=json IN",
    "procs --jobs=1 --format=json IN",
    "leaks --jobs=1 --format=json IN",
    "heap --jobs=1 --format=json IN",
    "diff --jobs=1 --format=json IN IN",
    "profile --jobs=1 -o OUT IN",
    "profile --jobs=1 --type=wakeup -o OUT IN",
    "sql --jobs=1 IN SELECT(count(*))FROM(g_states)",
    "sql --jobs=1 --save=OUT IN",
    "tables --jobs=1 -o OUT IN",
};

// Runs gotrace-dump with these arguments, but for the program's name. Returns its exit code.
int RunCommand(std::vector<std::string> args) {
  std::vector<char*> pointers;
  for (std::string& arg : args) pointers.push_back(arg.data());
  const CommandList commands = MakeCommands();
  CommandLine line;
  if (const absl::Status status = ParseCommandLine(pointers, commands, &line); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return kUsageOrIo;
  }
  Output out(open("/dev/null", O_WRONLY), "/dev/null");
  return line.command->Run(line.files, &out);
}

class Growth {
 public:
  Growth(std::string directory, uint64_t count)
      : directory_(std::move(directory)), counts_({count / 4, count, 4 * count}) {}

  // Runs all commands in this process, so that valgrind need not translate their code in each of
  // the others. Returns whether all succeed. The trace must have something for each of them.
  bool Prepare(const HostileTrace& trace) {
    std::ofstream(PathOf(1), std::ios::binary) << trace.make(8);
    bool ok = true;
    for (const absl::string_view command : kCommands) {
      if (RunCommand(ArgumentsOf(command, PathOf(1))) == kSuccess) continue;
      std::printf("FAILED %s\n", std::string(command).c_str());
      ok = false;
    }
    return ok;
  }

  // Runs all commands on a trace. Returns whether nothing grew too much.
  bool Run(const HostileTrace& trace) {
    for (const uint64_t count : counts_) {
      std::ofstream(PathOf(count), std::ios::binary) << trace.make(count);
    }
    bool ok = true;
    for (const absl::string_view command : kCommands) ok &= RunOne(trace.name, command);
    return ok;
  }

 private:
  std::string PathOf(uint64_t count) const { return absl::StrCat(directory_, "/trace", count); }

  bool RunOne(absl::string_view trace, absl::string_view command) {
    std::array<double, 3> cost;
    for (size_t i = 0; i < cost.size(); ++i) cost[i] = Measure(command, PathOf(counts_[i]));
    const double first = cost[1] - cost[0];
    const double growth = (cost[2] - cost[1]) / std::max(first, kMinCost * 0.75 * counts_[1]);
    const bool ok = growth <= kMaxGrowth;
    std::printf("%s%5.2f  %-28s %-60s %9.0f %9.0f %9.0f\n", ok ? "     " : "MORE ", growth,
                std::string(trace).c_str(), std::string(command).c_str(), cost[0] / 1e3,
                cost[1] / 1e3, cost[2] / 1e3);
    std::fflush(stdout);
    return ok;
  }

  std::vector<std::string> ArgumentsOf(absl::string_view command, const std::string& path) {
    const std::string out = absl::StrCat(directory_, "/out", ++outputs_);
    std::vector<std::string> args;
    for (const absl::string_view arg : absl::StrSplit(command, ' ')) {
      args.push_back(absl::StrReplaceAll(arg, {{"OUT", out}, {"IN", path}}));
    }
    return args;
  }

  // Returns how many instructions the command takes, and this process took until now.
  double Measure(absl::string_view command, const std::string& path) {
    std::vector<std::string> args = ArgumentsOf(command, path);
    const pid_t child = fork();
    if (child == 0) _exit(RunCommand(std::move(args)));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
      std::printf("FAILED %s %s\n", std::string(command).c_str(), path.c_str());
      std::exit(2);
    }
    return InstructionsOf(child);
  }

  // Returns what valgrind logged about the process, for all of its threads.
  double InstructionsOf(pid_t process) const {
    std::ifstream log(absl::StrCat(directory_, "/", process));
    double sum = 0;
    for (std::string line; std::getline(log, line);) {
      const std::vector<absl::string_view> parts = absl::StrSplit(line, "Total instructions: ");
      double instructions = 0;
      if (parts.size() == 2 && absl::SimpleAtod(parts[1], &instructions)) sum += instructions;
    }
    if (sum > 0) return sum;
    std::printf("valgrind logged nothing of process %d\n", process);
    std::exit(2);
  }

  const std::string directory_;
  const std::array<uint64_t, 3> counts_;
  int outputs_ = 0;
};

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  using namespace gotrace::internal;
  uint64_t count = 0;
  if (argc < 3 || argc > 4 || !absl::SimpleAtoi(argv[2], &count)) {
    std::fprintf(stderr, "usage: growth DIR COUNT [PART_OF_A_NAME]\n");
    return 2;
  }
  Growth growth(argv[1], count);
  for (const HostileTrace& trace : QuantityTraces()) {
    if (absl::string_view(trace.name) == "freed objects" && !growth.Prepare(trace)) return 2;
  }
  // Bazel divides a test into shards.
  uint64_t shard = 0;
  uint64_t shards = 1;
  const char* const index = std::getenv("TEST_SHARD_INDEX");
  const char* const total = std::getenv("TEST_TOTAL_SHARDS");
  if (index != nullptr && total != nullptr &&
      !(absl::SimpleAtoi(index, &shard) && absl::SimpleAtoi(total, &shards) && shards > 0)) {
    return 2;
  }
  uint64_t number = 0;
  bool ok = true;
  for (const auto traces : {QuantityTraces(), HostileTraces()}) {
    for (const HostileTrace& trace : traces) {
      if (argc >= 4 && !absl::StrContains(trace.name, argv[3])) continue;
      if (number++ % shards == shard) ok &= growth.Run(trace);
    }
  }
  return ok ? 0 : 1;
}
