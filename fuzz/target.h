// What a fuzz target is: a function of bytes that must hold for all of them.
//
// Each NAME_target.cc defines RunTarget(). It is linked with fuzzer_entry.cc into a libFuzzer
// binary, and with replay_test.cc into a test that gives it the files of corpus/NAME.
#ifndef GOTRACE_FUZZ_TARGET_H_
#define GOTRACE_FUZZ_TARGET_H_

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Ends the program with a message, in every build, if something that must hold does not.
void FailCheck(const char* file, int line, const char* condition, absl::string_view message);

#define FUZZ_CHECK(condition, message)                                                       \
  do {                                                                                       \
    if (!(condition)) gotrace::internal::FailCheck(__FILE__, __LINE__, #condition, message); \
  } while (false)

// Tries what the target tries with `input`, whose bytes are exactly those that may be read. Comes
// back only if all is well. The same input always gets the same treatment.
void RunTarget(absl::string_view input);

// Calls RunTarget() with a copy of `input` that nothing stands behind, so that AddressSanitizer
// sees the first byte that is read too far.
void RunTargetOnCopy(absl::string_view input);

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_TARGET_H_
