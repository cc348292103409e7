// Tests that an FXT file says the same of a trace as its events, by reading it back.
#include "gotrace/fxt_exporter.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "export/fxt/fxt_format.h"
#include "export/fxt/fxt_text.h"
#include "export/fxt/fxt_validator.h"
#include "export/fxt/read_back.h"
#include "gotrace/event_builder.h"
#include "gotrace/fxt_reader.h"
#include "gotrace/goroutine_names.h"
#include "gotrace/reader.h"
#include "gotrace/state_tracker.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "util/text_buffer.h"

namespace gotrace::internal {
namespace fxt_exporter_test {

// The states of goroutines as a StateTracker has them, clipped to a window.
struct Expected final : public IntervalConsumer {
  Expected(int64_t from, int64_t to) : from(from), to(to) {}

  void AddGoroutine(const GoInterval& interval) override {
    const int64_t begin = std::max(interval.begin, from);
    const int64_t end = std::min(interval.end, to);
    if (end > begin) {
      sums[static_cast<uint64_t>(interval.goroutine.value)][static_cast<int>(interval.state)] +=
          static_cast<uint64_t>(end - begin);
    }
    // A goroutine that comes back from a syscall without its P, or was preempted, is runnable
    // without a wake-up.
    const CauseKind kind = interval.begun_by.kind;
    const bool is_woken = interval.state == GoState::kRunnable && !interval.begin_clipped &&
                          (kind == CauseKind::kGoroutine || kind == CauseKind::kNetwork ||
                           kind == CauseKind::kTimer || kind == CauseKind::kGc);
    if (is_woken && interval.begin >= from && interval.begin <= to) {
      wakeups[{interval.begin, static_cast<uint64_t>(interval.goroutine.value)}] =
          interval.begun_by;
    }
  }

  const int64_t from;
  const int64_t to;
  std::map<uint64_t, std::array<uint64_t, 6>> sums;
  std::map<std::pair<int64_t, uint64_t>, Cause> wakeups;
};

std::string Export(absl::string_view trace, const FxtOptions& options, bool by_event = false) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
  EXPECT_TRUE(reader.ok());
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
  FxtExporter exporter(sink.get(), options);
  if (by_event) {
    while (const Event* event = reader->Next()) exporter.Add(absl::MakeConstSpan(event, 1));
  } else {
    for (absl::Span<const Event> block; !(block = reader->NextBlock()).empty();) {
      exporter.Add(block);
    }
  }
  EXPECT_TRUE(exporter.Finish().ok());
  EXPECT_EQ(exporter.dropped_records(), 0u);
  EXPECT_TRUE(sink->Finish().ok());
  return bytes;
}

// The sums without states of no time, and without what is not a state of a live goroutine.
std::map<uint64_t, std::array<uint64_t, 6>> Live(std::map<uint64_t, std::array<uint64_t, 6>> sums) {
  for (auto& [thread, by_state] : sums) by_state[static_cast<int>(GoState::kNotExist)] = 0;
  std::erase_if(sums, [](const auto& entry) { return entry.second == std::array<uint64_t, 6>{}; });
  return sums;
}

void CheckStates(absl::string_view trace, int64_t from, int64_t to) {
  FxtOptions options;
  options.filter.times = {from, to};
  const std::string fxt = Export(trace, options);
  const ReadBack back = ReadFxtBack(fxt);
  EXPECT_EQ(back.problems, "");
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
  Interner interner;
  Expected expected(from, to);
  StateTracker tracker(&interner, &expected);
  EventSink* const sinks[] = {&tracker};
  ASSERT_TRUE(ReadInto(*reader, sinks).ok());
  EXPECT_TRUE(Live(back.sums) == Live(expected.sums));
  ASSERT_EQ(back.wakeups.size(), expected.wakeups.size());
  for (const auto& [key, cause] : expected.wakeups) {
    const auto found = back.wakeups.find(key);
    ASSERT_NE(found, back.wakeups.end());
    if (cause.kind == CauseKind::kGoroutine) {
      EXPECT_EQ(found->second, static_cast<uint64_t>(cause.goroutine.value));
    } else {
      EXPECT_TRUE(back.names.contains(found->second));
    }
  }
}

// The first and the last time of the events of `trace`.
std::pair<int64_t, int64_t> TimesOf(absl::string_view trace) {
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
  std::pair<int64_t, int64_t> times = {std::numeric_limits<int64_t>::max(),
                                       std::numeric_limits<int64_t>::min()};
  while (const Event* event = reader->Next()) {
    times.first = std::min(times.first, event->time());
    times.second = std::max(times.second, event->time());
  }
  return times;
}

TEST(FxtExporterTest, HasTheStatesOfTheTracker) {
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    CheckStates(ReadTestTrace(test.name), std::numeric_limits<int64_t>::min(),
                std::numeric_limits<int64_t>::max());
  }
}

TEST(FxtExporterTest, AWindowHasTheStatesOfItsTime) {
  for (const TestTrace& test : TestTraces()) {
    if (test.events > 100'000) continue;
    SCOPED_TRACE(test.name);
    const std::string trace = ReadTestTrace(test.name);
    const auto [first, last] = TimesOf(trace);
    const int64_t length = last - first;
    CheckStates(trace, first + length / 3, first + length / 2);
    CheckStates(trace, first + length / 2, last - length / 7);
    CheckStates(trace, last - length / 9, last);
    CheckStates(trace, first - 1000, first + length / 11);
  }
}

// Regions, ranges, tasks and logs, read from the events.
struct EventLists {
  explicit EventLists(absl::string_view trace) {
    absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
    std::map<int64_t, std::vector<std::pair<std::string, int64_t>>> regions;
    std::map<std::string, int64_t> ranges;
    int64_t sync = 0;
    while (const Event* event = reader->Next()) {
      switch (event->kind()) {
        case EventKind::kRegionBegin:
          regions[event->goroutine().value].emplace_back(event->region().type, event->time());
          break;
        case EventKind::kRegionEnd: {
          auto& open = regions[event->goroutine().value];
          if (open.empty()) break;
          durations.push_back(absl::StrCat(event->goroutine().value, " region ", open.back().first,
                                           " [", open.back().second, ", ", event->time(), ")"));
          open.pop_back();
          break;
        }
        case EventKind::kSync:
          sync = event->time();
          break;
        case EventKind::kRangeBegin:
          ranges.emplace(KeyOf(*event), event->time());
          break;
        case EventKind::kRangeActive:
          ranges.emplace(KeyOf(*event), sync);
          break;
        case EventKind::kRangeEnd: {
          const auto open = ranges.find(KeyOf(*event));
          durations.push_back(
              absl::StrCat(open->first, " [", open->second, ", ", event->time(), ")"));
          ranges.erase(open);
          break;
        }
        case EventKind::kLog:
          logs.push_back(LogOf(*event));
          break;
        default:
          break;
      }
    }
    std::sort(durations.begin(), durations.end());
    std::sort(logs.begin(), logs.end());
  }

  static std::string LogOf(const Event& event) {
    const Log log = event.log();
    return absl::StrCat(
        event.goroutine().value, " log ", log.category.empty() ? "log" : log.category, " ",
        event.time(), " { category=", log.category, " message=", log.message,
        log.task == kBackgroundTask ? "" : absl::StrCat(" task=", log.task.value), "}");
  }

  static std::string KeyOf(const Event& event) {
    const Range range = event.range();
    uint64_t lane = 0xfffe0000;
    if (range.scope.kind == ResourceKind::kGoroutine) lane = range.scope.id;
    if (range.scope.kind == ResourceKind::kProc) lane = 0xffff0000 + range.scope.id;
    return absl::StrCat(lane, " range ", range.name);
  }

  std::vector<std::string> durations;
  std::vector<std::string> logs;
};

// Those of `lines` that contain one of `parts`.
std::vector<std::string> With(const std::vector<std::string>& lines,
                              const std::vector<std::string>& parts) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    for (const std::string& part : parts) {
      if (absl::StrContains(line, part)) {
        found.push_back(line);
        break;
      }
    }
  }
  return found;
}

TEST(FxtExporterTest, HasRegionsRangesAndLogs) {
  size_t count = 0;
  for (const TestTrace& test : TestTraces()) {
    SCOPED_TRACE(test.name);
    const std::string trace = ReadTestTrace(test.name);
    const ReadBack back = ReadFxtBack(Export(trace, {}));
    const EventLists lists(trace);
    std::vector<std::string> durations = With(back.durations, {" region ", " range "});
    // What never ends in the trace may end with its goroutine.
    std::erase_if(durations, [&](const std::string& line) {
      return absl::EndsWith(line, "open)") ||
             !std::binary_search(lists.durations.begin(), lists.durations.end(), line);
    });
    EXPECT_EQ(durations, lists.durations);
    const std::vector<std::string> logs = With(back.instants, {" log "});
    EXPECT_EQ(logs, lists.logs);
    count += durations.size() + logs.size();
  }
  EXPECT_GT(count, 1000u);
}

// The durations of threads that should be in the file.
struct ExpectedThreads final : public IntervalConsumer {
  void AddThread(const ThreadInterval& interval) override {
    if (interval.state == ThreadState::kIdle || interval.begin >= interval.end) return;
    const std::string name = interval.state == ThreadState::kScheduling ? "scheduling"
                             : interval.state == ThreadState::kSyscall
                                 ? "syscall"
                                 : absl::StrCat("G", interval.goroutine.value);
    lines.push_back(absl::StrCat(0xff000000 + interval.thread.value, " thread ", name, " [",
                                 interval.begin, ", ", interval.end, ")"));
  }

  std::vector<std::string> lines;
};

TEST(FxtExporterTest, HasThreads) {
  size_t named = 0, unnamed = 0;
  for (const TestTrace& test : TestTraces()) {
    if (test.events > 100'000) continue;
    SCOPED_TRACE(test.name);
    const std::string trace = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
    Interner interner;
    ExpectedThreads expected;
    StateTracker tracker(&interner, &expected);
    GoroutineNames names;
    EventSink* const sinks[] = {&tracker, &names};
    ASSERT_TRUE(ReadInto(*reader, sinks).ok());
    std::sort(expected.lines.begin(), expected.lines.end());

    FxtOptions options;
    options.threads = true;
    const std::string fxt = Export(trace, options);
    FxtReader records(*SourceFromBytes(fxt));
    std::vector<std::string> found;
    while (const FxtRecord* record = records.Next()) {
      if (record->type != FxtType::kEvent || record->category != "thread") continue;
      std::string name(record->name);
      if (name != "scheduling" && name != "syscall") {
        ASSERT_FALSE(record->arguments.empty());
        ASSERT_EQ(record->arguments[0].name, "goroutine");
        const GoId id{static_cast<int64_t>(record->arguments[0].value)};
        // The trace may only say later what the goroutine's function is.
        (name == "goroutine" ? unnamed : named) += 1;
        if (name != "goroutine") {
          EXPECT_EQ(name, names.NameOf(id));
        }
        name = absl::StrCat("G", id.value);
      }
      found.push_back(absl::StrCat(record->thread.thread, " thread ", name, " [", record->ticks,
                                   ", ", record->id, ")"));
    }
    std::sort(found.begin(), found.end());
    EXPECT_TRUE(found == expected.lines);
  }
  EXPECT_GT(named, 40 * unnamed);
}

TEST(FxtExporterTest, HasStacksAndAllocations) {
  size_t waits = 0, stacks = 0, allocations = 0;
  for (const absl::string_view name : {"go1.27-annotations.trace", "go1.27-alloc.trace"}) {
    const std::string trace = ReadTestTrace(name);
    FxtOptions options;
    options.stacks = options.alloc = true;
    const std::string fxt = Export(trace, options);
    EXPECT_EQ(ReadFxtBack(fxt).problems, "");
    FxtReader records(*SourceFromBytes(fxt));
    while (const FxtRecord* record = records.Next()) {
      if (record->type != FxtType::kEvent) continue;
      waits += record->category == "wait" ? 1 : 0;
      allocations += record->category == "alloc" ? 1 : 0;
      for (const FxtArgument& argument : record->arguments) {
        if (argument.name != "stack") continue;
        ++stacks;
        EXPECT_TRUE(absl::StrContains(argument.text, " (")) << argument.text;
        EXPECT_TRUE(absl::EndsWith(argument.text, ")")) << argument.text;
      }
    }
    absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
    Interner interner;
    struct Waits final : public IntervalConsumer {
      void AddGoroutine(const GoInterval& interval) override {
        count += interval.state == GoState::kWaiting ? 1 : 0;
      }
      size_t count = 0;
    } expected;
    StateTracker tracker(&interner, &expected);
    EventSink* const sinks[] = {&tracker};
    ASSERT_TRUE(ReadInto(*reader, sinks).ok());
    reader = Reader::FromBytes(trace);
    while (const Event* event = reader->Next()) {
      allocations -= event->kind() == EventKind::kExperimental ? 1 : 0;
    }
    EXPECT_EQ(waits, expected.count);
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(stacks, waits / 2);
    waits = stacks = 0;
  }
}

TEST(FxtExporterTest, ATraceCanBeCutOffAnywhere) {
  FxtOptions options;
  options.stacks = options.threads = true;
  const std::string trace = ReadTestTrace("go1.27-annotations.trace");
  const auto [first, last] = TimesOf(trace);
  options.filter.times = {first, first + (last - first) / 100};
  const std::string fxt = Export(trace, options);
  ASSERT_GT(fxt.size(), 10'000u);
  std::vector<std::pair<uint64_t, std::string>> records;  // Their ends, and what they say.
  const auto text_of = [](const FxtRecord& record) {
    TextBuffer text;
    AppendFxtText(record, &text);
    return std::string(text.view());
  };
  FxtReader whole(*SourceFromBytes(fxt));
  while (const FxtRecord* record = whole.Next()) {
    records.emplace_back(record->offset + record->size, text_of(*record));
  }
  size_t complete = 0;
  for (size_t size = 0; size <= fxt.size(); ++size) {
    if (complete < records.size() && records[complete].first == size) ++complete;
    const std::string cut = fxt.substr(0, size);
    FxtReader reader(*SourceFromBytes(cut));
    size_t count = 0;
    while (const FxtRecord* record = reader.Next()) {
      ASSERT_LT(count, complete) << size;
      if (++count == complete) {
        ASSERT_EQ(text_of(*record), records[complete - 1].second) << size;
      }
    }
    ASSERT_EQ(count, complete) << size;
    ASSERT_EQ(reader.offset(), complete == 0 ? 0 : records[complete - 1].first);
    ASSERT_EQ(reader.end(), reader.offset() == size ? FxtEnd::kComplete : FxtEnd::kCut);
  }
}

TEST(FxtExporterTest, NamesGoroutinesAfterTheirFunctions) {
  const std::string trace = ReadTestTrace("go1.27-annotations.trace");
  const ReadBack back = ReadFxtBack(Export(trace, {}));
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
  GoroutineNames names;
  EventSink* const sinks[] = {&names};
  ASSERT_TRUE(ReadInto(*reader, sinks).ok());
  size_t named = 0;
  for (const auto& [thread, name] : back.names) {
    const absl::string_view expected = names.NameOf(GoId{static_cast<int64_t>(thread)});
    if (expected.empty()) continue;
    EXPECT_EQ(name, expected);
    ++named;
  }
  EXPECT_EQ(named, names.size());
}

TEST(FxtExporterTest, IsTheSameForEventsAndBlocks) {
  for (const TestTrace& test : TestTraces()) {
    if (test.events > 20'000) continue;
    const std::string trace = ReadTestTrace(test.name);
    EXPECT_TRUE(Export(trace, {}) == Export(trace, {}, /*by_event=*/true)) << test.name;
  }
}

TEST(FxtExporterTest, IsSound) {
  for (const TestTrace& test : TestTraces()) {
    const std::string fxt = Export(ReadTestTrace(test.name), {});
    const ValidationReport report = ValidateFxt(*SourceFromBytes(fxt), {});
    EXPECT_EQ(report.errors + report.warnings + report.notes, 0u) << test.name;
    EXPECT_EQ(report.bytes, fxt.size());
    EXPECT_EQ(report.good_bytes, fxt.size());
  }
}

// A trace that is built by hand. Each event is 10 ns after the one before.
class Script {
 public:
  explicit Script(FxtOptions options = {}) : exporter_(sink_.get(), std::move(options)) {
    Add(EventBuilder::MakeSync(1, tables_));
  }

  void Add(EventBuilder builder) {
    exporter_.Add(absl::MakeConstSpan(&builder.Time(time_ += 10).Build(), 1));
  }

  // Transitions of goroutines on thread 5, P 0.
  void Change(EventType type, int64_t go, GoState from, GoState to, absl::string_view reason = "",
              int64_t by = -1) {
    EventBuilder builder(type, tables_);
    builder.Transition(GoId{go}, from, to).Thread(ThreadId{5}).Proc(ProcId{0}).Reason(reason);
    builder.Goroutine(GoId{by});
    Add(builder);
  }

  EventBuilder On(EventType type, int64_t go) {
    EventBuilder builder(type, tables_);
    builder.Goroutine(GoId{go}).Thread(ThreadId{5}).Proc(ProcId{0});
    return builder;
  }

  // Lets time pass.
  void Wait(int64_t time) { time_ += time; }

  std::string Finish() {
    EXPECT_TRUE(exporter_.Finish().ok());
    EXPECT_TRUE(sink_->Finish().ok());
    return bytes_;
  }

  // Goroutine 1 runs from time 20 on.
  void Start() { Change(EventType::kGoStatus, 1, GoState::kUndetermined, GoState::kRunning); }

 private:
  BuiltTables tables_;
  std::string bytes_;
  const std::unique_ptr<ByteSink> sink_ = SinkToString(&bytes_);
  FxtExporter exporter_;
  int64_t time_ = 0;
};

TEST(FxtExporterTest, NestsWhatIsNotNested) {
  Script script;
  script.Start();
  script.Add(script.On(EventType::kUserRegionBegin, 1).RegionType("outer"));  // 30
  script.Add(script.On(EventType::kGCMarkAssistBegin, 1));                    // 40
  script.Add(script.On(EventType::kUserRegionBegin, 1).RegionType("inner"));  // 50
  script.Add(script.On(EventType::kGCMarkAssistEnd, 1));                      // 60
  script.Add(script.On(EventType::kUserRegionEnd, 1).RegionType("inner"));    // 70
  script.Add(script.On(EventType::kUserRegionEnd, 1).RegionType("outer"));    // 80
  script.Add(script.On(EventType::kUserRegionEnd, 1).RegionType("before"));   // 90
  const ReadBack back = ReadFxtBack(script.Finish());
  EXPECT_EQ(back.problems, "");
  EXPECT_EQ(back.durations,
            (std::vector<std::string>{"1 range GC mark assist [40, 60)", "1 region inner [50, 60)",
                                      "1 region inner [60, 70)", "1 region outer [30, 80)"}));
  EXPECT_EQ(With(back.instants, {"end of region"}),
            std::vector<std::string>{"1 region end of region 90 { region=before}"});
}

TEST(FxtExporterTest, EndsInTheWrongOrderCostLittle) {
  // Each of the first ends would interrupt all ranges that began later.
  constexpr int kRanges = 100'000;
  Script script;
  script.Start();
  for (const EventType type : {EventType::kSTWBegin, EventType::kSTWEnd}) {
    for (int i = 0; i < kRanges; ++i) script.Add(script.On(type, 1).Reason(absl::StrCat(i)));
  }
  const std::string fxt = script.Finish();
  FxtReader reader(*SourceFromBytes(fxt));
  std::map<uint8_t, int> records;
  while (const FxtRecord* record = reader.Next()) {
    if (record->type == FxtType::kEvent) ++records[record->kind];
  }
  EXPECT_EQ(records[static_cast<uint8_t>(FxtEvent::kDurationBegin)], kRanges);
  EXPECT_EQ(records[static_cast<uint8_t>(FxtEvent::kDurationEnd)], kRanges);
  EXPECT_EQ(ReadFxtBack(fxt).problems, "");
}

TEST(FxtExporterTest, InterruptsFewAndEndsMany) {
  for (const int inside : {16, 17}) {
    Script script;
    script.Start();
    script.Add(script.On(EventType::kGCMarkAssistBegin, 1));  // 30
    for (int i = 0; i < inside; ++i) {
      script.Add(script.On(EventType::kUserRegionBegin, 1).RegionType(absl::StrCat("r", i)));
    }
    script.Add(script.On(EventType::kGCMarkAssistEnd, 1));
    for (int i = inside; i-- > 0;) {
      script.Add(script.On(EventType::kUserRegionEnd, 1).RegionType(absl::StrCat("r", i)));
    }
    script.Add(script.On(EventType::kUserRegionEnd, 1).RegionType("before"));
    const ReadBack back = ReadFxtBack(script.Finish());
    EXPECT_EQ(back.problems, "");
    EXPECT_EQ(With(back.durations, {"region r0 "}).size(), inside == 16 ? 2u : 1u);
    // Each end belongs to its own region, whether it is in the file or not.
    EXPECT_EQ(With(back.instants, {"end of region"}).size(), 1u);
    EXPECT_TRUE(With(back.durations, {"open)"}).empty());
  }
}

TEST(FxtExporterTest, GoroutinesOfAnyIdHaveTheirOwnStates) {
  // Ids that the runtime's own threads have in the file, and some that are the same in 32 bits.
  const int64_t kIds[] = {2,          0xfffe0000,  0xfffe0003,       0xffff0000, 0xff000001,
                          0x80000000, 0x100000002, int64_t{1} << 62, 0};
  FxtOptions options;
  std::vector<std::string> notes;
  options.on_note = [&](absl::string_view note) { notes.emplace_back(note); };
  options.threads = true;
  Script script(options);
  script.Start();  // 20
  for (const int64_t id : kIds) {
    script.Change(EventType::kGoCreate, id, GoState::kNotExist, GoState::kRunnable, "", 1);
  }
  // Ranges on a P, whose thread must not be that of a goroutine.
  for (const EventType type : {EventType::kGCSweepBegin, EventType::kGCSweepEnd}) {
    for (const int64_t proc : {0, 0x10000}) {
      script.Add(script.On(type, 1).Proc(ProcId{proc}));
    }
  }
  script.Change(EventType::kGoBlock, 1, GoState::kRunning, GoState::kWaiting, "sync", 1);
  for (const int64_t id : kIds) {
    script.Change(EventType::kGoStart, id, GoState::kRunnable, GoState::kRunning);
    script.Wait(id & 0xff);
    script.Add(script.On(EventType::kGoLabel, id).Label(absl::StrCat("label ", id)));
    script.Change(EventType::kGoDestroy, id, GoState::kRunning, GoState::kNotExist, "", id);
  }
  const std::string fxt = script.Finish();
  const ReadBack back = ReadFxtBack(fxt);
  EXPECT_EQ(back.problems, "");
  for (const int64_t id : kIds) {
    const uint64_t thread = static_cast<uint64_t>(id);
    ASSERT_TRUE(back.sums.contains(thread)) << id;
    EXPECT_EQ(back.sums.at(thread)[static_cast<int>(GoState::kRunning)], 20u + (id & 0xff)) << id;
    EXPECT_EQ(back.names.at(thread), absl::StrCat("goroutine ", id));
    EXPECT_EQ(With(back.instants, {absl::StrCat(thread, " label label ", id, " ")}).size(), 1u);
  }
  EXPECT_EQ(With(back.durations, {"range GC incremental sweep"}).size(), 2u);
  EXPECT_EQ(notes.size(), 1u);
  // All threads are different for a reader that keeps 32 bits of their ids, too.
  FxtReader reader(*SourceFromBytes(fxt));
  std::map<uint32_t, uint64_t> threads;
  while (const FxtRecord* record = reader.Next()) {
    if (record->type != FxtType::kKernelObject || record->kind != kFxtThreadObject) continue;
    const auto [it, is_new] = threads.try_emplace(static_cast<uint32_t>(record->id), record->id);
    EXPECT_EQ(it->second, record->id);
  }
  // The goroutines, goroutine 1, two Ps, a thread, the runtime.
  EXPECT_EQ(threads.size(), std::size(kIds) + 5);
}

TEST(FxtExporterTest, CountsGoroutinesByState) {
  Script script;
  script.Start();  // 20
  EventBuilder proc = script.On(EventType::kProcStart, -1);
  script.Add(proc.Transition(ProcId{0}, ProcState::kIdle, ProcState::kRunning));          // 30
  script.Change(EventType::kGoCreate, 2, GoState::kNotExist, GoState::kRunnable, "", 1);  // 40
  script.Change(EventType::kGoCreate, 3, GoState::kNotExist, GoState::kRunnable, "", 1);  // 50
  script.Wait(100'000);
  script.Change(EventType::kGoBlock, 1, GoState::kRunning, GoState::kWaiting, "sync", 1);  // 100060
  script.Wait(100'000);
  script.Change(EventType::kGoStart, 2, GoState::kRunnable, GoState::kRunning);  // 200070
  const ReadBack back = ReadFxtBack(script.Finish());
  EXPECT_EQ(With(back.instants, {" state "}),
            (std::vector<std::string>{
                "4294836224 state busy Ps 10 { Ps=0}",
                "4294836224 state busy Ps 200070 { Ps=1}",
                "4294836224 state busy Ps 50 { Ps=1}",
                "4294836224 state goroutines in syscalls 10 { goroutines=0}",
                "4294836224 state goroutines in syscalls 200070 { goroutines=0}",
                "4294836224 state runnable goroutines 10 { goroutines=0}",
                "4294836224 state runnable goroutines 200070 { goroutines=1}",
                "4294836224 state runnable goroutines 50 { goroutines=2}",
                "4294836224 state running goroutines 10 { goroutines=1}",
                "4294836224 state running goroutines 100060 { goroutines=0}",
                "4294836224 state running goroutines 200070 { goroutines=1}",
                "4294836224 state waiting goroutines 10 { goroutines=0}",
                "4294836224 state waiting goroutines 100060 { goroutines=1}",
                "4294836224 state waiting goroutines 200070 { goroutines=1}",
            }));
}

TEST(FxtExporterTest, HasMoreNamesAndThreadsThanTheTablesHold) {
  constexpr int kLabels = 2 * kFxtMaxStrings;
  Script script;
  std::vector<std::string> expected;
  for (int i = 0; i < kLabels; ++i) {
    // Each name comes twice, far apart.
    const int64_t go = 1 + i % 700;
    const std::string label = absl::StrCat("label ", i % (kLabels * 3 / 4));
    script.Add(script.On(EventType::kGoLabel, go).Label(label));
    expected.push_back(absl::StrCat(go, " label ", label, " ", 20 + 10 * i, " {}"));
  }
  std::sort(expected.begin(), expected.end());
  const ReadBack back = ReadFxtBack(script.Finish());
  EXPECT_EQ(back.problems, "");
  EXPECT_TRUE(With(back.instants, {" label "}) == expected);
}

// A script of a task, a region and a log in it, and a goroutine 2 that goroutine 1 creates and
// wakes.
std::string TwoGoroutines(FxtOptions options) {
  Script script(std::move(options));
  script.Start();  // 20
  script.Add(script.On(EventType::kUserTaskBegin, 1)
                 .Task(TaskId{3})
                 .Parent(TaskId{2})
                 .TaskType("request"));                                                       // 30
  script.Add(script.On(EventType::kUserRegionBegin, 1).Task(TaskId{3}).RegionType("parse"));  // 40
  script.Change(EventType::kGoCreate, 2, GoState::kNotExist, GoState::kRunnable, "", 1);      // 50
  script.Add(script.On(EventType::kUserLog, 1).Log("key", "value"));                          // 60
  script.Change(EventType::kGoBlock, 1, GoState::kRunning, GoState::kWaiting, "sync", 1);     // 70
  script.Change(EventType::kGoStart, 2, GoState::kRunnable, GoState::kRunning);               // 80
  script.Change(EventType::kGoUnblock, 1, GoState::kWaiting, GoState::kRunnable, "", 2);      // 90
  script.Change(EventType::kGoDestroy, 2, GoState::kRunning, GoState::kNotExist, "", 2);      // 100
  script.Change(EventType::kGoStart, 1, GoState::kRunnable, GoState::kRunning);               // 110
  script.Add(script.On(EventType::kUserRegionEnd, 1).RegionType("parse"));                    // 120
  script.Add(script.On(EventType::kUserTaskEnd, 1).Task(TaskId{3}).TaskType("request"));      // 130
  return script.Finish();
}

TEST(FxtExporterTest, WritesStatesTasksAndFlows) {
  const ReadBack back = ReadFxtBack(TwoGoroutines({}));
  EXPECT_EQ(back.problems, "");
  // In the order of GoState: runnable, running, waiting, syscall. Goroutine 1 has been running
  // since the sync.
  const std::array<uint64_t, 6> first = {0, 0, 20, 80, 20, 0};
  const std::array<uint64_t, 6> second = {0, 30, 30, 20, 0, 0};
  EXPECT_EQ(back.sums, (std::map<uint64_t, std::array<uint64_t, 6>>{{1, first}, {2, second}}));
  EXPECT_EQ(back.wakeups,
            (std::map<std::pair<int64_t, uint64_t>, uint64_t>{{{50, 2}, 1}, {{90, 1}, 2}}));
  EXPECT_EQ(back.durations, std::vector<std::string>{"1 region parse [40, 120)"});
  EXPECT_EQ(back.tasks, std::vector<std::string>{"3 task request [30, 130)"});
  EXPECT_EQ(back.flows,
            (std::vector<std::string>{"flow create 1 50 -> 2 80", "flow unblock 2 90 -> 1 110"}));
  EXPECT_EQ(With(back.instants, {" log "}),
            std::vector<std::string>{"1 log key 60 { category=key message=value}"});
  EXPECT_EQ(back.end, 130);
}

TEST(FxtExporterTest, AWindowBeginsWithWhatIsOpen) {
  FxtOptions options;
  options.filter.times = {65, 115};
  const ReadBack back = ReadFxtBack(TwoGoroutines(options));
  EXPECT_EQ(back.problems, "");
  const std::array<uint64_t, 6> first = {0, 0, 20, 10, 20, 0};
  const std::array<uint64_t, 6> second = {0, 15, 15, 20, 0, 0};
  EXPECT_EQ(back.sums, (std::map<uint64_t, std::array<uint64_t, 6>>{{1, first}, {2, second}}));
  EXPECT_EQ(back.durations, std::vector<std::string>{"1 region parse [65, open)"});
  EXPECT_EQ(back.tasks, std::vector<std::string>{"3 task request [65, open)"});
  EXPECT_EQ(back.flows, std::vector<std::string>{"flow unblock 2 90 -> 1 110"});
  EXPECT_TRUE(With(back.instants, {" log "}).empty());
  EXPECT_EQ(back.end, 115);
  // Times since the start, 10, are the same window.
  FxtOptions since;
  since.filter.since_start = {55, 105};
  EXPECT_TRUE(TwoGoroutines(since) == TwoGoroutines(options));
}

// The trace may only state after the window what was active when its generation began.
TEST(FxtExporterTest, AWindowHasRangesThatAreStatedAfterIt) {
  FxtOptions options;
  options.filter.times = {15, 25};
  Script script(options);
  script.Start();  // 20
  script.Add(script.On(EventType::kGCActive, -1));
  const ReadBack back = ReadFxtBack(script.Finish());
  EXPECT_EQ(back.problems, "");
  EXPECT_EQ(back.durations,
            std::vector<std::string>{"4294836224 range GC concurrent mark phase [15, open)"});
}

// The event that states what is active may run on another goroutine.
TEST(FxtExporterTest, FiltersSelectGoroutinesOfRanges) {
  for (const int64_t selected : {1, 2}) {
    FxtOptions options;
    options.filter.goroutines = {GoId{selected}};
    Script script(options);
    script.Start();
    script.Add(script.On(EventType::kGCMarkAssistActive, 1).Arg(0, 2));
    const ReadBack back = ReadFxtBack(script.Finish());
    EXPECT_EQ(back.problems, "");
    std::vector<std::string> expected;
    if (selected == 2) expected = {"2 range GC mark assist [10, open)"};
    EXPECT_EQ(back.durations, expected);
  }
}

TEST(FxtExporterTest, FiltersSelectGoroutinesAndKinds) {
  FxtOptions options;
  options.filter.goroutines = {GoId{2}};
  ReadBack back = ReadFxtBack(TwoGoroutines(options));
  EXPECT_EQ(back.problems, "");
  EXPECT_EQ(back.sums.size(), 1u);
  EXPECT_EQ(back.sums.count(2), 1u);
  EXPECT_TRUE(back.durations.empty() && back.tasks.empty() && back.flows.empty());

  options.filter = {};
  options.filter.kinds = {EventKind::kRegionBegin};
  back = ReadFxtBack(TwoGoroutines(options));
  EXPECT_EQ(back.problems, "");
  EXPECT_TRUE(back.sums.empty() && back.tasks.empty() && back.flows.empty());
  EXPECT_EQ(back.durations, std::vector<std::string>{"1 region parse [40, 120)"});

  for (const int64_t proc : {0, 1}) {
    options.filter = {};
    options.filter.procs = {ProcId{proc}};
    back = ReadFxtBack(TwoGoroutines(options));
    EXPECT_EQ(back.problems, "");
    EXPECT_EQ(back.sums.size(), proc == 0 ? 2u : 0u);
    EXPECT_EQ(back.wakeups.size(), proc == 0 ? 2u : 0u);
    EXPECT_EQ(back.durations.size(), proc == 0 ? 1u : 0u);
  }

  options.filter = {};
  options.flows = false;
  EXPECT_TRUE(ReadFxtBack(TwoGoroutines(options)).flows.empty());
}

// Perfetto takes a thread that is woken without a waker for its own waker.
TEST(FxtExporterTest, WakesNothingAfterASyscall) {
  Script script;
  script.Start();                                                                            // 20
  script.Change(EventType::kGoSyscallBegin, 1, GoState::kRunning, GoState::kSyscall);        // 30
  script.Change(EventType::kGoSyscallEndBlocked, 1, GoState::kSyscall, GoState::kRunnable);  // 40
  script.Change(EventType::kGoStart, 1, GoState::kRunnable, GoState::kRunning);              // 50
  const ReadBack back = ReadFxtBack(script.Finish());
  EXPECT_EQ(back.problems, "");
  EXPECT_TRUE(back.wakeups.empty());
  // Runnable, running, and in the syscall.
  EXPECT_EQ(back.sums.at(1), (std::array<uint64_t, 6>{0, 0, 10, 20, 0, 10}));
}

// A coroutine waits until another goroutine switches to it, which then waits.
TEST(FxtExporterTest, FlowsConnectCoroutines) {
  Script script;
  script.Start();  // 20
  script.Change(EventType::kGoCreateBlocked, 2, GoState::kNotExist, GoState::kWaiting, "", 1);
  script.Change(EventType::kGoSwitch, 1, GoState::kRunning, GoState::kWaiting, "", 1);  // 40
  script.Change(EventType::kGoSwitch, 2, GoState::kWaiting, GoState::kRunning, "", 1);  // 50
  const ReadBack back = ReadFxtBack(script.Finish());
  EXPECT_EQ(back.problems, "");
  EXPECT_EQ(back.flows,
            (std::vector<std::string>{"flow create 1 30 -> 2 50", "flow unblock 1 50 -> 2 50"}));
}

TEST(FxtExporterTest, FlowsConnectCoroutinesOfRealTraces) {
  const std::string trace = ReadTestTrace("go1.23-coroutines.trace");
  absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
  size_t created = 0;
  while (const Event* event = reader->Next())
    created += event->type() == EventType::kGoCreateBlocked;
  size_t connected = 0;
  const ReadBack back = ReadFxtBack(Export(trace, {}));
  for (const std::string& flow : back.flows) connected += absl::StartsWith(flow, "flow create ");
  EXPECT_GT(created, 0u);
  EXPECT_GE(connected, created);
}

// With some kinds only, a goroutine may have no states.
TEST(FxtExporterTest, EveryThreadWithEventsHasAName) {
  for (const EventKind kind : {EventKind::kLog, EventKind::kRegionBegin, EventKind::kLabel}) {
    FxtOptions options;
    options.filter.kinds = {kind};
    const std::string fxt = Export(ReadTestTrace("go1.27-annotations.trace"), options);
    FxtReader reader(*SourceFromBytes(fxt));
    std::set<uint64_t> threads;
    size_t events = 0;
    while (const FxtRecord* record = reader.Next()) {
      if (record->type == FxtType::kKernelObject) threads.insert(record->id);
      if (record->type != FxtType::kEvent) continue;
      EXPECT_TRUE(threads.contains(record->thread.thread)) << record->thread.thread;
      ++events;
    }
    EXPECT_GT(events, 0u);
  }
}

// A goroutine that has no event in the file, since it is not selected or exists only after the
// window, has no thread there.
TEST(FxtExporterTest, EveryThreadHasEvents) {
  const std::string trace = ReadTestTrace("go1.27-annotations.trace");
  const auto [first, last] = TimesOf(trace);
  FxtOptions of_log, of_window;
  of_log.filter.kinds = {EventKind::kLog};
  of_window.filter.times = {first + (last - first) / 50, first + (last - first) / 20};
  for (const FxtOptions& options : {of_log, of_window}) {
    const std::string fxt = Export(trace, options);
    FxtReader reader(*SourceFromBytes(fxt));
    std::set<uint64_t> threads, used;
    while (const FxtRecord* record = reader.Next()) {
      if (record->type == FxtType::kKernelObject && record->kind == kFxtThreadObject) {
        threads.insert(record->id);
      } else if (record->type == FxtType::kEvent) {
        used.insert(record->thread.thread);
      } else if (record->type == FxtType::kScheduling) {
        used.insert({record->incoming.thread, record->outgoing.thread});
      }
    }
    EXPECT_GT(threads.size(), 1u);
    for (const uint64_t thread : threads) EXPECT_TRUE(used.contains(thread)) << thread;
  }
}

TEST(FxtExporterTest, AddsAnOffsetToAllTimes) {
  FxtOptions options;
  options.filter.times = {65, 115};
  options.stacks = options.threads = true;
  options.time_offset = 1000;
  const std::string moved_bytes = TwoGoroutines(options);
  FxtReader moved(*SourceFromBytes(moved_bytes));
  options.time_offset = 0;
  const std::string plain_bytes = TwoGoroutines(options);
  FxtReader expected(*SourceFromBytes(plain_bytes));
  size_t count = 0;
  while (const FxtRecord* record = expected.Next()) {
    const FxtRecord* const other = moved.Next();
    ASSERT_NE(other, nullptr);
    ASSERT_EQ(other->type, record->type);
    if (record->type != FxtType::kEvent && record->type != FxtType::kScheduling) continue;
    EXPECT_EQ(other->ticks, record->ticks + 1000);
    const bool is_complete = record->type == FxtType::kEvent &&
                             record->kind == static_cast<uint8_t>(FxtEvent::kDurationComplete);
    EXPECT_EQ(other->id, record->id + (is_complete ? 1000 : 0));
    ++count;
  }
  EXPECT_GT(count, 10u);
}

TEST(FxtExporterTest, BuffersKeepWhatFits) {
  // Few names repeat, so that all definitions fit.
  const std::string trace = ReadTestTrace("go1.27-threads.trace");
  FxtOptions options;
  for (const FxtBufferMode mode : {FxtBufferMode::kOneshot, FxtBufferMode::kCircular}) {
    options.buffer = {mode, FxtBuffer::kMinSize};
    std::vector<std::string> notes;
    options.on_note = [&](absl::string_view note) { notes.emplace_back(note); };
    absl::StatusOr<Reader> reader = Reader::FromBytes(trace);
    std::string bytes;
    const std::unique_ptr<ByteSink> sink = SinkToString(&bytes);
    FxtExporter exporter(sink.get(), options);
    EventSink* const sinks[] = {&exporter};
    ASSERT_TRUE(ReadInto(*reader, sinks).ok() && sink->Finish().ok());
    EXPECT_LE(bytes.size(), FxtBuffer::kMinSize);
    const ValidationReport report = ValidateFxt(*SourceFromBytes(bytes), {});
    EXPECT_EQ(report.errors, 0u);
    const bool is_oneshot = mode == FxtBufferMode::kOneshot;
    EXPECT_EQ(report.counts[static_cast<int>(CheckId::kFxtBufferFull)], is_oneshot ? 1u : 0u);
    EXPECT_EQ(exporter.dropped_records() > 0, is_oneshot);
    EXPECT_EQ(exporter.replaced_records() > 0, !is_oneshot);
    // The records in the file and those that are missing are all.
    if (is_oneshot) continue;
    const auto count = [](const std::string& fxt) {
      uint64_t records = 0;
      FxtReader records_of(*SourceFromBytes(fxt));
      while (const FxtRecord* record = records_of.Next()) {
        records += record->type == FxtType::kEvent || record->type == FxtType::kScheduling ||
                   record->type == FxtType::kKernelObject;
      }
      return records;
    };
    EXPECT_EQ(count(bytes) + exporter.replaced_records(), count(Export(trace, {})));
    EXPECT_EQ(notes, std::vector<std::string>{absl::StrCat(
                         exporter.replaced_records(),
                         " records did not fit into the buffer, which keeps the latest")});
  }
}

}  // namespace fxt_exporter_test
}  // namespace gotrace::internal
