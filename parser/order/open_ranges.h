// The ranges of time that are open on a goroutine or a P.
#ifndef GOTRACE_PARSER_ORDER_OPEN_RANGES_H_
#define GOTRACE_PARSER_ORDER_OPEN_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

struct OpenRange {
  EventType begin = EventType::kNone;  // The type of event that begins such ranges.
  uint64_t kind = 0;                   // For stop-the-world the string id of its reason; else 0.

  friend bool operator==(const OpenRange& a, const OpenRange& b) {
    return a.begin == b.begin && a.kind == b.kind;
  }
  template <class H>
  friend H AbslHashValue(H h, const OpenRange& range) {
    return H::combine(std::move(h), range.begin, range.kind);
  }
};

// No two of them are equal. There are mostly one or two, but a broken trace may open a million
// stop-the-worlds, and an end that does not tell its reason ends the one that comes first in here.
class OpenRanges {
 public:
  static constexpr size_t kNone = ~size_t{0};

  size_t size() const { return ranges_.size(); }

  // The place of `range`, or kNone.
  size_t Find(const OpenRange& range) const;

  // The first place of a range that events of type `begin` begin, or kNone.
  size_t FindFirst(EventType begin) const;

  // The range at `place`, which must be one.
  const OpenRange& at(size_t place) const { return ranges_[place]; }

  // Adds a range, which must not be open.
  void Add(const OpenRange& range);

  // Takes out the range at `place`, where the last one comes to stand.
  void Remove(size_t place);

 private:
  // Up to this many are looked through.
  static constexpr size_t kFew = 16;

  std::vector<OpenRange> ranges_;
  std::unique_ptr<absl::flat_hash_map<OpenRange, size_t>> places_;  // Once there were more.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_PARSER_ORDER_OPEN_RANGES_H_
