// Compresses with gzip.
#ifndef GOTRACE_EXPORT_PPROF_GZIP_H_
#define GOTRACE_EXPORT_PPROF_GZIP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Compresses without a file name or time, so that equal bytes give equal results.
std::string CompressWithGzip(absl::string_view bytes);

}  // namespace gotrace::internal

#endif  // GOTRACE_EXPORT_PPROF_GZIP_H_
