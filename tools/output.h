// Where a command writes its text or its trace.
#ifndef GOTRACE_TOOLS_OUTPUT_H_
#define GOTRACE_TOOLS_OUTPUT_H_

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

// A file descriptor that is written in large blocks: text through buffer(), and what exporters
// write through bytes().
class Output {
 public:
  // `name` is for error messages, which quote it if necessary. Does not take ownership of the
  // descriptor.
  Output(int fd, std::string name) : bytes_(fd, std::move(name)), text_(&bytes_) {}

  // The buffer to append to. Call MaybeFlush() from time to time.
  TextBuffer& buffer() { return text_.buffer(); }

  // Writes the buffer out if it has grown large. An error is in status().
  void MaybeFlush() { text_.MaybeFlush(); }

  // Where exporters write, after what is in the buffer. Finish() of this object finishes it too.
  ByteSink* bytes() {
    text_.Flush();
    return &bytes_;
  }

  // Writes everything out.
  void Flush() {
    text_.Flush();
    bytes_.Flush();
  }

  // Writes everything out for the last time. Fails unless all was written, also if the pipe was
  // closed.
  absl::Status Finish() {
    text_.Flush();
    return bytes_.Finish();
  }

  // Whether the reader closed the pipe. status() stays OK, since that is usually intended, as with
  // `head`, but there is nothing left to do.
  bool closed() const { return bytes_.closed(); }

  // OK, or why the output cannot be written.
  absl::Status status() const { return closed() ? absl::OkStatus() : bytes_.status(); }

  // Whether more output can be written.
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

// A NewFile that signals remove: SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU, unless it is
// complete or the program handles these signals itself. If there are more than kMaxAtATime of them,
// the others stay.
class OutputFile {
 public:
  static constexpr size_t kMaxAtATime = 32;

  // As NewFile::Create(). If `path` names an open descriptor, as /dev/stdout does, that is written.
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

  // Removes the file, if it does not have its name. Signals need not remove `temporary` any more.
  void Remove(const std::string& temporary);

  std::optional<NewFile> file_;
};

// Prints an error, removes an OutputFile that is not complete, and ends the program with exit
// code 2. For std::set_new_handler(); may be called on any thread.
[[noreturn]] void EndForLackOfMemory();

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_OUTPUT_H_
