#include "tools/commands/time_columns.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gotrace::internal {
namespace {

std::vector<NamedNumber> Numbers(const NamedTimes& times, const Interner& interner) {
  std::vector<NamedNumber> numbers;
  for (const NamedTime& time : times) numbers.push_back({interner.String(time.name), time.time});
  return numbers;
}

}  // namespace

Cell CellOf(const std::optional<int64_t>& time) { return time.has_value() ? Cell(*time) : Cell(); }
Cell CellOf(const std::optional<uint64_t>& number) {
  return number.has_value() ? Cell(static_cast<int64_t>(*number)) : Cell();
}
Cell CellOf(GoId goroutine) { return goroutine == GoId::kNone ? Cell() : Cell(goroutine.value); }
Cell CellOf(ProcId proc) { return proc == ProcId::kNone ? Cell() : Cell(proc.value); }
Cell CellOf(TaskId task) {
  return task == TaskId::kNone ? Cell() : Cell(static_cast<int64_t>(task.value));
}

std::string HistogramJson(const Histogram& histogram) {
  return absl::StrCat("{\"scale\":", Histogram::kScale, ",\"offset\":", histogram.first_bucket(),
                      ",\"counts\":[", absl::StrJoin(histogram.counts(), ","), "]}");
}

void AppendTimeColumns(const Interner& interner,
                       std::function<const ExecutionTimes&(size_t row)> times,
                       std::vector<Column>* columns) {
  struct Number {
    absl::string_view name;
    absl::string_view title;
    int64_t (*of)(const ExecutionTimes& times);
  };
  constexpr Number kNumbers[] = {
      {"total_ns", "TOTAL", [](const ExecutionTimes& t) { return t.total; }},
      {"running_ns", "RUNNING", [](const ExecutionTimes& t) { return t.running; }},
      {"runnable_ns", "RUNNABLE", [](const ExecutionTimes& t) { return t.runnable; }},
      {"syscall_ns", "SYSCALL", [](const ExecutionTimes& t) { return t.syscall; }},
      {"syscall_blocked_ns", "NO P", [](const ExecutionTimes& t) { return t.syscall_blocked; }},
      {"unknown_ns", "", [](const ExecutionTimes& t) { return t.Unknown(); }},
      {"blocked_total_ns", "BLOCKED", [](const ExecutionTimes& t) { return t.BlockedTotal(); }},
  };
  for (const Number& number : kNumbers) {
    columns->push_back({.name = std::string(number.name),
                        .title = number.title,
                        .unit = Unit::kNanoseconds,
                        .value = [=](size_t row) { return Cell(number.of(times(row))); }});
  }
  columns->push_back({.name = "blocked_ns",
                      .title = "BLOCKED ON",
                      .unit = Unit::kNanoseconds,
                      .value = [=, &interner](size_t row) {
                        return Cell(Numbers(times(row).blocked, interner));
                      }});
  columns->push_back(
      {.name = "ranges_ns",
       .title = "",
       .unit = Unit::kNanoseconds,
       .value = [=, &interner](size_t row) { return Cell(Numbers(times(row).ranges, interner)); }});
}

void AppendQuantileColumns(absl::string_view name, bool is_shown,
                           std::function<const Histogram&(size_t row)> histogram,
                           std::vector<Column>* columns) {
  struct Quantile {
    absl::string_view name;
    absl::string_view title;  // For people; "" if they never see it.
    double q;
  };
  constexpr Quantile kQuantiles[] = {{"min", "", 0},
                                     {"p50", "P50", 0.5},
                                     {"p90", "", 0.9},
                                     {"p99", "P99", 0.99},
                                     {"max", "MAX", 1}};
  for (const Quantile& quantile : kQuantiles) {
    columns->push_back({.name = absl::StrCat(name, name.empty() ? "" : "_", quantile.name, "_ns"),
                        .title = is_shown ? quantile.title : "",
                        .unit = Unit::kNanoseconds,
                        .value = [=](size_t row) {
                          return Cell(static_cast<int64_t>(histogram(row).Quantile(quantile.q)));
                        }});
  }
}

Flag CompatFlag(bool* is_compatible) {
  return {.name = "compat",
          .value = "go",
          .help =
              "Print the numbers of Go's tools, whether right or wrong. "
              "analysis/DIVERGENCES.md lists the differences.",
          .set = SetChoice({"go"}, [=](size_t) { *is_compatible = true; })};
}

absl::Status CheckCompat(bool is_compatible, const FilterFlags& filter) {
  const bool has_times = !filter.filter.times.MatchesAll() ||
                         !filter.filter.since_start.MatchesAll() || filter.has_wall_times();
  if (!is_compatible || !has_times) return absl::OkStatus();
  return absl::InvalidArgumentError("--compat=go works only without --from and --to");
}

}  // namespace gotrace::internal
