#include "tools/commands/footprint.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gotrace/byte_source.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "parser/framing/batch_reader.h"
#include "testdata/test_data.h"
#include "testing/json_value.h"
#include "tracev2/text_form.h"

namespace gotrace::internal {
namespace footprint_test {

RawReader Read(absl::string_view bytes) {
  return *RawReader::FromSource(*SourceFromBytes(bytes), RawReader::Types::kOfVersion);
}

absl::Status Collect(absl::string_view bytes, Footprint* footprint) {
  RawReader reader = Read(bytes);
  Progress progress(/*prints_along=*/false);
  return CollectFootprint(&reader, &progress, footprint);
}

std::string Text(const Footprint& footprint) {
  TextBuffer out;
  AppendFootprint(footprint, &out);
  return std::string(out.view());
}

std::string Json(const Footprint& footprint) {
  TextBuffer out;
  AppendFootprintJson("a.trace", footprint, &out);
  return std::string(out.view());
}

constexpr char kTrace[] = R"(Trace Go1.22
EventBatch gen=1 m=0 time=1 size=auto
Frequency freq=1000000000
EventBatch gen=1 m=0 time=1 size=auto
Strings
String id=1
	data="ab"
EventBatch gen=1 m=1 time=100 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
HeapAlloc dt=1 heapalloc_value=300
GoLabel dt=1 label_string=1
EventBatch gen=2 m=0 time=1000 size=auto
Frequency freq=1000000000
EventBatch gen=2 m=1 time=1000 size=auto
ProcStatus dt=1 p=0 pstatus=1
GoStatus dt=1 g=1 m=1 gstatus=2
)";

TEST(Footprint, CountsEventsAndTheirBytes) {
  Footprint footprint;
  ASSERT_TRUE(Collect(*AssembleText(kTrace), &footprint).ok());
  EXPECT_EQ(Text(footprint),
            R"(Event                           Bytes   Share        Count   Share
EventBatch                         27  31.40%            5  33.33%
Frequency                          12  13.95%            2  13.33%
GoStatus                           10  11.63%            2  13.33%
ProcStatus                          8   9.30%            2  13.33%
String                              5   5.81%            1   6.67%
HeapAlloc                           4   4.65%            1   6.67%
GoLabel                             3   3.49%            1   6.67%
Strings                             1   1.16%            1   6.67%

Part                            Bytes   Share        Count   Share
batch headers                      27  31.40%            5  33.33%
timed events                       25  29.07%            6  40.00%
header                             16  18.60%            0   0.00%
frequency and ends                 12  13.95%            2  13.33%
strings                             6   6.98%            2  13.33%

total                              86 100.00%           15 100.00%
)");
  const std::string json = Json(footprint);
  EXPECT_EQ(
      json,
      R"({"file":"a.trace","complete":true,"bytes":86,"count":15,"events":[{"name":"EventBatch","bytes":27,"count":5},)"
      R"({"name":"Frequency","bytes":12,"count":2},{"name":"GoStatus","bytes":10,"count":2},)"
      R"({"name":"ProcStatus","bytes":8,"count":2},{"name":"String","bytes":5,"count":1},)"
      R"({"name":"HeapAlloc","bytes":4,"count":1},{"name":"GoLabel","bytes":3,"count":1},)"
      R"({"name":"Strings","bytes":1,"count":1}],)"
      R"("parts":[{"name":"batch headers","bytes":27,"count":5},)"
      R"({"name":"timed events","bytes":25,"count":6},{"name":"header","bytes":16,"count":0},)"
      R"({"name":"frequency and ends","bytes":12,"count":2},)"
      R"({"name":"strings","bytes":6,"count":2}]})"
      "\n");
  EXPECT_EQ(CheckJson(absl::string_view(json).substr(0, json.size() - 1)), "");
}

TEST(Footprint, OfATraceWithoutEvents) {
  Footprint footprint;
  ASSERT_TRUE(Collect(MakeHeader(Version::kGo122), &footprint).ok());
  EXPECT_EQ(Text(footprint),
            R"(Event                           Bytes   Share        Count   Share

Part                            Bytes   Share        Count   Share
header                             16 100.00%            0   0.00%

total                              16 100.00%            0   0.00%
)");
  EXPECT_EQ(Json(footprint),
            R"({"file":"a.trace","complete":true,"bytes":16,"count":0,"events":[],)"
            R"("parts":[{"name":"header","bytes":16,"count":0}]})"
            "\n");
}

TEST(Footprint, CountsWhatStandsBeforeAFault) {
  const std::string bytes = *AssembleText(kTrace);
  Footprint footprint;
  const absl::Status status = Collect(bytes.substr(0, 29), &footprint);
  EXPECT_EQ(
      status.message(),
      "byte 29, event EventBatch: the trace is cut off: expected the rest of an event, found the "
      "end of the trace "
      "[event-truncated]");
  EXPECT_EQ(footprint.events, 2);
  EXPECT_EQ(footprint.bytes, 27);
  const Footprint::Share& batches = footprint.by_type[static_cast<uint8_t>(EventType::kEventBatch)];
  EXPECT_EQ(batches.count, 1);
  EXPECT_EQ(batches.bytes, 5);
}

// Cut off where an event ends: nothing of the events themselves shows it.
TEST(Footprint, TellsThatATraceIsCutOff) {
  for (const absl::string_view name : {"go1.22-threads.trace", "go1.27-threads.trace"}) {
    SCOPED_TRACE(name);
    const std::string bytes = ReadTestTrace(name);
    RawReader reader =
        *RawReader::FromSource(*SourceFromBytes(bytes), RawReader::Types::kOfVersion);
    std::vector<uint64_t> ends;
    while (reader.Next() != nullptr) ends.push_back(reader.offset());
    const bool has_ends = reader.version() >= Version::kGo126;
    int cut = 0;
    for (size_t i = ends.size() / 3; i + 1 < ends.size(); i += ends.size() / 50) {
      Footprint footprint;
      const absl::Status status = Collect(bytes.substr(0, ends[i]), &footprint);
      EXPECT_EQ(status, footprint.status);
      const std::optional<Fault> fault = FaultOf(status);
      // A cut between two batches does not show before version 1.26.
      if (!fault.has_value() && !has_ends) continue;
      ASSERT_TRUE(fault.has_value()) << ends[i] << " bytes of " << name;
      EXPECT_TRUE(fault->id == FaultId::kBatchTruncated ||
                  (fault->id == FaultId::kGenerationIncomplete && has_ends));
      EXPECT_EQ(fault->place.offset, ends[i]);
      ++cut;
    }
    EXPECT_GT(cut, 25) << name;
  }
}

// Whether a cut between two batches shows is as for a Reader, with and without salvaging.
TEST(Footprint, TakesTheEndOfATraceAsAReaderDoes) {
  const std::string bytes = ReadTestTrace("go1.27-generations.trace");
  const std::unique_ptr<ByteSource> source = *SourceFromBytes(bytes);
  ASSERT_TRUE(ReadHeader(source.get()).ok());
  int complete = 0;
  int incomplete = 0;
  for (Batch batch; *ReadBatch(source.get(), &batch);) {
    const std::string cut = bytes.substr(0, source->offset());
    Reader reader = *Reader::FromBytes(cut);
    while (reader.Next() != nullptr) continue;
    const bool is_cut = FaultOf(reader.status()).has_value();
    ++(is_cut ? incomplete : complete);
    Footprint strict;
    EXPECT_EQ(Collect(cut, &strict).ok(), !is_cut) << cut.size();
    Footprint salvaged;
    const std::unique_ptr<ByteSource> all = *SourceFromBytes(cut);
    Progress progress(/*prints_along=*/false);
    EXPECT_TRUE(SalvageFootprint(
                    all.get(), [](const Fault&) {}, &progress, &salvaged)
                    .ok());
    EXPECT_EQ(salvaged.losses.faults, is_cut ? 1u : 0u) << cut.size();
  }
  EXPECT_GT(complete, 5);
  EXPECT_GT(incomplete, 5);
}

// The numbers that follow from the text of the wire format.
struct TextCount {
  std::map<std::string, uint64_t> events;
  uint64_t payload = 0;  // The sum of all batches' sizes.
};

TextCount CountText(absl::string_view bytes) {
  RawReader reader = Read(bytes);
  TextBuffer text;
  while (const RawEvent* event = reader.Next()) AppendEventText(*event, &text);
  TextCount count;
  for (const absl::string_view line : absl::StrSplit(text.view(), '\n', absl::SkipEmpty())) {
    if (line[0] == '\t') continue;
    ++count.events[std::string(line.substr(0, line.find(' ')))];
    if (!absl::StartsWith(line, "EventBatch ")) continue;
    uint64_t size = 0;
    EXPECT_TRUE(absl::SimpleAtoi(line.substr(line.rfind('=') + 1), &size));
    count.payload += size;
  }
  return count;
}

TEST(Footprint, AgreesWithTheTextOfEachTrace) {
  for (const TestTrace& trace : TestTraces()) {
    const std::string bytes = ReadTestTrace(trace.name);
    Footprint footprint;
    ASSERT_TRUE(Collect(bytes, &footprint).ok());
    const TextCount expected = CountText(bytes);
    std::map<std::string, uint64_t> events;
    uint64_t sum = 16;
    uint64_t in_batches = 0;
    for (const EventSpec& spec : AllEventSpecs()) {
      const Footprint::Share& share = footprint.by_type[static_cast<uint8_t>(spec.type)];
      if (share.count > 0) events[std::string(spec.name)] = share.count;
      sum += share.bytes;
      const bool is_framing = spec.type == EventType::kEventBatch ||
                              spec.type == EventType::kExperimentalBatch ||
                              spec.type == EventType::kEndOfGeneration;
      if (!is_framing) in_batches += share.bytes;
    }
    EXPECT_EQ(events, expected.events) << trace.name;
    EXPECT_EQ(footprint.bytes, trace.size) << trace.name;
    EXPECT_EQ(sum, trace.size) << trace.name;
    EXPECT_EQ(in_batches, expected.payload) << trace.name;
  }
}

}  // namespace footprint_test
}  // namespace gotrace::internal
