#include "tools/commands/time_columns.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gotrace::internal {

std::vector<NamedNumber> NumbersOf(const NamedTimes& times, const Interner& interner) {
  std::vector<NamedNumber> numbers;
  for (const NamedTime& time : times) numbers.push_back({interner.String(time.name), time.time});
  return numbers;
}

std::string HistogramJson(const Histogram& histogram) {
  return absl::StrCat("{\"scale\":", Histogram::kScale, ",\"offset\":", histogram.first_bucket(),
                      ",\"counts\":[", absl::StrJoin(histogram.counts(), ","), "]}");
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
  if (is_compatible && !filter.filter.stacks.MatchesAll()) {
    return absl::InvalidArgumentError("--compat=go works only without --stack");
  }
  const bool has_times = !filter.filter.times.MatchesAll() ||
                         !filter.filter.since_start.MatchesAll() || filter.has_wall_times();
  if (!is_compatible || !has_times) return absl::OkStatus();
  return absl::InvalidArgumentError("--compat=go works only without --from and --to");
}

}  // namespace gotrace::internal
