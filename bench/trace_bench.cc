// How fast one trace is gone over: prints one line of numbers.
//
//   trace_bench MODE FILE [REPS] [--jobs=N]
//
// bench/README.md tells what the modes and the numbers are.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bench/passes.h"
#include "parser/byte_source.h"
#include "parser/cores.h"
#include "parser/fault.h"

namespace gotrace {
namespace {

enum ExitCode { kSuccess = 0, kBroken = 1, kUsage = 2 };

struct Measurement {
  PassCounts counts;
  double seconds = std::numeric_limits<double>::infinity();  // The shortest time.
};

// Measures one pass over `source`, beginning with the time to set up a reader.
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

// A file is brought into memory first. The standard input is streamed, so that the peak of memory
// is that of the pass; its time includes that of whoever writes it.
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

// The most memory that the process ever had, in megabytes.
double PeakMegabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

// Takes `--jobs=N` off the end of the arguments, if it stands there. Returns false if N is no
// number of cores.
bool TakeJobs(int* argc, char** argv, size_t* jobs) {
  absl::string_view last = argv[*argc - 1];
  if (!absl::ConsumePrefix(&last, "--jobs=")) return true;
  --*argc;
  return absl::SimpleAtoi(last, jobs) && *jobs > 0;
}

int Main(int argc, char** argv) {
  ReaderOptions options;
  options.jobs = AvailableCores();
  const bool has_jobs = TakeJobs(&argc, argv, &options.jobs);
  PassKind kind = {};
  int reps = 1;
  const std::string path = argc > 2 ? argv[2] : "";
  if (path != "-") reps = 3;
  if (!has_jobs || argc < 3 || argc > 4 || !FindPass(argv[1], &kind) ||
      (argc == 4 && (!absl::SimpleAtoi(argv[3], &reps) || reps < 1)) || (path == "-" && reps > 1)) {
    std::fprintf(
        stderr, "usage: trace_bench %s FILE [REPS] [--jobs=N]\n       FILE may be -, with REPS 1\n",
        absl::StrJoin(kPassNames, "|").c_str());
    return kUsage;
  }
  const absl::StatusOr<Measurement> measurement = MeasureFile(kind, path, reps, options);
  if (!measurement.ok()) {
    std::fprintf(stderr, "trace_bench: %s: %s\n", path.c_str(),
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
      argv[1], events, bytes, seconds, events / seconds / 1e6, bytes / seconds / 1e6,
      seconds * 1e9 / events, PeakMegabytes());
  return kSuccess;
}

}  // namespace
}  // namespace gotrace

int main(int argc, char** argv) { return gotrace::Main(argc, argv); }
