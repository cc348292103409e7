// What the tests compare that judge the same traces in more than one way.
#ifndef GOTRACE_TESTING_VALIDATED_CASES_H_
#define GOTRACE_TESTING_VALIDATED_CASES_H_

#include <functional>
#include <string>

#include "gotrace/validate.h"

namespace gotrace::internal {

// All of a finding, and all of a report, the numbers of events included.
std::string ShowFinding(const Finding& finding);
std::string ShowReport(const ValidationReport& report);

// Calls `judge` with the name and the bytes of each case of testdata/cases and testdata/findings.
// Each rule of the order and each check is shown by some of them, many in a second generation.
void ForEachCase(
    const std::function<void(const std::string& name, const std::string& bytes)>& judge);

// `count` traces that are `bytes` with a bit changed, at places that are spread over it.
void ForEachDamaged(const std::string& bytes, size_t count,
                    const std::function<void(const std::string& damaged)>& judge);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_VALIDATED_CASES_H_
