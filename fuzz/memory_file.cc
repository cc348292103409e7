#include "fuzz/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "fuzz/target.h"

namespace gotrace::internal {

MemoryFile::MemoryFile(absl::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
  FUZZ_CHECK(fd_ >= 0, "no file in memory can be made");
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    FUZZ_CHECK(written > 0, "a file in memory cannot be written");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

MemoryFile::~MemoryFile() { close(fd_); }

std::string MemoryFile::path() const { return absl::StrCat("/proc/self/fd/", fd_); }

std::string MemoryFile::Content() const {
  struct stat info;
  FUZZ_CHECK(fstat(fd_, &info) == 0, "a file in memory has no size");
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  const ssize_t size = pread(fd_, bytes.data(), bytes.size(), 0);
  FUZZ_CHECK(size == info.st_size, "a file in memory cannot be read");
  return bytes;
}

}  // namespace gotrace::internal
