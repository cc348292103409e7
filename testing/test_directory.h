// Files for tests of programs.
#ifndef GOTRACE_TESTING_TEST_DIRECTORY_H_
#define GOTRACE_TESTING_TEST_DIRECTORY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Makes an empty directory of the current test's own, and returns its path.
std::string MakeTestDirectory();

// Writes a file and returns its path: `name` if that is absolute, and otherwise `name` below the
// directory for temporary files. Makes its directory if need be.
std::string WriteFile(absl::string_view name, absl::string_view content);

// Returns the content of a file; "" if there is none.
std::string ReadFile(const std::string& path);

}  // namespace gotrace::internal

#endif  // GOTRACE_TESTING_TEST_DIRECTORY_H_
