// The ranges of time that are open on a goroutine or a P.
#ifndef GOTRACE_PARSER_ORDER_OPEN_RANGES_H_
#define GOTRACE_PARSER_ORDER_OPEN_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "gotrace/event_type.h"
#include "util/open_spans.h"

namespace gotrace::internal {

struct OpenRange {
  EventType begin = EventType::kNone;  // The type of event that begins such ranges.
  uint64_t kind = 0;  // For stop-the-world, the string id of its reason; otherwise 0.

  friend bool operator==(const OpenRange&, const OpenRange&) = default;
  template <class H>
  friend H AbslHashValue(H h, const OpenRange& range) {
    return H::combine(std::move(h), range.begin, range.kind);
  }
};

struct OpenRangeTraits {
  using Key = OpenRange;
  static Key KeyOf(const OpenRange& range) { return range; }
  static bool Has(const OpenRange& range, const OpenRange& key) { return range == key; }
};

class OpenRanges : public OpenSpans<OpenRange, OpenRangeTraits> {
 public:
  size_t Find(const OpenRange& range) const { return OpenSpans::Find(range); }

  // Returns the first place of a range that begins with an event of type `begin`, or kNone. An end
  // that does not state the reason ends that range.
  size_t FindFirst(EventType begin) const {
    // Only stop-the-world ranges have several kinds.
    if (begin != EventType::kSTWBegin) return Find({begin, 0});
    for (size_t place = 0; place < size(); ++place) {
      if (at(place).begin == begin) return place;
    }
    return kNone;
  }
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_OPEN_RANGES_H_
