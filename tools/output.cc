#include "tools/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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
    } else if (errno == EAGAIN) {
      // Whoever shares the terminal or the pipe has made it non-blocking.
      pollfd ready = {.fd = fd_, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, /*timeout=*/-1);
    } else if (errno != EINTR) {
      status_ = absl::ErrnoToStatus(errno, absl::StrCat("writing ", name_));
    }
  }
  buffer_.clear();
}

namespace {

// The permissions that a new file is given.
mode_t NewFileMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Follows symbolic links, so that it is their target that is replaced.
std::string TargetOf(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string target = real;
  free(real);
  return target;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
    return OutputFile(fd, path, "");
  }
  std::string target = TargetOf(path);
  std::string temporary = absl::StrCat(target, ".XXXXXX");
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("creating ", path));
  // mkostemp() leaves the file to its owner alone.
  fchmod(fd, exists ? info.st_mode & 07777 : NewFileMode());
  return OutputFile(fd, std::move(target), std::move(temporary));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::Commit() {
  const bool closed = close(std::exchange(fd_, -1)) == 0;
  if (closed && temporary_.empty()) return absl::OkStatus();
  if (closed && rename(temporary_.c_str(), path_.c_str()) == 0) return absl::OkStatus();
  absl::Status status = absl::ErrnoToStatus(errno, absl::StrCat("writing ", path_));
  if (!temporary_.empty()) unlink(temporary_.c_str());
  return status;
}

}  // namespace gotrace
