// The command `profile`: the stacks in which goroutines spent their time.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/profile.h"
#include "gotrace/profile_writer.h"
#include "tools/cli/registry.h"
#include "tools/commands/analysis_command.h"
#include "tools/commands/time_columns.h"

namespace gotrace::internal {
namespace {

constexpr CommandText kText = {
    .name = "profile",
    .summary = "print or write a profile: in which stacks the time was spent",
    .description =
        "Adds up the time of goroutines by stack and state. Prints the stacks with the most time, "
        "or with -o writes a profile for `go tool pprof`, in which samples are labelled with the "
        "state, the reason, and the function that the goroutine started in.\n\n"
        "Intervals cut by the trace's or window's ends count only for the part inside. Go's own "
        "four profiles (net, sync, syscall, sched) leave such intervals out, and others too; "
        "--compat=go prints them as `go tool trace -pprof` writes them.",
    .examples =
        "  gotrace-dump profile trace.out\n"
        "  gotrace-dump profile --type=offcpu -o offcpu.pprof trace.out && "
        "go tool pprof -top offcpu.pprof\n"
        "  gotrace-dump profile --type=sync --func=main.worker --from=1s --to=2s trace.out\n"
        "  gotrace-dump profile --type=offcpu --task=282 trace.out\n"
        "  gotrace-dump profile --type=wakeup --format=folded trace.out | flamegraph.pl > "
        "out.svg\n",
};

class ProfileCommand final : public AnalysisCommand {
 public:
  const CommandText& text() const override { return kText; }

 protected:
  std::vector<Flag> OwnFlags() override {
    Flag compat = CompatFlag(&is_compatible_);
    compat.needs = "type=net|sync|syscall|sched";
    std::vector<absl::string_view> names;
    std::string help = "The profile to make (default: wall):";
    for (const ProfileTypeInfo& info : ProfileTypes()) {
      names.push_back(info.name);
      absl::StrAppend(&help, "\n  ", info.name, ": ", info.help);
    }
    return {
        {.name = "type",
         .value = "TYPE",
         .help = std::move(help),
         .set = SetChoice(std::move(names), &type_)},
        {.name = "o",
         .value = "FILE",
         .help = "Write the profile in the format of pprof, gzipped, to FILE; - is the standard "
                 "output.",
         .set = SetText(&target_),
         .excludes = "format"},
        {.name = "func",
         .value = "FUNCTION",
         .help = "Only goroutines that started in this function, as in main.worker.",
         .set = SetText(&start_)},
        {.name = "by-g",
         .value = "",
         .help = "Keep the samples of each goroutine apart.",
         .set = SetSwitch(&by_goroutine_)},
        {.name = "by-p",
         .value = "",
         .help = "Keep the samples of each P apart, for goroutines that run or are in a syscall.",
         .set = SetSwitch(&by_proc_)},
        {.name = "task",
         .value = "ID",
         .help = "Only the time that goroutines spend in regions of this task.",
         .set =
             [this](absl::string_view text) {
               uint64_t number = 0;
               absl::Status status = SetNumber(0, &number)(text);
               if (status.ok()) regions_.task = TaskId{number};
               return status;
             }},
        {.name = "region",
         .value = "TYPE",
         .help = "Only the time that goroutines spend in regions of this type.",
         .set = SetText(&regions_.region)},
        {.name = "by-task",
         .value = "",
         .help = "Keep the samples of each task apart. The innermost region decides.",
         .set = SetSwitch(&regions_.by_task)},
        {.name = "by-region",
         .value = "",
         .help = "Keep the samples of each type of region apart. The innermost region decides.",
         .set = SetSwitch(&regions_.by_region)},
        {.name = "by-label",
         .value = "",
         .help = "Keep the samples under each label apart. The garbage collector labels its "
                 "workers, as in GC (dedicated).",
         .set = SetSwitch(&regions_.by_label)},
        std::move(compat)};
  }

  absl::Status CheckOwn() const override {
    if (regions_.has_parts() && (is_compatible_ || Info().type == ProfileType::kCreate)) {
      return absl::InvalidArgumentError(
          "--task, --region, --by-task, --by-region and --by-label do not work with --compat and "
          "--type=create");
    }
    const EventFilter& selected = filter().filter;
    const bool selects_cores = !selected.procs.empty() || !selected.threads.empty();
    const ProfileType type = Info().type;
    if (selects_cores && type != ProfileType::kWall && type != ProfileType::kOnCpu &&
        type != ProfileType::kSyscall) {
      return absl::InvalidArgumentError(
          "--p and --m work only with --type=wall, oncpu and syscall");
    }
    if (!is_compatible_) return absl::OkStatus();
    if (by_goroutine_ || by_proc_ || !selected.goroutines.empty() || selects_cores) {
      return absl::InvalidArgumentError(
          "--compat=go works only without --g, --p, --m, --by-g and --by-p");
    }
    return CheckCompat(is_compatible_, filter());
  }

  AnyAnalysis MakeAnalysis() const override {
    if (is_compatible_) {
      return AnalysisOf([this](Interner* interner, const EventFilter& /*filter*/) {
        return std::make_unique<GoCompatibleProfile>(interner, Info().type, start_);
      });
    }
    if (regions_.has_parts()) {
      return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
        RegionProfile::Options options = regions_;
        SetOptions(filter, &options);
        return std::make_unique<RegionProfile>(interner, std::move(options));
      });
    }
    return AnalysisOf([this](Interner* interner, const EventFilter& filter) {
      Profile::Options options;
      SetOptions(filter, &options);
      return std::make_unique<Profile>(interner, std::move(options));
    });
  }

  std::vector<Selection> Selections() const override {
    return {{"g", ""},
            {"p", "Only goroutines on these Ps, running or in a syscall."},
            {"m", "Only goroutines on these threads, running or in a syscall."}};
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    absl::Span<const ProfileSample> samples;
    if (analysis != nullptr) samples = SamplesOf(*analysis);
    const auto text = [&](std::string name, absl::string_view title, auto value) {
      return Column{.name = std::move(name), .title = title, .value = [=](size_t row) {
                      return Cell(absl::string_view(value(samples[row].key)));
                    }};
    };
    std::vector<Column> columns;
    if (HasTime()) {
      columns.push_back({.name = "time_ns",
                         .title = "TIME",
                         .unit = Unit::kNanoseconds,
                         .value = [=](size_t row) { return Cell(samples[row].value.time); }});
    }
    columns.push_back({.name = "count", .title = "COUNT", .value = [=](size_t row) {
                         return Cell(static_cast<int64_t>(samples[row].value.count));
                       }});
    columns.push_back(text("state", "STATE", [](const ProfileKey& key) {
      return key.state == GoState::kUndetermined ? "" : GoStateName(key.state);
    }));
    columns.push_back(text(
        "reason", "", [&interner](const ProfileKey& key) { return interner.String(key.reason); }));
    columns.push_back(text("", "REASON", [&interner](const ProfileKey& key) {
      const bool is_unknown = key.state == GoState::kWaiting && key.reason == StringId::kEmpty;
      return is_unknown ? kUnknownName : interner.String(key.reason);
    }));
    if (by_goroutine_) {
      columns.push_back({.name = "g", .title = "G", .value = [=](size_t row) {
                           const GoId id = samples[row].key.goroutine;
                           return id == GoId::kNone ? Cell() : Cell(id.value);
                         }});
    }
    if (by_proc_) {
      columns.push_back({.name = "p", .title = "P", .value = [=](size_t row) {
                           const ProcId id = samples[row].key.proc;
                           return id == ProcId::kNone ? Cell() : Cell(id.value);
                         }});
    }
    if (regions_.by_task) {
      columns.push_back({.name = "task", .title = "TASK", .value = [=](size_t row) {
                           const TaskId id = samples[row].key.task;
                           return id == TaskId::kNone ? Cell()
                                                      : Cell(static_cast<int64_t>(id.value));
                         }});
    }
    if (regions_.by_region) {
      columns.push_back(text("region", "REGION", [&interner](const ProfileKey& key) {
        return interner.String(key.region);
      }));
    }
    if (regions_.by_label) {
      columns.push_back(text("label", "LABEL", [&interner](const ProfileKey& key) {
        return interner.String(key.label);
      }));
    }
    columns.push_back(text(
        "start", "", [&interner](const ProfileKey& key) { return interner.String(key.start); }));
    columns.push_back(TextColumn(
        "stack", "STACK", samples,
        [&interner](const ProfileSample& sample) { return StackText(sample.key, interner); }));
    return Table(samples.size(), std::move(columns));
  }

  absl::string_view RowsName() const override { return "samples"; }
  absl::string_view DefaultSort() const override { return ""; }  // They are sorted.

  OwnFormat own_format() const override {
    return {"folded", " folded: a line for each stack, for flame graphs."};
  }
  void PrintOwnFormat(const AnalysisSink& sink, TextBuffer* out) const override {
    out->Append(FormatFolded(FormOf(Info().type), SamplesOf(sink.analysis()), sink.interner()));
  }

  std::string TargetPath() const override { return target_; }
  std::string TargetBytes(const AnalysisSink& sink) const override {
    return FormatPprof(FormOf(Info().type), SamplesOf(sink.analysis()), sink.interner());
  }

 private:
  const ProfileTypeInfo& Info() const { return ProfileTypes()[type_]; }
  bool HasTime() const { return !Info().time_name.empty(); }

  void SetOptions(const EventFilter& filter, Profile::Options* options) const {
    options->type = Info().type;
    options->by_goroutine = by_goroutine_;
    options->by_proc = by_proc_;
    options->start = start_;
    options->filter = filter;
  }

  absl::Span<const ProfileSample> SamplesOf(const Analysis& analysis) const {
    if (is_compatible_) return static_cast<const GoCompatibleProfile&>(analysis).samples();
    return regions_.has_parts() ? static_cast<const RegionProfile&>(analysis).samples()
                                : static_cast<const Profile&>(analysis).samples();
  }

  size_t type_ = 0;
  std::string target_;
  std::string start_;
  bool by_goroutine_ = false;
  bool by_proc_ = false;
  RegionProfile::Options regions_;  // Only what is about regions and labels.
  bool is_compatible_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeProfileCommand() { return std::make_unique<ProfileCommand>(); }

}  // namespace gotrace::internal
