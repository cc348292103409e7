// The output of a command: text or a trace.
#ifndef GOTRACE_TOOLS_CLI_OUTPUT_H_
#define GOTRACE_TOOLS_CLI_OUTPUT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "export/text_sink.h"
#include "gotrace/byte_sink.h"
#include "util/new_file.h"
#include "util/text_buffer.h"

namespace gotrace::internal {

// A file descriptor that is written in large blocks, through buffer() for text and through bytes()
// for exporters.
class Output {
 public:
  // `name` is for error messages, which quote it if necessary. Does not take ownership of the
  // descriptor.
  Output(int fd, std::string name) : bytes_(fd, std::move(name)), text_(&bytes_) {}

  // Returns the buffer to append to. Call MaybeFlush() from time to time.
  TextBuffer& buffer() { return text_.buffer(); }

  // Writes the buffer out if it has grown large. An error is in status().
  void MaybeFlush() { text_.MaybeFlush(); }

  // Returns the sink for exporters. Their output follows the contents of the buffer. Finish() of
  // this object finishes it too.
  ByteSink* bytes() {
    text_.Flush();
    return &bytes_;
  }

  // Writes everything out.
  void Flush() {
    text_.Flush();
    bytes_.Flush();
  }

  // Writes everything out for the last time. Fails unless everything was written, even if the pipe
  // was closed.
  absl::Status Finish() {
    text_.Flush();
    return bytes_.Finish();
  }

  // Returns whether the reader closed the pipe. status() stays OK, since this is usually intended,
  // as with `head`, but there is nothing left to do.
  bool closed() const { return bytes_.closed(); }

  // Returns OK, or the error of writing.
  absl::Status status() const { return closed() ? absl::OkStatus() : bytes_.status(); }

  // Returns whether more output can be written.
  bool usable() const { return bytes_.ok(); }

 private:
  class DescriptorSink final : public ByteSink {
   public:
    DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

    bool closed() const { return closed_; }

   protected:
    absl::Status Write(absl::string_view bytes) override;

   private:
    const int fd_;
    const std::string name_;
    bool closed_ = false;
  };

  DescriptorSink bytes_;
  TextSink text_;
};

// A NewFile that is removed, unless it is complete, when SIGHUP, SIGINT, SIGQUIT, SIGTERM or
// SIGXCPU ends the program, unless the program handles the signal itself. If there are more than
// kMaxAtATime files, the others stay.
class OutputFile {
 public:
  static constexpr size_t kMaxAtATime = 32;

  // As NewFile::Create(). If `path` names an open descriptor, as /dev/stdout does, the descriptor
  // is written.
  static absl::StatusOr<OutputFile> Create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Removes the file unless it was committed.
  ~OutputFile();

  int fd() const { return file_->fd(); }

  // As NewFile::temporary().
  const std::string& temporary() const { return file_->temporary(); }

  // Gives the file its name, once its contents are on the disk. Call it once, after writing
  // everything. If this fails, the file is removed.
  absl::Status Commit();

 private:
  explicit OutputFile(NewFile file) : file_(std::move(file)) {}

  // Removes the file if it does not have its name yet. Signals need no longer remove `temporary`.
  void Remove(const std::string& temporary);

  std::optional<NewFile> file_;
};

// Prints an error, removes an OutputFile that is not complete, and ends the program with exit
// code 2. For std::set_new_handler(); may be called on any thread.
[[noreturn]] void EndForLackOfMemory();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_CLI_OUTPUT_H_
