#include "tools/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gotrace {

void Output::Flush() {
  absl::string_view rest = buffer_.view();
  while (!rest.empty() && usable()) {
    const ssize_t count = write(fd_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR) {
      status_ = absl::ErrnoToStatus(errno, absl::StrCat("writing ", name_));
    }
  }
  buffer_.clear();
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  std::string temporary = absl::StrCat(path, ".XXXXXX");
  const int fd = mkstemp(temporary.data());
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("creating ", path));
  // As any other new file; mkstemp() leaves it to its owner alone.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  return OutputFile(fd, path, std::move(temporary));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

absl::Status OutputFile::Commit() {
  if (close(fd_) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_.c_str());
    fd_ = -1;
    return absl::ErrnoToStatus(error, absl::StrCat("writing ", path_));
  }
  fd_ = -1;
  return absl::OkStatus();
}

}  // namespace gotrace
