// Tells what reading a damaged trace left out: what --salvage prints on the standard error.
#ifndef GOTRACE_TOOLS_SALVAGE_H_
#define GOTRACE_TOOLS_SALVAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "gotrace/fault.h"
#include "gotrace/read_mode.h"

namespace gotrace::internal {

// Keeps the first few faults of a trace and counts the others, of which there may be very many.
class FaultLog {
 public:
  void Add(const Fault& fault);

  uint64_t count() const { return count_; }

  // The faults that were kept, each as FormatFault() tells it.
  const std::vector<std::string>& first() const { return first_; }

  // Options for a Reader that salvages what it can, and adds the faults to this log, which must
  // outlive it.
  ReaderOptions SalvageOptions();

 private:
  static constexpr size_t kKept = 5;

  uint64_t count_ = 0;
  std::vector<std::string> first_;
};

// What was left out, as one sentence with numbers: "left out: 1 batch with 1830 bytes". "" if
// nothing is to be told.
std::string FormatLosses(const Losses& losses);

// The lines to print after salvaging the trace `name`: its first faults, how many more there are,
// and FormatLosses(). Empty for a sound trace, and only then.
std::vector<std::string> SalvageReport(absl::string_view name, const FaultLog& log,
                                       const Losses& losses);

// What keeps a reading that ended with `status` and `losses` from being one of the whole trace, or
// "" if nothing does.
absl::string_view WhyIncomplete(const absl::Status& status, const Losses& losses);

// Adds the members that tell how whole the rest of an object is: "complete", and where that is
// false "error" for a `status` that reading ended with, and "losses" for what salvaging left out.
void AppendCompleteness(const absl::Status& status, const Losses& losses, JsonWriter* json);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_SALVAGE_H_
