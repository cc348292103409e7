#include "tools/cli/report.h"

#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gotrace/check.h"
#include "gotrace/fault.h"
#include "gotrace/reader_limits.h"
#include "tools/cli/file_list.h"
#include "tools/cli/hints.h"
#include "tools/cli/inner_command.h"
#include "tools/cli/self_trace.h"
#include "tools/input/open_trace.h"

namespace gotrace::internal {
namespace {

// Returns whether `validate` has nothing to add to the message of a fault in the header.
bool IsExplained(FaultId id) {
  return id == FaultId::kNotATrace || id == FaultId::kV1Trace || id == FaultId::kUnknownVersion ||
         id == FaultId::kCompressedCorrupt || id == FaultId::kBytesReplaced;
}

std::string HintOf(const std::string& file, const FileResult& result) {
  if (!result.hint.empty()) return result.hint;
  std::error_code ignored;
  if (absl::IsFailedPrecondition(result.status) && std::filesystem::is_directory(file, ignored)) {
    return "give a file, not a directory";
  }
  const std::optional<Fault> fault = FaultOf(result.status);
  if (!result.is_trace || !fault.has_value()) return "";
  if (IsLimit(fault->id)) return HintFor(CheckOf(fault->id));
  // A pipe cannot be read again.
  if (fault->header_offset.has_value() && CanBeReadAgain(file)) {
    return "`gotrace-dump repair` removes everything before the trace";
  }
  if (IsExplained(fault->id) && result.events == 0) return "";
  if (result.can_salvage && result.events > 0) {
    return "`gotrace-dump validate` lists all errors; --salvage keeps everything that can still "
           "be read";
  }
  return result.events == 0 ? "`gotrace-dump validate` lists all errors" : "";
}

}  // namespace

int ReportError(const std::string& file, const FileResult& result) {
  const std::optional<Fault> fault = FaultOf(result.status);
  const bool is_broken = fault.has_value() || absl::IsDataLoss(result.status);
  // The message of an I/O error already has the name of the file.
  const std::string where = is_broken ? absl::StrCat(ShownNameOf(file), ": ") : "";
  const std::string message =
      fault.has_value() ? FormatFault(*fault) : std::string(result.status.message());
  if (InnerCommand* const inner = InnerCommand::Current(); inner != nullptr) {
    inner->Report(message);
    return is_broken ? kBroken : kUsageOrIo;
  }
  absl::FPrintF(stderr, "gotrace-dump: %s%s\n", where, message);
  if (Trace2* const trace = SelfTrace(); trace != nullptr) {
    // Faults of the same kind in different files are the same error.
    trace->WriteError(absl::StrCat(where, message),
                      fault.has_value() ? absl::StrCat("fault [", FaultName(fault->id), "]")
                                        : absl::StatusCodeToString(result.status.code()));
  }
  if (fault.has_value()) {
    for (const std::string& line : fault->details) absl::FPrintF(stderr, "    %s\n", line);
  }
  if (result.events > 0) {
    absl::FPrintF(stderr, "gotrace-dump: %d %s read before that\n", result.events,
                  result.events == 1 ? "event was" : "events were");
  }
  const std::string hint = HintOf(file, result);
  if (!hint.empty()) absl::FPrintF(stderr, "gotrace-dump: %s\n", hint);
  return is_broken ? kBroken : kUsageOrIo;
}

int Conclude(const std::string& file, const FileResult& result, Output* out) {
  TraceInput(result.bytes, result.events);
  out->Flush();
  if (!out->status().ok()) return ReportError(file, {out->status()});
  // The program that closed the pipe, such as `head`, knows that the output is not complete.
  if (out->closed()) return kUsageOrIo;
  for (const std::string& text : result.salvage_report) {
    absl::FPrintF(stderr, "gotrace-dump: %s\n", text);
  }
  int code = result.salvage_report.empty() ? kSuccess : kBroken;
  if (!result.status.ok()) code = ReportError(file, result);
  if (result.above_limit.empty()) return code;
  Note(file, result.above_limit);
  return kAboveLimit;
}

int ReportNoTrace(const std::vector<std::string>& files) {
  const std::string message =
      absl::StrCat("no trace was found in ",
                   absl::StrJoin(files, ", ", [](std::string* names, const std::string& file) {
                     names->append(ShownNameOf(file));
                   }));
  absl::FPrintF(stderr, "gotrace-dump: %s\n", message);
  if (SelfTrace() != nullptr) SelfTrace()->WriteError(message, "no trace was found in %s");
  return kUsageOrIo;
}

void Note(const std::string& file, absl::string_view line) {
  if (InnerCommand* const inner = InnerCommand::Current(); inner != nullptr) {
    inner->Report(line);
    return;
  }
  absl::FPrintF(stderr, "gotrace-dump: %s: %s\n", ShownNameOf(file), line);
}

}  // namespace gotrace::internal
