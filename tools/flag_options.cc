#include "tools/flag_options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "export/event_filter.h"
#include "gotrace/event.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

absl::StatusOr<EventKind> ParseKind(absl::string_view name) {
  std::string known;
  for (int i = static_cast<int>(EventKind::kSync); i < kEventKindEnd; ++i) {
    const EventKind kind = static_cast<EventKind>(i);
    if (absl::EqualsIgnoreCase(name, EventKindName(kind))) return kind;
    absl::StrAppend(&known, known.empty() ? "" : ", ", EventKindName(kind));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--kind: there is no kind ", Quoted(name), "; there are ", known));
}

absl::Status ParseIds(absl::string_view flag, absl::string_view list,
                      absl::flat_hash_set<int64_t>* ids) {
  if (list.empty()) return absl::OkStatus();
  for (const absl::string_view id : absl::StrSplit(list, ',')) {
    int64_t value = 0;
    if (!absl::SimpleAtoi(id, &value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", flag, ": ", Quoted(id), " is no id; give numbers, like --", flag, "=1,42"));
    }
    ids->insert(value);
  }
  return absl::OkStatus();
}

// A date and a time with its zone: RFC 3339, with fractions of a second or without.
bool ParseWallTime(absl::string_view text, std::optional<absl::Time>* wall) {
  absl::Time time;
  std::string error;
  // absl::ParseTime() also takes "infinite-future" and the like, which durations do as well.
  if (text.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(text.front())) ||
      !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return false;
  }
  *wall = time;
  return true;
}

// Takes a time since the start, which has a unit; after "@" one that events have; or a wall-clock
// time.
absl::Status ParseTime(absl::string_view flag, absl::string_view text, int64_t* since_start,
                       int64_t* time, std::optional<absl::Time>* wall) {
  if (text.empty()) return absl::OkStatus();
  if (text.front() == '@' && absl::SimpleAtoi(text.substr(1), time)) {
    if (*time >= 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, "=", text, ": no event has a negative time"));
  }
  if (ParseWallTime(text, wall)) return absl::OkStatus();
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, ": ", Quoted(text),
                     " is not a time; give one since the start with its unit, like 1.5s or 20ms, "
                     "one that events have, like @2078707244416, or a wall-clock time with its "
                     "zone, like 2026-11-21T04:25:08.5Z"));
  }
  // From -inf on is without a limit.
  const bool is_open = flag == "from" && duration == -absl::InfiniteDuration();
  if (duration < absl::ZeroDuration() && !is_open) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, " lies before the start of the trace"));
  }
  *since_start = absl::ToInt64Nanoseconds(duration);
  return absl::OkStatus();
}

absl::Status ParseKinds(absl::string_view list, absl::flat_hash_set<EventKind>* kinds) {
  if (list.empty()) return absl::OkStatus();
  for (const absl::string_view name : absl::StrSplit(list, ',')) {
    const absl::StatusOr<EventKind> kind = ParseKind(absl::StripAsciiWhitespace(name));
    if (!kind.ok()) return kind.status();
    kinds->insert(*kind);
  }
  return absl::OkStatus();
}

// Refuses conditions on time that no event can meet.
absl::Status CheckTimes(const EventsOptions& options) {
  const EventFilter& filter = options.filter;
  const bool wall_is_empty = options.wall_from.has_value() && options.wall_to.has_value() &&
                             *options.wall_from > *options.wall_to;
  if (filter.since_start.from > filter.since_start.to || filter.times.from > filter.times.to ||
      wall_is_empty) {
    return absl::InvalidArgumentError("--from is later than --to, so that no event is between");
  }
  return absl::OkStatus();
}

// A number that may end in K, M, G or T, or in KB or KiB and so on: so many times 1024, its square,
// and so on.
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

}  // namespace

absl::StatusOr<EventsOptions> EventsOptionsFromFlags() {
  EventsOptions options;
  const std::string format = absl::AsciiStrToLower(absl::GetFlag(FLAGS_format));
  options.json = format == "json";
  if (!options.json && format != "go") {
    return absl::InvalidArgumentError(
        absl::StrCat("--format: there is no format ", Quoted(format), "; there are go and json"));
  }
  options.stacks = absl::GetFlag(FLAGS_stacks);
  if (options.stacks && !options.json) {
    return absl::InvalidArgumentError(
        "--stacks goes with --format=json; Go's text always has the stacks");
  }
  options.wall = absl::GetFlag(FLAGS_wall);
  if (options.wall && !options.json) {
    return absl::InvalidArgumentError("--wall goes with --format=json");
  }
  options.limit = absl::GetFlag(FLAGS_limit);
  if (options.limit < 0) {
    return absl::InvalidArgumentError("--limit is negative; leave it out to print all events");
  }
  options.to_end = absl::GetFlag(FLAGS_salvage);
  options.trace = TraceFromFlags();
  EventFilter& filter = options.filter;
  absl::Status status = ParseKinds(absl::GetFlag(FLAGS_kind), &filter.kinds);
  status.Update(ParseIds("g", absl::GetFlag(FLAGS_g), &filter.goroutines));
  status.Update(ParseIds("p", absl::GetFlag(FLAGS_p), &filter.procs));
  status.Update(ParseIds("m", absl::GetFlag(FLAGS_m), &filter.threads));
  status.Update(ParseTime("from", absl::GetFlag(FLAGS_from), &filter.since_start.from,
                          &filter.times.from, &options.wall_from));
  status.Update(ParseTime("to", absl::GetFlag(FLAGS_to), &filter.since_start.to, &filter.times.to,
                          &options.wall_to));
  status.Update(CheckTimes(options));
  if (!status.ok()) return status;
  return options;
}

TraceNumber TraceFromFlags() {
  const int64_t number = absl::GetFlag(FLAGS_trace);
  return number == kAnyTrace ? 0 : static_cast<TraceNumber>(number);
}

absl::StatusOr<ReaderLimits> LimitsFromFlags(Command command) {
  ReaderLimits limits;
  const std::string list = absl::GetFlag(FLAGS_limits);
  if (list.empty()) return limits;
  const bool is_raw = command == Command::kWire || command == Command::kFootprint;
  for (const absl::string_view setting : absl::StrSplit(list, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    uint64_t* const limit = FindLimit(parts.first, &limits);
    if (limit == nullptr || (is_raw && limit != &limits.decompressed_bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--limits: there is no limit ", Quoted(parts.first),
                       is_raw ? " here; there is decompressed-bytes"
                              : absl::StrCat("; there are ", LimitNames())));
    }
    if (!ParseAmount(parts.second, limit)) {
      return absl::InvalidArgumentError(absl::StrCat("--limits: ", Quoted(setting),
                                                     " needs a number, like ", parts.first,
                                                     "=500000 or ", parts.first, "=4G"));
    }
    if (limits.generation_bytes > ReaderLimits::kMostGenerationBytes) {
      return absl::InvalidArgumentError("--limits: generation-bytes can be 8G at most");
    }
  }
  return limits;
}

absl::StatusOr<ValidateCommand> ValidateCommandFromFlags() {
  ValidateCommand command;
  const std::string strictness = absl::GetFlag(FLAGS_strictness);
  if (strictness == "go") {
    command.options.strictness = Strictness::kGo;
  } else if (strictness != "all") {
    return absl::InvalidArgumentError(absl::StrCat("--strictness: there is no strictness ",
                                                   Quoted(strictness), "; there are go and all"));
  }
  if (absl::GetFlag(FLAGS_max_per_check) < 0) {
    return absl::InvalidArgumentError("--max-per-check is negative; 0 prints only how many");
  }
  command.options.max_per_check = static_cast<uint64_t>(absl::GetFlag(FLAGS_max_per_check));
  command.jobs = absl::GetFlag(FLAGS_jobs);
  command.trace = TraceFromFlags();
  command.json = absl::GetFlag(FLAGS_json);
  return command;
}

}  // namespace gotrace::internal
