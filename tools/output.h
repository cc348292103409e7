// Where the text and the bytes of a command go.
#ifndef GOTRACE_TOOLS_OUTPUT_H_
#define GOTRACE_TOOLS_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// A file descriptor that is written in large blocks.
class Output {
 public:
  // `name` is for error messages, which quote it unless it is plain. The descriptor stays the
  // caller's.
  Output(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  virtual ~Output() = default;

  // Where to append. Call MaybeFlush() from time to time.
  TextBuffer& buffer() { return buffer_; }

  // Writes the buffer out if it has grown large. After a failure status() tells it.
  void MaybeFlush() {
    if (buffer_.size() >= kBlockSize) Flush();
  }

  // Writes the buffer out.
  void Flush();

  // Writes the buffer out for the last time. Fails if not everything was written, a closed pipe
  // included.
  absl::Status Finish();

  // Whether nobody reads the output any more: the pipe that it goes to was closed. status() stays
  // OK, since mostly that is as it is meant, but there is nothing left to do.
  bool closed() const { return closed_; }

  // OK, or why the output cannot be written.
  const absl::Status& status() const { return status_; }

  // Whether there is any use in going on.
  bool usable() const { return !closed_ && status_.ok(); }

 private:
  static constexpr size_t kBlockSize = 1 << 20;

  const int fd_;
  const std::string name_;
  TextBuffer buffer_;
  bool closed_ = false;
  absl::Status status_;
};

// A file that has its final name only once it is whole. What is no regular file, as a device or a
// named pipe, is written as it is. A program writes one at a time: SIGHUP, SIGINT, SIGQUIT, SIGTERM
// and SIGXCPU remove the last one begun, unless it is whole or they have handlers of their own.
class OutputFile {
 public:
  // Begins to write `path`, under another name in the same directory. A file that is there keeps
  // its permissions, and a symbolic link its place.
  static absl::StatusOr<OutputFile> Create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Removes what was not committed. What a device or a named pipe took stays.
  ~OutputFile();

  int fd() const { return fd_; }

  // Gives the file its name, once its content is on the disk. To be called once, after everything
  // was written.
  absl::Status Commit();

 private:
  OutputFile(int fd, std::string path, std::string temporary)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

  void RemoveTemporary();

  int fd_;
  std::string path_;
  std::string temporary_;  // "" if `path_` itself is written.
};

// Ends the program with exit code 2 and a sentence on the standard error, after removing an
// OutputFile that is not whole. For std::set_new_handler(); may be called on any thread.
[[noreturn]] void EndForLackOfMemory();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_OUTPUT_H_
