#include "gotrace/heap_stats.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gotrace/reader.h"
#include "gtest/gtest.h"
#include "testdata/test_data.h"
#include "testing/test_util.h"
#include "tracev2/varint.h"

namespace gotrace::internal {
namespace heap_stats_test {

class Heap {
 public:
  explicit Heap(const std::string& bytes, EventFilter::Times window = {}) {
    AnalysisSink::Options options;
    options.window = window;
    sink_ = std::make_unique<AnalysisSink>(
        [=](Interner* interner) { return std::make_unique<HeapStats>(interner, window); }, options);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) return;
    const absl::Status status = ReadInto(*reader, {sink_.get()});
    EXPECT_TRUE(status.ok()) << status;
  }

  const HeapStats& operator*() const { return static_cast<const HeapStats&>(sink_->analysis()); }
  const HeapStats* operator->() const { return &**this; }

  std::string Name(StringId id) const { return std::string(sink_->interner().String(id)); }

  // The type `name`, which must be there once.
  HeapType Type(absl::string_view name) const {
    HeapType found;
    size_t count = 0;
    for (const HeapType& type : (*this)->types()) {
      if (Name(type.name) != name) continue;
      found = type;
      ++count;
    }
    EXPECT_EQ(count, 1) << name;
    return found;
  }

  HeapAmount AllocatedBy(absl::string_view function) const {
    for (const HeapFunction& one : (*this)->functions()) {
      if (Name(one.name) == function) return one.allocated;
    }
    return {};
  }

 private:
  std::unique_ptr<AnalysisSink> sink_;
};

struct TypeRow {
  uint64_t id;
  uint64_t address;
  std::string name;
};

std::string ExperimentalBatch(int generation, const std::string& data) {
  return absl::StrCat("ExperimentalBatch exp=1 gen=", generation, " m=1 time=", 1000 * generation,
                      "\n\tdata=\"", absl::CHexEscape(data), "\"\n");
}

std::string TypesBatch(int generation, const std::vector<TypeRow>& types) {
  std::string data(1, '\0');
  for (const TypeRow& type : types) {
    for (const uint64_t number :
         {type.id, type.address, uint64_t{8}, uint64_t{0}, uint64_t{type.name.size()}}) {
      AppendVarint(number, &data);
    }
    data += type.name;
  }
  return ExperimentalBatch(generation, data);
}

std::string UnitsBatch() {
  std::string data(1, '\1');
  constexpr uint64_t kUnits[] = {0xc000000000, 8192, 8, 2048};
  for (const uint64_t number : kUnits) AppendVarint(number, &data);
  return ExperimentalBatch(1, data);
}

// Two generations of a program with one P. Objects of 48 bytes with pointers are in the span at
// page 10, a large one in that at page 20, stacks in that at page 30, tiny objects in that at page
// 40, and objects of 1792 bytes in that at page 50.
std::string Program() {
  return Assemble(absl::StrCat("Trace Go1.23\n", UnitsBatch(),
                               TypesBatch(1, {{1, 0x100, "main.node"}, {2, 0x200, "uint8"}}),
                               "EventBatch gen=1 m=0 time=1000 size=auto\n"
                               "Frequency freq=1000000000\n"
                               "EventBatch gen=1 m=1 time=1000 size=auto\n"
                               "ProcStatus dt=0 p=0 pstatus=1\n"
                               "GoStatus dt=1 g=7 m=1 gstatus=2\n"
                               "Span dt=1 id=10 npages_value=1 kindclass=20\n"
                               "HeapObject dt=1 id=10240 type=0\n"
                               "HeapObject dt=1 id=10246 type=1\n"
                               "Span dt=1 id=20 npages_value=4 kindclass=2\n"
                               "Span dt=1 id=30 npages_value=4 kindclass=1\n"
                               "GoroutineStack dt=1 id=120 order=12\n"
                               "GoCreate dt=2 new_g=8 new_stack=1 stack=0\n"
                               "HeapObjectAlloc dt=1 id=10252 type=1\n"
                               "HeapObjectAlloc dt=1 id=20480 type=2\n"
                               "HeapAlloc dt=1 heapalloc_value=33000\n"
                               "GCBegin dt=87 gc_seq=1 stack=0\n"
                               "GCEnd dt=1 gc_seq=2\n"
                               "HeapObjectFree dt=1 id=10246\n"
                               "HeapObjectFree dt=1 id=10252\n"
                               "HeapObjectAlloc dt=1 id=10252 type=1\n"
                               "GoStop dt=1 reason_string=0 stack=0\n"
                               "GoStart dt=1 g=8 g_seq=1\n"
                               "SpanAlloc dt=1 id=40 npages_value=1 kindclass=10\n"
                               "HeapObjectAlloc dt=1 id=40960 type=2\n"
                               "HeapObjectAlloc dt=1 id=40961 type=2\n"
                               "GoroutineStackAlloc dt=1 id=122 order=13\n"
                               "GoroutineStackFree dt=1 id=120\n"
                               "EventBatch gen=1 m=1 time=1000 size=auto\n"
                               "Stacks\n"
                               "Stack id=1 nframes=1\n"
                               "\tpc=1 func=1 file=0 line=1\n"
                               "EventBatch gen=1 m=1 time=1000 size=auto\n"
                               "Strings\n"
                               "String id=1\n"
                               "\tdata=\"main.worker\"\n",
                               // The same type has another id in this generation.
                               TypesBatch(2, {{5, 0x100, "main.node"}, {1, 0x300, "main.big"}}),
                               "EventBatch gen=2 m=0 time=2000 size=auto\n"
                               "Frequency freq=1000000000\n"
                               "EventBatch gen=2 m=1 time=2000 size=auto\n"
                               "ProcStatus dt=0 p=0 pstatus=1\n"
                               "GoStatus dt=0 g=8 m=1 gstatus=2\n"
                               "GCBegin dt=10 gc_seq=3 stack=0\n"
                               "GCEnd dt=1 gc_seq=4\n"
                               "HeapObjectFree dt=1 id=20480\n"
                               "SpanFree dt=1 id=20\n"
                               "SpanAlloc dt=1 id=50 npages_value=2 kindclass=148\n"
                               // Behind its header.
                               "HeapObjectAlloc dt=1 id=51201 type=1\n"
                               "HeapObjectAlloc dt=1 id=10258 type=5\n"
                               "GCBegin dt=10 gc_seq=5 stack=0\n"
                               "GCEnd dt=1 gc_seq=6\n"
                               "HeapObjectFree dt=1 id=51200\n"
                               "GoStatus dt=100 g=7 m=18446744073709551615 gstatus=1\n"));
}

TEST(HeapStats, CountsObjectsByType) {
  const Heap heap(Program());
  EXPECT_TRUE(heap->has_events());
  EXPECT_EQ(heap->objects_without_span(), 0);
  EXPECT_EQ(heap->unknown_frees(), 0);
  ASSERT_EQ(heap->types().size(), 4);

  const HeapType unknown = heap.Type("");
  EXPECT_EQ(unknown.start, (HeapAmount{1, 48}));
  EXPECT_EQ(unknown.end, (HeapAmount{1, 48}));
  EXPECT_EQ(unknown.survived, HeapAmount());  // Nobody knows how old it is.

  const HeapType node = heap.Type("main.node");
  EXPECT_EQ(node.address, 0x100);
  EXPECT_EQ(node.start, (HeapAmount{1, 48}));
  EXPECT_EQ(node.allocated, (HeapAmount{3, 144}));
  EXPECT_EQ(node.freed, (HeapAmount{2, 96}));
  EXPECT_EQ(node.end, (HeapAmount{2, 96}));
  EXPECT_EQ(node.peak_bytes, 96);
  EXPECT_EQ(node.median_age, 1);
  EXPECT_EQ(node.max_age, 1);
  EXPECT_EQ(node.survived, (HeapAmount{2, 96}));

  const HeapType bytes = heap.Type("uint8");
  EXPECT_EQ(bytes.allocated, (HeapAmount{2, 32768 + 16}));  // The tiny objects share a slot.
  EXPECT_EQ(bytes.freed, (HeapAmount{1, 32768}));
  EXPECT_EQ(bytes.peak_bytes, 32768 + 16);
  EXPECT_EQ(bytes.median_age, 2);
  EXPECT_EQ(bytes.survived, (HeapAmount{2, 32768 + 16}));

  const HeapType big = heap.Type("main.big");
  EXPECT_EQ(big.allocated, (HeapAmount{1, 1792}));
  EXPECT_EQ(big.freed, (HeapAmount{1, 1792}));
  EXPECT_EQ(big.survived, HeapAmount());

  EXPECT_EQ(heap->total().start, (HeapAmount{2, 96}));
  EXPECT_EQ(heap->total().allocated, (HeapAmount{6, 144 + 32784 + 1792}));
  EXPECT_EQ(heap->total().freed, (HeapAmount{4, 96 + 32768 + 1792}));
  EXPECT_EQ(heap->total().end, (HeapAmount{4, 48 + 96 + 16}));
  EXPECT_EQ(heap->total().peak_bytes, 3 * 48 + 32768);
}

TEST(HeapStats, HasFunctionsAgesAndSpans) {
  const Heap heap(Program());
  ASSERT_EQ(heap->functions().size(), 2);
  EXPECT_EQ(heap.AllocatedBy("main.worker"), (HeapAmount{3, 16 + 1792 + 48}));
  EXPECT_EQ(heap.AllocatedBy(""), (HeapAmount{3, 48 + 32768 + 48}));
  EXPECT_EQ(heap->functions()[0].goroutines, 1);

  ASSERT_EQ(heap->ages().size(), 3);
  EXPECT_EQ(heap->ages()[0].freed, HeapAmount());
  EXPECT_EQ(heap->ages()[1].freed, (HeapAmount{2, 48 + 1792}));
  EXPECT_EQ(heap->ages()[2].freed, (HeapAmount{1, 32768}));
  EXPECT_EQ(heap->ages()[1].end, (HeapAmount{1, 48}));
  EXPECT_EQ(heap->ages()[2].end, (HeapAmount{2, 48 + 16}));

  const absl::Span<const HeapSpanClass> classes = heap->span_classes();
  ASSERT_EQ(classes.size(), 4);
  EXPECT_EQ(classes[0].slot_bytes, 16);
  EXPECT_FALSE(classes[0].has_pointers);
  EXPECT_EQ(classes[0].slots, 512);
  EXPECT_EQ(classes[0].used, (HeapAmount{1, 16}));
  EXPECT_EQ(classes[1].slot_bytes, 48);
  EXPECT_TRUE(classes[1].has_pointers);
  EXPECT_EQ(classes[1].bytes, 8192);
  EXPECT_EQ(classes[1].slots, 168);  // The bitmap is in the place of two.
  EXPECT_EQ(classes[1].used, (HeapAmount{3, 144}));
  EXPECT_EQ(classes[2].slot_bytes, 1792);
  EXPECT_EQ(classes[2].slots, 9);
  EXPECT_EQ(classes[2].used, HeapAmount());
  EXPECT_EQ(classes[3].use, HeapSpanUse::kManual);
  EXPECT_EQ(classes[3].used, (HeapAmount{1, 4096}));
}

TEST(HeapStats, CutsTimeIntoSlices) {
  const Heap heap(Program());
  // From 1000 ns to 2128 ns.
  EXPECT_EQ(heap->duration(), 1129);
  ASSERT_EQ(heap->slices().size(), 2);
  const HeapSlice& first = heap->slices()[0];
  EXPECT_EQ(first.begin, 1000);
  EXPECT_EQ(first.end, 2000);
  EXPECT_EQ(first.cycles, 1);
  EXPECT_EQ(first.changes.start, (HeapAmount{2, 96}));
  EXPECT_EQ(first.changes.end, (HeapAmount{4, 96 + 32768 + 16}));
  EXPECT_EQ(first.heap_metric, 33000);
  EXPECT_EQ(first.span_bytes, 8192 + 32768 + 8192);
  EXPECT_EQ(first.stacks, 1);
  EXPECT_EQ(first.stack_bytes, 4096);
  ASSERT_EQ(first.types.size(), 3);
  EXPECT_EQ(heap.Name(first.types[0].name), "uint8");
  EXPECT_EQ(first.types[0].bytes, 32768 + 16);
  const HeapSlice& second = heap->slices()[1];
  EXPECT_EQ(second.end, 2129);
  EXPECT_EQ(second.cycles, 2);
  EXPECT_EQ(second.changes.start, first.changes.end);
  EXPECT_EQ(second.changes.freed, (HeapAmount{2, 32768 + 1792}));
  EXPECT_EQ(second.changes.end, heap->total().end);
}

TEST(HeapStats, AWindowStartsWithWhatIsThere) {
  const Heap heap(Program(), {1101, 2015});
  const HeapType node = heap.Type("main.node");
  EXPECT_EQ(node.start, (HeapAmount{2, 96}));
  EXPECT_EQ(node.allocated, (HeapAmount{1, 48}));
  EXPECT_EQ(node.freed, (HeapAmount{2, 96}));
  EXPECT_EQ(node.end, (HeapAmount{1, 48}));
  EXPECT_EQ(node.peak_bytes, 96);
  EXPECT_EQ(node.max_age, 1);
  EXPECT_EQ(heap.AllocatedBy(""), (HeapAmount{1, 48}));
  EXPECT_EQ(heap.AllocatedBy("main.worker"), (HeapAmount{2, 16 + 1792}));
  ASSERT_FALSE(heap->slices().empty());
  EXPECT_EQ(heap->slices()[0].begin, 1101);
  EXPECT_EQ(heap->slices()[0].changes.start, heap->total().start);
}

TEST(HeapStats, BearsAnything) {
  // Spans that overlap or are larger than memory, objects outside of them or twice, and tables that
  // end early.
  const Heap heap(Assemble(absl::StrCat(
      "Trace Go1.23\n", ExperimentalBatch(1, std::string("\0\1\2\3\4\x7fshort", 11)),
      ExperimentalBatch(1, std::string("\1\1", 2)), ExperimentalBatch(1, ""),
      "EventBatch gen=1 m=0 time=1 size=auto\n"
      "Frequency freq=1\n"
      "EventBatch gen=1 m=1 time=100 size=auto\n"
      "Span dt=1 id=0 npages_value=18446744073709551615 kindclass=18446744073709551614\n"
      "Span dt=1 id=1 npages_value=18446744073709551615 kindclass=4\n"
      "Span dt=1 id=2 npages_value=0 kindclass=0\n"
      "SpanAlloc dt=1 id=1 npages_value=1 kindclass=4\n"
      "SpanFree dt=1 id=77\n"
      "HeapObject dt=1 id=1024 type=9\n"
      "HeapObject dt=1 id=1024 type=9\n"
      "HeapObjectAlloc dt=1 id=1024 type=18446744073709551615\n"
      "HeapObjectAlloc dt=1 id=18446744073709551615 type=1\n"
      "HeapObjectFree dt=1 id=5\n"
      "GoroutineStack dt=1 id=5 order=18446744073709551615\n"
      "GoroutineStackAlloc dt=1 id=5 order=64\n"
      "GoroutineStackFree dt=1 id=6\n")));
  EXPECT_EQ(heap->total().start, (HeapAmount{1, 8}));
  EXPECT_EQ(heap->total().allocated, (HeapAmount{2, 8}));
  EXPECT_EQ(heap->total().freed, (HeapAmount{1, 8}));  // The event is missing.
  EXPECT_EQ(heap->total().end, (HeapAmount{2, 8}));
  EXPECT_EQ(heap->objects_without_span(), 1);
  EXPECT_EQ(heap->unknown_frees(), 1);
  EXPECT_LE(heap->slices().size(), HeapStats::kMaxSlices);
}

// A thread that sweeps has times that run ahead, so that a slot, and a span, are allocated again
// before they are freed.
TEST(HeapStats, TakesWhatIsFreedLate) {
  const Heap heap(Assemble(absl::StrCat("Trace Go1.23\n", UnitsBatch(),
                                        "EventBatch gen=1 m=0 time=1000 size=auto\n"
                                        "Frequency freq=1000000000\n"
                                        "EventBatch gen=1 m=1 time=1000 size=auto\n"
                                        "ProcStatus dt=0 p=0 pstatus=1\n"
                                        "GoStatus dt=1 g=7 m=1 gstatus=2\n"
                                        "Span dt=1 id=10 npages_value=1 kindclass=20\n"
                                        "Span dt=1 id=20 npages_value=4 kindclass=2\n"
                                        "HeapObjectAlloc dt=1 id=10240 type=0\n"
                                        "GCBegin dt=1 gc_seq=1 stack=0\n"
                                        "GCEnd dt=1 gc_seq=2\n"
                                        "HeapObjectAlloc dt=1 id=10240 type=0\n"
                                        "HeapObjectFree dt=1 id=10240\n"
                                        "SpanAlloc dt=1 id=20 npages_value=2 kindclass=2\n"
                                        "SpanFree dt=1 id=20\n"
                                        "HeapObjectAlloc dt=1 id=20480 type=0\n"
                                        "GCBegin dt=1 gc_seq=3 stack=0\n"
                                        "GCEnd dt=1 gc_seq=4\n"
                                        "HeapObjectFree dt=1 id=10240\n"
                                        "HeapObjectFree dt=1 id=20480\n"
                                        "SpanFree dt=1 id=20\n"
                                        "SpanAlloc dt=1 id=20 npages_value=1 kindclass=20\n"
                                        "HeapObjectAlloc dt=1 id=20480 type=0\n"
                                        "SpanFree dt=1 id=20\n")));
  EXPECT_EQ(heap->objects_without_span(), 0);
  EXPECT_EQ(heap->unknown_frees(), 0);
  EXPECT_TRUE(heap->has_start());
  EXPECT_EQ(heap->total().allocated, (HeapAmount{4, 48 + 48 + 2 * 8192 + 48}));
  EXPECT_EQ(heap->total().freed, (HeapAmount{3, 48 + 48 + 2 * 8192}));
  // The last span was freed in time.
  ASSERT_EQ(heap->span_classes().size(), 1u);
  EXPECT_EQ(heap->span_classes()[0].spans, 1u);
}

// As in a flight recording, which does not list what was there before.
TEST(HeapStats, SaysIfTheStartIsMissing) {
  const Heap heap(Assemble(absl::StrCat("Trace Go1.23\n", UnitsBatch(),
                                        "EventBatch gen=1 m=0 time=1000 size=auto\n"
                                        "Frequency freq=1000000000\n"
                                        "EventBatch gen=1 m=1 time=1000 size=auto\n"
                                        "HeapObjectFree dt=1 id=10240\n")));
  EXPECT_TRUE(heap->has_events());
  EXPECT_FALSE(heap->has_start());
  EXPECT_EQ(heap->unknown_frees(), 1);
}

TEST(HeapStats, SaysIfThereAreNoEvents) {
  const Heap heap(ReadTestTrace("go1.27-gc.trace"));
  EXPECT_FALSE(heap->has_events());
  EXPECT_TRUE(heap->types().empty());
  EXPECT_TRUE(heap->slices().empty());
}

// Counts the events of each type.
class Counter final : public EventSink {
 public:
  void Add(absl::Span<const Event> events) override {
    for (const Event& event : events) ++counts[event.type()];
  }
  std::map<EventType, uint64_t> counts;
};

HeapAmount Sum(HeapAmount a, HeapAmount b) { return {a.objects + b.objects, a.bytes + b.bytes}; }

void ExpectBalance(const HeapChanges& changes) {
  EXPECT_EQ(Sum(changes.start, changes.allocated), Sum(changes.freed, changes.end));
  EXPECT_GE(changes.peak_bytes, changes.end.bytes);
}

TEST(HeapStats, AddUpInEachTrace) {
  size_t traces = 0;
  for (const TestTrace& test : TestTraces()) {
    if (!absl::StrContains(test.name, "-alloc")) continue;
    SCOPED_TRACE(test.name);
    ++traces;
    const std::string bytes = ReadTestTrace(test.name);
    absl::StatusOr<Reader> reader = Reader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    Counter counter;
    ASSERT_TRUE(ReadInto(*reader, {&counter}).ok());
    const Heap heap(bytes);
    EXPECT_EQ(heap->objects_without_span(), 0);
    EXPECT_EQ(heap->unknown_frees(), 0);

    const HeapChanges& total = heap->total();
    ExpectBalance(total);
    EXPECT_EQ(total.start.objects, counter.counts[EventType::kHeapObject]);
    EXPECT_EQ(total.freed.objects, counter.counts[EventType::kHeapObjectFree]);
    // Tiny objects that share a slot count once.
    EXPECT_LE(total.allocated.objects, counter.counts[EventType::kHeapObjectAlloc]);
    EXPECT_GE(total.allocated.objects + 20, counter.counts[EventType::kHeapObjectAlloc]);

    HeapChanges sum;
    HeapAmount survived;
    for (const HeapType& type : heap->types()) {
      ExpectBalance(type);
      sum.start = Sum(sum.start, type.start);
      sum.allocated = Sum(sum.allocated, type.allocated);
      sum.freed = Sum(sum.freed, type.freed);
      sum.end = Sum(sum.end, type.end);
      survived = Sum(survived, type.survived);
      EXPECT_LE(type.survived.objects, type.allocated.objects);
      EXPECT_LE(type.median_age.value_or(0), type.max_age.value_or(0));
    }
    sum.peak_bytes = total.peak_bytes;
    EXPECT_EQ(sum, total);
    EXPECT_EQ(heap.Type("main.point").allocated.objects, 60);
    EXPECT_EQ(heap.Type("main.node[string]").allocated, (HeapAmount{40, 40 * 24}));

    HeapAmount by_functions;
    for (const HeapFunction& function : heap->functions()) {
      by_functions = Sum(by_functions, function.allocated);
    }
    EXPECT_EQ(by_functions, total.allocated);
    EXPECT_GT(heap.AllocatedBy("main.main").objects, 200);

    HeapAmount aged;
    HeapAmount old;
    for (size_t age = 0; age < heap->ages().size(); ++age) {
      const HeapAge& one = heap->ages()[age];
      // What was never marked is not swept.
      EXPECT_TRUE(age > 0 || one.freed == HeapAmount());
      aged = Sum(aged, Sum(one.freed, one.end));
      if (age >= 2) old = Sum(old, one.freed);
      if (age >= 1) old = Sum(old, one.end);
    }
    EXPECT_EQ(aged, total.allocated);
    EXPECT_EQ(old, survived);

    HeapAmount used;
    for (const HeapSpanClass& spans : heap->span_classes()) {
      EXPECT_LE(spans.used.bytes, spans.bytes);
      if (spans.use == HeapSpanUse::kManual) continue;
      EXPECT_LE(spans.used.objects, spans.slots);
      EXPECT_LE(spans.slots * spans.slot_bytes, spans.bytes);
      used = Sum(used, spans.used);
    }
    EXPECT_EQ(used, total.end);

    uint64_t cycles = 0;
    const HeapSlice* last = nullptr;
    for (const HeapSlice& slice : heap->slices()) {
      ExpectBalance(slice.changes);
      EXPECT_LE(slice.changes.end.bytes, slice.span_bytes);
      EXPECT_TRUE(last == nullptr || slice.begin == last->end);
      cycles += slice.cycles;
      last = &slice;
    }
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->changes.end, total.end);
    EXPECT_EQ(cycles, counter.counts[EventType::kGCEnd]);
    EXPECT_GT(heap->slices().size(), HeapStats::kMaxSlices / 2);
    EXPECT_LE(heap->slices().size(), HeapStats::kMaxSlices);
  }
  EXPECT_EQ(traces, 5);
}

}  // namespace heap_stats_test
}  // namespace gotrace::internal
