#include "gotrace/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "util/quote.h"

namespace gotrace {

absl::StatusOr<size_t> MemoryStream::Read(char* buffer, size_t size) {
  size = std::min(size, bytes_.size());
  if (size > 0) std::memcpy(buffer, bytes_.data(), size);
  bytes_.remove_prefix(size);
  return size;
}

FdStream::FdStream(int fd, bool owned, const std::string& name)
    : fd_(fd), owned_(owned), name_(internal::QuotedUnlessPlain(name)) {
  struct stat info;
  if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return;
  const off_t position = lseek(fd_, 0, SEEK_CUR);
  if (position < 0 || position > info.st_size) return;
  begin_ = position_ = static_cast<uint64_t>(position);
  end_at_first_ = static_cast<uint64_t>(info.st_size);
}

FdStream::FdStream(const FdStream& other, int fd, uint64_t position)
    : fd_(fd),
      owned_(true),
      name_(other.name_),
      keeps_position_(true),
      begin_(other.begin_),
      position_(position),
      end_at_first_(other.end_at_first_) {}

std::unique_ptr<FdStream> FdStream::Fork(uint64_t offset) const {
  if (!is_file()) return nullptr;
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  return std::unique_ptr<FdStream>(new FdStream(*this, fd, begin_ + offset));
}

size_t FdStream::ReadAt(uint64_t offset, char* buffer, size_t size) const {
  ssize_t count = 0;
  do {
    count = is_file() ? pread(fd_, buffer, size, static_cast<off_t>(begin_ + offset)) : 0;
  } while (count < 0 && errno == EINTR);
  return count > 0 ? static_cast<size_t>(count) : 0;
}

void FdStream::SeekToEnd() const {
  if (is_file()) lseek(fd_, 0, SEEK_END);
}

FdStream::~FdStream() {
  if (owned_) close(fd_);
}

absl::StatusOr<size_t> FdStream::Read(char* buffer, size_t size) {
  while (true) {
    const ssize_t count = keeps_position_ ? pread(fd_, buffer, size, static_cast<off_t>(position_))
                                          : read(fd_, buffer, size);
    if (count > 0) {
      position_ += static_cast<size_t>(count);
      return static_cast<size_t>(count);
    }
    if (count == 0) return End();
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready = {.fd = fd_, .events = POLLIN, .revents = 0};
      poll(&ready, 1, /*timeout=*/-1);
      continue;
    }
    return absl::ErrnoToStatus(errno, absl::StrCat("reading ", name_));
  }
}

absl::StatusOr<size_t> FdStream::End() const {
  if (position_ >= end_at_first_) return 0;
  struct stat info;
  // Those of sysfs have a size that they never give.
  if (fstat(fd_, &info) != 0 || static_cast<uint64_t>(info.st_size) >= end_at_first_) return 0;
  return absl::AbortedError(absl::StrCat(
      "reading ", name_, ": the file became shorter while it was read: ", end_at_first_,
      " bytes at first, ", info.st_size, " now; byte ", position_, " was reached"));
}

}  // namespace gotrace
