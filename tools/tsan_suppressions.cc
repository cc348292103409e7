#include "absl/base/config.h"

#ifdef ABSL_HAVE_THREAD_SANITIZER

// Asked for by ThreadSanitizer when it begins. The packaged Abseil is not built for it, so what
// Abseil guards looks unguarded: here its table of the system's error messages, which is made once.
extern "C" const char* __tsan_default_suppressions() {
  return "race:absl::*base_internal::StrError\n";
}

#endif
