#ifndef GOTRACE_TOOLS_VERSION_H_
#define GOTRACE_TOOLS_VERSION_H_

namespace gotrace::internal {

// The release of gotrace, which `gotrace-dump --version` prints.
inline constexpr char kGotraceVersion[] = "0.1.0";

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_VERSION_H_
