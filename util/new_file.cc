#include "util/new_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Returns the permissions of a new file.
mode_t NewFileMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Follows symbolic links, so that their target is replaced or created, not the link.
std::string TargetOf(const std::string& path) {
  constexpr int kMaxLinks = 40;
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; links < kMaxLinks && std::filesystem::is_symlink(target, error); ++links) {
    // A relative link starts in the directory of the link; an absolute one replaces the whole path.
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  }
  return target.string();
}

// A file that is open and not complete.
struct Unfinished {
  int fd = -1;
  std::string path;
};

// Opens and locks the unfinished file `path`, which a program that was killed may have left behind.
// Returns -1 if it is in use, or cannot be opened or locked.
int OpenAndLock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  struct stat opened;
  struct stat named;
  // The program that had the lock until now may have given the file its own name.
  const bool is_ours = flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
                       lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
                       opened.st_ino == named.st_ino && S_ISREG(opened.st_mode) &&
                       opened.st_nlink == 1 && opened.st_uid == geteuid();
  if (is_ours && ftruncate(fd, 0) == 0) return fd;
  close(fd);
  return -1;
}

// Creates an unfinished file that is to become `target`. Programs that read all files of a
// directory ignore names that begin with a dot.
Unfinished OpenUnfinished(const std::string& target) {
  const std::filesystem::path path = target;
  const std::string hidden =
      (path.parent_path() / absl::StrCat(".", path.filename().string())).string();
  Unfinished file = {.path = absl::StrCat(hidden, ".unfinished")};
  file.fd = OpenAndLock(file.path);
  if (file.fd >= 0) return file;
  // Another program is writing the same file, or the file system has no locks.
  file.path = absl::StrCat(hidden, ".XXXXXX");
  file.fd = mkostemp(file.path.data(), O_CLOEXEC);
  return file;
}

// Whether the file system has no fsync().
bool CannotSync(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EROFS;
}

}  // namespace

absl::Status FileError(int error, absl::string_view what, absl::string_view name) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", QuotedUnlessPlain(name)));
}

int WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready = {.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, /*timeout=*/-1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

absl::StatusOr<NewFile> NewFile::Create(const std::string& path) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) return FileError(errno, "opening", path);
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return FileError(errno, "opening", path);
    return NewFile(fd, path);
  }
  // It could still be replaced, but a user protected it.
  if (exists && (info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("writing ", QuotedUnlessPlain(path), ": the file is write-protected"));
  }
  std::string target = TargetOf(path);
  Unfinished file = OpenUnfinished(target);
  if (file.fd < 0 && exists) {
    const std::string directory = std::filesystem::path(target).parent_path().string();
    return FileError(
        errno,
        absl::StrCat("creating a temporary file in ",
                     directory.empty() ? "the current directory" : QuotedUnlessPlain(directory),
                     ", to replace"),
        path);
  }
  if (file.fd < 0) return FileError(errno, "creating", path);
  fchmod(file.fd, exists ? info.st_mode & 07777 : NewFileMode());
  return NewFile(file.fd, std::move(target), std::move(file.path));
}

NewFile::NewFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")) {}

NewFile::~NewFile() {
  // While it is locked, no other program can use it.
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (fd_ >= 0) close(fd_);
}

absl::Status NewFile::Commit() {
  // Some file systems notice only here that a disk is full.
  if (!temporary_.empty() && fsync(fd_) != 0 && !CannotSync(errno)) {
    return FileError(errno, "writing", path_);
  }
  // Keeps the lock until the file has its name.
  const int lock = temporary_.empty() ? -1 : fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  const bool is_renamed = close(std::exchange(fd_, -1)) == 0 &&
                          (temporary_.empty() || rename(temporary_.c_str(), path_.c_str()) == 0);
  absl::Status status = is_renamed ? absl::OkStatus() : FileError(errno, "writing", path_);
  if (!is_renamed && !temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  if (lock >= 0) close(lock);
  return status;
}

}  // namespace gotrace::internal
