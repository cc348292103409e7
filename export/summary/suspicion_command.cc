#include "export/summary/suspicion_command.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gotrace::internal {
namespace {

using Suspicion = TraceSummary::Suspicion;

// Returns " --name=value" for a shell, or nothing for a value that does not fit on a line.
std::string FlagText(absl::string_view name, absl::string_view value) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("._/-", c);
  };
  if (value.empty() || !absl::c_all_of(value, absl::ascii_isprint)) return "";
  if (absl::c_all_of(value, is_plain)) return absl::StrCat(" --", name, "=", value);
  return absl::StrCat(" --", name, "='", absl::StrReplaceAll(value, {{"'", "'\\''"}}), "'");
}

// Returns the flag that selects stacks with a function: main.*Cache.*Get for main.(*Cache).Get,
// which is easier to read than what a regular expression would need to be exact.
std::string StackFlag(absl::string_view function) {
  std::string pattern;
  for (const absl::string_view part :
       absl::StrSplit(function, absl::ByAnyChar("()*[]{}"), absl::SkipEmpty())) {
    if (part == "." || part == "...") continue;
    absl::string_view name = part;
    if (!pattern.empty()) {
      absl::ConsumePrefix(&name, ".");
      absl::StrAppend(&pattern, ".*");
    }
    absl::StrAppend(&pattern, absl::StripSuffix(name, "."));
  }
  return FlagText("stack", pattern);
}

// What the slowest ones waited for. Requests are not tasks, which have paths, but parts of the
// lives of their connections' goroutines.
std::string SlowTasksCommand(const Suspicion& slow, const std::string& of_kind) {
  if (slow.reason == "request") {
    return absl::StrCat("latency --by=stack --sort=total",
                        slow.places.empty() ? "" : StackFlag(slow.places[0].function));
  }
  const std::string type = FlagText(slow.reason == "task" ? "type" : "region", slow.function);
  return type.empty() ? of_kind : absl::StrCat("path", type, " --worst=10");
}

}  // namespace

std::string CommandFor(const Suspicion& suspicion) {
  const std::string command(SuspicionCommand(suspicion.kind));
  switch (suspicion.kind) {
    case SuspicionKind::kLock:
    case SuspicionKind::kSyscalls:
    case SuspicionKind::kTimeouts:
    case SuspicionKind::kPool:
    case SuspicionKind::kAnswers:
    case SuspicionKind::kLeak:
    case SuspicionKind::kIo:
    case SuspicionKind::kPolling:
    case SuspicionKind::kYields:
      return absl::StrCat(command, StackFlag(suspicion.function));
    case SuspicionKind::kSlowTasks:
      return SlowTasksCommand(suspicion, command);
    case SuspicionKind::kFewProcs:
    case SuspicionKind::kIdleProcs:
    case SuspicionKind::kHog:
    case SuspicionKind::kAssists:
    case SuspicionKind::kGc:
    case SuspicionKind::kStopped:
    case SuspicionKind::kImbalance:
    case SuspicionKind::kStraggler:
    case SuspicionKind::kStage:
      return command;
  }
  return command;
}

}  // namespace gotrace::internal
