// What is open on each goroutine and P, and in the whole program. For the validator's own files
// only.
#ifndef GOTRACE_VALIDATOR_OPENS_TABLE_H_
#define GOTRACE_VALIDATOR_OPENS_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gotrace/event.h"
#include "gotrace/states.h"
#include "util/dense_table.h"
#include "validator/opened_ranges.h"

namespace gotrace::internal {

struct Opens {
  int64_t id = -1;  // Whose they are.
  OpenedRanges ranges;
  std::vector<Opened> regions;  // The innermost last.
};

class OpensTable {
 public:
  // What is open on `resource`, or nullptr if nothing ever was.
  Opens* Find(const ResourceId& resource) const { return TableOf(resource).Find(resource.id); }

  // The same, made if there is none.
  Opens& Get(const ResourceId& resource) {
    Opens* const opens = Find(resource);
    return opens == nullptr ? *TableOf(resource).Insert(resource.id) : *opens;
  }

  // Takes out what is open on `resource`, which must be there.
  void Erase(const ResourceId& resource) { TableOf(resource).Erase(Find(resource)); }

  // Calls `see` with each resource and what is open on it, in no order.
  template <class See>
  void ForEach(const See& see) const {
    for (size_t kind = 0; kind < tables_.size(); ++kind) {
      tables_[kind].ForEach([&](Opens& opens) {
        see(ResourceId{static_cast<ResourceKind>(kind), opens.id}, opens);
      });
    }
  }

  void Clear() {
    for (DenseTable<Opens>& table : tables_) table.Clear();
  }

 private:
  static size_t IndexOf(const ResourceId& resource) { return static_cast<size_t>(resource.kind); }
  const DenseTable<Opens>& TableOf(const ResourceId& resource) const {
    return tables_[IndexOf(resource)];
  }
  DenseTable<Opens>& TableOf(const ResourceId& resource) { return tables_[IndexOf(resource)]; }

  std::array<DenseTable<Opens>, kResourceKindEnd> tables_;  // By kind.
};

}  // namespace gotrace::internal

#endif  // GOTRACE_VALIDATOR_OPENS_TABLE_H_
