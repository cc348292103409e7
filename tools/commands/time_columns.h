// Columns and flags that the tables of goroutines, tasks and regions share.
#ifndef GOTRACE_TOOLS_COMMANDS_TIME_COLUMNS_H_
#define GOTRACE_TOOLS_COMMANDS_TIME_COLUMNS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "export/table/table.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/histogram.h"
#include "gotrace/interner.h"
#include "tools/cli/flags.h"
#include "tools/cli/shared_flags.h"

namespace gotrace::internal {

// Returns the times with the names themselves.
std::vector<NamedNumber> NumbersOf(const NamedTimes& times, const Interner& interner);

// Returns the columns total_ns, running_ns and so on, for ColumnList::Add(). `times` is the member
// of a row with its ExecutionTimes. `interner` must outlive the columns.
template <class Times>
auto TimeColumns(const Interner& interner, Times times) {
  return [&interner, times](auto* columns) {
    constexpr Unit kTime = Unit::kNanoseconds;
    const auto time = [times](auto one) {
      return [=](const auto& row) { return std::invoke(one, std::invoke(times, row)); };
    };
    const auto named = [&interner, times](NamedTimes ExecutionTimes::*some) {
      return [&interner, times, some](const auto& row) {
        return NumbersOf(std::invoke(times, row).*some, interner);
      };
    };
    columns->Add("total_ns", "TOTAL", kTime, time(&ExecutionTimes::total))
        .Add("running_ns", "RUNNING", kTime, time(&ExecutionTimes::running))
        .Add("runnable_ns", "RUNNABLE", kTime, time(&ExecutionTimes::runnable))
        .Add("stopped_running_ns", "", kTime, time(&ExecutionTimes::stopped_running))
        .Add("stopped_runnable_ns", "", kTime, time(&ExecutionTimes::stopped_runnable))
        .Add("stopped_total_ns", "STOPPED", kTime, time(&ExecutionTimes::StoppedTotal))
        .Add("syscall_ns", "SYSCALL", kTime, time(&ExecutionTimes::syscall))
        .Add("syscall_blocked_ns", "NO P", kTime, time(&ExecutionTimes::syscall_blocked))
        .Add("unknown_ns", "", kTime, time(&ExecutionTimes::Unknown))
        .Add("blocked_total_ns", "BLOCKED", kTime, time(&ExecutionTimes::BlockedTotal))
        .Add("blocked_ns", "BLOCKED ON", kTime, named(&ExecutionTimes::blocked))
        .Add("stopped_ns", "", kTime, named(&ExecutionTimes::stopped))
        .Add("ranges_ns", "", kTime, named(&ExecutionTimes::ranges));
  };
}

// Returns the columns of the smallest and the largest value of a distribution, and of quantiles,
// for ColumnList::Add(): "total_min_ns", "total_p50_ns" and so on, or "min_ns" and so on if `name`
// is "". `is_shown` says whether people see some of them. `histogram` is the member of a row with
// the distribution.
template <class Row>
auto QuantileColumns(absl::string_view name, bool is_shown, Histogram Row::*histogram) {
  return [=](ColumnList<Row>* columns) {
    const auto add = [&](absl::string_view quantile, absl::string_view title, double q) {
      columns->Add(absl::StrCat(name, name.empty() ? "" : "_", quantile, "_ns"),
                   is_shown ? title : "", Unit::kNanoseconds, [=](const Row& row) {
                     const Histogram& durations = row.*histogram;
                     return durations.count() == 0 ? Cell() : CellOf(durations.Quantile(q));
                   });
    };
    add("min", "", 0);
    add("p50", "P50", 0.5);
    add("p90", "", 0.9);
    add("p99", "P99", 0.99);
    add("max", "MAX", 1);
  };
}

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
