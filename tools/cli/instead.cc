#include "tools/cli/instead.h"

#include "absl/strings/str_cat.h"

namespace gotrace::internal {
namespace {

constexpr absl::string_view kStack = "--stack=REGEX selects stacks, where a command has them";
constexpr absl::string_view kSync =
    "--type=sync is waiting for channels, select and package sync; `locks` has who woke whom";

constexpr Instead kFlags[] = {
    {"", "focus", kStack},
    {"", "match", kStack},
    {"", "start", "--from=TIME is the begin of a window"},
    {"", "end", "--to=TIME is the end of a window"},
    {"", "output", "-o FILE writes to a file, where a command has it"},
    {"diff", "by",
     "rows are metrics by function, place or type; to compare stacks, use `profile "
     "--format=folded` of each"},
    {"goroutines", "by=state", "--at=TIME has a row for each state and place"},
    {"goroutines", "by=stack", "--at=TIME has a row for each state and place"},
    {"goroutines", "by=g", "--each has a row for each goroutine"},
    {"goroutines", "worst", "--each --sort=COLUMN --top=N has the N goroutines with the most"},
    {"latency", "by=goroutine", "--by=g has a row for each goroutine"},
    {"latency", "each", "--worst=N has a row for each of the N longest waits"},
    {"latency", "type", "--kind=KIND,... and --reason=REGEX select waits"},
    {"leaks", "min", "--longer=DURATION says how long a goroutine must have been blocked"},
    {"leaks", "each", "--format=json has all of them; `goroutines --at=TIME --each` has each"},
    {"locks", "by", "it has a row for each place; --format=json has all wakers and victims of it"},
    {"locks", "type", "--kind=KIND,... selects mutexes, channels and so on"},
    {"path", "id", "--task=ID and --g=ID select the path"},
    {"path", "each", "--worst=N names the slowest; --task=ID and --g=ID have one path"},
    {"profile", "by", "--by-g, --by-p, --by-task, --by-region and --by-label keep samples apart"},
    {"profile", "kind", "--type=TYPE says what to add up"},
    {"profile", "type=block", kSync},
    {"profile", "type=mutex", kSync},
    {"profile", "type=cpu", "--type=oncpu is the time on Ps, by the samples of the CPU profiler"},
    {"profile", "type=goroutine", "`goroutines --at=TIME` has what goroutines were doing"},
    {"profile", "type=heap", "`heap` has what is on the heap, and who allocates"},
    {"profile", "type=allocs", "`heap --by=func` has who allocates"},
    {"regions", "id", "`tasks --id=ID` has what happened in a task"},
    {"summary", "format", "it prints a page, or JSON with --json; other commands have tables"},
    {"summary", "sort", "it prints a page; `goroutines` and `latency` have tables"},
    {"summary", "top", "it prints the first rows of its tables; --json has all"},
    {"tasks", "func", "`path --func=REGEX` has paths of goroutines that started in a function"},
    {"tasks", "task", "--id=ID has what happened in a task"},
};

constexpr Instead kCommands[] = {
    {"", "block", "`locks` has where goroutines wait for each other, `profile --type=sync` stacks"},
    {"", "mutex", "`locks --kind=mutex,rwmutex` has where goroutines wait for a mutex"},
    {"", "stats", "`summary` has what a trace shows, and `info` what a file is"},
    {"", "stat", "`summary` has what a trace shows, and `info` what a file is"},
    {"", "top", "`summary` has what a trace shows, and `profile --type=oncpu` where it ran"},
    {"", "cpu", "`profile --type=oncpu` has where goroutines ran"},
    {"", "pprof", "`profile -o FILE` writes a profile for `go tool pprof`"},
    {"", "flamegraph", "`profile --format=folded` prints text for flame graphs"},
    {"", "sched", "`latency --kind=scheduling` has how long goroutines waited for a P"},
    {"", "web", "`convert --to=perfetto` writes a trace for the page of Perfetto"},
    {"", "view", "`convert --to=perfetto` writes a trace for the page of Perfetto"},
};

absl::string_view Find(absl::Span<const Instead> rows, absl::string_view command,
                       absl::string_view typed) {
  for (const Instead& row : rows) {
    if (row.typed == typed && (row.command.empty() || row.command == command)) return row.advice;
  }
  return "";
}

}  // namespace

absl::Span<const Instead> InsteadOfFlags() { return kFlags; }
absl::Span<const Instead> InsteadOfCommands() { return kCommands; }

absl::string_view AdviceOnFlag(absl::string_view command, absl::string_view name) {
  return Find(kFlags, command, name);
}

absl::string_view AdviceOnValue(absl::string_view command, absl::string_view name,
                                absl::string_view value) {
  return Find(kFlags, command, absl::StrCat(name, "=", value));
}

absl::string_view AdviceOnCommand(absl::string_view name) { return Find(kCommands, "", name); }

}  // namespace gotrace::internal
