#include "tools/cli/per_file_command.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "export/json/json_text.h"
#include "gotrace/reader.h"
#include "gotrace/validate.h"
#include "tools/cli/file_list.h"
#include "tools/cli/self_trace.h"
#include "tools/input/open_trace.h"
#include "tools/input/salvage.h"

namespace gotrace::internal {

bool IsSkipped(const ListedFile& file, const ReaderLimits& limits) {
  if (file.named) return false;
  absl::StatusOr<OpenedTrace> input = OpenTrace(file.path, limits, /*number=*/0);
  if (input.ok()) {
    ReaderOptions reader_options;
    reader_options.limits = limits;
    if (Reader::FromSource(std::move(input->source), reader_options).ok()) return false;
  }
  ValidateOptions validate_options;
  validate_options.limits = limits;
  const std::string why = ValidateFile(file.path, validate_options).WhySkipped();
  if (why.empty()) return false;
  Note(file.path, absl::StrCat(why, ", skipped"));
  return true;
}

void FileOutput::BeginText() {
  if (!several_ || has_begun_) return;
  has_begun_ = true;
  out_.bytes()->Append(
      absl::StrCat(is_first_ ? "" : "\n", "== ", ShownNameOf(file_.label()), " ==\n"));
  is_first_ = false;
}

int PerFileCommand::Run(const std::vector<std::string>& files, Output* out) {
  std::vector<ListedFile> listed = ListFiles(files);
  if (input().all_traces) listed = ListAllTraces(listed, input().limits);
  const bool several = listed.size() > 1 || (!listed.empty() && !listed.front().named);
  bool is_first = true;
  bool all_skipped = true;
  int worst = kSuccess;
  for (const ListedFile& file : listed) {
    if (IsSkipped(file, input().limits)) continue;
    all_skipped = false;
    const Trace2Region region(SelfTrace(), "file", text().name, file.path);
    if (input().all_traces) input().trace = file.trace;
    FileOutput output(file, several, &is_first, out);
    const FileResult result = RunFile(&output);
    worst = std::max(worst, Conclude(file.label(), result, out));
    if (!out->usable()) break;
  }
  return all_skipped ? ReportNoTrace(files) : worst;
}

void AppendUnreadJson(absl::string_view name, const absl::Status& status, const Losses& losses,
                      TextBuffer* out) {
  JsonWriter json(out);
  json.BeginObject();
  AppendFileMembers(name, &json);
  AppendCompleteness(status, losses, &json);
  json.EndObject();
  out->Append("\n");
}

}  // namespace gotrace::internal
