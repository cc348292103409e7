#include "parser/byte_stream.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gotrace {

absl::StatusOr<size_t> MemoryStream::Read(char* buffer, size_t size) {
  size = std::min(size, bytes_.size());
  if (size > 0) std::memcpy(buffer, bytes_.data(), size);
  bytes_.remove_prefix(size);
  return size;
}

FdStream::FdStream(int fd, bool owned, std::string name)
    : fd_(fd), owned_(owned), name_(std::move(name)) {}

FdStream::~FdStream() {
  if (owned_) close(fd_);
}

absl::StatusOr<size_t> FdStream::Read(char* buffer, size_t size) {
  while (true) {
    const ssize_t count = read(fd_, buffer, size);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready = {.fd = fd_, .events = POLLIN, .revents = 0};
      poll(&ready, 1, /*timeout=*/-1);
      continue;
    }
    return absl::ErrnoToStatus(errno, absl::StrCat("reading ", name_));
  }
}

}  // namespace gotrace
