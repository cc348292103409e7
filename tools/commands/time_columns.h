// Columns and flags that the tables of goroutines, tasks and regions share.
#ifndef GOTRACE_TOOLS_COMMANDS_TIME_COLUMNS_H_
#define GOTRACE_TOOLS_COMMANDS_TIME_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "export/table/table.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/histogram.h"
#include "gotrace/ids.h"
#include "gotrace/interner.h"
#include "tools/cli/flags.h"
#include "tools/cli/shared_flags.h"

namespace gotrace::internal {

// Returns a time, or an empty cell.
Cell CellOf(const std::optional<int64_t>& time);

// Returns a number, or an empty cell for nullopt.
Cell CellOf(const std::optional<uint64_t>& number);
Cell CellOf(GoId goroutine);
Cell CellOf(ProcId proc);
Cell CellOf(TaskId task);

// Appends the columns total_ns, running_ns and so on, from the times of a row. `interner` must
// outlive the columns.
void AppendTimeColumns(const Interner& interner,
                       std::function<const ExecutionTimes&(size_t row)> times,
                       std::vector<Column>* columns);

// Appends the smallest and the largest value of a distribution, and quantiles: "total_min_ns",
// "total_p50_ns" and so on, or "min_ns" and so on if `name` is "". `is_shown` says whether people
// see some of them.
void AppendQuantileColumns(absl::string_view name, bool is_shown,
                           std::function<const Histogram&(size_t row)> histogram,
                           std::vector<Column>* columns);

// Returns a distribution as JSON, in the terms of OpenTelemetry's exponential histograms:
// {"scale":4,"offset":B,"counts":[N,...]}, where scale is Histogram::kScale, and counts are the
// counts of the buckets from B on. It can be merged with others exactly; docs/analyses.md has the
// formula.
std::string HistogramJson(const Histogram& histogram);

// --compat=go
Flag CompatFlag(bool* is_compatible);

// Returns an error if the filter selects only a part of the trace, since Go's numbers are for whole
// traces.
absl::Status CheckCompat(bool is_compatible, const FilterFlags& filter);

}  // namespace gotrace::internal

#endif  // GOTRACE_TOOLS_COMMANDS_TIME_COLUMNS_H_
