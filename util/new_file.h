// Files that get their names only when they are complete.
#ifndef GOTRACE_UTIL_NEW_FILE_H_
#define GOTRACE_UTIL_NEW_FILE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gotrace::internal {

// Returns the error of doing `what` with the file `name`, which is quoted if necessary.
absl::Status FileError(int error, absl::string_view what, absl::string_view name);

// Writes all of `bytes` to the descriptor `fd`. Waits if another program that shares the terminal
// or the pipe made it non-blocking. Returns 0, or the errno of the first failure.
int WriteAll(int fd, absl::string_view bytes);

// A file that is written under a hidden name in the same directory, and gets its own name once its
// contents are on the disk. If the program is killed before that, the next one that writes the file
// reuses the hidden file. Anything but a regular file, such as a device or a named pipe, is written
// directly.
class NewFile {
 public:
  // Creates a file that is to become `path`. If `path` exists, the new file gets its permissions; a
  // symbolic link is followed. Fails if the file cannot be created, or if it exists and is
  // write-protected.
  static absl::StatusOr<NewFile> Create(const std::string& path);

  // Takes the descriptor `fd`, which is written directly. `path` is for error messages.
  NewFile(int fd, std::string path) : NewFile(fd, std::move(path), "") {}

  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  // Removes the file unless it was committed.
  ~NewFile();

  int fd() const { return fd_; }

  // Returns the path of the file as long as it does not have its own name; "" if it is written
  // directly.
  const std::string& temporary() const { return temporary_; }

  // Gives the file its name, once its contents are on the disk. Call it once, after writing
  // everything. If that fails, the file is removed.
  absl::Status Commit();

 private:
  NewFile(int fd, std::string path, std::string temporary);

  int fd_;
  std::string path_;
  std::string temporary_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_UTIL_NEW_FILE_H_
