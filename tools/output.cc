#include "tools/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "tools/ending_signals.h"
#include "tools/self_trace.h"

namespace gotrace::internal {
namespace {

// Returns the open descriptor that `path` names, if it does. The descriptor itself is written, at
// its position, rather than a new file of the same name.
std::optional<int> DescriptorOf(absl::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  int fd = -1;
  const bool is_one =
      absl::ConsumePrefix(&path, "/dev/fd/") || absl::ConsumePrefix(&path, "/proc/self/fd/");
  return is_one && absl::SimpleAtoi(path, &fd) && fd >= 0 ? std::optional(fd) : std::nullopt;
}

// The temporary file, if there is one, that signals which end the program remove.
char unfinished[PATH_MAX];
volatile std::sig_atomic_t has_unfinished = 0;

void RemoveUnfinished(int /*signal_number*/) {
  if (has_unfinished != 0) unlink(unfinished);
}

void RemoveAtSignals(const std::string& temporary) {
  // A longer path could not have been opened.
  unfinished[temporary.copy(unfinished, sizeof(unfinished) - 1)] = '\0';
  has_unfinished = 1;
  AtEndingSignals(RemoveUnfinished);
}

}  // namespace

absl::Status Output::DescriptorSink::Write(absl::string_view bytes) {
  const Trace2Interval interval(SelfTrace(), "output", "write");
  if (Trace2* const trace = SelfTrace(); trace != nullptr) {
    trace->AddCount("output", "bytes", bytes.size());
  }
  const int error = WriteAll(fd_, bytes);
  closed_ = error == EPIPE;
  return error == 0 ? absl::OkStatus() : FileError(error, "writing", name_);
}

void EndForLackOfMemory() {
  constexpr absl::string_view kMessage =
      "gotrace-dump: out of memory; --jobs=1 needs less, and --limits bounds what a trace may "
      "need\n";
  if (has_unfinished != 0) unlink(unfinished);
  [[maybe_unused]] const ssize_t size = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(2);
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  if (const std::optional<int> descriptor = DescriptorOf(path)) {
    const int fd = fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return FileError(errno, "opening", path);
    return OutputFile(NewFile(fd, path));
  }
  absl::StatusOr<NewFile> file = NewFile::Create(path);
  if (!file.ok()) return file.status();
  if (!file->temporary().empty()) RemoveAtSignals(file->temporary());
  return OutputFile(*std::move(file));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, std::nullopt)) {}

OutputFile::~OutputFile() {
  if (file_.has_value() && !file_->temporary().empty()) Remove();
}

void OutputFile::Remove() {
  file_.reset();
  has_unfinished = 0;
}

absl::Status OutputFile::Commit() {
  const bool has_temporary = !file_->temporary().empty();
  absl::Status status = file_->Commit();
  if (has_temporary) Remove();
  return status;
}

}  // namespace gotrace::internal
