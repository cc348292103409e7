// Writes a synthetic trace to the standard output.
//
//   make_trace [--threads=N] [--goroutines=N] [--generations=N] [--events=N] [--skew=N]
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bench/synthetic_traces.h"

ABSL_FLAG(int, threads, gotrace::internal::SyntheticTraceOptions().threads,
          "threads that are always at work");
ABSL_FLAG(uint64_t, goroutines, gotrace::internal::SyntheticTraceOptions().goroutines,
          "goroutines that live at any time");
ABSL_FLAG(uint64_t, generations, gotrace::internal::SyntheticTraceOptions().generations,
          "generations");
ABSL_FLAG(uint64_t, events, gotrace::internal::SyntheticTraceOptions().events,
          "events of each generation, without the statuses that it states");
ABSL_FLAG(uint64_t, skew, gotrace::internal::SyntheticTraceOptions().skew,
          "ticks of 64 ns that the clocks of every other thread are ahead; odd or 0");

namespace {

// Returns what is wrong with the arguments, or "".
std::string WhatIsWrong(const std::vector<char*>& args,
                        const gotrace::internal::SyntheticTraceOptions& options) {
  if (args.size() > 1) return absl::StrCat("expected nothing but flags, found ", args[1]);
  if (options.threads < 1) return "--threads must be 1 or more";
  if (options.generations < 1) return "--generations must be 1 or more";
  if (options.skew != 0 && options.skew % 2 == 0) return "--skew must be odd, or 0";
  if (isatty(STDOUT_FILENO) != 0) return "a trace is no text: send the standard output to a file";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("writes a made trace to the standard output");
  const std::vector<char*> args = absl::ParseCommandLine(argc, argv);
  gotrace::internal::SyntheticTraceOptions options;
  options.threads = absl::GetFlag(FLAGS_threads);
  options.goroutines = absl::GetFlag(FLAGS_goroutines);
  options.generations = absl::GetFlag(FLAGS_generations);
  options.events = absl::GetFlag(FLAGS_events);
  options.skew = absl::GetFlag(FLAGS_skew);
  if (const std::string wrong = WhatIsWrong(args, options); !wrong.empty()) {
    std::fprintf(stderr, "make_trace: %s; see --help\n", wrong.c_str());
    return 2;
  }
  gotrace::internal::TraceMaker maker(options);
  for (absl::string_view bytes; !(bytes = maker.NextGeneration()).empty();) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) break;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::perror("make_trace: standard output");
    return 2;
  }
  return 0;
}
