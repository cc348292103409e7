// Cases that no trace can show to the validator: events that are built directly, bytes that only
// the reader of raw events refuses, and traces that exceed a limit. Each check has either a case
// here or a file in testdata/findings.
#ifndef GOTRACE_TESTING_SYNTHETIC_CASE_H_
#define GOTRACE_TESTING_SYNTHETIC_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gotrace/event_builder.h"
#include "gotrace/fault.h"
#include "gotrace/finding.h"
#include "gotrace/reader_limits.h"

namespace gotrace::internal {

// Events, the last of which shows the check.
struct SyntheticCase {
  CheckId check;
  ResourceId resource;  // What the finding is about.
  std::vector<EventBuilder> events;
  // The generation that the first event begins; 0 if the validator does not know generations.
  uint64_t generation = 0;
};
std::vector<SyntheticCase> AllSyntheticCases();

// Returns the findings of a Validator in the last event. The events are 10 bytes and 10 ns apart,
// except for those that have a time of their own.
std::vector<Finding> FindingsOfLast(const SyntheticCase& made);

// Bytes that RawReader refuses.
struct RawCase {
  FaultId fault;
  uint64_t offset;  // The offset of the fault.
  std::string bytes;
};
std::vector<RawCase> AllRawCases();

// Returns the fault that reading the raw events of `raw` ends with. Requires that there is one.
Fault FaultOfRaw(const RawCase& raw);

// A trace that exceeds a limit, which is lower than the default.
struct LimitCase {
  FaultId fault;
  ReaderLimits limits;
  std::string bytes;
};
std::vector<LimitCase> AllLimitCases();

// Returns the fault that reading `limit` ends with. Requires that there is one.
Fault FaultOfLimit(const LimitCase& limit);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_SYNTHETIC_CASE_H_
