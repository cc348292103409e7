// The tables `ranges` and `range_hist`.
#ifndef GOTRACE_ANALYSIS_TABLES_RANGE_ROWS_H_
#define GOTRACE_ANALYSIS_TABLES_RANGE_ROWS_H_

#include <cstdint>

#include "analysis/intervals/range_tracker.h"
#include "analysis/tables/histogram_rows.h"
#include "analysis/tables/stack_rows.h"
#include "analysis/tables/table_rows.h"
#include "gotrace/event.h"
#include "gotrace/event_type.h"
#include "gotrace/interner.h"

namespace gotrace::internal {

class RangeRows {
 public:
  // The objects must outlive this one.
  RangeRows(Interner* interner, StackRows* stacks, TableOutput* output)
      : interner_(*interner), stacks_(*stacks), output_(*output) {}

  // Takes any event.
  void Add(const Event& event) { ranges_.Add(event); }

  // Adds the rows of open ranges. `end` is the end of the trace.
  void Finish(int64_t end);

 private:
  void AddRow(const RuntimeRange& range);

  Interner& interner_;
  StackRows& stacks_;
  TableOutput& output_;
  RangeTracker ranges_{&interner_,
                       RangeTracker::Crossing::kPieces,
                       {EventType::kSTWBegin, EventType::kGCBegin, EventType::kGCSweepBegin,
                        EventType::kGCMarkAssistBegin},
                       [this](const RuntimeRange& range) { AddRow(range); }};
  NamedBuckets histogram_;
};

}  // namespace gotrace::internal

#endif  // GOTRACE_ANALYSIS_TABLES_RANGE_ROWS_H_
