#include "analysis/core/stats_text.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "util/quote.h"

namespace gotrace::internal {
namespace {

std::string TextOf(const Interner& interner, const ExecutionTimes& times) {
  std::string text = absl::StrJoin(
      {times.total, times.running, times.runnable, times.syscall, times.syscall_blocked}, "\t");
  for (const NamedTime& reason : times.blocked) {
    absl::StrAppend(&text, "\tblock:", interner.String(reason.name), "=", reason.time);
  }
  for (const NamedTime& reason : times.stopped) {
    absl::StrAppend(&text, "\tstop:", interner.String(reason.name), "=", reason.time);
  }
  for (const NamedTime& range : times.ranges) {
    absl::StrAppend(&text, "\trange:", interner.String(range.name), "=", range.time);
  }
  return text;
}

std::string TextOf(const std::optional<int64_t>& time) {
  return time.has_value() ? absl::StrCat(*time) : "-";
}

}  // namespace

std::string TextOf(const Interner& interner, const GoroutineSpan& span) {
  return absl::StrCat("goroutine\t", span.goroutine.value, "\t", Quoted(interner.String(span.name)),
                      "\t", span.creation, "\t", span.start.value_or(0), "\t", span.end.value_or(0),
                      "\t", TextOf(interner, span.times), "\n");
}

std::string TextOf(const Interner& interner, const RegionSpan& region) {
  return absl::StrCat("region\t", region.goroutine.value, "\t", region.task.value, "\t",
                      Quoted(interner.String(region.type)), "\t", TextOf(region.begin), "\t",
                      TextOf(region.end), "\t", TextOf(interner, region.times), "\n");
}

std::string TextOf(const Interner& interner, const TaskSpan& task) {
  const std::string parent = task.parent == TaskId::kNone ? "-" : absl::StrCat(task.parent.value);
  return absl::StrCat("task\t", task.task.value, "\t", parent, "\t",
                      Quoted(interner.String(task.type)), "\t", TextOf(task.begin), "\t",
                      TextOf(task.end), "\t", task.regions, "\t", task.logs, "\t", task.goroutines,
                      "\n");
}

std::string TextOf(const Interner& interner, const GoroutineGroup& group) {
  std::string text = absl::StrCat("group\t", Quoted(interner.String(group.name)), "\t", group.count,
                                  "\t", TextOf(interner, group.times));
  for (const Histogram* const histogram :
       {&group.total, &group.running, &group.runnable, &group.blocked, &group.syscall}) {
    absl::StrAppend(&text, "\t", histogram->count(), " ", histogram->sum(), " ", histogram->min(),
                    " ", histogram->Quantile(0.5), " ", histogram->Quantile(0.99), " ",
                    histogram->max());
  }
  return absl::StrCat(text, "\n");
}

}  // namespace gotrace::internal
