// Measures how the cost of each command grows with each quantity of a trace.
//
//   growth DIR COUNT time [PART_OF_A_NAME]
//   valgrind --tool=exp-bbv ... --log-file=DIR/%p growth DIR COUNT instructions [PART_OF_A_NAME]
//
// Runs each command on each trace of a quarter of COUNT, of COUNT, and of four times COUNT, each
// time in a process of its own. The cost is the process's CPU time, or the number of instructions
// in valgrind's log; growth.sh does the latter. If the cost is in proportion to the size, then from
// COUNT to four times as much it grows by four times as much as from a quarter to COUNT. Prints all
// cases, with MORE before those that grow by more than the limit, and exits with 1 if there are
// any.
//
// growth_test measures times. They are less exact than instructions, but a thousand times as many
// can be afforded, and the larger the traces, the clearer it is what is quadratic.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
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
#include "tools/cli/command_line.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"

namespace gotrace::internal {
namespace {

struct Unit {
  absl::string_view name;
  double shown;  // How many are printed as 1.

  // A cost that is quadratic grows by 16 times. What is sorted grows by up to 4.7 times the
  // instructions between some thousand and four times as many, and by more time if it no longer
  // fits into a cache.
  double max_growth;

  // The least growth that is looked at, for each of COUNT. Below it, the cost of something that
  // depends on digits and on the capacities of tables would count.
  double min_cost;

  // How often to measure, at most, what seems to grow too much: something else may have run.
  int attempts;
};
constexpr Unit kUnits[] = {{"time", 1e3, 8, 2, 6},  // Microseconds.
                           {"instructions", 1e3, 5, 200, 1}};

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
    "trim --from=0s -o OUT IN",
    "select --g=1 --with-wakers -o OUT IN",
    "split --generations=1 -o OUT IN",
    "join -o OUT IN",
    "anonymise --also=lines,pcs,times -o OUT IN",
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
  const absl::Status status = ParseCommandLine(pointers, commands, /*is_terminal=*/false, &line);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return kUsageOrIo;
  }
  Output out(open("/dev/null", O_WRONLY), "/dev/null");
  return line.command->Run(line.files, &out);
}

class Growth {
 public:
  Growth(std::string directory, uint64_t count, const Unit& unit)
      : directory_(std::move(directory)), counts_({count / 4, count, 4 * count}), unit_(unit) {}

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
    bool ok = true;
    for (const uint64_t count : counts_) Write(trace, count);
    for (const absl::string_view command : kCommands) {
      if (RunOne(trace.name, command, counts_)) continue;
      // Instructions are exact, but time may seem to grow if the machine does something else. For
      // four times as many, what really grows too much takes so long that nothing else matters.
      const Counts larger = {counts_[1], counts_[2], 4 * counts_[2]};
      if (unit_.attempts > 1) Write(trace, larger.back());
      ok &= unit_.attempts > 1 && RunOne(trace.name, command, larger);
    }
    return ok;
  }

 private:
  using Counts = std::array<uint64_t, 3>;

  std::string PathOf(uint64_t count) const { return absl::StrCat(directory_, "/trace", count); }

  void Write(const HostileTrace& trace, uint64_t count) const {
    std::ofstream(PathOf(count), std::ios::binary) << trace.make(count);
  }

  bool RunOne(absl::string_view trace, absl::string_view command, const Counts& counts) {
    std::array<double, 3> cost;
    cost.fill(std::numeric_limits<double>::infinity());
    double growth = 0;
    bool ok = false;
    for (int attempt = 0; attempt < unit_.attempts && !ok; ++attempt) {
      for (size_t i = 0; i < cost.size(); ++i) {
        cost[i] = std::min(cost[i], Measure(command, PathOf(counts[i])));
      }
      const double first = cost[1] - cost[0];
      growth = (cost[2] - cost[1]) / std::max(first, unit_.min_cost * 0.75 * counts[1]);
      ok = growth <= unit_.max_growth;
    }
    std::printf("%s%5.2f  %-28s %-60s %9.0f %9.0f %9.0f\n", ok ? "     " : "MORE ", growth,
                std::string(trace).c_str(), std::string(command).c_str(), cost[0] / unit_.shown,
                cost[1] / unit_.shown, cost[2] / unit_.shown);
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

  // Returns the CPU time of the command, or how many instructions it takes, and this process took
  // until now.
  double Measure(absl::string_view command, const std::string& path) {
    std::vector<std::string> args = ArgumentsOf(command, path);
    const pid_t child = fork();
    if (child == 0) _exit(RunCommand(std::move(args)));
    int status = 0;
    rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) {
      std::printf("FAILED %s %s\n", std::string(command).c_str(), path.c_str());
      std::exit(2);
    }
    std::error_code ignored;
    std::filesystem::remove_all(absl::StrCat(directory_, "/out", outputs_), ignored);
    if (unit_.name == "instructions") return InstructionsOf(child);
    const auto microseconds = [](const timeval& time) {
      return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
    };
    return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
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
  const Counts counts_;
  const Unit& unit_;
  int outputs_ = 0;
};

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  using namespace gotrace::internal;
  uint64_t count = 0;
  const Unit* unit = nullptr;
  for (const Unit& one : kUnits) {
    if (argc > 3 && one.name == argv[3]) unit = &one;
  }
  if (argc < 4 || argc > 5 || !absl::SimpleAtoi(argv[2], &count) || unit == nullptr) {
    std::fprintf(stderr, "usage: growth DIR COUNT time|instructions [PART_OF_A_NAME]\n");
    return 2;
  }
  Growth growth(argv[1], count, *unit);
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
      if (argc >= 5 && !absl::StrContains(trace.name, argv[4])) continue;
      if (number++ % shards == shard) ok &= growth.Run(trace);
    }
  }
  return ok ? 0 : 1;
}
