#include "validator/explain_fault.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "validator/foreign_input.h"

namespace gotrace::internal {
namespace {

// The kind of place of a fault, which determines where to look for foreign text.
enum class PlaceKind { kOther, kBatch, kEvents, kStrings };

PlaceKind PlaceKindOf(FaultId id) {
  switch (id) {
    case FaultId::kBatchType:
    case FaultId::kBatchSize:
    case FaultId::kBatchHeaderVarint:
    case FaultId::kBatchHeaderTruncated:
      return PlaceKind::kBatch;
    case FaultId::kStackBatchEvent:
    case FaultId::kStackVarint:
    case FaultId::kStackDepth:
    case FaultId::kStackDuplicate:
    case FaultId::kStackString:
    case FaultId::kSampleBatchEvent:
    case FaultId::kSampleVarint:
    case FaultId::kSyncBatchEvent:
    case FaultId::kSyncVarint:
    case FaultId::kEventType:
    case FaultId::kEventNotTimed:
    case FaultId::kEventVarint:
    case FaultId::kEventStringId:
    case FaultId::kEventStackId:
      return PlaceKind::kEvents;
    case FaultId::kStringBatchEvent:
    case FaultId::kStringVarint:
    case FaultId::kStringSize:
    case FaultId::kStringTruncated:
      return PlaceKind::kStrings;
    default:
      return PlaceKind::kOther;
  }
}

std::optional<ForeignInput> FindForeign(const Fault& fault, const RetainingSource& source) {
  const PlaceKind kind = PlaceKindOf(fault.id);
  if (kind == PlaceKind::kOther || !fault.place.offset.has_value()) return std::nullopt;
  if (kind == PlaceKind::kBatch) {
    return RecogniseInTrace(source.BytesAt(fault.place.batch_offset.value_or(*fault.place.offset)));
  }
  // The first part of the text may have been decoded as events before the fault.
  const uint64_t offset = *fault.place.offset;
  for (uint64_t back = std::min<uint64_t>(offset, kMaxTextBefore);; back /= 2) {
    const absl::string_view bytes = source.BytesAt(offset - back);
    if (bytes.size() > back) {
      return RecogniseInPayload(bytes, back, kind == PlaceKind::kStrings);
    }
    if (back == 0) return std::nullopt;
  }
}

// A trace that is cut off at a round size probably hit a size limit.
std::string DescribeSizeLimit(const Fault& fault, const RetainingSource& source) {
  const uint64_t size =
      fault.id == FaultId::kCompressedTruncated ? source.input_size() : source.end();
  const std::string limit = SizeLimitOf(size);
  if (limit.empty()) return "";
  return absl::StrCat("; the input is exactly ", limit, " long: a size limit probably cut it off");
}

}  // namespace

std::string SizeLimitOf(uint64_t size) {
  constexpr uint64_t kKiB = 1024;
  constexpr uint64_t kMiB = 1024 * kKiB;
  constexpr uint64_t kMillion = 1'000'000;
  if (size == 0) return "";
  if (size % kMiB == 0) return absl::StrCat(size / kMiB, " MiB");
  if (size % kMillion == 0) return absl::StrCat(size, " bytes");
  const bool is_power_of_two = (size & (size - 1)) == 0;
  if (size % (64 * kKiB) == 0 || (size >= kKiB && is_power_of_two)) {
    return absl::StrCat(size / kKiB, " KiB");
  }
  return "";
}

Finding ExplainFault(const Fault& fault, const RetainingSource* source) {
  Finding finding;
  finding.place = fault.place;
  std::optional<ForeignInput> foreign;
  if (source != nullptr) foreign = FindForeign(fault, *source);
  if (foreign.has_value()) {
    finding.check = foreign->check;
    finding.message = foreign->message;
  } else {
    finding.check = CheckOf(fault.id);
    finding.message = fault.message;
    finding.details = fault.details;
    finding.context = fault.context;
    if (source != nullptr && IsCutOff(fault)) {
      finding.message += DescribeSizeLimit(fault, *source);
    }
  }
  finding.severity = SpecOf(finding.check).severity;
  return finding;
}

}  // namespace gotrace::internal
