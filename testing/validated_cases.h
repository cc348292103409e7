// Helpers for tests that validate the same traces in several ways and compare the results.
#ifndef GOTRACE_TESTING_VALIDATED_CASES_H_
#define GOTRACE_TESTING_VALIDATED_CASES_H_

#include <functional>
#include <string>

#include "gotrace/validate.h"

namespace gotrace::internal {

// Return everything in a finding or a report, including the numbers of events.
std::string ShowFinding(const Finding& finding);
std::string ShowReport(const ValidationReport& report);

// Calls `validate` with the name and the bytes of each case of testdata/cases and
// testdata/findings. Together they show each ordering rule and each check, many of them in a second
// generation.
void ForEachCase(
    const std::function<void(const std::string& name, const std::string& bytes)>& validate);

// Calls `validate` with `count` copies of `bytes`, each with one bit changed, at places spread over
// the trace.
void ForEachDamaged(const std::string& bytes, size_t count,
                    const std::function<void(const std::string& damaged)>& validate);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_VALIDATED_CASES_H_
