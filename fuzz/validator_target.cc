// Fuzzes the validator: its verdict must agree with strict reading, its reports must be well-formed
// and always the same, and validating several files at once must give the same reports as one by
// one.
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "export/report/report_text.h"
#include "fuzz/event_check.h"
#include "fuzz/memory_file.h"
#include "fuzz/pieces.h"
#include "fuzz/target.h"
#include "gotrace/validate.h"
#include "testing/json_value.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"

namespace gotrace::internal {

// Of all commands only this one, which needs no SQLite.
std::unique_ptr<Command> MakeValidateCommand();

namespace {

void CheckCounts(const ValidationReport& report, uint64_t size) {
  FUZZ_CHECK(report.status.ok(), report.status.ToString());
  const uint64_t sum = std::accumulate(report.counts.begin(), report.counts.end(), uint64_t{0});
  FUZZ_CHECK(sum == report.errors + report.warnings + report.notes, absl::StrCat(sum));
  FUZZ_CHECK(report.findings.size() <= sum, absl::StrCat(sum));
  FUZZ_CHECK(report.good_events <= report.events, absl::StrCat(report.good_events));
  FUZZ_CHECK(report.good_bytes <= report.bytes && report.bytes <= size, absl::StrCat(report.bytes));
  for (const Finding& finding : report.findings) {
    FUZZ_CHECK(finding.place.offset.value_or(0) <= size, FormatFinding(finding));
    FUZZ_CHECK(!finding.message.empty(), FormatFinding(finding));
  }
}

std::string ReportText(const ValidationReport& report) {
  TextBuffer text, json;
  AppendReport("trace", report, /*with_notes=*/true, &text);
  AppendReportJson("trace", report, &json);
  absl::string_view line = json.view();
  FUZZ_CHECK(absl::ConsumeSuffix(&line, "\n"), line);
  const std::string error = CheckJson(line);
  FUZZ_CHECK(error.empty(), absl::StrCat(error, " in ", line));
  return absl::StrCat(text.view(), json.view());
}

void CheckVerdict(const ValidationReport& report, absl::string_view input) {
  const CheckedReading strict =
      ReadAndCheck(SourceFromBytes(input), ReadMode::kStrict, input.size());
  FUZZ_CHECK(strict.status.ok() || report.verdict() == Verdict::kBroken, strict.status.ToString());
  if (!strict.status.ok() || strict.has_gap) return;
  for (const Finding& finding : report.findings) {
    // Go's reader does not check whether the stack of a sample is in the table.
    if (finding.place.event == EventType::kCPUSample) continue;
    FUZZ_CHECK(!IsFault(finding.check), FormatFinding(finding));
  }
}

std::string ValidateAtOnce(const std::string& path, int jobs) {
  MemoryFile reports("");
  Output out(reports.fd(), "reports");
  std::vector<std::string> args = {"validate", absl::StrCat("--jobs=", jobs), path, path, path};
  std::vector<char*> pointers;
  for (std::string& arg : args) pointers.push_back(arg.data());
  CommandList commands;
  commands.push_back(MakeValidateCommand());
  CommandLine line;
  const absl::Status status = ParseCommandLine(pointers, commands, /*is_terminal=*/false, &line);
  FUZZ_CHECK(status.ok(), status.ToString());
  line.command->Run(line.files, &out);
  return reports.Content();
}

}  // namespace

void RunTarget(absl::string_view input) {
  if (FindCompression(input) != Compression::kNone) return;
  const ValidationReport report = ValidateTrace(*SourceFromBytes(input), {});
  CheckCounts(report, input.size());
  CheckVerdict(report, input);
  const std::string text = ReportText(report);
  const ValidationReport streamed =
      ValidateTrace(*SourceFromStream(std::make_unique<RandomPieces>(input)), {});
  FUZZ_CHECK(ReportText(streamed) == text, text);

  ValidateOptions go_options;
  go_options.strictness = Strictness::kGo;
  const ValidationReport as_go = ValidateTrace(*SourceFromBytes(input), go_options);
  FUZZ_CHECK(as_go.errors == report.errors, text);
  FUZZ_CHECK(as_go.warnings == 0 && as_go.notes == 0, text);

  // Starting threads is slow, so only some inputs are validated with them.
  if (input.size() % 8 == 4) {
    ValidateOptions two_cores;
    two_cores.jobs = 2;
    two_cores.tuning.jobs_from_bytes = 0;
    FUZZ_CHECK(ReportText(ValidateTrace(*SourceFromBytes(input), two_cores)) == text, text);
  }
  if (input.size() % 8 == 0) {
    const MemoryFile file(input);
    FUZZ_CHECK(ValidateAtOnce(file.path(), 1) == ValidateAtOnce(file.path(), 3), text);
  }
}

}  // namespace gotrace::internal
