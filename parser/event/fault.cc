#include "gotrace/fault.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gotrace/internal/event_spec.h"
#include "util/quote.h"

namespace gotrace {
namespace {

constexpr absl::string_view kPayloadUrl = "gotrace/fault";
constexpr absl::string_view kDetailsUrl = "gotrace/fault-details";
constexpr absl::string_view kCutOffUrl = "gotrace/fault-cut-off";

struct FaultRow {
  absl::string_view name;
  absl::StatusCode code;
  FaultEffect effect;
  absl::string_view meaning;
};
constexpr FaultRow kRows[] = {
#define GOTRACE_FAULT(id, name, code, effect, meaning) \
  {name, absl::StatusCode::k##code, FaultEffect::k##effect, meaning},
#include "gotrace/internal/faults.def"
};

const FaultRow& RowOf(FaultId id) { return kRows[static_cast<int>(id)]; }

// The id and the place as text, since a status shows its payloads when it is printed: the fields in
// order, with "-" for those that are not known.
std::string PackFault(const Fault& fault) {
  const auto field = [](const auto& value) {
    return value.has_value() ? absl::StrCat(*value) : std::string("-");
  };
  const Place& place = fault.place;
  return absl::StrCat(static_cast<int>(fault.id), " ", field(place.offset), " ",
                      field(place.generation), " ", field(place.batch_offset), " ",
                      place.thread.has_value() ? absl::StrCat(place.thread->value) : "-", " ",
                      static_cast<int>(place.event), " ", field(place.time));
}

// The inverse of PackFault(), but for the message. Returns nullopt for any other text.
std::optional<Fault> UnpackFault(absl::string_view text) {
  const std::vector<absl::string_view> fields = absl::StrSplit(text, ' ');
  if (fields.size() != 7) return std::nullopt;
  const auto number = [&fields](size_t index) -> std::optional<int64_t> {
    uint64_t value = 0;
    int64_t negative = 0;
    if (absl::SimpleAtoi(fields[index], &value)) return static_cast<int64_t>(value);
    if (absl::SimpleAtoi(fields[index], &negative)) return negative;
    return std::nullopt;
  };
  const std::optional<int64_t> id = number(0);
  const std::optional<int64_t> event = number(5);
  if (!id.has_value() || *id < 0 || *id >= kFaultIdEnd || !event.has_value()) return std::nullopt;
  Fault fault;
  fault.id = static_cast<FaultId>(*id);
  fault.place.offset = number(1);
  fault.place.generation = number(2);
  fault.place.batch_offset = number(3);
  if (number(4).has_value()) fault.place.thread = ThreadId{*number(4)};
  fault.place.event = static_cast<EventType>(*event);
  fault.place.time = number(6);
  return fault;
}

// "main.handle (/src/main.go:31)", as much of it as is known.
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
  if (!context.stack.empty()) lines.push_back("stack of the event:");
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
  fault.message = absl::StrCat("the trace is ", what, ": ", fault.message);
  return fault;
}

std::string FormatFault(const Fault& fault) {
  const std::string place = FormatPlace(fault.place);
  return absl::StrCat(place, place.empty() ? "" : ": ", fault.message, " [", FaultName(fault.id),
                      "]");
}

absl::Status FaultStatus(Fault fault) {
  absl::Status status(RowOf(fault.id).code, FormatFault(fault));
  status.SetPayload(kPayloadUrl, absl::Cord(PackFault(fault)));
  for (std::string& line : FormatContext(fault.context)) fault.details.push_back(std::move(line));
  if (!fault.details.empty()) {
    status.SetPayload(kDetailsUrl, absl::Cord(absl::StrJoin(fault.details, "\n")));
  }
  if (fault.cut_off) status.SetPayload(kCutOffUrl, absl::Cord());
  return status;
}

std::optional<Fault> FaultOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  std::optional<Fault> fault = UnpackFault(std::string(*payload));
  if (!fault.has_value()) return std::nullopt;
  // The rest of the message is the place and the name, unless somebody wrote another message.
  absl::string_view message = status.message();
  absl::ConsumePrefix(&message, absl::StrCat(FormatPlace(fault->place), ": "));
  absl::ConsumeSuffix(&message, absl::StrCat(" [", FaultName(fault->id), "]"));
  fault->message = std::string(message);
  if (const absl::optional<absl::Cord> details = status.GetPayload(kDetailsUrl)) {
    fault->details = absl::StrSplit(std::string(*details), '\n');
  }
  fault->cut_off = status.GetPayload(kCutOffUrl).has_value();
  return fault;
}

}  // namespace gotrace
