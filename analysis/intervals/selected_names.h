// Selects names by a pattern, each of which is looked at once.
#ifndef GOTRACE_ANALYSIS_INTERVALS_SELECTED_NAMES_H_
#define GOTRACE_ANALYSIS_INTERVALS_SELECTED_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/interner.h"
#include "util/text_pattern.h"

namespace gotrace::internal {

class SelectedNames {
 public:
  // Whether a pattern has to match all of a name, or a part of it.
  enum class Of : uint8_t { kWhole, kPart };

  // Selects the names that `pattern`, a TextPattern, matches; "" for all. `*interner` must outlive
  // this object.
  SelectedNames(const Interner* interner, absl::string_view pattern, Of of)
      : interner_(*interner), pattern_(TextPattern::ParseOrLiteral(pattern)), of_(of) {}

  bool MatchesAll() const { return pattern_.MatchesAll(); }

  bool Has(StringId name) {
    if (pattern_.MatchesAll()) return true;
    const auto index = static_cast<size_t>(name);
    if (index >= known_.size()) known_.resize(index + 1, kUnknown);
    if (known_[index] == kUnknown) {
      const absl::string_view text = interner_.String(name);
      const bool has = of_ == Of::kWhole ? pattern_.Matches(text) : pattern_.IsIn(text);
      known_[index] = has ? kSelected : kOther;
    }
    return known_[index] == kSelected;
  }

 private:
  enum : uint8_t { kUnknown, kSelected, kOther };

  const Interner& interner_;
  const TextPattern pattern_;
  const Of of_;
  std::vector<uint8_t> known_;  // By StringId.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_SELECTED_NAMES_H_
