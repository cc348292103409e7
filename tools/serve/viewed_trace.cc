#include "tools/serve/viewed_trace.h"

#include <utility>

#include "absl/memory/memory.h"
#include "tools/cli/file_list.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {

absl::StatusOr<std::unique_ptr<ViewedTrace>> ViewedTrace::Open(
    const std::string& file, const InputFlags& input, const std::function<bool()>& keep_going,
    size_t cache_bytes) {
  absl::StatusOr<OpenedTrace> opened = OpenTrace(file, input.limits, input.trace);
  if (!opened.ok()) return opened.status();
  PrintTransportNotes(file, opened->notes);
  absl::StatusOr<SeekableTrace> trace = MakeSeekable(file, &*opened, input.limits);
  if (!trace.ok()) return trace.status();
  const std::string shown = NameOf(file);
  const std::string name = shown.substr(shown.find_last_of('/') + 1);
  auto viewed = absl::WrapUnique(new ViewedTrace(trace->path, name));
  TraceViewOptions options;
  options.reader.limits = input.limits;
  options.reader.keep_going = keep_going;
  options.cache_bytes = cache_bytes;
  options.name = name;
  options.note = trace->note;
  options.repair = [commands = &viewed->commands_, path = trace->path, limits = input.limits,
                    keep_going]() -> absl::StatusOr<RepairedTrace> {
    absl::StatusOr<SeekableTrace> repaired = RepairTrace(path, limits, keep_going);
    if (!repaired.ok()) return repaired.status();
    // Requests that commands answer wait until the trace is read.
    commands->SetFile(repaired->path);
    return RepairedTrace{std::move(repaired->source), repaired->note};
  };
  options.answer_more = [commands = &viewed->commands_](const auto&... request) {
    return commands->Answer(request...);
  };
  absl::StatusOr<std::unique_ptr<TraceView>> view =
      TraceView::Open(std::move(trace->source), std::move(options));
  if (!view.ok()) return view.status();
  viewed->view_ = *std::move(view);
  return viewed;
}

}  // namespace gotrace::internal
