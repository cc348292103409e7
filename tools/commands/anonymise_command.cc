// The command `anonymise`: replaces names and texts of a trace.
#include <regex.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/anonymise.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/repair_input.h"
#include "tools/input/salvage.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "anonymise",
    .summary = "replace the names and texts of a trace by made-up ones",
    .description =
        "Writes the same trace with other names: functions, files, labels, tasks, regions and "
        "messages become made-up ones of the same shape, word by word. The same word always "
        "becomes the same made-up word. Names of the standard library and the runtime stay.\n\n"
        "Line numbers, the addresses in stacks and the time of day stay, too, unless --also or "
        "--only replaces them. Events of experiments are left out.\n\n"
        "The result is read again before it gets its name.",
    .examples =
        "  gotrace-dump anonymise -o shared.trace trace.out\n"
        "  gotrace-dump anonymise --also=lines,pcs,times --map=private.tsv -o shared.trace "
        "trace.out\n"
        "  gotrace-dump anonymise --only=messages --keep='^cache ' -o shared.trace trace.out\n",
};

// The texts that a regular expression matches.
class Pattern {
 public:
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() { Clear(); }

  absl::Status Set(absl::string_view text) {
    Clear();
    const int error = regcomp(&regex_, std::string(text).c_str(), REG_EXTENDED | REG_NOSUB);
    is_set_ = error == 0;
    if (is_set_) return absl::OkStatus();
    char reason[128];
    regerror(error, &regex_, reason, sizeof(reason));
    return absl::InvalidArgumentError(absl::StrCat("not a regular expression: ", reason));
  }

  bool is_set() const { return is_set_; }

  // A text with a byte 0 does not match, since only its beginning could be compared.
  bool Matches(absl::string_view text) const {
    return text.find('\0') == absl::string_view::npos &&
           regexec(&regex_, std::string(text).c_str(), 0, nullptr, 0) == 0;
  }

 private:
  void Clear() {
    if (std::exchange(is_set_, false)) regfree(&regex_);
  }

  regex_t regex_ = {};
  bool is_set_ = false;
};

SetFlag SetParts(PrivatePart first, std::set<PrivatePart>* parts) {
  std::vector<absl::string_view> names;
  for (int i = static_cast<int>(first); i < kPrivatePartEnd; ++i) {
    names.push_back(PrivatePartName(static_cast<PrivatePart>(i)));
  }
  return SetChoices(names, [=](absl::Span<const size_t> positions) {
    for (const size_t position : positions) {
      parts->insert(static_cast<PrivatePart>(static_cast<size_t>(first) + position));
    }
  });
}

class AnonymiseCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {OutputFlag(&target_)};
    AppendRows(
        {{.name = "only",
          .value = "PART,...",
          .help = "Replace only these: functions, files, labels, tasks, regions, messages, lines, "
                  "pcs, times.",
          .set = SetParts(PrivatePart::kFunctions, &only_)},
         {.name = "also",
          .value = "PART,...",
          .help = "Replace also lines (numbers of lines), pcs (addresses in stacks) or times, "
                  "which are shifted: the trace then begins with the year 2000.",
          .set = SetParts(PrivatePart::kLines, &also_)},
         {.name = "keep",
          .value = "REGEX",
          .help = "Keep the names and texts that this extended regular expression matches.",
          .set = SetFlag([this](absl::string_view text) { return keep_.Set(text); })},
         {.name = "map",
          .value = "FILE",
          .help = "Write what was replaced to this file, to translate back: tab-separated "
                  "columns part, made_up and original.",
          .set = SetText(&map_)}},
        &rows);
    AppendRows(reading_.Rows(InputFlags::Traces::kOne), &rows);
    return rows;
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    const Trace2Region region(SelfTrace(), "file", kText.name, file);
    const ReaderLimits& limits = reading_.input.limits;
    const TraceTarget target(target_, out);
    const TraceTarget map(map_, out);
    absl::Status status = target.Check(file);
    if (status.ok() && !map_.empty()) status = CheckMap(map, file);
    if (!status.ok()) return ReportError(file, {status});
    Progress progress(/*prints_along=*/false);
    const absl::StatusOr<RepeatableInput> input = RepeatableInput::Create(file, limits, &progress);
    if (!input.ok()) return ReportError(file, {input.status()});
    const absl::StatusOr<ChosenTrace> chosen =
        ChooseTrace(file, *input, limits, reading_.input.trace);
    if (!chosen.ok()) return ReportError(file, {chosen.status()});
    FaultLog log;
    AnonymisedTrace result;
    status = target.WriteTrace([&](Output* to) -> absl::Status {
      absl::StatusOr<std::unique_ptr<ByteSource>> source = chosen->open();
      if (!source.ok()) return source.status();
      absl::StatusOr<AnonymisedTrace> anonymised =
          Anonymise(*std::move(source), Options(), reading_.Options(&log), to->bytes());
      if (!anonymised.ok()) return anonymised.status();
      result = *std::move(anonymised);
      return absl::OkStatus();
    });
    if (status.ok() && !map_.empty()) {
      status = map.Write([&](Output* to) { return WriteMap(result, to); });
    }
    progress.Wipe();
    if (!status.ok()) return ReportError(file, {status});
    for (const std::string& line : chosen->report) Note(file, line);
    const int code =
        Conclude(file,
                 reading_.Complete({.status = result.status, .events = result.events_read}, file,
                                   log, result.losses),
                 out);
    if (!out->closed()) Note(file, Report(result, target));
    return code;
  }

 private:
  absl::Status CheckMap(const TraceTarget& map, const std::string& file) const {
    if (map.is_standard_output() || map_ == target_) {
      return absl::InvalidArgumentError("--map needs a file of its own");
    }
    return map.Check(file, /*is_binary=*/false);
  }

  AnonymiseOptions Options() const {
    AnonymiseOptions options;
    if (!only_.empty()) options.parts = only_;
    options.parts.insert(also_.begin(), also_.end());
    if (keep_.is_set()) {
      options.keeps = [this](absl::string_view text) { return keep_.Matches(text); };
    }
    return options;
  }

  static absl::Status WriteMap(const AnonymisedTrace& trace, Output* to) {
    ByteSink& sink = *to->bytes();
    sink.Append("part\tmade_up\toriginal\n");
    for (const Replacement& one : trace.replacements) {
      sink.Append(absl::StrCat(PrivatePartName(one.part), "\t", absl::Utf8SafeCEscape(one.made_up),
                               "\t", absl::Utf8SafeCEscape(one.original), "\n"));
    }
    return to->Finish();
  }

  static std::string Report(const AnonymisedTrace& trace, const TraceTarget& target) {
    size_t texts = 0;
    for (const Replacement& one : trace.replacements) texts += one.part < PrivatePart::kLines;
    std::string line = absl::StrCat("replaced ", texts, texts == 1 ? " text" : " texts", " in ",
                                    trace.written.events, " events");
    if (trace.experimental_events > 0) {
      absl::StrAppend(&line, "; left out ", trace.experimental_events, " of experiments");
    }
    return absl::StrCat(line, ShowContradictions(trace.written), "; wrote ", target.Shown());
  }

  std::string target_;
  std::string map_;
  std::set<PrivatePart> only_;
  std::set<PrivatePart> also_;
  Pattern keep_;
  ReadingFlags reading_;
};

}  // namespace

std::unique_ptr<Command> MakeAnonymiseCommand() { return std::make_unique<AnonymiseCommand>(); }

}  // namespace gotrace::internal
