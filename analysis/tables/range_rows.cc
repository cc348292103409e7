#include "analysis/tables/range_rows.h"

#include "analysis/core/time_sums.h"
#include "analysis/tables/row_values.h"
#include "gotrace/states.h"

namespace gotrace::internal {

void RangeRows::AddRow(const RuntimeRange& range) {
  RangesRow row;
  row.end_ns = range.end;
  row.dur_ns = Between(range.begin, range.end);
  row.name = interner_.InternString(range.what);
  row.reason = NameOrNull(range.reason);
  if (range.scope.kind != ResourceKind::kNone) {
    row.scope_kind = interner_.InternString(ResourceKindName(range.scope.kind));
    row.scope_id = range.scope.id;
  }
  if (!range.begin_clipped) {
    row.g = IdOrNull(range.goroutine);
    row.p = IdOrNull(range.proc);
    row.m = IdOrNull(range.thread);
    row.stack_id = stacks_.IdOf(range.stack);
  }
  if (range.type == EventType::kGCSweepBegin && !range.end_clipped && !range.HasOnlyEnd()) {
    row.bytes_swept = static_cast<int64_t>(range.swept_bytes);
    row.bytes_reclaimed = static_cast<int64_t>(range.reclaimed_bytes);
  }
  row.flags = (range.begin_clipped ? kBeginMissing : 0) | (range.end_clipped ? kEndMissing : 0);
  if (output_.Has(TableId::kRangeHist)) {
    histogram_.Add(row.name, range.reason, static_cast<uint64_t>(row.dur_ns));
  }
  output_.Add(row);
}

void RangeRows::Finish(int64_t end) {
  ranges_.Finish(end);
  histogram_.ForEachSorted(interner_,
                           [&](StringId name, StringId reason, int bucket, const BucketSums& sums) {
                             RangeHistRow row;
                             row.name = name;
                             row.reason = NameOrNull(reason);
                             sums.FillRow(bucket, &row);
                             output_.Add(row);
                           });
}

}  // namespace gotrace::internal
