// The spans that are open on each goroutine and P, and in the whole program. Included only by the
// validator's own files.
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

// The place of an event: a Place and the event's number, in fewer bytes.
struct EventMark {
  uint64_t offset = 0;
  uint64_t generation = 0;
  ThreadId thread;
  int64_t time = 0;
  uint64_t event_number = 0;
  EventType type = EventType::kNone;
};

// An open range, region or task.
struct OpenSpan {
  OpenSpan() = default;
  // A constructor, because the compiler would clear an aggregate before filling it.
  OpenSpan(absl::string_view name, TaskId task, const EventMark& begin)
      : name(name), task(task), begin(begin) {}

  std::string name;         // The type of a region or task, or the reason of a range.
  absl::string_view what;   // For a range: see RangeParts.
  bool has_reason = false;  // For a range: see RangeParts.
  TaskId task;              // For a region.
  EventMark begin;
};

// Identifies a range by its name without the reason, and the reason.
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

// The open ranges of a goroutine or P, or of the whole program.
class RangeSpans : public OpenSpans<OpenSpan, RangeTraits> {
 public:
  size_t Find(absl::string_view what, absl::string_view reason) const {
    return OpenSpans::Find(RangeKey{what, reason});
  }

  // Returns the first range, ordered by name and reason. Requires that there is one. Takes time
  // proportional to the number of ranges.
  const OpenSpan& First() const {
    return *std::min_element(all().begin(), all().end(), [](const auto& a, const auto& b) {
      return std::tie(a.what, a.name) < std::tie(b.what, b.name);
    });
  }
};

// The open spans of a goroutine or P, or of the whole program.
struct SpansOf {
  int64_t id = -1;  // The id of the goroutine or P.
  RangeSpans ranges;
  std::vector<OpenSpan> regions;  // The innermost is last.
};

class SpanTable {
 public:
  // Returns the spans of `resource`, or nullptr if it never had any.
  SpansOf* Find(const ResourceId& resource) const { return TableOf(resource).Find(resource.id); }

  // Returns the spans of `resource`, which are added if they do not exist.
  SpansOf& Get(const ResourceId& resource) {
    SpansOf* const spans = Find(resource);
    return spans == nullptr ? *TableOf(resource).Insert(resource.id) : *spans;
  }

  // Removes the spans of `resource`, which must exist.
  void Erase(const ResourceId& resource) { TableOf(resource).Erase(Find(resource)); }

  // Calls `see` with each resource and its spans, in no particular order.
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

  std::array<DenseTable<SpansOf>, kResourceKindEnd> tables_;  // Indexed by kind.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_SPAN_TABLE_H_
