// Validates a whole trace: reports the faults of reading it, and the findings of the validator's
// checks.
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
#include "gotrace/reader_limits.h"
#include "gotrace/reader_options.h"
#include "gotrace/trace_list.h"
#include "gotrace/tuning.h"
#include "gotrace/validator.h"
#include "gotrace/version.h"

namespace gotrace {

// The findings that are reported.
enum class Strictness : uint8_t {
  kGo,   // Only errors: everything that Go's own reader or its validator rejects.
  kAll,  // Errors, warnings and notes.
};

// The options of ValidateTrace() and ValidateFile().
struct ValidateOptions {
  Strictness strictness = Strictness::kAll;
  // The maximum number of findings of one check that are kept. Further findings are only counted.
  uint64_t max_per_check = 20;
  // Limits on the memory and time that the trace can take. Exceeding a limit is an error, after
  // which validation continues as the error's effect says. For a source that is already open, its
  // own limit of decompressed bytes applies.
  ReaderLimits limits;
  // The maximum number of cores to use; 0 for all. With two or more, segments of the trace are
  // validated at the same time, as in ReadParallel(), if they are large enough; memory then holds a
  // generation of each. The report does not depend on it.
  size_t jobs = 0;
  // Called from time to time, and at the end, with the number of bytes of the file that were read
  // and the number of events. Neither ever decreases. For input that is not a trace, the rest is
  // not read, and the whole size, if known, counts as read.
  std::function<void(uint64_t input_read, uint64_t events)> on_progress;
  // Called often, to ask whether to continue; by several threads if `jobs` is not 1. Once it
  // returns false, ValidationReport::status is kCancelled, and the report is about what was read.
  // It must not return true again.
  std::function<bool()> keep_going;
  // For benchmarks and tests. Unstable.
  Tuning tuning;
};

// The result of validation.
enum class Verdict : uint8_t {
  kSound,     // There may be warnings.
  kBroken,    // There are errors.
  kUnjudged,  // The input cannot be read: see ValidationReport::status.
};

// The results of validation.
struct ValidationReport {
  // OK, or the I/O error that ended reading.
  absl::Status status;

  std::optional<Version> version;  // The version of the trace, if it has a header.
  // The kind of input that is not a trace: "HTML", "a zip archive". "" for a trace, however
  // damaged, and for an empty input, which may be meant as a trace.
  std::string foreign;
  // "a v1 trace, written by Go 1.21", for a trace of Go 1.21 or earlier; otherwise "".
  std::string v1;
  std::vector<Finding> findings;  // In order, at most max_per_check of each check.

  // The number of findings of each check, by CheckId.
  std::array<uint64_t, kCheckIdEnd> counts = {};
  uint64_t errors = 0;
  uint64_t warnings = 0;
  uint64_t notes = 0;

  uint64_t events = 0;       // Events that were decoded.
  uint64_t good_events = 0;  // Events that were validated and have no fault.
  uint64_t lost_events = 0;  // Events that have no place in the order because of errors.
  uint64_t bytes = 0;        // The size of the (decompressed) trace; 0 if there is none.
  uint64_t good_bytes = 0;   // The bytes of the trace that could be used.

  // The traces of an input that holds several, if the caller listed them. The rest of the report is
  // about the first.
  std::vector<TraceSpan> traces;

  // Returns the result: kUnjudged unless status is OK, otherwise kBroken if there are errors.
  Verdict verdict() const;

  // Returns why the file is skipped if it was found in a directory: "not a trace: HTML", "a v1
  // trace, written by Go 1.21"; "" for a trace that gotrace reads, however damaged.
  std::string WhySkipped() const;
};

// Reads all of `source`, which must be positioned at its beginning, and validates it. Memory is
// bounded by the largest generation of each core (see ValidateOptions::jobs), and by the number of
// open tasks, regions and ranges.
ValidationReport ValidateTrace(std::unique_ptr<ByteSource> source,
                               const ValidateOptions& options = {});

// Like ValidateTrace(), for the file at `path`, or standard input if it is "-".
ValidationReport ValidateFile(const std::string& path, const ValidateOptions& options = {});

// Like ValidateTrace(), for `bytes`, compressed or not.
ValidationReport ValidateBytes(absl::string_view bytes, const ValidateOptions& options = {});

// Formats the verdict: "sound", "sound with 2 warnings", "broken", or "cannot be read".
std::string FormatVerdict(const ValidationReport& report);

// Formats the report as text, as `gotrace-dump validate --notes` prints it: one or more lines for
// each finding, a line for each check with more findings than were kept, and the verdict with the
// amount of the trace that is good. `name` is the name of the trace, with which each line begins.
std::string FormatReport(absl::string_view name, const ValidationReport& report);

// Formats the report as one JSON object and a newline, as `gotrace-dump validate --json` prints it;
// docs/validate.schema.json describes it. `name` is the name of the trace.
std::string FormatReportJson(absl::string_view name, const ValidationReport& report);

}  // namespace gotrace

#endif  // GOTRACE_VALIDATE_H_
