#include "tools/serve/seekable_trace.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "export/table/table.h"
#include "gotrace/fault.h"
#include "gotrace/repair.h"
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

// The most sentences on a repair.
constexpr size_t kMaxSentences = 5;

// Opens a temporary file that was written.
absl::StatusOr<SeekableTrace> OpenTemporary(int fd, const ReaderLimits& limits) {
  SeekableTrace trace;
  trace.temporary = fd;
  trace.path = absl::StrCat("/proc/self/fd/", fd);
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenSource(trace.path, limits);
  if (!source.ok()) return source.status();
  trace.source = *std::move(source);
  return trace;
}

}  // namespace

absl::StatusOr<SeekableTrace> MakeSeekable(const std::string& file, OpenedTrace* input,
                                           const ReaderLimits& limits) {
  const bool is_whole_file = input->notes.empty() && input->number <= 1;
  if (is_whole_file && input->source->Fork(0) != nullptr && CanBeReadAgain(file)) {
    SeekableTrace trace;
    trace.source = std::move(input->source);
    trace.path = file;
    return trace;
  }
  absl::StatusOr<int> fd = CreateTemporary();
  if (!fd.ok()) return fd.status();
  absl::Status status = CopySource(input->source.get(), *fd);
  if (!status.ok()) return status;
  absl::StatusOr<SeekableTrace> trace = OpenTemporary(*fd, limits);
  if (!trace.ok()) return trace.status();
  trace->note = absl::StrCat("unpacked to a temporary file of ",
                             FormatBytes(static_cast<int64_t>(input->source->offset())));
  Note(file, trace->note);
  return trace;
}

absl::StatusOr<SeekableTrace> RepairTrace(const std::string& path, const ReaderLimits& limits,
                                          const std::function<bool()>& keep_going) {
  const absl::StatusOr<int> fd = CreateTemporary();
  if (!fd.ok()) return fd.status();
  Output out(*fd, "the temporary file");
  const auto write = [&](absl::string_view bytes) {
    out.buffer().Append(bytes);
    out.MaybeFlush();
    return out.status();
  };
  RepairPlan plan;
  absl::Status status = Repair([&] { return OpenSource(path, limits); }, write, &plan,
                               {.limits = limits, .keep_going = keep_going});
  if (status.ok()) status = out.Finish();
  if (!status.ok()) {
    close(*fd);
    return status;
  }
  absl::StatusOr<SeekableTrace> trace = OpenTemporary(*fd, limits);
  if (!trace.ok()) return trace.status();
  std::vector<std::string> sentences = DescribeRepair(plan);
  if (sentences.size() > kMaxSentences) {
    const size_t more = sentences.size() - kMaxSentences;
    sentences.resize(kMaxSentences);
    sentences.push_back(absl::StrCat("and ", more, more == 1 ? " more change" : " more changes"));
  }
  trace->note = absl::StrCat("what can be saved is shown: ", absl::StrJoin(sentences, "; "));
  return trace;
}

}  // namespace gotrace::internal
