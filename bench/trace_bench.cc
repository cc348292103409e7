// Measures how fast one trace is processed, and prints one line of numbers:
//
//   trace_bench MODE FILE [REPS] [--jobs=N]
//
// bench/README.md describes the modes and the numbers.
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "bench/passes.h"
#include "gotrace/byte_source.h"
#include "gotrace/fault.h"
#include "util/cores.h"

ABSL_FLAG(uint64_t, jobs, 0, "how many cores may be used, at most; 0 for all that there are");

namespace gotrace::internal {
namespace {

constexpr char kUsageLine[] =
    "usage: trace_bench decode|read|validate|text|json FILE [REPS] [--jobs=N]\n"
    "       goes over a trace REPS times (3), and prints the numbers of the best; FILE may be -,\n"
    "       which is gone over once";

enum ExitCode { kSuccess = 0, kBroken = 1, kUsage = 2 };

struct Measurement {
  PassCounts counts;
  double seconds = std::numeric_limits<double>::infinity();  // The shortest time.
};

// Measures one pass over `source`, including the time to set up a reader.
absl::Status Measure(PassKind kind, absl::StatusOr<std::unique_ptr<ByteSource>> source,
                     const ReaderOptions& options, Measurement* measurement) {
  if (!source.ok()) return source.status();
  const absl::Time begin = absl::Now();
  const absl::StatusOr<PassCounts> counts = RunPass(kind, *std::move(source), options);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  if (!counts.ok()) return counts.status();
  measurement->counts = *counts;
  measurement->seconds = std::min(measurement->seconds, seconds);
  return absl::OkStatus();
}

// Measures the passes over a file, which is loaded into memory first. The standard input is
// streamed instead, so that the peak memory is that of the pass; its time then includes that of the
// writer.
absl::StatusOr<Measurement> MeasureFile(PassKind kind, const std::string& path, int reps,
                                        const ReaderOptions& options) {
  Measurement measurement;
  if (path == "-") {
    if (absl::Status status = Measure(kind, OpenSource(path), options, &measurement);
        !status.ok()) {
      return status;
    }
    return measurement;
  }
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  for (int i = 0; i < reps; ++i) {
    if (absl::Status status = Measure(kind, SourceFromBytes(*bytes), options, &measurement);
        !status.ok()) {
      return status;
    }
  }
  return measurement;
}

// Returns the peak memory of the process, in megabytes.
double PeakMegabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

struct Arguments {
  PassKind kind = {};
  std::string path;
  int reps = 3;
};

// Parses MODE FILE [REPS]. Returns what is wrong with the arguments, or "".
std::string ParseArguments(absl::Span<char* const> args, Arguments* arguments) {
  if (args.size() < 2 || args.size() > 3) {
    return absl::StrCat("expected MODE FILE [REPS], found ", args.size(), " arguments");
  }
  if (!FindPass(args[0], &arguments->kind)) {
    return absl::StrCat("expected a MODE of ", absl::StrJoin(kPassNames, ", "), "; found ",
                        args[0]);
  }
  arguments->path = args[1];
  if (arguments->path == "-") arguments->reps = 1;
  if (args.size() < 3) return "";
  if (!absl::SimpleAtoi(args[2], &arguments->reps) || arguments->reps < 1) {
    return absl::StrCat("expected REPS of 1 or more, found ", args[2]);
  }
  if (arguments->path == "-" && arguments->reps > 1) {
    return absl::StrCat("the standard input can be gone over once, not ", args[2], " times");
  }
  return "";
}

int Main(absl::Span<char* const> args) {
  ReaderOptions options;
  options.jobs = CoresFor(absl::GetFlag(FLAGS_jobs));
  options.decodes_ahead = true;
  Arguments arguments;
  if (const std::string wrong = ParseArguments(args, &arguments); !wrong.empty()) {
    std::fprintf(stderr, "trace_bench: %s\n%s\n", wrong.c_str(), kUsageLine);
    return kUsage;
  }
  const absl::StatusOr<Measurement> measurement =
      MeasureFile(arguments.kind, arguments.path, arguments.reps, options);
  if (!measurement.ok()) {
    std::fprintf(stderr, "trace_bench: %s: %s\n", arguments.path.c_str(),
                 std::string(measurement.status().message()).c_str());
    const bool broken =
        FaultOf(measurement.status()).has_value() || absl::IsDataLoss(measurement.status());
    return broken ? kBroken : kUsage;
  }
  const double events = static_cast<double>(measurement->counts.events);
  const double bytes = static_cast<double>(measurement->counts.bytes);
  const double seconds = measurement->seconds;
  std::printf(
      "%s events %.0f bytes %.0f seconds %.4f Mevents/s %.2f MB/s %.1f ns/event %.1f peakMB %.1f\n",
      args[0], events, bytes, seconds, events / seconds / 1e6, bytes / seconds / 1e6,
      seconds * 1e9 / events, PeakMegabytes());
  return kSuccess;
}

}  // namespace
}  // namespace gotrace::internal

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(gotrace::internal::kUsageLine);
  const std::vector<char*> args = absl::ParseCommandLine(argc, argv);
  return gotrace::internal::Main(absl::MakeSpan(args).subspan(1));
}
