// The last transitions of a goroutine or P, which explain its state.
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

// The last kKept transitions, in 8 bytes each: offsets fit in 48 bits, and there are few states.
// The owner stores the count, since it may have a spare byte for it.
class TransitionHistory {
 public:
  static constexpr uint8_t kKept = 4;

  // Adds the transition of an event at `offset` with `tags`. `*count` must be 0 at first, and must
  // be changed only by this function.
  void Add(uint64_t offset, EventTags tags, uint8_t* count) {
    AddBits(offset << 16 | static_cast<uint64_t>(tags.type()) << 8 | uint64_t{tags.from()} << 4 |
                tags.to(),
            count);
  }

  // Inserts the `before_count` transitions of `before` before these, as if all had been added to
  // one history.
  void Prepend(const TransitionHistory& before, uint8_t before_count, uint8_t* count) {
    if (*count >= kKept) return;
    TransitionHistory all = before;
    uint8_t all_count = before_count;
    for (uint8_t i = 0; i < *count; ++i) all.AddBits(last_[i], &all_count);
    *this = all;
    *count = all_count;
  }

  // Returns the kept transitions, earliest first.
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
  void AddBits(uint64_t bits, uint8_t* count) {
    last_[*count % kKept] = bits;
    // Once all places are taken, the count wraps around to kKept.
    *count = *count == 2 * kKept - 1 ? kKept : *count + 1;
  }

  std::array<uint64_t, kKept> last_ = {};
};

}  // namespace gotrace::internal

#endif  // GOTRACE_INTERNAL_TRANSITION_HISTORY_H_
