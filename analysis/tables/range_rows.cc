#include "analysis/tables/range_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/tables/row_values.h"
#include "analysis/time_sums.h"
#include "gotrace/event_kind.h"
#include "gotrace/event_type.h"

namespace gotrace::internal {

void RangeRows::Add(const Event& event, int64_t generation_begin) {
  const RangeParts range = event.range_parts();
  const Key key = {range.scope.kind, range.scope.id, interner_.InternString(range.what)};
  const bool is_end = event.kind() == EventKind::kRangeEnd;
  const auto open = open_.find(key);
  if (is_end && open != open_.end()) {
    RangesRow row = open->second;
    if (event.type() == EventType::kGCSweepEnd) {
      row.bytes_swept = static_cast<int64_t>(event.arg(0));
      row.bytes_reclaimed = static_cast<int64_t>(event.arg(1));
    }
    open_.erase(open);
    return End(key, event.time(), std::move(row));
  }
  const bool continues = event.kind() == EventKind::kRangeActive;
  if (continues && open != open_.end()) return;
  RangesRow row;
  row.end_ns = continues ? generation_begin : event.time();
  row.name = std::get<StringId>(key);
  row.reason = NameOrNull(interner_.InternString(range.reason));
  if (range.scope.kind != ResourceKind::kNone) {
    row.scope_kind = interner_.InternString(ResourceKindName(range.scope.kind));
    row.scope_id = range.scope.id;
  }
  if (event.kind() == EventKind::kRangeBegin) {
    row.g = IdOrNull(event.goroutine());
    row.p = IdOrNull(event.proc());
    row.m = IdOrNull(event.thread());
    row.stack_id = stacks_.IdOf(event.stack());
  } else {
    row.flags = kBeginMissing;
  }
  if (is_end) return End(key, event.time(), std::move(row));
  open_.insert_or_assign(key, std::move(row));
}

void RangeRows::End(const Key& key, int64_t end, RangesRow row) {
  row.dur_ns = Between(row.end_ns, std::max(end, row.end_ns));
  row.end_ns = std::max(end, row.end_ns);
  if (output_.Has(TableId::kRangeHist)) {
    histogram_.Add(std::get<StringId>(key), row.reason.value_or(StringId::kEmpty),
                   static_cast<uint64_t>(row.dur_ns));
  }
  output_.Add(row);
}

void RangeRows::Finish(int64_t end) {
  std::vector<std::pair<Key, RangesRow>> open(open_.begin(), open_.end());
  std::sort(open.begin(), open.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [key, row] : open) {
    row.flags |= kEndMissing;
    End(key, end, row);
  }
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
