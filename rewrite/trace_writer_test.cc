#include "rewrite/trace_writer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gotrace/event_builder.h"
#include "gotrace/reader.h"
#include "gotrace/trace_index.h"
#include "gotrace/trace_writer.h"
#include "gotrace/validate.h"
#include "gtest/gtest.h"
#include "parser/event/event_access.h"
#include "parser/reader/reader_access.h"
#include "testdata/test_data.h"
#include "testing/golden_case.h"
#include "testing/test_util.h"
#include "testing/validated_cases.h"

namespace gotrace::internal {
namespace trace_writer_test {

struct Written {
  std::string bytes;
  WrittenTrace counts;
  absl::Status status;  // Of the reader, or of the writer.
};

// Passes events on, but no kSync event except for the first.
class OneGeneration final : public EventSink {
 public:
  explicit OneGeneration(EventSink* next) : next_(*next) {}

  void Add(absl::Span<const Event> events) override {
    const bool skips = events.front().kind() == EventKind::kSync && std::exchange(begun_, true);
    if (skips) events.remove_prefix(1);
    if (!events.empty()) next_.Add(events);
  }
  absl::Status Finish() override { return next_.Finish(); }

 private:
  EventSink& next_;
  bool begun_ = false;
};

struct How {
  ReadMode mode = ReadMode::kStrict;
  Replacer* replacer = nullptr;
  bool one_generation = false;
  bool lenient = false;
  uint64_t max_events = 0;
};

// Reads a trace and writes it again.
Written Rewrite(absl::string_view bytes, const How& how = {}) {
  Written written;
  ReaderOptions options;
  options.mode = how.mode;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes, options);
  written.status = reader.status();
  if (!reader.ok()) return written;
  const std::unique_ptr<ByteSink> out = SinkToString(&written.bytes);
  TraceWriterImpl writer({reader->version(), how.lenient, how.max_events}, out.get());
  writer.SetReplacer(how.replacer);
  OneGeneration one(&writer);
  EventSink* const sinks[] = {how.one_generation ? static_cast<EventSink*>(&one) : &writer};
  written.status = ReadInto(*reader, sinks);
  EXPECT_TRUE(out->Finish().ok());
  written.counts = writer.written();
  return written;
}

// Returns what Go's tool prints for the events.
std::string TextOf(absl::string_view bytes) {
  const Reading reading = ReadTrace(SourceFromBytes(bytes), ReadBy::kBlock);
  return reading.events;
}

void ExpectSound(const std::string& bytes) {
  ValidateOptions options;
  options.strictness = Strictness::kGo;
  const ValidationReport report = ValidateTrace(*SourceFromBytes(bytes), options);
  EXPECT_EQ(report.verdict(), Verdict::kSound) << ShowReport(report);
}

// Expects equal texts, of which it shows the first lines that differ.
void ExpectSameText(const std::string& found, const std::string& expected) {
  if (found == expected) return;
  const std::vector<std::string> a = absl::StrSplit(found, '\n');
  const std::vector<std::string> b = absl::StrSplit(expected, '\n');
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  ADD_FAILURE() << "line " << differ.first - a.begin() + 1 << ": "
                << (differ.first == a.end() ? "the end" : *differ.first)
                << "\nexpected: " << (differ.second == b.end() ? "the end" : *differ.second);
}

class WritingOfRealTraces : public testing::TestWithParam<TestTrace> {};
INSTANTIATE_TEST_SUITE_P(Traces, WritingOfRealTraces, testing::ValuesIn(SomeTestTraces()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.name, {{".", "_"}, {"-", "_"}});
                         });

TEST_P(WritingOfRealTraces, HasTheTextThatGoPrintsForTheOriginal) {
  const std::string original = ReadTestTrace(GetParam().name);
  const Written written = Rewrite(original);
  ASSERT_TRUE(written.status.ok()) << written.status;
  ExpectSound(written.bytes);
  const std::string text = TextOf(written.bytes);
  ExpectSameText(text, TextOf(original));
  EXPECT_EQ(Sha256Hex(text), GetParam().parsed_sha256);
  EXPECT_EQ(written.counts.events + written.counts.generations + 1, GetParam().events);
  EXPECT_EQ(written.counts.statuses_added, 0U);
  EXPECT_EQ(written.counts.events_added, 0U);
  EXPECT_EQ(written.counts.events_left_out, 0U);
  // Nothing is left to change.
  EXPECT_TRUE(Rewrite(written.bytes).bytes == written.bytes);
}

// Reading can begin with any generation.
TEST_P(WritingOfRealTraces, CanHaveManyGenerations) {
  const std::string original = ReadTestTrace(GetParam().name);
  const Written written = Rewrite(original, {.max_events = 100});
  ASSERT_TRUE(written.status.ok()) << written.status;
  ExpectSound(written.bytes);
  EXPECT_EQ(written.counts.events_added, 0U);
  EXPECT_EQ(written.counts.events_left_out, 0U);
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(written.bytes);
  const absl::StatusOr<TraceIndex> index = TraceIndex::Build(*source);
  ASSERT_TRUE(index.ok()) << index.status();
  ASSERT_EQ(index->generations().size(), written.counts.generations);
  uint64_t events = 0;
  for (size_t i = 0; i < index->generations().size(); ++i) {
    absl::StatusOr<Reader> reader = Reader::OpenAt(*source, *index, i);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const Event* event = reader->Next();
    while (event != nullptr && (event = reader->Next()) != nullptr) {
      if (event->kind() == EventKind::kSync) break;
      ++events;
    }
    ASSERT_TRUE(reader->status().ok()) << "generation " << i + 1 << ": " << reader->status();
  }
  EXPECT_EQ(events, written.counts.events);
}

// Changes every byte. The inverse of itself.
std::string Garble(absl::string_view text) {
  std::string garbled(text);
  for (char& c : garbled) c ^= 1;
  return garbled;
}

class Garbler final : public Replacer {
 public:
  std::string Replace(TextRole, absl::string_view text) override { return Garble(text); }
  void Replace(FullFrame* frame) override {
    frame->func = Garble(frame->func);
    frame->file = Garble(frame->file);
  }
  void Replace(ClockSnapshot*) override {}
};

std::vector<std::string> StringsOf(absl::string_view bytes) {
  std::vector<std::string> strings;
  ReaderHooks hooks;
  hooks.on_generation_end = [&](const GenerationTables& tables, const TableUse&) {
    for (size_t i = 0; i < tables.string_count(); ++i) strings.emplace_back(tables.StringAt(i));
  };
  ReadAll(ReaderAccess::FromSource(*SourceFromBytes(bytes), {}, hooks));
  std::sort(strings.begin(), strings.end());
  return strings;
}

TEST_P(WritingOfRealTraces, CanHaveOtherStrings) {
  const std::string original = ReadTestTrace(GetParam().name);
  Garbler garbler;
  const Written garbled = Rewrite(original, {.replacer = &garbler});
  ASSERT_TRUE(garbled.status.ok()) << garbled.status;
  ExpectSound(garbled.bytes);
  const std::vector<std::string> before = StringsOf(original);
  for (const std::string& text : StringsOf(garbled.bytes)) {
    ASSERT_TRUE(std::binary_search(before.begin(), before.end(), Garble(text))) << text;
    // Short ones are numbers, which become other numbers.
    if (text.size() <= 3) continue;
    ASSERT_FALSE(std::binary_search(before.begin(), before.end(), text)) << text;
  }
  const Written back = Rewrite(garbled.bytes, {.replacer = &garbler});
  ASSERT_TRUE(back.status.ok()) << back.status;
  EXPECT_EQ(Sha256Hex(TextOf(back.bytes)), GetParam().parsed_sha256);
}

// Returns the events' text without those that say again what is already known: where a generation
// begins, and what is in progress.
std::string WithoutBeginnings(absl::string_view text) {
  std::vector<absl::string_view> events = absl::StrSplit(text, "\nM=");
  const auto is_beginning = [](absl::string_view event) {
    return absl::StrContains(event, " Sync Time=") ||
           absl::StrContains(event, " RangeActive Time=");
  };
  events.erase(std::remove_if(events.begin(), events.end(), is_beginning), events.end());
  return absl::StrJoin(events, "\n");
}

// The tables of all generations are joined.
TEST_P(WritingOfRealTraces, CanBecomeOneGeneration) {
  // A GC cycle takes a number in each generation in which it is in progress.
  if (absl::StrContains(GetParam().name, "-gc.")) return;
  const std::string original = ReadTestTrace(GetParam().name);
  const Written one = Rewrite(original, {.one_generation = true});
  ASSERT_TRUE(one.status.ok()) << one.status;
  EXPECT_EQ(one.counts.generations, 1U);
  EXPECT_EQ(one.counts.events_added, 0U);
  ExpectSound(one.bytes);
  ExpectSameText(WithoutBeginnings(TextOf(one.bytes)), WithoutBeginnings(TextOf(original)));
}

// Go's reader accepts what is written of the events before a fault. They are the same unless some
// were added or left out. Returns whether there are any.
bool ExpectEventsBeforeFault(const std::string& bytes, const Written& written) {
  if (written.counts.generations == 0 && !written.status.ok()) return false;
  const Reading found = ReadTrace(SourceFromBytes(written.bytes), ReadBy::kBlock);
  EXPECT_TRUE(found.status.ok()) << found.status;
  const WrittenTrace& counts = written.counts;
  if (counts.statuses_added + counts.events_added + counts.events_left_out > 0) return true;
  const std::string expected = TextOf(bytes);
  ExpectSameText(found.events.substr(0, expected.size()), expected);
  const std::string rest = found.events.substr(std::min(expected.size(), found.events.size()));
  // A fault inside a generation comes instead of the last kSync event.
  if (rest.empty()) return true;
  EXPECT_FALSE(written.status.ok()) << rest;
  EXPECT_TRUE(absl::StrContains(rest, " Sync ")) << rest;
  EXPECT_EQ(std::count(rest.begin(), rest.end(), '\n'), 1) << rest;
  return true;
}

TEST(TraceWriter, WritesEachCaseUpToItsFault) {
  size_t unchanged = 0;
  ForEachCase([&](const std::string& name, const std::string& bytes) {
    SCOPED_TRACE(name);
    // These statuses are not on the thread of the syscall.
    if (absl::StrContains(name, "/go-status-syscall-")) return;
    // A clock at zero is not known, so that another one is written.
    if (absl::StrContains(name, "/clock-snapshot-zero")) return;
    const Written written = Rewrite(bytes, {.lenient = true});
    ExpectEventsBeforeFault(bytes, written);
    unchanged += written.counts.statuses_added + written.counts.events_added == 0;
  });
  EXPECT_GT(unchanged, 300U);
}

TEST(TraceWriter, WritesTracesThatAreCutOff) {
  size_t written_traces = 0;
  for (const absl::string_view name :
       {"go1.22-generations", "go1.25-flight", "go1.27-coroutines"}) {
    const std::string bytes = ReadTestTrace(absl::StrCat(name, ".trace"));
    for (int i = 1; i < 10; ++i) {
      SCOPED_TRACE(absl::StrCat(name, " ", i));
      const std::string cut = bytes.substr(0, bytes.size() * i / 10);
      const Written written = Rewrite(cut);
      if (!ExpectEventsBeforeFault(cut, written)) continue;
      ++written_traces;
      EXPECT_EQ(written.counts.events_added + written.counts.events_left_out, 0U);
      ExpectSound(written.bytes);
    }
  }
  EXPECT_GT(written_traces, 5U);
}

TEST(TraceWriter, MakesDamagedTracesSound) {
  for (const absl::string_view name : {"go1.22-annotations", "go1.25-gc", "go1.27-coroutines"}) {
    ForEachDamaged(ReadTestTrace(absl::StrCat(name, ".trace")), TestRounds(50),
                   [&](const std::string& damaged) {
                     const Written written =
                         Rewrite(damaged, {.mode = ReadMode::kSalvage, .lenient = true});
                     if (written.counts.generations > 0) ExpectSound(written.bytes);
                   });
  }
}

// Events that a program makes. --------------------------------------------------------------------

constexpr int64_t kSecond = 1'000'000'000;

Event Sync(const BuiltTables& tables) {
  return EventBuilder::MakeSync(1, tables)
      .Time(kSecond)
      .Clocks({kSecond, 5, absl::FromUnixSeconds(7)})
      .Build();
}

// An event of goroutine 1, on thread 7 with P 3.
EventBuilder OfOne(EventType type, const BuiltTables& tables, int64_t time) {
  EventBuilder builder(type, tables);
  builder.Time(kSecond + time).Thread(ThreadId{7}).Proc(ProcId{3}).Goroutine(GoId{1});
  return builder;
}

TEST(TraceWriter, WritesEventsWithoutOffsets) {
  const BuiltTables tables;
  const StackFrame frame = {0x1234, "main.work", "/src/main.go", 31};
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer({}, out.get());
  writer.Add({Sync(tables)});
  writer.Add({OfOne(EventType::kGoCreateBlocked, tables, 10).Arg(0, 2).Build(),
              OfOne(EventType::kGoSwitch, tables, 20).Arg(0, 2).Build(),
              OfOne(EventType::kGoBlock, tables, 21).Build(),
              OfOne(EventType::kGoStart, tables, 22)
                  .Goroutine(GoId::kNone)
                  .Transition(GoId{2}, GoState::kRunnable, GoState::kRunning)
                  .Build(),
              OfOne(EventType::kUserLog, tables, 30)
                  .Goroutine(GoId{2})
                  .Log("category", std::string(3000, 'x'))
                  .Stack(std::vector<StackFrame>(200, frame))
                  .Build()});
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(out->Finish().ok());
  EXPECT_EQ(writer.written().events_left_out, 0U);
  EXPECT_EQ(writer.written().statuses_added, 2U);
  ExpectSound(bytes);
  std::vector<std::string> types;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  while (const Event* event = reader->Next()) {
    if (event->kind() == EventKind::kSync) continue;
    types.push_back(absl::StrCat(EventTypeName(event->type()), " ", event->time() - kSecond));
    if (event->type() != EventType::kUserLog) continue;
    EXPECT_EQ(event->log().category, "category");
    EXPECT_EQ(event->log().message, std::string(1024, 'x'));
    EXPECT_EQ(event->stack().size(), 128U);
    EXPECT_EQ(event->stack().frame(127).func, "main.work");
  }
  EXPECT_EQ(types,
            (std::vector<std::string>{"GoStatus 10", "ProcStatus 11", "GoCreateBlocked 12",
                                      "GoSwitch 20", "GoBlock 21", "GoStart 22", "UserLog 30"}));
}

// Nobody knows the wall time, but it goes on from generation to generation.
TEST(TraceWriter, MakesClockSnapshots) {
  const BuiltTables tables;
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer({}, out.get());
  for (uint64_t n = 1; n <= 3; ++n) {
    EventBuilder sync = EventBuilder::MakeSync(n, tables);
    sync.Time(static_cast<int64_t>(n) * kSecond);
    if (n == 3) sync.Clocks({3 * kSecond, 3'000'000'007, absl::FromUnixSeconds(1000)});
    writer.Add({sync.Build()});
  }
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(out->Finish().ok());
  ExpectSound(bytes);
  std::vector<std::string> snapshots;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  while (const Event* event = reader->Next()) {
    if (event->kind() != EventKind::kSync || EventAccess::Tables(*event) == nullptr) continue;
    const auto sync = event->sync();
    if (!sync.clock_snapshot.has_value()) continue;
    const ClockSnapshot& clocks = *sync.clock_snapshot;
    snapshots.push_back(
        absl::StrCat(clocks.trace_time, " ", clocks.mono, " ", absl::ToUnixSeconds(clocks.wall)));
  }
  EXPECT_EQ(snapshots,
            (std::vector<std::string>{"1000000000 1000000000 0", "2000000000 2000000000 1",
                                      "3000000000 3000000007 1000"}));
}

TEST(TraceWriter, WritesNoGenerationIfTheVersionAllows) {
  for (const Version version : AllVersions()) {
    std::string bytes;
    const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
    TraceWriter writer({.version = version}, out.get());
    writer.Add({EventBuilder::MakeSync(1).Build()});
    const absl::Status status = writer.Finish();
    EXPECT_TRUE(out->Finish().ok());
    EXPECT_EQ(bytes, MakeHeader(version));
    EXPECT_EQ(status.ok(), ReadAll(Reader::FromBytes(bytes)).status.ok());
    EXPECT_EQ(absl::IsInvalidArgument(status), version < Version::kGo126) << status;
  }
}

// Returns the bytes of what the writer makes of the events; `*status` is its result.
std::string Write(const std::vector<Event>& events, absl::Status* status,
                  const TraceWriterOptions& options = {}) {
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer(options, out.get());
  for (const Event& event : events) writer.Add({event});
  *status = writer.Finish();
  EXPECT_TRUE(out->Finish().ok());
  return bytes;
}

std::vector<std::string> TypesOf(absl::string_view bytes) {
  std::vector<std::string> types;
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  while (const Event* event = reader->Next()) {
    if (event->kind() == EventKind::kSync) {
      types.push_back(absl::StrCat("Sync ", event->time() - kSecond));
    } else {
      types.push_back(absl::StrCat(EventTypeName(event->type()), " ", event->time() - kSecond));
    }
  }
  EXPECT_TRUE(reader->status().ok()) << reader->status();
  return types;
}

TEST(TraceWriter, BeginsAGenerationWithTheFirstEvent) {
  const BuiltTables tables;
  absl::Status status;
  const std::string bytes = Write({OfOne(EventType::kHeapAlloc, tables, 10).Build()}, &status);
  EXPECT_TRUE(status.ok()) << status;
  ExpectSound(bytes);
  EXPECT_EQ(TypesOf(bytes),
            (std::vector<std::string>{"Sync 10", "ProcStatus 11", "HeapAlloc 12", "Sync 13"}));
}

TEST(TraceWriter, TakesTheSubjectOfATransitionAndWhatAStatusStates) {
  const BuiltTables tables;
  absl::Status status;
  EventBuilder proc(EventType::kProcStatus, tables);
  proc.Time(kSecond + 10).Thread(ThreadId{7});
  proc.Transition(ProcId{3}, ProcState::kUndetermined, ProcState::kRunning);
  EventBuilder running(EventType::kGoStatus, tables);
  running.Time(kSecond + 20).Thread(ThreadId{7});
  running.Transition(GoId{1}, GoState::kUndetermined, GoState::kRunning);
  EventBuilder waiting(EventType::kGoStatus, tables);
  waiting.Time(kSecond + 30).Thread(ThreadId{7});
  waiting.Transition(GoId{2}, GoState::kUndetermined, GoState::kWaiting);
  EventBuilder unblock = OfOne(EventType::kGoUnblock, tables, 40);
  unblock.Transition(GoId{2}, GoState::kWaiting, GoState::kRunnable);
  const std::string bytes = Write(
      {Sync(tables), proc.Build(), running.Build(), waiting.Build(), unblock.Build()}, &status);
  EXPECT_TRUE(status.ok()) << status;
  ExpectSound(bytes);
  EXPECT_EQ(TypesOf(bytes), (std::vector<std::string>{"Sync 0", "ProcStatus 10", "GoStatus 20",
                                                      "GoStatus 30", "GoUnblock 40", "Sync 41"}));
}

TEST(TraceWriter, RefusesTheFirstEventThatContradictsTheOnesBefore) {
  const BuiltTables tables;
  const std::vector<Event> events = {Sync(tables), OfOne(EventType::kHeapAlloc, tables, 10).Build(),
                                     OfOne(EventType::kGoBlock, tables, 20).Build(),
                                     OfOne(EventType::kGoBlock, tables, 30).Build(),
                                     OfOne(EventType::kGoBlock, tables, 40).Build()};
  absl::Status status;
  Write(events, &status);
  EXPECT_EQ(status, absl::InvalidArgumentError(
                        "event 4, GoBlock at 1000000030 ns, contradicts the events before it: an "
                        "event is missing before it, such as GoUnblock"));
  const std::string bytes = Write(events, &status, {.lenient = true});
  EXPECT_TRUE(status.ok()) << status;
  ExpectSound(bytes);
}

TEST(TraceWriter, RefusesEventsToWhichNothingLeads) {
  const BuiltTables tables;
  absl::Status status;
  Write({Sync(tables), OfOne(EventType::kGoCreate, tables, 10).Arg(0, 1).Build()}, &status);
  EXPECT_EQ(status, absl::InvalidArgumentError(
                        "event 2, GoCreate at 1000000010 ns, contradicts the events before it: "
                        "nothing that could come between them leads to it"));
}

TEST(TraceWriter, RefusesTimesThatGoBack) {
  const BuiltTables tables;
  const std::vector<Event> events = {Sync(tables), OfOne(EventType::kHeapAlloc, tables, 30).Build(),
                                     OfOne(EventType::kHeapAlloc, tables, 20).Build()};
  absl::Status status;
  Write(events, &status);
  EXPECT_EQ(status,
            absl::InvalidArgumentError(
                "event 3 is at 1000000020 ns, before the previous event, at 1000000030 ns"));
  const std::string bytes = Write(events, &status, {.lenient = true});
  EXPECT_TRUE(status.ok()) << status;
  ExpectSound(bytes);
  Write({OfOne(EventType::kHeapAlloc, tables, -2 * kSecond).Build()}, &status);
  EXPECT_EQ(status, absl::InvalidArgumentError("event 1 has the time -1000000000 ns, but times "
                                               "must be from 0 to 2^62 ns"));
}

TEST(TraceWriter, RefusesEventsWhoseStringsAreMissing) {
  const BuiltTables tables;
  std::string bytes;
  const std::unique_ptr<ByteSink> out = SinkToString(&bytes);
  TraceWriter writer({}, out.get());
  writer.Add({Sync(tables)});
  writer.Add({OfOne(EventType::kHeapAlloc, tables, 10).Build()});
  writer.Add({EventBuilder::MakeSync(2, tables).Time(kSecond + 10).Build()});
  writer.Add({EventBuilder(EventType::kGoLabel).Time(kSecond + 10).Arg(0, 5).Build()});
  EXPECT_FALSE(writer.WantsMore());
  EXPECT_EQ(writer.Finish(),
            absl::InvalidArgumentError("event 4, GoLabel at 1000000010 ns, refers to a string or "
                                       "stack that its tables lack"));
  EXPECT_TRUE(out->Finish().ok());
  EXPECT_EQ(writer.written().generations, 1U);
  ExpectSound(bytes);
}

TEST(TraceWriter, ReportsTheFirstErrorOfItsOutput) {
  class FullSink : public ByteSink {
   protected:
    absl::Status Write(absl::string_view) override {
      return absl::ResourceExhaustedError("disk full");
    }
  };
  FullSink out;
  TraceWriter writer({}, &out);
  EXPECT_TRUE(writer.WantsMore());
  out.Flush();
  EXPECT_FALSE(writer.WantsMore());
  EXPECT_EQ(writer.Finish(), absl::ResourceExhaustedError("disk full"));
}

}  // namespace trace_writer_test
}  // namespace gotrace::internal
