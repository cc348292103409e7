#include "absl/base/config.h"

#ifdef ABSL_HAVE_THREAD_SANITIZER

// Called by ThreadSanitizer when it starts. The packaged Abseil is not built for it, so data that
// Abseil guards looks unguarded, such as its table of the system's error messages, which is made
// once.
extern "C" const char* __tsan_default_suppressions() {
  return "race:absl::*base_internal::StrError\n";
}

#endif
