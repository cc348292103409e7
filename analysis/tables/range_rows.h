// The tables `ranges` and `range_hist`.
#ifndef GOTRACE_ANALYSIS_TABLES_RANGE_ROWS_H_
#define GOTRACE_ANALYSIS_TABLES_RANGE_ROWS_H_

#include <cstdint>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "analysis/tables/histogram_rows.h"
#include "analysis/tables/stack_rows.h"
#include "analysis/tables/table_rows.h"
#include "gotrace/event.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

class RangeRows {
 public:
  // The objects must outlive this one.
  RangeRows(Interner* interner, StackRows* stacks, TableOutput* output)
      : interner_(*interner), stacks_(*stacks), output_(*output) {}

  // Adds an event that begins or ends a range, or that states that a range began before
  // `generation_begin`.
  void Add(const Event& event, int64_t generation_begin);

  // Adds the rows of open ranges. `end` is the end of the trace.
  void Finish(int64_t end);

 private:
  // The owner and the name of a range.
  using Key = std::tuple<ResourceKind, int64_t, StringId>;

  void End(const Key& key, int64_t end, RangesRow row);

  Interner& interner_;
  StackRows& stacks_;
  TableOutput& output_;
  absl::flat_hash_map<Key, RangesRow> open_;  // With their begins as `end_ns`.
  NamedBuckets histogram_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_RANGE_ROWS_H_
