// What began and has not ended. For the validator's own files only.
#ifndef GOTRACE_VALIDATOR_OPENED_RANGES_H_
#define GOTRACE_VALIDATOR_OPENED_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"

namespace gotrace::internal {

// Where an event stands: a Place and its number, in fewer bytes.
struct EventMark {
  uint64_t offset = 0;
  uint64_t generation = 0;
  ThreadId thread;
  int64_t time = 0;
  uint64_t event_number = 0;
  EventType type = EventType::kNone;
};

// A range, region or task that is open.
struct Opened {
  Opened() = default;
  // Not an aggregate, which the compiler clears before it is filled.
  Opened(absl::string_view name, TaskId task, const EventMark& begin)
      : name(name), task(task), begin(begin) {}

  std::string name;         // Of a region or task its type, of a range its reason.
  absl::string_view what;   // As in RangeParts, for a range; and so has_reason.
  bool has_reason = false;  //
  TaskId task;              // For a region.
  EventMark begin;
};

// The ranges that are open on a goroutine or P, or in the whole program. No two of them are the
// same with the same reason. There are mostly one or two, but a broken trace may open any number.
class OpenedRanges {
 public:
  static constexpr size_t kNone = ~size_t{0};

  bool empty() const { return ranges_.empty(); }

  // All of them, in no order. Good until the next Add() or Remove().
  absl::Span<const Opened> all() const { return ranges_; }

  // The one that comes first by what it is and by its reason. Requires that there is one. Costs
  // time in proportion to all.
  const Opened& First() const;

  // The place of a range, or kNone.
  size_t Find(absl::string_view what, absl::string_view reason) const;

  // Adds a range, which must not be open.
  void Add(Opened range);

  // Takes out the range at `place`, where the last one comes to stand.
  void Remove(size_t place);

 private:
  // Up to this many are looked through.
  static constexpr size_t kFew = 16;

  using Key = std::pair<absl::string_view, std::string>;
  static Key KeyOf(const Opened& range) { return {range.what, range.name}; }

  std::vector<Opened> ranges_;
  std::unique_ptr<absl::flat_hash_map<Key, size_t>> places_;  // Once there were more.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_OPENED_RANGES_H_
