// What no trace can show to the validator: events made without one, and bytes that only the reader
// of raw events refuses, or that pass a limit. Each check has either one of these or a file in
// testdata/findings.
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

// Events of which the last one shows the check.
struct SyntheticCase {
  CheckId check;
  ResourceId resource;  // That the finding is about.
  std::vector<EventBuilder> events;
  uint64_t generation = 0;  // That the first event begins; 0 for one who knows no generations.
};
std::vector<SyntheticCase> AllSyntheticCases();

// What a Validator finds in the last event. The events stand 10 bytes and 10 ns apart; one with a
// time of its own keeps it.
std::vector<Finding> FindingsOfLast(const SyntheticCase& made);

// Bytes that RawReader refuses.
struct RawCase {
  FaultId fault;
  uint64_t offset;  // Where the fault stands.
  std::string bytes;
};
std::vector<RawCase> AllRawCases();

// The fault that reading the raw events of `raw` ends with. Requires that there is one.
Fault FaultOfRaw(const RawCase& raw);

// A trace that passes a limit, which is lower than by default.
struct LimitCase {
  FaultId fault;
  ReaderLimits limits;
  std::string bytes;
};
std::vector<LimitCase> AllLimitCases();

// The fault that reading `limit` ends with. Requires that there is one.
Fault FaultOfLimit(const LimitCase& limit);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_SYNTHETIC_CASE_H_
