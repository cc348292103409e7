// Where exporters write bytes: a file, a descriptor, or memory.
#ifndef GOTRACE_BYTE_SINK_H_
#define GOTRACE_BYTE_SINK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace {

// Takes bytes in order, and writes them in large blocks. After the first error, which is kept,
// nothing more is written, so callers need to check it only occasionally and at Finish().
//
// To write to something else, derive a class and override Write() and, if need be, Commit().
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  // Discards unfinished output: buffered bytes, and a file that does not have its name yet.
  virtual ~ByteSink() = default;

  // Appends `bytes`. Does nothing after an error.
  void Append(absl::string_view bytes) {
    size_ += bytes.size();
    if (bytes.size() >= kBlockSize - buffer_.size()) return AppendLarge(bytes);
    buffer_.append(bytes.data(), bytes.size());
  }

  // Writes out the buffer, so that the reader of a pipe, for example, can see the bytes. A file
  // still does not get its name.
  void Flush();

  // Flushes, and completes the output: a file gets its name. Call it once, after the last Append().
  // Returns status().
  absl::Status Finish();

  // Returns OK, or the first error.
  const absl::Status& status() const { return status_; }

  // Returns whether there was no error. Unlike all other functions, this can be called while
  // another thread uses the sink.
  bool ok() const { return !has_failed_.load(std::memory_order_relaxed); }

  // Returns how many bytes were appended, including those after an error.
  uint64_t size() const { return size_; }

 protected:
  // Writes `bytes`, all of them or returns an error. Called with the bytes in order.
  virtual absl::Status Write(absl::string_view bytes) = 0;

  // Called once by Finish(), after the last Write(), if there was no error.
  virtual absl::Status Commit() { return absl::OkStatus(); }

 private:
  static constexpr size_t kBlockSize = size_t{1} << 18;

  void AppendLarge(absl::string_view bytes);
  void WriteOut(absl::string_view bytes);

  std::string buffer_;  // Always smaller than kBlockSize.
  uint64_t size_ = 0;
  absl::Status status_;
  std::atomic<bool> has_failed_ = false;
};

// Writes the file `path`. The file is written in the same directory under a temporary name, and is
// renamed in Finish(), once its content is on the disk: a reader sees either the complete new file
// or the previous one. The new file gets the permissions of the previous one. A symbolic link
// stays, and its target is replaced. Anything but a regular file, such as a device or a named pipe,
// is written directly. For the standard output use SinkToDescriptor().
//
// Fails if the file cannot be created, or if it exists and is write-protected.
absl::StatusOr<std::unique_ptr<ByteSink>> SinkToFile(const std::string& path);

// Writes to the descriptor `fd`, which the caller owns and must keep open until Finish() has
// returned. `name` is for error messages. Writing to a pipe whose reader has closed it fails with
// EPIPE if the program ignores SIGPIPE.
std::unique_ptr<ByteSink> SinkToDescriptor(int fd, std::string name);

// Appends to `*bytes`, which must outlive the sink and is complete only after Finish().
std::unique_ptr<ByteSink> SinkToString(std::string* bytes);

}  // namespace gotrace

#endif  // GOTRACE_BYTE_SINK_H_
