#include "export/trace2/trace2_destination.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// Programs that collect traces from a directory look for this file. It has the name that git uses,
// because these programs are made for git, and their directory may have traces of both.
constexpr absl::string_view kDiscardFile = "git-trace2-discard";

// The number of names to try for a new file.
constexpr int kAttempts = 10;

// Keeps SIGPIPE from the calling thread while a line is written. Unlike ignoring the signal, this
// has no effect on the rest of the program.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Removes the signal that a write to a closed pipe has caused.
  void Remove() {
    const timespec no_time = {};
    if (!was_pending_) sigtimedwait(&sigpipe_, nullptr, &no_time);
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// Returns a connected socket, or -1 with errno set.
int ConnectTo(const sockaddr_un& address, int type) {
  const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// Returns whether the directory has at least `max` entries. "." and ".." count, as in git.
bool HasFiles(const std::string& directory, uint64_t max) {
  uint64_t files = 2;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end;
       !error && entry != end && files < max; entry.increment(error)) {
    ++files;
  }
  return files >= max;
}

}  // namespace

std::unique_ptr<Trace2Destination> Trace2Destination::Open(Trace2DestinationOptions options) {
  std::unique_ptr<Trace2Destination> destination(new Trace2Destination(std::move(options)));
  return destination->Open() ? std::move(destination) : nullptr;
}

bool Trace2Destination::Open() {
  const std::string& value = options_.value;
  if (value.empty() || value == "0" || absl::EqualsIgnoreCase(value, "false")) return false;
  if (value == "1" || absl::EqualsIgnoreCase(value, "true")) {
    fd_ = STDERR_FILENO;
    is_owned_ = false;
    return true;
  }
  if (value.size() == 1 && absl::ascii_isdigit(static_cast<unsigned char>(value[0]))) {
    fd_ = value[0] - '0';
    is_owned_ = false;
    return true;
  }
  if (absl::StartsWith(value, "/")) {
    std::error_code ignored;
    if (std::filesystem::is_directory(value, ignored)) return OpenIn(value);
    return OpenFile(value, O_APPEND, value);
  }
  if (absl::StartsWith(value, "af_unix:")) return Connect();
  Warn(absl::StrCat(Quoted(value),
                    " is not a destination; give 1, the number of an open file from 2 to 9, an "
                    "absolute path, or af_unix: and an absolute path"));
  return false;
}

bool Trace2Destination::OpenFile(const std::string& path, int flags, absl::string_view shown) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (fd < 0) return Fail(absl::StrCat("opening ", QuotedUnlessPlain(shown)), errno);
  fd_ = fd;
  return true;
}

bool Trace2Destination::OpenIn(const std::string& directory) {
  const std::string begin = absl::StrCat(absl::StripSuffix(directory, "/"), "/");
  if (options_.max_files > 0) {
    const std::string discard = absl::StrCat(begin, kDiscardFile);
    std::error_code ignored;
    if (std::filesystem::exists(discard, ignored)) {
      if (options_.tells_errors) {
        Warn(absl::StrCat("not writing to ", QuotedUnlessPlain(directory), ", which has a file ",
                          kDiscardFile, " because it has too many files"));
      }
      return false;
    }
    if (HasFiles(directory, options_.max_files)) {
      too_many_files_ = true;
      return OpenFile(discard, O_EXCL, discard);
    }
  }
  const std::string path = absl::StrCat(begin, options_.file_name);
  for (int i = 0; i < kAttempts; ++i) {
    const std::string name = i == 0 ? path : absl::StrCat(path, ".", i);
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0666);
    if (fd < 0) continue;
    fd_ = fd;
    return true;
  }
  return Fail(absl::StrCat("opening ", QuotedUnlessPlain(path)), errno);
}

bool Trace2Destination::Connect() {
  absl::string_view path = options_.value;
  const bool is_stream = absl::ConsumePrefix(&path, "af_unix:stream:");
  const bool is_datagram = !is_stream && absl::ConsumePrefix(&path, "af_unix:dgram:");
  if (!is_stream && !is_datagram) absl::ConsumePrefix(&path, "af_unix:");
  const std::string what = absl::StrCat("connecting to ", QuotedUnlessPlain(path));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (!absl::StartsWith(path, "/")) {
    if (options_.tells_errors) Warn(absl::StrCat(what, ": the path is not absolute"));
    return false;
  }
  if (path.size() >= sizeof(address.sun_path)) return Fail(what, ENAMETOOLONG);
  path.copy(address.sun_path, path.size());
  int fd = -1;
  if (!is_datagram) fd = ConnectTo(address, SOCK_STREAM);
  if (is_datagram || (fd < 0 && !is_stream && errno == EPROTOTYPE)) {
    fd = ConnectTo(address, SOCK_DGRAM);
  }
  if (fd < 0) return Fail(what, errno);
  fd_ = fd;
  return true;
}

Trace2Destination::~Trace2Destination() {
  if (is_owned_ && fd_ >= 0) close(fd_);
}

void Trace2Destination::Warn(absl::string_view message) const {
  options_.on_warning(absl::StrCat(options_.variable, ": ", message));
}

bool Trace2Destination::Fail(absl::string_view what, int error) const {
  if (options_.tells_errors) {
    Warn(absl::StrCat(what, ": ", std::generic_category().message(error)));
  }
  return false;
}

int Trace2Destination::WriteOnce(absl::string_view line) {
  const int fd = fd_;
  if (fd < 0) return 0;
  SigpipeBlocked sigpipe_blocked;
  // The rest of a line that was written in part is lost: another program may have written after it.
  if (write(fd, line.data(), line.size()) >= 0) return 0;
  const int error = errno;
  if (error == EPIPE) sigpipe_blocked.Remove();
  if (fd_.exchange(-1) == fd && is_owned_) close(fd);
  return error;
}

void Trace2Destination::Write(absl::string_view line) {
  if (const int error = WriteOnce(line); error != 0) Fail("writing", error);
}

void Trace2Destination::WriteInSignalHandler(absl::string_view line) { WriteOnce(line); }

}  // namespace gotrace::internal
