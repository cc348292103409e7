#include "testing/golden_case.h"

#include <glob.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "export/text/go_text.h"
#include "gotrace/reader.h"
#include "tracev2/text_form.h"
#include "util/quote.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace {

struct Section {
  absl::string_view name;
  std::string GoldenCase::*text;
};
constexpr Section kSections[] = {
    {"trace", &GoldenCase::trace},
    {"bytes", &GoldenCase::bytes},
    {"outcome", &GoldenCase::outcome},
    {"events", &GoldenCase::events},
};
constexpr size_t kSectionCount = std::size(kSections);

// Returns the number of the section that `line` begins, or kSectionCount if it does not begin one.
size_t FindSection(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "-- ") || !absl::ConsumeSuffix(&line, " --")) {
    return kSectionCount;
  }
  size_t i = 0;
  while (i < kSectionCount && kSections[i].name != line) ++i;
  return i;
}

absl::Status LineError(size_t number, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", message));
}

// Removes a string in double quotes from the front of `*line` and returns it, or returns "" if
// there is none.
absl::string_view TakeLiteral(absl::string_view* line) {
  if (line->empty() || line->front() != '"') return absl::string_view();
  size_t end = 1;
  while (end < line->size() && (*line)[end] != '"') end += (*line)[end] == '\\' ? 2 : 1;
  if (end >= line->size()) return absl::string_view();
  const absl::string_view literal = line->substr(0, end + 1);
  line->remove_prefix(end + 1);
  return literal;
}

// Appends the bytes that `line` of a bytes section stands for: a quoted string, optionally with a
// number of repetitions and a comment. Returns false if the line is malformed.
bool AppendBytesLine(absl::string_view line, std::string* bytes) {
  line = absl::StripAsciiWhitespace(line);
  if (line.empty() || line.front() == '#') return true;
  std::string unit;
  const absl::string_view literal = TakeLiteral(&line);
  if (literal.empty() || !AppendUnquoted(literal, &unit)) return false;
  line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
  uint32_t count = 1;
  if (absl::ConsumePrefix(&line, "*")) {
    if (!absl::SimpleAtoi(line, &count)) return false;
  } else if (!line.empty()) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) bytes->append(unit);
  return true;
}

absl::Status AppendBytesSection(absl::string_view section, std::string* bytes) {
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(section, '\n')) {
    ++number;
    if (!AppendBytesLine(line, bytes)) {
      return LineError(number, "expected a string in double quotes, or one like \"a\" * 5");
    }
  }
  return absl::OkStatus();
}

void AppendEvents(absl::Span<const Event> events, GoTextFormatter* formatter, TextBuffer* out) {
  for (const Event& event : events) formatter->Append(event, out);
}

}  // namespace

absl::StatusOr<GoldenCase> ParseGoldenCase(absl::string_view text) {
  GoldenCase golden;
  std::string* current = &golden.comment;
  size_t next_section = 0;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    ++number;
    const size_t section = FindSection(line);
    if (section < kSectionCount) {
      if (section < next_section) {
        return LineError(number, "expected the sections in order, each once");
      }
      next_section = section + 1;
      current = &(golden.*kSections[section].text);
    } else if (current == &golden.comment && (line.empty() || line.front() != '#')) {
      return LineError(number, "expected a comment or the line \"-- trace --\" or \"-- bytes --\"");
    } else {
      absl::StrAppend(current, line, "\n");
    }
  }
  return golden;
}

std::string FormatGoldenCase(const GoldenCase& golden) {
  std::string text = golden.comment;
  for (const Section& section : kSections) {
    const std::string& content = golden.*section.text;
    const bool is_input = section.text == &GoldenCase::trace || section.text == &GoldenCase::bytes;
    if (is_input && content.empty()) continue;
    absl::StrAppend(&text, "-- ", section.name, " --\n", content);
  }
  return text;
}

absl::StatusOr<std::string> GoldenInput(const GoldenCase& golden) {
  std::string bytes;
  if (!golden.trace.empty()) {
    absl::StatusOr<std::string> assembled = AssembleText(golden.trace);
    if (!assembled.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("section trace, ", assembled.status().message()));
    }
    bytes = *std::move(assembled);
  }
  if (absl::Status status = AppendBytesSection(golden.bytes, &bytes); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("section bytes, ", status.message()));
  }
  return bytes;
}

Reading ReadTrace(absl::StatusOr<std::unique_ptr<ByteSource>> source, ReadBy read_by,
                  const ReaderOptions& options) {
  if (!source.ok()) return {"", source.status()};
  absl::StatusOr<Reader> reader = Reader::FromSource(*std::move(source), options);
  if (!reader.ok()) return {"", reader.status()};
  GoTextFormatter formatter(absl::UTCTimeZone());
  TextBuffer text;
  while (true) {
    absl::Span<const Event> events;
    if (read_by == ReadBy::kBlock) {
      events = reader->NextBlock();
    } else if (const Event* event = reader->Next()) {
      events = absl::MakeConstSpan(event, 1);
    }
    if (events.empty()) break;
    AppendEvents(events, &formatter, &text);
  }
  return {std::string(text.view()), reader->status()};
}

std::string FormatOutcome(const absl::Status& status) {
  if (status.ok()) return "ok\n";
  const std::optional<Fault> fault = FaultOf(status);
  if (!fault.has_value()) return absl::StrCat("error ", status.ToString(), "\n");
  const std::string place = FormatPlace(fault->place);
  std::string text = absl::StrCat("fault ", FaultName(fault->id), place.empty() ? "" : " at ",
                                  place, "\n", fault->message, "\n");
  for (const std::string& line : fault->details) absl::StrAppend(&text, "  ", line, "\n");
  return text;
}

void RebaseGoldenCase(absl::string_view input, GoldenCase* golden) {
  Reading reading = ReadTrace(SourceFromBytes(input), ReadBy::kEvent);
  golden->outcome = FormatOutcome(reading.status);
  golden->events = std::move(reading.events);
}

std::vector<std::string> ListGoldenCases(const std::string& directory) {
  glob_t matches = {};
  std::vector<std::string> paths;
  if (glob(absl::StrCat(directory, "/*.case").c_str(), 0, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  return paths;
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot open ", path));
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace gotrace::internal
