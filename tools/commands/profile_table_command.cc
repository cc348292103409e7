#include "tools/commands/profile_table_command.h"

#include "absl/strings/str_cat.h"
#include "gotrace/profile_writer.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {

Flag ProfileTableCommand::TargetFlag(absl::string_view profile) {
  return {.name = "o",
          .value = "FILE",
          .help = absl::StrCat("Write ", profile,
                               " in the format of pprof, gzipped, to FILE; - is the standard "
                               "output."),
          .set = SetText(&target_),
          .excludes = "format"};
}

ProfileForm ProfileTableCommand::form() const {
  ProfileForm form = OwnForm();
  form.shows_lines = shows_lines();
  return form;
}

TableCommand::OwnFormat ProfileTableCommand::own_format() const {
  return {"folded", " folded: a line for each stack, for flame graphs."};
}

absl::Status ProfileTableCommand::PrintResult(const ReadResult& result, FileOutput* output) {
  if (PrintsTable()) return TableCommand::PrintResult(result, output);
  const absl::Span<const ProfileSample> samples = SamplesOf(result.sink->analysis());
  if (samples.empty()) NoteNothing(result, output->file());
  const Interner& interner = result.sink->interner();
  if (prints_own_format()) {
    output->buffer().Append(FormatFolded(form(), samples, interner));
    return absl::OkStatus();
  }
  const TraceTarget target(target_, &output->out());
  if (absl::Status status = target.Check(output->file()); !status.ok()) return status;
  return target.Write([&](Output* out) {
    out->bytes()->Append(FormatPprof(form(), samples, interner));
    return out->Finish();
  });
}

}  // namespace gotrace::internal
