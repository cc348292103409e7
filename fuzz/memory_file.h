// A file in memory, for functions that open files by their paths.
#ifndef GOTRACE_FUZZ_MEMORY_FILE_H_
#define GOTRACE_FUZZ_MEMORY_FILE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace gotrace::internal {

class MemoryFile {
 public:
  // Ends the program if the file cannot be created.
  explicit MemoryFile(absl::string_view bytes);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  int fd() const { return fd_; }

  // The path of the file, valid during the lifetime of this object.
  std::string path() const;

  // Returns the content of the file.
  std::string Content() const;

 private:
  const int fd_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_FUZZ_MEMORY_FILE_H_
