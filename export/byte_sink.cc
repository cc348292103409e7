#include "gotrace/byte_sink.h"

#include <utility>

#include "util/new_file.h"

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
  if (!status_.ok() || bytes.empty()) return;
  status_ = Write(bytes);
  if (!status_.ok()) has_failed_.store(true, std::memory_order_relaxed);
}

absl::Status ByteSink::Finish() {
  Flush();
  if (status_.ok()) status_ = Commit();
  if (!status_.ok()) has_failed_.store(true, std::memory_order_relaxed);
  return status_;
}

namespace {

absl::Status WriteTo(int fd, absl::string_view bytes, absl::string_view name) {
  const int error = internal::WriteAll(fd, bytes);
  return error == 0 ? absl::OkStatus() : internal::FileError(error, "writing", name);
}

class DescriptorSink : public ByteSink {
 public:
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

 protected:
  absl::Status Write(absl::string_view bytes) override { return WriteTo(fd_, bytes, name_); }

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
  FileSink(internal::NewFile file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

 protected:
  absl::Status Write(absl::string_view bytes) override { return WriteTo(file_.fd(), bytes, path_); }
  absl::Status Commit() override { return file_.Commit(); }

 private:
  internal::NewFile file_;
  const std::string path_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSink>> SinkToFile(const std::string& path) {
  absl::StatusOr<internal::NewFile> file = internal::NewFile::Create(path);
  if (!file.ok()) return file.status();
  return std::make_unique<FileSink>(*std::move(file), path);
}

std::unique_ptr<ByteSink> SinkToDescriptor(int fd, std::string name) {
  return std::make_unique<DescriptorSink>(fd, std::move(name));
}

std::unique_ptr<ByteSink> SinkToString(std::string* bytes) {
  return std::make_unique<StringSink>(bytes);
}

}  // namespace gotrace
