// The command `report`: writes a page that shows a trace, with its answers in it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gotrace/trace_view.h"
#include "nlohmann/json.hpp"
#include "tools/cli/command.h"
#include "tools/cli/output.h"
#include "tools/cli/registry.h"
#include "tools/cli/report.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/trace_target.h"
#include "tools/serve/report_answers.h"
#include "tools/serve/viewed_trace.h"
#include "web/page_files.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "report",
    .summary = "write a page that shows a trace, to send to others",
    .description =
        "Writes one HTML file that shows the trace as `serve` does, in any browser and without any "
        "server: all tables and profiles, the longest waits and tasks with their stacks, events "
        "and "
        "critical paths, and the timeline as deep as the size allows. Where more would be needed, "
        "the page says so and shows what it has. With --from or --to, tables and profiles are "
        "those "
        "of this window. The same trace always gives the same bytes.",
    .examples =
        "  gotrace-dump report -o trace.html trace.out\n"
        "  gotrace-dump report --from=1.5s --to=1.6s --max-size=2M -o slow.html trace.out\n",
};

// Returns a number of an object, or 0.
int64_t NumberIn(const std::string& object, const char* key) {
  const auto json = nlohmann::json::parse(object, nullptr, /*allow_exceptions=*/false);
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<int64_t>() : 0;
}

// Returns the page with its parts and its answers in one file. `state` is the fragment of the URL
// to begin with.
std::string PageWith(const std::string& answers, absl::string_view state) {
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
        absl::StrCat("<script type=\"application/json\" id=\"gotrace-answers\" data-state=\"",
                     absl::StrReplaceAll(state, {{"&", "&amp;"}}), "\">", answers,
                     "</script>\n<script>", script, "</script>")}});
}

// Enough for a generation of three million events, since most of a report's answers are about the
// same few generations.
constexpr size_t kCacheBytes = size_t{512} << 20;

class ReportCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {
        OutputFlag(&target_),
        {.name = "max-size",
         .value = "N",
         .help = "The size of the file in MB, at most: 20 or 20M. Default: 10.",
         .set = [set = SetNumber(1, &max_megabytes_)](absl::string_view value) {
           absl::ConsumeSuffix(&value, "M");
           return set(value);
         }}};
    for (const Flag& flag : filter_.Rows()) {
      if (flag.name == "from" || flag.name == "to") rows.push_back(flag);
    }
    AppendRows(input_.Rows(InputFlags::Kind::kOrderedEvents, InputFlags::Traces::kOne), &rows);
    return rows;
  }

  absl::Status Check() const override {
    constexpr uint64_t kMaxMegabytes = 1'000'000;
    if (max_megabytes_ > kMaxMegabytes) {
      return absl::InvalidArgumentError(absl::StrCat("--max-size must be at most ", kMaxMegabytes));
    }
    return filter_.Check();
  }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    return Conclude(file, {.status = Write(file, out)}, out);
  }

 private:
  absl::Status Write(const std::string& file, Output* out) const {
    const TraceTarget target(target_, out);
    if (absl::Status status = target.Check(file, /*is_binary=*/false); !status.ok()) return status;
    const absl::StatusOr<std::unique_ptr<ViewedTrace>> trace =
        ViewedTrace::Open(file, input_, nullptr, kCacheBytes);
    if (!trace.ok()) return trace.status();
    TraceView& view = (*trace)->view();
    // Of a broken trace, the report has what can be saved.
    const absl::Status read = view.Read();
    const int64_t duration = NumberIn(view.Answer("trace").body, "duration");
    ReportOptions report = {.to = duration};
    for (const auto& [text, time] :
         {std::pair(&filter_.from, &report.from), std::pair(&filter_.to, &report.to)}) {
      if (text->empty()) continue;
      const ViewAnswer answer = (*trace)->commands().Answer("time", {{"text", *text}});
      if (answer.status != 200) return absl::InvalidArgumentError(answer.body);
      *time = std::clamp<int64_t>(NumberIn(answer.body, "at"), 0, duration);
    }
    if (report.from >= report.to && duration > 0) {
      return absl::InvalidArgumentError("nothing of the trace is between --from and --to");
    }
    report.is_whole = report.from <= 0 && report.to >= duration;
    const std::string state = report.is_whole
                                  ? "#summary"
                                  : absl::StrCat("#summary?from=", report.from, "&to=", report.to);
    const uint64_t max_size = max_megabytes_ * 1'000'000;
    report.max_size = max_size - std::min<uint64_t>(max_size, PageWith("", state).size());
    const std::string answers =
        ReportAnswers([&](absl::string_view request) { return view.Answer(request); }, report);
    const std::string page = PageWith(answers, state);
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
