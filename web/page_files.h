// The files of the page that shows a trace in a browser, as web/build.sh makes them.
#ifndef GOTRACE_WEB_PAGE_FILES_H_
#define GOTRACE_WEB_PAGE_FILES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gotrace::internal {

struct PageFile {
  absl::string_view name;  // "index.html".
  absl::string_view bytes;
};

// Returns the files. Static lifetime.
absl::Span<const PageFile> PageFiles();

}  // namespace gotrace::internal

#endif  // GOTRACE_WEB_PAGE_FILES_H_
