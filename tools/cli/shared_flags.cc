#include "tools/cli/shared_flags.h"

#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gotrace/event.h"
#include "tools/cli/inner_command.h"
#include "util/cores.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

// The names of all kinds, in the order of EventKind from kSync on.
std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (int i = static_cast<int>(EventKind::kSync); i < kEventKindEnd; ++i) {
    names.emplace_back(EventKindName(static_cast<EventKind>(i)));
  }
  return names;
}

std::string ListKinds() { return absl::StrJoin(KindNames(), ", "); }

SetFlag SetKinds(std::set<EventKind>* kinds) {
  const auto set = [kinds](absl::string_view name) {
    for (int i = static_cast<int>(EventKind::kSync); i < kEventKindEnd; ++i) {
      const EventKind kind = static_cast<EventKind>(i);
      if (!absl::EqualsIgnoreCase(name, EventKindName(kind))) continue;
      kinds->insert(kind);
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("there is no kind ", Quoted(name), "; the kinds are ", ListKinds()));
  };
  return SetList({set, KindNames()});
}

// Sets a list of numbers, each of which is converted to `Id`.
template <class Id>
SetFlag SetIds(std::set<Id>* ids) {
  return SetList([ids](absl::string_view text) {
    Id id;
    if (!absl::SimpleAtoi(text, &id.value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected numbers, as in 1,42, found ", Quoted(text)));
    }
    ids->insert(id);
    return absl::OkStatus();
  });
}

// Parses a date and a time with its zone, RFC 3339, with or without fractions of a second.
bool ParseWallTime(absl::string_view text, std::optional<absl::Time>* wall) {
  absl::Time time;
  std::string error;
  // absl::ParseTime() also accepts "infinite-future" and the like.
  if (text.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(text.front())) ||
      !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return false;
  }
  *wall = time;
  return true;
}

// Sets one of three times: since the start, with a unit; Event::time(), after "@"; or wall-clock.
// `unbounded` is the infinite duration that has the same effect as omitting the flag.
SetFlag SetTime(absl::Duration unbounded, int64_t* since_start, int64_t* time,
                std::optional<absl::Time>* wall, std::string* given) {
  // A second value also replaces one of another kind.
  return [=](absl::string_view text) {
    *given = std::string(text);
    *since_start = *time = absl::ToInt64Nanoseconds(unbounded);
    wall->reset();
    if (absl::StartsWith(text, "@") && absl::SimpleAtoi(text.substr(1), time)) {
      if (*time >= 0) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat("events have no negative times, found ", Quoted(text)));
    }
    if (ParseWallTime(text, wall)) return absl::OkStatus();
    absl::Duration duration;
    if (!absl::ParseDuration(text, &duration)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "expected a time since the start with its unit, like 1.5s or 20ms; a time as it is "
          "printed in events, like @2078707244416; or a wall-clock time with its zone, like "
          "2026-11-21T04:25:08.5Z; found ",
          Quoted(text)));
    }
    if (duration < absl::ZeroDuration() && duration != unbounded) {
      return absl::InvalidArgumentError(absl::StrCat(text, " is before the start of the trace"));
    }
    *since_start = absl::ToInt64Nanoseconds(duration);
    return absl::OkStatus();
  };
}

// Parses a number that may end in K, M, G or T, or in KB or KiB and so on, for powers of 1024.
bool ParseAmount(absl::string_view text, uint64_t* amount) {
  const bool has_unit = absl::EndsWithIgnoreCase(text, "b");
  if (has_unit) text.remove_suffix(1);
  if (has_unit && absl::EndsWithIgnoreCase(text, "i")) text.remove_suffix(1);
  constexpr absl::string_view kUnits = "KMGT";
  const size_t unit = text.empty() ? kUnits.npos : kUnits.find(absl::ascii_toupper(text.back()));
  const int shift = unit == kUnits.npos ? 0 : 10 * static_cast<int>(unit + 1);
  if (shift > 0) text.remove_suffix(1);
  if (!absl::SimpleAtoi(text, amount) || *amount > ~uint64_t{0} >> shift) return false;
  *amount <<= shift;
  return true;
}

// Formats a number as ParseAmount() parses it: 2G.
std::string FormatAmount(uint64_t amount) {
  constexpr absl::string_view kUnits[] = {"", "K", "M", "G", "T"};
  size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && amount > 0 && amount % 1024 == 0; ++unit) amount /= 1024;
  return absl::StrCat(amount, kUnits[unit]);
}

bool Applies(const LimitSpec& limit, InputFlags::Kind kind) {
  return kind == InputFlags::Kind::kOrderedEvents ||
         limit.value == &ReaderLimits::decompressed_bytes;
}

SetFlag SetLimits(InputFlags::Kind kind, ReaderLimits* limits) {
  std::vector<std::string> choices;
  for (const LimitSpec& limit : AllLimits()) {
    if (Applies(limit, kind)) choices.push_back(absl::StrCat(limit.name, "="));
  }
  const auto set = [=](absl::string_view setting) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    const LimitSpec* found = nullptr;
    std::vector<absl::string_view> names;
    for (const LimitSpec& limit : AllLimits()) {
      if (!Applies(limit, kind)) continue;
      names.push_back(limit.name);
      if (limit.name == parts.first) found = &limit;
    }
    if (found == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("there is no limit ", Quoted(parts.first),
                                                     "; expected ", absl::StrJoin(names, ", ")));
    }
    if (!ParseAmount(parts.second, &(limits->*found->value))) {
      return absl::InvalidArgumentError(absl::StrCat("expected a number, like ", found->name,
                                                     "=500000 or ", found->name, "=4G, found ",
                                                     Quoted(setting)));
    }
    if (limits->generation_bytes > ReaderLimits::kMaxGenerationBytes) {
      return absl::InvalidArgumentError("the maximum of generation-bytes is 8G");
    }
    return absl::OkStatus();
  };
  return SetList({set, std::move(choices)});
}

// The limits with their defaults, each on a line of help.
std::string ListLimits(InputFlags::Kind kind) {
  std::string list;
  for (const LimitSpec& limit : AllLimits()) {
    if (!Applies(limit, kind)) continue;
    absl::StrAppend(&list, "\n  ", limit.name, "=", FormatAmount(ReaderLimits().*limit.value), ": ",
                    limit.what);
  }
  return list;
}

}  // namespace

SetFlag SetWallTime(std::optional<absl::Time>* wall) {
  return [wall](absl::string_view text) {
    if (ParseWallTime(text, wall)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "expected a time with its zone, like 2026-11-21T04:25:08.5Z; found ", Quoted(text)));
  };
}

SetFlag SetAmount(uint64_t* amount) {
  return [amount](absl::string_view text) {
    if (ParseAmount(text, amount) && *amount > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("expected a number above 0, like 500000 or 64M; found ", Quoted(text)));
  };
}

Flag JsonFlag(bool* json) {
  return {.name = "json",
          .value = "",
          .help = "Print one JSON object on a line for each file.",
          .set = SetSwitch(json)};
}

Flag OutputFlag(std::string* target) {
  return {.name = "o",
          .value = "FILE",
          .help = "The file to write; - is the standard output.",
          .set = SetText(target)};
}

Flag JobsFlag(absl::string_view help, uint64_t* jobs) {
  return {.name = "jobs",
          .value = "N",
          .help = absl::StrCat("Use at most N cores (default: all). ", help),
          .set = SetNumber(1, jobs)};
}

Flag StackIdFlag(size_t* without_pc) {
  return {.name = "stack-id",
          .value = "OF",
          .help =
              "Compare stacks by function, file, line and PC (pc, the default), or without the PC "
              "(lines), so that a stack has the same stack_id in all builds of a source.",
          .set = SetChoice({"pc", "lines"}, without_pc)};
}

Flag StartFlag(absl::string_view help, std::string* pattern) {
  return {.name = "func",
          .value = "REGEX",
          .help = absl::StrCat(help,
                               " in a function with this name, as in main.worker: a regular "
                               "expression for the whole name."),
          .set = SetPattern(pattern),
          .selects = true};
}

std::vector<Flag> LengthFlags::Rows(absl::string_view what) {
  return {{.name = "min",
           .value = "DURATION",
           .help = absl::StrCat(what, " of at least this length, as in 1.5s or 20ms."),
           .set = SetDuration(&min),
           .selects = true},
          {.name = "max",
           .value = "DURATION",
           .help = absl::StrCat(what, " of at most this length."),
           .set = SetDuration(&max),
           .selects = true}};
}

bool LengthFlags::Has(int64_t length) const {
  const absl::Duration duration = absl::Nanoseconds(length);
  return duration >= min.value_or(duration) && duration <= max.value_or(duration);
}

absl::Status LengthFlags::Check() const {
  if (!min.has_value() || !max.has_value() || *min <= *max) return absl::OkStatus();
  return absl::InvalidArgumentError("--min is longer than --max");
}

Flag SalvageFlag(bool* salvage) {
  return {.name = "salvage",
          .value = "",
          .help =
              "Continue after faults, and read everything that can still be read. The standard "
              "error says what was left out.",
          .set = SetSwitch(salvage)};
}

std::vector<Flag> InputFlags::Rows(Kind kind, Traces traces) {
  const SetFlag set_number = SetNumber(1, &trace);
  const auto set_number_or_all = [this, set_number](absl::string_view text) {
    all_traces = text == "all";
    if (!all_traces) return set_number(text);
    trace = 0;
    return absl::OkStatus();
  };
  const bool takes_all = traces != Traces::kOne;
  return {
      {.name = "trace",
       .value = takes_all ? "N|all" : "N",
       .help = absl::StrCat(
           "Read the Nth trace of an input that holds several, for example because one was "
           "appended to another. Offsets count from its header. ",
           takes_all ? "With all, read each trace as if it were a file of its own. " : "",
           traces == Traces::kAllByDefault
               ? "Default: all."
               : "Default: the first, with a warning if there are others."),
       .set = takes_all ? SetFlag(set_number_or_all, {"all"}) : set_number},
      {.name = "limits",
       .value = "NAME=N,...",
       .help =
           absl::StrCat("Refuse a trace that exceeds a limit, with its default:", ListLimits(kind)),
       .set = SetLimits(kind, &limits)},
  };
}

std::vector<Flag> ReadingFlags::Rows(InputFlags::Traces traces, absl::string_view jobs_help) {
  std::vector<Flag> rows = {SalvageFlag(&salvage), JobsFlag(jobs_help, &jobs)};
  AppendRows(input.Rows(InputFlags::Kind::kOrderedEvents, traces), &rows);
  return rows;
}

ReaderOptions ReadingFlags::Options(FaultLog* log) const {
  ReaderOptions options = salvage ? log->SalvageOptions() : ReaderOptions();
  options.limits = input.limits;
  options.jobs = CoresFor(jobs);
  options.decodes_ahead = true;
  options.keep_going = InnerCommand::KeepGoing();
  return options;
}

FileResult ReadingFlags::Complete(FileResult result, const std::string& file, const FaultLog& log,
                                  const Losses& losses) const {
  result.can_salvage = !salvage;
  result.salvage_report = SalvageReport(ShownNameOf(file), log, losses);
  return result;
}

std::vector<Flag> FilterFlags::Rows() {
  return {
      {.name = "kind",
       .value = "KIND,...",
       .help = absl::StrCat("Only events of these kinds: ", ListKinds(), "."),
       .set = SetKinds(&filter.kinds),
       .selects = true},
      {.name = "g",
       .value = "ID,...",
       .help = "Only events that ran on one of these goroutines, or changed its state.",
       .set = SetIds(&filter.goroutines),
       .selects = true},
      {.name = "p",
       .value = "ID,...",
       .help = "Only events that ran on one of these Ps, or changed its state.",
       .set = SetIds(&filter.procs),
       .selects = true},
      {.name = "m",
       .value = "ID,...",
       .help = "Only events of these threads.",
       .set = SetIds(&filter.threads),
       .selects = true},
      {.name = "from",
       .value = "TIME",
       .help = "Only events from this time on: a time since the first event, like 1.5s or 20ms; a "
               "timestamp as events print it, after an @, like @2078707244416; or a wall-clock "
               "time, like 2026-11-21T04:25:08.5Z.",
       .set = SetTime(-absl::InfiniteDuration(), &filter.since_start.from, &filter.times.from,
                      &wall_from, &from)},
      {.name = to_name,
       .value = "TIME",
       .help = "Only events up to this time, given as for --from.",
       .set = SetTime(absl::InfiniteDuration(), &filter.since_start.to, &filter.times.to, &wall_to,
                      &to)},
  };
}

Flag FilterFlags::StackRow(absl::string_view help) {
  return {.name = "stack",
          .value = "REGEX",
          .help = absl::StrCat(help,
                               " with a function, or a file and line, in the stack of which this "
                               "regular expression matches a part, as in main.(*Cache).Get or "
                               "cache.go."),
          .set =
              [this](absl::string_view text) {
                absl::StatusOr<StackFilter> parsed = StackFilter::Parse(text);
                if (parsed.ok()) filter.stacks = *std::move(parsed);
                return parsed.status();
              },
          .selects = true};
}

Flag FilterFlags::AtRow(absl::string_view help) {
  const SetFlag set =
      SetTime(absl::InfiniteDuration(), &filter.since_start.to, &filter.times.to, &wall_to, &to);
  return {.name = "at",
          .value = "TIME",
          .help = std::string(help),
          .set =
              [this, set](absl::string_view text) {
                to_name = "at";
                return set(text);
              },
          .excludes = "to"};
}

bool FilterFlags::has_at() const { return to_name == "at"; }

absl::Status FilterFlags::Check() const {
  const bool wall_is_empty = wall_from.has_value() && wall_to.has_value() && *wall_from > *wall_to;
  if (filter.since_start.from > filter.since_start.to || filter.times.from > filter.times.to ||
      wall_is_empty) {
    return absl::InvalidArgumentError(
        absl::StrCat("--from is later than --", to_name, ", so no event is between them"));
  }
  return absl::OkStatus();
}

SetFlag SetTaskIds(std::set<TaskId>* ids) { return SetIds(ids); }

void AppendRows(std::vector<Flag> more, std::vector<Flag>* rows) {
  rows->insert(rows->end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

}  // namespace gotrace::internal
