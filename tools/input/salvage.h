// Reports the losses of reading a damaged trace, which --salvage prints on the standard error.
#ifndef GOTRACE_TOOLS_INPUT_SALVAGE_H_
#define GOTRACE_TOOLS_INPUT_SALVAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "gotrace/fault.h"
#include "gotrace/reader_options.h"

namespace gotrace::internal {

// Keeps the first few faults of a trace and counts the others, of which there may be very many.
class FaultLog {
 public:
  void Add(const Fault& fault);

  uint64_t count() const { return count_; }

  // Returns the faults that were kept, each formatted by FormatFault().
  const std::vector<std::string>& first() const { return first_; }

  // Returns options for a Reader that salvages everything it can, and adds the faults to this log,
  // which must outlive the Reader.
  ReaderOptions SalvageOptions();

 private:
  static constexpr size_t kKept = 5;

  uint64_t count_ = 0;
  std::vector<std::string> first_;
};

// Formats the losses as one sentence: "left out 1830 bytes of 1 batch". "" if there are none.
std::string FormatLosses(const Losses& losses);

// Returns the lines to print after salvaging the trace `name`: its first faults, how many more
// there are, and FormatLosses(). Empty only for a sound trace.
std::vector<std::string> SalvageReport(absl::string_view name, const FaultLog& log,
                                       const Losses& losses);

// Returns a text on the part of the trace that a result covers if reading ended with `status` and
// `losses`, or "" if it covers the whole trace.
absl::string_view WhyIncomplete(const absl::Status& status, const Losses& losses);

// Adds the member "complete". If it is false, also adds "error", with the `status` with which
// reading ended, and "losses", with the losses of salvaging.
void AppendCompleteness(const absl::Status& status, const Losses& losses, JsonWriter* json);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_INPUT_SALVAGE_H_
