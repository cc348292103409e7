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

// Why doing `what` with the file `name` failed.
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
      // Whoever shares the terminal or the pipe has made it non-blocking.
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

// The permissions that a new file is given.
mode_t NewFileMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Follows symbolic links, so that it is their target that is replaced or made.
std::string TargetOf(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(target, error); ++links) {
    // A relative link begins where the link stands; an absolute one replaces all of the path.
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  }
  return target.string();
}

// The descriptor, open already, that `path` stands for: where it is that of a file, this file is
// meant with its place in it, and not another of its name.
std::optional<int> DescriptorOf(absl::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  int fd = -1;
  const bool is_one =
      absl::ConsumePrefix(&path, "/dev/fd/") || absl::ConsumePrefix(&path, "/proc/self/fd/");
  return is_one && absl::SimpleAtoi(path, &fd) && fd >= 0 ? std::optional(fd) : std::nullopt;
}

// Some file systems have no such thing as fsync().
bool CannotSync(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EROFS;
}

// The temporary file that a signal which ends the program is to remove, while there is one.
char unfinished[PATH_MAX];
volatile std::sig_atomic_t has_unfinished = 0;

// Ends the program as the signal would have done without this handler, which it has just replaced.
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
    // One that is ignored, as under nohup, stays so.
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
      "gotrace-dump: out of memory; --jobs=1 takes less, and --help tells of --limits, which bound "
      "what a trace may take\n";
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
  // It could be replaced all the same, but somebody protected it.
  if (exists && (info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("writing ", QuotedUnlessPlain(path), ": the file is write-protected"));
  }
  std::string target = TargetOf(path);
  std::string temporary = absl::StrCat(target, ".XXXXXX");
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return Failure(errno, exists ? "creating a new file beside" : "creating", path);
  RemoveAtSignals(temporary);
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
