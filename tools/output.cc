#include "tools/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Returns the error of doing `what` with the file `name`.
absl::Status Failure(int error, absl::string_view what, absl::string_view name) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", QuotedUnlessPlain(name)));
}

}  // namespace

void Output::Flush() {
  absl::string_view rest = buffer_.view();
  while (!rest.empty() && usable()) {
    const ssize_t count = write(fd_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno == EAGAIN) {
      // Another program that shares the terminal or the pipe made it non-blocking.
      pollfd ready = {.fd = fd_, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, /*timeout=*/-1);
    } else if (errno != EINTR) {
      status_ = Failure(errno, "writing", name_);
    }
  }
  buffer_.clear();
}

absl::Status Output::Finish() {
  Flush();
  return closed_ ? Failure(EPIPE, "writing", name_) : status_;
}

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

// Returns the open descriptor that `path` names, if it does. The descriptor itself is written, at
// its position, rather than a new file of the same name.
std::optional<int> DescriptorOf(absl::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  int fd = -1;
  const bool is_one =
      absl::ConsumePrefix(&path, "/dev/fd/") || absl::ConsumePrefix(&path, "/proc/self/fd/");
  return is_one && absl::SimpleAtoi(path, &fd) && fd >= 0 ? std::optional(fd) : std::nullopt;
}

// Whether the file system has no fsync().
bool CannotSync(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EROFS;
}

// The temporary file, if there is one, that signals which end the program remove.
char unfinished[PATH_MAX];
volatile std::sig_atomic_t has_unfinished = 0;

// Removes the file and ends the program. The handler was reset when it was called, so the signal
// now has its default effect.
void RemoveUnfinished(int signal_number) {
  if (has_unfinished != 0) unlink(unfinished);
  raise(signal_number);
}

void RemoveAtSignals(const std::string& temporary) {
  // A longer path could not have been opened.
  unfinished[temporary.copy(unfinished, sizeof(unfinished) - 1)] = '\0';
  has_unfinished = 1;
  for (const int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    struct sigaction action;
    // Signals that are ignored, as under nohup, stay ignored.
    if (sigaction(signal_number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = RemoveUnfinished;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace

void EndForLackOfMemory() {
  constexpr absl::string_view kMessage =
      "gotrace-dump: out of memory; --jobs=1 needs less, and --limits bounds what a trace may "
      "need\n";
  if (has_unfinished != 0) unlink(unfinished);
  [[maybe_unused]] const ssize_t size = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(2);
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  if (const std::optional<int> descriptor = DescriptorOf(path)) {
    const int fd = fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return Failure(errno, "opening", path);
    return OutputFile(fd, path, "");
  }
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) return Failure(errno, "opening", path);
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return Failure(errno, "opening", path);
    return OutputFile(fd, path, "");
  }
  // It could be replaced nevertheless, but somebody protected it.
  if (exists && (info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("writing ", QuotedUnlessPlain(path), ": the file is write-protected"));
  }
  std::string target = TargetOf(path);
  std::string temporary = absl::StrCat(target, ".XXXXXX");
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0 && exists) {
    const std::string directory = std::filesystem::path(target).parent_path().string();
    return Failure(
        errno,
        absl::StrCat("creating a temporary file in ",
                     directory.empty() ? "the current directory" : QuotedUnlessPlain(directory),
                     ", to replace"),
        path);
  }
  if (fd < 0) return Failure(errno, "creating", path);
  RemoveAtSignals(temporary);
  // mkostemp() gives permissions only to the owner.
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
  RemoveTemporary();
}

void OutputFile::RemoveTemporary() {
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  has_unfinished = 0;
}

absl::Status OutputFile::Commit() {
  // Some file systems notice only here that a disk is full.
  const bool synced = temporary_.empty() || fsync(fd_) == 0 || CannotSync(errno);
  const int sync_errno = errno;
  const bool closed = close(std::exchange(fd_, -1)) == 0 && synced;
  if (!synced) errno = sync_errno;
  if (closed && temporary_.empty()) return absl::OkStatus();
  if (closed && rename(temporary_.c_str(), path_.c_str()) == 0) {
    has_unfinished = 0;
    return absl::OkStatus();
  }
  absl::Status status = Failure(errno, "writing", path_);
  RemoveTemporary();
  return status;
}

}  // namespace gotrace::internal
