// Judges a whole trace: the faults of reading it, and what the Validator finds in its events.
#ifndef GOTRACE_VALIDATE_H_
#define GOTRACE_VALIDATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gotrace/byte_source.h"
#include "gotrace/check.h"
#include "gotrace/finding.h"
#include "gotrace/read_mode.h"
#include "gotrace/reader_limits.h"
#include "gotrace/trace_list.h"
#include "gotrace/tuning.h"
#include "gotrace/version.h"

namespace gotrace {

enum class Strictness : uint8_t {
  kGo,   // Only errors: what Go's own reader or its validator refuses.
  kAll,  // Warnings and notes too.
};

struct ValidateOptions {
  Strictness strictness = Strictness::kAll;
  // How many findings of one check are kept. Those beyond are counted.
  uint64_t max_per_check = 20;
  // What the trace may ask of memory and time. Passing a limit is an error, after which judging
  // goes on as its effect tells. A source that was opened before has its own limit of decompressed
  // bytes.
  ReaderLimits limits;
  // How many cores may be used; 0 for all. With two or more, segments of the trace are validated at
  // the same time, as in ReadParallel(), if they are large enough; memory then holds a
  // generation of each. The report does not depend on it.
  size_t jobs = 1;
  // Told now and then, and at the end, and never less than before, how much of the input was read,
  // in bytes as they stand in the file, and how many events were given. Of what is no trace nothing
  // more needs to be read: then all of its size, if that is known, counts as read.
  std::function<void(uint64_t input_read, uint64_t events)> on_progress;
  // For benchmarks and tests. Unstable.
  Tuning tuning;
};

enum class Verdict : uint8_t {
  kSound,     // Maybe with warnings.
  kBroken,    // There are errors.
  kUnjudged,  // The input cannot be read: see ValidationReport::status.
};

struct ValidationReport {
  // OK, or the error of I/O that reading ended with.
  absl::Status status;

  std::optional<Version> version;  // Of the trace, if it has a header.
  // What the input is if it is no trace at all: "HTML", "a zip archive". "" for a trace, however
  // damaged, and for an empty input, which may have been meant as one.
  std::string foreign;
  // For a trace of Go 1.21 or earlier "a v1 trace, written by Go 1.21", else "".
  std::string v1;
  std::vector<Finding> findings;  // In order, without those beyond max_per_check.

  // How many findings there were of each check, by CheckId.
  std::array<uint64_t, kCheckIdEnd> counts = {};
  uint64_t errors = 0;
  uint64_t warnings = 0;
  uint64_t notes = 0;

  // Events that were decoded; those among them that could be judged and that reading found nothing
  // wrong with; and those that errors took with them: they have no place in the order.
  uint64_t events = 0;
  uint64_t good_events = 0;
  uint64_t lost_events = 0;
  // Of the (decompressed) trace, 0 where there is none, and of that what could be used.
  uint64_t bytes = 0;
  uint64_t good_bytes = 0;

  // The traces of an input that holds several, if whoever made the report listed them: the rest of
  // it is about the first.
  std::vector<TraceSpan> traces;

  Verdict verdict() const;

  // Why the file is left out where it is only found in a directory: "not a trace: HTML", "a v1
  // trace, written by Go 1.21"; "" for a trace that gotrace reads, however damaged.
  std::string WhySkipped() const;
};

// Reads all of `source`, which must stand at its beginning, and judges it. Memory is bounded by the
// largest generation, or the two largest (see ValidateOptions::jobs), and what is open.
ValidationReport ValidateTrace(std::unique_ptr<ByteSource> source, const ValidateOptions& options);

// The same for the file at `path`, or the standard input if it is "-".
ValidationReport ValidateFile(const std::string& path, const ValidateOptions& options);

// "sound", "sound with 2 warnings", "broken", or "cannot be read".
std::string FormatVerdict(const ValidationReport& report);

}  // namespace gotrace

#endif  // GOTRACE_VALIDATE_H_
