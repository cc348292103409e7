// Tests that the tolerant modes keep every sound part of a damaged trace.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gotrace/internal/event_spec.h"
#include "gotrace/version.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/salvage_util.h"
#include "testing/test_util.h"

namespace gotrace::internal {
namespace salvage_damage_test {

// Expects that `result` has all events of `sound` for which `counts` returns true, by offset and
// type.
void ExpectHasAll(const ReadResult& result, const ReadResult& sound,
                  const std::function<bool(const EventRecord&)>& counts) {
  std::multiset<std::tuple<uint64_t, EventKind, EventType>> given;
  for (const EventRecord& event : result.events) given.insert(event.id());
  for (const EventRecord& event : sound.events) {
    if (!counts(event)) continue;
    const auto it = given.find(event.id());
    ASSERT_NE(it, given.end()) << EventTypeName(event.type) << " at byte " << event.offset;
    given.erase(it);
  }
}

// Returns where events end, by the offsets at which they begin in `sound`.
std::map<uint64_t, uint64_t> EndsOf(const ReadResult& sound,
                                    const std::vector<BatchExtent>& batches) {
  std::map<uint64_t, uint64_t> ends;
  for (const EventRecord& event : sound.events) ends[event.offset] = 0;
  auto batch = batches.begin();
  for (auto at = ends.begin(); at != ends.end(); ++at) {
    while (batch->end <= at->first) ++batch;
    const auto next = std::next(at);
    at->second = next == ends.end() ? batch->end : std::min(batch->end, next->first);
  }
  return ends;
}

TEST(SalvageDamageTest, ACutTraceKeepsAllWholeEvents) {
  std::vector<std::string> traces = {Assemble(TwoGenerations(true)),
                                     Assemble(TwoGenerations(false))};
  for (const absl::string_view name : {"go1.22-oddstrings.trace", "go1.27-startstop.trace"}) {
    traces.push_back(ReadTestTrace(name));
  }
  for (const std::string& bytes : traces) {
    const ReadResult sound = ReadIn(bytes, ReadMode::kStrict);
    ASSERT_TRUE(sound.status.ok()) << sound.status;
    const std::map<uint64_t, uint64_t> ends = EndsOf(sound, ExtentsOf(bytes));
    // Real traces are cut at a step that meets every kind of place in a batch.
    const size_t step = bytes.size() < 1000 ? 1 : 17;
    for (size_t size = kHeaderSize; size < bytes.size(); size += step) {
      SCOPED_TRACE(size);
      const std::string cut = bytes.substr(0, size);
      const ReadResult salvaged = ReadIn(cut, ReadMode::kSalvage);
      EXPECT_TRUE(salvaged.status.ok());
      ExpectHasAll(salvaged, sound,
                   [&](const EventRecord& event) { return ends.at(event.offset) <= size; });
      EXPECT_TRUE(ReadIn(cut, ReadMode::kCollect).status.ok());
      if (HasFailure()) return;
    }
  }
}

// Returns the events of a generation with sound bytes. Who executed the events that state statuses
// is left out, because that depends on the generation before.
std::vector<EventRecord> OfGeneration(const ReadResult& result, const BatchExtent& extent) {
  std::vector<EventRecord> events;
  for (EventRecord event : result.events) {
    if (event.offset < extent.begin || event.offset >= extent.end) continue;
    if (event.type == EventType::kProcStatus || event.type == EventType::kGoStatus ||
        event.type == EventType::kGoStatusStack) {
      event.proc = event.goroutine = -1;
    }
    // A wrong id may become a fault only where a later generation contradicts it.
    event.marked = false;
    events.push_back(event);
  }
  return events;
}

std::string Show(const std::vector<EventRecord>& events) {
  std::string text;
  for (const EventRecord& e : events) {
    absl::StrAppend(&text, EventTypeName(e.type), "@", e.offset, " ", e.time, " ", e.thread, "/",
                    e.proc, "/", e.goroutine, "; ");
  }
  return text;
}

TEST(SalvageDamageTest, OneDamagedByteLeavesTheOtherGenerationsWhole) {
  for (const bool has_ends : {false, true}) {
    const std::string bytes = Assemble(TwoGenerations(has_ends));
    const ReadResult sound = ReadIn(bytes, ReadMode::kStrict);
    std::map<uint64_t, BatchExtent> generations;
    for (const BatchExtent& batch : ExtentsOf(bytes)) {
      BatchExtent& extent = generations.try_emplace(batch.generation, batch).first->second;
      extent.end = batch.end;
    }
    const size_t step = bytes.size() / TestRounds(bytes.size());
    for (size_t pos = kHeaderSize; pos < bytes.size(); pos += step) {
      for (const char flip : {'\x01', '\x02', '\x10', '\x40', '\x80', '\xff'}) {
        std::string damaged = bytes;
        damaged[pos] ^= flip;
        ReadIn(damaged, ReadMode::kStrict, /*describe=*/true);
        for (const ReadMode mode : kTolerantModes) ReadIn(damaged, mode, /*describe=*/true);
        const ReadResult salvaged = ReadIn(damaged, ReadMode::kSalvage);
        for (const auto& [number, extent] : generations) {
          if (pos >= extent.begin && pos < extent.end) continue;
          EXPECT_EQ(Show(OfGeneration(salvaged, extent)), Show(OfGeneration(sound, extent)))
              << "byte " << pos << " of " << bytes.size() << " changed by "
              << static_cast<int>(flip) << ", generation " << number << " from " << extent.begin
              << (has_ends ? ", with" : ", without") << " ends";
        }
      }
    }
  }
}

TEST(SalvageDamageTest, CutCompressedTracesKeepTheEventsBeforeTheCut) {
  const std::string bytes = ReadTestTrace("go1.27-gc.trace");
  const ReadResult sound = ReadIn(bytes, ReadMode::kStrict);
  for (const std::string& packed : {Zstd(bytes), Gzip(bytes)}) {
    for (const size_t size : {packed.size() / 2, packed.size() - 5}) {
      const std::string cut = packed.substr(0, size);
      const auto source = *SourceFromBytes(cut);
      while (source->Fill(ByteSource::kMaxFill).ok()) source->Skip(source->window().size());
      const uint64_t available = source->offset() + source->window().size();
      // If the compressed data is a single block, nothing of it can be read.
      if (available < kHeaderSize) continue;
      const std::map<uint64_t, uint64_t> ends = EndsOf(sound, ExtentsOf(bytes));
      const ReadResult result = ReadIn(cut, ReadMode::kSalvage);
      EXPECT_TRUE(result.status.ok()) << result.status;
      ASSERT_FALSE(result.faults.empty());
      EXPECT_EQ(result.faults[0].id, FaultId::kCompressedTruncated);
      for (const Fault& fault : result.faults) EXPECT_NE(fault.id, FaultId::kEventStringId);
      // That the trace ends there is reported once.
      EXPECT_EQ(std::count_if(
                    result.faults.begin(), result.faults.end(),
                    [](const Fault& fault) { return fault.id == FaultId::kCompressedTruncated; }),
                1);
      ExpectHasAll(result, sound,
                   [&](const EventRecord& event) { return ends.at(event.offset) <= available; });
    }
  }
}

}  // namespace salvage_damage_test
}  // namespace gotrace::internal
