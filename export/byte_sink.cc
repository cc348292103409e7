#include "gotrace/byte_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "util/quote.h"

namespace gotrace {

void ByteSink::AppendLarge(absl::string_view bytes) {
  Flush();
  if (bytes.size() >= kBlockSize) return WriteOut(bytes);
  buffer_.append(bytes.data(), bytes.size());
}

void ByteSink::Flush() {
  WriteOut(buffer_);
  buffer_.clear();
}

void ByteSink::WriteOut(absl::string_view bytes) {
  if (status_.ok() && !bytes.empty()) status_ = Write(bytes);
}

absl::Status ByteSink::Finish() {
  Flush();
  if (status_.ok()) status_ = Commit();
  return status_;
}

namespace {

absl::Status Failure(int error, absl::string_view what, absl::string_view name) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", internal::QuotedUnlessPlain(name)));
}

absl::Status WriteAll(int fd, absl::string_view bytes, absl::string_view name) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready = {.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, /*timeout=*/-1);
    } else if (errno != EINTR) {
      return Failure(errno, "writing", name);
    }
  }
  return absl::OkStatus();
}

class DescriptorSink : public ByteSink {
 public:
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

 protected:
  absl::Status Write(absl::string_view bytes) override { return WriteAll(fd_, bytes, name_); }

 private:
  const int fd_;
  const std::string name_;
};

class StringSink : public ByteSink {
 public:
  explicit StringSink(std::string* bytes) : bytes_(*bytes) {}

 protected:
  absl::Status Write(absl::string_view bytes) override {
    bytes_.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }

 private:
  std::string& bytes_;
};

class FileSink : public ByteSink {
 public:
  // `temporary` is "" if `path` itself is written.
  FileSink(int fd, std::string path, std::string temporary)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}
  ~FileSink() override {
    if (fd_ >= 0) close(fd_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }

 protected:
  absl::Status Write(absl::string_view bytes) override { return WriteAll(fd_, bytes, path_); }

  absl::Status Commit() override {
    // Some file systems notice only here that a disk is full, and some have no fsync().
    const bool is_on_disk = temporary_.empty() || fsync(fd_) == 0 || errno == EINVAL ||
                            errno == ENOSYS || errno == EOPNOTSUPP || errno == EROFS;
    if (!is_on_disk) return Failure(errno, "writing", path_);
    if (close(std::exchange(fd_, -1)) != 0) return Failure(errno, "writing", path_);
    if (temporary_.empty()) return absl::OkStatus();
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return Failure(errno, "writing", path_);
    temporary_.clear();
    return absl::OkStatus();
  }

 private:
  int fd_;
  const std::string path_;
  std::string temporary_;
};

// The permissions of a new file.
mode_t NewFileMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Follows symbolic links, also those to a file that does not exist yet.
std::string TargetOf(const std::string& path) {
  constexpr int kMaxLinks = 40;
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; links < kMaxLinks && std::filesystem::is_symlink(target, error); ++links) {
    // A relative link starts where the link is; an absolute one replaces all of the path.
    target = target.parent_path() / std::filesystem::read_symlink(target, error);
  }
  return target.string();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSink>> SinkToFile(const std::string& path) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return Failure(errno, "opening", path);
    return std::make_unique<FileSink>(fd, path, "");
  }
  // It could be replaced all the same, but somebody protected it.
  if (exists && (info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) {
    return absl::PermissionDeniedError(absl::StrCat("writing ", internal::QuotedUnlessPlain(path),
                                                    ": the file is write-protected"));
  }
  std::string target = TargetOf(path);
  std::string temporary = absl::StrCat(target, ".XXXXXX");
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return Failure(errno, exists ? "creating a new file beside" : "creating", path);
  // mkostemp() gives the file to its owner alone.
  fchmod(fd, exists ? info.st_mode & 07777 : NewFileMode());
  return std::make_unique<FileSink>(fd, std::move(target), std::move(temporary));
}

std::unique_ptr<ByteSink> SinkToDescriptor(int fd, std::string name) {
  return std::make_unique<DescriptorSink>(fd, std::move(name));
}

std::unique_ptr<ByteSink> SinkToString(std::string* bytes) {
  return std::make_unique<StringSink>(bytes);
}

}  // namespace gotrace
