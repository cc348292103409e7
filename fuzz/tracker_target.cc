// Fuzzes the state intervals of a StateTracker: those of each goroutine, P and thread must
// partition its life, and must be the same however a trace is divided between its generations. Also
// runs what computes statistics from them.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/intervals/interval_log.h"
#include "fuzz/target.h"
#include "gotrace/analysis.h"
#include "gotrace/critical_path.h"
#include "gotrace/gc_stats.h"
#include "gotrace/go_stats.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/mutator_utilization.h"
#include "gotrace/proc_stats.h"
#include "gotrace/profile.h"
#include "gotrace/reader.h"
#include "gotrace/run_analysis.h"
#include "gotrace/task_stats.h"
#include "gotrace/task_story.h"
#include "gotrace/trace_summary.h"
#include "gotrace/trace_tables.h"

namespace gotrace::internal {
namespace {

// The trackers of parts of a trace, each of `size` generations.
struct CutTrace {
  size_t size;
  size_t generations = 0;
  std::vector<std::unique_ptr<TrackedTrace>> parts = {};

  void Add(absl::Span<const Event> events) {
    if (events.front().kind() == EventKind::kSync && generations++ % size == 0) {
      parts.push_back(std::make_unique<TrackedTrace>());
      if (parts.size() > 1) parts.back()->tracker.StartInMiddle();
    }
    parts.back()->tracker.Add(events);
  }

  std::string Merge() {
    for (size_t i = 1; i < parts.size(); ++i) {
      parts[0]->Merge(std::move(*parts[i]));
    }
    FUZZ_CHECK(parts[0]->tracker.Finish().ok(), "");
    return parts[0]->log.All();
  }
};

// Checks whether each generation states the status of whatever its events are about, as programs
// do. A Reader accepts other generations as well, but then a tracker that sees only one of them
// does not know what began in the generation before.
class StatusCheck {
 public:
  void Add(const Event& event) {
    if (event.kind() == EventKind::kSync) {
      stated_.clear();
      ++syncs_;
      return;
    }
    if (syncs_ < 2) return;
    is_complete_ &= IsStated(ResourceKind::kGoroutine, event.goroutine().value) &&
                    IsStated(ResourceKind::kProc, event.proc().value);
    if (event.kind() != EventKind::kStateTransition) return;
    const ResourceId resource = event.transition_resource();
    const bool states = event.transition_from() == event.transition_to() ||
                        event.transition_from() <= static_cast<uint8_t>(GoState::kNotExist);
    // The status of a thread states what the thread executes.
    if (states) stated_.insert({resource.kind, resource.id});
    is_complete_ &= IsStated(resource.kind, resource.id);
    // If a later generation has the number of the first one, Go's reader accepts the kind of
    // statuses that a trace begins with.
    starts_again_ |= event.transition_from() == static_cast<uint8_t>(GoState::kUndetermined);
  }

  bool is_complete() const { return is_complete_; }
  bool starts_again() const { return starts_again_; }

 private:
  bool IsStated(ResourceKind kind, int64_t id) const {
    return id == -1 || stated_.contains({kind, id});
  }

  uint64_t syncs_ = 0;
  std::set<std::pair<ResourceKind, int64_t>> stated_;
  bool is_complete_ = true;
  bool starts_again_ = false;
};

void CheckMode(absl::string_view input, ReadMode mode) {
  ReaderOptions options;
  options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
  if (!reader.ok()) return;
  TrackedTrace whole;
  CutTrace cuts[] = {{1}, {2}, {3}};
  int64_t end = std::numeric_limits<int64_t>::min();
  StatusCheck statuses;
  bool goes_back = false;
  for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
    for (const Event& event : block) {
      goes_back |= event.time() < end;
      end = std::max(end, event.time());
      statuses.Add(event);
    }
    whole.tracker.Add(block);
    for (CutTrace& cut : cuts) cut.Add(block);
  }
  FUZZ_CHECK(whole.tracker.Finish().ok(), "");
  // In strict mode, times go back only after the highest possible time.
  const bool has_gaps = mode != ReadMode::kStrict || goes_back || statuses.starts_again();
  const std::string fault =
      whole.log.FindFault(goes_back ? std::nullopt : std::optional(end), has_gaps);
  FUZZ_CHECK(fault.empty(), fault);
  FUZZ_CHECK(has_gaps || whole.log.IsInOrder(), "");
  const std::string intervals = whole.log.All();
  for (CutTrace& cut : cuts) {
    if (cut.parts.empty()) continue;
    const std::string merged = cut.Merge();
    FUZZ_CHECK(has_gaps || !statuses.is_complete() || merged == intervals,
               absl::StrCat("cut by ", cut.size, ":\n", merged, "whole:\n", intervals));
  }
}

// The pieces of each path must partition its span.
void CheckPaths(const CriticalPaths& paths, absl::Span<const GoroutineSpan> goroutines) {
  std::vector<PathSpan> spans(paths.tasks().begin(), paths.tasks().end());
  spans.insert(spans.end(), paths.regions().begin(), paths.regions().end());
  for (const GoroutineSpan& goroutine : goroutines) {
    if (const std::optional<PathSpan> span = paths.SpanOf(goroutine.goroutine))
      spans.push_back(*span);
  }
  constexpr size_t kMaxSpans = 500;
  for (const PathSpan& span : absl::MakeConstSpan(spans).first(std::min(kMaxSpans, spans.size()))) {
    const std::vector<PathPiece> pieces = paths.Find(span);
    int64_t time = span.begin;
    for (const PathPiece& piece : pieces) {
      FUZZ_CHECK(piece.begin == time && piece.end > time, "");
      time = piece.end;
    }
    FUZZ_CHECK(time == span.end, "");
    FUZZ_CHECK(paths.HadProcsDuring(pieces).size() == pieces.size(), "");
  }
}

// Rows must be in order of time.
void CheckStory(const TaskStory& story) {
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const StoryRow& row : story.rows()) {
    FUZZ_CHECK(row.begin >= last, "");
    FUZZ_CHECK(row.kind == StoryKind::kState ? row.end > row.begin : row.end == row.begin, "");
    last = row.begin;
  }
}

// The waits of a summary must be those of the goroutines, but for times that nobody saw.
void CheckSummary(const TraceSummary& summary, absl::Span<const GoroutineGroup> groups) {
  ExecutionTimes times;
  for (const GoroutineGroup& group : groups) times.Add(group.times);
  uint64_t scheduling = 0;
  uint64_t blocked = 0;
  for (const TraceSummary::Latency& latency : summary.latencies) {
    if (latency.kind == LatencyKind::kScheduling) scheduling += latency.durations.sum();
    if (latency.kind == LatencyKind::kBlocked) blocked += latency.durations.sum();
  }
  FUZZ_CHECK(scheduling <= static_cast<uint64_t>(times.RunnableWithStops()), "");
  FUZZ_CHECK(blocked <= static_cast<uint64_t>(times.BlockedTotal()), "");
  TraceSummary twice = summary;
  twice.Merge(summary);
  FUZZ_CHECK(twice.latencies.size() == summary.latencies.size(), "");
  FUZZ_CHECK(twice.events == 2 * summary.events, "");
}

// Counts the rows of tables, and adds up their numbers.
class TableSums final : public TableConsumer {
 public:
  void AddRows(const TableRows& rows) override {
    const TableInfo& info = rows.info();
    rows_[info.id] += rows.size();
    for (size_t i = 0; i < info.columns.size(); ++i) {
      const TableColumn& column = info.columns[i];
      const bool is_text = column.type == ColumnType::kName || column.type == ColumnType::kText;
      uint64_t& sum = sums_[{info.id, column.name}];
      for (size_t row = 0; row < rows.size(); ++row) {
        if (rows.IsNull(i, row)) continue;
        sum += is_text ? rows.Text(i, row).size() : rows.column(i).values[row];
      }
    }
  }

  uint64_t RowsOf(TableId id) { return rows_[id]; }
  uint64_t SumOf(TableId id, absl::string_view column) { return sums_[{id, column}]; }

 private:
  std::map<TableId, uint64_t> rows_;
  std::map<std::pair<TableId, absl::string_view>, uint64_t> sums_;
};

void CheckTables(TableSums& tables, uint64_t events, absl::Span<const GoroutineSpan> goroutines) {
  FUZZ_CHECK(tables.RowsOf(TableId::kTraces) == 1, "");
  FUZZ_CHECK(tables.RowsOf(TableId::kEvents) == events, "");
  FUZZ_CHECK(tables.RowsOf(TableId::kGoroutines) == goroutines.size(), "");
  FUZZ_CHECK(tables.RowsOf(TableId::kGStates) == tables.SumOf(TableId::kGoroutines, "transitions"),
             "");
  FUZZ_CHECK(tables.RowsOf(TableId::kGStates) == tables.SumOf(TableId::kStateHist, "count"), "");
  FUZZ_CHECK(tables.RowsOf(TableId::kRanges) == tables.SumOf(TableId::kRangeHist, "count"), "");
  uint64_t running = 0;
  uint64_t waiting = 0;
  for (const GoroutineSpan& goroutine : goroutines) {
    // Its times wrap around, of which both make what they like.
    if (goroutine.times.total < 0) return;
    running += static_cast<uint64_t>(goroutine.times.RunningWithStops());
    waiting += static_cast<uint64_t>(goroutine.times.BlockedTotal());
  }
  FUZZ_CHECK(tables.SumOf(TableId::kGoroutines, "running_ns") == running, "");
  FUZZ_CHECK(tables.SumOf(TableId::kGoroutines, "waiting_ns") == waiting, "");
}

uint64_t SumOf(const AnalysisSink& profile) {
  uint64_t sum = 0;
  for (const ProfileSample& sample :
       static_cast<const RegionProfile&>(profile.analysis()).samples()) {
    sum += static_cast<uint64_t>(sample.value.time);
  }
  return sum;
}

// However the time of goroutines is cut where regions begin and end, it must remain the same, and
// each of its pieces is in the region or not.
void CheckRegionProfiles(absl::string_view input, const ReaderOptions& options) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
  if (!reader.ok()) return;
  const auto make = [](const RegionProfile::Options& profile) {
    return std::make_unique<AnalysisSink>(With<RegionProfile>(profile), AnalysisSink::Options());
  };
  const auto all = make({});
  RegionProfile::Options by_regions;
  by_regions.by_task = by_regions.by_region = by_regions.by_label = true;
  const auto apart = make(by_regions);
  RegionProfile::Options only = by_regions;
  only.task = TaskId{1};
  const auto of_task = make(only);
  only.task.reset();
  only.region = "region";
  const auto of_type = make(only);
  by_regions.type = ProfileType::kGcAssist;
  const auto assists = make(by_regions);
  ReadInto(*reader, {all.get(), apart.get(), of_task.get(), of_type.get(), assists.get()})
      .IgnoreError();
  FUZZ_CHECK(SumOf(*apart) == SumOf(*all), "");
  if (options.mode != ReadMode::kStrict) return;
  FUZZ_CHECK(SumOf(*of_task) <= SumOf(*all), "");
  FUZZ_CHECK(SumOf(*of_type) <= SumOf(*all), "");
}

// An analysis must survive being merged after any generation, whatever that states. `arguments` are
// those of its constructor.
template <class A, class... Arguments>
void CheckMerge(absl::string_view input, const ReaderOptions& options,
                const Arguments&... arguments) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
  if (!reader.ok()) return;
  std::vector<std::unique_ptr<MergeableAnalysisSink<A>>> parts;
  while (const Event* const event = reader->Next()) {
    if (event->kind() == EventKind::kSync || parts.empty()) {
      parts.push_back(std::make_unique<MergeableAnalysisSink<A>>(With<A>(arguments...),
                                                                 AnalysisSink::Options()));
      if (parts.size() > 1) parts.back()->StartInMiddle(/*trace_start=*/0);
    }
    parts.back()->Add(absl::MakeConstSpan(event, 1));
  }
  for (size_t i = 1; i < parts.size(); ++i) parts[0]->Merge(std::move(*parts[i]));
  if (!parts.empty()) FUZZ_CHECK(parts[0]->Finish().ok(), "");
}

void CheckMerges(absl::string_view input, const ReaderOptions& options) {
  CheckMerge<TaskStats>(input, options, EventFilter());
  CheckMerge<GcStats>(input, options, EventFilter::Times());
  CheckMerge<ProcStats>(input, options, EventFilter());
  CheckMerge<MutatorUtilization>(
      input, options,
      MutatorUtilization::Options{.stw = true, .background = true, .assist = true, .sweep = true});
}

// What is computed from intervals must add up.
void CheckAnalyses(absl::string_view input, ReadMode mode) {
  ReaderOptions options;
  options.mode = mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(input, options);
  if (!reader.ok()) return;
  AnalysisSink goroutines(
      [](Interner* interner) {
        return std::make_unique<GoroutineStats>(interner, GoroutineStats::Options{true});
      },
      {});
  AnalysisSink tasks(
      [](Interner* interner) { return std::make_unique<TaskStats>(interner, EventFilter()); }, {});
  AnalysisSink paths(
      [](Interner* interner) {
        return std::make_unique<CriticalPaths>(interner, CriticalPaths::Options{{}, true});
      },
      {});
  AnalysisSink story(
      [](Interner* interner) {
        return std::make_unique<TaskStory>(interner, TaskId{1}, EventFilter::Times());
      },
      {});
  AnalysisSink gc(
      [](Interner* interner) { return std::make_unique<GcStats>(interner, EventFilter::Times()); },
      {});
  AnalysisSink summary(
      [](Interner* interner) {
        return std::make_unique<SummaryStats>(interner, EventFilter::Times());
      },
      {});
  Interner interner;
  GoCompatibleStats go(&interner);
  TableSums sums_of_tables;
  TableOptions table_options;
  for (const TableInfo& table : AllTables()) {
    table_options.of(table.id) = TableOptions::kAllColumns;
  }
  TraceTables tables(&*reader, table_options, &sums_of_tables);
  ReadInto(*reader, {&goroutines, &tasks, &paths, &story, &gc, &summary, &go, &tables})
      .IgnoreError();
  const auto& stats = static_cast<const GoroutineStats&>(goroutines.analysis());
  CheckTables(sums_of_tables, reader->event_count(), stats.goroutines());
  CheckPaths(static_cast<const CriticalPaths&>(paths.analysis()), stats.goroutines());
  CheckStory(static_cast<const TaskStory&>(story.analysis()));
  CheckSummary(static_cast<const SummaryStats&>(summary.analysis()).summary(), stats.groups());
  std::map<StringId, ExecutionTimes> sums;
  for (const GoroutineSpan& goroutine : stats.goroutines())
    sums[goroutine.name].Add(goroutine.times);
  FUZZ_CHECK(stats.groups().size() == sums.size(), "");
  for (const GoroutineGroup& group : stats.groups()) {
    FUZZ_CHECK(group.times.total == sums[group.name].total, "");
    FUZZ_CHECK(group.times.running == sums[group.name].running, "");
    FUZZ_CHECK(group.times.StoppedTotal() == sums[group.name].StoppedTotal(), "");
    FUZZ_CHECK(group.times.BlockedTotal() == sums[group.name].BlockedTotal(), "");
    FUZZ_CHECK(group.total.count() == group.count, "");
  }
  const auto& spans = static_cast<const TaskStats&>(tasks.analysis());
  uint64_t regions = 0;
  for (const SpanGroup& group : GroupByType(spans.regions(), tasks.interner())) {
    regions += group.count;
  }
  FUZZ_CHECK(regions == spans.regions().size(), "");
  // For Go each id has one goroutine.
  FUZZ_CHECK(go.goroutines().size() <= stats.goroutines().size() || mode != ReadMode::kStrict, "");
}

}  // namespace

void RunTarget(absl::string_view input) {
  for (const ReadMode mode : {ReadMode::kStrict, ReadMode::kCollect, ReadMode::kSalvage}) {
    CheckMode(input, mode);
    CheckAnalyses(input, mode);
    ReaderOptions options;
    options.mode = mode;
    CheckRegionProfiles(input, options);
    CheckMerges(input, options);
  }
}

}  // namespace gotrace::internal
