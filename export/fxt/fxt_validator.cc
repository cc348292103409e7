#include "export/fxt/fxt_validator.h"

#include <utility>

#include "export/fxt/fxt_format.h"
#include "gotrace/fxt_reader.h"

namespace gotrace::internal {
namespace {

// The number of records between two calls of ValidateOptions::on_progress.
constexpr uint64_t kRecordsPerReport = 1 << 16;

}  // namespace

ValidationReport ValidateFxt(std::unique_ptr<ByteSource> source, const ValidateOptions& options) {
  ValidationReport report;
  ByteSource& bytes = *source;
  const auto add = [&](const FxtProblem& problem) {
    const Severity severity = SpecOf(problem.check).severity;
    if (options.strictness == Strictness::kGo && severity != Severity::kError) return;
    uint64_t* const totals[] = {&report.notes, &report.warnings, &report.errors};
    ++*totals[static_cast<int>(severity)];
    if (report.counts[static_cast<int>(problem.check)]++ >= options.max_per_check) return;
    Finding finding;
    finding.check = problem.check;
    finding.severity = severity;
    finding.place.offset = problem.offset;
    finding.message = problem.message;
    report.findings.push_back(std::move(finding));
  };
  FxtReader reader(std::move(source), add);
  const auto report_progress = [&] {
    if (options.on_progress) options.on_progress(reader.source().input_read(), report.events);
  };
  while (reader.Next() != nullptr) {
    if (++report.events % kRecordsPerReport == 0) report_progress();
  }
  if (reader.end() == FxtEnd::kComplete && reader.offset() == sizeof kFxtMagic) {
    add({CheckId::kFxtEmpty, reader.offset(),
         "expected records after the magic number, found the end of the file"});
  }
  report.status = reader.status();
  report.good_events = report.events;
  report.good_bytes = reader.offset();
  // The bytes after a wrong size count too.
  while (bytes.Fill(ByteSource::kMaxFill).ok() && !bytes.window().empty()) {
    bytes.Skip(bytes.window().size());
    bytes.Release(bytes.offset());
  }
  report.bytes = bytes.offset();
  report_progress();
  return report;
}

}  // namespace gotrace::internal
