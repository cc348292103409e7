// Selects stacks by a filter, each of which is looked at once.
#ifndef GOTRACE_ANALYSIS_INTERVALS_SELECTED_STACKS_H_
#define GOTRACE_ANALYSIS_INTERVALS_SELECTED_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "gotrace/interner.h"
#include "gotrace/stack_filter.h"

namespace gotrace::internal {

class SelectedStacks {
 public:
  // `*interner` must outlive this object.
  SelectedStacks(const Interner* interner, StackFilter filter)
      : interner_(*interner), filter_(std::move(filter)) {}

  bool Has(StackId stack) {
    if (filter_.MatchesAll()) return true;
    const auto index = static_cast<size_t>(stack);
    if (index >= known_.size()) known_.resize(index + 1, kUnknown);
    if (known_[index] == kUnknown) {
      const bool has = absl::c_any_of(interner_.Frames(stack), [this](FrameId frame) {
        return filter_.Selects(interner_.Frame(frame));
      });
      known_[index] = has ? kSelected : kOther;
    }
    return known_[index] == kSelected;
  }

 private:
  enum : uint8_t { kUnknown, kSelected, kOther };

  const Interner& interner_;
  const StackFilter filter_;
  std::vector<uint8_t> known_;  // By StackId.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_INTERVALS_SELECTED_STACKS_H_
