#include "tools/input/trace_target.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gotrace/event.h"
#include "gotrace/reader.h"
#include "tools/cli/file_list.h"

namespace gotrace::internal {

absl::Status ReadTraceAgain(const std::string& path) {
  absl::StatusOr<Reader> reader = Reader::Open(path);
  const absl::Status status = reader.ok() ? reader->ForEach([](const Event&) {}) : reader.status();
  if (status.ok()) return status;
  return absl::InternalError(
      absl::StrCat("the trace that was written cannot be read: ", status.message()));
}

std::string ShowContradictions(const WrittenTrace& written) {
  std::string text;
  if (written.events_added > 0) {
    absl::StrAppend(&text, "; added ", written.events_added, " that were missing");
  }
  if (written.events_left_out > 0) {
    absl::StrAppend(&text, "; dropped ", written.events_left_out,
                    " that contradict the ones before");
  }
  return text;
}

absl::Status TraceTarget::Check(const std::string& input, bool is_binary) const {
  std::error_code ignored;
  if (!is_standard_output() && std::filesystem::is_regular_file(path_, ignored) &&
      std::filesystem::equivalent(path_, input == "-" ? "/dev/stdin" : input, ignored)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "-o ", ShownNameOf(path_), " is the input, which would be lost; give another name"));
  }
  if (!is_binary || !path_.empty() || isatty(STDOUT_FILENO) != 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "refusing to write binary data to a terminal; use -o FILE, or -o - to force it");
}

absl::Status TraceTarget::Write(absl::FunctionRef<absl::Status(Output*)> write) const {
  return Write(write, [](const std::string&) { return absl::OkStatus(); });
}

absl::Status TraceTarget::WriteTrace(absl::FunctionRef<absl::Status(Output*)> write) const {
  return Write(
      [&](Output* out) {
        absl::Status status = write(out);
        // What was written is read again, so nothing may remain in the buffer.
        if (status.ok()) status = out->Finish();
        return status;
      },
      ReadTraceAgain);
}

absl::Status TraceTarget::Write(
    absl::FunctionRef<absl::Status(Output*)> write,
    absl::FunctionRef<absl::Status(const std::string& path)> check) const {
  if (is_standard_output()) return write(&standard_output_);
  absl::StatusOr<OutputFile> file = OutputFile::Create(path_);
  if (!file.ok()) return file.status();
  Output out(file->fd(), path_);
  if (absl::Status status = write(&out); !status.ok()) return status;
  // A device or a named pipe cannot be read again.
  if (!file->temporary().empty()) {
    if (absl::Status status = check(file->temporary()); !status.ok()) return status;
  }
  return file->Commit();
}

std::string TraceTarget::Shown() const {
  return is_standard_output() ? "to the standard output" : ShownNameOf(path_);
}

}  // namespace gotrace::internal
