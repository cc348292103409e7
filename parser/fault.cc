#include "parser/fault.h"

#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tracev2/event_spec.h"

namespace gotrace {
namespace {

constexpr absl::string_view kPayloadUrl = "gotrace/fault";

struct FaultRow {
  absl::string_view name;
  absl::StatusCode code;
  absl::string_view meaning;
};
constexpr FaultRow kRows[] = {
#define GOTRACE_FAULT(id, name, code, meaning) {name, absl::StatusCode::k##code, meaning},
#include "parser/faults.def"
};

const FaultRow& RowOf(FaultId id) { return kRows[static_cast<int>(id)]; }

}  // namespace

absl::string_view FaultName(FaultId id) { return RowOf(id).name; }

absl::string_view FaultMeaning(FaultId id) { return RowOf(id).meaning; }

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

std::string FormatFault(const Fault& fault) {
  const std::string place = FormatPlace(fault.place);
  return absl::StrCat(place, place.empty() ? "" : ": ", fault.message, " [", FaultName(fault.id),
                      "]");
}

absl::Status FaultStatus(Fault fault) {
  absl::Status status(RowOf(fault.id).code, FormatFault(fault));
  // The payload is never parsed by another process, so that the fault's own bytes may serve.
  static_assert(std::is_trivially_copyable_v<Place>);
  std::string payload(1 + sizeof(Place), '\0');
  payload[0] = static_cast<char>(fault.id);
  std::memcpy(&payload[1], &fault.place, sizeof(Place));
  status.SetPayload(kPayloadUrl, absl::Cord(absl::StrCat(payload, fault.message)));
  return status;
}

std::optional<Fault> FaultOf(const absl::Status& status) {
  const absl::optional<absl::Cord> cord = status.GetPayload(kPayloadUrl);
  if (!cord.has_value()) return std::nullopt;
  const std::string payload(*cord);
  Fault fault;
  fault.id = static_cast<FaultId>(payload[0]);
  std::memcpy(&fault.place, &payload[1], sizeof(Place));
  fault.message = payload.substr(1 + sizeof(Place));
  return fault;
}

}  // namespace gotrace
