// A file that stands in memory only, for what opens files by their paths.
#ifndef GOTRACE_FUZZ_MEMORY_FILE_H_
#define GOTRACE_FUZZ_MEMORY_FILE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

class MemoryFile {
 public:
  // Ends the program if there cannot be such a file.
  explicit MemoryFile(absl::string_view bytes);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  int fd() const { return fd_; }

  // Where it can be opened while it lives.
  std::string path() const;

  // What stands in it.
  std::string Content() const;

 private:
  const int fd_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_MEMORY_FILE_H_
