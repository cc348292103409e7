#include "gotrace/trace_tables.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "analysis/core/built_events.h"
#include "analysis/core/time_sums.h"
#include "analysis/tables/content_hash.h"
#include "gotrace/analysis.h"
#include "gotrace/event_kind.h"
#include "gotrace/goroutine_stats.h"
#include "gotrace/latency_stats.h"
#include "gotrace/proc_stats.h"
#include "gotrace/reader.h"
#include "gotrace/task_stats.h"
#include "gtest/gtest.h"
#include "parser/source/file_state.h"
#include "testdata/test_data.h"

namespace gotrace::internal {
namespace trace_tables_test {

// The cells of a row, by the names of their columns.
class Row {
 public:
  Row(const TableRows& rows, size_t row) : info_(&rows.info()), cells_(info_->columns.size()) {
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (rows.column(i).values.empty()) continue;
      Value& value = cells_[i];
      value.is_made = true;
      value.is_null = rows.IsNull(i, row);
      EXPECT_TRUE(info_->columns[i].is_nullable || !value.is_null);
      if (value.is_null) continue;
      value.number = rows.column(i).values[row];
      if (IsText(i)) value.text = std::string(rows.Text(i, row));
    }
  }

  size_t MadeColumns() const {
    return static_cast<size_t>(std::count_if(cells_.begin(), cells_.end(),
                                             [](const Value& value) { return value.is_made; }));
  }

  // NULL is nullopt.
  std::optional<std::string> Cell(absl::string_view column) const {
    const size_t index = Index(column);
    const Value& value = cells_[index];
    if (value.is_null) return std::nullopt;
    if (IsText(index)) return value.text;
    return info_->columns[index].type == ColumnType::kInt64
               ? absl::StrCat(static_cast<int64_t>(value.number))
               : absl::StrCat(value.number);
  }
  // NULL is "".
  std::string Text(absl::string_view column) const { return Cell(column).value_or(""); }
  std::optional<int64_t> NumberOrNull(absl::string_view column) const {
    const size_t index = Index(column);
    EXPECT_FALSE(IsText(index)) << column;
    const Value& value = cells_[index];
    return value.is_null ? std::nullopt : std::optional(static_cast<int64_t>(value.number));
  }
  int64_t Number(absl::string_view column) const {
    const std::optional<int64_t> number = NumberOrNull(column);
    EXPECT_TRUE(number.has_value()) << column;
    return number.value_or(0);
  }

  // "a=1 b=NULL", of the columns.
  std::string Show(const std::vector<std::string>& columns) const {
    std::string text;
    for (const std::string& column : columns) {
      absl::StrAppend(&text, text.empty() ? "" : " ", column, "=", Cell(column).value_or("NULL"));
    }
    return text;
  }

 private:
  struct Value {
    bool is_made = false;
    bool is_null = false;
    uint64_t number = 0;
    std::string text;
  };

  bool IsText(size_t column) const {
    const ColumnType type = info_->columns[column].type;
    return type == ColumnType::kName || type == ColumnType::kText;
  }

  size_t Index(absl::string_view column) const {
    const std::optional<size_t> index = info_->FindColumn(column);
    EXPECT_TRUE(index.has_value()) << column;
    EXPECT_TRUE(cells_[index.value()].is_made) << column;
    return *index;
  }

  const TableInfo* info_;
  std::vector<Value> cells_;
};

class Rows final : public TableConsumer {
 public:
  void AddRows(const TableRows& rows) override {
    EXPECT_GT(rows.size(), 0u);
    std::vector<Row>& all = tables_[rows.info().id];
    for (size_t row = 0; row < rows.size(); ++row) all.emplace_back(rows, row);
  }

  const std::vector<Row>& of(TableId id) { return tables_[id]; }

 private:
  std::map<TableId, std::vector<Row>> tables_;
};

TableOptions AllOfThem() {
  TableOptions options;
  for (const TableInfo& table : AllTables()) options.of(table.id) = TableOptions::kAllColumns;
  options.rows = 100;
  options.source = "a.trace";
  return options;
}

// Reads the trace into tables, and also into an analysis unless that is nullptr.
Rows ReadTables(absl::string_view bytes, const TableOptions& options, EventSink* analysis = nullptr,
                const ReaderOptions& reader_options = {}) {
  Rows rows;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, reader_options);
  EXPECT_TRUE(reader.ok());
  if (!reader.ok()) return rows;
  TraceTables tables(&*reader, options, &rows);
  std::vector<EventSink*> sinks = {&tables};
  if (analysis != nullptr) sinks.push_back(analysis);
  ReadInto(*reader, sinks).IgnoreError();
  return rows;
}

Rows TablesOf(const BuiltEvents& trace, const TableOptions& options) {
  // The reader is not asked for events.
  const std::string header = "go 1.26 trace" + std::string(3, '\0');
  absl::StatusOr<Reader> reader = Reader::FromBytes(header);
  Rows rows;
  EXPECT_TRUE(reader.ok());
  TraceTables tables(&*reader, options, &rows);
  tables.Add(trace.events());
  EXPECT_TRUE(tables.Finish().ok());
  return rows;
}

template <class Stats, class... Args>
std::unique_ptr<AnalysisSink> SinkOf(Args... args) {
  return std::make_unique<AnalysisSink>(
      [=](Interner* interner) { return std::make_unique<Stats>(interner, args...); },
      AnalysisSink::Options());
}

template <class Stats>
const Stats& StatsOf(const AnalysisSink& sink) {
  return static_cast<const Stats&>(sink.analysis());
}

// What the columns of times have: running, runnable, waiting, syscall, stopped while running, and
// stopped while runnable.
using Times = std::array<int64_t, 6>;

Times TimesOf(const ExecutionTimes& times) {
  return {times.RunningWithStops(), times.RunnableWithStops(),
          times.BlockedTotal(),     times.syscall + times.syscall_blocked,
          times.stopped_running,    times.stopped_runnable};
}
Times TimesOf(const Row& row) {
  return {row.Number("running_ns"),         row.Number("runnable_ns"),
          row.Number("waiting_ns"),         row.Number("syscall_ns"),
          row.Number("stopped_running_ns"), row.Number("stopped_runnable_ns")};
}
void AddTo(const Times& times, Times* sum) {
  for (size_t i = 0; i < times.size(); ++i) (*sum)[i] += times[i];
}

TEST(TraceTables, HaveARowForEachEvent) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string bytes = ReadTestTrace(test.name);
    Rows rows = ReadTables(bytes, AllOfThem());
    EXPECT_EQ(rows.of(TableId::kEvents).size(), test.events);

    ASSERT_EQ(rows.of(TableId::kTraces).size(), 1);
    const Row& trace = rows.of(TableId::kTraces)[0];
    EXPECT_EQ(trace.Number("events"), static_cast<int64_t>(test.events));
    EXPECT_EQ(trace.Number("bytes"), static_cast<int64_t>(test.size));
    EXPECT_EQ(trace.Text("complete"), "1");
    EXPECT_EQ(trace.Number("faults"), 0);
    EXPECT_EQ(trace.Cell("error"), std::nullopt);
    EXPECT_EQ(trace.Cell("service"), std::nullopt);
    EXPECT_EQ(trace.Text("source"), "a.trace");
    // Go 1.24 and 1.27 have the formats of the releases before.
    std::string version = test.name.substr(2, 4);
    if (version == "1.24") version = "1.23";
    if (version == "1.27") version = "1.26";
    EXPECT_EQ(trace.Text("go_version"), version);

    // The generations have all of it but the end.
    const std::vector<Row>& generations = rows.of(TableId::kGenerations);
    ASSERT_FALSE(generations.empty());
    int64_t events = 0;
    int64_t end = 16;  // The header.
    for (const Row& row : generations) {
      events += row.Number("events");
      // A marker of one byte may follow a generation.
      EXPECT_TRUE(row.Number("offset") == end || row.Number("offset") == end + 1);
      end = row.Number("offset") + row.Number("bytes");
      EXPECT_GT(row.Number("batches"), 0);
      EXPECT_GT(row.Number("strings"), 0);
      EXPECT_EQ(row.Number("damaged"), 0);
      EXPECT_LE(row.Number("begin_ns"), row.Number("end_ns"));
      EXPECT_EQ(row.Cell("clock_wall_ns").has_value(), trace.Cell("wall_begin_ns").has_value());
    }
    EXPECT_EQ(events + 1, static_cast<int64_t>(test.events));
    EXPECT_TRUE(end == static_cast<int64_t>(test.size) ||
                end + 1 == static_cast<int64_t>(test.size));
    EXPECT_EQ(generations.front().Number("begin_ns"), trace.Number("begin_ns"));
    EXPECT_EQ(trace.Cell("wall_begin_ns").has_value(), test.name >= "go1.25");
    const Row& first = generations.front();
    if (trace.Cell("wall_begin_ns").has_value()) {
      EXPECT_EQ(
          first.Number("clock_wall_ns") - first.Number("clock_trace_ns") + first.Number("begin_ns"),
          trace.Number("wall_begin_ns"));
    }
  }
}

TEST(TraceTables, AreSorted) {
  int64_t compared = 0;
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    Rows rows = ReadTables(ReadTestTrace(test.name), AllOfThem());
    for (const TableInfo& table : AllTables()) {
      if (table.order.empty()) continue;
      SCOPED_TRACE(table.name);
      const std::string order(table.order);
      const TableColumn& column = table.columns[*table.FindColumn(order)];
      const std::vector<Row>& all = rows.of(table.id);
      for (size_t i = 1; i < all.size(); ++i, ++compared) {
        if (column.type == ColumnType::kInt64) {
          ASSERT_LE(all[i - 1].Number(order), all[i].Number(order));
        } else if (all[i].Cell(order).has_value()) {
          // NULL comes last.
          ASSERT_TRUE(all[i - 1].Cell(order).has_value());
          ASSERT_LE(all[i - 1].Text(order), all[i].Text(order));
        }
      }
    }
  }
  EXPECT_GT(compared, TestRounds(100'000));
}

// To the nanosecond.
TEST(TraceTables, HaveTheTimesOfGoroutines) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const auto sink = SinkOf<GoroutineStats>(GoroutineStats::Options{.keep_each = true});
    Rows rows = ReadTables(ReadTestTrace(test.name), AllOfThem(), sink.get());
    std::map<int64_t, Times> expected;
    std::multiset<std::string> spans;
    for (const GoroutineSpan& span : StatsOf<GoroutineStats>(*sink).goroutines()) {
      AddTo(TimesOf(span.times), &expected[span.goroutine.value]);
      spans.insert(absl::StrCat(span.goroutine.value, " ", sink->interner().String(span.name), " ",
                                span.is_older ? -1 : span.creation, " ", span.end.value_or(-1)));
    }

    std::map<int64_t, Times> of_states;
    for (const Row& row : rows.of(TableId::kGStates)) {
      const std::vector<std::string> states = {"Running", "Runnable", "Waiting", "Syscall"};
      const auto state = std::find(states.begin(), states.end(), row.Text("state"));
      ASSERT_NE(state, states.end());
      Times times = {};
      times[state - states.begin()] = row.Number("dur_ns");
      const int64_t stopped = row.Number("stopped_ns");
      EXPECT_EQ(stopped > 0, row.Cell("stop_reason").has_value());
      EXPECT_TRUE(stopped == 0 || row.Text("state") == "Running" ||
                  row.Text("state") == "Runnable");
      times[row.Text("state") == "Running" ? 4 : 5] = stopped;
      AddTo(times, &of_states[row.Number("g")]);
    }
    EXPECT_EQ(of_states, expected);

    std::map<int64_t, Times> of_goroutines;
    std::multiset<std::string> rows_of_spans;
    for (const Row& row : rows.of(TableId::kGoroutines)) {
      AddTo(TimesOf(row), &of_goroutines[row.Number("g")]);
      rows_of_spans.insert(absl::StrCat(row.Number("g"), " ", row.Text("name"), " ",
                                        row.NumberOrNull("begin_ns").value_or(-1), " ",
                                        row.NumberOrNull("end_ns").value_or(-1)));
      EXPECT_EQ(row.Text("is_system") == "1",
                absl::StartsWith(row.Text("name"), "runtime") && row.Text("name") != "runtime.main")
          << row.Text("name");
    }
    EXPECT_EQ(of_goroutines, expected);
    EXPECT_EQ(rows_of_spans, spans);
  }
}

TEST(TraceTables, PartitionLifetimes) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    Rows rows = ReadTables(ReadTestTrace(test.name), AllOfThem());
    const Row& trace = rows.of(TableId::kTraces)[0];
    std::map<int64_t, std::vector<const Row*>> states;
    std::map<int64_t, int64_t> transitions;
    for (const Row& row : rows.of(TableId::kGStates)) {
      std::vector<const Row*>& of = states[row.Number("g")];
      const int64_t begin = row.Number("end_ns") - row.Number("dur_ns");
      const int64_t flags = row.Number("flags");
      EXPECT_EQ((flags & 2) != 0, !row.Cell("next_state").has_value());
      EXPECT_EQ(row.Text("ended_by") == "unknown" || row.Text("ended_by") == "goroutine" ||
                    !row.Cell("waker_g").has_value(),
                true);
      if (of.empty() || of.back()->Text("next_state") == "NotExist") {
        EXPECT_TRUE((flags & 1) == 0 || begin == trace.Number("begin_ns"));
      } else {
        EXPECT_EQ(begin, of.back()->Number("end_ns"));
        EXPECT_EQ(row.Text("state"), of.back()->Text("next_state"));
        EXPECT_EQ(flags & 1, 0);
      }
      EXPECT_TRUE((flags & 2) == 0 || row.Number("end_ns") == trace.Number("end_ns"));
      of.push_back(&row);
    }
    for (const Row& row : rows.of(TableId::kGoroutines)) {
      const int64_t g = row.Number("g");
      transitions[g] += row.Number("transitions");
      const auto last = std::find_if(states[g].rbegin(), states[g].rend(), [&](const Row* state) {
        return state->Number("end_ns") ==
               row.NumberOrNull("end_ns").value_or(trace.Number("end_ns"));
      });
      ASSERT_NE(last, states[g].rend());
      EXPECT_EQ(row.Text("last_state"), (*last)->Text("state"));
      EXPECT_EQ(row.Cell("last_reason"), (*last)->Cell("reason"));
      EXPECT_EQ(row.Cell("last_stack_id"), (*last)->Cell("stack_id"));
      EXPECT_EQ(row.Number("last_state_ns"), (*last)->Number("dur_ns"));
    }
    for (const auto& [g, count] : transitions) {
      EXPECT_EQ(count, static_cast<int64_t>(states[g].size()));
    }
    // Ps and threads too.
    for (const auto& [table, id] : {std::pair(TableId::kPStates, "p"), {TableId::kMStates, "m"}}) {
      std::map<int64_t, int64_t> ends;
      for (const Row& row : rows.of(table)) {
        const auto [end, is_first] = ends.try_emplace(row.Number(id));
        const int64_t begin = row.Number("end_ns") - row.Number("dur_ns");
        // A P does not exist while GOMAXPROCS is too small for it.
        EXPECT_TRUE(is_first || end->second == begin ||
                    (table == TableId::kPStates && end->second < begin));
        end->second = row.Number("end_ns");
      }
      for (const auto& [_, end] : ends) {
        EXPECT_TRUE(end == trace.Number("end_ns") ||
                    (table == TableId::kPStates && end < trace.Number("end_ns")));
      }
      EXPECT_FALSE(ends.empty());
    }
  }
}

// The sums of the rows of Ps that are idle.
std::map<int64_t, int64_t> IdleTimes(Rows* rows) {
  std::map<int64_t, int64_t> times;
  for (const Row& row : rows->of(TableId::kPStates)) {
    if (row.Text("state") == "Idle") times[row.Number("p")] += row.Number("dur_ns");
  }
  return times;
}

std::unique_ptr<AnalysisSink> ProcSink() {
  return std::make_unique<AnalysisSink>(
      [](Interner* interner) { return std::make_unique<ProcStats>(interner, EventFilter()); },
      AnalysisSink::Options());
}

std::map<int64_t, int64_t> IdleTimes(const AnalysisSink& sink) {
  std::map<int64_t, int64_t> times;
  for (const ProcUse& use : StatsOf<ProcStats>(sink).procs()) {
    const int64_t idle = use.times.idle + use.times.stopped;
    if (idle > 0) times[use.proc.value] = idle;
  }
  return times;
}

TEST(TraceTables, HaveTheIdleTimesOfProcs) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const std::unique_ptr<AnalysisSink> procs = ProcSink();
    Rows rows = ReadTables(ReadTestTrace(test.name), AllOfThem(), procs.get());
    const std::map<int64_t, int64_t> expected = IdleTimes(*procs);
    const std::map<int64_t, int64_t> times = IdleTimes(&rows);
    EXPECT_EQ(times, expected);
  }
}

// There is no P whose id is not below GOMAXPROCS.
TEST(TraceTables, LeaveOutPsAboveTheLimit) {
  using enum EventType;
  constexpr ProcState kUnknown = ProcState::kUndetermined;
  constexpr ProcState kIdle = ProcState::kIdle;
  constexpr ProcState kRunning = ProcState::kRunning;
  BuiltEvents trace;
  trace.Sync(100, 1);
  trace.Number(kProcsChange, 100, 3);
  trace.Proc(kProcStatus, 101, 0, kUnknown, kRunning);
  trace.Proc(kProcStatus, 102, 1, kUnknown, kIdle);
  trace.Proc(kProcStatus, 103, 2, kUnknown, kIdle);
  trace.Proc(kProcStart, 110, 2, kIdle, kRunning);
  trace.Proc(kProcStop, 120, 2, kRunning, kIdle);
  trace.Number(kProcsChange, 130, 1);
  trace.Number(kProcsChange, 150, 2);
  trace.Number(kProcsChange, 160, 4);
  trace.Proc(kProcStart, 170, 1, kIdle, kRunning);
  trace.Proc(kProcStatus, 175, 3, kUnknown, kIdle);
  trace.Proc(kProcStart, 180, 3, kIdle, kRunning);
  trace.Sync(200, 2);
  Rows rows = TablesOf(trace, AllOfThem());
  std::vector<std::string> states;
  for (const Row& row : rows.of(TableId::kPStates)) {
    states.push_back(row.Show({"end_ns", "dur_ns", "p", "state", "flags"}));
  }
  EXPECT_EQ(states, (std::vector<std::string>{
                        "end_ns=110 dur_ns=10 p=2 state=Idle flags=1",
                        "end_ns=120 dur_ns=10 p=2 state=Running flags=0",
                        "end_ns=130 dur_ns=30 p=1 state=Idle flags=1",
                        "end_ns=130 dur_ns=10 p=2 state=Idle flags=0",
                        "end_ns=170 dur_ns=20 p=1 state=Idle flags=0",
                        "end_ns=180 dur_ns=20 p=3 state=Idle flags=0",
                        "end_ns=200 dur_ns=100 p=0 state=Running flags=3",
                        "end_ns=200 dur_ns=30 p=1 state=Running flags=2",
                        "end_ns=200 dur_ns=40 p=2 state=Idle flags=2",
                        "end_ns=200 dur_ns=20 p=3 state=Running flags=2",
                    }));
  const std::unique_ptr<AnalysisSink> procs = ProcSink();
  procs->Add(trace.events());
  ASSERT_TRUE(procs->Finish().ok());
  EXPECT_EQ(IdleTimes(&rows), IdleTimes(*procs));
}

TEST(TraceTables, HaveTheTimesOfTasksAndRegions) {
  size_t tasks = 0;
  size_t regions = 0;
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    const auto sink = SinkOf<TaskStats>(EventFilter());
    Rows rows = ReadTables(ReadTestTrace(test.name), AllOfThem(), sink.get());
    const TaskStats& stats = StatsOf<TaskStats>(*sink);
    const Interner& interner = sink->interner();
    const int64_t end = rows.of(TableId::kTraces)[0].Number("end_ns");
    const auto show = [](int64_t end, int64_t flags, const Times& times, absl::string_view rest) {
      return absl::StrCat(end, " ", flags, " ", absl::StrJoin(times, ","), " ", rest);
    };

    std::multiset<std::string> expected;
    for (const RegionSpan& span : stats.regions()) {
      const std::string task = span.task == kBackgroundTask ? "" : absl::StrCat(span.task.value);
      expected.insert(show(span.end.value_or(end),
                           (span.begin.has_value() ? 0 : 1) + (span.end.has_value() ? 0 : 2),
                           TimesOf(span.times),
                           absl::StrCat(span.goroutine.value, " ", task, " ",
                                        interner.String(span.type), " ", span.times.total)));
    }
    std::multiset<std::string> found;
    for (const Row& row : rows.of(TableId::kRegions)) {
      found.insert(show(row.Number("end_ns"), row.Number("flags"), TimesOf(row),
                        absl::StrCat(row.Number("g"), " ", row.Text("task"), " ", row.Text("type"),
                                     " ", row.Number("dur_ns"))));
      EXPECT_EQ(row.Cell("begin_stack_id").has_value(), (row.Number("flags") & 1) == 0);
    }
    regions += found.size();
    EXPECT_EQ(found, expected);

    expected.clear();
    for (const TaskSpan& span : stats.tasks()) {
      expected.insert(show(
          span.end.value_or(end), (span.begin.has_value() ? 0 : 1) + (span.end.has_value() ? 0 : 2),
          TimesOf(span.times),
          absl::StrCat(span.task.value, " ", interner.String(span.type), " ",
                       span.begin_goroutine.value, " ", span.end_goroutine.value, " ",
                       span.parent == kBackgroundTask || span.parent == TaskId::kNone
                           ? ""
                           : absl::StrCat(span.parent.value))));
    }
    found.clear();
    for (const Row& row : rows.of(TableId::kTasks)) {
      found.insert(
          show(row.Number("end_ns"), row.Number("flags"), TimesOf(row),
               absl::StrCat(row.Number("task"), " ", row.Text("type"), " ",
                            row.NumberOrNull("begin_g").value_or(-1), " ",
                            row.NumberOrNull("end_g").value_or(-1), " ", row.Text("parent"))));
    }
    tasks += found.size();
    EXPECT_EQ(found, expected);

    // The histograms have what the groups have.
    const auto compare = [&](TableId table, const std::vector<SpanGroup>& groups) {
      std::map<std::pair<std::string, int64_t>, int64_t> counts;
      std::map<std::string, uint64_t> sums;
      for (const SpanGroup& group : groups) {
        const std::string type(interner.String(group.type));
        int64_t bucket = group.duration.first_bucket();
        for (const uint64_t count : group.duration.counts()) {
          if (count > 0) counts[{type, bucket}] = static_cast<int64_t>(count);
          ++bucket;
        }
        if (group.duration.count() > 0) sums[type] = group.duration.sum();
      }
      std::map<std::pair<std::string, int64_t>, int64_t> found_counts;
      std::map<std::string, uint64_t> found_sums;
      for (const Row& row : rows.of(table)) {
        found_counts[{row.Text("type"), row.Number("bucket")}] += row.Number("count");
        found_sums[row.Text("type")] += static_cast<uint64_t>(row.Number("sum_ns"));
        EXPECT_EQ(Histogram::BucketOf(row.Number("min_ns")), row.Number("bucket"));
        EXPECT_EQ(Histogram::BucketOf(row.Number("max_ns")), row.Number("bucket"));
      }
      EXPECT_EQ(found_counts, counts);
      EXPECT_EQ(found_sums, sums);
    };
    std::vector<TaskSpan> real;
    for (const TaskSpan& span : stats.tasks()) {
      if (span.task != kBackgroundTask) real.push_back(span);
    }
    compare(TableId::kTaskHist, GroupByType(real, interner));
    compare(TableId::kRegionHist, GroupByType(stats.regions(), interner));
  }
  EXPECT_GT(tasks, TestRounds(100));
  EXPECT_GT(regions, TestRounds(100));
}

TEST(TraceTables, HaveTheHistogramsOfStates) {
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    LatencyStats::Options options;
    options.by_start = true;
    const auto sink = SinkOf<LatencyStats>(options);
    Rows rows = ReadTables(ReadTestTrace(test.name), AllOfThem(), sink.get());
    using Key = std::tuple<std::string, std::string, std::string, int64_t>;
    std::map<Key, int64_t> expected;
    std::map<std::string, uint64_t> expected_sums;
    const std::map<LatencyKind, std::string> states = {{LatencyKind::kScheduling, "Runnable"},
                                                       {LatencyKind::kBlocked, "Waiting"},
                                                       {LatencyKind::kSyscall, "Syscall"}};
    for (const LatencyGroup& group : StatsOf<LatencyStats>(*sink).groups()) {
      if (!states.contains(group.key.kind)) continue;
      int64_t bucket = group.durations.first_bucket();
      for (const uint64_t count : group.durations.counts()) {
        if (count > 0) {
          expected[{states.at(group.key.kind),
                    std::string(sink->interner().String(group.key.reason)),
                    std::string(sink->interner().String(group.key.start)), bucket}] +=
              static_cast<int64_t>(count);
        }
        ++bucket;
      }
      expected_sums[states.at(group.key.kind)] += group.durations.sum();
    }
    std::map<Key, int64_t> found;
    std::map<std::string, uint64_t> sums;
    int64_t running = 0;
    for (const Row& row : rows.of(TableId::kStateHist)) {
      if (row.Text("state") == "Running") {
        running += row.Number("count");
        continue;
      }
      found[{row.Text("state"), row.Text("reason"), row.Text("name"), row.Number("bucket")}] +=
          row.Number("count");
      sums[row.Text("state")] += static_cast<uint64_t>(row.Number("sum_ns"));
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(sums, expected_sums);
    const std::vector<Row>& all = rows.of(TableId::kGStates);
    EXPECT_EQ(running, std::count_if(all.begin(), all.end(), [](const Row& row) {
                return row.Text("state") == "Running";
              }));
  }
}

TEST(TraceTables, HaveRanges) {
  size_t ranges = 0;
  size_t sweeps = 0;
  for (const TestTrace& test : SomeTestTraces()) {
    SCOPED_TRACE(test.name);
    Rows rows = ReadTables(ReadTestTrace(test.name), AllOfThem());
    std::map<std::string, int64_t> begins;
    std::map<std::string, int64_t> with_begin;
    for (const Row& row : rows.of(TableId::kEvents)) {
      if (row.Text("kind") == "RangeBegin") ++begins[row.Text("name")];
    }
    std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> sums;
    for (const Row& row : rows.of(TableId::kRanges)) {
      const bool has_begin = (row.Number("flags") & 1) == 0;
      if (has_begin) ++with_begin[row.Text("name")];
      EXPECT_EQ(row.Cell("m").has_value(), has_begin);
      EXPECT_EQ(row.Cell("scope_kind").has_value(), row.Cell("scope_id").has_value());
      EXPECT_EQ(row.Cell("reason").has_value(), row.Text("name") == "stop-the-world");
      const bool is_whole_sweep =
          row.Text("name") == "GC incremental sweep" && (row.Number("flags") & 2) == 0;
      EXPECT_EQ(row.Cell("bytes_swept").has_value(), is_whole_sweep);
      sweeps += is_whole_sweep ? 1 : 0;
      auto& [count, sum] = sums[{row.Text("name"), row.Text("reason")}];
      ++count;
      sum += row.Number("dur_ns");
    }
    EXPECT_EQ(with_begin, begins);
    for (const Row& row : rows.of(TableId::kRangeHist)) {
      auto& [count, sum] = sums[{row.Text("name"), row.Text("reason")}];
      count -= row.Number("count");
      sum -= row.Number("sum_ns");
    }
    for (const auto& [name, rest] : sums) EXPECT_EQ(rest, std::pair(int64_t{0}, int64_t{0}));
    ranges += rows.of(TableId::kRanges).size();
  }
  EXPECT_GT(ranges, TestRounds(1000));
  EXPECT_GT(sweeps, TestRounds(100));
}

// Every id of a stack is in `stacks` with its frames, once, and follows from the frames.
TEST(TraceTables, NameStacksByContent) {
  for (const bool without_pc : {false, true}) {
    std::map<std::string, std::string> contents;  // Of ids, over all traces.
    for (const TestTrace& test : SomeTestTraces()) {
      SCOPED_TRACE(test.name);
      TableOptions options = AllOfThem();
      options.stack_ids_without_pc = without_pc;
      Rows rows = ReadTables(ReadTestTrace(test.name), options);
      std::map<std::string, std::string> frames;
      std::map<std::string, std::vector<std::string>> functions;
      for (const Row& row : rows.of(TableId::kStackFrames)) {
        const std::string id = row.Text("stack_id");
        EXPECT_EQ(row.Number("position"), static_cast<int64_t>(functions[id].size()));
        functions[id].push_back(row.Text("func"));
        absl::StrAppend(&frames[id], without_pc ? "" : row.Text("pc"), row.Text("func"), " ",
                        row.Text("file"), ":", row.Text("line"), "\n");
      }
      std::set<std::string> ids;
      for (const Row& row : rows.of(TableId::kStacks)) {
        const std::string id = row.Text("stack_id");
        EXPECT_TRUE(ids.insert(id).second);
        EXPECT_GT(row.Number("stack_id"), 0);
        const std::vector<std::string>& of = functions[id];
        ASSERT_FALSE(of.empty());
        EXPECT_EQ(row.Number("depth"), static_cast<int64_t>(of.size()));
        EXPECT_EQ(row.Text("leaf"), of.front());
        EXPECT_EQ(row.Text("root"), of.back());
        const std::string inner_first =
            absl::StrJoin(std::vector<std::string>(of.rbegin(), of.rend()), ";");
        EXPECT_EQ(row.Text("folded"), inner_first);
        // The same id has the same content in all traces.
        const auto [content, is_new] = contents.emplace(id, frames[id]);
        EXPECT_EQ(content->second, frames[id]);
      }
      EXPECT_EQ(ids.size(), functions.size());
      for (const TableInfo& table : AllTables()) {
        for (const TableColumn& column : table.columns) {
          if (!absl::EndsWith(column.name, "stack_id")) continue;
          for (const Row& row : rows.of(table.id)) {
            const std::optional<std::string> cell = row.Cell(column.name);
            ASSERT_TRUE(!cell.has_value() || ids.contains(*cell)) << table.name << column.name;
          }
        }
      }
    }
    // And the same content has the same id.
    std::set<std::string> distinct;
    for (const auto& [id, content] : contents) EXPECT_TRUE(distinct.insert(content).second);
    EXPECT_GT(distinct.size(), TestRounds(1000));
  }
}

TEST(TraceTables, HaveWhatProgramsWrite) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  Rows rows = ReadTables(bytes, AllOfThem());
  std::map<std::string, size_t> kinds;
  for (const Row& row : rows.of(TableId::kEvents)) ++kinds[row.Text("kind")];
  EXPECT_EQ(rows.of(TableId::kLogs).size(), kinds["Log"]);
  EXPECT_EQ(rows.of(TableId::kMetrics).size(), kinds["Metric"]);
  EXPECT_EQ(rows.of(TableId::kLabels).size(), kinds["Label"]);
  EXPECT_EQ(rows.of(TableId::kCpuSamples).size(), kinds["StackSample"]);
  EXPECT_GT(kinds["Log"], 3u);
  EXPECT_GT(kinds["Metric"], 3u);
  std::vector<std::string> of_events;
  for (const Row& row : rows.of(TableId::kEvents)) {
    if (row.Text("kind") != "Log") continue;
    of_events.push_back(absl::StrCat(row.Text("name"), ": ", row.Text("message"), " ",
                                     row.Text("task"), " ", row.Text("stack_id")));
  }
  std::vector<std::string> of_logs;
  for (const Row& row : rows.of(TableId::kLogs)) {
    of_logs.push_back(absl::StrCat(row.Text("category"), ": ", row.Text("message"), " ",
                                   row.Text("task"), " ", row.Text("stack_id")));
  }
  EXPECT_EQ(of_logs, of_events);

  const std::string with_samples = ReadTestTrace("go1.27-cpuprofile.trace");
  rows = ReadTables(with_samples, AllOfThem());
  absl::StatusOr<Reader> reader = Reader::FromBytes(with_samples);
  ASSERT_TRUE(reader.ok());
  std::vector<std::array<int64_t, 4>> samples;
  while (const Event* event = reader->Next()) {
    if (event->kind() != EventKind::kStackSample) continue;
    samples.push_back(
        {event->time(), event->goroutine().value, event->proc().value, event->thread().value});
  }
  std::vector<std::array<int64_t, 4>> of_samples;
  const auto id = [](const Row& row, absl::string_view column) {
    return row.Cell(column).has_value() ? row.Number(column) : -1;
  };
  for (const Row& row : rows.of(TableId::kCpuSamples)) {
    of_samples.push_back({row.Number("time_ns"), id(row, "g"), id(row, "p"), id(row, "m")});
    EXPECT_TRUE(row.Cell("stack_id").has_value());
  }
  EXPECT_FALSE(samples.empty());
  EXPECT_EQ(of_samples, samples);
}

TEST(TraceTables, HaveAllocations) {
  const std::string bytes = ReadTestTrace("go1.27-alloc.trace");
  Rows rows = ReadTables(bytes, AllOfThem());
  std::map<std::string, size_t> of_events;
  for (const Row& row : rows.of(TableId::kEvents)) {
    if (row.Text("kind") == "Experimental") ++of_events[row.Text("name")];
  }
  std::map<std::string, size_t> found;
  const std::map<std::string, std::string> suffixes = {
      {"exists", ""}, {"alloc", "Alloc"}, {"free", "Free"}};
  size_t typed = 0;
  for (const Row& row : rows.of(TableId::kAllocs)) {
    ++found[row.Text("what") + suffixes.at(row.Text("op"))];
    EXPECT_TRUE(row.Cell("address").has_value());
    const bool is_span = row.Text("what") == "Span";
    const bool is_free = row.Text("op") == "free";
    EXPECT_EQ(row.Cell("pages").has_value(), is_span && !is_free);
    EXPECT_EQ(row.Cell("stack_order").has_value(),
              row.Text("what") == "GoroutineStack" && !is_free);
    if (is_span && !is_free) {
      EXPECT_EQ(row.Number("bytes"), row.Number("pages") * 8192);
    }
    typed += row.Cell("type").has_value() ? 1 : 0;
  }
  EXPECT_EQ(found, of_events);
  EXPECT_GT(found.size(), 4u);
  EXPECT_GT(typed, 10u);
}

TEST(TraceTables, SayWhatEndedAState) {
  BuiltEvents trace;
  constexpr std::pair<GoState, GoState> kStarts = {GoState::kRunnable, GoState::kRunning};
  constexpr std::pair<GoState, GoState> kStops = {GoState::kRunning, GoState::kRunnable};
  trace.Sync(100, 1);
  trace.Proc(EventType::kProcStart, 100, 0, ProcState::kIdle, ProcState::kRunning);
  trace.Go(EventType::kGoStatus, 100, 0, 1, GoState::kUndetermined, GoState::kRunning);
  trace.GoBy(1, EventType::kGoCreate, 110, 0, 2, GoState::kNotExist, GoState::kRunnable);
  trace.Go(EventType::kGoStop, 120, 0, 1, kStops.first, kStops.second, "runtime.Gosched");
  trace.Go(EventType::kGoStart, 125, 0, 2, kStarts.first, kStarts.second);
  trace.Go(EventType::kGoBlock, 130, 0, 2, GoState::kRunning, GoState::kWaiting, "chan receive");
  trace.Go(EventType::kGoStart, 135, 0, 1, kStarts.first, kStarts.second);
  trace.GoBy(1, EventType::kGoUnblock, 150, 0, 2, GoState::kWaiting, GoState::kRunnable);
  trace.Go(EventType::kGoStop, 160, 0, 1, kStops.first, kStops.second, "preempted");
  trace.Go(EventType::kGoStart, 170, 0, 2, kStarts.first, kStarts.second);
  trace.Go(EventType::kGoDestroy, 180, 0, 2, GoState::kRunning, GoState::kNotExist);
  trace.Sync(200, 2);
  Rows rows = TablesOf(trace, AllOfThem());

  std::vector<std::string> states;
  for (const Row& row : rows.of(TableId::kGStates)) {
    states.push_back(row.Show({"end_ns", "dur_ns", "g", "state", "reason", "p", "next_state",
                               "waker_g", "ended_by", "flags"}));
  }
  const std::vector<std::string> expected = {
      "end_ns=120 dur_ns=20 g=1 state=Running reason=NULL p=0 next_state=Runnable waker_g=NULL "
      "ended_by=itself flags=1",
      "end_ns=125 dur_ns=15 g=2 state=Runnable reason=NULL p=NULL next_state=Running "
      "waker_g=NULL ended_by=scheduler flags=0",
      "end_ns=130 dur_ns=5 g=2 state=Running reason=NULL p=0 next_state=Waiting waker_g=NULL "
      "ended_by=itself flags=0",
      "end_ns=135 dur_ns=15 g=1 state=Runnable reason=runtime.Gosched p=NULL "
      "next_state=Running waker_g=NULL ended_by=scheduler flags=0",
      "end_ns=150 dur_ns=20 g=2 state=Waiting reason=chan receive p=NULL next_state=Runnable "
      "waker_g=1 ended_by=goroutine flags=0",
      "end_ns=160 dur_ns=25 g=1 state=Running reason=NULL p=0 next_state=Runnable waker_g=NULL "
      "ended_by=itself flags=0",
      "end_ns=170 dur_ns=20 g=2 state=Runnable reason=NULL p=NULL next_state=Running "
      "waker_g=NULL ended_by=scheduler flags=0",
      "end_ns=180 dur_ns=10 g=2 state=Running reason=NULL p=0 next_state=NotExist waker_g=NULL "
      "ended_by=itself flags=0",
      "end_ns=200 dur_ns=40 g=1 state=Runnable reason=preempted p=NULL next_state=NULL "
      "waker_g=NULL ended_by=unknown flags=2",
  };
  EXPECT_EQ(states, expected);

  std::vector<std::string> goroutines;
  for (const Row& row : rows.of(TableId::kGoroutines)) {
    goroutines.push_back(
        row.Show({"g", "begin_ns", "end_ns", "creator_g", "running_ns", "runnable_ns", "waiting_ns",
                  "transitions", "max_runnable_ns", "last_state", "last_reason", "last_state_ns"}));
  }
  EXPECT_EQ(goroutines,
            (std::vector<std::string>{
                "g=2 begin_ns=110 end_ns=180 creator_g=1 running_ns=15 runnable_ns=35 "
                "waiting_ns=20 transitions=5 max_runnable_ns=20 last_state=Running "
                "last_reason=NULL last_state_ns=10",
                "g=1 begin_ns=NULL end_ns=NULL creator_g=NULL running_ns=45 runnable_ns=55 "
                "waiting_ns=0 transitions=4 max_runnable_ns=40 last_state=Runnable "
                "last_reason=preempted last_state_ns=40"}));
}

// A goroutine stops the world in a region, and is ready when another one does.
TEST(TraceTables, HaveStopsOfTheWorld) {
  using enum EventType;
  BuiltEvents trace;
  trace.Sync(0, 1);
  trace.Go(kGoStatus, 1, 0, 1, GoState::kUndetermined, GoState::kRunning);
  trace.Push(trace.Builder(kUserRegionBegin, 5, 0, 1).Task(TaskId{5}).RegionType("r"));
  trace.Push(trace.Builder(kSTWBegin, 10, 0, 1).Reason("read mem stats"));
  trace.Push(trace.Builder(kSTWEnd, 30, 0, 1).Reason("read mem stats"));
  trace.Go(kGoStop, 35, 0, 1, GoState::kRunning, GoState::kRunnable, "preempted");
  trace.Push(trace.Builder(kSTWBegin, 40, 1, 2).Reason("GC sweep termination"));
  trace.Push(trace.Builder(kSTWEnd, 50, 1, 2).Reason("GC sweep termination"));
  trace.Go(kGoStart, 55, 0, 1, GoState::kRunnable, GoState::kRunning);
  trace.Push(trace.Builder(kUserRegionEnd, 60, 0, 1).Task(TaskId{5}).RegionType("r"));
  trace.Sync(100, 2);
  Rows rows = TablesOf(trace, AllOfThem());
  std::vector<std::string> states;
  for (const Row& row : rows.of(TableId::kGStates)) {
    states.push_back(row.Show({"state", "dur_ns", "stopped_ns", "stop_reason"}));
  }
  EXPECT_EQ(states, (std::vector<std::string>{
                        "state=Running dur_ns=35 stopped_ns=20 stop_reason=read mem stats",
                        "state=Runnable dur_ns=20 stopped_ns=10 stop_reason=GC sweep termination",
                        "state=Running dur_ns=45 stopped_ns=0 stop_reason=NULL"}));
  for (const auto& [table, running] :
       {std::pair(TableId::kGoroutines, 80), std::pair(TableId::kRegions, 35),
        std::pair(TableId::kTasks, 35)}) {
    ASSERT_EQ(rows.of(table).size(), 1);
    EXPECT_EQ(rows.of(table)[0].Show(
                  {"running_ns", "runnable_ns", "stopped_running_ns", "stopped_runnable_ns"}),
              absl::StrCat("running_ns=", running,
                           " runnable_ns=20 stopped_running_ns=20 stopped_runnable_ns=10"));
  }
}

// Where events are missing, a goroutine may begin though the one with its id has not ended.
TEST(TraceTables, KeepLivesWithOneIdApart) {
  BuiltEvents trace;
  trace.Sync(100, 1);
  trace.Go(EventType::kGoStatus, 100, 0, 1, GoState::kUndetermined, GoState::kRunning);
  for (const int64_t time : {110, 150}) {
    trace.GoBy(1, EventType::kGoCreate, time, 0, 2, GoState::kNotExist, GoState::kRunnable);
    trace.Go(EventType::kGoStart, time + 10, 0, 2, GoState::kRunnable, GoState::kRunning);
    EventBuilder region = trace.Builder(EventType::kUserRegionBegin, time + 15, 0, 2);
    trace.Push(region.Task(TaskId{0}).RegionType("r"));
  }
  trace.Sync(200, 2);
  Rows rows = TablesOf(trace, AllOfThem());
  std::vector<std::string> goroutines;
  for (const Row& row : rows.of(TableId::kGoroutines)) {
    goroutines.push_back(row.Show({"g", "begin_ns", "end_ns", "runnable_ns", "transitions"}));
  }
  EXPECT_EQ(goroutines, (std::vector<std::string>{
                            "g=2 begin_ns=110 end_ns=NULL runnable_ns=10 transitions=2",
                            "g=1 begin_ns=NULL end_ns=NULL runnable_ns=0 transitions=1",
                            "g=2 begin_ns=150 end_ns=NULL runnable_ns=10 transitions=2"}));
  std::vector<std::string> regions;
  for (const Row& row : rows.of(TableId::kRegions)) {
    regions.push_back(row.Show({"g", "depth", "dur_ns", "running_ns", "flags"}));
  }
  EXPECT_EQ(regions, (std::vector<std::string>{"g=2 depth=0 dur_ns=0 running_ns=0 flags=2",
                                               "g=2 depth=0 dur_ns=35 running_ns=35 flags=2"}));
}

// A column has the same values whichever others are made.
TEST(TraceTables, MakeOnlyTheColumnsThatAreWanted) {
  for (const std::string name : {"go1.27-annotations.trace", "go1.27-gc.trace",
                                 "go1.27-alloc.trace", "go1.27-cpuprofile.trace"}) {
    SCOPED_TRACE(name);
    const std::string bytes = ReadTestTrace(name);
    Rows all = ReadTables(bytes, AllOfThem());
    for (const TableInfo& table : AllTables()) {
      SCOPED_TRACE(table.name);
      for (size_t i = 0; i <= table.columns.size(); ++i) {
        TableOptions options;
        options.source = "a.trace";
        const bool is_one = i < table.columns.size();
        options.of(table.id) = is_one ? uint64_t{1} << i : uint64_t{0};
        Rows some = ReadTables(bytes, options);
        ASSERT_EQ(some.of(table.id).size(), all.of(table.id).size());
        if (!is_one) continue;
        const absl::string_view column = table.columns[i].name;
        for (size_t row = 0; row < some.of(table.id).size(); ++row) {
          ASSERT_EQ(some.of(table.id)[row].MadeColumns(), 1);
          ASSERT_EQ(some.of(table.id)[row].Cell(column), all.of(table.id)[row].Cell(column))
              << column;
        }
        for (const TableInfo& other : AllTables()) {
          EXPECT_TRUE(other.id == table.id || some.of(other.id).empty());
        }
      }
    }
  }
}

TEST(TraceTables, HaveOnlyEventsThatAreSelected) {
  TableOptions options = AllOfThem();
  options.events.goroutines = {GoId{1}};
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  Rows rows = ReadTables(bytes, options);
  ASSERT_FALSE(rows.of(TableId::kEvents).empty());
  for (const Row& row : rows.of(TableId::kEvents)) {
    EXPECT_TRUE(row.NumberOrNull("g") == 1 || row.NumberOrNull("resource") == 1);
  }
  EXPECT_EQ(rows.of(TableId::kGStates).size(),
            ReadTables(bytes, AllOfThem()).of(TableId::kGStates).size());
}

TEST(TraceTables, HaveWhatPrecedesAFault) {
  const std::string whole = ReadTestTrace("go1.27-gc.trace");
  for (const bool salvage : {false, true}) {
    ReaderOptions reader_options;
    if (salvage) reader_options.mode = ReadMode::kSalvage;
    size_t broken = 0;
    const size_t rounds = TestRounds(29);
    for (size_t size = 100; size < whole.size(); size += whole.size() / rounds) {
      SCOPED_TRACE(absl::StrCat(size, " of ", whole.size(), salvage ? " salvaged" : ""));
      Rows rows = ReadTables(whole.substr(0, size), AllOfThem(), nullptr, reader_options);
      ASSERT_EQ(rows.of(TableId::kTraces).size(), 1);
      const Row& trace = rows.of(TableId::kTraces)[0];
      EXPECT_EQ(trace.Text("complete"), "0");
      EXPECT_GT(trace.Number("faults"), 0);
      EXPECT_EQ(trace.Cell("error").has_value(), !salvage);
      EXPECT_EQ(trace.Number("events"), static_cast<int64_t>(rows.of(TableId::kEvents).size()));
      EXPECT_EQ(trace.Cell("begin_ns").has_value(), !rows.of(TableId::kEvents).empty());
      broken += rows.of(TableId::kGStates).empty() ? 0 : 1;
    }
    EXPECT_TRUE(!salvage || broken > rounds / 3);
  }
}

TEST(TraceTables, HaveARowForATraceThatCannotBeOpened) {
  TableOptions options = AllOfThem();
  options.service = "checkout";
  options.attrs = "{}";
  Rows rows;
  AddUnreadTrace(options, absl::DataLossError("it is a web page"), &rows);
  ASSERT_EQ(rows.of(TableId::kTraces).size(), 1);
  EXPECT_EQ(
      rows.of(TableId::kTraces)[0].Show({"source", "service", "host", "go_version", "begin_ns",
                                         "events", "complete", "faults", "error", "attrs"}),
      "source=a.trace service=checkout host=NULL go_version=NULL begin_ns=NULL events=0 "
      "complete=0 faults=1 error=it is a web page attrs={}");
}

TEST(ContentHash, IsTheSameOfAFile) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  const std::string path = testing::TempDir() + "/hashed.trace";
  std::ofstream(path, std::ios::binary) << bytes;
  FileState state;
  const absl::StatusOr<int64_t> hash = ContentHashOfFile(path, &state);
  ASSERT_TRUE(hash.ok());
  EXPECT_EQ(*hash, ContentHash(bytes));
  // A file that has grown is not the one that was hashed, and neither is one that had another size.
  EXPECT_TRUE(OpenUnchanged(path, {}, state).ok());
  FileState shorter = state;
  --shorter.size;
  EXPECT_TRUE(absl::IsAborted(OpenUnchanged(path, {}, shorter).status()));
  EXPECT_TRUE(CheckUnchanged(path, state, bytes.size()).ok());
  EXPECT_TRUE(absl::IsAborted(CheckUnchanged(path, state, bytes.size() + 1)));
  std::ofstream(path, std::ios::binary | std::ios::app) << "more";
  EXPECT_TRUE(absl::IsAborted(OpenUnchanged(path, {}, state).status()));
  EXPECT_TRUE(absl::IsNotFound(ContentHashOfFile(path + "x", &state).status()));
  EXPECT_GT(ContentHash("a"), 0);
  EXPECT_NE(ContentHash("a"), ContentHash("b"));
  // XXH3 of nothing, of which a double can hold the lowest bits.
  EXPECT_EQ(ContentHash(""), 0x2d06800538d394c2 & ((int64_t{1} << 53) - 1));
  EXPECT_EQ(static_cast<int64_t>(static_cast<double>(*hash)), *hash);
}

}  // namespace trace_tables_test
}  // namespace gotrace::internal
