// The command `repair`: makes a trace that Go's tools accept from a broken one.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gotrace/byte_stream.h"
#include "gotrace/repair.h"
#include "tools/cli/file_list.h"
#include "tools/cli/progress.h"
#include "tools/cli/report.h"
#include "tools/cli/self_trace.h"
#include "tools/cli/shared_flags.h"
#include "tools/input/repair_input.h"
#include "tools/input/trace_target.h"

namespace gotrace::internal {
namespace {

// The maximum number of lines of a report, without the last.
constexpr size_t kMaxLines = 20;

// Returns a text on the number of lost events, and their share of all events.
std::string LostEvents(uint64_t lost, uint64_t kept) {
  if (lost == 0) return "";
  const double all = static_cast<double>(lost) + static_cast<double>(kept);
  return absl::StrFormat("; %d %s lost (%.2f %%)", lost, lost == 1 ? "event is" : "events are",
                         100 * static_cast<double>(lost) / all);
}

// Returns a text on how many generations are kept, and how.
std::string GenerationCounts(uint64_t kept, uint64_t rewritten, uint64_t all, bool is_written) {
  if (all == 1 && kept == 1) {
    return rewritten == 1
               ? (is_written ? "1 generation, rewritten" : "1 generation, which would be rewritten")
               : (is_written ? "1 generation, kept" : "1 generation, which can be kept");
  }
  return absl::StrCat(kept, " of ", all, all == 1 ? " generation" : " generations",
                      is_written ? " kept" : " can be kept",
                      rewritten == 0 ? "" : absl::StrCat(", ", rewritten, " of them rewritten"));
}

// Describes the result for a sound trace.
std::string SoundLine(const ChosenTrace& chosen, bool is_compressed, absl::string_view target) {
  std::string line = chosen.count == 1
                         ? "sound"
                         : absl::StrCat("trace ", chosen.number, " of ", chosen.count, " is sound");
  if (!chosen.leaves_out_others()) {
    line += ", there is nothing to repair";
  } else if (target.empty()) {
    line += chosen.count == 2 ? "; repair would leave out the other"
                              : "; repair would leave out the others";
  }
  if (!target.empty()) absl::StrAppend(&line, "; wrote ", target);
  if (!target.empty() && is_compressed) line += ", not compressed";
  return line;
}

// Describes the repair and its result. `target` is the output: a file, or "to the standard output";
// "" if nothing was written. `is_compressed` says whether the input is compressed; the output never
// is.
std::vector<std::string> RepairReport(const RepairPlan& plan, const ChosenTrace& chosen,
                                      bool is_compressed, absl::string_view target) {
  std::vector<std::string> lines = DescribeRepair(plan);
  if (lines.size() > kMaxLines) {
    const size_t more = lines.size() - kMaxLines;
    lines.resize(kMaxLines);
    lines.push_back(absl::StrCat("and ", more, more == 1 ? " more line" : " more lines"));
  }
  const std::string written = target.empty() ? "" : absl::StrCat("; wrote ", target);
  if (plan.trace_is_sound && !plan.InputIsSound()) {
    lines.push_back(absl::StrCat("the trace is sound once that is ",
                                 plan.notes.empty() ? "done" : "undone", written));
    return lines;
  }
  if (plan.InputIsSound()) {
    lines.push_back(SoundLine(chosen, is_compressed, target));
    return lines;
  }
  if (plan.pieces.empty()) {
    lines.emplace_back(
        "no generation is left that Go's reader would accept; `gotrace-dump events --salvage` "
        "prints what can be read");
    return lines;
  }
  uint64_t kept = 0, rewritten = 0, lost = 0, added = 0;
  for (const RepairedGeneration& generation : plan.generations) {
    if (generation.events == 0) continue;
    ++kept;
    rewritten += generation.fate == GenerationFate::kRewritten;
    lost += generation.events_left_out;
    added += generation.events_added + generation.statuses_added;
  }
  lines.push_back(absl::StrCat(
      GenerationCounts(kept, rewritten, plan.generations.size(), !target.empty()), ", with ",
      plan.events_with_syncs, plan.events_with_syncs == 1 ? " event" : " events",
      added == 0 ? "" : absl::StrCat(", of which ", added, added == 1 ? " is added" : " are added"),
      LostEvents(lost, plan.events_with_syncs - added), "; ", plan.input_bytes,
      plan.input_bytes == 1 ? " byte becomes " : " bytes become ", plan.output_bytes, written));
  return lines;
}

constexpr CommandText kText = {
    .name = "repair",
    .summary = "make a trace that Go's tools accept from a broken one",
    .description =
        "Writes a trace that Go's own reader accepts, and reports on the standard error what was "
        "changed. The result is read again before anything is written.\n\n"
        "Sound generations stay as they are. A damaged one is rewritten from the events that can "
        "be saved, and left out only if there are none. Go's reader needs generations that follow "
        "each other: where they do not, the run with the most events is kept. Events that misuse "
        "regions, tasks or ranges are left out; lost names and stacks are added as ?string#12 and "
        "?stack#7; a last generation that was cut off is closed. Anything that does not belong in "
        "the file is removed. If the file holds several traces, it is broken, and one is kept: the "
        "first, or the one that --trace=N selects.\n\n"
        "Times of traces that Go 1.22.0 wrote on Windows are 256 times too short; the frequency of "
        "their clock is divided.\n\n"
        "Damage in transport is undone: CR LF line ends, UTF-16 and UTF-8, base64, hex dumps, "
        "JSON, HTTP and multipart messages, text before the trace, in any combination.",
    .examples =
        "  gotrace-dump repair -o repaired.out broken.out && go tool trace repaired.out\n"
        "  gotrace-dump repair --check broken.out\n",
    .exit_codes =
        "  0  the file is sound, or a repaired trace was written\n"
        "  1  nothing of the trace can be saved; or with --check, the file is broken\n"
        "  2  wrong usage, or a file cannot be read or written",
};

class RepairCommand final : public Command {
 public:
  const CommandText& text() const override { return kText; }

  std::vector<Flag> Flags() override {
    std::vector<Flag> rows = {OutputFlag(&target_),
                              {.name = "check",
                               .value = "",
                               .help = "Write nothing, only report what would be done.",
                               .set = SetSwitch(&check_),
                               .excludes = "o"}};
    AppendRows(input_.Rows(InputFlags::Kind::kOrderedEvents, InputFlags::Traces::kOne), &rows);
    return rows;
  }

  absl::string_view mode() const override { return check_ ? "check" : "write"; }

  int Run(const std::vector<std::string>& files, Output* out) override {
    const std::string& file = files[0];
    const Trace2Region region(SelfTrace(), "file", kText.name, file);
    const ReaderLimits& limits = input_.limits;
    const TraceTarget target(target_, out);
    if (absl::Status status = target.Check(file); !check_ && !status.ok()) {
      return ReportError(file, {status});
    }
    Progress progress(/*prints_along=*/false);
    const absl::StatusOr<RepeatableInput> input = RepeatableInput::Create(file, limits, &progress);
    if (!input.ok()) return ReportError(file, {input.status()});
    const absl::StatusOr<ChosenTrace> chosen = ChooseTrace(file, *input, limits, input_.trace);
    if (!chosen.ok()) return ReportError(file, {chosen.status()});
    Trace2Region planning(SelfTrace(), "trace", "plan");
    const absl::StatusOr<RepairPlan> plan =
        PlanRepair(chosen->open, {.limits = limits, .keep_going = {}});
    planning.Leave();
    if (!plan.ok()) return ReportError(file, {plan.status()});
    TraceInput(plan->input_bytes, plan->events_with_syncs);
    const bool writes = !check_ && !plan->pieces.empty();
    if (writes) {
      const Trace2Region writing(SelfTrace(), "trace", "write");
      const absl::Status status = target.Write([&](Output* to) -> absl::Status {
        absl::StatusOr<std::unique_ptr<ByteStream>> repaired = OpenRepaired(*plan, chosen->open);
        if (!repaired.ok()) return repaired.status();
        return CopyStream(repaired->get(), to, &progress);
      });
      if (out->closed()) return kUsageOrIo;
      if (!status.ok()) return ReportError(file, {status});
    }
    progress.Wipe();
    for (const std::string& line : chosen->report) Note(file, line);
    for (const std::string& line :
         RepairReport(*plan, *chosen, input->IsCompressed(), writes ? target.Shown() : "")) {
      Note(file, line);
    }
    const bool is_sound = plan->InputIsSound() && !chosen->leaves_out_others();
    return is_sound || writes ? kSuccess : kBroken;
  }

 private:
  bool check_ = false;
  std::string target_;
  InputFlags input_;
};

}  // namespace

std::unique_ptr<Command> MakeRepairCommand() { return std::make_unique<RepairCommand>(); }

}  // namespace gotrace::internal
