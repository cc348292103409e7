// Defines a fuzz target: a function that checks properties that must hold for any input.
//
// Each NAME_target.cc defines RunTarget(). It is linked with fuzzer_entry.cc into a libFuzzer
// binary, and with replay_test.cc into a test that runs it with the files of corpus/NAME.
#ifndef GOTRACE_FUZZ_TARGET_H_
#define GOTRACE_FUZZ_TARGET_H_

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Ends the program with a message. Used by FUZZ_CHECK in every build.
void FailCheck(const char* file, int line, const char* condition, absl::string_view message);

#define FUZZ_CHECK(condition, message)                                                       \
  do {                                                                                       \
    if (!(condition)) gotrace::internal::FailCheck(__FILE__, __LINE__, #condition, message); \
  } while (false)

// Checks the properties of the target for `input`, and returns only if they hold. Must not read
// past the end of `input`, and must do the same for the same input.
void RunTarget(absl::string_view input);

// Calls RunTarget() with a copy of `input` of exactly its size, so that AddressSanitizer detects
// the first byte read past the end.
void RunTargetOnCopy(absl::string_view input);

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_TARGET_H_
