#include "tools/serve/seekable_trace.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "gotrace/fault.h"
#include "tools/cli/output.h"
#include "tools/cli/report.h"
#include "tools/input/repair_input.h"

namespace gotrace::internal {
namespace {

// Copies a source to a file.
absl::Status CopySource(ByteSource* source, int fd) {
  Output out(fd, "the temporary file");
  while (true) {
    const absl::Status filled = source->Fill(ByteSource::kMaxFill);
    const absl::string_view window = source->window();
    out.buffer().Append(window);
    out.MaybeFlush();
    source->Skip(window.size());
    source->Release(source->offset());
    // Data that is cut off or damaged can be looked at up to there.
    if (!filled.ok() && !FaultOf(filled).has_value()) return filled;
    if (!filled.ok() || window.empty()) return out.Finish();
  }
}

}  // namespace

absl::StatusOr<SeekableTrace> MakeSeekable(const std::string& file, OpenedTrace* input,
                                           const ReaderLimits& limits) {
  SeekableTrace trace;
  const bool is_whole_file = input->notes.empty() && input->number <= 1;
  if (is_whole_file && input->source->Fork(0) != nullptr && CanBeReadAgain(file)) {
    trace.source = std::move(input->source);
    trace.path = file;
    return trace;
  }
  absl::StatusOr<int> fd = CreateTemporary();
  if (!fd.ok()) return fd.status();
  trace.temporary = *fd;
  absl::Status status = CopySource(input->source.get(), *fd);
  if (!status.ok()) return status;
  trace.note = absl::StrFormat("unpacked to a temporary file of %.1f MB",
                               static_cast<double>(input->source->offset()) / 1e6);
  Note(file, trace.note);
  trace.path = absl::StrCat("/proc/self/fd/", *fd);
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(trace.path, limits);
  if (!source.ok()) return source.status();
  trace.source = *std::move(source);
  return trace;
}

}  // namespace gotrace::internal
