// The command `profile`: the stacks in which goroutines spent their time.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "export/pprof/profile_frames.h"
#include "gotrace/profile.h"
#include "parser/event/trace_clock.h"
#include "tools/cli/registry.h"
#include "tools/commands/profile_table_command.h"
#include "tools/commands/stack_columns.h"
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

// Returns the samples without the lines of their stacks, those with the most time first.
std::vector<ProfileSample> MergedLines(absl::Span<const ProfileSample> samples,
                                       const Interner& interner) {
  StacksByFunctions stacks(&interner);
  std::vector<ProfileSample> merged;
  absl::flat_hash_map<ProfileKey, size_t> places;
  for (ProfileSample sample : samples) {
    sample.key.stack = stacks.Of(sample.key.stack);
    sample.key.waker = stacks.Of(sample.key.waker);
    const auto [it, is_new] = places.try_emplace(sample.key, merged.size());
    if (is_new) {
      merged.push_back(sample);
      continue;
    }
    ProfileValue& value = merged[it->second].value;
    value.count += sample.value.count;
    value.time = TraceClock::Add(value.time, sample.value.time);
  }
  absl::c_stable_sort(merged, [](const ProfileSample& a, const ProfileSample& b) {
    return std::pair(a.value.time, a.value.count) > std::pair(b.value.time, b.value.count);
  });
  return merged;
}

class ProfileCommand final : public ProfileTableCommand {
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
        TargetFlag("the profile"),
        StartFlag("Only goroutines that started", &start_),
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
         .help = "Only the time that goroutines spend in regions of this task; without regions, "
                 "that of "
                 "the goroutine that began it, until it ends.",
         .set = SetId(&regions_.task),
         .selects = true},
        {.name = "region",
         .value = "TYPE",
         .help = "Only the time that goroutines spend in regions of this type.",
         .set = SetText(&regions_.region),
         .selects = true},
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
            {"stack", "Only samples"},
            {"p", "Only goroutines on these Ps, running or in a syscall."},
            {"m", "Only goroutines on these threads, running or in a syscall."}};
  }

  Table MakeTable(const Analysis* analysis, const Interner& interner) const override {
    using Row = const ProfileSample&;
    constexpr Unit kNone = Unit::kNone;
    std::vector<ProfileSample> samples;
    if (analysis != nullptr) {
      const absl::Span<const ProfileSample> all = SamplesOf(*analysis);
      samples = merges_lines() ? MergedLines(all, interner)
                               : std::vector<ProfileSample>(all.begin(), all.end());
    }
    const auto key_of = [](Row s) { return s.key; };
    const auto labels = LabelsOf(absl::MakeConstSpan(samples), key_of, interner);
    const auto text = [&interner](StringId ProfileKey::*id) {
      return [&interner, id](Row s) { return interner.String(s.key.*id); };
    };
    return ColumnList<ProfileSample>(std::move(samples))
        .AddIf(HasTime(), "time_ns", "TIME", Unit::kNanoseconds, [](Row s) { return s.value.time; })
        .Add("count", "COUNT", kNone, [](Row s) { return s.value.count; })
        .Add("state", "STATE", kNone,
             [](Row s) {
               return s.key.state == GoState::kUndetermined ? "" : GoStateName(s.key.state);
             })
        .AddReason("REASON", text(&ProfileKey::reason),
                   [](Row s) { return s.key.state == GoState::kWaiting; })
        .AddIf(by_goroutine_, "g", "G", kNone, [](Row s) { return s.key.goroutine; })
        .AddIf(by_proc_, "p", "P", kNone, [](Row s) { return s.key.proc; })
        .AddIf(regions_.by_task, "task", "TASK", kNone, [](Row s) { return s.key.task; })
        .AddIf(regions_.by_region, "region", "REGION", kNone, text(&ProfileKey::region))
        .AddIf(regions_.by_label, "label", "LABEL", kNone, text(&ProfileKey::label))
        .Add("start", "", kNone, text(&ProfileKey::start))
        .Add(StackColumns("stack", "STACK", labels, interner, key_of))
        .Add(PlaceColumns("", interner, [](Row s) { return s.key.stack; }))
        .ToTable();
  }

  absl::string_view RowsName() const override { return "samples"; }

  absl::Span<const ProfileSample> SamplesOf(const Analysis& analysis) const override {
    if (is_compatible_) return static_cast<const GoCompatibleProfile&>(analysis).samples();
    return regions_.has_parts() ? static_cast<const RegionProfile&>(analysis).samples()
                                : static_cast<const Profile&>(analysis).samples();
  }
  ProfileForm OwnForm() const override { return FormOf(Info().type); }

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

  size_t type_ = 0;
  std::string start_;
  bool by_goroutine_ = false;
  bool by_proc_ = false;
  RegionProfile::Options regions_;  // Only what is about regions and labels.
  bool is_compatible_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeProfileCommand() { return std::make_unique<ProfileCommand>(); }

}  // namespace gotrace::internal
