// What is open on each goroutine and P, and in the whole program. For the validator's own files
// only.
#ifndef GOTRACE_VALIDATOR_SPAN_TABLE_H_
#define GOTRACE_VALIDATOR_SPAN_TABLE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gotrace/event.h"
#include "gotrace/event_type.h"
#include "gotrace/ids.h"
#include "gotrace/states.h"
#include "util/dense_table.h"
#include "util/open_spans.h"

namespace gotrace::internal {

// Where an event is: a Place and the event's number, in fewer bytes.
struct EventMark {
  uint64_t offset = 0;
  uint64_t generation = 0;
  ThreadId thread;
  int64_t time = 0;
  uint64_t event_number = 0;
  EventType type = EventType::kNone;
};

// A range, region or task that is open.
struct OpenSpan {
  OpenSpan() = default;
  // Not an aggregate, which the compiler would clear before it is filled.
  OpenSpan(absl::string_view name, TaskId task, const EventMark& begin)
      : name(name), task(task), begin(begin) {}

  std::string name;         // The type of a region or task, the reason of a range.
  absl::string_view what;   // For a range: see RangeParts.
  bool has_reason = false;  // For a range: see RangeParts.
  TaskId task;              // For a region.
  EventMark begin;
};

// Ranges are the same if what they are and their reasons are.
struct RangeKey {
  absl::string_view what;
  absl::string_view reason;
};
struct RangeTraits {
  struct Key : std::pair<absl::string_view, std::string> {
    explicit Key(const RangeKey& key) : pair(key.what, std::string(key.reason)) {}
  };
  static Key KeyOf(const OpenSpan& range) { return Key({range.what, range.name}); }
  static bool Has(const OpenSpan& range, const RangeKey& key) {
    // Equal texts are nearly always at the same address.
    const bool is_same = range.what.data() == key.what.data() || range.what == key.what;
    return is_same && range.name == key.reason;
  }
};

// The ranges that are open on a goroutine or P, or in the whole program.
class RangeSpans : public OpenSpans<OpenSpan, RangeTraits> {
 public:
  size_t Find(absl::string_view what, absl::string_view reason) const {
    return OpenSpans::Find(RangeKey{what, reason});
  }

  // The first range in the order of what they are and their reasons. Requires that there is one.
  // Takes time in proportion to their number.
  const OpenSpan& First() const {
    return *std::min_element(all().begin(), all().end(), [](const auto& a, const auto& b) {
      return std::tie(a.what, a.name) < std::tie(b.what, b.name);
    });
  }
};

// What is open on one goroutine or P, or in the whole program.
struct SpansOf {
  int64_t id = -1;  // Of the goroutine or P.
  RangeSpans ranges;
  std::vector<OpenSpan> regions;  // The innermost last.
};

class SpanTable {
 public:
  // What is open on `resource`, or nullptr if nothing ever was.
  SpansOf* Find(const ResourceId& resource) const { return TableOf(resource).Find(resource.id); }

  // The same, made if there is none.
  SpansOf& Get(const ResourceId& resource) {
    SpansOf* const spans = Find(resource);
    return spans == nullptr ? *TableOf(resource).Insert(resource.id) : *spans;
  }

  // Takes out what is open on `resource`, which must be there.
  void Erase(const ResourceId& resource) { TableOf(resource).Erase(Find(resource)); }

  // Calls `see` with each resource and what is open on it, in no order.
  template <class See>
  void ForEach(const See& see) const {
    for (size_t kind = 0; kind < tables_.size(); ++kind) {
      tables_[kind].ForEach([&](SpansOf& spans) {
        see(ResourceId{static_cast<ResourceKind>(kind), spans.id}, spans);
      });
    }
  }

  void Clear() {
    for (DenseTable<SpansOf>& table : tables_) table.Clear();
  }

 private:
  static size_t IndexOf(const ResourceId& resource) { return static_cast<size_t>(resource.kind); }
  const DenseTable<SpansOf>& TableOf(const ResourceId& resource) const {
    return tables_[IndexOf(resource)];
  }
  DenseTable<SpansOf>& TableOf(const ResourceId& resource) { return tables_[IndexOf(resource)]; }

  std::array<DenseTable<SpansOf>, kResourceKindEnd> tables_;  // By kind.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_SPAN_TABLE_H_
