// The last transitions of a goroutine or P: how it got where it is.
#ifndef GOTRACE_INTERNAL_TRANSITION_HISTORY_H_
#define GOTRACE_INTERNAL_TRANSITION_HISTORY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gotrace/event_type.h"
#include "gotrace/finding.h"
#include "gotrace/internal/event_tags.h"

namespace gotrace::internal {

// The last few, in 8 bytes each: no trace is as long as an offset may be, and states are few. How
// many there are is kept by the owner, who may have room for it elsewhere.
class TransitionHistory {
 public:
  static constexpr uint8_t kKept = 4;

  // Adds the transition of an event at `offset` with `tags`. `*count` begins at 0 and is for these
  // functions only.
  void Add(uint64_t offset, EventTags tags, uint8_t* count) {
    last_[*count % kKept] = offset << 16 | static_cast<uint64_t>(tags.type()) << 8 |
                            uint64_t{tags.from()} << 4 | tags.to();
    // Where all places are taken it counts from kKept on anew.
    *count = *count == 2 * kKept - 1 ? kKept : *count + 1;
  }

  // All that are kept, the earliest first.
  std::vector<PastTransition> List(uint8_t count) const {
    std::vector<PastTransition> list;
    for (int i = count - std::min(count, kKept); i < count; ++i) {
      const uint64_t bits = last_[i % kKept];
      list.push_back({bits >> 16, static_cast<EventType>(bits >> 8 & 0xff),
                      static_cast<uint8_t>(bits >> 4 & 0xf), static_cast<uint8_t>(bits & 0xf)});
    }
    return list;
  }

 private:
  std::array<uint64_t, kKept> last_ = {};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_TRANSITION_HISTORY_H_
