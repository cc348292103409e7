#include "tools/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/cli/ending_signals.h"
#include "tools/cli/self_trace.h"

namespace gotrace::internal {
namespace {

// Returns the open descriptor that `path` names, if any. The descriptor itself is written, at its
// position, rather than a new file with the same name.
std::optional<int> DescriptorOf(absl::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  int fd = -1;
  const bool is_one =
      absl::ConsumePrefix(&path, "/dev/fd/") || absl::ConsumePrefix(&path, "/proc/self/fd/");
  return is_one && absl::SimpleAtoi(path, &fd) && fd >= 0 ? std::optional(fd) : std::nullopt;
}

// A temporary file that is removed when a signal ends the program.
struct Unfinished {
  char path[PATH_MAX];
  volatile std::sig_atomic_t exists = 0;
};
Unfinished unfinished[OutputFile::kMaxAtATime];

void RemoveUnfinished(int /*signal_number*/) {
  for (const Unfinished& file : unfinished) {
    if (file.exists != 0) unlink(file.path);
  }
}

void RemoveAtSignals(const std::string& temporary) {
  for (Unfinished& file : unfinished) {
    if (file.exists != 0) continue;
    // A longer path could not have been opened.
    file.path[temporary.copy(file.path, sizeof(file.path) - 1)] = '\0';
    file.exists = 1;
    break;
  }
}

void KeepAtSignals(absl::string_view temporary) {
  for (Unfinished& file : unfinished) {
    if (file.exists != 0 && file.path == temporary) file.exists = 0;
  }
}

}  // namespace

absl::Status Output::DescriptorSink::Write(absl::string_view bytes) {
  Trace2* const trace = SelfTrace();
  const Trace2Interval interval(trace, "output", "write");
  if (trace != nullptr) trace->AddCount("output", "bytes", bytes.size());
  const int error = WriteAll(fd_, bytes);
  closed_ = error == EPIPE;
  // Nothing else says why the run ends early: SIGPIPE is ignored.
  if (closed_ && trace != nullptr) {
    trace->WriteError(absl::StrCat("writing ", name_, ": the reader closed the pipe"),
                      "the reader closed the pipe");
  }
  return error == 0 ? absl::OkStatus() : FileError(error, "writing", name_);
}

void EndForLackOfMemory() {
  constexpr absl::string_view kMessage =
      "gotrace-dump: out of memory; --jobs=1 needs less, and --limits bounds the memory that a "
      "trace may need\n";
  RemoveUnfinished(0);
  [[maybe_unused]] const ssize_t size = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(2);
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  if (const std::optional<int> descriptor = DescriptorOf(path)) {
    const int fd = fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return FileError(errno, "opening", path);
    return OutputFile(NewFile(fd, path));
  }
  AtEndingSignals(RemoveUnfinished);
  // The file must not exist while it is not in the list for the signal handler.
  const EndingSignalsHeld held;
  absl::StatusOr<NewFile> file = NewFile::Create(path);
  if (!file.ok()) return file.status();
  if (!file->temporary().empty()) RemoveAtSignals(file->temporary());
  return OutputFile(*std::move(file));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, std::nullopt)) {}

OutputFile::~OutputFile() {
  if (!file_.has_value()) return;
  const std::string temporary = file_->temporary();
  if (!temporary.empty()) Remove(temporary);
}

void OutputFile::Remove(const std::string& temporary) {
  file_.reset();
  KeepAtSignals(temporary);
}

absl::Status OutputFile::Commit() {
  const std::string temporary = file_->temporary();
  absl::Status status = file_->Commit();
  if (!temporary.empty()) Remove(temporary);
  return status;
}

}  // namespace gotrace::internal
