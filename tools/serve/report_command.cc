// The command `report`: writes a page that shows a trace, with its answers in it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "export/json/json_text.h"
#include "export/pprof/gzip.h"
#include "gotrace/profile.h"
#include "gotrace/trace_view.h"
#include "tools/cli/command.h"
#include "tools/cli/file_list.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/open_trace.h"
#include "tools/input/trace_target.h"
#include "tools/serve/command_answers.h"
#include "tools/serve/seekable_trace.h"
#include "util/text_buffer.h"
#include "web/page_files.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "report",
    .summary = "write a page that shows a trace, to send to others",
    .description =
        "Writes one HTML file that shows the trace as `serve` does, in any browser and without any "
        "server: all tables and profiles, and the timeline as deep as the size allows. Where more "
        "would be needed, the page says so and shows what it has. With --from or --to, tables and "
        "profiles are those of this window. The same trace always gives the same bytes.",
    .examples =
        "  gotrace-dump report -o trace.html trace.out\n"
        "  gotrace-dump report --from=1.5s --to=1.6s --max-size=2 -o slow.html trace.out\n",
};

// The columns of a tile of the timeline, and the lanes in one request: those of web/README.md.
constexpr int64_t kTileColumns = 1024;
constexpr int64_t kGroupsOfTile = 16;

// The page shows no more groups than these.
constexpr int64_t kMaxGroups = 100;

// The answers that the page finds in a report.
class Answers {
 public:
  Answers(const TraceView& view, uint64_t max_size)
      : view_(view), max_size_(max_size), json_(&out_) {
    json_.BeginObject();
  }

  // Adds the answer to a request, unless there is none, or it is too large. Returns whether there
  // was room for it.
  bool Add(const std::string& request) {
    const ViewAnswer answer = view_.Answer(request);
    if (answer.status != 200) return true;
    const std::string packed = absl::Base64Escape(Gzip(answer.body));
    if (out_.size() + request.size() + packed.size() > max_size_) return false;
    // In a script of a page, so "<" has to be escaped.
    json_.Key(absl::StrReplaceAll(request, {{"<", "\\u003c"}}));
    json_.Value(absl::string_view(packed));
    return true;
  }

  std::string Finish() {
    json_.EndObject();
    return std::string(out_.view());
  }

 private:
  const TraceView& view_;
  const uint64_t max_size_;
  TextBuffer out_;
  JsonWriter json_;
};

// Returns the number of a member of an answer, which must have it.
int64_t NumberIn(absl::string_view json, absl::string_view member) {
  const size_t place = json.find(absl::StrCat("\"", member, "\":"));
  if (place == absl::string_view::npos) return 0;
  json.remove_prefix(place + member.size() + 3);
  int64_t number = 0;
  return absl::SimpleAtoi(json.substr(0, json.find_first_of(",}")), &number) ? number : 0;
}

// Adds what the page asks for at its start, and for every table and profile of the window.
void AddTables(const std::string& window, Answers* answers) {
  for (const absl::string_view request :
       {"trace", "strip", "marks", "groups?limit=100", "tasklanes?limit=6"}) {
    answers->Add(std::string(request));
  }
  const auto add = [&](absl::string_view path, absl::string_view more = "") {
    std::string request(path);
    char separator = '?';
    for (const absl::string_view parameters : {absl::string_view(window), more}) {
      if (parameters.empty()) continue;
      absl::StrAppend(&request, std::string(1, separator), parameters);
      separator = '&';
    }
    answers->Add(request);
  };
  add("summary");
  for (const absl::string_view path : {"goroutines", "tasks", "regions"}) {
    add(path);
    add(path, "each");
  }
  add("locks");
  for (const absl::string_view more : {"", "by=func", "by=stack", "worst=100"})
    add("latency", more);
  for (const absl::string_view more : {"", "pauses", "mmu"}) add("gc", more);
  for (const absl::string_view more : {"", "slices=200", "ready", "long-runs"}) add("procs", more);
  for (const absl::string_view more : {"", "by=func", "by=time", "by=age", "by=span"}) {
    add("heap", more);
  }
  for (const absl::string_view more : {"", "longer=1ms"}) add("leaks", more);
  for (const ProfileTypeInfo& info : ProfileTypes()) {
    add("flame", absl::StrCat("type=", info.name));
    add("flame", absl::StrCat("type=", info.name, "&inverted"));
  }
  if (!window.empty()) {
    answers->Add("tasks");
    answers->Add("regions");
  }
}

// Adds tiles of the timeline, from the coarsest on, until there is no more room.
void AddTiles(int64_t duration, int64_t groups, int64_t from, int64_t to, Answers* answers) {
  std::vector<std::string> lanes = {"p:*", "m:*"};
  for (int64_t first = 0; first < groups; first += kGroupsOfTile) {
    std::string ids;
    for (int64_t i = first; i < std::min(groups, first + kGroupsOfTile); ++i) {
      absl::StrAppend(&ids, ids.empty() ? "" : ",", "group:", i);
    }
    lanes.push_back(std::move(ids));
  }
  int64_t step = 1;
  while (step * kTileColumns < duration) step *= 2;
  bool is_whole = true;
  for (; step > 0; step /= 2) {
    const int64_t length = step * kTileColumns;
    // The first levels show the whole trace, and the others the window.
    const int64_t begin = is_whole ? 0 : from / length * length;
    const int64_t end = is_whole ? duration : to;
    for (int64_t tile = begin; tile < end; tile += length) {
      const std::string part = absl::StrCat("from=", tile, "&to=", tile + length, "&step=", step);
      bool has_room = answers->Add(absl::StrCat("strip?", part));
      has_room &= answers->Add(absl::StrCat("marks?", part));
      for (const std::string& ids : lanes) {
        has_room &= answers->Add(absl::StrCat("lanes?ids=", ids, "&", part));
      }
      if (!has_room) return;
    }
    is_whole = duration / length < 4;
  }
}

// Returns the page with its parts and its answers in one file.
std::string PageWith(const std::string& answers) {
  std::string page;
  std::string script;
  std::string style;
  for (const PageFile& file : PageFiles()) {
    std::string* const text = file.name == "page.js"    ? &script
                              : file.name == "page.css" ? &style
                                                        : &page;
    *text = std::string(file.bytes);
  }
  // A script ends where its end tag is, even in a string.
  script = absl::StrReplaceAll(script, {{"</script", "<\\/script"}, {"<!--", "<\\!--"}});
  return absl::StrReplaceAll(
      page,
      {{"<meta charset=\"utf-8\">",
        "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
        "content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'\">"},
       {"<link rel=\"stylesheet\" href=\"page.css\">", absl::StrCat("<style>", style, "</style>")},
       {"<script src=\"page.js\"></script>",
        absl::StrCat("<script type=\"application/json\" id=\"gotrace-answers\">", answers,
                     "</script>\n<script>", script, "</script>")}});
}

class ReportCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {
        OutputFlag(&target_),
        {.name = "max-size",
         .value = "N",
         .help = "The size of the answers in the file, in MB, at most. Default: 10.",
         .set = SetNumber(1, &max_megabytes_)}};
    for (const Flag& flag : filter_.Rows()) {
      if (flag.name == "from" || flag.name == "to") rows.push_back(flag);
    }
    AppendRows(input_.Rows(InputFlags::Kind::kOrderedEvents, InputFlags::Traces::kOne), &rows);
    return rows;
  }

  absl::Status Check() const override { return filter_.Check(); }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    return Conclude(file, {.status = Write(file, out)}, out);
  }

 private:
  absl::Status Write(const std::string& file, Output* out) const {
    const TraceTarget target(target_, out);
    if (absl::Status status = target.Check(file, /*is_binary=*/false); !status.ok()) return status;
    absl::StatusOr<OpenedTrace> input = OpenTrace(file, input_.limits, input_.trace);
    if (!input.ok()) return input.status();
    PrintTransportNotes(file, input->notes);
    absl::StatusOr<SeekableTrace> trace = MakeSeekable(file, &*input, input_.limits);
    if (!trace.ok()) return trace.status();
    const std::string shown = NameOf(file);
    const std::string name = shown.substr(shown.find_last_of('/') + 1);
    CommandAnswers commands(trace->path, name);
    TraceViewOptions options;
    options.reader.limits = input_.limits;
    options.name = name;
    options.repair = [&]() -> absl::StatusOr<RepairedTrace> {
      absl::StatusOr<SeekableTrace> repaired = RepairTrace(trace->path, input_.limits, nullptr);
      if (!repaired.ok()) return repaired.status();
      // Requests that commands answer wait until the trace is read.
      commands.SetFile(repaired->path);
      return RepairedTrace{std::move(repaired->source), repaired->note};
    };
    options.answer_more = [&](const auto&... request) { return commands.Answer(request...); };
    absl::StatusOr<std::unique_ptr<TraceView>> view =
        TraceView::Open(std::move(trace->source), std::move(options));
    if (!view.ok()) return view.status();
    // Of a broken trace, the report has what can be saved.
    const absl::Status read = (*view)->Read();
    const std::string facts = (*view)->Answer("trace").body;
    const int64_t duration = NumberIn(facts, "duration");
    int64_t from = 0;
    int64_t to = duration;
    for (const auto& [text, time] :
         {std::pair(&filter_.from, &from), std::pair(&filter_.to, &to)}) {
      if (text->empty()) continue;
      const ViewAnswer answer = commands.Answer("time", {{"text", *text}});
      if (answer.status != 200) return absl::InvalidArgumentError(answer.body);
      *time = std::clamp<int64_t>(NumberIn(answer.body, "at"), 0, duration);
    }
    const bool is_part = from > 0 || to < duration;
    Answers answers(**view, max_megabytes_ * 1'000'000);
    AddTables(is_part ? absl::StrCat("from=", from, "&to=", to) : "", &answers);
    AddTiles(duration, std::min(NumberIn(facts, "groups"), kMaxGroups), from, to, &answers);
    const std::string page = PageWith(answers.Finish());
    absl::Status status = target.Write([&](Output* output) {
      output->buffer().Append(absl::string_view(page));
      return output->Finish();
    });
    return status.ok() ? read : status;
  }

  std::string target_;
  uint64_t max_megabytes_ = 10;
  FilterFlags filter_;
  InputFlags input_;
};

}  // namespace

std::unique_ptr<Command> MakeReportCommand() { return std::make_unique<ReportCommand>(); }

}  // namespace gotrace::internal
