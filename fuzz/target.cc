#include "fuzz/target.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace gotrace::internal {

void FailCheck(const char* file, int line, const char* condition, absl::string_view message) {
  std::fprintf(stderr, "%s:%d: expected %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

void RunTargetOnCopy(absl::string_view input) {
  const std::unique_ptr<char[]> copy(new char[input.size()]);
  if (!input.empty()) std::memcpy(copy.get(), input.data(), input.size());
  RunTarget(absl::string_view(copy.get(), input.size()));
}

}  // namespace gotrace::internal
