#include "view/lanes.h"

#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gotrace::internal::view {
namespace {

constexpr std::pair<absl::string_view, LaneKind> kLanePrefixes[] = {{"p:", LaneKind::kProc},
                                                                    {"m:", LaneKind::kThread},
                                                                    {"g:", LaneKind::kGoroutine},
                                                                    {"group:", LaneKind::kGroup}};

static_assert(std::size(kLanePrefixes) == kLaneKinds);

}  // namespace

std::optional<LaneId> ReadLaneId(absl::string_view text) {
  for (const auto& [prefix, kind] : kLanePrefixes) {
    int64_t number = 0;
    if (absl::StartsWith(text, prefix) && absl::SimpleAtoi(text.substr(prefix.size()), &number)) {
      return LaneId{kind, number};
    }
  }
  return std::nullopt;
}

std::string TextOf(const LaneId& id) {
  for (const auto& [prefix, kind] : kLanePrefixes) {
    if (kind == id.kind) return absl::StrCat(prefix, id.number);
  }
  return "";
}

}  // namespace gotrace::internal::view
