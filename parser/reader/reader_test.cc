#include "gotrace/reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace reader_test {

// Two generations of one thread. Each has its tables first, and then two batches of events.
std::string SmallTraceText(Version version) {
  const bool newer = version >= Version::kGo125;
  std::string text = absl::StrCat("Trace Go1.", static_cast<uint32_t>(version), "\n");
  for (const int gen : {1, 2}) {
    const auto batch = [&](absl::string_view thread, absl::string_view events) {
      absl::StrAppend(&text, "EventBatch gen=", gen, " m=", thread, " time=", gen * 100000,
                      " size=auto\n", events);
    };
    constexpr absl::string_view kNobody = "18446744073709551615";
    batch(kNobody, newer ? "Sync\nFrequency freq=1000000000\nClockSnapshot dt=1 mono=2 sec=3 "
                           "nsec=4\n"
                         : "Frequency freq=1000000000\n");
    batch(kNobody, "Strings\nString id=1\n\tdata=\"text\"\nString id=2\n\tdata=\"more\"\n");
    batch(kNobody, "Stacks\nStack id=1 nframes=1\n\tpc=1 func=1 file=2 line=3\n");
    if (version >= Version::kGo123) {
      absl::StrAppend(&text, "ExperimentalBatch exp=1 gen=", gen, " m=3 time=", gen * 100000,
                      "\n\tdata=\"experiment\"\n");
    }
    batch("300",
          "ProcStatus dt=1 p=1 pstatus=1\nGoStatus dt=1 g=1 m=300 gstatus=2\n"
          "GoLabel dt=300 label_string=1\nProcsChange dt=1 procs_value=7 stack=1\n");
    batch("300",
          "HeapAlloc dt=1000 heapalloc_value=1000000\n"
          "UserLog dt=1 task=0 key_string=1 value_string=2 stack=1\n");
    if (version >= Version::kGo126) absl::StrAppend(&text, "EndOfGeneration\n");
  }
  return text;
}

std::string SmallTrace(Version version) { return Assemble(SmallTraceText(version)); }

constexpr Version kVersions[] = {Version::kGo122, Version::kGo123, Version::kGo125,
                                 Version::kGo126};

Outcome Read(absl::string_view bytes) { return ReadAll(Reader::FromBytes(bytes)); }

void ExpectSame(const Outcome& found, const Outcome& expected) {
  EXPECT_EQ(found.status.message(), expected.status.message());
  EXPECT_EQ(found.status.ok(), expected.status.ok());
  ASSERT_EQ(found.events.size(), expected.events.size());
  for (size_t i = 0; i < found.events.size(); ++i) ASSERT_EQ(found.events[i], expected.events[i]);
}

TEST(ReaderTest, ReadsEveryVersion) {
  for (const Version version : kVersions) {
    const std::string bytes = SmallTrace(version);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(reader->version(), version);
    EXPECT_EQ(reader->event_count(), 0u);
    std::vector<EventKind> kinds;
    int64_t last = 0;
    while (const Event* event = reader->Next()) {
      kinds.push_back(event->kind());
      EXPECT_GT(event->time(), last);
      last = event->time();
      EXPECT_EQ(reader->event_count(), kinds.size());
    }
    EXPECT_TRUE(reader->status().ok()) << reader->status();
    EXPECT_EQ(kinds, (std::vector<EventKind>{
                         EventKind::kSync, EventKind::kStateTransition, EventKind::kStateTransition,
                         EventKind::kLabel, EventKind::kMetric, EventKind::kMetric, EventKind::kLog,
                         EventKind::kSync, EventKind::kStateTransition, EventKind::kStateTransition,
                         EventKind::kLabel, EventKind::kMetric, EventKind::kMetric, EventKind::kLog,
                         EventKind::kSync}));
    // The end is final.
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(reader->Next(), nullptr);
      EXPECT_TRUE(reader->NextBlock().empty());
      EXPECT_TRUE(reader->status().ok());
    }
    EXPECT_EQ(reader->event_count(), kinds.size());
    EXPECT_EQ(reader->input_size(), bytes.size());
    EXPECT_EQ(reader->input_read(), bytes.size());
  }
}

TEST(ReaderTest, ReportsTheGeneration) {
  const std::string bytes = SmallTrace(Version::kGo126);
  const std::string first =
      Assemble(SmallTraceText(Version::kGo126)
                   .substr(0, SmallTraceText(Version::kGo126).find("EndOfGeneration")));
  absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_NE(reader->Next(), nullptr);
  const GenerationInfo one = reader->generation();
  EXPECT_EQ(one.number, 1u);
  EXPECT_EQ(one.begin_offset, kHeaderSize);
  EXPECT_EQ(one.end_offset, first.size());
  EXPECT_EQ(one.batches, 6u);
  EXPECT_EQ(one.threads, 1u);
  EXPECT_EQ(one.strings, 2u);
  EXPECT_EQ(one.stacks, 1u);
  for (int i = 0; i < 6; ++i) ASSERT_NE(reader->Next(), nullptr);
  EXPECT_EQ(reader->generation().number, 1u);
  ASSERT_NE(reader->Next(), nullptr);
  EXPECT_EQ(reader->generation().number, 2u);
  EXPECT_EQ(reader->generation().begin_offset, first.size() + 1);
  while (reader->Next() != nullptr) continue;
  EXPECT_EQ(reader->generation().number, 2u);
}

TEST(ReaderTest, DetailsStayUntilTheNextSync) {
  const std::string bytes = SmallTrace(Version::kGo123);
  // Reads from a stream, which releases bytes that were read.
  absl::StatusOr<Reader> reader =
      Reader::FromSource(*SourceFromStream(std::make_unique<PieceStream>(bytes, 7)));
  std::vector<std::pair<absl::string_view, Stack>> held;
  const auto check = [&] {
    for (const auto& [text, stack] : held) {
      EXPECT_EQ(text, "text");
      ASSERT_EQ(stack.size(), 1u);
      EXPECT_EQ(stack.frame(0).func, "text");
    }
  };
  while (const Event* event = reader->Next()) {
    // By now the details may have become invalid.
    if (event->kind() == EventKind::kSync) held.clear();
    if (event->kind() == EventKind::kLog) held.push_back({event->log().category, event->stack()});
    check();
  }
  EXPECT_TRUE(reader->status().ok()) << reader->status();
}

TEST(ReaderTest, ForEachReturnsTheEventsAndTheStatus) {
  const std::string bytes = ReadTestTrace("go1.27-annotations.trace");
  const Outcome expected = Read(bytes);
  Reader reader = *Reader::FromBytes(bytes);
  Outcome found;
  const auto add = [&](const Event& event) { found.events.push_back(Describe(event)); };
  // The first ten, one by one, and the rest.
  const absl::Status stopped = reader.ForEach([&](const Event& event) {
    add(event);
    return found.events.size() < 10;
  });
  EXPECT_TRUE(stopped.ok()) << stopped;
  ASSERT_EQ(found.events.size(), 10u);
  add(*reader.Next());
  found.status = reader.ForEach(add);
  ExpectSame(found, expected);

  const absl::string_view cut = absl::string_view(bytes).substr(0, bytes.size() / 2);
  Reader cut_reader = *Reader::FromBytes(cut);
  const absl::Status status = cut_reader.ForEach([](const Event&) {});
  EXPECT_TRUE(FaultOf(status).has_value());
  EXPECT_EQ(status, Read(cut).status);
}

TEST(ReaderTest, MayBeMoved) {
  const std::string bytes = SmallTrace(Version::kGo125);
  const Outcome expected = Read(bytes);
  absl::StatusOr<Reader> first = Reader::FromBytes(bytes);
  std::vector<std::string> events;
  for (int i = 0; i < 5; ++i) events.push_back(Describe(*first->Next()));
  Reader second = *std::move(first);
  for (int i = 0; i < 5; ++i) events.push_back(Describe(*second.Next()));
  const std::string other = SmallTrace(Version::kGo122);
  Reader third = *Reader::FromBytes(other);
  ASSERT_NE(third.Next(), nullptr);
  third = std::move(second);
  while (const Event* event = third.Next()) events.push_back(Describe(*event));
  EXPECT_TRUE(third.status().ok());
  EXPECT_EQ(events, expected.events);
}

TEST(ReaderTest, OpenReturnsWhyItFailed) {
  EXPECT_EQ(Reader::Open(testing::TempDir() + "/no such file").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(IsFault(Reader::FromBytes("").status(), FaultId::kHeaderTruncated, 0));
  EXPECT_TRUE(IsFault(Reader::FromBytes("not a trace").status(), FaultId::kNotATrace, 0));
  EXPECT_TRUE(IsFault(Reader::FromBytes(Zstd("not a trace")).status(), FaultId::kNotATrace, 0));
  const absl::Status error = absl::UnavailableError("the line is dead");
  EXPECT_EQ(Reader::FromSource(*SourceFromStream(std::make_unique<PieceStream>("go 1.2", 9, error)))
                .status(),
            error);
}

TEST(ReaderTest, InputErrorsComeAfterTheEventsBeforeThem) {
  const absl::Status error = absl::UnavailableError("the line is dead");
  const std::string bytes = SmallTrace(Version::kGo122);
  const Outcome outcome = ReadAll(
      Reader::FromSource(*SourceFromStream(std::make_unique<PieceStream>(bytes, 5, error))));
  EXPECT_EQ(outcome.status, error);
  ExpectSame({outcome.events, absl::OkStatus()}, Read(bytes));
}

// Faults in events. -----------------------------------------------------------------------------

struct FaultCase {
  absl::string_view event;  // Replaces the HeapAlloc, the first event of its batch.
  FaultId id;
  int events;  // The number of events returned before the fault; 5 if all are.
};

TEST(ReaderTest, FaultsHaveTheirPlaces) {
  const FaultCase cases[] = {
      {"GoLabel dt=1 label_string=9", FaultId::kEventStringId, 5},
      {"UserTaskBegin dt=1 task=1 parent_task=0 name_string=9 stack=0", FaultId::kEventStringId, 5},
      {"UserRegionBegin dt=1 task=1 name_string=9 stack=0", FaultId::kEventStringId, 5},
      {"UserLog dt=1 task=1 key_string=1 value_string=9 stack=1", FaultId::kEventStringId, 5},
      {"ProcsChange dt=1 procs_value=1 stack=9", FaultId::kEventStackId, 5},
      {"GoCreate dt=1 new_g=5 new_stack=9 stack=1", FaultId::kEventStackId, 5},
      {"ProcStart dt=1 p=9 p_seq=1", FaultId::kNoAdvance, 5},
      {"GoStart dt=1 g=9 g_seq=1", FaultId::kNoAdvance, 5},
      {"GoStatus dt=1 g=2 m=300 gstatus=9", FaultId::kGoStatusValue, 5},
      {"ProcStatus dt=1 p=1 pstatus=2", FaultId::kProcStatusConflict, 5},
      {"GCEnd dt=1 gc_seq=1", FaultId::kGCNotRunning, 5},
      {"STWEnd dt=1", FaultId::kRangeNotBegun, 5},
      // A fault in the first byte of a batch is found one event early, and drops the event before
      // it.
      {"Stack id=1 nframes=0", FaultId::kEventNotTimed, 4},
      {"ClockSnapshot dt=1 mono=1 sec=1 nsec=1", FaultId::kEventWithoutRule, 5},
  };
  for (const FaultCase& c : cases) {
    SCOPED_TRACE(std::string(c.event));
    std::string text = SmallTraceText(Version::kGo125);
    const size_t pos = text.find("HeapAlloc");
    text.replace(pos, text.find('\n', pos) - pos, std::string(c.event));
    const std::string bytes = Assemble(text);
    // The sixth batch of the trace, after the header.
    const auto source = *SourceFromBytes(bytes);
    ASSERT_TRUE(ReadHeader(source.get()).ok());
    Batch batch;
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(ReadBatch(source.get(), &batch).value());

    Reader reader = *Reader::FromBytes(bytes);
    int events = 0;
    while (reader.Next() != nullptr) ++events;
    EXPECT_EQ(events, c.events);
    EXPECT_TRUE(IsFault(reader.status(), c.id, batch.payload_offset));
    const std::optional<Fault> fault = FaultOf(reader.status());
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->place.generation, 1u);
    EXPECT_EQ(fault->place.thread, ThreadId{300});
    const absl::string_view name = c.event.substr(0, c.event.find(' '));
    EXPECT_EQ(EventTypeName(fault->place.event), name);
    // The first failure is permanent.
    const absl::Status status = reader.status();
    EXPECT_EQ(reader.Next(), nullptr);
    EXPECT_TRUE(reader.NextBlock().empty());
    EXPECT_EQ(reader.status(), status);
    EXPECT_EQ(reader.event_count(), static_cast<uint64_t>(events));
  }
}

TEST(ReaderTest, ABadFirstEventDropsTheSync) {
  std::string text = SmallTraceText(Version::kGo122);
  text.insert(text.find("ProcStatus"), "Stack id=1 nframes=0\n");
  const std::string bytes = Assemble(text);
  const auto source = *SourceFromBytes(bytes);
  ASSERT_TRUE(ReadHeader(source.get()).ok());
  Batch batch;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(ReadBatch(source.get(), &batch).value());
  const Outcome outcome = Read(bytes);
  EXPECT_TRUE(outcome.events.empty());
  EXPECT_TRUE(IsFault(outcome.status, FaultId::kEventNotTimed, batch.payload_offset));
}

// Cuts. -----------------------------------------------------------------------------------------

// The offsets of the batches of a sound trace.
struct Layout {
  struct Entry {
    uint64_t begin, payload, end;
    bool experimental;
    bool events;
    bool ends_generation;
  };
  std::vector<Entry> batches;
};

Layout LayoutOf(absl::string_view bytes) {
  Layout layout;
  const auto source = *SourceFromBytes(bytes);
  EXPECT_TRUE(ReadHeader(source.get()).ok());
  Batch batch;
  while (ReadBatch(source.get(), &batch).value()) {
    const EventType kind = batch.kind();
    layout.batches.push_back({batch.offset, batch.payload_offset, source->offset(),
                              bytes[batch.offset] == '\x31',
                              kind >= EventType::kProcsChange && kind <= EventType::kGoStatusStack,
                              kind == EventType::kEndOfGeneration});
  }
  return layout;
}

// Returns the expected fault and its offset if a sound trace is cut to `size` bytes. kNotATrace
// means no fault.
std::pair<FaultId, uint64_t> CutFault(const Layout& layout, size_t size, bool has_end_marks) {
  if (size < kHeaderSize) return {FaultId::kHeaderTruncated, 0};
  bool events = false;
  for (const Layout::Entry& batch : layout.batches) {
    if (size == batch.begin || (batch.experimental && size == batch.begin + 1)) break;
    if (size < batch.payload) return {FaultId::kBatchHeaderTruncated, batch.payload};
    if (size < batch.end) return {FaultId::kBatchTruncated, batch.payload};
    if (batch.events) events = true;
    if (batch.ends_generation) events = false;
  }
  if (has_end_marks && events) return {FaultId::kGenerationIncomplete, size};
  return {FaultId::kNotATrace, 0};
}

void ExpectCutFault(const absl::Status& status, const Layout& layout, size_t size,
                    bool has_end_marks) {
  const auto [id, offset] = CutFault(layout, size, has_end_marks);
  if (id == FaultId::kNotATrace) {
    EXPECT_TRUE(status.ok()) << status;
  } else if (id == FaultId::kBatchHeaderTruncated) {
    // The offset is that of the number that is cut.
    const std::optional<Fault> fault = FaultOf(status);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(FaultName(fault->id), FaultName(id));
    EXPECT_LE(*fault->place.offset, size);
    EXPECT_GT(*fault->place.offset + kMaxVarintSize, size);
  } else {
    EXPECT_TRUE(IsFault(status, id, offset));
  }
}

TEST(ReaderCutTest, SmallTracesCutAnywhereReturnTheEventsBeforeTheCut) {
  for (const Version version : kVersions) {
    const bool has_end_marks = version >= Version::kGo126;
    const std::string bytes = SmallTrace(version);
    const Layout layout = LayoutOf(bytes);
    const Outcome whole = Read(bytes);
    ASSERT_TRUE(whole.status.ok()) << whole.status;
    for (size_t size = 0; size < bytes.size(); ++size) {
      SCOPED_TRACE(absl::StrCat("version ", static_cast<int>(version), " cut at ", size));
      const std::string cut = bytes.substr(0, size);
      const Outcome outcome = Read(cut);
      if (!has_end_marks && size == kHeaderSize) {
        EXPECT_TRUE(IsFault(outcome.status, FaultId::kNoFrequency, kHeaderSize));
      } else {
        ExpectCutFault(outcome.status, layout, size, has_end_marks);
      }
      if (size < kHeaderSize) {
        EXPECT_TRUE(outcome.events.empty());
        continue;
      }
      // All events except the last sync are also in the whole trace.
      ASSERT_FALSE(outcome.events.empty());
      EXPECT_TRUE(absl::StartsWith(outcome.events.back(), "Sync"));
      ASSERT_LE(outcome.events.size(), whole.events.size());
      for (size_t i = 0; i + 1 < outcome.events.size(); ++i) {
        // Only the first sync depends on experimental batches, which may be cut off.
        if (absl::StartsWith(whole.events[i], "Sync")) continue;
        ASSERT_EQ(outcome.events[i], whole.events[i]);
      }
    }
  }
}

TEST(ReaderCutTest, EveryWholeBatchOfEventsIsReturned) {
  const std::string bytes = SmallTrace(Version::kGo122);
  const Layout layout = LayoutOf(bytes);
  // The number of events in a batch, by its position. Each generation has three tables, then
  // batches of four and two events.
  const std::map<size_t, size_t> counts = {{3, 4}, {4, 2}, {8, 4}, {9, 2}};
  for (size_t size = kHeaderSize + 1; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    size_t expected = 1;  // The last sync.
    for (size_t i = 0; i < layout.batches.size() && layout.batches[i].end <= size; ++i) {
      if (counts.count(i) > 0) expected += counts.at(i);
      // A sync is returned with the first whole batch of a generation.
      if (i == 0 || i == 5) ++expected;
    }
    EXPECT_EQ(Read(bytes.substr(0, size)).events.size(), expected);
  }
}

// Returns each event as a few numbers, which are faster to compare than all of its details.
std::vector<std::vector<int64_t>> Digest(absl::StatusOr<Reader> reader, absl::Status* status) {
  std::vector<std::vector<int64_t>> events;
  *status = reader.status();
  if (!reader.ok()) return events;
  while (const Event* event = reader->Next()) {
    events.push_back({event->time(), static_cast<int64_t>(event->type()), event->thread().value,
                      event->proc().value, event->goroutine().value,
                      event->transition_resource().id, static_cast<int64_t>(event->offset()),
                      static_cast<int64_t>(event->stack().size())});
  }
  *status = reader->status();
  return events;
}

TEST(ReaderCutTest, RealTracesWithEndMarksCutAnywhereReturnWholeGenerations) {
  for (const absl::string_view name : {"go1.26-startstop.trace", "go1.27-oddstrings.trace"}) {
    const std::string bytes = ReadTestTrace(name);
    const Layout layout = LayoutOf(bytes);
    absl::Status status;
    const auto whole = Digest(Reader::FromBytes(bytes), &status);
    ASSERT_TRUE(status.ok());
    for (size_t size = 0; size < bytes.size(); ++size) {
      SCOPED_TRACE(absl::StrCat(name, " cut at ", size));
      const std::string cut = bytes.substr(0, size);
      const auto events = Digest(Reader::FromBytes(cut), &status);
      ExpectCutFault(status, layout, size, /*has_end_marks=*/true);
      ASSERT_LE(events.size(), whole.size());
      for (size_t i = 0; i + 1 < events.size(); ++i) ASSERT_EQ(events[i], whole[i]);
      if (HasFailure()) return;
    }
  }
}

TEST(ReaderCutTest, RealTracesWithoutEndMarksCutAnywhereEndWithAFault) {
  // Faults of framing, and those caused by missing batches at the end of a generation.
  const std::vector<FaultId> possible = {FaultId::kHeaderTruncated, FaultId::kBatchHeaderTruncated,
                                         FaultId::kBatchTruncated,  FaultId::kNoFrequency,
                                         FaultId::kStackString,     FaultId::kEventStringId,
                                         FaultId::kEventStackId,    FaultId::kNoAdvance,
                                         FaultId::kProcStealThread};
  for (const absl::string_view name : {"go1.22-oddstrings.trace", "go1.25-startstop.trace"}) {
    const std::string bytes = ReadTestTrace(name);
    absl::Status status;
    for (size_t size = 0; size < bytes.size(); ++size) {
      SCOPED_TRACE(absl::StrCat(name, " cut at ", size));
      const std::string cut = bytes.substr(0, size);
      Digest(Reader::FromBytes(cut), &status);
      if (status.ok()) continue;
      const std::optional<Fault> fault = FaultOf(status);
      ASSERT_TRUE(fault.has_value()) << status;
      ASSERT_EQ(std::count(possible.begin(), possible.end(), fault->id), 1) << status;
      ASSERT_LE(*fault->place.offset, size);
    }
  }
}

// Ways in which bytes arrive. -------------------------------------------------------------------

std::string WriteFile(absl::string_view name, absl::string_view bytes) {
  const std::string path = absl::StrCat(testing::TempDir(), "/reader_test.", name);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

// Reads from a pipe to which another thread writes `piece` bytes at a time.
Outcome ReadFromPipe(absl::string_view bytes, size_t piece) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    for (absl::string_view rest = bytes; !rest.empty();) {
      const ssize_t written = write(ends[1], rest.data(), std::min(piece, rest.size()));
      if (written <= 0) break;
      rest.remove_prefix(written);
    }
    close(ends[1]);
  });
  Outcome outcome = ReadAll(Reader::FromStream(ends[0]));
  writer.join();
  // The descriptor still belongs to the caller.
  EXPECT_EQ(close(ends[0]), 0);
  return outcome;
}

TEST(ReaderSourceTest, TheWayTheBytesArriveMakesNoDifference) {
  for (const absl::string_view name :
       {"go1.22-generations.trace", "go1.23-alloc.trace", "go1.25-flight.trace",
        "go1.27-generations.trace", "go1.27-cpuprofile.trace"}) {
    SCOPED_TRACE(name);
    const std::string bytes = ReadTestTrace(name);
    const Outcome expected = Read(bytes);
    ASSERT_TRUE(expected.status.ok()) << expected.status;
    const std::string zstd = Zstd(bytes), gzip = Gzip(bytes);
    ExpectSame(Read(zstd), expected);
    ExpectSame(Read(gzip), expected);
    ExpectSame(ReadAll(Reader::Open(WriteFile("plain", bytes))), expected);
    ExpectSame(ReadAll(Reader::Open(WriteFile("gz", gzip))), expected);
    ExpectSame(ReadAll(Reader::Open(TestFilePath(absl::StrCat(name, ".zst")))), expected);
    for (const size_t piece : {size_t{1}, size_t{65536}}) {
      ExpectSame(ReadFromPipe(bytes, piece), expected);
      ExpectSame(ReadFromPipe(zstd, piece), expected);
      ExpectSame(ReadFromPipe(gzip, piece), expected);
    }
  }
}

TEST(ReaderSourceTest, BrokenTracesFailInTheSameWayHoweverTheyArrive) {
  const std::string bytes = SmallTrace(Version::kGo125);
  for (size_t size = 0; size < bytes.size(); size += 3) {
    const std::string cut = bytes.substr(0, size);
    const Outcome expected = Read(cut);
    ExpectSame(
        ReadAll(Reader::FromSource(*SourceFromStream(std::make_unique<PieceStream>(cut, 1)))),
        expected);
    if (size >= kHeaderSize) ExpectSame(Read(Gzip(cut)), expected);
  }
}

TEST(ReaderSourceTest, ACutCompressedTraceReturnsTheEventsBeforeTheCut) {
  // The fault is that the trace was cut, wherever that was, rather than anything that is missing
  // because of it.
  for (const absl::string_view name : {"go1.22-generations.trace", "go1.27-generations.trace"}) {
    const std::string bytes = ReadTestTrace(name);
    const Outcome whole = Read(bytes);
    for (const std::string& compressed : {Zstd(bytes), Gzip(bytes)}) {
      for (const size_t size : {compressed.size() / 4, compressed.size() / 2,
                                compressed.size() * 3 / 4, compressed.size() - 1}) {
        const Outcome cut = Read(absl::string_view(compressed).substr(0, size));
        EXPECT_TRUE(IsFault(cut.status, FaultId::kCompressedTruncated, std::nullopt));
        EXPECT_LE(cut.events.size(), whole.events.size());
      }
    }
  }
}

TEST(ReaderSourceTest, AnInputErrorIsReturned) {
  const absl::Status failure = absl::UnavailableError("the disk is gone");
  for (const Version version : {Version::kGo122, Version::kGo125, Version::kGo126}) {
    const std::string bytes = SmallTrace(version);
    for (size_t size = kHeaderSize; size < bytes.size(); size += 3) {
      const Outcome outcome = ReadAll(Reader::FromSource(*SourceFromStream(
          std::make_unique<PieceStream>(bytes.substr(0, size), /*piece=*/7, failure))));
      EXPECT_EQ(outcome.status, failure)
          << size << " bytes of version 1." << static_cast<uint32_t>(version);
    }
  }
}

// If a pipe stays open, everything that was written must be read as far as possible.
TEST(ReaderSourceTest, AGrowingPipeIsFollowedClosely) {
  const std::string bytes = SmallTrace(Version::kGo126);
  const size_t first = bytes.find('\x34', LayoutOf(bytes).batches[5].end) + 1;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], bytes.data(), first), static_cast<ssize_t>(first));
  absl::StatusOr<Reader> reader = Reader::FromStream(ends[0]);
  ASSERT_TRUE(reader.ok());
  for (int i = 0; i < 7; ++i) ASSERT_NE(reader->Next(), nullptr) << i;
  ASSERT_EQ(write(ends[1], bytes.data() + first, bytes.size() - first),
            static_cast<ssize_t>(bytes.size() - first));
  close(ends[1]);
  for (int i = 7; i < 15; ++i) ASSERT_NE(reader->Next(), nullptr) << i;
  EXPECT_EQ(reader->Next(), nullptr);
  EXPECT_TRUE(reader->status().ok());
  close(ends[0]);
}

// Blocks. ---------------------------------------------------------------------------------------

TEST(ReaderBlockTest, BlocksHaveTheSameEvents) {
  for (const TestTrace& trace : TestTraces()) {
    SCOPED_TRACE(trace.name);
    // The other large traces have nothing that these lack.
    if (trace.size > 100000 && trace.name != "go1.27-gc.trace") continue;
    const std::string bytes = ReadTestTrace(trace.name);
    const Outcome expected = Read(bytes);
    EXPECT_EQ(expected.events.size(), trace.events);
    ExpectSame(ReadAllBlocks(Reader::FromBytes(bytes)), expected);
  }
}

TEST(ReaderBlockTest, BlocksEndAtAFault) {
  const std::string bytes = SmallTrace(Version::kGo123);
  for (size_t size = kHeaderSize; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    ExpectSame(ReadAllBlocks(Reader::FromBytes(cut)), Read(cut));
  }
}

TEST(ReaderBlockTest, MayAlternateWithSingleEvents) {
  const std::string bytes = ReadTestTrace("go1.27-coroutines.trace");
  const Outcome expected = Read(bytes);
  Reader reader = *Reader::FromBytes(bytes);
  std::vector<std::string> events;
  while (const Event* event = reader.Next()) {
    events.push_back(Describe(*event));
    for (const Event& next : reader.NextBlock()) events.push_back(Describe(next));
  }
  ExpectSame({events, reader.status()}, expected);
}

}  // namespace reader_test
}  // namespace gotrace::internal
