#include "gotrace/fault.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gotrace/internal/event_spec.h"
#include "util/quote.h"

namespace gotrace {
namespace {

// The beginning of the lines of a status after its first, and of the line with the time, if known.
constexpr absl::string_view kNextLine = "\n    ";
constexpr absl::string_view kTime = "at time ";

// The beginning of the message of CutOff().
constexpr absl::string_view kTraceIs = "the trace is ";

// The end of the message of HeaderAt(), without the number.
constexpr absl::string_view kHeaderAt = "; a trace header is at byte ";

struct FaultRow {
  absl::string_view name;
  FaultStage stage;
  absl::StatusCode code;
  FaultEffect effect;
  absl::string_view meaning;
};
constexpr FaultRow kRows[] = {
#define GOTRACE_FAULT(id, name, stage, code, effect, meaning) \
  {name, FaultStage::k##stage, absl::StatusCode::k##code, FaultEffect::k##effect, meaning},
#include "gotrace/internal/faults.def"
};

const FaultRow& RowOf(FaultId id) { return kRows[static_cast<int>(id)]; }

// Consumes `prefix` and the number after it from `*text`. Leaves `*text` unchanged and returns
// nullopt if it begins with something else.
template <class Number>
std::optional<Number> ConsumeNumber(absl::string_view prefix, absl::string_view* text) {
  absl::string_view rest = *text;
  if (!absl::ConsumePrefix(&rest, prefix)) return std::nullopt;
  size_t size = absl::StartsWith(rest, "-") ? 1 : 0;
  while (size < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[size]))) ++size;
  Number number = 0;
  if (!absl::SimpleAtoi(rest.substr(0, size), &number)) return std::nullopt;
  *text = rest.substr(size);
  return number;
}

// Consumes the event type, which is the last part of a place.
std::optional<EventType> ConsumeEventType(absl::string_view* text) {
  absl::string_view rest = *text;
  if (!absl::ConsumePrefix(&rest, "event ")) return std::nullopt;
  const absl::string_view name = rest.substr(0, rest.find(':'));
  for (int value = 1; value < 256; ++value) {
    if (EventTypeName(static_cast<EventType>(value)) != name) continue;
    *text = rest.substr(name.size());
    return static_cast<EventType>(value);
  }
  return std::nullopt;
}

// The inverse of FormatPlace(): consumes a place and the ": " after it. Leaves `*text` unchanged if
// it does not begin with a place.
Place ConsumePlace(absl::string_view* text) {
  Place place;
  absl::string_view rest = *text;
  do {
    if (const auto offset = ConsumeNumber<uint64_t>("byte ", &rest)) {
      place.offset = offset;
    } else if (const auto generation = ConsumeNumber<uint64_t>("generation ", &rest)) {
      place.generation = generation;
    } else if (const auto batch = ConsumeNumber<uint64_t>("batch at byte ", &rest)) {
      place.batch_offset = batch;
    } else if (absl::ConsumePrefix(&rest, "no thread")) {
      place.thread = ThreadId::kNone;
    } else if (const auto thread = ConsumeNumber<int64_t>("thread ", &rest)) {
      place.thread = ThreadId{*thread};
    } else if (const auto event = ConsumeEventType(&rest)) {
      place.event = *event;
    } else {
      return Place();
    }
  } while (absl::ConsumePrefix(&rest, ", "));
  if (!absl::ConsumePrefix(&rest, ": ")) return Place();
  *text = rest;
  return place;
}

// Consumes the id at the end of a status's first line. Returns nullopt if there is none.
std::optional<FaultId> ConsumeId(absl::string_view* text) {
  const size_t begin = text->rfind(" [");
  if (begin == text->npos || !absl::EndsWith(*text, "]")) return std::nullopt;
  const absl::string_view name = text->substr(begin + 2, text->size() - begin - 3);
  for (int id = 0; id < kFaultIdEnd; ++id) {
    if (kRows[id].name != name) continue;
    text->remove_suffix(text->size() - begin);
    return static_cast<FaultId>(id);
  }
  return std::nullopt;
}

// The inverse of CutOff(): returns whether the message is from it.
bool SaysCutOff(absl::string_view message) {
  if (!absl::ConsumePrefix(&message, kTraceIs)) return false;
  return absl::StrContains(message.substr(0, message.find(':')), "cut off");
}

// The inverse of HeaderAt(): returns the offset if the message is from it.
std::optional<uint64_t> HeaderOffsetIn(absl::string_view message) {
  const size_t begin = message.rfind(kHeaderAt);
  if (begin == message.npos) return std::nullopt;
  message.remove_prefix(begin);
  const std::optional<uint64_t> offset = ConsumeNumber<uint64_t>(kHeaderAt, &message);
  return message.empty() ? offset : std::nullopt;
}

// Formats a frame as "main.handle (/src/main.go:31)", as far as it is known.
std::string FormatFrame(const FaultFrame& frame) {
  const std::string func =
      frame.func.empty() ? "an unknown function" : internal::QuotedUnlessPlain(frame.func);
  if (frame.file.empty()) return func;
  return absl::StrCat(func, " (", internal::QuotedUnlessPlain(frame.file), ":", frame.line, ")");
}

std::string FormatRegion(const FaultRegion& region) {
  std::string text = absl::StrCat(internal::Quoted(region.type), " of task ", region.task.value);
  if (!region.offset.has_value())
    return absl::StrCat(text, ", whose beginning is not in the trace");
  absl::StrAppend(&text, ", begun at byte ", *region.offset);
  if (region.time.has_value()) absl::StrAppend(&text, " and time ", *region.time);
  if (region.frame.has_value()) absl::StrAppend(&text, " in ", FormatFrame(*region.frame));
  return text;
}

}  // namespace

std::vector<std::string> FormatContext(const FaultContext& context) {
  std::vector<std::string> lines;
  if (!context.stack.empty()) lines.emplace_back("stack of the event:");
  for (const FaultFrame& frame : context.stack) {
    lines.push_back(absl::StrCat("  ", FormatFrame(frame)));
  }
  if (context.more_frames > 0)
    lines.push_back(absl::StrCat("  and ", context.more_frames, " more"));
  if (!context.regions.empty()) {
    lines.push_back(absl::StrCat("regions open on goroutine ", context.goroutine.value,
                                 ", the innermost first:"));
  }
  for (const FaultRegion& region : context.regions) {
    lines.push_back(absl::StrCat("  ", FormatRegion(region)));
  }
  if (context.more_regions > 0) {
    lines.push_back(absl::StrCat("  and ", context.more_regions, " more"));
  }
  return lines;
}

absl::string_view FaultName(FaultId id) { return RowOf(id).name; }

absl::string_view FaultMeaning(FaultId id) { return RowOf(id).meaning; }

FaultEffect EffectOf(FaultId id) { return RowOf(id).effect; }

FaultStage StageOf(FaultId id) { return RowOf(id).stage; }

std::string FormatPlace(const Place& place) {
  std::vector<std::string> parts;
  if (place.offset.has_value()) parts.push_back(absl::StrCat("byte ", *place.offset));
  if (place.generation.has_value()) parts.push_back(absl::StrCat("generation ", *place.generation));
  if (place.batch_offset.has_value()) {
    parts.push_back(absl::StrCat("batch at byte ", *place.batch_offset));
  }
  if (place.thread.has_value()) {
    parts.push_back(*place.thread == ThreadId::kNone
                        ? "no thread"
                        : absl::StrCat("thread ", place.thread->value));
  }
  if (place.event != EventType::kNone) {
    parts.push_back(absl::StrCat("event ", EventTypeName(place.event)));
  }
  return absl::StrJoin(parts, ", ");
}

Fault CutOff(Fault fault, absl::string_view what) {
  fault.cut_off = true;
  fault.message = absl::StrCat(kTraceIs, what, ": ", fault.message);
  return fault;
}

Fault HeaderAt(Fault fault, uint64_t offset) {
  fault.header_offset = offset;
  absl::StrAppend(&fault.message, kHeaderAt, offset);
  return fault;
}

std::string FormatFault(const Fault& fault) {
  const std::string place = FormatPlace(fault.place);
  return absl::StrCat(place, place.empty() ? "" : ": ", fault.message, " [", FaultName(fault.id),
                      "]");
}

absl::Status FaultStatus(Fault fault) {
  std::replace(fault.message.begin(), fault.message.end(), '\n', ' ');
  std::string text = FormatFault(fault);
  if (fault.place.time.has_value()) {
    absl::StrAppend(&text, kNextLine, kTime, *fault.place.time, " ns");
  }
  for (std::string& line : FormatContext(fault.context)) fault.details.push_back(std::move(line));
  for (const std::string& line : fault.details) absl::StrAppend(&text, kNextLine, line);
  return absl::Status(RowOf(fault.id).code, text);
}

std::optional<Fault> FaultOf(const absl::Status& status) {
  if (status.ok()) return std::nullopt;
  // An empty message has no lines.
  const std::vector<absl::string_view> lines = absl::StrSplit(status.message(), kNextLine);
  if (lines.empty()) return std::nullopt;
  absl::string_view message = lines.front();
  const std::optional<FaultId> id = ConsumeId(&message);
  if (!id.has_value() || status.code() != RowOf(*id).code) return std::nullopt;
  Fault fault;
  fault.id = *id;
  fault.place = ConsumePlace(&message);
  fault.message = std::string(message);
  fault.cut_off = SaysCutOff(message);
  fault.header_offset = HeaderOffsetIn(message);
  size_t next = 1;
  if (next < lines.size()) {
    absl::string_view line = lines[next];
    const std::optional<int64_t> time = ConsumeNumber<int64_t>(kTime, &line);
    if (time.has_value() && line == " ns") {
      fault.place.time = time;
      ++next;
    }
  }
  for (; next < lines.size(); ++next) fault.details.emplace_back(lines[next]);
  return fault;
}

}  // namespace gotrace
