// Fuzzes the reader of FXT files: it reads any bytes, a file that is cut off gives the same records
// up to there, and records that it returns can be written and read again.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_text.h"
#include "export/fxt/fxt_validator.h"
#include "export/fxt/fxt_writer.h"
#include "fuzz/target.h"
#include "gotrace/byte_sink.h"
#include "gotrace/byte_stream.h"
#include "gotrace/fxt_reader.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

// What reading a file gives: the records as text, without their offsets if asked for.
struct Result {
  std::string text;
  std::vector<size_t> ends;  // Of the text of each record.
  std::vector<uint64_t> offsets;
  uint64_t problems = 0;
  uint64_t errors = 0;
  FxtEnd end = FxtEnd::kNotYet;
  uint64_t offset = 0;
};

Result Read(absl::string_view bytes) {
  Result result;
  FxtReader reader(*SourceFromBytes(bytes), [&](const FxtProblem& problem) {
    ++result.problems;
    if (SpecOf(problem.check).severity == Severity::kError) ++result.errors;
    FUZZ_CHECK(problem.offset <= bytes.size(), problem.message);
  });
  TextBuffer text;
  while (const FxtRecord* record = reader.Next()) {
    FUZZ_CHECK(record->offset + record->size == reader.offset(), "");
    AppendFxtText(*record, &text);
    result.ends.push_back(text.size());
    result.offsets.push_back(record->offset);
  }
  result.text = std::string(text.view());
  result.end = reader.end();
  result.offset = reader.offset();
  FUZZ_CHECK(result.end != FxtEnd::kNotYet && result.end != FxtEnd::kError, "");
  FUZZ_CHECK((result.end == FxtEnd::kComplete) == (result.offset == bytes.size()), "");
  return result;
}

void CheckCut(absl::string_view input, const Result& whole, size_t size) {
  const Result cut = Read(input.substr(0, size));
  FUZZ_CHECK(cut.ends.size() <= whole.ends.size(), "");
  FUZZ_CHECK(whole.text.compare(0, cut.text.size(), cut.text) == 0, "");
  FUZZ_CHECK(cut.offset <= whole.offset, "");
  // Nothing that is complete is missing.
  if (cut.ends.size() < whole.ends.size()) {
    const size_t next = cut.ends.size();
    const uint64_t end = next + 1 < whole.offsets.size() ? whole.offsets[next + 1] : whole.offset;
    FUZZ_CHECK(end > size, "");
  }
}

// Writes the records of `input` and reads them again.
void CheckRoundTrip(absl::string_view input) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtWriter writer(MakeFxtStore({}, sink.get()));
  TextBuffer expected;
  FxtReader reader(*SourceFromBytes(input));
  const auto is_definition = [](const FxtRecord& record) {
    return record.type == FxtType::kMetadata || record.type == FxtType::kInitialization ||
           record.type == FxtType::kString || record.type == FxtType::kThread;
  };
  while (const FxtRecord* record = reader.Next()) {
    if (is_definition(*record) || record->type == FxtType::kLarge) continue;
    const bool has_long_text = [&] {
      size_t longest =
          std::max({record->category.size(), record->name.size(), record->text.size()});
      for (const FxtArgument& argument : record->arguments) {
        longest = std::max({longest, argument.name.size(), argument.text.size()});
      }
      return longest > kFxtMaxText;
    }();
    if (has_long_text || !writer.Write(*record)) continue;
    FxtRecord copy = *record;
    copy.offset = 0;
    AppendFxtText(copy, &expected);
  }
  FUZZ_CHECK(writer.Finish().ok() && sink->Finish().ok(), "");
  TextBuffer written;
  FxtReader again(*SourceFromBytes(bytes), [](const FxtProblem& problem) {
    // The content of an event may be wrong, but not how it is written.
    FUZZ_CHECK(problem.check == CheckId::kFxtDuration, problem.message);
  });
  while (const FxtRecord* record = again.Next()) {
    if (is_definition(*record)) continue;
    FxtRecord copy = *record;
    copy.offset = 0;
    AppendFxtText(copy, &written);
  }
  FUZZ_CHECK(again.end() == FxtEnd::kComplete, "");
  FUZZ_CHECK(written.view() == expected.view(), absl::StrCat(written.view(), expected.view()));
}

}  // namespace

void RunTarget(absl::string_view input) {
  // The target `compressed` has these.
  if (FindCompression(input) != Compression::kNone) return;
  const Result whole = Read(input);
  for (const size_t parts : {2, 3, 5}) CheckCut(input, whole, input.size() / parts);
  if (!input.empty()) CheckCut(input, whole, input.size() - 1);
  CheckCut(input, whole, whole.offset);
  const ValidationReport report = ValidateFxt(*SourceFromBytes(input), {});
  FUZZ_CHECK(report.errors == whole.errors, "");
  // That there are no records at all is not for the reader to say.
  const uint64_t empty = report.counts[static_cast<int>(CheckId::kFxtEmpty)];
  FUZZ_CHECK(report.errors + report.warnings + report.notes == whole.problems + empty, "");
  FUZZ_CHECK(report.good_bytes == whole.offset && report.events == whole.ends.size(), "");
  CheckRoundTrip(input);
}

}  // namespace gotrace::internal
